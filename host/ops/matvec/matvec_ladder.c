/** The ladder of matvec, as lessons: y := A x of float32, each step one idea more than the one
 *  before it.  What they leave out the variants of matvec_rows.c do. */
#include "base/sizes.h"
#include "core/groups.h"
#include "ops/matvec/matvec_plan.h"
#include "ops/matvec/matvec_variants.h"

/* NULL, or the first thing that a problem needs and a lesson leaves out. */
static const char *unsupported(const job *j, plan *out)
{
    const tsr_matvec_problem *p = matvec_of(j->problem);
    const char *why = matvec_unsupported_rows(j, out);

    if (why)
        return why;
    if (p->type != TSR_F32)
        return plan_unsupported(out, "it takes float32 alone: use `row-item` for %s",
                                tsr_type_name(p->type));
    if (matvec_batch(p) > 1)
        return plan_unsupported(out, "it takes one product: use `row-item` for a batch of %zu",
                                matvec_batch(p));
    if (p->trans)
        return "it does not transpose A: use `row-item`";
    if (p->alpha != 1 || p->beta != 0)
        return plan_unsupported(out,
                                "it computes A x alone: use `row-item` with alpha %g and beta %g",
                                p->alpha, p->beta);
    if (!matvec_is_flat(p) || matvec_incx(p) != 1 || matvec_incy(p) != 1)
        return plan_unsupported(
            out,
            "it takes arrays without gaps: use `row-item` with lda %zu, incx %zu "
            "and incy %zu",
            matvec_lda(p), matvec_incx(p), matvec_incy(p));
    if (p->offset_a || p->offset_x || p->offset_y)
        return plan_unsupported(
            out,
            "it takes arrays from their start: use `row-item` from offsets %zu, "
            "%zu and %zu",
            p->offset_a, p->offset_x, p->offset_y);
    return NULL;
}

/* The same, or what is wrong with teams of TEAM work-items and so many floats of local memory. */
static const char *unsupported_teams(const job *j, size_t local, size_t floats, plan *out)
{
    const char *why = unsupported(j, out);

    if (!why)
        why = matvec_unsupported_team(j, param(j->params, "TEAM"), local, out);
    return why ? why : matvec_unsupported_local(j, floats, out);
}

/* The one launch of a lesson, each of whose work-items reads an element of x with each of A; NULL
 * where there is nothing to do. */
static command *launch(const job *j, size_t groups, size_t local, plan *out)
{
    const tsr_matvec_problem *p = matvec_of(j->problem);
    command *c;

    if (p->rows == 0)
        return NULL;
    c = plan_launch_1d(out, 0, groups * local, local);
    command_u32(c, (uint32_t)p->rows);
    command_u32(c, (uint32_t)p->columns);
    command_operand(c, MATVEC_A);
    command_operand(c, MATVEC_X);
    command_operand(c, MATVEC_Y);
    c->bytes = j->problem->op->bytes(j->problem);
    c->flops = j->problem->op->work(j->problem);
    c->traffic.requested = sizeof(float) * (double)p->rows * (2 * (double)p->columns + 1);
    return c;
}

/* Accesses to local memory where `team` work-items store a sum each and a tree adds them up: two
 * reads and a write an addition, and the first reads the result. */
static double tree_accesses(size_t team)
{
    return (double)team + 3 * (double)(team - 1);
}

/* ---- naive --------------------------------------------------------------------------------- */

static const tunable naive_tunables[] = {
    {"GROUP", MATVEC_GROUP, {1, 4, 16, 64, 256}, 64, .host_only = true},
};

static const char *naive_plan(const job *j, plan *out)
{
    const size_t rows = matvec_of(j->problem)->rows, local = matvec_group(j, out);
    const char *why = unsupported(j, out);
    command *c;

    if (why)
        return why;
    c = launch(j, size_div_up(rows, local), local, out);
    if (c)
        c->traffic.busy = (double)rows / (double)c->global[0];
    return NULL;
}

const variant matvec_naive = {.name = "naive",
                              .idea = "a row of A per work-item: neighbours read a row apart",
                              .source = "matvec/matvec_naive.cl",
                              .entries = {"matvec_naive"},
                              .build = "",
                              .tunables = naive_tunables,
                              .tunable_count = ARRAY_COUNT(naive_tunables),
                              .plan = naive_plan};

/* ---- tree ---------------------------------------------------------------------------------- */

static const tunable tree_tunables[] = {
    {"TEAM", MATVEC_TEAM, {2, 4, 8, 16, 32, 64}, 32},
    {"GROUP", MATVEC_GROUP, {4, 32, 64, 128, 256, 512, 1024}, 128},
};

static const char *tree_plan(const job *j, plan *out)
{
    const size_t team = param(j->params, "TEAM");
    const size_t local = matvec_group(j, out), rows = local / team;
    const char *why = unsupported_teams(j, local, local, out);
    command *c;

    if (why)
        return why;
    c = launch(j, size_div_up(matvec_of(j->problem)->rows, rows), local, out);
    if (c) {
        const size_t teams = c->global[0] / team;

        c->traffic.local = sizeof(float) * ((double)teams * tree_accesses(team) +
                                            (double)matvec_of(j->problem)->rows);
        c->traffic.barriers = size_log2_up(team);
    }
    return NULL;
}

const variant matvec_tree = {
    .name = "tree",
    .alias = "team-tree",
    .idea = "several work-items a row: neighbours read neighbours, a tree in local memory adds up",
    .answers = 1u << CAUSE_ACCESS,
    .source = "matvec/matvec_tree.cl",
    .entries = {"matvec_tree"},
    .build = "",
    .tunables = tree_tunables,
    .tunable_count = ARRAY_COUNT(tree_tunables),
    .plan = tree_plan};

/* ---- group-row ----------------------------------------------------------------------------- */

static const tunable group_row_tunables[] = {
    {"TEAM", "work-items of the first level of the reduction", {2, 4, 8, 16, 32, 64}, 32, 8},
    {"GROUP", MATVEC_GROUP ", all on one row", {4, 32, 64, 128, 256, 512, 1024}, 256, 32},
};

static const char *group_row_plan(const job *j, plan *out)
{
    const size_t team = param(j->params, "TEAM"), rows = matvec_of(j->problem)->rows;
    const size_t local = matvec_group(j, out), teams = local / team;
    const char *why = unsupported_teams(j, local, local + teams, out);
    command *c;

    if (why)
        return why;
    c = launch(j, size_min(rows, MATVEC_GROUPS_MAX), local, out);
    if (c) {
        /* Each row: every team's tree, what they leave, written and read, and the trees again; all
         * work-items read a result of each. */
        const double trees = 2 * ((double)teams * tree_accesses(team) + (double)local);

        c->traffic.local = sizeof(float) * (double)rows * (trees + 2 * (double)teams);
        c->traffic.barriers =
            (2 * (double)size_log2_up(team) + 2) * (double)size_div_up(rows, c->global[0] / local);
    }
    return NULL;
}

const variant matvec_group_row = {
    .name = "group-row",
    .idea = "a work-group a row: each part of it reduces, then the first part reduces the rest",
    .source = "matvec/matvec_group_row.cl",
    .entries = {"matvec_group_row"},
    .build = "",
    .tunables = group_row_tunables,
    .tunable_count = ARRAY_COUNT(group_row_tunables),
    .plan = group_row_plan};

/* ---- group-shfl ---------------------------------------------------------------------------- */

enum { WARP = 32 };

static const tunable group_shfl_tunables[] = {
    {"GROUP", MATVEC_GROUP ", all on one row", {32, 64, 128, 256, 512, 1024}, 256, 32},
};

static const char *group_shfl_plan(const job *j, plan *out)
{
    const size_t rows = matvec_of(j->problem)->rows;
    const size_t local = matvec_group(j, out), warps = local / WARP;
    const char *why = unsupported(j, out);
    command *c;

    if (!why)
        why = matvec_unsupported_team(j, WARP, local, out);
    if (!why && local % WARP)
        why = plan_unsupported(out, "its work-groups are whole warps, and the device takes %zu",
                               local);
    if (why)
        return why;
    c = launch(j, size_min(rows, MATVEC_GROUPS_MAX), local, out);
    if (c) {
        c->traffic.local = sizeof(float) * (double)rows * 2 * (double)warps;
        c->traffic.barriers = 2 * (double)size_div_up(rows, c->global[0] / local);
    }
    return NULL;
}

const variant matvec_group_shfl = {
    .name = "group-shfl",
    .idea = "group-row whose warps add up by NVIDIA's shuffle: two barriers a row, not one a round",
    .answers = 1u << CAUSE_BARRIERS,
    .source = "matvec/matvec_group_shfl.cl",
    .entries = {"matvec_group_shfl"},
    .build = "",
    .needs = 1u << FEATURE_PTX,
    .tunables = group_shfl_tunables,
    .tunable_count = ARRAY_COUNT(group_shfl_tunables),
    .plan = group_shfl_plan};

/* ---- local-x ------------------------------------------------------------------------------- */

static const tunable local_x_tunables[] = {
    {"TEAM", MATVEC_TEAM, {2, 4, 16, 32, 64}, 32, 16},
    {"ROWS", "rows of a team: each element of x in local memory serves them all", {1, 2, 4}, 4},
    {"TILE", "elements of x held in local memory at a time", {4, 512, 1024, 2048}, 1024, 512},
    {"GROUP", MATVEC_GROUP, {4, 64, 128, 256, 512}, 256, 64},
};

static const char *local_x_plan(const job *j, plan *out)
{
    const tsr_matvec_problem *p = matvec_of(j->problem);
    const size_t local = matvec_group(j, out), team = param(j->params, "TEAM");
    const size_t of_team = param(j->params, "ROWS"), rows = local / team * of_team;
    const size_t tile = param(j->params, "TILE");
    const char *why = unsupported_teams(j, local, local + tile, out);
    command *c;

    if (why)
        return why;
    c = launch(j, size_div_up(p->rows, rows), local, out);
    if (c) {
        const double columns = (double)p->columns,
                     groups = (double)size_div_up(c->global[0], local);
        const double sums = groups * (double)rows; /* the last one again beyond the last row */

        c->traffic.requested =
            sizeof(float) * (sums * columns + groups * columns + (double)p->rows);
        c->traffic.local = sizeof(float) * (groups * columns + sums * columns +
                                            sums * tree_accesses(team) + (double)p->rows);
        c->traffic.barriers = 2 * (double)size_div_up(p->columns, tile) +
                              (double)of_team * (size_log2_up(team) + 1.0);
    }
    return NULL;
}

const variant matvec_local_x = {
    .name = "local-x",
    .idea = "x comes through local memory once for all rows of a work-group",
    .answers = 1u << CAUSE_REUSE,
    .source = "matvec/matvec_local_x.cl",
    .entries = {"matvec_local_x"},
    .build = "",
    .tunables = local_x_tunables,
    .tunable_count = ARRAY_COUNT(local_x_tunables),
    .plan = local_x_plan};
