#include "ops/matvec/matvec_plan.h"

#include <assert.h>

#include "base/sizes.h"
#include "core/groups.h"
#include "core/last_group.h"

enum { PARTS_MAX = 65535 };

size_t matvec_group(const job *j, plan *out)
{
    const size_t local = group_fit(j->device, 0, param(j->params, "GROUP"));

    plan_set(out, "GROUP", (uint32_t)local);
    return local;
}

/* ---- reasons ----------------------------------------------------------------------------- */

const char *matvec_unsupported_portable(const job *j, plan *out)
{
    const tsr_matvec_problem *p = matvec_of(j->problem);

    if (matvec_batch(p) <= MATVEC_INDEX_MAX)
        return real_unsupported(p->type, p->precision, j->device, &out->reason);
    return plan_unsupported(out, "it counts up to %d products, the problem has %zu",
                            MATVEC_INDEX_MAX, matvec_batch(p));
}

const char *matvec_unsupported_rows(const job *j, plan *out)
{
    const matvec_view v = matvec_view_of(matvec_of(j->problem));
    const char *why = matvec_unsupported_portable(j, out);

    if (why || (v.rows <= MATVEC_INDEX_MAX && v.columns <= MATVEC_INDEX_MAX))
        return why;
    return plan_unsupported(out, "it counts up to %d rows and columns, the problem has %zu and %zu",
                            MATVEC_INDEX_MAX, v.rows, v.columns);
}

const char *matvec_unsupported_team(const job *j, size_t team, size_t local, plan *out)
{
    if (team > param(j->params, "GROUP"))
        return plan_unsupported(out, "TEAM=%zu exceeds GROUP=%u", team, param(j->params, "GROUP"));
    if (team > local)
        return plan_unsupported(out, "TEAM=%zu exceeds the device's work-groups of %zu", team,
                                group_limit(j->device, 0));
    return NULL;
}

const char *matvec_unsupported_local(const job *j, size_t numbers, plan *out)
{
    return plan_unsupported_local(out, numbers * matvec_real_size(matvec_of(j->problem)),
                                  j->device->local_memory);
}

/* ---- -Ds --------------------------------------------------------------------------------- */

void matvec_define_operands(const job *j, size_t local, plan *out)
{
    const tsr_matvec_problem *p = matvec_of(j->problem);

    assert(p->layout == TSR_ROW_MAJOR && "column-major problems are normalized");
    real_defines_elements(p->type, matvec_type_y(p), &out->defines);
    plan_define(out, "TRANS=%d", p->trans);
    plan_define(out, "STRIDED=%d", matvec_incx(p) != 1 || matvec_incy(p) != 1);
    plan_define(out, "LOCAL=%zu", local);
}

size_t matvec_load_elements(const tsr_matvec_problem *p)
{
    return 16 / tsr_type_size(p->type);
}

bool matvec_aligned(const job *j, const view *lines, size_t elements)
{
    return j->device->kind != DEVICE_CPU && view_starts_at(lines, elements);
}

bool matvec_vectors_aligned(const job *j, size_t elements)
{
    const tsr_matvec_problem *p = matvec_of(j->problem);
    const view a = matvec_a(p), x = matvec_x(p);

    return matvec_aligned(j, &a, elements) &&
           (matvec_incx(p) != 1 || matvec_aligned(j, &x, elements));
}

void matvec_define_vectors(const job *j, size_t elements, plan *out)
{
    plan_define(out, "VEC=%zu", elements);
    plan_define(out, "ALIGNED=%d", matvec_vectors_aligned(j, elements));
}

void matvec_define_vectors_of_a(const job *j, bool flat, plan *out)
{
    const tsr_matvec_problem *p = matvec_of(j->problem);
    const size_t elements = matvec_load_elements(p);
    view a = matvec_a(p);

    if (flat)
        a.lines = 1; /* only the first one has to start at a vector */
    plan_define(out, "VEC=%zu", elements);
    plan_define(out, "ALIGNED=%d", matvec_aligned(j, &a, elements));
}

/* ---- commands ---------------------------------------------------------------------------- */

matvec_call matvec_call_of(const job *j)
{
    const tsr_matvec_problem *p = matvec_of(j->problem);
    const matvec_view v = matvec_view_of(p);
    matvec_call c = {.rows = v.rows,
                     .columns = v.columns,
                     .lda = matvec_lda(p),
                     .offset_a = p->offset_a,
                     .offset_x = p->offset_x,
                     .offset_y = p->offset_y,
                     .incx = matvec_incx(p),
                     .incy = matvec_incy(p),
                     .stride_a = matvec_a(p).stride,
                     .stride_x = matvec_x(p).stride,
                     .stride_y = matvec_y(p).stride,
                     .parts = 1};

    if (p->type == TSR_F64) {
        c.scale.f64[0] = v.alpha;
        c.scale.f64[1] = v.beta;
    } else {
        c.scale.f32[0] = (float)v.alpha;
        c.scale.f32[1] = (float)v.beta;
    }
    return c;
}

/* A launch of `groups` groups for each product. */
static command *launch(const job *j, unsigned entry, size_t groups, size_t local, plan *out)
{
    const size_t batch = matvec_batch(matvec_of(j->problem));

    return batch > 1 ? plan_launch_2d(out, entry, groups * local, batch, local, 1)
                     : plan_launch_1d(out, entry, groups * local, local);
}

/* The last argument of every kernel. */
static void pass_call(const job *j, const matvec_call *call, command *c)
{
    const bool wide = matvec_of(j->problem)->type == TSR_F64;

    command_block(c, call,
                  offsetof(matvec_call, scale) +
                      (wide ? sizeof(call->scale.f64) : sizeof(call->scale.f32)));
}

double matvec_asked(const job *j, double of_a, double of_x)
{
    const tsr_matvec_problem *p = matvec_of(j->problem);
    const matvec_view v = matvec_view_of(p);
    const double of_y = (double)tsr_type_size(matvec_type_y(p)) * (v.beta != 0 ? 2 : 1);

    return (double)matvec_batch(p) *
           ((double)tsr_type_size(p->type) * (of_a + of_x) + of_y * (double)v.rows);
}

double matvec_asked_in_pairs(const job *j)
{
    const matvec_view v = matvec_view_of(matvec_of(j->problem));
    const double elements = (double)v.rows * (double)v.columns;

    return matvec_asked(j, elements, elements);
}

command *matvec_launch(const job *j, size_t groups, size_t local, const matvec_call *call,
                       plan *out)
{
    command *c;

    if (call->rows == 0)
        return NULL;
    c = launch(j, 0, groups, local, out);
    command_operand(c, MATVEC_A);
    command_operand(c, MATVEC_X);
    command_operand(c, MATVEC_Y);
    pass_call(j, call, c);
    c->flops = j->problem->op->work(j->problem);
    return c;
}

command *matvec_launch_rows(const job *j, size_t rows, size_t local, plan *out)
{
    const matvec_call call = matvec_call_of(j);

    return matvec_launch(j, size_div_up(call.rows, rows), local, &call, out);
}

/* ---- A without gaps ---------------------------------------------------------------------- */

matvec_flat matvec_flat_of(const tsr_matvec_problem *p, size_t local)
{
    const size_t columns = size_max(matvec_line_length(p), 1), vec = matvec_load_elements(p);
    const size_t gcd = size_min(vec, columns & -columns); /* VEC is a power of two */
    matvec_flat f = {.cycle = columns / gcd, .terms = vec / gcd};

    f.items = local / f.cycle * f.cycle;
    f.lines = f.items * vec / columns;
    return f;
}

const char *matvec_unsupported_flat(const job *j, const matvec_flat *f, size_t local, plan *out)
{
    const tsr_matvec_problem *p = matvec_of(j->problem);

    if (!matvec_is_flat(p))
        return plan_unsupported(
            out, "it reads A as one array, and lda %zu leaves gaps between %zu columns",
            matvec_lda(p), matvec_line_length(p));
    if (f->items == 0)
        return plan_unsupported(out,
                                "%zu columns of A repeat their places in vectors after %zu "
                                "vectors, and a work-group has %zu",
                                matvec_line_length(p), f->cycle, local);
    return NULL;
}

/* ---- columns cut into parts ---------------------------------------------------------------- */

size_t matvec_groups_wanted(const job *j, size_t each)
{
    const size_t groups = size_max(j->device->compute_units, 1) * each;

    return size_div_up(groups, matvec_batch(matvec_of(j->problem)));
}

size_t matvec_tiles(const job *j, size_t rows)
{
    return size_div_up(matvec_view_of(matvec_of(j->problem)).rows, rows);
}

matvec_cut matvec_cut_into(const job *j, size_t local, size_t rows, size_t parts, size_t least,
                           size_t at_once)
{
    const matvec_view v = matvec_view_of(matvec_of(j->problem));
    const size_t most = MATVEC_INDEX_MAX / at_once * at_once;
    matvec_cut c = {.local = local, .rows = rows, .tiles = matvec_tiles(j, rows)};

    c.parts = size_min(parts, size_min(size_div_up(v.columns, least), PARTS_MAX));
    c.parts = size_max(c.parts, size_max(size_div_up(v.columns, most), 1));
    c.chunk = size_max(size_round_up(size_div_up(v.columns, c.parts), at_once), 1);
    c.parts = size_max(size_div_up(v.columns, c.chunk), 1);
    c.adders = size_min(v.rows, c.tiles);
    if (local == 1) /* a group of one work-item costs as much as many rows */
        c.adders =
            size_min(v.rows, matvec_groups_wanted(j, size_max(param(j->params, "PER_UNIT"), 1)));
    return c;
}

/* Bytes for the sums of all parts; false on overflow. */
static bool sums_of(const job *j, const matvec_cut *c, size_t *out)
{
    const tsr_matvec_problem *p = matvec_of(j->problem);

    *out = 0;
    return c->parts == 1 ||
           (size_mul(matvec_view_of(p).rows, c->parts, out) &&
            size_mul(*out, matvec_batch(p), out) && size_mul(*out, matvec_real_size(p), out));
}

const char *matvec_unsupported_cut(const job *j, const matvec_cut *c, plan *out)
{
    const size_t rows = matvec_view_of(matvec_of(j->problem)).rows;
    size_t groups, bytes;

    if (rows <= MATVEC_INDEX_MAX && c->parts <= PARTS_MAX &&
        size_mul(c->tiles, c->parts, &groups) && groups <= MATVEC_INDEX_MAX &&
        sums_of(j, c, &bytes))
        return matvec_unsupported_local(j, c->local, out);
    return plan_unsupported(out,
                            "it counts up to %d rows and groups, the problem has %zu in %zu parts",
                            MATVEC_INDEX_MAX, rows, c->parts);
}

/* What groups do that add up the parts of `count` rows, `groups` of them: add_parts of
 * cl/matvec/matvec_parts.clh. */
static void state_adding(size_t count, double groups, size_t local, double real, command_traffic *t)
{
    enum { BY_VECTORS = 64 }; /* rows that a work-item alone adds up without local memory */
    const size_t rows = local == 1 ? count % BY_VECTORS : count;
    const size_t together = size_min(size_power_of_2_up(size_max(rows, 1)), local);
    const size_t lanes = local / together;
    const double rounds = (double)size_div_up(rows, together);

    t->local += groups * rounds * real * matvec_tree_accesses(local, together);
    t->barriers += rounds * (size_log2_up(lanes) + 1.0);
}

/* Commands s, and `adding` unless the last group of each tile adds up. */
static void state_cut(const job *j, const matvec_cut *c, command *s, command *adding)
{
    const tsr_matvec_problem *p = matvec_of(j->problem);
    const size_t rows = matvec_view_of(p).rows, left = rows - (c->tiles - 1) * c->rows;
    const double batch = (double)matvec_batch(p), real = (double)matvec_real_size(p);
    const double groups = batch * (double)(c->tiles * c->parts);
    const double parts = batch * (double)rows * (double)c->parts * real;
    command_traffic *t = &s->traffic;

    t->requested = c->parts == 1
                       ? matvec_asked(j, c->of_a, c->of_x)
                       : batch * (double)tsr_type_size(p->type) * (c->of_a + c->of_x) + parts;
    t->local = batch * c->sums * real;
    t->barriers = c->barriers;
    if (c->parts == 1)
        return;
    if (!adding) {
        /* Each group counts itself, and all its work-items read whether it was the last, which
         * reads what all wrote; its barriers are those of one group in `parts`. */
        command_traffic last = {0};

        state_adding(c->rows, batch * (double)(c->tiles - 1), c->local, real, &last);
        last.barriers = 0;
        state_adding(left, batch, c->local, real, &last);
        t->requested += parts + matvec_asked(j, 0, 0) +
                        (double)sizeof(uint32_t) * (2 * groups + batch * (double)c->tiles);
        t->local += last.local + (double)sizeof(uint32_t) * groups * ((double)c->local + 2);
        t->barriers += 3 + last.barriers / (double)c->parts;
        return;
    }
    adding->traffic.requested = parts + matvec_asked(j, 0, 0);
    {
        const size_t more = rows % c->adders; /* groups of one row more than the others */
        command_traffic few = {0}, many = {0};

        state_adding(rows / c->adders, batch * (double)(c->adders - more), c->local, real, &few);
        state_adding(rows / c->adders + 1, batch * (double)more, c->local, real, &many);
        adding->traffic.local = few.local + many.local;
        adding->traffic.barriers =
            few.barriers + (many.barriers - few.barriers) * (double)more / (double)c->adders;
    }
}

void matvec_plan_cut(const job *j, const matvec_cut *c, plan *out)
{
    matvec_call call = matvec_call_of(j);
    size_t tiles = 0;
    const bool counted = size_mul(c->tiles, matvec_batch(matvec_of(j->problem)), &tiles);
    const last_group last = last_group_for(j->device, c->parts > 1 && counted, tiles);
    command *s;

    matvec_define_operands(j, c->local, out);
    last_group_defines(j->device, last, &out->defines);
    sums_of(j, c, &out->workspace); /* checked by matvec_unsupported_cut */
    if (call.rows == 0)
        return;
    call.parts = (uint32_t)c->parts;
    call.chunk = (uint32_t)c->chunk;
    call.tile = (uint32_t)c->rows;
    s = launch(j, 0, c->tiles * c->parts, c->local, out);
    command_operand(s, MATVEC_A);
    command_operand(s, MATVEC_X);
    command_operand(s, MATVEC_Y);
    command_workspace(s);
    command_group_counters(s, last != LAST_GROUP_NONE);
    pass_call(j, &call, s);
    s->flops = j->problem->op->work(j->problem);
    if (c->parts == 1 || last) {
        if (c->stated)
            state_cut(j, c, s, NULL);
        return;
    }
    s = launch(j, 1, c->adders, c->local, out);
    command_workspace(s);
    command_operand(s, MATVEC_Y);
    pass_call(j, &call, s);
    if (c->stated && !out->failed) /* else there is none before it */
        state_cut(j, c, s - 1, s);
}
