#include "ops/sort_vector_block.h"

#include "base/sizes.h"

enum { LANES_LEAST = 4, LANES_MOST = 16, BITS_USUAL = 256, BITS_MOST = 512 };

static size_t vector_bits(const job *j)
{
    const size_t bits = param(j->params, "BITS"), native = j->device->vector_bits;

    return bits ? bits : size_min(native ? native : BITS_USUAL, BITS_MOST);
}

uint32_t sort_vector_lanes(const job *j)
{
    const size_t lanes = vector_bits(j) / 8 / tsr_type_size(j->problem->sort.type);

    return (uint32_t)size_min(size_max(lanes, LANES_LEAST), LANES_MOST);
}

vector_block sort_vector_block(const job *j, size_t bytes)
{
    const size_t key = tsr_type_size(j->problem->sort.type), block = param(j->params, "BLOCK");
    const size_t room = size_min(bytes, j->device->local_memory);

    return (vector_block){
        .lanes = sort_vector_lanes(j),
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

const char *sort_vector_block_unsuited(const job *j, const vector_block *b, text *reason)
{
    const size_t least = b->lanes * size_max(b->lanes, (size_t)1 << b->held_shift);
    const size_t keys = (size_t)1 << b->shift;
    const size_t local = keys * tsr_type_size(j->problem->sort.type);

    if (keys < least)
        text_format(reason, "its blocks have at least %zu keys, not %zu", least, keys);
    else if (local > j->device->local_memory)
        text_format(reason, "it needs %zu bytes of local memory, and the device has %zu", local,
                    j->device->local_memory);
    else
        return NULL;
    return text_get(reason);
}
