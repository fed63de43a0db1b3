/** What the plans of sort share: reasons, the -Ds and arguments of every kernel, and the commands
 *  that move values. */
#ifndef OPS_SORT_COMMANDS_H
#define OPS_SORT_COMMANDS_H

#include "base/sizes.h"
#include "core/groups.h"
#include "core/variant.h"
#include "ops/sort/sort_order.h"

/* 2^this keys of a tile in registers and local memory: what its bank swizzle covers
 * (cl/sort/sort_held_tile.clh). */
enum { SORT_TILE_SHIFT_MAX = 15 };

/* Up to this many keys, on GPUs, `rows` and `two-phase-registers` take one tile with their default
 * tunables; above, passes over memory count. */
enum { SORT_SHORT_KEYS = 2048 };

/* Positions in kernels with a 32-bit index, up to the end of the last tile or block. */
#define SORT_POSITIONS_32 ((size_t)1 << 31)

static inline const char *sort_kernel_type(tsr_type type)
{
    switch (type) {
    case TSR_I8:
        return "char";
    case TSR_U8:
        return "uchar";
    case TSR_I16:
        return "short";
    case TSR_U16:
        return "ushort";
    case TSR_F16:
        return "half";
    case TSR_I32:
        return "int";
    case TSR_U32:
        return "uint";
    case TSR_I64:
        return "long";
    case TSR_U64:
        return "ulong";
    case TSR_F32:
        return "float";
    default:
        return "double";
    }
}

/* One key is sorted, but its index is still to be written. */
static inline bool sort_is_done(const tsr_sort_problem *s)
{
    return s->n == 0 || (s->n == 1 && !s->argsort);
}

/* Whether an index is sorted along: values follow it. */
static inline bool sort_with_index(const tsr_sort_problem *s)
{
    return s->argsort || s->value_bytes;
}

/* Most of a value that goes with its key from place to place; a larger one follows an index. */
enum { SORT_VALUE_BYTES_ALONG = 8 };

/* Whether values may go with their keys from place to place, and no index is wanted. */
static inline bool sort_values_go_along(const tsr_sort_problem *s)
{
    return s->value_bytes && s->value_bytes <= SORT_VALUE_BYTES_ALONG && !s->argsort &&
           sort_rows(s) == 1;
}

/* Bytes of a key in a work-item's registers: cl/sort/sort_held.clh. */
static inline size_t sort_held_bytes(const tsr_sort_problem *s)
{
    return sort_with_index(s) || tsr_type_size(s->type) == 8 ? 8 : 4;
}

/* The caller's index, and the values.  Kernels of a call without them leave them alone. */
static inline void sort_step_result_index(command *out, const tsr_sort_problem *s)
{
    if (s->argsort)
        command_operand(out, SORT_INDEX);
    else
        command_no_buffer(out);
}

static inline void sort_step_values(command *out, const tsr_sort_problem *s)
{
    if (s->value_bytes)
        command_operand(out, SORT_VALUES);
    else
        command_no_buffer(out);
}

/* The index: the caller's, or for values alone one at the start of the workspace. */
static inline void sort_step_index(command *out, const tsr_sort_problem *s)
{
    if (!s->argsort && s->value_bytes)
        command_workspace(out);
    else
        sort_step_result_index(out, s);
}

/* The array and its index. */
static inline void sort_step_keys(command *out, const tsr_sort_problem *s)
{
    command_operand(out, 0);
    sort_step_index(out, s);
}

/* Where the index starts. */
static inline size_t sort_index_offset(const tsr_sort_problem *s)
{
    return s->argsort ? s->offset_index : 0;
}

/* Where key `start` of both is. */
static inline void sort_step_keys_from(command *out, const tsr_sort_problem *s, size_t start)
{
    command_u64(out, s->offset_keys + start);
    command_u64(out, sort_index_offset(s) + start);
}

/* The array, its index and where they start. */
static inline void sort_step_sequence(command *out, const tsr_sort_problem *s)
{
    sort_step_keys(out, s);
    sort_step_keys_from(out, s, 0);
}

/* Bytes of an element: a key, with its index where there is one. */
static inline size_t sort_element_bytes(const tsr_sort_problem *s)
{
    return tsr_type_size(s->type) + (sort_with_index(s) ? sizeof(int64_t) : 0);
}

/* Bytes of the operands for a key: its own, its index's and its value's. */
static inline size_t sort_entry_bytes(const tsr_sort_problem *s)
{
    return tsr_type_size(s->type) + (s->argsort ? sizeof(int64_t) : 0) + s->value_bytes;
}

/* A launch that reads and writes so many bytes for each of the first positions of each row. */
static inline void sort_step_moves(command *out, const tsr_sort_problem *s, size_t positions,
                                   size_t bytes)
{
    out->bytes = (double)sort_rows(s) * (double)positions * (double)bytes;
}

/* Where the copy of the values starts in the workspace, in values: behind the index. */
static inline size_t sort_copy_offset(const tsr_sort_problem *s)
{
    return s->argsort ? 0 : size_div_up(sort_keys(s) * sizeof(int64_t), s->value_bytes);
}

/* Bytes of the index, where it is not the caller's, and of the copy. */
static inline size_t sort_values_bytes(const tsr_sort_problem *s)
{
    return s->value_bytes && !sort_is_done(s)
               ? (sort_copy_offset(s) + sort_keys(s)) * s->value_bytes
               : 0;
}

/* Work-items needed where a block of `held * stride` positions takes `stride` of them.  The last
 * block has nothing to exchange unless it reaches beyond its first `stride` positions. */
static inline size_t sort_exchange_items(size_t n, size_t stride, size_t held)
{
    const size_t block = stride * held;

    return n / block * stride + (n % block > stride ? stride : 0);
}

/* ---- reasons ------------------------------------------------------------------------------- */

/* A kernel with a 32-bit index. */
static inline const char *sort_unsupported_positions(const tsr_sort_problem *s, plan *out)
{
    if (s->n <= SORT_POSITIONS_32)
        return NULL;
    return plan_unsupported(out, "it indexes in 32 bits: at most %zu keys, not %zu",
                            SORT_POSITIONS_32, s->n);
}

/* Fewer than 2^32 work-groups, as sort_row.clh numbers them. */
static inline const char *sort_unsupported_groups(const tsr_sort_problem *s, size_t group,
                                                  plan *out)
{
    const size_t most = UINT32_MAX / (s->n / group + 1);

    if (sort_rows(s) == 1 || sort_rows(s) <= most)
        return NULL;
    return plan_unsupported(
        out, "it numbers work-groups in 32 bits: at most %zu rows of %zu keys, not %zu", most, s->n,
        sort_rows(s));
}

/* A work-group and the local memory that it takes, of so much. */
static inline const char *sort_unsupported_room(const job *j, size_t group, size_t local,
                                                size_t local_limit, plan *out)
{
    const size_t limit = group_limit(j->device, 0);

    if (group > limit)
        return plan_unsupported(out, "it needs work-groups of %zu, and the device has at most %zu",
                                group, limit);
    return plan_unsupported_local(out, local, local_limit);
}

/* A kernel that sorts keys, or keys and their index, as integers of 64 bits. */
static inline bool sort_packs(const tsr_sort_problem *s)
{
    return !(sort_with_index(s) && tsr_type_size(s->type) == 8);
}

static inline const char *sort_unsupported_packed(const tsr_sort_problem *s)
{
    return sort_packs(s) ? NULL
                         : "it packs a key and its index in 64 bits, and the key alone has as many";
}

/* ---- commands ------------------------------------------------------------------------------ */

static inline void sort_define_keys(plan *out, const tsr_sort_problem *s)
{
    plan_define(out, "KEY=%s", sort_kernel_type(s->type));
    plan_define(out, "DESCENDING=%d", s->descending);
    plan_define(out, "WITH_INDEX=%d", sort_with_index(s));
    plan_define(out, "VALUE_BYTES=%zu", s->value_bytes);
    plan_define(out, "WITH_ROWS=%d", sort_rows(s) > 1);
}

/* Of kernels that hand keys on in a tile (cl/sort/sort_held_tile.clh), within sub-groups of `team`
 * work-items by `means`. */
static inline void sort_define_tile(plan *out, uint32_t team, const char *means)
{
    plan_define(out, "TILE_SHIFT_MAX=%d", SORT_TILE_SHIFT_MAX);
    plan_define(out, "TEAM=%u", team);
    plan_define(out, "TEAM_MEANS=%s", means);
}

/* The work-groups that one row takes, for each row: `items` in a row, in groups of `local`. */
static inline command *sort_launch(plan *out, const tsr_sort_problem *s, unsigned entry,
                                   size_t items, size_t local)
{
    return plan_launch_1d(out, entry, size_round_up(items, local) * sort_rows(s), local);
}

enum { SORT_VALUES_GROUP = 256 };

/* Work-items of a group that moves values. */
static inline size_t sort_values_group(const job *j)
{
    return group_fit(j->device, 0, SORT_VALUES_GROUP);
}

/* Copy the values, which the gather then overwrites. */
static inline void sort_keep_values(const job *j, unsigned entry, plan *out)
{
    const tsr_sort_problem *s = sort_of(j->problem);
    command *c = sort_launch(out, s, entry, s->n, sort_values_group(j));

    command_operand(c, 2);
    command_workspace(c);
    command_u64(c, s->offset_values);
    command_u64(c, sort_copy_offset(s));
    command_u64(c, s->n);
    command_u32(c, (uint32_t)sort_rows(s));
    sort_step_moves(c, s, s->n, 2 * s->value_bytes);
    c->traffic.requested = c->bytes;
}

/* What follows the sort of keys with their index, where there are values: entry `keep` and the
 * next. */
static inline void sort_move_values(const job *j, unsigned keep, plan *out)
{
    const tsr_sort_problem *s = sort_of(j->problem);
    command *c;

    if (!s->value_bytes || sort_is_done(s))
        return;
    sort_keep_values(j, keep, out);
    c = sort_launch(out, s, keep + 1, s->n, sort_values_group(j));
    command_operand(c, 2);
    command_workspace(c);
    sort_step_index(c, s);
    command_u64(c, s->offset_values);
    command_u64(c, sort_copy_offset(s));
    command_u64(c, s->argsort ? s->offset_index : 0);
    command_u64(c, s->n);
    command_u32(c, (uint32_t)sort_rows(s));
    sort_step_moves(c, s, s->n, 2 * s->value_bytes + sizeof(int64_t));
    c->traffic.requested = c->bytes;
}

/* Bytes of `tile` keys in local memory, and their indices where there are any. */
static inline size_t sort_pairs_bytes(const tsr_sort_problem *s, size_t tile)
{
    return size_round_up(tile * tsr_type_size(s->type), sizeof(int64_t)) +
           (sort_with_index(s) ? tile : 1) * sizeof(int64_t);
}

#endif
