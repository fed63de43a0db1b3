import numpy as np
from random_arrays import FLOATS, array, shape_of


def check(rng, ts, device):
    batch = shape_of(rng, int(rng.integers(0, 3)), 4, 4)
    m, n = (int(rng.integers(0, 40)) for _ in range(2))
    shapes = [batch + (m, n), batch + (n,)]
    for i in range(2):
        if rng.random() < 0.2:
            shapes[i] = shapes[i][len(batch):]
    dtype = rng.choice(FLOATS)
    a, x = array(rng, shapes[0], dtype), array(rng, shapes[1], dtype)
    got = ts.matvec(a, x, device=device)
    exact = np.matmul(a.astype(np.float64), x.astype(np.float64)[..., None])[..., 0]
    size = np.matmul(np.abs(a).astype(np.float64), np.abs(x).astype(np.float64)[..., None])[..., 0]
    u = 2.0 ** -53 if dtype == "float64" else 2.0 ** -24
    allowed = (n + 3) * u * size * 1.001 + 1e-30
    if dtype == "float16":
        allowed += 2.0 ** -11 * size + 2.0 ** -24
    assert got.shape == exact.shape and got.dtype == dtype
    assert np.all(np.abs(got.astype(np.float64) - exact) <= allowed)
