#include "peer_common.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ALIGNMENT = 64 };

void peer_say(char *why, size_t why_size, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(why, why_size, format, arguments);
    va_end(arguments);
}

void peer_rotation_start(peer_rotation *r, size_t sets, int uses_up)
{
    r->sets = sets;
    r->next = 0;
    r->fresh = sets;
    r->uses_up = uses_up;
}

static double wall_clock_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int peer_time(peer_rotation *r, size_t calls, peer_call *call, int (*wait)(void *state),
              void *state, double *wall_ns)
{
    int rc = 0;
    int waited;

    if (r->uses_up && calls > r->fresh)
        return PEER_USED_UP;
    const double start = wall_clock_ns();
    for (size_t i = 0; i < calls && rc == 0; i++) {
        rc = call(state, r->next);
        r->next = (r->next + 1) % r->sets;
    }
    waited = wait ? wait(state) : 0;
    *wall_ns = wall_clock_ns() - start;
    if (r->uses_up)
        r->fresh -= calls;
    return rc ? rc : waited;
}

static int host_set_allocate(peer_host_sets *h, size_t index, size_t bytes)
{
    if (bytes > SIZE_MAX - ALIGNMENT)
        return -1;
    h->copy[index] = aligned_alloc(ALIGNMENT, (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    return h->copy[index] ? 0 : -1;
}

int peer_host_sets_open(peer_host_sets *h, const peer_problem *p, char *why, size_t why_size)
{
    h->problem = *p;
    h->copy = (void **)calloc(p->sets, PEER_OPERANDS * sizeof(void *));
    if (!h->copy) {
        peer_say(why, why_size, "no memory for %zu sets", p->sets);
        return -1;
    }
    for (size_t set = 0; set < p->sets; set++) {
        for (size_t i = 0; i < PEER_OPERANDS; i++) {
            if (p->bytes[i] == 0)
                continue;
            if (host_set_allocate(h, set * PEER_OPERANDS + i, p->bytes[i]) != 0) {
                peer_say(why, why_size, "no memory for operand %zu of set %zu, %zu bytes", i, set,
                         p->bytes[i]);
                peer_host_sets_close(h);
                return -1;
            }
            peer_host_set_refill(h, set, i);
        }
    }
    return 0;
}

void *peer_host_set(const peer_host_sets *h, size_t set, size_t operand)
{
    return h->copy[set * PEER_OPERANDS + operand];
}

void peer_host_set_refill(peer_host_sets *h, size_t set, size_t operand)
{
    void *copy = peer_host_set(h, set, operand);

    /* An output that nothing reads may come without an original; its pages are touched so that
     * the first call does not pay for them. */
    if (copy && h->problem.operand[operand])
        memcpy(copy, h->problem.operand[operand], h->problem.bytes[operand]);
    else if (copy)
        memset(copy, 0, h->problem.bytes[operand]);
}

void peer_host_sets_close(peer_host_sets *h)
{
    if (!h->copy)
        return;
    for (size_t i = 0; i < h->problem.sets * PEER_OPERANDS; i++)
        free(h->copy[i]);
    free(h->copy);
    h->copy = NULL;
}

void *peer_host_open(const peer_problem *p, peer_call *call, size_t result, char *why,
                     size_t why_size)
{
    peer_host *h = (peer_host *)calloc(1, sizeof(*h));

    if (!h) {
        peer_say(why, why_size, "no memory");
        return NULL;
    }
    if (peer_host_sets_open(&h->sets, p, why, why_size) != 0) {
        free(h);
        return NULL;
    }
    h->call = call;
    h->result = result;
    peer_rotation_start(&h->rotation, p->sets, 0);
    return h;
}

int peer_host_run(void *state, size_t calls, double *wall_ns)
{
    peer_host *h = (peer_host *)state;

    return peer_time(&h->rotation, calls, h->call, NULL, h, wall_ns);
}

int peer_host_result(void *state, void *const out[])
{
    peer_host *h = (peer_host *)state;

    memcpy(out[h->result], peer_host_set(&h->sets, 0, h->result), h->sets.problem.bytes[h->result]);
    return 0;
}

void peer_host_close(void *state)
{
    peer_host *h = (peer_host *)state;

    if (!h)
        return;
    peer_host_sets_close(&h->sets);
    free(h);
}
