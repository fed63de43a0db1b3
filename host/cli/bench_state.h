/** A run of `tessera bench`: its state, shared by what measures and what prints, and the measuring.
 */
#ifndef CLI_BENCH_STATE_H
#define CLI_BENCH_STATE_H

#include <signal.h>

#include "base/text.h"
#include "cli/bench_errors.h"
#include "cli/bench_jobs.h"
#include "cli/bench_rows.h"
#include "cli/device_choice.h"
#include "cli/options.h"
#include "measure/bench.h"
#include "measure/peers.h"
#include "measure/roofline.h"

enum { GROUP_MAX = 64 };

/** A row of a comparison with peers, and our rate over its. */
typedef struct peer_row {
    result_row row;
    double ratio;
} peer_row;

/** One run of the command. */
typedef struct bench {
    const options *o;
    bench_jobs jobs;
    choice devices;
    peers *peers;       /* NULL without --peers */
    peer_row *compared; /* room for all rows of a comparison, where there are peers */
    row_file files[2];  /* -o and standard output, where wanted */
    size_t file_count;
    bool table; /* on standard output */
    bench_options how;
    uint64_t start;
    size_t rows, done;     /* to measure; measured or refused */
    size_t reported, late; /* rows of variants and peers; of them, left out by the budget */
    size_t timed;
    bool limits_missing;
    char on_arrays[64]; /* C code that was measured beside kernels, since calls on arrays run it */
    bool unexplained;   /* a row of the host, which --explain cannot take apart */
    bool unheld;        /* the host is measured, which --held cannot hold back */
    bool unkept;        /* a row could not be written */
    int status;
    const volatile sig_atomic_t *stop; /* Ctrl-C */
    text warned;                       /* of tuning files */

    /* Of the device and the problem that are measured now: */
    tsr_session *session;
    limits limits;
    bool has_limits;
    void *expected; /* of the problem: computed once for all its rows */
    bool headed;    /* the table has its head */
    double first_ns;
    result_row early;   /* of the variant that a call would run, measured before its turn */
    bool early_waits;   /* it is to be printed */
    char precision[16]; /* of the variant that peers are compared with */
    result_row costs[GROUP_MAX]; /* rows with costs to list */
    size_t cost_count;
    size_t compared_count; /* rows of `compared`, which are printed behind the variants' */
    bench_errors errors;   /* with --errors */
} bench;

/** bench_measure.c: whether it ends before its time. */
bool bench_ended(const bench *b);

/** bench_measure.c: measure every problem on a device, and print each row. */
void bench_on_device(bench *b, const tsr_device *device);

/** bench_measure.c: print the rows that were measured and wait for their turn, where the bench ends
 *  before it. */
void bench_print_waiting(bench *b);

#endif
