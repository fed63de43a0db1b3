/* What a precision makes of float32 factors, to the bit: the sweep's bounds would take them as they
 * are, or rounded otherwise.
 *
 *     rounded_factors DEVICE [FOLDER [VARIANT]]     the kernels' folder; of one variant alone
 *
 * Each factor is the only one of its row of A, or of its column of B, that is not zero, and meets
 * 1: its place in C holds it as it was multiplied.  References are in double, which holds factors,
 * their quotients by a power of two, and what those round to.
 */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "base/text.h"
#include "session/state.h"
#include "tessera/tessera.h"

/* FACTORS of them, each one of K in its line: whole vectors and blocks, and a rest; OTHERS are the
 * rows or columns that meet them, more than a block's. */
enum { FACTORS = 1003, K = 37, OTHERS = 40 };

typedef struct rounding {
    const char *name;
    tsr_precision precision;
    int bits, least; /* significant ones, and the exponent of the smallest normal number */
    double most;     /* the largest number */
    bool saturates;  /* what would be more than that stays it; else it is infinite */
    bool from_zero;  /* ties go away from zero; else to even */
} rounding;

static const rounding roundings[] = {
    {"tf32", TSR_PRECISION_TF32, 11, -126, 0x1.FFCp127, true, true},
    {"bf16", TSR_PRECISION_BF16, 8, -126, 0x1.FEp127, false, false},
    {"f16", TSR_PRECISION_F16, 11, -14, 65504, false, false},
};

/* Those that read transposed factors in a way of their own, and those that read them elsewhere. */
static const struct {
    const char *name;
    bool turns;
} variants[] = {{"general", false},
                {"general-tiled", false},
                {"cpu-block", true},
                {"cpu-panels", true},
                {"cpu-split", true}};

static double rounded(const rounding *r, double x)
{
    int exponent;
    double unit, units, out;

    if (!isfinite(x) || x == 0)
        return x;
    frexp(x, &exponent);
    unit = ldexp(1, (exponent - 1 > r->least ? exponent - 1 : r->least) - r->bits + 1);
    units = x / unit;
    out = unit * (r->from_zero ? round(units) : nearbyint(units));
    if (fabs(out) <= r->most)
        return out;
    return copysign(r->saturates ? r->most : INFINITY, x);
}

static float of_bits(uint32_t bits)
{
    float x;

    memcpy(&x, &bits, sizeof(x));
    return x;
}

/* Where a precision ends, then any bits, exponents about float16's, and ties of each precision. */
static float factor(size_t i)
{
    static const float ends[] = {NAN,          INFINITY,        -INFINITY,       FLT_MAX,
                                 -FLT_MAX,     0x1.FFCp127F,    0x1.FFDFFEp127F, 0x1.FFEp127F,
                                 0x1.FEp127F,  0x1.FEFFFEp127F, 0x1.FFp127F,     0,
                                 -0.0F,        65504,           65519.996F,      65520,
                                 -65520,       0x1p-14F,        0x1.FFEp-15F,    0x1p-24F,
                                 0x1p-25F,     0x1.000002p-25F, -0x1.8p-24F,     FLT_MIN,
                                 FLT_TRUE_MIN, 0x1p-133F,       0x1p-134F,       0x1.8p-133F,
                                 0x1p-137F,    0x1.8p-136F};
    const size_t count = sizeof(ends) / sizeof(ends[0]);
    uint64_t state = i;
    const uint32_t bits = (uint32_t)random_u64(&state);
    const uint32_t narrow = (bits & 0x807FFFFFu) | ((uint32_t)(random_u64(&state) % 45) + 100)
                                                       << 23;

    if (i < count)
        return ends[i];
    return of_bits(i % 4 == 0   ? bits
                   : i % 4 == 1 ? narrow
                   : i % 4 == 2 ? (narrow & 0xFFFFE000u) | 0x1000u
                                : (bits & 0xFFFF0000u) | 0x8000u);
}

/* A product that shows the factors of A, or of B. */
static tsr_matmul_problem product(const rounding *r, bool of_a, bool trans)
{
    return (tsr_matmul_problem){.type = TSR_F32,
                                .precision = r->precision,
                                .m = of_a ? FACTORS : OTHERS,
                                .n = of_a ? OTHERS : FACTORS,
                                .k = K,
                                .trans_a = of_a && trans,
                                .trans_b = !of_a && trans,
                                .alpha = 1};
}

/* Multiply, and compare the last column of C, or the last row, with what the factors become. */
static tsr_status check(tsr_session *session, const char *variant, const rounding *r, bool of_a,
                        bool trans, bool *wrong, tsr_error *err)
{
    static float x[FACTORS * K], ones[OTHERS * K], c[FACTORS * OTHERS];
    const bool along = of_a != trans; /* neighbours in memory are of one line */
    const tsr_matmul_problem p = product(r, of_a, trans);
    const tsr_run run = {.variant = variant};
    tsr_status st;

    memset(x, 0, sizeof(x));
    for (size_t i = 0; i < FACTORS; i++)
        x[along ? i * K + i % K : i % K * FACTORS + i] = factor(i);
    for (size_t i = 0; i < OTHERS * K; i++)
        ones[i] = 1;
    st = tsr_matmul(session, &p, of_a ? x : ones, of_a ? ones : x, c, &run, NULL, err);
    for (size_t i = 0; st == TSR_OK && !*wrong && i < FACTORS; i++) {
        const double given = (double)factor(i), want = rounded(r, given);
        const double got = (double)c[of_a ? i * OTHERS + OTHERS - 1 : (OTHERS - 1) * FACTORS + i];
        const bool may_flush = !session_facts(session)->denormals_f32 && fabs(given) < FLT_MIN;

        *wrong = !(got == want || (isnan(got) && isnan(want)) || (may_flush && got == 0));
        if (*wrong)
            printf("FAIL %s %s: factor %zu of %s%s, %a, became %a and should be %a\n", variant,
                   r->name, i, of_a ? "A" : "B", trans ? " transposed" : "", given, got, want);
    }
    return st;
}

/* Each of the first `ways` that a variant takes; *ran counts them. */
static tsr_status check_variant(tsr_session *session, const char *variant, const rounding *r,
                                unsigned ways, size_t *ran, bool *wrong, tsr_error *err)
{
    for (unsigned way = 0; way < ways && !*wrong; way++) {
        const tsr_status st = check(session, variant, r, way & 1, way & 2, wrong, err);

        if (st != TSR_OK && st != TSR_EUNSUPPORTED)
            return st;
        *ran += st == TSR_OK;
    }
    return TSR_OK;
}

/* 0 where all is right: a variant that takes a precision no more, or is not there, is not. */
static int check_all(tsr_session *session, const char *only, tsr_error *err)
{
    bool failed = false, found = false;

    for (size_t v = 0; v < sizeof(variants) / sizeof(variants[0]); v++)
        for (size_t r = 0; r < sizeof(roundings) / sizeof(roundings[0]); r++) {
            const char *name = variants[v].name;
            bool wrong = false;
            size_t ran = 0;

            if (only && strcmp(only, name) != 0)
                continue;
            found = true;
            if (check_variant(session, name, &roundings[r], variants[v].turns ? 4 : 2, &ran, &wrong,
                              err) != TSR_OK)
                return 1;
            if (!wrong)
                printf("%s %s %s\n", ran ? "ok  " : "FAIL: did not run:", name, roundings[r].name);
            failed = failed || wrong || !ran;
        }
    return failed || !found ? 3 : 0;
}

int main(int argc, char **argv)
{
    const tsr_session_options options = {.kernel_dir = argc > 2 ? argv[2] : NULL};
    tsr_devices *list = NULL;
    const tsr_device *device = NULL;
    tsr_session *session = NULL;
    tsr_error err = {0};
    size_t count;
    int status = 1;

    if (argc < 2 || argc > 4) {
        fputs("Usage: rounded_factors DEVICE [FOLDER [VARIANT]]\n", stderr);
        return 2;
    }
    if (tsr_devices_find(&list, &err) == TSR_OK &&
        tsr_devices_select(list, argv[1], &device, 1, &count, &err) == TSR_OK &&
        tsr_session_open(device, &options, &session, &err) == TSR_OK)
        status = check_all(session, argc > 3 ? argv[3] : NULL, &err);
    if (status == 1)
        fprintf(stderr, "rounded_factors: %s\n", err.message);
    tsr_session_close(session);
    tsr_devices_close(list);
    return status;
}
