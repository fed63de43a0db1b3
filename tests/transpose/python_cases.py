import numpy as np
from random_arrays import FLOATS, INTEGERS, array, same, shape_of


def check(rng, ts, device):
    dtype = rng.choice(FLOATS + INTEGERS + ["bool", "complex64", "complex128", "datetime64[s]"])
    a = array(rng, shape_of(rng, int(rng.integers(2, 5)), 9, 90),
              "float64" if dtype[:3] in ("com", "dat") else dtype)
    if dtype[:3] == "dat":
        a = (a * 1000).astype("int64").view(dtype)
    else:
        a = a.astype(dtype) if dtype[:3] == "com" else a
    expected = np.swapaxes(a, -1, -2).copy()
    got = ts.transpose(a, device=device)
    same(got, expected.astype(expected.dtype.newbyteorder("=")))
    assert got.flags.c_contiguous
