/* Sort of 8-bit keys alone: how many have each value says it all.
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
 * Work split: counting and writing, vectors of sixteen keys in turns; the keys before
 *     the first aligned vector and behind the last one by the first work-group.
 * Parameters: COPIES, tables of counts in local memory, so that neighbours with one value
 *     do not wait for each other; LOADS, vectors that a work-item has in flight; GROUP;
 *     LAST_ADDS (last_group.clh); what sort_key.clh asks for.
 *     PER_UNIT only decides the number of groups on the host.
 * Launch: 1-D, work-groups of GROUP, first sort_value_counts_count, then
 *     sort_value_counts_fill.
 * Workspace: 256 ends.  Group counters: one, and one for each value.
 * Local memory: 256 * COPIES + GROUP + 1 words; 256 words.
 * Limits: keys of 8 bits alone, fewer than 2^31, one sequence.
 */
#include "common/count_bytes.clh"
#include "common/group_scan.clh"
#include "common/last_group.clh"
#include "sort/sort_key.clh"

#if KEY_BITS != 8 || !LAST_ADDS
#error "keys of 8 bits, and a last work-group"
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

/* ends[place] := how many keys stand at up to this place of the order; all counters are 0 again. */
static inline void leave_ends(__global group_counter *sums, __global uint *ends,
                              __local uint *scratch)
{
    const uint item = get_local_id(0), each = GROUP < VALUES ? VALUES / GROUP : 1;
    uint own[GROUP < VALUES ? VALUES / GROUP : 1], sum = 0, before;

    for (uint k = 0; k < each; k++) {
        const uint place = item * each + k;

        own[k] = place < VALUES ? take_counter(sums + from_order((word)place)) : 0;
        sum += own[k];
    }
    before = group_scan(scratch, sum);
    for (uint k = 0; k < each && item * each < VALUES; k++) {
        before += own[k];
        ends[item * each + k] = before;
    }
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
sort_value_counts_count(__global const word *keys, __global uint *ends,
                        __global group_counter *done, const value_call call)
{
    __local uint table[VALUES * COPIES];
    __local uint scratch[GROUP];
    __local uint last;
    const uint item = get_local_id(0), n = (uint)call.n, stride = get_global_size(0);
    volatile __local uint *mine = table + item % COPIES;
    uint head, vectors;
    __global const uint4 *aligned;

    keys += call.offset_keys;
    head = head_of(keys, n);
    vectors = (n - head) / WIDE;
    aligned = (__global const uint4 *)(keys + head);
    for (uint i = item; i < VALUES * COPIES; i += GROUP)
        table[i] = 0;
    /* Cleared before they count. */
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_global_id(0); i < vectors; i += LOADS * stride) {
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
    if (get_group_id(0) == 0) {
        for (uint i = item; i < head; i += GROUP)
            atomic_inc(&mine[keys[i] * COPIES]);
        for (uint i = head + vectors * WIDE + item; i < n; i += GROUP)
            atomic_inc(&mine[keys[i] * COPIES]);
    }
    /* Complete before they are added up. */
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint value = item; value < VALUES; value += GROUP) {
        uint sum = 0;

        /* Neighbours begin with different copies: in different banks. */
        for (uint c = 0; c < COPIES; c++)
            sum += table[value * COPIES + (item + c) % COPIES];
        if (sum)
            add_to_counter(done + 1 + value, sum);
    }
    if (is_last_group(done, get_num_groups(0), &last))
        leave_ends(done + 1, ends, scratch);
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

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
sort_value_counts_fill(__global word *keys, __global const uint *ends_of_all, const value_call call)
{
    __local uint ends[VALUES];
    const uint item = get_local_id(0), n = (uint)call.n, stride = get_global_size(0);
    uint head, vectors;
    __global uint4 *aligned;

    keys += call.offset_keys;
    head = head_of(keys, n);
    vectors = (n - head) / WIDE;
    aligned = (__global uint4 *)(keys + head);
    for (uint i = item; i < VALUES; i += GROUP)
        ends[i] = ends_of_all[i];
    /* There before they are searched. */
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint v = get_global_id(0); v < vectors; v += stride) {
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
    if (get_group_id(0) == 0) {
        for (uint i = item; i < head; i += GROUP)
            keys[i] = from_order((word)order_at(ends, i));
        for (uint i = head + vectors * WIDE + item; i < n; i += GROUP)
            keys[i] = from_order((word)order_at(ends, i));
    }
}
