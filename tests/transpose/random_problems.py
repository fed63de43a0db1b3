"""Random matrices to transpose, for tests/cli/test_random.py."""

import numpy as np

from random_support import KEY_TYPES, extent, laid_out


def draw(rng):
    dtype = np.dtype(rng.choice([*KEY_TYPES, "c8", "c16", "S3", "S12", "?"]))
    batch = [int(n) for n in rng.integers(0, 4, rng.integers(0, 3))]
    rows, columns = extent(rng, 700 if not batch else 60), extent(rng, 700 if not batch else 60)
    in_place = rng.random() < 0.3
    if in_place:
        columns = rows
    shape = (*batch, rows, columns)
    count = int(np.prod(shape, dtype=np.int64))
    if dtype.kind == "b":
        a = rng.integers(0, 2, shape).astype(bool)
    else:
        a = np.frombuffer(rng.bytes(count * dtype.itemsize), dtype).reshape(shape)
    given = laid_out(rng, a) if dtype.kind in "iuf" else a
    args = ["a.npy", "-o", "b.npy"] + ["--in-place"] * in_place
    return {"a.npy": given}, args, {"b.npy": np.ascontiguousarray(np.swapaxes(a, -1, -2))}
