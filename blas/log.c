#include "blas/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "blas/decimal_point.h"

static int file = -1;
static char log_path[PATH_MAX];
static atomic_flag loss_reported = ATOMIC_FLAG_INIT;

/* Of each routine and type, what ran on the CPU and on the device. */
typedef struct log_count {
    atomic_ullong calls, ns;
} log_count;

static const char types[] = "sdcz";
static log_count counts[BLAS_ROUTINE_COUNT][sizeof types - 1][2];
static _Atomic(const char *) names[BLAS_ROUTINE_COUNT][sizeof types - 1];

uint64_t log_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* One write a line, so that lines of threads and processes do not mix.  A line that cannot be
 * written fails no call; the first one is reported. */
void log_line(const char *form, ...)
{
    char line[1536];
    decimal_point numbers;
    va_list arguments;
    int start, length;

    if (file < 0)
        return;
    start = snprintf(line, sizeof line, "%ld ", (long)getpid());
    numbers = decimal_point_begin();
    va_start(arguments, form);
    length = vsnprintf(line + start, sizeof line - (size_t)start - 1, form, arguments);
    va_end(arguments);
    decimal_point_end(numbers);
    length += start;
    if (length > (int)sizeof line - 2)
        length = (int)sizeof line - 2;
    line[length++] = '\n';
    errno = 0;
    if (write(file, line, (size_t)length) != length && !atomic_flag_test_and_set(&loss_reported))
        fprintf(stderr, "libtessera-blas: TESSERA_BLAS_LOG: %s: %s; the log lacks lines\n",
                log_path, errno ? strerror(errno) : "cut short");
}

void log_open(void)
{
    const char *path = getenv("TESSERA_BLAS_LOG");

    if (!path || !*path)
        return;
    snprintf(log_path, sizeof log_path, "%s", path);
    file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file < 0)
        fprintf(stderr, "libtessera-blas: TESSERA_BLAS_LOG: %s: %s\n", path, strerror(errno));
    else
        log_line("the CPU's BLAS is %s", blas_cpu_description());
}

uint64_t log_start(void)
{
    return file < 0 ? 0 : log_now();
}

/* "N T 512 512 64": the options and sizes that the routine has, of column-major matrices. */
static void describe(const blas_call *call, char *text, size_t size)
{
    const int options[] = {call->side, call->uplo, call->transa, call->transb, call->diag};
    const bool has_m = !blas_is_rank_update(call->routine);
    const bool has_k = !has_m || call->routine == BLAS_GEMM;
    size_t at = 0;

    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (options[i] >= 'A' && options[i] <= 'Z')
            at += (size_t)snprintf(text + at, size - at, "%c ", options[i]);
    }
    if (has_m)
        at += (size_t)snprintf(text + at, size - at, "%lld ", (long long)call->m);
    at += (size_t)snprintf(text + at, size - at, "%lld", (long long)call->n);
    if (has_k)
        snprintf(text + at, size - at, " %lld", (long long)call->k);
}

void log_call(const blas_call *call, bool on_device)
{
    const uint64_t ns = log_now() - call->start_ns;
    const size_t type = (size_t)(strchr(types, call->type) - types);
    log_count *count = &counts[call->routine][type][on_device];
    char what[128], kept[32] = "";

    atomic_store(&names[call->routine][type], call->name);
    atomic_fetch_add(&count->calls, 1);
    atomic_fetch_add(&count->ns, ns);
    describe(call, what, sizeof what);
    if (call->kept)
        snprintf(kept, sizeof kept, ", %llu kept", (unsigned long long)call->kept);
    if (on_device)
        log_line("%s %s: device, %.3f ms, %llu bytes copied%s", call->name, what, (double)ns * 1e-6,
                 (unsigned long long)call->bytes, kept);
    else
        log_line("%s %s: CPU, %.3f ms: %s", call->name, what, (double)ns * 1e-6,
                 call->reason ? call->reason : "?");
}

void log_refused(const blas_call *call)
{
    log_line("%s: refused: an argument is illegal", call->name);
}

void log_after_fork(void)
{
    for (size_t i = 0; i < sizeof counts / sizeof(log_count); i++) {
        atomic_store(&((log_count *)counts)[i].calls, 0);
        atomic_store(&((log_count *)counts)[i].ns, 0);
    }
}

__attribute__((destructor)) static void summarize(void)
{
    if (file < 0)
        return;
    for (size_t routine = 0; routine < BLAS_ROUTINE_COUNT; routine++) {
        for (size_t type = 0; type < sizeof types - 1; type++) {
            log_count *cpu = &counts[routine][type][0], *device = &counts[routine][type][1];

            if (!atomic_load(&cpu->calls) && !atomic_load(&device->calls))
                continue;
            log_line(
                "summary: %s: %llu on the device in %.3f s, %llu on the CPU in %.3f s",
                atomic_load(&names[routine][type]), (unsigned long long)atomic_load(&device->calls),
                (double)atomic_load(&device->ns) * 1e-9,
                (unsigned long long)atomic_load(&cpu->calls), (double)atomic_load(&cpu->ns) * 1e-9);
        }
    }
}
