#include "ops/matmul/matmul_panels.h"

#include "base/sizes.h"
#include "core/private_memory.h"
#include "ops/matmul/matmul_registers.h"
#include "ops/matmul/matmul_shape.h"
#include "ops/matmul/matmul_steps.h"

/* Work-items for each core, so that none waits long for another one.  Below ROWS_MIN rows copying
 * a panel costs too much beside using it; from ROWS_ENOUGH on it costs nothing, and parts of k
 * serve better than parts of m. */
enum { ITEMS_CORE = 8, ROWS_MIN = 64, ROWS_ENOUGH = 256 };

/* Bytes that a work-item copies A and B to, as the kernel declares them. */
static size_t private_bytes(const job *j)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const bool rounds = real_rounding(p->type, p->precision) > 0;
    const size_t band = (p->trans_a ? 8 : rounds ? 1 : 0) * matmul_registers_rows(j);

    return (param(j->params, "PANELS") * matmul_registers_columns(j) + band) *
           param(j->params, "DEPTH") * matmul_real_size(matmul_of(j->problem));
}

static size_t items_wanted(const job *j)
{
    return ITEMS_CORE * size_max(j->device->compute_units, 1);
}

/* What both share: columns, and the rows where there are `down` work-items along m. */
static panels_share share(const job *j, size_t across, size_t down)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t panels = size_div_up(p->n, matmul_registers_columns(j));
    panels_share s = {.columns = size_div_up(panels, across) * matmul_registers_columns(j),
                      .rows = size_round_up(size_div_up(p->m, down), matmul_registers_rows(j))};

    s.across = size_div_up(p->n, s.columns);
    s.down = size_div_up(p->m, s.rows);
    return s;
}

/* Work-items along n: each copies as many panels as it may. */
static size_t items_across(const job *j)
{
    return size_div_up(matmul_of(j->problem)->n,
                       matmul_registers_columns(j) * param(j->params, "PANELS"));
}

/* Blocks along k of one size, not full ones and a rest. */
static void cut(const job *j, size_t k, size_t parts, panels_share *s)
{
    s->span = size_div_up(k, parts);
    s->parts = k ? size_div_up(k, s->span) : 1;
    s->depth = k ? size_div_up(s->span, size_div_up(s->span, param(j->params, "DEPTH"))) : 0;
}

panels_share matmul_panels_share(const job *j)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t across = items_across(j);
    const size_t down =
        size_min(size_div_up(items_wanted(j), across * matmul_batch(p)), p->m / ROWS_MIN);
    panels_share s = share(j, across, size_max(down, 1));

    cut(j, matmul_k_read(p), 1, &s);
    return s;
}

panels_share matmul_panels_share_split(const job *j)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    panels_share s = share(j, items_across(j), size_div_up(p->m, ROWS_ENOUGH));
    const size_t parts = size_div_up(items_wanted(j), s.across * s.down);

    cut(j, matmul_k_read(p),
        size_max(size_min(parts, matmul_k_read(p) / param(j->params, "SPAN")), 1), &s);
    return s;
}

static void defines(const job *j, bool split, text *out)
{
    matmul_registers_defines(j, out);
    text_format(out, " -DSPLIT=%d", split);
}

void matmul_panels_defines(const job *j, text *out)
{
    defines(j, false, out);
}

void matmul_panels_defines_split(const job *j, text *out)
{
    defines(j, true, out);
}

/* What both want of a problem. */
const char *matmul_panels_unsupported_split(const job *j, text *reason)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const char *why = matmul_unsupported_indices(p, reason);

    why = why ? why : private_unsupported(j->device, private_bytes(j), reason);
    return why ? why : real_unsupported(p->type, TSR_PRECISION_DEFAULT, j->device, reason);
}

const char *matmul_panels_unsupported(const job *j, text *reason)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const char *why = matmul_panels_unsupported_split(j, reason);

    if (!why && tsr_type_size(matmul_type_c(p)) < matmul_real_size(p) &&
        matmul_k_read(p) > param(j->params, "DEPTH")) {
        text_format(reason, "its %u terms a block are added up in C, which is %s, and k is %zu",
                    param(j->params, "DEPTH"), tsr_type_name(matmul_type_c(p)), p->k);
        return text_get(reason);
    }
    return why;
}

size_t matmul_panels_workspace_split(const job *j)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);

    if (p->m == 0 || p->n == 0)
        return 0;
    return matmul_panels_share_split(j).parts * p->m * p->n * matmul_real_size(p);
}

/* Multiply into C, or with `split` the plain sums into workspace. */
static void multiply(const job *j, const panels_share *s, bool split, command *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);

    command_launch_2d(out, PANELS_MULTIPLY, s->down, s->across, 1, 1);
    matmul_step_layers(out, split ? s->parts : matmul_batch(p));
    command_u32(out, (uint32_t)p->m);
    command_u32(out, (uint32_t)p->n);
    command_u32(out, (uint32_t)matmul_k_read(p));
    command_real(out, p->type, split ? 1 : matmul_alpha(p));
    matmul_step_inputs(out, p);
    command_real(out, p->type, split ? 0 : p->beta);
    if (split)
        command_workspace(out);
    else
        command_operand(out, MATMUL_C);
    command_u64(out, split ? 0 : p->offset_c);
    command_u32(out, (uint32_t)(split ? p->n : matmul_ld_c(p)));
    if (split) {
        command_u64(out, 0);
        command_u64(out, 0);
        command_u64(out, (uint64_t)p->m * p->n);
    } else {
        matmul_step_strides(out, p);
    }
    command_u32(out, (uint32_t)s->rows);
    command_u32(out, (uint32_t)s->columns);
    command_u32(out, (uint32_t)s->span);
    command_u32(out, (uint32_t)s->depth);
}

static void sum(const job *j, const panels_share *s, command *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);

    command_launch_1d(out, PANELS_SUM, p->m, 1);
    command_u32(out, (uint32_t)p->n);
    command_u32(out, (uint32_t)s->parts);
    command_real(out, p->type, matmul_alpha(p));
    command_workspace(out);
    matmul_step_output(out, p);
}

bool matmul_panels_step(const job *j, size_t i, command *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    panels_share s;

    if (i > 0 || p->m == 0 || p->n == 0)
        return false;
    s = matmul_panels_share(j);
    multiply(j, &s, false, out);
    return true;
}

/* Of one product. */
static bool step_split(const job *j, size_t i, command *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    panels_share s;

    if (i > 1 || p->m == 0 || p->n == 0)
        return false;
    s = matmul_panels_share_split(j);
    if (i == 0)
        multiply(j, &s, true, out);
    else
        sum(j, &s, out);
    return true;
}

bool matmul_panels_step_split(const job *j, size_t i, command *out)
{
    return matmul_step_each(j, i, out, step_split);
}
