"""NumPy arrays as the library takes them: types, lines and strides, results."""

from functools import lru_cache
from math import prod

import numpy as np


def as_array(x):
    """Anything that NumPy makes an array of."""
    return x if isinstance(x, np.ndarray) else np.asarray(x)


@lru_cache(maxsize=256)
def type_name(dtype):
    """The library's name of a dtype: a boolean is kept as a uint8."""
    return "uint8" if dtype == np.bool_ else dtype.name


def plain(a):
    """An array whose memory can be exported, for a type that NumPy learned from elsewhere."""
    return a.view(np.uint16) if a.dtype.kind == "V" else a


def check_type(op, dtype, hint=""):
    """The library's name of a type; TypeError where the operation does not take it."""
    name = type_name(dtype)
    if name not in op.types:
        raise TypeError("%s takes %s, not %s%s" % (op.name, ", ".join(op.types), dtype, hint))
    return name


def native(a, dtype):
    """The array in a type and in this machine's byte order, itself where it is that already."""
    return a if a.dtype == dtype and a.dtype.isnative else a.astype(dtype.newbyteorder("="))


def packed(a, dtype=None):
    """The array in C order, in a type and in this machine's byte order."""
    return np.ascontiguousarray(native(a, dtype or a.dtype)).reshape(a.shape)


def line_stride(shape, strides, itemsize):
    """Elements from one to the next where the array is taken as one long line; None where that is
    no one number, or is negative."""
    step, expected = 0, None
    for n, s in zip(reversed(shape), reversed(strides)):
        if n == 1:
            continue
        if expected is None:
            if s < 0 or s % itemsize:
                return None
            step = s // itemsize
        elif s != expected:
            return None
        expected = s * n
    return step


def matrix_layout(shape, strides, itemsize):
    """(transposed, ld) of a matrix whose rows or columns are stretches of memory; else None."""
    rows, columns = shape
    for transposed, (n, length), (apart, next_one) in ((False, shape, strides),
                                                       (True, shape[::-1], strides[::-1])):
        if length > 1 and next_one != itemsize:
            continue
        ld = apart // itemsize if n > 1 else max(length, 1)
        if ld >= max(length, 1) and (n == 1 or apart % itemsize == 0):
            return transposed, ld
    return None


_HALF = ("float16", "bfloat16")


def product_types(op, a, b, dtype):
    """(type of the operands, type of the result) of a product: where the result is to be float32,
    operands of 16 bits stay what they are."""
    operands = np.result_type(a, b)
    result = operands if dtype is None else np.dtype(dtype)
    if not (result == np.float32 and operands.name in _HALF):
        operands = result
    check_type(op, operands, "; astype converts")
    return operands, result


def product_side(shape, strides, itemsize, batch):
    """(transposed, ld, stride) of the matrices that a batch of products takes; None where they have
    to be copied."""
    if 0 in shape:
        return False, 0, 0
    layout = matrix_layout(shape[-2:], strides[-2:], itemsize)
    missing = len(batch) - (len(shape) - 2)
    apart = (0,) * missing + tuple(0 if n == 1 else s for n, s in zip(shape[:-2], strides[:-2]))
    stride = line_stride(batch, apart, itemsize)
    if layout is None or stride is None:
        return None
    transposed, ld = layout
    lines, length = shape[:-3:-1] if transposed else shape[-2:]
    return None if 0 < stride < ld * (lines - 1) + length else (transposed, ld, stride)


def copied_side(x, dtype, batch, rank):
    """A copy of an operand that a batch of products takes, whose last `rank` extents are those of
    one product: one for each product where several are, and not all, share one."""
    if any(n != 1 for n in x.shape[:-rank]) and x.shape[:-rank] != batch:
        x = np.broadcast_to(x, batch + x.shape[-rank:])
    return packed(x, dtype)


def split_axis(shape, axis):
    """(outer, n, inner) of an array's elements along an axis; None is all of them."""
    if axis is None:
        return 1, prod(shape), 1
    return prod(shape[:axis]), shape[axis], prod(shape[axis + 1:])


def normal_axis(axis, ndim):
    if not -ndim <= axis < ndim:
        raise np.AxisError(axis, ndim)
    return axis % ndim


def result_in(out, shape, dtype, inputs, beta=0):
    """Where a result is computed: `out`, where its memory is as the library writes it and none of
    the inputs', else an array of its own, which deliver() copies.  It holds what `out` does where
    `beta` says that this is added."""
    if out is None:
        if beta:
            raise ValueError("beta is %g, and there is no out to take times it" % beta)
        return np.empty(shape, dtype)
    if not isinstance(out, np.ndarray):
        raise TypeError("out is an array, not %s" % type(out).__name__)
    if out.shape != shape:
        raise ValueError("out has shape %s and should have %s" % (out.shape, shape))
    if not np.can_cast(dtype, out.dtype, "same_kind"):
        raise TypeError("out is %s and the result %s" % (out.dtype, dtype))
    if not out.flags.writeable:
        raise ValueError("out is read-only")
    if (out.dtype == dtype and out.dtype.isnative and out.flags.c_contiguous and
            not any(np.may_share_memory(out, x) for x in inputs)):
        return out
    result = np.empty(shape, dtype)
    if beta:
        np.copyto(result, out)
    return result


def deliver(result, out):
    """The result, in `out` where there is one."""
    if out is not None and out is not result:
        np.copyto(out, result, casting="same_kind")
        return out
    return result
