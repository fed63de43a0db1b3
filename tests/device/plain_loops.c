/* What plain C loops reach on this machine's cores: the yardstick of the limits that `tessera
 * roofline` measures on a CPU.  Vector extensions of GCC and clang, a thread for each core.
 *
 *     plain_loops SECONDS    print "NAME RATE" lines: GFLOP/s, Gop/s, GB/s; each the best of
 *                            samples taken for so long
 *
 * Built for the machine that builds it (-march=native -ffp-contract=fast).  The loops are written
 * on their own, not after the kernels.  Each result is used, so that none can be left out.
 */
#ifdef __AVX2__
#include <immintrin.h>
#endif
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#if defined(__AVX512F__)
#define BYTES 64
#elif defined(__AVX__)
#define BYTES 32
#else
#define BYTES 16
#endif

typedef float floats __attribute__((vector_size(BYTES)));
typedef double doubles __attribute__((vector_size(BYTES)));
typedef uint32_t words __attribute__((vector_size(BYTES)));

enum { CHAINS = 12, STEPS = 200000, SORTED = 8, ROUNDS = 40000, TILE = 16384, PASSES = 20000 };

static const size_t buffer_bytes = (size_t)256 << 20;
static volatile double sink;

/* Twelve chains: more than latency times throughput of any core so far, and all in registers. */
#define MULTIPLY_ADDS(name, type, scalar)                                                          \
    static double name(void)                                                                       \
    {                                                                                              \
        double work = 0;                                                                           \
                                                                                                   \
        _Pragma("omp parallel reduction(+ : work)")                                                \
        {                                                                                          \
            type x[CHAINS], a, b;                                                                  \
                                                                                                   \
            for (int i = 0; i < (int)(BYTES / sizeof(scalar)); i++) {                              \
                a[i] = (scalar)(0.999 + 1e-6 * omp_get_thread_num());                              \
                b[i] = (scalar)(0.001 * i);                                                        \
            }                                                                                      \
            for (int c = 0; c < CHAINS; c++)                                                       \
                x[c] = b + (scalar)c;                                                              \
            for (int s = 0; s < STEPS; s++)                                                        \
                _Pragma("GCC unroll 16") for (int c = 0; c < CHAINS; c++) x[c] = x[c] * a + b;     \
            for (int c = 1; c < CHAINS; c++)                                                       \
                x[0] += x[c];                                                                      \
            __asm__ volatile("" : : "m"(x[0])); /* all lanes of it are used */                     \
            work += 2.0 * STEPS * CHAINS * (BYTES / sizeof(scalar));                               \
        }                                                                                          \
        return work;                                                                               \
    }

MULTIPLY_ADDS(multiply_add_float, floats, float)
MULTIPLY_ADDS(multiply_add_double, doubles, double)

#if defined(__AVX512F__)
#define MIN(a, b) ((words)_mm512_min_epu32((__m512i)(a), (__m512i)(b)))
#define MAX(a, b) ((words)_mm512_max_epu32((__m512i)(a), (__m512i)(b)))
#elif defined(__AVX2__)
#define MIN(a, b) ((words)_mm256_min_epu32((__m256i)(a), (__m256i)(b)))
#define MAX(a, b) ((words)_mm256_max_epu32((__m256i)(a), (__m256i)(b)))
#endif

#ifdef MIN
/* Minimum and maximum of neighbours, as in a sort by transposition. */
static double min_max(void)
{
    double work = 0;

#pragma omp parallel reduction(+ : work)
    {
        words x[SORTED];
        uint32_t sum = 0;

        for (int c = 0; c < SORTED; c++)
            for (int i = 0; i < (int)(BYTES / sizeof(uint32_t)); i++)
                x[c][i] = 2654435761u * (uint32_t)(c * 64 + i + omp_get_thread_num());
        for (int r = 0; r < ROUNDS; r++) {
#pragma GCC unroll 8
            for (int round = 0; round < SORTED; round++) {
#pragma GCC unroll 8
                for (int c = round & 1; c + 1 < SORTED; c += 2) {
                    words low = MIN(x[c], x[c + 1]);

                    x[c + 1] = MAX(x[c], x[c + 1]);
                    x[c] = low;
                }
            }
            x[0] += 0x9E3779B9u;
        }
        for (int c = 0; c < SORTED; c++)
            sum += x[c][0];
        sink = sum;
        work += (double)ROUNDS * SORTED * (SORTED - 1) * (BYTES / sizeof(uint32_t));
    }
    return work;
}
#endif

static words *from, *to;

static double read_memory(void)
{
    const size_t n = buffer_bytes / BYTES;
    double total = 0;

#pragma omp parallel reduction(+ : total)
    {
        words sum[4] = {0};

#pragma omp for schedule(static)
        for (size_t i = 0; i < n; i += 4)
            for (int a = 0; a < 4; a++)
                sum[a] += from[i + (size_t)a];
        total += sum[0][0] + sum[1][0] + sum[2][0] + sum[3][0];
    }
    sink = total;
    return (double)buffer_bytes;
}

static double write_memory(void)
{
    static uint32_t seed;
    const size_t n = buffer_bytes / BYTES;
    const words value = (words){0} + ++seed;

#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i++)
        to[i] = value;
    sink = to[n / 2][0];
    return (double)buffer_bytes;
}

static double copy_memory(void)
{
    const size_t n = buffer_bytes / BYTES;

#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i++)
        to[i] = from[i];
    sink = to[n / 2][0];
    return 2 * (double)buffer_bytes;
}

/* A tile in the first cache, read over and over. */
static double read_tile(void)
{
    double work = 0;

#pragma omp parallel reduction(+ : work)
    {
        static _Thread_local words tile[TILE / BYTES];
        words sum[8] = {0};

        memset(tile, omp_get_thread_num() + 1, sizeof(tile));
        for (int p = 0; p < PASSES; p++) {
            /* The tile may have changed, for all that the compiler knows. */
            __asm__ volatile("" : : "r"(tile) : "memory");
            for (size_t i = 0; i < TILE / BYTES; i += 8)
#pragma GCC unroll 8
                for (size_t a = 0; a < 8; a++)
                    sum[a] += tile[i + a];
        }
        for (int a = 1; a < 8; a++)
            sum[0] += sum[a];
        sink = sum[0][0];
        work += (double)PASSES * TILE;
    }
    return work;
}

static void measure(const char *name, double (*loop)(void), double seconds)
{
    const uint64_t start = clock_ns();
    double best = 0;

    loop();
    do {
        const uint64_t before = clock_ns();
        const double rate = loop() / (double)(clock_ns() - before);

        best = rate > best ? rate : best;
    } while ((double)(clock_ns() - start) < seconds * 1e9);
    printf("%s %.3f\n", name, best);
}

int main(int argc, char **argv)
{
    const double seconds = argc > 1 ? atof(argv[1]) : 0.7;

    from = aligned_alloc(BYTES, buffer_bytes);
    to = aligned_alloc(BYTES, buffer_bytes);
    if (!from || !to) {
        fputs("plain_loops: no memory\n", stderr);
        return 1;
    }
    memset(from, 1, buffer_bytes);
    memset(to, 2, buffer_bytes);
    measure("fp32", multiply_add_float, seconds);
    measure("fp64", multiply_add_double, seconds);
#ifdef MIN
    measure("int32", min_max, seconds);
#endif
    measure("memory read", read_memory, seconds);
    measure("memory write", write_memory, seconds);
    measure("memory copy", copy_memory, seconds);
    measure("local memory", read_tile, seconds);
    free(from);
    free(to);
    return 0;
}
