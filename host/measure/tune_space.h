/** The combinations of a variant's tunables that a search may visit. */
#ifndef MEASURE_TUNE_SPACE_H
#define MEASURE_TUNE_SPACE_H

#include "core/variant.h"

typedef struct tune_space {
    const variant *variant;
    uint32_t value[TUNABLES_MAX][TUNABLE_VALUES_MAX]; /* allowed ones, in the table's order */
    size_t count[TUNABLES_MAX];
    size_t total; /* combinations: 1 without tunables, 0 where a restriction leaves none */
} tune_space;

/**
 * The space of a variant under "NAME=V1,V2" restrictions.  One whose NAME the
 * variant does not declare is of another variant.
 *
 * @return TSR_OK; TSR_ENAME where a value is not legal.
 */
tsr_status tune_space_make(const variant *v, const char *const *set, size_t set_count,
                           tune_space *out, tsr_error *err);

/** Combination i < total. */
void tune_space_at(const tune_space *space, size_t i, params *out);

/** The defaults, or where one is not allowed the first value that is. */
void tune_space_usual(const tune_space *space, params *out);

/** Whether a combination is in it. */
bool tune_space_has(const tune_space *space, const variant *v, const params *p);

#endif
