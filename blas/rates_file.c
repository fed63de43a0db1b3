#include "blas/rates_file.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "blas/cpu.h"
#include "blas/decimal_point.h"

/* Those that are timed; the others are as fast as one of them.  Of each but gemm there are two
 * forms. */
static const char *const routine_names[RATES_ROUTINES] = {
    "gemm",        "symm", "symm-right", "syrk", "syrk-trans", "syr2k",
    "syr2k-trans", "trmm", "trmm-right", "trsm", "trsm-right"};

static const char types[RATES_TYPES + 1] = "sdcz";
static const char *const places[] = {"cpu", "device"};

size_t rates_index(char type)
{
    return (size_t)(strchr(types, type) - types);
}

float rates_log2(double x)
{
    int exponent;
    const double fraction = frexp(x, &exponent); /* from 0.5 on, below 1 */

    return (float)exponent + 2 * (float)fraction - 2;
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
static bool read_sides(const char *line, float out[RATES_SIDES])
{
    double sides[RATES_SIDES];

    if (!read_numbers(line, RATES_SIDES, sides))
        return false;
    for (size_t i = 0; i < RATES_SIDES; i++) {
        if (sides[i] < 1 || sides[i] > INT_MAX || (i > 0 && sides[i] <= sides[i - 1]))
            return false;
        out[i] = rates_place((int64_t)sides[i]);
    }
    return true;
}

/* "dgemm device 1e-4 2e-4 ...": false where it is none, or damaged. */
static bool read_times(const char *line, rates_file *out)
{
    for (size_t t = 0; t < RATES_TYPES; t++) {
        for (size_t r = 0; r < RATES_ROUTINES; r++) {
            for (size_t p = 0; p < 2; p++) {
                rates_table *table = &out->tables[t][r][p];
                const size_t count = sizes_of(r) == 3 ? RATES_TIMES_MAX : RATES_SIDES * RATES_SIDES;
                double seconds[RATES_TIMES_MAX];
                char begin[32];
                const int length = snprintf(begin, sizeof begin, "%c%s %s ", types[t],
                                            routine_names[r], places[p]);

                if (strncmp(line, begin, (size_t)length) != 0)
                    continue;
                if (!read_numbers(line + length, count, seconds))
                    return false;
                for (size_t i = 0; i < count; i++)
                    table->times[i] = rates_log2(seconds[i]);
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

/* What else its lines say, and which there were. */
typedef struct found_lines {
    bool device, platform, cpu_blas, processors, copies, sides;
    bool same_blas, same_processors;
    char blas[PATH_MAX + 256];
    long processor_count;
} found_lines;

/* False: it is damaged. */
static bool read_line(const char *line, rates_file *out, found_lines *f)
{
    const char *value;

    if ((value = value_of(line, "device"))) {
        f->device = true;
        snprintf(out->device, sizeof out->device, "%.255s", value);
    } else if ((value = value_of(line, "platform"))) {
        f->platform = true;
        snprintf(out->platform, sizeof out->platform, "%.255s", value);
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
        return read_numbers(value, 1, &out->copies_in);
    } else if ((value = value_of(line, "sides"))) {
        f->sides = true;
        return read_sides(value, out->places);
    } else
        return read_times(line, out);
    return true;
}

/* Of a type there are all lines, or none: some devices have no float64. */
static bool is_complete(const rates_file *file, const found_lines *f)
{
    if (!(f->device && f->platform && f->cpu_blas && f->processors && f->copies && f->sides))
        return false;
    for (size_t t = 0; t < RATES_TYPES; t++) {
        for (size_t r = 0; r < RATES_ROUTINES; r++) {
            for (size_t p = 0; p < 2; p++) {
                if (file->tables[t][r][p].there != file->tables[t][0][0].there)
                    return false;
            }
        }
    }
    return true;
}

bool rates_file_read(rates_file *out, char reason[RATES_REASON_SIZE])
{
    static const char first_line[] = "tessera-blas-rates-5";
    char line[PATH_MAX + 256];
    found_lines found = {0};
    int number = 0;
    bool damaged = false;
    decimal_point numbers;
    FILE *file;

    reason[0] = '\0';
    memset(out, 0, sizeof *out);
    if (!find_file(out->path) || !(file = fopen(out->path, "re")))
        return false;
    numbers = decimal_point_begin();
    while (!damaged && fgets(line, sizeof line, file)) {
        const size_t length = strcspn(line, "\n");

        damaged = line[length] != '\n'; /* cut off */
        line[length] = '\0';
        number++;
        damaged |= number == 1 ? strcmp(line, first_line) != 0 : !read_line(line, out, &found);
    }
    decimal_point_end(numbers);
    fclose(file);
    if (number == 0 || (number == 1 && damaged))
        snprintf(reason, RATES_REASON_SIZE, "line 1 is not '%s'", first_line);
    else if (damaged)
        snprintf(reason, RATES_REASON_SIZE, "line %d is damaged", number);
    else if (!is_complete(out, &found))
        snprintf(reason, RATES_REASON_SIZE, "a line is missing");
    else if (!found.same_blas)
        snprintf(reason, RATES_REASON_SIZE, "they were measured with the CPU's BLAS %s",
                 found.blas);
    else if (!found.same_processors)
        snprintf(reason, RATES_REASON_SIZE, "they were measured on %ld processors",
                 found.processor_count);
    return true;
}

bool rates_file_is_of(const rates_file *file, const char *device, const char *platform,
                      char reason[RATES_REASON_SIZE])
{
    if (strcmp(device, file->device) == 0 && strcmp(platform, file->platform) == 0)
        return true;
    snprintf(reason, RATES_REASON_SIZE, "they were measured on '%s' of '%s'", file->device,
             file->platform);
    return false;
}
