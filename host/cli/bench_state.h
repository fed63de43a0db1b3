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

/** The sessions of a device, opened when they are needed and kept for all jobs. */
typedef struct bench_sessions {
    tsr_session *session;    /* whose queue records times */
    tsr_session *unprofiled; /* bench_options.unprofiled */
} bench_sessions;

/** The peers of an operation, loaded once for all jobs. */
typedef struct bench_loaded {
    const operation *op;
    peers *list;
} bench_loaded;

/** A row of a comparison with peers, and our rate over its. */
typedef struct peer_row {
    result_row row;
    double ratio;
} peer_row;

/** One run of the command. */
typedef struct bench {
    const options *command; /* the command line */
    choice devices;
    bench_sessions *sessions; /* one a device */
    bench_loaded *loaded;     /* loaded_count of them */
    size_t loaded_count;
    size_t job, job_count; /* of --jobs: the running one, from 1, and all; 0 without it */
    bench_phases phases;
    row_file files[2]; /* -o and standard output, where wanted */
    size_t file_count;
    bool table; /* on standard output */

    /* Of the job that runs, the only one without --jobs: */
    const options *o;
    options given; /* with --jobs: what it points to */
    bench_jobs jobs;
    peers *peers;       /* NULL without --peers */
    peer_row *compared; /* room for all rows of a comparison, where there are peers */
    bench_options how;
    uint64_t began;        /* the command */
    uint64_t start;        /* the job */
    size_t rows, done;     /* to measure; measured or refused */
    size_t reported, late; /* rows of variants and peers; of them, left out by the budget */
    size_t timed;
    bool limits_missing;
    char on_arrays[64]; /* C code that was measured beside kernels, since calls on arrays run it */
    bool unexplained;   /* a row of the host, which --explain cannot take apart */
    bool unheld;        /* the host is measured, which --held cannot hold back */
    bool unkept;        /* a row could not be written */
    int status;
    int worst;                         /* of the jobs before; EXIT_DONE without --jobs */
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

/** bench_measure.c: measure every problem on device i, and print each row. */
void bench_on_device(bench *b, size_t i);

/** bench_measure.c: close what jobs have in common of device i. */
void bench_close_sessions(bench *b, size_t i);

/** bench_measure.c: print the rows that were measured and wait for their turn, where the bench ends
 *  before it. */
void bench_print_waiting(bench *b);

#endif
