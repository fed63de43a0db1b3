/**
 * Sorting in host memory through a pair of algorithms: sort() for keys, and where
 * the algorithms have it (`sorts_items`) stable_sort() for an argsort, on an array
 * of {key, position}.
 *
 * Building that array and taking it apart again belong to the time: there is no
 * other way to an argsort in the standard library that reads its keys in order.
 *
 * Rows and segments are sorted each by itself, in the way of the algorithms'
 * for_each_part(); sort() and stable_sort() also get the number of keys of all.
 */
#ifndef BENCH_HOST_SORT_HPP
#define BENCH_HOST_SORT_HPP

#include <cstdlib>
#include <cstring>
#include <functional>
#include <new>

#include "sort_peer.h"

namespace host_sort
{

template <class T> struct item {
    T key;
    int64_t position;
};

/* The parts of a sort on one thread. */
struct one_by_one {
    template <class Body> static void for_each_part(const peer_problem *p, Body body)
    {
        for (size_t i = 0; i < peer_sort_parts(p); i++)
            body(i);
    }
};

struct state {
    peer_host_sets sets;
    peer_rotation rotation;
    void *items; /* for an argsort: n of them */
    peer_call *call;
};

template <class Algorithms, class T, class Compare> int sort_keys(void *of, size_t set)
{
    state *s = static_cast<state *>(of);
    const peer_problem *p = &s->sets.problem;
    const size_t all = peer_sort_keys(p);
    T *keys = static_cast<T *>(peer_host_set(&s->sets, set, SORT_KEYS));

    try {
        Algorithms::for_each_part(p, [=](size_t part) {
            size_t begin, end;

            peer_sort_part(p, part, &begin, &end);
            Algorithms::sort(keys + begin, keys + end, all, Compare());
        });
    } catch (...) {
        return -1;
    }
    return 0;
}

/* One part, whose items have room at `items`. */
template <class Algorithms, class T, class Compare>
void sort_part_items(size_t count, size_t all, T *keys, int64_t *index, item<T> *items)
{
    for (size_t i = 0; i < count; i++)
        items[i] = item<T>{keys[i], static_cast<int64_t>(i)};
    Algorithms::stable_sort(items, items + count, all, [](const item<T> &a, const item<T> &b) {
        return Compare()(a.key, b.key);
    });
    for (size_t i = 0; i < count; i++) {
        keys[i] = items[i].key;
        index[i] = items[i].position;
    }
}

template <class Algorithms, class T, class Compare> int sort_items(void *of, size_t set)
{
    state *s = static_cast<state *>(of);
    const peer_problem *p = &s->sets.problem;
    const size_t all = peer_sort_keys(p);
    T *keys = static_cast<T *>(peer_host_set(&s->sets, set, SORT_KEYS));
    int64_t *index = static_cast<int64_t *>(peer_host_set(&s->sets, set, SORT_INDEX));
    item<T> *items = static_cast<item<T> *>(s->items);

    try {
        Algorithms::for_each_part(p, [=](size_t part) {
            size_t begin, end;

            peer_sort_part(p, part, &begin, &end);
            sort_part_items<Algorithms, T, Compare>(end - begin, all, keys + begin, index + begin,
                                                    items + begin);
        });
    } catch (...) {
        return -1;
    }
    return 0;
}

template <class Algorithms, class T> peer_call *choose_order(const peer_problem *p)
{
    if constexpr (Algorithms::sorts_items)
        if (sort_of(p)->argsort)
            return sort_of(p)->descending ? sort_items<Algorithms, T, std::greater<T>>
                                          : sort_items<Algorithms, T, std::less<T>>;
    return sort_of(p)->descending ? sort_keys<Algorithms, T, std::greater<T>>
                                  : sort_keys<Algorithms, T, std::less<T>>;
}

template <class Algorithms> peer_call *choose(const peer_problem *p)
{
    switch (p->type) {
    case TSR_F32:
        return choose_order<Algorithms, float>(p);
    case TSR_F64:
        return choose_order<Algorithms, double>(p);
    case TSR_I32:
        return choose_order<Algorithms, int32_t>(p);
    case TSR_U32:
        return choose_order<Algorithms, uint32_t>(p);
    case TSR_I64:
        return choose_order<Algorithms, int64_t>(p);
    default:
        return choose_order<Algorithms, uint64_t>(p);
    }
}

inline void close(void *of)
{
    state *s = static_cast<state *>(of);

    if (!s)
        return;
    peer_host_sets_close(&s->sets);
    std::free(s->items);
    delete s;
}

template <class Algorithms> void *open(const peer_problem *p, char *why, size_t why_size)
{
    state *s = new (std::nothrow) state();
    const size_t item_size = sizeof(item<double>); /* the largest */
    peer_problem held = *p;

    /* The positions are written whole; where parts lie is asked of the original. */
    if (!sort_of(p)->argsort)
        held.bytes[SORT_INDEX] = 0;
    held.bytes[SORT_VALUES] = held.bytes[SORT_SEGMENTS] = 0;
    held.operand[SORT_INDEX] = nullptr;
    if (!s) {
        peer_say(why, why_size, "no memory");
        return nullptr;
    }
    if (peer_host_sets_open(&s->sets, &held, why, why_size) != 0) {
        delete s;
        return nullptr;
    }
    if (sort_of(p)->argsort && !(s->items = std::calloc(peer_sort_keys(p), item_size))) {
        peer_say(why, why_size, "no memory for %zu keys with their positions", peer_sort_keys(p));
        close(s);
        return nullptr;
    }
    s->call = choose<Algorithms>(p);
    peer_rotation_start(&s->rotation, p->sets, 1);
    return s;
}

inline int run(void *of, size_t calls, double *wall_ns)
{
    state *s = static_cast<state *>(of);

    return peer_time(&s->rotation, calls, s->call, nullptr, s, wall_ns);
}

inline int restore(void *of)
{
    state *s = static_cast<state *>(of);

    for (size_t set = 0; set < s->rotation.sets - s->rotation.fresh; set++)
        peer_host_set_refill(&s->sets, set, SORT_KEYS);
    peer_rotation_start(&s->rotation, s->rotation.sets, 1);
    return 0;
}

inline int result(void *of, void *const out[])
{
    state *s = static_cast<state *>(of);
    const peer_problem *p = &s->sets.problem;

    for (size_t i : {SORT_KEYS, SORT_INDEX})
        if (p->bytes[i])
            std::memcpy(out[i], peer_host_set(&s->sets, 0, i), p->bytes[i]);
    return 0;
}

template <class Algorithms> const char *unsupported(const peer_problem *p)
{
    if (!Algorithms::sorts_items && sort_of(p)->argsort)
        return "it sorts keys alone";
    return peer_sort_unsupported(p, SORT_WIDE_TYPES);
}

template <class Algorithms> peer describe(const char *name, const char *version)
{
    return peer{name,    version, PEER_CPU, nullptr, unsupported<Algorithms>, open<Algorithms>, run,
                nullptr, restore, result,   close};
}

} // namespace host_sort

#endif
