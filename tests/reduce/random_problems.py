"""Random reductions, for tests/cli/test_random.py."""

import numpy as np

from random_support import extent, laid_out, reals, within


def draw(rng):
    shape = [extent(rng, 200) for _ in range(rng.integers(0, 3))] + [extent(rng, 30000 // 200)]
    by = str(rng.choice(["sum", "min", "max"]))
    x = reals(rng, shape, np.float32)
    if x.size == 0:
        by = "sum"
    elif rng.random() < 0.2:
        x.flat[rng.integers(x.size)] = rng.choice([np.nan, np.inf, -np.inf])
    wide = x.astype(np.float64)
    if by != "sum" or not np.isfinite(wide).all():
        result = np.array([getattr(wide, by)()], np.float32)

        def judge(got):
            same = got.dtype == result.dtype and np.array_equal(got, result, equal_nan=True)
            return None if same else "is %s, not %s" % (got, result)
    else:
        u = (x.size + 2) * np.finfo(np.float32).eps / 2
        judge = within(np.array([wide.sum()]), u * np.abs(wide).sum() + np.finfo(np.float32).tiny,
                       np.dtype(np.float32))
    return {"x.npy": laid_out(rng, x)}, ["x.npy", "--by", by, "-o", "r.npy"], {"r.npy": judge}
