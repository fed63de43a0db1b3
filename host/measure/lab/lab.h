/**
 * The laboratory: experiments that turn one knob of a kernel, or of what the host does with one,
 * and show what a device makes of it beside what courses on GPUs teach.
 *
 * To add one, write its kernel, cl/lab/lab_NAME.cl, and in a file of this folder a function that
 * measures its points and an `experiment` that describes it; then list that in lab.c.  The command,
 * its tests, docs and the report take it from there.
 */
#ifndef MEASURE_LAB_LAB_H
#define MEASURE_LAB_LAB_H

#include <signal.h>

#include "measure/result.h"
#include "measure/roofline_rig.h"

typedef struct lab lab;

typedef struct experiment {
    const char *name;
    const char *summary;   /* what is turned, in one line */
    const char *knob;      /* heading of its values: "stride" */
    const char *counted;   /* what its size is a number of; NULL: it has none */
    size_t size_cpu, size; /* where none is given: on a CPU, and on another device */
    size_t size_max;       /* 0: LAB_SIZE_MAX */
    size_t group;          /* work-items of the smallest group that it needs; 0: any will do */
    const char *unit;      /* of what is measured; see result_unit_is_cost */
    bool claims_values;    /* claims are in that unit; else they are times the base */
    const char *claim;     /* what courses teach, in sentences */
    const char *on_cpu;    /* why a CPU shows something else, for somebody who learns this */
    const char *on_gpu;    /* the same of a GPU that differs */
    const char *source;    /* its kernels' file under cl/; NULL: it has none */
    /** Measure each point by lab_measure or lab_skip, in the order in which they are shown. */
    tsr_status (*measure)(lab *l, tsr_error *err);
} experiment;

/** Experiment i of all, in the order of learning; NULL behind the last. */
const experiment *lab_at(size_t i);

/** NULL where there is none of that name. */
const experiment *lab_named(const char *name);

/** Whether a claim holds: within a factor of 1.5. */
bool lab_agrees(double measured, double claim);

/** Whether courses teach something of the row that can be wrong: not of the base. */
bool lab_is_claim(const experiment *e, const result_row *row);

/** What the row measured, as the claim has it: in its unit, or times the base. */
double lab_compared(const experiment *e, const result_row *row);

typedef struct lab_options {
    size_t size;                       /* 0: the experiment's own for the device */
    size_t samples;                    /* of each point; 0: 5 at least, for a tenth of a second */
    const volatile sig_atomic_t *stop; /* NULL, or nonzero ends it before the next sample */
    /** Called with each row; false ends the experiment. */
    bool (*on_row)(const result_row *row, void *context);
    void *context;
} lab_options;

/** The largest size of an experiment: kernels count in 32 bits. */
#define LAB_SIZE_MAX ((size_t)1 << 31)

/**
 * Run one experiment.
 *
 * @return TSR_OK, also where the device lacks what it needs, which a row says, and where it was
 *         ended early; TSR_EBOUND where a result is wrong; TSR_EUNSUPPORTED on `host`;
 *         TSR_ENAME for a size above the experiment's; what a call that fails gives.
 */
tsr_status lab_run(tsr_session *s, const experiment *e, const lab_options *how, tsr_error *err);

/* ---- for experiments ------------------------------------------------------------------------ */

struct lab {
    const experiment *what;
    const lab_options *how;
    rig rig;
    size_t size;      /* an experiment that rounds it puts that here before its first point */
    size_t units;     /* compute units, at least 1 */
    size_t group_max; /* work-items of the largest group of one dimension */
    double base;      /* value of the last point that is one */
    double cycle_ns;  /* of the clock that the device reports; 0: it reports none */
    bool ended;       /* by how->stop or how->on_row: nothing more is measured */
};

/** Work-items of a group, where an experiment is not about that. */
enum { LAB_GROUP = 64 };

typedef struct lab_point {
    const char *series; /* which curve it is on */
    const char *x;      /* the knob's value */
    /** Do it once; receives the nanoseconds. */
    tsr_status (*run)(void *state, double *ns, tsr_error *err);
    /** Do it once and compare the result: TSR_EBOUND where it is wrong. */
    tsr_status (*check)(void *state, tsr_error *err);
    void *state;
    double amount; /* of a rate: bytes or operations of one run; of a cost: what it is divided by */
    bool wall;     /* `ns` is of the host's clock */
    bool base;     /* it, and points behind it, are compared with it */
    double claim;  /* what courses teach; 0: nothing of this point */
} lab_point;

/** Check a point, then time it, and report its row. */
tsr_status lab_measure(lab *l, const lab_point *p, tsr_error *err);

/** Report that the device lacks what a point, or with x "" a series, needs. */
void lab_skip(lab *l, const char *series, const char *x, const char *why);

/** A kernel of the experiment's source.  Borrowed. */
tsr_status lab_kernel(const lab *l, const char *options, const char *entry, cl_kernel *out,
                      tsr_error *err);

/** A queue on the device: of those that say that they have one, and of NVIDIA's, which have one and
 * do not say it.  NULL: none.  The caller releases it. */
cl_command_queue lab_device_queue(const lab *l);

/** A buffer of words, each its own number.  The caller releases it. */
tsr_status lab_numbers(const lab *l, size_t words, cl_mem *out, tsr_error *err);

/** A buffer that holds these bytes.  The caller releases it. */
tsr_status lab_upload(const lab *l, const void *from, size_t bytes, cl_mem *out, tsr_error *err);

/** A launch that writes words which are known: run and check of a point. */
typedef struct lab_launch {
    const char *entry, *options; /* of the experiment's source */
    const rig_arg *args;         /* arg_count of them */
    size_t arg_count;
    size_t global, local;
    cl_mem out;
    size_t words; /* of it, compared one by one */
    uint32_t (*expected)(const void *context, size_t word);
    const void *context;
    /* Filled in by lab_measure_kernel: */
    const lab *l;
    cl_kernel kernel;
} lab_launch;

/** Build a kernel, set its arguments, and measure it: the point's run, check and state are filled
 * in. */
tsr_status lab_measure_kernel(lab *l, lab_launch launch, lab_point p, tsr_error *err);

/** What n steps of value = value * mul + add make of a value, as one such step. */
typedef struct lab_affine {
    uint32_t mul, add;
} lab_affine;
lab_affine lab_affine_power(lab_affine one, size_t n);

/** Work-items that fill the device: a multiple of the group. */
size_t lab_full_items(const lab *l, size_t group);

/** The number as text, for lab_point.x. */
typedef struct lab_text {
    char at[24];
} lab_text;
lab_text lab_number(size_t n);

/** Bytes: "4 KiB". */
lab_text lab_bytes(size_t n);

/** What such a text says, "32" or "4 KiB"; -1 of any other. */
double lab_amount(const char *x);

#endif
