/** The variants of matvec for GPUs that cut the columns of op(A) into parts, which are then added
 *  up: cl/matvec/matvec_parts.clh. */
#include "base/sizes.h"
#include "core/groups.h"
#include "core/last_group.h"
#include "ops/matvec/matvec_plan.h"
#include "ops/matvec/matvec_variants.h"

#define LOADS_MEANING                                                                              \
    "128-bit loads of a work-item that are in flight at once: more suit fewer work-items"

#define PAST_L1_MEANING                                                                            \
    "2: vectors of A take no place in the first-level cache (NVIDIA), 1: they may; 0: by the "     \
    "shape"

/* Bytes of A up to which a group reads them alone: to add up the sums of several groups takes as
 * long as a group takes to read so many. */
enum { WHOLE_BYTES_MAX = 96 << 10 };

/* Bytes of A up to which it is small.  Where it is larger, and its rows are aligned, loops that ask
 * of each load whether it is inside read it faster. */
enum { SMALL_BYTES = 8 << 20 };

static bool is_small(const job *j)
{
    const tsr_matvec_problem *p = matvec_of(j->problem);

    return p->rows == 0 || p->columns <= SMALL_BYTES / tsr_type_size(p->type) / p->rows;
}

/* NULL, or why vectors of A cannot be loaded past the first-level cache. */
static const char *unsupported_past_l1(const job *j, bool aligned)
{
    if (j->device->feature[FEATURE_LOAD_ONCE] != FEATURE_YES)
        return "PAST_L1=2 needs loads that bypass the first-level cache, which the device does not "
               "have";
    return aligned ? NULL : "PAST_L1=2 needs aligned rows";
}

/* ---- split-row ---------------------------------------------------------------------------- */

static const tunable split_row_tunables[] = {
    {"GROUP", MATVEC_GROUP, {1, 16, 32, 64, 128, 256, 512, 1024}, 128, 16, .host_only = true},
    {"PER_UNIT", MATVEC_PER_UNIT, {1, 2, 4, 8, 16, 32}, 8, .host_only = true},
};

/* Neighbouring rows of a transposed op(A) that one group reads: 128 bytes of float32, a cache line
 * of a GPU. */
enum { SPLIT_ROWS_MAX = 32 };

static const char *split_row_plan(const job *j, plan *out)
{
    const matvec_view v = matvec_view_of(matvec_of(j->problem));
    const size_t local = matvec_group(j, out);
    const char *why = matvec_unsupported_portable(j, out);
    size_t rows = 1, parts;
    matvec_cut c;

    while (v.trans && rows < v.rows && rows * 2 <= size_min(SPLIT_ROWS_MAX, local))
        rows *= 2;
    parts = size_div_up(matvec_groups_wanted(j, param(j->params, "PER_UNIT")),
                        size_max(matvec_tiles(j, rows), 1));
    /* A part keeps each work-item busy for four columns at least. */
    c = matvec_cut_into(j, local, rows, parts, local / rows * 4, 1);
    if (!why)
        why = matvec_unsupported_cut(j, &c, out);
    if (why)
        return why;
    c.stated = true;
    c.of_a = c.of_x = (double)v.rows * (double)v.columns;
    c.sums = (double)(c.tiles * c.parts) * matvec_tree_accesses(local, rows);
    c.barriers = size_log2_up(local / rows);
    matvec_plan_cut(j, &c, out);
    plan_define(out, "ROWS=%zu", rows);
    return NULL;
}

const variant matvec_split_row = {
    .name = "split-row",
    .idea = "few long rows: each is split over several work-groups, the last of which adds up",
    .answers = 1u << CAUSE_ACCESS | 1u << CAUSE_LATENCY,
    .source = "matvec/matvec_split_row.cl",
    .entries = {"matvec_split_row", "matvec_add_parts"},
    .build = "",
    .uses = LAST_GROUP_USES,
    .group_counters = true,
    .tunables = split_row_tunables,
    .tunable_count = ARRAY_COUNT(split_row_tunables),
    .plan = split_row_plan};

/* ---- split-vector ------------------------------------------------------------------------- */

static const tunable split_vector_tunables[] = {
    {"TEAM", "work-items that share a row: more suit longer rows", {0, 8, 16, 32, 64, 128, 256}, 0},
    {"ROWS",
     "rows of a team that are loaded at once, where pieces are not checked: more suit short rows "
     "of many, and rows that do not start at vectors; 0: by the shape",
     {0, 1, 2, 4},
     0},
    {"GROUP", MATVEC_GROUP "; 0: by the shape", {0, 64, 128, 256, 512}, 0, 64, .host_only = true},
    {"PER_UNIT",
     MATVEC_PER_UNIT "; 1: not at all; 0: by the shape",
     {0, 1, 2, 4, 8, 16, 32},
     0,
     .host_only = true,
     .any = true},
};

enum {
    /* Vectors that a lane has on their way at once. */
    VECTORS_AT_ONCE = 4,
    ELEMENTS_AT_ONCE = 16, /* the same of single elements */
    /* Steps of a row up to which it is not cut, with as many rows as compute units, or fewer. */
    WHOLE_STEPS = 3,
    WHOLE_STEPS_FEW = 2,
    /* Lanes of the teams that the shape leads to: a cache line of a GPU takes eight vectors of 128
       bits, and teams beyond two warps have more to add up: they are for rows that are too few to
       fill the device. */
    TEAM_MIN = 8,
    TEAM_MAX = 64,
    FEW_ROWS_TEAM_MAX = 256,
    SHORT_TEAM = 16, /* teams of up to so many lanes have short rows */
    MANY_ROWS = 512, /* for each unit: very many */
    SPLIT_GROUP = 128,
    SPLIT_GROUPS = 16 /* on a unit, where rows are cut */
};

/* Few rows of very many columns: a team to a group; where loads ask whether they are inside, larger
 * groups, and fewer on a unit.  With 12 to 60 rows an H200 takes 0.8 to 1.0 of the time. */
enum { LONG_COLUMNS = 1 << 18, LONG_ROWS_MIN = 8, LONG_ROWS_MAX = 64, LONG_TEAM = 128 };
enum { LONG_CHECKED_GROUP = 256, LONG_CHECKED_GROUPS = 4 };
/* Of the fewest rows, where they start anywhere: teams as usual, in larger groups, fewer on a unit:
 * float32 8x6856311 takes 73 us in place of 82, float64 127 in place of 149. */
enum { LONG_FEWEST_GROUP = 256, LONG_FEWEST_GROUPS = 8 };

/* Long rows of float32 and float64 that fill the device, but not many times over: a team to a
 * group.  float32 2658x48570 takes 127 us of an H200 in place of 152, float64 4100x16384 126 in
 * place of 140; rows of 10000 lose 3%, and those of 16 bits as much as they gain. */
enum { WIDE_COLUMNS = 1 << 14, WIDE_ROWS_A_UNIT = 62, WIDE_TEAM = 128 };
/* Of float32 that do not start at vectors and are few, two teams to a group, fewer groups on a
 * unit: 2000x50001 takes 99 us in place of 103 by pairs (PAIRED_ROWS_A_UNIT). */
enum { WIDE_ANYWHERE_GROUP = 256, WIDE_ANYWHERE_GROUPS = 8, WIDE_ANYWHERE_ROWS = 512 };

/* Short rows that do not start at vectors of 128 bits: a team takes two at once; up to SHORT_NARROW
 * columns in narrower teams.  float32 40001x77 takes 6.9 us of an H200 in place of 9.1,
 * 15001x190 6.4 in place of 8.1, float64 20001x101 8.4 in place of 10.8. */
enum { SHORT_COLUMNS_MIN = 64, SHORT_COLUMNS = 256, SHORT_COLUMNS_F64 = 160, SHORT_NARROW = 128 };
enum { SHORT_ROWS_GROUP = 256 };

/* Whole rows of 16 bits that fill the device: a warp takes two of those that have more than
 * TWO_ROWS_VECTORS vectors, and half a warp two of very many of up to HALF_WARPS_VECTORS_MAX.
 * bfloat16 4616x1624 takes 7.9 us of an H200 in place of 9.4, 4616x3200 11.7 in place of 14.1;
 * 20000x1200 17.5 in place of 20.3 by whole warps, 10000x1624 12.5 in place of 13.5.  Of fewer rows
 * it would be a loss: 2000x1624 6.3 in place of 5.9. */
enum {
    TWO_ROWS_A_UNIT = 24,
    TWO_ROWS_VECTORS = 128,
    HALF_WARPS_A_UNIT = 72,
    HALF_WARPS_VECTORS = 64,
    HALF_WARPS_VECTORS_MAX = 256
};

/* Whole float64 rows that take larger teams: two to a group.  1049x3196 takes 10.7 us of an H200 in
 * place of 12.9, 800x4500 11.5 in place of 14.5, 2100x3000 15.6 in place of 18.5. */
enum { TEAMS_F64_ROWS_A_UNIT = 4, TEAMS_F64 = 128, TEAMS_F64_GROUP = 256 };

/* Columns from which on rows are read by vectors where they do not start at them: shorter ones have
 * little between their ends.  Of float32 and float64 elements one by one fill a cache line as well,
 * and vectors of x cost more than they save, but where rows are long; or few, so that it is the
 * loads of a lane that take time. */
enum { SHIFTED_COLUMNS = 64, SHIFTED_COLUMNS_FEW = 1024, SHIFTED_COLUMNS_FLOAT = 1 << 15 };
enum { SHIFTED_ROWS_FEW = 8 };
/* The team of those, but of one row and where rows are whole: float64 2x5785 takes 5.7 us of an
 * H200 in place of 6.2, float32 3x9001 4.8 in place of 5.2. */
enum { SHIFTED_FEW_TEAM = 128 };

static size_t shifted_columns(const tsr_matvec_problem *p)
{
    if (tsr_type_size(p->type) == 2)
        return SHIFTED_COLUMNS;
    if (p->rows <= SHIFTED_ROWS_FEW)
        return SHIFTED_COLUMNS_FEW;
    return p->type == TSR_F32 ? SHIFTED_COLUMNS_FLOAT : SIZE_MAX;
}

/* Whether pieces are the vectors of rows that do not all start at one. */
static bool is_shifted(const job *j)
{
    const tsr_matvec_problem *p = matvec_of(j->problem);
    const size_t vec = matvec_load_elements(p);
    const view x = matvec_x(p);
    view first = matvec_a(p);

    first.lines = 1;
    return matvec_view_of(p).columns >= shifted_columns(p) && matvec_incx(p) == 1 &&
           matvec_incy(p) == 1 && !matvec_vectors_aligned(j, vec) &&
           matvec_aligned(j, &first, vec) && matvec_aligned(j, &x, vec);
}

/* Whether teams of TEAM_MAX, a row each, would not fill the device. */
static bool has_few_rows(const job *j)
{
    return matvec_view_of(matvec_of(j->problem)).rows < matvec_groups_wanted(j, 1024) / TEAM_MAX;
}

/* Elements of the vectors that a lane loads: of 128 bits, or of 64 where rows of float32 start at
 * multiples of those alone, and are not few: of those lanes take elements one by one sooner. */
static size_t lane_vector(const job *j)
{
    const tsr_matvec_problem *p = matvec_of(j->problem);
    const size_t vec = matvec_load_elements(p), half = vec / 2;
    const bool in_halves = p->type == TSR_F32 && !matvec_vectors_aligned(j, vec) &&
                           !is_shifted(j) && !has_few_rows(j) && matvec_vectors_aligned(j, half);

    return in_halves ? half : vec;
}

/* The columns of a step: what a team has on its way at once, of vectors or, where those are not
 * aligned, of elements. */
static size_t step_columns(const job *j, size_t team)
{
    const size_t vec = matvec_load_elements(matvec_of(j->problem));

    return team * (matvec_vectors_aligned(j, lane_vector(j)) || is_shifted(j)
                       ? VECTORS_AT_ONCE * vec
                       : size_min(VECTORS_AT_ONCE * vec, ELEMENTS_AT_ONCE));
}

/* The loads of a lane for so many columns, of a step at most: few numbers of them, since each is a
 * kernel of its own. */
static size_t loads_of_lane(size_t columns, size_t team, size_t width, size_t most)
{
    const size_t loads = size_max(size_div_up(columns, team * width), 1);
    const size_t rounded = loads <= 6 ? loads : size_round_up(loads, 4);

    return size_min(rounded, most);
}

/* Whether a group reads its rows in less time than adding up parts takes; the more groups there are
 * the less it helps that others share its work. */
static bool rows_are_whole(const job *j)
{
    const matvec_view v = matvec_view_of(matvec_of(j->problem));
    const size_t steps = v.rows < matvec_groups_wanted(j, 1) ? WHOLE_STEPS_FEW : WHOLE_STEPS;

    return v.columns <= steps * step_columns(j, group_fit(j->device, 0, FEW_ROWS_TEAM_MAX));
}

/* Lanes up to which a team of few rows takes a vector each: what a lane does alone takes longer
 * than to add up one more sum, and so does to shift a vector in place. */
enum { WARP = 32 };

/* The lanes of a team, of up to `most`: as many as a row has work for. */
static size_t team_by_shape(const job *j, size_t vectors, size_t most, bool whole)
{
    const size_t rows = matvec_view_of(matvec_of(j->problem)).rows;
    const size_t to_fill = matvec_groups_wanted(j, 1024);
    const bool few = has_few_rows(j);
    size_t team = size_min(TEAM_MIN, most);

    while (team * 2 <= most && team * (few && team < WARP ? 1 : VECTORS_AT_ONCE) < vectors &&
           (team < TEAM_MAX || (whole && rows < to_fill / team)))
        team *= 2;
    return team;
}

/* Rows of a team, where none are set: two of 16 bits, which are short or very many. */
static size_t rows_of_team(const job *j, size_t team)
{
    const tsr_matvec_problem *p = matvec_of(j->problem);
    const size_t rows = matvec_view_of(p).rows;

    return tsr_type_size(p->type) == 2 && !has_few_rows(j) &&
                   (team <= SHORT_TEAM || rows >= matvec_groups_wanted(j, MANY_ROWS))
               ? 2
               : 1;
}

/* Teams read pieces of `width`, `at_once` of them, the last again beyond the end of a part, and
 * what is left one by one: of A, and of x once for the `rows` of a team.  Of several the last is
 * read again beyond the end of A, and all sums go through local memory once. */
static void state_pieces(matvec_view v, size_t team, size_t rows, size_t width, size_t at_once,
                         matvec_cut *c)
{
    const size_t of_last = v.columns - size_min(v.columns, (c->parts - 1) * c->chunk);
    const size_t pieces_of_last = size_round_up(of_last / width, at_once) * width + of_last % width;
    const size_t of_part = size_round_up(c->chunk / width, at_once) * width + c->chunk % width;
    const double groups = (double)(c->tiles * c->parts);

    c->stated = true;
    c->of_a = (double)(rows > 1 ? c->tiles * c->rows : v.rows) *
              ((double)(c->parts - 1) * (double)of_part + (double)pieces_of_last);
    c->of_x = c->of_a / (double)rows;
    c->sums = rows > 1 ? (double)((c->tiles * c->rows + v.rows) * c->parts * team)
                       : groups * matvec_tree_accesses(c->local, c->local / team);
    c->barriers = rows > 1 ? 1 : size_log2_up(team);
}

/* How the rows of A are read. */
typedef struct row_loads {
    bool aligned, full; /* by vectors that rows start at, of 128 bits */
    bool checked;       /* and each asks whether it is inside */
    bool shifted;       /* by vectors that rows do not start at */
    bool several;       /* a team may have more rows than one */
    bool whole;         /* rows are not cut */
} row_loads;

/* Teams, their rows, work-items of a group and groups on a unit; 0: as usual. */
typedef struct teams {
    size_t team, rows, group, groups;
} teams;

/* Large matrices whose rows do not start at vectors: two rows of a team share the loads of x, and
 * of shifted rows its vectors, in larger groups, fewer on a unit.  float32 833x154153 takes 129 us
 * of an H200 in place of 157, 4061x30371 123 in place of 151, 46x768217 40.4 in place of 46.1; of
 * shifted rows that fill the device 2500x50003 takes longer, 143 in place of 131.  float64 gains
 * where rows are few and very long: 47x1122329 110 in place of 118. */
enum {
    PAIRED_ROWS_MIN = 16,
    PAIRED_ROWS_A_UNIT = 9,
    PAIRED_COLUMNS = 1 << 12,
    PAIRED_BYTES = 16 << 20
};
static const teams PAIRED = {.team = 32, .rows = 2, .group = 256, .groups = 4};
static const teams PAIRED_LONG = {.team = 64, .rows = 2, .group = 256, .groups = 4};

static bool is_paired(const job *j, const row_loads *how)
{
    const tsr_matvec_problem *p = matvec_of(j->problem);
    const matvec_view v = matvec_view_of(p);

    if (j->device->kind == DEVICE_CPU || how->aligned || param(j->params, "GROUP") ||
        matvec_incx(p) != 1 || matvec_incy(p) != 1 || v.rows < PAIRED_ROWS_MIN ||
        v.rows * v.columns * tsr_type_size(p->type) < PAIRED_BYTES)
        return false;
    if (p->type == TSR_F64)
        return v.columns >= LONG_COLUMNS && v.rows <= LONG_ROWS_MAX;
    return p->type == TSR_F32 && v.columns >= PAIRED_COLUMNS &&
           (!how->shifted || v.rows <= PAIRED_ROWS_A_UNIT * matvec_groups_wanted(j, 1));
}

/* Those of shapes that the usual ones suit less. */
static teams teams_of_shape(const job *j, const row_loads *how)
{
    const tsr_matvec_problem *p = matvec_of(j->problem);
    const matvec_view v = matvec_view_of(p);
    const bool few = has_few_rows(j), of_16_bits = tsr_type_size(p->type) == 2;

    if (is_paired(j, how))
        return how->shifted || p->type == TSR_F64 ? PAIRED_LONG : PAIRED;
    if (few && !how->whole && v.columns >= LONG_COLUMNS && v.rows >= LONG_ROWS_MIN &&
        v.rows <= LONG_ROWS_MAX) {
        if (how->checked)
            return (teams){.group = LONG_CHECKED_GROUP, .groups = LONG_CHECKED_GROUPS};
        if (!how->aligned && v.rows == LONG_ROWS_MIN)
            return (teams){.group = LONG_FEWEST_GROUP, .groups = LONG_FEWEST_GROUPS};
        return (teams){.team = LONG_TEAM};
    }
    if (j->device->kind == DEVICE_CPU)
        return (teams){0};
    if (!few && (how->aligned || how->shifted) && !of_16_bits &&
        v.rows <= WIDE_ROWS_A_UNIT * matvec_groups_wanted(j, 1) && v.columns >= WIDE_COLUMNS)
        return (teams){.team = WIDE_TEAM};
    if (few && !how->aligned && p->type == TSR_F32 && v.columns >= WIDE_COLUMNS &&
        v.rows >= WIDE_ANYWHERE_ROWS)
        return (teams){
            .team = WIDE_TEAM, .group = WIDE_ANYWHERE_GROUP, .groups = WIDE_ANYWHERE_GROUPS};
    if (how->shifted && !how->whole && !of_16_bits && v.rows > 1 && v.rows <= SHIFTED_ROWS_FEW)
        return (teams){.team = SHIFTED_FEW_TEAM};
    if (!few && how->several && !(how->aligned && how->full) && !of_16_bits &&
        !param(j->params, "TEAM") && !param(j->params, "GROUP") && v.columns > SHORT_COLUMNS_MIN &&
        v.columns <= (p->type == TSR_F64 ? SHORT_COLUMNS_F64 : SHORT_COLUMNS)) {
        if (v.columns <= SHORT_NARROW)
            return (teams){.team = SHORT_TEAM, .rows = 2};
        return (teams){.team = WARP, .rows = 2, .group = SHORT_ROWS_GROUP};
    }
    if (how->whole && how->aligned && how->full && !param(j->params, "TEAM")) {
        const size_t vectors = size_div_up(v.columns, matvec_load_elements(p));
        const size_t a_unit = v.rows / matvec_groups_wanted(j, 1);

        if (of_16_bits && how->several && a_unit >= HALF_WARPS_A_UNIT &&
            vectors > HALF_WARPS_VECTORS && vectors <= HALF_WARPS_VECTORS_MAX)
            return (teams){.team = WARP / 2, .rows = 2};
        if (of_16_bits && how->several && a_unit >= TWO_ROWS_A_UNIT && vectors > TWO_ROWS_VECTORS)
            return (teams){.team = WARP, .rows = 2};
        if (p->type == TSR_F64 && !param(j->params, "GROUP") && a_unit >= TEAMS_F64_ROWS_A_UNIT &&
            team_by_shape(j, vectors, FEW_ROWS_TEAM_MAX, true) >= TEAMS_F64)
            return (teams){.team = TEAMS_F64, .group = TEAMS_F64_GROUP};
    }
    return (teams){0};
}

static const char *split_rows(const job *j, plan *out)
{
    const tsr_matvec_problem *p = matvec_of(j->problem);
    const size_t vec = lane_vector(j), columns = matvec_view_of(p).columns;
    const uint32_t group_set = param(j->params, "GROUP"), per_unit = param(j->params, "PER_UNIT");
    const bool aligned = matvec_vectors_aligned(j, vec), full = vec == matvec_load_elements(p),
               few_whole = has_few_rows(j) && rows_are_whole(j);
    /* Not of 16 bits: a branch that loads them waits for what it turns into float32. */
    const bool checked =
        aligned && full && tsr_type_size(p->type) > 2 && !is_small(j) && !few_whole;
    const bool whole = per_unit ? per_unit == 1 : rows_are_whole(j) && !checked;
    const bool shifted = is_shifted(j);
    const bool several = !checked && !shifted && matvec_incx(p) == 1 && matvec_incy(p) == 1;
    const size_t width = aligned || shifted ? vec : 1;
    const row_loads how = {.aligned = aligned,
                           .full = full,
                           .checked = checked,
                           .shifted = shifted,
                           .several = several,
                           .whole = whole};
    const teams shape = teams_of_shape(j, &how);
    const size_t groups_usual = shape.groups ? shape.groups : SPLIT_GROUPS;
    const char *why = matvec_unsupported_portable(j, out);
    size_t local = group_fit(j->device, 0,
                             group_set     ? group_set
                             : shape.group ? shape.group
                                           : SPLIT_GROUP);
    size_t rows = param(j->params, "ROWS");
    size_t team = param(j->params, "TEAM"), tiles, step, parts, loads;
    matvec_cut c;

    if (why)
        return why;
    if (p->trans)
        return "the rows of a transposed A are not contiguous: see split-row";
    if (team == 0 && shape.team <= local) {
        team = shape.team;
        rows = rows ? rows : shape.rows;
    }
    if (team == 0)
        team = team_by_shape(j, size_div_up(columns, matvec_load_elements(p)),
                             group_set ? local : group_fit(j->device, 0, FEW_ROWS_TEAM_MAX), whole);
    if (!group_set && team > local)
        local = group_fit(j->device, 0, team);
    if (team > local)
        return plan_unsupported(out, "TEAM=%zu exceeds the work-group of %zu", team, local);
    if (!rows)
        rows = several && aligned ? rows_of_team(j, team) : 1;
    if (!param(j->params, "ROWS") &&
        ((shifted && local / team % vec) ||
         matvec_unsupported_local(j, local / team * rows * (team + 1), out)))
        rows = 1;
    if (rows > 1 && shifted && local / team % vec)
        return plan_unsupported(
            out,
            "ROWS=%zu needs rows that start at one place of a vector: %zu teams "
            "are no multiple of %zu",
            rows, local / team, vec);
    if (rows > 1 && !several && !shifted)
        return plan_unsupported(out, "ROWS=%zu is for vectors that are neither checked nor strided",
                                rows);
    /* No more parts than groups that the device runs at once: what is left would run alone at the
     * end. */
    tiles = size_max(matvec_tiles(j, local / team * rows), 1);
    step = step_columns(j, team);
    parts = whole ? 1 : matvec_groups_wanted(j, per_unit ? per_unit : groups_usual) / tiles;
    c = matvec_cut_into(j, local, local / team * rows, parts, step, step);
    why = matvec_unsupported_cut(j, &c, out);
    if (!why && rows > 1)
        why = matvec_unsupported_local(j, c.rows * (team + 1), out);
    if (why)
        return why;
    plan_set(out, "TEAM", (uint32_t)team);
    plan_set(out, "ROWS", (uint32_t)rows);
    plan_set(out, "GROUP", (uint32_t)local);
    plan_set(out, "PER_UNIT", per_unit ? per_unit : whole ? 1 : (uint32_t)groups_usual);
    loads = checked ? VECTORS_AT_ONCE
                    : loads_of_lane(size_min(columns, c.chunk), team, width,
                                    shifted && rows > 2 ? 2 : step / team / width);
    if (!shifted)
        state_pieces(matvec_view_of(p), team, rows, width, checked ? 1 : team * loads, &c);
    matvec_plan_cut(j, &c, out);
    matvec_define_vectors(j, vec, out);
    plan_define(out, "CHECKED=%d", checked);
    plan_define(out, "SHIFTED=%d", shifted);
    plan_define(out, "LOADS=%zu", loads);
    return NULL;
}

/* A column without gaps, transposed, is a row. */
static const char *split_vector_plan(const job *j, plan *out)
{
    const tsr_matvec_problem *p = matvec_of(j->problem);
    problem posed = *j->problem;
    job as_row = *j;

    if (p->trans && matvec_view_of(p).rows == 1 && matvec_is_flat(p)) {
        tsr_matvec_problem *row = matvec_in(&posed);

        row->trans = false;
        row->rows = 1;
        row->columns = p->rows;
        row->lda = 0;
        as_row.problem = &posed;
    }
    return split_rows(&as_row, out);
}

const variant matvec_split_vector = {
    .name = "split-vector",
    .idea =
        "vector loads, several in flight in each work-item, and more work-items the longer a row",
    .answers = 1u << CAUSE_ACCESS | 1u << CAUSE_LATENCY,
    .unstated = "loads rows that start inside a vector as their places in it need",
    .source = "matvec/matvec_split_vector.cl",
    .entries = {"matvec_split_vector", "matvec_add_parts"},
    .build = "",
    .uses = LAST_GROUP_USES,
    .group_counters = true,
    .tunables = split_vector_tunables,
    .tunable_count = ARRAY_COUNT(split_vector_tunables),
    .program_a_shape = true,
    .plan = split_vector_plan};

/* ---- column-slices ------------------------------------------------------------------------ */

static const tunable column_slices_tunables[] = {
    {"ACROSS",
     "work-items side by side along a row of A, as far as it reaches; the others take other rows; "
     "0: by the shape",
     {0, 4, 8, 16, 32, 64, 128},
     0},
    {"LOADS", LOADS_MEANING "; 0: by the shape", {0, 2, 4, 8}, 0},
    {"STAGES",
     "2: the next rows of A are loaded while these are added up; 1: after that; 0: by the shape",
     {0, 1, 2},
     0},
    {"PAST_L1", PAST_L1_MEANING, {0, 1, 2}, 0},
    {"GROUP",
     MATVEC_GROUP "; 0: by the shape",
     {0, 64, 128, 256, 512, 1024},
     0,
     512,
     .host_only = true},
    {"PER_UNIT",
     MATVEC_PER_UNIT "; 0: by the shape",
     {0, 1, 2, 3, 4, 8, 16},
     0,
     .host_only = true,
     .any = true},
};

enum {
    SLICES_LOADS_MIN = 2,
    SLICES_ADDED = 16, /* parts that a work-item adds up while others are as many again */
    SLICES_GROUP = 512,
    SLICES_SMALL_GROUP = 256, /* where rows of A are not aligned, or A is small: more of them */
    SLICES_PIECES_MAX = 32,   /* single elements that a work-item loads at once */
    SLICES_GROUP_MIN = 64,
    /* Steps of a part: few, so that units that are done early take another one, and fewer where
       that leaves many groups all the same. */
    SLICES_STEPS = 4,
    SLICES_FEW_STEPS = 2,
    /* Groups on each unit: at least, where rows of A allow it, what is many, and at most, as parts
       have to be added up. */
    SLICES_GROUPS_MIN = 2,
    SLICES_GROUPS_MANY = 8,
    SLICES_GROUPS_MAX = 32,
    /* The least rows of A that are loaded past the first-level cache.  An H200 was 5% slower with
       it at 10 rows, as fast at 30, and 2 to 17% faster from 1000 on. */
    SLICES_PAST_L1_ROWS = 32
};

/* What tunables of column-slices that are 0 come to. */
typedef struct slicing {
    size_t across, loads, stages;
    size_t parts; /* 0: of a few steps each */
    size_t past_l1;
    size_t group; /* 0: SLICES_GROUP, or less where A is small */
} slicing;

/* A row of 512 bytes. */
static const slicing SLICES_USUAL = {.across = 32, .loads = 8, .stages = 1, .past_l1 = 2};

/* Tiles as wide as a cache line of 128 bytes that fill the units once: each group has whole columns
 * of A, and nothing is added up between groups.  The least share of the units that they have to
 * keep busy, and the least stages of rows of A. */
static const slicing SLICES_WHOLE = {
    .across = 8, .loads = 8, .stages = 2, .parts = 1, .past_l1 = 2};
static const double SLICES_WHOLE_BUSY = 0.9;
enum { SLICES_WHOLE_STAGES = 2 };

/* The same of 32 and 64 bits, where tiles are more than the units or fewer: the first of these ways
 * that has tiles for `busy` of the units, and up to so many for each, of A up to so many bytes.  On
 * 132 units they took 0.66 to 0.9 of the time of parts that are added up. */
static const struct {
    size_t across, group, bytes;
    double busy;
} SLICES_STAGED[] = {{8, 256, 64 << 20, 1}, {4, 256, 32 << 20, 1}, {4, 512, 32 << 20, 0.65}};
enum { SLICES_STAGED_TILES = 4 };

/* Few elements of y, which wider tiles leave lanes without, of a float32 A that stays in the cache:
 * 28636x72 transposed takes 7.6 us of an H200 in place of 12.8, 40000x40 7.6 in place of 9.4. */
static const slicing SLICES_FEW = {
    .across = 8, .loads = 8, .stages = 1, .past_l1 = 2, .group = 256};
enum {
    SLICES_FEW_ELEMENTS = 128,
    SLICES_FEW_ROWS = 1 << 13, /* of A, at least */
    SLICES_FEW_BYTES = 32 << 20,
    SLICES_FEW_GROUPS = 4
};

/* Short columns of very many elements of y in float64: longer streams.  20x2014378 transposed takes
 * 84 us of an H200 in place of 98. */
static const slicing SLICES_LOW = {
    .across = 128, .loads = 4, .stages = 1, .parts = 1, .past_l1 = 1, .group = 256};
enum { SLICES_LOW_ROWS = 32, SLICES_LOW_TILES = 16 };

/* Rows of A up to which SLICES_SHORT, where it applies, reads them sooner. */
enum { SLICES_SHORT_FIRST = 640 };

/* The least share of the units that narrow tiles of 16-bit elements keep busy. */
static const double SLICES_NARROW_BUSY = 0.6;

/* 16-bit elements: more loads in flight are slower.  Work-groups for each unit where A is large,
 * and where it has SLICES_LARGEST_BYTES or more, and a tile for each of them. */
static const slicing SLICES_16_BITS = {.across = 32, .loads = 4, .stages = 1, .group = 256};
enum { SLICES_16_BITS_GROUPS = 4, SLICES_LARGEST_GROUPS = 8, SLICES_LARGEST_BYTES = 128 << 20 };

/* Where y has fewer tiles than that, each is cut into many parts, whose sums take long to add up:
 * up to 32 MiB narrow tiles are faster.  bfloat16 9787x712 transposed takes 10.4 us of an H200 in
 * place of 16.6, 2405x2456 9.8 of an H100 in place of 11.1. */
enum {
    SLICES_16_BITS_TILES = 16,
    SLICES_16_BITS_NARROW = 8,
    SLICES_16_BITS_NARROW_BYTES = 32 << 20
};

/* The same of float64, from so many tiles for the units on: long streams; and twice as
 * many groups of half their width where they are fewer than two for each unit, of a quarter where
 * they are fewer than one. */
static const slicing SLICES_FLOAT64 = {.across = 64, .loads = 4, .stages = 1, .past_l1 = 2};
enum { SLICES_FLOAT64_GROUPS = 2, SLICES_FLOAT64_FEW_GROUPS = 4 };
static const double SLICES_FLOAT64_BUSY = 0.5;

/* Of fewer tiles: SLICES_FEW, in groups that fill the units' work-items once.  41992x528 transposed
 * takes 45 us of an H200 in place of 53, 12000x1600 40 in place of 51, 6000x4000 49 in place of 55.
 */
enum { SLICES_FLOAT64_TALL_GROUPS = 8 };

/* Whole columns of a tile that one group reads in less time than adding up takes, where tiles do
 * not fill the device many times: narrower tiles where groups would be fewer than units. */
static const slicing SLICES_SHORT = {
    .across = 8, .loads = 8, .stages = 1, .parts = 1, .past_l1 = 2};
enum {
    SLICES_SHORT_COLUMNS = 16, /* of op(A): up to so many a work-item loads at once */
    SLICES_SHORT_ACROSS_MIN = 4,
    SLICES_SHORT_TILES = 2,       /* for each unit, ... */
    SLICES_SHORT_BYTES = 4 << 20, /* ... or so many bytes of A */
    SLICES_SHORT_ELEMENTS = 16
};

/* Two parts and more that fill the units, three groups each: the least share of those groups that
 * there has to be, and the least stages of a part, to make up for adding up.  On 132 units they
 * were faster at 10000 x 10000 than many short parts. */
static const double SLICES_FILLING_BUSY = 0.98, SLICES_FILLING_BUSY_SHIFTED = 0.95;
enum { SLICES_FILLING_GROUPS = 3, SLICES_FILLING_STAGES = 8 };

/* Tall float32 matrices whose rows do not start at cache lines: fewer loads at once, in two stages.
 */
enum {
    SLICES_TALL = 1 << 16,
    SLICES_TALL_COLUMNS = 1023,
    SLICES_TALL_LOADS = 4,
    SLICES_LINE = 128 /* bytes */
};

/* Bytes of A from which on vectors of rows that start anywhere are read sooner than their elements
 * one by one: below, adding up by columns takes longer. */
enum { SHIFTED_BYTES = 256 << 10 };

/* Rows of A from which on they start at the same places of vectors again, where they do not all
 * start at vectors, but the first one does: slices of rows that start alike take whole vectors, and
 * a tile is a vector narrower.  1 for other A. */
static size_t starts_of(const job *j, size_t vec, size_t local)
{
    const tsr_matvec_problem *p = matvec_of(j->problem);
    const size_t lda = size_max(matvec_lda(p), 1);
    view first = matvec_a(p);

    first.lines = 1;
    /* A vector that begins before a row is to begin in the row before it. */
    if (!matvec_aligned(j, &first, vec) || local < 2 * vec || lda < vec ||
        p->rows * p->columns * tsr_type_size(p->type) < SHIFTED_BYTES)
        return 1;
    return vec / size_min(vec, lda & -lda);
}

/* Rows of op(A) in a tile. */
static size_t tile_rows(size_t across, size_t vec, size_t starts)
{
    return (across - (starts > 1)) * vec;
}

/* Of shifted vectors, a group for each unit: whole columns where tiles are as many, or parts where
 * a row of A has up to so many bytes, of which wider tiles would leave lanes idle. */
static const slicing SLICES_SHIFTED = {.across = 16, .loads = 8, .stages = 1, .past_l1 = 2};
enum { SLICES_SHIFTED_ROW = 512 };
/* Rows of 16 bits up to which half as many groups, half as large, are sooner done: bfloat16
 * 1673x133 transposed takes 5.2 us of an H200 in place of 6.0. */
static const slicing SLICES_SHIFTED_BRIEF = {
    .across = 16, .loads = 4, .stages = 1, .past_l1 = 2, .group = 256};
enum { SLICES_SHIFTED_BRIEF_ROWS = 4096 };

/* Of a large A of 32 or 16 bits and so many rows: several groups for each unit. */
static const slicing SLICES_SHIFTED_LARGE = {.across = 32, .loads = 4, .stages = 1, .group = 256};
enum { SLICES_SHIFTED_GROUPS = 3, SLICES_SHIFTED_ROWS = 512 };

/* Up to 32 MiB, and of 16 bits from 4 MiB on: narrower tiles, of which more are beside each other.
 * On an H200 float32 14517x363 takes 10.1 us in place of 12.4, bfloat16 3224x1323 7.4 in place of
 * 9.5. */
static const slicing SLICES_SHIFTED_MEDIUM = {.across = 16, .loads = 8, .stages = 1, .group = 256};
enum {
    SLICES_SHIFTED_MEDIUM_GROUPS = 2,
    SLICES_SHIFTED_MEDIUM_BYTES = 32 << 20,
    SLICES_SHIFTED_MEDIUM_BYTES_MIN = 4 << 20
};

/* Whether whole columns by SLICES_STAGED suit a shape, and how, where nothing is set.  Tiles that
 * SLICES_WHOLE is for are not. */
static bool slices_are_staged(const job *j, size_t vec, size_t starts, slicing *out)
{
    const tsr_matvec_problem *p = matvec_of(j->problem);
    const matvec_view v = matvec_view_of(p);
    const double units = (double)matvec_groups_wanted(j, 1);
    const double bytes = (double)v.rows * (double)v.columns * (double)tsr_type_size(p->type);
    const double whole = (double)matvec_tiles(j, tile_rows(SLICES_WHOLE.across, vec, 1));
    const view a = matvec_a(p);

    if (tsr_type_size(p->type) == 2 || starts > 1 || !matvec_aligned(j, &a, vec) ||
        param(j->params, "GROUP") || param(j->params, "LOADS") ||
        (whole >= SLICES_WHOLE_BUSY * units && whole <= units))
        return false;
    for (size_t i = 0; i < ARRAY_COUNT(SLICES_STAGED); i++) {
        const size_t across = SLICES_STAGED[i].across, group = SLICES_STAGED[i].group;
        const double tiles = (double)matvec_tiles(j, tile_rows(across, vec, 1));

        if (tiles < SLICES_STAGED[i].busy * units)
            continue;
        *out = SLICES_WHOLE;
        out->across = across;
        out->group = group;
        return bytes <= (double)SLICES_STAGED[i].bytes && tiles <= SLICES_STAGED_TILES * units &&
               group_fit(j->device, 0, group) == group &&
               v.columns > group / across * SLICES_WHOLE.loads;
    }
    return false;
}

/* Parts of the columns that make so many groups of tiles of so many rows. */
static size_t parts_of_tiles(const job *j, size_t groups, size_t rows)
{
    return size_max(groups / size_max(matvec_tiles(j, rows), 1), 1);
}

/* The slicing that suits a shape, where none of its tunables is set but for LOADS. */
static slicing slices_by_shape(const job *j, size_t local, size_t starts)
{
    const tsr_matvec_problem *p = matvec_of(j->problem);
    const matvec_view v = matvec_view_of(p);
    const size_t vec = matvec_load_elements(p), loads = param(j->params, "LOADS");
    const bool unset = !loads && !param(j->params, "GROUP");
    slicing usual = SLICES_USUAL, s;

    if (v.columns < SLICES_PAST_L1_ROWS)
        usual.past_l1 = 1;
    s = usual;
    if (param(j->params, "ACROSS") || param(j->params, "PER_UNIT") || matvec_batch(p) > 1)
        return s;

    const size_t units = matvec_groups_wanted(j, 1);
    const size_t rows_whole = tile_rows(SLICES_WHOLE.across, vec, starts);

    slicing staged;
    const bool is_staged = slices_are_staged(j, vec, starts, &staged);

    if (is_staged && v.columns > SLICES_SHORT_FIRST)
        return staged;

    const view a = matvec_a(p);
    const size_t size = tsr_type_size(p->type);
    const bool of_16_bits = size == 2 && starts == 1 && matvec_aligned(j, &a, vec);
    const size_t tiles_short = matvec_tiles(j, tile_rows(SLICES_SHORT.across, vec, starts));
    const double narrow = (double)matvec_tiles(j, tile_rows(SLICES_SHORT_ACROSS_MIN, vec, starts));
    /* Of 16 bits the narrower tiles to come are for twice as many rows, where they are enough. */
    const size_t across_short =
        of_16_bits && narrow <= (double)units && narrow >= SLICES_NARROW_BUSY * (double)units
            ? SLICES_SHORT_ACROSS_MIN
            : SLICES_SHORT.across;

    if (v.columns > SLICES_SHORT_COLUMNS &&
        v.columns <= WHOLE_BYTES_MAX / (across_short * vec * size) &&
        (tiles_short <= SLICES_SHORT_TILES * units ||
         v.columns <= SLICES_SHORT_BYTES / tsr_type_size(p->type) / size_max(v.rows, 1))) {
        s = SLICES_SHORT;
        s.past_l1 = usual.past_l1;
        while (s.across > SLICES_SHORT_ACROSS_MIN &&
               matvec_tiles(j, tile_rows(s.across / 2, vec, starts)) <= units)
            s.across /= 2;
        return s;
    }
    if (is_staged)
        return staged;

    const size_t tiles_shifted = matvec_tiles(j, tile_rows(SLICES_SHIFTED.across, vec, starts));

    if (starts > 1 && SLICES_SHIFTED.across <= local && tiles_shifted <= units &&
        ((double)tiles_shifted >= SLICES_WHOLE_BUSY * (double)units ||
         v.rows <= SLICES_SHIFTED_ROW / tsr_type_size(p->type))) {
        s = SLICES_SHIFTED;
        s.parts = units / size_max(tiles_shifted, 1);
        if (size == 2 && unset && s.parts > 1 && v.columns <= SLICES_SHIFTED_BRIEF_ROWS) {
            const size_t parts = s.parts / 2;

            s = SLICES_SHIFTED_BRIEF;
            s.parts = parts;
        }
        return s;
    }

    const double bytes = (double)v.rows * (double)v.columns * (double)size;

    if (starts > 1 && size < 8 && v.columns >= SLICES_SHIFTED_ROWS && unset &&
        (!is_small(j) || (size == 2 && bytes >= SLICES_SHIFTED_MEDIUM_BYTES_MIN))) {
        const bool medium = bytes <= SLICES_SHIFTED_MEDIUM_BYTES;

        s = medium ? SLICES_SHIFTED_MEDIUM : SLICES_SHIFTED_LARGE;
        s.past_l1 = usual.past_l1;
        s.parts = parts_of_tiles(
            j, (medium ? SLICES_SHIFTED_MEDIUM_GROUPS : SLICES_SHIFTED_GROUPS) * units,
            tile_rows(s.across, vec, starts));
        return s;
    }

    const size_t tiles = matvec_tiles(j, rows_whole);
    const size_t stage = local / SLICES_WHOLE.across * (loads ? loads : SLICES_WHOLE.loads);

    /* Two stages of 16-bit elements leave too few registers. */
    if (size > 2 && SLICES_WHOLE.across <= local && v.rows > rows_whole / 2 && tiles <= units &&
        (double)tiles >= SLICES_WHOLE_BUSY * (double)units &&
        v.columns >= SLICES_WHOLE_STAGES * stage)
        return SLICES_WHOLE;

    if (of_16_bits && unset && !is_small(j)) {
        s = SLICES_16_BITS;
        if (bytes <= SLICES_16_BITS_NARROW_BYTES &&
            matvec_tiles(j, tile_rows(s.across, vec, starts)) < SLICES_16_BITS_TILES)
            s.across = SLICES_16_BITS_NARROW;

        const size_t rows_16 = tile_rows(s.across, vec, starts);
        const bool largest = matvec_tiles(j, rows_16) >= units &&
                             p->rows >= SLICES_LARGEST_BYTES / size / size_max(p->columns, 1);

        s.past_l1 = usual.past_l1;
        s.group = largest ? 0 : s.group;
        s.parts = parts_of_tiles(
            j, (largest ? SLICES_LARGEST_GROUPS : SLICES_16_BITS_GROUPS) * units, rows_16);
        return s;
    }
    if (size == 4 && starts == 1 && matvec_aligned(j, &a, vec) && unset &&
        v.rows <= SLICES_FEW_ELEMENTS && v.rows > tile_rows(SLICES_SHORT_ACROSS_MIN, vec, 1) &&
        v.columns >= SLICES_FEW_ROWS && bytes <= SLICES_FEW_BYTES) {
        s = SLICES_FEW;
        s.past_l1 = usual.past_l1;
        s.parts = parts_of_tiles(j, SLICES_FEW_GROUPS * units, tile_rows(s.across, vec, 1));
        return s;
    }
    if (size == 8 && starts == 1 && matvec_aligned(j, &a, vec) && unset && !is_small(j)) {
        const size_t low = matvec_tiles(j, tile_rows(SLICES_LOW.across, vec, 1));

        if (v.columns > SLICES_SHORT_COLUMNS && v.columns <= SLICES_LOW_ROWS &&
            low >= SLICES_LOW_TILES * units)
            return SLICES_LOW;

        const size_t wide = matvec_tiles(j, tile_rows(SLICES_FLOAT64.across, vec, starts));

        if ((double)wide >= SLICES_FLOAT64_BUSY * (double)units) {
            const bool few = wide < 2 * units;

            s = SLICES_FLOAT64;
            s.across /= wide < units ? 4 : few ? 2 : 1;
            s.parts =
                parts_of_tiles(j, (few ? SLICES_FLOAT64_FEW_GROUPS : SLICES_FLOAT64_GROUPS) * units,
                               tile_rows(s.across, vec, starts));
            return s;
        }
        s = SLICES_FEW;
        s.past_l1 = usual.past_l1;
        s.parts =
            parts_of_tiles(j, SLICES_FLOAT64_TALL_GROUPS * units, tile_rows(s.across, vec, 1));
        return s;
    }

    if (size == 4 && starts == 1 && v.columns >= SLICES_TALL && v.rows <= SLICES_TALL_COLUMNS &&
        v.rows * size % SLICES_LINE != 0 && unset) {
        s.loads = SLICES_TALL_LOADS;
        s.stages = 2;
    }

    const size_t groups = matvec_groups_wanted(j, SLICES_FILLING_GROUPS);
    const size_t rows = tile_rows(s.across, vec, starts);
    const size_t at_once = local / s.across * (loads ? loads : s.loads);

    /* Shifted float64 is faster in many short parts: 50506x2583 takes 244 us of an H200 in place of
     * 264. */
    if (s.across <= local && v.rows > rows / 2 && !(size == 8 && starts > 1)) {
        const size_t parts = groups / size_max(matvec_tiles(j, rows), 1);
        const matvec_cut c = matvec_cut_into(j, local, rows, parts, at_once, at_once);

        if (c.parts >= 2 && c.chunk >= SLICES_FILLING_STAGES * at_once &&
            (double)(c.parts * c.tiles) >=
                (starts > 1 ? SLICES_FILLING_BUSY_SHIFTED : SLICES_FILLING_BUSY) * (double)groups)
            s.parts = c.parts;
    }
    return s;
}

static const char *unsupported_vectors(const job *j, const matvec_cut *c, plan *out)
{
    const tsr_matvec_problem *p = matvec_of(j->problem);
    const char *why = matvec_unsupported_portable(j, out);

    if (!why && !p->trans)
        why = "A is not transposed: see tree-vector and flat-rows";
    if (!why)
        why = matvec_unsupported_cut(j, c, out);
    return why ? why : matvec_unsupported_local(j, c->local * matvec_load_elements(p), out);
}

static const char *column_slices_plan(const job *j, plan *out)
{
    const tsr_matvec_problem *p = matvec_of(j->problem);
    const matvec_view v = matvec_view_of(p);
    const view a = matvec_a(p);
    const size_t vec = matvec_load_elements(p);
    const uint32_t group_set = param(j->params, "GROUP");
    size_t local = group_fit(j->device, 0, group_set ? group_set : SLICES_GROUP);
    const size_t starts = starts_of(j, vec, local);
    const bool aligned = starts > 1 || matvec_aligned(j, &a, vec);
    const bool small = !aligned || starts > 1 || is_small(j);
    const slicing shape = slices_by_shape(j, local, starts);
    const uint32_t across_set = param(j->params, "ACROSS"), loads_set = param(j->params, "LOADS"),
                   stages_set = param(j->params, "STAGES"), past_set = param(j->params, "PAST_L1"),
                   per_unit = param(j->params, "PER_UNIT");
    size_t loads = loads_set ? loads_set : shape.loads;
    const bool past_l1 = !unsupported_past_l1(j, aligned);
    const bool is_short = shape.parts == 1 && shape.stages == SLICES_SHORT.stages;
    /* Rows of A for each slice: single elements take as many loads as a vector has of them. */
    const size_t short_rows = aligned ? loads : size_max(SLICES_SHORT_ELEMENTS / vec, 1);
    size_t across = size_min(across_set ? across_set : shape.across, local);
    size_t slices, rows, tiles, at_once, parts;
    const char *why;
    matvec_cut c;

    if (!group_set && shape.group)
        local = group_fit(j->device, 0, shape.group);
    else if (!group_set && small && shape.stages == 1 && !shape.parts && !across_set)
        local = size_min(local, SLICES_SMALL_GROUP);
    if (!loads_set && !aligned)
        loads = size_min(loads, SLICES_PIECES_MAX / vec);
    /* More where slices would outnumber rows of A, and no more than a row of A has vectors for. */
    while (shape.parts != 1 && across < local && local / across * loads > size_max(v.columns, 1))
        across *= 2;
    while (across > 1 && tile_rows(across / 2, vec, starts) >= v.rows)
        across /= 2;
    /* A slice at least for each start. */
    while (across > 2 && local / across < starts)
        across /= 2;
    across = size_max(across, starts > 1 ? 2 : 1);
    /* No more work-items than rows of A have loads for: they would add zeros up. */
    while (is_short && !group_set && local > SLICES_GROUP_MIN &&
           local / across * short_rows >= 2 * v.columns && local / 2 / across >= starts)
        local /= 2;
    slices = local / across;
    rows = tile_rows(across, vec, starts);
    tiles = size_max(matvec_tiles(j, rows), 1);
    at_once = slices * loads;
    if (per_unit) {
        parts = matvec_groups_wanted(j, per_unit) / tiles;
    } else {
        /* Shorter parts, whose rows are loaded one by one, where groups would be too few. */
        while (at_once > slices &&
               size_div_up(v.columns, at_once) * tiles < matvec_groups_wanted(j, 1))
            at_once /= 2;
        parts = size_div_up(v.columns, SLICES_STEPS * at_once);
        if (parts * tiles >= matvec_groups_wanted(j, SLICES_GROUPS_MANY))
            parts = size_div_up(v.columns, SLICES_FEW_STEPS * at_once);
        parts = size_min(parts, matvec_groups_wanted(j, SLICES_GROUPS_MAX) / tiles);
        parts = size_max(parts, matvec_groups_wanted(j, SLICES_GROUPS_MIN) / tiles);
        /* Parts of a single step, of which the last group adds few up at a time. */
        parts = size_min(parts, size_max(SLICES_ADDED * (local / size_min(rows, local)),
                                         size_div_up(v.columns, slices * loads)));
        /* What one group loads at once is not cut: float32 791x4 transposed takes 2.7 us of an H200
         * in place of 4.3, 2000x3 3.5 in place of 4.6. */
        if (tiles == 1 && v.columns <= slices * loads)
            parts = 1;
        if (shape.parts)
            parts = shape.parts;
    }
    c = matvec_cut_into(j, local, rows, parts, at_once, at_once);
    /* No more loads than a part has rows of A for each slice. */
    while (!loads_set && loads > SLICES_LOADS_MIN &&
           size_min(c.chunk, v.columns) <= loads / 2 * slices)
        loads /= 2;
    why = unsupported_vectors(j, &c, out);
    if (!why && past_set == 2)
        why = unsupported_past_l1(j, aligned);
    if (why)
        return why;
    plan_set(out, "GROUP", (uint32_t)local);
    plan_set(out, "ACROSS", (uint32_t)across);
    plan_set(out, "LOADS", (uint32_t)loads);
    plan_set(out, "STAGES", stages_set ? stages_set : (uint32_t)shape.stages);
    plan_set(out, "PAST_L1", past_set ? past_set : past_l1 ? (uint32_t)shape.past_l1 : 1);
    if (!per_unit) /* as many as come out, to the next whole number */
        plan_set(out, "PER_UNIT",
                 (uint32_t)size_max(size_div_up(c.tiles * c.parts, matvec_groups_wanted(j, 1)), 1));
    matvec_plan_cut(j, &c, out);
    plan_define(out, "VEC=%zu", vec);
    plan_define(out, "ALIGNED=%d", aligned);
    plan_define(out, "STARTS=%zu", starts);
    plan_define(out, "CHECKED=%d", !small);
    return NULL;
}

const variant matvec_column_slices = {
    .name = "column-slices",
    .idea = "transposed: a vector of sums per work-item, slices of a group share the rows of A",
    .unstated = "loads by slices, and the shape decides how much at their ends",
    .source = "matvec/matvec_column_slices.cl",
    .entries = {"matvec_column_slices", "matvec_add_parts"},
    .build = "",
    .uses = LAST_GROUP_USES | 1u << FEATURE_LOAD_ONCE,
    .group_counters = true,
    .tunables = column_slices_tunables,
    .tunable_count = ARRAY_COUNT(column_slices_tunables),
    .program_a_shape = true,
    .plan = column_slices_plan};

/* ---- short-columns ------------------------------------------------------------------------ */

static const tunable short_columns_tunables[] = {
    {"LOADS", LOADS_MEANING, {2, 4, 8, 16}, 4},
    {"PAST_L1", PAST_L1_MEANING, {0, 1, 2}, 0},
    {"GROUP",
     MATVEC_GROUP "; 0: by the shape",
     {0, 64, 128, 256, 512, 1024},
     0,
     64,
     .host_only = true},
    {"PER_UNIT",
     MATVEC_PER_UNIT "; 0: by the shape",
     {0, 1, 2, 3, 4, 8, 16},
     0,
     .host_only = true,
     .any = true},
};

/* A of more than MATVEC_NARROW_COLUMNS columns is wide: each part leaves many sums, so one part for
 * each unit, in the largest groups, which also leave the fewest work-items idle.  Of a narrow A a
 * unit runs several groups at once; 16-bit vectors take twice the registers, so fewer. */
enum {
    SHORT_COLUMNS_WIDE_GROUP = 1024,
    SHORT_COLUMNS_GROUP = 256,
    SHORT_COLUMNS_PER_UNIT = 4,
    SHORT_COLUMNS_PER_UNIT_16_BITS = 2
};

static const char *short_columns_plan(const job *j, plan *out)
{
    const tsr_matvec_problem *p = matvec_of(j->problem);
    const size_t rows = matvec_view_of(p).rows, vec = matvec_load_elements(p);
    const bool wide = rows > MATVEC_NARROW_COLUMNS;
    const uint32_t group_set = param(j->params, "GROUP"), set = param(j->params, "PER_UNIT"),
                   past_set = param(j->params, "PAST_L1");
    const size_t loads = param(j->params, "LOADS");
    const size_t local = group_fit(j->device, 0,
                                   group_set ? group_set
                                   : wide    ? SHORT_COLUMNS_WIDE_GROUP
                                             : SHORT_COLUMNS_GROUP);
    const matvec_flat f = matvec_flat_of(p, local);
    const size_t lines = size_max(f.lines, 1);
    /* One tile of all rows.  No more parts than groups that the device runs at once: the others
     * would run alone at the end.  Whole steps are whole vectors as well, so that parts begin
     * aligned. */
    const uint32_t per_unit = set    ? set
                              : wide ? SHORT_COLUMNS_WIDE_GROUP / (uint32_t)local
                              : tsr_type_size(p->type) == 2 ? SHORT_COLUMNS_PER_UNIT_16_BITS
                                                            : SHORT_COLUMNS_PER_UNIT;
    const size_t parts = matvec_groups_wanted(j, per_unit);
    const matvec_cut c = matvec_cut_into(j, local, size_max(rows, 1), parts, lines * loads, lines);
    const char *why = unsupported_vectors(j, &c, out), *not_past;
    view first = matvec_a(p);

    first.lines = 1;
    not_past = unsupported_past_l1(j, matvec_aligned(j, &first, vec));
    if (!why)
        why = matvec_unsupported_flat(j, &f, local, out);
    if (!why && past_set == 2)
        why = not_past;
    if (why)
        return why;
    plan_set(out, "GROUP", (uint32_t)local);
    plan_set(out, "PER_UNIT", per_unit);
    plan_set(out, "PAST_L1", past_set ? past_set : wide && !not_past ? 2 : 1);
    matvec_plan_cut(j, &c, out);
    matvec_define_vectors_of_a(j, true, out);
    /* `vec` neighbours, the first of which may end a row, reach beyond the next row only then. */
    plan_define(out, "ROWS_MET=%zu", rows % vec == 0 ? 1 : rows + 1 >= vec ? 2 : vec);
    return NULL;
}

const variant matvec_short_columns = {
    .name = "short-columns",
    .idea = "transposed, narrow, without gaps: vectors of one array, a sum for each element",
    .unstated =
        "loads vectors that hold parts of several rows, and for each as much of x as they need",
    .source = "matvec/matvec_short_columns.cl",
    .entries = {"matvec_short_columns", "matvec_add_parts"},
    .build = "",
    .uses = LAST_GROUP_USES | 1u << FEATURE_LOAD_ONCE,
    .group_counters = true,
    .tunables = short_columns_tunables,
    .tunable_count = ARRAY_COUNT(short_columns_tunables),
    .plan = short_columns_plan};
