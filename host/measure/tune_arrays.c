#include "measure/tune_arrays.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "core/dispatch.h"
#include "core/registry.h"
#include "measure/bench.h"
#include "measure/input_sets.h"
#include "stream/entry.h"

enum { CODE, KERNEL, SIDES };

static const double SECONDS = 0.2; /* of each side, for a problem */

/* A kernel replaces C code, which has nothing to compile, only where it is faster by more than
 * this. */
static const double MARGIN_MIN = 0.02, MARGIN_MAX = 0.1;

/* Calls of one variant on arrays. */
typedef struct side {
    tsr_session *session;
    const problem *problem;
    input_sets *sets; /* of both sides */
    tsr_run run;
} side;

static tsr_status run_side(void *state, size_t calls, double *ns, tsr_error *err)
{
    side *x = state;
    input_sets *sets = x->sets;
    tsr_status st = sets->in_place ? input_sets_restore(sets, err) : TSR_OK;
    const uint64_t start = clock_ns();

    for (size_t k = 0; k < calls && st == TSR_OK; k++)
        st = entry_run(x->session, x->problem, sets->memory[sets->next++ % sets->count], &x->run,
                       NULL, err);
    *ns = fmax((double)(clock_ns() - start), 1);
    return st;
}

static tsr_status time_sides(side sides[SIDES], const tune_options *o, timing times[SIDES],
                             tsr_error *err)
{
    const input_sets *sets = sides[CODE].sets;
    const size_t most = sets->in_place ? sets->count : 0;
    const bench_options options = {.seconds = SECONDS, .least_samples = 5, .stop = o->stop};
    candidate candidates[SIDES];

    for (size_t i = 0; i < SIDES; i++)
        candidates[i] = (candidate){.state = &sides[i],
                                    .run = run_side,
                                    .most_calls = most,
                                    .uses_up = most != 0,
                                    .warm_ns = BENCH_WARM_NS};
    return bench_interleave(candidates, SIDES, &options, times, err);
}

/* Whether the samples show that the kernel is faster. */
static bool faster(const timing *kernel, const timing *code)
{
    const double spread = fmax(timing_spread(kernel), timing_spread(code));
    const double margin = fmin(fmax(spread, MARGIN_MIN), MARGIN_MAX);

    return kernel->median_ns * (1 + margin) < code->median_ns;
}

/* One problem, into times; without samples where the search is stopped. */
static tsr_status compare(tsr_session *s, const problem *p, const variant *code,
                          const tune_options *o, const tune_candidate *best, timing times[SIDES],
                          tsr_error *err)
{
    const char *set[TUNABLES_MAX];
    text parameters = {0};
    input_sets sets = {0};
    side sides[SIDES] = {{s, p, &sets, {.variant = code->name}},
                         {s, p, &sets, {.variant = best->variant->name}}};
    tsr_status st = input_sets_open(s, p, o->seed, o->warm, true, &sets, err);

    params_describe(&best->params, &parameters);
    if (parameters.length) {
        /* "A=1 B=2" as the settings of a run; `parameters` is cut into them. */
        char *rest = NULL;

        sides[KERNEL].run.set = set;
        for (char *one = strtok_r(parameters.data, " ", &rest);
             one && sides[KERNEL].run.set_count < TUNABLES_MAX; one = strtok_r(NULL, " ", &rest))
            set[sides[KERNEL].run.set_count++] = one;
    }
    st = st ? st : time_sides(sides, o, times, err);
    input_sets_close(&sets);
    text_free(&parameters);
    return st;
}

tsr_status tune_on_arrays(tsr_session *s, const problem *problems, size_t count,
                          const tune_options *o, tune_result *found, tsr_error *err)
{
    double log_sum[SIDES] = {0};
    size_t compared = 0, won = 0;
    bool same = true;

    if (!s->queue || !found->best->variant->source)
        return TSR_OK;
    for (size_t i = 0; i < count; i++) {
        const variant *code = dispatch_c_code(s, &problems[i]);
        timing times[SIDES] = {0};
        tsr_status st;

        if (!code)
            continue;
        st = compare(s, &problems[i], code, o, found->best, times, err);
        if (st)
            return st;
        if (times[CODE].count < 3 ||
            times[KERNEL].count < 3) { /* stopped: C code keeps its place */
            found->c_code = NULL;
            return TSR_OK;
        }
        same = same && (!found->c_code || found->c_code == code);
        found->c_code = code;
        won += faster(&times[KERNEL], &times[CODE]);
        compared++;
        for (size_t k = 0; k < SIDES; k++)
            log_sum[k] += log(times[k].median_ns);
    }
    if (!compared)
        return TSR_OK;
    found->c_ns = exp(log_sum[CODE] / (double)compared);
    found->kernel_ns = exp(log_sum[KERNEL] / (double)compared);
    found->faster_than_c = same && won == compared;
    return TSR_OK;
}
