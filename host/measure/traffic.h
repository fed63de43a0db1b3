/**
 * What a call asks of memory and of arithmetic by its design, and where that puts it beside the
 * ridge of the device's roofline.
 */
#ifndef MEASURE_TRAFFIC_H
#define MEASURE_TRAFFIC_H

#include "measure/roofline.h"

/** Sums over the commands of a call. */
typedef struct traffic {
    double compulsory; /* bytes: each input read once, each output written once */
    double requested;  /* bytes of global memory that work-items ask for; 0: a command does not
                          state it, and `local` is 0 then */
    double local;      /* bytes that they read from and write to local memory */
    double flops;      /* floating-point operations; 0: the work is not counted in these, and no
                          command states them */
    double barriers;   /* that a work-group passes, the commands' sum */
    double results;    /* elements of its result */
    double loads;      /* traffic_loads() for each of these */
    double first;      /* `requested` of the step "naive" of the ladder, else of its first step that
                          states it for this problem, with its default values; 0: none does */
    char first_name[64];
} traffic;

/** The sums alone; a fill asks for what it writes. */
traffic traffic_sum(const plan *made);

/** Elements that work-items load.  The result is stored once. */
typedef struct product_loads {
    double all;
    double for_result; /* for each element of the result */
    double of_input;   /* of each element that is read */
} product_loads;

/** Of a product in one command whose operands are all of one type; else 0: not known.
 *  @param requested  bytes of global memory that its work-items ask for; 0: not stated. */
product_loads traffic_loads(const problem *p, double requested, size_t commands);

/** Of a call's plan.  Probes what steps of the ladder need. */
void traffic_of(tsr_session *s, const problem *p, const plan *made, traffic *out);

/** Where FLOPs a byte lie under the roofline. */
typedef struct intensity {
    double asked;      /* FLOPs a byte that is asked for; 0: not stated */
    double least;      /* FLOPs a compulsory byte, which no kernel exceeds; 0: no FLOPs */
    double ridge;      /* FLOPs a byte from which on the roof is flat; 0: not measured */
    double compute;    /* GFLOP/s of the flat part */
    const char *limit; /* its name: "fp32" */
    double memory;     /* GB/s of `memory read`, the other part */
} intensity;

/** @param l          NULL where limits are not measured.
 *  @param precision  of the row, "" for FP32. */
intensity intensity_of(const traffic *t, const limits *l, const char *precision);

/** "memory-bound" below the ridge, else "compute-bound". */
const char *intensity_word(double flops_a_byte, double ridge);

#endif
