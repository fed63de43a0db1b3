"""Scaled sums of two arrays."""

from functools import lru_cache

import numpy as np

from .._arrays import DeviceArray, as_array, broadcast, check_type, deliver, number, packed
from .._arrays import real_number, result_in, run, scalar, type_name
from .._operations import operation

__all__ = ["axpy"]

_op = operation("axpy")


@lru_cache(maxsize=1024)
def _problem(dtype, n, alpha, in_place):
    return _op.problem(type=type_name(dtype), n=n, alpha=alpha, in_place=in_place)


def _is_place(y, x):
    """Whether y can be computed in its own memory."""
    if isinstance(y, DeviceArray):
        return y.is_contiguous and not y.overlaps(x)
    return (y.dtype.isnative and y.flags.c_contiguous and y.flags.writeable and
            not np.may_share_memory(x, y))


def _alpha(alpha, dtype):
    """alpha as the library takes it, a float64: beside integers it is not rounded."""
    alpha = number(_op, "alpha", alpha)
    held = real_number(_op, "alpha", alpha)
    if dtype.kind in "iu" and isinstance(alpha, (int, np.integer)) and int(held) != int(alpha):
        raise ValueError("axpy: alpha is %d, which float64 does not hold exactly" % alpha)
    return held


def add_turned(factor, x, out):
    """out := out + factor i x, of contiguous complex arrays on a device: real parts and imaginary ones
    are vectors in which one element follows the next but one."""
    reals = np.dtype("f4" if x.itemsize == 8 else "f8")
    x, y = (DeviceArray(z.memory, (z.size, 2), reals, None, z.offset) for z in (x, out))
    for part, alpha in ((0, -factor), (1, factor)):
        problem = _op.problem(type=reals.name, n=out.size, alpha=alpha, in_place=True, incx=2, incz=2)
        if out.size:
            run(_op, problem, (x[:, 1 - part], None, y[:, part]), ("offset_x", "offset_y", "offset_z"))
    return out


def axpy(alpha, x, y, out=None, *, device=None, kernel=None, settings=None):
    """alpha x + y, of any integer or real floating-point type; x and y are broadcast.

    out=y computes in place.  Sums of integers wrap, as NumPy's do; their alpha is a whole number
    that a float64 holds, from -2**63 to 2**63.

    >>> import numpy as np
    >>> import tessera as ts
    >>> ts.axpy(2, np.array([1., 2.]), np.array([10., 20.]))
    array([12., 24.])
    """
    x, y = as_array(x), as_array(y)
    dtype = np.result_type(x.dtype, y.dtype)
    if dtype == np.bool_:
        raise TypeError("axpy takes numbers, not booleans")
    check_type(_op, dtype)
    alpha = _alpha(alpha, dtype)
    shape = x.shape if x.shape == y.shape else np.broadcast_shapes(x.shape, y.shape)
    left = packed(broadcast(x, shape), dtype)
    in_place = out is y and y.shape == shape and y.dtype == dtype and _is_place(y, left)
    if in_place:
        right, result = None, out
    else:
        right = packed(broadcast(y, shape), dtype)
        result = result_in(out, shape, dtype, (left, right))
    if result.size:
        run(_op, _problem(dtype, result.size, alpha, in_place), (left, right, result),
            ("offset_x", "offset_y", "offset_z"), device, kernel, settings)
    if out is not None:
        return deliver(result, out)
    return scalar(result)
