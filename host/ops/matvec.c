/**
 * y := alpha op(A) x + beta y: the table of its variants, and what they share.
 *
 * "Rows" and "columns" of a view are those of op(A): y has as many elements as
 * op(A) has rows.
 */
#include <assert.h>
#include <string.h>

#include "base/fail.h"
#include "base/sizes.h"
#include "ops/groups.h"
#include "ops/matvec_host.h"
#include "ops/matvec_proof.h"
#include "ops/real.h"
#include "ops/variant.h"

enum {
    /* Kernels that count rows and columns in uint add a stride to them: 31 bits never wrap. */
    INDEX_MAX = INT32_MAX,
    /* Groups of the kernels that walk over the rows; beyond, each group takes several. */
    GROUPS_MAX = 65535,
    WARP = 32,
    /* Neighbouring rows of a transposed op(A) that one group of split-row reads: 128 bytes of
       float32, a cache line of a GPU. */
    SPLIT_ROWS_MAX = 32,
    PARTS_MAX = 65535,
    /* Elements of a row, or of A, below which a part costs a CPU more to launch than to sum. */
    CPU_PART_LEAST = 8192
};

static size_t group_size(const job *j)
{
    return group_fit(j->device, 0, param(j->params, "GROUP"));
}

static size_t element_size(const job *j)
{
    return tsr_type_size(j->problem->matvec.type);
}

/* NULL, or why a team of `team` work-items does not fit a work-group. */
static const char *team_unsuited(const job *j, size_t team, text *reason)
{
    if (team > param(j->params, "GROUP"))
        text_format(reason, "a team of %zu exceeds GROUP, %u", team, param(j->params, "GROUP"));
    else if (team > group_size(j))
        text_format(reason, "a team of %zu work-items exceeds the device's work-groups of %zu",
                    team, group_limit(j->device, 0));
    else
        return NULL;
    return text_get(reason);
}

static const char *index_unsuited(const matvec_view *v, text *reason)
{
    if (v->rows <= INDEX_MAX && v->columns <= INDEX_MAX)
        return NULL;
    text_format(reason, "it counts up to %d rows and columns, the problem has %zu and %zu",
                INDEX_MAX, v->rows, v->columns);
    return text_get(reason);
}

static const char *memory_unsuited(const job *j, size_t elements, text *reason)
{
    const size_t bytes = elements * element_size(j);

    if (bytes <= j->device->local_memory)
        return NULL;
    text_format(reason, "it needs %zu bytes of local memory, the device has %zu", bytes,
                j->device->local_memory);
    return text_get(reason);
}

static const char *type_unsuited(const job *j, text *reason)
{
    const tsr_matvec_problem *m = &j->problem->matvec;

    return real_unsuited(m->type, m->precision, j->device, reason);
}

static void defines(const job *j, text *out)
{
    real_defines(j->problem->matvec.type, out);
    text_format(out, " -DTRANS=%d -DLOCAL=%zu", j->problem->matvec.trans, group_size(j));
}

/* The launch of a kernel with the common argument list, `groups` groups of `local`. */
static void launch(const job *j, size_t groups, size_t local, step *out)
{
    const tsr_matvec_problem *m = &j->problem->matvec;
    const matvec_view v = matvec_view_of(m);

    step_launch_1d(out, 0, groups * local, local);
    step_operand(out, MATVEC_A);
    step_operand(out, MATVEC_X);
    step_operand(out, MATVEC_Y);
    step_u32(out, (uint32_t)v.rows);
    step_u32(out, (uint32_t)v.columns);
    step_u64(out, m->lda ? m->lda : m->columns);
    step_u64(out, m->offset_a);
    step_u64(out, m->offset_x);
    step_u64(out, m->offset_y);
    step_real(out, m->type, v.alpha);
    step_real(out, m->type, v.beta);
}

/* ---- row-item ---------------------------------------------------------------------------- */

static const char *row_item_unsuited(const job *j, text *reason)
{
    const matvec_view v = matvec_view_of(&j->problem->matvec);
    const size_t groups = size_div_up(v.rows, group_size(j));
    const char *why = type_unsuited(j, reason);

    if (why)
        return why;
    if (v.columns > UINT32_MAX)
        text_format(reason, "it counts up to %u columns of op(A), the problem has %zu", UINT32_MAX,
                    v.columns);
    else if (groups > INDEX_MAX)
        text_format(reason, "%zu rows exceed %d work-groups of %zu", v.rows, INDEX_MAX,
                    group_size(j));
    else
        return NULL;
    return text_get(reason);
}

static bool row_item_step(const job *j, size_t i, step *out)
{
    const tsr_matvec_problem *m = &j->problem->matvec;
    const matvec_view v = matvec_view_of(m);
    const size_t local = group_size(j);

    if (i > 0 || v.rows == 0)
        return false;
    step_launch_1d(out, 0, size_round_up(v.rows, local), local);
    step_operand(out, MATVEC_A);
    step_operand(out, MATVEC_X);
    step_operand(out, MATVEC_Y);
    step_u64(out, v.rows);
    step_u32(out, (uint32_t)v.columns);
    step_u64(out, m->lda ? m->lda : m->columns);
    step_u64(out, m->offset_a);
    step_u64(out, m->offset_x);
    step_u64(out, m->offset_y);
    step_real(out, m->type, v.alpha);
    step_real(out, m->type, v.beta);
    return true;
}

/* ---- team-tree --------------------------------------------------------------------------- */

static const char *team_tree_unsuited(const job *j, text *reason)
{
    const matvec_view v = matvec_view_of(&j->problem->matvec);
    const char *why = type_unsuited(j, reason);

    if (!why)
        why = index_unsuited(&v, reason);
    if (!why)
        why = team_unsuited(j, param(j->params, "TEAM"), reason);
    return why ? why : memory_unsuited(j, group_size(j), reason);
}

static bool team_tree_step(const job *j, size_t i, step *out)
{
    const matvec_view v = matvec_view_of(&j->problem->matvec);
    const size_t local = group_size(j);

    if (i > 0 || v.rows == 0)
        return false;
    launch(j, size_div_up(v.rows, local / param(j->params, "TEAM")), local, out);
    return true;
}

/* ---- team-subgroup ----------------------------------------------------------------------- */

static const char *team_subgroup_unsuited(const job *j, text *reason)
{
    const matvec_view v = matvec_view_of(&j->problem->matvec);
    const char *why = type_unsuited(j, reason);

    return why ? why : index_unsuited(&v, reason);
}

static bool team_subgroup_step(const job *j, size_t i, step *out)
{
    const matvec_view v = matvec_view_of(&j->problem->matvec);
    const size_t local = group_size(j);
    /* Only how many rows a group is expected to take: the kernel covers them all anyhow. */
    const size_t team = size_max(j->device->subgroup_size, 1);
    const size_t teams = size_max(local / team, 1);

    if (i > 0 || v.rows == 0)
        return false;
    launch(j, size_min(size_div_up(v.rows, teams), GROUPS_MAX), local, out);
    return true;
}

/* ---- team-shfl --------------------------------------------------------------------------- */

static const char *team_shfl_unsuited(const job *j, text *reason)
{
    const matvec_view v = matvec_view_of(&j->problem->matvec);
    const char *why = type_unsuited(j, reason);

    if (!why)
        why = index_unsuited(&v, reason);
    return why ? why : team_unsuited(j, WARP, reason);
}

static bool team_shfl_step(const job *j, size_t i, step *out)
{
    const matvec_view v = matvec_view_of(&j->problem->matvec);
    const size_t local = group_size(j);

    if (i > 0 || v.rows == 0)
        return false;
    launch(j, size_div_up(v.rows, local / WARP), local, out);
    return true;
}

/* ---- group-row --------------------------------------------------------------------------- */

static const char *group_row_unsuited(const job *j, text *reason)
{
    const matvec_view v = matvec_view_of(&j->problem->matvec);
    const size_t local = group_size(j), team = param(j->params, "TEAM");
    const char *why = type_unsuited(j, reason);

    if (!why)
        why = index_unsuited(&v, reason);
    if (!why)
        why = team_unsuited(j, team, reason);
    return why ? why : memory_unsuited(j, local + local / team, reason);
}

static bool group_row_step(const job *j, size_t i, step *out)
{
    const matvec_view v = matvec_view_of(&j->problem->matvec);

    if (i > 0 || v.rows == 0)
        return false;
    launch(j, size_min(v.rows, GROUPS_MAX), group_size(j), out);
    return true;
}

/* ---- short-rows -------------------------------------------------------------------------- */

static const char *short_rows_unsuited(const job *j, text *reason)
{
    const tsr_matvec_problem *m = &j->problem->matvec;
    const matvec_view v = matvec_view_of(m);
    const char *why = type_unsuited(j, reason);

    if (!why && m->trans)
        why = "a transposed A has neighbouring rows of op(A) side by side already: see row-item";
    if (!why)
        why = index_unsuited(&v, reason);
    return why ? why : memory_unsuited(j, group_size(j) * (param(j->params, "TILE") + 1), reason);
}

static bool short_rows_step(const job *j, size_t i, step *out)
{
    const matvec_view v = matvec_view_of(&j->problem->matvec);
    const size_t local = group_size(j);

    if (i > 0 || v.rows == 0)
        return false;
    launch(j, size_div_up(v.rows, local), local, out);
    return true;
}

/* ---- split-row, rows-vector, columns-vector: the columns cut into parts ------------------ */

/* How a problem is cut: a group takes `rows` rows of op(A), and one part of their columns. */
typedef struct cut {
    size_t local;
    size_t rows;
    size_t tiles; /* groups that it takes to cover all rows once */
    size_t parts;
    size_t chunk; /* columns of a part; the last one may be shorter */
} cut;

/* Enough parts for PER_UNIT groups on each compute unit, but no part below `least` columns, and
 * none above what its kernel counts. */
static cut cut_into(const job *j, size_t local, size_t rows, size_t least)
{
    const matvec_view v = matvec_view_of(&j->problem->matvec);
    const size_t groups = size_max(j->device->compute_units, 1) * param(j->params, "PER_UNIT");
    cut c = {.local = local, .rows = rows, .tiles = size_div_up(v.rows, rows)};

    c.parts = size_div_up(groups, size_max(c.tiles, 1));
    c.parts = size_min(c.parts, size_min(size_div_up(v.columns, least), PARTS_MAX));
    c.parts = size_max(c.parts, size_max(size_div_up(v.columns, INDEX_MAX), 1));
    c.chunk = size_max(size_div_up(v.columns, c.parts), 1);
    c.parts = size_max(size_div_up(v.columns, c.chunk), 1);
    return c;
}

static const char *cut_unsuited(const job *j, const cut *c, text *reason)
{
    const size_t rows = matvec_view_of(&j->problem->matvec).rows;
    size_t groups;

    if (rows <= INDEX_MAX && c->parts <= PARTS_MAX && size_mul(c->tiles, c->parts, &groups) &&
        groups <= INDEX_MAX)
        return memory_unsuited(j, c->local, reason);
    text_format(reason, "it counts up to %d rows and groups, the problem has %zu in %zu parts",
                INDEX_MAX, rows, c->parts);
    return text_get(reason);
}

static size_t cut_workspace(const job *j, const cut *c)
{
    return c->parts > 1 ? matvec_view_of(&j->problem->matvec).rows * c->parts * element_size(j) : 0;
}

/* Entry 0 sums the parts, into y where there is one, and entry 1 adds them up. */
static bool cut_step(const job *j, const cut *c, size_t i, step *out)
{
    const tsr_matvec_problem *m = &j->problem->matvec;
    const matvec_view v = matvec_view_of(m);
    const bool whole = c->parts == 1;

    if (v.rows == 0 || i > 1 || (i == 1 && whole))
        return false;
    if (i == 1) {
        step_launch_1d(out, 1, size_min(v.rows, GROUPS_MAX) * c->local, c->local);
        step_workspace(out);
        step_operand(out, MATVEC_Y);
        step_u32(out, (uint32_t)v.rows);
        step_u32(out, (uint32_t)c->parts);
        step_u64(out, m->offset_y);
        step_real(out, m->type, v.alpha);
        step_real(out, m->type, v.beta);
        return true;
    }
    step_launch_1d(out, 0, c->tiles * c->parts * c->local, c->local);
    step_operand(out, MATVEC_A);
    step_operand(out, MATVEC_X);
    if (whole)
        step_operand(out, MATVEC_Y);
    else
        step_workspace(out);
    step_u32(out, (uint32_t)v.rows);
    step_u64(out, v.columns);
    step_u64(out, m->lda ? m->lda : m->columns);
    step_u64(out, m->offset_a);
    step_u64(out, m->offset_x);
    step_u64(out, whole ? m->offset_y : 0);
    step_u32(out, (uint32_t)c->parts);
    step_u32(out, (uint32_t)c->chunk);
    step_real(out, m->type, whole ? v.alpha : 1);
    step_real(out, m->type, whole ? v.beta : 0);
    return true;
}

static cut split_row_cut(const job *j)
{
    const matvec_view v = matvec_view_of(&j->problem->matvec);
    const size_t local = group_size(j);
    size_t rows = 1;

    while (v.trans && rows < v.rows && rows * 2 <= size_min(SPLIT_ROWS_MAX, local))
        rows *= 2;
    /* A part keeps each work-item busy for four columns at least. */
    return cut_into(j, local, rows, local / rows * 4);
}

static void split_row_defines(const job *j, text *out)
{
    defines(j, out);
    text_format(out, " -DROWS=%zu", split_row_cut(j).rows);
}

static const char *split_row_unsuited(const job *j, text *reason)
{
    const cut c = split_row_cut(j);
    const char *why = type_unsuited(j, reason);

    return why ? why : cut_unsuited(j, &c, reason);
}

static size_t split_row_workspace(const job *j)
{
    const cut c = split_row_cut(j);

    return cut_workspace(j, &c);
}

static bool split_row_step(const job *j, size_t i, step *out)
{
    const cut c = split_row_cut(j);

    return cut_step(j, &c, i, out);
}

/* The kernels for CPUs run groups of one work-item. */
static void single_defines(const job *j, text *out)
{
    real_defines(j->problem->matvec.type, out);
    text_format(out, " -DTRANS=%d -DLOCAL=1", j->problem->matvec.trans);
}

static void rows_vector_defines(const job *j, text *out)
{
    single_defines(j, out);
    text_format(out, " -DVEC=%zu", param(j->params, "BITS") / (8 * element_size(j)));
}

static cut rows_vector_cut(const job *j)
{
    return cut_into(j, 1, param(j->params, "ROWS"), CPU_PART_LEAST);
}

static const char *rows_vector_unsuited(const job *j, text *reason)
{
    const cut c = rows_vector_cut(j);
    const char *why = type_unsuited(j, reason);

    if (!why && j->problem->matvec.trans)
        why = "the rows of a transposed A are not contiguous: see columns-vector";
    return why ? why : cut_unsuited(j, &c, reason);
}

static size_t rows_vector_workspace(const job *j)
{
    const cut c = rows_vector_cut(j);

    return cut_workspace(j, &c);
}

static bool rows_vector_step(const job *j, size_t i, step *out)
{
    const cut c = rows_vector_cut(j);

    return cut_step(j, &c, i, out);
}

static cut columns_vector_cut(const job *j)
{
    const size_t width = param(j->params, "WIDTH");
    const size_t rows = matvec_view_of(&j->problem->matvec).rows;

    return cut_into(j, 1, width, size_div_up(CPU_PART_LEAST, size_max(size_min(rows, width), 1)));
}

static const char *columns_vector_unsuited(const job *j, text *reason)
{
    const cut c = columns_vector_cut(j);
    const char *why = type_unsuited(j, reason);

    if (!why && !j->problem->matvec.trans)
        why = "A is not transposed: see rows-vector";
    return why ? why : cut_unsuited(j, &c, reason);
}

static size_t columns_vector_workspace(const job *j)
{
    const cut c = columns_vector_cut(j);

    return cut_workspace(j, &c);
}

static bool columns_vector_step(const job *j, size_t i, step *out)
{
    const cut c = columns_vector_cut(j);

    return cut_step(j, &c, i, out);
}

/* ---- the host ---------------------------------------------------------------------------- */

static const char *host_unsuited(const job *j, text *reason)
{
    return type_unsuited(j, reason);
}

static const char *openmp_unsuited(const job *j, text *reason)
{
    const char *why = matvec_openmp_unsuited();

    return why ? why : type_unsuited(j, reason);
}

/* ---- the table --------------------------------------------------------------------------- */

#define GROUP_MEANING "work-items in a work-group, fewer where the device takes fewer"

static const tunable row_item_tunables[] = {
    {"GROUP", GROUP_MEANING, {1, 8, 16, 32, 64, 128, 256, 512, 1024}, 64},
};

static const tunable team_tree_tunables[] = {
    {"TEAM", "work-items that share a row: more suit longer rows", {8, 16, 32, 64}, 32},
    {"GROUP", GROUP_MEANING, {32, 64, 128, 256, 512, 1024}, 128},
};

static const tunable team_tunables[] = {
    {"GROUP", GROUP_MEANING, {32, 64, 128, 256, 512, 1024}, 128},
};

static const tunable group_row_tunables[] = {
    {"TEAM", "work-items of the first level of the reduction", {8, 16, 32, 64}, 32},
    {"GROUP", GROUP_MEANING ", all on one row", {32, 64, 128, 256, 512, 1024}, 256},
};

static const tunable short_rows_tunables[] = {
    {"TILE", "columns of a row held in local memory at a time", {8, 16, 32, 64}, 16},
    {"GROUP", GROUP_MEANING ", a row each", {32, 64, 128, 256}, 128},
};

#define PER_UNIT_MEANING                                                                           \
    "work-groups per compute unit to cut a row for: more balance better, and leave more to add up"

static const tunable split_row_tunables[] = {
    {"GROUP", GROUP_MEANING, {1, 16, 32, 64, 128, 256, 512, 1024}, 128},
    {"PER_UNIT", PER_UNIT_MEANING, {1, 2, 4, 8, 16, 32}, 8},
};

static const tunable rows_vector_tunables[] = {
    {"ROWS", "rows of a work-item: more share a load of x, fewer suit few rows", {1, 2, 4, 8}, 4},
    {"BITS", "width of a vector of sums", {128, 256, 512}, 256},
    {"PER_UNIT", PER_UNIT_MEANING, {1, 2, 4, 8, 16}, 4},
};

static const tunable columns_vector_tunables[] = {
    {"WIDTH",
     "sums that a work-item keeps: more make longer stretches of A, fewer stay in cache",
     {64, 128, 256, 512, 1024, 2048, 4096},
     2048},
    {"PER_UNIT", PER_UNIT_MEANING, {1, 2, 4, 8, 16}, 4},
};

#define TUNABLES(list) .tunables = (list), .tunable_count = ARRAY_COUNT(list)

static const variant variants[] = {
    {.name = "row-pointers",
     .idea = "the plain loop over an array of row pointers, each row reached through memory",
     .unsuited = host_unsuited,
     .host = matvec_row_pointers},
    {.name = "contiguous",
     .idea = "one block of memory: the address of a row is computed, not loaded",
     .unsuited = host_unsuited,
     .host = matvec_contiguous},
    {.name = "contiguous-O0",
     .idea = "the same source at -O0: every variable goes through memory",
     .unsuited = host_unsuited,
     .host = matvec_contiguous_O0},
    {.name = "contiguous-O1",
     .idea = "the same source at -O1: variables stay in registers",
     .unsuited = host_unsuited,
     .host = matvec_contiguous_O1},
    {.name = "contiguous-O2",
     .idea = "the same source at -O2: invariants leave the loop, instructions are scheduled",
     .unsuited = host_unsuited,
     .host = matvec_contiguous_O2},
    {.name = "contiguous-O3",
     .idea = "the same source at -O3: vector code, as far as the order of the sum allows",
     .unsuited = host_unsuited,
     .host = matvec_contiguous_O3},
    {.name = "unroll-2",
     .idea = "two sums a row by hand: two chains of additions overlap",
     .unsuited = host_unsuited,
     .host = matvec_unroll_2},
    {.name = "unroll-4",
     .idea = "four sums a row: the chains hide the latency of an addition",
     .unsuited = host_unsuited,
     .host = matvec_unroll_4},
    {.name = "openmp",
     .idea = "the rows, or blocks of columns of a transposed A, over all cores",
     .unsuited = openmp_unsuited,
     .host = matvec_openmp},
    {.name = "row-item",
     .idea = "a row of op(A) per work-item",
     .source = "matvec_row_item.cl",
     .entries = {"matvec_row_item"},
     .build = "",
     TUNABLES(row_item_tunables),
     .defines = defines,
     .unsuited = row_item_unsuited,
     .step = row_item_step},
    {.name = "team-tree",
     .idea = "a row per team: neighbours read neighbours, a tree in local memory adds up",
     .source = "matvec_team_tree.cl",
     .entries = {"matvec_team_tree"},
     .build = "",
     TUNABLES(team_tree_tunables),
     .defines = defines,
     .unsuited = team_tree_unsuited,
     .step = team_tree_step},
    {.name = "team-subgroup",
     .idea = "the team is a sub-group: it adds up without local memory or barriers",
     .source = "matvec_team_subgroup.cl",
     .entries = {"matvec_team_subgroup"},
     .build = "-cl-std=%CLC%",
     .needs = 1u << FEATURE_SUBGROUPS,
     TUNABLES(team_tunables),
     .defines = defines,
     .unsuited = team_subgroup_unsuited,
     .step = team_subgroup_step},
    {.name = "team-shfl",
     .idea = "the team is a warp: NVIDIA's shuffle by inline PTX",
     .source = "matvec_team_shfl.cl",
     .entries = {"matvec_team_shfl"},
     .build = "",
     .needs = 1u << FEATURE_PTX,
     TUNABLES(team_tunables),
     .defines = defines,
     .unsuited = team_shfl_unsuited,
     .step = team_shfl_step},
    {.name = "group-row",
     .idea = "a row per work-group: teams reduce, then the first team reduces the teams",
     .source = "matvec_group_row.cl",
     .entries = {"matvec_group_row"},
     .build = "",
     TUNABLES(group_row_tunables),
     .defines = defines,
     .unsuited = group_row_unsuited,
     .step = group_row_step},
    {.name = "short-rows",
     .idea = "many short rows: one stretch of A through local memory, then a row per work-item",
     .source = "matvec_short_rows.cl",
     .entries = {"matvec_short_rows"},
     .build = "",
     TUNABLES(short_rows_tunables),
     .defines = defines,
     .unsuited = short_rows_unsuited,
     .step = short_rows_step},
    {.name = "split-row",
     .idea = "few long rows: each is split over several work-groups, a second pass adds up",
     .source = "matvec_split_row.cl",
     .entries = {"matvec_split_row", "matvec_add_parts"},
     .build = "",
     TUNABLES(split_row_tunables),
     .defines = split_row_defines,
     .unsuited = split_row_unsuited,
     .workspace = split_row_workspace,
     .step = split_row_step},
    {.name = "rows-vector",
     .idea = "CPUs: explicit vectors along a few rows at once, which share the loads of x",
     .source = "matvec_rows_vector.cl",
     .entries = {"matvec_rows_vector", "matvec_add_parts"},
     .build = "",
     TUNABLES(rows_vector_tunables),
     .defines = rows_vector_defines,
     .unsuited = rows_vector_unsuited,
     .workspace = rows_vector_workspace,
     .step = rows_vector_step},
    {.name = "columns-vector",
     .idea = "CPUs, transposed: the rows of A are streamed, the sums wait in cache",
     .source = "matvec_columns_vector.cl",
     .entries = {"matvec_columns_vector", "matvec_add_parts"},
     .build = "",
     TUNABLES(columns_vector_tunables),
     .defines = single_defines,
     .unsuited = columns_vector_unsuited,
     .workspace = columns_vector_workspace,
     .step = columns_vector_step},
};

/* ---- the operation ----------------------------------------------------------------------- */

static tsr_status too_large(const tsr_matvec_problem *m, const char *what, size_t elements,
                            size_t offset, tsr_error *err)
{
    return tsr_fail(err, TSR_EOVERFLOW, 0,
                    "matvec: %s of %zu x %zu, %zu elements after offset %zu, exceeds %zu bytes",
                    what, m->rows, m->columns, elements, offset, SIZE_MAX);
}

/* Bytes of an array of `count` elements from `offset`; false on overflow. */
static bool array_bytes(tsr_type type, size_t offset, size_t count, size_t *out)
{
    size_t elements;

    return size_add(offset, count, &elements) && size_mul(elements, tsr_type_size(type), out);
}

/* Elements from the first of A to its last; false on overflow. */
static bool matrix_span(const tsr_matvec_problem *m, size_t *out)
{
    const size_t lda = m->lda ? m->lda : m->columns;
    size_t before;

    if (m->rows == 0 || m->columns == 0) {
        *out = 0;
        return true;
    }
    return size_mul(m->rows - 1, lda, &before) && size_add(before, m->columns, out);
}

static tsr_status check(const problem *p, tsr_error *err)
{
    const tsr_matvec_problem *m = &p->matvec;
    const size_t lda = m->lda ? m->lda : m->columns;
    const size_t length_x = m->trans ? m->rows : m->columns;
    const size_t length_y = m->trans ? m->columns : m->rows;
    tsr_status st = real_check("matvec", false, m->type, m->precision, err);
    size_t span, bytes;

    if (st == TSR_OK)
        st = real_check_scales("matvec", m->type, m->alpha, m->beta, err);
    if (st != TSR_OK)
        return st;
    if (lda < m->columns)
        return tsr_fail(err, TSR_EINVAL, 0, "matvec: lda %zu is less than the %zu columns of A",
                        lda, m->columns);
    if (!matrix_span(m, &span))
        return tsr_fail(err, TSR_EOVERFLOW, 0,
                        "matvec: A of %zu rows at lda %zu exceeds %zu elements", m->rows, lda,
                        SIZE_MAX);
    if (!array_bytes(m->type, m->offset_a, span, &bytes))
        return too_large(m, "A", span, m->offset_a, err);
    if (!array_bytes(m->type, m->offset_x, length_x, &bytes))
        return too_large(m, "x", length_x, m->offset_x, err);
    if (!array_bytes(m->type, m->offset_y, length_y, &bytes))
        return too_large(m, "y", length_y, m->offset_y, err);
    return TSR_OK;
}

/* Bytes up to the end of the last element; 0 where none is accessed. */
static size_t used_bytes(tsr_type type, size_t offset, size_t count)
{
    return count ? (offset + count) * tsr_type_size(type) : 0;
}

static size_t operands(const problem *p, operand out[OPERANDS_MAX])
{
    const tsr_matvec_problem *m = &p->matvec;
    const matvec_view v = matvec_view_of(m);
    const bool read = v.rows != 0 && v.columns != 0;
    size_t span = 0;

    if (read)
        (void)matrix_span(m, &span); /* checked */
    out[MATVEC_A] = (operand){.name = "A",
                              .type = m->type,
                              .access = ACCESS_READ,
                              .begin = m->offset_a * tsr_type_size(m->type),
                              .bytes = used_bytes(m->type, m->offset_a, span)};
    out[MATVEC_X] = (operand){.name = "x",
                              .type = m->type,
                              .access = ACCESS_READ,
                              .begin = m->offset_x * tsr_type_size(m->type),
                              .bytes = used_bytes(m->type, m->offset_x, read ? v.columns : 0)};
    out[MATVEC_Y] = (operand){.name = "y",
                              .type = m->type,
                              .access = v.beta == 0 ? ACCESS_WRITE : ACCESS_READ_WRITE,
                              .begin = m->offset_y * tsr_type_size(m->type),
                              .bytes = used_bytes(m->type, m->offset_y, v.rows),
                              .whole = v.beta == 0 && m->offset_y == 0};
    return 3;
}

static double work(const problem *p)
{
    return 2.0 * (double)p->matvec.rows * (double)p->matvec.columns;
}

static double traffic(const problem *p)
{
    const tsr_matvec_problem *m = &p->matvec;
    const matvec_view v = matvec_view_of(m);
    const double rows = (double)v.rows, columns = (double)v.columns;

    return (rows * columns + (v.rows ? columns : 0) + (v.beta == 0 ? 1 : 2) * rows) *
           (double)tsr_type_size(m->type);
}

static void describe(const problem *p, text *out)
{
    const tsr_matvec_problem *m = &p->matvec;

    text_format(out, "%zux%zu %s", m->rows, m->columns, tsr_type_name(m->type));
    if (m->trans)
        text_append(out, " transposed");
    if (m->lda > m->columns)
        text_format(out, " lda %zu", m->lda);
    if (m->alpha != 1)
        text_format(out, " alpha %g", m->alpha);
    if (m->beta != 0)
        text_format(out, " beta %g", m->beta);
    if (m->offset_a || m->offset_x || m->offset_y)
        text_format(out, " offsets %zu %zu %zu", m->offset_a, m->offset_x, m->offset_y);
}

/* The power of 4 at or below n, as its exponent; "0" holds 0 to 3. */
static unsigned magnitude(size_t n)
{
    unsigned m = 0;

    for (; n >= 4; n /= 4)
        m++;
    return m;
}

/* Rows and columns of op(A) to a factor of 4: enough to tell few long rows from many short ones. */
static void classify(const problem *p, text *out)
{
    const tsr_matvec_problem *m = &p->matvec;

    text_format(out, "%s-%c-%ux%u", tsr_type_name(m->type), m->trans ? 't' : 'n',
                magnitude(m->rows), magnitude(m->columns));
}

static size_t prefer_on_host(const char *out[])
{
    static const char *const order[] = {"openmp",        "unroll-4",      "unroll-2",
                                        "contiguous-O3", "contiguous-O2", "contiguous",
                                        "row-pointers",  "contiguous-O1", "contiguous-O0"};
    const size_t count = ARRAY_COUNT(order);

    memcpy(out, order, sizeof(order));
    return count;
}

/* Append `name` unless it is there. */
static void prefer_next(const char *out[], size_t *count, const char *name)
{
    for (size_t i = 0; i < *count; i++)
        if (strcmp(out[i], name) == 0)
            return;
    assert(*count < PREFERENCES_MAX);
    out[(*count)++] = name;
}

static size_t prefer_all(const char *out[], size_t count, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        prefer_next(out, &count, names[i]);
    return count;
}

static size_t prefer_on_cpu(const matvec_view *v, const char *out[])
{
    static const char *const order[] = {"rows-vector", "columns-vector", "row-item",  "split-row",
                                        "team-tree",   "group-row",      "short-rows"};
    size_t count = 0;

    /* Up to two vectors a row, PoCL's vectors across the rows beat vectors along them. */
    if (!v->trans && v->columns <= 16 && v->rows >= 1024)
        prefer_next(out, &count, "row-item");
    return prefer_all(out, count, order, ARRAY_COUNT(order));
}

static size_t prefer_on_gpu(const matvec_view *v, size_t units, const char *out[])
{
    static const char *const order[] = {"team-shfl", "team-subgroup", "team-tree", "group-row",
                                        "split-row", "short-rows",    "row-item"};
    const size_t warps_to_fill = units * 16, items_to_fill = units * 1024;
    size_t count = 0;

    if (v->trans && (v->rows >= items_to_fill || v->columns < 64))
        prefer_next(out, &count, "row-item");
    else if (v->trans || (v->rows < units && v->columns >= 4096))
        prefer_next(out, &count, "split-row");
    else if (v->columns <= 32 && v->rows >= 1024)
        prefer_next(out, &count, "short-rows");
    else if (v->rows < warps_to_fill && v->columns >= 1024)
        prefer_next(out, &count, "group-row");
    return prefer_all(out, count, order, ARRAY_COUNT(order));
}

static size_t prefer(const problem *p, const device_facts *d, const char *out[PREFERENCES_MAX])
{
    const matvec_view v = matvec_view_of(&p->matvec);

    if (d->kind == DEVICE_HOST)
        return prefer_on_host(out);
    return d->kind == DEVICE_CPU ? prefer_on_cpu(&v, out)
                                 : prefer_on_gpu(&v, size_max(d->compute_units, 1), out);
}

const operation operation_matvec = {
    .name = "matvec",
    .idea = "y := alpha op(A) x + beta y",
    .rate = "GB/s",
    .variants = variants,
    .variant_count = ARRAY_COUNT(variants),
    .check = check,
    .operands = operands,
    .work = work,
    .bytes = traffic,
    .describe = describe,
    .classify = classify,
    .prefer = prefer,
    .fill = matvec_fill,
    .sweep = matvec_sweep,
    .verify = matvec_verify,
};
