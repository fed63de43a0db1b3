/**
 * Peers that are made up, as peer_sort_std.so: sorts of uint32 keys that take, or
 * claim to take, long.  FAKE_SORT names those that take part, by a part of
 * their names; each call adds a line to the file FAKE_LOG.  One has two clocks: a call takes 1 ms
 * by the host's and half of it by the device's, which sorts the same keys again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <bench/peer.h>
#include <tessera/sort.h>

/* Of a call: what it claims, first and later, and how long it sleeps.  After so many (0: never)
 * the keys cannot be restored. */
typedef struct pace {
    const char *name;
    double first_ns, later_ns;
    time_t sleeps;
    size_t fails_at;
} pace;

typedef struct sorting {
    peer_problem problem;
    const pace *pace;
    size_t calls;
    uint32_t *keys;
} sorting;

static const char *unsupported_as(const peer_problem *p, const char *name)
{
    const char *wanted = getenv("FAKE_SORT");
    const tsr_sort_problem *s = p->problem;

    if (s->type != TSR_U32 || s->argsort || s->descending || s->rows > 1 || s->value_bytes)
        return "it sorts one sequence of uint32 keys only";
    return wanted && strstr(name, wanted) ? NULL : "FAKE_SORT does not name it";
}

static void *open_as(const peer_problem *p, const pace *of)
{
    sorting *s = calloc(1, sizeof(*s));

    if (!s)
        return NULL;
    *s = (sorting){.problem = *p, .pace = of, .keys = malloc(p->bytes[0] + 1)};
    if (!s->keys) {
        free(s);
        return NULL;
    }
    return s;
}

static void note_call(const char *name)
{
    const char *path = getenv("FAKE_LOG");
    FILE *log = path ? fopen(path, "a") : NULL;

    if (log) {
        fprintf(log, "%s\n", name);
        fclose(log);
    }
}

static int by_key(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static int run(void *state, size_t calls, double *wall_ns)
{
    sorting *s = state;
    const struct timespec nap = {.tv_sec = s->pace->sleeps};

    *wall_ns = 0;
    for (size_t i = 0; i < calls; i++) {
        memcpy(s->keys, s->problem.operand[0], s->problem.bytes[0]);
        qsort(s->keys, s->problem.bytes[0] / sizeof(*s->keys), sizeof(*s->keys), by_key);
        nanosleep(&nap, NULL);
        note_call(s->pace->name);
        *wall_ns += s->calls++ ? s->pace->later_ns : s->pace->first_ns;
    }
    return 0;
}

static int restore(void *state)
{
    const sorting *s = state;

    return s->pace->fails_at && s->calls >= s->pace->fails_at ? 78 : 0;
}

/* The other clock that a comparison may ask for: half of the time. */
static int run_held(void *state, size_t calls, double *device_ns)
{
    const int code = run(state, calls, device_ns);

    *device_ns /= 2;
    return code;
}

static int result(void *state, void *const out[])
{
    const sorting *s = state;

    memcpy(out[0], s->keys, s->problem.bytes[0]);
    return 0;
}

static void close_sorting(void *state)
{
    free(((sorting *)state)->keys);
    free(state);
}

/* A peer's functions know their peer by being its own. */
#define PACE(id, name_, first, later, seconds, calls_)                                             \
    static const pace id = {name_, first, later, seconds, calls_};                                 \
    static const char *id##_unsupported(const peer_problem *p)                                     \
    {                                                                                              \
        return unsupported_as(p, (name_));                                                         \
    }                                                                                              \
    static void *id##_open(const peer_problem *p, char *why, size_t why_size)                      \
    {                                                                                              \
        (void)why;                                                                                 \
        (void)why_size;                                                                            \
        return open_as(p, &(id));                                                                  \
    }

PACE(two_seconds, "fake two seconds", 2e9, 2e9, 0, 0)
PACE(five_seconds, "fake five seconds", 5e9, 5e9, 0, 0)
PACE(unrestorable, "fake unrestorable", 2e9, 2e9, 0, 2)
PACE(compiles, "fake compiles", 5e9, 1e6, 0, 0)
PACE(stays_long, "fake stays long", 5e9, 5e9, 0, 0)
PACE(sleeper_1, "fake sleeper 1", 1e9, 1e9, 1, 0)
PACE(sleeper_2, "fake sleeper 2", 1e9, 1e9, 1, 0)
PACE(sleeper_3, "fake sleeper 3", 1e9, 1e9, 1, 0)
PACE(two_clocks, "fake two clocks", 1e6, 1e6, 0, 0)

#define FAKE(id, name_, place_, held_)                                                             \
    {                                                                                              \
        .name = (name_), .version = "1", .place = (place_), .unsupported = id##_unsupported,       \
        .open = id##_open, .run = run, .run_held = (held_), .restore = restore, .result = result,  \
        .close = close_sorting                                                                     \
    }

PEER_EXPORT const peer_list *peer_module(void)
{
    static const peer the_peers[] = {
        FAKE(two_seconds, "fake two seconds", PEER_CPU, NULL),
        FAKE(five_seconds, "fake five seconds", PEER_CPU, NULL),
        FAKE(unrestorable, "fake unrestorable", PEER_CPU, NULL),
        FAKE(compiles, "fake compiles", PEER_OPENCL, NULL),
        FAKE(stays_long, "fake stays long", PEER_OPENCL, NULL),
        FAKE(sleeper_1, "fake sleeper 1", PEER_CPU, NULL),
        FAKE(sleeper_2, "fake sleeper 2", PEER_CPU, NULL),
        FAKE(sleeper_3, "fake sleeper 3", PEER_CPU, NULL),
        FAKE(two_clocks, "fake two clocks", PEER_CPU, run_held),
    };
    static peer_list list = {PEER_ABI,
                             "sort",
                             sizeof(tsr_sort_problem),
                             the_peers,
                             sizeof(the_peers) / sizeof(the_peers[0]),
                             NULL,
                             NULL};

    /* Some tests have it ask for a variable, as a library does that takes its processor for less.
     */
    if (getenv("FAKE_ASKS") && !getenv("FAKE_SETTING")) {
        list.setting = "FAKE_SETTING=wide";
        list.setting_why = "the fake is compared as wide";
    }
    return &list;
}
