#include "base/elements.h"
#include "ops/scan/scan_problem.h"
#include "stream/entry.h"

tsr_type tsr_scan_result_type(const tsr_scan_problem *p)
{
    if (!p)
        return TSR_TYPE_COUNT;
    if (p->by != TSR_SCAN_SUM || p->same_type || type_is_real(p->type))
        return p->type;
    return type_is_signed(p->type) ? TSR_I64 : TSR_U64;
}

tsr_status tsr_scan(tsr_session *session, const tsr_scan_problem *problem_in, const void *x,
                    void *result, const uint64_t *segment_offsets, const tsr_run *run,
                    tsr_report *report, tsr_error *err)
{
    void *const operands[] = {entry_readable(x), result, entry_readable(segment_offsets)};
    problem p;
    const tsr_status st = entry_problem(&operation_scan, problem_in, sizeof(*problem_in), &p, err);

    return st ? st : entry_run(session, &p, operands, run, report, err);
}

tsr_status tsr_scan_enqueue(tsr_session *session, const tsr_scan_problem *problem_in, cl_mem x,
                            cl_mem result, cl_mem segment_offsets, const tsr_run *run,
                            tsr_report *report, tsr_error *err)
{
    const cl_mem buffers[] = {x, result, segment_offsets};
    problem p;
    const tsr_status st = entry_problem(&operation_scan, problem_in, sizeof(*problem_in), &p, err);

    return st ? st : entry_enqueue(session, &p, buffers, run, report, err);
}
