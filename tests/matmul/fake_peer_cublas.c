/**
 * Peers that are made up, as peer_matmul_cublas.so: products in float32 and in TF32
 * that are right, two that claim more than they hold (with FAKE_WRONG set), and
 * one whose fourth call fails (with FAKE_FAILS set).  The first of all has two
 * clocks: a call takes 1 ms by the host's and half of it by the device's.
 * They multiply float32 without transposes, alpha or beta.  FAKE_LOG names a
 * file that gets a line for each that is opened; FAKE_NAP is seconds that each
 * opening takes.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <bench/peer.h>
#include <tessera/matmul.h>

typedef struct product {
    peer_problem problem;
    float *a, *b, *c; /* rounded, and their product */
    size_t runs;
} product;

static const char *unsupported_at(const peer_problem *x, const char *precision)
{
    const tsr_matmul_problem *p = x->problem;

    if (p->type != TSR_F32 || p->trans_a || p->trans_b || p->alpha != 1 || p->beta != 0 ||
        p->batch > 1)
        return "it multiplies plain float32 matrices only";
    return strcmp(x->precision, precision) ? "it is asked for another precision" : NULL;
}

static const char *f32_unsupported(const peer_problem *p)
{
    return unsupported_at(p, "f32");
}

static const char *tf32_unsupported(const peer_problem *p)
{
    return unsupported_at(p, "tf32");
}

static const char *wrong_f32_unsupported(const peer_problem *p)
{
    return getenv("FAKE_WRONG") ? f32_unsupported(p) : "FAKE_WRONG is not set";
}

static const char *wrong_tf32_unsupported(const peer_problem *p)
{
    return getenv("FAKE_WRONG") ? tf32_unsupported(p) : "FAKE_WRONG is not set";
}

static const char *failing_unsupported(const peer_problem *p)
{
    return getenv("FAKE_FAILS") ? f32_unsupported(p) : "FAKE_FAILS is not set";
}

/* To nearest, with `bits` significant bits; NULL without memory. */
static float *rounded(const float *from, size_t n, int bits)
{
    float *out = malloc(n * sizeof(*out));
    int exponent;

    for (size_t i = 0; out && i < n; i++) {
        const double m = frexp((double)from[i], &exponent);

        out[i] = (float)ldexp(nearbyint(ldexp(m, bits)), exponent - bits);
    }
    return out;
}

static void close_product(void *state)
{
    product *x = state;

    free(x->a);
    free(x->b);
    free(x->c);
    free(x);
}

static void note_opening(int bits)
{
    const char *path = getenv("FAKE_LOG"), *seconds = getenv("FAKE_NAP");
    FILE *log = path ? fopen(path, "a") : NULL;
    const struct timespec nap = {.tv_sec = seconds ? atoi(seconds) : 0};

    if (log) {
        fprintf(log, "%d bits\n", bits);
        fclose(log);
    }
    nanosleep(&nap, NULL);
}

static void *open_at(const peer_problem *p, int bits)
{
    const tsr_matmul_problem *q = p->problem;
    product *x = calloc(1, sizeof(*x));

    note_opening(bits);
    if (!x)
        return NULL;
    *x = (product){.problem = *p,
                   .a = rounded(p->operand[0], q->m * q->k, bits),
                   .b = rounded(p->operand[1], q->k * q->n, bits),
                   .c = malloc(p->bytes[2])};
    if (x->a && x->b && x->c)
        return x;
    close_product(x);
    return NULL;
}

#define OPEN(name, bits)                                                                           \
    static void *name(const peer_problem *p, char *why, size_t why_size)                           \
    {                                                                                              \
        (void)why;                                                                                 \
        (void)why_size;                                                                            \
        return open_at(p, bits);                                                                   \
    }

OPEN(f32_open, 24)
OPEN(tf32_open, 11)
OPEN(bf16_open, 8)

static int run(void *state, size_t calls, double *wall_ns)
{
    const product *x = state;
    const tsr_matmul_problem *p = x->problem.problem;

    memset(x->c, 0, x->problem.bytes[2]);
    for (size_t i = 0; i < p->m; i++)
        for (size_t l = 0; l < p->k; l++)
            for (size_t j = 0; j < p->n; j++)
                x->c[i * p->n + j] += x->a[i * p->k + l] * x->b[l * p->n + j];
    *wall_ns = 1e6 * (double)calls;
    return 0;
}

/* The other clock that a comparison may ask for: half of the time. */
static int run_held(void *state, size_t calls, double *device_ns)
{
    const int code = run(state, calls, device_ns);

    *device_ns /= 2;
    return code;
}

static int run_and_fail(void *state, size_t calls, double *wall_ns)
{
    product *x = state;

    return ++x->runs < 4 ? run(state, calls, wall_ns) : 77;
}

static int result(void *state, void *const out[])
{
    const product *x = state;

    memcpy(out[2], x->c, x->problem.bytes[2]);
    return 0;
}

#define FAKE(name_, precision_, unsupported_, open_, run_, held_)                                  \
    {                                                                                              \
        .name = (name_), .version = "1", .place = PEER_CPU, .precision = (precision_),             \
        .unsupported = (unsupported_), .open = (open_), .run = (run_), .run_held = (held_),        \
        .result = result, .close = close_product                                                   \
    }

PEER_EXPORT const peer_list *peer_module(void)
{
    static const peer the_peers[] = {
        FAKE("fake failing", NULL, failing_unsupported, f32_open, run_and_fail, NULL),
        FAKE("fake FP32", NULL, f32_unsupported, f32_open, run, run_held),
        FAKE("fake TF32", "tf32", tf32_unsupported, tf32_open, run, NULL),
        FAKE("fake TF32 as FP32", NULL, wrong_f32_unsupported, tf32_open, run, NULL),
        FAKE("fake BF16 as TF32", "tf32", wrong_tf32_unsupported, bf16_open, run, NULL),
    };
    static const peer_list list = {PEER_ABI,
                                   "matmul",
                                   sizeof(tsr_matmul_problem),
                                   the_peers,
                                   sizeof(the_peers) / sizeof(the_peers[0]),
                                   NULL,
                                   NULL};

    return &list;
}
