/** Problems of segsort as its files read them, and what its descriptor is made of.  A problem
 * begins with the sort of all its keys: what works on keys takes it as that (sort_of). */
#ifndef OPS_SEGSORT_PROBLEM_H
#define OPS_SEGSORT_PROBLEM_H

#include <stddef.h>

#include "base/sizes.h"
#include "core/variant.h"
#include "ops/sort/sort_order.h"
#include "tessera/segsort.h"

extern const operation operation_segsort;

/** segsort_command.c */
extern const operation_command segsort_command;

/** segsort.c: digits in C, as sort has it. */
extern const variant segsort_host_radix;

/** segsort_tiles.c: segments of like length side by side in a tile; segsort_cpu_merges.c. */
extern const variant segsort_tiles, segsort_registers, segsort_warp, segsort_cpu_merges;

/** The operand behind those of a sort: where segments start, and last the number of keys. */
enum { SEGSORT_OFFSETS = 3 };

/* The problem's structure, to read. */
static inline const tsr_segsort_problem *segsort_of(const problem *p)
{
    return (const tsr_segsort_problem *)(const void *)p->bytes;
}

/* The same, to change. */
static inline tsr_segsort_problem *segsort_in(problem *p)
{
    return (tsr_segsort_problem *)(void *)p->bytes;
}

static inline problem segsort_problem(tsr_segsort_problem p)
{
    return problem_from(&operation_segsort, &p, sizeof(p));
}

/** Most keys of a segment, as far as it is known. */
static inline size_t segsort_longest(const tsr_segsort_problem *s)
{
    return s->segment_longest && s->segment_longest < s->sort.n ? s->segment_longest : s->sort.n;
}

/** Keys of a segment in the mean. */
static inline size_t segsort_mean(const tsr_segsort_problem *s)
{
    return s->sort.n / size_max(s->segments, 1);
}

/** The segments, whose offsets are in the arrays of the operands. */
static inline sort_parts segsort_parts(const tsr_segsort_problem *s, const void *const arrays[])
{
    return (sort_parts){.keys = &s->sort,
                        .count = s->segments,
                        .offsets = (const uint64_t *)arrays[SEGSORT_OFFSETS] + s->offset_segments,
                        .kept = s->sort.n};
}

/** Which lengths of segments are drawn, for descriptions: " uniform" where their mean is half of
 *  segment_longest, " mixed", most of them short, where it is less; "" where there is none to go
 *  by.  Static. */
const char *segsort_lengths_name(const tsr_segsort_problem *s);

/* segsort_proof.c: as the members of struct operation. */
void segsort_fill(const problem *p, uint64_t seed, distribution f, void *const operands[]);
bool segsort_sweep(size_t i, bool tiny, problem *out);
tsr_status segsort_expect(const problem *p, const void *const before[], void **out, tsr_error *err);
tsr_status segsort_verify(const problem *p, const device_facts *d, const void *const before[],
                          const void *const after[], const void *expected, verdict *out,
                          tsr_error *err);

/* ---- what the plans share ------------------------------------------------------------------ */

/** The scalars of every kernel: segsort_call of cl/segsort/segsort_segment.clh. */
typedef struct segsort_call {
    uint64_t offset_keys, offset_index, offset_segments;
    uint64_t n, segments;
    uint64_t offset_longest; /* in the workspace, in units of 4 bytes */
    uint64_t offset_values, offset_copy;
    uint64_t offset_lanes, window;
    uint32_t noted; /* the longest segment is looked for on the device */
    uint32_t batch;
    uint32_t stage, stride, flip;
    uint32_t length;
} segsort_call;

_Static_assert(offsetof(segsort_call, length) == 100 && sizeof(segsort_call) <= BLOCK_BYTES_MAX,
               "laid out as in OpenCL C");

/** What the problem says of them; all else is 0. */
segsort_call segsort_call_of(const tsr_segsort_problem *s);

/** Why a variant for segments of up to 2^31 keys does not take the problem; NULL: it does. */
const char *segsort_unsupported(const tsr_segsort_problem *s, plan *out);

/** Where `call` notes the longest segment: a command for the start, when none has been seen yet. */
void segsort_fill_longest(const segsort_call *call, plan *out);

/** The arguments of all kernels that sort, behind the keys, the index and, on CPUs, the lanes. */
void segsort_arguments(command *c, const segsort_call *call);

/** As sort_move_values, where the entry behind `keep` is segsort_gather. */
void segsort_move_values(const job *j, unsigned keep, plan *out);

#endif
