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
    reverse, exclusive = rng.random() < 0.3, rng.random() < 0.3
    args += ["--reverse"] * reverse + ["--exclusive"] * exclusive
    files = {"x.npy": laid_out(rng, x)}
    bounds = np.array([0, x.size])
    if axis is None and x.ndim == 1 and rng.random() < 0.6:
        inner = rng.integers(0, x.size + 1, rng.integers(0, 40))
        bounds = np.sort(np.concatenate([bounds, inner]))
        files["o.npy"] = bounds.astype(np.int64)
        args += ["--segments", "o.npy"]

    def along_one(y, at, function, first):
        """The function along an axis; before its results the first one where they are exclusive."""
        y = np.flip(y, at) if reverse else y
        out = function(y, at)
        if exclusive:
            before = np.full_like(np.take(out, [0], at), first) if out.shape[at] else out
            out = np.concatenate([before, np.delete(out, -1, at)], at) if out.shape[at] else out
        return np.flip(out, at) if reverse else out

    def along(y, function, first=0):
        """The same along the axis, or through the whole array, of each segment by itself."""
        if axis is not None:
            return along_one(y, axis, function, first)
        flat = y.reshape(-1)
        parts = [along_one(flat[a:b], 0, function, first) for a, b in zip(bounds, bounds[1:])]
        return np.concatenate(parts).reshape(y.shape)

    if by != "sum":
        best = np.minimum if by == "min" else np.maximum
        ends = np.iinfo(dtype) if dtype.kind != "f" else None
        least, most = (-np.inf, np.inf) if ends is None else (ends.min, ends.max)
        return files, args, {"s.npy": along(x, lambda y, at: best.accumulate(y, axis=at),
                                            most if by == "min" else least)}
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
