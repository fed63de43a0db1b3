"""Random histograms, for tests/cli/test_random.py."""

import numpy as np

from random_support import KEY_TYPES, extent, laid_out, reals

# Bins whose kernels are compiled: few of them have constants of their own.
BINS = [1, 2, 7, 64, 1000]


def elements(rng, dtype):
    shape = [extent(rng, 200) for _ in range(rng.integers(0, 3))] + [extent(rng, 30000 // 200)]
    if dtype.kind == "f":
        x = reals(rng, shape, dtype)
        return x, bool(np.isfinite(x).all())
    info = np.iinfo(dtype)
    wide = rng.random() < 0.5
    x = rng.integers(info.min if wide else max(info.min, -50), info.max if wide else 100, shape,
                     dtype=dtype, endpoint=True)
    # Beyond 2^53 one value alone has NumPy divide by 0.
    return x, dtype.itemsize < 8 or x.size > 1


def draw(rng):
    x, has_range = elements(rng, np.dtype(rng.choice(KEY_TYPES)))
    bins = int(rng.choice(BINS))
    files = {"x.npy": laid_out(rng, x)}
    args = ["x.npy", "-o", "h.npy", "--bins", str(bins)]
    how = rng.integers(3)
    if how == 0 and has_range:
        counts = np.histogram(x, bins)[0]
    elif how <= 1:
        low = float(rng.integers(-40, 30)) / 8
        high = low + float(rng.integers(0, 90)) / 8
        if x.dtype.kind == "f" and x.size and rng.random() < 0.5:
            x.flat[rng.integers(x.size)] = rng.choice([np.nan, np.inf, -np.inf])
            files["x.npy"] = laid_out(rng, x)
        counts = np.histogram(x, bins, (low, high))[0]
        args += ["--range", "%r:%r" % (low, high)]
    else:
        edges = np.sort(rng.standard_normal(bins + 1) * rng.choice([0.5, 30]))
        if rng.random() < 0.5:
            edges = np.round(edges)
        files["e.npy"] = laid_out(rng, edges)
        counts = np.histogram(x, edges)[0]
        args = ["x.npy", "-o", "h.npy", "--edges", "e.npy"]
    if rng.random() < 0.7:
        return files, args, {"h.npy": counts.astype(np.int64)}
    # Whole numbers, whose sums are exact.
    weights = rng.integers(-100, 100, x.shape)
    files["w.npy"] = laid_out(rng, weights.astype(rng.choice(["f2", "f4", "f8", "i1", "i4", "i8"])))
    result = files["w.npy"].dtype.newbyteorder("=")
    result = np.int64 if result.kind == "i" else np.float32 if result.itemsize == 2 else result
    where = args[3:]
    if where[0] == "--edges":
        sums = np.histogram(x, edges, weights=weights.astype(float))[0]
    else:
        span = [float(end) for end in where[3].split(":")] if len(where) > 2 else None
        sums = np.histogram(x, bins, span, weights=weights.astype(float))[0]
    return files, args + ["--weights", "w.npy"], {"h.npy": sums.astype(result)}
