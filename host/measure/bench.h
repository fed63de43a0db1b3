/**
 * Benchmarking: one problem, variants and peers, each verified before it is
 * timed, interleaved where they are compared.
 */
#ifndef MEASURE_BENCH_H
#define MEASURE_BENCH_H

#include <signal.h>

#include "base/clock.h"
#include "measure/input_sets.h"
#include "measure/result.h"

/** Wall time in nanoseconds of each phase of a benchmark. */
typedef struct bench_phases {
    uint64_t inputs;  /* made, and copied to the device; of peers, all that opening takes */
    uint64_t results; /* first calls, with builds and reading back */
    uint64_t proofs;  /* comparing with the reference */
    uint64_t samples; /* with warming up */
} bench_phases;

/** Add what passed since *since, which becomes now, to a phase. */
static inline void bench_lap(uint64_t *since, uint64_t *phase)
{
    const uint64_t now = clock_ns();

    *phase += now - *since;
    *since = now;
}

typedef struct bench_options {
    bool warm;            /* one set of inputs again and again; default: cold */
    double seconds;       /* aim for this much measuring a row (default 1) */
    size_t least_samples; /* at least this many (default 5); 3 do where 20 times `seconds` pass */
    uint64_t seed;
    bool costs;     /* also measure build, enqueue and copies */
    bool held;      /* candidates are timed by TIMER_HELD, not TIMER_WALL */
    bool wall;      /* with `held`: by TIMER_WALL, too */
    bool on_arrays; /* where no variant is named: what a call on arrays in host memory runs, which
                       may be C code on a CPU, and not what one on buffers does */
    const volatile sig_atomic_t *stop; /* nonzero: finish with what there is.  May be NULL */
    uint64_t
        deadline;    /* of peers and costs, by clock_ns: what does not fit is left out.  0: none */
    void **expected; /* of verify_result, shared by all rows of one problem.  May be NULL */
    /* A session like the one of a candidate on a queue that records no times, which its first use
     * opens and the caller closes: later candidates find their programs there.  NULL: each opens
     * its own. */
    tsr_session **unprofiled;
    bench_phases *phases; /* where the time of candidates goes, added to.  May be NULL */
} bench_options;

/** Whether what takes ns, started now, is not done before the deadline. */
bool bench_is_late(const bench_options *o, double ns);

/**
 * What can do the problem's job: a variant of ours or a peer.
 *
 * run() does `calls` calls back to back, each on the next of its input sets,
 * waits once and gives the wall time, or the device's with TIMER_HELD.
 */
typedef struct candidate {
    void *state;
    tsr_status (*run)(void *state, size_t calls, double *ns, tsr_error *err);
    size_t most_calls; /* a sample may hold; 0: any */
    bool uses_up;      /* its inputs: there are most_calls of them */
    /* Prepare for the next sample, untimed.  May be NULL. */
    tsr_status (*restore)(void *state, tsr_error *err);
    /* Where its failure goes, whose status is TSR_OK until then: it is out, and the others go on.
     * NULL: its failure ends it all. */
    tsr_error *failure;
    /* How long its threads may go on spinning after a sample, below a second: that long is waited,
     * untimed, so that they take no core from the next one. */
    uint32_t settle_ns;
    /* How long, in ns, it runs untimed before a sample of calls that are shorter: cores that slept
     * are slow at first.  0, or inputs that are used up: one call, of those below 10 ms. */
    uint32_t warm_ns;
} candidate;

/** Calls of a sample by TIMER_HELD at most, and their commands: drivers take about a thousand
 * before the first has ended, and make the host wait then. */
enum { BENCH_HELD_CALLS = 250, BENCH_HELD_COMMANDS = 750 };

/** `warm_ns` of candidates on the host's processor: on two of its cores 256 x 256 x 256 took 0.58
 * ms a call after a sleep and one call, and 0.35 ms after 20 ms of calls. */
enum { BENCH_WARM_NS = 50000000 };

/**
 * Time candidates, interleaved sample by sample in rotating order, after a
 * warm-up each, and before each sample of calls below 10 ms one that is not
 * timed, or as many as fill its warm_ns.  times[i] receives candidate i's, of
 * which one that failed has none.  Stops early, with what there is, once
 * *options->stop is nonzero.
 */
tsr_status bench_interleave(candidate *candidates, size_t count, const bench_options *options,
                            timing *times, tsr_error *err);

/**
 * Verify, then time one variant with device events; fills *out but for
 * bound_by, share and limit_rate (roofline_place).
 *
 * @return TSR_OK, also where the variant is unsupported: out->unsupported says why;
 *         TSR_EBOUND where its result is wrong: it is then not timed, and *out is
 *         RESULT_WRONG; TSR_EINVAL, *out untouched, where the session's queue records
 *         no times; where another call fails its status, and *out is RESULT_FAILED.
 */
tsr_status bench_variant(tsr_session *s, const problem *p, const tsr_run *run,
                         const bench_options *options, result_row *out, tsr_error *err);

/** Build what bench_variant would run, and keep it in the cache; where the driver compiles at the
 * first launch, by a call on inputs.  As dispatch_call. */
tsr_status bench_build(tsr_session *s, const problem *p, const tsr_run *run, tsr_error *err);

/** The row of a variant that is not benched since the budget is over: RESULT_LATE.  Unsupported
 * ones and failures of the choice are as bench_variant has them. */
tsr_status bench_late(tsr_session *s, const problem *p, const tsr_run *run,
                      const bench_options *options, result_row *out, tsr_error *err);

/**
 * What a call costs beside the time of its commands, into a row that
 * bench_variant has filled: builds, copies.  Builds count up to the end of a
 * first call, less a usual call: a driver may leave part of the work to the
 * first launch.  The cold one is made new to every cache by a -D that no build
 * had before; the cached one is loaded from Tessera's own cache.
 */
tsr_status bench_costs(tsr_session *s, const problem *p, const tsr_run *run, result_row *row,
                       tsr_error *err);

/**
 * The same variant as a candidate on prepared device buffers, for comparison with peers; verified.
 * By TIMER_HELD it runs on the queue of s, which has to record times, by TIMER_WALL on one that
 * records none.  Of both options->held is the first.  Free with bench_candidate_close.
 *
 * @return as bench_variant, but TSR_EUNSUPPORTED where it is unsupported, or C code is to be timed
 * by the clock of a device.
 */
tsr_status bench_candidate_open(tsr_session *s, const problem *p, const tsr_run *run,
                                const bench_options *options, candidate *out, tsr_error *err);
void bench_candidate_close(candidate *c);

/** Of one that was opened with options->held and options->wall: time it by TIMER_WALL from now on.
 */
tsr_status bench_candidate_to_wall(candidate *c, tsr_error *err);

/** Its inputs; borrowed until it is closed. */
const input_sets *bench_candidate_inputs(const candidate *c);

/** Name, parameters and verdict of a candidate of ours into a row. */
void bench_candidate_describe(const candidate *c, result_row *row);

#endif
