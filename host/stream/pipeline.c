/* clCreateCommandQueue: the call that devices of every version take. */
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS

#include "stream/pipeline.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/sizes.h"
#include "session/pinned.h"

/* Pinned memory is filled and sent in pieces: while one is on its way the next is filled. */
enum { PIECES = 4, PIECE_BYTES = 4 << 20, BLOCK_BYTES = 256 << 10 };

typedef struct slot {
    cl_mem buffer;
    cl_event sent, worked; /* the last piece's copy, and who worked on it; NULL: none yet */
} slot;

typedef struct piece {
    pinned memory;
    cl_event sent;
} piece;

struct pipeline {
    tsr_session *session;
    cl_command_queue up;
    slot slots[PIPELINE_SLOTS];
    size_t slot_count, next_slot;
    piece pieces[PIECES];
    size_t next_piece;
};

static void forget(cl_event *e)
{
    if (*e)
        clReleaseEvent(*e);
    *e = NULL;
}

tsr_status pipeline_open(tsr_session *s, size_t slots, size_t slot_bytes, pipeline **out,
                         tsr_error *err)
{
    pipeline *p = calloc(1, sizeof(*p));
    tsr_status st = TSR_OK;
    cl_int rc;

    if (!p)
        return tsr_fail(err, TSR_ENOMEM, 0, "no memory for a pipeline");
    p->session = s;
    p->slot_count = slots;
    p->up = clCreateCommandQueue(s->context, s->device.id, 0, &rc);
    if (!p->up)
        st = tsr_fail(err, TSR_ECL, rc, "clCreateCommandQueue for copies");
    for (size_t i = 0; i < slots && !st; i++) {
        p->slots[i].buffer = clCreateBuffer(s->context, CL_MEM_READ_WRITE, slot_bytes, NULL, &rc);
        if (!p->slots[i].buffer)
            st = tsr_fail(err, TSR_ECL, rc, "clCreateBuffer(slot of a pipeline, %zu bytes)",
                          slot_bytes);
    }
    for (size_t i = 0; i < PIECES && !st; i++)
        st = pinned_take(s, size_min(PIECE_BYTES, slot_bytes), &p->pieces[i].memory, err);
    if (st) {
        pipeline_close(p);
        return st;
    }
    *out = p;
    return TSR_OK;
}

/* Rows on the host, and the place of their bytes where one follows another. */
typedef struct rows_at {
    unsigned char *rows;
    size_t row_bytes, pitch;
} rows_at;

/* Bytes from `at` on of the rows, to or from `packed`. */
static void copy_block(const rows_at *r, unsigned char *packed, size_t at, size_t bytes, bool pack)
{
    while (bytes) {
        const size_t in_row = at % r->row_bytes, n = size_min(bytes, r->row_bytes - in_row);
        unsigned char *row = r->rows + at / r->row_bytes * r->pitch + in_row;

        if (pack)
            memcpy(packed, row, n);
        else
            memcpy(row, packed, n);
        packed += n;
        at += n;
        bytes -= n;
    }
}

/* One thread does not fill the link. */
static void copy_by_threads(const rows_at *r, unsigned char *packed, size_t begin, size_t bytes,
                            bool pack)
{
    const size_t blocks = size_div_up(bytes, BLOCK_BYTES);

#pragma omp parallel for schedule(static)
    for (size_t b = 0; b < blocks; b++) {
        const size_t at = b * BLOCK_BYTES;

        copy_block(r, packed + at, begin + at, size_min(BLOCK_BYTES, bytes - at), pack);
    }
}

/* Once a piece of pinned memory is free: fill it, and send it. */
static tsr_status send_piece(pipeline *p, slot *to, size_t at, const rows_at *from, size_t bytes,
                             tsr_error *err)
{
    piece *by = &p->pieces[p->next_piece];
    cl_int rc = by->sent ? clWaitForEvents(1, &by->sent) : CL_SUCCESS;

    if (rc != CL_SUCCESS)
        return tsr_fail(err, TSR_ECL, rc, "waiting for a copy to the device");
    forget(&by->sent);
    copy_by_threads(from, by->memory.at, at, bytes, true);
    rc = clEnqueueWriteBuffer(p->up, to->buffer, CL_FALSE, at, bytes, by->memory.at,
                              to->worked != NULL, to->worked ? &to->worked : NULL, &by->sent);
    if (rc == CL_SUCCESS)
        rc = clFlush(p->up);
    if (rc != CL_SUCCESS)
        return tsr_fail(err, TSR_ECL, rc, "copying %zu bytes to the device", bytes);
    forget(&to->sent);
    to->sent = by->sent;
    clRetainEvent(to->sent);
    p->next_piece = (p->next_piece + 1) % PIECES;
    return TSR_OK;
}

tsr_status pipeline_send_rows(pipeline *p, const void *from, size_t rows, size_t row_bytes,
                              size_t pitch, cl_mem *out, cl_event *sent, tsr_error *err)
{
    slot *to = &p->slots[p->next_slot];
    const size_t bytes = rows * row_bytes, piece_bytes = p->pieces[0].memory.bytes;
    /* Only read: one type serves both directions. */
    const rows_at r = {(unsigned char *)(uintptr_t)from, row_bytes, pitch};
    tsr_status st = TSR_OK;

    for (size_t at = 0; at < bytes && !st; at += piece_bytes)
        st = send_piece(p, to, at, &r, size_min(piece_bytes, bytes - at), err);
    *out = to->buffer;
    *sent = to->sent;
    return st;
}

tsr_status pipeline_send(pipeline *p, const void *from, size_t bytes, cl_mem *out, cl_event *sent,
                         tsr_error *err)
{
    return pipeline_send_rows(p, from, 1, bytes, bytes, out, sent, err);
}

tsr_status pipeline_fetch_rows(pipeline *p, cl_mem from, cl_event done, void *to, size_t rows,
                               size_t row_bytes, size_t pitch, tsr_error *err)
{
    piece *by = &p->pieces[p->next_piece];
    const size_t bytes = rows * row_bytes, piece_bytes = by->memory.bytes;
    const rows_at r = {to, row_bytes, pitch};
    cl_int rc = by->sent ? clWaitForEvents(1, &by->sent) : CL_SUCCESS;

    if (rc != CL_SUCCESS)
        return tsr_fail(err, TSR_ECL, rc, "waiting for a copy to the device");
    forget(&by->sent);
    for (size_t at = 0; at < bytes; at += piece_bytes) {
        const size_t n = size_min(piece_bytes, bytes - at);

        rc = clEnqueueReadBuffer(p->up, from, CL_TRUE, at, n, by->memory.at, 1, &done, NULL);
        if (rc != CL_SUCCESS)
            return tsr_fail(err, TSR_ECL, rc, "copying %zu bytes from the device", n);
        copy_by_threads(&r, by->memory.at, at, n, false);
    }
    return TSR_OK;
}

void pipeline_worked(pipeline *p, cl_event done)
{
    slot *to = &p->slots[p->next_slot];

    forget(&to->worked);
    to->worked = done;
    p->next_slot = (p->next_slot + 1) % p->slot_count;
}

void pipeline_close(pipeline *p)
{
    if (!p)
        return;
    if (p->up)
        clFinish(p->up);
    clFinish(p->session->queue);
    for (size_t i = 0; i < PIECES; i++) {
        forget(&p->pieces[i].sent);
        pinned_drop(p->session, &p->pieces[i].memory);
    }
    for (size_t i = 0; i < PIPELINE_SLOTS; i++) {
        forget(&p->slots[i].sent);
        forget(&p->slots[i].worked);
        if (p->slots[i].buffer)
            clReleaseMemObject(p->slots[i].buffer);
    }
    if (p->up)
        clReleaseCommandQueue(p->up);
    free(p);
}
