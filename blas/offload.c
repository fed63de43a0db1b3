#include "blas/offload.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blas/kept.h"
#include "blas/log.h"
#include "blas/rates.h"
#include "tessera/tessera.h"

/* OpenCL's codes of memory that is exhausted, and of buffers too large: the next call, a smaller
 * one, may do. */
enum {
    OBJECT_ALLOCATION_FAILURE = -4,
    OUT_OF_RESOURCES = -5,
    OUT_OF_HOST_MEMORY = -6,
    INVALID_BUFFER_SIZE = -61
};

typedef enum device_state {
    DEVICE_UNOPENED,
    DEVICE_CPU,  /* listed: it is the CPU, and not known to be faster than the CPU's BLAS */
    DEVICE_OPEN, /* with a session */
    DEVICE_NONE
} device_state;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(device_state) state; /* written by who has the lock */
static atomic_bool touched;         /* OpenCL may be loaded: set before it is */
static char why_not[sizeof((tsr_error *)0)->message];
static atomic_bool refused[2]; /* does the device take no products of float32, of float64? */
static char why_refused[2][sizeof why_not];
static tsr_devices *devices;
static const tsr_device *device;
static atomic_bool complex_as_real[2]; /* of float32, of float64: set once the device is known */
static tsr_session *session;
static tsr_precision precision;

static void *library;   /* libtessera */
static bool was_memory; /* did the last product fail for want of memory? */

/* The functions of libtessera, whose dependences are not this library's. */
static struct {
    tsr_status (*devices_find)(tsr_devices **, tsr_error *);
    tsr_status (*devices_select)(const tsr_devices *, const char *, const tsr_device **, size_t,
                                 size_t *, tsr_error *);
    tsr_kind (*device_kind)(const tsr_device *);
    const char *(*device_name)(const tsr_device *);
    const char *(*device_platform)(const tsr_device *);
    int (*device_unified_memory)(const tsr_device *);
    const char *(*precision_name)(tsr_precision);
    tsr_status (*session_open)(const tsr_device *, const tsr_session_options *, tsr_session **,
                               tsr_error *);
    tsr_status (*matmul)(tsr_session *, const tsr_matmul_problem *, const void *, const void *,
                         void *, const tsr_run *, tsr_report *, tsr_error *);
} tsr;

bool offload_function(void *other, const char *name, void *function)
{
    void *symbol = dlsym(other ? other : library, name);

    memcpy(function, &symbol, sizeof symbol);
    return symbol;
}

static bool load_function(const char *name, void *function)
{
    const bool found = offload_function(NULL, name, function);

    if (!found)
        snprintf(why_not, sizeof why_not, "libtessera has no %s", name);
    return found;
}

/* The libtessera in the folder of this library, which may have been loaded by the name of a link.
 */
static void *open_beside(void)
{
    char path[2 * PATH_MAX], self[PATH_MAX];
    Dl_info info;

    if (!dladdr(&tsr, &info) || !info.dli_fname || !realpath(info.dli_fname, self))
        return NULL;
    snprintf(path, sizeof path, "%.*s/%s", (int)(strrchr(self, '/') - self), self, TESSERA_LIBRARY);
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static bool load_tessera(void)
{
    library = dlopen(TESSERA_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        library = open_beside();
    if (!library) {
        snprintf(why_not, sizeof why_not, "%s", dlerror());
        return false;
    }
    return load_function("tsr_devices_find", &tsr.devices_find) &&
           load_function("tsr_devices_select", &tsr.devices_select) &&
           load_function("tsr_device_kind", &tsr.device_kind) &&
           load_function("tsr_device_name", &tsr.device_name) &&
           load_function("tsr_device_platform", &tsr.device_platform) &&
           load_function("tsr_device_unified_memory", &tsr.device_unified_memory) &&
           load_function("tsr_precision_name", &tsr.precision_name) &&
           load_function("tsr_session_open", &tsr.session_open) &&
           load_function("tsr_matmul", &tsr.matmul);
}

/* TESSERA_BLAS_PRECISION: of float32 products; other than as accurate as float32 only by name. */
static void read_precision(void)
{
    const char *name = getenv("TESSERA_BLAS_PRECISION");

    precision = TSR_PRECISION_DEFAULT;
    if (!name || !*name)
        return;
    for (int p = TSR_PRECISION_F32; p <= TSR_PRECISION_F16; p++) {
        if (strcmp(name, tsr.precision_name((tsr_precision)p)) == 0)
            precision = (tsr_precision)p;
    }
    if (precision == TSR_PRECISION_DEFAULT)
        fprintf(
            stderr,
            "libtessera-blas: TESSERA_BLAS_PRECISION: '%s' is not one of f32, f32-strict, tf32, "
            "bf16 and f16\n",
            name);
}

static device_state find_device(void)
{
    size_t count;
    tsr_error err;
    tsr_kind kind;
    bool is_cpu, as_real;

    if (!load_tessera())
        return DEVICE_NONE;
    read_precision();
    if (tsr.devices_find(&devices, &err) ||
        tsr.devices_select(devices, NULL, &device, 1, &count, &err)) {
        snprintf(why_not, sizeof why_not, "%s", err.message);
        return DEVICE_NONE;
    }
    log_line("the device is '%s' of '%s'", tsr.device_name(device), tsr.device_platform(device));
    kind = tsr.device_kind(device);
    is_cpu = kind == TSR_KIND_CPU || kind == TSR_KIND_HOST;
    /* Where nothing is copied to the device a copy of A in host memory is one more. */
    as_real = kind != TSR_KIND_HOST && !(is_cpu && tsr.device_unified_memory(device));
    atomic_store(&complex_as_real[0], as_real || precision != TSR_PRECISION_DEFAULT);
    atomic_store(&complex_as_real[1], as_real);
    if (!rates_are_of(tsr.device_name(device), tsr.device_platform(device)) && is_cpu)
        return DEVICE_CPU;
    return DEVICE_OPEN;
}

static device_state open_session(void)
{
    tsr_error err;

    if (tsr.session_open(device, NULL, &session, &err)) {
        snprintf(why_not, sizeof why_not, "%s", err.message);
        return DEVICE_NONE;
    }
    return DEVICE_OPEN;
}

bool offload_begin(bool f64, bool any, const char **reason)
{
    device_state now = atomic_load(&state);

    if (atomic_load(&refused[f64])) {
        *reason = why_refused[f64];
        return false;
    }
    /* Without the lock: a thread whose call stays on the CPU waits for none. */
    if (now == DEVICE_UNOPENED || now == DEVICE_OPEN || (now == DEVICE_CPU && any)) {
        pthread_mutex_lock(&lock);
        now = atomic_load(&state);
        if (now == DEVICE_UNOPENED) {
            atomic_store(&touched, true);
            now = find_device();
        }
        if (!session && (now == DEVICE_OPEN || (now == DEVICE_CPU && any)))
            now = open_session();
        atomic_store(&state, now);
        if (now == DEVICE_OPEN)
            return true;
        pthread_mutex_unlock(&lock);
    }
    *reason = now == DEVICE_CPU ? "the device is the CPU itself" : why_not;
    return false;
}

void offload_lock(void)
{
    pthread_mutex_lock(&lock);
}

void offload_end(void)
{
    pthread_mutex_unlock(&lock);
}

/* Another thread of the parent may have had the lock, and may have been opening the device. */
bool offload_after_fork(void)
{
    pthread_mutex_init(&lock, NULL);
    if (!atomic_load(&touched))
        return false;
    snprintf(why_not, sizeof why_not, "the process was forked from one that used the device");
    atomic_store(&state, DEVICE_NONE);
    return true;
}

static bool is_memory(int code)
{
    return code == OBJECT_ALLOCATION_FAILURE || code == OUT_OF_RESOURCES ||
           code == OUT_OF_HOST_MEMORY || code == INVALID_BUFFER_SIZE;
}

bool offload_has_room(void)
{
    const bool wanted = was_memory;

    was_memory = false; /* the next failure may be of the host's memory, before any product */
    return wanted && kept_give_way();
}

bool offload_takes_complex(bool f64)
{
    return !atomic_load(&complex_as_real[f64]);
}

bool offload_multiply(const offload_product *p, uint64_t *bytes, uint64_t *kept,
                      const char **reason)
{
    tsr_matmul_problem problem = TSR_MATMUL_PROBLEM_INIT;
    kept_outcome outcome = KEPT_NOTHING;
    tsr_report report = {0};
    tsr_error err;

    was_memory = false;
    problem.type = p->complex ? (p->f64 ? TSR_C128 : TSR_C64) : p->f64 ? TSR_F64 : TSR_F32;
    problem.precision = p->f64 || p->complex ? TSR_PRECISION_DEFAULT : precision;
    problem.layout = TSR_COLUMN_MAJOR;
    problem.m = p->m;
    problem.n = p->n;
    problem.k = p->k;
    problem.trans_a = p->trans_a;
    problem.trans_b = p->trans_b;
    problem.conj_a = p->conj_a;
    problem.conj_b = p->conj_b;
    problem.alpha = p->alpha;
    problem.beta = p->beta;
    problem.lda = p->lda;
    problem.ldb = p->ldb;
    problem.ldc = p->ldc;
    if (!p->complex)
        outcome = kept_multiply(session, device, p, &problem, bytes, kept, &err);
    if (outcome == KEPT_DONE)
        return true;
    /* A report takes time: what it counts on the device is read back. */
    if (outcome == KEPT_NOTHING && tsr.matmul(session, &problem, p->a, p->b, p->c, NULL,
                                              log_start() ? &report : NULL, &err) == TSR_OK) {
        *bytes += report.to_device_bytes + report.from_device_bytes;
        return true;
    }
    snprintf(why_not, sizeof why_not, "%s", err.message);
    *reason = why_not;
    was_memory = err.status == TSR_ENOMEM || (err.status == TSR_ECL && is_memory(err.cl));
    /* A driver that failed is not asked again, nor a device for a type that it does not have. */
    if (err.status == TSR_EBUILD || (err.status == TSR_ECL && !is_memory(err.cl))) {
        atomic_store(&state, DEVICE_NONE);
    } else if (err.status == TSR_EUNSUPPORTED && !atomic_load(&refused[p->f64])) {
        memcpy(why_refused[p->f64], why_not, sizeof why_not);
        atomic_store(&refused[p->f64], true);
    }
    return false;
}
