import numpy as np
from random_arrays import FLOATS, INTEGERS, array, same, same_error, shape_of


def keys(rng, rank=None):
    rank = int(rng.integers(1, 4)) if rank is None else rank
    dtype = rng.choice(FLOATS + INTEGERS + ["bool"])
    a = array(rng, shape_of(rng, rank, 6, 300), dtype, few=rng.random() < 0.3)
    if a.dtype.kind == "f":
        a = a + 0 # NumPy takes -0 and 0 for equal
        if a.size and rng.random() < 0.3:
            a.flat[rng.integers(0, a.size)] = np.nan
    return a


def check(rng, ts, device):
    a = keys(rng)
    axis = None if rng.random() < 0.1 else int(rng.integers(-a.ndim, a.ndim))
    how = rng.integers(0, 7)
    before = a.copy()
    if how == 0:
        same(ts.argsort(a, axis, device=device), np.argsort(a, axis, kind="stable"))
    elif how == 1:
        same_error(lambda: ts.sort(a, a.ndim, device=device), lambda: np.sort(a, a.ndim))
        same_error(lambda: ts.sort(a.astype(complex), device=device), lambda: [][0],
                   (TypeError, IndexError))
    elif how == 2:
        expected = np.sort(a, axis)
        if a.dtype.kind != "f":
            expected = expected[::-1] if axis is None else np.flip(expected, axis)
            same(ts.sort(a, axis, descending=True, device=device), expected)
    elif how == 3 and axis is not None:
        values = rng.integers(0, 100, a.shape).astype(rng.choice(["uint8", "int64", "complex128"]))
        order = np.argsort(a, axis, kind="stable")
        got, moved = ts.sort(a, axis, values=values, device=device)
        same(got, np.sort(a, axis))
        same(moved, np.take_along_axis(values, order, axis))
    elif how == 4:
        out = np.empty_like(np.sort(a, axis))
        assert ts.sort(a, axis, out=out, device=device) is out
        np.testing.assert_array_equal(out, np.sort(a, axis))
    else:
        got = ts.sort(a, axis, device=device)
        same(got, np.sort(a, axis))
        assert np.ascontiguousarray(got).tobytes() == np.sort(a, axis).astype(
            got.dtype).tobytes() or a.dtype.kind == "f"
    np.testing.assert_array_equal(a, before)
