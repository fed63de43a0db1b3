/*
 * `tessera tune blas`: rates by which libtessera-blas decides where a product runs (blas/rates.h).
 *
 * Both sides are timed through libtessera-blas, as programs call it, each in a process of its own:
 * once with all on the CPU's BLAS, once with all on the device.  Its log says which BLAS that was,
 * and whether the device took the products.
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/files.h"
#include "base/text.h"
#include "cli/activity.h"
#include "cli/commands.h"
#include "cli/device_choice.h"
#include "cli/messages.h"
#include "core/tuning_file.h"
#include "file/output.h"

/* What is timed: C := A B of m x k and k x n, the second by symm. */
typedef enum shape {
    SHAPE_SMALL, /* takes no time but to be called */
    SHAPE_SYMM,
    SHAPE_LONG,       /* long operands, a small result */
    SHAPE_THIN_SMALL, /* the opposite, in caches */
    SHAPE_THIN,       /* and beyond them */
    SHAPE_SQUARE_64,
    SHAPE_SQUARE_256,
    SHAPE_SQUARE_704,
    SHAPE_SQUARE_2048,
    SHAPE_COUNT
} shape;

static const struct {
    int m, n, k;
} shapes[SHAPE_COUNT] = {{8, 8, 8},       {8, 8, 8},       {64, 64, 1 << 16},
                         {256, 256, 8},   {2048, 2048, 8}, {64, 64, 64},
                         {256, 256, 256}, {704, 704, 704}, {2048, 2048, 2048}};

/* Each shape is timed in rounds, on the CPU and on the device by turns: what else the machine does
 * slows both. */
enum { ELEMENTS = 1 << 22, ROUNDS = 3, REPEATS_MAX = 50 };
#define SECONDS_A_ROUND 0.1

/* Best times in seconds, of float32 and float64. */
typedef struct times {
    double t[2][SHAPE_COUNT];
} times;

typedef void blas_sgemm(int, int, int, int, int, int, float, const void *, int, const void *, int,
                        float, void *, int);
typedef void blas_dgemm(int, int, int, int, int, int, double, const void *, int, const void *, int,
                        double, void *, int);

/* ---- in a process of its own ----------------------------------------------------------------- */

typedef void blas_ssymm(int, int, int, int, int, float, const void *, int, const void *, int, float,
                        void *, int);
typedef void blas_dsymm(int, int, int, int, int, double, const void *, int, const void *, int,
                        double, void *, int);

static void multiply_symmetric(void *function, bool f64, int m, int n, void *const arrays[3])
{
    const int row_major = 101, upper = 121, left = 141;
    blas_ssymm *ssymm;
    blas_dsymm *dsymm;

    if (f64) {
        memcpy(&dsymm, &function, sizeof dsymm);
        dsymm(row_major, left, upper, m, n, 1, arrays[0], m, arrays[1], n, 0, arrays[2], n);
    } else {
        memcpy(&ssymm, &function, sizeof ssymm);
        ssymm(row_major, left, upper, m, n, 1, arrays[0], m, arrays[1], n, 0, arrays[2], n);
    }
}

static void multiply(void *function, bool f64, shape s, void *const arrays[3])
{
    const int row_major = 101, no_trans = 111;
    const int m = shapes[s].m, n = shapes[s].n, k = shapes[s].k;
    blas_sgemm *sgemm;
    blas_dgemm *dgemm;

    if (s == SHAPE_SYMM) {
        multiply_symmetric(function, f64, m, n, arrays);
    } else if (f64) {
        memcpy(&dgemm, &function, sizeof dgemm);
        dgemm(row_major, no_trans, no_trans, m, n, k, 1, arrays[0], k, arrays[1], n, 0, arrays[2],
              n);
    } else {
        memcpy(&sgemm, &function, sizeof sgemm);
        sgemm(row_major, no_trans, no_trans, m, n, k, 1, arrays[0], k, arrays[1], n, 0, arrays[2],
              n);
    }
}

/* The best time of a round, in seconds. */
static double best_time(void *function, bool f64, shape s, void *const arrays[3])
{
    const uint64_t start = clock_ns();
    double best = 0;

    /* The first call builds kernels and touches memory. */
    multiply(function, f64, s, arrays);
    for (int i = 0; i < REPEATS_MAX; i++) {
        const uint64_t before = clock_ns();
        double seconds;

        multiply(function, f64, s, arrays);
        seconds = (double)(clock_ns() - before) * 1e-9;
        best = i == 0 || seconds < best ? seconds : best;
        if ((double)(clock_ns() - start) * 1e-9 > SECONDS_A_ROUND)
            break;
    }
    return best;
}

/* What is asked of a process. */
typedef struct request {
    bool f64;
    shape s;
} request;

/* Answer requests with times.  With a log a call takes as long as it takes to write that too. */
static void time_products(const char *library, const char *mode, const char *log, int in, int out)
{
    static const char *const names[] = {"cblas_sgemm", "cblas_dgemm", "cblas_ssymm", "cblas_dsymm"};
    void *handle, *arrays[3], *functions[4];
    request wanted;

    setenv("TESSERA_BLAS", mode, 1);
    unsetenv("TESSERA_BLAS_LOG");
    if (log)
        setenv("TESSERA_BLAS_LOG", log, 1);
    handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        _exit(EXIT_FAILED);
    for (size_t i = 0; i < 4; i++) {
        functions[i] = dlsym(handle, names[i]);
        if (!functions[i])
            _exit(EXIT_FAILED);
    }
    for (size_t i = 0; i < 3; i++) {
        arrays[i] = malloc(ELEMENTS * sizeof(double));
        if (!arrays[i])
            _exit(EXIT_FAILED);
        memset(arrays[i], 0, ELEMENTS * sizeof(double)); /* 0 in both types */
    }
    while (read(in, &wanted, sizeof wanted) == sizeof wanted) {
        const size_t function = wanted.f64 + (wanted.s == SHAPE_SYMM ? 2 : 0);
        const double seconds = best_time(functions[function], wanted.f64, wanted.s, arrays);

        if (write(out, &seconds, sizeof seconds) != sizeof seconds)
            break;
    }
    _exit(EXIT_DONE);
}

/* A process that times products in one place, and has used no driver before. */
typedef struct place {
    pid_t process;
    int in, out; /* of requests, of times */
} place;

static tsr_status place_open(place *p, const char *library, const char *mode, const char *log,
                             tsr_error *err)
{
    int in[2], out[2];

    if (pipe(in) < 0)
        return tsr_fail(err, TSR_ENOMEM, 0, "no pipe for timing: %s", strerror(errno));
    if (pipe(out) < 0) {
        close(in[0]);
        close(in[1]);
        return tsr_fail(err, TSR_ENOMEM, 0, "no pipe for timing: %s", strerror(errno));
    }
    p->process = fork();
    if (p->process == 0) {
        close(in[1]);
        close(out[0]);
        time_products(library, mode, log, in[0], out[1]);
    }
    close(in[0]);
    close(out[1]);
    p->in = in[1];
    p->out = out[0];
    if (p->process < 0)
        return tsr_fail(err, TSR_ENOMEM, 0, "no process for timing: %s", strerror(errno));
    return TSR_OK;
}

static tsr_status place_time(const place *p, request wanted, double *seconds, tsr_error *err)
{
    ssize_t got = write(p->in, &wanted, sizeof wanted);

    if (got == sizeof wanted) {
        do
            got = read(p->out, seconds, sizeof *seconds);
        while (got < 0 && errno == EINTR);
    }
    if (got != sizeof *seconds)
        return tsr_fail(err, TSR_EUNSUPPORTED, 0, "the process that timed products ended early");
    return TSR_OK;
}

/* The processes exit, and write their logs, at the end of their input.  All pipes are closed before
 * any process is waited for, since later processes inherited the pipes of earlier ones. */
static void places_close(place p[2])
{
    int status;

    for (int i = 0; i < 2; i++) {
        if (p[i].in >= 0)
            close(p[i].in);
        if (p[i].out >= 0)
            close(p[i].out);
    }
    for (int i = 0; i < 2; i++) {
        while (p[i].process > 0 && waitpid(p[i].process, &status, 0) < 0 && errno == EINTR)
            ;
    }
}

static const char *const modes[2] = {"never", "always"};

/* A small product of each type in both places, with logs. */
static tsr_status write_logs(const char *library, const char *const logs[2], tsr_error *err)
{
    place places[2] = {{-1, -1, -1}, {-1, -1, -1}};
    double seconds;
    tsr_status st = TSR_OK;

    for (int p = 0; p < 2 && !st; p++) {
        st = place_open(&places[p], library, modes[p], logs[p], err);
        for (int f64 = 0; f64 < 2 && !st; f64++)
            st = place_time(&places[p], (request){f64, SHAPE_SMALL}, &seconds, err);
    }
    places_close(places);
    return st;
}

static tsr_status time_all(const char *library, const char *const logs[2], times found[2],
                           tsr_error *err)
{
    place places[2] = {{-1, -1, -1}, {-1, -1, -1}};
    void (*const before)(int) = signal(SIGPIPE, SIG_IGN); /* of a process that ended early */
    tsr_status st = write_logs(library, logs, err);

    for (int p = 0; p < 2 && !st; p++)
        st = place_open(&places[p], library, modes[p], NULL, err);
    for (int at = 0; at < 2 * SHAPE_COUNT && !st; at++) {
        const request wanted = {at >= SHAPE_COUNT, (shape)(at % SHAPE_COUNT)};

        for (int round = 0; round < ROUNDS; round++) {
            for (int p = 0; p < 2 && !st; p++) {
                double *best = &found[p].t[wanted.f64][wanted.s], seconds = 0;

                st = place_time(&places[p], wanted, &seconds, err);
                *best = round == 0 || seconds < *best ? seconds : *best;
            }
        }
    }
    places_close(places);
    signal(SIGPIPE, before);
    return st;
}

/* ---- what its log says ------------------------------------------------------------------------
 */

/* What follows "PID the CPU's BLAS is ", and the first reason in "PID dgemm ...: CPU, T ms: WHY".
 */
static tsr_status read_log(const char *log, text *cpu_blas, bool refused[2], text *reason,
                           tsr_error *err)
{
    char line[PATH_MAX + 256], *at;
    FILE *file = fopen(log, "re");

    if (!file)
        return tsr_fail(err, TSR_EFILE, 0, "'%s': %s", log, strerror(errno));
    text_clear(cpu_blas);
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        if ((at = strstr(line, " the CPU's BLAS is ")))
            text_append(cpu_blas, at + strlen(" the CPU's BLAS is "));
        at = strstr(line, ": CPU, ");
        if (at && (at = strstr(at, " ms: "))) {
            refused[strstr(line, " dgemm ") != NULL] = true;
            if (!reason->length)
                text_append(reason, at + strlen(" ms: "));
        }
    }
    fclose(file);
    return TSR_OK;
}

/* ---- rates ------------------------------------------------------------------------------------
 */

enum { SIDES = SHAPE_COUNT - SHAPE_SQUARE_64 };

typedef struct rates {
    double latency, in, out, device[SIDES], cpu[SIDES], cpu_bytes[2], cpu_symmetric;
} rates;

static double bytes_of(shape s, bool f64, bool in, bool out)
{
    const double m = shapes[s].m, n = shapes[s].n, k = shapes[s].k;

    return (f64 ? 8 : 4) * ((in ? m * k + k * n : 0) + (out ? m * n : 0));
}

/* Time left when parts that are known are taken off; a tenth at least, since all of them are rough.
 */
static double rest(double whole, double known)
{
    return whole - known > whole / 10 ? whole - known : whole / 10;
}

static rates rates_from(const double device[SHAPE_COUNT], const double cpu[SHAPE_COUNT], bool f64)
{
    rates r;

    r.latency = device[SHAPE_SMALL];
    r.in = bytes_of(SHAPE_LONG, f64, true, false) / rest(device[SHAPE_LONG], r.latency);
    r.out = bytes_of(SHAPE_THIN, f64, false, true) / rest(device[SHAPE_THIN], r.latency);
    for (int i = 0; i < SIDES; i++) {
        const shape s = (shape)(SHAPE_SQUARE_64 + i);
        const double work = 2.0 * shapes[s].m * shapes[s].n * shapes[s].k;

        r.device[i] = work / rest(device[s], r.latency + bytes_of(s, f64, true, false) / r.in +
                                                 bytes_of(s, f64, false, true) / r.out);
        r.cpu[i] = work / cpu[s];
    }
    r.cpu_bytes[0] = bytes_of(SHAPE_THIN_SMALL, f64, true, true) / cpu[SHAPE_THIN_SMALL];
    r.cpu_bytes[1] = bytes_of(SHAPE_THIN, f64, true, true) / cpu[SHAPE_THIN];
    r.cpu_symmetric = cpu[SHAPE_SYMM];
    return r;
}

static tsr_status store(const char *device, const char *platform, const char *cpu_blas,
                        const rates r[2], const bool refused[2], text *where, tsr_error *err)
{
    static const char *const types[] = {"float32", "float64"};
    text content = {0};
    output *file = NULL;
    tsr_status st;

    text_format(&content,
                "tessera-blas-rates-3\ndevice %s\nplatform %s\ncpu-blas %s\nprocessors %ld\n",
                device, platform, cpu_blas, sysconf(_SC_NPROCESSORS_ONLN));
    for (size_t i = 0; i < 2; i++) {
        if (!refused[i])
            text_format(&content,
                        "%s latency %.3e in %.3e out %.3e device %.3e %.3e %.3e %.3e cpu %.3e %.3e "
                        "%.3e %.3e cpu-bytes %.3e %.3e cpu-symm %.3e\n",
                        types[i], r[i].latency, r[i].in, r[i].out, r[i].device[0], r[i].device[1],
                        r[i].device[2], r[i].device[3], r[i].cpu[0], r[i].cpu[1], r[i].cpu[2],
                        r[i].cpu[3], r[i].cpu_bytes[0], r[i].cpu_bytes[1], r[i].cpu_symmetric);
    }
    tuning_folder(where);
    folders_make(text_get(where));
    text_append(where, "/blas-rates");
    st = output_open(text_get(where), &file, err);
    st = st ? st : output_write_bytes(file, text_get(&content), content.length, err);
    if (!st) {
        st = output_commit(file, err);
        file = NULL; /* freed by it */
    }
    output_discard(file);
    text_free(&content);
    return st;
}

static void print_rates(const char *device, const char *cpu_blas, const times *on_device,
                        const times *on_cpu, const rates r[2], const bool refused[2],
                        const char *where)
{
    static const char *const types[] = {"float32", "float64"};

    printf("products on %s, from host memory; the CPU's BLAS is %s\n", device, cpu_blas);
    for (size_t i = 0; i < 2; i++) {
        if (refused[i])
            continue;
        printf("  %s  a call %.1f us, copies %.1f GB/s and %.1f GB/s back\n", types[i],
               r[i].latency * 1e6, r[i].in * 1e-9, r[i].out * 1e-9);
        for (int k = SHAPE_SQUARE_64; k < SHAPE_COUNT; k++)
            printf("           %dx%dx%d in %.3g ms, on the CPU in %.3g ms\n", shapes[k].m,
                   shapes[k].n, shapes[k].k, on_device->t[i][k] * 1e3, on_cpu->t[i][k] * 1e3);
    }
    printf("kept in %s\n", where);
}

/* ---- the command ------------------------------------------------------------------------------
 */

/* The options that say something of a search among variants. */
static int check_options(const options *o)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (o->given[i] && i != OPTION_DEVICE && i != OPTION_QUIET)
            return wrong_usage("tune blas takes no option '--%s'", option_name((option_id)i));
    }
    if (o->settings.count)
        return wrong_usage("tune blas takes no option '--%s'", o->settings.list[0].option);
    return EXIT_DONE;
}

static tsr_status tune(const options *o, tsr_error *err)
{
    char library[PATH_MAX];
    char cpu_log[] = "/tmp/tessera-tune-XXXXXX", device_log[] = "/tmp/tessera-tune-XXXXXX";
    const char *const logs[2] = {cpu_log, device_log};
    const int files[2] = {mkstemp(cpu_log), mkstemp(device_log)};
    bool refused[2] = {false, false}, ignored[2];
    text cpu_blas = {0}, reason = {0}, where = {0};
    times found[2] = {0}; /* on the CPU, on the device */
    choice chosen = {0};
    rates r[2];
    tsr_status st = TSR_OK;

    for (int i = 0; i < 2; i++) {
        if (files[i] < 0)
            st = tsr_fail(err, TSR_EFILE, 0, "'%s': %s", logs[i], strerror(errno));
        else
            close(files[i]);
    }
    activity_begin("timing products");
    if (o->value[OPTION_DEVICE])
        setenv("TESSERA_DEVICE", o->value[OPTION_DEVICE], 1);
    st = st ? st : blas_library_find(library, err);
    st = st ? st : tuning_check_folder(err);
    st = st ? st : time_all(library, logs, found, err);
    st = st ? st : read_log(cpu_log, &cpu_blas, ignored, &reason, err);
    text_clear(&reason);
    st = st ? st : read_log(device_log, &cpu_blas, refused, &reason, err);
    /* After the children: drivers do not survive fork(). */
    st = st ? st : choice_find_one(o, &chosen, err);
    activity_end();
    if (!st && refused[0] && refused[1])
        st = tsr_fail(err, TSR_EUNSUPPORTED, 0, "the device takes no products: %s",
                      text_get(&reason));
    if (!st) {
        for (size_t i = 0; i < 2; i++)
            r[i] = rates_from(found[1].t[i], found[0].t[i], i == 1);
        st = store(tsr_device_name(chosen.device[0]), tsr_device_platform(chosen.device[0]),
                   text_get(&cpu_blas), r, refused, &where, err);
    }
    if (!st)
        print_rates(tsr_device_name(chosen.device[0]), text_get(&cpu_blas), &found[1], &found[0], r,
                    refused, text_get(&where));
    for (int i = 0; i < 2; i++) {
        if (files[i] >= 0)
            unlink(logs[i]);
    }
    choice_close(&chosen);
    text_free(&cpu_blas);
    text_free(&reason);
    text_free(&where);
    return st;
}

int tune_blas_help(void)
{
    puts("Usage: tessera tune blas [--device D] [--quiet]\n\n"
         "Time products from host memory on the device and by the CPU's BLAS, and keep the rates\n"
         "by which `tessera blas --offload auto` decides where a call runs: about 20 seconds.  "
         "Rates of\n"
         "one device are kept: they replace those of another one.\n\n"
         "      --device D  the device; TESSERA_DEVICE, or else the first GPU\n"
         "      --quiet     no progress\n"
         "  -h, --help      show this");
    return EXIT_DONE;
}

/* Whether the device is there, before anything is timed: its exit status, after a message.  A
 * process of its own looks, as drivers do not survive the fork() of those that time. */
static int check_device(const options *o)
{
    const pid_t child = fork();
    int status = 0;

    if (child == 0) {
        choice chosen = {0};
        tsr_error err = {0};

        _exit(choice_find_one(o, &chosen, &err) ? print_error("tune blas", &err, NULL) : EXIT_DONE);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_DONE;
}

int tune_blas(const options *o)
{
    tsr_error err = {0};
    int status = check_options(o);

    if (!status)
        status = check_device(o);

    if (status)
        return status;
    return tune(o, &err) ? print_error("tune blas", &err, NULL) : EXIT_DONE;
}
