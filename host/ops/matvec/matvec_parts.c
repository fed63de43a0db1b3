#include "ops/matvec/matvec_parts.h"

#include "core/last_group.h"
#include "core/private_memory.h"
#include "ops/matvec/matvec_shape.h"
#include "ops/matvec/matvec_vectors.h"

enum {
    /* Neighbouring rows of a transposed op(A) that one group of split-row reads: 128 bytes of
       float32, a cache line of a GPU. */
    SPLIT_ROWS_MAX = 32,
    PARTS_MAX = 65535,
    /* Lanes of the teams of split-vector that the shape leads to: a cache line of a GPU takes eight
       vectors of 128 bits. */
    TEAM_MIN = 8,
    TEAM_MAX = 64,
    /* Elements of a row, or of A, below which a part costs a CPU more to launch than to sum. */
    CPU_PART_MIN = 8192,
    /* Elements of the vectors of columns-vector. */
    VEC_MIN = 2,
    VEC_MAX = 16,
    /* Its sums of a work-item where WIDTH does not say: 64 and 16 KiB of float. */
    WIDTH_MAX = 16384,
    WIDTH_FEW_LINES = 4096,
    FEW_LINES = 64,
    /* The least of them that tiles are narrowed to: 4 KiB of float; and how many times adding up is
       to go into reading. */
    WIDTH_MIN = 1024,
    ADDING_SHARE = 64
};

/* How a product is cut: a group takes `rows` rows of op(A), and one part of their columns. */
typedef struct cut {
    size_t local;
    size_t rows;
    size_t tiles; /* groups that it takes to cover all rows once */
    size_t parts;
    size_t chunk;  /* columns of a part; the last one may be shorter */
    size_t adders; /* groups that add the parts up */
} cut;

/* So many groups on each compute unit, for each product its share. */
static size_t units_wanted(const job *j, size_t each)
{
    const size_t groups = size_max(j->device->compute_units, 1) * each;

    return size_div_up(groups, matvec_batch(matvec_of(j->problem)));
}

static size_t groups_wanted(const job *j)
{
    return units_wanted(j, param(j->params, "PER_UNIT"));
}

/* Tiles of so many rows. */
static size_t tiles_of(const job *j, size_t rows)
{
    return size_div_up(matvec_view_of(matvec_of(j->problem)).rows, rows);
}

/* About so many parts, but none below `least` columns, and none above what its kernel counts. Parts
 * are multiples of the columns that the kernel takes at once. */
static cut cut_into_parts(const job *j, size_t local, size_t rows, size_t parts, size_t least,
                          size_t at_once)
{
    const matvec_view v = matvec_view_of(matvec_of(j->problem));
    const size_t most = MATVEC_INDEX_MAX / at_once * at_once;
    cut c = {.local = local, .rows = rows, .tiles = tiles_of(j, rows)};

    c.parts = size_min(parts, size_min(size_div_up(v.columns, least), PARTS_MAX));
    c.parts = size_max(c.parts, size_max(size_div_up(v.columns, most), 1));
    c.chunk = size_max(size_round_up(size_div_up(v.columns, c.parts), at_once), 1);
    c.parts = size_max(size_div_up(v.columns, c.chunk), 1);
    /* A group of one work-item costs as much as many rows. */
    c.adders =
        size_min(v.rows, local == 1 ? size_max(groups_wanted(j), units_wanted(j, 1)) : c.tiles);
    return c;
}

/* Enough of them for the groups that are wanted. */
static cut cut_into(const job *j, size_t local, size_t rows, size_t least, size_t at_once)
{
    const size_t parts = size_div_up(groups_wanted(j), size_max(tiles_of(j, rows), 1));

    return cut_into_parts(j, local, rows, parts, least, at_once);
}

/* No more of them than that, of `whole` columns or a multiple: what a device does not run at once
 * would run alone at the end. */
static cut cut_steps(const job *j, size_t local, size_t rows, size_t whole)
{
    const size_t parts = groups_wanted(j) / size_max(tiles_of(j, rows), 1);

    return cut_into_parts(j, local, rows, parts, whole, whole);
}

/* Bytes for the sums of all parts; false on overflow. */
static bool sums_of(const job *j, const cut *c, size_t *out)
{
    const tsr_matvec_problem *p = matvec_of(j->problem);

    *out = 0;
    return c->parts == 1 ||
           (size_mul(matvec_view_of(p).rows, c->parts, out) &&
            size_mul(*out, matvec_batch(p), out) && size_mul(*out, matvec_real_size(p), out));
}

static const char *cut_unsupported(const job *j, const cut *c, text *reason)
{
    const size_t rows = matvec_view_of(matvec_of(j->problem)).rows;
    size_t groups, bytes;

    if (rows <= MATVEC_INDEX_MAX && c->parts <= PARTS_MAX &&
        size_mul(c->tiles, c->parts, &groups) && groups <= MATVEC_INDEX_MAX &&
        sums_of(j, c, &bytes))
        return matvec_unsupported_local(j, c->local, reason);
    text_format(reason, "it counts up to %d rows and groups, the problem has %zu in %zu parts",
                MATVEC_INDEX_MAX, rows, c->parts);
    return text_get(reason);
}

static size_t cut_workspace(const job *j, const cut *c)
{
    size_t bytes;

    sums_of(j, c, &bytes); /* checked */
    return bytes;
}

/* How the last group of a tile adds the parts up, so that no second launch does. */
static last_group last_adds(const job *j, const cut *c)
{
    size_t tiles = 0;
    const bool counted = size_mul(c->tiles, matvec_batch(matvec_of(j->problem)), &tiles);

    return last_group_for(j->device, c->parts > 1 && counted, tiles);
}

static void cut_defines(const job *j, const cut *c, text *out)
{
    matvec_defines(j, c->local, out);
    last_group_defines(j->device, last_adds(j, c), out);
}

/* Entry 0 sums the parts, into y where there is one, and entry 1 adds them up, unless it did. */
static bool cut_step(const job *j, const cut *c, size_t i, command *out)
{
    matvec_call call = matvec_call_of(j);

    if (call.rows == 0 || i > 1 || (i == 1 && (c->parts == 1 || last_adds(j, c))))
        return false;
    call.parts = (uint32_t)c->parts;
    call.chunk = (uint32_t)c->chunk;
    call.tile = (uint32_t)c->rows;
    if (i == 1) {
        matvec_step_groups(j, 1, c->adders, c->local, out);
        command_workspace(out);
        command_operand(out, MATVEC_Y);
    } else {
        matvec_step_groups(j, 0, c->tiles * c->parts, c->local, out);
        command_operand(out, MATVEC_A);
        command_operand(out, MATVEC_X);
        command_operand(out, MATVEC_Y);
        command_workspace(out);
        command_group_counters(out);
    }
    matvec_step_call(j, &call, out);
    return true;
}

/* ---- split-row ---------------------------------------------------------------------------- */

static cut split_row_cut(const job *j)
{
    const matvec_view v = matvec_view_of(matvec_of(j->problem));
    const size_t local = matvec_group(j);
    size_t rows = 1;

    while (v.trans && rows < v.rows && rows * 2 <= size_min(SPLIT_ROWS_MAX, local))
        rows *= 2;
    /* A part keeps each work-item busy for four columns at least. */
    return cut_into(j, local, rows, local / rows * 4, 1);
}

void matvec_split_row_defines(const job *j, text *out)
{
    const cut c = split_row_cut(j);

    cut_defines(j, &c, out);
    text_format(out, " -DROWS=%zu", c.rows);
}

const char *matvec_split_row_unsupported(const job *j, text *reason)
{
    const cut c = split_row_cut(j);
    const char *why = matvec_unsupported_portable(j, reason);

    return why ? why : cut_unsupported(j, &c, reason);
}

size_t matvec_split_row_workspace(const job *j)
{
    const cut c = split_row_cut(j);

    return cut_workspace(j, &c);
}

bool matvec_split_row_step(const job *j, size_t i, command *out)
{
    const cut c = split_row_cut(j);

    return cut_step(j, &c, i, out);
}

/* ---- split-vector ------------------------------------------------------------------------- */

/* Vectors that a lane has on their way at once: LOADS of cl/matvec/matvec_split_vector.cl. */
enum { VECTORS_AT_ONCE = 4 };

/* A team in which each lane has that many vectors of a row, up to two warps: wider ones have more
 * to add up. */
static size_t team_of(const job *j)
{
    const size_t local = matvec_group(j), told = param(j->params, "TEAM");
    const tsr_matvec_problem *p = matvec_of(j->problem);
    const size_t vectors = size_div_up(matvec_view_of(p).columns, matvec_load_elements(p));
    const size_t most = size_min(TEAM_MAX, local);
    size_t team = size_min(TEAM_MIN, local);

    if (told)
        return told;
    while (team * 2 <= most && team * VECTORS_AT_ONCE < vectors)
        team *= 2;
    return team;
}

static cut split_vector_cut(const job *j)
{
    const size_t local = matvec_group(j), team = size_min(team_of(j), local);
    const size_t whole = team * matvec_load_elements(matvec_of(j->problem));

    return cut_steps(j, local, local / team, VECTORS_AT_ONCE * whole);
}

void matvec_split_vector_defines(const job *j, text *out)
{
    const cut c = split_vector_cut(j);

    cut_defines(j, &c, out);
    matvec_defines_vectors(j, matvec_load_elements(matvec_of(j->problem)), out);
    text_format(out, " -DLOADS=%d", VECTORS_AT_ONCE);
    if (!param(j->params, "TEAM"))
        text_format(out, " -DTEAM=%zu", team_of(j));
}

const char *matvec_split_vector_unsupported(const job *j, text *reason)
{
    const cut c = split_vector_cut(j);
    const char *why = matvec_unsupported_portable(j, reason);

    if (!why && matvec_of(j->problem)->trans)
        why = "the rows of a transposed A are not contiguous: see split-row";
    if (!why && team_of(j) > c.local) {
        text_format(reason, "a team of %zu exceeds the work-group of %zu", team_of(j), c.local);
        why = text_get(reason);
    }
    return why ? why : cut_unsupported(j, &c, reason);
}

size_t matvec_split_vector_workspace(const job *j)
{
    const cut c = split_vector_cut(j);

    return cut_workspace(j, &c);
}

bool matvec_split_vector_step(const job *j, size_t i, command *out)
{
    const cut c = split_vector_cut(j);

    return cut_step(j, &c, i, out);
}

/* ---- column-slices and short-columns: vectors of sums, A transposed ----------------------- */

static const char *vectors_unsupported(const job *j, const cut *c, text *reason)
{
    const tsr_matvec_problem *p = matvec_of(j->problem);
    const char *why = matvec_unsupported_portable(j, reason);

    if (!why && !p->trans)
        why = "A is not transposed: see tree-vector and flat-rows";
    if (!why)
        why = cut_unsupported(j, c, reason);
    return why ? why : matvec_unsupported_local(j, c->local * matvec_load_elements(p), reason);
}

/* Steps of a part: few, so that units that are done early take another one, and fewer where that
 * leaves many groups all the same. */
enum { SLICES_STEPS = 4, SLICES_FEW_STEPS = 2 };

/* Groups on each unit: at least, where rows of A allow it, what is many, and at most, as parts have
 * to be added up. */
enum { SLICES_GROUPS_MIN = 2, SLICES_GROUPS_MANY = 8, SLICES_GROUPS_MAX = 32 };

/* What tunables of column-slices that are 0 come to. */
typedef struct slicing {
    size_t lanes, loads, stages;
    size_t parts;   /* 0: of a few steps each */
    size_t past_l1; /* where the device and A let it */
} slicing;

/* A row of 512 bytes. */
static const slicing SLICES_USUAL = {.lanes = 32, .loads = 8, .stages = 1, .past_l1 = 2};

/* The least rows of A that are loaded past the first-level cache.  An H200 was 5% slower with it at
 * 10 rows, as fast at 30, and 2 to 17% faster from 1000 on. */
enum { SLICES_PAST_L1_ROWS = 32 };

/* Tiles as wide as a cache line of 128 bytes that fill the units once: each group has whole columns
 * of A, and nothing is added up between groups.  The least share of the units that they have to
 * keep busy, and the least stages of rows of A. */
static const slicing SLICES_WHOLE = {.lanes = 8, .loads = 8, .stages = 2, .parts = 1, .past_l1 = 2};
static const double SLICES_WHOLE_BUSY = 0.9;
enum { SLICES_WHOLE_STAGES = 2 };

/* Two parts and more that fill the units, three groups each: the least share of those groups that
 * there has to be, and the least stages of a part, to make up for adding up.  On 132 units they
 * were faster at 10000 x 10000 than many short parts. */
static const double SLICES_FILLING_BUSY = 0.98;
enum { SLICES_FILLING_GROUPS = 3, SLICES_FILLING_STAGES = 8 };

/* Rows of op(A) of a tile. */
static size_t slices_rows(const job *j, const slicing *s)
{
    return s->lanes * matvec_load_elements(matvec_of(j->problem));
}

/* Rows of A that a group loads at once. */
static size_t slices_at_once(const job *j, const slicing *s)
{
    const size_t told = param(j->params, "LOADS");

    return matvec_group(j) / s->lanes * (told ? told : s->loads);
}

/* Whether a group has so many lanes, and op(A) more rows than half of them take. */
static bool slices_fit(const job *j, const slicing *s)
{
    return s->lanes <= matvec_group(j) &&
           matvec_view_of(matvec_of(j->problem)).rows > slices_rows(j, s) / 2;
}

static bool slices_are_whole(const job *j)
{
    const size_t units = units_wanted(j, 1), tiles = tiles_of(j, slices_rows(j, &SLICES_WHOLE));

    return slices_fit(j, &SLICES_WHOLE) && tiles <= units &&
           (double)tiles >= SLICES_WHOLE_BUSY * (double)units &&
           matvec_view_of(matvec_of(j->problem)).columns >=
               SLICES_WHOLE_STAGES * slices_at_once(j, &SLICES_WHOLE);
}

/* 0 where no number of parts fills the units. */
static size_t slices_filling_parts(const job *j)
{
    const size_t rows = slices_rows(j, &SLICES_USUAL);
    const size_t at_once = slices_at_once(j, &SLICES_USUAL);
    const size_t groups = units_wanted(j, SLICES_FILLING_GROUPS);
    cut c;

    if (!slices_fit(j, &SLICES_USUAL))
        return 0;
    c = cut_into_parts(j, matvec_group(j), rows, groups / size_max(tiles_of(j, rows), 1), at_once,
                       at_once);
    return c.parts >= 2 && c.chunk >= SLICES_FILLING_STAGES * at_once &&
                   (double)(c.parts * c.tiles) >= SLICES_FILLING_BUSY * (double)groups
               ? c.parts
               : 0;
}

static slicing slices_by_shape(const job *j)
{
    slicing s = SLICES_USUAL;
    const bool untold = !param(j->params, "ACROSS") && !param(j->params, "PER_UNIT") &&
                        matvec_batch(matvec_of(j->problem)) == 1;

    if (untold && slices_are_whole(j))
        return SLICES_WHOLE;
    if (untold)
        s.parts = slices_filling_parts(j);
    if (matvec_view_of(matvec_of(j->problem)).columns < SLICES_PAST_L1_ROWS)
        s.past_l1 = 1;
    return s;
}

/* Whether vectors of A can be loaded past the first-level cache. */
static bool slices_past_l1(const job *j)
{
    const tsr_matvec_problem *p = matvec_of(j->problem);
    const view a = matvec_a(p);

    return j->device->feature[FEATURE_LOAD_ONCE] == FEATURE_YES &&
           tsr_type_size(p->type) == matvec_real_size(p) &&
           matvec_aligned(j, &a, matvec_load_elements(p));
}

static size_t slices_loads(const job *j)
{
    const size_t told = param(j->params, "LOADS");

    return told ? told : slices_by_shape(j).loads;
}

/* Work-items side by side: ACROSS; more where slices would outnumber rows of A, and no more than
 * a row of A has vectors for. */
static size_t slices_lanes(const job *j)
{
    const tsr_matvec_problem *p = matvec_of(j->problem);
    const size_t local = matvec_group(j), loads = slices_loads(j);
    const size_t told = param(j->params, "ACROSS");
    const matvec_view v = matvec_view_of(p);
    size_t lanes = size_min(told ? told : slices_by_shape(j).lanes, local);

    while (lanes < local && local / lanes * loads > size_max(v.columns, 1))
        lanes *= 2;
    while (lanes > 1 && lanes / 2 * matvec_load_elements(p) >= v.rows)
        lanes /= 2;
    return lanes;
}

/* Parts by the size of the problem. */
static cut slices_usual_cut(const job *j, size_t rows, size_t slices)
{
    const matvec_view v = matvec_view_of(matvec_of(j->problem));
    const size_t tiles = size_max(tiles_of(j, rows), 1);
    const slicing shape = slices_by_shape(j);
    size_t at_once = slices * slices_loads(j), most, parts;

    /* Shorter parts, whose rows are loaded one by one, where groups would be too few. */
    while (at_once > slices && size_div_up(v.columns, at_once) * tiles < units_wanted(j, 1))
        at_once /= 2;
    parts = size_div_up(v.columns, SLICES_STEPS * at_once);
    if (parts * tiles >= units_wanted(j, SLICES_GROUPS_MANY))
        parts = size_div_up(v.columns, SLICES_FEW_STEPS * at_once);
    most = units_wanted(j, SLICES_GROUPS_MAX) / tiles;
    parts = size_max(size_min(parts, most), units_wanted(j, SLICES_GROUPS_MIN) / tiles);
    if (shape.parts)
        parts = shape.parts;
    return cut_into_parts(j, matvec_group(j), rows, parts, at_once, at_once);
}

static cut column_slices_cut(const job *j)
{
    const size_t local = matvec_group(j), lanes = slices_lanes(j), slices = local / lanes;
    const size_t rows = lanes * matvec_load_elements(matvec_of(j->problem));

    return param(j->params, "PER_UNIT") ? cut_steps(j, local, rows, slices * slices_loads(j))
                                        : slices_usual_cut(j, rows, slices);
}

void matvec_column_slices_defines(const job *j, text *out)
{
    const view a = matvec_a(matvec_of(j->problem));
    const cut c = column_slices_cut(j);

    cut_defines(j, &c, out);
    matvec_defines_vectors_of_a(j, &a, out);
    text_format(out, " -DLANES=%zu", slices_lanes(j));
    if (!param(j->params, "LOADS"))
        text_format(out, " -DLOADS=%zu", slices_loads(j));
    if (!param(j->params, "STAGES"))
        text_format(out, " -DSTAGES=%zu", slices_by_shape(j).stages);
    if (!param(j->params, "PAST_L1"))
        text_format(out, " -DPAST_L1=%zu", slices_past_l1(j) ? slices_by_shape(j).past_l1 : 1);
}

const char *matvec_column_slices_unsupported(const job *j, text *reason)
{
    const cut c = column_slices_cut(j);
    const char *why = vectors_unsupported(j, &c, reason);

    if (!why && param(j->params, "PAST_L1") == 2 && !slices_past_l1(j))
        why = j->device->feature[FEATURE_LOAD_ONCE] == FEATURE_YES
                  ? "PAST_L1=2 takes aligned rows of float32 or float64"
                  : "PAST_L1=2 takes loads past L1, which the device has not";
    return why;
}

size_t matvec_column_slices_workspace(const job *j)
{
    const cut c = column_slices_cut(j);

    return cut_workspace(j, &c);
}

bool matvec_column_slices_step(const job *j, size_t i, command *out)
{
    const cut c = column_slices_cut(j);

    return cut_step(j, &c, i, out);
}

/* One tile of all rows.  Whole steps are whole vectors as well, so that parts begin aligned. */
static cut short_columns_cut(const job *j)
{
    const size_t local = matvec_group(j);
    const size_t lines = size_max(matvec_flat_of(j, local).lines, 1);
    const size_t rows = size_max(matvec_view_of(matvec_of(j->problem)).rows, 1);
    const size_t parts = groups_wanted(j); /* no more: the others would run alone at the end */

    return cut_into_parts(j, local, rows, parts, lines * param(j->params, "LOADS"), lines);
}

void matvec_short_columns_defines(const job *j, text *out)
{
    const tsr_matvec_problem *p = matvec_of(j->problem);
    const view a = matvec_flat_a(p);
    const size_t rows = matvec_view_of(p).rows, vec = matvec_load_elements(p);
    const cut c = short_columns_cut(j);

    cut_defines(j, &c, out);
    matvec_defines_vectors_of_a(j, &a, out);
    /* `vec` neighbours, the first of which may end a row, reach beyond the next row only then. */
    text_format(out, " -DROWS_MET=%zu", rows + 1 >= vec ? 2 : vec);
}

const char *matvec_short_columns_unsupported(const job *j, text *reason)
{
    const cut c = short_columns_cut(j);
    const char *why = vectors_unsupported(j, &c, reason);

    return why ? why : matvec_unsupported_flat(j, reason);
}

size_t matvec_short_columns_workspace(const job *j)
{
    const cut c = short_columns_cut(j);

    return cut_workspace(j, &c);
}

bool matvec_short_columns_step(const job *j, size_t i, command *out)
{
    const cut c = short_columns_cut(j);

    return cut_step(j, &c, i, out);
}

/* ---- rows-vector and columns-vector: groups of one work-item ------------------------------ */

/* Rows of a work-item: ROWS, or as many as the registers hold, in as many work-items for each unit.
 */
static size_t rows_vector_rows(const job *j)
{
    const size_t set = param(j->params, "ROWS"), units = size_max(j->device->compute_units, 1);
    const size_t rows = size_max(matvec_view_of(matvec_of(j->problem)).rows, 1);
    const size_t tiles = size_round_up(size_div_up(rows, matvec_lines_most(j)), units);

    return set ? set : size_div_up(rows, tiles);
}

static cut rows_vector_cut(const job *j)
{
    return cut_into(j, 1, rows_vector_rows(j), CPU_PART_MIN, matvec_vec(j));
}

void matvec_rows_vector_defines(const job *j, text *out)
{
    const cut c = rows_vector_cut(j);

    cut_defines(j, &c, out);
    matvec_defines_vec(matvec_vec(j), false, out);
    if (!param(j->params, "ROWS"))
        text_format(out, " -DROWS=%zu", c.rows);
    matvec_defines_prefetch(j, out);
}

const char *matvec_rows_vector_unsupported(const job *j, text *reason)
{
    const cut c = rows_vector_cut(j);
    const char *why = matvec_unsupported_portable(j, reason);

    if (!why && matvec_of(j->problem)->trans)
        why = "the rows of a transposed A are not contiguous: see columns-vector";
    return why ? why : cut_unsupported(j, &c, reason);
}

size_t matvec_rows_vector_workspace(const job *j)
{
    const cut c = rows_vector_cut(j);

    return cut_workspace(j, &c);
}

bool matvec_rows_vector_step(const job *j, size_t i, command *out)
{
    const cut c = rows_vector_cut(j);

    return cut_step(j, &c, i, out);
}

/* Elements of a vector of neighbouring sums, of which there may be few. */
static size_t columns_vector_vec(const job *j)
{
    const size_t rows = matvec_view_of(matvec_of(j->problem)).rows;
    size_t vec = matvec_vec(j);

    while (!param(j->params, "BITS") && vec > VEC_MIN && vec > rows)
        vec /= 2;
    return vec;
}

/* Rows of A at once: LINES, or as many as the registers hold, or few alike. */
static size_t columns_vector_lines(const job *j)
{
    const size_t set = param(j->params, "LINES"), most = matvec_lines_most(j);
    const size_t lines = matvec_view_of(matvec_of(j->problem)).columns;

    if (set)
        return set;
    return lines && lines < 2 * most ? size_div_up(lines, size_div_up(lines, most)) : most;
}

/* Tiles, of which the last work-item of each adds the parts up: as many as make that no more than
 * 1/64 of reading, if they are not too narrow, and divide the groups.  It adds groups / tiles parts
 * of rows / tiles sums, and reads rows * columns / units elements. */
static size_t columns_vector_tiles(const job *j)
{
    const matvec_view v = matvec_view_of(matvec_of(j->problem));
    const size_t groups = groups_wanted(j), most = size_min(v.rows / WIDTH_MIN, groups);
    const double least = (double)ADDING_SHARE * (double)groups * (double)units_wanted(j, 1) /
                         (double)size_max(v.columns, 1);
    size_t tiles = 1;

    for (size_t t = 2; t <= most && (double)tiles * (double)tiles < least; t++)
        if (groups % t == 0)
            tiles = t;
    return last_group_of(j->device) == LAST_GROUP_NONE ? 1 : tiles;
}

/* Sums of a work-item.  What is fetched ahead of where a tile ends is lost, so tiles are wide; but
 * no wider than adding up takes, and where rows of A are few, sums are read again so soon that they
 * should be in the first-level cache. Tiles are of one width, as PoCL gives half of the groups that
 * are left to the next core that is idle, however large they are. */
static size_t columns_vector_width(const job *j)
{
    const matvec_view v = matvec_view_of(matvec_of(j->problem));
    const size_t set = param(j->params, "WIDTH"), rows = size_max(v.rows, 1);
    const size_t most = set ? set : v.columns < FEW_LINES ? WIDTH_FEW_LINES : WIDTH_MAX;
    const size_t tiles = size_max(size_div_up(rows, most), set ? 1 : columns_vector_tiles(j));

    return size_min(size_round_up(size_div_up(rows, tiles), VEC_MAX), most);
}

/* WIDTH for so many sums, few values for few builds: a power of two. */
static size_t columns_vector_room(size_t width)
{
    size_t room = VEC_MAX;

    while (room < width)
        room *= 2;
    return room;
}

static cut columns_vector_cut(const job *j)
{
    const size_t rows = matvec_view_of(matvec_of(j->problem)).rows;
    const size_t width = columns_vector_width(j);
    const size_t least = size_div_up(CPU_PART_MIN, size_max(size_min(rows, width), 1));

    return cut_into(j, 1, width, least, columns_vector_lines(j));
}

void matvec_columns_vector_defines(const job *j, text *out)
{
    const cut c = columns_vector_cut(j);

    cut_defines(j, &c, out);
    text_format(out, " -DVEC=%zu", columns_vector_vec(j));
    if (!param(j->params, "LINES"))
        text_format(out, " -DLINES=%zu", columns_vector_lines(j));
    if (!param(j->params, "WIDTH"))
        text_format(out, " -DWIDTH=%zu", columns_vector_room(c.rows));
    matvec_defines_prefetch(j, out);
}

const char *matvec_columns_vector_unsupported(const job *j, text *reason)
{
    const cut c = columns_vector_cut(j);
    const char *why = matvec_unsupported_portable(j, reason);
    const size_t sums = size_max(columns_vector_room(c.rows), param(j->params, "WIDTH"));

    if (!why && !matvec_of(j->problem)->trans)
        why = "A is not transposed: see rows-vector";
    if (!why)
        why =
            private_unsupported(j->device, sums * matvec_real_size(matvec_of(j->problem)), reason);
    return why ? why : cut_unsupported(j, &c, reason);
}

size_t matvec_columns_vector_workspace(const job *j)
{
    const cut c = columns_vector_cut(j);

    return cut_workspace(j, &c);
}

bool matvec_columns_vector_step(const job *j, size_t i, command *out)
{
    const cut c = columns_vector_cut(j);

    return cut_step(j, &c, i, out);
}
