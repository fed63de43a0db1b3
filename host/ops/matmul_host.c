#include "ops/matmul_host.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/sizes.h"
#include "ops/matmul_shape.h"

/* A block of B of 128 x 512 floats is 256 KiB: it stays in the second-level cache while every row
 * of A passes over it. */
enum { BLOCK_K = 128, BLOCK_N = 512, STRIP_M = 8 };

#define REAL        float
#define NAMED(name) name##_f32
#include "ops/matmul_host_body.h"
#undef REAL
#undef NAMED

#define REAL        double
#define NAMED(name) name##_f64
#include "ops/matmul_host_body.h"
#undef REAL
#undef NAMED

tsr_status matmul_host_ijk(const problem *p, void *const operands[], tsr_error *err)
{
    return p->matmul.type == TSR_F64 ? run_f64(&p->matmul, operands, ijk_f64, err)
                                     : run_f32(&p->matmul, operands, ijk_f32, err);
}

tsr_status matmul_host_jik(const problem *p, void *const operands[], tsr_error *err)
{
    return p->matmul.type == TSR_F64 ? run_f64(&p->matmul, operands, jik_f64, err)
                                     : run_f32(&p->matmul, operands, jik_f32, err);
}

tsr_status matmul_host_ikj(const problem *p, void *const operands[], tsr_error *err)
{
    return p->matmul.type == TSR_F64 ? run_f64(&p->matmul, operands, ikj_f64, err)
                                     : run_f32(&p->matmul, operands, ikj_f32, err);
}

tsr_status matmul_host_kij(const problem *p, void *const operands[], tsr_error *err)
{
    return p->matmul.type == TSR_F64 ? run_f64(&p->matmul, operands, kij_f64, err)
                                     : run_f32(&p->matmul, operands, kij_f32, err);
}

tsr_status matmul_host_blocked(const problem *p, void *const operands[], tsr_error *err)
{
    return p->matmul.type == TSR_F64 ? run_f64(&p->matmul, operands, blocked_f64, err)
                                     : run_f32(&p->matmul, operands, blocked_f32, err);
}

tsr_status matmul_host_openmp(const problem *p, void *const operands[], tsr_error *err)
{
    return p->matmul.type == TSR_F64 ? run_f64(&p->matmul, operands, openmp_f64, err)
                                     : run_f32(&p->matmul, operands, openmp_f32, err);
}

bool matmul_host_has_openmp(void)
{
#ifdef _OPENMP
    return true;
#else
    return false;
#endif
}
