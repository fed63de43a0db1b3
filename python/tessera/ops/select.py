"""The elements for which a comparison holds."""

import math
import operator

import numpy as np

from .._arrays import as_array, check_type, empty_beside, number, packed, real_number, run
from .._device_array import to_numpy
from .._operations import choice_code, operation

__all__ = ["select"]

_op = operation("select")


def select(a, where, value=0, *, indices=False, any_order=False, device=None, kernel=None,
           settings=None):
    """The elements of the flattened array for which a comparison with a value holds, in order.

    `where` is ">", ">=", "<", "<=", "==", "!=", "isnan" or "notnan".  The value is rounded to the
    type of floats, and integers compare with it as it is: "> 0.5" and "< 300" are right for int8.
    With indices the result is (elements, where they stood).  any_order leaves their order open,
    as kernels with an atomic counter need it.

    >>> import numpy as np
    >>> import tessera as ts
    >>> ts.select(np.array([0.5, -1.0, 2.0]), ">", 0)
    array([0.5, 2. ])
    """
    a = as_array(a)
    name = check_type(_op, a.dtype)
    choice_code(_op.members["where"], where)
    if "float" in name:
        value = real_number(_op, "value", value)
    else:
        where, value = _whole_comparison(np.iinfo(name), where, number(_op, "value", value))
    x = packed(a).reshape(-1)
    result = empty_beside(x, x.shape, x.dtype)
    found = empty_beside(x, x.shape, np.int64) if indices else None
    problem = _op.problem(type=name, n=x.size, where=where, value=value,
                          with_indices=bool(indices), any_order=bool(any_order))
    count = empty_beside(x, (1,), _op.operands(problem)[3].type)
    run(_op, problem, (x, result, found, count), ("offset_x",), device, kernel, settings)
    n = int(to_numpy(count)[0])
    return (result[:n].copy(), found[:n].copy()) if indices else result[:n].copy()


def _whole_comparison(info, where, value):
    """The comparison of integers with a number, as one with an integer of their type: (comparison,
    integer)."""
    if where in ("isnan", "notnan"):
        return where, 0
    try:
        whole = operator.index(value)
    except TypeError:
        real = real_number(_op, "value", value)
        if math.isfinite(real):
            whole = math.floor(real)
            if whole != real and where in (">", ">="):
                where = ">"
            elif whole != real and where in ("<", "<="):
                where = "<="
            elif whole != real:
                return _constant(info, where == "!=")
        elif math.isnan(real):
            return _constant(info, where == "!=")
        else:
            whole = info.max + 1 if real > 0 else info.min - 1
    if whole > info.max:
        return _constant(info, where in ("<", "<=", "!="))
    if whole < info.min:
        return _constant(info, where in (">", ">=", "!="))
    return where, whole


def _constant(info, holds):
    """A comparison that always holds, or never."""
    return "<=" if holds else ">", info.max
