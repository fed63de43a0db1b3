#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "cli/activity.h"
#include "cli/bench_problem.h"
#include "cli/bench_rows.h"
#include "cli/commands.h"
#include "cli/device_choice.h"
#include "cli/interrupt.h"
#include "cli/messages.h"
#include "device/device.h"

/* What is measured where the command line does not say. */
static const overlap_counts usual_queues = {{1, 2, 3, 4, 8}, 5}, usual_chunks = {{32}, 1};

/* One run of the command. */
typedef struct overlap_bench {
    row_run run;
    const overlap_counts *queues, *chunks;
    choice devices;
    uint64_t start;
    size_t timed, late;
    overlap *overlap; /* of the device and size that are measured now */
    bool headed;
    result_row row;
} overlap_bench;

/* ---- the command line ---------------------------------------------------------------------- */

/* The first option given that overlap has no use for. */
static tsr_status check_options(const options *o, tsr_error *err)
{
    static const struct {
        option_id id;
        const char *name;
    } foreign[] = {
        {OPTION_TYPE, "type"},     {OPTION_KERNEL, "kernel"},   {OPTION_SET, "set"},
        {OPTION_WARM, "warm"},     {OPTION_PEERS, "peers"},     {OPTION_HELD, "held"},
        {OPTION_ERRORS, "errors"}, {OPTION_EXPLAIN, "explain"}, {OPTION_JOBS, "jobs"},
        {OPTION_WALL, "wall"},     {OPTION_BRIEF, "brief"},     {OPTION_BUILD_ONLY, "build-only"}};
    size_t words;
    tsr_status st = TSR_OK;

    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (o->given[foreign[i].id])
            return tsr_fail(err, TSR_ENAME, 0, "overlap has no --%s", foreign[i].name);
    if (o->settings.count)
        return tsr_fail(err, TSR_ENAME, 0, "overlap has no --%s", o->settings.list[0].option);
    if (o->given[OPTION_CSV])
        return tsr_fail(err, TSR_ENAME, 0, "--csv has no columns for overlap; --json has its rows");
    for (size_t i = 0; i < o->size_count && !st; i++)
        st = bench_words(o->size[i], &words, err);
    return st;
}

/* ---- rows ---------------------------------------------------------------------------------- */

static void show(overlap_bench *b, double one_queue_ns)
{
    if (b->run.table && !b->headed)
        row_overlap_head(&b->row);
    b->headed = true;
    if (b->run.table)
        row_overlap_line(&b->row, one_queue_ns);
    b->late += b->row.outcome == RESULT_LATE;
    b->timed += b->row.time.count > 0;
    row_run_add(&b->run, &b->row);
}

static void measure(overlap_bench *b, const overlap_job *j, double *one_queue_ns)
{
    tsr_error err = {0};
    tsr_status st;

    if (row_run_ended(&b->run))
        return;
    if (b->run.o->budget > 0 && b->run.done &&
        (double)(clock_ns() - b->start) * 1e-9 >= b->run.o->budget) {
        overlap_row(b->overlap, j, &b->row);
        result_refuse(&b->row, RESULT_LATE, "the budget was over");
    } else {
        activity_begin("overlap, %s", overlap_memory_name(j->memory));
        st = overlap_measure(b->overlap, j, &b->row, &err);
        activity_end();
        if (st)
            row_run_fail(&b->run, print_error(b->row.name, &err, NULL));
    }
    if (b->row.outcome == RESULT_TIMED && !b->row.time.count)
        return; /* interrupted before its first sample */
    if (one_queue_ns && j->queues == 1)
        *one_queue_ns = b->row.time.median_ns;
    show(b, one_queue_ns ? *one_queue_ns : 0);
}

/* One place on the host: the copies alone, then the table. */
static void measure_memory(overlap_bench *b, overlap_memory memory)
{
    overlap_job j = {.memory = memory, .way = OVERLAP_PIPELINE, .queues = 1, .chunks = 1};

    if (overlap_unsupported(b->overlap, &j)) {
        measure(b, &j, NULL); /* says why, once */
        return;
    }
    for (j.way = OVERLAP_COPY_IN; j.way != OVERLAP_PIPELINE; j.way++)
        if (!overlap_unsupported(b->overlap, &j))
            measure(b, &j, NULL);
    for (size_t c = 0; c < b->chunks->count; c++) {
        double one_queue_ns = 0;

        j.chunks = b->chunks->of[c];
        for (size_t q = 0; q < b->queues->count; q++) {
            j.queues = b->queues->of[q];
            measure(b, &j, &one_queue_ns);
        }
    }
}

/* Every device and size has as many, where each has all kinds of memory. */
static size_t rows_planned(const overlap_bench *b)
{
    const options *o = b->run.o;
    const size_t memories = o->given[OPTION_PINNED] ? 1 : OVERLAP_MEMORY_COUNT;
    const size_t sizes = o->size_count ? o->size_count : 1;

    return b->devices.count * sizes * memories *
           (OVERLAP_PIPELINE + b->queues->count * b->chunks->count);
}

static void measure_size(overlap_bench *b, tsr_session *s, const char *size)
{
    const options *o = b->run.o;
    overlap_options how = {.words = overlap_usual_words(s),
                           .rounds = o->rounds,
                           .seconds = 1,
                           .samples = o->given[OPTION_REPEAT] ? o->repeat : 0,
                           .seed = o->seed,
                           .stop = b->run.stop};
    tsr_error err = {0};
    tsr_status st;

    b->headed = false;
    /* Inputs and checks take about as long as samples. */
    if (o->seconds > 0)
        how.seconds = o->seconds;
    if (o->budget > 0)
        how.seconds = fmin(how.seconds, o->budget / (2.0 * (double)rows_planned(b)));
    st = size ? bench_words(size, &how.words, &err) : TSR_OK;
    activity_begin("overlap, inputs and kernels");
    st = st ? st : overlap_open(s, &how, &b->overlap, &err);
    activity_end();
    if (st) {
        row_run_fail(&b->run, print_error(session_facts(s)->name, &err, s));
        return;
    }
    for (int m = 0; m < OVERLAP_MEMORY_COUNT; m++)
        if (!o->given[OPTION_PINNED] || m == (o->pinned ? OVERLAP_PINNED : OVERLAP_PAGEABLE))
            measure_memory(b, (overlap_memory)m);
    overlap_close(b->overlap);
    b->overlap = NULL;
}

static void measure_device(overlap_bench *b, const tsr_device *device)
{
    const size_t sizes = b->run.o->size_count ? b->run.o->size_count : 1;
    tsr_session *s = NULL;
    tsr_error err = {0};

    if (choice_open(device, b->run.o, &s, &err)) {
        row_run_fail(&b->run, print_error(tsr_device_name(device), &err, NULL));
        return;
    }
    for (size_t i = 0; i < sizes && !row_run_ended(&b->run); i++)
        measure_size(b, s, b->run.o->size_count ? b->run.o->size[i] : NULL);
    tsr_session_close(s);
}

/* Also of one that is interrupted: see interrupt_watch(). */
static int finish(void *context)
{
    overlap_bench *b = context;
    tsr_error err = {0};
    const int status = row_run_close(&b->run, "rows");

    if (status == EXIT_INTERRUPTED)
        return status;
    if (b->late)
        fprintf(stderr,
                "tessera: %s: the budget is over: %zu of %zu rows are done; a --budget above %s "
                "takes more of them\n",
                b->run.o->command, b->run.done - b->late, b->run.done,
                b->run.o->value[OPTION_BUDGET]);
    else if (!b->timed && !b->run.status) {
        tsr_fail(&err, TSR_EUNSUPPORTED, 0, "nothing ran");
        row_run_fail(&b->run, print_error(b->run.o->command, &err, NULL));
    }
    return b->run.status;
}

int bench_overlap(const options *o)
{
    overlap_bench *b = calloc(1, sizeof *b);
    tsr_error err = {0};
    tsr_status st;
    int status;

    if (!b)
        return out_of_memory();
    b->run.o = o;
    b->queues = o->queues.count ? &o->queues : &usual_queues;
    b->chunks = o->chunks.count ? &o->chunks : &usual_chunks;
    st = check_options(o, &err);
    st = st ? st : choice_find(o, &b->devices, &err);
    st = st ? st : row_run_open(o, &b->run, &err);
    if (st) {
        status = print_error(o->command, &err, NULL);
    } else {
        b->run.stop = interrupt_watch(finish, b);
        b->start = clock_ns();
        for (size_t i = 0; i < b->devices.count && !row_run_ended(&b->run); i++)
            /* `all` leaves the host out, which has no queues. */
            if (b->devices.count == 1 || !tsr_device_is_host(b->devices.device[i]))
                measure_device(b, b->devices.device[i]);
        status = finish(b);
    }
    choice_close(&b->devices);
    free(b);
    return status;
}
