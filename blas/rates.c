#include "blas/rates.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "blas/cpu.h"
#include "blas/parallel.h"

/* Of one thread, elements of one matrix to another in a different order.  More than four meet the
 * limit of the memory. */
#define COPY_RATE 2e9
enum { COPY_THREADS_MAX = 4 };

/* From here on libtessera copies and multiplies at the same time. */
#define STREAMED_BYTES (64.0 * 1024 * 1024)

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
    blas_rates r;

    if (sscanf(line, "latency %lf in %lf out %lf device %lf %lf %lf cpu %lf %lf %lf cpu-bytes %lf",
               &r.latency, &r.in, &r.out, &r.device[0], &r.device[1], &r.device[2], &r.cpu[0],
               &r.cpu[1], &r.cpu[2], &r.cpu_bytes) != 10 ||
        !(r.latency > 0 && r.in > 0 && r.out > 0 && r.cpu_bytes > 0))
        return false;
    for (size_t i = 0; i < RATES_SIDES; i++) {
        if (!(r.device[i] > 0 && r.cpu[i] > 0))
            return false;
    }
    *out = r;
    return true;
}

/* What follows a line's first word, where that is the one; else NULL. */
static char *value_of(char *line, const char *word)
{
    const size_t length = strlen(word);

    line[strcspn(line, "\n")] = '\0';
    return strncmp(line, word, length) == 0 && line[length] == ' ' ? line + length + 1 : NULL;
}

void rates_read(void)
{
    char path[PATH_MAX], line[PATH_MAX + 256];
    bool same_blas = false, same_processors = false;
    const char *value;
    FILE *file;

    if (!find_file(path) || !(file = fopen(path, "re")))
        return;
    if (!fgets(line, sizeof line, file) || strcmp(line, "tessera-blas-rates-1\n") != 0) {
        fclose(file);
        return;
    }
    while (fgets(line, sizeof line, file)) {
        if ((value = value_of(line, "device")))
            snprintf(tuned_device, sizeof tuned_device, "%.255s", value);
        else if ((value = value_of(line, "platform")))
            snprintf(tuned_platform, sizeof tuned_platform, "%.255s", value);
        else if ((value = value_of(line, "cpu-blas")))
            same_blas = strcmp(value, blas_cpu_description()) == 0;
        else if ((value = value_of(line, "processors")))
            same_processors = strtol(value, NULL, 10) == sysconf(_SC_NPROCESSORS_ONLN);
        else if ((value = value_of(line, "float32")))
            read_rates(value, &rates[0]);
        else if ((value = value_of(line, "float64")))
            read_rates(value, &rates[1]);
    }
    fclose(file);
    atomic_store(&usable, same_blas && same_processors);
}

const blas_rates *rates_of(bool f64)
{
    return atomic_load(&usable) && rates[f64].latency > 0 ? &rates[f64] : NULL;
}

bool rates_are_of(const char *device, const char *platform)
{
    if (strcmp(device, tuned_device) != 0 || strcmp(platform, tuned_platform) != 0)
        atomic_store(&usable, false);
    atomic_store(&checked, true);
    return atomic_load(&usable);
}

bool rates_are_checked(void)
{
    return atomic_load(&checked);
}

/* Seconds of so many operations, by rates between the sides that were timed. */
static double seconds_of(const double rates_of_sides[RATES_SIDES], double operations)
{
    static const double sides[RATES_SIDES] = {256, 704, 2048};
    double at[RATES_SIDES]; /* operations of the square products */

    for (size_t i = 0; i < RATES_SIDES; i++)
        at[i] = 2 * sides[i] * sides[i] * sides[i];
    if (operations <= at[0])
        return operations / rates_of_sides[0];
    for (size_t i = 1; i < RATES_SIDES; i++) {
        if (operations < at[i]) {
            const double part = (operations - at[i - 1]) / (at[i] - at[i - 1]);

            /* Seconds grow with the operations, whatever the rates are. */
            return (1 - part) * at[i - 1] / rates_of_sides[i - 1] +
                   part * at[i] / rates_of_sides[i];
        }
    }
    return operations / rates_of_sides[RATES_SIDES - 1];
}

double rates_device_product(const blas_rates *r, bool f64, double m, double n, double k,
                            bool reads_c)
{
    const double size = f64 ? sizeof(double) : sizeof(float);
    const double in = size * (m * k + k * n + (reads_c ? m * n : 0)) / r->in;
    const double work = seconds_of(r->device, 2 * m * n * k);
    const double out = size * m * n / r->out;
    double longest = in > out ? in : out;

    if (size * (m * k + k * n + m * n) < STREAMED_BYTES)
        return r->latency + in + work + out;
    longest = work > longest ? work : longest;
    return r->latency + longest;
}

double rates_cpu(const blas_rates *r, double operations, double bytes)
{
    const double work = seconds_of(r->cpu, operations), copies = bytes / r->cpu_bytes;

    return work > copies ? work : copies;
}

double rates_copy(double bytes)
{
    const int threads = parallel_threads();

    return bytes / (COPY_RATE * (threads < COPY_THREADS_MAX ? threads : COPY_THREADS_MAX));
}
