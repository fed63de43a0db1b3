"""Products of a matrix and a vector."""

from functools import lru_cache
from math import prod

import numpy as np

from .._arrays import as_array, copied_side, deliver, line_stride, product_side, product_types
from .._arrays import real_number, result_in, run
from .._operations import operation

__all__ = ["matvec"]

_op = operation("matvec")
_OFFSETS = ("offset_a", "offset_x", "offset_y")


class _Plan:
    __slots__ = ("operands", "result", "shape", "a_copy", "x_copy", "problem", "batch")


@lru_cache(maxsize=1024)
def _plan(a_type, a_shape, a_strides, x_type, x_shape, x_strides, dtype, precision, alpha, beta):
    p = _Plan()
    p.operands, p.result = product_types(_op, a_type, x_type, dtype)
    if len(a_shape) < 2 or not x_shape:
        raise ValueError("matvec: shapes %s and %s are not those of a matrix and a vector"
                         % (a_shape, x_shape))
    rows, columns = a_shape[-2:]
    if x_shape[-1] != columns:
        raise ValueError("matvec: shapes %s and %s do not match, inner lengths %d and %d"
                         % (a_shape, x_shape, columns, x_shape[-1]))
    p.batch = np.broadcast_shapes(a_shape[:-2], x_shape[:-1])
    p.shape = p.batch + (rows,)
    size = p.operands.itemsize
    a_side = product_side(a_shape, a_strides, size, p.batch) if a_type == p.operands else None
    # A vector is a column: a matrix of lines of one element.
    x_side = None
    if x_type == p.operands:
        x_side = _vector_side(x_shape, x_strides, size, p.batch)
    p.a_copy, p.x_copy = a_side is None, x_side is None
    p.problem = None
    if p.a_copy or p.x_copy or 0 in p.shape:
        return p
    transposed = a_side[0]
    p.problem = _op.problem(
        type=p.operands.name, rows=columns if transposed else rows,
        columns=rows if transposed else columns, trans=transposed, lda=a_side[1], alpha=alpha,
        beta=beta, precision=precision, out_type=p.result != p.operands, incx=x_side[0],
        batch=prod(p.batch), stride_a=a_side[2], stride_x=x_side[1], stride_y=rows)
    return p


def _vector_side(shape, strides, itemsize, batch):
    """(incx, stride) of a vector, or of a batch of them; None where it has to be copied."""
    n = shape[-1]
    if 0 in shape:
        return 1, 0
    step = 1 if n == 1 else strides[-1] // itemsize
    if step < 1 or (n > 1 and strides[-1] % itemsize):
        return None
    missing = len(batch) - (len(shape) - 1)
    apart = (0,) * missing + tuple(0 if e == 1 else s for e, s in zip(shape[:-1], strides[:-1]))
    stride = line_stride(batch, apart, itemsize)
    if stride is None or 0 < stride < step * (n - 1) + 1:
        return None
    return step, stride


def matvec(a, x, out=None, *, alpha=1.0, beta=0.0, dtype=None, precision=None, device=None,
           kernel=None, settings=None):
    """Multiply matrices by vectors, as numpy.matvec does: shapes (..., m, n) and (..., n) give
    (..., m), batches are broadcast.

    The result is alpha a x + beta out.  Types are float32, float64, float16 and
    bfloat16; precision is that of matmul.

    >>> import numpy as np
    >>> import tessera as ts
    >>> ts.matvec(np.array([[1., 2.], [3., 4.]]), np.array([1., 10.]))
    array([21., 43.])
    """
    a, x = as_array(a), as_array(x)
    alpha, beta = real_number(_op, "alpha", alpha), real_number(_op, "beta", beta)
    plan = _plan(a.dtype, a.shape, a.strides, x.dtype, x.shape, x.strides, dtype, precision, alpha,
                 beta)
    if plan.a_copy or plan.x_copy:
        return matvec(copied_side(a, _op, plan.operands, plan.batch, 2) if plan.a_copy else a,
                      copied_side(x, _op, plan.operands, plan.batch, 1) if plan.x_copy else x, out,
                      alpha=alpha, beta=beta, dtype=plan.result, precision=precision,
                      device=device, kernel=kernel, settings=settings)
    y = result_in(out, plan.shape, plan.result, (a, x), beta)
    if plan.problem is not None:
        run(_op, plan.problem, (a, x, y), _OFFSETS, device, kernel, settings)
    return deliver(y, out)
