/* A C of few rows or few columns, whose large factor is read once:
 * cl/matmul/matmul_skinny_columns.cl and cl/matmul/matmul_skinny_dots.cl. */
#include <math.h>

#include "base/sizes.h"
#include "core/groups.h"
#include "core/last_group.h"
#include "core/registry.h"
#include "ops/matmul/matmul_parts.h"
#include "ops/matmul/matmul_plan.h"
#include "ops/matmul/matmul_variants.h"

/* Entries of both kernels' files, in the variants' order. */
enum { MULTIPLY, SUM };

enum {
    FEW_MAX = 16,
    GROUP_ITEMS = 256,
    ITEMS_MIN = 64, /* of a group, where there is work for them */
    SLICES_MAX = 32,
    LANES_MIN = 8,
    WHOLE_LANES_MAX = 32,   /* of groups that take k whole */
    WHOLE_ITEMS_MAX = 1024, /* of such a group, on NVIDIA's devices */
    WHOLE_BYTES_MIN = 128,  /* of a line, that it loads side by side */
    TEAM_MIN = 4,
    TEAM_MAX = 32,
    VECTOR_BYTES = 16,
    BRIEF_BYTES = 1 << 20,
    FETCH = 8,              /* elements of the small factor that a work-item loads at once */
    BATCH_BYTES = 64,       /* whose loads a work-item has in flight */
    DEEP_MIN = 128,         /* k from which it may have twice as many */
    TILE_BYTES = 16384,     /* of the small factor in local memory */
    SUMS_BYTES = 24576,     /* of sums there that are added up together */
    UNIT_ITEMS = 2048,      /* of a unit at once, at most, */
    UNIT_REGISTERS = 65536, /* and their registers */
    BUSY_ITEMS_A_UNIT = 256 /* up to which a work-item takes shorter vectors, for more of them */
};

/* A product as both variants see it. */
typedef struct skinny {
    bool few_rows;
    size_t few, many; /* sides of C */
    bool along_k;     /* lines of the large factor lie along k */
    size_t k;
    matmul_matrix large;
    size_t type; /* bytes of an element of the factors */
} skinny;

/* How groups share it. */
typedef struct layout {
    size_t vector;       /* elements of a line that a work-item takes at once */
    bool aligned;        /* whether they are an aligned vector */
    size_t batch;        /* such vectors of a line, or of a column, in flight together */
    size_t items, peers; /* of a group; that share an output */
    size_t outputs;      /* of a group, in each row */
    size_t quantum;      /* of k, that a group takes at once */
    size_t loads, sums;  /* of a work-item: vectors in flight, and sums */
} layout;

static skinny skinny_of(const tsr_matmul_problem *p)
{
    const bool few_rows = p->m <= p->n;

    return (skinny){.few_rows = few_rows,
                    .few = size_max(size_min(p->m, p->n), 1),
                    .many = size_max(size_max(p->m, p->n), 1),
                    .along_k = few_rows ? p->trans_b : !p->trans_a,
                    .k = size_max(matmul_k_read(p), 1),
                    .large = few_rows ? matmul_matrix_b(p) : matmul_matrix_a(p),
                    .type = tsr_type_size(p->type)};
}

bool matmul_is_skinny(const tsr_matmul_problem *p)
{
    /* Of 16 bits twice as many elements arrive in the same time: more rows than 8 would wait for
     * the multiply-adds. */
    return size_min(p->m, p->n) <= (tsr_type_size(p->type) == 2 ? FEW_MAX / 2 : FEW_MAX);
}

static const char *unsupported(const job *j, const skinny *s, bool along_k, plan *out)
{
    const char *why = matmul_unsupported_rounding(j, out);

    if (!why && s->few > FEW_MAX)
        return plan_unsupported(out, "it takes a C of up to %d rows or columns, and this has %zu",
                                FEW_MAX, s->few);
    if (!why && s->along_k != along_k)
        return plan_unsupported(out, "neighbouring elements of the large factor lie %s",
                                along_k ? "side by side: use `skinny-columns`"
                                        : "along k: use `skinny-dots`");
    return why;
}

/* Whether lines of the large factor are aligned vectors. */
static bool is_aligned(const job *j, const skinny *s, size_t vector)
{
    return vector > 1 && j->device->kind != DEVICE_CPU &&
           (s->along_k ? s->k : s->many) % vector == 0 && matmul_starts_at(&s->large, vector);
}

/* One row or column, and as many lines along k as a unit soon reads: what counts are the loads on
 * their way, and not whether they are aligned.  float32 1x1353x152 with both transposed
 * takes 3.4 us of an H200 by vectors of two, and 3.9 by single elements; 1x654x1306 5.1 by vectors
 * of four that are not aligned, and 6.3 by aligned ones of two; bfloat16 1x29x409 2.8 and 3.2. */
enum { WARP = 32, ROUNDS_OF_ONE = 2, SMALL_FACTOR = 1 << 20 };

static bool is_one_row_of_short_lines(const job *j, const skinny *s)
{
    return s->few == 1 && s->along_k && j->device->kind != DEVICE_CPU &&
           (double)s->many * (double)s->k <= SMALL_FACTOR;
}

/* Elements of a line that a work-item takes at once: as many as a wide load brings, as long as
 * registers hold their sums, but fewer where there would be too few work-items: a load takes about
 * as long whatever it brings. */
static size_t vector_of(const job *j, const skinny *s, size_t batch)
{
    const size_t set = param(j->params, "VECTOR");
    /* Of many float32 rows or columns across k what the small factor takes counts, and pieces of 16
     * bytes need it less often: 8306x9x3193 with A and B transposed takes 42 us of an H200 in place
     * of 63. */
    const bool in_pieces = s->few > 8 && !s->along_k && s->type == 4;
    const size_t least = in_pieces ? VECTOR_BYTES : s->few > 1 ? 8 : 4; /* bytes */
    size_t vector = VECTOR_BYTES / s->type;

    if (set)
        return set;
    if (is_one_row_of_short_lines(j, s)) {
        while (vector > 1 && ROUNDS_OF_ONE * WARP * vector > s->k)
            vector /= 2;
        return vector;
    }
    if (s->few > (s->along_k ? 8 : 4))
        vector = size_min(vector, 4);
    while (vector > 1 && (double)s->many * (double)s->k <
                             (double)(vector * batch * matmul_units(j)) * BUSY_ITEMS_A_UNIT)
        vector /= 2;
    /* Shorter ones that are aligned are better than longer ones that come in pieces, but for
     * vectors of 4 bytes where there are several rows: bfloat16 4x6542x10932 takes 60 us of an H200
     * in pieces of 16 bytes, and 115 in vectors of two. */
    for (size_t shorter = vector; shorter > 1 && shorter * s->type >= least; shorter /= 2)
        if (is_aligned(j, s, shorter))
            return shorter;
    /* Of several rows or columns of 16 bits, whose lines along k are not aligned, pieces of 8 bytes
     * are faster than those of 16: bfloat16 5216x2x6414 takes 33 us in place of 45. */
    return s->along_k && s->few > 1 && s->type == 2 && vector * s->type == VECTOR_BYTES ? vector / 2
                                                                                        : vector;
}

/* ---- the share of k ------------------------------------------------------------------------ */

/* Microseconds, fitted to 430 timings on an H200, of 1 to 16 rows or columns in all types: within
 * 13% (RMS).  Of a launch; of a group from its start to its end; of a batch of loads, beside what
 * its bytes and its multiply-adds take; of a round of loads of the small factor, beside the first;
 * of a second launch, or a last group's turn, and of each round in which it loads parts. */
static const double start_us = 1.44, group_us = 0.91, batch_us = 0.22, fetch_us = 1.28,
                    launch_us = 2.2, turn_us = 1.6, round_us = 0.47;
/* What a unit does in a microsecond: bytes that memory brings it, and multiply-adds of FP32; and
 * bytes of sums of parts that a second launch and the one before move. */
static const double unit_bytes_a_us = 27e3, unit_adds_a_us = 1.5e5, sum_bytes_a_us = 1.5e6;

/* How parts are added up, of outputs that so many groups have. */
static last_group adding_up(const job *j, size_t groups, k_parts k)
{
    return last_group_for(j->device, k.parts > 1, groups);
}

/* Work-items of a unit that registers let run at once: sums, vectors in flight and those after
 * them, whose elements have a register each where they are loaded one by one, and what else
 * NVIDIA's compiler was seen to take.  float16 1x8033x3074 takes 21 us of an H200 by two groups on
 * a unit, and 26 by five. */
static double items_a_unit(const skinny *s, const layout *x, size_t real)
{
    const size_t other = s->along_k ? 24 + size_min(4 * s->few, 32) : 28;
    const size_t held = x->aligned ? s->type : size_max(s->type, 4);
    const size_t registers = other + x->sums * real / 4 + 2 * x->loads * x->vector * held / 4;

    return (double)size_min(UNIT_ITEMS, UNIT_REGISTERS / registers);
}

/* Rounds in which the last group of some outputs loads their parts, MATMUL_PARTS_TOGETHER for each
 * work-item: cl/matmul/matmul_skinny.clh. */
static double rounds_of_parts(const skinny *s, const layout *x, size_t parts)
{
    const size_t outputs = s->few * size_min(x->outputs, s->many);
    size_t lanes = 1;

    while (lanes < parts && 2 * lanes * outputs <= x->items)
        lanes *= 2;
    return (double)(size_div_up(outputs, x->items / lanes) *
                    size_div_up(parts, lanes * MATMUL_PARTS_TOGETHER));
}

/* What a product takes where `groups` along C's long side share k in parts. */
static double cost_us(const job *j, const skinny *s, const layout *x, size_t groups, k_parts k)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t real = matmul_real_size(p), units = matmul_units(j);
    const double all = (double)groups * (double)(k.parts > 1 ? k.parts : matmul_batch(p));
    const double most = floor(fmax(items_a_unit(s, x, real) / (double)x->items, 1));
    const double each = ceil(all / (double)units); /* groups of a unit, */
    const double together = fmin(each, most);      /* and of those at once */
    const double batches = (double)size_div_up(k.span, x->quantum);
    const double there = fmin((double)s->many / (double)x->outputs, 1); /* of a group's lines */
    const double loaded = together * there * (double)(x->items * x->loads * x->vector);
    const double adds = loaded * (double)s->few * ((double)real / sizeof(float));
    const double batch =
        batch_us + loaded * (double)s->type / unit_bytes_a_us + adds / unit_adds_a_us;
    const double fetches = (double)s->few * (double)k.span / (double)(x->items * FETCH);
    const double fetched = fetch_us * fmax(fetches - 1, 0);
    const double us = start_us + each / together * (group_us + fetched + batches * batch);

    if (k.parts == 1)
        return us;
    if (adding_up(j, groups, k))
        return us + turn_us + rounds_of_parts(s, x, k.parts) * round_us;
    return us + launch_us +
           2.0 * (double)k.parts * (double)p->m * (double)p->n * (double)real / sum_bytes_a_us;
}

/* How many groups share k, where SPLIT does not say it. */
static k_parts split(const job *j, const skinny *s, const layout *x, size_t groups)
{
    const size_t set = param(j->params, "SPLIT");
    k_parts best = matmul_parts_cut(j, set, x->quantum);
    double least;

    if (set || matmul_batch(matmul_of(j->problem)) > 1 || j->device->kind == DEVICE_CPU)
        return best;
    least = cost_us(j, s, x, groups, best);
    for (size_t parts = 2; parts <= 2 * matmul_units(j); parts += (parts + 3) / 4) {
        const k_parts cut = matmul_parts_cut(j, parts, x->quantum);
        const double us = cost_us(j, s, x, groups, cut);

        if (us < least) {
            best = cut;
            least = us;
        }
    }
    return best;
}

/* What a product takes by such groups, which share k as is best: in `k`. */
static double best_parts_us(const job *j, const skinny *s, const layout *x, k_parts *k)
{
    const size_t groups = size_div_up(s->many, x->outputs);

    *k = split(j, s, x, groups);
    return cost_us(j, s, x, groups, *k);
}

static double best_us(const job *j, const skinny *s, const layout *x)
{
    k_parts k;

    return best_parts_us(j, s, x, &k);
}

/* Whether the large factor is soon read: what counts then are the loads that wait for one another,
 * not how long the streams are. */
static bool is_brief(const job *j, const skinny *s)
{
    return (double)s->many * (double)(s->k * s->type) <= BRIEF_BYTES &&
           j->device->kind != DEVICE_CPU;
}

/* ---- what both plans have ------------------------------------------------------------------ */

/* The small factor's tile, as both kernels have it: with gaps of 16 bytes. */
static size_t tile_reals(const skinny *s, size_t few, size_t depth, size_t real)
{
    const size_t gap = 16 / real;

    if (s->along_k)
        return few * (depth + gap);
    return (few < 8 ? few : size_round_up(few, 4) + gap) * depth;
}

/* From a row of sums to the next in local memory, at most. */
static size_t row_reals(const layout *x)
{
    return x->peers * (x->outputs + x->vector) + x->outputs;
}

/* Launches that share k, in which the last group of some outputs adds up the parts. */
static void add_in_turn(const tsr_matmul_problem *p, k_parts k, const command *grid, plan *out)
{
    out->workspace = matmul_parts_workspace(p, k);
    for (size_t e = 0; p->m && p->n && e < matmul_batch(p); e++) {
        const tsr_matmul_problem one = matmul_product(p, e);
        matmul_call call = matmul_call_of(&one);
        command c = *grid;

        call.stride_a = call.stride_b = call.stride_c = 0; /* layers share the product */
        call.span = (uint32_t)k.span;
        call.parts = (uint32_t)k.parts;
        matmul_layers(&c, k.parts);
        command_operand(&c, MATMUL_A);
        command_operand(&c, MATMUL_B);
        command_operand(&c, MATMUL_C);
        command_workspace(&c);
        command_group_counters(&c, true);
        matmul_pass(&c, p, &call);
        plan_append(out, &c);
    }
}

/* -Ds and commands of both. */
static const char *plan_groups(const job *j, const skinny *s, const layout *x, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t groups = size_div_up(s->many, x->outputs), real = matmul_real_size(p);
    const k_parts k = split(j, s, x, groups);
    const last_group last = adding_up(j, groups, k);
    /* Rows or columns that a kernel is built for: those of C, but for few of the longer ones, so
     * that not every C needs a program of its own. */
    const size_t few = s->few <= 6 ? s->few : size_round_up(s->few, s->few <= 8 ? 2 : 4);
    size_t depth = x->quantum, chunk = few;
    const char *why;
    command grid;

    while (depth < k.span && tile_reals(s, few, 2 * depth, real) * real <= TILE_BYTES)
        depth *= 2;
    while (chunk > 1 && chunk * row_reals(x) * real > SUMS_BYTES)
        chunk = (chunk + 1) / 2;
    why = matmul_unsupported_items(x->items, group_limit(j->device, 0), out);
    if (!why)
        why = plan_unsupported_local(
            out, size_max(tile_reals(s, few, depth, real), chunk * row_reals(x)) * real,
            j->device->local_memory);
    if (why)
        return why;
    plan_set(out, "VECTOR", (uint32_t)x->vector);
    plan_set(out, "SPLIT", (uint32_t)k.parts);
    matmul_define_operands(p, out);
    matmul_define_rounding(p, out);
    matmul_define_parts(p, out);
    plan_define(out, "FEW_ROWS=%d", s->few_rows);
    plan_define(out, "FEW=%zu", few);
    plan_define(out, "ITEMS=%zu", x->items);
    plan_define(out, "DEPTH=%zu", depth);
    plan_define(out, "ALIGNED=%d", x->aligned);
    plan_define(out, "BATCH=%zu", x->batch);
    plan_define(out, "CHUNK=%zu", chunk);
    plan_define(out, "SPLITS=%d", k.parts > 1);
    last_group_defines(j->device, last, &out->defines);
    command_launch_2d(&grid, MULTIPLY, groups * x->items, 1, x->items, 1);
    if (last)
        add_in_turn(p, k, &grid, out);
    else
        matmul_parts_commands(j, k, &grid, SUM, out);
    return NULL;
}

/* ---- the variants -------------------------------------------------------------------------- */

static const tunable columns_tunables[] = {
    {"LANES",
     "work-items side by side: longer streams against more groups",
     {0, 8, 16, 32, 64},
     0,
     .cpu_most = 16},
    {"SLICES",
     "sets of work-items that share k in a group: latency hidden against adding up",
     {0, 1, 2, 4, 8, 16, 32},
     0,
     .cpu_most = 4},
    {"VECTOR",
     "columns of a work-item: wide loads against more work-items",
     {0, 1, 2, 4, 8},
     0,
     .cpu_most = 4},
    {"SPLIT",
     "work-groups that share k: more run at once, and leave more sums to add up",
     {0, 1, 2, 4, 8, 16, 32, 64},
     0,
     .host_only = true,
     .any = true,
     .cpu_most = 8},
};

/* As many work-items side by side as make long streams, but not far beyond the last column. */
static size_t lanes_of(const skinny *s, size_t vector)
{
    size_t lanes = 32;

    while (lanes > LANES_MIN &&
           4 * size_round_up(s->many, lanes * vector) > 5 * size_round_up(s->many, vector))
        lanes /= 2;
    return lanes;
}

/* Sets of work-items: with a batch of steps for each, or, where k is short, fewer, so that the
 * group is not smaller than two warps. */
static size_t slices_of(const skinny *s, size_t lanes, size_t batch, size_t items)
{
    const size_t batches = size_power_of_2_up(size_div_up(s->k, batch));
    const size_t steps = size_power_of_2_up(s->k);
    const size_t slices = size_max(batches, size_min(steps, ITEMS_MIN / lanes));

    return size_max(size_min(slices, size_min(SLICES_MAX, items / lanes)), 1);
}

/* Groups of so many work-items side by side, and of up to `items` in all. */
static layout columns_of(const job *j, const skinny *s, size_t vector, size_t lanes, size_t items)
{
    const size_t set = param(j->params, "SLICES"), batch = BATCH_BYTES / VECTOR_BYTES;
    const size_t slices = set ? set : slices_of(s, lanes, batch, items);

    return (layout){.vector = vector,
                    .aligned = is_aligned(j, s, vector),
                    .batch = batch,
                    .items = lanes * slices,
                    .peers = slices,
                    .outputs = lanes * vector,
                    .quantum = slices * batch,
                    .loads = batch,
                    .sums = s->few * vector};
}

/* Of one row or column: larger groups that take k whole, where that beats `best`.  The model ranks
 * them as an H200 does: bfloat16 7598x1x416 with A transposed takes 7.2 us of it in place of 10.7,
 * float64 1x6005x640 11.9 in place of 14.0. */
static layout whole_columns(const job *j, const skinny *s, layout best)
{
    const size_t most = j->device->nv_capability ? WHOLE_ITEMS_MAX : GROUP_ITEMS;
    const size_t limit = size_min(most, group_limit(j->device, 0));
    double least = best_us(j, s, &best);

    for (size_t lanes = WHOLE_LANES_MAX; lanes >= WHOLE_LANES_MAX / 2; lanes /= 2)
        for (size_t items = GROUP_ITEMS; items <= limit; items *= 2)
            for (size_t vector = VECTOR_BYTES / s->type;
                 vector >= 1 && lanes * vector * s->type >= WHOLE_BYTES_MIN; vector /= 2) {
                const layout x = columns_of(j, s, vector, lanes, items);
                k_parts k;
                const double us = best_parts_us(j, s, &x, &k);

                /* One row of sums is in local memory at least. */
                if (k.parts == 1 && x.items == items && us < least &&
                    row_reals(&x) * matmul_real_size(matmul_of(j->problem)) <=
                        j->device->local_memory) {
                    best = x;
                    least = us;
                }
            }
    return best;
}

static layout columns_layout(const job *j, const skinny *s)
{
    const bool may_be_whole = s->few == 1 && matmul_batch(matmul_of(j->problem)) == 1 &&
                              j->device->kind != DEVICE_CPU && !is_brief(j, s) &&
                              !param(j->params, "LANES") && !param(j->params, "SLICES") &&
                              !param(j->params, "VECTOR") && !param(j->params, "SPLIT");
    const size_t vector = vector_of(j, s, BATCH_BYTES / VECTOR_BYTES);
    const size_t set = param(j->params, "LANES");
    size_t lanes = set ? set : lanes_of(s, vector);
    layout best = columns_of(j, s, vector, lanes, GROUP_ITEMS);

    while (!set && is_brief(j, s) && lanes > LANES_MIN) {
        layout x;

        lanes /= 2;
        x = columns_of(j, s, vector, lanes, GROUP_ITEMS);
        if (matmul_gains_clearly(best_us(j, s, &x), best_us(j, s, &best)))
            best = x;
    }
    /* Of one row or column and a long k fewer outputs leave a group less to add up, so that more
     * groups share k.  Not timed of float64. */
    if (!set && !param(j->params, "VECTOR") && s->few == 1 && s->k >= s->many && s->type < 8 &&
        best.aligned && !is_brief(j, s)) {
        const layout x = columns_of(j, s, vector / 2, size_max(lanes / 2, LANES_MIN), GROUP_ITEMS);

        if (matmul_gains_clearly(best_us(j, s, &x), best_us(j, s, &best)))
            best = x;
    }
    return may_be_whole ? whole_columns(j, s, best) : best;
}

static const char *plan_columns(const job *j, plan *out)
{
    const skinny s = skinny_of(matmul_of(j->problem));
    const char *why = unsupported(j, &s, false, out);
    layout x;

    if (why)
        return why;
    x = columns_layout(j, &s);
    plan_set(out, "LANES", (uint32_t)(x.items / x.peers));
    plan_set(out, "SLICES", (uint32_t)x.peers);
    return plan_groups(j, &s, &x, out);
}

const variant matmul_skinny_columns = {
    .name = "skinny-columns",
    .idea =
        "few rows (or columns) of C: each column of the large factor is read once, as in a matvec",
    .unstated = "loads vectors, and the shape decides how many at the ends of lines",
    .source = "matmul/matmul_skinny_columns.cl",
    .entries = {"matmul_skinny_columns", "matmul_sum_parts"},
    .uses = LAST_GROUP_USES,
    .group_counters = true,
    .program_a_shape = true,
    .tunables = columns_tunables,
    .tunable_count = ARRAY_COUNT(columns_tunables),
    .plan = plan_columns};

static const tunable dots_tunables[] = {
    {"TEAM",
     "work-items that share a dot product: longer streams against adding up",
     {0, 4, 8, 16, 32},
     0,
     4,
     .cpu_most = 8},
    {"LINES",
     "lines that a team of work-items reads at once: reuse of the small factor",
     {0, 1, 2, 4},
     0},
    {"VECTOR",
     "elements of a line that a work-item takes at once: wide loads against more work-items",
     {0, 1, 2, 4, 8},
     0,
     .cpu_most = 4},
    {"SPLIT",
     "work-groups that share k: more run at once, and leave more sums to add up",
     {0, 1, 2, 4, 8, 16, 32, 64},
     0,
     .host_only = true,
     .any = true,
     .cpu_most = 8},
};

/* Where the small factor has many rows, its tile is read the more often: small teams read it
 * together. */
static size_t team_of(const skinny *s, size_t vector)
{
    const size_t most = s->few > 4 ? 8 : s->few > 2 ? 16 : 32;

    return size_min(most, size_max(TEAM_MIN, size_power_of_2_up(size_div_up(s->k, vector))));
}

/* Lines for a work-item, as registers hold their sums, and as long as there remain enough
 * work-items. */
static size_t lines_of(const job *j, const skinny *s, size_t vector)
{
    const double vectors = (double)s->many * (double)s->k / (double)vector;
    const size_t batch = BATCH_BYTES / VECTOR_BYTES;
    size_t lines = s->type == 2 || s->few > 8 ? 2 : 4;

    while (lines > 1 && vectors < (double)(batch * lines * matmul_units(j)) * BUSY_ITEMS_A_UNIT)
        lines /= 2;
    return lines;
}

/* Groups of so many lines for each team.  Few long lines of float64 have twice as many loads on
 * their way, where all of them are within k: 13x14x6464 with B transposed takes 8.8 us of an H200
 * in place of 10.7, 2x1x531 3.1 in place of 3.7, but 10x11x75 4.4 in place of 4.2. */
static layout dots_of(const job *j, const skinny *s, size_t vector, size_t team, size_t lines)
{
    const size_t teams =
        size_min(GROUP_ITEMS / team, size_power_of_2_up(size_div_up(s->many, lines)));
    const size_t usual = size_max(BATCH_BYTES / VECTOR_BYTES / lines, 1);
    const bool deep = s->type == sizeof(double) && j->device->kind != DEVICE_CPU &&
                      (double)s->many * (double)s->k <= SMALL_FACTOR &&
                      s->k >= size_max(DEEP_MIN, 2 * usual * team * vector);
    const size_t batch = deep ? 2 * usual : usual;

    return (layout){.vector = vector,
                    .batch = batch,
                    .items = team * teams,
                    .peers = team,
                    .outputs = teams * lines,
                    .quantum = team * vector * batch,
                    .loads = lines * batch,
                    .sums = s->few * lines};
}

/* Larger teams where groups are small for lack of lines: they take more of k at once, and leave
 * fewer parts to be added up, by more work-items. */
static size_t team_by_cost(const job *j, const skinny *s, size_t vector, size_t lines)
{
    size_t best = team_of(s, vector);
    layout x = dots_of(j, s, vector, best, lines);
    double least = best_us(j, s, &x);

    for (size_t team = 2 * best; team <= TEAM_MAX && j->device->kind != DEVICE_CPU; team *= 2) {
        double us;

        if (x.items == GROUP_ITEMS)
            break;
        x = dots_of(j, s, vector, team, lines);
        us = best_us(j, s, &x);
        if (!matmul_gains_clearly(us, least))
            continue;
        least = us;
        best = team;
    }
    return best;
}

/* Of one or two rows or columns the small factor is read as fast without reuse: what counts is how
 * groups fill the device.  Lines for which k is not shared win by any gain, the others by a clear
 * one: float32 1x3263x1084 with B transposed takes 8.1 us of an H200 with k whole, in nine
 * parts 10.2. */
static size_t lines_by_cost(const job *j, const skinny *s, size_t vector, size_t team, size_t most)
{
    size_t best = most;
    bool best_shares = true;
    double least = INFINITY;

    if (s->few > 2 || j->device->kind == DEVICE_CPU)
        return most;
    for (size_t lines = most; lines; lines /= 2) {
        const layout x = dots_of(j, s, vector, team, lines);
        k_parts k;
        const double us = best_parts_us(j, s, &x, &k);
        const bool stops_sharing = best_shares && k.parts == 1;

        if (stops_sharing ? us >= least : !matmul_gains_clearly(us, least))
            continue;
        least = us;
        best = lines;
        best_shares = k.parts > 1;
    }
    return best;
}

/* Of one row of short lines: the least team, and work-items of all teams on a unit.  float16
 * 1x9305x26 with B transposed takes 3.6 us of an H200 in place of 5.3. */
enum { TEAM_MIN_OF_ONE = 4, ITEMS_OF_UNIT = 1024 };

/* Groups that take so many elements at once. */
static layout dots_for(const job *j, const skinny *s, size_t vector)
{
    const size_t most = lines_of(j, s, vector);
    size_t team = param(j->params, "TEAM"), lines = param(j->params, "LINES");
    layout x;

    if (!team) {
        team = team_by_cost(j, s, vector, lines ? lines : most);
        if (is_one_row_of_short_lines(j, s))
            while (team > TEAM_MIN_OF_ONE && s->many * team > ITEMS_OF_UNIT * matmul_units(j))
                team /= 2;
    }
    if (!lines)
        lines = lines_by_cost(j, s, vector, team, most);
    x = dots_of(j, s, vector, team, lines);
    x.aligned = is_aligned(j, s, vector);
    return x;
}

static layout dots_layout(const job *j, const skinny *s)
{
    /* Of more rows or columns the small factor is read too often for what longer vectors save. */
    const size_t most = s->few > 8 ? 1 : VECTOR_BYTES / s->type;
    size_t vector = vector_of(j, s, BATCH_BYTES / VECTOR_BYTES);
    layout best = dots_for(j, s, vector);

    while (!param(j->params, "VECTOR") && is_brief(j, s) && 2 * vector <= most) {
        layout x;

        vector *= 2;
        x = dots_for(j, s, vector);
        if (matmul_gains_clearly(best_us(j, s, &x), best_us(j, s, &best)))
            best = x;
    }
    return best;
}

static const char *plan_dots(const job *j, plan *out)
{
    const skinny s = skinny_of(matmul_of(j->problem));
    const char *why = unsupported(j, &s, true, out);
    layout x;

    if (why)
        return why;
    x = dots_layout(j, &s);
    plan_set(out, "TEAM", (uint32_t)x.peers);
    plan_set(out, "LINES", (uint32_t)(x.outputs / (x.items / x.peers)));
    return plan_groups(j, &s, &x, out);
}

const variant matmul_skinny_dots = {
    .name = "skinny-dots",
    .idea = "the same where the large factor lies along k: teams share dot products of its lines",
    .unstated = "loads vectors, and the shape decides how many at the ends of lines",
    .source = "matmul/matmul_skinny_dots.cl",
    .entries = {"matmul_skinny_dots", "matmul_sum_parts"},
    .uses = LAST_GROUP_USES,
    .group_counters = true,
    .program_a_shape = true,
    .tunables = dots_tunables,
    .tunable_count = ARRAY_COUNT(dots_tunables),
    .plan = plan_dots};

static double skinny_time(const problem *q, const device_facts *d, bool along_k)
{
    const device_facts known = matmul_known(d);
    const params defaults = params_default(along_k ? &matmul_skinny_dots : &matmul_skinny_columns);
    const job j = {q, &known, &defaults, false, false};
    const skinny s = skinny_of(matmul_of(q));
    layout x;

    if (s.few > FEW_MAX || s.along_k != along_k)
        return INFINITY;
    x = along_k ? dots_layout(&j, &s) : columns_layout(&j, &s);
    return 1e3 * best_us(&j, &s, &x);
}

double matmul_skinny_columns_time(const problem *q, const device_facts *d)
{
    return skinny_time(q, d, false);
}

double matmul_skinny_dots_time(const problem *q, const device_facts *d)
{
    return skinny_time(q, d, true);
}
