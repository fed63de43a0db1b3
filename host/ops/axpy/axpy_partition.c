/* Operands that come to the device in pieces: stretches of the arrays, each computed while the next
 * is copied in and the one before is copied out. */
#include "base/sizes.h"
#include "ops/axpy/axpy_problem.h"

/* Elements of a piece. */
enum { LENGTH };

/* Elements of an operand from `first` on. */
static host_rows stretch(const tsr_axpy_problem *p, size_t which, void *array, size_t first,
                         size_t count)
{
    const size_t size = tsr_type_size(p->type), inc = axpy_inc(p, which);
    unsigned char *at = (unsigned char *)array + (axpy_view(p, which).offset + first * inc) * size;

    return inc == 1 ? host_bytes(at, count * size) : (host_rows){at, count, size, inc * size, 0, 0};
}

static void stretches_piece(const partition *x, void *const host[], size_t i, piece *out)
{
    const tsr_axpy_problem *p = axpy_of(x->problem);
    const size_t first = i * x->cut[LENGTH], count = size_min(x->cut[LENGTH], p->n - first);
    tsr_axpy_problem *part;

    *out = (piece){.problem = *x->problem};
    part = axpy_in(&out->problem);
    part->n = count;
    part->incx = part->incy = part->incz = 1;
    part->offset_x = part->offset_y = part->offset_z = 0;
    for (size_t o = 0; o < AXPY_OPERANDS; o++)
        if (o != AXPY_Y || !p->in_place)
            out->slice[o] = (slice){.slot = i,
                                    .rows = stretch(p, o, host[o], first, count),
                                    .blocks = 1,
                                    .in = o != AXPY_Z || p->in_place,
                                    .out = o == AXPY_Z};
}

static const partition_kind stretches = {.name = "stretches", .piece = stretches_piece};

tsr_status axpy_partition(const problem *q, const selection *sel, const stream_budget *budget,
                          partition *out, tsr_error *err)
{
    const tsr_axpy_problem *p = axpy_of(q);
    const size_t size = tsr_type_size(p->type), each = (p->in_place ? 2 : 3) * size;
    size_t all, bytes, count;

    (void)sel;
    if (!size_mul(p->n, each, &all))
        all = SIZE_MAX;
    if (all == 0 || (all < STREAMED_MIN && stream_holds(budget, q)))
        return TSR_OK;
    bytes = stream_piece_bytes(all, budget->all / PARTITION_SLOTS_MAX);
    count = size_min(size_min(bytes / each, budget->each / size), p->n);
    if (count == 0)
        return stream_refuse(err, "axpy", budget, PARTITION_SLOTS_MAX * each, "%d elements of each",
                             (int)PARTITION_SLOTS_MAX);
    *out = (partition){
        .kind = &stretches, .pieces = size_div_up(p->n, count), .cut = {[LENGTH] = count}};
    for (size_t o = 0; o < AXPY_OPERANDS; o++)
        if (o != AXPY_Y || !p->in_place)
            out->slots[o] = (operand_slots){PARTITION_SLOTS_MAX, count * size, 0};
    partition_add_shape(out, 0);
    if (p->n % count)
        partition_add_shape(out, out->pieces - 1);
    return TSR_OK;
}
