"""Transposed matrices, in memory."""

from math import prod

from .._arrays import DeviceArray, as_array, deliver, packed, result_in, run
from .._operations import operation

__all__ = ["transpose"]

_op = operation("transpose")


def transpose(a, out=None, *, device=None, kernel=None, settings=None):
    """The transposed matrix, or of each matrix of a batch (the last two axes), in C order; a copy of
    a vector.

    Elements are of any type of 1 to 16 bytes.  NumPy's own transpose is a view; this one moves the
    elements.

    >>> import numpy as np
    >>> import tessera as ts
    >>> ts.transpose(np.array([[1, 2, 3], [4, 5, 6]]))
    array([[1, 4],
           [2, 5],
           [3, 6]])
    """
    a = as_array(a)
    if a.dtype.hasobject or not 1 <= a.dtype.itemsize <= 16:
        raise TypeError("transpose takes elements of 1 to 16 bytes, not %s" % a.dtype)
    if type(a) is DeviceArray and a.ndim > 1 and out is None and kernel is None and settings is None:
        swapped = a.transpose(*range(a.ndim - 2), a.ndim - 1, a.ndim - 2)
        if swapped.is_contiguous:
            return swapped.copy()
    x = packed(a)
    rows, columns = x.shape[-2:] if x.ndim > 1 else (1, x.size)
    shape = x.shape[:-2] + (columns, rows) if x.ndim > 1 else x.shape
    result = result_in(out, shape, x.dtype, (x,))
    if result.size:
        problem = _op.problem(element_bytes=x.dtype.itemsize, rows=rows, columns=columns,
                              batch=prod(x.shape[:-2]))
        run(_op, problem, (x, result), ("offset_a", "offset_b"), device, kernel, settings)
    return deliver(result, out)
