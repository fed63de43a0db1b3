/* For CPUs: a block of C in registers, of explicit vectors (cl/matmul/matmul_registers.clh), from
 * where B lies (cl/matmul/matmul_cpu_block.cl) or from packed panels (matmul_cpu_panels.cl). */
#include "base/sizes.h"
#include "core/private_memory.h"
#include "ops/matmul/matmul_complex.h"
#include "ops/matmul/matmul_plan.h"
#include "ops/matmul/matmul_variants.h"

/* Entries of cl/matmul/matmul_cpu_panels.cl, in the variants' order. */
enum { MULTIPLY, SUM };

/* Registers twice as wide come with twice as many of them (AVX-512 has 32, AVX2 16).  ROWS *
 * VECTORS sums of 512 bits, VECTORS vectors of B and one of A: 19 of the one kind; of the other,
 * two registers each, 16. */
enum { WIDE_BITS = 512, WIDE_ROWS = 8, WIDE_VECTORS = 2, NARROW_ROWS = 6, NARROW_VECTORS = 1 };

/* Work-items for each core, so that none waits long for another one.  Below ROWS_MIN rows copying
 * a panel costs too much beside using it; from ROWS_ENOUGH on it costs nothing, and parts of k
 * serve better than parts of m. */
enum { ITEMS_CORE = 8, ROWS_MIN = 64, ROWS_ENOUGH = 256 };

/* The block of a work-item: ROWS and VECTORS, or what the device's registers hold. */
typedef struct block {
    size_t rows, columns;
} block;

static block block_of(const job *j, plan *out)
{
    const bool wide = j->device->vector_bits >= WIDE_BITS;

    if (!param(j->params, "ROWS"))
        plan_set(out, "ROWS", wide ? WIDE_ROWS : NARROW_ROWS);
    if (!param(j->params, "VECTORS"))
        plan_set(out, "VECTORS", wide ? WIDE_VECTORS : NARROW_VECTORS);
    return (block){.rows = param(&out->params, "ROWS"),
                   .columns = param(&out->params, "VECTORS") * (size_t)param(j->params, "BITS") /
                              8 / matmul_real_size(matmul_of(j->problem))};
}

/* ---- cpu-block --------------------------------------------------------------------------- */

static const tunable block_tunables[] = {
    {"ROWS",
     "rows of C in registers: each load of B serves them all; 0: as many as the device has",
     {0, 1, 2, 4, 6, 8},
     0},
    {"VECTORS",
     "vectors of columns in registers: each load of A serves them all; 0: likewise",
     {0, 1, 2, 3, 4},
     0},
    {"BITS", "width of a vector: several registers where they are narrower", {128, 256, 512}, 512},
};

/* Of whole blocks: at the edges the last rows and columns are read again.  A C that is narrower
 * than a block is computed output by output. */
static double asked_of_blocks(const tsr_matmul_problem *p, block b)
{
    const double k = (double)matmul_k_read(p), outputs = (double)p->m * (double)p->n * k;
    const double across = (double)size_div_up(p->n, b.columns),
                 down = (double)size_div_up(p->m, b.rows);

    if (p->n < b.columns)
        return matmul_asked(p, outputs, outputs);
    return matmul_asked(p, across * down * (double)b.rows * k,
                        down * across * (double)b.columns * k);
}

static const char *plan_block(const job *j, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const block b = block_of(j, out);
    const char *why = p->trans_b ? "B is transposed, and it reads rows of op(B) as vectors"
                                 : matmul_unsupported_types(j, out);
    command *c;

    why = why ? why : matmul_unsupported_scales(p, out);
    if (why)
        return why;
    matmul_define_operands(p, out);
    matmul_define_rounding(p, out);
    if (p->m == 0 || p->n == 0)
        return NULL;
    c = plan_launch_2d(out, 0, size_div_up(p->m, b.rows), size_div_up(p->n, b.columns), 1, 1);
    matmul_layers(c, matmul_batch(p));
    matmul_arguments(c, p);
    c->traffic.requested = asked_of_blocks(p, b);
    c->flops = j->problem->op->work(j->problem);
    return NULL;
}

const variant matmul_cpu_block = {
    .name = "cpu-block",
    .alias = "item-block",
    .idea = "CPUs: a block of explicit vectors per work-item, no local memory and no barrier",
    .source = "matmul/matmul_cpu_block.cl",
    .entries = {"matmul_cpu_block"},
    .tunables = block_tunables,
    .tunable_count = ARRAY_COUNT(block_tunables),
    .plan = plan_block};

/* ---- panels ------------------------------------------------------------------------------ */

/* cpu-panels has all but the last. */
static const tunable panels_tunables[] = {
    {"ROWS",
     "rows of C in registers: each load of B serves them all; 0: as many as the device has",
     {0, 4, 6, 8, 12},
     0},
    {"VECTORS",
     "vectors of columns in registers: each load of A serves them all; 0: likewise",
     {0, 1, 2, 3, 4},
     0},
    {"BITS", "width of a vector: several registers where they are narrower", {128, 256, 512}, 512},
    {"PANELS", "panels that a work-item copies: A is read less often", {1, 2, 4, 8, 16}, 4, 1},
    {"DEPTH", "rows of a panel: C is added to less often", {16, 64, 256, 512, 1024}, 1024, 16},
    {"SPAN", "extent of k of a part, at least", {8, 64, 256, 1024}, 256, 8},
};

/* How work-items share a product: each computes `rows` x `columns` of C over `span` of k, those at
 * the edges less, in blocks of up to `depth` along k. */
typedef struct share {
    size_t rows, columns, span, depth;
    size_t down, across, parts; /* work-items along m, n and k */
} share;

/* Work-items that keep every core busy. */
static size_t items_wanted(const job *j)
{
    return ITEMS_CORE * size_max(j->device->compute_units, 1);
}

/* Of columns, along which each copies as many panels as it may, and of the rows of `down` of them.
 */
static share share_c(const job *j, block b, size_t across, size_t down)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    share s = {.columns = size_div_up(size_div_up(p->n, b.columns), across) * b.columns,
               .rows = size_round_up(size_div_up(p->m, down), b.rows)};

    s.across = size_div_up(p->n, s.columns);
    s.down = size_div_up(p->m, s.rows);
    return s;
}

/* Of k, in blocks of one size, not full ones and a rest. */
static void share_k(const job *j, size_t parts, share *s)
{
    const size_t k = matmul_k_read(matmul_of(j->problem));

    s->span = size_div_up(k, parts);
    s->parts = k ? size_div_up(k, s->span) : 1;
    s->depth = k ? size_div_up(s->span, size_div_up(s->span, param(j->params, "DEPTH"))) : 0;
}

/* NULL, or why a work-item cannot copy its panels, of B and of A where its rows are not read as
 * they lie. */
static const char *unsupported_panels(const job *j, block b, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t bands = p->trans_a ? 8 : real_rounding(p->type, p->precision) > 0 ? 1 : 0;
    const size_t bytes = (param(j->params, "PANELS") * b.columns + bands * b.rows) *
                         param(j->params, "DEPTH") * matmul_real_size(p);
    const char *why = matmul_unsupported_types(j, out);

    why = why ? why : matmul_unsupported_scales(p, out);
    return why ? why : private_unsupported(j->device, bytes, &out->reason);
}

/* The arguments of the product, into C or with `split` as plain sums into the workspace. */
static void arguments(const tsr_matmul_problem *p, const share *s, bool split, command *c)
{
    matmul_call call = split ? matmul_call_of_parts(p, 1) : matmul_call_of(p);

    call.rows = (uint32_t)s->rows;
    call.columns = (uint32_t)s->columns;
    call.span = (uint32_t)s->span;
    call.depth = (uint32_t)s->depth;
    command_operand(c, MATMUL_A);
    command_operand(c, MATMUL_B);
    if (split)
        command_workspace(c);
    else
        command_operand(c, MATMUL_C);
    matmul_pass(c, p, &call);
}

/* Bytes of one launch: `products` of them.  Each work-item copies its columns of B once, and reads
 * its rows of A for each panel, or copies them too.  What it computes is added to in blocks along
 * k, in C or as parts. */
static double asked_of_panels(const tsr_matmul_problem *p, block b, const share *s, bool split,
                              double products)
{
    const size_t k = matmul_k_read(p), last = k ? k - (s->parts - 1) * s->span : 0;
    const bool copied = p->trans_a || real_rounding(p->type, p->precision) > 0;
    const double blocks = k ? (double)(s->parts - 1) * (double)size_div_up(s->span, s->depth) +
                                  (double)size_div_up(last, s->depth)
                            : (double)s->parts;
    const double of_a =
        copied ? (double)s->across * (double)p->m
               : (double)size_div_up(p->n, b.columns) * (double)size_round_up(p->m, b.rows);
    const double of_b = (double)s->down * (double)p->n;
    /* Each block writes it, and all but the first read what is there; that one too with beta. */
    const double times = 2 * blocks - (double)s->parts + (!split && matmul_reads_c(p) ? 1 : 0);

    return products * ((double)tsr_type_size(p->type) * (of_a + of_b) * (double)k +
                       (double)(split ? matmul_real_size(p) : tsr_type_size(matmul_type_c(p))) *
                           times * (double)p->m * (double)p->n);
}

static const char *plan_panels(const job *j, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const block b = block_of(j, out);
    const size_t across = size_div_up(p->n, b.columns * param(j->params, "PANELS"));
    const char *why = unsupported_panels(j, b, out);
    size_t down;
    share s;
    command *c;

    if (why)
        return why;
    if (tsr_type_size(matmul_type_c(p)) < matmul_real_size(p) &&
        matmul_k_read(p) > param(j->params, "DEPTH"))
        return plan_unsupported(out,
                                "it adds up blocks of %u terms in C, which is %s and would round "
                                "every sum, and k is %zu",
                                param(j->params, "DEPTH"), tsr_type_name(matmul_type_c(p)), p->k);
    matmul_define_operands(p, out);
    matmul_define_rounding(p, out);
    plan_define(out, "SPLIT=0");
    if (p->m == 0 || p->n == 0)
        return NULL;
    down = size_min(size_div_up(items_wanted(j), across * matmul_batch(p)), p->m / ROWS_MIN);
    s = share_c(j, b, across, size_max(down, 1));
    share_k(j, 1, &s);
    c = plan_launch_2d(out, MULTIPLY, s.down, s.across, 1, 1);
    matmul_layers(c, matmul_batch(p));
    arguments(p, &s, false, c);
    c->traffic.requested = asked_of_panels(p, b, &s, false, (double)matmul_batch(p));
    c->flops = j->problem->op->work(j->problem);
    return NULL;
}

const variant matmul_cpu_panels = {
    .name = "cpu-panels",
    .alias = "item-panels",
    .idea = "CPUs: blocks of B copied into panels, whose rows follow one another in the cache",
    .source = "matmul/matmul_cpu_panels.cl",
    .entries = {"matmul_cpu_panels"},
    .tunables = panels_tunables,
    .tunable_count = ARRAY_COUNT(panels_tunables) - 1,
    .plan = plan_panels};

/* Entries behind the product's own. */
static const complex_entries copies = {MULTIPLY + 1, MULTIPLY + 2};

static const char *plan_complex(const job *j, plan *out)
{
    return matmul_plan_as_real(j, plan_panels, copies, out);
}

const variant matmul_complex_panels = {
    .name = "complex-panels",
    .idea = "CPUs: cpu-panels for complex matrices, as a real product of twice the n and k",
    .unstated = "copies complex factors into real ones first, and those copies are not counted",
    .source = "matmul/matmul_complex_panels.cl",
    .entries = {"matmul_cpu_panels", "matmul_complex_left", "matmul_complex_right"},
    .tunables = panels_tunables,
    .tunable_count = ARRAY_COUNT(panels_tunables) - 1,
    .plan = plan_complex};

/* Parts of k make up for work-items that C does not give; products come one after another. */
static const char *plan_split(const job *j, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const block b = block_of(j, out);
    const size_t across = size_div_up(p->n, b.columns * param(j->params, "PANELS"));
    const char *why = unsupported_panels(j, b, out);
    size_t parts;
    share s;

    if (why)
        return why;
    matmul_define_operands(p, out);
    matmul_define_rounding(p, out);
    plan_define(out, "SPLIT=1");
    if (p->m == 0 || p->n == 0)
        return NULL;
    s = share_c(j, b, across, size_div_up(p->m, ROWS_ENOUGH));
    parts = size_min(size_div_up(items_wanted(j), s.across * s.down),
                     matmul_k_read(p) / param(j->params, "SPAN"));
    share_k(j, size_max(parts, 1), &s);
    out->workspace = s.parts * p->m * p->n * matmul_real_size(p);
    for (size_t e = 0; e < matmul_batch(p); e++) {
        const tsr_matmul_problem one = matmul_product(p, e);
        matmul_call call = matmul_call_of(&one);
        command *c = plan_launch_2d(out, MULTIPLY, s.down, s.across, 1, 1);

        matmul_layers(c, s.parts);
        arguments(&one, &s, true, c);
        c->traffic.requested = asked_of_panels(&one, b, &s, true, 1);
        c->flops = j->problem->op->work(j->problem) / (double)matmul_batch(p);
        c = plan_launch_1d(out, SUM, p->m, 1);
        call.parts = (uint32_t)s.parts;
        command_workspace(c);
        command_operand(c, MATMUL_C);
        matmul_pass(c, p, &call);
        c->traffic.requested = (double)out->workspace + matmul_asked(&one, 0, 0);
    }
    return NULL;
}

const variant matmul_cpu_split = {
    .name = "cpu-split",
    .alias = "item-split",
    .idea = "CPUs, small C and long k: work-items take parts of k too, and parts are added up",
    .source = "matmul/matmul_cpu_panels.cl",
    .entries = {"matmul_cpu_panels", "matmul_cpu_panels_sum"},
    .tunables = panels_tunables,
    .tunable_count = ARRAY_COUNT(panels_tunables),
    .plan = plan_split};
