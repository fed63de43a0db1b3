/* Experiment: part of a warp waits for itself alone.
 *
 * Idea      a barrier waits for the whole group.  NVIDIA's warps can wait for some of their lanes,
 *           which a mask names: teams that work on different things do not hold each other up
 * Work      values go round in local memory, within teams of TEAM neighbours, `rounds` times; a
 *           value moves by one place a round, and grows by 1
 * Params    TEAM, lanes of a team, a power of 2 up to 32; MASKED: 1 the mask of the team, 0 a
 *           barrier of the group; GROUP
 * Launch    1-D, groups of GROUP, a multiple of 32
 * Local     GROUP words
 */
#ifndef TEAM
#error "TEAM: lanes that wait for each other"
#endif
#ifndef MASKED
#error "MASKED: 1 a mask of the warp, 0 a barrier of the group"
#endif
#ifndef GROUP
#error "GROUP: work-items of a group"
#endif

#if MASKED
/* What these lanes wrote before is there for their reads after. */
static inline void wait_for_team(uint mask)
{
    __asm__ volatile("bar.warp.sync %0;" ::"r"(mask) : "memory");
}
#define WAIT() wait_for_team(mask)
#else
#define WAIT() barrier(CLK_LOCAL_MEM_FENCE)
#endif

__kernel void lab_masks(__global uint *out, uint rounds)
{
    __local uint place[GROUP];
    const uint item = get_local_id(0), first = item / TEAM * TEAM;
#if MASKED
    const uint mask = (uint)(((ulong)1 << TEAM) - 1) << first % 32;
#endif
    uint value = item;

    for (uint i = 0; i < rounds; i++) {
        place[item] = value;
        /* Written before the neighbour reads it. */
        WAIT();
        value = place[first + (item + 1) % TEAM] + 1;
        /* Read before it is overwritten. */
        WAIT();
    }
    out[get_global_id(0)] = value;
}
