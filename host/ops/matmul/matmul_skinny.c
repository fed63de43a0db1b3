/* A C of few rows or few columns, whose large factor is read once:
 * cl/matmul/matmul_skinny_columns.cl and cl/matmul/matmul_skinny_dots.cl. */
#include "base/sizes.h"
#include "core/groups.h"
#include "ops/matmul/matmul_parts.h"
#include "ops/matmul/matmul_plan.h"
#include "ops/matmul/matmul_variants.h"

/* Entries of both kernels' files, in the variants' order. */
enum { MULTIPLY, SUM };

enum {
    FEW_MAX = 16,
    ITEMS_COLUMNS = 256,
    ITEMS_DOTS = 128,
    VECTOR_BYTES = 16,
    TILE_BYTES = 16384, /* of the small factor in local memory */
    DEPTH_MAX = 1024,
    GROUPS_A_UNIT = 4,       /* that keep memory busy */
    SPLIT_BYTES = 256 * 1024 /* of the large factor from which sharing k is worth a launch */
};

/* A product as both variants see it. */
typedef struct skinny {
    bool few_rows;
    size_t few, many; /* sides of C; `few` as the kernel has them, a power of two */
    bool along_k;     /* lines of the large factor lie along k */
    matmul_matrix large;
    size_t vector;
} skinny;

static size_t power_of_2_from(size_t n)
{
    return (size_t)1 << size_log2_up(n);
}

static skinny skinny_of(const tsr_matmul_problem *p)
{
    const bool few_rows = p->m <= p->n;

    return (skinny){.few_rows = few_rows,
                    .few = power_of_2_from(size_min(p->m, p->n)),
                    .many = size_max(p->m, p->n),
                    .along_k = few_rows ? p->trans_b : !p->trans_a,
                    .large = few_rows ? matmul_matrix_b(p) : matmul_matrix_a(p),
                    .vector = VECTOR_BYTES / tsr_type_size(p->type)};
}

bool matmul_is_skinny(const tsr_matmul_problem *p)
{
    /* Of 16 bits twice as many elements arrive in the same time: more rows than 8 would wait for
     * the multiply-adds. */
    return size_min(p->m, p->n) <= (tsr_type_size(p->type) == 2 ? FEW_MAX / 2 : FEW_MAX);
}

static const char *unsupported(const job *j, const skinny *s, bool along_k, size_t items, plan *out)
{
    const char *why = matmul_unsupported_rounding(j, out);

    if (!why && s->few > FEW_MAX)
        return plan_unsupported(out, "it takes a C of up to %d rows or columns, and this has %zu",
                                FEW_MAX,
                                size_min(matmul_of(j->problem)->m, matmul_of(j->problem)->n));
    if (!why && s->along_k != along_k)
        return plan_unsupported(out, "neighbours of the large factor lie %s",
                                along_k ? "beside each other: use `skinny-columns`"
                                        : "along k: use `skinny-dots`");
    return why ? why : matmul_unsupported_items(items, group_limit(j->device, 0), out);
}

/* As far along k as the small factor's tile reaches: a power of two, and `least` at least. */
static size_t depth_of(const tsr_matmul_problem *p, const skinny *s, size_t least)
{
    const size_t room = TILE_BYTES / (s->few * matmul_real_size(p));
    const size_t most = size_min(size_min(room, DEPTH_MAX), power_of_2_from(matmul_k_read(p)));

    return size_max(most, least);
}

/* How many groups share k, where SPLIT does not say it. */
static k_parts split(const job *j, const skinny *s, size_t groups, size_t depth)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t set = param(j->params, "SPLIT"), units = size_max(j->device->compute_units, 1);
    const double bytes = (double)s->many * (double)p->k * (double)tsr_type_size(p->type);

    if (set)
        return matmul_parts_cut(j, set, depth);
    if (matmul_batch(p) > 1 || bytes < SPLIT_BYTES || j->device->kind == DEVICE_CPU)
        return matmul_parts_cut(j, 1, depth);
    return matmul_parts_cut(j, GROUPS_A_UNIT * units / size_max(groups, 1), depth);
}

/* -Ds and commands of both: groups of `items`, so many of them along the long side of C. */
static void plan_groups(const job *j, const skinny *s, size_t items, size_t groups, size_t depth,
                        plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const k_parts k = split(j, s, groups, depth);
    command grid;

    plan_set(out, "SPLIT", (uint32_t)k.parts);
    matmul_define_operands(p, out);
    matmul_define_rounding(p, out);
    matmul_define_parts(out);
    plan_define(out, "FEW_ROWS=%d", s->few_rows);
    plan_define(out, "FEW=%zu", s->few);
    plan_define(out, "ITEMS=%zu", items);
    plan_define(out, "DEPTH=%zu", depth);
    plan_define(out, "VECTOR=%zu", s->vector);
    plan_define(out, "ALIGNED=%d",
                j->device->kind != DEVICE_CPU && matmul_starts_at(&s->large, s->vector));
    plan_define(out, "SPLITS=%d", k.parts > 1);
    command_launch_2d(&grid, MULTIPLY, groups * items, 1, items, 1);
    matmul_parts_commands(j, k, &grid, SUM, out);
}

static const tunable columns_tunables[] = {
    {"LANES",
     "vectors side by side that a group computes: longer streams against more groups",
     {0, 8, 16, 32, 64},
     0},
    {"SPLIT",
     "groups that share k: more of them against adding up",
     {0, 1, 2, 4, 8, 16, 32, 64},
     0,
     .host_only = true},
};

static const char *plan_columns(const job *j, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const skinny s = skinny_of(p);
    const size_t vectors = size_div_up(s.many, s.vector);
    size_t lanes = param(j->params, "LANES"), depth;
    const char *why = unsupported(j, &s, false, ITEMS_COLUMNS, out);

    if (why)
        return why;
    if (!lanes)
        lanes = size_min(32, size_max(8, power_of_2_from(vectors)));
    depth = depth_of(p, &s, 1);
    why = matmul_unsupported_bytes((s.few * depth + ITEMS_COLUMNS * s.vector) * matmul_real_size(p),
                                   j->device->local_memory, out);
    if (why)
        return why;
    plan_set(out, "LANES", (uint32_t)lanes);
    plan_groups(j, &s, ITEMS_COLUMNS, size_div_up(vectors, lanes), depth, out);
    return NULL;
}

const variant matmul_skinny_columns = {
    .name = "skinny-columns",
    .idea =
        "few rows (or columns) of C: each column of the large factor is read once, as in a matvec",
    .source = "matmul/matmul_skinny_columns.cl",
    .entries = {"matmul_skinny_columns", "matmul_sum_parts"},
    .tunables = columns_tunables,
    .tunable_count = ARRAY_COUNT(columns_tunables),
    .plan = plan_columns};

static const tunable dots_tunables[] = {
    {"TEAM",
     "work-items that share a dot product: longer streams against adding up",
     {0, 4, 8, 16, 32},
     0},
    {"LINES", "lines that a team reads at once: reuse of the small factor", {0, 1, 2, 4}, 0},
    {"SPLIT",
     "groups that share k: more of them against adding up",
     {0, 1, 2, 4, 8, 16, 32, 64},
     0,
     .host_only = true},
};

/* Of the small factor's tile, or of the sums that teams add up, which lie there later. */
static size_t dots_bytes(const tsr_matmul_problem *p, const skinny *s, size_t team, size_t lines)
{
    const size_t chunk = size_min(s->few * lines, team);
    const size_t sums = ITEMS_DOTS / team * chunk * (team + 1);

    return size_max(s->few * depth_of(p, s, team * s->vector), sums) * matmul_real_size(p);
}

static const char *plan_dots(const job *j, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const skinny s = skinny_of(p);
    const size_t local = j->device->local_memory;
    size_t team = param(j->params, "TEAM"), lines = param(j->params, "LINES");
    const char *why = unsupported(j, &s, true, ITEMS_DOTS, out);

    if (why)
        return why;
    if (!lines)
        lines = size_min(4, power_of_2_from(s.many));
    if (!team) {
        team = size_min(32, size_max(4, power_of_2_from(size_div_up(p->k, s.vector))));
        while (team > 4 && dots_bytes(p, &s, team, lines) > local)
            team /= 2;
    }
    why = matmul_unsupported_bytes(dots_bytes(p, &s, team, lines), local, out);
    if (why)
        return why;
    plan_set(out, "TEAM", (uint32_t)team);
    plan_set(out, "LINES", (uint32_t)lines);
    plan_groups(j, &s, ITEMS_DOTS, size_div_up(s.many, ITEMS_DOTS / team * lines),
                depth_of(p, &s, team * s.vector), out);
    return NULL;
}

const variant matmul_skinny_dots = {
    .name = "skinny-dots",
    .idea = "the same where the large factor lies along k: teams share dot products of its lines",
    .source = "matmul/matmul_skinny_dots.cl",
    .entries = {"matmul_skinny_dots", "matmul_sum_parts"},
    .tunables = dots_tunables,
    .tunable_count = ARRAY_COUNT(dots_tunables),
    .plan = plan_dots};
