/* An array that comes to the device in pieces: stretches, of which each selects its own, and which
 * the host puts side by side. */
#include <string.h>

#include "base/sizes.h"
#include "ops/select/select_problem.h"

/* Elements of a piece. */
enum { LENGTH };

/* What the pieces before have selected, and the one that comes back. */
typedef struct selected {
    uint64_t before, here;
} selected;

static void stretches_piece(const partition *x, void *const host[], size_t i, piece *out)
{
    const tsr_select_problem *p = select_of(x->problem);
    const size_t first = i * x->cut[LENGTH], size = tsr_type_size(p->type);
    tsr_select_problem part = *p;

    part.n = size_min(x->cut[LENGTH], p->n - first);
    part.offset_x = part.offset_result = part.offset_indices = part.offset_count = 0;
    *out = (piece){.problem = problem_from(x->problem->op, &part, sizeof(part))};
    out->slice[SELECT_X] = (slice){
        .slot = i,
        .rows = host_bytes((char *)host[SELECT_X] + (p->offset_x + first) * size, part.n * size),
        .blocks = 1,
        .in = true};
    /* Where they go is known once they are there: stage() puts them. */
    for (size_t o = SELECT_RESULT; o < SELECT_OPERANDS; o++)
        if (o != SELECT_INDICES || p->with_indices)
            out->slice[o] = (slice){.slot = i, .blocks = 1, .out = true};
}

/* The count comes first, then the indices and the elements. */
static tsr_status stage(const partition *x, staging direction, size_t which, const slice *s,
                        size_t b, void *array, void *block, tsr_error *err)
{
    const tsr_select_problem *p = select_of(x->problem);
    const size_t size = tsr_type_size(p->type);
    selected *all = x->kept;

    (void)direction, (void)b, (void)err;
    if (which == SELECT_COUNT) {
        all->before += all->here;
        memcpy(&all->here, block, sizeof(all->here));
        ((uint64_t *)array)[p->offset_count] = all->before + all->here;
    } else if (which == SELECT_INDICES) {
        int64_t *to = (int64_t *)array + p->offset_indices + all->before;

        for (uint64_t i = 0; i < all->here; i++)
            to[i] = ((const int64_t *)block)[i] + (int64_t)(s->slot * x->cut[LENGTH]);
    } else {
        memcpy((char *)array + (p->offset_result + all->before) * size, block, all->here * size);
    }
    return TSR_OK;
}

static const partition_kind in_stretches = {
    .name = "stretches", .piece = stretches_piece, .stage = stage};

tsr_status select_partition(const problem *q, const selection *sel, const stream_budget *budget,
                            partition *out, tsr_error *err)
{
    const tsr_select_problem *p = select_of(q);
    const size_t size = tsr_type_size(p->type), index = p->with_indices ? sizeof(int64_t) : 0;
    const size_t each = 2 * size + index, slot = budget->all / PARTITION_SLOTS_MAX;
    size_t count;

    (void)sel;
    /* The host moves what is selected, which costs more than the copies take that this hides. */
    if (p->n == 0 || stream_holds(budget, q))
        return TSR_OK;
    count = slot > sizeof(uint64_t) ? (slot - sizeof(uint64_t)) / each : 0;
    if (count == 0)
        return budget->limited
                   ? stream_refuse(err, "select", budget,
                                   PARTITION_SLOTS_MAX * (each + sizeof(uint64_t)),
                                   "%d elements and as many results", (int)PARTITION_SLOTS_MAX)
                   : TSR_OK;
    count = size_min(count, size_max(stream_piece_bytes(stream_bytes(q), slot) / each, 1));
    /* One at least, which a buffer may not hold: then the call is refused. */
    count = size_max(size_min(size_min(count, budget->each / size_max(size, index)), p->n), 1);
    *out = (partition){
        .kind = &in_stretches,
        .pieces = size_div_up(p->n, count),
        .cut = {[LENGTH] = count},
        .slots = {[SELECT_X] = {PARTITION_SLOTS_MAX, count * size, 0},
                  [SELECT_RESULT] = {PARTITION_SLOTS_MAX, count * size, count * size},
                  [SELECT_COUNT] = {PARTITION_SLOTS_MAX, sizeof(uint64_t), sizeof(uint64_t)}},
        .kept_bytes = sizeof(selected)};
    if (p->with_indices)
        out->slots[SELECT_INDICES] =
            (operand_slots){PARTITION_SLOTS_MAX, count * index, count * index};
    partition_add_shape(out, 0);
    if (p->n % count)
        partition_add_shape(out, out->pieces - 1);
    return TSR_OK;
}
