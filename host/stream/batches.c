#include "stream/batches.h"

#include "base/sizes.h"

/* Bytes from the first element of an operand to the end of the last one of `count`, gaps included;
 * one that all share is there once. */
static size_t bytes_of(const view *x, size_t count)
{
    size_t one;

    view_span(x, &one); /* checked */
    return ((count - 1) * x->stride + one) * tsr_type_size(x->type);
}

/* The results as the device has them. */
static view without_gaps(const view *x)
{
    return view_of(x->type, x->lines, x->length, x->length, 0, x->count, x->lines * x->length);
}

/* Whether the matrices overlap, as sliding windows do, or lines of one lie between another's. */
static bool overlap(const view *x)
{
    return x->stride && x->stride * tsr_type_size(x->type) < bytes_of(x, 1);
}

/* Whether a group takes more bytes of an operand that is read than its products by themselves. */
static bool takes_more(const batch *b, size_t group)
{
    for (size_t i = 0; i < BATCH_RESULT; i++) {
        const view *x = &b->operand[i];

        if (overlap(x) &&
            bytes_of(x, group) / group > x->lines * x->length * tsr_type_size(x->type))
            return true;
    }
    return false;
}

/* ---- choosing ------------------------------------------------------------------------------ */

/* Bytes of what each product has of its own, of what all share, of the largest operand of either
 * kind and of the largest that is a product's own, and of all. */
typedef struct needs {
    size_t own, shared, widest, widest_own, whole;
    bool held; /* the budget holds all at once */
} needs;

static needs needs_of(const batch *b, const stream_budget *budget)
{
    needs n = {.held = true};

    for (size_t i = 0; i < BATCH_OPERANDS; i++) {
        const view *x = &b->operand[i];
        const size_t all = bytes_of(x, x->count);
        const size_t each = size_max(bytes_of(x, 1), x->stride * tsr_type_size(x->type));

        *(x->stride ? &n.own : &n.shared) += each;
        n.widest = size_max(n.widest, each);
        n.widest_own = size_max(n.widest_own, x->stride ? each : 0);
        n.held = n.held && all <= budget->each;
        n.whole += all;
    }
    n.held = n.held && n.whole <= budget->all;
    return n;
}

/* Whether a product streams better by itself: a matrix that is read once comes in panels, which
 * hide more than a piece of a whole product does, or one that all share and that outweighs them. */
static bool streams_alone(const batch *b, const needs *n, size_t bytes)
{
    return b->comes_in_panels && (n->own > bytes || n->shared > size_max(bytes, b->count * n->own));
}

/* What the lengths of a partition are. */
enum { GROUP };

void batches_choose(const stream_budget *budget, const problem *p, const partition_kind *kind,
                    partition *out)
{
    batch b;
    needs n;

    if (!kind->batches->describe(p, &b) || b.count <= 1 || overlap(&b.operand[BATCH_RESULT]))
        return; /* lines of the result between another's: no group has a range of its own */
    b.operand[BATCH_RESULT] = without_gaps(&b.operand[BATCH_RESULT]);
    n = needs_of(&b, budget);
    if ((n.held && n.whole < STREAMED_MIN) || n.widest > budget->each || n.shared > budget->all)
        return;
    for (size_t slots = size_min(PARTITION_SLOTS_MAX, b.count); slots > 1; slots--) {
        const size_t each = (budget->all - n.shared) / slots;
        const size_t bytes = stream_piece_bytes(n.whole, each);
        const size_t group =
            size_min(size_min(size_max(bytes / n.own, 1), b.count), budget->each / n.widest_own);

        if (each < n.own || streams_alone(&b, &n, bytes) || takes_more(&b, group))
            continue;
        *out = (partition){
            .kind = kind, .pieces = size_div_up(b.count, group), .cut = {[GROUP] = group}};
        for (size_t o = 0; o < BATCH_OPERANDS; o++) /* slots beside what all share */
            out->slots[o] =
                (operand_slots){b.operand[o].stride ? slots : 1, bytes_of(&b.operand[o], group), 0};
        partition_add_shape(out, 0);
        if (b.count % group)
            partition_add_shape(out, out->pieces - 1);
        return;
    }
}

/* `count` matrices from the first element of `at` on. */
static host_rows rows_of(const view *x, void *at, size_t count)
{
    const size_t size = tsr_type_size(x->type);
    const bool in_step = count == 1 || x->stride == x->lines * x->ld;

    if (view_contiguous(x))
        return host_bytes(at, count * x->lines * x->length * size);
    return (host_rows){.at = at,
                       .count = count * x->lines,
                       .bytes = x->length * size,
                       .pitch = x->ld * size,
                       .matrix = in_step ? 0 : x->lines,
                       .step = x->stride * size};
}

void batches_piece(const partition *p, void *const host[], size_t i, piece *out)
{
    const size_t group = p->cut[GROUP], first = i * group;
    size_t count;
    batch b;

    p->kind->batches->describe(p->problem, &b);
    count = size_min(group, b.count - first);
    *out = (piece){.problem = p->kind->batches->group(p->problem, count)};
    for (size_t o = 0; o < BATCH_OPERANDS; o++) {
        const view *x = &b.operand[o];
        const size_t at = (x->offset + first * x->stride) * tsr_type_size(x->type);
        unsigned char *start = (unsigned char *)host[o] + at;
        const bool result = o == BATCH_RESULT;

        out->slice[o] = (slice){.slot = x->stride ? i : 0, /* what all share stays */
                                .rows = result ? rows_of(x, start, count)
                                               : host_bytes(start, bytes_of(x, count)),
                                .blocks = 1,
                                .in = !result || b.reads_result,
                                .out = result};
    }
}
