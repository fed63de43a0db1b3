import numpy as np
from random_arrays import FLOATS, INTEGERS, array, same, same_error


def check(rng, ts, device):
    dtype = rng.choice(FLOATS + INTEGERS)
    n = int(rng.integers(0, 400))
    a = array(rng, (n,), dtype, few=rng.random() < 0.5) + 0
    cuts = np.sort(rng.integers(0, n + 1, int(rng.integers(0, 20))))
    offsets = np.concatenate([[0], cuts, [n]]).astype(rng.choice(["int64", "uint64", "int32"]))
    order = [np.argsort(a[i:j], kind="stable") for i, j in zip(offsets[:-1], offsets[1:])]
    keys = np.concatenate([a[i:j][o] for i, j, o in zip(offsets[:-1], offsets[1:], order)])
    got, index = ts.segmented_sort(a, offsets, argsort=True, device=device)
    same(got, keys.astype(dtype))
    same(index, np.concatenate(order).astype(np.int64))
    if n > 1:
        same_error(lambda: ts.segmented_sort(a, [0, n - 1], device=device), lambda: int("no"))
        same_error(lambda: ts.segmented_sort(a, [0, n, n - 1, n], device=device),
                   lambda: int("no"))
