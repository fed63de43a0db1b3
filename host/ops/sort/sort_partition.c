#include "ops/sort/sort_partition.h"

#include "base/fail.h"
#include "base/sizes.h"
#include "ops/sort/sort_commands.h"
#include "stream/engine.h"

size_t sort_element(const tsr_sort_problem *q, size_t which)
{
    const size_t bytes[] = {tsr_type_size(q->type), q->argsort ? sizeof(int64_t) : 0,
                            q->value_bytes};

    return bytes[which];
}

host_rows sort_elements(const tsr_sort_problem *q, size_t which, void *array, size_t first,
                        size_t end)
{
    const size_t offset[] = {q->offset_keys, q->offset_index, q->offset_values};
    const size_t size = sort_element(q, which);

    return host_bytes((unsigned char *)array + (offset[which] + first) * size,
                      (end - first) * size);
}

problem sort_piece(const problem *whole, size_t rows, size_t n)
{
    problem p = *whole;

    sort_in(&p)->n = n;
    sort_in(&p)->rows = rows;
    sort_in(&p)->offset_keys = sort_in(&p)->offset_index = sort_in(&p)->offset_values = 0;
    return p;
}

/* Of the widest operand. */
static size_t widest(const tsr_sort_problem *q)
{
    return size_max(size_max(sort_element(q, SORT_KEYS), sort_element(q, SORT_INDEX)),
                    sort_element(q, SORT_VALUES));
}

bool sort_fits(const tsr_sort_problem *q, size_t rows, size_t slots, const stream_budget *budget)
{
    const size_t keys = rows * q->n; /* the whole is checked, and this is no more */

    return keys <= budget->each / widest(q) && keys <= budget->all / slots / sort_entry_bytes(q);
}

/* ---- one row as its keys arrive -------------------------------------------------------------- */

static const partition_kind arriving = {.name = "arriving", .run = sort_arriving_run};

/* ---- rows ------------------------------------------------------------------------------------ */

/* ROWS rows at a time, with what goes with their keys. */
enum { ROWS };

static void rows_piece(const partition *p, void *const host[], size_t i, piece *out)
{
    const tsr_sort_problem *q = sort_of(p->problem);
    const size_t at = i * p->cut[ROWS], rows = size_min(p->cut[ROWS], sort_rows(q) - at);

    *out = (piece){.problem = sort_piece(p->problem, rows, q->n)};
    for (size_t o = 0; o < SORT_OPERANDS; o++)
        if (sort_element(q, o))
            out->slice[o] =
                (slice){.slot = i,
                        .rows = sort_elements(q, o, host[o], at * q->n, (at + rows) * q->n),
                        .blocks = 1,
                        .in = o != SORT_INDEX,
                        .out = true};
}

static const partition_kind in_rows = {.name = "rows", .piece = rows_piece};

static void cut_rows(const tsr_sort_problem *q, const stream_budget *budget, partition *out)
{
    const size_t row = q->n * sort_entry_bytes(q), rows = sort_rows(q);
    const size_t bytes = size_min(stream_piece_bytes(rows * row, budget->all / PARTITION_SLOTS_MAX),
                                  budget->each / widest(q) * sort_entry_bytes(q));
    const size_t each = size_min(size_max(bytes / row, 1), rows);

    *out = (partition){.kind = &in_rows, .pieces = size_div_up(rows, each), .cut = {[ROWS] = each}};
    for (size_t o = 0; o < SORT_OPERANDS; o++)
        if (sort_element(q, o))
            out->slots[o] =
                (operand_slots){PARTITION_SLOTS_MAX, each * q->n * sort_element(q, o), 0};
    partition_add_shape(out, 0);
    if (rows % each)
        partition_add_shape(out, out->pieces - 1);
}

/* ---- pairs of chunks ------------------------------------------------------------------------- */

/* Rows that the device does not hold, keys alone, one after another in chunks of CHUNK keys: the
 * network of cl/sort/sort_naive.cl, whose elements are chunks and whose comparators sort two of
 * them together, the first of the keys to the lower one.  Any sorting network sorts such chunks
 * (Knuth, The Art of Computer Programming, vol. 3, 2nd ed., 5.3.4, exercise 38); a last one that is
 * short counts as filled up with keys that come last. */
enum { CHUNK };

/* Pairs on the device at once: one is sorted, one comes or goes. */
enum { PAIR_SLOTS = 2 };

/* Pairs of a sub-stage: blocks of twice `half` chunks, of the last of which some are not there. */
static size_t pairs_of(size_t count, size_t half)
{
    const size_t rest = count % (2 * half);

    return count / (2 * half) * half + (rest > half ? rest - half : 0);
}

size_t sort_exchange_pairs(size_t chunks)
{
    size_t pairs = 0;

    for (size_t half = 1; half < chunks; half *= 2)
        for (size_t stride = half; stride > 0; stride /= 2)
            pairs += pairs_of(chunks, stride);
    return pairs;
}

/* Two chunks, and how many sub-stages of their row are before theirs. */
typedef struct pair {
    size_t low, high, stage;
} pair;

/* Pair `which` of a row of so many chunks.  The first sub-stage of a stage pairs i with i XOR
 * (2 half - 1), the others with i XOR stride. */
static pair pair_at(size_t chunks, size_t which)
{
    size_t stage = 0;

    for (size_t half = 1;; half *= 2)
        for (size_t stride = half; stride > 0; stride /= 2, stage++) {
            const size_t count = pairs_of(chunks, stride), block = which / stride * 2 * stride;
            size_t low = block + which % stride;

            if (which >= count) {
                which -= count;
                continue;
            }
            if (stride < half)
                return (pair){low, low + stride, stage};
            if (chunks - block < 2 * stride) /* partners of the first ones are not there */
                low += 2 * stride - (chunks - block);
            return (pair){low, block + 2 * stride - 1 - (low - block), stage};
        }
}

static size_t sub_stages(size_t chunks)
{
    size_t stages = 0, all = 0;

    for (size_t half = 1; half < chunks; half *= 2)
        all += ++stages;
    return all;
}

void sort_exchange_piece(const partition *p, void *const host[], size_t i, piece *out)
{
    const tsr_sort_problem *q = sort_of(p->problem);
    const size_t chunk = p->cut[CHUNK], chunks = size_div_up(q->n, chunk);
    const size_t pairs = sort_exchange_pairs(chunks), row = i / pairs;
    const pair both = pair_at(chunks, i % pairs);
    const size_t short_by = both.high + 1 == chunks ? chunks * chunk - q->n : 0;
    const size_t first = row * q->n + both.low * chunk, size = sort_element(q, SORT_KEYS);

    *out = (piece){.problem = sort_piece(p->problem, 1, 2 * chunk - short_by),
                   .stage = row * sub_stages(chunks) + both.stage};
    out->slice[SORT_KEYS] =
        (slice){.slot = i,
                .rows = sort_elements(q, SORT_KEYS, host[SORT_KEYS], first, first + chunk),
                .blocks = 2,
                .step = (both.high - both.low) * chunk * size,
                .short_by = short_by * size,
                .in = true,
                .out = true};
}

static const partition_kind in_exchange = {.name = "exchange", .piece = sort_exchange_piece};

/* The first pair that has the last chunk: the first sub-stage in which that has one before it. */
static size_t first_short_pair(size_t chunks)
{
    const size_t last = chunks - 1;
    size_t i = 0, half;

    for (half = 1; !(last & half); half *= 2)
        for (size_t stride = half; stride > 0; stride /= 2)
            i += pairs_of(chunks, stride);
    return i + pairs_of(chunks, half) - 1;
}

static tsr_status cut_exchange(const tsr_sort_problem *q, const stream_budget *budget,
                               partition *out, tsr_error *err)
{
    const size_t key = sort_element(q, SORT_KEYS);
    /* A variant may copy a pair to its workspace, beside those that come and go.  A pair is what
     * the fast variants number. */
    const size_t pairs = budget->limited ? PAIR_SLOTS : PAIR_SLOTS + 1;
    const size_t most = size_min(budget->all / (2 * pairs), budget->each / 2) / key;
    const size_t chunk = size_min(size_min(most, INT32_MAX / 2), q->n);
    size_t chunks;

    if (!chunk)
        return stream_refuse(err, "sort", budget, 2 * PAIR_SLOTS * key, "%d keys", 2 * PAIR_SLOTS);
    chunks = size_div_up(q->n, chunk);
    *out = (partition){.kind = &in_exchange,
                       .pieces = SIZE_MAX,
                       .cut = {[CHUNK] = chunk},
                       .slots = {[SORT_KEYS] = {PAIR_SLOTS, 2 * chunk * key, 0}}};
    size_mul(sort_rows(q), sort_exchange_pairs(chunks), &out->pieces);
    if (chunks > 2 || q->n % chunk == 0)
        partition_add_shape(out, 0);
    if (q->n % chunk)
        partition_add_shape(out, first_short_pair(chunks));
    return TSR_OK;
}

/* ---- choosing -------------------------------------------------------------------------------- */

tsr_status sort_partition(const problem *p, const selection *sel, const stream_budget *budget,
                          partition *out, tsr_error *err)
{
    const tsr_sort_problem *q = sort_of(p);
    const size_t rows = sort_rows(q), entries = rows * q->n;
    const bool holds = sort_fits(q, rows, 1, budget),
               slots = sort_fits(q, 1, PARTITION_SLOTS_MAX, budget);
    const bool large = entries >= STREAMED_MIN / sort_entry_bytes(q);
    const bool keys_alone = !q->argsort && !q->value_bytes;

    if (!entries || (holds && !large && !budget->limited))
        return TSR_OK;
    if (holds && rows == 1) {
        if (sel->variant->arrives)
            *out = (partition){.kind = &arriving, .pieces = 1};
        return TSR_OK;
    }
    /* Few rows, of which not one fits in each slot, but all at once. */
    if (holds && (!large || !slots))
        return TSR_OK;
    if (rows > 1 && slots) {
        cut_rows(q, budget, out);
        return TSR_OK;
    }
    if (keys_alone)
        return cut_exchange(q, budget, out, err);
    if (rows > 1)
        return stream_refuse(err, "sort", budget, PARTITION_SLOTS_MAX * q->n * sort_entry_bytes(q),
                             "%d rows of keys, their values and indices", (int)PARTITION_SLOTS_MAX);
    return budget->limited ? stream_refuse(err, "sort", budget, q->n * sort_entry_bytes(q),
                                           "%zu keys, their values and indices", q->n)
                           : TSR_OK;
}
