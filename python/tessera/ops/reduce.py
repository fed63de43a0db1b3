"""Sums, means, norms, extremes and counts."""

from functools import lru_cache
from math import prod

import numpy as np

from .._arrays import as_array, check_type, deliver, empty_beside, normal_axis, packed, result_in
from .._arrays import is_axis_of_scalar, run, scalar, split_axis, type_name
from .._operations import operation

__all__ = ["reduce", "mean", "argmin", "argmax", "norm", "count_nonzero", "sum", "min", "max",
           "any", "all"]

_op = operation("reduce")
_BOOLEAN = np.dtype(bool)


@lru_cache(maxsize=1024)
def _plan(dtype, outer, n, inner, by, any_order):
    """(problem, type in which it is computed, type that NumPy gives it)."""
    problem = _op.problem(type=type_name(dtype), outer=outer, n=n, inner=inner, by=by,
                          any_order=any_order)
    computed = _op.operands(problem)[1].type
    computed = dtype if computed == dtype.name else np.dtype(computed)
    shown = computed
    if by in ("any", "all") or (dtype == _BOOLEAN and by in ("min", "max")):
        shown = _BOOLEAN
    elif dtype == _BOOLEAN and by == "sum":
        shown = np.dtype(np.int64)
    return problem, computed, shown


def _axes_last(a, axes):
    """The array in C order with several axes made one, the last."""
    kept = [i for i in range(a.ndim) if i not in axes]
    moved = packed(a.transpose(kept + sorted(axes)))
    return moved.reshape([a.shape[i] for i in kept] + [prod(a.shape[i] for i in axes)])


# Functions of NumPy's name, of what the library calls otherwise.
_FUNCTIONS = {"norm": "norm2", "count_nonzero": "count"}


def reduce(a, by="sum", axis=None, *, keepdims=False, out=None, any_order=False, device=None,
           kernel=None, settings=None):
    """Reduce an array, or what lies along an axis or several, to one element.

    `by` is "sum", "min", "max", "argmin", "argmax", "mean", "norm2" (the root of the sum of
    squares), "any", "all" or "count" (of elements that are not 0); or the name of the function that
    does it, "norm" or "count_nonzero".  Types are NumPy's: the sum of integers has 64 bits, their
    mean is float64.  any_order lets sums differ from run to run.

    >>> import numpy as np
    >>> import tessera as ts
    >>> ts.reduce(np.array([[1, 5], [7, 3]]), "max", axis=0)
    array([7, 5])
    """
    a = as_array(a)
    check_type(_op, a.dtype)
    by = _FUNCTIONS.get(by, by)
    if isinstance(axis, tuple):
        axes = tuple(normal_axis(i, a.ndim) for i in axis)
        if len(set(axes)) != len(axes):
            raise ValueError("reduce: an axis comes twice in %s" % (axis,))
    else:
        axes = None if axis is None or is_axis_of_scalar(axis, a) else (normal_axis(axis, a.ndim),)
    if axes is None or len(axes) == 1:
        x = packed(a)
    elif by in ("argmin", "argmax"):
        raise TypeError("%s takes one axis, or None" % by)
    else:
        x = _axes_last(a, axes) if axes else packed(a).reshape(a.shape + (1,))
    return _reduced(x, *_sides(a.shape, axes, bool(keepdims)), by, out, any_order, device, kernel, settings)


@lru_cache(maxsize=1024)
def _sides(shape, axes, keepdims):
    """(outer, n, inner, shape of the result) of a reduction over `axes` (None: all).  Several axes
    count as one, the last."""
    if axes is None:
        return 1, prod(shape), 1, (1,) * len(shape) if keepdims else ()
    kept = [n for i, n in enumerate(shape) if i not in axes]
    result = tuple(1 if i in axes else n for i, n in enumerate(shape)) if keepdims else tuple(kept)
    if len(axes) == 1:
        return *split_axis(shape, axes[0]), result
    return prod(kept), prod(shape[i] for i in axes), 1, result


def _reduced(x, outer, n, inner, shape, by, out, any_order, device, kernel, settings):
    if outer * inner == 0:  # no result: one element tells its type, and none whether it needs any
        outer, n, inner = 0, n and 1, 1
    problem, computed, shown = _plan(x.dtype, outer or 1, n, inner, by, bool(any_order))
    if out is not None and shown == computed:
        result = result_in(out, shape, computed, (x,))
    else:
        result = empty_beside(x, shape, computed)
        if out is not None:
            result_in(out, shape, shown, (x,))
    if outer:
        run(_op, problem, (x, result), ("offset_x", "offset_result"), device, kernel, settings)
    if shown is not computed:
        result = result.view(shown)
    if out is not None:
        return deliver(result, out)
    return scalar(result)


def _named(name, by, example, result):
    def reduction(a, axis=None, *, keepdims=False, out=None, any_order=False, device=None,
                  kernel=None, settings=None):
        return reduce(a, by, axis, keepdims=keepdims, out=out, any_order=any_order, device=device,
                      kernel=kernel, settings=settings)

    reduction.__name__ = reduction.__qualname__ = name
    reduction.__doc__ = """reduce(a, "%s", axis).

    >>> import numpy as np
    >>> import tessera as ts
    >>> int(ts.%s(np.array(%s)))
    %s
    """ % (by, name, example, result)
    return reduction


sum = _named("sum", "sum", "[1, 2, 3]", "6")
min = _named("min", "min", "[2, 1, 3]", "1")
max = _named("max", "max", "[1, 3, 2]", "3")
argmin = _named("argmin", "argmin", "[2, 1, 3]", "1")
argmax = _named("argmax", "argmax", "[1, 3, 2]", "1")
mean = _named("mean", "mean", "[1, 2, 3]", "2")
norm = _named("norm", "norm2", "[3., 4.]", "5")
any = _named("any", "any", "[0, 1]", "1")
all = _named("all", "all", "[0, 1]", "0")
count_nonzero = _named("count_nonzero", "count", "[0, 5, 6]", "2")
