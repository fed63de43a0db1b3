/* clCreateCommandQueue: the call that devices of every version take. */
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS

#include "stream/copies.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/sizes.h"
#include "base/team.h"
#include "session/events.h"
#include "session/pinned.h"
#include "stream/budget.h"

/* Pageable arrays go through pinned memory in pieces: while one is on its way the next is filled.
 * Pinned rows that are shorter than ROW_MIN go that way too: the device fetches rows one by one,
 * of 4 KiB at half the link's rate. */
enum { PIECES = 4, PIECE_BYTES_MAX = 4 << 20, BLOCK_BYTES = 256 << 10, ROW_MIN = 8 << 10 };
enum { COPY_THREADS_MAX = 8 }; /* more do not copy faster */

/* Buffers that wait for the next call: as many as three operands have slots, of KEPT_BYTES at most,
 * or of a KEPT_SHARE-th of the device's memory if that is more. */
enum { KEPT = 9, KEPT_BYTES = 192 << 20, KEPT_SHARE = 32 };

typedef struct piece {
    pinned memory; /* taken when it is first needed */
    cl_event busy; /* the copy from or to it; NULL: none */
} piece;

typedef struct kept {
    cl_mem buffer;
    size_t bytes;
} kept;

struct copies {
    tsr_session *session;
    cl_command_queue in, out;
    piece pieces[PIECES];
    size_t piece_bytes;
    size_t next_piece;
    cl_event last_out; /* complete only where all before it are */
    kept kept[KEPT];   /* the one that waits longest first */
    size_t kept_count, kept_bytes;
    size_t lent_bytes; /* of the buffers that callers have */
};

/* ---- opening ------------------------------------------------------------------------------- */

static void release(void *data)
{
    copies *c = data;

    copies_settle(c);
    for (size_t i = 0; i < c->kept_count; i++)
        clReleaseMemObject(c->kept[i].buffer);
    for (size_t i = 0; i < PIECES; i++)
        pinned_drop(c->session, &c->pieces[i].memory);
    if (c->in)
        clReleaseCommandQueue(c->in);
    if (c->out)
        clReleaseCommandQueue(c->out);
    free(c);
}

/* A buffer that waits, to be used again or released. */
static cl_mem take_kept(copies *c, size_t which)
{
    const kept k = c->kept[which];

    c->kept_bytes -= k.bytes;
    c->kept_count--;
    memmove(&c->kept[which], &c->kept[which + 1], (c->kept_count - which) * sizeof(k));
    return k.buffer;
}

static void drop_oldest(copies *c)
{
    clReleaseMemObject(take_kept(c, 0));
}

tsr_status copies_of(tsr_session *s, copies **out, tsr_error *err)
{
    copies *c = s->copies_kept.data;
    cl_int rc = CL_SUCCESS;

    if (!c) {
        c = calloc(1, sizeof(*c));
        if (!c)
            return tsr_fail(err, TSR_ENOMEM, 0, "no memory for copies");
        c->session = s;
        c->piece_bytes = PIECE_BYTES_MAX;
        if (session_facts(s)->max_allocation < c->piece_bytes)
            c->piece_bytes = size_max((size_t)session_facts(s)->max_allocation, 1);
        c->in = clCreateCommandQueue(s->context, s->device.id, 0, &rc);
        if (c->in)
            c->out = clCreateCommandQueue(s->context, s->device.id, 0, &rc);
        if (!c->out) {
            release(c);
            return tsr_fail(err, TSR_ECL, rc, "clCreateCommandQueue for copies");
        }
        s->copies_kept = (session_kept){c, release};
    }
    *out = c;
    return TSR_OK;
}

void copies_empty(tsr_session *s)
{
    copies *c = s->copies_kept.data;

    while (c && c->kept_count)
        drop_oldest(c);
}

/* ---- rows ---------------------------------------------------------------------------------- */

host_rows host_bytes(const void *at, size_t bytes)
{
    return (host_rows){.at = (void *)(uintptr_t)at, .count = 1, .bytes = bytes, .pitch = bytes};
}

static bool without_gaps(const host_rows *r)
{
    return r->count == 1 || r->pitch == r->bytes;
}

/* Whether the device copies the rows by itself. */
static bool goes_straight(const copies *c, const host_rows *r)
{
    return !r->matrix && (without_gaps(r) || r->bytes >= ROW_MIN) &&
           pinned_holds(c->session, r->at, (r->count - 1) * r->pitch + r->bytes);
}

/* Bytes from `at` on of rows. */
typedef struct part {
    const host_rows *rows;
    size_t at, bytes;
} part;

/* To or from `packed`. */
static void copy_block(const part *x, unsigned char *packed, bool pack)
{
    const host_rows *r = x->rows;
    size_t n;

    for (size_t done = 0; done < x->bytes; done += n) {
        const size_t at = x->at + done, in_row = at % r->bytes, i = at / r->bytes;
        const size_t matrix = r->matrix ? i / r->matrix : 0;
        unsigned char *row = (unsigned char *)r->at + matrix * r->step +
                             (i - matrix * r->matrix) * r->pitch + in_row;

        n = size_min(x->bytes - done, r->bytes - in_row);
        if (pack)
            memcpy(packed + done, row, n);
        else
            memcpy(row, packed + done, n);
    }
}

/* What threads copy, each some blocks of it. */
typedef struct blocks {
    const part *whole;
    unsigned char *packed;
    bool pack;
} blocks;

static void copy_one(void *context, size_t which, size_t who)
{
    const blocks *b = context;
    const size_t at = which * BLOCK_BYTES;
    const part block = {b->whole->rows, b->whole->at + at,
                        size_min(BLOCK_BYTES, b->whole->bytes - at)};

    (void)who;
    copy_block(&block, b->packed + at, b->pack);
}

/* One thread does not fill the link.  But none is waited for that has not begun: a library of the
 * caller's, such as a BLAS of the CPU, may have threads on all cores that wait for its next call.
 */
static void copy_by_threads(const part *x, unsigned char *packed, bool pack)
{
    blocks b = {x, packed, pack};

    team_run(size_min(team_threads(), COPY_THREADS_MAX), size_div_up(x->bytes, BLOCK_BYTES),
             copy_one, &b);
}

/* ---- pieces -------------------------------------------------------------------------------- */

static tsr_status finish_piece(piece *p, tsr_error *err)
{
    const cl_int rc = p->busy ? clWaitForEvents(1, &p->busy) : CL_SUCCESS;

    event_forget(&p->busy);
    return rc == CL_SUCCESS ? TSR_OK : tsr_fail(err, TSR_ECL, rc, "waiting for a copy");
}

/* The next piece of pinned memory, once it is free. */
static tsr_status take_piece(copies *c, piece **out, tsr_error *err)
{
    piece *p = &c->pieces[c->next_piece];
    tsr_status st = finish_piece(p, err);

    if (!st && !p->memory.at)
        st = pinned_take(c->session, c->piece_bytes, &p->memory, err);
    c->next_piece = (c->next_piece + 1) % PIECES;
    *out = p;
    return st;
}

/* Events that a copy waits for. */
typedef struct waits {
    cl_uint n;
    cl_event list[2];
} waits;

/* Those that are there, of two. */
static waits waits_of(cl_event a, cl_event b)
{
    waits w = {0, {NULL, NULL}};

    if (a)
        w.list[w.n++] = a;
    if (b)
        w.list[w.n++] = b;
    return w;
}

static const cl_event *wait_list(const waits *w)
{
    return w->n ? w->list : NULL;
}

static tsr_status to_device_failed(cl_int rc, size_t bytes, tsr_error *err)
{
    return tsr_fail(err, TSR_ECL, rc, "copying %zu bytes to the device", bytes);
}

static tsr_status from_device_failed(cl_int rc, size_t bytes, tsr_error *err)
{
    return tsr_fail(err, TSR_ECL, rc, "copying %zu bytes from the device", bytes);
}

/* ---- straight ------------------------------------------------------------------------------ */

static cl_int write_straight(copies *c, const host_rows *r, device_place to, const waits *w,
                             cl_event *sent)
{
    const size_t there[] = {to.offset % r->bytes, to.offset / r->bytes, 0}, here[] = {0, 0, 0};
    const size_t region[] = {r->bytes, r->count, 1};
    const cl_event *list = wait_list(w);

    if (without_gaps(r))
        return clEnqueueWriteBuffer(c->in, to.buffer, CL_FALSE, to.offset, r->count * r->bytes,
                                    r->at, w->n, list, sent);
    return clEnqueueWriteBufferRect(c->in, to.buffer, CL_FALSE, there, here, region, r->bytes, 0,
                                    r->pitch, 0, r->at, w->n, list, sent);
}

static cl_int read_straight(copies *c, const host_rows *r, device_place from, const waits *w,
                            cl_event *done)
{
    const size_t there[] = {from.offset % r->bytes, from.offset / r->bytes, 0}, here[] = {0, 0, 0};
    const size_t region[] = {r->bytes, r->count, 1};
    const cl_event *list = wait_list(w);

    if (without_gaps(r))
        return clEnqueueReadBuffer(c->out, from.buffer, CL_FALSE, from.offset, r->count * r->bytes,
                                   r->at, w->n, list, done);
    return clEnqueueReadBufferRect(c->out, from.buffer, CL_FALSE, there, here, region, r->bytes, 0,
                                   r->pitch, 0, r->at, w->n, list, done);
}

/* ---- in ------------------------------------------------------------------------------------ */

/* Fill a piece, and send it to its place in what the rows are at `to`. */
static tsr_status write_piece(copies *c, const part *x, device_place to, cl_event after,
                              cl_event *sent, tsr_error *err)
{
    /* Complete only where the piece before is. */
    const waits w = waits_of(after, *sent);
    piece *by;
    tsr_status st = take_piece(c, &by, err);
    cl_int rc;

    if (st)
        return st;
    copy_by_threads(x, by->memory.at, true);
    rc = clEnqueueWriteBuffer(c->in, to.buffer, CL_FALSE, to.offset + x->at, x->bytes,
                              by->memory.at, w.n, wait_list(&w), &by->busy);
    if (rc == CL_SUCCESS)
        rc = clFlush(c->in);
    if (rc != CL_SUCCESS)
        return to_device_failed(rc, x->bytes, err);
    event_forget(sent);
    return event_share(by->busy, sent, err);
}

static tsr_status in_by_pieces(copies *c, const host_rows *from, device_place to, cl_event after,
                               cl_event *sent, tsr_error *err)
{
    const size_t bytes = from->count * from->bytes;
    cl_event last = NULL;
    tsr_status st = TSR_OK;

    for (size_t at = 0; at < bytes && !st; at += c->piece_bytes) {
        const part x = {from, at, size_min(c->piece_bytes, bytes - at)};

        st = write_piece(c, &x, to, after, &last, err);
    }
    if (st)
        event_forget(&last);
    else
        *sent = last;
    return st;
}

static tsr_status in_straight(copies *c, const host_rows *from, device_place to, cl_event after,
                              cl_event *sent, tsr_error *err)
{
    const waits w = waits_of(after, NULL);
    cl_event last = NULL;
    cl_int rc = write_straight(c, from, to, &w, &last);

    if (rc == CL_SUCCESS)
        rc = clFlush(c->in);
    if (rc != CL_SUCCESS) {
        event_forget(&last);
        return to_device_failed(rc, from->count * from->bytes, err);
    }
    *sent = last;
    return TSR_OK;
}

tsr_status copies_in(copies *c, const host_rows *from, device_place to, cl_event after,
                     cl_event *sent, tsr_error *err)
{
    if (!from->count || !from->bytes)
        return TSR_OK;
    return goes_straight(c, from) ? in_straight(c, from, to, after, sent, err)
                                  : in_by_pieces(c, from, to, after, sent, err);
}

/* ---- out ----------------------------------------------------------------------------------- */

static tsr_status out_straight(copies *c, device_place from, cl_event after, const host_rows *to,
                               cl_event *done, tsr_error *err)
{
    const waits w = waits_of(after, c->last_out);
    cl_event last = NULL;
    cl_int rc = read_straight(c, to, from, &w, &last);

    if (rc == CL_SUCCESS)
        rc = clFlush(c->out);
    if (rc != CL_SUCCESS) {
        event_forget(&last);
        return from_device_failed(rc, to->count * to->bytes, err);
    }
    event_forget(&c->last_out);
    c->last_out = last;
    return done ? event_share(last, done, err) : TSR_OK;
}

/* What is on its way into a piece. */
typedef struct arriving {
    piece *by; /* NULL: nothing */
    part what;
} arriving;

static tsr_status put_piece(const arriving *a, tsr_error *err)
{
    tsr_status st = a->by ? finish_piece(a->by, err) : TSR_OK;

    if (!st && a->by)
        copy_by_threads(&a->what, a->by->memory.at, false);
    return st;
}

/* While one piece is emptied the next is on its way. */
static tsr_status out_by_pieces(copies *c, device_place from, cl_event after, const host_rows *to,
                                tsr_error *err)
{
    const waits w = waits_of(after, NULL);
    const size_t bytes = to->count * to->bytes;
    arriving before = {NULL, {NULL, 0, 0}};
    tsr_status st = TSR_OK;

    for (size_t at = 0; at < bytes && !st; at += c->piece_bytes) {
        arriving now = {NULL, {to, at, size_min(c->piece_bytes, bytes - at)}};
        cl_int rc;

        st = take_piece(c, &now.by, err);
        if (st)
            break;
        rc = clEnqueueReadBuffer(c->out, from.buffer, CL_FALSE, from.offset + at, now.what.bytes,
                                 now.by->memory.at, w.n, wait_list(&w), &now.by->busy);
        if (rc == CL_SUCCESS)
            rc = clFlush(c->out);
        if (rc != CL_SUCCESS)
            return from_device_failed(rc, now.what.bytes, err);
        st = put_piece(&before, err);
        before = now;
    }
    return st ? st : put_piece(&before, err);
}

tsr_status copies_out(copies *c, device_place from, cl_event after, const host_rows *to,
                      cl_event *done, tsr_error *err)
{
    if (!to->count || !to->bytes)
        return TSR_OK;
    return goes_straight(c, to) ? out_straight(c, from, after, to, done, err)
                                : out_by_pieces(c, from, after, to, err);
}

tsr_status copies_wait(copies *c, tsr_error *err)
{
    const cl_int rc = c->last_out ? clWaitForEvents(1, &c->last_out) : CL_SUCCESS;

    event_forget(&c->last_out);
    return rc == CL_SUCCESS ? TSR_OK : tsr_fail(err, TSR_ECL, rc, "waiting for a copy");
}

void copies_settle(copies *c)
{
    if (c->in)
        queue_settle(c->in);
    if (c->out)
        queue_settle(c->out);
    for (size_t i = 0; i < PIECES; i++)
        event_forget(&c->pieces[i].busy);
    event_forget(&c->last_out);
}

/* ---- buffers ------------------------------------------------------------------------------- */

/* NULL: none of so many bytes waits. */
static cl_mem find_kept(copies *c, size_t bytes)
{
    for (size_t i = 0; i < c->kept_count; i++)
        if (c->kept[i].bytes == bytes)
            return take_kept(c, i);
    return NULL;
}

tsr_status copies_buffer(copies *c, const char *what, size_t bytes, cl_mem *out, tsr_error *err)
{
    const size_t budget = stream_budget_of(c->session).all;
    cl_mem buffer = find_kept(c, bytes);
    cl_int rc;

    while (!buffer && c->kept_count && c->lent_bytes + c->kept_bytes + bytes > budget)
        drop_oldest(c);
    while (!buffer) {
        buffer = clCreateBuffer(c->session->context, CL_MEM_READ_WRITE, bytes, NULL, &rc);
        if (buffer || !c->kept_count)
            break;
        drop_oldest(c);
    }
    if (!buffer)
        return tsr_fail(err, TSR_ECL, rc, "clCreateBuffer(%s, %zu bytes)", what, bytes);
    c->lent_bytes += bytes;
    *out = buffer;
    return TSR_OK;
}

void copies_keep(copies *c, cl_mem buffer, size_t bytes)
{
    const size_t share = (size_t)(session_facts(c->session)->global_memory / KEPT_SHARE);
    const size_t most = size_max(KEPT_BYTES, share);

    c->lent_bytes -= bytes;
    if (bytes > most) {
        clReleaseMemObject(buffer);
        return;
    }
    while (c->kept_count == KEPT || c->kept_bytes + bytes > most)
        drop_oldest(c);
    c->kept[c->kept_count++] = (kept){buffer, bytes};
    c->kept_bytes += bytes;
}
