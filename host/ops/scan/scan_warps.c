/* Scans of tiles in registers, whose warps look back: NVIDIA's. */
#include "base/elements.h"
#include "base/sizes.h"
#include "core/groups.h"
#include "core/warp_look_back.h"
#include "ops/scan/scan_problem.h"

/* Sums of integers into wider ones, of which work-items keep the elements as they are. */
static bool widened(const tsr_scan_problem *p)
{
    const tsr_type result = tsr_scan_result_type(p);

    return p->by == TSR_SCAN_SUM && !type_is_real(result) &&
           tsr_type_size(p->type) < tsr_type_size(result);
}

/* Elements of a vector: four, and two of 64 bits, for which the loads of a warp leave no gaps. */
static size_t vector_of(const tsr_scan_problem *p)
{
    return tsr_type_size(p->type) == 8 ? 2 : 4;
}

enum { GROUP_GPU = 256, VECTORS_MAX = 8, VECTORS_SHORT = 4 };

/* Of wider sums more vectors leave too few work-groups side by side. */
static size_t vectors_max(const tsr_scan_problem *p)
{
    return widened(p) ? VECTORS_SHORT : VECTORS_MAX;
}

/* Least tiles for each compute unit that VECTORS_MAX needs with vectors of four elements
 * (TILES_PER_UNIT); most units for each tile with vectors of two (UNITS_PER_TILE_OF_TWO), and
 * before fewer vectors than VECTORS_SHORT are taken (UNITS_PER_TILE): looking back over more tiles
 * costs more than idle units. */
enum { TILES_PER_UNIT = 4, UNITS_PER_TILE_OF_TWO = 2, UNITS_PER_TILE = 4 };

/* What a work-item needs beside its elements, in registers of 32 bits. */
enum { REGISTERS_BESIDE = 32 };

/* As scan_warps.cl has it. */
typedef struct warps_call {
    uint64_t n, rows, tiles, blocks, from, to, blocks_at;
} warps_call;

/* As many vectors as still leave the compute units some tiles, and no more than a line has. */
static size_t usual_vectors(const job *j, size_t group)
{
    const tsr_scan_problem *p = scan_of(j->problem);
    const size_t vec = vector_of(p);
    const size_t units = size_max(j->device->compute_units, 1);
    size_t vectors = 1;

    /* A single tile has none to look back over, and no states that a launch clears. */
    while (vectors < vectors_max(p) && group * vec * vectors < p->n)
        vectors *= 2;
    if (group * vec * vectors >= p->n)
        return vectors;
    while (vectors > 1) {
        const size_t tiles = scan_elements(p) / (group * vec * vectors);
        const size_t wanted = vectors <= VECTORS_SHORT ? units / UNITS_PER_TILE
                              : vec > 2                ? units * TILES_PER_UNIT
                                                       : units / UNITS_PER_TILE_OF_TWO;

        if (tiles >= wanted && p->n > group * vec * vectors / 2)
            break;
        vectors /= 2;
    }
    return vectors;
}

static const char *plan_warps(const job *j, plan *out)
{
    const tsr_scan_problem *p = scan_of(j->problem);
    const size_t group = group_fit(j->device, 0, param(j->params, "GROUP"));
    const size_t given = param(j->params, "VECTORS"), vec = vector_of(p);
    const size_t vectors = given ? given : usual_vectors(j, group), tile = group * vectors * vec;
    const size_t words = scan_value_bytes(p) > 4 ? 2 : 1;
    const bool from_multiples = p->offset_x % vec == 0 && p->offset_result % vec == 0;
    const bool rows_of_multiples = p->n % vec == 0 || (scan_outer(p) == 1 && !p->reverse);
    warps_call call = {.n = p->n,
                       .rows = scan_outer(p),
                       .tiles = size_div_up(p->n, tile),
                       .from = p->offset_x,
                       .to = p->offset_result};
    const char *why = scan_define(j, out);
    size_t tiles;
    command *c;

    if (why)
        return why;
    if ((why = look_back_unsupported(j->device, group)))
        return why;
    if (scan_inner(p) > 1)
        return "it scans lines whose elements are side by side, not columns";
    if (p->segments)
        return "it scans lines without segments";
    plan_set(out, "GROUP", (uint32_t)group);
    plan_set(out, "VECTORS", (uint32_t)vectors);
    look_back_registers(j, group,
                        vectors * (widened(p) ? vec + words : vec * words) + REGISTERS_BESIDE, out);
    look_back_ahead(j, tile * tsr_type_size(p->type), out);
    plan_define(out, "VEC=%zu", vec);
    plan_define(out, "WIDENED=%d", widened(p));
    plan_define(out, "ALIGNED=%d", from_multiples && rows_of_multiples);
    plan_define(out, "STATE_WORDS=%zu", words);
    if (p->by != TSR_SCAN_SUM && type_is_real(p->type) && p->type != TSR_F64)
        plan_define_nan_extremes(j->device, out);
    if (scan_elements(p) == 0)
        return NULL;
    tiles = call.rows * call.tiles;
    if (tiles > UINT32_MAX - 1)
        return plan_unsupported(out, "it numbers tiles in 32 bits: at most %u, not %zu",
                                UINT32_MAX - 1, tiles);
    if (call.tiles > 1) { /* else no tile looks back */
        const look_back_states at = look_back_states_of(call.rows, call.tiles, words);

        call.blocks = at.blocks;
        call.blocks_at = at.blocks_at;
        out->workspace = at.end * sizeof(uint64_t);
        plan_fill(out, ARG_WORKSPACE, 0, 0, out->workspace, 0);
    }
    c = plan_launch_1d(out, 0, tiles * group, group);
    command_operand(c, SCAN_X);
    command_operand(c, SCAN_RESULT);
    command_workspace(c);
    command_block(c, &call, sizeof(call));
    c->bytes = j->problem->op->bytes(j->problem) + 2 * (double)out->workspace;
    return NULL;
}

static const tunable tunables[] = {
    {"GROUP", "work-items in a work-group", {64, 128, 256, 512}, GROUP_GPU, 64},
    {"VECTORS",
     "vectors of four elements that a work-item keeps in registers: fewer tiles to look back over "
     "against work-groups side by side; 0: by the size",
     {0, 1, 2, 4, 8, 16},
     0,
     1},
    LOOK_BACK_REGISTERS,
    LOOK_BACK_AHEAD,
};

const variant scan_warps = {
    .name = "warps",
    .idea = "elements in registers, scanned by shuffles; a warp looks back over many tiles at once",
    .answers = 1u << CAUSE_BYTES | 1u << CAUSE_ACCESS | 1u << CAUSE_BARRIERS,
    .unstated = "reads again what earlier tiles publish, as long as it is not there",
    .source = "scan/scan_warps.cl",
    .entries = {"scan_warps"},
    .build = "",
    .needs = 1u << FEATURE_PTX,
    .tunables = tunables,
    .tunable_count = ARRAY_COUNT(tunables),
    .plan = plan_warps,
};
