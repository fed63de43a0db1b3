/**
 * y := alpha op(A) x + beta y: the operation, and the table of its variants.
 *
 * "Rows" and "columns" of a view are those of op(A): y has as many elements as
 * op(A) has rows.
 */
#include <assert.h>
#include <string.h>

#include "base/fail.h"
#include "base/sizes.h"
#include "core/last_group.h"
#include "core/variant.h"
#include "ops/matvec/matvec_fields.h"
#include "ops/matvec/matvec_host.h"
#include "ops/matvec/matvec_partition.h"
#include "ops/matvec/matvec_parts.h"
#include "ops/matvec/matvec_proof.h"
#include "ops/matvec/matvec_shape.h"
#include "ops/matvec/matvec_subgroups.h"

/* ---- the host ---------------------------------------------------------------------------- */

static const char *host_unsupported(const job *j, text *reason)
{
    const tsr_matvec_problem *p = matvec_of(j->problem);

    return real_unsupported(p->type, p->precision, j->device, reason);
}

static const char *openmp_unsupported(const job *j, text *reason)
{
    const char *why = matvec_openmp_unsupported();

    return why ? why : host_unsupported(j, reason);
}

/* ---- the table --------------------------------------------------------------------------- */

#define GROUP_MEANING "work-items in a work-group, fewer where the device takes fewer"

static const tunable row_item_tunables[] = {
    {"LOADS",
     "elements of a row that are loaded at once; 1: the plain loop; 0: 16 of a short row on GPUs",
     {0, 1, 4, 16},
     0},
    {"GROUP", GROUP_MEANING, {1, 8, 16, 32, 64, 128, 256, 512, 1024}, 64},
};

static const tunable team_tree_tunables[] = {
    {"TEAM", "work-items that share a row: more suit longer rows", {8, 16, 32, 64}, 32},
    {"GROUP", GROUP_MEANING, {32, 64, 128, 256, 512, 1024}, 128},
};

static const tunable team_vector_tunables[] = {
    {"TEAM", "work-items that share a row: more suit longer rows", {8, 32, 64}, 32},
    {"BITS", "width of a vector of elements: 128 bits are one load", {128, 256}, 128, 128},
    {"GROUP", GROUP_MEANING, {64, 128, 256, 512}, 128},
};

static const tunable team_tunables[] = {
    {"GROUP", GROUP_MEANING, {32, 64, 128, 256, 512, 1024}, 128},
};

static const tunable group_row_tunables[] = {
    {"TEAM", "work-items of the first level of the reduction", {8, 16, 32, 64}, 32, 8},
    {"GROUP", GROUP_MEANING ", all on one row", {32, 64, 128, 256, 512, 1024}, 256, 32},
};

static const tunable local_x_tunables[] = {
    {"TEAM", "work-items that share a row: more suit longer rows", {16, 32, 64}, 32, 16},
    {"ROWS", "rows of a team: each element of x in local memory serves them all", {1, 2, 4}, 4},
    {"TILE", "elements of x held in local memory at a time", {512, 1024, 2048}, 1024, 512},
    {"GROUP", GROUP_MEANING, {64, 128, 256, 512}, 256, 64},
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

static const tunable split_vector_tunables[] = {
    {"TEAM", "work-items that share a row: more suit longer rows", {0, 8, 16, 32, 64, 128, 256}, 0},
    {"GROUP", GROUP_MEANING, {64, 128, 256, 512}, 128, 64},
    {"PER_UNIT", PER_UNIT_MEANING, {2, 4, 8, 16, 32}, 16},
};

#define LOADS_MEANING                                                                              \
    "128-bit loads of a work-item that are on their way at once: more suit fewer work-items"

static const tunable column_slices_tunables[] = {
    {"ACROSS",
     "work-items side by side along a row of A, as far as it reaches; the others take other rows; "
     "0: by the shape",
     {0, 8, 16, 32, 64, 128},
     0},
    {"LOADS", LOADS_MEANING "; 0: by the shape", {0, 2, 4, 8}, 0},
    {"STAGES",
     "2: the next rows of A are loaded while these are added up; 1: after that; 0: by the shape",
     {0, 1, 2},
     0},
    {"PAST_L1",
     "2: vectors of A take no place in the first-level cache (NVIDIA), 1: they may; 0: by the "
     "shape",
     {0, 1, 2},
     0},
    {"GROUP", GROUP_MEANING, {64, 128, 256, 512, 1024}, 512},
    {"PER_UNIT", PER_UNIT_MEANING "; 0: by the shape", {0, 1, 2, 4, 8, 16}, 0},
};

static const tunable short_columns_tunables[] = {
    {"LOADS", LOADS_MEANING, {2, 4, 8, 16}, 4},
    {"GROUP", GROUP_MEANING, {64, 128, 256, 512, 1024}, 256},
    {"PER_UNIT", PER_UNIT_MEANING, {1, 2, 4, 8, 16}, 4},
};

static const tunable flat_rows_tunables[] = {
    {"LOADS", LOADS_MEANING, {2, 4, 8}, 4},
    {"GROUP", GROUP_MEANING, {64, 128, 256, 512}, 256},
};

#define BITS_MEANING "width of a vector of sums; 0: of the device's registers"

#define PREFETCH_MEANING "2: memory is asked for ahead of its use, 1: it is not"

static const tunable rows_vector_tunables[] = {
    {"ROWS",
     "rows of a work-item: more share a load of x; 0: what the registers hold, alike for all cores",
     {0, 1, 2, 4, 8},
     0},
    {"BITS", BITS_MEANING, {0, 128, 256, 512}, 0, 128},
    {"PER_UNIT", PER_UNIT_MEANING, {1, 2, 4, 8, 16}, 4},
    {"PREFETCH", PREFETCH_MEANING "; 0: by the maker of the cores", {0, 1, 2}, 0},
};

static const tunable short_rows_vector_tunables[] = {
    {"BITS", BITS_MEANING ", of as many rows at once", {0, 128, 256, 512}, 0, 128},
    {"PER_UNIT",
     "work-items per compute unit: more balance better, and fewer are cheaper to launch",
     {1, 4, 16, 64},
     16},
    /* On an EPYC with AVX-512 100000 x 10 takes 0.11 ms with it, and 0.38 without. */
    {"PREFETCH", PREFETCH_MEANING, {1, 2}, 2},
};

static const tunable columns_vector_tunables[] = {
    {"WIDTH",
     "most sums that a work-item keeps: more make longer stretches of A, fewer stay in cache; 0: "
     "by "
     "the rows of A",
     {0, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384},
     0,
     64},
    {"LINES",
     "rows of A at once: more share a load of the sums; 0: what the registers hold",
     {0, 4, 8},
     0},
    {"BITS", BITS_MEANING ", less where there are few", {0, 128, 256, 512}, 0, 128},
    {"PER_UNIT", PER_UNIT_MEANING, {1, 2, 4, 8, 16}, 4},
    {"PREFETCH", PREFETCH_MEANING "; 0: by the maker of the cores", {0, 1, 2}, 0},
};

#define TUNABLES(list) .tunables = (list), .tunable_count = ARRAY_COUNT(list)

static const variant *const variants[] = {
    &(const variant){
        .name = "row-pointers",
        .idea = "the plain loop over an array of row pointers, each row reached through memory",
        .unsupported = host_unsupported,
        .host = matvec_row_pointers},
    &(const variant){.name = "contiguous",
                     .idea = "one block of memory: the address of a row is computed, not loaded",
                     .unsupported = host_unsupported,
                     .host = matvec_contiguous},
    &(const variant){.name = "contiguous-O0",
                     .idea = "the same source at -O0: every variable goes through memory",
                     .unsupported = host_unsupported,
                     .host = matvec_contiguous_O0},
    &(const variant){.name = "contiguous-O1",
                     .idea = "the same source at -O1: variables stay in registers",
                     .unsupported = host_unsupported,
                     .host = matvec_contiguous_O1},
    &(const variant){
        .name = "contiguous-O2",
        .idea = "the same source at -O2: invariants leave the loop, instructions are scheduled",
        .unsupported = host_unsupported,
        .host = matvec_contiguous_O2},
    &(const variant){
        .name = "contiguous-O3",
        .idea = "the same source at -O3: vector code, as far as the order of the sum allows",
        .unsupported = host_unsupported,
        .host = matvec_contiguous_O3},
    &(const variant){.name = "unroll-2",
                     .idea = "two sums a row by hand: two chains of additions overlap",
                     .unsupported = host_unsupported,
                     .host = matvec_unroll_2},
    &(const variant){.name = "unroll-4",
                     .idea = "four sums a row: the chains hide the latency of an addition",
                     .unsupported = host_unsupported,
                     .host = matvec_unroll_4},
    &(const variant){.name = "openmp",
                     .idea = "the rows, or blocks of columns of a transposed A, over all cores",
                     .unsupported = openmp_unsupported,
                     .host = matvec_openmp},
    &(const variant){.name = "row-item",
                     .idea = "a row of op(A) per work-item",
                     .source = "matvec/matvec_row_item.cl",
                     .entries = {"matvec_row_item"},
                     .build = "",
                     TUNABLES(row_item_tunables),
                     .defines = matvec_row_item_defines,
                     .unsupported = matvec_row_item_unsupported,
                     .step = matvec_row_item_step},
    &(const variant){
        .name = "tree",
        .alias = "team-tree",
        .idea = "a row per team: neighbours read neighbours, a tree in local memory adds up",
        .source = "matvec/matvec_tree.cl",
        .entries = {"matvec_tree"},
        .build = "",
        TUNABLES(team_tree_tunables),
        .defines = matvec_subgroups_defines,
        .unsupported = matvec_tree_unsupported,
        .step = matvec_tree_step},
    &(const variant){
        .name = "tree-vector",
        .alias = "team-vector",
        .idea = "the same with vector loads: fewer instructions for as many bytes on their way",
        .source = "matvec/matvec_tree_vector.cl",
        .entries = {"matvec_tree_vector"},
        .build = "",
        TUNABLES(team_vector_tunables),
        .defines = matvec_tree_vector_defines,
        .unsupported = matvec_tree_vector_unsupported,
        .step = matvec_tree_vector_step},
    &(const variant){.name = "subgroup",
                     .alias = "team-subgroup",
                     .idea = "the team is a sub-group: it adds up without local memory or barriers",
                     .source = "matvec/matvec_subgroup.cl",
                     .entries = {"matvec_subgroup"},
                     .build = "-cl-std=%CLC%",
                     .needs = 1u << FEATURE_SUBGROUPS,
                     TUNABLES(team_tunables),
                     .defines = matvec_subgroups_defines,
                     .unsupported = matvec_subgroup_unsupported,
                     .step = matvec_subgroup_step},
    &(const variant){.name = "shfl",
                     .alias = "team-shfl",
                     .idea = "the team is a warp: NVIDIA's shuffle by inline PTX",
                     .source = "matvec/matvec_shfl.cl",
                     .entries = {"matvec_shfl"},
                     .build = "",
                     .needs = 1u << FEATURE_PTX,
                     TUNABLES(team_tunables),
                     .defines = matvec_subgroups_defines,
                     .unsupported = matvec_shfl_unsupported,
                     .step = matvec_shfl_step},
    &(const variant){
        .name = "group-row",
        .idea = "a row per work-group: teams reduce, then the first team reduces the teams",
        .source = "matvec/matvec_group_row.cl",
        .entries = {"matvec_group_row"},
        .build = "",
        TUNABLES(group_row_tunables),
        .defines = matvec_subgroups_defines,
        .unsupported = matvec_group_row_unsupported,
        .step = matvec_group_row_step},
    &(const variant){
        .name = "local-x",
        .idea = "x comes through local memory once for all rows of a work-group, several a team",
        .source = "matvec/matvec_local_x.cl",
        .entries = {"matvec_local_x"},
        .build = "",
        TUNABLES(local_x_tunables),
        .defines = matvec_subgroups_defines,
        .unsupported = matvec_local_x_unsupported,
        .step = matvec_local_x_step},
    &(const variant){
        .name = "short-rows",
        .idea = "many short rows: one stretch of A through local memory, then a row per work-item",
        .source = "matvec/matvec_short_rows.cl",
        .entries = {"matvec_short_rows"},
        .build = "",
        TUNABLES(short_rows_tunables),
        .defines = matvec_subgroups_defines,
        .unsupported = matvec_short_rows_unsupported,
        .step = matvec_short_rows_step},
    &(const variant){
        .name = "flat-rows",
        .idea = "short rows without gaps: vectors of one array, whose columns a work-item keeps",
        .source = "matvec/matvec_flat_rows.cl",
        .entries = {"matvec_flat_rows"},
        .build = "",
        TUNABLES(flat_rows_tunables),
        .defines = matvec_flat_rows_defines,
        .unsupported = matvec_flat_rows_unsupported,
        .step = matvec_flat_rows_step},
    &(const variant){
        .name = "split-row",
        .idea = "few long rows: each is split over several work-groups, the last of which adds up",
        .source = "matvec/matvec_split_row.cl",
        .entries = {"matvec_split_row", "matvec_add_parts"},
        .build = "",
        .uses = LAST_GROUP_USES,
        .group_counters = true,
        TUNABLES(split_row_tunables),
        .defines = matvec_split_row_defines,
        .unsupported = matvec_split_row_unsupported,
        .workspace = matvec_split_row_workspace,
        .step = matvec_split_row_step},
    &(const variant){
        .name = "split-vector",
        .idea =
            "vector loads, several under way in each work-item, and teams as wide as rows are long",
        .source = "matvec/matvec_split_vector.cl",
        .entries = {"matvec_split_vector", "matvec_add_parts"},
        .build = "",
        .uses = LAST_GROUP_USES,
        .group_counters = true,
        TUNABLES(split_vector_tunables),
        .defines = matvec_split_vector_defines,
        .unsupported = matvec_split_vector_unsupported,
        .workspace = matvec_split_vector_workspace,
        .step = matvec_split_vector_step},
    &(const variant){
        .name = "column-slices",
        .idea = "transposed: a vector of sums per work-item, slices of a group share the rows of A",
        .source = "matvec/matvec_column_slices.cl",
        .entries = {"matvec_column_slices", "matvec_add_parts"},
        .build = "",
        .uses = LAST_GROUP_USES | 1u << FEATURE_LOAD_ONCE,
        .group_counters = true,
        TUNABLES(column_slices_tunables),
        .defines = matvec_column_slices_defines,
        .unsupported = matvec_column_slices_unsupported,
        .workspace = matvec_column_slices_workspace,
        .step = matvec_column_slices_step},
    &(const variant){
        .name = "short-columns",
        .idea = "transposed, narrow, without gaps: vectors of one array, a sum for each element",
        .source = "matvec/matvec_short_columns.cl",
        .entries = {"matvec_short_columns", "matvec_add_parts"},
        .build = "",
        .uses = LAST_GROUP_USES,
        .group_counters = true,
        TUNABLES(short_columns_tunables),
        .defines = matvec_short_columns_defines,
        .unsupported = matvec_short_columns_unsupported,
        .workspace = matvec_short_columns_workspace,
        .step = matvec_short_columns_step},
    &(const variant){
        .name = "rows-vector",
        .idea = "CPUs: explicit vectors along a few rows at once, which share the loads of x",
        .source = "matvec/matvec_rows_vector.cl",
        .entries = {"matvec_rows_vector", "matvec_add_parts"},
        .build = "",
        .uses = LAST_GROUP_USES,
        .group_counters = true,
        TUNABLES(rows_vector_tunables),
        .defines = matvec_rows_vector_defines,
        .unsupported = matvec_rows_vector_unsupported,
        .workspace = matvec_rows_vector_workspace,
        .step = matvec_rows_vector_step},
    &(const variant){
        .name = "short-rows-vector",
        .idea =
            "CPUs, short rows: masked ends, and as many rows as a vector has elements added up at "
            "once",
        .source = "matvec/matvec_short_rows_vector.cl",
        .entries = {"matvec_short_rows_vector"},
        .build = "",
        TUNABLES(short_rows_vector_tunables),
        .defines = matvec_short_rows_vector_defines,
        .unsupported = matvec_short_rows_vector_unsupported,
        .step = matvec_short_rows_vector_step},
    &(const variant){.name = "columns-vector",
                     .idea = "CPUs, transposed: the rows of A are streamed, the sums wait in cache",
                     .source = "matvec/matvec_columns_vector.cl",
                     .entries = {"matvec_columns_vector", "matvec_add_parts"},
                     .build = "",
                     .uses = LAST_GROUP_USES,
                     .group_counters = true,
                     TUNABLES(columns_vector_tunables),
                     .defines = matvec_columns_vector_defines,
                     .unsupported = matvec_columns_vector_unsupported,
                     .workspace = matvec_columns_vector_workspace,
                     .step = matvec_columns_vector_step},
};

/* ---- the operation ----------------------------------------------------------------------- */

static tsr_status check_matrix(const tsr_matvec_problem *p, tsr_error *err)
{
    const view a = matvec_a(p);
    size_t bytes;

    if (a.ld < a.length)
        return tsr_fail(err, TSR_EINVAL, 0, "matvec: lda %zu is less than the %zu %s of A", a.ld,
                        a.length, p->layout == TSR_COLUMN_MAJOR ? "rows" : "columns");
    if (!view_extent(&a, &bytes))
        return tsr_fail(err, TSR_EOVERFLOW, 0,
                        "matvec: A of %zu x %zu (lda %zu, offset %zu, %zu of them with stride %zu) "
                        "exceeds %zu bytes",
                        p->rows, p->columns, a.ld, a.offset, a.count, a.stride, SIZE_MAX);
    return TSR_OK;
}

static tsr_status check_vector(const char *name, const view *v, size_t inc, tsr_error *err)
{
    size_t bytes;

    if (view_extent(v, &bytes))
        return TSR_OK;
    return tsr_fail(err, TSR_EOVERFLOW, 0,
                    "matvec: %s of %zu elements (inc%s %zu, offset %zu, %zu of them with stride "
                    "%zu) exceeds %zu bytes",
                    name, v->lines * v->length, name, inc, v->offset, v->count, v->stride,
                    SIZE_MAX);
}

/* Those of a batch share nothing. */
static tsr_status check_apart(const tsr_matvec_problem *p, const view *y, tsr_error *err)
{
    if (view_apart(y, matvec_batch(p)))
        return TSR_OK;
    return tsr_fail(err, TSR_EINVAL, 0,
                    "matvec: the %zu vectors of y overlap: stride_y is %zu, and each has %zu "
                    "elements %zu apart",
                    matvec_batch(p), y->stride, y->lines * y->length, matvec_incy(p));
}

static tsr_status check(const problem *q, tsr_error *err)
{
    const tsr_matvec_problem *p = matvec_of(q);
    const view x = matvec_x(p), y = matvec_y(p);
    tsr_status st = real_check("matvec", p->type, p->precision, err);

    if (st == TSR_OK && p->y_f32 && p->type == TSR_F64)
        st = tsr_fail(err, TSR_EINVAL, 0, "matvec: y is float64 where the operands are");
    if (st == TSR_OK && p->layout != TSR_ROW_MAJOR && p->layout != TSR_COLUMN_MAJOR)
        st = tsr_fail(err, TSR_EINVAL, 0, "matvec: no layout has the number %d", (int)p->layout);
    if (st == TSR_OK)
        st = real_check_scales("matvec", real_sums(p->type), p->alpha, p->beta, err);
    if (st == TSR_OK)
        st = check_matrix(p, err);
    if (st == TSR_OK)
        st = check_vector("x", &x, matvec_incx(p), err);
    if (st == TSR_OK)
        st = check_vector("y", &y, matvec_incy(p), err);
    if (st == TSR_OK)
        st = check_apart(p, &y, err);
    return st;
}

/* What is column-major is the transpose of what is row-major in the same place. */
static void normalize(problem *q, unsigned order[OPERANDS_MAX])
{
    const tsr_matvec_problem given = *matvec_of(q);
    tsr_matvec_problem *p = matvec_in(q);

    (void)order;
    if (given.layout == TSR_ROW_MAJOR)
        return;
    p->layout = TSR_ROW_MAJOR;
    p->rows = given.columns;
    p->columns = given.rows;
    p->trans = !given.trans;
}

static size_t operands(const problem *q, operand out[OPERANDS_MAX])
{
    const tsr_matvec_problem *p = matvec_of(q);
    const view a = matvec_a(p), x = matvec_x(p), y = matvec_y(p);
    const matvec_view v = matvec_view_of(p);
    const bool overwrites = v.beta == 0;

    out[MATVEC_A] = view_operand("A", &a, ACCESS_READ);
    out[MATVEC_X] = view_operand("x", &x, ACCESS_READ);
    out[MATVEC_Y] = view_operand("y", &y, overwrites ? ACCESS_WRITE : ACCESS_READ_WRITE);
    out[MATVEC_Y].whole = overwrites && view_gapless(&y);
    if (v.rows == 0 || v.columns == 0)
        out[MATVEC_A].bytes = out[MATVEC_X].bytes = 0; /* neither is read */
    return 3;
}

static double work(const problem *q)
{
    const tsr_matvec_problem *p = matvec_of(q);

    return 2.0 * (double)p->rows * (double)p->columns * (double)matvec_batch(p);
}

static double traffic(const problem *q)
{
    const tsr_matvec_problem *p = matvec_of(q);
    const view a = matvec_a(p), x = matvec_x(p), y = matvec_y(p);
    const matvec_view v = matvec_view_of(p);
    const bool reads = v.rows != 0 && v.columns != 0;

    return (double)tsr_type_size(p->type) * (reads ? view_elements(&a) + view_elements(&x) : 0) +
           (double)tsr_type_size(y.type) * view_elements(&y) * (v.beta == 0 ? 1 : 2);
}

/* Whether products follow one another without a gap, or there is one. */
static bool is_dense(const view *x, size_t batch)
{
    return batch == 1 || x->stride == x->lines * x->ld;
}

static void describe(const problem *q, text *out)
{
    const tsr_matvec_problem *p = matvec_of(q);
    const view a = matvec_a(p), x = matvec_x(p), y = matvec_y(p);
    const size_t batch = matvec_batch(p);

    text_format(out, "%zux%zu %s", p->rows, p->columns, tsr_type_name(p->type));
    if (y.type != p->type)
        text_format(out, " to %s", tsr_type_name(y.type));
    if (batch > 1)
        text_format(out, " x %zu", batch);
    if (p->layout == TSR_COLUMN_MAJOR)
        text_append(out, " column-major");
    if (p->trans)
        text_append(out, " transposed");
    if (a.ld > a.length)
        text_format(out, " lda %zu", a.ld);
    if (p->alpha != 1)
        text_format(out, " alpha %g", p->alpha);
    if (p->beta != 0)
        text_format(out, " beta %g", p->beta);
    if (p->offset_a || p->offset_x || p->offset_y)
        text_format(out, " offsets %zu %zu %zu", p->offset_a, p->offset_x, p->offset_y);
    if (matvec_incx(p) != 1 || matvec_incy(p) != 1)
        text_format(out, " inc %zu %zu", matvec_incx(p), matvec_incy(p));
    if (!is_dense(&a, batch) || !is_dense(&x, batch) || !is_dense(&y, batch))
        text_format(out, " strides %zu %zu %zu", a.stride, x.stride, y.stride);
}

/* The power of 4 at or below n, as its exponent; "0" holds 0 to 3. */
static unsigned magnitude(size_t n)
{
    unsigned m = 0;

    for (; n >= 4; n /= 4)
        m++;
    return m;
}

/* Rows and columns of A to a factor of 4: enough to tell few long rows from many short ones; and
 * the products of a batch alike. */
static void classify(const problem *q, text *out)
{
    const tsr_matvec_problem *p = matvec_of(q);

    text_append(out, tsr_type_name(p->type));
    if (matvec_type_y(p) != p->type)
        text_format(out, " to %s", tsr_type_name(matvec_type_y(p)));
    if (matvec_batch(p) > 1)
        text_format(out, "-x%u", magnitude(matvec_batch(p)));
    text_format(out, "-%c-%ux%u", p->trans ? 't' : 'n', magnitude(p->rows), magnitude(p->columns));
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
    static const char *const order[] = {
        "rows-vector",  "columns-vector", "short-rows-vector", "row-item",     "split-row",
        "tree",         "group-row",      "short-rows",        "local-x",      "tree-vector",
        "split-vector", "flat-rows",      "column-slices",     "short-columns"};
    size_t count = 0;

    /* Up to here the ends of rows and the sums over vectors cost as much as is saved by longer
     * streams. */
    if (!v->trans && v->columns <= 256 && v->rows >= 1024)
        prefer_next(out, &count, "short-rows-vector");
    return prefer_all(out, count, order, ARRAY_COUNT(order));
}

/* The variants for narrow A, and for transposed ones; `rows` are those of all products. */
static const char *prefer_by_shape(const tsr_matvec_problem *p, size_t rows, size_t units)
{
    const matvec_view v = matvec_view_of(p);
    const size_t items_to_fill = units * 1024;

    if (v.trans && rows < items_to_fill && v.columns < 64)
        return "row-item";
    if (v.trans)
        return matvec_is_flat(p) && v.rows <= 32 ? "short-columns" : "column-slices";
    if (matvec_is_flat(p) && v.columns <= 128 && rows >= 1024)
        return "flat-rows";
    return v.columns <= 32 && rows >= 1024 ? "short-rows" : "split-vector";
}

static size_t prefer_on_gpu(const tsr_matvec_problem *p, size_t rows, size_t units,
                            const char *out[])
{
    static const char *const order[] = {
        "shfl",          "subgroup",      "tree",     "group-row",   "split-row",
        "short-rows",    "row-item",      "local-x",  "tree-vector", "split-vector",
        "column-slices", "short-columns", "flat-rows"};
    size_t count = 0;

    prefer_next(out, &count, prefer_by_shape(p, rows, units));
    return prefer_all(out, count, order, ARRAY_COUNT(order));
}

static size_t prefer(const problem *p, const device_facts *d, const char *out[PREFERENCES_MAX])
{
    const matvec_view v = matvec_view_of(matvec_of(p));
    size_t rows;

    if (!size_mul(v.rows, matvec_batch(matvec_of(p)), &rows))
        rows = SIZE_MAX;
    if (d->kind == DEVICE_HOST)
        return prefer_on_host(out);
    return d->kind == DEVICE_CPU
               ? prefer_on_cpu(&v, out)
               : prefer_on_gpu(matvec_of(p), rows, size_max(d->compute_units, 1), out);
}

const operation operation_matvec = {
    .name = "matvec",
    .idea = "y := alpha op(A) x + beta y",
    .unit = WORK_BYTES,
    .types = 1u << TSR_F32 | 1u << TSR_F64 | 1u << TSR_F16 | 1u << TSR_BF16,
    .default_type = TSR_F32,
    .result = MATVEC_Y,
    .command = &matvec_command,
    .variants = variants,
    .variant_count = ARRAY_COUNT(variants),
    .check = check,
    .normalize = normalize,
    .operands = operands,
    .partition = matvec_partition,
    .work = work,
    .bytes = traffic,
    .describe = describe,
    .classify = classify,
    .class_text = matvec_class_text,
    .size_text = matvec_size_text,
    .shrink = matvec_shrink,
    .products = matvec_products,
    .product = matvec_product_view,
    .prefer = prefer,
    .fill = matvec_fill,
    .sweep = matvec_sweep,
    .verify = matvec_verify,
};
