/**
 * Boost.Compute on the row's OpenCL device: sort() for keys, and
 * stable_sort_by_key() for an argsort.  On a GPU these are radix sorts, on a CPU
 * merge sorts.
 */
#include <new>

#include <boost/compute/algorithm/sort.hpp>
#include <boost/compute/algorithm/stable_sort_by_key.hpp>
#include <boost/compute/command_queue.hpp>
#include <boost/compute/functional/operator.hpp>
#include <boost/compute/iterator/buffer_iterator.hpp>
#include <boost/version.hpp>

#include <cstdio>
#include <cstdlib>

#include "peer_cl_sets.h"
#include "sort_peer.h"

namespace compute = boost::compute;

namespace
{

struct state {
    peer_cl_sets sets;
    peer_rotation rotation;
    int64_t *positions; /* what the index operand starts as */
    compute::command_queue queue;
    peer_call *call;
};

template <class T, class Compare> int sort_keys(state *s, size_t set)
{
    const size_t n = sort_of(&s->sets.problem)->n;
    const compute::buffer keys(peer_cl_set(&s->sets, set, SORT_KEYS));

    compute::sort(compute::make_buffer_iterator<T>(keys, 0),
                  compute::make_buffer_iterator<T>(keys, n), Compare(), s->queue);
    return 0;
}

template <class T, class Compare> int sort_by_key(state *s, size_t set)
{
    const size_t n = sort_of(&s->sets.problem)->n;
    const compute::buffer keys(peer_cl_set(&s->sets, set, SORT_KEYS));
    const compute::buffer index(peer_cl_set(&s->sets, set, SORT_INDEX));

    compute::stable_sort_by_key(
        compute::make_buffer_iterator<T>(keys, 0), compute::make_buffer_iterator<T>(keys, n),
        compute::make_buffer_iterator<compute::long_>(index, 0), Compare(), s->queue);
    return 0;
}

/* No exception crosses the C interface: its OpenCL error is the call's. */
template <int (*Sort)(state *, size_t)> int guarded(void *of, size_t set)
{
    try {
        return Sort(static_cast<state *>(of), set);
    } catch (const compute::opencl_error &e) {
        return e.error_code();
    } catch (...) {
        return -1;
    }
}

template <class T> peer_call *choose_order(const peer_problem *p)
{
    if (sort_of(p)->argsort)
        return sort_of(p)->descending ? guarded<sort_by_key<T, compute::greater<T>>>
                                      : guarded<sort_by_key<T, compute::less<T>>>;
    return sort_of(p)->descending ? guarded<sort_keys<T, compute::greater<T>>>
                                  : guarded<sort_keys<T, compute::less<T>>>;
}

peer_call *choose(const peer_problem *p)
{
    switch (p->type) {
    case TSR_F32:
        return choose_order<compute::float_>(p);
    case TSR_F64:
        return choose_order<compute::double_>(p);
    case TSR_I32:
        return choose_order<compute::int_>(p);
    case TSR_U32:
        return choose_order<compute::uint_>(p);
    case TSR_I64:
        return choose_order<compute::long_>(p);
    default:
        return choose_order<compute::ulong_>(p);
    }
}

int boost_wait(void *of)
{
    return clFinish(static_cast<state *>(of)->sets.queue);
}

void boost_close(void *of)
{
    state *s = static_cast<state *>(of);

    if (!s)
        return;
    peer_cl_sets_close(&s->sets);
    std::free(s->positions);
    delete s;
}

int boost_restore(void *of)
{
    state *s = static_cast<state *>(of);
    const size_t used = s->rotation.sets - s->rotation.fresh;
    cl_int rc = CL_SUCCESS;

    for (size_t set = 0; set < used && rc == CL_SUCCESS; set++) {
        rc = peer_cl_set_refill(&s->sets, set, SORT_KEYS);
        if (rc == CL_SUCCESS)
            rc = peer_cl_set_refill(&s->sets, set, SORT_INDEX);
    }
    if (rc == CL_SUCCESS)
        rc = clFinish(s->sets.queue);
    if (rc == CL_SUCCESS)
        peer_rotation_start(&s->rotation, s->rotation.sets, 1);
    return rc;
}

/* Fill a new state; false with *why where that fails. */
bool prepare(state *s, const peer_problem *p, char *why, size_t why_size)
{
    peer_problem held;
    double unused;
    int rc;

    if (peer_with_positions(p, &held, &s->positions) != 0) {
        peer_say(why, why_size, "no memory for %zu positions", peer_sort_keys(p));
        return false;
    }
    if (peer_cl_sets_open(&s->sets, &held, why, why_size) != 0)
        return false;
    s->queue = compute::command_queue(static_cast<cl_command_queue>(p->cl_queue));
    s->call = choose(p);
    peer_rotation_start(&s->rotation, p->sets, 1);
    /* The first call compiles its kernels. */
    rc = peer_time(&s->rotation, 1, s->call, boost_wait, s, &unused);
    if (rc != 0) {
        peer_say(why, why_size, "its first call failed with OpenCL error %d", rc);
        return false;
    }
    rc = boost_restore(s);
    if (rc != 0) {
        peer_say(why, why_size, "restoring its keys failed with OpenCL error %d", rc);
        return false;
    }
    return true;
}

void *boost_open(const peer_problem *p, char *why, size_t why_size)
{
    state *s = new (std::nothrow) state();

    if (!s) {
        peer_say(why, why_size, "no memory");
        return nullptr;
    }
    try {
        if (prepare(s, p, why, why_size))
            return s;
    } catch (const std::exception &e) {
        peer_say(why, why_size, "%s", e.what());
    }
    boost_close(s);
    return nullptr;
}

int boost_run(void *of, size_t calls, double *wall_ns)
{
    state *s = static_cast<state *>(of);

    return peer_time(&s->rotation, calls, s->call, boost_wait, s, wall_ns);
}

int boost_result(void *of, void *const out[])
{
    state *s = static_cast<state *>(of);
    cl_int rc = peer_cl_set_read(&s->sets, 0, SORT_KEYS, out[SORT_KEYS]);

    if (rc == CL_SUCCESS && sort_of(&s->sets.problem)->argsort)
        rc = peer_cl_set_read(&s->sets, 0, SORT_INDEX, out[SORT_INDEX]);
    return rc;
}

} // namespace

extern "C" PEER_EXPORT const peer_list *peer_module(void)
{
    static char version[64];
    static const peer the_peer = {
        "Boost.Compute", version,   PEER_OPENCL, nullptr,       peer_sequence_unsupported,
        boost_open,      boost_run, nullptr,     boost_restore, boost_result,
        boost_close};

    /* Headers only: the library that was compiled is the one that runs. */
    std::snprintf(version, sizeof(version), "%d.%d.%d", BOOST_VERSION / 100000,
                  BOOST_VERSION / 100 % 1000, BOOST_VERSION % 100);
    return peer_sort_module(&the_peer, 1);
}
