"""Random scaled sums, for tests/cli/test_random.py."""

import numpy as np

from random_support import KEY_TYPES, extent, keys, laid_out, reals, within


def draw(rng):
    dtype = np.dtype(rng.choice(KEY_TYPES))
    shape = [extent(rng, 200) for _ in range(rng.integers(0, 3))] + [extent(rng, 150)]
    files, args = {}, ["x.npy", "y.npy", "-o", "z.npy"]
    if dtype.kind == "f":
        x, y = reals(rng, shape, dtype), reals(rng, shape, dtype)
        alpha = float(rng.choice([1, -1, 0.5, 3, 0]))
        wide = np.longdouble if dtype == np.float64 else np.float64
        exact = wide(alpha) * x.astype(wide) + y.astype(wide)
        u = np.finfo(dtype).eps / 2
        limit = abs(wide(alpha)) * np.abs(x.astype(wide)) + np.abs(y.astype(wide))
        judge = within(exact, 3 * u * limit + np.finfo(dtype).tiny, dtype)
    else:
        x, y = keys(rng, shape, dtype), keys(rng, shape, dtype)
        alpha = int(rng.integers(0 if dtype.kind == "u" else -3, 4))
        unsigned = np.dtype("u%d" % dtype.itemsize)
        judge = (np.array(alpha % (1 << 8 * dtype.itemsize), unsigned) * x.view(unsigned) +
                 y.view(unsigned)).view(dtype)
    files = {"x.npy": laid_out(rng, x), "y.npy": laid_out(rng, y)}
    return files, [*args, "--alpha", str(alpha)], {"z.npy": judge}
