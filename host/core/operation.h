/**
 * What an operation is: its problems, their operands, how results are checked, and what commands
 * and measuring need to know of it.
 */
#ifndef CORE_OPERATION_H
#define CORE_OPERATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/plan.h"
#include "tessera/status.h"
#include "tessera/types.h"

enum { OPERANDS_MAX = 8, PREFERENCES_MAX = 32, PROBLEM_BYTES_MAX = 256 };

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

    /** Floating-point operations (for sort: keys) of the problem. */
    double (*work)(const problem *p);

    /** Compulsory traffic in bytes: each input read once, each output written once. */
    double (*bytes)(const problem *p);

    /** One-line description: "1000x64x1000 float32 A^T". */
    void (*describe)(const problem *p, text *out);

    /** Tuning key: problems of one class take the same tuning. */
    void (*classify)(const problem *p, text *out);

    /** Append the problems of a class, by a name that classify() gives: "float32 nn, M 1024-2047".
     *  False, and nothing appended, for any other name. */
    bool (*class_text)(const char *name, text *out);

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
