/* Arrays that come to the device in pieces: some lines at a time, or where the device does not hold
 * one, stretches of it, to whose results the host adds what the stretches before have come to; and
 * where it does not hold one element of each of the columns of a matrix, some columns at a time. */
#include <math.h>
#include <string.h>

#include "base/elements.h"
#include "core/real.h"
#include "ops/scan/scan_problem.h"

/* Of a piece: `outer`, or elements of each line, or columns. */
enum { OUTER, LENGTH, COLUMNS };

/* ---- some lines at a time ------------------------------------------------------------------- */

/* Elements of x or the result, from `at` on, counted from the first. */
static host_rows elements(const view *v, void *array, size_t at, size_t count)
{
    const size_t size = tsr_type_size(v->type);

    return host_bytes((char *)array + (v->offset + at) * size, count * size);
}

/* A piece of so many elements, whose operands begin at the start of their arrays. */
static void cut_out(const partition *x, void *const host[], size_t i, size_t at, size_t count,
                    tsr_scan_problem *part, piece *out)
{
    const tsr_scan_problem *p = scan_of(x->problem);
    const view from = scan_x(p), to = scan_result(p);

    part->offset_x = part->offset_result = part->offset_segments = 0;
    *out = (piece){.problem = problem_from(x->problem->op, part, sizeof(*part))};
    out->slice[SCAN_X] = (slice){
        .slot = i, .rows = elements(&from, host[SCAN_X], at, count), .blocks = 1, .in = true};
    out->slice[SCAN_RESULT] = (slice){
        .slot = i, .rows = elements(&to, host[SCAN_RESULT], at, count), .blocks = 1, .out = true};
}

static void lines_piece(const partition *x, void *const host[], size_t i, piece *out)
{
    const tsr_scan_problem *p = scan_of(x->problem);
    const size_t each = p->n * scan_inner(p), first = i * x->cut[OUTER];
    tsr_scan_problem part = *p;

    part.outer = size_min(x->cut[OUTER], scan_outer(p) - first);
    cut_out(x, host, i, first * each, part.outer * each, &part, out);
}

static const partition_kind in_lines = {.name = "lines", .piece = lines_piece};

/* ---- some columns at a time ------------------------------------------------------------------ */

/* `count` columns of one `outer`, from `first` on, counted from the first element. */
static host_rows columns(const tsr_scan_problem *p, const view *v, void *array, size_t first,
                         size_t count)
{
    const size_t size = tsr_type_size(v->type);

    return (host_rows){.at = (char *)array + (v->offset + first) * size,
                       .count = p->n,
                       .bytes = count * size,
                       .pitch = scan_inner(p) * size};
}

static void columns_piece(const partition *x, void *const host[], size_t i, piece *out)
{
    const tsr_scan_problem *p = scan_of(x->problem);
    const size_t inner = scan_inner(p), cuts = size_div_up(inner, x->cut[COLUMNS]);
    const size_t first = i % cuts * x->cut[COLUMNS], at = i / cuts * p->n * inner + first;
    const view from = scan_x(p), to = scan_result(p);
    tsr_scan_problem part = *p;

    part.outer = 1;
    part.inner = size_min(x->cut[COLUMNS], inner - first);
    part.offset_x = part.offset_result = 0;
    *out = (piece){.problem = problem_from(x->problem->op, &part, sizeof(part))};
    out->slice[SCAN_X] = (slice){.slot = i,
                                 .rows = columns(p, &from, host[SCAN_X], at, part.inner),
                                 .blocks = 1,
                                 .in = true};
    out->slice[SCAN_RESULT] = (slice){.slot = i,
                                      .rows = columns(p, &to, host[SCAN_RESULT], at, part.inner),
                                      .blocks = 1,
                                      .out = true};
}

static const partition_kind in_columns = {.name = "columns", .piece = columns_piece};

/* ---- stretches ------------------------------------------------------------------------------ */

/* What the elements of a line before a stretch have come to: a float, or an integer modulo 2^64. */
typedef union carry {
    double real;
    uint64_t whole;
} carry;

/* What stage() keeps: the caller's offsets of segments where there are any, and what each line has
 * come to. */
typedef struct kept {
    const uint64_t *offsets;
    carry before[];
} kept;

/* Piece i: elements [first, first + count) of each line of one `outer`, from the end on where the
 * scan goes from there.  What is before them goes into those from `open` to before `closed`,
 * counted from the first. */
typedef struct stretch {
    size_t outer, first, count;
    size_t open, closed;
    bool starts; /* a line or segment starts in it: what is before it is not in its last element */
} stretch;

static stretch stretch_of(const partition *x, size_t i)
{
    const tsr_scan_problem *p = scan_of(x->problem);
    const size_t cuts = size_div_up(p->n, x->cut[LENGTH]), begin = i % cuts * x->cut[LENGTH];
    const size_t count = size_min(x->cut[LENGTH], p->n - begin);
    const bool begins = i % cuts == 0;

    return (stretch){.outer = i / cuts,
                     .first = p->reverse ? p->n - begin - count : begin,
                     .count = count,
                     .closed = begins ? 0 : count,
                     .starts = begins};
}

/* The number of the first offset that is not below `place`; the last one, n, is not. */
static size_t offset_from(const uint64_t *offsets, size_t segments, uint64_t place)
{
    size_t low = 0, high = segments;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (offsets[middle] < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Of segments, what is before a stretch goes on to the first of them that starts. */
static void close_at_segments(const tsr_scan_problem *p, const uint64_t *offsets, stretch *at)
{
    const size_t end = at->first + at->count;

    if (p->reverse) {
        const size_t above = offset_from(offsets, p->segments, end);
        const bool here = offsets[above] == end || (above && offsets[above - 1] > at->first);

        at->open = offsets[above] == end ? at->count
                   : here                ? (size_t)offsets[above - 1] - at->first
                                         : 0;
        at->starts = at->starts || here;
    } else {
        const uint64_t next = offsets[offset_from(offsets, p->segments, at->first)];

        at->closed = next < end ? (size_t)next - at->first : at->closed;
        at->starts = at->starts || next < end;
    }
    at->open = size_min(at->open, at->closed);
}

/* Segments of a piece: empty ones are left out, so that there are no more than elements. */
static size_t segments_of(const tsr_scan_problem *p, size_t count)
{
    return size_min(p->segments, count);
}

/* The type of a stretch's elements: 16-bit floats are added as float32, and rounded once. */
static tsr_type stretch_type(const tsr_scan_problem *p)
{
    const bool narrow = type_is_real(p->type) && tsr_type_size(p->type) == 2;

    return narrow && p->by == TSR_SCAN_SUM ? TSR_F32 : p->type;
}

static void stretches_piece(const partition *x, void *const host[], size_t i, piece *out)
{
    const tsr_scan_problem *p = scan_of(x->problem);
    const stretch at = stretch_of(x, i);
    const size_t inner = scan_inner(p), first = (at.outer * p->n + at.first) * inner;
    tsr_scan_problem part = *p;

    part.type = stretch_type(p);
    part.n = at.count;
    part.outer = 1;
    part.segments = segments_of(p, at.count);
    cut_out(x, host, i, first, at.count * inner, &part, out);
    if (p->segments)
        out->slice[SCAN_SEGMENTS] =
            (slice){.slot = i,
                    .rows = host_bytes((uint64_t *)host[SCAN_SEGMENTS] + p->offset_segments,
                                       (part.segments + 1) * sizeof(uint64_t)),
                    .blocks = 1,
                    .in = true};
    /* Its elements, where stage() looks up the last of a line. */
    out->slice[SCAN_RESULT].rows = out->slice[SCAN_X].rows;
}

static double combine_reals(size_t by, double a, double b)
{
    if (by == TSR_SCAN_SUM)
        return a + b;
    if (isnan(a) || isnan(b))
        return NAN;
    return by == TSR_SCAN_MIN ? fmin(a, b) : fmax(a, b);
}

static uint64_t combine_wholes(size_t by, tsr_type type, uint64_t a, uint64_t b)
{
    const uint64_t sign = type_is_signed(type) ? (uint64_t)1 << 63 : 0;

    if (by == TSR_SCAN_SUM)
        return a + b;
    return ((a ^ sign) < (b ^ sign)) == (by == TSR_SCAN_MIN) ? a : b;
}

/* Results of a stretch of a line, where nothing goes into it or of sums that have its type; false,
 * and nothing done, of others. */
static bool add_plainly(const tsr_scan_problem *p, const stretch *at, tsr_type type,
                        const void *block, void *result, size_t to, const carry *before)
{
    const size_t n = at->count * scan_inner(p), size = tsr_type_size(type);

    const bool adds = type == TSR_F32 || type == TSR_F64 || size == sizeof(uint64_t);

    if (type != tsr_scan_result_type(p) ||
        (at->open < at->closed && (p->by != TSR_SCAN_SUM || scan_inner(p) > 1 || !adds)))
        return false;
    if (at->open == at->closed) {
        memcpy((char *)result + to * size, block, n * size);
        return true;
    }
    memcpy((char *)result + to * size, block, at->open * size);
    memcpy((char *)result + (to + at->closed) * size, (const char *)block + at->closed * size,
           (at->count - at->closed) * size);
    for (size_t i = at->open; i < at->closed; i++)
        if (type == TSR_F32)
            ((float *)result)[to + i] = (float)(before->real + (double)((const float *)block)[i]);
        else if (type == TSR_F64)
            ((double *)result)[to + i] = before->real + ((const double *)block)[i];
        else
            ((uint64_t *)result)[to + i] = before->whole + ((const uint64_t *)block)[i];
    return true;
}

/* The results of a stretch, of `type` in `block`, behind what came before; and the carry of each
 * line behind them.  x has the stretch's elements. */
static void carry_reals(const tsr_scan_problem *p, const stretch *at, tsr_type type,
                        const void *block, const void *x, void *result, size_t to, carry *before)
{
    const size_t inner = scan_inner(p), last = p->reverse ? 0 : at->count - 1;
    const size_t left = add_plainly(p, at, type, block, result, to, before) ? 0 : at->count;

    for (size_t i = 0; i < left; i++)
        for (size_t j = 0; j < inner; j++) {
            const double value = real_get(type, block, i * inner + j);

            real_set(p->type, result, to + i * inner + j,
                     i < at->open || i >= at->closed ? value
                                                     : combine_reals(p->by, before[j].real, value));
        }
    for (size_t j = 0; j < inner; j++) {
        double all = real_get(type, block, last * inner + j);

        if (p->exclusive)
            all = combine_reals(p->by, all, real_get(p->type, x, last * inner + j));
        before[j].real = at->starts ? all : combine_reals(p->by, before[j].real, all);
    }
}

static void carry_wholes(const tsr_scan_problem *p, const stretch *at, const void *block,
                         const void *x, void *result, size_t to, carry *before)
{
    const tsr_type type = tsr_scan_result_type(p);
    const size_t inner = scan_inner(p), last = p->reverse ? 0 : at->count - 1;
    const size_t left = add_plainly(p, at, type, block, result, to, before) ? 0 : at->count;

    for (size_t i = 0; i < left; i++)
        for (size_t j = 0; j < inner; j++) {
            const uint64_t value = integer_get(type, block, i * inner + j);

            bits_set(type, result, to + i * inner + j,
                     i < at->open || i >= at->closed
                         ? value
                         : combine_wholes(p->by, type, before[j].whole, value));
        }
    for (size_t j = 0; j < inner; j++) {
        uint64_t all = integer_get(type, block, last * inner + j);

        if (p->exclusive)
            all = combine_wholes(p->by, type, all, integer_get(p->type, x, last * inner + j));
        before[j].whole = at->starts ? all : combine_wholes(p->by, type, before[j].whole, all);
    }
}

/* Where the segments of a stretch start in it, `count` of them; what is left over is empty. */
static void stage_segments(const stretch *at, const uint64_t *offsets, size_t segments,
                           uint64_t *staged, size_t count)
{
    const size_t end = at->first + at->count;
    size_t n = 1;

    staged[0] = 0;
    for (size_t s = offset_from(offsets, segments, at->first + 1); offsets[s] < end; s++)
        if (offsets[s] - at->first > staged[n - 1])
            staged[n++] = offsets[s] - at->first;
    while (n <= count)
        staged[n++] = at->count;
}

/* 16-bit floats on their way to the device become float32, and offsets those of the stretch;
 * results on their way back get what comes before them. */
static tsr_status stage(const partition *x, staging direction, size_t which, const slice *s,
                        size_t b, void *array, void *block, tsr_error *err)
{
    const tsr_scan_problem *p = scan_of(x->problem);
    stretch at = stretch_of(x, s->slot);
    const size_t inner = scan_inner(p);
    const size_t to = p->offset_result + (at.outer * p->n + at.first) * inner;
    kept *k = x->kept;

    (void)b, (void)err;
    if (direction == STAGE_IN && which == SCAN_SEGMENTS) {
        k->offsets = (const uint64_t *)array + p->offset_segments;
        stage_segments(&at, k->offsets, p->segments, block, segments_of(p, at.count));
        return TSR_OK;
    }
    if (direction == STAGE_IN) {
        for (size_t i = 0; i < at.count * inner; i++)
            ((float *)block)[i] = (float)real_get(p->type, s->rows.at, i);
        return TSR_OK;
    }
    if (p->segments)
        close_at_segments(p, k->offsets, &at);
    if (type_is_real(p->type))
        carry_reals(p, &at, stretch_type(p), block, s->rows.at, array, to, k->before);
    else
        carry_wholes(p, &at, block, s->rows.at, array, to, k->before);
    return TSR_OK;
}

static const partition_kind in_stretches = {
    .name = "stretches", .piece = stretches_piece, .stage = stage};

/* Bytes of a stretch of so many elements of each line, of `each` with its result; and how many
 * elements there are room for. */
static size_t stretch_bytes(const tsr_scan_problem *p, size_t count, size_t each)
{
    const size_t offsets = p->segments ? segments_of(p, count) + 1 : 0;

    return count * scan_inner(p) * each + offsets * sizeof(uint64_t);
}

static size_t stretch_elements(const tsr_scan_problem *p, size_t room, size_t each)
{
    size_t few;

    if (!p->segments)
        return room / each / scan_inner(p);
    room -= size_min(room, sizeof(uint64_t));
    few = room / (each + sizeof(uint64_t));
    return p->segments > few ? few : (room - p->segments * sizeof(uint64_t)) / each;
}

/* ---- choosing ------------------------------------------------------------------------------- */

/* Some columns at a time; false where the device does not hold one.  Segments have no columns. */
static bool cut_columns(const tsr_scan_problem *p, const stream_budget *budget, partition *out)
{
    const size_t inner = scan_inner(p), in = p->n * tsr_type_size(p->type);
    const size_t result = p->n * tsr_type_size(tsr_scan_result_type(p));
    const size_t count =
        size_min(size_min(budget->all / PARTITION_SLOTS_MAX / (in + result), inner),
                 budget->each / size_max(in, result));

    if (!count)
        return false;
    *out = (partition){.kind = &in_columns,
                       .pieces = SIZE_MAX,
                       .cut = {[COLUMNS] = count},
                       .slots = {[SCAN_X] = {PARTITION_SLOTS_MAX, count * in, 0},
                                 [SCAN_RESULT] = {PARTITION_SLOTS_MAX, count * result, 0}}};
    size_mul(scan_outer(p), size_div_up(inner, count), &out->pieces);
    partition_add_shape(out, 0);
    if (inner % count)
        partition_add_shape(out, size_div_up(inner, count) - 1);
    return true;
}

tsr_status scan_partition(const problem *q, const selection *sel, const stream_budget *budget,
                          partition *out, tsr_error *err)
{
    const tsr_scan_problem *p = scan_of(q);
    const size_t inner = scan_inner(p), outer = scan_outer(p), lines = p->n * inner;
    const size_t in = tsr_type_size(p->type), result = tsr_type_size(tsr_scan_result_type(p));
    const bool narrow = stretch_type(p) != p->type, holds = stream_holds(budget, q);
    const size_t narrow_in = narrow ? sizeof(float) : in;
    const size_t narrow_result = narrow ? sizeof(float) : result;
    const size_t slot = budget->all / PARTITION_SLOTS_MAX;
    const size_t bytes = stream_piece_bytes(stream_bytes(q), slot);
    size_t count = slot / (in + result) / size_max(lines, 1), cuts;

    (void)sel;
    if (scan_elements(p) == 0 || (holds && stream_bytes(q) < STREAMED_MIN))
        return TSR_OK;
    if (outer > 1 && count && lines <= budget->each / size_max(in, result)) {
        count = size_min(size_max(bytes / (in + result) / lines, 1), outer);
        *out = (partition){
            .kind = &in_lines,
            .pieces = size_div_up(outer, count),
            .cut = {[OUTER] = count},
            .slots = {[SCAN_X] = {PARTITION_SLOTS_MAX, count * lines * in, 0},
                      [SCAN_RESULT] = {PARTITION_SLOTS_MAX, count * lines * result, 0}}};
        partition_add_shape(out, 0);
        if (outer % count)
            partition_add_shape(out, out->pieces - 1);
        return TSR_OK;
    }
    /* The host adds to every result, which costs more than the copies take that this hides. */
    if (holds)
        return TSR_OK;
    count = stretch_elements(p, slot, narrow_in + narrow_result);
    if (count == 0 && !p->segments && cut_columns(p, budget, out))
        return TSR_OK;
    if (count == 0)
        return budget->limited
                   ? stream_refuse(err, "scan", budget,
                                   PARTITION_SLOTS_MAX *
                                       size_min(stretch_bytes(p, 1, narrow_in + narrow_result),
                                                p->n * (in + result)),
                                   "%d pieces of %zu elements with their results",
                                   (int)PARTITION_SLOTS_MAX, size_min(inner, p->n))
                   : TSR_OK;
    count = size_min(count, budget->each / size_max(narrow_in, narrow_result) / inner);
    if (p->segments)
        count = size_min(count, budget->each / sizeof(uint64_t) - 1);
    count = size_min(count, size_max(bytes / (narrow_in + narrow_result) / inner, 1));
    count = size_min(size_max(count, 1), p->n);
    cuts = size_div_up(p->n, count);
    *out =
        (partition){.kind = &in_stretches,
                    .pieces = SIZE_MAX,
                    .cut = {[LENGTH] = count},
                    .slots = {[SCAN_X] = {PARTITION_SLOTS_MAX, count * inner * narrow_in,
                                          narrow ? count * inner * narrow_in : 0},
                              [SCAN_RESULT] = {PARTITION_SLOTS_MAX, count * inner * narrow_result,
                                               count * inner * narrow_result}},
                    .kept_bytes = sizeof(kept) + inner * sizeof(carry)};
    if (p->segments) {
        const size_t offsets = (segments_of(p, count) + 1) * sizeof(uint64_t);

        out->slots[SCAN_SEGMENTS] = (operand_slots){PARTITION_SLOTS_MAX, offsets, offsets};
    }
    size_mul(outer, cuts, &out->pieces);
    partition_add_shape(out, 0);
    if (p->n % count)
        partition_add_shape(out, cuts - 1);
    return TSR_OK;
}
