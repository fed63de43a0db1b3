"""What the operations on keys share: rows of them, what goes along, and segments."""

from functools import lru_cache

import numpy as np

from .._arrays import AxisError, DeviceArray, as_array, check_type, normal_axis, own_copy, packed
from .._arrays import type_name


def rows_of(op, a, axis):
    """(a copy of the keys with `axis` last, number of rows, keys of a row, the axis), an array that
    is flattened where axis is None."""
    a = as_array(a)
    check_type(op, a.dtype, "; a view, or a.astype() on the host, makes it one of them")
    if axis is None:
        a, axis = a.reshape(-1), 0
    if a.ndim == 0:
        raise AxisError("%s: a scalar has no axis to sort along" % op.name)
    axis = normal_axis(axis, a.ndim)
    keys = own_copy(_axis_last(a, axis))
    n = keys.shape[-1]
    return keys, (keys.size // n if n else 0), n, axis


def _axis_last(x, axis):
    if axis == x.ndim - 1:
        return x
    return x.transpose([i for i in range(x.ndim) if i != axis] + [axis])


def move_back(x, axis):
    """The last axis where it was before."""
    if axis == x.ndim - 1:
        return x
    order = list(range(x.ndim - 1))
    order.insert(axis, x.ndim - 1)
    return x.transpose(order)


def values_with(values, shape, axis=-1):
    """A copy of the values that go with keys of a shape, as these were copied."""
    if values is None:
        return None
    values = as_array(values)
    if values.shape != shape:
        raise ValueError("values have shape %s and the keys %s" % (values.shape, shape))
    if values.dtype.hasobject:
        raise TypeError("values are Python objects, which have no bytes of their own")
    if axis is None:
        return own_copy(values.reshape(-1))
    return own_copy(_axis_last(values, normal_axis(axis, values.ndim)))


def offsets_of(segments, n, on_device):
    """Offsets of segments of n elements, as the library takes them.  Those of a call on a device,
    which are not looked at there, are checked here."""
    offsets = as_array(segments)
    if isinstance(offsets, DeviceArray):
        raise TypeError("offsets of segments must be in host memory, not on a device")
    if offsets.ndim != 1 or offsets.size == 0 or offsets.dtype.kind not in "iu":
        raise ValueError("offsets of segments must be a vector of whole numbers, one more than "
                         "there are segments")
    if np.any(offsets < 0):
        at = int(np.argmax(offsets < 0))
        raise ValueError("offset %d of segments is %d, below 0" % (at, offsets[at]))
    offsets = packed(offsets, np.dtype(np.uint64))
    if on_device and (offsets[0] != 0 or offsets[-1] != n or np.any(offsets[:-1] > offsets[1:])):
        raise ValueError("offsets of segments must ascend from 0 to %d" % n)
    return offsets


@lru_cache(maxsize=1024)
def keys_problem(op, dtype, rows, n, descending, argsort, value_bytes, **more):
    return op.problem(type=type_name(dtype), n=n, rows=rows, descending=descending,
                      argsort=argsort, value_bytes=value_bytes, **more)
