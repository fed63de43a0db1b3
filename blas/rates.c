#include "blas/rates.h"

#include <float.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "blas/cpu.h"
#include "blas/log.h"
#include "blas/parallel.h"

/* Of one thread, elements of one matrix to another in a different order.  More than four meet the
 * limit of the memory. */
#define COPY_RATE 2e9
enum { COPY_THREADS_MAX = 4 };

static blas_rates rates[2]; /* float32, float64; latency 0: not measured */
static char tuned_device[256];
static char tuned_platform[256];
static atomic_bool usable, checked;

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

static bool read_rates(const char *line, blas_rates *out)
{
    blas_rates r = {0};
    const double *const numbers[] = {
        &r.latency,   &r.in,           &r.out,          &r.device[0],    &r.device[1],
        &r.device[2], &r.device[3],    &r.cpu[0],       &r.cpu[1],       &r.cpu[2],
        &r.cpu[3],    &r.cpu_bytes[0], &r.cpu_bytes[1], &r.cpu_symmetric};
    int end = 0;

    if (sscanf(line,
               "latency %lf in %lf out %lf device %lf %lf %lf %lf cpu %lf %lf %lf %lf cpu-bytes "
               "%lf %lf cpu-symm %lf%n",
               &r.latency, &r.in, &r.out, &r.device[0], &r.device[1], &r.device[2], &r.device[3],
               &r.cpu[0], &r.cpu[1], &r.cpu[2], &r.cpu[3], &r.cpu_bytes[0], &r.cpu_bytes[1],
               &r.cpu_symmetric, &end) != 14 ||
        line[end])
        return false;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (!(*numbers[i] > 0 && *numbers[i] <= DBL_MAX))
            return false;
    }
    *out = r;
    return true;
}

/* What follows a line's first word, where that is the one; else NULL. */
static const char *value_of(const char *line, const char *word)
{
    const size_t length = strlen(word);

    return strncmp(line, word, length) == 0 && line[length] == ' ' ? line + length + 1 : NULL;
}

/* The lines of the file, and which there were. */
typedef struct rates_file {
    bool device, platform, cpu_blas, processors;
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
    } else if ((value = value_of(line, "float32"))) {
        return read_rates(value, &rates[0]);
    } else if ((value = value_of(line, "float64"))) {
        return read_rates(value, &rates[1]);
    } else
        return false;
    return true;
}

void rates_read(void)
{
    static const char first_line[] = "tessera-blas-rates-3";
    char path[PATH_MAX], line[PATH_MAX + 256];
    rates_file found = {0};
    int number = 0;
    bool damaged = false;
    decimal_point numbers;
    FILE *file;

    if (!find_file(path) || !(file = fopen(path, "re")))
        return;
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
        log_line("rates of %s are ignored: line 1 is not '%s'", path, first_line);
    else if (damaged)
        log_line("rates of %s are ignored: line %d is damaged", path, number);
    else if (!(found.device && found.platform && found.cpu_blas && found.processors))
        log_line("rates of %s are ignored: it lacks a line", path);
    else if (!found.same_blas)
        log_line("rates of %s are ignored: they are of the CPU's BLAS %s", path, found.blas);
    else if (!found.same_processors)
        log_line("rates of %s are ignored: they are of %ld processors", path,
                 found.processor_count);
    else
        atomic_store(&usable, true);
}

const blas_rates *rates_of(bool f64)
{
    return atomic_load(&usable) && rates[f64].latency > 0 ? &rates[f64] : NULL;
}

bool rates_are_of(const char *device, const char *platform)
{
    char path[PATH_MAX];

    if ((strcmp(device, tuned_device) != 0 || strcmp(platform, tuned_platform) != 0) &&
        atomic_exchange(&usable, false) && find_file(path))
        log_line("rates of %s are ignored: they are of '%s' of '%s'", path, tuned_device,
                 tuned_platform);
    atomic_store(&checked, true);
    return atomic_load(&usable);
}

bool rates_are_checked(void)
{
    return atomic_load(&checked);
}

/* Seconds of so much work, by rates of some amounts of it: between them seconds grow with the work,
 * whatever the rates are. */
static double seconds_between(size_t count, const double amounts[], const double rates_there[],
                              double work)
{
    if (work <= amounts[0])
        return work / rates_there[0];
    for (size_t i = 1; i < count; i++) {
        if (work < amounts[i]) {
            const double part = (work - amounts[i - 1]) / (amounts[i] - amounts[i - 1]);

            return (1 - part) * amounts[i - 1] / rates_there[i - 1] +
                   part * amounts[i] / rates_there[i];
        }
    }
    return work / rates_there[count - 1];
}

/* Seconds of so many operations, by rates of the sides that were timed. */
static double seconds_of(const double rates_of_sides[RATES_SIDES], double operations)
{
    static const double timed[RATES_SIDES] = {2.0 * 64 * 64 * 64, 2.0 * 256 * 256 * 256,
                                              2.0 * 704 * 704 * 704, 2.0 * 2048 * 2048 * 2048};

    return seconds_between(RATES_SIDES, timed, rates_of_sides, operations);
}

bool rates_are_streamed(double bytes)
{
    return bytes >= 64.0 * 1024 * 1024;
}

double rates_device_product(const blas_rates *r, bool f64, double m, double n, double k,
                            bool reads_c, double kept)
{
    const double size = f64 ? sizeof(double) : sizeof(float);
    const double in = (size * (m * k + k * n + (reads_c ? m * n : 0)) - kept) / r->in;
    const double work = seconds_of(r->device, 2 * m * n * k);
    const double out = size * m * n / r->out;
    double longest = in > out ? in : out;

    if (kept > 0 || !rates_are_streamed(size * (m * k + k * n + m * n)))
        return r->latency + in + work + out;
    longest = work > longest ? work : longest;
    return r->latency + longest;
}

double rates_cpu(const blas_rates *r, bool f64, double operations, double bytes)
{
    const double size = f64 ? sizeof(double) : sizeof(float);
    const double timed[RATES_THIN] = {size * (256 * 256 + 2 * 256 * 8),
                                      size * (2048 * 2048 + 2 * 2048 * 8)};
    const double work = seconds_of(r->cpu, operations);
    const double copies = seconds_between(RATES_THIN, timed, r->cpu_bytes, bytes);

    return work > copies ? work : copies;
}

double rates_copy(double bytes)
{
    const int threads = parallel_threads();

    return bytes / (COPY_RATE * (threads < COPY_THREADS_MAX ? threads : COPY_THREADS_MAX));
}
