#include "cli/bench_errors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/sizes.h"
#include "core/registry.h"

static bench_errors_entry *find(bench_errors *e, const result_row *row)
{
    for (size_t i = 0; i < e->count; i++)
        if (e->entries[i].row->subject == row->subject &&
            !strcmp(e->entries[i].row->name, row->name) &&
            !strcmp(e->entries[i].row->parameters, row->parameters))
            return &e->entries[i];
    return NULL;
}

static tsr_status grow(bench_errors *e, tsr_error *err)
{
    const size_t capacity = 2 * e->capacity + 8;
    bench_errors_entry *more;

    if (e->count < e->capacity)
        return TSR_OK;
    more = realloc(e->entries, capacity * sizeof(*more));
    if (!more)
        return tsr_fail(err, TSR_ENOMEM, 0, "no memory for the errors of %zu kernels", capacity);
    e->entries = more;
    e->capacity = capacity;
    return TSR_OK;
}

tsr_status bench_errors_note(bench_errors *e, const result_row *given, tsr_error *err)
{
    result_row row = *given;
    bench_errors_entry *entry;
    tsr_status st;

    if (given->outcome != RESULT_TIMED && given->outcome != RESULT_WRONG)
        return TSR_OK;
    row.kind = RESULT_ERROR;
    row.tiles = row.strict_tiles = 0; /* of the inputs that were timed */
    row.subject = given->kind == RESULT_PEER ? SUBJECT_PEER : SUBJECT_KERNEL;
    entry = find(e, &row);
    if (!entry) {
        st = grow(e, err);
        if (st)
            return st;
        entry = &e->entries[e->count++];
    }
    for (int f = 0; f < ERRORS_DISTRIBUTIONS; f++) {
        entry->row[f] = row;
        snprintf(entry->row[f].distribution, sizeof(row.distribution), "%s",
                 errors_distribution_name((error_distribution)f));
    }
    return TSR_OK;
}

static void put(result_row *row, const error_found *found)
{
    row->error_max = found->max;
    row->error_rms = found->rms;
    row->elements = found->elements;
    row->class_errors = found->differ;
    row->tiles = found->tiles;
    row->strict_tiles = found->strict_tiles;
}

/* Why there is no error, in place of the time too: such a row would claim both. */
static void refuse(result_row *row, const tsr_error *why)
{
    result_refuse(row, RESULT_FAILED, why->message);
}

/* A variant with the parameters that it was timed with: "SIDE=16 BLOCK=4".  A value that is not
 * among the tunable's was found by the shape, and is found again. */
static void measure_kernel(result_row *row, tsr_session *s, const error_case *c)
{
    const char *set[TUNABLES_MAX];
    tsr_run run = {.variant = row->name, .set = set};
    char parameters[sizeof(row->parameters)], *rest = NULL;
    const variant *v = NULL;
    error_found found = {0};
    tsr_error err = {0};
    params taken;

    variant_find(operation_named(row->op), row->name, &v, NULL);
    if (v)
        taken = params_default(v);
    memcpy(parameters, row->parameters, sizeof(parameters));
    for (char *one = strtok_r(parameters, " ", &rest); v && one && run.set_count < TUNABLES_MAX;
         one = strtok_r(NULL, " ", &rest))
        if (params_set(v, &taken, one, NULL) == TSR_OK)
            set[run.set_count++] = one;
    if (errors_of_run(s, &run, c, &found, &err))
        refuse(row, &err);
    else
        put(row, &found);
}

typedef struct round_of_peers {
    bench_errors *errors;
    const error_case *inputs;
} round_of_peers;

static bench_errors_entry *find_peer(const round_of_peers *r, const result_row *row)
{
    result_row peer = *row;

    peer.subject = SUBJECT_PEER;
    return find(r->errors, &peer);
}

/* One that was not timed has no errors either, and its row says why. */
static bool wants_peer(const result_row *row, void *context)
{
    return find_peer(context, row) != NULL;
}

static void take_peer(const result_row *row, const void *result, const tsr_error *why,
                      void *context)
{
    const round_of_peers *r = context;
    bench_errors_entry *entry = find_peer(r, row);
    error_found found;

    if (!result) {
        refuse(&entry->row[r->inputs->distribution], why);
        return;
    }
    errors_measure(r->inputs, result, &found);
    put(&entry->row[r->inputs->distribution], &found);
}

static bool stopped(const peers_comparison *compared)
{
    return compared->options->stop && *compared->options->stop;
}

static tsr_status measure_distribution(bench_errors *e, const peers_comparison *compared,
                                       error_distribution f, tsr_error *err)
{
    error_case inputs = {0};
    round_of_peers round = {e, &inputs};
    tsr_status st = errors_open(compared->problem, compared->options->seed, f, &inputs, err);

    for (size_t i = 0; i < e->count && !st && !stopped(compared); i++) {
        result_row *row = &e->entries[i].row[f];

        row->roundoff = errors_unit(compared->problem);
        row->sampled = inputs.sampled;
        if (row->subject == SUBJECT_KERNEL)
            measure_kernel(row, compared->session, &inputs);
    }
    if (!st && compared->list && !stopped(compared))
        st = peers_products(compared, inputs.before, wants_peer, take_peer, &round, err);
    errors_close(&inputs);
    return st;
}

tsr_status bench_errors_measure(bench_errors *e, const peers_comparison *compared, tsr_error *err)
{
    tsr_status st = TSR_OK;

    for (int f = 0; f < ERRORS_DISTRIBUTIONS && e->count && !st && !stopped(compared); f++)
        st = measure_distribution(e, compared, (error_distribution)f, err);
    return st;
}

void bench_errors_elements(const bench_errors *e, size_t elements[ERRORS_DISTRIBUTIONS])
{
    for (int f = 0; f < ERRORS_DISTRIBUTIONS; f++) {
        elements[f] = 0;
        for (size_t i = 0; i < e->count; i++)
            elements[f] = size_max(elements[f], e->entries[i].row[f].elements);
    }
}

void bench_errors_free(bench_errors *e)
{
    free(e->entries);
    *e = (bench_errors){0};
}
