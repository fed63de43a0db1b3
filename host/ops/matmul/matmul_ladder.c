/* The ladder of matmul, as lessons: C := A B of float32, each step the one before it and one idea
 * more.  What they leave out the variants of matmul_general.c do. */
#include "base/sizes.h"
#include "core/groups.h"
#include "ops/matmul/matmul_plan.h"
#include "ops/matmul/matmul_variants.h"

/* NULL, or the first thing that a problem needs and a lesson leaves out. */
static const char *unsupported(const job *j, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const matmul_matrix matrices[] = {matmul_matrix_a(p), matmul_matrix_b(p), matmul_matrix_c(p)};
    const char *why = NULL;

    if (p->type != TSR_F32)
        return plan_unsupported(out, "it takes float32 alone: use `%s` for %s",
                                type_is_complex(p->type) ? "complex-general" : "general",
                                tsr_type_name(p->type));
    if (matmul_batch(p) > 1)
        return plan_unsupported(out, "it takes one product: use `general` for a batch of %zu",
                                matmul_batch(p));
    why = matmul_unsupported_portable(j, out);
    if (why)
        return why;
    if (p->trans_a || p->trans_b)
        return plan_unsupported(out, "it does not transpose: use `general`");
    if (p->alpha != 1 || p->beta != 0)
        return plan_unsupported(out,
                                "it computes A B alone: use `general` with alpha %g and beta %g",
                                p->alpha, p->beta);
    for (size_t i = 0; i < ARRAY_COUNT(matrices); i++)
        if (matrices[i].ld != matrices[i].length || matrices[i].offset)
            return plan_unsupported(out,
                                    "it takes matrices without gaps from offset 0: use `general` "
                                    "for %c with leading dimension %zu and offset %zu",
                                    "ABC"[i], matrices[i].ld, matrices[i].offset);
    return NULL;
}

/* The one launch of a lesson: groups of side_x x side_y, `across` x `down` of them.  NULL where
 * there is nothing to do. */
static command *launch(const job *j, size_t across, size_t down, size_t side_x, size_t side_y,
                       plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    command *c;

    if (p->m == 0 || p->n == 0)
        return NULL;
    c = plan_launch_2d(out, 0, across * side_x, down * side_y, side_x, side_y);
    command_u32(c, (uint32_t)p->m);
    command_u32(c, (uint32_t)p->n);
    command_u32(c, (uint32_t)p->k);
    command_operand(c, MATMUL_A);
    command_operand(c, MATMUL_B);
    command_operand(c, MATMUL_C);
    c->bytes = j->problem->op->bytes(j->problem);
    c->flops = j->problem->op->work(j->problem);
    return c;
}

/* A row of A and a column of B for each element of C. */
static void state_elements(const job *j, command *c)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const double elements = (double)p->m * (double)p->n;

    if (!c)
        return;
    c->traffic.requested = sizeof(float) * elements * (2 * (double)p->k + 1);
    c->traffic.busy = elements / ((double)c->global[0] * (double)c->global[1]);
}

/* Tiles of `tile` rows or columns by `depth` along k: every group loads its own, once, and each
 * work-item then reads `reads` floats of them for each step along k. */
static void state_tiles(const job *j, command *c, size_t tile, size_t depth, size_t reads)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const double m = (double)p->m, n = (double)p->n, k = (double)p->k;
    const double across = (double)size_div_up(p->n, tile), down = (double)size_div_up(p->m, tile);
    const double rounds = (double)size_div_up(p->k, depth);
    double items;

    if (!c)
        return;
    items = (double)c->local[0] * (double)c->local[1];
    c->traffic =
        (command_traffic){.requested = sizeof(float) * (across * m * k + down * k * n + m * n),
                          .local = sizeof(float) * across * down * rounds * (double)depth *
                                   (2 * (double)tile + items * (double)reads),
                          .barriers = 2 * rounds,
                          .busy = m * n / (across * down * (double)tile * (double)tile)};
}

/* ---- an element of C a work-item ------------------------------------------------------------- */

/* In groups of 16 x 16, or smaller where the device takes no such group. */
static const char *plan_row_first(const job *j, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t side = group_fit_square(j->device, 16);
    const char *why = unsupported(j, out);

    if (why)
        return why;
    state_elements(j, launch(j, size_div_up(p->m, side), size_div_up(p->n, side), side, side, out));
    return NULL;
}

const variant matmul_row_first = {
    .name = "row-first",
    .idea = "one work-item an element of C, rows along the first index: neighbours in a column",
    .source = "matmul/matmul_row_first.cl",
    .entries = {"matmul_row_first"},
    .plan = plan_row_first};

static const char *plan_naive(const job *j, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t side = group_fit_square(j->device, 16);
    const char *why = unsupported(j, out);

    if (why)
        return why;
    state_elements(j, launch(j, size_div_up(p->n, side), size_div_up(p->m, side), side, side, out));
    return NULL;
}

const variant matmul_naive = {
    .name = "naive",
    .idea = "columns along the first index: what neighbours load of B and store in C is adjacent",
    .answers = 1u << CAUSE_ACCESS,
    .source = "matmul/matmul_naive.cl",
    .entries = {"matmul_naive"},
    .plan = plan_naive};

static const tunable tiled_tunables[] = {
    {"TILE",
     "side of the tiles and of the work-group: more reuse against more local memory",
     {2, 4, 8, 16, 32},
     16},
};

static const char *plan_tiled(const job *j, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t tile = param(j->params, "TILE");
    const char *why = unsupported(j, out);

    if (!why)
        why = matmul_unsupported_group(j, tile, tile, 2 * tile * tile * sizeof(float), out);
    if (why)
        return why;
    state_tiles(j, launch(j, size_div_up(p->n, tile), size_div_up(p->m, tile), tile, tile, out),
                tile, tile, 2);
    return NULL;
}

const variant matmul_tiled = {
    .name = "tiled",
    .idea = "square tiles of A and B in local memory: each load serves TILE work-items",
    .answers = 1u << CAUSE_REUSE,
    .source = "matmul/matmul_tiled.cl",
    .entries = {"matmul_tiled"},
    .tunables = tiled_tunables,
    .tunable_count = ARRAY_COUNT(tiled_tunables),
    .plan = plan_tiled};

/* ---- several elements a work-item ---------------------------------------------------------- */

static const tunable block_column_tunables[] = {
    {"TILE", "side of the tiles of C: more reuse against more local memory", {32, 64}, 64, 32},
    {"BLOCK",
     "elements of C of a work-item: reuse against registers and work-items",
     {4, 8, 16},
     8,
     16},
    {"DEPTH", "extent of the tiles along k: fewer barriers against local memory", {8, 16, 32}, 16},
};

static const char *plan_block_column(const job *j, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t tile = param(j->params, "TILE"), rows = tile / param(j->params, "BLOCK");
    const size_t local = 2 * param(j->params, "DEPTH") * tile * sizeof(float);
    const char *why = unsupported(j, out);

    if (!why)
        why = matmul_unsupported_group(j, tile, rows, local, out);
    if (why)
        return why;
    state_tiles(j, launch(j, size_div_up(p->n, tile), size_div_up(p->m, tile), tile, rows, out),
                tile, param(j->params, "DEPTH"), 1 + param(j->params, "BLOCK"));
    return NULL;
}

const variant matmul_block_column = {
    .name = "block-column",
    .idea = "BLOCK elements of a column a work-item: each load of B serves them all",
    .answers = 1u << CAUSE_REUSE | 1u << CAUSE_LOCAL,
    .source = "matmul/matmul_block_column.cl",
    .entries = {"matmul_block_column"},
    .tunables = block_column_tunables,
    .tunable_count = ARRAY_COUNT(block_column_tunables),
    .plan = plan_block_column};

static const tunable block_tunables[] = {
    {"SIDE", "work-items along each side of a work-group", {8, 16}, 16, 8},
    {"BLOCK",
     "elements of C of a work-item along each side: reuse against registers",
     {2, 4, 8},
     4},
    {"DEPTH", "extent of the tiles along k: fewer barriers against local memory", {8, 16, 32}, 16},
};

/* Groups of SIDE x SIDE whose work-items compute BLOCK x BLOCK elements each, with tiles in local
 * memory whose rows are `pad` elements longer than what they hold. */
static const char *plan_squares(const job *j, size_t pad, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t side = param(j->params, "SIDE"), tile = side * param(j->params, "BLOCK");
    const size_t local = 2 * param(j->params, "DEPTH") * (tile + pad) * sizeof(float);
    const char *why = unsupported(j, out);

    if (!why)
        why = matmul_unsupported_group(j, side, side, local, out);
    if (why)
        return why;
    state_tiles(j, launch(j, size_div_up(p->n, tile), size_div_up(p->m, tile), side, side, out),
                tile, param(j->params, "DEPTH"), 2 * (size_t)param(j->params, "BLOCK"));
    return NULL;
}

static const char *plan_block(const job *j, plan *out)
{
    return plan_squares(j, 0, out);
}

const variant matmul_block = {
    .name = "block",
    .idea = "BLOCK x BLOCK elements a work-item: each local load serves BLOCK multiply-adds",
    .answers = 1u << CAUSE_REUSE | 1u << CAUSE_LOCAL,
    .source = "matmul/matmul_block.cl",
    .entries = {"matmul_block"},
    .tunables = block_tunables,
    .tunable_count = ARRAY_COUNT(block_tunables),
    .plan = plan_block};

/* ---- four elements at once ----------------------------------------------------------------- */

/* swizzle has all but the last. */
static const tunable vector_tunables[] = {
    {"SIDE", "work-items along each side of a work-group", {8, 16}, 16, 8},
    {"BLOCK", "elements of C of a work-item along each side: reuse against registers", {4, 8}, 4},
    {"DEPTH", "extent of the tiles along k: fewer barriers against local memory", {8, 16, 32}, 16},
    {"PAD", "vectors of 4 that pad each row of a tile against bank conflicts", {1, 2}, 1},
};

static const char *plan_vector(const job *j, plan *out)
{
    plan_define(out, "SWIZZLE=0");
    return plan_squares(j, 4 * (size_t)param(j->params, "PAD"), out);
}

const variant matmul_vector = {.name = "vector",
                               .idea =
                                   "four elements a load, and tiles padded against bank conflicts",
                               .answers = 1u << CAUSE_LOCAL | 1u << CAUSE_ACCESS,
                               .source = "matmul/matmul_vector.cl",
                               .entries = {"matmul_vector"},
                               .tunables = vector_tunables,
                               .tunable_count = ARRAY_COUNT(vector_tunables),
                               .plan = plan_vector};

static const char *plan_swizzle(const job *j, plan *out)
{
    plan_define(out, "SWIZZLE=1");
    return plan_squares(j, 0, out);
}

const variant matmul_swizzle = {
    .name = "swizzle",
    .idea = "vectors swizzled by XOR in place of padding: no bank conflicts",
    .answers = 1u << CAUSE_LOCAL,
    .source = "matmul/matmul_vector.cl",
    .entries = {"matmul_vector"},
    .tunables = vector_tunables,
    .tunable_count = ARRAY_COUNT(vector_tunables) - 1,
    .plan = plan_swizzle};
