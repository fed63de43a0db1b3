"""Arrays as NumPy has them: any order, strides below 0, 0 or of odd bytes, the other byte order."""

import numpy as np

INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
FLOATS = ["float16", "float32", "float64"]


def fill(rng, shape, dtype, few=False):
    dtype = np.dtype(dtype)
    if dtype == bool:
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        low, high = (0, 5) if few else (info.min, info.max)
        return rng.integers(low, high, shape, dtype=dtype, endpoint=True)
    if few:
        return rng.integers(-3, 4, shape).astype(dtype)
    if dtype.kind == "c":
        return (rng.uniform(-1, 1, shape) + 1j * rng.uniform(-1, 1, shape)).astype(dtype)
    return rng.uniform(-1, 1, shape).astype(dtype)


def laid_out(rng, a):
    """The same elements, somewhere else in memory."""
    how = rng.integers(0, 9)
    if a.ndim == 0 or how < 3:
        return a
    if how == 3:
        return np.asfortranarray(a)
    if how == 4:
        out = np.repeat(a, 2, axis=-1)[..., ::2]
    elif how == 5:
        axis = rng.integers(0, a.ndim)
        out = np.flip(np.flip(a, axis).copy(), axis)
    elif how == 6:
        out = a.astype(a.dtype.newbyteorder())
    elif how == 7:
        raw = np.empty(a.nbytes + 1, np.uint8)[1:]
        out = raw.view(a.dtype).reshape(a.shape)
        out[...] = a
    else:
        axes = rng.permutation(a.ndim)
        out = a.transpose(axes).copy().transpose(np.argsort(axes))
    return out


def shape_of(rng, rank, most=9, largest=40):
    out = [int(rng.integers(1, most)) for _ in range(rank)]
    if rank and rng.random() < 0.3:
        out[-1] = int(rng.integers(0, largest))
    if rank and rng.random() < 0.05:
        out[int(rng.integers(0, rank))] = 0
    return tuple(out)


def array(rng, shape, dtype, few=False):
    a = fill(rng, shape, dtype, few)
    if a.ndim and a.shape[0] > 1 and rng.random() < 0.05: # stride 0
        return np.broadcast_to(a[:1], a.shape)
    return laid_out(rng, a)


def same(got, expected, why=""):
    """Equal in type, shape and every element, NaN where there is NaN.  Results are in this
    machine's byte order."""
    expected = np.asarray(expected)
    expected = expected.astype(expected.dtype.newbyteorder("="))
    got = np.asarray(got)
    assert got.dtype == expected.dtype, "%s: %s, not %s" % (why, got.dtype, expected.dtype)
    assert got.shape == expected.shape, "%s: %s, not %s" % (why, got.shape, expected.shape)
    np.testing.assert_array_equal(got, expected, why)


def same_error(ours, theirs, kinds=(ValueError, TypeError)):
    """Both raise an exception of these kinds."""
    for f in (ours, theirs):
        try:
            f()
        except kinds:
            continue
        raise AssertionError("no exception")
