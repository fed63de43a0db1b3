/**
 * Sort: the operation, and every way of doing it.
 *
 * The device variants are bitonic networks in the flip form, which
 * cl/sort/sort_naive.cl explains, and radix sorts (cl/sort/sort_radix.cl).  What each kernel
 * expects of its launches stands at the top of its file.
 */
#include <stdlib.h>
#include <string.h>

#include "base/elements.h"
#include "base/fail.h"
#include "base/sizes.h"
#include "core/variant.h"
#include "core/view.h"
#include "ops/sort/sort_commands.h"
#include "ops/sort/sort_fields.h"
#include "ops/sort/sort_order.h"
#include "ops/sort/sort_partition.h"
#include "ops/sort/sort_proof.h"
#include "ops/sort/sort_variants.h"

/* ---- the table --------------------------------------------------------------------------- */

static const variant *const variants[] = {
    &sort_qsort,
    &sort_host_radix,
    SORT_VARIANTS_OF_ALL_KEYS,
};

/* `naive` took every problem; so did `two-phase`, whose rows of others keep their name. */
static const renaming renamings[] = {{"naive", "-DKEY=", "naive", "general"}};

/* ---- the operation ----------------------------------------------------------------------- */

tsr_status sort_check_extent(const problem *p, const char *what, size_t n, size_t offset,
                             size_t bytes, tsr_error *err)
{
    size_t end;

    if (!size_add(n, offset, &end) || !size_mul(end, bytes, &end) || end > PTRDIFF_MAX)
        return tsr_fail(err, TSR_EOVERFLOW, 0,
                        "%s: %zu %s of %zu bytes at offset %zu exceed what memory can address",
                        p->op->name, n, what, bytes, offset);
    return TSR_OK;
}

static tsr_status check_values(const problem *p, tsr_error *err)
{
    const tsr_sort_problem *s = sort_of(p);
    const size_t bytes = s->value_bytes;

    if (bytes > 16 || (bytes & (bytes - 1)))
        return tsr_fail(err, TSR_EINVAL, 0, "%s: takes values of 1, 2, 4, 8 or 16 bytes, not %zu",
                        p->op->name, bytes);
    /* The workspace holds a copy of them behind their index. */
    if (sort_keys(s) > SIZE_MAX / (2 * (sizeof(int64_t) + 16)))
        return tsr_fail(err, TSR_EOVERFLOW, 0,
                        "%s: %zu values of %zu bytes with their index exceed what memory can "
                        "address",
                        p->op->name, sort_keys(s), bytes);
    return sort_check_extent(p, "values", sort_keys(s), s->offset_values, bytes, err);
}

static tsr_status check(const problem *p, tsr_error *err)
{
    const tsr_sort_problem *s = sort_of(p);
    tsr_status st;
    size_t keys;

    if ((unsigned)s->type >= TSR_TYPE_COUNT)
        return tsr_fail(err, TSR_EINVAL, 0, "%s: type %d does not exist", p->op->name,
                        (int)s->type);
    if (!sort_takes(s->type))
        return tsr_fail(err, TSR_EINVAL, 0,
                        "%s: takes int8 to int64, uint8 to uint64, float16, float32 or float64, "
                        "not %s",
                        p->op->name, tsr_type_name(s->type));
    if (!size_mul(s->n, sort_rows(s), &keys))
        return tsr_fail(err, TSR_EOVERFLOW, 0,
                        "%s: %zu rows of %zu keys exceed what memory can address", p->op->name,
                        s->rows, s->n);
    st = sort_check_extent(p, "keys", keys, s->offset_keys, tsr_type_size(s->type), err);
    if (st == TSR_OK && s->argsort)
        st = sort_check_extent(p, "indices", keys, s->offset_index, sizeof(int64_t), err);
    if (st == TSR_OK && s->value_bytes)
        st = check_values(p, err);
    return st;
}

/* Values are bytes: an integer type of that size, or one that they are two of. */
static tsr_type value_type(size_t bytes)
{
    return bytes == 1 ? TSR_U8 : bytes == 2 ? TSR_U16 : bytes == 4 ? TSR_U32 : TSR_U64;
}

/* n elements of so many bytes from an offset on. */
static operand line_of(const char *name, tsr_type type, size_t bytes, size_t n, size_t offset,
                       operand_access access)
{
    const size_t each = bytes / tsr_type_size(type); /* values of 16 bytes are two of 8 */
    const view x = view_of(type, 1, n * each, n * each, offset * each, 1, 0);

    return view_operand(name, &x, access);
}

/* The index has no bytes where values alone need it, and the workspace has one. */
static size_t operands(const problem *p, operand out[OPERANDS_MAX])
{
    const tsr_sort_problem *s = sort_of(p);

    out[0] = line_of("keys", s->type, tsr_type_size(s->type), sort_keys(s), s->offset_keys,
                     ACCESS_READ_WRITE);
    out[1] = line_of("index", TSR_I64, sizeof(int64_t), s->argsort ? sort_keys(s) : 0,
                     s->argsort ? s->offset_index : 0, ACCESS_WRITE);
    out[1].whole = true;
    out[1].read_back = true;
    out[2] = line_of("values", value_type(s->value_bytes), s->value_bytes,
                     s->value_bytes ? sort_keys(s) : 0, s->offset_values, ACCESS_READ_WRITE);
    return s->value_bytes ? 3 : s->argsort ? 2 : 1;
}

double sort_work(const problem *p)
{
    return (double)sort_keys(sort_of(p));
}

double sort_traffic(const tsr_sort_problem *s, size_t kept)
{
    const size_t key = tsr_type_size(s->type);
    const size_t written = key + 2 * s->value_bytes + (s->argsort ? sizeof(int64_t) : 0);

    return (double)sort_rows(s) * ((double)s->n * (double)key + (double)kept * (double)written);
}

static double bytes(const problem *p)
{
    return sort_traffic(sort_of(p), sort_of(p)->n);
}

void sort_describe_inputs(const problem *p, text *out)
{
    if (p->inputs)
        text_format(out, ", %s input", sort_fill_word(p->inputs));
}

static void describe(const problem *p, text *out)
{
    const tsr_sort_problem *s = sort_of(p);

    if (sort_rows(s) > 1)
        text_format(out, "%zu rows of ", sort_rows(s));
    text_format(out, "%zu %s%s%s", s->n, tsr_type_name(s->type), s->argsort ? " argsort" : "",
                s->descending ? " descending" : "");
    if (s->value_bytes)
        text_format(out, " with %zu-byte values", s->value_bytes);
    sort_describe_inputs(p, out);
}

/* The direction costs nothing; the bytes that move with each stage or digit and the number of these
 * do.  Values that do not go along with their keys are as an argsort.  Of several rows it is the
 * length that counts. */
static void classify(const problem *p, text *out)
{
    sort_class_of_keys(sort_of(p), "", sort_of(p)->n, out);
}

/* Rows of up to so many keys leave most of a work-item's vectors idle: several to a tile are
 * faster. */
enum { SHORT_ROW = 8 };

/* Up to so many keys of each of several rows, and of one, shuffles beat local memory.  With an
 * index or 64 bits each key takes two: rows are faster without, and one alone above half as many.
 */
enum { SHUFFLED_ROW = 128, SHUFFLED_ALONE = 4096 };

/* Of one row of keys with an index, or of 64 bits, on a GPU: up to so many comparing all with all
 * is the fastest, but for the least, which one work-group sorts by the network; 64 bits with an
 * index have none.  Of 32 bits up to more: 8200 with 4-byte values take 17.9 us of an H200, and by
 * digits 27.7.  So it is for these alone by the clock of the host, as it launches two kernels: 8293
 * float32 take 19.7 us from call to result, and by the network 24 to 36; of the device 17.9 and
 * 16.6. */
enum { COUNTED_MIN = 1025, COUNTED_MAX = 8192, COUNTED_WORDS_MAX = 9216 };

/* From so many keys on of one row, digits that work-items rank alone are faster than the network,
 * which does more the more keys there are.  The network takes a key and its index in 64 bits,
 * digits any. */
enum { RADIX_KEYS_ALONE = 1 << 26 };

/* The same of digits that warps rank.  Keys of 16 bits and less have at most two digits, of 32
 * four and of 64 eight; the network takes twice as long with an index, or with keys of 64 bits.  On
 * an H200 digits of 70000 uint32 take 30.9 us, and the network 34.1; of 12000 with 4-byte values
 * 28.2 and 32.6; of 16400 with an index 29.3 and 33.4. */
static size_t radix_keys_of_warps(const tsr_sort_problem *s)
{
    const bool narrow = tsr_type_size(s->type) <= 2;

    if (sort_held_bytes(s) == 4)
        return narrow ? 1 << 14 : (1 << 16) + 1;
    if (!sort_with_index(s))
        return 1 << 18;
    if (narrow)
        return COUNTED_MAX + 1;
    return sort_values_go_along(s) ? COUNTED_WORDS_MAX + 1 : 1 << 14;
}

/* Keys of 8 and 16 bits have one digit and two, which one work-group sorts in one launch as long as
 * its tile has room for all: on an H200 sooner than the network, or comparing all with all, from so
 * many keys on.  Above a tile of 8 bits alone their counts are faster than anything else. */
enum {
    BYTES_MIN_WITH = 257, /* with an index or values */
    BYTES_MIN_ALONE = 2049,
    WORDS_MIN_WITH = 1025,
    WORDS_MIN_ALONE = 4097,
    TILE_WITH_8_BYTES = 4096, /* keys with as much beside each */
    TILE_WITH_4_BYTES = 8192,
    WORDS_TILE_ALONE = 8192, /* the network is faster than larger ones */
    BYTES_TILE_ALONE = 9216,
    /* Rows that are counted each: 1000 of 2000 int8 take an H200 15.7 us so and 13.8 by the
     * network, 50000 of 513 188 and 222. */
    BYTES_ROW_MIN = 2049,
    BYTES_ROWS_MIN = 513, /* of so many: */
    MANY_ROWS = 4096
};

static const char *preferred_for_digits(const tsr_sort_problem *s, const device_facts *d)
{
    const bool with = sort_with_index(s), one_digit = tsr_type_size(s->type) == 1;
    const bool wide = sort_values_go_along(s) && s->value_bytes > 4;
    size_t least, most;

    if (sort_rows(s) > 1)
        return one_digit && !with &&
                       s->n >= (sort_rows(s) < MANY_ROWS ? BYTES_ROW_MIN : BYTES_ROWS_MIN)
                   ? "value-counts"
                   : NULL;
    if (tsr_type_size(s->type) > 2)
        return NULL;
    if (one_digit && !with && s->n > BYTES_TILE_ALONE)
        return "value-counts";
    if (one_digit) {
        least = with ? BYTES_MIN_WITH : BYTES_MIN_ALONE;
        most = SIZE_MAX;
    } else {
        least = with ? WORDS_MIN_WITH : WORDS_MIN_ALONE;
        most = !with ? WORDS_TILE_ALONE : wide ? TILE_WITH_8_BYTES : TILE_WITH_4_BYTES;
    }
    /* Other GPUs do not promise that groups that have started get on; one tile was timed on
     * NVIDIA's alone. */
    return d->nv_capability >= 70 && s->n >= least && s->n <= most ? "onesweep" : NULL;
}

static bool prefers_counted(const tsr_sort_problem *s)
{
    const bool words = tsr_type_size(s->type) == 4, alone = sort_held_bytes(s) == 4;
    const size_t least = alone ? SHUFFLED_ALONE + 1 : sort_packs(s) ? COUNTED_MIN : 0;

    if (sort_rows(s) > 1 || (alone && !words))
        return false;
    return s->n >= least && s->n <= (words ? COUNTED_WORDS_MAX : COUNTED_MAX);
}

/* Keys of 64 bits, and of 32 with an index where warps do not sweep: from so many on merges are
 * faster than the network or comparing all with all, and up to so many faster than digits. */
enum { MERGED_MIN = (1 << 14) + 1, MERGED_MAX = (1 << 20) - 1, MERGED_WORDS_MAX = (1 << 16) - 1 };

/* A tile of merges has 7/8 of a power of 2 keys: of the last eighth before a power of 2 they take a
 * launch more than of the others.  Up to so many keys of 64 bits the network is faster there. */
enum { NETWORK_MAX = 1 << 16 };

static bool has_launch_more(size_t n)
{
    const size_t power = (size_t)1 << size_log2_up(n);

    return n > power / 8 * 7;
}

static bool prefers_merges(const tsr_sort_problem *s, const device_facts *d)
{
    const size_t key = tsr_type_size(s->type);
    const bool words = key == 4 && d->nv_capability < 70;

    if (sort_rows(s) > 1 || sort_held_bytes(s) == 4 || (key < 8 && !words))
        return false;
    if (words)
        return s->n >= MERGED_MIN &&
               s->n <= (s->value_bytes ? MERGED_WORDS_MAX / 2 : MERGED_WORDS_MAX);
    if (sort_packs(s) && s->n <= NETWORK_MAX && has_launch_more(s->n))
        return false;
    return s->n >= (size_t)(sort_packs(s) ? MERGED_MIN : COUNTED_MAX + 1) && s->n <= MERGED_MAX;
}

/* Up to so many keys the launches of cpu-radix take longer than the network on CPUs. */
enum { NETWORK_KEYS = 1 << 15 };

/* Up to so many keys of one row with an index or values merges are faster on CPUs than digits:
 * those move 8 bytes a key in every pass, digits one pass for each byte of a key and with small
 * values less in each.  Keys of 64 bits leave merges no room for an index: that is the network's
 * limit. */
static size_t most_for_merges(const tsr_sort_problem *s)
{
    switch (tsr_type_size(s->type)) {
    case 1:
        return 1 << 14;
    case 2:
        return 1 << 17;
    case 4:
        return s->value_bytes ? 1 << 21 : 1 << 24;
    default:
        return NETWORK_KEYS;
    }
}

/* Of rows that are not very short, work-items that work alone. */
static size_t prefer_on_cpu(const tsr_sort_problem *s, const char *out[])
{
    const bool alone = sort_rows(s) == 1;
    const bool digits = alone && sort_with_index(s) && s->n > most_for_merges(s);
    size_t n = 0;

    if (digits)
        out[n++] = "cpu-radix";
    if (alone)
        out[n++] = "cpu-merges";
    if (alone || s->n > SHORT_ROW)
        out[n++] = "cpu-vectors";
    if (alone && !digits && s->n > NETWORK_KEYS) /* for what these have no room */
        out[n++] = "cpu-radix";
    return n;
}

static size_t prefer_on_gpu(const problem *p, const device_facts *d, const char *out[])
{
    const size_t keys = sort_rows(sort_of(p)) == 1 ? sort_of(p)->n : 0;
    const bool fused = sort_packs(sort_of(p));
    size_t n = 0;

    if (prefers_merges(sort_of(p), d))
        out[n++] = "merge-path";
    /* Other GPUs do not promise that groups that have started get on. */
    if (d->nv_capability >= 70 && keys >= (fused ? radix_keys_of_warps(sort_of(p)) : 1)) {
        out[n++] = "onesweep";
        out[n++] = "radix-warp";
    }
    if (keys >= (fused ? RADIX_KEYS_ALONE : 1))
        out[n++] = "radix";
    if (fused) {
        out[n++] = "fused-passes-warp";
        out[n++] = "fused-passes";
    }
    return n;
}

/* Rows that a work-group holds whole, and on GPUs a short row alone. */
static size_t prefer_in_one_launch(const problem *p, const device_facts *d, const char *out[])
{
    const size_t words = sort_held_bytes(sort_of(p)) / 4;
    const bool gpu = d->kind == DEVICE_GPU;
    size_t n = 0;

    if (sort_rows(sort_of(p)) == 1) { /* a longer one leaves the device idle */
        if (gpu && sort_of(p)->n <= SHUFFLED_ALONE / words)
            out[n++] = "rows-shfl";
        return n;
    }
    if (gpu && sort_of(p)->n <= SHUFFLED_ROW && words == 1)
        out[n++] = "rows-shfl";
    if (gpu) {
        out[n++] = "rows-warp";
        out[n++] = "rows-registers";
    }
    out[n++] = "rows";
    return n;
}

static size_t prefer(const problem *p, const device_facts *d, const char *out[PREFERENCES_MAX])
{
    static const char *const on_device[] = {"two-phase-registers", "general"};
    const char *digits;
    size_t n = 0;

    if (d->kind == DEVICE_HOST) {
        out[0] = "host-radix";
        return 1;
    }
    if (d->kind == DEVICE_CPU)
        n += prefer_on_cpu(sort_of(p), out);
    if (d->kind == DEVICE_GPU && (digits = preferred_for_digits(sort_of(p), d)))
        out[n++] = digits;
    if (d->kind == DEVICE_GPU && prefers_counted(sort_of(p)))
        out[n++] = "counted";
    n += prefer_in_one_launch(p, d, out + n);
    if (d->kind == DEVICE_GPU && sort_of(p)->n > SORT_SHORT_KEYS)
        n += prefer_on_gpu(p, d, out + n);
    for (size_t i = 0; i < ARRAY_COUNT(on_device); i++)
        out[n++] = on_device[i];
    return n;
}

/* Up to so many keys C is as fast on two cores as the fastest kernels, or nearly; on more of them
 * by no more than a millisecond slower, where compiling those takes seconds. */
enum { IN_C_MAX = 1 << 20 };

const char *sort_prefer_c(const problem *p, const device_facts *d)
{
    (void)d;
    return sort_keys(sort_of(p)) <= IN_C_MAX ? "host-radix" : NULL;
}

/* Of one row of keys, alone or of 64 bits with their positions, C takes less time than the kernels
 * that would run, on two cores and on 16, and none to compile: of 300000000 float32 1.2 s and 0.38,
 * cpu-merges 1.9 and 0.43; of 30000000 uint64 with positions 0.33 and 0.18, cpu-radix 0.42 and
 * 0.26.  With positions of narrower keys it does up to so many. */
enum { IN_C_ARGSORT = 1 << 24 };

static const char *prefer_c(const problem *p, const device_facts *d)
{
    const tsr_sort_problem *s = sort_of(p);
    const bool any = !s->argsort || tsr_type_size(s->type) == 8;

    if (sort_rows(s) == 1 && !s->value_bytes && (any || s->n <= IN_C_ARGSORT))
        return "host-radix";
    return sort_prefer_c(p, d);
}

/* A launch for each sub-stage, and one small kernel for all: 210 launches at most. */
const char *sort_prefer_first(const problem *p, const device_facts *d)
{
    if (d->kind == DEVICE_CPU)
        return sort_keys(sort_of(p)) <= SORT_IN_C_FIRST ? "host-radix" : NULL;
    return sort_keys(sort_of(p)) <= (size_t)1 << 20 ? "general" : NULL;
}

const operation operation_sort = {
    .name = "sort",
    .idea = "keys in order, with them their values, and by argsort the positions they came from",
    .words =
        "a stride is how far apart the keys lie that a sub-stage of the network compares; in a "
        "stage it halves down to 1; a pass reads and writes all keys once",
    .unit = WORK_KEYS,
    .exact = true,
    .uses_up = true,
    .types = (unsigned)SINGLE_TYPES & ~(1u << TSR_BF16),
    .default_type = TSR_U32,
    .result = 0,
    .command = &sort_command,
    .variants = variants,
    .variant_count = ARRAY_COUNT(variants),
    .renamings = renamings,
    .renaming_count = ARRAY_COUNT(renamings),
    .check = check,
    .operands = operands,
    .partition = sort_partition,
    .work = sort_work,
    .bytes = bytes,
    .describe = describe,
    .classify = classify,
    .class_text = sort_class_text,
    .size_text = sort_size_text,
    .shrink = sort_shrink,
    .inputs_name = sort_fill_word,
    .prefer = prefer,
    .prefer_c = prefer_c,
    .prefer_first = sort_prefer_first,
    .fill = sort_fill,
    .sweep = sort_sweep,
    .expect = sort_expect,
    .verify = sort_verify,
};
