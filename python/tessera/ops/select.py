"""The elements for which a comparison holds."""

import numpy as np

from .._arrays import as_array, check_type, empty_beside, packed, run
from .._device_array import to_numpy
from .._operations import operation

__all__ = ["select"]

_op = operation("select")


def select(a, where, value=0, *, indices=False, any_order=False, device=None, kernel=None,
           settings=None):
    """The elements of the flattened array for which a comparison with a value holds, in order.

    `where` is ">", ">=", "<", "<=", "==", "!=", "isnan" or "notnan".  With indices the result is
    (elements, where they stood).  any_order leaves their order open, which is faster.

    >>> import numpy as np
    >>> import tessera as ts
    >>> ts.select(np.array([0.5, -1.0, 2.0]), ">", 0)
    array([0.5, 2. ])
    """
    a = as_array(a)
    name = check_type(_op, a.dtype)
    x = packed(a).reshape(-1)
    result = empty_beside(x, x.shape, x.dtype)
    found = empty_beside(x, x.shape, np.int64) if indices else None
    problem = _op.problem(type=name, n=x.size, where=where,
                          value=float(value) if "float" in name else _whole(value),
                          with_indices=bool(indices), any_order=bool(any_order))
    count = empty_beside(x, (1,), _op.operands(problem)[3].type)
    run(_op, problem, (x, result, found, count), ("offset_x",), device, kernel, settings)
    n = int(to_numpy(count)[0])
    return (result[:n].copy(), found[:n].copy()) if indices else result[:n].copy()


def _whole(value):
    if int(value) != value:
        raise ValueError("select: %r is no whole number, and the elements are" % (value,))
    return int(value)
