"""Random reductions, for tests/cli/test_random.py."""

import numpy as np

from random_support import KEY_TYPES, extent, keys, laid_out, reals, same_bits, within

REDUCTIONS = ["sum", "mean", "min", "max", "argmin", "argmax", "norm2", "any", "all", "count"]


def exactly(result):
    """A judge: equal, NaN too."""
    def judge(got):
        same = got.dtype == result.dtype and np.array_equal(got, result, equal_nan=True)
        return None if same else same_bits(got, result) or "differs in NaN"
    return judge


def draw(rng):
    dtype = np.dtype(rng.choice(KEY_TYPES))
    shape = [extent(rng, 60) for _ in range(rng.integers(0, 3))] + [extent(rng, 300)]
    by = str(rng.choice(REDUCTIONS))
    x = reals(rng, shape, dtype) if dtype.kind == "f" else keys(rng, shape, dtype)
    args = ["x.npy", "--by", by, "-o", "r.npy"]
    axis = int(rng.integers(0, x.ndim)) if rng.random() < 0.5 else None
    n = x.size if axis is None else x.shape[axis]
    if n == 0 and by not in ("any", "all", "count"):
        args[2] = by = "sum"
    if axis is not None:
        args += ["--axis", str(axis)]

    def shaped(result, to):
        result = np.asarray(result)
        return (result.reshape(1) if result.ndim == 0 else result).astype(to)

    files = {"x.npy": laid_out(rng, x)}
    if by in ("any", "all"):
        judge = exactly(shaped(getattr(x != 0, by)(axis=axis), np.bool_))
    elif by == "count":
        judge = exactly(shaped(np.count_nonzero(x, axis=axis), np.int64))
    elif by in ("argmin", "argmax"):
        judge = exactly(shaped(getattr(x, by)(axis=axis), np.int64))
    elif by in ("min", "max"):
        judge = exactly(shaped(getattr(x, by)(axis=axis), dtype))
    elif by == "sum" and dtype.kind != "f":
        sums = np.dtype("u8" if dtype.kind == "u" else "i8")
        judge = exactly(shaped(x.sum(axis=axis, dtype=sums), sums))
    else:
        result = dtype if dtype.kind == "f" else np.dtype(np.float64)
        wide = np.longdouble if result == np.float64 else np.float64
        y = x.astype(wide)
        terms = y * y if by == "norm2" else y
        exact, limit = (shaped(t.sum(axis=axis), wide) for t in (terms, np.abs(terms)))
        sums = np.dtype(np.float32) if result == np.float16 else result
        u = (n + 4) * np.finfo(sums).eps / 2
        if by == "mean":
            exact, limit = exact / n, limit / n
        if by == "norm2":
            exact = limit = np.sqrt(exact)
        bound = u * limit + np.finfo(sums).tiny
        if result == np.float16:
            bound = bound + np.maximum(np.finfo(result).eps / 2 * (np.abs(exact) + bound), 2.0**-25)
        judge = within(exact, bound, result)
    return files, args, {"r.npy": judge}
