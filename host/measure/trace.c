#define CL_USE_DEPRECATED_OPENCL_1_2_APIS

#include "measure/trace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/sizes.h"
#include "core/dispatch.h"
#include "core/registry.h"
#include "measure/input_sets.h"
#include "measure/occupancy.h"
#include "session/events.h"
#include "session/program.h"

enum {
    WARP = 32,
    RECORDS = 1 << 14 /* that a unit has room for: 64 MiB in all */
};

static const size_t buffer_bytes =
    sizeof(trace_head) +
    TRACE_UNITS * (sizeof(trace_unit) + (size_t)RECORDS * sizeof(trace_record));

/* ---- figures -------------------------------------------------------------------------------- */

static const trace_unit *unit_at(const trace_head *h, size_t i)
{
    return (const trace_unit *)((const char *)(h + 1) + i * h->unit_bytes);
}

static const trace_record *records_of(const trace_unit *u)
{
    return (const trace_record *)(u + 1);
}

static void sum_kernel(const trace_head *h, size_t kernel, size_t count, const trace *t,
                       traced_kernel *k)
{
    double most = 0;

    for (size_t i = 0; i < TRACE_UNITS; i++) {
        const trace_unit *u = unit_at(h, i);
        uint64_t ns = 0, warps = 0;

        for (size_t j = kernel; j < kernel + count; j++) {
            ns += u->kernel[j].ns;
            warps += u->kernel[j].warps;
        }
        k->warps += (double)warps;
        k->warp_ns += (double)ns;
        k->units += warps > 0;
        most = fmax(most, (double)ns);
    }
    if (k->ns > 0)
        k->occupancy = k->warp_ns / (k->ns * (double)(t->units * t->unit_warps));
    if (most > 0)
        k->balance = k->warp_ns / (most * (double)t->units);
}

/* From the first start to where some unit has no more records; false where there is none. */
static bool drawn_span(const trace_head *h, uint64_t *from, uint64_t *to)
{
    uint64_t last = 0;

    *from = *to = UINT64_MAX;
    for (size_t i = 0; i < TRACE_UNITS; i++) {
        const trace_unit *u = unit_at(h, i);
        const size_t count = size_min(u->recorded, h->records);
        uint64_t end = 0;

        for (size_t j = 0; j < count; j++) {
            const trace_record *r = records_of(u) + j;

            *from = r->start < *from ? r->start : *from;
            end = r->start + r->ns > end ? r->start + r->ns : end;
        }
        if (u->recorded > h->records && end < *to)
            *to = end;
        last = end > last ? end : last;
    }
    *to = last < *to ? last : *to;
    return *from < *to;
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        const uint64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

tsr_status trace_sum(const trace_head *recorded, trace *t, tsr_error *err)
{
    uint64_t from, to, tick = 0;

    for (size_t k = 0; k < t->kernel_count; k++)
        sum_kernel(recorded, k, 1, t, &t->kernel[k]);
    sum_kernel(recorded, 0, t->kernel_count, t, &t->all);
    t->resident = calloc(t->units, sizeof(*t->resident));
    if (!t->resident)
        return tsr_fail(err, TSR_ENOMEM, 0, "no memory for the picture of %zu units", t->units);
    if (!drawn_span(recorded, &from, &to))
        return TSR_OK;
    t->drawn_ns = (double)(to - from);
    /* A row for each unit that ran anything, in their order. */
    for (size_t i = 0, row = 0; i < TRACE_UNITS && row < t->units; i++) {
        const trace_unit *u = unit_at(recorded, i);
        const size_t count = size_min(u->recorded, recorded->records);
        const double column = t->drawn_ns / TRACE_COLUMNS;

        for (size_t j = 0; j < count; j++) {
            const trace_record *r = records_of(u) + j;
            const double start = (double)(r->start - from);
            const double end = fmin(start + r->ns, t->drawn_ns);

            tick = common_divisor(tick, common_divisor(r->start - from, r->ns));
            for (size_t c = (size_t)(start / column); c < TRACE_COLUMNS && (double)c * column < end;
                 c++)
                t->resident[row][c] += (float)((fmin(end, (double)(c + 1) * column) -
                                                fmax(start, (double)c * column)) /
                                               column);
        }
        row += count > 0;
    }
    t->tick_ns = (double)tick;
    return TSR_OK;
}

/* ---- the call ------------------------------------------------------------------------------- */

/* A call in the making. */
typedef struct traced_call {
    tsr_session *session; /* of its own, without a cache: programs that record are its */
    kept_call *call;
    input_sets sets;
    cl_mem buffer;
    cl_event *event; /* of each command */
} traced_call;

/* Make the call's kernels record into the buffer. */
static tsr_status make_record(traced_call *c, trace *t, tsr_error *err)
{
    const size_t one = 1;
    const program_entry *begin;
    unsigned char *binary = NULL;
    text ptx = {0}, names = {0};
    size_t size;
    cl_int rc;
    tsr_status st = dispatch_build(c->session, c->call, NULL, err);

    st = st ? st : program_binary(c->call->program, &binary, &size, err);
    st = st ? st : trace_ptx((const char *)binary, &ptx, &names, err);
    st = st ? st : program_from_ptx(c->session, c->call->program, &ptx, "to record", err);
    st = st ? st : program_kernel(c->call->program, TRACE_BEGIN, &begin, err);
    if (st)
        goto cleanup;
    for (const char *name = text_get(&names); *name; t->kernel_count++) {
        const size_t length = strcspn(++name, " ");

        snprintf(t->kernel[t->kernel_count].name, sizeof(t->kernel->name), "%.*s", (int)length,
                 name);
        name += length;
    }
    rc = program_set_buffer(begin, 0, c->buffer, c->session->calls);
    if (rc == CL_SUCCESS)
        rc = clEnqueueNDRangeKernel(c->session->queue, begin->kernel, 1, NULL, &one, &one, 0, NULL,
                                    NULL);
    if (rc != CL_SUCCESS)
        st = tsr_fail(err, TSR_ECL, rc, "launching %s", TRACE_BEGIN);

cleanup:
    free(binary);
    text_free(&ptx);
    text_free(&names);
    return st;
}

/* An empty buffer for records. */
static tsr_status clear(traced_call *c, tsr_error *err)
{
    const trace_head head = {RECORDS, sizeof(trace_unit) + RECORDS * sizeof(trace_record)};
    const cl_uint zero = 0;
    cl_int rc = CL_SUCCESS;

    if (!c->buffer)
        c->buffer = clCreateBuffer(c->session->context, CL_MEM_READ_WRITE, buffer_bytes, NULL, &rc);
    if (rc == CL_SUCCESS)
        rc = clEnqueueFillBuffer(c->session->queue, c->buffer, &zero, sizeof(zero), 0, buffer_bytes,
                                 0, NULL, NULL);
    if (rc == CL_SUCCESS)
        rc = clEnqueueWriteBuffer(c->session->queue, c->buffer, CL_TRUE, 0, sizeof(head), &head, 0,
                                  NULL, NULL);
    return rc == CL_SUCCESS
               ? TSR_OK
               : tsr_fail(err, TSR_ECL, rc, "a buffer of %zu bytes for records", buffer_bytes);
}

static tsr_status run_call(traced_call *c, tsr_error *err)
{
    const size_t count = c->call->plan.count;
    tsr_status st = TSR_OK;
    cl_int rc;

    for (size_t i = 0; i < count; i++)
        event_forget(&c->event[i]);
    if (c->sets.next == c->sets.count)
        st = input_sets_restore(&c->sets, err);
    st = st ? st
            : dispatch_run(c->session, c->call, c->sets.buffer[c->sets.next++],
                           &(call_ends){.each = c->event, .each_room = count}, err);
    rc = clFinish(c->session->queue);
    if (!st && rc != CL_SUCCESS)
        st = tsr_fail(err, TSR_ECL, rc, "clFinish after %s", c->call->selection.variant->name);
    return st;
}

/* Launches, their times and warps by the plan, which the records have to agree with. */
static tsr_status note_launches(const traced_call *c, trace *t, double warps[], tsr_error *err)
{
    const struct plan *made = &c->call->plan;
    tsr_status st = events_span(c->event[0], c->event[made->count - 1], &t->all.ns, err);

    for (size_t i = 0; i < made->count && !st; i++) {
        const command *m = &made->commands[i];
        size_t groups = 1, items = 1;
        double ns;
        size_t k = 0;

        if (m->kind == COMMAND_FILL || m->kind == COMMAND_IMAGE)
            continue;
        while (k < t->kernel_count &&
               strcmp(t->kernel[k].name, c->call->selection.variant->entries[m->entry]) != 0)
            k++;
        if (k == t->kernel_count)
            return tsr_fail(err, TSR_EUNSUPPORTED, 0, "the driver's PTX has no kernel %s",
                            c->call->selection.variant->entries[m->entry]);
        for (unsigned d = 0; d < m->dims; d++) {
            groups *= m->global[d] / m->local[d];
            items *= m->local[d];
        }
        st = events_span(c->event[i], c->event[i], &ns, err);
        t->kernel[k].launches++;
        t->kernel[k].ns += st ? 0 : ns;
        warps[k] += (double)(groups * size_div_up(items, WARP));
        t->all.launches++;
    }
    return st;
}

static tsr_status read_records(const traced_call *c, trace *t, tsr_error *err)
{
    double warps[TRACE_KERNELS] = {0};
    trace_head *recorded = malloc(buffer_bytes);
    tsr_status st = note_launches(c, t, warps, err);
    cl_int rc;

    if (!recorded && !st)
        st = tsr_fail(err, TSR_ENOMEM, 0, "no memory for %zu bytes of records", buffer_bytes);
    if (st)
        goto cleanup;
    rc = clEnqueueReadBuffer(c->session->queue, c->buffer, CL_TRUE, 0, buffer_bytes, recorded, 0,
                             NULL, NULL);
    if (rc != CL_SUCCESS) {
        st = tsr_fail(err, TSR_ECL, rc, "reading %zu bytes of records", buffer_bytes);
        goto cleanup;
    }
    st = trace_sum(recorded, t, err);
    for (size_t k = 0; k < t->kernel_count && !st; k++)
        if (t->kernel[k].warps != warps[k])
            st = tsr_fail(err, TSR_EBOUND, 0, "%s: %.0f of %.0f warps were recorded",
                          t->kernel[k].name, t->kernel[k].warps, warps[k]);

cleanup:
    free(recorded);
    return st;
}

tsr_status trace_call(tsr_session *s, const problem *p, const tsr_run *run,
                      const bench_options *options, trace *out, tsr_error *err)
{
    const tsr_session_options fresh = {.kernel_dir = text_get(&s->kernel_dir), .no_cache = true};
    const device_facts *d = session_facts(s);
    traced_call c = {0};
    unit_capacity unit;
    tsr_status st;

    *out = (trace){.units = d->compute_units};
    if (!d->nvidia || d->kind != DEVICE_GPU)
        return tsr_fail(err, TSR_EUNSUPPORTED, 0,
                        "%s: kernels can record their compute unit and the time on NVIDIA's GPUs "
                        "only; docs/trace.md has a picture of one",
                        tsr_device_name(&s->device));
    if (!occupancy_capacity(d->nv_capability, &unit))
        return tsr_fail(err, TSR_EUNSUPPORTED, 0, "what a unit of %s holds is not known",
                        tsr_device_name(&s->device));
    if (!s->profiling)
        return tsr_fail(err, TSR_EINVAL, 0, "the session's queue records no times");
    out->unit_warps = unit.items / WARP;
    st = tsr_session_adopt(s->queue, &fresh, &c.session, err);
    if (st)
        return st;
    c.session->device = s->device; /* probed already */
    c.session->same_kernels = true;
    st = dispatch_call(c.session, p, run, IN_BUFFERS, &c.call, err);
    if (!st && !c.call->plan.count)
        st = tsr_fail(err, TSR_EUNSUPPORTED, 0, "%s has nothing to launch",
                      c.call->selection.variant->name);
    if (st)
        goto cleanup;
    snprintf(out->name, sizeof(out->name), "%s", c.call->selection.variant->name);
    params_describe_in(&c.call->plan.params, out->parameters, sizeof(out->parameters));
    c.event = calloc(c.call->plan.count, sizeof(*c.event));
    if (!c.event)
        st = tsr_fail(err, TSR_ENOMEM, 0, "no memory for %zu events", c.call->plan.count);
    st = st ? st : clear(&c, err);
    st = st ? st : make_record(&c, out, err);
    st = st ? st : input_sets_open(c.session, p, options->seed, options->warm, false, &c.sets, err);
    st = st ? st : run_call(&c, err);
    st = st ? st : clear(&c, err);
    st = st ? st : run_call(&c, err);
    st = st ? st : read_records(&c, out, err);

cleanup:
    for (size_t i = 0; c.event && i < c.call->plan.count; i++)
        event_forget(&c.event[i]);
    free(c.event);
    if (c.call)
        input_sets_close(&c.sets);
    if (c.buffer)
        clReleaseMemObject(c.buffer);
    tsr_session_close(c.session);
    return st;
}

void trace_free(trace *t)
{
    free(t->resident);
    t->resident = NULL;
}

/* ---- the picture ---------------------------------------------------------------------------- */

enum { LEFT = 56, TOP = 96, CURVE = 60, COLUMN = 4, ROW = 4, LEVELS = 16 };

/* Of LEVELS shades, the one that a part of the time has. */
static int level_of(float resident, float most)
{
    return (int)(LEVELS * resident / most + 0.5F);
}

void trace_draw(const trace *t, const char *title, text *svg)
{
    const int wide = TRACE_COLUMNS * COLUMN, high = (int)t->units * ROW;
    const double column = t->drawn_ns / TRACE_COLUMNS;
    double mean[TRACE_COLUMNS] = {0}, top = 0;
    float most = 1;

    for (int c = 0; c < TRACE_COLUMNS; c++) {
        for (size_t u = 0; u < t->units; u++) {
            mean[c] += t->resident[u][c] / (double)(t->units * t->unit_warps);
            most = fmaxf(most, t->resident[u][c]);
        }
        top = fmax(top, mean[c]);
    }
    text_format(svg,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
                "font-family=\"sans-serif\" font-size=\"12\">\n"
                "<style>text{fill:#222}.back{fill:#fff}.cell{fill:#08519c}.line{stroke:#c0392b;"
                "fill:none}@media(prefers-color-scheme:dark){text{fill:#ddd}.back{fill:#111}"
                ".cell{fill:#6baed6}}</style>\n"
                "<rect class=\"back\" width=\"100%%\" height=\"100%%\"/>\n"
                "<text x=\"%d\" y=\"18\" font-size=\"14\">",
                LEFT + wide + 16, TOP + high + 48, LEFT);
    for (const char *c = title; *c; c++)
        text_format(svg, strchr("<>&", *c) ? "&#%d;" : "%c", *c);
    text_format(svg,
                "</text>\n<text x=\"8\" y=\"%d\">%.1f%%</text>\n<text x=\"8\" y=\"%d\">0%%</text>\n"
                "<path class=\"line\" d=\"",
                TOP - CURVE + 8, 100 * top, TOP - 8);
    for (int c = 0; c < TRACE_COLUMNS; c++)
        text_format(svg, "%s%d,%.1f", c ? " L" : "M", LEFT + c * COLUMN,
                    TOP - 8 - (CURVE - 12) * (top > 0 ? mean[c] / top : 0));
    text_format(svg, "\"/>\n<text x=\"8\" y=\"%d\">unit</text>\n", TOP + 12);
    for (size_t u = 0; u < t->units; u++) {
        for (int c = 0, run; c < TRACE_COLUMNS; c += run) {
            const int level = level_of(t->resident[u][c], most);

            for (run = 1;
                 c + run < TRACE_COLUMNS && level_of(t->resident[u][c + run], most) == level;)
                run++;
            if (level)
                text_format(svg,
                            "<rect class=\"cell\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" "
                            "opacity=\"%.2f\"/>\n",
                            LEFT + c * COLUMN, TOP + (int)u * ROW, run * COLUMN, ROW,
                            (double)level / LEVELS);
        }
    }
    for (int c = 0; c <= TRACE_COLUMNS; c += TRACE_COLUMNS / 4)
        text_format(svg, "<text x=\"%d\" y=\"%d\" text-anchor=\"%s\">%.3g us</text>\n",
                    LEFT + c * COLUMN, TOP + high + 16,
                    c == 0               ? "start"
                    : c == TRACE_COLUMNS ? "end"
                                         : "middle",
                    c * column / 1e3);
    text_format(svg,
                "<text x=\"%d\" y=\"%d\">above: occupancy of the device; below, a row for each "
                "compute unit, darkest where %.0f of its %zu warps are there</text>\n</svg>\n",
                LEFT, TOP + high + 36, (double)most, t->unit_warps);
}
