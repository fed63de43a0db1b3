/* A session on the CPU's OpenCL device. */
#ifndef UNIT_CPU_SESSION_H
#define UNIT_CPU_SESSION_H

#include "tessera/tessera.h"

/** What is open together; closed by cpu_session_close. */
typedef struct cpu_session {
    tsr_devices *list;
    const tsr_device *device;
    tsr_session *session;
} cpu_session;

/** Ends the test where there is none.  options: NULL for the defaults. */
static inline void cpu_session_open(cpu_session *c, const tsr_session_options *options)
{
    tsr_error err = {0};
    size_t n = 0;

    if (tsr_devices_find(&c->list, &err) ||
        tsr_devices_select(c->list, "cpu", &c->device, 1, &n, &err) ||
        tsr_session_open(c->device, options, &c->session, &err))
        fail_msg("%s", err.message);
}

static inline void cpu_session_close(cpu_session *c)
{
    tsr_session_close(c->session);
    tsr_devices_close(c->list);
}

#endif
