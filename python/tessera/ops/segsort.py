"""Segments of any lengths, each sorted by itself."""

import numpy as np

from .._arrays import DeviceArray, as_array, beside, check_type, empty_beside, own_copy, run
from .._operations import operation
from ._keys import keys_problem, offsets_of, values_with

__all__ = ["segmented_sort"]

_op = operation("segsort")


def segmented_sort(keys, offsets, *, descending=False, argsort=False, values=None, device=None,
                   kernel=None, settings=None):
    """Sort each segment of a vector by itself: segment i is keys[offsets[i]:offsets[i + 1]].

    The offsets ascend from 0 to the number of keys.  The result is the sorted keys, or a tuple of
    them and, with argsort, where each key stood in its segment (int64), and, with values, these in
    the keys' order.

    >>> import numpy as np
    >>> import tessera as ts
    >>> ts.segmented_sort(np.array([3, 1, 2, 9, 8]), [0, 3, 5])
    array([1, 2, 3, 8, 9])
    """
    keys = as_array(keys)
    check_type(_op, keys.dtype)
    if keys.ndim != 1:
        raise ValueError("segmented_sort: keys have shape %s, and must be a vector" % (keys.shape,))
    offsets = offsets_of(offsets, keys.size, isinstance(keys, DeviceArray))
    values = values_with(values, keys.shape)
    keys = own_copy(keys)
    index = empty_beside(keys, keys.shape, np.int64) if argsort else None
    segments = offsets.size - 1
    if segments == 0 and (keys.size or offsets[0] != 0):
        raise ValueError("segmented_sort: a single offset makes no segment, and there are %d keys"
                         % keys.size)
    if segments:
        problem = keys_problem(_op, keys.dtype, 1, keys.size, bool(descending), bool(argsort),
                               values.dtype.itemsize if values is not None else 0,
                               segments=segments)
        run(_op, problem, (keys, index, values, beside(keys, offsets)), (), device, kernel,
            settings)
    found = tuple(x for x in (keys, index, values) if x is not None)
    return keys if len(found) == 1 else found
