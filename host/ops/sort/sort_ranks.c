/**
 * Tiles, and each key to its rank among them: cl/sort/sort_ranks.cl.
 */
#include "base/sizes.h"
#include "ops/sort/sort_commands.h"
#include "ops/sort/sort_variants.h"

/* Entries of cl/sort/sort_ranks.cl, in the variants' order. */
enum { RANKS_TILE, RANKS_PLACE };

enum {
    WARP = 32,
    TILES_MAX = 64, /* for each key every tile is searched */
    PLACE_GROUP = 128,
    KEYS_ON_GPU = 8,
    KEYS_ON_CPU = 4, /* its compiler takes long over more */
    TILE_KEYS = 2048,
    FEW_TILES = 8, /* up to so many small tiles, and larger ones of more keys */
};

/* Those of NVIDIA's variant that shuffles have one more, the last. */
static const tunable tunables[] = {
    {"KEYS",
     "keys that a work-item holds of a tile: strides without a hand-over against registers",
     {0, 4, 8, 16, 32},
     0,
     4,
     .cpu_most = 8},
    {"GROUP",
     "work-items that sort a tile: a larger one leaves fewer tiles to search, and sorts longer",
     {0, 8, 64, 128, 256, 512, 1024},
     0,
     8,
     .cpu_most = 8},
    {"WIDTH", "tiles that are searched side by side, against registers", {2, 4, 8}, 4},
    {"LAYOUT", "keys in local memory: 1 plainly, 2 swizzled against bank conflicts", {1, 2}, 2},
    {"SHUFFLES",
     "stages above those in registers that shuffles do, in place of local memory",
     {1, 2, 3, 4, 5},
     5},
};

enum { TUNABLES = ARRAY_COUNT(tunables) - 1, TUNABLES_SHUFFLES = ARRAY_COUNT(tunables) };

/* The scalars of both launches: ranks_call of cl/sort/sort_ranks.cl. */
typedef struct ranks_call {
    uint64_t offset_keys, offset_index, offset_values;
    uint64_t offset_copy;
    uint32_t n;
    uint32_t unused; /* what would be padding: calls are compared by their bytes */
} ranks_call;

_Static_assert(sizeof(ranks_call) == 40, "as OpenCL C lays it out");

/* Where the copy of the values starts in the workspace, in values: behind the sorted tiles. */
static size_t copy_offset(const tsr_sort_problem *s)
{
    return s->value_bytes ? size_div_up(s->n * sort_held_bytes(s), s->value_bytes) : 0;
}

/* Operand 2 are the values; kernels without values get the keys, and leave them alone. */
static void add_values(command *c, const tsr_sort_problem *s)
{
    command_operand(c, s->value_bytes ? 2 : 0);
}

static void add_commands(plan *out, const job *j, size_t tile, size_t group)
{
    const tsr_sort_problem *s = sort_of(j->problem);
    const size_t key = tsr_type_size(s->type), held = sort_held_bytes(s);
    const ranks_call call = {.offset_keys = s->offset_keys,
                             .offset_index = sort_index_offset(s),
                             .offset_values = s->offset_values,
                             .offset_copy = copy_offset(s),
                             .n = (uint32_t)s->n};
    command *c = plan_launch_1d(out, RANKS_TILE, size_div_up(s->n, tile) * group, group);

    command_operand(c, 0);
    add_values(c, s);
    command_workspace(c);
    command_workspace(c);
    command_block(c, &call, sizeof(call));
    sort_step_moves(c, s, s->n, key + held + 2 * s->value_bytes);
    c = sort_launch(out, s, RANKS_PLACE, s->n, group_fit(j->device, 0, PLACE_GROUP));
    command_operand(c, 0);
    command_operand(c, s->argsort ? 1 : 0);
    add_values(c, s);
    command_workspace(c);
    command_workspace(c);
    command_block(c, &call, sizeof(call));
    sort_step_moves(c, s, s->n,
                    held + key + (s->argsort ? sizeof(int64_t) : 0) + 2 * s->value_bytes);
}

static const char *plan_ranks(const job *j, plan *out, uint32_t team, const char *means,
                              bool shuffles)
{
    const tsr_sort_problem *s = sort_of(j->problem);
    const size_t held = sort_held_bytes(s);
    size_t keys = param(j->params, "KEYS"), group = param(j->params, "GROUP"), tile;
    const char *why;

    if (sort_rows(s) > 1)
        return "it sorts one row";
    if ((why = sort_unsupported_positions(s, out)) || (why = sort_unsupported_packed(s)))
        return why;
    if (!keys)
        keys = j->device->kind == DEVICE_CPU ? KEYS_ON_CPU : KEYS_ON_GPU;
    if (!group)
        group = group_fit(j->device, 0, (s->n <= FEW_TILES * TILE_KEYS ? 1 : 2) * TILE_KEYS / keys);
    tile = group * keys;
    if (s->n > TILES_MAX * tile)
        return plan_unsupported(
            out, "it searches all tiles for each key: at most %d of %zu keys, not %zu keys",
            TILES_MAX, tile, s->n);
    if (tile > (size_t)1 << SORT_TILE_SHIFT_MAX)
        return plan_unsupported(out, "its tiles have at most 2^%d keys, not %zu",
                                SORT_TILE_SHIFT_MAX, tile);
    if (group < team)
        return plan_unsupported(out, "it needs whole warps of %d work-items, not %zu", WARP, group);
    why = sort_unsupported_room(j, group, tile * held, j->device->local_memory, out);
    if (why)
        return why;
    plan_set(out, "KEYS", (unsigned)keys);
    plan_set(out, "GROUP", (unsigned)group);
    sort_define_keys(out, s);
    plan_define(out, "ARGSORT=%d", s->argsort);
    sort_define_tile(out, team, means);
    if (!shuffles)
        plan_define(out, "SHUFFLES=0");
    if (sort_is_done(s))
        return NULL;
    out->workspace = s->value_bytes ? (copy_offset(s) + s->n) * s->value_bytes : s->n * held;
    add_commands(out, j, tile, group);
    return NULL;
}

static const char *plan_group(const job *j, plan *out)
{
    return plan_ranks(j, out, 1, "TEAM_NONE", false);
}

static const char *plan_shfl(const job *j, plan *out)
{
    return plan_ranks(j, out, WARP, "TEAM_SHFL", true);
}

const variant sort_ranks = {
    .name = "ranks",
    .idea = "two launches: sorted tiles, then every key to its rank in all of them at once",
    .source = "sort/sort_ranks.cl",
    .entries = {"sort_ranks_tile", "sort_ranks_place"},
    .build = "",
    .tunables = tunables,
    .tunable_count = TUNABLES,
    .plan = plan_group,
};

const variant sort_ranks_shfl = {
    .name = "ranks-shfl",
    .idea = "within a warp, keys of a tile change hands from register to register",
    .source = "sort/sort_ranks.cl",
    .entries = {"sort_ranks_tile", "sort_ranks_place"},
    .build = "",
    .needs = 1u << FEATURE_PTX,
    .tunables = tunables,
    .tunable_count = TUNABLES_SHUFFLES,
    .plan = plan_shfl,
};
