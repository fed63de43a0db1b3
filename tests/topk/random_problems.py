"""Random problems of the first keys, for tests/cli/test_random.py."""

import numpy as np

from random_support import KEY_TYPES, extent, keys, laid_out, order


def draw(rng):
    rows = rng.random() < 0.3
    n = extent(rng, 40000 if not rows else 300)
    shape = (extent(rng, 40), n) if rows else (n,)
    x = keys(rng, shape, rng.choice(KEY_TYPES))
    descending = rng.random() < 0.4
    k = max(1, extent(rng, 300))
    index = order(x, descending)[..., :k]
    args = ["k.npy", "--top", str(k), *["--smallest"] * (not descending), *["--rows"] * rows]
    results = {}
    wanted = rng.integers(1, 4)
    if wanted & 1:
        args += ["-o", "s.npy"]
        results["s.npy"] = np.take_along_axis(x, index, -1)
    if wanted & 2:
        args += ["--argsort", "i.npy"]
        results["i.npy"] = index.astype(np.int64)
    return {"k.npy": laid_out(rng, x)}, args, results
