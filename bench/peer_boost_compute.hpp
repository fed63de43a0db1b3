/**
 * Boost.Compute on the row's OpenCL device: what its peers share.
 *
 * A peer is a call: a function of the state and a set that enqueues one, and may throw.
 */
#ifndef BENCH_PEER_BOOST_COMPUTE_HPP
#define BENCH_PEER_BOOST_COMPUTE_HPP

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>

#include <boost/compute/command_queue.hpp>
#include <boost/compute/exception/opencl_error.hpp>
#include <boost/compute/iterator/buffer_iterator.hpp>
#include <boost/version.hpp>

#include "peer_cl_sets.h"

namespace boost_peer
{

namespace compute = boost::compute;

struct state {
    peer_cl_sets sets;
    peer_rotation rotation;
    compute::command_queue queue;
    peer_call *call;
    size_t result; /* the operand that it writes */
    void *kept;    /* memory that operands are copied from, freed with the state; NULL: none */
};

/* The first element of an operand of a set. */
template <class T> compute::buffer_iterator<T> first(const state *s, size_t set, size_t operand)
{
    return compute::make_buffer_iterator<T>(compute::buffer(peer_cl_set(&s->sets, set, operand)),
                                            0);
}

/* No exception crosses the C interface: its OpenCL error is the call's. */
template <int (*Call)(state *, size_t)> int guarded(void *of, size_t set)
{
    try {
        return Call(static_cast<state *>(of), set);
    } catch (const compute::opencl_error &e) {
        return e.error_code();
    } catch (...) {
        return -1;
    }
}

inline int wait(void *of)
{
    return clFinish(static_cast<state *>(of)->sets.queue);
}

inline void close(void *of)
{
    state *s = static_cast<state *>(of);

    if (!s)
        return;
    peer_cl_sets_close(&s->sets);
    std::free(s->kept);
    delete s;
}

/* Make the first sets as they were opened, and begin with them. */
inline int refill(state *s, size_t sets)
{
    cl_int rc = CL_SUCCESS;

    for (size_t i = 0; i < sets * PEER_OPERANDS && rc == CL_SUCCESS; i++)
        rc = peer_cl_set_refill(&s->sets, i / PEER_OPERANDS, i % PEER_OPERANDS);
    if (rc == CL_SUCCESS)
        rc = clFinish(s->sets.queue);
    if (rc == CL_SUCCESS)
        peer_rotation_start(&s->rotation, s->rotation.sets, s->rotation.uses_up);
    return rc;
}

/* Fill a new state; false with *why where that fails. */
inline bool prepare(state *s, const peer_problem *p, bool uses_up, char *why, size_t why_size)
{
    double unused;
    int rc;

    if (peer_cl_sets_open(&s->sets, p, why, why_size) != 0)
        return false;
    s->queue = compute::command_queue(static_cast<cl_command_queue>(p->cl_queue));
    peer_rotation_start(&s->rotation, p->sets, uses_up);
    /* The first call compiles its kernels. */
    rc = peer_time(&s->rotation, 1, s->call, wait, s, &unused);
    if (rc != 0)
        peer_say(why, why_size, "its first call failed with OpenCL error %d", rc);
    else if ((rc = refill(s, 1)) != 0)
        peer_say(why, why_size, "copying its inputs again failed with OpenCL error %d", rc);
    return rc == 0;
}

/* `kept` becomes the state's, also on failure. */
inline void *open(const peer_problem *p, peer_call *call, size_t result, bool uses_up, void *kept,
                  char *why, size_t why_size)
{
    state *s = new (std::nothrow) state();

    if (!s) {
        std::free(kept);
        peer_say(why, why_size, "no memory");
        return nullptr;
    }
    s->call = call;
    s->result = result;
    s->kept = kept;
    try {
        if (prepare(s, p, uses_up, why, why_size))
            return s;
    } catch (const std::exception &e) {
        peer_say(why, why_size, "%s", e.what());
    }
    close(s);
    return nullptr;
}

/* Of one that leaves its inputs as they are. */
inline void *open(const peer_problem *p, peer_call *call, size_t result, char *why, size_t why_size)
{
    return open(p, call, result, false, nullptr, why, why_size);
}

inline int restore(void *of)
{
    state *s = static_cast<state *>(of);

    return refill(s, s->rotation.sets - s->rotation.fresh);
}

inline int run(void *of, size_t calls, double *wall_ns)
{
    state *s = static_cast<state *>(of);

    return peer_time(&s->rotation, calls, s->call, wait, s, wall_ns);
}

inline int result(void *of, void *const out[])
{
    state *s = static_cast<state *>(of);

    return peer_cl_set_read(&s->sets, 0, s->result, out[s->result]);
}

/* Headers only: the library that was compiled is the one that runs. */
inline const char *version()
{
    static char text[64];

    std::snprintf(text, sizeof(text), "%d.%d.%d", BOOST_VERSION / 100000,
                  BOOST_VERSION / 100 % 1000, BOOST_VERSION % 100);
    return text;
}

/* One that leaves its inputs as they are. */
inline peer describe(const char *(*unsupported)(const peer_problem *),
                     void *(*opens)(const peer_problem *, char *, size_t))
{
    return peer{"Boost.Compute", version(), PEER_OPENCL, nullptr, unsupported, opens, run,
                nullptr,         nullptr,   result,      close};
}

} // namespace boost_peer

#endif
