"""Random pictures, for tests/cli/test_random.py."""

import numpy as np

from random_support import extent, laid_out, reals

WEIGHTS = {"bt601": ([19595, 38470, 7471], [0.299, 0.587, 0.114]),
           "bt709": ([13933, 46871, 4732], [0.2126, 0.7152, 0.0722]),
           "opencv": ([19596, 38470, 7470], [0.299, 0.587, 0.114])}


def draw(rng):
    shape = [extent(rng, 200), extent(rng, 200), int(rng.integers(3, 5))]
    name = str(rng.choice(list(WEIGHTS)))
    whole, parts = WEIGHTS[name]
    if rng.random() < 0.5:
        x = rng.integers(0, 256, shape).astype(np.uint8)
        grey = ((x[..., :3] * np.uint64(whole)).sum(2) + 32768 >> 16).astype(np.uint8)
    else:
        # Products and sums of float32 are exact in longdouble: each fma is rounded once.
        x = reals(rng, shape, np.float32)
        wide, w = x.astype(np.longdouble), np.float32(parts).astype(np.longdouble)
        grey = (wide[..., 0] * w[0]).astype(np.float32)
        for c in 1, 2:
            grey = (wide[..., c] * w[c] + grey).astype(np.float32)
    return ({"x.npy": laid_out(rng, x)}, ["x.npy", "-o", "g.npy", "--weights", name],
            {"g.npy": grey})
