/** C := alpha op(A) op(B) + beta C, on host memory and on OpenCL buffers. */
#ifndef TESSERA_MATMUL_H
#define TESSERA_MATMUL_H

#include <stdbool.h>
#include <stddef.h>

#include "tessera/run.h"
#include "tessera/session.h"
#include "tessera/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * One product, or a batch of them.  op(A) is m x k, op(B) is k x n, C is m x n.
 *
 * A is stored m x k, or k x m where trans_a; B is stored k x n, or n x k where
 * trans_b.  Element (i, j) of a stored matrix sits at offset + i * ld + j,
 * counted in elements; ld is at least the number of stored columns, and 0
 * stands for exactly that.  In a column-major problem it sits at offset + i +
 * j * ld, and ld is at least the number of stored rows.
 *
 * op(A) is A or its transpose, and of complex operands, where conj_a, the conjugate of that: with
 * trans_a and conj_a it is A^H.  So is op(B).
 *
 * A batch is `batch` products of one shape, 0 standing for 1.  A, B and C of the
 * next one start stride_a, stride_b and stride_c elements further on; a stride of 0
 * has all products share one A, or one B.  Those of C must not overlap: one follows
 * another, or they lie side by side, each line of one beside that of the next.
 *
 * alpha == 0 reads neither A nor B; beta == 0 does not read C, so a NaN there
 * does not survive.  m == 0 or n == 0 does nothing; k == 0 scales C by beta.
 * Results satisfy |got - exact| <= gamma_(k+2) (|alpha| |A| |B| + |beta| |C|)
 * elementwise, with gamma of the sums' type: float64 for float64, else float32
 * (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 3.5),
 * plus an underflow term.
 *
 * Complex products are four real ones each: the real part of op(A) op(B) is a sum of 2 k products
 * of float32 for complex64, float64 for complex128, and so is the imaginary part.  Each part is
 * within gamma_(2k+4) of the sum of the magnitudes of the real products, scaled by those of alpha,
 * and of beta C, that make it up.  What is not finite follows from these sums as IEEE 754 has them.
 * Where alpha has no imaginary part it scales both parts by its real one alone, and so does beta.
 *
 * Of float32 operands, tf32, bf16 and f16 round the factors: each is off by v, 2^-11,
 * 2^-8 and 2^-11 of it, which adds 2 v + v^2 of |A| |B|.  Which way a tie of tf32 goes
 * is the variant's; those of bf16 and f16 go to even.  f16 has fewer exponents: a factor
 * from 65520 on becomes infinite, one below 2^-14 is off by up to 2^-25.
 * Of int8 operands C is int32, and so are sums: they are exact as long as they are within 32 bits,
 * and beyond they wrap, modulo 2^32, as the product with alpha does and the sum with beta C.  alpha
 * and beta are whole numbers there, from -2^31 to 2^31 - 1.
 *
 * Products of FP8 operands (OCP OFP8: e4m3, e5m2) are exact in float32, and are added up in it: 128
 * along k at a time, from k = 0 on, by matrix units, which cut each term 13 bits behind the first
 * bit of the largest of them.  That adds less than 144 2^(floor(log2 S) - 13) for each such block,
 * at most 144 / 8192 S, with S the sum of the magnitudes of its products, where a denormal factor
 * counts as the smallest normal one; and nothing where no bit of a product is cut, as of whole
 * numbers up to 8.  Precision f32 adds nothing.  C is of the operands' type, rounded to nearest
 * even and saturated: what is beyond the largest number, infinity included, becomes that, and NaN
 * stays NaN; or it is float32 (c_f32) or bfloat16 (c_bf16).  The scales of whole matrices are
 * factors of alpha.
 *
 * Rows of op(A) and columns of op(B) of FP8 may have scales of their own, m and n numbers of
 * float32 (scale_a, scale_b), which follow one another from an offset on, and for the next product
 * of a batch start a stride further on: a stride of 0 has all products share them.  Row i and
 * column j then have alpha (scale_a[i] scale_b[j]), rounded to float32 after each product, in place
 * of alpha; where there are scales of one alone, alpha times them.  So that factor may overflow,
 * and underflow, though the result would not.  Any number is a scale: of 0 it makes 0 of a finite
 * sum, NaN of infinity, and NaN stays NaN; none is read where alpha or k is 0.  Problems with
 * scales go to tsr_matmul_scaled and tsr_matmul_scaled_enqueue.
 *
 * Products of float16 and bfloat16 operands are exact in float32 but for overflow and
 * underflow, and are added up in it; a result of 16 bits is rounded once, to nearest even:
 * float16's are infinite from 65520 on.
 */
typedef struct tsr_matmul_problem {
    tsr_type type; /* of A, B and C: TSR_F32, TSR_F64, TSR_F16, TSR_BF16, TSR_F8E4M3, TSR_F8E5M2,
                      TSR_C64 or TSR_C128; or TSR_I8, of A and B, and C is int32 */
    tsr_precision precision;
    size_t m, n, k;
    bool trans_a, trans_b;
    double alpha, beta; /* rounded to float32, or to float64 where that is the type or that of its
                           parts; a zeroed alpha is one too, and gives beta C: start from
                           TSR_MATMUL_PROBLEM_INIT */
    size_t lda, ldb, ldc;
    size_t offset_a, offset_b, offset_c;
    bool c_f32;        /* C is float32, where A and B are float16, bfloat16 or FP8 */
    tsr_layout layout; /* of A, B and C */
    size_t batch;
    size_t stride_a, stride_b, stride_c; /* read where batch is over 1 */
    bool conj_a, conj_b;      /* op(A), op(B) is conjugated, of complex operands; of others false */
    double alpha_im, beta_im; /* imaginary parts of alpha and beta; 0 but of complex operands */
    bool c_bf16;              /* C is bfloat16, where A and B are FP8 */
    bool scale_a, scale_b; /* rows of op(A), columns of op(B), of FP8, have scales of their own */
    size_t offset_scale_a, offset_scale_b; /* in numbers */
    size_t stride_scale_a, stride_scale_b; /* read where batch is over 1 */
} tsr_matmul_problem;

/** A problem of no element, float32, alpha 1, beta 0, all else 0, in C and C++: sizes follow. */
#define TSR_MATMUL_PROBLEM_INIT                                                                    \
    {                                                                                              \
        TSR_F32, TSR_PRECISION_DEFAULT, 0, 0, 0, false, false, 1.0, 0.0, 0, 0, 0, 0, 0, 0, false,  \
            TSR_ROW_MAJOR, 0, 0, 0, 0, false, false, 0.0, 0.0, false, false, false, 0, 0, 0, 0     \
    }

/**
 * Multiply matrices in host memory.  Synchronous.
 *
 * No element of C may be one of A or B, which may be one array.  So blocks of one matrix may be the
 * operands: A22 := A22 - A21 A12.  What lies between elements of C is not written: threads, each
 * with a session of its own, may compute blocks of one matrix side by side.  A or B may be NULL
 * where it holds no element.  An array may lie at any address; one that is not aligned to its
 * elements is worked on in a copy.
 *
 * Matrices of 64 MiB and more together, and of any size where the session's device_memory is set,
 * are multiplied as they arrive: op(A) and op(B) in slabs of k whose products are added up in C,
 * or, where copies take longer than products, beta is not 0, or C has 16 bits, op(B) whole and
 * op(A) in strips of rows; C leaves in strips of rows.  Where they are more than the device_memory,
 * or than the device holds, tiles of C are computed one after another, each from rows of op(A) and
 * columns of op(B) that are copied meanwhile.  A batch goes in groups of its products, three groups
 * on the device at once or two; where two products do not fit beside a matrix that all share, or
 * lines of one lie between those of another and not all of it fits, in products, each as it goes by
 * itself; and at once where all of it fits and is less than 64 MiB or has such lines.  The bound
 * holds for all of these; which of them a call takes may change the last bits.
 *
 * On a CPU device small products, of some 50 milliseconds at most, are computed by C code, which
 * compiles nothing: on the arrays, or, of tsr_matmul_enqueue, as a command of the queue where the
 * device has CL_EXEC_NATIVE_KERNEL.
 *
 * @param a       A, read.
 * @param b       B, read.
 * @param c       C, written; read too unless beta is 0.
 * @param run     NULL picks the best variant.
 * @param report  Receives what was done.  May be NULL.
 * @return TSR_OK; otherwise C is untouched, except after TSR_ECL: where device and host share
 *         memory the device works on these arrays, and tiles come back one by one, so that C may be
 *         half-written.
 *         TSR_EINVAL     a rule above is broken
 *         TSR_ENAME      no such variant, tunable or value
 *         TSR_EOVERFLOW  a size exceeds size_t or what the device holds
 *         TSR_EUNSUPPORTED  no variant, or not this one, runs the problem here; err says why
 *         TSR_EBUILD     tsr_session_build_log has the compiler's words
 *         TSR_EFILE      the session's kernel_dir lacks the variant's file, or it cannot be read
 *         TSR_ENOMEM, TSR_ECL
 */
TSR_API tsr_status tsr_matmul(tsr_session *session, const tsr_matmul_problem *problem,
                              const void *a, const void *b, void *c, const tsr_run *run,
                              tsr_report *report, tsr_error *err);

/**
 * Enqueue a product of matrices in OpenCL buffers of the session's context.
 *
 * Asynchronous: returns once the work is enqueued.  A small call is not flushed, which would take
 * longer than the rest of it: clFlush sends it off, or what waits for it, as any OpenCL command.
 * The buffers must live, unmodified, until the work is done: until *run->done completes, where the
 * caller asked for that event.  They may be sub-buffers; no element of C may be one of A or B in
 * memory either.  What is read is not CL_MEM_WRITE_ONLY, and what is written not CL_MEM_READ_ONLY.
 * Events to wait for are of the session's context too.  report holds no device time.
 *
 * @param a    A, read.
 * @param b    B, read.
 * @param c    C, written; read too unless beta is 0.
 * @param run  NULL picks the best variant, waits for nothing and hands out no event.
 * @return as tsr_matmul; on `host` TSR_EUNSUPPORTED.  On failure commands already
 *         enqueued are finished before the return, C is unspecified, and *run->done
 *         is untouched.
 */
TSR_API tsr_status tsr_matmul_enqueue(tsr_session *session, const tsr_matmul_problem *problem,
                                      cl_mem a, cl_mem b, cl_mem c, const tsr_run *run,
                                      tsr_report *report, tsr_error *err);

/** The arrays of a product whose rows or columns have scales. */
typedef struct tsr_matmul_arrays {
    const void *a, *b;
    void *c;
    const float *scale_a, *scale_b; /* NULL but where the problem has them */
} tsr_matmul_arrays;

/** The same in OpenCL buffers. */
typedef struct tsr_matmul_buffers {
    cl_mem a, b, c;
    cl_mem scale_a, scale_b; /* of float32; NULL but where the problem has them */
} tsr_matmul_buffers;

/**
 * As tsr_matmul, of a problem that may have scales of rows and columns: problem->scale_a says that
 * x->scale_a holds one for each row of op(A), problem->scale_b that x->scale_b does for each column
 * of op(B).  They are read alone, may be one array, and share no element with C.  Products that are
 * multiplied as they arrive take them whole; batches with scales that the device does not hold go
 * product by product.
 *
 * @param x  The arrays stay the caller's.
 * @return as tsr_matmul; TSR_EINVAL also where an array of scales is NULL that the problem has, or
 *         is there and the problem has none, or where the operands are not FP8.
 */
TSR_API tsr_status tsr_matmul_scaled(tsr_session *session, const tsr_matmul_problem *problem,
                                     const tsr_matmul_arrays *x, const tsr_run *run,
                                     tsr_report *report, tsr_error *err);

/**
 * As tsr_matmul_enqueue, likewise.
 *
 * @param x  The buffers, those of scales among them, must live, unmodified, until the work is done;
 *           the structure itself is read before the return alone.
 */
TSR_API tsr_status tsr_matmul_scaled_enqueue(tsr_session *session,
                                             const tsr_matmul_problem *problem,
                                             const tsr_matmul_buffers *x, const tsr_run *run,
                                             tsr_report *report, tsr_error *err);

#ifdef __cplusplus
}
#endif
#endif
