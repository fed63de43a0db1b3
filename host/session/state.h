/** A session from within the library. */
#ifndef SESSION_STATE_H
#define SESSION_STATE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/text.h"
#include "device/device.h"
#include "session/cache.h"
#include "tessera/run.h"
#include "tessera/session.h"
#include "tessera/types.h"

typedef struct program program;

/** What a higher layer keeps with a session, and how it is freed. */
typedef struct session_kept {
    void *data;
    void (*release)(void *data);
} session_kept;

/** Pinned memory that the caller has from tsr_pinned_alloc. */
typedef struct pinned_block pinned_block;

/** A buffer that is kept from call to call on an in-order queue, or nothing. */
typedef struct session_buffer {
    cl_mem memory; /* NULL: none */
    size_t bytes;
    uint64_t call; /* that made it: tsr_session.calls */
} session_buffer;

/** An image that calls use: a copy of what they work on. */
typedef struct session_image {
    cl_mem memory; /* NULL: none */
    size_t width, height;
    tsr_type type;
    uint64_t call; /* as of a buffer */
} session_image;

/** Functions that are called when something that a call waits for begins to be built, and when that
 * is over.  Both are called by the thread that uses the session; `what` is borrowed for the call.
 */
typedef struct build_watch {
    void (*begin)(void *context, const char *what);
    void (*end)(void *context);
    void *context;
} build_watch;

struct tsr_session {
    tsr_device device; /* with the features probed so far */
    unsigned forks;    /* before it was opened: base/forks.h */
    text why_host;     /* why its device is the host, which nobody named; "" where that is not so */
    cl_context context;
    cl_command_queue queue;
    cl_command_queue side; /* for what runs beside the commands of `queue`; NULL until it is used */
    bool own_context;      /* it is not the caller's */
    bool ends_process; /* closed last: a context that is slow to destroy is left to the process's
                          end */
    bool out_of_order; /* the queue is: commands of one call are chained by events */
    bool profiling;    /* the queue records times */
    bool copies;       /* calls on host memory copy even where memory is shared */
    bool same_kernels; /* what is compiled does not count in the choice of a variant */
    bool known_only;   /* probe nothing: what no cache knows is noted in `unprobed` */
    bool unprobed;
    unsigned first_calls;     /* core/first_calls.h: how many there were */
    size_t host_calls_memory; /* most bytes of the device that a call on host memory fills with
                                 what it streams; 0: what there is */
    text kernel_dir;          /* "" for the embedded sources */
    cache cache;
    cache_lock building;      /* what is built and not saved yet */
    const build_watch *watch; /* NULL: nobody watches */
    bool watched;             /* its begin was called last */
    program *programs;        /* built in this session */
    session_buffer workspace;
    session_image image;
    session_buffer group_counters; /* counters that are 0 between calls */
    uint64_t calls;                /* of dispatch_enqueue so far */
    uint64_t probe_ns;             /* spent in probes so far */
    uint64_t build_ns;       /* spent in builds so far, with what dispatch_compiled() waited for */
    text build_log;          /* of the build that failed last */
    session_kept tuning;     /* core/tuning_memo.h */
    session_kept calls_kept; /* core/calls.h */
    session_kept background_kept; /* core/first_calls.h: what is compiled beside the calls */
    session_kept copies_kept;     /* stream/copies.h; released while the queue is there */
    pinned_block *pinned;         /* session/pinned.h: the caller's */
    atomic_int c_failed;          /* core/enqueue_c.h: the status of a call that failed, or 0 */
};

/** TSR_EUNSUPPORTED where the process was forked since the session of an OpenCL device was opened.
 */
tsr_status session_check(const tsr_session *s, tsr_error *err);

/** What the device can do, with the probed features known so far. */
const device_facts *session_facts(const tsr_session *s);

/** Tell the watch that something is built, "compiling FILE.cl" for instance, or that this is over.
 */
void session_building(tsr_session *s, const char *doing, const char *what);
void session_built(tsr_session *s);

/** Nothing is being built any more: tell the watch, and let other processes go on. */
void session_end_build(tsr_session *s);

/** Probe each feature of the mask (1u << feature) that is not known yet.  TSR_EUNSUPPORTED where
 * s->known_only forbids it. */
tsr_status session_probe(tsr_session *s, unsigned features, tsr_error *err);

#endif
