#include "blas/rates.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "blas/cpu.h"
#include "blas/log.h"
#include "blas/parallel.h"

/* Of one thread, in host memory.  More than four meet the limit of the memory. */
#define COPY_RATE 2e9
enum { COPY_THREADS_MAX = 4 };

/* The CPU's BLAS gets what is no gain beyond the noise of what was measured: the binary logarithm
 * of 1.05. */
#define MARGIN_LOG2 0.07F

/* Sides that were timed, of each routine in all combinations of its sizes. */
enum { SIDES = 6, TIMES_MAX = SIDES * SIDES * SIDES };

/* Those that are timed; the others are as fast as one of them.  Of each but gemm there are two
 * forms. */
static const char *const routine_names[] = {"gemm",       "symm",  "symm-right",  "syrk",
                                            "syrk-trans", "syr2k", "syr2k-trans", "trmm",
                                            "trmm-right", "trsm",  "trsm-right"};
enum { ROUTINES = sizeof routine_names / sizeof *routine_names };

static const char types[] = "sdcz";
static const char *const places[] = {"cpu", "device"};

/* Binary logarithms of seconds: by the first size, then the second, then the third. */
typedef struct time_table {
    bool there;
    float times[TIMES_MAX];
} time_table;

static time_table tables[sizeof types - 1][ROUTINES][2];
static float side_places[SIDES]; /* place_of() them */
static double copies_in;         /* bytes a second, to the device */
static char tuned_device[256];
static char tuned_platform[256];
static atomic_bool usable, checked;

/* About binary logarithms: those of powers of 2 are exact, and what lies between is a line.  The
 * library does without libm, which few of the programs would have loaded otherwise. */
static float log2_about(double x)
{
    int exponent;
    const double fraction = frexp(x, &exponent); /* from 0.5 on, below 1 */

    return (float)exponent + 2 * (float)fraction - 2;
}

static double exp2_about(float x)
{
    const int exponent = (int)x - (x < (float)(int)x);

    return ldexp(1 + (double)(x - (float)exponent), exponent);
}

/* log2_about() a size. */
static float place_of(int64_t size)
{
    const int exponent = 63 - __builtin_clzll((unsigned long long)(size > 0 ? size : 1));

    return (float)exponent + (float)size / (float)((int64_t)1 << exponent) - 1;
}

/* Of gemm there are three sizes, of the others two. */
static size_t sizes_of(size_t routine)
{
    return routine == 0 ? 3 : 2;
}

/* The folder that `tessera tune` writes to. */
static bool find_file(char path[PATH_MAX])
{
    const char *own = getenv("TESSERA_TUNING_DIR");
    const char *config = getenv("XDG_CONFIG_HOME");
    const char *home = getenv("HOME");

    if (own && *own)
        snprintf(path, PATH_MAX, "%s/blas-rates", own);
    else if (config && *config == '/')
        snprintf(path, PATH_MAX, "%s/tessera/tuning/blas-rates", config);
    else if (home && *home == '/')
        snprintf(path, PATH_MAX, "%s/.config/tessera/tuning/blas-rates", home);
    else
        return false;
    return true;
}

/* Read positive numbers, which end with the line. */
static bool read_numbers(const char *line, size_t count, double out[])
{
    char *end;

    for (size_t i = 0; i < count; i++) {
        out[i] = strtod(line, &end);
        if (end == line || !(out[i] > 0 && out[i] <= DBL_MAX))
            return false;
        line = end;
    }
    return !*line;
}

/* "48 136 380 ...": from smaller to larger ones. */
static bool read_sides(const char *line)
{
    double sides[SIDES];

    if (!read_numbers(line, SIDES, sides))
        return false;
    for (size_t i = 0; i < SIDES; i++) {
        if (sides[i] < 1 || sides[i] > INT_MAX || (i > 0 && sides[i] <= sides[i - 1]))
            return false;
        side_places[i] = place_of((int64_t)sides[i]);
    }
    return true;
}

/* "dgemm device 1e-4 2e-4 ...": false where it is none, or damaged. */
static bool read_times(const char *line)
{
    for (size_t t = 0; t < sizeof types - 1; t++) {
        for (size_t r = 0; r < ROUTINES; r++) {
            for (size_t p = 0; p < 2; p++) {
                time_table *table = &tables[t][r][p];
                const size_t count = sizes_of(r) == 3 ? TIMES_MAX : SIDES * SIDES;
                double seconds[TIMES_MAX];
                char begin[32];
                const int length = snprintf(begin, sizeof begin, "%c%s %s ", types[t],
                                            routine_names[r], places[p]);

                if (strncmp(line, begin, (size_t)length) != 0)
                    continue;
                if (!read_numbers(line + length, count, seconds))
                    return false;
                for (size_t i = 0; i < count; i++)
                    table->times[i] = log2_about(seconds[i]);
                table->there = true;
                return true;
            }
        }
    }
    return false;
}

/* What follows a line's first word, where that is the one; else NULL. */
static const char *value_of(const char *line, const char *word)
{
    const size_t length = strlen(word);

    return strncmp(line, word, length) == 0 && line[length] == ' ' ? line + length + 1 : NULL;
}

/* The lines of the file, and which there were. */
typedef struct rates_file {
    bool device, platform, cpu_blas, processors, copies, sides;
    bool same_blas, same_processors;
    char blas[PATH_MAX + 256];
    long processor_count;
} rates_file;

/* False: it is damaged. */
static bool read_line(const char *line, rates_file *f)
{
    const char *value;

    if ((value = value_of(line, "device"))) {
        f->device = true;
        snprintf(tuned_device, sizeof tuned_device, "%.255s", value);
    } else if ((value = value_of(line, "platform"))) {
        f->platform = true;
        snprintf(tuned_platform, sizeof tuned_platform, "%.255s", value);
    } else if ((value = value_of(line, "cpu-blas"))) {
        f->cpu_blas = true;
        f->same_blas = strcmp(value, blas_cpu_description()) == 0;
        snprintf(f->blas, sizeof f->blas, "%s", value);
    } else if ((value = value_of(line, "processors"))) {
        f->processors = true;
        f->processor_count = strtol(value, NULL, 10);
        f->same_processors = f->processor_count == sysconf(_SC_NPROCESSORS_ONLN);
    } else if ((value = value_of(line, "copies-in"))) {
        f->copies = true;
        return read_numbers(value, 1, &copies_in);
    } else if ((value = value_of(line, "sides"))) {
        f->sides = true;
        return read_sides(value);
    } else
        return read_times(line);
    return true;
}

/* Of a type there are all lines, or none: some devices have no float64. */
static bool is_complete(const rates_file *f)
{
    if (!(f->device && f->platform && f->cpu_blas && f->processors && f->copies && f->sides))
        return false;
    for (size_t t = 0; t < sizeof types - 1; t++) {
        for (size_t r = 0; r < ROUTINES; r++) {
            for (size_t p = 0; p < 2; p++) {
                if (tables[t][r][p].there != tables[t][0][0].there)
                    return false;
            }
        }
    }
    return true;
}

enum { REASON_SIZE = PATH_MAX + 1024 };

/* False where there is no file; why its times are not used, "" where they are. */
static bool read_file(char reason[REASON_SIZE])
{
    static const char first_line[] = "tessera-blas-rates-5";
    char path[PATH_MAX], line[PATH_MAX + 256];
    rates_file found = {0};
    int number = 0;
    bool damaged = false;
    decimal_point numbers;
    FILE *file;

    reason[0] = '\0';
    if (!find_file(path) || !(file = fopen(path, "re")))
        return false;
    numbers = decimal_point_begin();
    while (!damaged && fgets(line, sizeof line, file)) {
        const size_t length = strcspn(line, "\n");

        damaged = line[length] != '\n'; /* cut off */
        line[length] = '\0';
        number++;
        damaged |= number == 1 ? strcmp(line, first_line) != 0 : !read_line(line, &found);
    }
    decimal_point_end(numbers);
    fclose(file);
    if (number == 0 || (number == 1 && damaged))
        snprintf(reason, REASON_SIZE, "line 1 is not '%s'", first_line);
    else if (damaged)
        snprintf(reason, REASON_SIZE, "line %d is damaged", number);
    else if (!is_complete(&found))
        snprintf(reason, REASON_SIZE, "a line is missing");
    else if (!found.same_blas)
        snprintf(reason, REASON_SIZE, "they were measured with the CPU's BLAS %s", found.blas);
    else if (!found.same_processors)
        snprintf(reason, REASON_SIZE, "they were measured on %ld processors",
                 found.processor_count);
    return true;
}

static bool are_of(const char *device, const char *platform, char reason[REASON_SIZE])
{
    if (strcmp(device, tuned_device) == 0 && strcmp(platform, tuned_platform) == 0)
        return true;
    snprintf(reason, REASON_SIZE, "they were measured on '%s' of '%s'", tuned_device,
             tuned_platform);
    return false;
}

static void log_ignored(const char *reason)
{
    char path[PATH_MAX];

    if (find_file(path))
        log_line("rates of %s are ignored: %s", path, reason);
}

void rates_read(void)
{
    char reason[REASON_SIZE];

    if (!read_file(reason))
        return;
    if (*reason)
        log_ignored(reason);
    else
        atomic_store(&usable, true);
}

int tsr_blas_rates_ignored(const char *device, const char *platform, char *why, size_t size)
{
    char reason[REASON_SIZE], path[PATH_MAX];

    why[0] = '\0';
    if (!read_file(reason) || !find_file(path))
        return 0;
    if (*reason || !are_of(device, platform, reason))
        snprintf(why, size, "rates of %s are ignored: %s", path, reason);
    return 1;
}

static size_t index_of_type(char type)
{
    return (size_t)(strchr(types, type) - types);
}

bool rates_have(char type)
{
    return atomic_load(&usable) && tables[index_of_type(type)][0][0].there;
}

bool rates_are_of(const char *device, const char *platform)
{
    char reason[REASON_SIZE];

    if (!are_of(device, platform, reason) && atomic_exchange(&usable, false))
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
    const float place = place_of(size);
    size_t at = 0;

    if (place <= side_places[0])
        return (among){0, 0, 0};
    if (place >= side_places[SIDES - 1])
        return (among){SIDES - 2, 1, place - side_places[SIDES - 1]};
    while (place >= side_places[at + 1])
        at++;
    return (among){at, (place - side_places[at]) / (side_places[at + 1] - side_places[at]), 0};
}

static float between(const float times[2], size_t step, float part)
{
    return times[0] + part * (times[step] - times[0]);
}

static float between_squares(const float *times, const among *first, const among *second)
{
    const float *at = times + first->at * SIDES + second->at;
    const float rows[] = {between(at, 1, second->part), between(at + SIDES, 1, second->part)};

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
static double with_copies(const time_table *device, float log2_time, double kept, double reads_c)
{
    double seconds = exp2_about(log2_time) + reads_c / copies_in + copy_seconds(reads_c);

    if (kept > 0) {
        /* What is there need not come; the least that any call takes remains. */
        const double least = exp2_about(device->times[0]);
        const double rest = seconds - kept / copies_in;

        seconds = rest > least ? rest : seconds < least ? seconds : least;
    }
    return seconds;
}

rates_times rates_expect(const blas_call *call, double kept, double reads_c)
{
    among sizes[3];
    bool squared;
    const size_t routine = look_up(call, sizes, &squared);
    const time_table *table = tables[index_of_type(call->type)][routine];
    float log2_times[2]; /* of the CPU, and the device */

    for (size_t p = 0; p < 2; p++) {
        const float *times = table[p].times;

        if (squared) {
            log2_times[p] = between_squares(times, &sizes[0], &sizes[1]) + 2 * sizes[0].beyond +
                            sizes[1].beyond;
        } else {
            const float *at = times + sizes[0].at * SIDES * SIDES;
            const float planes[] = {between_squares(at, &sizes[1], &sizes[2]),
                                    between_squares(at + SIDES * SIDES, &sizes[1], &sizes[2])};

            log2_times[p] = between(planes, 1, sizes[0].part) + sizes[0].beyond + sizes[1].beyond +
                            sizes[2].beyond;
        }
    }
    if (kept > 0 || reads_c > 0) /* most calls need no exponential */
        log2_times[1] = log2_about(with_copies(&table[1], log2_times[1], kept, reads_c));
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

float rates_log2(double seconds)
{
    return log2_about(seconds);
}
