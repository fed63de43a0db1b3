"""Products of matrices."""

from functools import lru_cache
from math import prod

import numpy as np

from .._arrays import as_array, complex_number, copied_side, deliver, product_side, product_types
from .._arrays import packed, result_in, run, scalar
from .._operations import operation

__all__ = ["matmul"]

_op = operation("matmul")
_OFFSETS = ("offset_a", "offset_b", "offset_c", "offset_scale_a", "offset_scale_b")


def _types(a, b, dtype):
    """(type of the operands, type of the result): of int8 ones it is int32."""
    wanted = None if dtype is None else np.dtype(dtype)
    if np.result_type(a, b) == np.int8:
        if wanted == np.int32:
            return np.dtype(np.int8), wanted
        if wanted is None:
            raise TypeError("matmul: NumPy's product of int8 matrices is int8, and wraps; dtype=int32, "
                            "or an int32 out, gives whole sums")
        if wanted.kind not in "fcV":  # 'V': bfloat16
            raise TypeError("matmul: dtype is %s, and the product of int8 matrices is int32" % wanted)
    if wanted == np.int8:
        raise TypeError("matmul: dtype is int8, which only operands have: their product is int32")
    return product_types(_op, a, b, dtype)


class _Plan:
    """What follows from types, shapes and strides alone."""

    __slots__ = ("operands", "result", "shape", "a_copy", "b_copy", "problem", "batch", "m", "n")


@lru_cache(maxsize=1024)
def _plan(a_type, a_shape, a_strides, b_type, b_shape, b_strides, dtype, precision, alpha, beta,
          conj_a, conj_b, scale_a, scale_b):
    p = _Plan()
    p.operands, p.result = _types(a_type, b_type, dtype)
    conj_a, conj_b = (c and p.operands.kind == "c" for c in (conj_a, conj_b))
    if p.operands.kind != "c" and (alpha.imag or beta.imag):
        raise TypeError("matmul: alpha and beta of %s matrices must be real" % p.operands)
    if not a_shape or not b_shape:
        raise ValueError("matmul: an operand is a scalar: `*` scales by it")
    a_2d = a_shape if len(a_shape) > 1 else (1,) + a_shape
    b_2d = b_shape if len(b_shape) > 1 else b_shape + (1,)
    a_2d_strides = a_strides if len(a_shape) > 1 else (0,) + a_strides
    b_2d_strides = b_strides if len(b_shape) > 1 else b_strides + (0,)
    (m, k), (inner, n) = a_2d[-2:], b_2d[-2:]
    p.m, p.n = m, n
    if inner != k:
        raise ValueError("matmul: shapes %s and %s do not match, inner lengths %d and %d"
                         % (a_shape, b_shape, k, inner))
    p.batch = np.broadcast_shapes(a_2d[:-2], b_2d[:-2])
    p.shape = p.batch + ((m,) if len(a_shape) > 1 else ()) + ((n,) if len(b_shape) > 1 else ())
    size = p.operands.itemsize
    a_side = product_side(a_2d, a_2d_strides, size, p.batch) if a_type == p.operands else None
    b_side = product_side(b_2d, b_2d_strides, size, p.batch) if b_type == p.operands else None
    p.a_copy, p.b_copy = a_side is None, b_side is None
    p.problem = None
    if p.a_copy or p.b_copy or 0 in p.shape:
        return p
    p.problem = _op.problem(
        type=p.operands.name, m=m, n=n, k=k, trans_a=a_side[0], trans_b=b_side[0],
        lda=a_side[1], ldb=b_side[1], alpha=alpha.real, beta=beta.real, alpha_im=alpha.imag,
        beta_im=beta.imag, conj_a=conj_a, conj_b=conj_b, precision=precision,
        out_type=p.result != p.operands and p.result == np.float32,
        c_bf16=p.result != p.operands and p.result.name == "bfloat16", batch=prod(p.batch), stride_a=a_side[2],
        stride_b=b_side[2], stride_c=m * n, scale_a=scale_a, scale_b=scale_b)
    return p


def _scales(scales, name, count, lines):
    """A vector of float32, of what may be a column for rows, or a row for columns."""
    if scales is None:
        return None
    scales = as_array(scales)
    shapes = (count,), (count, 1) if lines == "rows" else (1, count)
    if scales.shape not in shapes:
        raise ValueError("matmul: %s has shape %s, and there are %d %s: %s or %s"
                         % (name, scales.shape, count, lines, *shapes))
    if scales.dtype.kind not in "iuf":
        raise TypeError("matmul: %s is %s, and scales must be float32" % (name, scales.dtype))
    return packed(scales, np.dtype(np.float32)).reshape(-1)


def matmul(a, b, out=None, *, alpha=1.0, beta=0.0, conj_a=False, conj_b=False, scale_a=None,
           scale_b=None, dtype=None, precision=None, device=None, kernel=None, settings=None):
    """Multiply matrices, as numpy.matmul does: batches are broadcast, vectors are rows or columns.

    The result is alpha a b + beta out.  Types are float16, float32, float64, complex64, complex128 and
    ml_dtypes' bfloat16, float8_e4m3fn and float8_e5m2; dtype=float32 keeps the float32 sums of operands
    of 16 and 8 bits, and bfloat16 rounds those of 8 to it.  FP8 results saturate, and are rounded to
    nearest even; precision="f32" adds up FP8 as float32 does, exactly by IEEE 754.  int8 matrices
    have an int32 product, which dtype=int32 or such an out asks for: exact within 32 bits, beyond
    modulo 2^32; alpha and beta are whole numbers of 32 bits there.  Of FP8 scale_a has a factor for
    each row of a, of shape (m,) or (m, 1), and scale_b one for each column of b, (n,) or (1, n), the
    same for all matrices of a batch: the sum of row i and column j is multiplied with
    alpha (scale_a[i] scale_b[j]), in float32.  conj_a and conj_b take a and b conjugated without a
    copy: matmul(a.T, b, conj_a=True) is A^H b.  precision is "f32", "f32-strict", "f64", or one that
    rounds float32 factors: "tf32", "bf16", "f16".

    >>> import numpy as np
    >>> import tessera as ts
    >>> ts.matmul(np.array([[1., 2.], [3., 4.]]), np.array([[5., 6.], [7., 8.]]))
    array([[19., 22.],
           [43., 50.]])
    """
    a, b = as_array(a), as_array(b)
    result = getattr(out, "dtype", None) if dtype is None else None
    if result is not None and a.dtype.itemsize == 1 and np.result_type(a.dtype, b.dtype) == np.int8:
        if result != np.int32:
            raise TypeError("matmul: out is %s, and the product of int8 matrices is int32" % result)
        dtype = result
    if type(alpha) is not float or type(beta) is not float:
        alpha, beta = complex_number(_op, "alpha", alpha), complex_number(_op, "beta", beta)
    plan = _plan(a.dtype, a.shape, a.strides, b.dtype, b.shape, b.strides, dtype, precision, alpha,
                 beta, bool(conj_a), bool(conj_b), scale_a is not None, scale_b is not None)
    if plan.a_copy or plan.b_copy:
        return matmul(copied_side(a, _op, plan.operands, plan.batch, 2) if plan.a_copy else a,
                      copied_side(b, _op, plan.operands, plan.batch, 2) if plan.b_copy else b, out,
                      alpha=alpha, beta=beta, conj_a=conj_a, conj_b=conj_b, scale_a=scale_a,
                      scale_b=scale_b, dtype=plan.result, precision=precision, device=device,
                      kernel=kernel, settings=settings)
    c = result_in(out, plan.shape, plan.result, (a, b), beta)
    operands = (a, b, c)
    if scale_a is not None or scale_b is not None:
        operands += (_scales(scale_a, "scale_a", plan.m, "rows"),
                     _scales(scale_b, "scale_b", plan.n, "columns"))
    if plan.problem is not None:
        run(_op, plan.problem, operands, _OFFSETS, device, kernel, settings)
    if out is not None:
        return deliver(c, out)
    return scalar(c)
