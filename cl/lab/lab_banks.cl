/* Experiment: bank conflicts of local memory.
 *
 * Idea      local memory has 32 banks, one word wide each: word i is in bank i % 32.  Work-items of a
 *           warp that want different words of one bank are served one after another; those that want
 *           the same word are served together.  A tile has 32 rows of 32 words, and the work-items
 *           read words STRIDE apart: 1 is a row, 32 is a column, 0 is one word for all
 * Work      an item reads READS words a round, each from another row on; it adds them up
 * Params    STRIDE; READS; LAYOUT, where word i of the tile lies: 0 at i; 1 (padded) a word is left
 *           out behind each row, so that a column runs through all banks; 2 (XOR) its column is
 *           exclusive-ored with its row, which does the same without more memory
 * Launch    1-D, groups of a multiple of 32
 * Local     two copies of the tile, of 33 rows each, in turn, so that no read can be saved: `other` is
 *           where the second begins, COPY, which a compiler does not know
 */
#ifndef STRIDE
#error "STRIDE: words from one work-item's to its neighbour's"
#endif
#ifndef READS
#error "READS: words of a work-item in a round"
#endif
#ifndef LAYOUT
#error "LAYOUT: 0 plain, 1 padded, 2 XOR"
#endif

#define TILE 1024
#define COPY (TILE + 32)

static inline uint place_of(uint i)
{
    const uint row = i / 32, column = i % 32;

#if LAYOUT == 0
    return row * 32 + column;
#elif LAYOUT == 1
    return row * 33 + column;
#else
    return row * 32 + (column ^ row);
#endif
}

__kernel void lab_banks(__global uint *out, uint rounds, uint other)
{
    __local uint tile[2 * COPY];
    const uint lane = get_local_id(0) % 32;
    uint at[READS], sum = 0, copy = 0;

    for (uint i = get_local_id(0); i < TILE; i += get_local_size(0)) {
        tile[place_of(i)] = i * 2654435761u;
        tile[COPY + place_of(i)] = i * 2654435761u + 1;
    }
#pragma unroll
    for (uint r = 0; r < READS; r++)
        at[r] = place_of((lane * STRIDE + r * 32) % TILE);
    /* Filled before read: below, everyone reads what others wrote. */
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll 1
    for (uint i = 0; i < rounds; i++) {
#pragma unroll
        for (uint r = 0; r < READS; r++)
            sum += tile[copy + at[r]];
        copy = other - copy;
    }
    out[get_global_id(0)] = sum;
}
