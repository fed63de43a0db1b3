"""What the operations on keys share: rows of them, and what goes along."""

from functools import lru_cache

import numpy as np

from .._arrays import as_array, check_type, normal_axis, packed, type_name


def rows_of(op, a, axis):
    """(a copy of the keys with `axis` last, number of rows, keys of a row, the axis), an array that
    is flattened where axis is None."""
    a = as_array(a)
    check_type(op, a.dtype, "; view or astype makes it one of them")
    if axis is None:
        a, axis = a.reshape(-1), 0
    if a.ndim == 0:
        raise np.AxisError("%s: a scalar has no axis to sort along" % op.name)
    axis = normal_axis(axis, a.ndim)
    moved = a if axis == a.ndim - 1 else np.moveaxis(a, axis, -1)
    keys = np.array(moved, order="C", copy=True, dtype=a.dtype.newbyteorder("="))
    n = keys.shape[-1]
    return keys, (keys.size // n if n else 0), n, axis


def move_back(x, axis):
    return x if axis == x.ndim - 1 else np.moveaxis(x, -1, axis)


def values_with(values, shape, axis=-1):
    """A copy of the values that go with keys, which have this shape, with `axis` last."""
    if values is None:
        return None
    values = as_array(values)
    if values.shape != shape:
        raise ValueError("values have shape %s and the keys %s" % (values.shape, shape))
    if values.dtype.hasobject:
        raise TypeError("values are Python objects, which have no bytes of their own")
    moved = np.moveaxis(values, axis, -1)
    return packed(moved) if moved.base is not values and not moved.flags.c_contiguous \
        else np.array(moved, order="C", copy=True)


def bytes_of(values):
    """Values as the bytes that they are, which is all that is known of some types."""
    return None if values is None else values.view("V%d" % values.dtype.itemsize) \
        if values.dtype.kind in "mMV" else values


@lru_cache(maxsize=1024)
def keys_problem(op, dtype, rows, n, descending, argsort, value_bytes, **more):
    return op.problem(type=type_name(dtype), n=n, rows=rows, descending=descending,
                      argsort=argsort, value_bytes=value_bytes, **more)
