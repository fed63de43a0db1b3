/** What every kernel of matvec is told of its operands, and how much it counts. */
#ifndef OPS_MATVEC_STEPS_H
#define OPS_MATVEC_STEPS_H

#include <assert.h>
#include <stddef.h>

#include "base/sizes.h"
#include "core/groups.h"
#include "core/variant.h"
#include "ops/matvec/matvec_shape.h"

enum {
    /* Kernels that count rows and columns in uint add a stride to them: 31 bits never wrap. */
    MATVEC_INDEX_MAX = INT32_MAX,
    /* Groups of the kernels that walk over the rows; beyond, each group takes several. */
    MATVEC_GROUPS_MAX = 65535
};

/* Work-items of a group: GROUP, or fewer where the device takes fewer. */
static inline size_t matvec_group(const job *j)
{
    return group_fit(j->device, 0, param(j->params, "GROUP"));
}

/* How elements are stored and where they are, and the size of a group. */
static inline void matvec_defines(const job *j, size_t local, text *out)
{
    const tsr_matvec_problem *p = matvec_of(j->problem);

    assert(p->layout == TSR_ROW_MAJOR && "column-major problems are normalized");
    real_defines_elements(p->type, matvec_type_y(p), out);
    text_format(out, " -DTRANS=%d -DSTRIDED=%d -DLOCAL=%zu", p->trans,
                matvec_incx(p) != 1 || matvec_incy(p) != 1, local);
}

/* A launch of `groups` groups for each product. */
static inline void matvec_step_groups(const job *j, unsigned entry, size_t groups, size_t local,
                                      command *out)
{
    const size_t batch = matvec_batch(matvec_of(j->problem));

    if (batch > 1)
        command_launch_2d(out, entry, groups * local, batch, local, 1);
    else
        command_launch_1d(out, entry, groups * local, local);
}

/* What every kernel is told: matvec_call of cl/matvec/matvec.clh, which ends where its `scale`
 * does. */
typedef struct matvec_call {
    uint64_t rows, columns; /* of op(A) */
    uint64_t lda;
    uint64_t offset_a, offset_x, offset_y;
    uint64_t incx, incy;
    uint64_t stride_a, stride_x, stride_y;
    uint32_t parts, chunk;
    uint32_t tile, items;
    union {
        float f32[2]; /* alpha, beta */
        double f64[2];
    } scale;
} matvec_call;

_Static_assert(offsetof(matvec_call, scale) == 104 && sizeof(matvec_call) <= BLOCK_BYTES_MAX,
               "as OpenCL C lays it out, and no larger than a step's");

/* Of a launch whose groups take whole rows. */
static inline matvec_call matvec_call_of(const job *j)
{
    const tsr_matvec_problem *p = matvec_of(j->problem);
    const matvec_view v = matvec_view_of(p);
    matvec_call c = {.rows = v.rows,
                     .columns = v.columns,
                     .lda = matvec_lda(p),
                     .offset_a = p->offset_a,
                     .offset_x = p->offset_x,
                     .offset_y = p->offset_y,
                     .incx = matvec_incx(p),
                     .incy = matvec_incy(p),
                     .stride_a = matvec_a(p).stride,
                     .stride_x = matvec_x(p).stride,
                     .stride_y = matvec_y(p).stride,
                     .parts = 1};

    if (p->type == TSR_F64) {
        c.scale.f64[0] = v.alpha;
        c.scale.f64[1] = v.beta;
    } else {
        c.scale.f32[0] = (float)v.alpha;
        c.scale.f32[1] = (float)v.beta;
    }
    return c;
}

static inline void matvec_step_call(const job *j, const matvec_call *c, command *out)
{
    const bool wide = matvec_of(j->problem)->type == TSR_F64;

    command_block(out, c,
                  offsetof(matvec_call, scale) +
                      (wide ? sizeof(c->scale.f64) : sizeof(c->scale.f32)));
}

/* Elements of 128 bits, the widest load of a GPU. */
static inline size_t matvec_load_elements(const tsr_matvec_problem *p)
{
    return 16 / tsr_type_size(p->type);
}

/* Whether vectors of so many elements are sure to be aligned: host memory that a CPU's buffer may
 * lie in need not be. */
static inline bool matvec_aligned(const job *j, const view *lines, size_t elements)
{
    return j->device->kind != DEVICE_CPU && view_starts_at(lines, elements);
}

static inline void matvec_defines_vec(size_t elements, bool aligned, text *out)
{
    text_format(out, " -DVEC=%zu -DALIGNED=%d", elements, aligned);
}

/* How kernels load explicit vectors of A and of x, whose elements they gather where they lie apart.
 */
static inline void matvec_defines_vectors(const job *j, size_t elements, text *out)
{
    const view a = matvec_a(matvec_of(j->problem)), x = matvec_x(matvec_of(j->problem));

    matvec_defines_vec(
        elements,
        matvec_aligned(j, &a, elements) &&
            (matvec_incx(matvec_of(j->problem)) != 1 || matvec_aligned(j, &x, elements)),
        out);
}

/* The same of A alone: `lines` says where its vectors start. */
static inline void matvec_defines_vectors_of_a(const job *j, const view *lines, text *out)
{
    const size_t vec = matvec_load_elements(matvec_of(j->problem));

    matvec_defines_vec(vec, matvec_aligned(j, lines, vec), out);
}

/* Such an A as one line; its elements are never counted by it. */
static inline view matvec_flat_a(const tsr_matvec_problem *p)
{
    view a = matvec_a(p);

    a.lines = 1;
    return a;
}

/* How a group reads a flat A of so many columns by vectors: the first `items` work-items go on by
 * as many vectors, which together are whole lines. */
typedef struct matvec_flat {
    size_t cycle; /* vectors from which on they meet the same columns: columns / gcd */
    size_t terms; /* pieces of a vector that lie in one line each, whatever the vector: VEC / gcd */
    size_t items; /* a multiple of `cycle` up to the group's; 0 where it exceeds them */
    size_t lines; /* of `items` vectors */
} matvec_flat;

static inline matvec_flat matvec_flat_of(const job *j, size_t local)
{
    const tsr_matvec_problem *p = matvec_of(j->problem);
    const size_t columns = size_max(matvec_line_length(p), 1), vec = matvec_load_elements(p);
    const size_t gcd = size_min(vec, columns & -columns); /* VEC is a power of two */
    matvec_flat f = {.cycle = columns / gcd, .terms = vec / gcd};

    f.items = local / f.cycle * f.cycle;
    f.lines = f.items * vec / columns;
    return f;
}

/* NULL, or why A cannot be read as one array by a group. */
static inline const char *matvec_unsupported_flat(const job *j, text *reason)
{
    const tsr_matvec_problem *p = matvec_of(j->problem);
    const matvec_flat f = matvec_flat_of(j, matvec_group(j));

    if (!matvec_is_flat(p))
        text_format(reason, "it reads A as one array, and lda %zu leaves gaps between %zu columns",
                    matvec_lda(p), matvec_line_length(p));
    else if (f.items == 0)
        text_format(reason, "%zu columns of A repeat after %zu vectors, and a group has %zu",
                    matvec_line_length(p), f.cycle, matvec_group(j));
    else
        return NULL;
    return text_get(reason);
}

/* NULL, or why not: chains of multiply-adds on this device, for so many products. */
static inline const char *matvec_unsupported_portable(const job *j, text *reason)
{
    const tsr_matvec_problem *p = matvec_of(j->problem);

    if (matvec_batch(p) <= MATVEC_INDEX_MAX)
        return real_unsupported(p->type, p->precision, j->device, reason);
    text_format(reason, "it counts up to %d products, the problem has %zu", MATVEC_INDEX_MAX,
                matvec_batch(p));
    return text_get(reason);
}

/* NULL, or that so many numbers exceed the device's local memory. */
static inline const char *matvec_unsupported_local(const job *j, size_t numbers, text *reason)
{
    const size_t bytes = numbers * matvec_real_size(matvec_of(j->problem));

    if (bytes <= j->device->local_memory)
        return NULL;
    text_format(reason, "it needs %zu bytes of local memory, the device has %zu", bytes,
                j->device->local_memory);
    return text_get(reason);
}

#endif
