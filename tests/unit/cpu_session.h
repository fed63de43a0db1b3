/* A session on the CPU's OpenCL device. */
#ifndef UNIT_CPU_SESSION_H
#define UNIT_CPU_SESSION_H

#include <stdio.h>
#include <stdlib.h>

#include "tessera/tessera.h"

/** What is open together; closed by cpu_session_close. */
typedef struct cpu_session {
    tsr_devices *list;
    const tsr_device *device;
    tsr_session *session;
} cpu_session;

/** Skips all tests of the program where there is no OpenCL device.  options: NULL for the
 *  defaults. */
static inline void cpu_session_open(cpu_session *c, const tsr_session_options *options)
{
    tsr_error err = {0};
    size_t n = 0;
    tsr_status st = tsr_devices_find(&c->list, &err);

    st = st ? st : tsr_devices_select(c->list, "cpu", &c->device, 1, &n, &err);
    if (st == TSR_ENODEVICE) {
        puts(err.message);
        exit(77);
    }
    st = st ? st : tsr_session_open(c->device, options, &c->session, &err);
    if (st)
        fail_msg("%s", err.message);
}

static inline void cpu_session_close(cpu_session *c)
{
    tsr_session_close(c->session);
    tsr_devices_close(c->list);
}

#endif
