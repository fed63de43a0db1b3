/** Programs that a sweep has met: whether another one would show something new. */
#ifndef MEASURE_PROGRAMS_MET_H
#define MEASURE_PROGRAMS_MET_H

#include "core/plan.h"
#include "core/variant.h"

/** Zero-initialised at first, freed by programs_met_free. */
typedef struct programs_met {
    void *hashes; /* of programs and of pairs: a tree of <search.h> */
} programs_met;

/**
 * Whether a plan needs no program, one that was met before, or one that brings two values side by
 * side as none before did: of -Ds, and of the entries that it launches with the sizes of their
 * groups.  The program of such a plan is then met.
 *
 * @param singly  Ask for one value that is new, instead of a pair.
 * @param out  Receives the answer.
 * @return TSR_OK or TSR_ENOMEM.
 */
tsr_status programs_met_shows(programs_met *m, const variant *v, const device_facts *d,
                              const plan *p, bool singly, bool *out, tsr_error *err);

void programs_met_free(programs_met *m);

#endif
