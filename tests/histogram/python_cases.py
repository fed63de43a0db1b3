import numpy as np
from random_arrays import FLOATS, INTEGERS, array, same, same_error, shape_of


def refuse_far_edges(rng, ts, device):
    """Whole numbers that float64 rounds; of float64, and below, they are taken."""
    dtype = rng.choice(["int64", "uint64"])
    x = np.array([5, 2 ** 53 + 1], dtype)
    for edges in ([0, 2 ** 53], [0, 2 ** 53 + 1, 2 ** 60]):
        try:
            ts.histogram(x, edges, device=device)
        except ValueError as e:
            assert "2**53" in str(e), e
        else:
            raise AssertionError("edges from 2**53 on")
        same(ts.histogram(x, np.array(edges, float), device=device)[0],
             np.histogram(x, np.array(edges, float))[0])
    near = [0, 2 ** 53 - 1]
    same(ts.histogram(x, near, device=device)[0], np.histogram(x, near)[0])


def check(rng, ts, device):
    dtype = rng.choice(FLOATS + INTEGERS)
    a = array(rng, shape_of(rng, int(rng.integers(0, 3)), 8, 800), dtype, few=rng.random() < 0.4)
    how = rng.integers(0, 4)
    bins, limits = int(rng.integers(1, 60)), None
    if how == 0:
        limits = (-0.5, 0.25) if dtype in FLOATS else (1, 40)
    elif how == 1:
        bins = np.sort(rng.uniform(-1, 1, 7) if dtype in FLOATS else rng.integers(0, 100, 7))
    elif how == 2:
        same_error(lambda: ts.histogram(a, [3, 1, 2], device=device),
                   lambda: np.histogram(a, [3, 1, 2]))
        refuse_far_edges(rng, ts, device)
    native = a.astype(dtype)
    try:
        _, edges = np.histogram(native, bins, limits)
    except (ValueError, IndexError, MemoryError): # NumPy 1.24 cannot do int64 of the full range
        return
    # By the edges, searched: NumPy's own counts of equal bins may differ where arithmetic rounds.
    counts = np.histogram(native, edges)[0] if how == 1 else None
    got, got_edges = ts.histogram(a, bins, limits, device=device)
    same(got_edges, edges)
    if counts is None:
        x = native.reshape(-1)
        where = np.searchsorted(edges, x.astype(np.result_type(x, edges)), "right") - 1
        where[x == edges[-1]] = len(edges) - 2
        counts = np.bincount(where[(where >= 0) & (where < len(edges) - 1)],
                             minlength=len(edges) - 1)
    same(got, counts)
    weights = array(rng, a.shape, "int32", few=True)
    sums, _ = ts.histogram(a, edges, weights=weights, device=device)
    same(sums, np.histogram(native, edges, weights=weights)[0].astype(np.int64))
