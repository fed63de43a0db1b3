#include "ops/sort/sort_vector_block.h"

#include "ops/sort/sort_order.h"
#include "ops/sort/sort_steps.h"

enum { LANES_MIN = 4, LANES_MAX = 16, BITS_USUAL = 256, BITS_MAX = 512 };

static size_t vector_bits(const job *j)
{
    const size_t bits = param(j->params, "BITS"), native = j->device->vector_bits;

    return bits ? bits : size_min(native ? native : BITS_USUAL, BITS_MAX);
}

uint32_t sort_vector_lanes(const job *j, size_t bytes)
{
    return (uint32_t)size_min(size_max(vector_bits(j) / 8 / bytes, LANES_MIN), LANES_MAX);
}

size_t sort_lane_bytes(const tsr_sort_problem *p)
{
    return sort_with_index(p) ? sizeof(uint64_t) : tsr_type_size(p->type);
}

const char *sort_lanes_unsupported(const tsr_sort_problem *p, text *reason)
{
    if (sort_parts_unsupported(p))
        return sort_parts_unsupported(p);
    if (!sort_packs(p))
        return "it packs a key and its index in 64 bits, and the key alone has as many";
    return sort_positions_unsupported(p, reason);
}

size_t sort_lanes_offset(const tsr_sort_problem *p)
{
    return size_div_up(sort_values_bytes(p), sort_lane_bytes(p));
}

/* Keys of most parts: rows, or segments, of which few are longer than twice the mean. */
static size_t usual_length(const tsr_sort_problem *p)
{
    return p->segments ? size_min(2 * (p->n / p->segments + 1), sort_longest(p)) : p->n;
}

/* A block has as many vectors as lanes at least: of short parts, which do not fill them, narrower
 * vectors are left less idle. */
static uint32_t lanes_for_parts(const job *j, size_t key)
{
    const tsr_sort_problem *p = sort_of(j->problem);
    const size_t length = (size_t)1 << size_log2_up(usual_length(p));
    uint32_t lanes = sort_vector_lanes(j, key);

    if (!param(j->params, "BITS") && sort_parts(p) > 1)
        while (lanes > LANES_MIN && (size_t)lanes * lanes > length)
            lanes /= 2;
    return lanes;
}

vector_block sort_vector_block(const job *j, size_t bytes)
{
    const size_t key = sort_lane_bytes(sort_of(j->problem));
    const size_t block = param(j->params, "BLOCK");
    const size_t room = size_min(bytes, j->device->local_memory);

    return (vector_block){
        .lanes = lanes_for_parts(j, key),
        .held_shift = param(j->params, "HELD_SHIFT"),
        .shift = block ? size_log2_up(block) : size_log2_up(room / key / 2 + 1),
    };
}

void sort_vector_block_defines(const job *j, const vector_block *b, text *out)
{
    text_format(out, " -DLANES=%u", b->lanes);
    if (!param(j->params, "BLOCK"))
        text_format(out, " -DBLOCK=%u", 1u << b->shift);
}

const char *sort_vector_block_unsupported(const job *j, const vector_block *b, text *reason)
{
    const size_t least = b->lanes * size_max(b->lanes, (size_t)1 << b->held_shift);
    const size_t keys = (size_t)1 << b->shift;
    const size_t local = keys * sort_lane_bytes(sort_of(j->problem));

    if (keys < least)
        text_format(reason, "its blocks have at least %zu keys, not %zu", least, keys);
    else if (local > j->device->local_memory)
        text_format(reason, "it needs %zu bytes of local memory, and the device has %zu", local,
                    j->device->local_memory);
    else
        return NULL;
    return text_get(reason);
}
