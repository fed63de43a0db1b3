/* More keys than the device holds: the network of cl/sort/sort_naive.cl, whose elements are chunks
 * of keys and whose comparators sort two chunks together, the first of the keys to the lower one.
 * Any sorting network sorts such chunks (Knuth, The Art of Computer Programming, vol. 3, 2nd
 * ed., 5.3.4, exercise 38); a last one that is short counts as filled up with keys that come last.
 */
#include "base/clock.h"
#include "base/sizes.h"
#include "ops/sort/sort_order.h"
#include "stream/pipeline.h"
#include "ops/sort/sort_call.h"

/* Two chunks, by number, in a slot of the device. */
typedef struct pair {
    size_t low, high;
    cl_mem slot; /* NULL: there is none */
} pair;

typedef struct exchange {
    sort_call *call;
    unsigned char *keys; /* of the row */
    size_t chunk;        /* keys */
    pipeline *pairs;
    pair before; /* sorted, and not yet on the host */
} exchange;

/* A chunk on the host. */
static host_rows chunk_at(const exchange *x, size_t which)
{
    const size_t n = x->call->whole->n, key = x->call->element[SORT_KEYS];
    const size_t first = which * x->chunk;

    return host_bytes(x->keys + first * key, size_min(x->chunk, n - first) * key);
}

static size_t chunk_bytes(const exchange *x)
{
    return x->chunk * x->call->element[SORT_KEYS];
}

static problem pair_problem(const exchange *x, size_t bytes)
{
    problem p = sort_piece(x->call->whole, 1, bytes / x->call->element[SORT_KEYS]);

    sort_in(&p)->top = 0;
    return p;
}

static tsr_status fetch_before(exchange *x, tsr_error *err)
{
    const pair *b = &x->before;
    const uint64_t start = clock_ns();
    host_rows low, high;
    tsr_status st;

    if (!b->slot)
        return TSR_OK;
    low = chunk_at(x, b->low);
    high = chunk_at(x, b->high);
    st = pipeline_fetch(x->pairs, b->slot, 0, &low, err);
    st = st ? st : pipeline_fetch(x->pairs, b->slot, low.bytes, &high, err);
    x->call->pieces.call->report->from_device_bytes += low.bytes + high.bytes;
    x->call->pieces.call->report->from_device_ns += clock_ns() - start;
    return st;
}

/* Send two chunks, enqueue their sort, and fetch the two before. */
static tsr_status run_pair(exchange *x, size_t a, size_t b, tsr_error *err)
{
    sort_call *c = x->call;
    const host_rows low = chunk_at(x, a), high = chunk_at(x, b);
    const problem p = pair_problem(x, low.bytes + high.bytes);
    const uint64_t start = clock_ns();
    cl_mem buffers[SORT_OPERANDS] = {NULL};
    cl_event sent;
    tsr_status st = pipeline_send(x->pairs, &low, 0, &buffers[0], &sent, err);

    st = st ? st : pipeline_send(x->pairs, &high, low.bytes, &buffers[0], &sent, err);
    c->pieces.call->report->to_device_bytes += low.bytes + high.bytes;
    c->pieces.call->report->to_device_ns += clock_ns() - start;
    if (!st)
        st = pieces_enqueue(&c->pieces, &p, buffers, &(call_ends){.n_wait = 1, .wait = &sent}, err);
    if (st)
        return st;
    pipeline_worked(x->pairs, c->pieces.last);
    c->pieces.call->report->chunks++;
    st = fetch_before(x, err);
    x->before = (pair){a, b, buffers[0]};
    return st;
}

/* The comparators of one sub-stage: chunk i and i XOR mask. */
static tsr_status run_stride(exchange *x, size_t count, size_t mask, tsr_error *err)
{
    tsr_status st = TSR_OK;

    for (size_t i = 0; i < count && !st; i++)
        if ((i ^ mask) > i && (i ^ mask) < count)
            st = run_pair(x, i, i ^ mask, err);
    /* The next sub-stage takes from the host what this one leaves there. */
    st = st ? st : fetch_before(x, err);
    x->before.slot = NULL;
    return st ? st : pipeline_wait(x->pairs, &x->call->pieces.call->report->from_device_ns, err);
}

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

static tsr_status run_row(exchange *x, tsr_error *err)
{
    const size_t count = size_div_up(x->call->whole->n, x->chunk);
    tsr_status st = TSR_OK;

    for (size_t half = 1; half < count && !st; half *= 2) {
        st = run_stride(x, count, 2 * half - 1, err);
        for (size_t stride = half / 2; stride > 0 && !st; stride /= 2)
            st = run_stride(x, count, stride, err);
    }
    return st;
}

/* Pairs of two lengths. */
static tsr_status prepare(exchange *x, tsr_error *err)
{
    const size_t rest = x->call->whole->n % x->chunk * x->call->element[SORT_KEYS];
    const problem whole = pair_problem(x, 2 * chunk_bytes(x));
    const problem last = pair_problem(x, chunk_bytes(x) + rest);
    tsr_status st = pieces_prepare(&x->call->pieces, &whole, err);

    return st || !rest ? st : pieces_prepare(&x->call->pieces, &last, err);
}

tsr_status sort_exchange_run(sort_call *c, size_t keys, tsr_error *err)
{
    const size_t row = c->whole->n * c->element[SORT_KEYS];
    exchange x = {.call = c, .keys = c->array[SORT_KEYS], .chunk = keys};
    tsr_status st = prepare(&x, err);

    st =
        st ? st
           : pipeline_open(c->pieces.call->session, SORT_PAIRS, 2 * chunk_bytes(&x), &x.pairs, err);
    for (size_t r = 0; r < sort_rows(c->whole) && !st; r++, x.keys += row)
        st = run_row(&x, err);
    st = st ? st : pieces_outcome(&c->pieces, err);
    pipeline_close(x.pairs);
    return st;
}
