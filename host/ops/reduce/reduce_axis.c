/* Reductions of every type on a device.  Along an axis: teams of work-items for rows, a work-item
 * for each column; few long ones are cut into parts, whose results a second launch reduces.  Of a
 * whole array: groups, of which the last one reduces what all have left. */
#include "base/elements.h"
#include "base/sizes.h"
#include "core/groups.h"
#include "core/last_group.h"
#include "ops/reduce/reduce_problem.h"

/* Work-items of a group where GROUP is 0.  On a CPU, whose cores run the work-items of a group in
 * turns, one takes a whole row; columns side by side become vectors. */
enum { ROWS_CPU = 1, ROWS_GPU = 256, COLUMNS_CPU = 64, COLUMNS_GPU = 256 };

/* Loads in flight of a work-item along a row, where LOADS is 0: of vectors VECTOR_LOADS.  A GPU
 * loads up to 16 bytes at once. */
enum { ROWS_LOADS_CPU = 4, ROWS_LOADS_GPU = 8, VECTOR_LOADS = 4, VECTOR_BYTES = 16 };

/* Work-items of a GPU that share a row of any length: they read 32 bytes side by side. */
enum { TEAM_GPU = 8 };

/* Turns of a work-item in a part that are worth a second launch; and that are worth compiling it,
 * in first calls. */
enum { PART_TURNS = 8, FIRST_CALL_TURNS = 64 };

/* Work-groups of a GPU that take turns over rows, for each that a compute unit has at once. */
enum { GPU_TURNS = 64 };

/* As reduce_values.clh has it. */
typedef struct reduce_axis_call {
    uint64_t outer, n, inner, stride, step, offset_x, offset_result, parts, chunk;
} reduce_axis_call;

static int form_of(tsr_type type)
{
    return type == TSR_F16 ? 1 : type == TSR_BF16 ? 2 : 0;
}

/* The -Ds of reduce_values.clh; or why the device cannot. */
static const char *define_values(const job *j, plan *out)
{
    static const char *const by[] = {
        [TSR_REDUCE_SUM] = "BY_SUM",       [TSR_REDUCE_MIN] = "BY_MIN",
        [TSR_REDUCE_MAX] = "BY_MAX",       [TSR_REDUCE_ARGMIN] = "BY_ARGMIN",
        [TSR_REDUCE_ARGMAX] = "BY_ARGMAX", [TSR_REDUCE_MEAN] = "BY_MEAN",
        [TSR_REDUCE_NORM2] = "BY_NORM2",   [TSR_REDUCE_ANY] = "BY_ANY",
        [TSR_REDUCE_ALL] = "BY_ALL",       [TSR_REDUCE_COUNT] = "BY_COUNT"};
    const tsr_reduce_problem *p = reduce_of(j->problem);
    const tsr_type value = reduce_value_type(p);
    const tsr_type result = tsr_reduce_result_type(p->type, p->by);
    const bool wide = p->type == TSR_F64 || value == TSR_F64;

    if (wide && !j->device->fp64)
        return "the device has no double precision";
    plan_define(out, "BY=%s", by[p->by]);
    plan_define(out, "ELEMENT=%s", plan_type_name(p->type));
    plan_define(out, "FORM=%d", form_of(p->type));
    plan_define(out, "VALUE=%s", plan_type_name(value));
    plan_define(out, "REAL_VALUE=%d", type_is_real(value));
    plan_define(out, "RESULT=%s", plan_type_name(result));
    plan_define(out, "RESULT_FORM=%d", form_of(result));
    plan_define(out, "WIDE=%d", wide);
    return NULL;
}

/* Bytes of what elements are reduced to: a value, and where it is found an index behind it. */
static size_t left_bytes(const tsr_reduce_problem *p)
{
    return reduce_finds_index(p) ? 2 * sizeof(uint64_t) : tsr_type_size(reduce_value_type(p));
}

/* Cut the elements of each result into parts, so that there are `wanted` of all; a part is a
 * multiple of `grain` elements, of at least so many turns. */
static reduce_axis_call cut(const tsr_reduce_problem *p, size_t results, size_t wanted,
                            size_t grain, size_t turns)
{
    const reduce_shape s = reduce_shape_of(p);
    const size_t most = size_max(s.n / (grain * turns), 1);
    const size_t parts = size_max(size_min(wanted / results, most), 1);
    const size_t chunk = parts == 1 ? s.n : size_round_up(size_div_up(s.n, parts), grain);

    return (reduce_axis_call){.outer = s.outer,
                              .n = s.n,
                              .inner = s.inner,
                              .stride = s.stride,
                              .step = s.step,
                              .offset_x = p->offset_x,
                              .offset_result = p->offset_result,
                              .parts = parts == 1 ? 1 : size_div_up(s.n, chunk),
                              .chunk = chunk};
}

/* The launch over elements, and where they are in parts the one over these. */
static void launch(const job *j, const reduce_axis_call *call, size_t local, size_t groups,
                   size_t groups_of_parts, plan *out)
{
    const tsr_reduce_problem *p = reduce_of(j->problem);
    const view x = reduce_x(p), result = reduce_result(p);
    const double read = view_elements(&x) * (double)tsr_type_size(p->type);
    const double written = view_elements(&result) * (double)tsr_type_size(result.type);
    const double left = view_elements(&result) * (double)call->parts * (double)left_bytes(p);
    const bool whole = call->parts == 1;
    command *c = plan_launch_1d(out, 0, groups * local, local);

    command_operand(c, REDUCE_X);
    command_operand(c, REDUCE_RESULT);
    command_workspace(c);
    command_block(c, call, sizeof(*call));
    c->bytes = c->traffic.requested = read + (whole ? written : left);
    out->workspace = whole ? 0 : (size_t)left;
    if (whole)
        return;
    c = plan_launch_1d(out, 1, groups_of_parts * local, local);
    command_workspace(c);
    command_operand(c, REDUCE_RESULT);
    command_block(c, call, sizeof(*call));
    c->bytes = c->traffic.requested = left + written;
}

/* Teams of work-items that take turns over `units`, a tree in local memory each time: every one
 * stores a value, an addition reads two and writes one, and every one reads the result. */
static void state_teams(const tsr_reduce_problem *p, size_t units, size_t team, command *c)
{
    const size_t local = c->local[0], teams = local / team;
    const double turns = (double)size_div_up(units, teams);

    if (team == 1)
        return;
    c->traffic.local =
        (double)left_bytes(p) * turns * (2 * (double)local + 3 * (double)(local - teams));
    c->traffic.barriers = turns * (double)local / (double)c->global[0] * (size_log2_up(team) + 1.0);
}

#define PER_UNIT_MEANING                                                                           \
    "work-groups for each compute unit that few rows or columns are cut into parts for"

static const tunable rows_tunables[] = {
    {"LOADS", "loads that a work-item has in flight; 0: by the device", {0, 1, 2, 4, 8}, 0, 1},
    {"VEC",
     "elements of a load; 0: of 16 bytes where rows begin at multiples of that, on a CPU 1",
     {0, 1, 2, 4, 8, 16},
     0,
     4},
    {"GROUP", GROUP_MEANING, {0, 1, 32, 256}, 0, 32},
    {"TEAM",
     "work-items of a group that share a row, at most GROUP; 0: by its length",
     {0, 1, 8, 32, 256},
     0,
     0},
    {"PER_UNIT", PER_UNIT_MEANING, {1, 2, 8, 32}, 8, 2, .host_only = true},
};

/* Elements of a load, which are neighbours; and whether all begin at multiples of so many.  Unless
 * VEC is given, one where no `vectors` are wanted. */
static size_t define_loads(const job *j, bool vectors, plan *out)
{
    const tsr_reduce_problem *p = reduce_of(j->problem);
    const reduce_shape s = reduce_shape_of(p);
    const bool on_cpu = j->device->kind == DEVICE_CPU, neighbours = s.step == 1;
    const size_t given = param(j->params, "VEC");
    size_t vec = given ? given : VECTOR_BYTES / tsr_type_size(p->type);
    const bool aligned = !on_cpu && p->offset_x % vec == 0 && (s.outer == 1 || s.stride % vec == 0);

    if (!neighbours || (!given && !(aligned && vectors)))
        vec = 1;
    plan_set(out, "VEC", (uint32_t)vec);
    plan_define(out, "ALIGNED=%d", aligned);
    return vec;
}

/* A whole array of a size that `rows` reduces in first calls alone on a GPU: little to compile
 * comes before few loads. */
static bool is_small_whole(const job *j)
{
    const tsr_reduce_problem *p = reduce_of(j->problem);

    return j->device->kind == DEVICE_GPU && reduce_is_whole(p) &&
           p->n <= REDUCE_FIRST_CALL_ELEMENTS;
}

static const char *rows_plan(const job *j, plan *out)
{
    const tsr_reduce_problem *p = reduce_of(j->problem);
    const reduce_shape s = reduce_shape_of(p);
    const size_t set = param(j->params, "GROUP"), team_set = param(j->params, "TEAM");
    const size_t loads_set = param(j->params, "LOADS");
    const bool on_cpu = j->device->kind == DEVICE_CPU, first = is_small_whole(j);
    const size_t vec = define_loads(j, !first, out);
    const size_t usual = first     ? 1
                         : on_cpu  ? ROWS_LOADS_CPU
                         : vec > 1 ? VECTOR_LOADS
                                   : ROWS_LOADS_GPU;
    const size_t loads = loads_set ? loads_set : usual;
    const size_t local = group_fit(j->device, 0, set ? set : on_cpu ? ROWS_CPU : ROWS_GPU);
    const size_t groups_at_once =
        size_max(j->device->compute_units, 1) * param(j->params, "PER_UNIT");
    size_t team = 1, groups;
    reduce_axis_call call;
    const char *why;

    if (s.inner > 1)
        return "it reduces along the last axis";
    if ((why = plan_unsupported_local(out, local * left_bytes(p), j->device->local_memory)))
        return why;
    if ((why = define_values(j, out)))
        return why;
    /* Rows that fill the device with small teams need no larger ones, which meet more often. */
    while (team < local &&
           (team_set ? team < team_set
                     : team < size_div_up(s.n, loads * vec) &&
                           (on_cpu || team < TEAM_GPU || s.outer * team < groups_at_once * local)))
        team *= 2;
    plan_set(out, "GROUP", (uint32_t)local);
    plan_set(out, "TEAM", (uint32_t)team);
    plan_set(out, "LOADS", (uint32_t)loads);
    plan_define(out, "ONE_ROW=%d", s.outer == 1);
    plan_define(out, "UNROLLED=%d", !first);
    call = cut(p, s.outer, groups_at_once * (local / team), team * loads * vec,
               first ? FIRST_CALL_TURNS : PART_TURNS);
    groups = size_min(size_div_up(s.outer * (size_t)call.parts, local / team),
                      groups_at_once * (on_cpu ? 1 : GPU_TURNS));
    launch(j, &call, local, groups, size_min(size_div_up(s.outer, local / team), groups), out);
    if (!out->failed)
        state_teams(p, s.outer * (size_t)call.parts, team, &out->commands[0]);
    if (!out->failed && out->count > 1)
        state_teams(p, s.outer, team, &out->commands[1]);
    return NULL;
}

const variant reduce_rows = {
    .name = "rows",
    .idea = "along the last axis, every type: a team of work-items for each row or part of one",
    .source = "reduce/reduce_rows.cl",
    .entries = {"reduce_rows", "reduce_rows_parts"},
    .build = "",
    .tunables = rows_tunables,
    .tunable_count = ARRAY_COUNT(rows_tunables),
    .plan = rows_plan};

static const tunable columns_tunables[] = {
    {"LOADS", "rows that a work-item has in flight", {1, 4, 8}, 4, 1},
    {"GROUP", GROUP_MEANING, {0, 32, 64, 256}, 0, 32},
    {"PER_UNIT", PER_UNIT_MEANING, {1, 2, 8, 32}, 8, 2, .host_only = true},
};

static const char *columns_plan(const job *j, plan *out)
{
    const tsr_reduce_problem *p = reduce_of(j->problem);
    const size_t set = param(j->params, "GROUP"), loads = param(j->params, "LOADS");
    const size_t usual = j->device->kind == DEVICE_CPU ? COLUMNS_CPU : COLUMNS_GPU;
    const size_t local = group_fit(j->device, 0, set ? set : usual);
    const size_t units = size_max(j->device->compute_units, 1);
    const size_t results = reduce_results(p);
    const reduce_axis_call call =
        cut(p, results, units * param(j->params, "PER_UNIT") * local, loads, PART_TURNS);
    const char *why = define_values(j, out);

    if (why)
        return why;
    plan_set(out, "GROUP", (uint32_t)local);
    launch(j, &call, local, size_div_up(results * (size_t)call.parts, local),
           size_div_up(results, local), out);
    return NULL;
}

const variant reduce_columns = {
    .name = "columns",
    .idea = "along any axis, every type: a work-item for each column or part of one",
    .source = "reduce/reduce_columns.cl",
    .entries = {"reduce_columns", "reduce_columns_parts"},
    .build = "",
    .tunables = columns_tunables,
    .tunable_count = ARRAY_COUNT(columns_tunables),
    .plan = columns_plan};

/* ---- a whole array ------------------------------------------------------------------------- */

static const tunable whole_tunables[] = {
    {"LOADS", "vectors that a work-item has in flight", {1, 2, 4, 8}, 4, 1},
    {"VEC",
     "elements of a vector; 0: of 16 bytes where the array begins at a multiple of that, on a CPU "
     "1",
     {0, 1, 2, 4, 8, 16},
     0,
     4},
    {"GROUP", GROUP_MEANING, {0, 1, 32, 128, 256, 512}, 0, 32},
    {"PER_UNIT",
     "work-groups for each compute unit, at most: more hide latency, fewer leave less to combine; "
     "0: 4 where an index is found, else 8",
     {0, 1, 2, 4, 8, 16, 32},
     0,
     2,
     .host_only = true,
     .any = true},
};

/* Bytes of what a group leaves: a value, and where an index is found the number of a block. */
static size_t whole_left_bytes(const tsr_reduce_problem *p)
{
    return tsr_type_size(reduce_value_type(p)) * (reduce_finds_index(p) ? 2 : 1);
}

/* Where no index is found.  The values of a group are written and read, those of its first
 * work-items, FOLDING of the kernel, once more; the last group does so again. */
static void state_whole(const tsr_reduce_problem *p, size_t groups, command *c)
{
    const size_t items = c->local[0];
    const size_t folding = items > 256 ? 32 : items > 64 ? 16 : items > 16 ? 8 : items;
    const double value = (double)whole_left_bytes(p), word = (double)sizeof(uint32_t);
    const double again = groups > 1 ? 1 : 0, counted = again * (double)groups;

    /* Each group counts itself, and the last one clears the counter. */
    c->traffic.requested = c->bytes + word * (2 * counted + again);
    /* `first` of each and `found` have no index, and all read whether theirs was the last group. */
    c->traffic.local = ((double)groups + again) * (2 * value * (double)(items + folding) + word) +
                       word * (1 + counted * (double)(items + 2));
    c->traffic.barriers = 2 + again * (3 + (2 + 1) / (double)groups);
}

static const char *whole_plan(const job *j, plan *out)
{
    const tsr_reduce_problem *p = reduce_of(j->problem);
    const last_group way = last_group_of(j->device);
    const size_t set = param(j->params, "GROUP"), loads = param(j->params, "LOADS");
    const size_t vec = define_loads(j, true, out);
    const size_t usual = j->device->kind == DEVICE_CPU ? ROWS_CPU : ROWS_GPU;
    const size_t local = group_fit(j->device, 0, set ? set : usual);
    const size_t per_unit_set = param(j->params, "PER_UNIT");
    const size_t per_unit = per_unit_set ? per_unit_set : reduce_finds_index(p) ? 4 : 8;
    const size_t most = size_max(j->device->compute_units, 1) * per_unit;
    const size_t groups = size_max(size_min(size_div_up(p->n, local * loads * vec), most), 1);
    const reduce_axis_call call = cut(p, 1, 1, 1, 1);
    const char *why;
    command *c;

    if (!reduce_is_whole(p))
        return "it takes a whole array without gaps";
    if (way == LAST_GROUP_NONE)
        return "the device has no atomic operations that order what work-groups write";
    if ((why = plan_unsupported_local(out, local * whole_left_bytes(p), j->device->local_memory)))
        return why;
    if (reduce_finds_index(p) && p->n / (local * loads * vec) >= UINT32_MAX)
        return "it numbers blocks of elements in 32 bits";
    if ((why = define_values(j, out)))
        return why;
    plan_set(out, "GROUP", (uint32_t)local);
    plan_set(out, "PER_UNIT", (uint32_t)per_unit);
    last_group_defines(j->device, way, &out->defines);
    if (reduce_finds_extreme(p) && reduce_value_type(p) == TSR_F32)
        plan_define_nan_extremes(j->device, out);
    c = plan_launch_1d(out, groups == 1, groups * local, local);
    command_operand(c, REDUCE_X);
    command_operand(c, REDUCE_RESULT);
    if (groups > 1) {
        out->workspace = groups * whole_left_bytes(p);
        command_workspace(c);
        command_group_counters(c, true);
    }
    command_block(c, &call, sizeof(call));
    c->bytes = j->problem->op->bytes(j->problem) + 2 * (double)out->workspace;
    if (!reduce_finds_index(p))
        state_whole(p, groups, c);
    return NULL;
}

const variant reduce_whole = {
    .name = "whole",
    .idea =
        "last-group, one launch, for every type; a search finds the block first, then the index",
    .unstated = "searches for an index, and the data decide where",
    .source = "reduce/reduce_whole.cl",
    .entries = {"reduce_whole", "reduce_whole_alone"},
    .build = "",
    .uses = LAST_GROUP_USES,
    .group_counters = true,
    .tunables = whole_tunables,
    .tunable_count = ARRAY_COUNT(whole_tunables),
    .plan = whole_plan};
