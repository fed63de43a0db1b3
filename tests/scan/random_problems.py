"""Random running sums, minima and maxima, for tests/cli/test_random.py."""

import numpy as np

from random_support import KEY_TYPES, extent, keys, laid_out, reals, within


def draw(rng):
    dtype = np.dtype(rng.choice(KEY_TYPES))
    shape = [extent(rng, 60) for _ in range(rng.integers(0, 3))] + [extent(rng, 300)]
    by = str(rng.choice(["sum", "min", "max"]))
    x = reals(rng, shape, dtype) if dtype.kind == "f" else keys(rng, shape, dtype)
    args = ["x.npy", "--by", by, "-o", "s.npy"]
    axis = int(rng.integers(0, x.ndim)) if rng.random() < 0.5 else None
    if axis is not None:
        args += ["--axis", str(axis)]
    reverse = rng.random() < 0.3
    if reverse:
        args += ["--reverse"]

    def along(y, function):
        """The function along the axis, or through the whole array, from the end where it is so."""
        flat = y.reshape(-1) if axis is None else y
        at = 0 if axis is None else axis
        flat = np.flip(flat, at) if reverse else flat
        out = function(flat, at)
        return (np.flip(out, at) if reverse else out).reshape(y.shape)

    files = {"x.npy": laid_out(rng, x)}
    if by != "sum":
        best = np.minimum if by == "min" else np.maximum
        return files, args, {"s.npy": along(x, lambda y, at: best.accumulate(y, axis=at))}
    if dtype.kind != "f":
        result = np.dtype("u8" if dtype.kind == "u" else "i8")
        return files, args, {"s.npy": along(x, lambda y, at: np.cumsum(y, axis=at, dtype=result))}
    wide = np.longdouble if dtype == np.float64 else np.float64
    sums = np.dtype(np.float32) if dtype == np.float16 else dtype
    exact = along(x.astype(wide), lambda y, at: np.cumsum(y, axis=at))
    limit = along(np.abs(x.astype(wide)), lambda y, at: np.cumsum(y, axis=at))
    u = (x.size + 2) * np.finfo(sums).eps / 2
    bound = u * limit + np.finfo(sums).tiny
    if dtype == np.float16:
        bound = bound + np.maximum(np.finfo(dtype).eps / 2 * (np.abs(exact) + bound), 2.0**-25)
    return files, args, {"s.npy": within(exact, bound, dtype)}
