"""Sorted keys, and the order that sorts them."""

import numpy as np

from .._arrays import as_array, checked_out, deliver, empty_beside, is_axis_of_scalar, run
from .._operations import operation
from ._keys import keys_problem, move_back, rows_of, values_with

__all__ = ["sort", "argsort"]

_op = operation("sort")


def _run(a, axis, descending, argsort, values, device, kernel, settings):
    a = as_array(a)
    values = values_with(values, a.shape, axis)
    keys, rows, n, axis = rows_of(_op, a, axis)
    index = empty_beside(keys, keys.shape, np.int64) if argsort else None
    if keys.size:
        problem = keys_problem(_op, keys.dtype, rows, n, bool(descending), argsort,
                               values.dtype.itemsize if values is not None else 0)
        run(_op, problem, (keys, index, values), (), device, kernel, settings)
    return [x if x is None else move_back(x, axis) for x in (keys, index, values)]


def sort(a, axis=-1, *, descending=False, values=None, out=None, device=None, kernel=None,
         settings=None):
    """Sort along an axis, or, where it is None, the flattened array.

    With `values`, an array of the keys' shape, its elements are put into the order of the keys, and
    the result is (keys, values); of equal keys they stay in input order.

    NaN comes last.  Unlike in NumPy, -0.0 is less than 0.0.

    >>> import numpy as np
    >>> import tessera as ts
    >>> ts.sort(np.array([3, 1, 2], dtype=np.uint8), descending=True)
    array([3, 2, 1], dtype=uint8)
    """
    keys, _, moved = _run(a, axis, descending, False, values, device, kernel, settings)
    if out is not None:
        keys = deliver(keys, checked_out(out, keys.shape, keys.dtype, keys))
    return keys if values is None else (keys, moved)


def argsort(a, axis=-1, *, descending=False, device=None, kernel=None, settings=None):
    """The indices that sort an array along an axis: a stable order, descending too.

    >>> import numpy as np
    >>> import tessera as ts
    >>> ts.argsort(np.array([30., 10., 20.]))
    array([1, 2, 0])
    """
    a = as_array(a)
    if is_axis_of_scalar(axis, a):
        a = a.reshape(1)
    return _run(a, axis, descending, True, None, device, kernel, settings)[1]
