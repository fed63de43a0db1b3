#include "faults/warm_calls.h"

tsr_status warm_call(tsr_session *s, const tsr_run *run, double alpha, const cl_mem b[WARM_BUFFERS],
                     tsr_error *err)
{
    const tsr_matmul_problem p = {.m = WARM_SIDE, .n = WARM_SIDE, .k = WARM_SIDE, .alpha = alpha};

    return tsr_matmul_enqueue(s, &p, b[0], b[1], b[2], run, NULL, err);
}
