#include "ops/matvec/matvec_subgroups.h"

#include "ops/matvec/matvec_shape.h"
#include "ops/matvec/matvec_vectors.h"

enum { WARP = 32 };

void matvec_subgroups_defines(const job *j, text *out)
{
    matvec_defines(j, matvec_group(j), out);
}

/* Columns of op(A) up to which a GPU's work-item loads SHORT_ROW_LOADS of its row at once. */
enum { SHORT_ROW = 64, SHORT_ROW_LOADS = 16 };

static uint32_t row_item_loads(const job *j)
{
    const size_t columns = matvec_view_of(matvec_of(j->problem)).columns;
    const uint32_t told = param(j->params, "LOADS");

    if (told)
        return told;
    return j->device->kind == DEVICE_GPU && columns <= SHORT_ROW ? SHORT_ROW_LOADS : 1;
}

void matvec_row_item_defines(const job *j, text *out)
{
    matvec_subgroups_defines(j, out);
    if (!param(j->params, "LOADS"))
        text_format(out, " -DLOADS=%u", row_item_loads(j));
}

void matvec_tree_vector_defines(const job *j, text *out)
{
    const size_t bytes = tsr_type_size(matvec_of(j->problem)->type);

    matvec_subgroups_defines(j, out);
    matvec_defines_vectors(j, param(j->params, "BITS") / (8 * bytes), out);
}

void matvec_flat_rows_defines(const job *j, text *out)
{
    const tsr_matvec_problem *p = matvec_of(j->problem);
    const view a = matvec_flat_a(p);

    matvec_subgroups_defines(j, out);
    matvec_defines_vectors_of_a(j, &a, out);
    text_format(out, " -DTERMS=%zu", matvec_flat_of(j, matvec_group(j)).terms);
}

void matvec_short_rows_vector_defines(const job *j, text *out)
{
    matvec_defines(j, 1, out);
    text_format(out, " -DVEC=%zu", matvec_vec(j));
}

static matvec_view vectors_of(const job *j)
{
    return matvec_view_of(matvec_of(j->problem));
}

/* ---- why not ------------------------------------------------------------------------------ */

/* Kernels whose team strides along a row. */
static const char *rows_unsupported(const job *j, text *reason)
{
    const matvec_view v = vectors_of(j);
    const char *why = matvec_unsupported_portable(j, reason);

    if (why || (v.rows <= MATVEC_INDEX_MAX && v.columns <= MATVEC_INDEX_MAX))
        return why;
    text_format(reason, "it counts up to %d rows and columns, the problem has %zu and %zu",
                MATVEC_INDEX_MAX, v.rows, v.columns);
    return text_get(reason);
}

/* The same, where a team of `team` work-items shares a row. */
static const char *team_unsupported(const job *j, size_t team, text *reason)
{
    const char *why = rows_unsupported(j, reason);

    if (why)
        return why;
    if (team > param(j->params, "GROUP"))
        text_format(reason, "a team of %zu exceeds GROUP, %u", team, param(j->params, "GROUP"));
    else if (team > matvec_group(j))
        text_format(reason, "a team of %zu work-items exceeds the device's work-groups of %zu",
                    team, group_limit(j->device, 0));
    else
        return NULL;
    return text_get(reason);
}

const char *matvec_row_item_unsupported(const job *j, text *reason)
{
    const matvec_view v = vectors_of(j);
    const size_t groups = size_div_up(v.rows, matvec_group(j));
    const uint32_t columns_most = UINT32_MAX - (row_item_loads(j) - 1);
    const char *why = matvec_unsupported_portable(j, reason);

    if (why)
        return why;
    if (v.columns > columns_most)
        text_format(reason, "it counts up to %u columns of op(A), the problem has %zu",
                    columns_most, v.columns);
    else if (groups > MATVEC_INDEX_MAX)
        text_format(reason, "%zu rows exceed %d work-groups of %zu", v.rows, MATVEC_INDEX_MAX,
                    matvec_group(j));
    else
        return NULL;
    return text_get(reason);
}

const char *matvec_tree_unsupported(const job *j, text *reason)
{
    const char *why = team_unsupported(j, param(j->params, "TEAM"), reason);

    return why ? why : matvec_unsupported_local(j, matvec_group(j), reason);
}

const char *matvec_tree_vector_unsupported(const job *j, text *reason)
{
    if (matvec_of(j->problem)->trans)
        return "the rows of a transposed A are not contiguous: see tree";
    return matvec_tree_unsupported(j, reason);
}

const char *matvec_subgroup_unsupported(const job *j, text *reason)
{
    return rows_unsupported(j, reason);
}

const char *matvec_shfl_unsupported(const job *j, text *reason)
{
    return team_unsupported(j, WARP, reason);
}

const char *matvec_group_row_unsupported(const job *j, text *reason)
{
    const size_t team = param(j->params, "TEAM"), local = matvec_group(j);
    const char *why = team_unsupported(j, team, reason);

    return why ? why : matvec_unsupported_local(j, local + local / team, reason);
}

const char *matvec_local_x_unsupported(const job *j, text *reason)
{
    const size_t sums = matvec_group(j) * param(j->params, "ROWS");
    const char *why = team_unsupported(j, param(j->params, "TEAM"), reason);

    return why ? why : matvec_unsupported_local(j, sums + param(j->params, "TILE"), reason);
}

const char *matvec_short_rows_unsupported(const job *j, text *reason)
{
    const char *why = matvec_unsupported_portable(j, reason);

    if (!why && matvec_of(j->problem)->trans)
        why = "a transposed A has neighbouring rows of op(A) side by side already: see row-item";
    if (!why)
        why = rows_unsupported(j, reason);
    return why ? why
               : matvec_unsupported_local(j, matvec_group(j) * (param(j->params, "TILE") + 1),
                                          reason);
}

const char *matvec_flat_rows_unsupported(const job *j, text *reason)
{
    const size_t local = matvec_group(j), terms = matvec_flat_of(j, local).terms;
    const size_t vectors = local * param(j->params, "LOADS");
    const size_t left_out =
        terms == 1 ? vectors * matvec_real_size(matvec_of(j->problem)) / 128 : 0;
    const char *why = rows_unsupported(j, reason);

    if (!why && matvec_of(j->problem)->trans)
        why = "a transposed A has neighbouring rows of op(A) side by side: see short-columns";
    if (!why)
        why = matvec_unsupported_flat(j, reason);
    return why ? why : matvec_unsupported_local(j, vectors * terms + left_out + local, reason);
}

const char *matvec_short_rows_vector_unsupported(const job *j, text *reason)
{
    if (matvec_of(j->problem)->trans)
        return "the rows of a transposed A are not contiguous: see columns-vector";
    return rows_unsupported(j, reason);
}

/* ---- launches ----------------------------------------------------------------------------- */

/* The one launch of a kernel, `groups` groups of `local` work-items for each product. */
static bool launch_call(const job *j, size_t i, size_t groups, size_t local, const matvec_call *c,
                        command *out)
{
    if (i > 0 || vectors_of(j).rows == 0)
        return false;
    matvec_step_groups(j, 0, groups, local, out);
    command_operand(out, MATVEC_A);
    command_operand(out, MATVEC_X);
    command_operand(out, MATVEC_Y);
    matvec_step_call(j, c, out);
    return true;
}

/* The same with what every kernel is told. */
static bool launch_of(const job *j, size_t i, size_t groups, size_t local, command *out)
{
    const matvec_call c = matvec_call_of(j);

    return launch_call(j, i, groups, local, &c, out);
}

/* The same of groups of GROUP. */
static bool launch(const job *j, size_t i, size_t groups, command *out)
{
    return launch_of(j, i, groups, matvec_group(j), out);
}

/* The same, where a group takes so many rows. */
static bool launch_rows(const job *j, size_t i, size_t rows, command *out)
{
    return launch(j, i, size_div_up(vectors_of(j).rows, rows), out);
}

bool matvec_row_item_step(const job *j, size_t i, command *out)
{
    return launch_rows(j, i, matvec_group(j), out);
}

bool matvec_tree_step(const job *j, size_t i, command *out)
{
    return launch_rows(j, i, matvec_group(j) / param(j->params, "TEAM"), out);
}

bool matvec_tree_vector_step(const job *j, size_t i, command *out)
{
    return matvec_tree_step(j, i, out);
}

bool matvec_subgroup_step(const job *j, size_t i, command *out)
{
    /* Only how many rows a group is expected to take: the kernel covers them all anyhow. */
    const size_t team = size_max(j->device->subgroup_size, 1);
    const size_t teams = size_max(matvec_group(j) / team, 1);

    return launch(j, i, size_min(size_div_up(vectors_of(j).rows, teams), MATVEC_GROUPS_MAX), out);
}

bool matvec_shfl_step(const job *j, size_t i, command *out)
{
    return launch_rows(j, i, matvec_group(j) / WARP, out);
}

bool matvec_group_row_step(const job *j, size_t i, command *out)
{
    return launch(j, i, size_min(vectors_of(j).rows, MATVEC_GROUPS_MAX), out);
}

bool matvec_local_x_step(const job *j, size_t i, command *out)
{
    const size_t teams = matvec_group(j) / param(j->params, "TEAM");

    return launch_rows(j, i, teams * param(j->params, "ROWS"), out);
}

bool matvec_short_rows_step(const job *j, size_t i, command *out)
{
    return launch_rows(j, i, matvec_group(j), out);
}

bool matvec_flat_rows_step(const job *j, size_t i, command *out)
{
    const matvec_flat f = matvec_flat_of(j, matvec_group(j));
    const size_t tile = size_max(f.lines * param(j->params, "LOADS"), 1);
    matvec_call c = matvec_call_of(j);

    c.tile = (uint32_t)tile;
    c.items = (uint32_t)f.items;
    return launch_call(j, i, size_div_up(vectors_of(j).rows, tile), matvec_group(j), &c, out);
}

bool matvec_short_rows_vector_step(const job *j, size_t i, command *out)
{
    const size_t items = size_max(j->device->compute_units, 1) * param(j->params, "PER_UNIT");

    return launch_of(j, i, size_min(size_div_up(vectors_of(j).rows, matvec_vec(j)), items), 1, out);
}
