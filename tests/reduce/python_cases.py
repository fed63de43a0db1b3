import numpy as np
from random_arrays import FLOATS, INTEGERS, array, same, same_error, shape_of


def close(got, exact, size, n, dtype, result):
    """Within the bound of a sum of n elements, whose absolute values add up to `size`."""
    u = 2.0 ** -53 if dtype == "float64" or np.dtype(dtype).kind != "f" else 2.0 ** -24
    allowed = 45 * u * size + 1e-30
    if dtype == "float16":
        allowed = allowed + 2.0 ** -11 * np.abs(exact) * 1.01 + 2.0 ** -24
    elif dtype == "float32":
        allowed = allowed + u * np.abs(exact)
    assert got.dtype == result, (got.dtype, result)
    assert np.shape(got) == np.shape(exact), (np.shape(got), np.shape(exact))
    assert np.all(np.abs(np.asarray(got, np.float64) - exact) <= allowed)


def check(rng, ts, device):
    dtype = rng.choice(FLOATS + INTEGERS + ["bool"])
    a = array(rng, shape_of(rng, int(rng.integers(0, 4)), 8, 500), dtype, few=rng.random() < 0.4)
    if a.ndim > 1 and rng.random() < 0.05:
        a = a[:0, ..., :0]  # an empty axis beside another one
    axis = None
    if a.ndim and rng.random() < 0.7:
        axis = int(rng.integers(-a.ndim, a.ndim))
        if a.ndim > 1 and rng.random() < 0.3:
            axis = tuple(int(i) for i in rng.permutation(a.ndim)[:2])
    by = rng.choice(["sum", "min", "max", "argmin", "argmax", "mean", "norm", "any", "all",
                     "count_nonzero"])
    ours = getattr(ts, by)
    keep = bool(rng.random() < 0.3)
    wide = a.astype(np.float64)
    over = a.size if axis is None else int(np.prod([a.shape[i] for i in np.atleast_1d(axis)]))
    if by in ("argmin", "argmax") and isinstance(axis, tuple):
        axis = axis[0]
    if by in ("min", "max", "argmin", "argmax") and a.size == 0:
        try:
            expected = getattr(np, by)(a, axis)
        except ValueError:
            same_error(lambda: ours(a, axis, device=device), lambda: getattr(np, by)(a, axis))
        else:
            same(ours(a, axis, device=device), expected)
    elif by in ("any", "all", "min", "max"):
        same(ours(a, axis, keepdims=keep, device=device), getattr(np, by)(a, axis, keepdims=keep))
    elif by in ("argmin", "argmax", "count_nonzero"):
        same(ours(a, axis, device=device), getattr(np, by)(a, axis))
    elif by == "sum" and a.dtype.kind != "f":
        same(ours(a, axis, keepdims=keep, device=device), np.sum(a, axis, keepdims=keep))
    elif by == "norm":
        squares = np.sum(wide * wide, axis, keepdims=keep)
        result = a.dtype.newbyteorder("=") if a.dtype.kind == "f" else np.dtype(float)
        if dtype != "float16" or np.all(squares < 1e4):
            close(ours(a, axis, keepdims=keep, device=device), np.sqrt(squares),
                  np.sqrt(squares), over, dtype, result)
    elif over:
        exact = getattr(np, by)(wide, axis, keepdims=keep)
        result = a.dtype.newbyteorder("=") if a.dtype.kind == "f" else np.dtype(float)
        size = np.sum(np.abs(wide), axis, keepdims=keep) / (over if by == "mean" else 1)
        close(ours(a, axis, keepdims=keep, device=device), exact, size, over, dtype, result)
