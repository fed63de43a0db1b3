"""Random products of matrices, for tests/cli/test_random.py."""

import numpy as np

from random_support import batches, extent, laid_out, product_judge, reals


def draw(rng):
    dtype = np.dtype(rng.choice(["f4", "f8", "f2"]))
    m, n, k = extent(rng, 130), extent(rng, 130), extent(rng, 130)
    batch_a, batch_b = batches(rng)
    if batch_a or batch_b:
        m, n, k = m % 20, n % 20, k % 20
    trans_a, trans_b = (rng.random(2) < 0.3).tolist()
    a = reals(rng, [*batch_a, *((k, m) if trans_a else (m, k))], dtype)
    b = reals(rng, [*batch_b, *((n, k) if trans_b else (k, n))], dtype)
    alpha = float(rng.choice([1, 1, -1, 0.5, 0]))
    args = ["a.npy", "b.npy", "-o", "c.npy", *["--trans-a"] * trans_a, *["--trans-b"] * trans_b]
    args += ["--alpha", str(alpha)] * (alpha != 1)
    files = {"a.npy": laid_out(rng, a), "b.npy": laid_out(rng, b)}
    a, b = (np.swapaxes(x, -1, -2) if trans else x for x, trans in ((a, trans_a), (b, trans_b)))
    c, beta = None, 0.0
    if rng.random() < 0.4:
        c = reals(rng, (*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), m, n), dtype)
        beta = float(rng.choice([1, -0.5, 2]))
        files["c0.npy"] = laid_out(rng, c)
        args += ["--add", "c0.npy", "--beta", str(beta)]
    return files, args, {"c.npy": product_judge(a, b, alpha, c, beta, dtype)}
