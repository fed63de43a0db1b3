import numpy as np
from random_arrays import FLOATS, INTEGERS, array, same, same_error, shape_of


def check(rng, ts, device):
    dtype = rng.choice(FLOATS + INTEGERS)
    a = array(rng, shape_of(rng, int(rng.integers(1, 4)), 6, 300), dtype, few=rng.random() < 0.5)
    a = a + 0
    axis = int(rng.integers(-a.ndim, a.ndim))
    n = a.shape[axis]
    k = int(rng.integers(0, n + 1))
    largest = rng.random() < 0.5
    if rng.random() < 0.1:
        same_error(lambda: ts.topk(a, n + 1, axis, largest=largest, device=device), lambda: int("no"))
    if largest: # stable, descending: the stable order of the reversed keys
        ranks = np.unique(a, return_inverse=True)[1].reshape(a.shape)
        order = np.argsort(-ranks, axis, kind="stable")
    else:
        order = np.argsort(a, axis, kind="stable")
    order = np.take(order, range(k), axis)
    which = {"largest": largest} if not largest or rng.random() < 0.5 else {}
    got = ts.topk(a, k, axis, **which, device=device)
    same(got.values, np.take_along_axis(a, order, axis).astype(dtype))
    same(got.indices, order)
