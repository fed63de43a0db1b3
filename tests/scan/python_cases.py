import numpy as np
from random_arrays import FLOATS, INTEGERS, array, same, shape_of


def check(rng, ts, device):
    dtype = rng.choice(FLOATS + INTEGERS + ["bool"])
    a = array(rng, shape_of(rng, int(rng.integers(1, 4)), 8, 500), dtype, few=rng.random() < 0.4)
    axis = None if rng.random() < 0.2 else int(rng.integers(-a.ndim, a.ndim))
    by = rng.choice(["sum", "min", "max"])
    if by != "sum":
        ufunc = np.minimum if by == "min" else np.maximum
        expected = ufunc.accumulate(a.reshape(-1) if axis is None else a, axis or 0)
        same(ts.scan(a, by, axis, device=device), expected.astype(dtype))
        return
    if a.dtype.kind != "f" and rng.random() < 0.3:
        kept = np.dtype("uint8") if dtype == "bool" else a.dtype
        same(ts.scan(a, "sum", axis, same_type=True, device=device), np.cumsum(a, axis, dtype=kept))
        return
    expected = np.cumsum(a, axis)
    got = ts.cumsum(a, axis, device=device)
    assert got.dtype == expected.dtype and got.shape == expected.shape
    if a.dtype.kind != "f":
        same(got, expected)
        return
    exact = np.cumsum(a.astype(np.float64), axis)
    size = np.cumsum(np.abs(a).astype(np.float64), axis)
    u = 2.0 ** -53 if dtype == "float64" else 2.0 ** -24
    allowed = (a.size + 3) * u * size + 1e-30
    if dtype == "float16":
        allowed += 2.0 ** -11 * np.abs(exact) * 1.01 + 2.0 ** -24
    assert np.all(np.abs(got.astype(np.float64) - exact) <= allowed)
