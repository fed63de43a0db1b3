/**
 * What measuring a limit takes: queues, launches and transfers that are timed,
 * and samples of which the fastest counts.
 */
#ifndef MEASURE_ROOFLINE_RIG_H
#define MEASURE_ROOFLINE_RIG_H

#include "measure/roofline.h"
#include "session/program.h"

typedef struct rig {
    tsr_session *session;
    const device_facts *facts;
    cl_command_queue timed;    /* in order, records device times */
    cl_command_queue queue[2]; /* in order, record none: for wall times */
    bool cpu;                  /* an item is a core's thread, not a lane */
    double sample_ns;          /* how long a launch should take */
    double seconds;            /* of sampling, for each way of reaching a limit */
} rig;

tsr_status rig_open(tsr_session *s, rig *out, tsr_error *err);
void rig_close(rig *r);

/** A further in-order queue, which records no times.  The caller releases it. */
tsr_status rig_queue(tsr_session *s, cl_command_queue *out, tsr_error *err);

/** A way of reaching a limit: do `amount`, give the nanoseconds that it took.  A cost: the
 *  nanoseconds of one of `calls` calls. */
typedef struct way {
    tsr_status (*run)(void *state, double *ns, tsr_error *err);
    void *state;
    double amount;   /* operations or bytes of one run; 1 for a cost */
    size_t calls;    /* that a run consists of; 0: 1 */
    const char *how; /* limit_result.way */
} way;

/** Warm up, run again and again, and put the result into *best where it is better. */
tsr_status rig_sample(const rig *r, const way *w, limit l, limit_result *best, tsr_error *err);

/** What a limit's measuring ends with where one of its ways ended with st: a failure is that way's
 *  alone once another has measured, but for a wrong result and for memory running out. */
tsr_status rig_way_ended(tsr_status st, const limit_result *best);

/** One launch on the timed queue, waited for; *ns receives its device time.  ns may be NULL. */
tsr_status rig_launch(const rig *r, cl_kernel kernel, size_t global, size_t local, double *ns,
                      tsr_error *err);

/** The kernel `entry` of a source file. */
tsr_status rig_kernel(const rig *r, const char *source, const char *options, const char *entry,
                      cl_kernel *out, tsr_error *err);

tsr_status rig_buffer(const rig *r, cl_mem_flags flags, size_t bytes, cl_mem *out, tsr_error *err);

/** Copy a buffer to host memory. */
tsr_status rig_read(const rig *r, cl_mem from, void *to, size_t bytes, tsr_error *err);

/** Set every byte of a buffer to 0xFF: no kernel's right result. */
tsr_status rig_spoil(const rig *r, cl_mem buffer, size_t bytes, tsr_error *err);

/** A kernel argument; NULL value: local memory. */
typedef struct rig_arg {
    const void *value;
    size_t bytes;
} rig_arg;

/** Set arguments 0 to count - 1. */
tsr_status rig_args(cl_kernel kernel, const rig_arg *args, size_t count, tsr_error *err);

/** Bytes of a buffer that is well beyond every cache and within the device's limits. */
size_t rig_big_bytes(const rig *r);

/**
 * The limits, file by file.  Each fills *out, with a reason where the device has
 * no such thing; a failure is returned and becomes the reason.
 */
tsr_status limit_multiply_add(const rig *r, limit l, limit_result *out, tsr_error *err);
tsr_status limit_integer(const rig *r, limit l, limit_result *out, tsr_error *err);
tsr_status limit_tensor(const rig *r, limit l, limit_result *out, tsr_error *err);
tsr_status limit_memory(const rig *r, limit l, limit_result *out, tsr_error *err);
tsr_status limit_local_memory(const rig *r, limit l, limit_result *out, tsr_error *err);
tsr_status limit_transfer(const rig *r, limit l, limit_result *out, tsr_error *err);
tsr_status limit_launch(const rig *r, limit l, limit_result *out, tsr_error *err);

#endif
