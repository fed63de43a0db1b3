#include "ops/matmul_wgmma_fused.h"

#include "base/sizes.h"
#include "ops/matmul_steps.h"
#include "ops/matmul_wgmma.h"

/* As cl/matmul_wgmma_fused.cl has them; sizes in bytes. */
enum {
    TILE_M = 128,
    TILE_N = 256,
    ITEMS = 384,
    IMAGE = 128 * 128,      /* a stage of A, split */
    RAW_ROWS = 16 * 1056,   /* a stage of B by rows of columns, */
    RAW_COLUMNS = 256 * 64, /* or along k */
    LEADS = 3 * 128 * 64,   /* of A, to be split */
    SLACK = 1024 + 128      /* alignment, and barriers */
};

void matmul_wgmma_fused_defines(const job *j, text *out)
{
    const tsr_matmul_problem *p = &j->problem->matmul;
    const matmul_matrix a = matmul_matrix_a(p), b = matmul_matrix_b(p);

    text_format(out, " -DTRANS_A=%d -DTRANS_B=%d -DALIGNED_A=%d -DALIGNED_B=%d", p->trans_a,
                p->trans_b, matmul_starts_at(&a, 4), matmul_starts_at(&b, 4));
}

const char *matmul_wgmma_fused_unsuited(const job *j, text *reason)
{
    const tsr_matmul_problem *p = &j->problem->matmul;
    const size_t stage = IMAGE + (p->trans_b ? RAW_COLUMNS : RAW_ROWS);
    const size_t local = param(j->params, "STAGES") * stage + LEADS + SLACK;
    const char *why = matmul_wgmma_unsuited_split(p, reason);

    return why ? why : matmul_unsuited_local(j, local, reason);
}

static size_t all_tiles(const tsr_matmul_problem *p)
{
    return size_div_up(p->m, TILE_M) * size_div_up(p->n, TILE_N);
}

size_t matmul_wgmma_fused_tiles(const job *j)
{
    const tsr_matmul_problem *p = &j->problem->matmul;

    return matmul_k_read(p) ? all_tiles(p) : 0;
}

bool matmul_wgmma_fused_step(const job *j, size_t i, step *out)
{
    const tsr_matmul_problem *p = &j->problem->matmul;

    if (i > 0 || p->m == 0 || p->n == 0)
        return false;
    step_launch_1d(out, 0, all_tiles(p) * ITEMS, ITEMS);
    matmul_step_product(out, p);
    step_counter(out);
    return true;
}
