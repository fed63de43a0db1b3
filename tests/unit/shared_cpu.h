/* The session that all tests of a program share, and the fixtures of their group. */
#ifndef UNIT_SHARED_CPU_H
#define UNIT_SHARED_CPU_H

#include "cpu_session.h"

static cpu_session cpu;

static inline int open_cpu(void **state)
{
    (void)state;
    cpu_session_open(&cpu, NULL);
    return 0;
}

/** With device times. */
static inline int open_profiling_cpu(void **state)
{
    (void)state;
    cpu_session_open(&cpu, &(tsr_session_options){.profile = true});
    return 0;
}

static inline int close_cpu(void **state)
{
    (void)state;
    cpu_session_close(&cpu);
    return 0;
}

#endif
