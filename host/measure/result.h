/**
 * A measured row: what was run, where, how long it took and how right it was.
 *
 * Written as one JSON object a line (schema "tessera-result-2", docs/results.md)
 * and read back by compare, report and tests.  A plain value: no ownership.
 */
#ifndef MEASURE_RESULT_H
#define MEASURE_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/text.h"
#include "core/dispatch.h"

#define RESULT_SCHEMA "tessera-result-2"

typedef enum result_kind {
    RESULT_KERNEL, /* a variant of ours */
    RESULT_PEER,   /* the same job through another library */
    RESULT_LIMIT,  /* a limit of the device that `roofline` measured */
    RESULT_ERROR, /* how exact a variant or peer is on one distribution of inputs, with its times */
    RESULT_OVERLAP, /* an array copied in, computed and copied out in chunks over several queues */
    RESULT_LAB      /* a point of an experiment of `tessera lab` */
} result_kind;

/** Whose errors a row of RESULT_ERROR has. */
typedef enum result_subject { SUBJECT_KERNEL, SUBJECT_PEER } result_subject;

/** What became of it. */
typedef enum result_outcome {
    RESULT_TIMED,
    RESULT_UNSUPPORTED, /* it cannot do this here */
    RESULT_WRONG,       /* its result is out of its bound: not timed */
    RESULT_FAILED,      /* a call failed, also in the proof */
    RESULT_LATE         /* the budget was over */
} result_outcome;

/** Where the work was done. */
typedef enum result_place {
    RESULT_ON_DEVICE, /* the row's, through OpenCL */
    RESULT_BY_CUDA,   /* the row's, through CUDA */
    RESULT_ON_HOST    /* the host's processor, by C code */
} result_place;

/** How a time was taken. */
typedef enum result_timer {
    TIMER_EVENTS, /* first START to last END on a profiling queue */
    TIMER_WALL,   /* N calls back to back, one wait, wall / N */
    TIMER_HELD    /* N calls, enqueued while the device is held back: from then on its time / N */
} result_timer;

/** Order statistics of repeated times, in nanoseconds. */
typedef struct timing {
    size_t count; /* samples */
    size_t calls; /* calls a sample, 1 with TIMER_EVENTS */
    double min_ns;
    double median_ns;
    double max_ns;
    double low_ns;  /* lower quartile: with `high_ns` the spread that is printed */
    double high_ns; /* upper quartile */
} timing;

/** What a bar of a timeline stands for. */
typedef enum bar_what { BAR_COPY_IN, BAR_KERNEL, BAR_COPY_OUT } bar_what;

/** A command of a run: when it ran, in nanoseconds from the first START, by the device's clock. */
typedef struct result_bar {
    size_t queue; /* from 0 */
    bar_what what;
    double start_ns, end_ns;
} result_bar;

enum { RESULT_WHEN_SIZE = 24, RESULT_BARS_MAX = 192 };

typedef struct result_row {
    result_kind kind;
    result_outcome outcome;
    char op[16];           /* its name; "limit" for RESULT_LIMIT */
    char problem[128];     /* operation.describe: rows of one problem compare */
    char size[64];         /* as --size spells it: "1024x64x4096" */
    char type[16];         /* "float32" */
    char precision[16];    /* "f32", "tf32"...; "" where it has none */
    char name[64];         /* variant, peer ("cuBLAS"), or limit ("fp32") */
    char peer_version[64]; /* "" for our own */
    char parameters[160];  /* "TILE=16"; "" for peers */
    char options[400];     /* what the kernel was compiled with */
    selected_by selected;  /* of a kernel: why this variant */
    char chosen[160]; /* the same for people, with the tuning's file; of a peer: where it ran */
    result_place place;
    char unsupported[400]; /* the reason, in place of times; "" with RESULT_TIMED alone */
    char device[128], platform[128], vendor[128], driver[128], device_id[24];
    char version[32];            /* of Tessera */
    char when[RESULT_WHEN_SIZE]; /* UTC, ISO 8601: "2026-01-31T12:00:00Z" */
    bool cold;                   /* inputs rotated through more memory than the last-level cache */
    result_timer timer;
    timing time;
    double work;       /* operations, or keys */
    double bytes;      /* compulsory traffic */
    double rate;       /* from the median, in `unit` */
    char unit[16];     /* "GFLOP/s", "GB/s", "Mkeys/s" */
    char bound_by[32]; /* name of the limit that bounds it: "fp32", "memory read"; "" unknown */
    double share;      /* of that limit, 0..1; 0 where the limit is not measured */
    double limit_rate; /* that limit as a rate in `unit`; 0 where not measured */
    bool verified;
    double worst;                          /* largest |error| / bound */
    bool sampled;                          /* checked by samples and sums */
    double build_cold_ns, build_cached_ns; /* 0 where not measured */
    double enqueue_ns;                     /* host time to enqueue one call */
    double wall_ns;                        /* by the host's clock, from enqueuing one call to its
                                              end; 0 where not measured */
    double to_device_ns, from_device_ns;
    double to_device_bytes, from_device_bytes;
    size_t commands;
    size_t workspace_bytes;
    uint64_t seed;
    char order[16]; /* how inputs are distributed, where the operation names it, "random"; "" in
                       rows of before */
    /* Of variants that state them alone: bytes that work-items ask for, each access counted */
    double requested_bytes;     /* of global memory; 0: not stated */
    double local_traffic_bytes; /* of local memory */
    /* Of what splits factors in two alone: */
    size_t tiles;        /* of the result; 0: nothing is split */
    size_t strict_tiles; /* of them, those that held what cannot be split */
    /* Of RESULT_ERROR alone: */
    result_subject subject;
    char distribution[16]; /* of inputs */
    double error_max;      /* largest |C - exact| / (|A| |B|); INFINITY where C is not finite */
    double error_rms;      /* its root mean square */
    double roundoff;       /* u of the result's element type */
    size_t elements;       /* that were compared; `sampled` where they are fewer than all */
    size_t class_errors;   /* of them: NaN, an infinity or finite where it should be another */
    /* Of RESULT_OVERLAP alone: */
    char memory[16]; /* of the host: "pageable", "pinned", "svm" */
    size_t queues, chunks;
    double queue_ns;  /* creating that many queues */
    size_t bar_count; /* of the timeline, which is of one run; of many chunks the first ones */
    result_bar bars[RESULT_BARS_MAX];
    /* Of RESULT_LAB alone: */
    char experiment[16];
    char knob[16]; /* what is turned */
    char x[24];    /* its value */
    double ratio;  /* of the rate to that of the experiment's base; 0 where claims are of `rate` */
    double claim;  /* what courses teach of `ratio`, or of `rate`; 0 where they do not */
    bool base;     /* others have their ratio to it */
} result_row;

/** The time of day as rows have it: UTC, ISO 8601. */
void result_now(char out[RESULT_WHEN_SIZE]);

/** Whether two rows are of one device, its number included. */
bool result_same_device(const result_row *a, const result_row *b);
/** Of one driver, on the same device of its platform, whose number other drivers may change. */
bool result_same_driver(const result_row *a, const result_row *b);

/** Fill in who and where: device, driver, version, time of day. */
void result_start(result_row *row, const tsr_device *device);

/** Fill in what: operation, problem, size, type, precision, work, bytes, unit. */
void result_problem(result_row *row, const problem *p);

/** Fill in that there are no times, also where some were taken, and why: not RESULT_TIMED. */
void result_refuse(result_row *row, result_outcome outcome, const char *why);

/** Fill in the rate that the median gives, in the row's unit. */
void result_rate(result_row *row);

/** A unit of time: less is better. */
bool result_unit_is_cost(const char *unit);

/** The names that rows have for them. */
const char *result_kind_name(result_kind kind);
const char *result_outcome_name(result_outcome outcome);

/** A row's name for people: "(none)" of a problem that no kernel takes. */
const char *result_shown_name(const result_row *row);
const char *result_timer_name(result_timer timer);

/** Append the row as one JSON line, with its line end, to *out. */
void result_to_json(const result_row *row, text *out);

/** Read one JSON line.  TSR_EFILE names the field that is missing, wrong or of another schema. */
tsr_status result_from_json(const char *line, result_row *out, tsr_error *err);

/** Read every row of a JSON-lines file; *out is malloced and the caller's. TSR_EFILE names the
 * line. */
tsr_status result_read_file(const char *path, result_row **out, size_t *count, tsr_error *err);

/** The column names of the CSV form, and one row of it, with line ends (RFC 4180).  What not all
 *  rows have has no column. */
void result_csv_header(text *out);
void result_to_csv(const result_row *row, text *out);

/** Order statistics of n samples, which are sorted in place. */
timing timing_of(double *samples_ns, size_t n, size_t calls);

/** Half the distance between the quartiles as a part of the median: the spread that is printed. */
double timing_spread(const timing *t);

#endif
