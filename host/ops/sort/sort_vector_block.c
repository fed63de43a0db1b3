#include "ops/sort/sort_vector_block.h"

#include "ops/sort/sort_commands.h"

enum { LANES_MIN = 4, LANES_MAX = 16, BITS_USUAL = 256, BITS_MAX = 512 };

size_t sort_vector_bits(const job *j)
{
    const size_t bits = param(j->params, "BITS"), native = j->device->vector_bits;

    return bits ? bits : size_min(native ? native : BITS_USUAL, BITS_MAX);
}

uint32_t sort_vector_lanes(const job *j, size_t bytes)
{
    return (uint32_t)size_min(size_max(sort_vector_bits(j) / 8 / bytes, LANES_MIN), LANES_MAX);
}

size_t sort_lane_bytes(const tsr_sort_problem *p)
{
    return sort_with_index(p) ? sizeof(uint64_t) : tsr_type_size(p->type);
}

const char *sort_unsupported_lanes(const tsr_sort_problem *p, plan *out)
{
    const char *why = sort_unsupported_packed(p);

    return why ? why : sort_unsupported_positions(p, out);
}

size_t sort_lanes_offset(const tsr_sort_problem *p)
{
    return size_div_up(sort_values_bytes(p), sort_lane_bytes(p));
}

/* A block has as many vectors as lanes at least: of short parts, which do not fill them, narrower
 * vectors are left less idle. */
static uint32_t lanes_for_parts(const job *j, size_t key, size_t part)
{
    const size_t length = (size_t)1 << size_log2_up(part);
    uint32_t lanes = sort_vector_lanes(j, key);

    if (!param(j->params, "BITS") && part)
        while (lanes > LANES_MIN && (size_t)lanes * lanes > length)
            lanes /= 2;
    return lanes;
}

vector_block sort_vector_block(const job *j, size_t bytes, size_t part)
{
    const size_t key = sort_lane_bytes(sort_of(j->problem));
    const size_t block = param(j->params, "BLOCK");
    const size_t room = size_min(bytes, j->device->local_memory);

    return (vector_block){
        .lanes = lanes_for_parts(j, key, part),
        .held_shift = param(j->params, "HELD_SHIFT"),
        .shift = block ? size_log2_up(block) : size_log2_up(room / key / 2 + 1),
    };
}

void sort_define_vector_block(const job *j, const vector_block *b, plan *out)
{
    plan_set(out, "BITS", (uint32_t)sort_vector_bits(j));
    plan_set(out, "BLOCK", 1u << b->shift);
    sort_define_keys(out, sort_of(j->problem));
    plan_define(out, "LANES=%u", b->lanes);
}

const char *sort_unsupported_vector_block(const job *j, const vector_block *b, plan *out)
{
    const size_t least = b->lanes * size_max(b->lanes, (size_t)1 << b->held_shift);
    const size_t keys = (size_t)1 << b->shift;
    const size_t local = keys * sort_lane_bytes(sort_of(j->problem));

    if (keys < least)
        return plan_unsupported(out, "its blocks have at least %zu keys, not %zu", least, keys);
    return sort_unsupported_room(j, 1, local, j->device->local_memory, out);
}

/* Work-items for each core, so that none waits long for another one, and the least that is worth
 * searching where it begins. */
enum { PIECES_CORE = 4, PIECE_MIN = 4096 };

size_t sort_merge_piece(const job *j, const vector_block *block, size_t n)
{
    const size_t items = size_max(j->device->compute_units, 1) * PIECES_CORE;
    const size_t least = (size_t)param(j->params, "STREAMS") * block->lanes;
    const size_t shared = size_max((size_t)1 << size_log2_up(n / items + 1), PIECE_MIN);

    return size_max(size_min(shared, param(j->params, "PIECE")), least);
}
