"""What random problems of several operations are drawn with: tests/OP/random_problems.py.

Each has draw(rng), which returns what test_random.py runs: the files, by name; the arguments of the
command; and for each result's file what it should hold, an array, or what judges it.
"""

import numpy as np

KEY_TYPES = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"]


def extent(rng, most):
    """From 0 on: mostly small, often one off a power of 2."""
    how = rng.random()
    if how < 0.05:
        return 0
    if how < 0.3:
        return max(0, min(most, (1 << rng.integers(0, most.bit_length())) + int(rng.integers(-1, 2))))
    return int(rng.integers(0, (most if how > 0.9 else min(most, 40)) + 1))


def laid_out(rng, x):
    """The same array in any order of elements and bytes."""
    if x.ndim > 1 and rng.random() < 0.3:
        x = np.asfortranarray(x)
    return x.astype(x.dtype.newbyteorder(">")) if rng.random() < 0.2 else x


def reals(rng, shape, dtype):
    """Uniform, whole or of wide exponents."""
    how = rng.integers(3)
    if how == 0:
        x = rng.integers(-9, 10, shape)
    else:
        x = rng.uniform(-1, 1, shape)
        if how == 2:
            x = x * np.exp2(rng.integers(-9, 10, shape))
    return np.asarray(x).astype(dtype)


def keys(rng, shape, dtype):
    """Any bits, a few values, in order or nearly, floats with NaN, infinities and zeros of both
    signs."""
    dtype = np.dtype(dtype)
    count = int(np.prod(shape, dtype=np.int64))
    how = rng.integers(4)
    if how == 0:
        x = np.frombuffer(rng.bytes(count * dtype.itemsize), dtype)
    elif how == 1:
        x = rng.integers(0, 4, count).astype(dtype)
    elif how == 2:
        x = np.sort(rng.integers(0, 100, count)).astype(dtype)
    elif dtype.kind == "f":
        x = rng.choice(np.array([np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1, -1], dtype), count)
    else:
        x = rng.choice(np.array([np.iinfo(dtype).min, np.iinfo(dtype).max, 0, 1], dtype), count)
    return x.reshape(shape).copy()


def ranks(x, descending):
    """Unsigned integers that are in the order of the keys."""
    bits = x.dtype.itemsize * 8
    unsigned = np.dtype("u%d" % x.dtype.itemsize)
    u = x.view(unsigned)
    sign = unsigned.type(1 << (bits - 1))
    if x.dtype.kind == "i":
        u = u ^ sign
    elif x.dtype.kind == "f":
        # -inf ... -0 +0 ... +inf, then NaNs: without the sign, and with it.
        fraction = {16: 10, 32: 23, 64: 52}[bits]
        u = np.where(u & sign, ~u, u | sign) - unsigned.type((1 << fraction) - 1)
    return ~u if descending else u


def order(x, descending):
    """The stable order of keys along their last dimension."""
    return np.argsort(ranks(x, descending), axis=-1, kind="stable")


def same_bits(got, wanted):
    """None, or what differs."""
    if (got.dtype, got.shape) != (wanted.dtype, wanted.shape):
        return "is %s of %s, not %s of %s" % (got.dtype, got.shape, wanted.dtype, wanted.shape)
    if got.tobytes() != wanted.tobytes():
        return "differs: %s and %s" % (got.ravel()[:20], wanted.ravel()[:20])
    return None


def within(exact, bound, dtype):
    """A judge: |got - exact| <= bound, elementwise, or what dtype cannot hold is infinite."""
    def judge(got):
        if (got.dtype, got.shape) != (dtype, np.shape(exact)):
            return "is %s of %s, not %s of %s" % (got.dtype, got.shape, dtype, np.shape(exact))
        beyond = np.isinf(got) & (np.sign(got) == np.sign(exact)) & \
            (np.abs(exact) + bound > np.finfo(dtype).max)
        off = np.where(beyond, 0, np.abs(got.astype(exact.dtype) - exact))
        return "off by up to %g" % off.max() if np.any(~(off <= bound)) else None
    return judge


def product_judge(a, b, alpha, c, beta, dtype):
    """That of alpha a @ b + beta c: sums in dtype, or in float32 where it has 16 bits."""
    wide = np.longdouble if dtype == np.float64 else np.float64
    sums = np.dtype(np.float32) if dtype == np.float16 else dtype
    a, b = a.astype(wide), b.astype(wide)
    exact = wide(alpha) * (a @ b)
    limit = abs(wide(alpha)) * (np.abs(a) @ np.abs(b))
    if c is not None:
        exact = exact + wide(beta) * c.astype(wide)
        limit = limit + abs(wide(beta)) * np.abs(c.astype(wide))
    n = a.shape[-1] + 2
    u = n * np.finfo(sums).eps / 2
    bound = u / (1 - u) * limit + n * np.finfo(sums).tiny
    if dtype == np.float16:
        bound = bound + np.maximum(np.finfo(dtype).eps / 2 * (np.abs(exact) + bound), 2.0**-25)
    return within(np.asarray(exact), bound, dtype)


def batches(rng, *, most=3):
    """Extents of two batches that are broadcast to one."""
    full = rng.integers(1, 4, rng.integers(0, most))
    return [[int(n) for n in np.where(rng.random(len(full)) < 0.3, 1, full)[rng.integers(0, len(full) + 1):]]
            for _ in range(2)]
