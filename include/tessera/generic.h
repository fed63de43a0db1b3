/**
 * Every operation by the same calls, with its problem described: for bindings to other languages.
 *
 * A program in C has a function and a structure for each operation, in tessera/OP.h; what these say
 * of problems, operands, errors and times holds here too.
 */
#ifndef TESSERA_GENERIC_H
#define TESSERA_GENERIC_H

#include <stddef.h>

#include "tessera/run.h"
#include "tessera/session.h"
#include "tessera/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** An operation.  Static. */
typedef struct tsr_operation tsr_operation;

/**
 * One operation; NULL beyond the last.
 *
 * @param i  Its number, from 0 on, in the order in which the command lists them.
 */
TSR_API const tsr_operation *tsr_operation_get(size_t i);

/** Its name: the command's, and that of its C function behind tsr_.  "" of NULL. */
TSR_API const char *tsr_operation_name(const tsr_operation *operation);

/** What it does, one line.  "" of NULL. */
TSR_API const char *tsr_operation_summary(const tsr_operation *operation);

/** Nonzero where its first operand may have elements of a type. */
TSR_API int tsr_operation_takes(const tsr_operation *operation, tsr_type type);

/** Bytes of its problem structure; 0 of NULL. */
TSR_API size_t tsr_operation_problem_bytes(const tsr_operation *operation);

/**
 * Fill in its problem structure: a problem of no element, as its initialiser has it.
 *
 * @param problem  Memory of tsr_operation_problem_bytes(operation) bytes.
 */
TSR_API void tsr_operation_start(const tsr_operation *operation, void *problem);

/** What a member of a problem structure holds. */
typedef enum tsr_member_kind {
    TSR_MEMBER_COUNT = 0, /* size_t */
    TSR_MEMBER_CHOICE,    /* size_t, one of the choices */
    TSR_MEMBER_FLAG,      /* bool */
    TSR_MEMBER_REAL,      /* double */
    TSR_MEMBER_TYPE,      /* tsr_type */
    TSR_MEMBER_PRECISION, /* tsr_precision */
    TSR_MEMBER_LAYOUT,    /* tsr_layout */
    TSR_MEMBER_SCALAR /* 8 bytes: double, int64_t or uint64_t, as the problem's type is a float, or
                         signed or unsigned */
} tsr_member_kind;

/** A value of a member that has a name of its own. */
typedef struct tsr_choice {
    const char *name;
    size_t value;
} tsr_choice;

/** One member of a problem structure.  Its strings are static. */
typedef struct tsr_member {
    const char *name;
    const char *meaning; /* one line; NULL where it is part of the layout in memory */
    tsr_member_kind kind;
    size_t offset, bytes;
    const tsr_choice *choices; /* of TSR_MEMBER_CHOICE, choice_count of them; else NULL */
    size_t choice_count;
} tsr_member;

/**
 * Describe one member of its problem structure.  Together they are all of it.
 *
 * @param i    The number of the member, from 0 on.
 * @param out  Receives what it is.
 * @return Nonzero; 0, and nothing written, beyond the last one.
 */
TSR_API int tsr_operation_member(const tsr_operation *operation, size_t i, tsr_member *out);

enum {
    TSR_OPERANDS_MAX = 8,
    TSR_OPERAND_READ = 1,
    TSR_OPERAND_WRITTEN = 2 /* both bits where it is read too */
};

/** One operand of a problem. */
typedef struct tsr_operand {
    const char *name; /* static */
    tsr_type type;
    int access;   /* TSR_OPERAND_READ, TSR_OPERAND_WRITTEN or both */
    size_t bytes; /* from the start of the array, an offset included, to the end of the last
                     element; 0: there is none, or none is read */
} tsr_operand;

/**
 * Check a problem and describe its operands, in the order in which calls take them.
 *
 * @param out    Receives what they are.
 * @param count  Receives how many there are.
 * @return TSR_OK; TSR_EINVAL or TSR_EOVERFLOW where a rule of the operation is broken.
 */
TSR_API tsr_status tsr_operation_operands(const tsr_operation *operation, const void *problem,
                                          tsr_operand out[TSR_OPERANDS_MAX], size_t *count,
                                          tsr_error *err);

/**
 * Run it on host memory: the contract of the operation's own function.
 *
 * @param operands  As many arrays as tsr_operation_operands describes, in that order; NULL where it
 *                  has no bytes.
 */
TSR_API tsr_status tsr_operation_run(tsr_session *session, const tsr_operation *operation,
                                     const void *problem, void *const operands[],
                                     const tsr_run *run, tsr_report *report, tsr_error *err);

/**
 * Enqueue it on OpenCL buffers, likewise.
 *
 * @param buffers  As many as tsr_operation_operands describes, in that order; NULL where one has no
 *                 bytes.  Of those that are written, the operation's own header says which may be
 *                 CL_MEM_WRITE_ONLY.
 */
TSR_API tsr_status tsr_operation_enqueue(tsr_session *session, const tsr_operation *operation,
                                         const void *problem, const cl_mem buffers[],
                                         const tsr_run *run, tsr_report *report, tsr_error *err);

#ifdef __cplusplus
}
#endif
#endif
