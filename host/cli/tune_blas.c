/*
 * `tessera tune blas`: times by which libtessera-blas decides where a call runs (blas/rates.h).
 *
 * Both sides are timed through libtessera-blas, as programs call it, each in a process of its own:
 * once with all on the CPU's BLAS, once with all on the device.  Its log says which BLAS that was,
 * and whether the device took the products.
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
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

/* What is timed: the routines of level 3, in all combinations of these sides.  They are no
 * multiples of one another, and only some of larger powers of 2, as those of most calls. */
enum { SIDES = 6, TIMES_MAX = SIDES * SIDES * SIDES };
static const int sides[SIDES] = {16, 48, 136, 380, 1060, 2960};

typedef enum routine {
    ROUTINE_GEMM, /* of three sides, the others of two */
    ROUTINE_SYMM,
    ROUTINE_SYMM_RIGHT,
    ROUTINE_SYRK,
    ROUTINE_SYRK_TRANS,
    ROUTINE_SYR2K,
    ROUTINE_SYR2K_TRANS,
    ROUTINE_TRMM,
    ROUTINE_TRMM_RIGHT,
    ROUTINE_TRSM,
    ROUTINE_TRSM_RIGHT,
    ROUTINE_COUNT
} routine;

/* As blas/rates.c reads them; what comes before '-' is BLAS's.  A BLAS has other kernels for a
 * matrix on the right and a transposed one, which calls of row-major matrices are. */
static const char *const routine_names[ROUTINE_COUNT] = {
    "gemm",        "symm", "symm-right", "syrk", "syrk-trans", "syr2k",
    "syr2k-trans", "trmm", "trmm-right", "trsm", "trsm-right"};
static const char types[] = "sdcz";
enum { TYPES = sizeof types - 1 };

/* A call of column-major matrices: sizes that a routine does not have are 0.  Symmetric and
 * triangular matrices are stored below the diagonal, and of order m, or n where on the right. */
typedef struct shape {
    int m, n, k;
} shape;

/* Of gemm too, for the rates of copies: long operands of a small result, and the opposite. */
static const shape shape_long = {64, 64, 1 << 16}, shape_thin = {2048, 2048, 8};

/* Calls of more operations than these, or with a larger matrix, are not timed: fill_in() takes the
 * time of a smaller call, in proportion to the work.  By then one place is faster by far.  Where
 * the device is the CPU, the least of the three is enough for both.  A process has three arrays. */
#define OPERATIONS_CPU    3e9
#define OPERATIONS_DEVICE 8e9
#define OPERATIONS_SAME   1e9
#define BYTES_MAX         80e6

/* Processes that compile kernels before they are timed, at most: the compilers of some drivers use
 * one core a process, whatever its threads.  Each has a context of the device, and takes some
 * hundred MB. */
enum { BUILDERS_MAX = 8 };

/* All of it is timed in rounds, of some milliseconds a call, on the CPU and on the device by turns:
 * what else the machine does slows both.  Before its turn a process waits until the threads of the
 * other one sleep: those of a BLAS look for their next call for tens of milliseconds. */
enum { ROUNDS = 3, CALLS_MIN = 3, CALLS_MAX = 20 };
/* Of each round: a shape is left out once it took this many times as long in one place as in the
 * other. */
static const double clear[ROUNDS] = {INFINITY, 6, 3};
#define SECONDS_A_SHAPE 0.001
#define SECONDS_LONG    0.01 /* such a call wakes what sleeps, and its noise is small */
#define SECONDS_ASLEEP  0.1

static size_t times_of(routine r)
{
    return r == ROUTINE_GEMM ? TIMES_MAX : SIDES * SIDES;
}

static bool is_right(routine r)
{
    return r == ROUTINE_SYMM_RIGHT || r == ROUTINE_TRMM_RIGHT || r == ROUTINE_TRSM_RIGHT;
}

static bool is_transposed(routine r)
{
    return r == ROUTINE_SYRK_TRANS || r == ROUTINE_SYR2K_TRANS;
}

/* The shape of number i, of which the last side grows first.  Orders come before other sides. */
static shape shape_of(routine r, size_t i)
{
    const int first = sides[i / SIDES % SIDES], last = sides[i % SIDES];

    if (r == ROUTINE_GEMM)
        return (shape){sides[i / SIDES / SIDES], first, last};
    if (r == ROUTINE_SYRK || r == ROUTINE_SYR2K || is_transposed(r))
        return (shape){0, first, last};
    return is_right(r) ? (shape){last, first, 0} : (shape){first, last, 0};
}

static double size_of(char type)
{
    return type == 's' ? 4 : type == 'z' ? 16 : 8;
}

static double operations_of(routine r, char type, shape s)
{
    const double m = s.m, n = s.n, k = s.k, each = type == 'c' || type == 'z' ? 4 : 1;
    const double order = is_right(r) ? n : m;

    switch (r) {
    case ROUTINE_GEMM:
        return each * 2 * m * n * k;
    case ROUTINE_SYRK:
    case ROUTINE_SYRK_TRANS:
        return each * n * n * k;
    case ROUTINE_SYR2K:
    case ROUTINE_SYR2K_TRANS:
        return each * 2 * n * n * k;
    case ROUTINE_SYMM:
    case ROUTINE_SYMM_RIGHT:
        return each * 2 * m * n * order;
    default:
        return each * m * n * order;
    }
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* Elements of the largest of its matrices. */
static double elements_of(shape s)
{
    const double m = s.m, n = s.n, k = s.k;

    return larger(larger(m * n, m * k), larger(larger(n * k, m * m), s.m && s.k ? 0 : n * n));
}

/* Whether a shape is small enough for a place that does `most` operations. */
static bool is_timed(double most, routine r, char type, shape s)
{
    return operations_of(r, type, s) <= most && elements_of(s) * size_of(type) <= BYTES_MAX;
}

/* ---- in a process of its own ----------------------------------------------------------------- */

/* Arrays of zeros that any call fits. */
typedef struct arrays {
    void *at[3];
} arrays;

/* Scalars as C's calling sequence has them: real ones by value, complex ones by address. */
#define DEFINE_CALL(name, scalar, one, zero)                                                       \
    static void name(void *function, routine r, shape s, const arrays *x)                          \
    {                                                                                              \
        enum { COLUMN_MAJOR = 102, NO_TRANS = 111, TRANS, LOWER = 122, UNIT = 132, LEFT = 141 };   \
        const int side = is_right(r) ? LEFT + 1 : LEFT, order = is_right(r) ? s.n : s.m;           \
        const int trans = is_transposed(r) ? TRANS : NO_TRANS, lda = is_transposed(r) ? s.k : s.n; \
        void (*gemm)(int, int, int, int, int, int, scalar, const void *, int, const void *, int,   \
                     scalar, void *, int);                                                         \
        void (*symm)(int, int, int, int, int, scalar, const void *, int, const void *, int,        \
                     scalar, void *, int);                                                         \
        void (*syrk)(int, int, int, int, int, scalar, const void *, int, scalar, void *, int);     \
        void (*syr2k)(int, int, int, int, int, scalar, const void *, int, const void *, int,       \
                      scalar, void *, int);                                                        \
        void (*trmm)(int, int, int, int, int, int, int, scalar, const void *, int, void *, int);   \
                                                                                                   \
        switch (r) {                                                                               \
        case ROUTINE_GEMM:                                                                         \
            memcpy(&gemm, &function, sizeof gemm);                                                 \
            gemm(COLUMN_MAJOR, NO_TRANS, NO_TRANS, s.m, s.n, s.k, one, x->at[0], s.m, x->at[1],    \
                 s.k, zero, x->at[2], s.m);                                                        \
            break;                                                                                 \
        case ROUTINE_SYMM:                                                                         \
        case ROUTINE_SYMM_RIGHT:                                                                   \
            memcpy(&symm, &function, sizeof symm);                                                 \
            symm(COLUMN_MAJOR, side, LOWER, s.m, s.n, one, x->at[0], order, x->at[1], s.m, zero,   \
                 x->at[2], s.m);                                                                   \
            break;                                                                                 \
        case ROUTINE_SYRK:                                                                         \
        case ROUTINE_SYRK_TRANS:                                                                   \
            memcpy(&syrk, &function, sizeof syrk);                                                 \
            syrk(COLUMN_MAJOR, LOWER, trans, s.n, s.k, one, x->at[0], lda, zero, x->at[2], s.n);   \
            break;                                                                                 \
        case ROUTINE_SYR2K:                                                                        \
        case ROUTINE_SYR2K_TRANS:                                                                  \
            memcpy(&syr2k, &function, sizeof syr2k);                                               \
            syr2k(COLUMN_MAJOR, LOWER, trans, s.n, s.k, one, x->at[0], lda, x->at[1], lda, zero,   \
                  x->at[2], s.n);                                                                  \
            break;                                                                                 \
        default:                                                                                   \
            memcpy(&trmm, &function, sizeof trmm);                                                 \
            trmm(COLUMN_MAJOR, side, LOWER, NO_TRANS, UNIT, s.m, s.n, one, x->at[0], order,        \
                 x->at[2], s.m);                                                                   \
            break;                                                                                 \
        }                                                                                          \
    }

static const double one_and_zero[4] = {1, 0, 0, 0};
static const float one_and_zero_f32[4] = {1, 0, 0, 0};

DEFINE_CALL(call_s, float, 1, 0)
DEFINE_CALL(call_d, double, 1, 0)
DEFINE_CALL(call_c, const void *, one_and_zero_f32, one_and_zero_f32 + 2)
DEFINE_CALL(call_z, const void *, one_and_zero, one_and_zero + 2)

/* Each type's, in the order of `types`. */
static void (*const calls[TYPES])(void *, routine, shape, const arrays *) = {call_s, call_d, call_c,
                                                                             call_z};

static double seconds_since(uint64_t before)
{
    return (double)(clock_ns() - before) * 1e-9;
}

/* The best time of several calls in a row, in seconds; the first call, which builds kernels, wakes
 * threads and touches memory, counts where it is long. */
static double best_time(void *function, routine r, size_t type, shape s, const arrays *x)
{
    const uint64_t first = clock_ns();
    uint64_t start;
    double best = 0;

    calls[type](function, r, s, x);
    if (seconds_since(first) > SECONDS_LONG)
        best = seconds_since(first);
    start = clock_ns();
    for (int i = 0; i < CALLS_MAX; i++) {
        const uint64_t before = clock_ns();
        double seconds;

        calls[type](function, r, s, x);
        seconds = seconds_since(before);
        best = best == 0 || seconds < best ? seconds : best;
        if (seconds > SECONDS_LONG ||
            (i + 1 >= CALLS_MIN && seconds_since(start) > SECONDS_A_SHAPE))
            break;
    }
    return best;
}

/* What is asked of a process: times of a routine and type, or that of one shape of gemm.  Only what
 * may be timed is asked for. */
typedef struct request {
    size_t type;
    routine routine;
    bool one; /* of this shape */
    shape shape;
    bool left_out[TIMES_MAX]; /* else of all but these */
} request;

static size_t answers_to(const request *wanted)
{
    return wanted->one ? 1 : times_of(wanted->routine);
}

/* 0 where it was not timed. */
static void answer(void *function, const request *wanted, const arrays *x, double seconds[])
{
    if (wanted->one) {
        seconds[0] = best_time(function, ROUTINE_GEMM, wanted->type, wanted->shape, x);
        return;
    }
    for (size_t i = 0; i < times_of(wanted->routine); i++)
        seconds[i] = wanted->left_out[i] ? 0
                                         : best_time(function, wanted->routine, wanted->type,
                                                     shape_of(wanted->routine, i), x);
}

static void *routine_of(void *library, size_t type, routine r)
{
    char name[32];

    snprintf(name, sizeof name, "cblas_%c%.*s", types[type], (int)strcspn(routine_names[r], "-"),
             routine_names[r]);
    return dlsym(library, name);
}

/* Answer requests with times.  With a log a call takes as long as it takes to write that too. */
static void time_products(const char *library, const char *mode, const char *log, int in, int out)
{
    void *handle;
    arrays x;
    request wanted;

    setenv("TESSERA_BLAS", mode, 1);
    setenv("TESSERA_SAME_KERNELS", "1", 1); /* not those that run while others are compiled */
    unsetenv("TESSERA_BLAS_LOG");
    if (log)
        setenv("TESSERA_BLAS_LOG", log, 1);
    handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        _exit(EXIT_FAILED);
    for (size_t i = 0; i < 3; i++) {
        x.at[i] = malloc((size_t)BYTES_MAX);
        if (!x.at[i])
            _exit(EXIT_FAILED);
        if (!log)
            memset(x.at[i], 0, (size_t)BYTES_MAX); /* 0 in all types */
    }
    while (read(in, &wanted, sizeof wanted) == sizeof wanted) {
        const size_t bytes = answers_to(&wanted) * sizeof(double);
        double seconds[TIMES_MAX];
        void *function = routine_of(handle, wanted.type, wanted.routine);

        if (!function)
            break;
        answer(function, &wanted, &x, seconds);
        if (write(out, seconds, bytes) != (ssize_t)bytes)
            break;
    }
    _exit(EXIT_DONE);
}

/* A call that is made once, for its kernels. */
typedef struct build {
    size_t type;
    routine routine;
    shape shape;
} build;

/* Take one call after another from a pipe that other processes read too, until it ends.  They share
 * the cache, in which a process waits for what another one compiles. */
static void build_products(const char *library, int in)
{
    static const char *const threads[] = {"OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS",
                                          "MKL_NUM_THREADS", "OMP_NUM_THREADS"};
    void *handle;
    arrays x;
    build next;

    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++)
        setenv(threads[i], "1", 1); /* the cores are for the compilers */
    setenv("TESSERA_BLAS", "always", 1);
    setenv("TESSERA_SAME_KERNELS", "1", 1);
    unsetenv("TESSERA_BLAS_LOG");
    handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        _exit(EXIT_FAILED);
    for (size_t i = 0; i < 3; i++) {
        x.at[i] = calloc(1, (size_t)BYTES_MAX);
        if (!x.at[i])
            _exit(EXIT_FAILED);
    }
    while (read(in, &next, sizeof next) == sizeof next) {
        void *function = routine_of(handle, next.type, next.routine);

        if (function)
            calls[next.type](function, next.routine, next.shape, &x);
    }
    _exit(EXIT_DONE);
}

/* A process that times products in one place, and has used no driver before. */
typedef struct place {
    pid_t process;
    int in, out; /* of requests, of times */
    double operations_max;
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

static tsr_status place_time(const place *p, const request *wanted, double seconds[],
                             tsr_error *err)
{
    const size_t bytes = answers_to(wanted) * sizeof(double);
    ssize_t got = write(p->in, wanted, sizeof *wanted);

    if (got == sizeof *wanted) {
        do
            got = read(p->out, seconds, bytes);
        while (got < 0 && errno == EINTR);
    }
    if (got != (ssize_t)bytes)
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

/* Best times in seconds; after fill_in() of all shapes. */
typedef struct times {
    double t[TYPES][ROUTINE_COUNT][TIMES_MAX];
    double shape_long[TYPES], shape_thin[TYPES];
} times;

/* A small product of each type in both places, with logs. */
static tsr_status write_logs(const char *library, const char *const logs[2], tsr_error *err)
{
    place places[2] = {{-1, -1, -1, 0}, {-1, -1, -1, 0}};
    double seconds;
    tsr_status st = TSR_OK;

    for (int p = 0; p < 2 && !st; p++) {
        st = place_open(&places[p], library, modes[p], logs[p], err);
        for (size_t type = 0; type < TYPES && !st; type++)
            st = place_time(&places[p], &(request){type, ROUTINE_GEMM, true, {8, 8, 8}}, &seconds,
                            err);
    }
    places_close(places);
    return st;
}

static void keep_best(double *best, double seconds)
{
    if (seconds > 0 && (*best == 0 || seconds < *best))
        *best = seconds;
}

/* Leave out of a request to the device what the CPU does in half the time that the device takes for
 * the smallest product: kernels for such shapes need not be built. */
static void leave_out(request *wanted, const times *cpu, times *device)
{
    double *there = device->t[wanted->type][wanted->routine];
    const double *here = cpu->t[wanted->type][wanted->routine];
    const double least = device->t[wanted->type][ROUTINE_GEMM][0];

    for (size_t i = wanted->routine == ROUTINE_GEMM ? 1 : 0; i < times_of(wanted->routine); i++) {
        if (here[i] > 0 && here[i] < least / 2) {
            wanted->left_out[i] = true;
            there[i] = least;
        }
    }
}

/* Leave out shapes that take `ratio` times as long in one place as in the other, which no noise
 * turns round. */
static void leave_out_clear(request *wanted, const times found[2], double ratio)
{
    const double *here = found[0].t[wanted->type][wanted->routine];
    const double *there = found[1].t[wanted->type][wanted->routine];

    for (size_t i = 0; i < times_of(wanted->routine); i++)
        wanted->left_out[i] |= here[i] > 0 && there[i] > 0 &&
                               (here[i] > ratio * there[i] || there[i] > ratio * here[i]);
}

/* In a place, 0: the CPU, or 1: the device. */
static tsr_status time_round(const place *p, int where, int round, times found[2],
                             const bool refused[TYPES], tsr_error *err)
{
    times *const best = &found[where];
    double seconds[TIMES_MAX];
    tsr_status st = TSR_OK;

    for (size_t type = 0; type < TYPES; type++) {
        for (int r = 0; r < ROUTINE_COUNT && !st && !refused[type]; r++) {
            request wanted = {.type = type, .routine = (routine)r};

            /* Leave out what is not timed in a place at all. */
            for (size_t i = 0; i < times_of(wanted.routine); i++)
                wanted.left_out[i] = !is_timed(p->operations_max, wanted.routine,
                                               types[wanted.type], shape_of(wanted.routine, i));
            if (where == 1)
                leave_out(&wanted, &found[0], &found[1]);
            leave_out_clear(&wanted, found, clear[round]);
            st = place_time(p, &wanted, seconds, err);
            for (size_t i = 0; i < times_of((routine)r) && !st; i++)
                keep_best(&best->t[type][r][i], seconds[i]);
        }
        if (!st && !refused[type])
            st = place_time(p, &(request){type, ROUTINE_GEMM, true, shape_long}, seconds, err);
        if (!st && !refused[type]) {
            keep_best(&best->shape_long[type], seconds[0]);
            st = place_time(p, &(request){type, ROUTINE_GEMM, true, shape_thin}, seconds, err);
        }
        if (!st && !refused[type])
            keep_best(&best->shape_thin[type], seconds[0]);
    }
    return st;
}

/* The smallest product of each type, which says what is left out. */
static tsr_status time_least(const place *p, times *found, const bool refused[TYPES],
                             tsr_error *err)
{
    double seconds = 0;
    tsr_status st = TSR_OK;

    for (size_t type = 0; type < TYPES && !st; type++) {
        if (refused[type])
            continue;
        st = place_time(p, &(request){type, ROUTINE_GEMM, true, shape_of(ROUTINE_GEMM, 0)},
                        &seconds, err);
        keep_best(&found->t[type][ROUTINE_GEMM][0], st ? 0 : seconds);
    }
    return st;
}

/* Write what a round on the device will call to a pipe, in an order in which neighbours, which are
 * likely to have the same kernels, are far apart. */
static void write_builds(int out, const times *cpu, times *device, const bool refused[TYPES])
{
    enum { STEP = 61 }; /* prime to the numbers of shapes, and about a quarter of gemm's */
    bool fine = true;

    for (int r = 0; r < ROUTINE_COUNT; r++) {
        const size_t count = times_of((routine)r);

        for (size_t i = 0; i < count; i++) {
            for (size_t type = 0; type < TYPES; type++) {
                const size_t which = i * STEP % count;
                const build next = {type, (routine)r, shape_of((routine)r, which)};
                request wanted = {.type = type, .routine = (routine)r};

                if (refused[type] ||
                    !is_timed(OPERATIONS_DEVICE, next.routine, types[type], next.shape))
                    continue;
                leave_out(&wanted, cpu, device);
                if (!wanted.left_out[which])
                    fine = fine && write(out, &next, sizeof next) == sizeof next;
            }
        }
    }
}

/* Compile kernels by as many processes as there are processors.  What they do not, as where nothing
 * can be kept, is compiled before it is timed. */
static void build_all(const char *library, const times *cpu, times *device,
                      const bool refused[TYPES])
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    pid_t builders[BUILDERS_MAX];
    int queue[2], count = 0;

    if (processors < 2 || pipe(queue) < 0)
        return;
    while (count < BUILDERS_MAX && count < processors) {
        const pid_t builder = fork();

        if (builder == 0) {
            close(queue[1]);
            build_products(library, queue[0]);
        }
        if (builder < 0)
            break;
        builders[count++] = builder;
    }
    close(queue[0]);
    write_builds(queue[1], cpu, device, refused);
    close(queue[1]);
    for (int i = 0; i < count; i++) {
        while (waitpid(builders[i], NULL, 0) < 0 && errno == EINTR)
            ;
    }
}

static void sleep_until_threads_do(void)
{
    nanosleep(&(struct timespec){0, (long)(SECONDS_ASLEEP * 1e9)}, NULL);
}

/* What is timed. */
typedef struct target {
    const char *library;
    bool compiles; /* the device's kernels */
} target;

/* Operations of the largest call that is timed.  TESSERA_TUNE_OPERATIONS lowers it, so that tests
 * take less time. */
static double operations_max(double most)
{
    const char *set = getenv("TESSERA_TUNE_OPERATIONS");
    const double lower = set ? strtod(set, NULL) : most;

    return lower > 0 && lower < most ? lower : most;
}

static tsr_status time_all(const target *of, const bool refused[TYPES], times found[2],
                           tsr_error *err)
{
    place places[2] = {{-1, -1, -1, 0}, {-1, -1, -1, 0}};
    void (*const before)(int) = signal(SIGPIPE, SIG_IGN); /* of a process that ended early */
    tsr_status st = TSR_OK;

    for (int p = 0; p < 2 && !st; p++)
        st = place_open(&places[p], of->library, modes[p], NULL, err);
    places[0].operations_max = operations_max(of->compiles ? OPERATIONS_CPU : OPERATIONS_SAME);
    places[1].operations_max = operations_max(of->compiles ? OPERATIONS_DEVICE : OPERATIONS_SAME);
    for (int round = 0; round < ROUNDS; round++) {
        activity_update("timing products, round %d of %d", round + 1, ROUNDS);
        sleep_until_threads_do();
        st = st ? st : time_round(&places[0], 0, round, found, refused, err);
        sleep_until_threads_do();
        st = st ? st : time_least(&places[1], &found[1], refused, err);
        if (!st && round == 0 && of->compiles) {
            activity_update("compiling kernels");
            build_all(of->library, &found[0], &found[1], refused);
            activity_update("timing products, round 1 of %d", ROUNDS);
        }
        st = st ? st : time_round(&places[1], 1, round, found, refused, err);
    }
    places_close(places);
    signal(SIGPIPE, before);
    return st;
}

/* ---- what its log says ------------------------------------------------------------------------
 */

/* What follows "PID the CPU's BLAS is ", and the first reason in "PID dgemm ...: CPU, T ms: WHY".
 */
static tsr_status read_log(const char *log, text *cpu_blas, bool refused[TYPES], text *reason,
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
            for (size_t type = 0; type < TYPES; type++) {
                const char name[] = {' ', types[type], 'g', 'e', 'm', 'm', ' ', '\0'};

                refused[type] |= strstr(line, name) != NULL;
            }
            if (!reason->length)
                text_append(reason, at + strlen(" ms: "));
        }
    }
    fclose(file);
    return TSR_OK;
}

/* ---- rates ------------------------------------------------------------------------------------
 */

/* Give shapes that were not timed the time of the next smaller one, as much longer as there is more
 * work: they are large ones. */
static void fill_in(times *found, size_t type)
{
    for (int r = 0; r < ROUTINE_COUNT; r++) {
        double *t = found->t[type][r];

        for (size_t i = 0; i < times_of((routine)r); i++) {
            size_t smaller = i, most = 0;

            if (t[i] > 0)
                continue;
            for (size_t step = 1; step < times_of((routine)r); step *= SIDES) {
                const size_t side = i / step % SIDES; /* the largest is made smaller */

                if (side > most) {
                    most = side;
                    smaller = i - step;
                }
            }
            t[i] = t[smaller] * operations_of((routine)r, 's', shape_of((routine)r, i)) /
                   operations_of((routine)r, 's', shape_of((routine)r, smaller));
        }
    }
}

/* Time left when a part that is known is taken off; a tenth at least, since both are rough. */
static double rest(double whole, double known)
{
    return larger(whole - known, whole / 10);
}

/* Bytes a second, of a type, to the device and back. */
static double copies_in(const times *device, size_t type)
{
    const double m = shape_long.m, n = shape_long.n, k = shape_long.k;

    return size_of(types[type]) * (m * k + k * n) /
           rest(device->shape_long[type], device->t[type][ROUTINE_GEMM][0]);
}

static double copies_out(const times *device, size_t type)
{
    return size_of(types[type]) * shape_thin.m * shape_thin.n /
           rest(device->shape_thin[type], device->t[type][ROUTINE_GEMM][0]);
}

static void append_times(text *content, const times *found, size_t type, int r, const char *where)
{
    text_format(content, "%c%s %s", types[type], routine_names[r], where);
    for (size_t i = 0; i < times_of((routine)r); i++)
        text_format(content, " %.3e", found->t[type][r][i]);
    text_append(content, "\n");
}

/* What is known of the machine. */
typedef struct machine {
    const char *device, *platform, *cpu_blas;
} machine;

static tsr_status store(const machine *m, const times found[2], const bool refused[TYPES],
                        text *where, tsr_error *err)
{
    text content = {0};
    output *file = NULL;
    tsr_status st;

    text_format(&content, "tessera-blas-rates-5\ndevice %s\nplatform %s\ncpu-blas %s\n", m->device,
                m->platform, m->cpu_blas);
    text_format(&content, "processors %ld\ncopies-in %.3e\nsides", sysconf(_SC_NPROCESSORS_ONLN),
                copies_in(&found[1], refused[0] ? 1 : 0));
    for (size_t i = 0; i < SIDES; i++)
        text_format(&content, " %d", sides[i]);
    text_append(&content, "\n");
    for (size_t type = 0; type < TYPES; type++) {
        for (int r = 0; r < ROUTINE_COUNT && !refused[type]; r++) {
            append_times(&content, &found[0], type, r, "cpu");
            append_times(&content, &found[1], type, r, "device");
        }
    }
    tuning_folder(where);
    folders_make(text_get(where));
    text_append(where, "/blas-rates");
    st = output_open(text_get(where), &file, err);
    st = st ? st : output_write_bytes(file, text_get(&content), content.length, err);
    if (!st) {
        st = commit_and_warn(file, err);
        file = NULL; /* freed by it */
    }
    output_discard(file);
    text_free(&content);
    return st;
}

static void print_times(const machine *m, const times found[2], const bool refused[TYPES],
                        const char *where)
{
    static const char *const names[TYPES] = {"float32", "float64", "complex64", "complex128"};

    printf("calls on %s, from host memory; the CPU's BLAS is %s\n", m->device, m->cpu_blas);
    for (size_t type = 0; type < TYPES; type++) {
        if (refused[type])
            continue;
        printf("  %s  a call %.1f us, copies %.1f GB/s and %.1f GB/s back\n", names[type],
               found[1].t[type][ROUTINE_GEMM][0] * 1e6, copies_in(&found[1], type) * 1e-9,
               copies_out(&found[1], type) * 1e-9);
        for (size_t k = 1; k < SIDES - 1; k++) {
            const size_t i = k * (SIDES * SIDES + SIDES + 1);

            printf("           %dx%dx%d in %.3g ms, on the CPU in %.3g ms\n", sides[k], sides[k],
                   sides[k], found[1].t[type][ROUTINE_GEMM][i] * 1e3,
                   found[0].t[type][ROUTINE_GEMM][i] * 1e3);
        }
    }
    print_plain(stdout, "kept in %s\n", where);
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

/* Time everything; found[0] is the CPU's, found[1] the device's. */
static tsr_status time_both(const target *of, const char *const logs[2], times found[2],
                            text *cpu_blas, bool refused[TYPES], tsr_error *err)
{
    bool ignored[TYPES];
    text reason = {0};
    void (*const before)(int) = signal(SIGPIPE, SIG_IGN);
    tsr_status st = write_logs(of->library, logs, err);

    signal(SIGPIPE, before);
    st = st ? st : read_log(logs[0], cpu_blas, ignored, &reason, err);
    text_clear(&reason);
    st = st ? st : read_log(logs[1], cpu_blas, refused, &reason, err);
    if (!st && refused[0] && refused[1])
        st = tsr_fail(err, TSR_EUNSUPPORTED, 0, "the device takes no products: %s",
                      text_get(&reason));
    st = st ? st : time_all(of, refused, found, err);
    for (size_t type = 0; type < TYPES && !st; type++) {
        for (int p = 0; p < 2 && !refused[type]; p++)
            fill_in(&found[p], type);
    }
    text_free(&reason);
    return st;
}

static tsr_status tune(const options *o, bool compiles, tsr_error *err)
{
    char library[PATH_MAX];
    char cpu_log[] = "/tmp/tessera-tune-XXXXXX", device_log[] = "/tmp/tessera-tune-XXXXXX";
    const char *const logs[2] = {cpu_log, device_log};
    const int files[2] = {mkstemp(cpu_log), mkstemp(device_log)};
    bool refused[TYPES] = {false};
    text cpu_blas = {0}, where = {0};
    times *found = calloc(2, sizeof *found); /* on the CPU, on the device */
    choice chosen = {0};
    tsr_status st = found ? TSR_OK : tsr_fail(err, TSR_ENOMEM, 0, "no memory for times");

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
    st = st ? st : time_both(&(target){library, compiles}, logs, found, &cpu_blas, refused, err);
    /* After the children: drivers do not survive fork(). */
    st = st ? st : choice_find_one(o, &chosen, err);
    activity_end();
    if (!st) {
        const machine m = {tsr_device_name(chosen.device[0]), tsr_device_platform(chosen.device[0]),
                           text_get(&cpu_blas)};

        st = store(&m, found, refused, &where, err);
        if (!st)
            print_times(&m, found, refused, text_get(&where));
    }
    for (int i = 0; i < 2; i++) {
        if (files[i] >= 0)
            unlink(logs[i]);
    }
    choice_close(&chosen);
    text_free(&cpu_blas);
    text_free(&where);
    free(found);
    return st;
}

int tune_blas_help(void)
{
    puts(
        "Usage: tessera tune blas [--device D] [--quiet]\n\n"
        "Time calls of level 3 from host memory on the device and by the CPU's BLAS, and keep the\n"
        "times by which `tessera blas --offload auto` decides where a call runs: a minute or two\n"
        "on a GPU whose kernels are in no cache yet, which it compiles.  Times of one device are\n"
        "kept: they replace those of another one.\n\n"
        "      --device D  the device; TESSERA_DEVICE, or else the first GPU\n"
        "      --quiet     no progress\n"
        "  -h, --help      show this");
    return EXIT_DONE;
}

/* Statuses of the process that looks for the device. */
enum { FOUND_CPU = 64 };

/* Whether the device is there, before anything is timed: its exit status, after a message.  A
 * process of its own looks, as drivers do not survive the fork() of those that time. */
static int check_device(const options *o, bool *compiles)
{
    const pid_t child = fork();
    int status = 0;

    if (child == 0) {
        choice chosen = {0};
        tsr_error err = {0};
        tsr_kind kind;

        if (choice_find_one(o, &chosen, &err))
            _exit(print_error("tune blas", &err, NULL));
        kind = tsr_device_kind(chosen.device[0]);
        _exit(kind == TSR_KIND_CPU || kind == TSR_KIND_HOST ? FOUND_CPU : EXIT_DONE);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    status = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_DONE;
    *compiles = status != FOUND_CPU;
    return *compiles ? status : EXIT_DONE;
}

int tune_blas(const options *o)
{
    tsr_error err = {0};
    bool compiles = false;
    int status = check_options(o);

    if (!status)
        status = check_device(o, &compiles);

    if (status)
        return status;
    return tune(o, compiles, &err) ? print_error("tune blas", &err, NULL) : EXIT_DONE;
}
