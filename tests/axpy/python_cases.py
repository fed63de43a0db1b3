import numpy as np
from random_arrays import FLOATS, INTEGERS, array, same, shape_of


def check(rng, ts, device):
    dtype = rng.choice(FLOATS + INTEGERS)
    shape = shape_of(rng, int(rng.integers(0, 4)), 8, 300)
    x, y = array(rng, shape, dtype), array(rng, shape[1:] if rng.random() < 0.3 else shape, dtype)
    before = y.copy()
    if dtype in INTEGERS and rng.random() < 0.2:
        # From 2^53 to 2^54 a float64 holds the even numbers.
        alpha = 2 ** 53 + int(rng.integers(0, 2 ** 50))
        try:
            got = ts.axpy(alpha if rng.random() < 0.5 else np.int64(alpha), x, y, device=device)
        except ValueError:
            assert alpha % 2
            return
        assert alpha % 2 == 0
        same(got, (x * np.array(alpha).astype(dtype) + y).astype(dtype))
        return
    if rng.random() < 0.3 and y.shape == shape and y.flags.writeable:
        got = ts.axpy(-1, x, y, out=y, device=device)
        assert got is y
        same(got.astype(dtype), (before - x).astype(dtype))
        return
    same(ts.axpy(1, x, y, device=device), (x + y).astype(dtype))
    np.testing.assert_array_equal(y, before)
