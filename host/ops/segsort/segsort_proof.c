/* Proving segsort: lengths that are drawn, and the sweep of edge sizes; keys and reference are
 * those of sort. */
#include <math.h>

#include "base/random.h"
#include "ops/segsort/segsort_problem.h"
#include "ops/sort/sort_proof.h"

/*
 * Offsets of segments that are any length up to segment_longest, n keys in all: r^power of the
 * range, r in [0, 1), is 1 / (power + 1) of it on the average, so where the mean is half of the
 * longest all lengths are as likely, and where it is less, most are short and many empty.  The
 * power follows what is left, and so do the limits.
 */
static void fill_offsets(const tsr_segsort_problem *s, uint64_t *state, uint64_t *offsets)
{
    const size_t least_of_longest = size_div_up(s->sort.n, size_max(s->segments, 1));
    const size_t longest = size_max(size_max(segsort_longest(s), least_of_longest), 1);
    size_t left = s->sort.n;

    offsets[0] = 0;
    for (size_t i = 0; i < s->segments; i++) {
        const size_t after = s->segments - 1 - i;
        const double r = (double)(random_u64(state) >> 11) * 0x1p-53;
        const double mean = (double)left / (double)(after + 1);
        const double power = mean > 0 ? (double)longest / mean - 1 : 0;
        const size_t drawn = (size_t)(pow(r, power) * (double)(longest + 1));
        const size_t least = left / longest >= after ? left - after * longest : 0;
        const size_t most = size_min(longest, left);
        const size_t length = size_max(size_min(drawn, most), least);

        offsets[i + 1] = offsets[i] + length;
        left -= length;
    }
}

const char *segsort_lengths_name(const tsr_segsort_problem *s)
{
    const double n = (double)s->sort.n;
    const double full = (double)s->segments * (double)s->segment_longest;

    return n == 0 || full < 2 * n ? "" : full > 2 * n ? " mixed" : " uniform";
}

void segsort_fill(const problem *p, uint64_t seed, distribution f, void *const operands[])
{
    const tsr_segsort_problem *s = segsort_of(p);
    uint64_t *offsets = operands[SEGSORT_OFFSETS];
    uint64_t state = random_stream(seed, UINT64_MAX); /* the keys' are numbered from 0 on */

    sort_fill(p, seed, f, operands);
    for (size_t i = 0; i < s->offset_segments; i++)
        offsets[i] = random_u64(&state);
    fill_offsets(s, &state, offsets + s->offset_segments);
}

/* One, few and many segments, of up to any length and of short ones alone, with what goes along:
 * of each case their number and the longest (0: any).  Every type is among them, and those of 64
 * bits without an index too, which alone fit registers. */
static const sort_case cases[] = {
    {TSR_U32, {SORT_UP, SORT_UP}, {0, 0}, 0, {1, 0}},
    {TSR_U32, {SORT_DOWN_INDEX, SORT_DOWN_INDEX}, {0, 0}, 0, {7, 0}},
    {TSR_F32, {SORT_UP, SORT_UP}, {0, 0}, 0, {64, 0}},
    {TSR_U32, {SORT_UP, SORT_UP_INDEX}, {4, 4}, 0, {37, 100}},
    {TSR_F64, {SORT_DOWN_INDEX, SORT_DOWN_INDEX}, {0, 0}, 0, {9, 0}},
    {TSR_U8, {SORT_UP_INDEX, SORT_UP}, {16, 16}, 0, {300, 33}},
    {TSR_I64, {SORT_UP, SORT_UP_INDEX}, {4, 4}, 0, {21, 64}},
    {TSR_F16, {SORT_DOWN, SORT_DOWN}, {0, 0}, 0, {1000, 1}},
    {TSR_U32, {SORT_DOWN, SORT_DOWN}, {0, 0}, 0, {101, 1023}},
    {TSR_I8, {SORT_DOWN_INDEX, SORT_DOWN}, {1, 8}, 0, {50, 200}},
    {TSR_I16, {SORT_UP, SORT_UP_INDEX}, {4, 4}, 0, {5, 0}},
    {TSR_U16, {SORT_DOWN_INDEX, SORT_DOWN}, {1, 2}, 0, {90, 64}},
    {TSR_I32, {SORT_UP_INDEX, SORT_UP}, {16, 8}, 0, {12, 0}},
    {TSR_U64, {SORT_UP, SORT_UP}, {0, 0}, 0, {30, 0}},
    {TSR_U64, {SORT_DOWN_INDEX, SORT_DOWN}, {2, 2}, 0, {16, 500}},
    {TSR_I64, {SORT_DOWN, SORT_DOWN}, {0, 0}, 0, {8, 0}},
    {TSR_F32, {SORT_DOWN_INDEX, SORT_DOWN}, {1, 1}, 0, {77, 300}},
    {TSR_F64, {SORT_UP, SORT_UP}, {0, 0}, 0, {45, 40}},
};

bool segsort_sweep(size_t i, bool tiny, problem *out)
{
    problem p = {.op = &operation_segsort};
    const sort_case *c = sort_sweep_cases(cases, ARRAY_COUNT(cases), i, tiny, &p);

    if (!c)
        return false;
    segsort_in(&p)->segments = c->own[0];
    segsort_in(&p)->segment_longest = c->own[1];
    if (sort_of(&p)->offset_keys)
        segsort_in(&p)->offset_segments = i % 2;
    *out = p;
    return true;
}

tsr_status segsort_expect(const problem *p, const void *const before[], void **out, tsr_error *err)
{
    const sort_parts parts = segsort_parts(segsort_of(p), before);

    return sort_expect_parts(&parts, before, out, err);
}

tsr_status segsort_verify(const problem *p, const device_facts *d, const void *const before[],
                          const void *const after[], const void *expected, verdict *out,
                          tsr_error *err)
{
    const sort_parts parts = segsort_parts(segsort_of(p), before);

    (void)d; /* the order is the same everywhere */
    return sort_verify_parts(&parts, before, after, expected, out, err);
}
