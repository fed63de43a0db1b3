/** Programs: built once a session, kept across processes in the binary cache. */
#ifndef SESSION_PROGRAM_H
#define SESSION_PROGRAM_H

#include "session/state.h"

/** Bytes of the largest value that a kernel takes. */
enum { PROGRAM_VALUE_MAX = 256 };

/** What an argument of a kernel was set to last. */
typedef struct set_argument set_argument;

/** A kernel of a program, and what its compiler says of it: work-items that a group may have, and
 * those that it must have (0: any), and bytes of local memory.  0 where the device does not say. */
typedef struct program_entry {
    char *name;
    cl_kernel kernel;
    size_t group_limit, group_required;
    cl_ulong local_bytes;
    set_argument *set; /* of the first arguments: see program_set_value */
} program_entry;

struct program {
    text source_file;
    text replaced; /* the caller's file in the place of that; "": none */
    text options;
    text runs; /* the kernels that are to run, each after a space; "" for whichever */
    text key;  /* of the cache entry */
    cl_program handle;
    cl_device_id device;    /* the session's, of those of its context */
    program_entry *entries; /* made on first use */
    size_t entry_count;
    text log;   /* what the compiler said */
    bool saved; /* the binary cache has it */
    tsr_build built;
    uint64_t build_ns;
    program *next;
};

/**
 * The program of a source file and options, built or loaded on first use.
 *
 * Only the kernels that are to run are compiled.  PoCL compiles a kernel when it first runs, so
 * that an entry of its cache, which says what was compiled, serves those who run the same ones.
 * Programs of which different kernels run are therefore kept apart.
 *
 * @param runs Names of the kernels that are to run, each after a space; "": all.
 * @param out  Receives it, borrowed from the session.
 * @return TSR_OK; TSR_EBUILD with the head of the log (all of it is then in
 *         s->build_log); TSR_EUNSUPPORTED where marked lines cannot be built for
 *         their target (session/retarget.h); TSR_EFILE, TSR_ENOMEM, TSR_ECL.
 */
tsr_status program_get(tsr_session *s, const char *source_file, const char *options,
                       const char *runs, program **out, tsr_error *err);

/**
 * Build a program anew, from PTX of the same kernels.  To be called before one of them is asked
 * for.
 *
 * @param how  What is done to it, for the error.
 * @return TSR_OK; TSR_EBUILD, the program as it was.
 */
tsr_status program_from_ptx(tsr_session *s, program *p, const text *ptx, const char *how,
                            tsr_error *err);

/** Whether program_get would find it, in the session or in the cache. */
bool program_at_hand(tsr_session *s, const char *source_file, const char *options,
                     const char *runs);

/**
 * The failure of a call that finds no such kernel in the program, or other arguments than it is
 * given: where a file of the caller's stands in the place of the source, what that must define.
 */
tsr_status program_mismatch(const program *p, const char *name, const char *call, cl_int rc,
                            tsr_error *err);

/** A kernel of a program, borrowed from it until another one is asked for. */
tsr_status program_kernel(program *p, const char *name, const program_entry **out, tsr_error *err);

/**
 * Set an argument of a kernel to a scalar, or (NULL) to `bytes` of local memory.  The driver is
 * called only where that changes it: what is set here or in program_set_buffer is set nowhere else.
 */
cl_int program_set_value(const program_entry *e, cl_uint i, size_t bytes, const void *value);

/**
 * Set an argument to a buffer, or to NULL.  The driver gets a buffer once for each `call`:
 * after it the buffer may be released, and its handle may come back as that of another one.
 *
 * @param call  The call of dispatch_enqueue that uses the buffer, by its number in the session; of
 *              a buffer that the session itself keeps: the call that made it.
 */
cl_int program_set_buffer(const program_entry *e, cl_uint i, cl_mem buffer, uint64_t call);

/** The device's binary of a built program (PTX text on NVIDIA); *out is malloced, NUL-terminated.
 */
tsr_status program_binary(const program *p, unsigned char **out, size_t *size, tsr_error *err);

/** Save what was built, where that was not done yet, and let other processes go on that wait for
 * it.  Of a device that compiles late: to be called once its kernels have run.  Takes no longer
 * than writing the files. */
void programs_save(tsr_session *s);

/** Release every program of a session, and the kept calls that borrow them. */
void programs_release(tsr_session *s);

#endif
