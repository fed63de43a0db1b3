"""Running sums, minima and maxima."""

from functools import lru_cache

import numpy as np

from .._arrays import DeviceArray, as_array, beside, check_type, deliver, empty_beside, normal_axis
from .._arrays import is_axis_of_scalar, packed, result_in, run, split_axis, type_name
from .._operations import operation
from ._keys import offsets_of

__all__ = ["scan", "cumsum"]

_op = operation("scan")
_BOOLEAN = np.dtype(bool)


@lru_cache(maxsize=1024)
def _plan(dtype, outer, n, inner, by, exclusive, reverse, same_type, segments):
    """(problem, type in which it is computed, type that NumPy gives it)."""
    problem = _op.problem(type=type_name(dtype), outer=outer, n=n, inner=inner, by=by,
                          exclusive=exclusive, reverse=reverse, same_type=same_type,
                          segments=segments)
    computed = _op.operands(problem)[1].type
    computed = dtype if computed == dtype.name else np.dtype(computed)
    if dtype != _BOOLEAN:
        return problem, computed, computed
    if by != "sum":
        return problem, computed, _BOOLEAN
    return problem, computed, computed if same_type else np.dtype(np.int64)


def scan(a, by="sum", axis=None, *, exclusive=False, reverse=False, same_type=False, segments=None,
         out=None, device=None, kernel=None, settings=None):
    """Running sums along an axis, or, where it is None, of the flattened array; by "min" or "max"
    running minima or maxima.

    exclusive leaves each element out of its own result; reverse goes from the end to the front.
    Sums of integers have 64 bits, as NumPy's, and with same_type the elements' type, of booleans
    uint8.  With segments, ascending offsets from 0 to the size, each stretch of a vector is scanned
    by itself, and no axis is given.

    >>> import numpy as np
    >>> import tessera as ts
    >>> ts.scan(np.array([3, 1, 2]))
    array([3, 4, 6])
    >>> ts.scan(np.array([3, 1, 2, 5]), exclusive=True, segments=[0, 2, 4])
    array([0, 3, 0, 2])
    """
    a = as_array(a)
    check_type(_op, a.dtype)
    if segments is not None and axis is not None:
        raise ValueError("scan: axis %s and segments exclude each other" % (axis,))
    if segments is not None and a.ndim != 1:
        raise ValueError("scan: segments are stretches of a vector, and the array has shape %s"
                         % (a.shape,))
    x = packed(a)
    if axis is None or is_axis_of_scalar(axis, x):
        x = x if x.ndim == 1 else x.reshape(-1)
        outer, n, inner = 1, x.shape[0], 1
    else:
        outer, n, inner = split_axis(x.shape, normal_axis(axis, x.ndim))
    count, offsets = 0, None
    if segments is not None:
        offsets = offsets_of(segments, n, isinstance(x, DeviceArray))
        count = offsets.size - 1
    problem, computed, shown = _plan(x.dtype, outer or 1, n, inner or 1, by, bool(exclusive),
                                     bool(reverse), bool(same_type), count)
    if shown == computed:
        result = result_in(out, x.shape, computed, (x,))
    else:
        result = empty_beside(x, x.shape, computed)
    if x.size:
        run(_op, problem, (x, result, beside(x, offsets)), ("offset_x", "offset_result"), device,
            kernel, settings)
    return deliver(result if shown is computed else result.view(shown), out)


def cumsum(a, axis=None, *, out=None, device=None, kernel=None, settings=None):
    """Running sums, as numpy.cumsum: scan(a, "sum", axis).

    >>> import numpy as np
    >>> import tessera as ts
    >>> ts.cumsum(np.array([1., 2., 3.]))
    array([1., 3., 6.])
    """
    return scan(a, "sum", axis, out=out, device=device, kernel=kernel, settings=settings)
