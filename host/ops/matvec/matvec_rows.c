/** The variants of matvec that sum a row of op(A) in one place, of every type: in a work-item, a
 *  sub-group, or a team of work-items. */
#include "base/sizes.h"
#include "core/groups.h"
#include "ops/matvec/matvec_plan.h"
#include "ops/matvec/matvec_variants.h"

static matvec_view view_of_job(const job *j)
{
    return matvec_view_of(matvec_of(j->problem));
}

/* Of a launch, NULL where there is none, that reads an element of x for each of A. */
static void state_pairs(const job *j, command *c)
{
    if (c)
        c->traffic.requested = matvec_asked_in_pairs(j);
}

/* ---- row-item ------------------------------------------------------------------------------ */

static const tunable row_item_tunables[] = {
    {"LOADS",
     "elements of a row that are loaded at once; 1: the plain loop; 0: on GPUs 16 of a row of up "
     "to 64, 4 of one of up to 4, or of up to 8 where rows are 1024 and more; else 1",
     {0, 1, 4, 16},
     0},
    {"GROUP",
     MATVEC_GROUP "; 0: 64, or 128 of many rows on GPUs",
     {0, 1, 8, 16, 32, 64, 128, 256, 512, 1024},
     0,
     .host_only = true},
};

/* Work-items of a group, and more of them where rows are many: a unit begins too few groups of two
 * warps in a microsecond.  bfloat16 4x2783395 transposed takes 17 us of an H200 in groups of 128,
 * and 30 in groups of 64, 5x173566 4.4 and 5.1. */
enum { ROW_GROUP = 64, ROW_GROUP_MANY = 128, ROWS_MANY = 1 << 16 };

/* Columns of op(A) up to which a GPU's work-item loads SHORT_ROW_LOADS of its row at once. */
enum { SHORT_ROW = 64, SHORT_ROW_LOADS = 16 };
/* And of up to 4 no more than there are: bfloat16 4x93548 transposed takes 3.7 us of an H200 in
 * place of 5.0.  Where rows of up to 8 are many, 4 at once are enough: 7x2000 takes 3.1 in place of
 * 3.7, 5x39311 3.6 in place of 4.3, 6x700003 8.8 in place of 15.5. */
enum {
    SHORTEST_ROW = 4,
    SHORTEST_ROW_OF_MANY = 8,
    SHORTEST_ROW_LOADS = 4,
    SHORTEST_MANY = 1 << 10
};

static const char *row_item_plan(const job *j, plan *out)
{
    const matvec_view v = view_of_job(j);
    const bool many = j->device->kind == DEVICE_GPU && v.rows >= ROWS_MANY;
    const size_t shortest = v.rows >= SHORTEST_MANY ? SHORTEST_ROW_OF_MANY : SHORTEST_ROW;
    const size_t set = param(j->params, "GROUP");
    const size_t local = group_fit(j->device, 0, set ? set : many ? ROW_GROUP_MANY : ROW_GROUP);
    const size_t groups = size_div_up(v.rows, local);
    const char *why = matvec_unsupported_portable(j, out);
    uint32_t loads = param(j->params, "LOADS"), columns_max;

    if (loads == 0)
        loads = j->device->kind != DEVICE_GPU || v.columns > SHORT_ROW ? 1
                : v.columns > shortest                                 ? SHORT_ROW_LOADS
                                                                       : SHORTEST_ROW_LOADS;
    columns_max = UINT32_MAX - (loads - 1);
    if (why)
        return why;
    if (v.columns > columns_max)
        return plan_unsupported(out, "it counts up to %u columns of op(A), the problem has %zu",
                                columns_max, v.columns);
    if (groups > MATVEC_INDEX_MAX)
        return plan_unsupported(out, "%zu rows exceed %d work-groups of %zu", v.rows,
                                MATVEC_INDEX_MAX, local);
    plan_set(out, "LOADS", loads);
    plan_set(out, "GROUP", (uint32_t)local);
    matvec_define_operands(j, local, out);
    state_pairs(j, matvec_launch_rows(j, local, local, out));
    return NULL;
}

const variant matvec_row_item = {
    .name = "row-item",
    .idea = "a row of op(A) per work-item, of every type; several loads of a short row at once",
    .source = "matvec/matvec_row_item.cl",
    .entries = {"matvec_row_item"},
    .build = "",
    .tunables = row_item_tunables,
    .tunable_count = ARRAY_COUNT(row_item_tunables),
    .plan = row_item_plan};

/* ---- tree-vector --------------------------------------------------------------------------- */

static const tunable tree_vector_tunables[] = {
    {"TEAM", MATVEC_TEAM, {8, 32, 64}, 32},
    {"BITS",
     "width of a vector of elements: 128 bits are one load",
     {128, 256},
     128,
     128,
     .host_only = true},
    {"GROUP", MATVEC_GROUP, {64, 128, 256, 512}, 128, .host_only = true},
};

static const char *tree_vector_plan(const job *j, plan *out)
{
    const tsr_matvec_problem *p = matvec_of(j->problem);
    const size_t team = param(j->params, "TEAM"), local = matvec_group(j, out);
    const char *why;
    command *c;

    if (p->trans)
        return "the rows of a transposed A are not contiguous: see column-slices";
    why = matvec_unsupported_rows(j, out);
    if (!why)
        why = matvec_unsupported_team(j, team, local, out);
    if (!why)
        why = matvec_unsupported_local(j, local, out);
    if (why)
        return why;
    matvec_define_operands(j, local, out);
    matvec_define_vectors(j, param(j->params, "BITS") / (8 * tsr_type_size(p->type)), out);
    c = matvec_launch_rows(j, local / team, local, out);
    state_pairs(j, c);
    if (c) {
        const double groups = (double)matvec_batch(p) * (double)c->global[0] / (double)local;

        c->traffic.local =
            (double)matvec_real_size(p) * groups * matvec_tree_accesses(local, local / team);
        c->traffic.barriers = size_log2_up(team);
    }
    return NULL;
}

const variant matvec_tree_vector = {
    .name = "tree-vector",
    .alias = "team-vector",
    .idea = "the same with vector loads: fewer instructions for as many bytes in flight",
    .answers = 1u << CAUSE_ACCESS,
    .source = "matvec/matvec_tree_vector.cl",
    .entries = {"matvec_tree_vector"},
    .build = "",
    .tunables = tree_vector_tunables,
    .tunable_count = ARRAY_COUNT(tree_vector_tunables),
    .plan = tree_vector_plan};

/* ---- subgroup and shfl --------------------------------------------------------------------- */

static const tunable team_tunables[] = {
    {"GROUP", MATVEC_GROUP, {32, 64, 128, 256, 512, 1024}, 128, .host_only = true},
};

static const char *subgroup_plan(const job *j, plan *out)
{
    const size_t local = matvec_group(j, out);
    /* Only how many rows a group is expected to take: the kernel covers them all anyhow. */
    const size_t subgroups = size_max(local / size_max(j->device->subgroup_size, 1), 1);
    const matvec_call call = matvec_call_of(j);
    const char *why = matvec_unsupported_rows(j, out);

    if (why)
        return why;
    matvec_define_operands(j, local, out);
    state_pairs(j, matvec_launch(j, size_min(size_div_up(call.rows, subgroups), MATVEC_GROUPS_MAX),
                                 local, &call, out));
    return NULL;
}

const variant matvec_subgroup = {
    .name = "subgroup",
    .alias = "team-subgroup",
    .idea = "a sub-group a row: it adds up without local memory or barriers",
    .answers = 1u << CAUSE_BARRIERS,
    .source = "matvec/matvec_subgroup.cl",
    .entries = {"matvec_subgroup"},
    .build = "-cl-std=%CLC%",
    .needs = 1u << FEATURE_SUBGROUPS,
    .tunables = team_tunables,
    .tunable_count = ARRAY_COUNT(team_tunables),
    .plan = subgroup_plan};

enum { WARP = 32 };

static const char *shfl_plan(const job *j, plan *out)
{
    const size_t local = matvec_group(j, out);
    const char *why = matvec_unsupported_rows(j, out);

    if (!why)
        why = matvec_unsupported_team(j, WARP, local, out);
    if (why)
        return why;
    matvec_define_operands(j, local, out);
    plan_define(out, "WARP=%d", WARP);
    state_pairs(j, matvec_launch_rows(j, local / WARP, local, out));
    return NULL;
}

const variant matvec_shfl = {.name = "shfl",
                             .alias = "team-shfl",
                             .idea = "a warp a row: NVIDIA's shuffle by inline PTX",
                             .answers = 1u << CAUSE_BARRIERS,
                             .source = "matvec/matvec_shfl.cl",
                             .entries = {"matvec_shfl"},
                             .build = "",
                             .needs = 1u << FEATURE_PTX,
                             .tunables = team_tunables,
                             .tunable_count = ARRAY_COUNT(team_tunables),
                             .plan = shfl_plan};

/* ---- short-rows ---------------------------------------------------------------------------- */

static const tunable short_rows_tunables[] = {
    {"TILE", "columns of a row held in local memory at a time", {8, 16, 32, 64}, 16},
    {"GROUP", MATVEC_GROUP ", a row each", {32, 64, 128, 256}, 128, .host_only = true},
};

static const char *short_rows_plan(const job *j, plan *out)
{
    const tsr_matvec_problem *p = matvec_of(j->problem);
    const matvec_view v = view_of_job(j);
    const size_t local = matvec_group(j, out);
    const char *why = matvec_unsupported_portable(j, out);
    command *c;

    if (!why && matvec_of(j->problem)->trans)
        why = "a transposed A has neighbouring rows of op(A) side by side already: see row-item";
    if (!why)
        why = matvec_unsupported_rows(j, out);
    if (!why)
        why = matvec_unsupported_local(j, local * (param(j->params, "TILE") + 1), out);
    if (why)
        return why;
    matvec_define_operands(j, local, out);
    c = matvec_launch_rows(j, local, local, out);
    state_pairs(j, c);
    if (c) { /* A is written to local memory and read from it, slab by slab */
        c->traffic.local = 2 * (double)matvec_real_size(p) * (double)matvec_batch(p) *
                           (double)v.rows * (double)v.columns;
        c->traffic.barriers = 2 * (double)size_div_up(v.columns, param(j->params, "TILE"));
    }
    return NULL;
}

const variant matvec_short_rows = {
    .name = "short-rows",
    .idea = "many short rows: one stretch of A through local memory, then a row per work-item",
    .source = "matvec/matvec_short_rows.cl",
    .entries = {"matvec_short_rows"},
    .build = "",
    .tunables = short_rows_tunables,
    .tunable_count = ARRAY_COUNT(short_rows_tunables),
    .plan = short_rows_plan};

/* ---- flat-rows ----------------------------------------------------------------------------- */

static const tunable flat_rows_tunables[] = {
    {"LOADS",
     "128-bit loads of a work-item that are in flight at once: more suit fewer work-items; 0: 4, "
     "or 2 of a small A of 16 bits",
     {0, 2, 4, 8},
     0,
     2},
    {"GROUP", MATVEC_GROUP "; 0: by the type", {0, 64, 128, 256, 512}, 0, .host_only = true},
};

/* Loads and work-items of a group: of 16 bits, which take more registers, fewer are faster; but of
 * a small A more that load less.  bfloat16 29978x17 takes 4.3 us of an H200 in place of 5.0. */
enum { FLAT_LOADS = 4, FLAT_LOADS_SMALL = 2, FLAT_GROUP = 256, FLAT_GROUP_16_BITS = 128 };
enum { FLAT_SMALL = 2 << 20 };

static const char *flat_rows_plan(const job *j, plan *out)
{
    const tsr_matvec_problem *p = matvec_of(j->problem);
    const size_t set = param(j->params, "GROUP");
    const bool of_16_bits = tsr_type_size(p->type) == 2;
    const bool small = of_16_bits && p->rows * p->columns * 2 < FLAT_SMALL;
    const size_t wanted = set ? set : of_16_bits && !small ? FLAT_GROUP_16_BITS : FLAT_GROUP;
    const size_t local = group_fit(j->device, 0, wanted), loads_set = param(j->params, "LOADS");
    const size_t loads = loads_set ? loads_set : small ? FLAT_LOADS_SMALL : FLAT_LOADS;
    const matvec_flat f = matvec_flat_of(p, local);
    const size_t vectors = local * loads;
    /* Places that keep equal terms of neighbouring rows in different banks. */
    const size_t left_out = f.terms == 1 ? vectors * matvec_real_size(p) / 128 : 0;
    const size_t tile = size_max(f.lines * loads, 1);
    matvec_call call = matvec_call_of(j);
    const char *why = matvec_unsupported_rows(j, out);

    if (!why && p->trans)
        why = "a transposed A has neighbouring rows of op(A) side by side: see short-columns";
    if (!why)
        why = matvec_unsupported_flat(j, &f, local, out);
    if (!why)
        why = matvec_unsupported_local(j, vectors * f.terms + left_out + local, out);
    if (why)
        return why;
    plan_set(out, "LOADS", (uint32_t)loads);
    plan_set(out, "GROUP", (uint32_t)local);
    matvec_define_operands(j, local, out);
    matvec_define_vectors_of_a(j, true, out);
    plan_define(out, "TERMS=%zu", f.terms);
    call.tile = (uint32_t)tile;
    call.items = (uint32_t)f.items;
    matvec_launch(j, size_div_up(call.rows, tile), local, &call, out);
    return NULL;
}

const variant matvec_flat_rows = {
    .name = "flat-rows",
    .idea = "short rows without gaps: vectors of one array, whose columns a work-item keeps",
    .unstated =
        "loads vectors that hold parts of several rows, and for each as much of x as they need",
    .source = "matvec/matvec_flat_rows.cl",
    .entries = {"matvec_flat_rows"},
    .build = "",
    .tunables = flat_rows_tunables,
    .tunable_count = ARRAY_COUNT(flat_rows_tunables),
    .plan = flat_rows_plan};
