"""Random sorts, for tests/cli/test_random.py."""

import numpy as np

from random_support import KEY_TYPES, extent, keys, laid_out, order


def draw(rng):
    rows = rng.random() < 0.3
    n = extent(rng, 40000 if not rows else 300)
    shape = (extent(rng, 40), n) if rows else (n,)
    x = keys(rng, shape, rng.choice(KEY_TYPES))
    descending = rng.random() < 0.4
    index = order(x, descending)
    files = {"k.npy": laid_out(rng, x)}
    args = ["k.npy", *["--descending"] * descending, *["--rows"] * rows]
    results = {}
    wanted = rng.integers(1, 8)
    if wanted & 1:
        args += ["-o", "s.npy"]
        results["s.npy"] = np.take_along_axis(x, index, -1)
    if wanted & 2:
        args += ["--argsort", "i.npy"]
        results["i.npy"] = index.astype(np.int64)
    if wanted & 4:
        values = keys(rng, shape, rng.choice(["u1", "i2", "u4", "i8", "f8"]))
        files["v.npy"] = values
        args += ["--values", "v.npy", "--values-out", "w.npy"]
        results["w.npy"] = np.take_along_axis(values, index, -1)
    return files, args, results
