#include "blas/rates.h"

#include <math.h>
#include <stdatomic.h>

#include "blas/log.h"
#include "blas/parallel.h"

/* Of one thread, in host memory.  More than four meet the limit of the memory. */
#define COPY_RATE 2e9
enum { COPY_THREADS_MAX = 4 };

/* The CPU's BLAS gets what is no gain beyond the noise of what was measured: the binary logarithm
 * of 1.05. */
#define MARGIN_LOG2 0.07F

static rates_file file;
static atomic_bool usable, checked;

/* The inverse of rates_log2(). */
static double exp2_about(float x)
{
    const int exponent = (int)x - (x < (float)(int)x);

    return ldexp(1 + (double)(x - (float)exponent), exponent);
}

static void log_ignored(const char *reason)
{
    log_line("rates of %s are ignored: %s", file.path, reason);
}

void rates_read(void)
{
    char reason[RATES_REASON_SIZE];

    if (!rates_file_read(&file, reason))
        return;
    if (*reason)
        log_ignored(reason);
    else
        atomic_store(&usable, true);
}

bool rates_have(char type)
{
    return atomic_load(&usable) && file.tables[rates_index(type)][0][0].there;
}

bool rates_are_of(const char *device, const char *platform)
{
    char reason[RATES_REASON_SIZE];

    if (!rates_file_is_of(&file, device, platform, reason) && atomic_exchange(&usable, false))
        log_ignored(reason);
    atomic_store(&checked, true);
    return atomic_load(&usable);
}

bool rates_are_checked(void)
{
    return atomic_load(&checked);
}

bool rates_are_streamed(double bytes)
{
    return bytes >= 64.0 * 1024 * 1024;
}

/* Where a size lies among the sides that were timed. */
typedef struct among {
    size_t at;    /* behind this one */
    float part;   /* of the way to the next; sizes below the first are taken for it */
    float beyond; /* the last one: log2 of how many times */
} among;

static among find_side(int64_t size)
{
    const float place = rates_place(size);
    size_t at = 0;

    if (place <= file.places[0])
        return (among){0, 0, 0};
    if (place >= file.places[RATES_SIDES - 1])
        return (among){RATES_SIDES - 2, 1, place - file.places[RATES_SIDES - 1]};
    while (place >= file.places[at + 1])
        at++;
    return (among){at, (place - file.places[at]) / (file.places[at + 1] - file.places[at]), 0};
}

static float between(const float times[2], size_t step, float part)
{
    return times[0] + part * (times[step] - times[0]);
}

static float between_squares(const float *times, const among *first, const among *second)
{
    const float *at = times + first->at * RATES_SIDES + second->at;
    const float rows[] = {between(at, 1, second->part), between(at + RATES_SIDES, 1, second->part)};

    return between(rows, 1, first->part);
}

/* The routine whose times are those of a call, and its sizes.  A pair of them are the order of the
 * triangular or symmetric matrix and the other size; `squared` where the work grows with the square
 * of the first. */
static size_t look_up(const blas_call *call, among sizes[3], bool *squared)
{
    const bool right = call->side == 'R', transposed = call->transa != 'N';

    *squared = call->routine != BLAS_GEMM;
    switch (call->routine) {
    case BLAS_GEMM:
        sizes[0] = find_side(call->m);
        sizes[1] = find_side(call->n);
        sizes[2] = find_side(call->k);
        return 0;
    case BLAS_SYRK:
    case BLAS_HERK:
    case BLAS_SYR2K:
    case BLAS_HER2K:
        sizes[0] = find_side(call->n);
        sizes[1] = find_side(call->k);
        return (call->routine == BLAS_SYRK || call->routine == BLAS_HERK ? 3 : 5) + transposed;
    default:
        sizes[0] = find_side(right ? call->n : call->m);
        sizes[1] = find_side(right ? call->m : call->n);
        return (call->routine == BLAS_TRMM ? 7 : call->routine == BLAS_TRSM ? 9 : 1) + right;
    }
}

/* Seconds to read bytes of host memory and write them elsewhere. */
static double copy_seconds(double bytes)
{
    const int threads = parallel_threads();

    return bytes / (COPY_RATE * (threads < COPY_THREADS_MAX ? threads : COPY_THREADS_MAX));
}

/* What a call takes on the device whose operands are copied as the caller of rates_expect() says.
 */
static double with_copies(const rates_table *device, float log2_time, double kept, double reads_c)
{
    double seconds = exp2_about(log2_time) + reads_c / file.copies_in + copy_seconds(reads_c);

    if (kept > 0) {
        /* What is there need not come; the least that any call takes remains. */
        const double least = exp2_about(device->times[0]);
        const double rest = seconds - kept / file.copies_in;

        seconds = rest > least ? rest : seconds < least ? seconds : least;
    }
    return seconds;
}

rates_times rates_expect(const blas_call *call, double kept, double reads_c)
{
    among sizes[3];
    bool squared;
    const size_t routine = look_up(call, sizes, &squared);
    const rates_table *table = file.tables[rates_index(call->type)][routine];
    float log2_times[2]; /* of the CPU, and the device */

    for (size_t p = 0; p < 2; p++) {
        const float *times = table[p].times;

        if (squared) {
            log2_times[p] = between_squares(times, &sizes[0], &sizes[1]) + 2 * sizes[0].beyond +
                            sizes[1].beyond;
        } else {
            const float *at = times + sizes[0].at * RATES_SIDES * RATES_SIDES;
            const float planes[] = {
                between_squares(at, &sizes[1], &sizes[2]),
                between_squares(at + RATES_SIDES * RATES_SIDES, &sizes[1], &sizes[2])};

            log2_times[p] = between(planes, 1, sizes[0].part) + sizes[0].beyond + sizes[1].beyond +
                            sizes[2].beyond;
        }
    }
    if (kept > 0 || reads_c > 0) /* most calls need no exponential */
        log2_times[1] = rates_log2(with_copies(&table[1], log2_times[1], kept, reads_c));
    return (rates_times){log2_times[0], log2_times[1]};
}

bool rates_prefer_device(const rates_times *expected)
{
    return expected->device + MARGIN_LOG2 < expected->cpu;
}

double rates_seconds(float log2_seconds)
{
    return exp2_about(log2_seconds);
}
