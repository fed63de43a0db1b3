"""The largest or smallest elements."""

import operator
from typing import NamedTuple

import numpy as np

from .._arrays import empty_beside, run
from .._operations import operation
from ._keys import keys_problem, move_back, rows_of

__all__ = ["topk"]

_op = operation("topk")


class TopK(NamedTuple):
    """The first elements of a sorted order, and where they stood."""

    values: object
    indices: object


def topk(a, k, axis=-1, *, largest=True, device=None, kernel=None, settings=None):
    """Find the k largest elements along an axis, in order, and their indices; with largest=False,
    the smallest.

    Of equal elements those that stood first are taken, and come first.  NaN is larger than all
    numbers.

    >>> import numpy as np
    >>> import tessera as ts
    >>> ts.topk(np.array([10., 40., 20., 30.]), 2)
    TopK(values=array([40., 30.]), indices=array([1, 3]))
    """
    k = operator.index(k)
    keys, rows, n, axis = rows_of(_op, a, axis)
    if not 0 <= k <= n:
        raise ValueError("topk: k is %d, and there are %d elements along the axis" % (k, n))
    index = empty_beside(keys, keys.shape, np.int64)
    if k and keys.size:
        problem = keys_problem(_op, keys.dtype, rows, n, bool(largest), True, 0, top=k)
        run(_op, problem, (keys, index, None), (), device, kernel, settings)
    return TopK(*(move_back(x[..., :k].copy(), axis) for x in (keys, index)))
