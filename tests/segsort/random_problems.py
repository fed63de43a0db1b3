"""Random sorts of segments, for tests/cli/test_random.py."""

import numpy as np

from random_support import KEY_TYPES, extent, keys, laid_out, ranks


def draw(rng):
    n = extent(rng, 20000)
    x = keys(rng, (n,), rng.choice(KEY_TYPES))
    descending = rng.random() < 0.4
    cuts = np.sort(rng.integers(0, n + 1, extent(rng, 300)))
    offsets = np.concatenate([[0], cuts, [n]]).astype(rng.choice(["i8", "u8", "i4"]))
    lengths = np.diff(offsets).astype(np.int64)
    segment = np.repeat(np.arange(len(lengths)), lengths)
    index = np.lexsort((ranks(x, descending), segment))
    args = ["k.npy", "--segments", "o.npy", *["--descending"] * descending]
    results = {}
    wanted = rng.integers(1, 4)
    if wanted & 1:
        args += ["-o", "s.npy"]
        results["s.npy"] = x[index]
    if wanted & 2:
        args += ["--argsort", "i.npy"]
        results["i.npy"] = (index - offsets.astype(np.int64)[segment]).astype(np.int64)
    return {"k.npy": laid_out(rng, x), "o.npy": offsets}, args, results
