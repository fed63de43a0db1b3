/** Problems of scan as its files read them, and what its descriptor is made of. */
#ifndef OPS_SCAN_PROBLEM_H
#define OPS_SCAN_PROBLEM_H

#include "base/sizes.h"
#include "core/variant.h"
#include "core/view.h"
#include "stream/partition.h"
#include "tessera/scan.h"

extern const operation operation_scan;

/** scan_command.c */
extern const operation_command scan_command;

/** scan_simd.c: C, on the host and on CPUs. */
extern const variant scan_simd;

/** scan_ladder.c: the first steps, of float32 sums of one line. */
extern const variant scan_hillis_steele, scan_blelloch, scan_blelloch_padded, scan_shuffle;

/** scan_tiles.c: work-groups scan tiles in local memory. */
extern const variant scan_three_launches, scan_look_back;

/** scan_warps.c: elements in registers, and warps that look back. */
extern const variant scan_warps;

/** scan_chunks.c: each work-item scans a stretch of a line by itself. */
extern const variant scan_chunks;

/* The operands, in order. */
enum { SCAN_X, SCAN_RESULT, SCAN_SEGMENTS, SCAN_OPERANDS };

/* The problem's structure, to read. */
static inline const tsr_scan_problem *scan_of(const problem *p)
{
    return (const tsr_scan_problem *)(const void *)p->bytes;
}

/* The same, to change. */
static inline tsr_scan_problem *scan_in(problem *p)
{
    return (tsr_scan_problem *)(void *)p->bytes;
}

static inline size_t scan_outer(const tsr_scan_problem *p)
{
    return size_max(p->outer, 1);
}

static inline size_t scan_inner(const tsr_scan_problem *p)
{
    return size_max(p->inner, 1);
}

/** Independent lines. */
static inline size_t scan_lines(const tsr_scan_problem *p)
{
    return scan_outer(p) * scan_inner(p);
}

/** Elements of all lines, where the problem has been checked. */
static inline size_t scan_elements(const tsr_scan_problem *p)
{
    return scan_lines(p) * p->n;
}

static inline view scan_x(const tsr_scan_problem *p)
{
    const size_t n = scan_elements(p);

    return view_of(p->type, 1, n, n, p->offset_x, 1, 0);
}

static inline view scan_result(const tsr_scan_problem *p)
{
    const size_t n = scan_elements(p);

    return view_of(tsr_scan_result_type(p), 1, n, n, p->offset_result, 1, 0);
}

static inline view scan_segments(const tsr_scan_problem *p)
{
    const size_t n = p->segments ? p->segments + 1 : 0;

    return view_of(TSR_U64, 1, n, n, p->offset_segments, 1, 0);
}

/** scan_command.c: "sum", "min" or "max". */
const char *scan_by_name(const problem *p);

/** scan_chunks.c, for all general kernels: bytes of a value that is combined; and NULL and the -Ds
 * of cl/scan/scan.clh, or why the device has no such elements. */
size_t scan_value_bytes(const tsr_scan_problem *p);
const char *scan_define(const job *j, plan *out);

/** scan_partition.c: operation.partition. */
tsr_status scan_partition(const problem *p, const struct selection *sel,
                          const struct stream_budget *budget, struct partition *out,
                          tsr_error *err);

/* scan_proof.c: as the members of struct operation. */
void scan_fill(const problem *p, uint64_t seed, distribution f, void *const operands[]);
bool scan_sweep(size_t i, bool tiny, problem *out);
tsr_status scan_verify(const problem *p, const device_facts *d, const void *const before[],
                       const void *const after[], const void *expected, verdict *out,
                       tsr_error *err);

#endif
