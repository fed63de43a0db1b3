"""Random products of a matrix and a vector, for tests/cli/test_random.py."""

import numpy as np

from random_support import extent, laid_out, product_judge, reals


def draw(rng):
    dtype = np.dtype(rng.choice(["f4", "f8", "f2"]))
    rows, columns = extent(rng, 700), extent(rng, 700)
    batch = [int(n) for n in rng.integers(1, 4, rng.integers(0, 3))]
    if batch:
        rows, columns = rows % 40, columns % 40
    trans = rng.random() < 0.4
    a = reals(rng, [*batch, *((columns, rows) if trans else (rows, columns))], dtype)
    # To a lone matrix a matrix of one row is a vector.
    shared = not batch or rng.random() < 0.3
    x = reals(rng, [columns] if shared else [*batch, columns], dtype)
    alpha = float(rng.choice([1, 1, -1, 0.5, 0]))
    args = ["a.npy", "x.npy", "-o", "y.npy", *["--trans"] * trans]
    args += ["--alpha", str(alpha)] * (alpha != 1)
    files = {"a.npy": laid_out(rng, a), "x.npy": laid_out(rng, x)}
    y, beta = None, 0.0
    if rng.random() < 0.4:
        y = reals(rng, [*batch, rows], dtype)
        beta = float(rng.choice([1, -0.5, 2]))
        files["y0.npy"] = laid_out(rng, y)
        args += ["--add", "y0.npy", "--beta", str(beta)]
    a = np.swapaxes(a, -1, -2) if trans else a
    judge = product_judge(a, x[..., None], alpha, None if y is None else y[..., None], beta, dtype)
    return files, args, {"y.npy": lambda got: judge(got[..., None])}
