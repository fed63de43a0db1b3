/* The parts of a sort of segments, where their offsets have them. */
#include <tessera/segsort.h>

#include "sort/sort_peer.h"

const peer_list *peer_sort_module(const peer *peers, size_t count)
{
    static peer_list list;

    list = (peer_list){PEER_ABI, "segsort", sizeof(tsr_segsort_problem), peers, count, NULL, NULL};
    return &list;
}

size_t peer_sort_parts(const peer_problem *p)
{
    return ((const tsr_segsort_problem *)p->problem)->segments;
}

void peer_sort_part(const peer_problem *p, size_t i, size_t *begin, size_t *end)
{
    const uint64_t *offsets = (const uint64_t *)p->operand[SORT_SEGMENTS];

    *begin = (size_t)offsets[i];
    *end = (size_t)offsets[i + 1];
}
