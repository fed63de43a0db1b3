/* Experiment: work-groups that read each other's local memory.
 *
 * Idea      groups of a cluster run at the same time on neighbouring compute units, so that one can
 *           reach another's local memory, and all of them can meet at a barrier (compute capability
 *           9.0).  The way there is longer than the one to a group's own
 * Work      a ring in local memory, each word of which says where the next one is: one work-item
 *           walks `steps` words of it and writes where it then is.  In a cluster the ring is the own
 *           group's or another's
 * Params    WORDS of the ring; SIZE, groups of a cluster, of lab_clusters_member alone
 * Launch    lab_clusters_alone: 1-D, one group.  lab_clusters_member: one cluster, by the device (the
 *           driver launches no clusters from the host), with one structure as its parameter
 * Local     WORDS words
 */
#ifndef WORDS
#error "WORDS: of the ring"
#endif

/* The word behind word i: all are reached, since 33 and WORDS have no common factor. */
static inline uint next(uint i)
{
    return (i + 33) % WORDS;
}

__kernel void lab_clusters_alone(__global uint *out, uint steps)
{
    __local uint ring[WORDS];
    uint at = 0;

    for (uint i = get_local_id(0); i < WORDS; i += get_local_size(0))
        ring[i] = next(i);
    /* Filled before it is walked. */
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        for (uint i = 0; i < steps; i++)
            at = ring[at];
        *out = at;
    }
}

/* The address of a buffer, which the host does not know, for what lab_clusters_member takes. */
__kernel void lab_clusters_address(__global ulong *task, __global uint *out)
{
    *task = (ulong)out;
}

#ifdef SIZE
/* As device-side enqueue hands them over: what describes the parameters, and they. */
typedef struct task {
    ulong described[3];
    ulong out;      /* address of four words: groups, cycles, bytes from the start, cycles */
    ulong distance; /* to the group whose ring is walked: 0 the own one */
    ulong steps;
    ulong barriers;
    ulong unused;
} task;

static inline uint address_of(__local uint *p)
{
    uint address;

    __asm__("cvt.u32.u64 %0, %1;" : "=r"(address) : "l"(p));
    return address;
}

/* The address by which all groups of the cluster know what this one knows by `address` in the
 * group of that rank. */
static inline uint address_in(uint address, uint rank)
{
    uint mapped;

    __asm__("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(address), "r"(rank));
    return mapped;
}

static inline void cluster_barrier(void)
{
    __asm__ volatile("barrier.cluster.arrive.release.aligned;\n\t"
                     "barrier.cluster.wait.acquire.aligned;" ::
                         : "memory");
}

static inline uint cycles(void)
{
    uint now;

    __asm__ volatile("mov.u32 %0, %%clock;" : "=r"(now)::"memory");
    return now;
}

__kernel __attribute__((reqd_work_group_size(32, 1, 1))) void lab_clusters_member(task t)
{
    __local uint ring[WORDS];
    __global uint *out = (__global uint *)t.out;
    uint rank, size, mine, start, at, began;

    __asm__("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    __asm__("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
    mine = address_in(address_of(ring), rank);
    for (uint i = get_local_id(0); i < WORDS; i += get_local_size(0))
        ring[i] = mine + sizeof(uint) * next(i);
    /* Filled everywhere before anyone walks. */
    cluster_barrier();
    if (rank == 0 && get_local_id(0) == 0) {
        at = start = address_in(address_of(ring), (uint)t.distance % size);
        began = cycles();
        for (uint i = 0; i < t.steps; i++)
            __asm__ volatile("ld.shared::cluster.u32 %0, [%0];" : "+r"(at)::"memory");
        out[1] = cycles() - began;
        out[0] = size;
        out[2] = at - start;
    }
    /* Nobody ends while its memory is walked. */
    cluster_barrier();
    began = cycles();
    for (uint i = 0; i < t.barriers; i++)
        cluster_barrier();
    if (rank == 0 && get_local_id(0) == 0)
        out[3] = cycles() - began;
}
#endif
