/* z := alpha x + y: vectors of any type, and elements at any distance.
 *
 * Idea: as axpy_vector, of VEC elements; a work-group takes a block of neighbouring vectors, whose
 *     number the compiler knows, so that several loads of a work-item are in flight at once.
 *     Elements that lie apart are taken one by one.
 * Work split: work-group g computes the block of GROUP * VECTORS * VEC elements from g times as
 *     many on; its work-items take vectors in turns.
 * Parameters: GROUP, work-items in a work-group; VECTORS that each takes; VEC, elements of one;
 *     ALIGNED: 1 where x, y and z begin at a multiple of VEC elements; DENSE: 1 where their
 *     elements follow one another.  Of floats FACTOR, RESULT, REAL and REAL_BITS
 *     (matmul/matmul_elements.clh); of integers INTEGER: uchar, ushort, uint or ulong, signed or
 *     not: sums and products modulo 2^bits have the same bits.
 * Launch: 1-D, work-groups of GROUP, one for each block that is begun.
 * Local memory: none.
 * In place y is z, with the same offset and increment.
 */
#if !defined(GROUP) || !defined(VECTORS) || !defined(VEC) || !defined(ALIGNED) || !defined(DENSE)
#error "GROUP, VECTORS, VEC, ALIGNED and DENSE: see above"
#endif

#ifdef INTEGER
#define JOIN(type, n)          type##n
#define JOIN_EXPANDED(type, n) JOIN(type, n)
typedef INTEGER element;
typedef ulong scalar;
typedef INTEGER number;
typedef ulong wide; /* of one product: shorter integers would become int, which overflows */
typedef JOIN_EXPANDED(INTEGER, VEC) numbers;
#define LOAD_AT(n, from)       vload##n(0, from)
#define LOADA_AT(n, from)      (*(__global const numbers *)(from))
#define STORE_AT(v, n, to)     vstore##n(v, 0, to)
#define STOREA_AT(v, n, to)    (*(__global numbers *)(to) = (v))
#define LOAD_ONE(from)         (*(from))
#define STORE_ONE(v, to)       (*(to) = (v))
#else
#include "matmul/matmul_elements.clh"
typedef factor element;
typedef REAL scalar;
typedef REAL number;
typedef REAL wide;
typedef REAL_N(VEC) numbers;
#define LOAD_AT(n, from)    VLOAD_FACTORS(n, 0, from)
#define LOADA_AT(n, from)   VLOADA_FACTORS(n, from)
#define STORE_AT(v, n, to)  VSTORE_RESULTS(v, n, 0, to)
#define STOREA_AT(v, n, to) VSTOREA_RESULTS(v, n, to)
#define LOAD_ONE(from)      load_factor(from)
#define STORE_ONE(v, to)    update_result(to, 1, v, 0)
#endif

/* With VEC expanded. */
#if ALIGNED
#define LOAD_VEC(n, from)     LOADA_AT(n, from)
#define STORE_VEC(v, n, to)   STOREA_AT(v, n, to)
#else
#define LOAD_VEC(n, from)     LOAD_AT(n, from)
#define STORE_VEC(v, n, to)   STORE_AT(v, n, to)
#endif

/* Vectors whose loads are in flight at once. */
#define AHEAD (VECTORS < 4 ? VECTORS : 4)

/* A call, as one argument; the host's axpy_call has the same members. */
typedef struct axpy_call {
    ulong n;
    ulong from_x, from_y, from_z; /* the first element of each */
    ulong inc_x, inc_y, inc_z;    /* from one to the next */
} axpy_call;

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
axpy_general(__global const element *restrict x, __global const element *y, __global element *z,
             const axpy_call call, scalar alpha)
{
    const ulong block = (ulong)GROUP * VECTORS * VEC, first = get_group_id(0) * block;
    const uint item = (uint)get_local_id(0);
    const number factor_x = (number)alpha;
    const wide factor_one = (wide)factor_x;

    x += call.from_x;
    y += call.from_y;
    z += call.from_z;
    if (DENSE && first + block <= call.n) {
        x += first;
        y += first;
        z += first;
        for (uint l = 0; l < VECTORS; l += AHEAD) {
            numbers sum[AHEAD];

            /* z may be y, so that no load could pass a store: the loads of several come first. */
#pragma unroll
            for (uint k = 0; k < AHEAD; k++) {
                const uint at = ((l + k) * GROUP + item) * VEC;

                sum[k] = factor_x * LOAD_VEC(VEC, x + at) + LOAD_VEC(VEC, y + at);
            }
#pragma unroll
            for (uint k = 0; k < AHEAD; k++)
                STORE_VEC(sum[k], VEC, z + ((l + k) * GROUP + item) * VEC);
        }
        return;
    }
    for (ulong i = first + item; i < min(first + block, call.n); i += GROUP) {
        const number sum = (number)(factor_one * LOAD_ONE(x + i * call.inc_x) +
                                    LOAD_ONE(y + i * call.inc_y));

        STORE_ONE(sum, z + i * call.inc_z);
    }
}
