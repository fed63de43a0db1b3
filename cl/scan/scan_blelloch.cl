/* Scan: a tree in local memory, up and down, with as many additions as a loop takes, twice.
 *
 * Idea: on the way up each node of a tree over the tile becomes the sum of the
 *     leaves below it; on the way down each hands what is before it to its left
 *     child, and that with the left child's sum to its right one: 2 (n - 1)
 *     additions where Hillis and Steele's rounds take n log2(n).  A tile's total
 *     is an element of the next level, which is scanned in the same way; then each
 *     tile adds what is before it.
 *     Node i of a level is at (2 i + 1) d - 1: at distances d of 32 and more, all
 *     work-items of a warp read one bank of local memory, one after another.  With
 *     PADDED a word is left out after each 32, and they read different ones.
 * Work split: a work-group for a tile of 2 GROUP elements, two for each work-item.
 * Parameters: GROUP, work-items in a work-group, a power of two; PADDED, 0 or 1.
 * Launch: 1-D, blelloch_tiles of each level, from the elements up to a level of one
 *     tile; then blelloch_add of each, from the one below that down.
 * Local memory: 2 GROUP floats, with PADDED a 32nd more.
 * Limits: float32 sums of one line.
 *
 * Blelloch, "Prefix sums and their applications", 1990; Harris, Sengupta and Owens, "Parallel
 * Prefix Sum (Scan) with CUDA", GPU Gems 3, 2007.
 */
#if !defined(GROUP) || !defined(PADDED)
#error "GROUP: work-items in a work-group, a power of two; PADDED: 0 or 1"
#endif

#define TILE     (2 * GROUP)
#define PLACE(i) (PADDED ? (i) + (i) / 32 : (i))

/* A call, as one argument; the host's level_call has the same members. */
typedef struct level_call {
    ulong n, from, to, totals; /* elements; indexes of the first ones of what is read, of what is
                                  written, and of the next level */
    ulong exclusive;           /* levels above the elements always are */
} level_call;

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
blelloch_tiles(__global const float *x, __global float *y, __global float *totals,
               const level_call call)
{
    __local float node[PLACE(TILE - 1) + 1];
    const uint item = get_local_id(0);
    const ulong start = get_group_id(0) * (ulong)TILE;
    float own[2];
    uint d;

    for (uint k = 0; k < 2; k++) {
        const ulong i = start + k * GROUP + item;

        own[k] = i < call.n ? x[call.from + i] : 0;
        node[PLACE(k * GROUP + item)] = own[k];
    }
    for (d = 1; d < TILE; d *= 2) {
        /* The children were written by others in the round before. */
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < GROUP / d) {
            const uint left = (2 * item + 1) * d - 1;

            node[PLACE(left + d)] += node[PLACE(left)];
        }
    }
    /* The root is there. */
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0) {
        totals[call.totals + get_group_id(0)] = node[PLACE(TILE - 1)];
        node[PLACE(TILE - 1)] = 0;
    }
    for (d = GROUP; d > 0; d /= 2) {
        /* The parents were written by others in the round before. */
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < GROUP / d) {
            const uint left = (2 * item + 1) * d - 1;
            const float sum = node[PLACE(left)];

            node[PLACE(left)] = node[PLACE(left + d)];
            node[PLACE(left + d)] += sum;
        }
    }
    /* The leaves are there. */
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < 2; k++) {
        const ulong i = start + k * GROUP + item;
        const float before = node[PLACE(k * GROUP + item)];

        if (i < call.n)
            y[call.to + i] = call.exclusive ? before : before + own[k];
    }
}

/* Add what is before each tile to its elements. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
blelloch_add(__global float *y, __global const float *before, const level_call call)
{
    const ulong start = get_group_id(0) * (ulong)TILE;

    for (uint k = 0; k < 2; k++) {
        const ulong i = start + k * GROUP + get_local_id(0);

        if (i < call.n)
            y[call.to + i] += before[call.totals + get_group_id(0)];
    }
}
