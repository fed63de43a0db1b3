/**
 * The variant table: what an operation is, and what one way of doing it is.
 *
 * A variant is data and small pure functions.  They take a job (problem, device
 * facts, parameters), hold no OpenCL handle, and allocate nothing, so that they
 * are tested without a device.  Adding a variant is one file under cl/ and one
 * entry in the table of its operation (host/ops/<operation>.c).
 */
#ifndef OPS_VARIANT_H
#define OPS_VARIANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/plan.h"
#include "tessera/status.h"
#include "tessera/types.h"

enum { ENTRIES_MAX = 8, OPERANDS_MAX = 4, PREFERENCES_MAX = 32, PROBLEM_BYTES_MAX = 256 };

typedef struct operation operation;

/** Families of inputs. */
typedef enum distribution {
    DISTRIBUTION_PLAIN, /* as uniform; for sort finite floats but no -0: what other libraries order
                     alike */
    DISTRIBUTION_UNIFORM, /* U(-1, 1); for sort: every bit pattern of the type, uniformly */
    DISTRIBUTION_SPECIAL, /* among them NaN, infinities, denormals, both zeros; extremes for
                             integers */
    DISTRIBUTION_FEW,     /* sort: few distinct keys.  Else as uniform with integers: exact sums */
    DISTRIBUTION_ORDERED, /* sort: ascending already.  Else wide exponents: +-2^U(-20, 20) */
    /* Of sort alone, of finite floats but -0: */
    DISTRIBUTION_REVERSED, /* descending */
    DISTRIBUTION_CONSTANT, /* one key, again and again */
    DISTRIBUTION_TWO,      /* two distinct keys */
    DISTRIBUTION_SAWTOOTH, /* ascending stretches, one like the other */
    DISTRIBUTION_COUNT
} distribution;

/** One problem of any operation: the public problem structure, as bytes.  Each operation has an
 *  accessor of its own (matmul_of, matmul_in), and the rest of the library reads its fields. */
struct problem {
    const operation *op;
    distribution
        inputs; /* what bench fills its operands with; the sweep says it here too, or leaves
                   it at DISTRIBUTION_PLAIN, and verify draws one from uniform to ordered */
    _Alignas(8) unsigned char bytes[PROBLEM_BYTES_MAX];
};

/** A problem with the `bytes` bytes of its operation's structure. */
problem problem_from(const operation *op, const void *structure, size_t bytes);

struct variant {
    const char *name; /* key in the command, tests, tuning files and results */
    const char
        *alias; /* the name it had before, which files and `--kernel` may still use; or NULL */
    const char *idea; /* one line: what this step adds to the one before it */

    /* On a device: */
    const char *source;               /* file under cl/; NULL for a variant of the host */
    const char *entries[ENTRIES_MAX]; /* its kernels, NULL-terminated */
    const char *build;   /* compiler flags beside the -Ds, "" for none.  "%CLC%" stands for the
                            highest -cl-std= of the device */
    unsigned needs;      /* 1u << feature for each probed feature it is unsupported without */
    unsigned uses;       /* likewise for those that it asks for in job.device, and does without */
    bool group_counters; /* it may pass ARG_GROUP_COUNTERS, where last_group_of the device says how
                          */
    const tunable *tunables; /* tunable_count of them; NULL and 0 for none */
    size_t tunable_count;

    /**
     * The whole plan for a job, by the functions of core/plan.h.
     *
     * @param out  Comes zero-initialised but for out->params, which are j->params.
     * @return NULL, or the reason why this variant cannot run the job: static, or of
     *         plan_unsupported.  Features in `needs` are checked by the caller before.
     */
    const char *(*plan)(const job *j, plan *out);

    bool arrives; /* plan() has an order of commands for inputs that arrive: job.arriving */

    /** Further -Ds that the problem decides, as " -DNAME=VALUE"...; the tunables are added by the
     *  caller, but for those that are 0, which are settled here.  NULL: none. */
    void (*defines)(const job *j, text *out);

    /** NULL, or the reason why this variant cannot run the job; may be composed in *reason.
     *  Features in `needs` are checked by the caller before.  NULL function: always suited. */
    const char *(*unsupported)(const job *j, text *reason);

    /** Bytes of device memory needed beside the operands.  NULL: none. */
    size_t (*workspace)(const job *j);

    /** Tiles of the result, for a variant that splits factors in two; 0 where nothing is added up.
     *  One that holds what cannot be split runs strictly, and adds 1 to the counter
     * (command_strict_counter). NULL: it splits nothing. */
    size_t (*tiles)(const job *j);

    /** Fill *out with command i, in order; false once there are no more.  The commands run one
     *  after another, each seeing what the ones before wrote, but for lanes (step.lane). */
    bool (*step)(const job *j, size_t i, command *out);

    /** As `step`, in an order for what arrives from the front meanwhile: what can be done with the
     *  first of it comes first, if anything can, and each command tells what it works on.  NULL:
     *  there is none. */
    bool (*arriving_step)(const job *j, size_t i, command *out);

    /** On the host, in place of all the above but `unsupported`: operands as in operation.operands,
     *  each pointer at the start of its array (offsets are the function's). */
    tsr_status (*host)(const problem *p, void *const operands[], tsr_error *err);
};

typedef enum operand_access {
    ACCESS_READ = 1,
    ACCESS_WRITE = 2,
    ACCESS_READ_WRITE = 3
} operand_access;

/** One operand of a problem. */
typedef struct operand {
    const char *name; /* "A", "y", "keys" */
    tsr_type type;
    operand_access access; /* ACCESS_WRITE: some elements may stay unwritten (gaps), and are kept */
    size_t begin;          /* bytes before the first element: the offset */
    size_t bytes;          /* from the start of the array, offset included, to the end of the last
                              element */
    bool whole;            /* the operation writes every byte of it: no need to copy it in */
} operand;

/** What a check found. */
typedef struct verdict {
    bool ok;
    double worst;     /* largest |error| / bound where the bound is finite; 0 for sort */
    bool sampled;     /* too big to check every element: samples and sums were checked */
    char detail[200]; /* where and what, once !ok */
} verdict;

struct selection;     /* core/dispatch.h */
struct stream_budget; /* stream/budget.h */
struct partition;     /* stream/partition.h */

struct operation {
    const char *name;  /* "matmul" */
    const char *idea;  /* the formula, one line */
    const char *words; /* what the ideas of its variants take for known, one line; NULL: nothing */
    const char *rate;  /* unit of its rate: "GFLOP/s", "GB/s", "Mkeys/s" */
    const variant *const *variants; /* variant_count of them, ladder order */
    size_t variant_count;

    /** Check shapes, strides, types and products against overflow.  Fills err. */
    tsr_status (*check)(const problem *p, tsr_error *err);

    /** Rewrite a checked problem in the form that variants take.  order[i], which comes as i, says
     *  which operand of the problem as it was is operand i of it now.  NULL function: as it is. */
    void (*normalize)(problem *p, unsigned order[OPERANDS_MAX]);

    /** Describe the operands of a checked problem; returns their number. */
    size_t (*operands)(const problem *p, operand out[OPERANDS_MAX]);

    /** Check what operands on host memory say of a checked problem, and note it in the problem.
     *  NULL function: they say nothing. */
    tsr_status (*inspect)(problem *p, const void *const operands[], tsr_error *err);

    /** Cut a call on host memory, of a problem in the form that variants take, into pieces that the
     *  budget holds.  *out comes zeroed, and stays so where operands are copied in one piece.
     *  NULL function: always. */
    tsr_status (*partition)(const problem *p, const struct selection *sel,
                            const struct stream_budget *budget, struct partition *out,
                            tsr_error *err);

    /** Floating-point operations (for sort: keys) of the problem. */
    double (*work)(const problem *p);

    /** Compulsory traffic in bytes: each input read once, each output written once. */
    double (*bytes)(const problem *p);

    /** One-line description: "1000x64x1000 float32 A^T". */
    void (*describe)(const problem *p, text *out);

    /** Tuning key: problems of one class take the same tuning. */
    void (*classify)(const problem *p, text *out);

    /** Names of variants, best first, for this kind of device and problem, while no tuning entry
     *  exists; returns their number.  Covers device kinds and the host. */
    size_t (*prefer)(const problem *p, const device_facts *d, const char *out[PREFERENCES_MAX]);

    /** Fill host operands with inputs of a family.  Outputs get arbitrary but reproducible bytes
     *  (NaN among them where beta is 0). */
    void (*fill)(const problem *p, uint64_t seed, distribution f, void *const operands[]);

    /** Edge-shape sweep: problem i, in a fixed order; false beyond the last.  With `tiny` only
     *  problems that a simulator finishes in seconds. */
    bool (*sweep)(size_t i, bool tiny, problem *out);

    /**
     * What verify() compares with and need not compute again for every result of the same inputs:
     * it depends on them and the problem's shape alone.  *out is malloced and the caller's.  NULL
     * function: nothing is worth keeping.
     */
    tsr_status (*expect)(const problem *p, const void *const before[], void **out, tsr_error *err);

    /**
     * Compare a result with the reference: computed independently of every variant, in higher
     * precision, against the bound that floating-point arithmetic allows on this device.  Also
     * checks that nothing outside the result was written.
     *
     * @param before    operands as they were, `after` as they are.
     * @param expected  what expect() made of `before`; NULL: it is computed here.
     */
    tsr_status (*verify)(const problem *p, const device_facts *d, const void *const before[],
                         const void *const after[], const void *expected, verdict *out,
                         tsr_error *err);
};

/** The operations, in the order in which they are listed (host/ops/operations.c). */
extern const operation *const operations[];
extern const size_t operation_count;

#endif
