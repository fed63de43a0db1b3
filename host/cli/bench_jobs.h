/** The rows that a bench is asked for: every device, size, variant and setting. */
#ifndef CLI_BENCH_JOBS_H
#define CLI_BENCH_JOBS_H

#include "cli/options.h"
#include "core/variant.h"
#include "tessera/status.h"

/** The settings of one row: one value of each list that --set gives. */
typedef struct bench_setting {
    const char *set[TUNABLES_MAX]; /* "NAME=VALUE", borrowed from the list of jobs */
    size_t count;
} bench_setting;

typedef struct bench_jobs {
    const operation *op;
    problem *problems; /* problem_count of them, one for each --size */
    size_t problem_count;
    bool all; /* every variant; else the one that --kernel names, or the chosen one */
    bench_setting *settings; /* setting_count of them, at least one */
    size_t setting_count;
    char *texts; /* what the settings point to */
} bench_jobs;

/**
 * Read what the command line asks for.
 *
 * @param out  Receives the jobs, to be freed with bench_jobs_free, also on failure.
 * @return TSR_OK; TSR_ENAME for what does not exist; or as bench_problem.
 */
tsr_status bench_jobs_read(const options *o, bench_jobs *out, tsr_error *err);
void bench_jobs_free(bench_jobs *j);

/** Variant i to bench on a device of this side, NULL where the library chooses; false beyond the
 *  last. */
bool bench_jobs_variant(const bench_jobs *j, const options *o, bool on_host, size_t i,
                        const char **out);

/** Rows of one device. */
size_t bench_jobs_count(const bench_jobs *j, const options *o, bool on_host);

#endif
