/* Rows of results for tests: a full one, its line, and lines that are refused. */
#ifndef TESTS_UNIT_RESULT_ROWS_H
#define TESTS_UNIT_RESULT_ROWS_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/registry.h"
#include "measure/result.h"

/* A row in which no field is what it is by default, of the first operation. */
static inline result_row full_row(void)
{
    result_row row = {.kind = RESULT_PEER,
                      .problem = "4x5x6 float32",
                      .size = "4x5x6",
                      .type = "float32",
                      .precision = "tf32",
                      .name = "cuBLAS",
                      .peer_version = "12.4",
                      .parameters = "TILE=16",
                      .options = "-DTILE=16",
                      .selected = SELECTED_BY_TUNING,
                      .chosen = "tuned: device entry",
                      .place = RESULT_BY_CUDA,
                      .device = "d",
                      .platform = "p",
                      .vendor = "v",
                      .driver = "1",
                      .device_id = "0:1",
                      .version = "0.1",
                      .when = "2026-01-31T12:00:00Z",
                      .cold = true,
                      .timer = TIMER_WALL,
                      .time = {5, 2, 1.5, 2.25, 4.125, 2, 3},
                      .work = 240,
                      .bytes = 1e18,
                      .rate = 0.1,
                      .unit = "GFLOP/s",
                      .bound_by = "fp32",
                      .share = 0.25,
                      .limit_rate = 60e3,
                      .verified = true,
                      .worst = INFINITY,
                      .sampled = true,
                      .build_cold_ns = 1,
                      .build_cached_ns = 2,
                      .enqueue_ns = 3,
                      .to_device_ns = 4,
                      .from_device_ns = 5,
                      .to_device_bytes = 6,
                      .from_device_bytes = 7,
                      .commands = 8,
                      .workspace_bytes = (size_t)1 << 40,
                      .seed = UINT64_MAX};

    snprintf(row.op, sizeof(row.op), "%s", operation_at(0)->name);
    return row;
}

static inline void written(const result_row *row, text *out)
{
    text_clear(out);
    result_to_json(row, out);
    assert_false(out->failed);
}

static inline void refused(const char *line, const char *says)
{
    result_row row = {.seed = 77};
    tsr_error err = {0};

    if (result_from_json(line, &row, &err) != TSR_EFILE)
        fail_msg("taken: %s", line);
    if (!strstr(err.message, says))
        fail_msg("'%s' does not say '%s'", err.message, says);
    assert_int_equal(row.seed, 77); /* untouched */
}

/* The line without, or with another, value of a field: `to` takes the place of "NAME":VALUE. */
static inline char *edited(const char *line, const char *name, const char *to)
{
    char mark[64], *out = malloc(strlen(line) + strlen(to) + 1);
    const char *at, *end;

    snprintf(mark, sizeof(mark), "\"%s\":", name);
    at = strstr(line, mark);
    assert_non_null(at);
    end = strstr(at, ",\"");
    end = end ? end : strchr(at, '}');
    sprintf(out, "%.*s%s%s", (int)(at - line), line, to, end);
    return out;
}

#endif
