/* clCreateCommandQueue: the call that devices of every version take. */
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS

#include "measure/overlap.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/sizes.h"
#include "device/query.h"
#include "measure/overlap_rig.h"
#include "session/program.h"

enum { SAMPLES_MIN = 5, SAMPLES_MAX = 200, QUEUE_SAMPLES = 21, CALIBRATION_WORDS = 1 << 22 };

struct overlap {
    tsr_session *session;
    overlap_options options;
    cl_kernel kernel; /* borrowed from the session */
    char build[80];
    uint32_t salt; /* of the last run */
    bool has_svm;
};

static const char *const memory_names[] = {"pageable", "pinned", "svm"};
static const char *const way_names[] = {", copy in", ", copy out", ", both ways", ""};

/* ---- without a device ---------------------------------------------------------------------- */

const char *overlap_memory_name(overlap_memory m)
{
    return memory_names[m];
}

static bool has_count(const overlap_counts *list, size_t n)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->of[i] == n)
            return true;
    return false;
}

bool overlap_counts_read(const char *list, size_t most, overlap_counts *out)
{
    overlap_counts found = {.count = 0};

    for (;; list++) {
        size_t n = 0;

        if (!isdigit((unsigned char)*list))
            return false;
        for (; isdigit((unsigned char)*list) && n <= most; list++)
            n = n * 10 + (size_t)(*list - '0');
        if (n == 0 || n > most || has_count(&found, n) || found.count == OVERLAP_COUNTS_MAX)
            return false;
        found.of[found.count++] = n;
        if (*list != ',')
            break;
    }
    if (*list)
        return false;
    *out = found;
    return true;
}

size_t overlap_chunk_begin(size_t words, size_t chunks, size_t c)
{
    const size_t each = words / chunks, longer = words % chunks;

    return c * each + size_min(c, longer);
}

uint32_t overlap_expected(uint32_t word, size_t rounds)
{
    const affine map = overlap_rounds(rounds);

    return map.multiplier * word + map.increment;
}

size_t overlap_usual_words(const tsr_session *s)
{
    return (size_t)1 << (session_facts(s)->kind == DEVICE_CPU ? 22 : 26);
}

/* ---- opening ------------------------------------------------------------------------------- */

static tsr_status build(overlap *o, tsr_error *err)
{
    const program_entry *entry;
    program *p;
    tsr_status st;

    snprintf(o->build, sizeof(o->build), "-DMULTIPLIER=%uu -DINCREMENT=%uu",
             overlap_round.multiplier, overlap_round.increment);
    st = program_get(o->session, "measure/overlap.cl", o->build, " overlap_rounds", &p, err);
    st = st ? st : program_kernel(p, "overlap_rounds", &entry, err);
    if (!st)
        o->kernel = entry->kernel;
    return st;
}

/* Shared virtual memory that is mapped and unmapped; devices before OpenCL 2.0 have no such call.
 */
static bool has_svm(const tsr_session *s)
{
    cl_device_svm_capabilities can = 0;

    return session_facts(s)->cl_version >= 200 &&
           query(s->device.id, CL_DEVICE_SVM_CAPABILITIES, &can, sizeof(can)) &&
           (can & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER);
}

static tsr_status check_room(const overlap *o, tsr_error *err)
{
    const device_facts *d = session_facts(o->session);
    size_t bytes;

    if (!size_mul(o->options.words, sizeof(uint32_t), &bytes) || o->options.words > UINT32_MAX)
        return tsr_fail(err, TSR_EOVERFLOW, 0, "%zu words are more than %u, which the kernel takes",
                        o->options.words, UINT32_MAX);
    if (bytes > d->max_allocation || bytes > d->global_memory / 2)
        return tsr_fail(err, TSR_EOVERFLOW, 0,
                        "2 arrays of %zu bytes: the largest allocation on %s is %llu bytes, and it "
                        "has %llu",
                        bytes, d->name, (unsigned long long)d->max_allocation,
                        (unsigned long long)d->global_memory);
    return TSR_OK;
}

static tsr_status run(overlap *o, overlap_rig *r, double *ns, result_row *timeline, tsr_error *err)
{
    o->salt += 0x9E3779B9u; /* odd: no salt comes again */
    return overlap_rig_run(r, o->salt, ns, timeline, err);
}

/* Shortest time of a copy in, and of the kernel by the device's clock, on fewer words. */
static tsr_status try_rounds(overlap *o, size_t rounds, const overlap_job *j, double *least,
                             tsr_error *err)
{
    overlap_rig r = {0};
    result_row *row = calloc(1, sizeof(*row));
    tsr_status st = row ? TSR_OK : tsr_fail(err, TSR_ENOMEM, 0, "no memory for a timeline");

    st = st ? st
            : overlap_rig_open(o->session, o->kernel, size_min(o->options.words, CALIBRATION_WORDS),
                               rounds, j, &r, err);
    st = st ? st : overlap_rig_queues(&r, CL_QUEUE_PROFILING_ENABLE, err);
    *least = -1;
    for (int i = 0; i < 3 && !st; i++) {
        double ns;

        st = run(o, &r, &ns, row, err);
        for (size_t b = 0; b < row->bar_count && !st; b++) {
            const double taken = row->bars[b].end_ns - row->bars[b].start_ns;

            if (row->bars[b].what == (j->way == OVERLAP_PIPELINE ? BAR_KERNEL : BAR_COPY_IN) &&
                (*least < 0 || taken < *least))
                *least = taken;
        }
    }
    if (!st && *least < 0)
        st = tsr_fail(err, TSR_ECL, 0, "events have no times: --rounds N sets how much to compute");
    overlap_rig_close(&r);
    free(row);
    return st;
}

/* The power of two whose kernel takes closest to as long as a copy in from pinned memory. */
static tsr_status find_rounds(overlap *o, tsr_error *err)
{
    const overlap_job copy = {.memory = OVERLAP_PINNED, .way = OVERLAP_COPY_IN};
    const overlap_job kernel = {
        .memory = OVERLAP_PINNED, .way = OVERLAP_PIPELINE, .queues = 1, .chunks = 1};
    double wanted, taken;
    tsr_status st = try_rounds(o, 1, &copy, &wanted, err);

    for (size_t rounds = 1; !st; rounds *= 2) {
        o->options.rounds = rounds;
        st = try_rounds(o, rounds, &kernel, &taken, err);
        /* Twice as many would be farther off. */
        if (taken > wanted * 0.7 || rounds == OVERLAP_ROUNDS_MAX)
            break;
    }
    return st;
}

tsr_status overlap_open(tsr_session *s, const overlap_options *options, overlap **out,
                        tsr_error *err)
{
    overlap *o;
    tsr_status st;

    if (!s->queue)
        return tsr_fail(err, TSR_EUNSUPPORTED, 0, "the host has no queues to overlap");
    o = calloc(1, sizeof(*o));
    if (!o)
        return tsr_fail(err, TSR_ENOMEM, 0, "no memory to measure overlap");
    o->session = s;
    o->options = *options;
    o->salt = (uint32_t)(options->seed ^ options->seed >> 32);
    o->has_svm = has_svm(s);
    st = check_room(o, err);
    st = st ? st : build(o, err);
    if (!st && !o->options.rounds)
        st = find_rounds(o, err);
    if (st) {
        overlap_close(o);
        return st;
    }
    *out = o;
    return TSR_OK;
}

void overlap_close(overlap *o)
{
    if (o)
        programs_save(o->session);
    free(o);
}

/* ---- rows ---------------------------------------------------------------------------------- */

const char *overlap_unsupported(const overlap *o, const overlap_job *j)
{
    if (j->memory == OVERLAP_SVM && !o->has_svm)
        return "the device has no coarse-grained shared virtual memory";
    if (j->way != OVERLAP_PIPELINE)
        return j->memory == OVERLAP_SVM ? "shared virtual memory is not copied" : NULL;
    if (j->chunks > o->options.words)
        return "there are fewer words than chunks";
    return j->queues > j->chunks ? "fewer chunks than queues leave queues without work" : NULL;
}

void overlap_row(const overlap *o, const overlap_job *j, result_row *row)
{
    const bool pipeline = j->way == OVERLAP_PIPELINE;
    const double bytes = (double)o->options.words * sizeof(uint32_t);

    result_start(row, &o->session->device);
    row->kind = RESULT_OVERLAP;
    row->timer = TIMER_WALL;
    row->queues = pipeline ? j->queues : 1 + (j->way == OVERLAP_BOTH_WAYS);
    row->chunks = pipeline ? j->chunks : 1;
    row->commands = pipeline ? 3 * j->chunks : row->queues;
    row->to_device_bytes = j->way == OVERLAP_COPY_OUT ? 0 : bytes;
    row->from_device_bytes = j->way == OVERLAP_COPY_IN ? 0 : bytes;
    row->bytes = row->to_device_bytes + row->from_device_bytes;
    row->work = pipeline ? 2.0 * (double)o->options.words * (double)o->options.rounds : 0;
    row->seed = o->options.seed;
    snprintf(row->op, sizeof(row->op), "overlap");
    snprintf(row->problem, sizeof(row->problem), "%zu uint32 in and out, %zu round%s",
             o->options.words, o->options.rounds, o->options.rounds == 1 ? "" : "s");
    snprintf(row->size, sizeof(row->size), "%zu", o->options.words);
    snprintf(row->type, sizeof(row->type), "uint32");
    snprintf(row->memory, sizeof(row->memory), "%s", memory_names[j->memory]);
    snprintf(row->name, sizeof(row->name), "%s%s", memory_names[j->memory], way_names[j->way]);
    snprintf(row->unit, sizeof(row->unit), "GB/s");
    snprintf(row->options, sizeof(row->options), "%s", o->build);
    if (pipeline)
        snprintf(row->parameters, sizeof(row->parameters), "QUEUES=%zu CHUNKS=%zu", j->queues,
                 j->chunks);
}

/* ---- measuring ----------------------------------------------------------------------------- */

/* Median time to create so many queues. */
static tsr_status time_queues(const tsr_session *s, size_t count, double *median, tsr_error *err)
{
    double samples[QUEUE_SAMPLES];
    cl_command_queue queues[OVERLAP_QUEUES_MAX];
    cl_int rc = CL_SUCCESS;

    for (size_t i = 0; i < QUEUE_SAMPLES && rc == CL_SUCCESS; i++) {
        const uint64_t start = clock_ns();
        size_t made = 0;

        for (; made < count && rc == CL_SUCCESS; made += rc == CL_SUCCESS)
            queues[made] = clCreateCommandQueue(s->context, s->device.id, 0, &rc);
        samples[i] = (double)(clock_ns() - start);
        while (made)
            clReleaseCommandQueue(queues[--made]);
    }
    if (rc != CL_SUCCESS)
        return tsr_fail(err, TSR_ECL, rc, "clCreateCommandQueue, %zu times", count);
    *median = timing_of(samples, QUEUE_SAMPLES, 1).median_ns;
    return TSR_OK;
}

static bool wants_sample(const overlap *o, size_t n, uint64_t start)
{
    if (o->options.samples)
        return n < o->options.samples;
    return n < SAMPLES_MIN || (double)(clock_ns() - start) < o->options.seconds * 1e9;
}

static tsr_status sample(overlap *o, overlap_rig *r, result_row *row, tsr_error *err)
{
    double samples[SAMPLES_MAX], unused;
    const uint64_t start = clock_ns();
    size_t n = 0;
    tsr_status st = overlap_rig_queues(r, 0, err);

    st = st ? st : run(o, r, &unused, NULL, err); /* warm-up */
    while (!st && n < SAMPLES_MAX && !(o->options.stop && *o->options.stop) &&
           wants_sample(o, n, start)) {
        st = run(o, r, &samples[n], NULL, err);
        n += !st;
    }
    if (!st && n)
        row->time = timing_of(samples, n, 1);
    return st;
}

tsr_status overlap_measure(overlap *o, const overlap_job *j, result_row *row, tsr_error *err)
{
    const char *why = overlap_unsupported(o, j);
    overlap_rig r = {0};
    tsr_error failure = {0};
    tsr_status st;
    double unused;

    overlap_row(o, j, row);
    if (why) {
        result_refuse(row, RESULT_UNSUPPORTED, why);
        return TSR_OK;
    }
    st = time_queues(o->session, row->queues, &row->queue_ns, &failure);
    st = st ? st
            : overlap_rig_open(o->session, o->kernel, o->options.words, o->options.rounds, j, &r,
                               &failure);
    st = st ? st : sample(o, &r, row, &failure);
    st = st ? st : overlap_rig_queues(&r, CL_QUEUE_PROFILING_ENABLE, &failure);
    st = st ? st : run(o, &r, &unused, row, &failure);
    overlap_rig_close(&r);
    if (st) {
        result_refuse(row, st == TSR_EBOUND ? RESULT_WRONG : RESULT_FAILED, failure.message);
        row->bar_count = 0;
        if (err)
            *err = failure;
        return st;
    }
    row->verified = true;
    result_rate(row);
    return TSR_OK;
}
