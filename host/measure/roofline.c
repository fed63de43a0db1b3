#include "measure/roofline.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "device/query.h"
#include "measure/roofline_rig.h"
#include "session/source.h"

/* Part of the cache's key: raise it when the C side of a measurement changes. */
enum { LIMITS_FORMAT = 5 };

typedef struct limit_spec {
    const char *name, *unit, *idea;
    tsr_status (*measure)(const rig *r, limit l, limit_result *out, tsr_error *err);
} limit_spec;

static const limit_spec specs[LIMIT_COUNT] = {
    [LIMIT_FP32] = {"fp32", "GFLOP/s", "multiply-adds of float in registers", limit_multiply_add},
    [LIMIT_FP64] = {"fp64", "GFLOP/s", "multiply-adds of double in registers", limit_multiply_add},
    [LIMIT_INT32] = {"int32", "Gop/s", "minimum and maximum of uint in registers", limit_integer},
    [LIMIT_TENSOR_TF32] = {"tensor tf32", "GFLOP/s", "matrix instructions on tf32", limit_tensor},
    [LIMIT_TENSOR_BF16] = {"tensor bf16", "GFLOP/s", "matrix instructions on bf16", limit_tensor},
    [LIMIT_TENSOR_F16] = {"tensor f16", "GFLOP/s", "matrix instructions on half", limit_tensor},
    [LIMIT_TENSOR_F64] = {"tensor f64", "GFLOP/s", "matrix instructions on double", limit_tensor},
    [LIMIT_TENSOR_FP8] = {"tensor fp8", "GFLOP/s", "matrix instructions on fp8 (e4m3)",
                          limit_tensor},
    [LIMIT_TENSOR_INT8] = {"tensor int8", "Gop/s", "matrix instructions on char", limit_tensor},
    [LIMIT_SPARSE_BF16] = {"sparse bf16", "GFLOP/s", "the same where 2 of 4 are zero, which count",
                           limit_tensor},
    [LIMIT_SPARSE_FP8] = {"sparse fp8", "GFLOP/s", "the same where 2 of 4 are zero, which count",
                          limit_tensor},
    [LIMIT_SPARSE_INT8] = {"sparse int8", "Gop/s", "the same where 2 of 4 are zero, which count",
                           limit_tensor},
    [LIMIT_MEMORY_READ] = {"memory read", "GB/s", "sum of a buffer beyond the caches",
                           limit_memory},
    [LIMIT_MEMORY_WRITE] = {"memory write", "GB/s", "filling a buffer beyond the caches",
                            limit_memory},
    [LIMIT_MEMORY_COPY] = {"memory copy", "GB/s", "buffer to buffer, read and written bytes",
                           limit_memory},
    [LIMIT_LOCAL_MEMORY] = {"local memory", "GB/s", "reading a tile over and over",
                            limit_local_memory},
    [LIMIT_TO_DEVICE_PAGEABLE] = {"to device", "GB/s", "from pageable host memory", limit_transfer},
    [LIMIT_FROM_DEVICE_PAGEABLE] = {"from device", "GB/s", "to pageable host memory",
                                    limit_transfer},
    [LIMIT_TO_DEVICE_PINNED] = {"to device, pinned", "GB/s", "from a mapped buffer",
                                limit_transfer},
    [LIMIT_FROM_DEVICE_PINNED] = {"from device, pinned", "GB/s", "to a mapped buffer",
                                  limit_transfer},
    [LIMIT_BOTH_WAYS_PINNED] = {"both ways, pinned", "GB/s", "at once on two queues, summed",
                                limit_transfer},
    [LIMIT_LAUNCH_QUEUED] = {"launch, queued", "us", "in a full queue", limit_launch},
    [LIMIT_LAUNCH_WAITED] = {"launch, waited", "us", "with a wait for each", limit_launch},
};

static const char *const sources[] = {"roofline/roofline_fma.cl",    "roofline/roofline_minmax.cl",
                                      "roofline/roofline_tensor.cl", "roofline/roofline_wgmma.cl",
                                      "roofline/roofline_memory.cl", "roofline/roofline_local.cl",
                                      "roofline/roofline_launch.cl"};

const char *roofline_source(size_t i)
{
    return i < sizeof(sources) / sizeof(sources[0]) ? sources[i] : NULL;
}

const char *limit_name(limit l)
{
    return specs[l].name;
}

const char *limit_unit(limit l)
{
    return specs[l].unit;
}

const char *limit_idea(limit l)
{
    return specs[l].idea;
}

bool limit_is_cost(limit l)
{
    return l == LIMIT_LAUNCH_QUEUED || l == LIMIT_LAUNCH_WAITED;
}

/* ---- kept in the cache --------------------------------------------------------------------- */

/* Everything that decides what the limits are; its first line is the title that people see. */
static void compose_key(const tsr_session *s, text *key)
{
    const device_facts *d = &s->device.facts;
    char platform[256] = "";

    clGetPlatformInfo(s->device.platform, CL_PLATFORM_VERSION, sizeof(platform), platform, NULL);
    text_format(key, "limits of %s\nformat %d\nplatform %s %s\ndriver %s\ncompute units %zu\n",
                d->name, LIMITS_FORMAT, d->platform, platform, d->driver, d->compute_units);
    for (size_t i = 0; roofline_source(i); i++)
        if (source_read(text_get(&s->kernel_dir), roofline_source(i), key, NULL) != TSR_OK)
            text_format(key, "no %s\n", roofline_source(i));
}

static json_t *result_pack(const limit_result *r)
{
    return json_pack("{s:f, s:f, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:s, s:s, s:i, s:s}", "value",
                     r->value, "amount", r->amount, "count", (json_int_t)r->time.count, "calls",
                     (json_int_t)r->time.calls, "min", r->time.min_ns, "median", r->time.median_ns,
                     "max", r->time.max_ns, "low", r->time.low_ns, "high", r->time.high_ns, "way",
                     r->way, "why_not", r->why_not, "outcome", (int)r->outcome, "when", r->when);
}

static bool result_unpack(json_t *from, limit_result *out)
{
    const char *way_taken, *why_not, *when;
    json_int_t count, calls;
    int outcome;

    *out = (limit_result){0};
    if (json_unpack(from, "{s:F, s:F, s:I, s:I, s:F, s:F, s:F, s:F, s:F, s:s, s:s, s:i, s:s}",
                    "value", &out->value, "amount", &out->amount, "count", &count, "calls", &calls,
                    "min", &out->time.min_ns, "median", &out->time.median_ns, "max",
                    &out->time.max_ns, "low", &out->time.low_ns, "high", &out->time.high_ns, "way",
                    &way_taken, "why_not", &why_not, "outcome", &outcome, "when", &when) != 0 ||
        outcome < RESULT_TIMED || outcome > RESULT_LATE)
        return false;
    out->outcome = (result_outcome)outcome;
    out->time.count = (size_t)count;
    out->time.calls = (size_t)calls;
    snprintf(out->way, sizeof(out->way), "%s", way_taken);
    snprintf(out->why_not, sizeof(out->why_not), "%s", why_not);
    snprintf(out->when, sizeof(out->when), "%s", when);
    return true;
}

static void keep(const tsr_session *s, const limits *l)
{
    json_t *all = json_object();
    text key = {0};
    char *line;

    for (int i = 0; i < LIMIT_COUNT; i++)
        json_object_set_new(all, specs[i].name, result_pack(&l->of[i]));
    line = json_dumps(all, JSON_COMPACT);
    compose_key(s, &key);
    if (line && !key.failed)
        cache_store(&s->cache, text_get(&key), (const unsigned char *)line, strlen(line), "");
    text_free(&key);
    free(line);
    json_decref(all);
}

bool roofline_recall(tsr_session *s, limits *out)
{
    unsigned char *data = NULL;
    text key = {0};
    json_t *all = NULL;
    limits found;
    size_t size = 0;
    bool whole;

    if (s->device.facts.kind == DEVICE_HOST)
        return false;
    compose_key(s, &key);
    whole = !key.failed && cache_load(&s->cache, text_get(&key), &data, &size, NULL);
    if (whole)
        all = json_loadb((const char *)data, size, 0, NULL);
    for (int i = 0; i < LIMIT_COUNT && whole; i++)
        whole = result_unpack(json_object_get(all, specs[i].name), &found.of[i]);
    if (whole)
        *out = found;
    json_decref(all);
    text_free(&key);
    free(data);
    return whole;
}

/* ---- measuring ----------------------------------------------------------------------------- */

void limit_merge(limit l, const limit_result *earlier, limit_result *r)
{
    const limit_result this_run = *r;
    const double now = r->value;

    if (r->outcome == RESULT_WRONG || !(earlier->value > 0) ||
        (now > 0 && (limit_is_cost(l) ? now <= earlier->value : now >= earlier->value)))
        return;
    *r = *earlier;
    r->kept = true;
    r->now = now;
    snprintf(r->why_now, sizeof(r->why_now), "%s", this_run.why_not);
}

static result_outcome outcome_of(tsr_status st, const limit_result *r)
{
    switch (st) {
    case TSR_OK:
        return *r->why_not ? RESULT_UNSUPPORTED : RESULT_TIMED;
    case TSR_EUNSUPPORTED:
        return RESULT_UNSUPPORTED;
    case TSR_EBOUND:
        return RESULT_WRONG;
    default:
        return RESULT_FAILED;
    }
}

/* Measure one limit; what keeps it from being measured becomes its reason, but for memory running
 * out on the host. */
static tsr_status measure_one(const rig *r, limit l, limit_result *out, tsr_error *err)
{
    tsr_error why = {0};
    tsr_status st = specs[l].measure(r, l, out, &why);

    text_clear(&r->session->build_log); /* a refusal is an answer here */
    if (st) {
        *out = (limit_result){0};
        snprintf(out->why_not, sizeof(out->why_not), "%.*s", (int)sizeof(out->why_not) - 1,
                 why.message);
    }
    out->outcome = outcome_of(st, out);
    result_now(out->when);
    if (st == TSR_EBOUND)
        return tsr_fail(err, st, 0, "%s: %s", limit_name(l), why.message);
    if (st == TSR_ENOMEM)
        return tsr_fail(err, st, 0, "%s", why.message);
    return TSR_OK;
}

tsr_status roofline_again(tsr_session *s, limit which, limits *l, tsr_error *err)
{
    limit_result now = {0};
    tsr_error why = {0};
    tsr_status st;
    rig r;

    st = rig_open(s, &r, err);
    if (st)
        return st;
    st = measure_one(&r, which, &now, &why);
    rig_close(&r);
    if (st == TSR_ENOMEM)
        return tsr_fail(err, st, 0, "%s", why.message);
    if (now.outcome == RESULT_WRONG) {
        snprintf(l->of[which].why_now, sizeof(now.why_not), "%s", now.why_not);
        return TSR_OK;
    }
    limit_merge(which, &l->of[which], &now);
    l->of[which] = now;
    if (!now.kept)
        keep(s, l);
    return TSR_OK;
}

void limit_note_forgotten(limit l, const limit_result *earlier, limit_result *r)
{
    const double worse = limit_is_cost(l) ? r->value / earlier->value : earlier->value / r->value;

    r->forgotten = r->value > 0 && earlier->value > 0 && worse > 2 ? earlier->value : 0;
}

tsr_status roofline_measure(tsr_session *s, bool fresh, double seconds, limits *out,
                            bool (*progress)(limit l, const limit_result *r, void *context),
                            void *context, tsr_error *err)
{
    limits found = {0}, earlier = {0};
    tsr_status first = TSR_OK, st;
    bool go_on = true;
    rig r;

    if (s->device.facts.kind == DEVICE_HOST)
        return tsr_fail(err, TSR_EUNSUPPORTED, 0,
                        "limits are measured by OpenCL kernels, and the device host runs C");
    st = rig_open(s, &r, err);
    if (st)
        return st;
    if (seconds > 0)
        r.seconds = seconds;
    roofline_recall(s, &earlier);
    for (int l = 0; l < LIMIT_COUNT && go_on && st != TSR_ENOMEM; l++) {
        st = measure_one(&r, (limit)l, &found.of[l], first ? NULL : err);
        first = first ? first : st;
        if (fresh)
            limit_note_forgotten((limit)l, &earlier.of[l], &found.of[l]);
        else
            limit_merge((limit)l, &earlier.of[l], &found.of[l]);
        if (progress)
            go_on = progress((limit)l, &found.of[l], context);
    }
    rig_close(&r);
    if (!first && go_on)
        keep(s, &found);
    *out = found;
    return first;
}

void roofline_row(const tsr_device *device, limit l, const limit_result *r, result_row *out)
{
    const bool events = l <= LIMIT_LOCAL_MEMORY;

    result_start(out, device);
    out->kind = RESULT_LIMIT;
    snprintf(out->op, sizeof(out->op), "limit");
    snprintf(out->problem, sizeof(out->problem), "%s", limit_idea(l));
    snprintf(out->name, sizeof(out->name), "%s", limit_name(l));
    snprintf(out->unit, sizeof(out->unit), "%s", limit_unit(l));
    snprintf(out->parameters, sizeof(out->parameters), "%s", r->way);
    if (r->outcome != RESULT_TIMED)
        result_refuse(out, r->outcome, r->why_not);
    if (*r->when)
        snprintf(out->when, sizeof(out->when), "%s", r->when);
    out->timer = events ? TIMER_EVENTS : TIMER_WALL;
    out->time = r->time;
    if (!strcmp(out->unit, "GB/s"))
        out->bytes = r->amount;
    else if (!limit_is_cost(l))
        out->work = r->amount;
    out->rate = r->value;
    out->cold = l >= LIMIT_MEMORY_READ && l <= LIMIT_MEMORY_COPY;
    out->verified = r->value > 0;
    out->commands = r->time.calls;
}

void roofline_note(const result_row *row, limits *out)
{
    if (row->kind != RESULT_LIMIT || row->outcome != RESULT_TIMED)
        return;
    for (int l = 0; l < LIMIT_COUNT; l++)
        if (!strcmp(row->name, limit_name((limit)l)))
            out->of[l].value = row->rate;
}

/* ---- placing ------------------------------------------------------------------------------- */

/* A roof of one precision's arithmetic: of instructions of its own, or of several others each. */
typedef struct roof {
    const char *precision;
    limit of;
    bool matrix; /* of matrix units */
    double each; /* instructions that one of the precision takes */
    const char *name;
} roof;

void roofline_roofs(const limits *l, const char *precision, compute_roofs *out)
{
    static const roof roofs[] = {{"f32", LIMIT_FP32, false, 1, NULL},
                                 {"f32", LIMIT_TENSOR_TF32, true, 3, "tensor tf32 / 3"},
                                 {"f32-strict", LIMIT_FP32, false, 1, NULL},
                                 {"f64", LIMIT_FP64, false, 1, NULL},
                                 {"f64", LIMIT_TENSOR_F64, true, 1, NULL},
                                 {"tf32", LIMIT_FP32, false, 1, NULL},
                                 {"tf32", LIMIT_TENSOR_TF32, true, 1, NULL},
                                 {"bf16", LIMIT_FP32, false, 1, NULL},
                                 {"bf16", LIMIT_TENSOR_BF16, true, 1, NULL},
                                 {"f16", LIMIT_FP32, false, 1, NULL},
                                 {"f16", LIMIT_TENSOR_F16, true, 1, NULL},
                                 {"f8", LIMIT_FP32, false, 1, NULL},
                                 {"f8", LIMIT_TENSOR_FP8, true, 1, NULL},
                                 {"i8", LIMIT_TENSOR_INT8, true, 1, NULL}};

    *out = (compute_roofs){.plain_name = "", .matrix_name = ""};
    for (size_t i = 0; i < sizeof(roofs) / sizeof(roofs[0]); i++) {
        const roof *r = &roofs[i];

        if (strcmp(precision, r->precision) != 0)
            continue;
        *(r->matrix ? &out->matrix : &out->plain) = l->of[r->of].value / r->each;
        *(r->matrix ? &out->matrix_name : &out->plain_name) = r->name ? r->name : limit_name(r->of);
    }
}

bool roofline_compute(const limits *l, const char *precision, const char **name, double *value)
{
    compute_roofs both;

    roofline_roofs(l, precision, &both);
    *value = both.plain >= both.matrix ? both.plain : both.matrix;
    if (*value > 0)
        *name = both.plain >= both.matrix ? both.plain_name : both.matrix_name;
    return *value > 0;
}

static void place(result_row *row, const char *bound_by, double limit_rate)
{
    snprintf(row->bound_by, sizeof(row->bound_by), "%s", bound_by);
    row->limit_rate = limit_rate;
    row->share = row->rate / limit_rate;
}

void roofline_place(const limits *l, result_row *row)
{
    const double read = l->of[LIMIT_MEMORY_READ].value, copy = l->of[LIMIT_MEMORY_COPY].value;
    double compute, compute_ns, memory_ns, ns;
    const char *name = "";

    row->bound_by[0] = '\0';
    row->limit_rate = row->share = 0;
    if (work_unit_of(row->unit) == WORK_KEYS) {
        if (copy > 0 && row->bytes > 0)
            place(row, "memory copy, one pass", 1e3 * row->work / (row->bytes / copy));
        return;
    }
    if (!(read > 0) || !(row->work > 0))
        return;
    if (!*row->precision && work_unit_of(row->unit) == WORK_BYTES) {
        place(row, limit_name(LIMIT_MEMORY_READ), read);
        return;
    }
    if (!roofline_compute(l, row->precision, &name, &compute))
        return;
    compute_ns = row->work / compute;
    memory_ns = row->bytes / read;
    ns = compute_ns > memory_ns ? compute_ns : memory_ns;
    place(row, compute_ns > memory_ns ? name : limit_name(LIMIT_MEMORY_READ),
          (work_unit_of(row->unit) == WORK_BYTES ? row->bytes : row->work) / ns);
}
