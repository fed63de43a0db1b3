/* Histogram: bytes, counted without atomics in tables of bytes.
 *
 * Idea: the atomics of histogram_bytes.cl wait for each other in local memory.
 *     Here each work-item has a table of its own, whose 256 counts are bytes, so
 *     that a whole group's fit: a count is a load, an addition and a store.  Before
 *     any can pass 255, the group adds up the tables and clears them.  Four
 *     counts are a word, and the words of neighbours are neighbours, so that a
 *     warp meets in no bank whatever it counts: one value only costs no more.
 * Work split: vectors of sixteen bytes in turns, LOADS at once; the bytes before the
 *     first aligned vector and behind the last one by the first work-group.
 * Parameters: GROUP, a multiple of 64; ELEMENT, uchar or char, UNEVEN (histogram.clh).
 *     PER_UNIT only decides the number of groups on the host.
 * Launch: 1-D, work-groups of GROUP, each for less than 2^32 elements; histogram_clear
 *     before it.
 * Local memory: 256 bytes for each work-item.
 * Limits: elements of 8 bits; any number of bins.
 */
#include "histogram/histogram.clh"

#if GROUP % 64
#error "GROUP: a multiple of 64"
#endif

#define WORDS 64           /* of a table */
#define PARTS (GROUP / 64) /* of the tables, which work-items add up side by side */
#define LOADS 5            /* vectors */
#define TURNS 3            /* of so many loads, until the tables are added up */

/* Each counts 16 LOADS TURNS values, and two of those that are not in vectors. */
#if 16 * LOADS * TURNS + 2 > 255
#error "LOADS, TURNS: a byte counts up to 255"
#endif

static inline void count_byte(__local uchar *mine, uint value)
{
    mine[(value >> 2) * (4 * GROUP) + (value & 3)]++;
}

static inline void count_word(__local uchar *mine, uint word)
{
    count_byte(mine, word & 255);
    count_byte(mine, word >> 8 & 255);
    count_byte(mine, word >> 16 & 255);
    count_byte(mine, word >> 24);
}

/* Add one word of the tables of 64 work-items to the four counts of its values, and clear it. */
static inline void add_up(__local uint *tables, uint *counts)
{
    const uint item = (uint)get_local_id(0);
    __local uint *words = tables + item % WORDS * GROUP + item / WORDS * 64;
    uint even = 0, odd = 0;

    /* Counted before it is read: others' tables too. */
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < 64; k++) {
        const uint at = (k + item) % 64; /* neighbours in different banks */

        even += words[at] & 0x00ff00ff;
        odd += words[at] >> 8 & 0x00ff00ff;
        words[at] = 0;
    }
    counts[0] += even & 0xffff;
    counts[1] += odd & 0xffff;
    counts[2] += even >> 16;
    counts[3] += odd >> 16;
    /* Clear before it is counted in again. */
    barrier(CLK_LOCAL_MEM_FENCE);
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
histogram_item_bytes(__global const ELEMENT *restrict x, __global const VALUE *restrict edges,
                     volatile __global uint *restrict counts, const histogram_call call)
{
    __local uint tables[WORDS * GROUP];
    const uint item = (uint)get_local_id(0);
    __local uchar *mine = (__local uchar *)(tables + item);
    __global const uchar *bytes = (__global const uchar *)x + call.x;
    const ulong head = min((ulong)(-(size_t)bytes & 15), call.n);
    const ulong vectors = (call.n - head) / 16, tail = head + vectors * 16;
    const ulong step = get_global_size(0) * LOADS;
    __global const uint4 *aligned = (__global const uint4 *)(bytes + head);
    uint found[4] = {0, 0, 0, 0}, turns = 0;

    edges += call.edges;
    for (uint w = 0; w < WORDS; w++)
        tables[w * GROUP + item] = 0;
    if (get_group_id(0) == 0) {
        if (item < head)
            count_byte(mine, bytes[item]);
        if (tail + item < call.n)
            count_byte(mine, bytes[tail + item]);
    }
    for (ulong first = get_group_id(0) * (ulong)(GROUP * LOADS); first < vectors; first += step) {
        uint4 v[LOADS];

#pragma unroll
        for (uint l = 0; l < LOADS; l++)
            if (first + l * GROUP + item < vectors)
                v[l] = aligned[first + l * GROUP + item];
#pragma unroll
        for (uint l = 0; l < LOADS; l++) {
            if (first + l * GROUP + item < vectors) {
                count_word(mine, v[l].x);
                count_word(mine, v[l].y);
                count_word(mine, v[l].z);
                count_word(mine, v[l].w);
            }
        }
        if (++turns == TURNS) {
            add_up(tables, found);
            turns = 0;
        }
    }
    add_up(tables, found);
#pragma unroll
    for (uint k = 0; k < 4; k++)
        tables[item / WORDS * 256 + item % WORDS * 4 + k] = found[k];
    /* Of all parts, before they are put together. */
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint value = item; value < 256; value += GROUP) {
        const VALUE v = (VALUE)(ELEMENT)value;
        uint times = 0;

        for (uint part = 0; part < PARTS; part++)
            times += tables[part * 256 + value];
        if (times && is_inside(edges, call.bins, v))
            add_to_count(counts, call.counts + bin_of(edges, call.bins, v), times);
    }
}
