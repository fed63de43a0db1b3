/* The kernels: the ladder, of one matrix of elements of four bytes, and those that take all. */
#include "base/sizes.h"
#include "core/groups.h"
#include "ops/transpose/transpose_problem.h"

/* Work-items of a group, rows of which a tile's are shared by. */
enum { GROUP_GPU = 256, GROUP_CPU = 32, GROUP_FEW = 1024, GROUP_UNALIGNED = 128 };

static const char *not_in_place = "it does not transpose in place";

/* ---- the ladder ---------------------------------------------------------------------------- */

static const char *ladder_unsupported(const job *j, plan *out)
{
    const tsr_transpose_problem *p = transpose_of(j->problem);
    const view a = transpose_view(p, TRANSPOSE_A), b = transpose_view(p, TRANSPOSE_B);

    if (p->in_place)
        return not_in_place;
    if (transpose_bytes(p) != 4)
        return plan_unsupported(out, "it takes elements of 4 bytes, not of %zu",
                                transpose_bytes(p));
    if (transpose_batch(p) > 1)
        return "it takes one matrix, not a batch";
    if (!view_contiguous(&a) || !view_contiguous(&b))
        return "it takes rows without gaps";
    return NULL;
}

static void ladder_arguments(const job *j, command *c)
{
    const tsr_transpose_problem *p = transpose_of(j->problem);

    command_u64(c, p->rows);
    command_u64(c, p->columns);
    command_operand(c, TRANSPOSE_A);
    command_u64(c, p->offset_a);
    command_operand(c, TRANSPOSE_B);
    command_u64(c, p->offset_b);
    c->bytes = c->traffic.requested = j->problem->op->bytes(j->problem);
}

/* Each element is written to the tile, and read from it. */
static void state_tile(command *c)
{
    c->traffic.local = c->traffic.requested;
    c->traffic.barriers = 1;
}

/* One launch of enough groups of wide x high work-items, each of which is `tile_high` elements
 * down, over a plane of across x down elements; through a tile where that is more than `high`. */
static const char *launch_plane(const job *j, size_t across, size_t down, size_t wide, size_t high,
                                size_t tile_high, plan *out)
{
    const size_t groups = size_div_up(down, tile_high);
    const char *why = ladder_unsupported(j, out);
    command *c;

    if (why)
        return why;
    if (groups > GROUPS_DOWN_MAX)
        return plan_unsupported(out,
                                "it takes up to %d work-groups down a matrix, and this one has %zu",
                                (int)GROUPS_DOWN_MAX, groups);
    if (!across || !down)
        return NULL;
    c = plan_launch_2d(out, 0, size_round_up(across, wide), groups * high, wide, high);
    ladder_arguments(j, c);
    c->traffic.busy =
        (double)across * (double)down / ((double)c->global[0] * (double)groups * (double)tile_high);
    if (tile_high > high)
        state_tile(c);
    return NULL;
}

static const tunable naive_tunables[] = {
    {"GROUP_X",
     "work-items across a work-group, of 256 in all: more read or write longer stretches of a row",
     {8, 32, 64},
     32,
     8,
     .host_only = true}};

static const char *plan_naive(const job *j, size_t across, size_t down, plan *out)
{
    const size_t wide = group_fit(j->device, 0, param(j->params, "GROUP_X"));
    const size_t most = size_min(size_max(j->device->max_work_group / wide, 1), GROUP_GPU / wide);
    const size_t high = group_fit(j->device, 1, most);

    return launch_plane(j, across, down, wide, high, high, out);
}

static const char *read_coalesced_plan(const job *j, plan *out)
{
    const tsr_transpose_problem *p = transpose_of(j->problem);

    return plan_naive(j, p->columns, p->rows, out);
}

static const char *write_coalesced_plan(const job *j, plan *out)
{
    const tsr_transpose_problem *p = transpose_of(j->problem);

    return plan_naive(j, p->rows, p->columns, out);
}

const variant transpose_read_coalesced = {
    .name = "read-coalesced",
    .idea = "a work-item for each element; neighbours read a row of A and write a column of B",
    .source = "transpose/transpose_read_coalesced.cl",
    .entries = {"transpose_read_coalesced"},
    .build = "",
    .tunables = naive_tunables,
    .tunable_count = ARRAY_COUNT(naive_tunables),
    .plan = read_coalesced_plan};

const variant transpose_write_coalesced = {
    .name = "write-coalesced",
    .idea = "the same from B's side; neighbours read a column of A and write a row of B",
    .source = "transpose/transpose_write_coalesced.cl",
    .entries = {"transpose_write_coalesced"},
    .build = "",
    .tunables = naive_tunables,
    .tunable_count = ARRAY_COUNT(naive_tunables),
    .plan = write_coalesced_plan};

#define ITEMS_MEANING                                                                              \
    "rows of work-items, which take the tile's rows in turns: fewer have more loads each"

static const tunable tile_tunables[] = {
    {"TILE", "rows and columns of a tile", {16, 32}, 32, 16},
    {"ITEMS", ITEMS_MEANING, {4, 8}, 8, 4},
};

/* NULL, or that the device does not take such groups and tiles. */
static const char *tiles_unsupported(const job *j, size_t items, size_t bytes, plan *out)
{
    if (items > group_limit(j->device, 0) || items > j->device->max_work_group)
        return plan_unsupported(out, "it needs work-groups of %zu, the device takes %zu", items,
                                group_limit(j->device, 0));
    return plan_unsupported_local(out, bytes, j->device->local_memory);
}

static const char *tile_plan(const job *j, plan *out)
{
    const tsr_transpose_problem *p = transpose_of(j->problem);
    const size_t tile = param(j->params, "TILE"), items = param(j->params, "ITEMS");
    const char *why = tiles_unsupported(j, tile * items, tile * (tile + 1) * sizeof(float), out);

    return why ? why : launch_plane(j, p->columns, p->rows, tile, items, tile, out);
}

const variant transpose_tile = {
    .name = "tile",
    .idea = "a tile is transposed in local memory, so that rows are both read and written",
    .answers = 1u << CAUSE_ACCESS,
    .source = "transpose/transpose_tile.cl",
    .entries = {"transpose_tile"},
    .build = "",
    .tunables = tile_tunables,
    .tunable_count = ARRAY_COUNT(tile_tunables),
    .plan = tile_plan};

const variant transpose_padded = {
    .name = "padded",
    .idea = "the tile's rows are one longer, so that a column is in all banks of local memory",
    .answers = 1u << CAUSE_LOCAL | 1u << CAUSE_ACCESS,
    .source = "transpose/transpose_padded.cl",
    .entries = {"transpose_padded"},
    .build = "",
    .tunables = tile_tunables,
    .tunable_count = ARRAY_COUNT(tile_tunables),
    .plan = tile_plan};

const variant transpose_swizzle = {
    .name = "swizzle",
    .idea = "column XOR row in place of padding: all banks, and no memory to spare",
    .answers = 1u << CAUSE_LOCAL | 1u << CAUSE_ACCESS,
    .source = "transpose/transpose_swizzle.cl",
    .entries = {"transpose_swizzle"},
    .build = "",
    .tunables = tile_tunables,
    .tunable_count = ARRAY_COUNT(tile_tunables),
    .plan = tile_plan};

/* NULL, or that kernels, which number tiles in 32 bits, do not take so many. */
static const char *too_many_tiles(size_t tiles, plan *out)
{
    return tiles > UINT32_MAX
               ? plan_unsupported(out, "it numbers tiles in 32 bits: at most %u, not %zu",
                                  UINT32_MAX, tiles)
               : NULL;
}

static const tunable vector_tunables[] = {{"ITEMS", ITEMS_MEANING, {4, 8, 16}, 16, 4}};

enum { VECTOR_TILE = 64, VECTOR = 4 };

static const char *vector_plan(const job *j, plan *out)
{
    const tsr_transpose_problem *p = transpose_of(j->problem);
    const size_t group = VECTOR_TILE / VECTOR * (size_t)param(j->params, "ITEMS");
    const bool starts = p->rows % VECTOR == 0 && p->columns % VECTOR == 0 &&
                        p->offset_a % VECTOR == 0 && p->offset_b % VECTOR == 0;
    const char *why = ladder_unsupported(j, out);
    size_t tiles;
    command *c;

    if (!why)
        why = tiles_unsupported(j, group, VECTOR_TILE * (size_t)(VECTOR_TILE + 1) * sizeof(float),
                                out);
    if (why)
        return why;
    plan_define(out, "ALIGNED=%d", starts && j->device->kind != DEVICE_CPU);
    plan_define(out, "TILE=%d", VECTOR_TILE);
    tiles = size_div_up(p->columns, VECTOR_TILE) * size_div_up(p->rows, VECTOR_TILE);
    if (!tiles || (why = too_many_tiles(tiles, out)))
        return why;
    c = plan_launch_1d(out, 0, tiles * group, group);
    ladder_arguments(j, c);
    c->traffic.busy =
        (double)p->rows * (double)p->columns / ((double)tiles * VECTOR_TILE * VECTOR_TILE);
    state_tile(c);
    return NULL;
}

const variant transpose_vector = {.name = "vector",
                                  .idea =
                                      "tiles of 64 by vectors of four: 16 bytes a load and a store",
                                  .answers = 1u << CAUSE_LOCAL | 1u << CAUSE_ACCESS,
                                  .source = "transpose/transpose_vector.cl",
                                  .entries = {"transpose_vector"},
                                  .build = "",
                                  .tunables = vector_tunables,
                                  .tunable_count = ARRAY_COUNT(vector_tunables),
                                  .plan = vector_plan};

/* ---- every element ------------------------------------------------------------------------- */

static const tunable general_tunables[] = {
    {"TILE",
     "rows and columns of a tile; 0: 64 of elements of up to 4 bytes (2 on CPUs), else 32; 32 too "
     "of large matrices of 4-byte elements where rows of B begin within what memory writes at a "
     "time",
     {0, 16, 32, 64},
     0,
     16},
    {"ITEMS",
     "rows of work-items, which take the tile's rows in turns: fewer have more loads each; 0: by "
     "the device and the number of tiles",
     {0, 1, 4, 8, 16, 32},
     0,
     4},
    /* Of `general` alone. */
    {"SECTOR",
     "elements that memory writes at a time, which a tile's rows of B begin at; 0: by the device",
     {0, 1, 4, 8},
     0,
     4},
};

/* Bytes that a GPU's memory writes at a time; elements that a tile's rows have to spare, at most;
 * and the side from which a matrix is a large one. */
enum { SECTOR_BYTES = 32, TRANSPOSE_PAD_MAX = 4, UNALIGNED_MIN = 512 };

/* Elements that memory writes at a time, where rows of B begin within; else 1. */
static size_t sector_of(const job *j)
{
    const tsr_transpose_problem *p = transpose_of(j->problem);
    const stored_matrix b = transpose_stored(p, TRANSPOSE_B);
    const size_t sector = SECTOR_BYTES / size_min(transpose_bytes(p), SECTOR_BYTES);
    const bool begins = b.offset % sector == 0 && b.ld % sector == 0 && b.stride % sector == 0;

    return j->device->kind == DEVICE_CPU || begins || SECTOR_BYTES % transpose_bytes(p) ? 1
                                                                                        : sector;
}

/* Set TILE and ITEMS for so many tiles in local memory, and what the element is. */
static const char *set_tiles(const job *j, size_t tiles, size_t *tile, size_t *group, plan *out)
{
    const tsr_transpose_problem *p = transpose_of(j->problem);
    const size_t bytes = transpose_bytes(p), pad = bytes < 4 ? 4 / bytes : 1;
    const bool cpu = j->device->kind == DEVICE_CPU;
    /* A GPU's buffers begin at multiples of 16 bytes, which it moves at once. */
    const bool wide = bytes == 16 && !cpu;
    const size_t given = param(j->params, "TILE"), items = param(j->params, "ITEMS");
    /* Large matrices of 4-byte elements whose rows of B begin within a sector: tiles of 32 in
     * groups of 128 (held, on an H200, 4095x8193 82.7 us, by tiles of 64 87.4).  2-byte elements
     * take 85 by these, and 75 by tiles of 64. */
    const bool unaligned = tiles == 1 && bytes == 4 && sector_of(j) > 1 &&
                           size_min(p->rows, p->columns) >= UNALIGNED_MIN;
    bool few;
    size_t usual;

    *tile = given ? given : bytes <= (cpu ? 2 : 4) && tiles == 1 && !unaligned ? 64 : 32;
    /* No more tiles than units: each is a unit's alone, where more work-items have fewer loads each
     * and shorter code. */
    few = tiles == 1 && size_div_up(p->rows, *tile) * size_div_up(p->columns, *tile) <=
                            j->device->compute_units / size_max(transpose_batch(p), 1);
    usual = few ? GROUP_FEW : unaligned && *tile == 32 ? GROUP_UNALIGNED : GROUP_GPU;
    usual = cpu ? GROUP_CPU : group_fit(j->device, 0, usual);
    *group = *tile * (items ? items : size_min(size_max(usual / *tile, 1), *tile));
    if (items > *tile)
        return plan_unsupported(out, "ITEMS=%zu exceeds the %zu rows of a tile", items, *tile);
    plan_set(out, "TILE", (uint32_t)*tile);
    plan_set(out, "ITEMS", (uint32_t)(*group / *tile));
    plan_define(out, "PART=%s", wide ? "ulong2" : plan_bits_name(transpose_part(p)));
    plan_define(out, "PARTS=%zu", wide ? 1 : transpose_parts(p));
    return tiles_unsupported(j, *group, tiles * *tile * (*tile + pad) * bytes, out);
}

/* As transpose_general.cl has it. */
typedef struct transpose_call {
    uint64_t rows, columns, from_a, from_b, ld_a, ld_b, stride_a, stride_b;
} transpose_call;

/* Rows of B begin up to sector - 1 elements early in a tile, which loads as many rows of A more. */
static void state_general(const tsr_transpose_problem *p, size_t tile, size_t sector, command *c)
{
    const size_t down = size_div_up(p->rows + sector - 1, tile), full = (p->rows - 1) / tile;
    const size_t whole = size_min(down - 1, full); /* tiles that load all of those rows */
    const size_t rest = down - 1 > full ? p->rows + sector - 1 - (down - 1) * tile : 0;
    const double rows = (double)p->rows + (double)(whole * (sector - 1) + rest);
    const double line =
        (double)transpose_batch(p) * (double)p->columns * (double)transpose_bytes(p);

    c->traffic.requested = line * (rows + (double)p->rows);
    state_tile(c);
}

static const char *general_plan(const job *j, plan *out)
{
    const tsr_transpose_problem *p = transpose_of(j->problem);
    const stored_matrix a = transpose_stored(p, TRANSPOSE_A), b = transpose_stored(p, TRANSPOSE_B);
    const transpose_call call = {.rows = p->rows,
                                 .columns = p->columns,
                                 .from_a = a.offset,
                                 .from_b = b.offset,
                                 .ld_a = a.ld,
                                 .ld_b = b.ld,
                                 .stride_a = a.stride,
                                 .stride_b = b.stride};
    size_t tile, group, groups, sector;
    const char *why = p->in_place ? not_in_place : set_tiles(j, 1, &tile, &group, out);
    command *c;

    if (why)
        return why;
    sector = param(j->params, "SECTOR");
    if (!sector)
        sector = size_min(sector_of(j), tile);
    if ((tile + sector - 1) * (tile + TRANSPOSE_PAD_MAX) * transpose_bytes(p) >
        j->device->local_memory)
        sector = 1;
    plan_set(out, "SECTOR", (uint32_t)sector);
    if (p->rows == 0)
        return NULL;
    groups = size_div_up(p->columns, tile) * size_div_up(p->rows + sector - 1, tile) *
             transpose_batch(p);
    if (groups == 0 || (why = too_many_tiles(groups, out)))
        return why;
    c = plan_launch_1d(out, 0, groups * group, group);
    command_operand(c, TRANSPOSE_A);
    command_operand(c, TRANSPOSE_B);
    command_block(c, &call, sizeof(call));
    c->bytes = j->problem->op->bytes(j->problem);
    state_general(p, tile, sector, c);
    return NULL;
}

const variant transpose_general = {
    .name = "general",
    .idea = "padded tiles of elements of any size, of batches, with rows at any distance",
    .source = "transpose/transpose_general.cl",
    .entries = {"transpose_general"},
    .build = "",
    .tunables = general_tunables,
    .tunable_count = ARRAY_COUNT(general_tunables),
    .plan = general_plan};

/* As transpose_in_place.cl has it. */
typedef struct square_call {
    uint64_t n, from, ld, stride;
} square_call;

static const char *in_place_plan(const job *j, plan *out)
{
    const tsr_transpose_problem *p = transpose_of(j->problem);
    const stored_matrix b = transpose_stored(p, TRANSPOSE_B);
    const square_call call = {.n = p->rows, .from = b.offset, .ld = b.ld, .stride = b.stride};
    size_t tile, group, groups;
    const char *why = p->in_place ? set_tiles(j, 2, &tile, &group, out)
                                  : "transposes in place alone: another matrix takes the result";
    command *c;

    if (why)
        return why;
    groups = size_div_up(p->rows, tile) * size_div_up(p->rows, tile) * transpose_batch(p);
    if (groups == 0)
        return NULL;
    c = plan_launch_1d(out, 0, groups * group, group);
    command_operand(c, TRANSPOSE_B);
    command_block(c, &call, sizeof(call));
    c->bytes = c->traffic.requested = j->problem->op->bytes(j->problem);
    state_tile(c);
    return NULL;
}

const variant transpose_in_place = {
    .name = "in-place",
    .idea = "two tiles of a square matrix change places: no second matrix",
    .source = "transpose/transpose_in_place.cl",
    .entries = {"transpose_in_place"},
    .build = "",
    .tunables = general_tunables,
    .tunable_count = ARRAY_COUNT(general_tunables) - 1,
    .plan = in_place_plan};
