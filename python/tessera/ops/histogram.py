"""Counts of elements in bins."""

import operator
from reprlib import repr as shortened

import numpy as np

from .._arrays import as_array, beside, check_type, packed, run
from .._device_array import to_numpy
from .._operations import operation
from .reduce import max as largest
from .reduce import min as least

__all__ = ["histogram"]

_op = operation("histogram")


def _edges(x, bins, limits, device):
    """Edges as NumPy computes them, without a pass of NumPy's over the array."""
    if np.ndim(bins):
        edges = np.asarray(bins)
        if edges.ndim != 1 or edges.size < 2:
            raise ValueError("histogram: bins must be a number or a vector of at least two edges")
        return edges, True
    try:
        bins = operator.index(bins)
    except TypeError:
        raise TypeError("histogram: bins must be a whole number, or a vector of edges, not %s"
                        % shortened(bins)) from None
    if bins < 1:
        raise ValueError("histogram: bins is %d, and must be 1 at least" % bins)
    if limits is not None:
        low, high = limits
        if low > high:
            raise ValueError("histogram: range begins at %s, above its end at %s" % (low, high))
    if limits is None and x.size:
        limits = to_numpy(least(x, device=device))[()], to_numpy(largest(x, device=device))[()]
    empty = np.empty(0, x.dtype)
    return np.histogram_bin_edges(empty, bins, None if limits is None else tuple(limits)), False


def _as_compared(edges, dtype):
    """Edges in the type in which elements are compared with them, each of which separates the same
    elements as before: an edge that the type cannot hold becomes the next one above, and the last
    one, up to which elements count, the next one below."""
    out = edges.astype(dtype)
    with np.errstate(over="ignore"):
        low = out < edges
        out[low] = np.nextafter(out[low], dtype.type(np.inf))
        if out[-1] > edges[-1]:
            out[-1] = np.nextafter(out[-1], dtype.type(-np.inf))
    return out


def _weights(weights, shape):
    """(name of their type, weights) as the library adds them up; whole numbers in 64 bits."""
    if weights is None:
        return "none", None
    weights = as_array(weights)
    if weights.shape != shape:
        raise ValueError("histogram: weights have shape %s and the elements %s"
                         % (weights.shape, shape))
    if weights.dtype.kind not in "biuf":
        raise TypeError("histogram: weights must be numbers, not %s" % weights.dtype)
    long = weights.dtype.itemsize >= 8
    if long and weights.dtype.kind == "u" and isinstance(weights, np.ndarray):
        beyond = np.flatnonzero(weights >= 2 ** 63)
        if beyond.size:
            raise ValueError("histogram: weight %d is %d, and int64 ends at %d"
                             % (beyond[0], weights.reshape(-1)[beyond[0]], 2 ** 63 - 1))
    name = "i64" if weights.dtype.kind in "biu" else "f64" if long else "f32"
    dtype = {"i64": np.int64, "f64": np.float64, "f32": np.float32}[name]
    return name, packed(weights, np.dtype(dtype)).reshape(-1)


def histogram(a, bins=10, range=None, *, density=False, weights=None, device=None, kernel=None,
              settings=None):
    """Count the elements of the flattened array in bins, as numpy.histogram does.

    `bins` is a number of bins of equal width over `range`, that of the elements by default, or the
    ascending edges of all; 64-bit integers take edges from 2**53 on as float64 alone, as which they
    are compared.  The result is (counts, edges), or with weights (their sums, edges):
    int64 of whole numbers, which end below 2**63, float64 of float64, else float32.

    >>> import numpy as np
    >>> import tessera as ts
    >>> counts, edges = ts.histogram(np.array([1., 2., 2., 4.]), bins=3)
    >>> counts
    array([1, 2, 1])
    """
    a = as_array(a)
    name = check_type(_op, a.dtype)
    x = packed(a).reshape(-1)
    edges, uneven = _edges(x, bins, range, device)
    if uneven and np.any(edges[:-1] > edges[1:]):
        at = int(np.argmax(edges[:-1] > edges[1:])) + 1
        raise ValueError("histogram: edge %d is %s, below the %s before it"
                         % (at, edges[at], edges[at - 1]))
    if uneven and edges.dtype.kind in "iu" and a.dtype.kind in "iu" and a.dtype.itemsize == 8:
        far = edges[(edges >= 2 ** 53) | (edges <= -2 ** 53)]
        if far.size:
            raise ValueError("histogram: edge %d is 2**53 or more, with which %s elements are not "
                             "compared exactly: pass edges of float64" % (far[0], a.dtype))
    by, weights = _weights(weights, a.shape)
    counts = np.zeros(edges.size - 1, np.int64 if weights is None else weights.dtype)
    problem = _op.problem(type=name, n=x.size, bins=counts.size, uneven=uneven, weights=by)
    compared = _as_compared(edges, np.dtype(_op.operands(problem)[1].type))
    if x.size:
        place = beside(x, counts)
        run(_op, problem, (x, beside(x, compared), place, weights), ("offset_x",), device, kernel,
            settings)
        counts = to_numpy(place)
    if density:
        return counts / np.diff(edges) / counts.sum(), edges
    return counts, edges
