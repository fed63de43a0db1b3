#include "file/npy.h"

#include <stdlib.h>
#include <string.h>

#include "base/elements.h"
#include "base/fail.h"
#include "base/sizes.h"
#include "file/block.h"
#include "file/npy_header.h"

static tsr_status truncated(const char *name, size_t expected, size_t found, tsr_error *err)
{
    return tsr_fail(err, TSR_EFILE, 0, "%s: data: truncated, expected %zu bytes, found %zu", name,
                    expected, found);
}

/* Where the size is known, a wrong one is refused before the data is read. */
static tsr_status check_size(const input *s, const npy_header *h, tsr_error *err)
{
    size_t found = s->size > h->offset ? s->size - h->offset : 0;

    if (!s->sized || found == h->bytes)
        return TSR_OK;
    if (found < h->bytes)
        return truncated(s->name, h->bytes, found, err);
    return tsr_fail(err, TSR_EFILE, 0, "%s: data: %zu bytes follow the %zu of the array", s->name,
                    found - h->bytes, h->bytes);
}

static tsr_status take_data(input *s, const npy_header *h, void **out, tsr_error *err)
{
    void *data = NULL;
    size_t found, extra;
    unsigned char byte;
    tsr_status status = input_take_block(s, h->bytes, &data, &found, err);

    if (status)
        return status;
    if (found < h->bytes) {
        status = truncated(s->name, h->bytes, found, err);
        goto cleanup;
    }
    status = input_take(s, &byte, 1, &extra, err);
    if (status)
        goto cleanup;
    if (extra) {
        status = tsr_fail(err, TSR_EFILE, 0, "%s: data: more bytes follow the %zu of the array",
                          s->name, h->bytes);
        goto cleanup;
    }
    *out = data;
    data = NULL; /* moved to the caller */

cleanup:
    free(data);
    return status;
}

static void swap_bytes(unsigned char *data, size_t bytes, size_t size)
{
    for (size_t at = 0; at < bytes; at += size) {
        for (size_t i = 0; i < size / 2; i++) {
            unsigned char b = data[at + i];

            data[at + i] = data[at + size - 1 - i];
            data[at + size - 1 - i] = b;
        }
    }
}

/* Element (i, j) of `to`, i to_step + j, is element (j, i) of `from`, j from_step + i.  Square
 * blocks, so that neither side is walked with a long stride for long.  Inlined with a constant
 * size, each memcpy is one load and one store. */
static inline void transpose_blocks(const unsigned char *from, size_t from_step, unsigned char *to,
                                    size_t to_step, size_t rows, size_t cols, size_t size)
{
    enum { BLOCK = 32 };

    for (size_t i0 = 0; i0 < rows; i0 += BLOCK) {
        for (size_t j0 = 0; j0 < cols; j0 += BLOCK) {
            for (size_t i = i0; i < size_min(rows, i0 + BLOCK); i++) {
                for (size_t j = j0; j < size_min(cols, j0 + BLOCK); j++)
                    memcpy(to + (i * to_step + j) * size, from + (j * from_step + i) * size, size);
            }
        }
    }
}

/* The extents between the first and the last, of `middle` indices together: the position, where
 * the first of them runs fastest, of what is k-th where the last does. */
static size_t reversed(const npy_header *h, size_t middle, size_t k)
{
    size_t at = 0, step = middle;

    for (unsigned i = h->rank - 2; i > 0; i--) {
        step /= h->shape[i];
        at += k % h->shape[i] * step;
        k /= h->shape[i];
    }
    return at;
}

/* The first extent runs fastest in `from`, the last one in `to`: a transpose for each index of
 * those between them, which an array of rank 2 has one of. */
static void transpose(const unsigned char *from, unsigned char *to, const npy_header *h)
{
    const size_t size = h->opaque ? h->opaque : tsr_type_size(h->type), rows = h->shape[0];
    const size_t cols = h->shape[h->rank - 1];
    size_t middle = 1;

    for (unsigned i = 1; i + 1 < h->rank; i++)
        middle *= h->shape[i];
    for (size_t k = 0; k < middle; k++) {
        const unsigned char *part = from + reversed(h, middle, k) * rows * size;
        unsigned char *out = to + k * cols * size;

        switch (size) {
        case 1:
            transpose_blocks(part, rows * middle, out, cols * middle, rows, cols, 1);
            break;
        case 2:
            transpose_blocks(part, rows * middle, out, cols * middle, rows, cols, 2);
            break;
        case 4:
            transpose_blocks(part, rows * middle, out, cols * middle, rows, cols, 4);
            break;
        case 8:
            transpose_blocks(part, rows * middle, out, cols * middle, rows, cols, 8);
            break;
        default:
            transpose_blocks(part, rows * middle, out, cols * middle, rows, cols, size);
            break;
        }
    }
}

/* Bring *data into the host's byte order and row-major order. */
static tsr_status arrange(const char *name, const npy_header *h, void **data, tsr_error *err)
{
    void *rows = NULL;
    tsr_status status;

    if (h->bytes == 0)
        return TSR_OK;
    if (h->swapped)
        swap_bytes(*data, h->bytes, tsr_type_size(type_part(h->type)));
    for (size_t i = 0; i < h->bytes && h->boolean; i++)
        ((unsigned char *)*data)[i] = ((unsigned char *)*data)[i] != 0;
    if (!h->fortran || h->rank < 2)
        return TSR_OK;
    status = block_allocate(name, h->bytes, &rows, err);
    if (status)
        return status;
    transpose(*data, rows, h);
    free(*data);
    *data = rows;
    return TSR_OK;
}

tsr_status npy_read(input *s, bool any, array *out, tsr_error *err)
{
    npy_header h;
    void *data = NULL;
    tsr_status status = npy_header_parse(s->name, s->head, s->head_size, any, &h, err);

    if (status)
        return status;
    status = check_size(s, &h, err);
    if (status)
        return status;
    s->taken = h.offset; /* within the head, which is longer than any header */
    status = take_data(s, &h, &data, err);
    if (status)
        return status;
    status = arrange(s->name, &h, &data, err);
    if (status)
        goto cleanup;
    *out = (array){
        .type = h.type, .boolean = h.boolean, .rank = h.rank, .data = data, .opaque = h.opaque};
    memcpy(out->descr, h.descr, sizeof(h.descr));
    memcpy(out->shape, h.shape, sizeof(h.shape));
    data = NULL; /* moved to the caller */

cleanup:
    free(data);
    return status;
}

tsr_status npy_parse(const char *name, const unsigned char *bytes, size_t size, array *out,
                     tsr_error *err)
{
    input s = input_of_memory(name, bytes, size);

    return npy_read(&s, false, out, err);
}
