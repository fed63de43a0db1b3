/* Scans of chunks on a device, and the -Ds of all general kernels. */
#include "base/elements.h"
#include "base/sizes.h"
#include "core/groups.h"
#include "ops/scan/scan_problem.h"

/* ---- elements ------------------------------------------------------------------------------ */

/* The least and the most of an integer type, in OpenCL C. */
static const char *const limits[TSR_TYPE_COUNT][2] = {
    [TSR_I8] = {"CHAR_MIN", "CHAR_MAX"},  [TSR_U8] = {"0", "UCHAR_MAX"},
    [TSR_I16] = {"SHRT_MIN", "SHRT_MAX"}, [TSR_U16] = {"0", "USHRT_MAX"},
    [TSR_I32] = {"INT_MIN", "INT_MAX"},   [TSR_U32] = {"0", "UINT_MAX"},
    [TSR_I64] = {"LONG_MIN", "LONG_MAX"}, [TSR_U64] = {"0", "ULONG_MAX"},
};

static const char *identity(const tsr_scan_problem *p)
{
    const bool of_minimum = p->by == TSR_SCAN_MIN;

    if (p->by == TSR_SCAN_SUM)
        return "0";
    if (type_is_real(p->type))
        return of_minimum ? "INFINITY" : "-INFINITY";
    return limits[p->type][of_minimum];
}

/* Sums of integers are added up in 32 or 64 bits, as many as the result has at least. */
size_t scan_value_bytes(const tsr_scan_problem *p)
{
    const size_t bytes = tsr_type_size(tsr_scan_result_type(p));

    if (type_is_real(p->type))
        return p->type == TSR_F64 ? 8 : 4;
    return p->by == TSR_SCAN_SUM ? size_max(bytes, 4) : bytes;
}

const char *scan_define(const job *j, plan *out)
{
    const tsr_scan_problem *p = scan_of(j->problem);
    const tsr_type result = tsr_scan_result_type(p);
    const bool sum = p->by == TSR_SCAN_SUM, real = type_is_real(p->type);
    const char *value = plan_type_name(p->type);

    if (p->type == TSR_F64 && !j->device->fp64)
        return "the device has no double precision";
    if (real)
        value = p->type == TSR_F64 ? "double" : "float";
    else if (sum)
        value = scan_value_bytes(p) == 8 ? "ulong" : "uint";
    plan_define(out, "BY=%zu", p->by);
    plan_define(out, "X=%s", plan_type_name(p->type));
    plan_define(out, "RESULT=%s", sum && !real ? plan_bits_name(result) : plan_type_name(result));
    plan_define(out, "VALUE=%s", value);
    plan_define(out, "FLOATS=%d", plan_float_form(p->type));
    plan_define(out, "IDENTITY=%s", identity(p));
    plan_define(out, "EXCLUSIVE=%d", p->exclusive);
    plan_define(out, "REVERSE=%d", p->reverse);
    plan_define(out, "SEGMENTED=%d", p->segments > 0);
    return NULL;
}

/* ---- chunks -------------------------------------------------------------------------------- */

enum { CHUNK_TOTALS, CHUNK_CARRIES, CHUNK_SCANS };

/* Elements that are worth a work-item of their own, where CHUNK is 0, and those of a row up to
 * which it is not cut: a first call then compiles one kernel for three, which takes 59 ms less of
 * an H200's driver, and the kernel of 16,384 elements 0.5 ms more. */
enum { CHUNK_USUAL = 4096, LINE_WHOLE = 16384 };

enum { GROUP_CPU = 1, GROUP_GPU = 64 };

static const tunable tunables[] = {
    {"GROUP",
     "work-items in a work-group, at most what the device takes; 0: by the device",
     {0, 1, 32, 64, 128, 256},
     0,
     32,
     .host_only = true},
    {"PER_UNIT",
     "work-items for each compute unit, at most, where lines are cut: more hide latency, fewer "
     "leave less to combine",
     {4, 8, 64, 256, 1024},
     8,
     4,
     .host_only = true},
    {"CHUNK",
     "elements of a chunk, at least, where lines are cut: fewer carries against idle cores; 0: "
     "4096, and rows of up to 16384 are whole",
     {0, 64, 256, 1024, 4096},
     0,
     64,
     .host_only = true},
};

/* As scan_chunks.cl has it. */
typedef struct chunks_call {
    uint64_t n, inner, lines, chunk, chunks, from, to, segments, from_segments, starts;
} chunks_call;

/* A launch of a work-item for each of `items`, with the call behind its operands. */
static command *launch(const job *j, plan *out, unsigned entry, size_t items)
{
    const size_t set = param(j->params, "GROUP");
    const size_t usual = j->device->kind == DEVICE_CPU ? GROUP_CPU : GROUP_GPU;
    const size_t local = group_fit(j->device, 0, set ? set : usual);

    plan_set(out, "GROUP", (uint32_t)local);
    return plan_launch_1d(out, entry, size_round_up(items, local), local);
}

/* The offsets of segments; kernels without segments do not read that argument. */
static void add_segments(command *c, const tsr_scan_problem *p)
{
    command_operand(c, p->segments ? SCAN_SEGMENTS : SCAN_X);
}

static const char *plan_chunks(const job *j, plan *out)
{
    const tsr_scan_problem *p = scan_of(j->problem);
    const size_t set = param(j->params, "CHUNK");
    const bool whole = p->n <= LINE_WHOLE && scan_inner(p) == 1;
    const size_t least = set ? set : whole ? LINE_WHOLE : CHUNK_USUAL;
    const size_t lines = scan_lines(p), elements = scan_elements(p);
    const size_t items = size_max(j->device->compute_units, 1) * param(j->params, "PER_UNIT");
    const size_t wanted = size_min(size_div_up(items, lines), size_div_up(p->n, least));
    const size_t chunk = size_max(size_div_up(p->n, size_max(wanted, 1)), 1);
    const size_t value = scan_value_bytes(p);
    const double read = (double)tsr_type_size(p->type) * (double)elements;
    chunks_call call = {.n = p->n,
                        .inner = scan_inner(p),
                        .lines = lines,
                        .chunk = chunk,
                        .chunks = size_div_up(p->n, chunk),
                        .from = p->offset_x,
                        .to = p->offset_result,
                        .segments = p->segments,
                        .from_segments = p->offset_segments};
    const size_t slots = lines * call.chunks;
    const char *why = scan_define(j, out);
    command *c;

    if (why)
        return why;
    plan_define(out, "COLUMNS=%d", call.inner > 1);
    plan_define(out, "WIDE=%d", slots > UINT32_MAX);
    /* Lines that follow one another are scanned like this on a GPU where nothing better is compiled
     * yet. */
    plan_define(out, "UNROLLED=%d", j->device->kind == DEVICE_CPU || call.inner > 1);
    plan_set(out, "CHUNK", (uint32_t)least);
    if (elements == 0)
        return NULL;
    call.starts = slots * value;
    if (call.chunks > 1) {
        out->workspace = slots * value + (p->segments ? slots : 0);
        c = launch(j, out, CHUNK_TOTALS, slots);
        command_operand(c, SCAN_X);
        add_segments(c, p);
        command_workspace(c);
        command_workspace(c);
        command_block(c, &call, sizeof(call));
        c->bytes = read + (double)value * (double)slots;
        c->traffic.requested = p->segments ? 0 : c->bytes;
        c = launch(j, out, CHUNK_CARRIES, lines);
        command_workspace(c);
        command_workspace(c);
        command_block(c, &call, sizeof(call));
        c->bytes = 2 * (double)value * (double)slots;
        c->traffic.requested = p->segments ? 0 : c->bytes;
    }
    c = launch(j, out, CHUNK_SCANS, slots);
    command_operand(c, SCAN_X);
    add_segments(c, p);
    if (call.chunks > 1)
        command_workspace(c);
    else
        command_operand(c, SCAN_X);
    command_operand(c, SCAN_RESULT);
    command_block(c, &call, sizeof(call));
    c->bytes = read + (double)tsr_type_size(tsr_scan_result_type(p)) * (double)elements;
    if (!p->segments) /* else offsets decide what is read of them */
        c->traffic.requested =
            c->bytes + (call.chunks > 1 ? (double)value * (double)slots : 0); /* the carries */
    return NULL;
}

const variant scan_chunks = {
    .name = "chunks",
    .idea = "a work-item scans a chunk of a line by itself; three launches where lines are cut",
    .unstated = "searches the offsets of segments, and their lengths decide how often",
    .source = "scan/scan_chunks.cl",
    .entries = {"scan_chunk_totals", "scan_chunk_carries", "scan_chunks"},
    .build = "",
    .tunables = tunables,
    .tunable_count = ARRAY_COUNT(tunables),
    .plan = plan_chunks,
};
