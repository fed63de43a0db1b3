"""Random scaled sums, for tests/cli/test_random.py."""

import numpy as np

from random_support import KEY_TYPES, extent, laid_out, reals, within


def draw(rng):
    dtype = np.dtype(rng.choice(KEY_TYPES))
    shape = [extent(rng, 200) for _ in range(rng.integers(0, 3))] + [extent(rng, 30000 // 200)]
    if dtype.kind == "f":
        x, y = reals(rng, shape, dtype), reals(rng, shape, dtype)
        alpha = float(rng.choice([1, -1, 0, 0.3, -2.5]))
    else:
        count = int(np.prod(shape, dtype=np.int64))
        x, y = (np.frombuffer(rng.bytes(count * dtype.itemsize), dtype).reshape(shape)
                for _ in range(2))
        alpha = int(rng.choice([1, -1, 0, 7, 1 << 40, -(1 << 63)]))
    args = ["x.npy", "y.npy", "-o", "z.npy"] + ["--alpha", str(alpha)] * (alpha != 1)
    files = {"x.npy": laid_out(rng, x), "y.npy": laid_out(rng, y)}
    if dtype.kind != "f":
        unsigned = np.dtype("u%d" % dtype.itemsize)
        factor = np.array(alpha % 2**64, np.uint64).astype(unsigned)
        return files, args, {"z.npy": (x.view(unsigned) * factor + y.view(unsigned)).view(dtype)}
    if abs(alpha) == 1:
        return files, args, {"z.npy": np.asarray(y + x if alpha == 1 else y - x)}
    wide = np.longdouble if dtype == np.float64 else np.float64
    sums = np.finfo(np.float32 if dtype == np.float16 else dtype)
    x, y, alpha = x.astype(wide), y.astype(wide), wide(sums.dtype.type(alpha))
    exact = alpha * x + y
    bound = 3 * sums.eps / 2 * 1.001 * (abs(alpha) * abs(x) + abs(y)) + sums.tiny
    if dtype == np.float16:
        bound = bound + np.maximum(np.finfo(dtype).eps / 2 * (abs(exact) + bound), 2.0**-25)
    return files, args, {"z.npy": within(exact, bound, dtype)}
