/* Sort of 8-bit keys alone, one sequence or rows: how many have each value says it all.
 *
 * Idea: counting sort.  Keys of one value are alike, so that none has to be moved: they are
 *     counted, and written again, value after value.
 *
 *         keys    3 1 0 3 3 1        counts of 0, 1, 2, 3    1 2 0 3
 *         ends    1 3 3 6            keys                    0 1 1 3 3 3
 *
 *     Each group adds its counts to those of all by atomics, one a value, and the last
 *     group makes ends of them.  (Knuth, "The Art of Computer Programming", volume 3,
 *     5.2, "distribution counting".)
 *
 *     Of rows each group has one, and does both: nothing has to be added up.
 * Work split: counting and writing, vectors of sixteen keys in turns; the keys before
 *     the first aligned vector and behind the last one by the first work-group.
 * Parameters: ROWS, 1 for the kernel of rows, 0 for those of a sequence; COPIES, tables of
 *     counts in local memory, so that neighbours with one value do not wait for each other;
 *     LOADS, vectors that a work-item has in flight; GROUP; LAST_ADDS (last_group.clh), of a
 *     sequence; what sort_key.clh asks for.  PER_UNIT only decides the number of groups on
 *     the host.
 * Launch: 1-D, work-groups of GROUP, first sort_value_counts_count, then
 *     sort_value_counts_fill; of rows sort_value_counts_rows, a group for each.
 * Workspace: of a sequence 256 ends.  Group counters: one, and one for each value.
 * Local memory: 256 * COPIES + GROUP + 1 words; 256 words.  Of rows 256 * (COPIES + 1) + GROUP.
 * Limits: keys of 8 bits alone, fewer than 2^31 in a sequence or row.
 */
#ifndef ROWS
#error "ROWS: 1 for the kernel of rows, 0 for those of a sequence"
#endif
#include "common/count_bytes.clh"
#include "common/group_scan.clh"
#if !ROWS
#include "common/last_group.clh"
#endif
#include "sort/sort_key.clh"

#if KEY_BITS != 8 || !(ROWS || LAST_ADDS)
#error "keys of 8 bits, and of a sequence a last work-group"
#endif
#if !defined(COPIES) || !defined(LOADS) || !defined(GROUP)
#error "COPIES, LOADS, GROUP: see above"
#endif

#define VALUES 256u
#define WIDE   16u /* keys of a vector */

/* The scalars of a launch.  The host's value_call has the same members. */
typedef struct value_call {
    ulong offset_keys, n;
} value_call;

/* Keys before the first aligned vector. */
static inline uint head_of(__global const word *keys, uint n)
{
    return min((uint)(-(size_t)keys & (WIDE - 1)), n);
}

/* Count vectors `first`, first + stride, ... of the keys; and those at both ends, where `ends` says
 * so. */
static inline void count_keys(__global const word *keys, uint n, uint first, uint stride, bool ends,
                              volatile __local uint *mine)
{
    const uint item = get_local_id(0), head = head_of(keys, n), vectors = (n - head) / WIDE;
    __global const uint4 *aligned = (__global const uint4 *)(keys + head);

    for (uint i = first; i < vectors; i += LOADS * stride) {
        uint4 v[LOADS];

#pragma unroll
        for (uint l = 0; l < LOADS; l++)
            if (i + l * stride < vectors)
                v[l] = aligned[i + l * stride];
#pragma unroll
        for (uint l = 0; l < LOADS; l++) {
            if (i + l * stride >= vectors)
                break;
            count_word(mine, v[l].x);
            count_word(mine, v[l].y);
            count_word(mine, v[l].z);
            count_word(mine, v[l].w);
        }
    }
    if (ends) {
        for (uint i = item; i < head; i += GROUP)
            atomic_inc(&mine[keys[i] * COPIES]);
        for (uint i = head + vectors * WIDE + item; i < n; i += GROUP)
            atomic_inc(&mine[keys[i] * COPIES]);
    }
}

/* What all copies have of a value. */
static inline uint count_of(volatile __local const uint *table, uint value)
{
    uint sum = 0;

    /* Neighbours begin with different copies: in different banks. */
    for (uint c = 0; c < COPIES; c++)
        sum += table[value * COPIES + (get_local_id(0) + c) % COPIES];
    return sum;
}

/* The place in the order of the key that position i of the result has. */
static inline uint order_at(__local const uint *ends, uint i)
{
    uint order = 0;

#pragma unroll
    for (uint half_of = VALUES / 2; half_of > 0; half_of /= 2)
        order += ends[order + half_of - 1] <= i ? half_of : 0;
    return order;
}

/* Write vectors `first`, first + stride, ... of the result, and both ends where it is so said. */
static inline void fill_keys(__global word *keys, uint n, uint first, uint stride, bool at_ends,
                             __local const uint *ends)
{
    const uint item = get_local_id(0), head = head_of(keys, n), vectors = (n - head) / WIDE;
    __global uint4 *aligned = (__global uint4 *)(keys + head);

    for (uint v = first; v < vectors; v += stride) {
        const uint i = head + v * WIDE;
        uint order = order_at(ends, i);

        if (ends[order] - i >= WIDE) {
            aligned[v] = (uint4)(from_order((word)order) * 0x01010101u);
            continue;
        }
        for (uint k = 0; k < WIDE; k++) {
            while (ends[order] <= i + k)
                order++;
            keys[i + k] = from_order((word)order);
        }
    }
    if (at_ends) {
        for (uint i = item; i < head; i += GROUP)
            keys[i] = from_order((word)order_at(ends, i));
        for (uint i = head + vectors * WIDE + item; i < n; i += GROUP)
            keys[i] = from_order((word)order_at(ends, i));
    }
}

/* Of the places of a value that each work-item has, GROUP of them at a time or fewer. */
#define EACH (GROUP < VALUES ? VALUES / GROUP : 1)

#if ROWS

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
sort_value_counts_rows(__global word *keys, const value_call call)
{
    __local uint table[VALUES * COPIES];
    __local uint scratch[GROUP], ends[VALUES];
    const uint item = get_local_id(0), n = (uint)call.n;
    uint own[EACH], sum = 0, before;

    keys += call.offset_keys + get_group_id(0) * call.n;
    for (uint i = item; i < VALUES * COPIES; i += GROUP)
        table[i] = 0;
    /* Cleared before they count. */
    barrier(CLK_LOCAL_MEM_FENCE);
    count_keys(keys, n, item, GROUP, true, table + item % COPIES);
    /* Complete before they are added up. */
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < EACH; k++) {
        const uint place = item * EACH + k;

        own[k] = place < VALUES ? count_of(table, from_order((word)place)) : 0;
        sum += own[k];
    }
    before = group_scan(scratch, sum);
    for (uint k = 0; k < EACH && item * EACH < VALUES; k++) {
        before += own[k];
        ends[item * EACH + k] = before;
    }
    /* There before they are searched; and all keys are read before they are written over. */
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    fill_keys(keys, n, item, GROUP, true, ends);
}

#else

/* ends[place] := how many keys stand at up to this place of the order; all counters are 0 again. */
static inline void leave_ends(__global group_counter *sums, __global uint *ends,
                              __local uint *scratch)
{
    const uint item = get_local_id(0);
    uint own[EACH], sum = 0, before;

    for (uint k = 0; k < EACH; k++) {
        const uint place = item * EACH + k;

        own[k] = place < VALUES ? take_counter(sums + from_order((word)place)) : 0;
        sum += own[k];
    }
    before = group_scan(scratch, sum);
    for (uint k = 0; k < EACH && item * EACH < VALUES; k++) {
        before += own[k];
        ends[item * EACH + k] = before;
    }
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
sort_value_counts_count(__global const word *keys, __global uint *ends,
                        __global group_counter *done, const value_call call)
{
    __local uint table[VALUES * COPIES];
    __local uint scratch[GROUP];
    __local uint last;
    const uint item = get_local_id(0);

    for (uint i = item; i < VALUES * COPIES; i += GROUP)
        table[i] = 0;
    /* Cleared before they count. */
    barrier(CLK_LOCAL_MEM_FENCE);
    count_keys(keys + call.offset_keys, (uint)call.n, get_global_id(0), get_global_size(0),
               get_group_id(0) == 0, table + item % COPIES);
    /* Complete before they are added up. */
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint value = item; value < VALUES; value += GROUP) {
        const uint sum = count_of(table, value);

        if (sum)
            add_to_counter(done + 1 + value, sum);
    }
    if (is_last_group(done, get_num_groups(0), &last))
        leave_ends(done + 1, ends, scratch);
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
sort_value_counts_fill(__global word *keys, __global const uint *ends_of_all, const value_call call)
{
    __local uint ends[VALUES];

    for (uint i = get_local_id(0); i < VALUES; i += GROUP)
        ends[i] = ends_of_all[i];
    /* There before they are searched. */
    barrier(CLK_LOCAL_MEM_FENCE);
    fill_keys(keys + call.offset_keys, (uint)call.n, get_global_id(0), get_global_size(0),
              get_group_id(0) == 0, ends);
}

#endif
