#include "blas/level3.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blas/arguments.h"
#include "blas/blocked.h"
#include "blas/decimal_point.h"
#include "blas/kept.h"
#include "blas/log.h"
#include "blas/matrices.h"
#include "blas/offload.h"
#include "blas/rates.h"
#include "blas/tried.h"

/* Without measured rates of this machine: the work, in operations, and the shortest side from which
 * a GPU wins whatever the CPU is.  Triangular matrices are cut in halves again and again, whose
 * products go to the device and come back one after another. */
#define WORK_MIN            2e9
#define WORK_MIN_TRIANGULAR 2e10
#define SIDE_MIN            256

/* Of no routine and type do sizes below it make so much work: 8 * 512^3 operations of zgemm. */
enum { SMALL_BELOW = 512 };

typedef enum blas_mode { MODE_AUTO, MODE_ALWAYS, MODE_NEVER } blas_mode;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static blas_mode mode;
_Atomic(uint64_t) blas_small_below[BLAS_ROUTINE_COUNT];
static uint64_t usual_small_below[BLAS_ROUTINE_COUNT]; /* where nothing is kept on the device */

/* ---- where it runs -----------------------------------------------------------------------------
 */

static double least(double a, double b)
{
    return a < b ? a : b;
}

/* Operations of the call, and the shortest side of its products. */
static double work_of(const blas_call *call, double *side)
{
    const double m = (double)call->m, n = (double)call->n, k = (double)call->k;
    const double order = call->side == 'L' ? m : n; /* of a symmetric or triangular A */
    const double complex = call->type == 'c' || call->type == 'z' ? 4 : 1;

    switch (call->routine) {
    case BLAS_GEMM:
        *side = least(least(m, n), k);
        return complex * 2 * m * n * k;
    case BLAS_SYMM:
    case BLAS_HEMM:
        *side = least(m, n);
        return complex * 2 * m * n * order;
    case BLAS_SYRK:
    case BLAS_HERK:
        *side = least(n, k);
        return complex * n * n * k;
    case BLAS_SYR2K:
    case BLAS_HER2K:
        *side = least(n, k);
        return complex * 2 * n * n * k;
    default:
        *side = least(m, n);
        return complex * m * n * order;
    }
}

/* Without rates: why a call stays on the CPU; NULL where it does not. */
static const char *default_reason(const blas_call *call)
{
    const bool triangular = blas_is_triangular(call->routine);
    double side = 0;
    const double work = work_of(call, &side);

    if (work < WORK_MIN)
        return "it is less than 2e9 operations";
    if (triangular && work < WORK_MIN_TRIANGULAR)
        return "it is triangular, and less than 2e10 operations";
    if (side < SIDE_MIN)
        return "a side is shorter than 256";
    return NULL;
}

/* Whether the device is faster, by measured times. */
static bool is_faster_there(blas_call *call, bool may_try, rates_times *expected)
{
    const bool triangular = blas_is_triangular(call->routine);
    const bool reads_c = !triangular && (call->beta.re != 0 || call->beta.im != 0);
    const bool has_m = call->side || call->routine == BLAS_GEMM;
    const double c_bytes = reads_c ? (double)(has_m ? call->m : call->n) * (double)call->n *
                                         (double)element_of(call->type).size
                                   : 0;
    const double kept = blocked_kept(call);

    *expected = rates_expect(call, kept, c_bytes);
    /* What is kept now may not be so at the next call. */
    return may_try && kept == 0 ? tried_prefer_device(call, expected)
                                : rates_prefer_device(expected);
}

/* By measured times: the same. */
static const char *reason_by_rates(blas_call *call)
{
    static _Thread_local char reason[128];
    const char *against = blocked_reason_against(call);
    rates_times expected;

    if (against)
        return against;
    if (is_faster_there(call, true, &expected))
        return NULL;
    if (call->start_ns) {
        const decimal_point numbers = decimal_point_begin();

        snprintf(reason, sizeof reason, "%s%.3f ms there and %.3f ms on the device are expected",
                 rates_prefer_device(&expected) ? "both places are tried: " : "",
                 rates_seconds(expected.cpu) * 1e3, rates_seconds(expected.device) * 1e3);
        decimal_point_end(numbers);
    }
    return reason;
}

/* Why the CPU's BLAS gets it without a look at the device; NULL where the device decides. */
static const char *reason_against(blas_call *call)
{
    const char *reason;
    double side = 0;

    call->tried = 0;
    if (mode == MODE_NEVER)
        return "TESSERA_BLAS=never";
    if (call->transa == 'R' || call->transb == 'R')
        return "a matrix is conjugated and not transposed";
    if (work_of(call, &side) == 0 || (call->alpha.re == 0 && call->alpha.im == 0))
        return "there is nothing to multiply";
    if (mode == MODE_ALWAYS)
        return NULL;
    if (!rates_have(call->type))
        return default_reason(call);
    reason = reason_by_rates(call);
    /* They may be of a device that is not there any more: the first call that another one would
     * take has a look. */
    return reason && !rates_are_checked() && !default_reason(call) ? NULL : reason;
}

/* Whether a routine is worth the device with sizes of which the largest is `size`, a power of 2,
 * and the others are smaller ones. */
static bool is_worth_it(blas_routine routine, char type, uint64_t size)
{
    for (uint64_t m = 8; m <= size; m *= 2) {
        for (uint64_t n = 8; n <= size; n *= 2) {
            for (uint64_t k = 8; k <= size; k *= 2) {
                blas_call call = {.routine = routine, .type = type, .alpha = {1, 0}};
                rates_times expected;

                call.m = (int64_t)m;
                call.n = (int64_t)n;
                call.k = (int64_t)k;
                call.transb = 'N';
                for (int form = 0; form < 2; form++) {
                    call.side = form ? 'R' : 'L';
                    call.transa = form ? 'T' : 'N';
                    if (!blocked_reason_against(&call) && is_faster_there(&call, false, &expected))
                        return true;
                }
            }
        }
    }
    return false;
}

/* Sizes up to which no call of a routine, of any type, is worth the device. */
static uint64_t small_below(blas_routine routine)
{
    static const char types[] = "sdcz";

    for (uint64_t size = 8; size <= SMALL_BELOW; size *= 2) {
        for (const char *type = types; *type; type++) {
            if (rates_have(*type) && is_worth_it(routine, *type, size))
                return size / 2;
        }
    }
    return SMALL_BELOW;
}

/* Leave usual small calls to the CPU's BLAS at once. */
static void look_as_usual(void)
{
    for (size_t i = 0; i < BLAS_ROUTINE_COUNT; i++)
        atomic_store(&blas_small_below[i], usual_small_below[i]);
}

static void forked(void)
{
    const bool used = offload_after_fork();

    kept_after_fork_in_child(used);
    tried_after_fork();
    if (used)
        look_as_usual();
    log_after_fork();
}

/* As soon as the library is loaded: a fork that has begun runs no handler that comes later, and
 * its child would wait for a lock that nobody gives back. */
__attribute__((constructor)) static void register_fork_handler(void)
{
    pthread_atfork(kept_before_fork, kept_after_fork, forked);
}

/* At the first call of level 3. */
static void set_up(void)
{
    const char *wish = getenv("TESSERA_BLAS");

    mode = MODE_AUTO;
    if (wish && strcmp(wish, "always") == 0)
        mode = MODE_ALWAYS;
    else if (wish && strcmp(wish, "never") == 0)
        mode = MODE_NEVER;
    else if (wish && *wish && strcmp(wish, "auto") != 0)
        fprintf(stderr, "libtessera-blas: TESSERA_BLAS: '%s' is none of auto, always and never\n",
                wish);
    blocked_set_up();
    log_open();
    if (mode == MODE_AUTO)
        rates_read();
    /* The log has every call. */
    for (size_t i = 0; i < BLAS_ROUTINE_COUNT && mode != MODE_ALWAYS && !log_start(); i++)
        usual_small_below[i] = mode == MODE_NEVER ? INT64_MAX : small_below((blas_routine)i);
    look_as_usual();
}

/* Without copies small products may be worth the device; and a small call may write what is kept.
 */
void blas_look_at_all(bool all)
{
    pthread_once(&once, set_up);
    look_as_usual();
    if (all && mode != MODE_NEVER) {
        for (size_t i = 0; i < BLAS_ROUTINE_COUNT; i++)
            atomic_store(&blas_small_below[i], 0);
    }
}

static void begin_try(blas_call *call)
{
    if (call->tried)
        call->tried_ns = log_now();
}

/* The device was to do it, and did not: what it takes until the CPU has done it is no time of
 * either place. */
static bool fail_try(blas_call *call)
{
    if (call->tried)
        tried_failed(call);
    call->tried = 0;
    return false;
}

static bool run(blas_call *call)
{
    bool done;

    call->reason = reason_against(call);
    begin_try(call);
    if (call->reason)
        return false;
    if (!offload_begin(element_of(call->type).f64, mode == MODE_ALWAYS, &call->reason))
        return fail_try(call);
    /* Rates of another device do not count, nor does the time until the device was free. */
    call->reason = reason_against(call);
    begin_try(call);
    done = !call->reason && (blocked_run(call) || fail_try(call));
    offload_end();
    return done;
}

bool blas_level3(blas_call *call)
{
    pthread_once(&once, set_up);
    call->start_ns = log_start();
    if (!blas_take_arguments(call)) {
        log_refused(call);
        return true;
    }
    call->marked = kept_write_begin(call->c, blocked_c_bytes(call));
    if (!run(call))
        return false;
    blas_done(call, true);
    return true;
}

void blas_done(const blas_call *call, bool on_device)
{
    if (call->marked)
        kept_write_end(call->c, blocked_c_bytes(call));
    if (call->tried)
        tried_done(call, on_device, log_now() - call->tried_ns);
    if (call->start_ns)
        log_call(call, on_device);
}
