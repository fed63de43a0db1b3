/**
 * A peer module does what bench/peer.h says: its results are right, set after
 * set, it refuses what it cannot do, and it never times a sort of sorted keys.
 *
 *     test_peers MODULE.so
 *
 * 77 where every problem is refused because its device is not here.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bench/peer_check.h>

enum { SETS = 3, F32 = 0, F64, I32, U32, I64, U64 };

static int failures;

/* A check of peer `who` on problem number `at`. */
static int expect(int ok, const peer *who, size_t at, const char *what)
{
    if (ok)
        return 1;
    failures++;
    fprintf(stderr, "%s: problem %zu: %s\n", who->name, at, what);
    return 0;
}

typedef struct example {
    peer_problem problem;
    int few; /* distinct values */
} example;

/* Sizes, transposes of A and B, alpha, beta. */
#define MATMUL(type_, precision_, m_, n_, k_, ta, tb, alpha_, beta_)                               \
    {                                                                                              \
        {.op = PEER_MATMUL,                                                                        \
         .type = (type_),                                                                          \
         .precision = (precision_),                                                                \
         .m = (m_),                                                                                \
         .n = (n_),                                                                                \
         .k = (k_),                                                                                \
         .trans_a = (ta),                                                                          \
         .trans_b = (tb),                                                                          \
         .alpha = (alpha_),                                                                        \
         .beta = (beta_),                                                                          \
         .sets = SETS},                                                                            \
            0                                                                                      \
    }
#define MATVEC(type_, precision_, m_, n_, ta, alpha_, beta_)                                       \
    {                                                                                              \
        {.op = PEER_MATVEC,                                                                        \
         .type = (type_),                                                                          \
         .precision = (precision_),                                                                \
         .m = (m_),                                                                                \
         .n = (n_),                                                                                \
         .trans_a = (ta),                                                                          \
         .alpha = (alpha_),                                                                        \
         .beta = (beta_),                                                                          \
         .sets = SETS},                                                                            \
            0                                                                                      \
    }
/* Keys, few distinct ones, argsort, descending. */
#define SORT(type_, n_, few_, argsort_, descending_)                                               \
    {                                                                                              \
        {.op = PEER_SORT,                                                                          \
         .type = (type_),                                                                          \
         .precision = "",                                                                          \
         .n = (n_),                                                                                \
         .argsort = (argsort_),                                                                    \
         .descending = (descending_),                                                              \
         .sets = SETS},                                                                            \
            (few_)                                                                                 \
    }

/* With values of so many bytes. */
#define VALUES(type_, n_, few_, bytes_, descending_)                                               \
    {                                                                                              \
        {.op = PEER_SORT,                                                                          \
         .type = (type_),                                                                          \
         .precision = "",                                                                          \
         .n = (n_),                                                                                \
         .value_bytes = (bytes_),                                                                  \
         .descending = (descending_),                                                              \
         .sets = SETS},                                                                            \
            (few_)                                                                                 \
    }

/* The same of segments, whose offsets are an array. */
#define SEGMENTS(type_, offsets_, few_, argsort_, descending_)                                     \
    {                                                                                              \
        {.op = PEER_SORT,                                                                          \
         .type = (type_),                                                                          \
         .precision = "",                                                                          \
         .n = KEYS,                                                                                \
         .argsort = (argsort_),                                                                    \
         .descending = (descending_),                                                              \
         .segments = sizeof(offsets_) / sizeof((offsets_)[0]) - 1,                                 \
         .segment_offsets = (offsets_),                                                            \
         .sets = SETS},                                                                            \
            (few_)                                                                                 \
    }

/* Segments of 0, 1, few and many keys; rows of 1024; a single segment. */
enum { KEYS = 4096 };
static const uint64_t uneven[] = {0, 0, 1, 2, 2, 5, 40, 72, 73, 601, 3800, 3800, KEYS, KEYS};
static const uint64_t rows[] = {0, 1024, 2048, 3072, KEYS};
static const uint64_t single[] = {0, KEYS};

/* No two dimensions alike, so that a swapped leading dimension shows; some are primes. */
static const example examples[] = {
    MATMUL(F32, "f32", 1, 1, 1, 0, 0, 1, 0),
    MATMUL(F32, "f32", 37, 53, 29, 0, 0, 1, 0),
    MATMUL(F32, "f32", 37, 53, 29, 1, 0, 1, 0),
    MATMUL(F32, "f32", 37, 53, 29, 0, 1, 1, 0),
    MATMUL(F32, "f32", 37, 53, 29, 1, 1, -0.5, 2),
    MATMUL(F32, "f32", 160, 96, 224, 0, 0, 1, -1),
    MATMUL(F32, "f32-strict", 64, 32, 48, 0, 0, 1, 0),
    MATMUL(F32, "tf32", 160, 96, 224, 0, 0, 2, 0.5),
    MATMUL(F32, "tf32", 37, 53, 29, 0, 1, 1, 0),
    MATMUL(F64, "f64", 37, 53, 29, 0, 0, 1, 0),
    MATMUL(F64, "f64", 37, 53, 29, 1, 0, 3, 0.25),
    MATMUL(F64, "f64", 160, 96, 224, 0, 1, 1, 1),
    MATVEC(F32, "f32", 1, 1, 0, 1, 0),
    MATVEC(F32, "f32", 113, 71, 0, 1, 0),
    MATVEC(F32, "f32", 113, 71, 1, 1, 0),
    MATVEC(F32, "f32", 71, 113, 0, -2, 0.5),
    MATVEC(F32, "f32", 10, 3001, 0, 1, 0),
    MATVEC(F32, "f32", 3001, 10, 1, 0.5, 1),
    MATVEC(F64, "f64", 113, 71, 0, 1, 0),
    MATVEC(F64, "f64", 113, 71, 1, -2, 0.5),
    SORT(U32, 1, 0, 0, 0),
    SORT(U32, 2, 0, 1, 0),
    SORT(U32, 31, 0, 0, 1),
    SORT(U32, 100003, 0, 0, 0),
    SORT(U32, 100003, 0, 0, 1),
    SORT(U32, 100003, 1, 1, 0),
    SORT(U32, 100003, 1, 1, 1),
    SORT(I32, 4096, 0, 0, 0),
    SORT(I32, 5003, 1, 1, 1),
    SORT(U64, 5003, 0, 0, 0),
    SORT(U64, 5003, 1, 1, 1),
    SORT(I64, 5003, 0, 0, 1),
    SORT(I64, 5003, 1, 1, 0),
    SORT(F32, 5003, 0, 0, 0),
    SORT(F32, 5003, 1, 1, 1),
    SORT(F64, 5003, 0, 0, 1),
    SORT(F64, 5003, 1, 1, 0),
    VALUES(U32, 100003, 1, 4, 0),
    VALUES(U32, 5003, 0, 8, 1),
    VALUES(I64, 5003, 1, 4, 1),
    VALUES(F32, 5003, 1, 8, 0),
    SEGMENTS(U32, uneven, 0, 0, 0),
    SEGMENTS(U32, uneven, 1, 1, 1),
    SEGMENTS(U32, rows, 0, 0, 1),
    SEGMENTS(U32, rows, 1, 1, 0),
    SEGMENTS(U32, single, 0, 0, 0),
    SEGMENTS(I32, rows, 1, 1, 1),
    SEGMENTS(I64, uneven, 0, 0, 1),
    SEGMENTS(U64, rows, 0, 0, 0),
    SEGMENTS(F32, uneven, 0, 0, 0),
    SEGMENTS(F64, uneven, 1, 1, 0),
};

enum { EXAMPLES = sizeof(examples) / sizeof(examples[0]) };

/* Run one call and judge what set 0 holds then. */
static void first_call(const peer *who, void *state, const peer_trial *t, size_t at)
{
    char why[PEER_LINE] = "";
    double worst, ns = -1;

    if (expect(who->run(state, 1, &ns) == 0, who, at, "run(1) fails") &&
        expect(who->result(state, t->out, t->out2) == 0, who, at, "result() fails"))
        expect(peer_trial_check(t, &worst, why, sizeof(why)) == 0, who, at, why);
    expect(ns > 0, who, at, "run() tells no time");
}

/* The other sets are used in turn; the first is judged again after restore(). */
static void further_calls(const peer *who, void *state, const peer_trial *t, size_t at)
{
    char why[PEER_LINE] = "";
    double worst, ns;

    expect(who->run(state, SETS - 1, &ns) == 0, who, at, "run() fails on the other sets");
    if (who->restore) {
        expect(who->run(state, 1, &ns) != 0, who, at, "a used-up set is timed");
        expect(who->restore(state) == 0, who, at, "restore() fails");
        expect(who->run(state, SETS + 1, &ns) != 0, who, at, "more calls than sets are timed");
        expect(who->run(state, SETS, &ns) == 0, who, at, "run() fails after restore()");
    } else {
        expect(who->run(state, 2 * SETS, &ns) == 0, who, at, "run() fails in later rounds");
    }
    if (who->run_held) {
        ns = -1;
        expect(who->run_held(state, 2 * SETS, &ns) == 0, who, at, "run_held() fails");
        expect(ns > 0, who, at, "run_held() tells no time");
    }
    /* What only accumulates is another problem by now. */
    if (t->problem.op != PEER_SORT && t->problem.beta != 0)
        return;
    memset(t->out, 0, t->problem.bytes[t->problem.op == PEER_SORT ? 0 : 2]);
    if (expect(who->result(state, t->out, t->out2) == 0, who, at, "a later result() fails"))
        expect(peer_trial_check(t, &worst, why, sizeof(why)) == 0, who, at, why);
}

/* 1 where the peer did the problem, 0 where it refuses it. */
static int try_example(const peer *who, const peer_device *d, size_t at)
{
    char why[PEER_LINE] = "";
    const char *refusal;
    peer_trial t;
    void *state;

    if (!expect(peer_trial_make(&examples[at].problem, d, at, examples[at].few, &t) == 0, who, at,
                "no memory"))
        return 0;
    if (who->place == PEER_CUDA && !d->nvidia)
        t.problem.cl_device = NULL;
    refusal = who->unsupported(&t.problem);
    if (!refusal) {
        state = who->open(&t.problem, why, sizeof(why));
        if (expect(state != NULL, who, at, why)) {
            first_call(who, state, &t, at);
            further_calls(who, state, &t, at);
            who->close(state);
        }
    }
    peer_trial_free(&t);
    return !refusal;
}

/* What no peer may take, each with its reason. */
static void refusals(const peer *who)
{
    const float not_plain[][2] = {{1, NAN}, {0, -0.0f}};
    const peer_problem empty[] = {
        {.op = PEER_MATMUL, .precision = "f32", .n = 4, .k = 4, .alpha = 1, .sets = 1},
        {.op = PEER_MATVEC, .precision = "f32", .m = 4, .alpha = 1, .sets = 1},
        {.op = PEER_SORT, .type = U32, .precision = "", .sets = 1},
        {.op = PEER_MATMUL, .type = I32, .precision = "", .m = 4, .n = 4, .k = 4, .sets = 1},
        {.op = PEER_MATMUL, .precision = "bf16", .m = 4, .n = 4, .k = 4, .sets = 1},
        {.op = PEER_SORT, .type = U32, .precision = "", .n = (size_t)1 << 40, .sets = 1},
        {.op = PEER_SORT, .type = U32, .precision = "", .n = 8, .top = 2, .sets = 1},
        {.op = PEER_SORT, .type = U32, .precision = "", .n = 8, .value_bytes = 16, .sets = 1},
    };

    for (size_t i = 0; i < sizeof(empty) / sizeof(empty[0]); i++)
        expect(who->unsupported(&empty[i]) != NULL, who, i, "what cannot be done is not refused");
    for (size_t i = 0; i < 2; i++) {
        const peer_problem p = {.op = PEER_SORT,
                                .type = F32,
                                .precision = "",
                                .n = 2,
                                .operand = {not_plain[i]},
                                .bytes = {sizeof(not_plain[i])},
                                .sets = 1};

        expect(who->unsupported(&p) != NULL, who, i, "keys without an order are not refused");
    }
}

/* 0 where the peer's device is not here, so that nothing could be tried. */
static int try_peer(const peer *who, const peer_device *d)
{
    size_t done = 0;

    expect(who->name && *who->name && who->version && *who->version, who, 0, "has no name");
    refusals(who);
    if (who->place == PEER_OPENCL && !d->device)
        return 0;
    for (size_t at = 0; at < EXAMPLES; at++)
        done += (size_t)try_example(who, d, at);
    printf("%s %s: %zu problems, %zu refused\n", who->name, who->version, done, EXAMPLES - done);
    if (done == 0 && who->place == PEER_CUDA && access("/dev/nvidiactl", F_OK) != 0)
        return 0;
    expect(done > 0, who, 0, "every problem is refused");
    return 1;
}

int main(int argc, char **argv)
{
    char why[PEER_LINE] = "";
    peer_device device = {0};
    const peer_list *list = argc == 2 ? peer_load(argv[1], why, sizeof(why)) : NULL;
    int tried = 1;

    if (!list) {
        fprintf(stderr, "test_peers: %s\n", argc == 2 ? why : "usage: test_peers MODULE.so");
        return 1;
    }
    if (peer_device_open(NULL, &device, why, sizeof(why)) != 0)
        fprintf(stderr, "test_peers: %s\n", why);
    for (size_t i = 0; i < list->count; i++)
        tried &= try_peer(&list->peers[i], &device);
    peer_device_close(&device);
    return failures ? 1 : tried ? 0 : 77;
}
