/**
 * A session: one device, its context and queue, and the programs built for it.
 *
 * One thread uses a session at a time; sessions are independent of each other.
 *
 * A call on host memory, tsr_matmul and its like, takes NULL for the process's default session.  It
 * is opened by the first such call, as tsr_session_open(NULL, NULL, ...) opens one, and closed when
 * the process ends by exit() or a return from main(), after the call that another thread is in;
 * later calls fail with TSR_EUNSUPPORTED.  Any thread may use it: calls wait for one another.  The
 * child of a fork opens its own.  What enqueues, pins memory or builds ahead needs a session that
 * is not NULL.
 *
 * OpenCL drivers do not survive fork(): in a child of a process that listed
 * OpenCL devices, calls on one are refused (TSR_EUNSUPPORTED), and a new list
 * holds `host` alone, which works there with one thread.
 */
#ifndef TESSERA_SESSION_H
#define TESSERA_SESSION_H

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
#include <CL/cl.h>

#include "tessera/device.h"
#include "tessera/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_session tsr_session;

/** How a session is opened.  Zero-initialise it for the defaults. */
typedef struct tsr_session_options {
    const char *kernel_dir; /* read kernel sources from this folder; NULL: the environment
                               variable TESSERA_KERNEL_DIR, else the embedded ones.
                               "OP/OP_IDEA.cl=PATH": the embedded ones, but for this one, in whose
                               place the file at PATH stands */
    int no_cache;           /* nonzero: neither read nor write the binary cache */
    int copies;             /* nonzero: calls on host memory copy their arrays to buffers even where
                               device and host share memory */
    size_t device_memory;   /* most bytes of device memory that calls on host memory use for what
                               they stream through it; 0: what the device has.  Workspaces come on
                               top.  Where it is set, one product of matrices and one row of keys
                               are streamed however short they are, to try it; where it leaves more
                               than 4096 pieces, and the device has memory for fewer, the call is
                               refused with TSR_EOVERFLOW and the least that it takes */
    int profile;            /* nonzero: the session's queue records device times */
    int same_kernels;       /* nonzero: calls that name no variant run the same one whether it was
                               compiled before or not; see below */
} tsr_session_options;

/*
 * First calls.  On a GPU a call that names no variant, whose problem is small, and whose kernels
 * nobody has compiled yet, runs others that are compiled in a tenth of the time:
 * tsr_report.chosen says so.  After 20 such calls of a session what is fastest is compiled on a
 * thread of its own, and once that is done calls run it; without a cache to keep it in, or a
 * thread, the next call compiles it.  A process waits for such a thread when it ends,
 * tsr_session_close does not.  On a CPU whose memory is the host's such a call runs code in C:
 * products of matrices of up to 2^41 operations, of float16 2^37, sorts of all kinds of up to 2^28
 * keys, products of vectors and reductions of any size.  After 100 of them it goes on as on a GPU
 * after 20; where the driver compiles kernels when they are first launched, as PoCL does, the next
 * call compiles what is fastest.
 *
 * Sorts of all kinds and selections have the same result either way, bit for bit.  Sums of floats,
 * which are products of matrices and of vectors, scans and reductions, keep to the same bounds and
 * may differ in their last bits from those of later calls. `same_kernels`, or TESSERA_SAME_KERNELS
 * in the environment, with any value, does without: so does tsr_session_warm or `tessera cache
 * --warm` once it has run, for what it compiles.
 */

/**
 * Open a session with a context and an in-order queue of its own, and a second one once a sort
 * runs parts side by side.  Once a call streams, two more queues for copies, 16 MiB of pinned
 * memory and up to nine buffers, in all a thirty-second of the device's memory or 192 MiB if that
 * is more, are kept until the session is closed; 64 KiB for sums that work-groups share once a call
 * has such.
 *
 * @param device   Borrowed; its list must outlive the session.  `host` is allowed.  NULL: the
 *                 device that tsr_devices_select chooses for NULL, and `host` where TESSERA_DEVICE
 *                 names none and no OpenCL device was found; tsr_report.chosen then says why.
 * @param options  NULL for the defaults.
 * @param out      Receives the session; the caller closes it.
 * @return TSR_OK, TSR_ENOMEM or TSR_ECL; TSR_EUNSUPPORTED in a child, as above; of NULL, what
 *         tsr_devices_select refuses what TESSERA_DEVICE names with; TSR_EFILE where a kernel
 *         folder cannot be read.
 */
TSR_API tsr_status tsr_session_open(const tsr_device *device, const tsr_session_options *options,
                                    tsr_session **out, tsr_error *err);

/**
 * Open a session on the caller's queue, in-order or out-of-order.
 *
 * The queue is retained until the session is closed.  On an out-of-order queue
 * the commands of one call are chained by events; calls are ordered by the
 * events that the caller passes, and by nothing else.
 *
 * @param queue    The caller's.
 * @param options  NULL for the defaults; the queue decides what `profile` would.
 * @param out      Receives the session; the caller closes it.
 * @return TSR_OK, TSR_ENOMEM, TSR_ECL; TSR_EINVAL where the queue or out is NULL; TSR_ENODEVICE
 *         where the queue's device is none that the library can use.
 */
TSR_API tsr_status tsr_session_adopt(cl_command_queue queue, const tsr_session_options *options,
                                     tsr_session **out, tsr_error *err);

/**
 * Finish the session's queue, save what was built, release everything.  NULL is allowed.  Nothing
 * is compiled.  PoCL takes 0.1 s to destroy the context of a session that compiled, NVIDIA's driver
 * 0.05 to 0.1 s for any of the session's own: a thread does that meanwhile, and the end of the
 * process waits for it.
 */
TSR_API void tsr_session_close(tsr_session *session);

/** Called before each program that is built: the problem that needs it, and how many of all are
 * done. */
typedef void (*tsr_warm_progress)(void *context, const char *problem, size_t done, size_t all);

/**
 * Build ahead what an operation's calls need by default on this device, and keep it where later
 * processes find it.  That are calls without options that name no variant, in each type: on host
 * memory of sizes up to four times those that it is tuned for, on buffers of those sizes; and on
 * host memory in its default type with each option, one at a time.  The shorter a program's source,
 * the sooner it is built; each is kept at once.  Where the driver compiles a kernel at its first
 * launch (PoCL) each runs once, on inputs of its own in host memory.
 *
 * @param operation  "matmul", "sort", ...; NULL: all.
 * @param progress   May be NULL.
 * @param context    What `progress` is called with.
 * @return TSR_OK, also where there is nothing to build (`host`) or a type is not supported;
 *         TSR_ENAME for no operation; else what the call that failed returned.
 */
TSR_API tsr_status tsr_session_warm(tsr_session *session, const char *operation,
                                    tsr_warm_progress progress, void *context, tsr_error *err);

/** The session's OpenCL context, borrowed; NULL on `host`, and of NULL. */
TSR_API cl_context tsr_session_context(const tsr_session *session);

/** The session's queue, borrowed; NULL on `host`, and of NULL. */
TSR_API cl_command_queue tsr_session_queue(const tsr_session *session);

/**
 * Host memory that the device copies from and to by itself, at the full rate of its link.  Calls on
 * host memory copy arrays in it straight; what lies elsewhere goes through the session's own.
 *
 * @param bytes  How much, 1 and more.
 * @param out    Receives its address, aligned as the driver has it; the caller frees it.
 * @return TSR_OK; TSR_EINVAL for 0 bytes; TSR_EUNSUPPORTED on `host`; TSR_ENOMEM or TSR_ECL.
 */
TSR_API tsr_status tsr_pinned_alloc(tsr_session *session, size_t bytes, void **out, tsr_error *err);

/**
 * Free it; tsr_session_close frees what is left.
 *
 * @param memory  What tsr_pinned_alloc gave, or NULL.
 */
TSR_API void tsr_pinned_free(tsr_session *session, void *memory);

/** Whole compiler log of the build that failed last, or "".  Valid until the next call. */
TSR_API const char *tsr_session_build_log(const tsr_session *session);

#ifdef __cplusplus
}
#endif
#endif
