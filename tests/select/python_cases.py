import operator

import numpy as np
from random_arrays import FLOATS, INTEGERS, array, same, shape_of

COMPARISONS = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le,
               "==": operator.eq, "!=": operator.ne}


def check(rng, ts, device):
    dtype = rng.choice(FLOATS + INTEGERS + ["bool"])
    a = array(rng, shape_of(rng, int(rng.integers(0, 3)), 8, 500), dtype, few=rng.random() < 0.5)
    flat = a.reshape(-1)
    where = rng.choice(list(COMPARISONS))
    value = flat[rng.integers(0, flat.size)].item() if flat.size and rng.random() < 0.7 else 1
    holds = COMPARISONS[where](flat, np.dtype(dtype).type(value))
    expected = flat[holds].astype(dtype)
    got, index = ts.select(a, where, value, indices=True, device=device)
    same(got, expected)
    same(index, np.flatnonzero(holds))
    same(np.sort(ts.select(a, where, value, any_order=True, device=device)), np.sort(expected))
