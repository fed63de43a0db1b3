"""NumPy's functions that have a counterpart here: what numpy.sort(x) of an array on a device is."""

import inspect
from functools import lru_cache

import numpy as np

import tessera

from ._arrays import is_axis_of_scalar, normal_axis

_FUNCTIONS = {np.sort: "sort", np.argsort: "argsort", np.sum: "sum", np.mean: "mean",
              np.amin: "min", np.amax: "max", np.argmin: "argmin", np.argmax: "argmax", np.any: "any",
              np.all: "all", np.count_nonzero: "count_nonzero", np.cumsum: "cumsum",
              np.histogram: "histogram"}


def _transpose(x, axes=None):
    return x.transpose() if axes is None else x.transpose(axes)


def _norm(x, ord=None, axis=None, keepdims=False):  # pylint: disable=redefined-builtin
    along = x.ndim if axis is None else len(axis) if isinstance(axis, tuple) else 1
    if ord is not None and (ord, along) not in ((2, 1), ("fro", 2)):
        raise TypeError("norm of an array on a device is the root of the sum of squares, not that "
                        "of order %r along %d axes" % (ord, along))
    return tessera.norm(x, axis, keepdims=keepdims)


def _reshape(a, shape=None, *, newshape=None):  # NumPy's name before 2.1
    return a.reshape(newshape if shape is None else shape)


def _squeeze(a, axis=None):
    if axis is not None and is_axis_of_scalar(axis, a):
        return a
    axes = range(a.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    dropped = {normal_axis(i, a.ndim) for i in axes if axis is not None or a.shape[i] == 1}
    for i in dropped:
        if a.shape[i] != 1:
            raise ValueError("cannot squeeze axis %d, of %d elements" % (i, a.shape[i]))
    return a[tuple(0 if i in dropped else slice(None) for i in range(a.ndim))]


def _swapaxes(a, axis1, axis2):
    order = list(range(a.ndim))
    i, j = normal_axis(axis1, a.ndim), normal_axis(axis2, a.ndim)
    order[i], order[j] = j, i
    return a.transpose(order)


def _dot(a, b, out=None):
    if not 1 <= len(np.shape(a)) <= 2 or not 1 <= len(np.shape(b)) <= 2:
        raise TypeError("dot of arrays on a device takes vectors and matrices; matmul takes batches")
    return tessera.matmul(a, b, out)


_OWN = {np.transpose: _transpose, np.linalg.norm: _norm, np.squeeze: _squeeze,
        np.swapaxes: _swapaxes, np.dot: _dot, np.reshape: _reshape,
        np.broadcast_to: lambda array, shape: array.broadcast_to(shape),
        np.copy: lambda a: a.copy(), np.shape: lambda a: a.shape, np.ndim: lambda a: a.ndim,
        np.size: lambda a: a.size}


def _product(function):
    return lambda x, y, out=(None,), **named: function(x, y, out[0], **named)


def function_of(func):
    """Ours for a function of NumPy's, or None."""
    if func in _OWN:
        return _OWN[func]
    name = _FUNCTIONS.get(func) or {"min": "min", "max": "max"}.get(func.__name__)
    return None if name is None else getattr(tessera, name)


@lru_cache(maxsize=64)
def _signature(function):
    return inspect.signature(function)


def check_arguments(theirs, ours, args, named):
    """TypeError where a call of NumPy's function has arguments that ours does not take."""
    try:
        _signature(ours).bind(*args, **named)
    except TypeError as e:
        raise TypeError("numpy.%s of an array on a device: %s" % (theirs.__name__, e)) from None


@lru_cache(maxsize=64)
def ufunc_of(ufunc):
    """Ours for a ufunc of NumPy's, or None."""
    if ufunc in (np.matmul, getattr(np, "matvec", None)):  # the latter from NumPy 2.2 on
        return _product(getattr(tessera, ufunc.__name__))
    operators = {np.add: "__add__", np.subtract: "__sub__", np.multiply: "__mul__",
                 np.divide: "__truediv__", np.negative: "__neg__"}
    name = operators.get(ufunc)
    return None if name is None else lambda x, *rest: _operator(name, x, *rest)


def _operator(name, x, *rest):
    if isinstance(x, tessera.DeviceArray):
        return getattr(x, name)(*rest)
    return getattr(rest[0], name.replace("__", "__r", 1))(x)
