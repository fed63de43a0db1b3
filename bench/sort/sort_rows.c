/* The parts of a sort: rows of one length. */
#include "sort_peer.h"

const peer_list *peer_sort_module(const peer *peers, size_t count)
{
    static peer_list list;

    list = (peer_list){PEER_ABI, "sort", sizeof(tsr_sort_problem), peers, count, NULL, NULL};
    return &list;
}

size_t peer_sort_parts(const peer_problem *p)
{
    return sort_of(p)->rows ? sort_of(p)->rows : 1;
}

void peer_sort_part(const peer_problem *p, size_t i, size_t *begin, size_t *end)
{
    *begin = i * sort_of(p)->n;
    *end = *begin + sort_of(p)->n;
}
