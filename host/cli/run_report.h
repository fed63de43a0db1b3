/** The report of one run of an operation: a line for people, and JSON. */
#ifndef CLI_RUN_REPORT_H
#define CLI_RUN_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/operands.h"
#include "core/variant.h"
#include "tessera/device.h"
#include "tessera/run.h"

typedef struct run_report {
    const char *command; /* the operation's name as the command line has it */
    const char *file;    /* that runs in the place of the variant; NULL: none */
    const posing *posed; /* the problem, and the arrays as the outputs have them */
    const tsr_device *device;
    tsr_report first;   /* of `count` runs: the one that probes and builds */
    tsr_report fastest; /* of them */
    uint64_t median_ns; /* of the runs' device times */
    uint64_t median_wall_ns;
    size_t count;
    uint64_t read_ns;   /* reading the inputs, and converting them where that is asked */
    uint64_t open_ns;   /* finding the device and opening it, which loads its driver */
    uint64_t verify_ns; /* computing the reference, and comparing */
    uint64_t write_ns;  /* writing the outputs */
    bool verified;
    verdict verdict;      /* where verified */
    const array *printed; /* the result, where no file is named for it; else NULL */
} run_report;

/** Append what the files and options of a run ask for, as results and messages call it. */
void run_report_describe(const posing *x, text *out);

/** One line on standard error, and another where tiles ran strictly. */
void run_report_summary(const run_report *r);

/** A JSON object on standard output; returns an exit status. */
int run_report_json(const run_report *r);

#endif
