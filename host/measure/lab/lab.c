#include "measure/lab/lab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/sizes.h"
#include "device/query.h"
#include "measure/lab/experiments.h"

enum { SAMPLES_MIN = 5, SAMPLES_MAX = 1000 };

/* ---- the list ------------------------------------------------------------------------------- */

static const experiment *const experiments[] = {
    &lab_stride,    &lab_structures, &lab_latency,    &lab_warps,      &lab_chains,
    &lab_registers, &lab_subdevices, &lab_integers,   &lab_divergence, &lab_branches,
    &lab_banks,     &lab_barriers,   &lab_masks,      &lab_exchange,   &lab_votes,
    &lab_atomics,   &lab_launches,   &lab_graphs,     &lab_grid,       &lab_children,
    &lab_clusters,  &lab_transfers,  &lab_allocation, &lab_queues,     &lab_creation,
};

const experiment *lab_at(size_t i)
{
    return i < sizeof experiments / sizeof *experiments ? experiments[i] : NULL;
}

const experiment *lab_named(const char *name)
{
    for (size_t i = 0; lab_at(i); i++)
        if (!strcmp(lab_at(i)->name, name))
            return lab_at(i);
    return NULL;
}

/* ---- values and claims ---------------------------------------------------------------------- */

bool lab_agrees(double measured, double claim)
{
    return measured <= 1.5 * claim && claim <= 1.5 * measured;
}

double lab_compared(const experiment *e, const result_row *row)
{
    return e->claims_values ? row->rate : row->ratio;
}

/* 10^9 a second, or a cost in the experiment's unit. */
static double value_of(const lab *l, const lab_point *p, double ns)
{
    const char *unit = l->what->unit;

    if (!result_unit_is_cost(unit))
        return p->amount / ns;
    ns /= p->amount;
    return !strcmp(unit, "us") ? ns * 1e-3 : !strcmp(unit, "cycles") ? ns / l->cycle_ns : ns;
}

/* ---- rows ----------------------------------------------------------------------------------- */

static void start_row(const lab *l, const char *series, const char *x, result_row *row)
{
    const experiment *e = l->what;

    result_start(row, &l->rig.session->device);
    row->kind = RESULT_LAB;
    snprintf(row->op, sizeof(row->op), "lab");
    if (e->counted) {
        snprintf(row->problem, sizeof(row->problem), "%s, %zu %s", e->name, l->size, e->counted);
        snprintf(row->size, sizeof(row->size), "%zu", l->size);
    } else {
        snprintf(row->problem, sizeof(row->problem), "%s", e->name);
    }
    snprintf(row->name, sizeof(row->name), "%s", series);
    if (*x)
        snprintf(row->parameters, sizeof(row->parameters), "%s=%s", e->knob, x);
    snprintf(row->experiment, sizeof(row->experiment), "%s", e->name);
    snprintf(row->knob, sizeof(row->knob), "%s", e->knob);
    snprintf(row->x, sizeof(row->x), "%s", x);
    snprintf(row->unit, sizeof(row->unit), "%s", e->unit);
}

static void report_row(lab *l, const result_row *row)
{
    if (!l->how->on_row(row, l->how->context))
        l->ended = true;
}

static bool stopped(lab *l)
{
    l->ended = l->ended || (l->how->stop && *l->how->stop);
    return l->ended;
}

void lab_skip(lab *l, const char *series, const char *x, const char *why)
{
    result_row row;

    if (stopped(l))
        return;
    start_row(l, series, x, &row);
    result_refuse(&row, RESULT_UNSUPPORTED, why);
    report_row(l, &row);
}

static tsr_status sample(lab *l, const lab_point *p, timing *out, tsr_error *err)
{
    const size_t wanted = l->how->samples;
    const size_t most = wanted ? wanted : SAMPLES_MAX;
    double *samples = calloc(most, sizeof(*samples));
    const uint64_t start = clock_ns();
    size_t n = 0;
    tsr_status st = TSR_OK;

    if (!samples)
        return tsr_fail(err, TSR_ENOMEM, 0, "no memory for %zu samples", most);
    while (!st && n < most && !stopped(l) &&
           (wanted || n < SAMPLES_MIN || clock_ns() - start < 100000000)) {
        st = p->run(p->state, &samples[n], err);
        if (!st && !(samples[n] > 0))
            st = tsr_fail(err, TSR_ECL, 0, "by the device's clock it took %g ns", samples[n]);
        n++;
    }
    if (!st)
        *out = timing_of(samples, n, 1);
    free(samples);
    return st;
}

tsr_status lab_measure(lab *l, const lab_point *p, tsr_error *err)
{
    result_row row;
    tsr_error why = {0};
    tsr_status st;

    if (stopped(l))
        return TSR_OK;
    start_row(l, p->series, p->x, &row);
    row.timer = p->wall ? TIMER_WALL : TIMER_EVENTS;
    row.claim = p->claim;
    row.verified = true;
    if (strcmp(l->what->unit, "GB/s") != 0)
        row.work = p->amount;
    else
        row.bytes = p->amount;
    st = p->check(p->state, &why);
    st = st ? st : sample(l, p, &row.time, &why);
    if (st) {
        row.verified = false;
        result_refuse(&row, st == TSR_EBOUND ? RESULT_WRONG : RESULT_FAILED, why.message);
        report_row(l, &row);
        if (err)
            *err = why;
        return st;
    }
    if (!row.time.count)
        return TSR_OK; /* interrupted before its first sample */
    row.rate = value_of(l, p, row.time.median_ns);
    row.base = p->base;
    if (p->base)
        l->base = row.rate;
    if (l->base > 0 && !l->what->claims_values)
        row.ratio = row.rate / l->base;
    report_row(l, &row);
    return TSR_OK;
}

bool lab_is_claim(const experiment *e, const result_row *row)
{
    return row->claim > 0 && (e->claims_values || !row->base);
}

/* ---- what experiments share ----------------------------------------------------------------- */

tsr_status lab_kernel(const lab *l, const char *options, const char *entry, cl_kernel *out,
                      tsr_error *err)
{
    return rig_kernel(&l->rig, l->what->source, options, entry, out, err);
}

static tsr_status write_buffer(const lab *l, cl_mem to, size_t offset, const void *from,
                               size_t bytes, tsr_error *err)
{
    cl_int rc = clEnqueueWriteBuffer(l->rig.timed, to, CL_TRUE, offset, bytes, from, 0, NULL, NULL);

    return rc == CL_SUCCESS ? TSR_OK
                            : tsr_fail(err, TSR_ECL, rc, "clEnqueueWriteBuffer(%zu bytes)", bytes);
}

tsr_status lab_upload(const lab *l, const void *from, size_t bytes, cl_mem *out, tsr_error *err)
{
    tsr_status st = rig_buffer(&l->rig, CL_MEM_READ_WRITE, bytes, out, err);

    return st ? st : write_buffer(l, *out, 0, from, bytes, err);
}

tsr_status lab_numbers(const lab *l, size_t words, cl_mem *out, tsr_error *err)
{
    const size_t part = size_min(words, (size_t)1 << 20);
    uint32_t *numbers = malloc(part * sizeof(*numbers));
    tsr_status st = numbers
                        ? rig_buffer(&l->rig, CL_MEM_READ_WRITE, words * sizeof(*numbers), out, err)
                        : tsr_fail(err, TSR_ENOMEM, 0, "no memory for %zu words", part);

    for (size_t first = 0; first < words && !st; first += part) {
        const size_t count = size_min(part, words - first);

        for (size_t i = 0; i < count; i++)
            numbers[i] = (uint32_t)(first + i);
        st =
            write_buffer(l, *out, first * sizeof(*numbers), numbers, count * sizeof(*numbers), err);
    }
    free(numbers);
    return st;
}

static tsr_status run_launch(void *state, double *ns, tsr_error *err)
{
    const lab_launch *x = state;

    return rig_launch(&x->l->rig, x->kernel, x->global, x->local, ns, err);
}

static tsr_status check_launch(void *state, tsr_error *err)
{
    const lab_launch *x = state;
    const rig *r = &x->l->rig;
    const size_t bytes = x->words * sizeof(uint32_t);
    uint32_t *got = malloc(bytes);
    tsr_status st;

    if (!got)
        return tsr_fail(err, TSR_ENOMEM, 0, "no memory for %zu results", x->words);
    st = rig_spoil(r, x->out, bytes, err);
    st = st ? st : rig_launch(r, x->kernel, x->global, x->local, NULL, err);
    st = st ? st : rig_read(r, x->out, got, bytes, err);
    for (size_t i = 0; i < x->words && !st; i++) {
        const uint32_t expected = x->expected(x->context, i);

        if (got[i] != expected)
            st = tsr_fail(err, TSR_EBOUND, 0, "result %zu is 0x%08x, not 0x%08x", i, got[i],
                          expected);
    }
    free(got);
    return st;
}

tsr_status lab_measure_kernel(lab *l, lab_launch launch, lab_point p, tsr_error *err)
{
    tsr_status st;

    if (l->ended)
        return TSR_OK;
    launch.l = l;
    p.run = run_launch;
    p.check = check_launch;
    p.state = &launch;
    st = lab_kernel(l, launch.options, launch.entry, &launch.kernel, err);
    st = st ? st : rig_args(launch.kernel, launch.args, launch.arg_count, err);
    return st ? st : lab_measure(l, &p, err);
}

lab_affine lab_affine_power(lab_affine one, size_t n)
{
    lab_affine all = {1, 0};

    for (; n; n /= 2) {
        if (n % 2)
            all = (lab_affine){all.mul * one.mul, all.add * one.mul + one.add};
        one = (lab_affine){one.mul * one.mul, one.add * one.mul + one.add};
    }
    return all;
}

size_t lab_full_items(const lab *l, size_t group)
{
    return size_round_up(l->units * (l->rig.cpu ? 512 : 2048), group);
}

lab_text lab_number(size_t n)
{
    lab_text out;

    snprintf(out.at, sizeof(out.at), "%zu", n);
    return out;
}

lab_text lab_bytes(size_t n)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB"};
    lab_text out;
    size_t unit = 0;

    for (; unit < 3 && n >= 1024 && n % 1024 == 0; unit++)
        n /= 1024;
    snprintf(out.at, sizeof(out.at), "%zu %s", n, units[unit]);
    return out;
}

double lab_amount(const char *x)
{
    static const char *const units[] = {"", " B", " KiB", " MiB", " GiB"};
    char *end;
    double value = strtod(x, &end);

    if (end == x || !strcmp(end, units[0]) || !strcmp(end, units[1]))
        return end == x ? -1 : value;
    for (size_t i = 2; i < sizeof units / sizeof *units; i++) {
        value *= 1024;
        if (!strcmp(end, units[i]))
            return value;
    }
    return -1;
}

/* ---- running -------------------------------------------------------------------------------- */

tsr_status lab_run(tsr_session *s, const experiment *e, const lab_options *how, tsr_error *err)
{
    const device_facts *d = &s->device.facts;
    const bool cpu = d->kind == DEVICE_CPU;
    const size_t most = e->size_max ? e->size_max : LAB_SIZE_MAX;
    char why[64];
    lab l = {.what = e,
             .how = how,
             .size = how->size,
             .units = size_max(d->compute_units, 1),
             .group_max = size_min(d->max_work_group, d->max_work_item[0])};
    cl_uint mhz = 0;
    tsr_status st;

    if (!s->context)
        return tsr_fail(err, TSR_EUNSUPPORTED, 0, "host has no queues: experiments run on devices");
    if (!l.size)
        l.size = cpu ? e->size_cpu : e->size;
    if (e->counted && l.size > most)
        return tsr_fail(err, TSR_ENAME, 0, "size %zu is too large: %s takes at most %zu %s", l.size,
                        e->name, most, e->counted);
    if (query(s->device.id, CL_DEVICE_MAX_CLOCK_FREQUENCY, &mhz, sizeof(mhz)) && mhz)
        l.cycle_ns = 1e3 / mhz;
    st = rig_open(s, &l.rig, err);
    if (st)
        return st;
    if (!strcmp(e->unit, "cycles") && !(l.cycle_ns > 0)) {
        lab_skip(&l, "", "", "the device does not say how fast its clock is");
    } else if (l.group_max < e->group) {
        snprintf(why, sizeof(why), "its work-groups are smaller than %zu", e->group);
        lab_skip(&l, "", "", why);
    } else {
        st = e->measure(&l, err);
    }
    rig_close(&l.rig);
    return st;
}
