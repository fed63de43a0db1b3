"""Random selections, for tests/cli/test_random.py."""

import operator

import numpy as np

from random_support import KEY_TYPES, extent, keys, laid_out

HOLDS = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le,
         "==": operator.eq, "!=": operator.ne}


def draw(rng):
    shape = [extent(rng, 60) for _ in range(rng.integers(0, 3))] + [extent(rng, 3000)]
    dtype = np.dtype(str(rng.choice(KEY_TYPES)))
    x = keys(rng, shape, dtype)
    name = str(rng.choice(list(HOLDS)))
    number = x.flat[rng.integers(x.size)] if x.size and rng.random() < 0.8 else dtype.type(1)
    places = np.flatnonzero(HOLDS[name](x.reshape(-1), number))
    spelled = repr(float(number)) if dtype.kind == "f" else str(int(number))
    return ({"x.npy": laid_out(rng, x)},
            ["x.npy", "--where", name + spelled, "-o", "y.npy", "--indices", "i.npy"],
            {"y.npy": x.reshape(-1)[places], "i.npy": places.astype(np.int64)})
