/** The variants of matvec for CPUs: explicit vectors, and work-groups of one work-item, since those
 *  of a CPU gain nothing from each other. */
#include <string.h>

#include "base/sizes.h"
#include "core/last_group.h"
#include "core/private_memory.h"
#include "ops/matvec/matvec_plan.h"
#include "ops/matvec/matvec_variants.h"

#define BITS_MEANING     "width of a vector of sums; 0: of the device's registers"
#define PREFETCH_MEANING "2: memory is asked for ahead of its use, 1: it is not"

enum {
    BITS_MIN = 128,
    BITS_USUAL = 256,
    BITS_MAX = 512,
    /* Elements of the vectors of columns-vector. */
    VEC_MIN = 2,
    VEC_MAX = 16,
    /* Rows of A at once.  Registers twice as wide come with twice as many of them, and more rows
       are more streams to fetch ahead of. */
    LINES_USUAL = 4,
    LINES_WIDE = 8,
    /* Elements of a row, or of A, below which a part costs more to launch than to sum. */
    PART_MIN = 8192
};

/* Elements of a vector of sums: resolves BITS, of the device's registers where it is 0. */
static size_t vector_elements(const job *j, plan *out)
{
    const size_t set = param(j->params, "BITS"), native = j->device->vector_bits;
    const size_t bits = set      ? set
                        : native ? size_min(size_max(native, BITS_MIN), BITS_MAX)
                                 : BITS_USUAL;

    plan_set(out, "BITS", (uint32_t)bits);
    return bits / (8 * matvec_real_size(matvec_of(j->problem)));
}

/* The most rows of A that a work-item takes at once. */
static size_t lines_max(const job *j)
{
    return j->device->vector_bits >= BITS_MAX ? LINES_WIDE : LINES_USUAL;
}

/* Resolve PREFETCH of long rows: memory is asked for ahead of its use on Intel's cores alone, whose
 * own prefetching ends with a page.  AMD's lose by it. */
static void set_prefetch(const job *j, plan *out)
{
    if (!param(j->params, "PREFETCH"))
        plan_set(out, "PREFETCH", strcmp(j->device->vendor, "GenuineIntel") == 0 ? 2 : 1);
}

/* ---- rows-vector --------------------------------------------------------------------------- */

static const tunable rows_vector_tunables[] = {
    {"ROWS",
     "rows of a work-item: more share a load of x; 0: what the registers hold, alike for all cores",
     {0, 1, 2, 4, 8},
     0},
    {"BITS", BITS_MEANING, {0, 128, 256, 512}, 0, 128, .host_only = true},
    {"PER_UNIT", MATVEC_PER_UNIT, {1, 2, 4, 8, 16}, 4, .host_only = true},
    {"PREFETCH", PREFETCH_MEANING "; 0: by the maker of the cores", {0, 1, 2}, 0},
};

/* Of whole tiles: beyond the last row it is read again.  Vectors of x serve all rows of a tile, and
 * what is left behind the last vector of a part one. */
static void state_rows(matvec_view v, size_t vec, matvec_cut *c)
{
    const double rows = (double)c->tiles * (double)c->rows;
    const size_t last = v.columns - size_min(v.columns, (c->parts - 1) * c->chunk);
    const double ends = (double)(c->parts - 1) * (double)(c->chunk % vec) + (double)(last % vec);

    c->stated = true;
    c->of_a = rows * (double)v.columns;
    c->of_x = (double)c->tiles * ((double)v.columns - ends) + rows * ends;
}

static const char *rows_vector_plan(const job *j, plan *out)
{
    const tsr_matvec_problem *p = matvec_of(j->problem);
    const size_t units = size_max(j->device->compute_units, 1);
    const size_t vec = vector_elements(j, out);
    const char *why = matvec_unsupported_portable(j, out);
    size_t rows = param(j->params, "ROWS"), parts;
    matvec_cut c;

    if (why)
        return why;
    if (p->trans)
        return "the rows of a transposed A are not contiguous: see columns-vector";
    if (rows == 0) {
        /* As many as the registers hold, in as many work-items for each unit. */
        const size_t all = size_max(matvec_view_of(p).rows, 1);

        rows = size_div_up(all, size_round_up(size_div_up(all, lines_max(j)), units));
    }
    parts = size_div_up(matvec_groups_wanted(j, param(j->params, "PER_UNIT")),
                        size_max(matvec_tiles(j, rows), 1));
    c = matvec_cut_into(j, 1, rows, parts, PART_MIN, vec);
    why = matvec_unsupported_cut(j, &c, out);
    if (why)
        return why;
    plan_set(out, "ROWS", (uint32_t)rows);
    set_prefetch(j, out);
    state_rows(matvec_view_of(p), vec, &c);
    matvec_plan_cut(j, &c, out);
    plan_define(out, "VEC=%zu", vec);
    plan_define(out, "ALIGNED=0");
    return NULL;
}

const variant matvec_rows_vector = {
    .name = "rows-vector",
    .idea = "CPUs: explicit vectors along a few rows at once, which share the loads of x",
    .source = "matvec/matvec_rows_vector.cl",
    .entries = {"matvec_rows_vector", "matvec_add_parts"},
    .build = "",
    .uses = LAST_GROUP_USES,
    .group_counters = true,
    .tunables = rows_vector_tunables,
    .tunable_count = ARRAY_COUNT(rows_vector_tunables),
    .plan = rows_vector_plan};

/* ---- short-rows-vector --------------------------------------------------------------------- */

static const tunable short_rows_vector_tunables[] = {
    {"BITS",
     BITS_MEANING ", of as many rows at once",
     {0, 128, 256, 512},
     0,
     128,
     .host_only = true},
    {"PER_UNIT",
     "work-items per compute unit: more balance better, and fewer are cheaper to launch",
     {1, 4, 16, 64},
     16,
     .host_only = true},
    /* On an EPYC with AVX-512 100000 x 10 takes 0.11 ms with it, and 0.38 without. */
    {"PREFETCH", PREFETCH_MEANING, {1, 2}, 2},
};

static const char *short_rows_vector_plan(const job *j, plan *out)
{
    const size_t items = size_max(j->device->compute_units, 1) * param(j->params, "PER_UNIT");
    const size_t vec = vector_elements(j, out);
    const matvec_call call = matvec_call_of(j);
    const char *why;

    if (matvec_of(j->problem)->trans)
        return "the rows of a transposed A are not contiguous: see columns-vector";
    why = matvec_unsupported_rows(j, out);
    if (why)
        return why;
    matvec_define_operands(j, 1, out);
    plan_define(out, "VEC=%zu", vec);
    matvec_launch(j, size_min(size_div_up(call.rows, vec), items), 1, &call, out);
    return NULL;
}

const variant matvec_short_rows_vector = {
    .name = "short-rows-vector",
    .idea = "CPUs, short rows: masked ends, and as many rows as a vector has elements added up at "
            "once",
    .unstated = "reads beyond the ends of rows, into the next ones",
    .source = "matvec/matvec_short_rows_vector.cl",
    .entries = {"matvec_short_rows_vector"},
    .build = "",
    .tunables = short_rows_vector_tunables,
    .tunable_count = ARRAY_COUNT(short_rows_vector_tunables),
    .plan = short_rows_vector_plan};

/* ---- columns-vector ------------------------------------------------------------------------ */

static const tunable columns_vector_tunables[] = {
    {"WIDTH",
     "most sums that a work-item keeps: more make longer stretches of A, fewer stay in cache; 0: "
     "by the rows of A",
     {0, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384},
     0,
     64},
    {"LINES",
     "rows of A at once: more share a load of the sums; 0: what the registers hold",
     {0, 4, 8},
     0},
    {"BITS",
     BITS_MEANING ", less where there are few",
     {0, 128, 256, 512},
     0,
     128,
     .host_only = true},
    {"PER_UNIT", MATVEC_PER_UNIT, {1, 2, 4, 8, 16}, 4, .host_only = true},
    {"PREFETCH", PREFETCH_MEANING "; 0: by the maker of the cores", {0, 1, 2}, 0},
};

enum {
    /* Sums of a work-item where WIDTH does not say: 64 and 16 KiB of float. */
    WIDTH_MAX = 16384,
    WIDTH_FEW_LINES = 4096,
    FEW_LINES = 64,
    /* The least of them that tiles are narrowed to: 4 KiB of float; and how many times adding up is
       to go into reading. */
    WIDTH_MIN = 1024,
    ADDING_SHARE = 64
};

/* Tiles, of which the last work-item of each adds the parts up: as many as make that no more than
 * 1/64 of reading, if they are not too narrow, and divide the groups.  It adds groups / tiles parts
 * of rows / tiles sums, and reads rows * columns / units elements. */
static size_t tiles_for_adding(const job *j)
{
    const matvec_view v = matvec_view_of(matvec_of(j->problem));
    const size_t groups = matvec_groups_wanted(j, param(j->params, "PER_UNIT"));
    const size_t most = size_min(v.rows / WIDTH_MIN, groups);
    const double least = (double)ADDING_SHARE * (double)groups *
                         (double)matvec_groups_wanted(j, 1) / (double)size_max(v.columns, 1);
    size_t tiles = 1;

    if (last_group_of(j->device) == LAST_GROUP_NONE)
        return 1;
    for (size_t t = 2; t <= most && (double)tiles * (double)tiles < least; t++)
        if (groups % t == 0)
            tiles = t;
    return tiles;
}

/* An element of x serves the sums of a tile where `lines` of them are taken at once, and one sum
 * where fewer are left of a part. */
static void state_lines(matvec_view v, size_t lines, matvec_cut *c)
{
    const size_t last = v.columns - size_min(v.columns, (c->parts - 1) * c->chunk);
    const double ends =
        (double)(c->parts - 1) * (double)(c->chunk % lines) + (double)(last % lines);

    c->stated = true;
    c->of_a = (double)v.rows * (double)v.columns;
    c->of_x = (double)c->tiles * ((double)v.columns - ends) + (double)v.rows * ends;
}

static const char *columns_vector_plan(const job *j, plan *out)
{
    const tsr_matvec_problem *p = matvec_of(j->problem);
    const matvec_view v = matvec_view_of(p);
    const size_t width_set = param(j->params, "WIDTH"), rows = size_max(v.rows, 1);
    const size_t width_max = width_set               ? width_set
                             : v.columns < FEW_LINES ? WIDTH_FEW_LINES
                                                     : WIDTH_MAX;
    const size_t tiles =
        size_max(size_div_up(rows, width_max), width_set ? 1 : tiles_for_adding(j));
    /* What is fetched ahead of where a tile ends is lost, so tiles are wide; but no wider than
     * adding up takes, and where rows of A are few, sums are read again so soon that they should be
     * in the first-level cache.  Tiles are of one width, as PoCL gives half of the groups that are
     * left to the next core that is idle, however large they are. */
    const size_t width = size_min(size_round_up(size_div_up(rows, tiles), VEC_MAX), width_max);
    size_t capacity = VEC_MAX; /* of the kernel's array: a power of two, for few builds */
    size_t vec = vector_elements(j, out), lines = param(j->params, "LINES"), parts;
    const char *why = matvec_unsupported_portable(j, out);
    matvec_cut c;

    while (capacity < width)
        capacity *= 2;
    if (!why && !p->trans)
        why = "A is not transposed: see rows-vector";
    if (!why)
        why = private_unsupported(j->device, size_max(capacity, width_set) * matvec_real_size(p),
                                  &out->reason);
    if (why)
        return why;
    /* As many as the registers hold, or few alike. */
    if (lines == 0) {
        lines = lines_max(j);
        if (v.columns && v.columns < 2 * lines)
            lines = size_div_up(v.columns, size_div_up(v.columns, lines));
    }
    /* Of neighbouring sums there may be fewer than a vector. */
    while (!param(j->params, "BITS") && vec > VEC_MIN && vec > v.rows)
        vec /= 2;
    parts = size_div_up(matvec_groups_wanted(j, param(j->params, "PER_UNIT")),
                        size_max(matvec_tiles(j, width), 1));
    c = matvec_cut_into(j, 1, width, parts, size_div_up(PART_MIN, size_min(rows, width)), lines);
    why = matvec_unsupported_cut(j, &c, out);
    if (why)
        return why;
    plan_set(out, "WIDTH", (uint32_t)(width_set ? width_set : capacity));
    plan_set(out, "LINES", (uint32_t)lines);
    plan_set(out, "BITS", (uint32_t)(vec * 8 * matvec_real_size(p)));
    set_prefetch(j, out);
    state_lines(v, lines, &c);
    matvec_plan_cut(j, &c, out);
    plan_define(out, "VEC=%zu", vec);
    return NULL;
}

const variant matvec_columns_vector = {
    .name = "columns-vector",
    .idea = "CPUs, transposed: the rows of A are streamed, the sums wait in cache",
    .source = "matvec/matvec_columns_vector.cl",
    .entries = {"matvec_columns_vector", "matvec_add_parts"},
    .build = "",
    .uses = LAST_GROUP_USES,
    .group_counters = true,
    .tunables = columns_vector_tunables,
    .tunable_count = ARRAY_COUNT(columns_vector_tunables),
    .program_a_shape = true,
    .plan = columns_vector_plan};
