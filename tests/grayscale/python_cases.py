import numpy as np
from random_arrays import array, same, same_error, shape_of

WHOLE = {"bt601": (19595, 38470, 7471), "bt709": (13933, 46871, 4732),
         "opencv": (19596, 38470, 7470)}
REAL = {"bt601": (0.299, 0.587, 0.114), "bt709": (0.2126, 0.7152, 0.0722),
        "opencv": (0.299, 0.587, 0.114)}


def check(rng, ts, device):
    dtype = rng.choice(["uint8", "float32"])
    weights = rng.choice(list(WHOLE))
    shape = shape_of(rng, int(rng.integers(2, 4)), 30, 30) + (int(rng.integers(3, 5)),)
    a = array(rng, shape, dtype)
    got = ts.grayscale(a, weights, device=device)
    if dtype == "uint8":
        whole = (a[..., :3].astype(np.int64) * WHOLE[weights]).sum(-1)
        same(got, ((whole + 32768) >> 16).astype(np.uint8))
    else:
        exact = (a[..., :3].astype(np.float64) * REAL[weights]).sum(-1)
        assert got.dtype == np.float32 and got.shape == exact.shape
        assert np.all(np.abs(got - exact) <= 4 * 2.0 ** -24)
    same_error(lambda: ts.grayscale(a[..., :2], device=device), lambda: int("no"))
