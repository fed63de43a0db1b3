#include "ops/matmul/matmul_shares.h"

#include <math.h>

#include "base/sizes.h"
#include "core/last_group.h"
#include "ops/matmul/matmul_plan.h"

/* Groups on a unit that are thought of; outputs of tiles of which registers hold two at most. */
enum { RESIDENT_MAX = 8, PAIRED_OUTPUTS_MIN = 128 * 128 };

static shares shares_of(const job *j, const share_tile *t, size_t groups, bool streams)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    shares s = {.tiles = size_div_up(p->m, t->rows) * size_div_up(p->n, t->columns) *
                         size_max(t->products, 1),
                .each = size_max(size_div_up(matmul_k_read(p), t->depth), 1),
                .streams = streams};

    /* A step each at least. */
    s.groups = size_max(size_min(streams ? groups : groups * s.tiles, s.tiles * s.each), 1);
    return s;
}

shares matmul_share_as_set(const job *j, const share_tile *t, uint32_t split, uint32_t per_unit)
{
    return split ? shares_of(j, t, split, false)
                 : shares_of(j, t, per_unit * matmul_units(j), true);
}

size_t matmul_unshared(const shares *s)
{
    if (s->tiles < s->groups)
        return 0;
    return s->tiles % s->groups ? s->tiles - s->groups - s->tiles % s->groups : s->tiles;
}

bool matmul_is_shared(const shares *s)
{
    return matmul_unshared(s) < s->tiles;
}

size_t matmul_pieces(const shares *s)
{
    const size_t shared = s->tiles - matmul_unshared(s);
    size_t count = s->tiles;

    /* One more for each group that begins within a tile. */
    for (size_t g = 1; shared && g < s->groups; g++)
        count += shared * s->each * g / s->groups % s->each != 0;
    return count;
}

size_t matmul_shares_workspace(const job *j, const shares *s, const share_tile *t)
{
    const size_t real = matmul_real_size(matmul_of(j->problem));

    return matmul_is_shared(s) ? 2 * s->groups * t->rows * t->columns * real : 0;
}

/* Groups on the unit that has most of them share it, as many as fit side by side, in turns. */
double matmul_share_time(const job *j, const share_tile *t, const share_costs *costs,
                         const shares *s)
{
    const double pieces = s->tiles > s->groups ? (double)s->tiles / (double)s->groups : 1;
    const double steps = (double)s->tiles * (double)s->each / (double)s->groups + t->begin * pieces;
    const double work = (double)t->rows * t->columns * t->depth * steps;
    const double rounds = (double)size_div_up(s->groups, matmul_units(j));
    /* Where registers hold two groups they end together, for some rounds, and their unit begins the
     * next two: 390 tiles of 128 x 128 take as long on 132 units as four rounds, not three. */
    const bool in_pairs =
        t->resident == 2 && t->rows * t->columns >= PAIRED_OUTPUTS_MIN && rounds > 2 && rounds < 8;
    const double most = in_pairs ? 2 * ceil(rounds / 2) : rounds;
    const double beside = most < t->resident ? most : t->resident;
    const double rate = t->resident == 1 ? t->full
                                         : t->alone + (t->full - t->alone) * (beside - 1) /
                                                          (double)(t->resident - 1);
    double ns = costs->start + most * work / rate;

    if (s->tiles % s->groups)
        ns += costs->add_up + costs->add_part * (double)s->groups / (double)s->tiles +
              2.0 * (double)s->groups * t->rows * t->columns * sizeof(float) / costs->bytes_ns;
    return ns;
}

shares matmul_share(const job *j, const share_tile *t, const share_costs *costs, double *ns)
{
    static const size_t parts[] = {2, 3, 4, 6, 8, 12, 16};
    shares tried[ARRAY_COUNT(parts) + RESIDENT_MAX];
    shares best = shares_of(j, t, 1, false);
    size_t count = 0;

    *ns = matmul_share_time(j, t, costs, &best);
    for (size_t i = 0; i < ARRAY_COUNT(parts); i++)
        tried[count++] = shares_of(j, t, parts[i], false);
    for (size_t each = 1; each <= size_min(t->resident, RESIDENT_MAX); each++)
        tried[count++] = shares_of(j, t, each * matmul_units(j), true);
    for (size_t i = 0; i < count && best.tiles; i++) {
        const double other = matmul_share_time(j, t, costs, &tried[i]);

        if (other < *ns) {
            *ns = other;
            best = tried[i];
        }
    }
    return best;
}

bool matmul_can_share(const job *j, const shares *s, const share_tile *t)
{
    return s->tiles - matmul_unshared(s) <= GROUP_COUNTERS_MAX &&
           matmul_shares_workspace(j, s, t) <= j->device->max_allocation;
}

const char *matmul_unsupported_shares(const job *j, const shares *s, plan *out)
{
    const size_t shared = s->tiles - matmul_unshared(s);

    if (last_group_of(j->device) == LAST_GROUP_NONE)
        return "the device has no atomic operations that order what work-groups write";
    if (shared > GROUP_COUNTERS_MAX)
        return plan_unsupported(out,
                                "its work-groups share %zu tiles, and there are counters for %d",
                                shared, (int)GROUP_COUNTERS_MAX);
    return NULL;
}

void matmul_set_shares(const job *j, const shares *s, plan *out)
{
    plan_set(out, "SPLIT", s->streams ? 0 : (uint32_t)(s->groups / size_max(s->tiles, 1)));
    plan_set(out, "PER_UNIT", s->streams ? (uint32_t)size_div_up(s->groups, matmul_units(j)) : 0);
}
