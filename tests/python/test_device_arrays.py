"""Arrays on a device: views, copies, operators, what NumPy may do with them, pyopencl's.

77 where there is no OpenCL device.
"""

import array
import copy
import os
import sys
import threading

import numpy as np

import tessera as ts

DEVICE = "cpu"


def raised(kind, f, *args, **named):
    try:
        f(*args, **named)
    except kind as e:
        return e
    raise AssertionError("no %s" % kind.__name__)


def equal(x, expected):
    np.testing.assert_array_equal(ts.to_numpy(x), expected)


def random_key(rng, shape):
    key = []
    for n in shape:
        how = rng.integers(0, 6)
        key.append(int(rng.integers(-n, n)) if how == 0 else
                   slice(None, None, int(rng.integers(1, 3))) if how == 1 else
                   slice(int(rng.integers(0, n)), None) if how == 2 else
                   slice(0, int(rng.integers(1, n + 1))) if how == 3 else slice(None))
    if rng.random() < 0.3:
        key.insert(int(rng.integers(0, len(key) + 1)), None)
    if rng.random() < 0.3:
        key.insert(0, Ellipsis)
    return tuple(key)


def test_views():
    """Slices, axes in another order, and copies of such views, as NumPy has them."""
    rng = np.random.default_rng(3)
    for _ in range(500):
        a = rng.integers(0, 255, tuple(rng.integers(1, 6, rng.integers(1, 6)))).astype(
            rng.choice(["u1", "i4", "f8", "c16"]))
        x = ts.asarray(a, device=DEVICE)
        memory = x.memory
        for _ in range(3):
            key = random_key(rng, a.shape)
            a, x = a[key], x[key]
            axes = tuple(rng.permutation(a.ndim))
            a, x = a.transpose(axes), x.transpose(axes)
        assert x.shape == a.shape and x.memory is memory
        equal(x, a)
        copy = x.copy()
        assert copy.is_contiguous and copy.memory is not memory
        equal(copy, a)
        equal(x.reshape(-1), a.reshape(-1))
    raised(IndexError, lambda: x[(0,) * 9])
    x = ts.asarray(np.arange(6).reshape(2, 3), device=DEVICE)
    raised(IndexError, lambda: x[2])
    raised(IndexError, lambda: x[::-1])
    raised(ValueError, x.reshape, 4)
    raised(ValueError, x.transpose, 0, 0)
    raised(TypeError, x.view, "i1")
    assert len(x) == 2 and x.reshape(3, -1).shape == (3, 2) and x.T.shape == (3, 2)
    equal(x[1].view("u8"), [3, 4, 5])


def test_nothing_is_copied_by_itself():
    x = ts.asarray(np.ones((3, 3), "f"), device=DEVICE)
    assert "to_numpy" in str(raised(TypeError, np.asarray, x))
    if np.lib.NumpyVersion(np.__version__) < "2.0.0":  # later ones ask for a copy by name
        raised(TypeError, np.array, x)
    equal(x.__array__(copy=True), np.ones((3, 3)))
    raised(TypeError, ts.matmul, x, np.ones((3, 3), "f"))
    raised(TypeError, ts.matmul, np.ones((3, 3), "f"), x)
    raised(TypeError, lambda: x + np.ones((3, 3), "f"))
    raised(TypeError, lambda: np.ones((3, 3), "f") - x)
    raised(TypeError, np.exp, x)
    raised(TypeError, np.fft.fft, x)
    raised(TypeError, ts.matmul, x, x, out=np.ones((3, 3), "f"))
    raised(TypeError, ts.axpy, 1.0, x, ts.asarray(np.ones((3, 3)), device=DEVICE))
    raised(ValueError, ts.matmul, x, x, device="host")
    raised(ts.UnsupportedError, ts.asarray, np.ones(3), device="host")
    raised(TypeError, ts.asarray, np.array([{}]), device=DEVICE)


def test_chain():
    """Ten products one after another, of which each takes the last one's result, on the device."""
    rng = np.random.default_rng(5)
    a = (rng.integers(-1, 2, (40, 40))).astype("f8")
    x = ts.asarray(a, device=DEVICE)
    y, expected = x, a
    for _ in range(10):
        y = y @ x.T
        expected = expected @ a.T
        report = ts.last_report()
        assert isinstance(y, ts.DeviceArray) and report["kernel"]
        assert report["to_device_bytes"] == report["from_device_bytes"] == 0
    equal(y.wait(), expected)


def test_operators():
    a, b = np.arange(6.0).reshape(2, 3), np.full((2, 3), 0.25)
    x, y = ts.asarray(a, device=DEVICE), ts.asarray(b, device=DEVICE)
    for got, expected in ((x + y, a + b), (x - y, a - b), (x + 1, a + 1), (1 - x, 1 - a),
                          (x - 2.5, a - 2.5), (x * 3, a * 3), (3 * x, 3 * a), (-x, -a),
                          (x @ y.T, a @ b.T), (x[:, 1:] + y[:, 1:], a[:, 1:] + b[:, 1:]),
                          ((x @ y.T + 1) @ x, (a @ b.T + 1) @ a)):
        equal(got, expected)
    assert not np.signbit(ts.to_numpy(x * 2))[0, 0] and np.signbit(ts.to_numpy(x * -1))[0, 0]
    equal(ts.asarray(np.array([2, 3]), device=DEVICE) * 5, [10, 15])
    raised(TypeError, lambda: x * y)
    raised(TypeError, lambda: x + "a")
    raised(TypeError, lambda: x * np.complex64(1j))
    equal(x - np.uint8(5), a - 5)
    equal(x + np.array(2.0), a + 2)
    raised(TypeError, float, ts.sum(x))


def test_broadcast():
    """Operands of + and -, of axpy and of batches of products."""
    rng = np.random.default_rng(12)
    for dtype in ("f4", "i8", "c16"):
        for one, other in (((2, 3), (3,)), ((2, 3), (2, 1)), ((4, 1, 3), (2, 1)), ((), (2, 2)),
                           ((1, 3), (5, 1)), ((0, 3), (3,)), ((1,), (0, 1))):
            a, b = (rng.integers(0, 9, s).astype(dtype) for s in (one, other))
            x, y = ts.asarray(a, device=DEVICE), ts.asarray(b, device=DEVICE)
            for got, expected in ((x + y, a + b), (y - x, b - a), (x - y[..., :1], a - b[..., :1])
                                  if b.ndim else (x + y, a + b)):
                equal(got, expected)
            if dtype != "c16":
                equal(ts.axpy(2, x, y), 2 * a + b)
    x = ts.asarray(np.zeros((2, 3)), device=DEVICE)
    raised(ValueError, lambda: x + x.T)
    row = x[0].broadcast_to([4, 3])
    assert row.memory is x.memory and x[0, 0].broadcast_to(5).shape == (5,)
    equal(row, np.zeros((4, 3)))
    row[0] = 1
    raised(ValueError, row.__setitem__, Ellipsis, 2)
    raised(ValueError, row.__iadd__, 2)
    equal(x, [[1, 1, 1], [0, 0, 0]])
    a, b = rng.integers(0, 5, (3, 1, 4, 5)).astype("f8"), rng.integers(0, 5, (2, 5, 6)).astype("f8")
    equal(ts.asarray(a, device=DEVICE) @ ts.asarray(b, device=DEVICE), a @ b)
    v = rng.integers(0, 5, (2, 5)).astype("f8")
    equal(ts.matvec(ts.asarray(a, device=DEVICE), ts.asarray(v, device=DEVICE)),
          (a @ v[..., None])[..., 0])


def random_place(rng, shape):
    """A key of one of NumPy's arrays, of whole numbers and slices that go forwards."""
    return tuple(slice(int(rng.integers(0, n)), None, int(rng.integers(1, 3))) if rng.random() < 0.7
                 else int(rng.integers(-n, n)) for n in shape) + (Ellipsis,)


def test_in_place():
    """+=, -=, *= and @=, and x[key] = y, write into the array, views of it too, as NumPy's do."""
    rng = np.random.default_rng(11)
    for _ in range(300):
        dtype = rng.choice(["f4", "f8", "i4", "u1", "c8"])
        a = rng.integers(0, 50, tuple(rng.integers(1, 6, rng.integers(1, 5)))).astype(dtype)
        x = ts.asarray(a, device=DEVICE)
        memory = x.memory
        axes = tuple(rng.permutation(a.ndim))
        view, part = a.transpose(axes), x.transpose(axes)
        key = random_place(rng, view.shape)
        view, part = view[key], part[key]
        shape = view.shape[int(rng.integers(0, view.ndim + 1)):]
        b = rng.integers(0, 50, shape).astype(dtype)
        y, how = ts.asarray(b, device=DEVICE), rng.integers(0, 6)
        kept = part
        if how == 0:
            view += b
            part += y
        elif how == 1:
            view -= b
            part -= y
        elif how == 2:
            view += np.array(3, dtype)
            part += 3
        elif how == 3:
            view *= np.array(2, dtype)
            part *= 2
        elif how == 4:
            view[...] = b
            part[...] = y
        else:
            view[...] = 7
            part[...] = 7
        assert part is kept and part.memory is memory
        equal(x, a)
    # What Python makes of x[key] += y.
    a = np.arange(12.0).reshape(3, 4)
    x = ts.asarray(a, device=DEVICE)
    x[1] += x[0]
    x[:, 1:3] -= 1
    x[2, 3] = -1
    x[0] = x[1]
    x[:, ::2] = x[:, 1::2]
    x[2] = x[None, :1]
    a[1] += a[0]
    a[:, 1:3] -= 1
    a[2, 3] = -1
    a[0] = a[1]
    a[:, ::2] = a[:, 1::2]
    a[2] = a[None, :1]
    equal(x, a)


def test_in_place_of_what_overlaps():
    """The array is read as it was before."""
    a = np.arange(10000.0)
    x = ts.asarray(a, device=DEVICE)
    x += x
    a += a
    x[1:] += x[:-1]
    a[1:] += a[:-1].copy()
    x[:-3] = x[3:]
    a[:-3] = a[3:].copy()
    ts.axpy(1.0, x[:-1], x[1:], out=x[1:])
    a[1:] += a[:-1].copy()
    equal(x, a)
    b = np.random.default_rng(13).integers(-2, 3, (60, 60)).astype("f8")
    y = ts.asarray(b, device=DEVICE)
    y += y.T
    equal(y, b + b.T)
    y = ts.asarray(b, device=DEVICE)
    view = y[1:3]
    y @= y.T
    equal(view, (b @ b.T)[1:3])
    for f, expected in ((lambda y, out: ts.matmul(y, y, out=out, beta=2), b @ b + 2 * b),
                        (lambda y, out: ts.transpose(y, out=out), b.T),
                        (lambda y, out: ts.cumsum(y, axis=0, out=out), b.cumsum(0)),
                        (lambda y, out: ts.sort(y, out=out), np.sort(b))):
        y = ts.asarray(b, device=DEVICE)
        assert f(y, y) is y
        equal(y, expected)


def test_in_place_refusals():
    """As NumPy's: what has no place in the array changes nothing."""
    a = np.arange(6, dtype="f4").reshape(2, 3)
    x, wide = ts.asarray(a, device=DEVICE), ts.asarray(np.ones((2, 2, 3), "f4"), device=DEVICE)
    i, square = ts.asarray(np.arange(3), device=DEVICE), ts.asarray(np.ones((3, 3), "f4"), device=DEVICE)

    def refused(kind, statement, words=""):
        e = raised(kind, exec, statement, {"x": x, "wide": wide, "i": i, "np": np, "square": square,
                                           "double": ts.asarray(a.astype("f8"), device=DEVICE)})
        assert words in str(e), e

    refused(ValueError, "x += wide", "(2, 2, 3)")
    refused(ValueError, "x[0] = x", "(2, 3)")
    refused(ValueError, "x -= x.T", "(3, 2)")
    refused(ValueError, "x @= x")
    refused(ValueError, "x[:1] @= square[:, :2]", "(1, 2)")
    refused(TypeError, "i += 0.5", "int64")
    refused(TypeError, "i *= 0.5", "int64")
    refused(TypeError, "i[0] = 0.5", "int64")
    refused(TypeError, "x += double", "float64")
    refused(TypeError, "x[...] = double", "float64")
    refused(TypeError, "x += np.ones((2, 3), 'f4')", "host memory")
    refused(TypeError, "x[0] = np.ones(3, 'f4')", "host memory")
    refused(TypeError, "x *= x", "multiplied by numbers")
    refused(TypeError, "x /= 2", "not divided")
    refused(TypeError, "x += 'a'")
    refused(TypeError, "x[0] = 'a'", "str")
    refused(TypeError, "x **= 2")
    refused(IndexError, "x[2] = 1")
    equal(x, a)
    x @= square
    equal(x, a @ np.ones((3, 3), "f4"))
    flags = ts.asarray(np.array([True, False, False]), device=DEVICE)
    flags[1] = True
    flags[0] = np.bool_(False)
    equal(flags, [False, True, False])


def test_operators_of_integers():
    """With numbers that the type holds as NumPy has them, modulo 2^bits; others are refused."""
    for dtype in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"):
        info = np.iinfo(dtype)
        a = np.array([0, 1, 5, info.min, info.max], dtype)
        x = ts.asarray(a, device=DEVICE)
        numbers = [0, 5, np.int64(7), np.uint8(100), int(info.min), int(info.max)]
        for n in numbers:
            k = np.array(n, dtype)
            for got, expected in ((x + n, a + k), (n + x, k + a), (x - n, a - k), (n - x, k - a)):
                assert got.dtype == a.dtype
                equal(got, expected)
        for n in numbers[:-2]:
            equal(x * n, a * np.array(n, dtype))
        equal(-x, -a)
        if info.bits == 64:  # beyond 2^53 a float64 does not hold every whole number
            for n in (2 ** 53 + 1, 2 ** 62 + 2 ** 31 + 1, 2 ** 63 - 1, int(info.min) + 1,
                      int(info.max), np.int64(2 ** 53 + 3)):
                equal(x * n, a * np.array(n, dtype))
                equal(n * x[1:], np.array(n, dtype) * a[1:])
        others = [0.5, 2.0, float("nan"), np.float32(1), info.max + 1, info.min - 1, 2 ** 70]
        for n in others + ([np.uint64(2 ** 63)] if dtype == "int64" else []):
            for f in (lambda: x + n, lambda: n + x, lambda: x - n, lambda: n - x, lambda: x * n):
                raised(TypeError, f)


def test_operators_of_complex_arrays():
    rng = np.random.default_rng(7)
    for dtype, near in (("c8", 1e-6), ("c16", 1e-15)):
        a, b = ((rng.random((5, 6)) + 1j * rng.random((5, 6)) - 0.5).astype(dtype) for _ in range(2))
        x, y = ts.asarray(a, device=DEVICE), ts.asarray(b, device=DEVICE)
        for got, expected in ((x + y, a + b), (x - y, a - b), (x + 2, a + 2), (1 - x, 1 - a),
                              (x[:, ::2] - y[:, 1::2], a[:, ::2] - b[:, 1::2]), (x + 2j, a + 2j),
                              (x - np.complex64(1j), a - 1j), (3 * x, 3 * a), (-x, -a),
                              (np.add(x, y), a + b), (x.T + y.T, a.T + b.T)):
            assert got.dtype == a.dtype
            equal(got, expected.astype(dtype))
        for n in (0.3 - 0.7j, np.complex128(2j), 1 + 0j):
            for got, expected in ((x * n, a * n), (n * x[1:].T, n * a[1:].T)):
                assert got.dtype == a.dtype
                np.testing.assert_allclose(ts.to_numpy(got), expected, near, near)
        equal(ts.asarray(a[:0], device=DEVICE) * 2j, a[:0])
        real = ts.asarray(a.real.copy(), device=DEVICE)
        for f in (lambda: x + real, lambda: real * 1j, lambda: x * y):
            raised(TypeError, f)


def test_refusals_in_words():
    """What arrays on a device do not do, or not by that argument, is said in one line."""
    a = np.arange(6, dtype="f4").reshape(2, 3)
    x = ts.asarray(a, device=DEVICE)
    for f, words in ((lambda: x * x, "multiplied by numbers"), (lambda: x / 2, "not divided"),
                     (lambda: 2 / x, "not divided"), (lambda: np.divide(x, 2), "not divided"),
                     (lambda: x + a, "host memory"), (lambda: a - x, "host memory"),
                     (lambda: np.add(x, x, out=x), "numpy.add of an array on a device"),
                     (lambda: np.add(x, x, x), "numpy.add of an array on a device"),
                     (lambda: np.negative(x, out=x), "numpy.negative of an array on a device"),
                     (lambda: np.sort(x, kind="stable"), "numpy.sort of an array on a device"),
                     (lambda: np.sort(x, axis=(0, 1)), "axis must be one whole number here, not (0, 1)"),
                     (lambda: np.cumsum(x, axis=(0, 1)), "not (0, 1)"),
                     (lambda: ts.sum(x, axis=1.5), "not 1.5"),
                     (lambda: x + ts.asarray(a.astype("f8"), device=DEVICE), "float64")):
        assert words in str(raised(TypeError, f)), f
    assert "('x',)" in str(raised(ValueError, x.transpose, "x"))
    assert "(0, 5)" in str(raised(ValueError, np.transpose, x, (0, 5)))
    equal(x.transpose(None), a.T)
    equal(x.transpose(np.array([-1, 0])), a.T)


def test_indices_and_buffers_in_words():
    x = ts.asarray(np.arange(6.0).reshape(2, 3), device=DEVICE)
    for key in ([0, 1], np.array([0, 1]), True, np.True_, 1.5, "a", (0, [1]), x):
        words = str(raised(IndexError, lambda: x[key]))
        assert "whole numbers, slices" in words and "to_numpy" in words and "\n" not in words, words
    for f in (memoryview, bytes, bytearray):
        words = str(raised(TypeError, f, x))
        assert "to_numpy" in words and "\n" not in words, words
    raised(TypeError, list, x[0, 0])
    assert [row.shape for row in x] == [(3,), (3,)]
    for copied in (copy.copy(x), copy.deepcopy(x)):
        copied[0] = 7
    equal(x, np.arange(6.0).reshape(2, 3))


def test_what_it_is_stays():
    """An assigned shape would leave the strides of the former one."""
    x = ts.asarray(np.arange(16.0).reshape(4, 4), device=DEVICE)
    for name in ("shape", "strides", "dtype", "offset", "memory", "size", "ndim", "T"):
        raised(AttributeError, setattr, x, name, (2, 8))
    equal(x, np.arange(16.0).reshape(4, 4))


def test_no_comparison():
    x = ts.asarray(np.arange(3.0), device=DEVICE)
    for f in (lambda: x == x, lambda: x != x, lambda: x == 1, lambda: 1 != x, lambda: bool(x),
              lambda: np.arange(3.0) == x, lambda: bool(ts.sum(x)), lambda: x[0] in [x[1]]):
        raised(TypeError, f)
    assert {x: 1}[x] == 1 and len(x) == 3


def test_functions_of_numpy():
    a = np.random.default_rng(1).random((20, 30))
    x = ts.asarray(a, device=DEVICE)
    equal(np.sort(x), np.sort(a))
    equal(np.argsort(x), np.argsort(a))
    equal(np.max(x, 0), np.max(a, 0))
    equal(np.argmin(x, axis=1), np.argmin(a, axis=1))
    equal(np.transpose(x), a.T)
    equal(np.reshape(x, (30, 20)), a.reshape(30, 20))
    equal(np.copy(x), a)
    equal(np.swapaxes(x, 0, -1), a.T)
    equal(np.broadcast_to(x, (2, 20, 30)), np.broadcast_to(a, (2, 20, 30)))
    thin, flat = x.reshape(20, 1, 30, 1), a.reshape(20, 1, 30, 1)
    for axis in (None, 1, -1, (1, 3)):
        equal(np.squeeze(thin, axis), np.squeeze(flat, axis))
    assert "axis 0, of 20 elements" in str(raised(ValueError, np.squeeze, thin, 0))
    assert (np.shape(x), np.ndim(x), np.size(x)) == ((20, 30), 2, 600)
    np.testing.assert_allclose(ts.to_numpy(np.dot(x, x[0])), np.dot(a, a[0]))
    assert "matmul takes batches" in str(raised(TypeError, np.dot, thin, x))
    equal(np.add(x, x), a + a)
    equal(np.subtract(1, x), 1 - a)
    np.testing.assert_allclose(ts.to_numpy(np.matmul(x, x.T)), a @ a.T)
    np.testing.assert_allclose(ts.to_numpy(np.sum(x)), np.sum(a))
    np.testing.assert_allclose(ts.to_numpy(np.cumsum(x, axis=1)), np.cumsum(a, axis=1))
    np.testing.assert_allclose(ts.to_numpy(np.linalg.norm(x)), np.linalg.norm(a))
    np.testing.assert_allclose(ts.to_numpy(np.linalg.norm(x, "fro")), np.linalg.norm(a))
    np.testing.assert_allclose(ts.to_numpy(np.linalg.norm(x, 2, 1)), np.linalg.norm(a, axis=1))
    np.testing.assert_allclose(ts.to_numpy(np.linalg.norm(x[0], 2, keepdims=True)),
                               np.linalg.norm(a[0], 2, keepdims=True))
    for order, axis in ((1, None), (2, None), (np.inf, 1), (0, 0), ("fro", 1), ("nuc", None),
                        (2, (0, 1))):
        raised(TypeError, np.linalg.norm, x, order, axis)
    out = ts.empty((20, 20), device=DEVICE)
    assert np.matmul(x, x.T, out=out) is out
    np.testing.assert_allclose(ts.to_numpy(out), a @ a.T)
    raised(TypeError, np.matmul, x, x.T, out=np.empty((20, 20)))
    raised(TypeError, np.add, x, x, out=x)
    counts, edges = np.histogram(x, 7)
    np.testing.assert_array_equal(counts, np.histogram(a, edges)[0])


class Exchanged:
    """What has DLPack's interface alone, on a kind of device."""

    def __init__(self, a, kind=1):
        self.a, self.kind = a, kind

    def __dlpack__(self, **named):
        return self.a.__dlpack__(**named)

    def __dlpack_device__(self):
        return self.kind, 0


class Pointed:
    """What has NumPy's interface alone."""

    def __init__(self, a):
        self.a, self.__array_interface__ = a, a.__array_interface__


def test_asarray_of_others():
    """Arrays of other packages, by DLPack, NumPy's interface and buffers; those of devices are named."""
    a = np.arange(6, dtype="i2").reshape(2, 3)
    for other in (Exchanged(a), Exchanged(np.asfortranarray(a)), Exchanged(a, 3), Pointed(a), memoryview(a), a.tolist(),
                  array.array("h", a.ravel())):
        x = ts.asarray(other, device=DEVICE, dtype="f4")
        equal(x.reshape(2, 3), a)
    equal(ts.asarray(Exchanged(a[:, ::2]), device=DEVICE), a[:, ::2])
    assert ts.asarray(Exchanged(a), device=DEVICE).dtype == a.dtype
    for kind, words in ((2, "from_cuda"), (13, "from_cuda"), (10, "kind 10"), (4, "kind 4")):
        for f in (ts.asarray, ts.sort, ts.to_numpy):
            e = raised(TypeError, f, Exchanged(a, kind))
            assert words in str(e) and "Exchanged" in str(e) and "\n" not in str(e), e

    class Odd(Exchanged):
        def __dlpack__(self, **named):
            raise BufferError("no such type")

    assert "no such type" in str(raised(TypeError, ts.asarray, Odd(a)))


def test_out():
    a = np.random.default_rng(2).random((30, 30))
    x, out = ts.asarray(a, device=DEVICE), ts.empty((30, 30), device=DEVICE)
    assert ts.matmul(x, x, out) is out
    np.testing.assert_allclose(ts.to_numpy(out), a @ a)
    raised(TypeError, ts.matmul, x, x, ts.empty((60, 30), device=DEVICE)[::2])
    assert ts.sort(x, descending=True, out=out) is out
    equal(out, -np.sort(-a))
    raised(TypeError, ts.sort, x, out=np.empty((30, 30)))
    raised(TypeError, ts.sort, x, out=ts.empty((30, 30), "f4", device=DEVICE))
    nothing = ts.empty((0, 3), device=DEVICE)
    assert ts.sort(ts.asarray(np.ones((0, 3)), device=DEVICE), out=nothing) is nothing
    sums = ts.empty(31, device=DEVICE)[1:]
    assert ts.sum(x, axis=0, out=sums) is sums and ts.max(x, axis=0, out=sums) is sums
    equal(sums, a.max(axis=0))
    assert ts.cumsum(x, axis=1, out=out) is out
    np.testing.assert_allclose(ts.to_numpy(out), np.cumsum(a, axis=1))
    raised(ValueError, ts.matmul, x, x, ts.empty((30, 31), device=DEVICE))
    assert ts.asarray(x) is x and ts.asarray(x, device=DEVICE) is x
    raised(TypeError, ts.asarray, x, dtype="f4")


def test_memory_is_checked():
    x = ts.asarray(np.zeros(100), device=DEVICE)
    raised(ValueError, x.memory.write, bytes(801), 0)
    raised(ValueError, x.memory.read, bytearray(8), 793)
    raised(ValueError, x.memory.read, bytearray(8), -8)
    raised(ValueError, x.memory.copy, x.memory, 0, (0, 0), 0, (0, 0), (801, 1, 1))
    raised(ValueError, x.memory.copy, x.memory, 0, (400, 0), 0, (401, 0), (400, 2, 1))
    raised(ValueError, x.memory.copy, x.memory, 0, (0, 0), 0, (0, 0), (8, 2 ** 62, 4))
    raised(ValueError, x.memory.copy, x.memory, 0, (2 ** 62, 8), 0, (8, 8), (8, 4, 4))
    raised(ValueError, x.memory.fill, b"12345678", 808)
    raised(TypeError, type(x.memory))
    wrong = ts.DeviceArray(x.memory, (200,), "f8")
    raised(ts.InvalidError, ts.sum, wrong)
    raised((ValueError, ts.Error), ts.to_numpy, wrong)
    raised(ts.Error, lambda: ts.asarray(np.zeros(1), device=DEVICE).memory.session.memory(0))


class Counted:
    """Memory, or a session, that counts the commands which copy."""

    def __init__(self, real, commands):
        self.real, self.commands = real, commands

    session = property(lambda self: Counted(self.real.session, self.commands))

    def allocate(self, n):
        return Counted(self.real.allocate(n), self.commands)

    def copy(self, source, *box):
        self.commands.append(box)
        self.real.copy(source.real, *box)

    def read(self, *args):
        self.real.read(*args)


def test_commands_of_copies():
    """Axes that follow one another in memory are one of a command's three; repeated elements are
    copied once and doubled."""
    def counted(a, view):
        commands = []
        x = view(a, ts.DeviceArray(Counted(ts.asarray(a, device=DEVICE).memory, commands), a.shape,
                                   a.dtype))
        equal(x.copy(), view(a, a))
        return len(commands)

    def repeated(*strides):
        def view(a, x):
            if isinstance(x, ts.DeviceArray):
                return ts.DeviceArray(x.memory, (5, 4, 3), x.dtype, strides)
            return np.lib.stride_tricks.as_strided(x, (5, 4, 3), strides)
        return view

    for shape in ((64, 64, 8, 8), (1000, 2, 2, 2), (64, 1, 64, 3, 3, 3), (7,), ()):
        a = np.arange(np.prod(shape, dtype=int), dtype="i4").reshape(shape)
        assert counted(a, lambda a, x: x) == 1, shape
    a = np.arange(6 * 5 * 4 * 8 * 6, dtype="i4").reshape(6, 5, 4, 8, 6)
    for key, commands in ((np.s_[..., :4], 1), (np.s_[:, :, :, 1:5], 1), (np.s_[:, :, 1:3, :, :4], 1),
                          (np.s_[::2, :, 1:3, :, :4], 3), (np.s_[::2, :3, :, ::2], 1)):
        assert counted(a, lambda a, x: x[key]) == commands, key
    # One command for what is repeated, one from there, and one whenever that doubles.
    assert counted(a, repeated(0, 12, 4)) == 2 + 3
    assert counted(a, repeated(0, 0, 4)) == 2 + 5
    assert counted(a, repeated(0, 0, 0)) == 2 + 6
    for strides in ((12, 0, 4), (0, 4, 20), (4, 0, 20), (16, 4, 0)):
        view = repeated(*strides)
        x = ts.asarray(a, device=DEVICE)
        equal(view(a, x).copy(), view(a, a))
        equal(ts.sum(view(a, x), axis=1), view(a, a).sum(axis=1))


def test_arrays_between_elements():
    """What starts at a byte where no element does is copied, and refused where it would be read."""
    a = np.arange(40, dtype="u1")
    x = ts.DeviceArray(ts.asarray(a, device=DEVICE).memory, (5,), "u4", offset=6)
    expected = a[6:26].view("u4")
    equal(x, expected)
    assert "byte 6" in str(raised(ValueError, ts.sum, x))
    equal(ts.sort(x), expected)
    equal(ts.max(x.copy()), expected.max())


def test_elements_apart():
    """What functions take of views whose elements are no neighbours in memory is moved there."""
    a = np.random.default_rng(7).random((5, 6))
    x = ts.asarray(a, device=DEVICE)
    for dtype in ("V3", "V20"):  # elements that transposed matrices have, and others
        wide = np.arange(6 * int(dtype[1:]), dtype="u1").view(dtype).reshape(2, 3)
        assert ts.to_numpy(ts.asarray(wide, device=DEVICE).T.copy()).tobytes() == wide.T.tobytes()
    box = np.arange(24.0).reshape(2, 3, 4)
    boxes = ts.asarray(box, device=DEVICE)
    for got, expected in (
            (ts.sort(x, axis=0), np.sort(a, axis=0)), (np.argsort(x.T), np.argsort(a.T)),
            (ts.sort(x.T, axis=None), np.sort(a.T, axis=None)),
            (ts.sort(x.T, axis=None, values=x.T)[1], np.sort(a.T, axis=None)),
            (ts.topk(x, 1, axis=0, largest=True).values, a.max(axis=0)[None]), (x.T + x.T, (a + a).T),
            (x[:, 1] - x[:, 2], a[:, 1] - a[:, 2]), (x.T * 2, a.T * 2),
            (ts.transpose(x), a.T), (ts.transpose(x.T), a), (ts.transpose(x[:, ::2].T), a[:, ::2]),
            (ts.transpose(x.T, out=ts.empty((5, 6), device=DEVICE)), a),
            (ts.transpose(boxes.T), np.swapaxes(box.T, 1, 2)),
            (ts.max(x.T, axis=0), a.max(axis=1)), (ts.select(x.T, ">", 0.5), a.T[a.T > 0.5]),
            (ts.sum(boxes, axis=(0, 1)), box.sum(axis=(0, 1))),
            (ts.segmented_sort(x[:, 0], [0, 3, 5]), np.r_[np.sort(a[:3, 0]), np.sort(a[3:, 0])]),
            (boxes.T.copy(), box.T), (boxes.transpose(1, 2, 0).reshape(-1),
                                      box.transpose(1, 2, 0).reshape(-1))):
        equal(got, expected)
    np.testing.assert_allclose(ts.to_numpy(ts.cumsum(x.T)), np.cumsum(a.T))
    np.testing.assert_allclose(ts.to_numpy(x[:, ::2] @ x[:, 1::2].T), a[:, ::2] @ a[:, 1::2].T)
    np.testing.assert_array_equal(ts.histogram(x.T, 7)[0], np.histogram(a, 7)[0])


def test_events():
    """An event completes with what was enqueued before it, and work waits for events."""
    a = np.random.default_rng(8).random((300, 300))
    x = ts.asarray(a, device=DEVICE)
    y = x @ x
    event = y.event
    assert isinstance(event, ts.Event) and isinstance(event.is_done, bool) and event.handle
    event.wait()
    assert event.is_done
    assert x.after(event, y) is x and x.after() is x
    equal(x.after(y) + x, a + a)
    for wrong in (None, 5, np.ones(3)):
        raised(TypeError, x.after, wrong)
    raised(TypeError, ts.Event)


def test_empty():
    for shape in (2 ** 33, 2 ** 62, 2 ** 70):
        e = raised(MemoryError, ts.empty, shape, "f8", device=DEVICE)
        assert isinstance(e, ts.Error) and e.status == "TSR_ENOMEM", e
        assert "at most" in str(e) and "%d bytes" % (8 * shape) in str(e), e
    raised(ValueError, ts.empty, (2, -3), device=DEVICE)
    raised(ValueError, ts.empty, -1, device=DEVICE)
    assert "interpreted" in str(raised(TypeError, ts.empty, 2.5, device=DEVICE))
    raised(TypeError, ts.empty, 3, object, device=DEVICE)
    raised(TypeError, ts.asarray(np.zeros(3), device=DEVICE).view, object)
    assert ts.empty(np.int64(3), "f4", device=DEVICE).shape == (3,)
    assert ts.empty((2, 0), "f4", device=DEVICE).size == 0


def test_threads():
    a = np.random.default_rng(4).random((50, 50))
    right = []

    def work():
        x = ts.asarray(a, device=DEVICE)
        for _ in range(20):
            right.append(np.allclose(ts.to_numpy(x @ x), a @ a))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert right == [True] * 120  # an exception ends a thread alone


def test_pyopencl():
    try:
        import pyopencl as cl
        import pyopencl.array
    except ImportError:
        print("no pyopencl; Debian's python3-pyopencl brings it")
        return
    context = cl.Context([cl.get_platforms()[0].get_devices()[0]])
    queue = cl.CommandQueue(context)
    a = np.random.default_rng(6).random((20, 30), "f4")
    theirs = pyopencl.array.to_device(queue, a)
    ours = ts.from_pyopencl(theirs)
    assert ours.memory.handle == theirs.base_data.int_ptr
    product = ours @ ours.T
    np.testing.assert_allclose(ts.to_numpy(product), a @ a.T, rtol=1e-5)
    back = ts.to_pyopencl(product)
    back.events[0].wait()
    assert back.base_data.int_ptr == product.memory.handle
    np.testing.assert_allclose(back.get(), a @ a.T, rtol=1e-5)
    equal(ts.from_pyopencl(theirs[5:, :]), a[5:])
    # A pool hands memory out again once pyopencl's array is gone: not what one of ours is in.
    pool = pyopencl.tools.MemoryPool(pyopencl.tools.ImmediateAllocator(queue))
    pooled = pyopencl.array.to_device(queue, a, allocator=pool)
    view = ts.from_pyopencl(pooled)[5:]
    del pooled
    pyopencl.array.zeros(queue, a.shape, a.dtype, allocator=pool)
    equal(view, a[5:])
    del view
    assert pool.active_blocks == 0
    ts.close()
    raised(ts.Error, ts.to_numpy, ours)
    equal(ts.from_pyopencl(theirs), a)
    # Work waits for the array's events: here one that the host completes later.
    gate = cl.UserEvent(context)
    theirs.add_event(gate)
    ours = ts.from_pyopencl(theirs)
    event = (ours + ours).event
    assert not event.is_done
    gate.set_status(cl.command_execution_status.COMPLETE)
    event.wait()
    assert event.is_done
    # Events of another queue of its context, which is sent off.
    second = cl.CommandQueue(context)
    filled = np.full(a.shape, 3, a.dtype)
    cl.enqueue_copy(second, theirs.base_data, filled, is_blocking=False)
    equal(ours.after(cl.enqueue_marker(second)), filled)
    # Events of another context: the host waits.
    other = ts.asarray(a, device=DEVICE)
    equal(other.after(cl.enqueue_marker(queue), ours), a)
    out_of_order = cl.CommandQueue(
        context, properties=cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE)
    raised(ts.UnsupportedError, ts.from_pyopencl, pyopencl.array.to_device(out_of_order, a))


def test_pyopencl_beside_ours():
    """Memory of one context works together, whatever queues it came by, in the order of the program."""
    try:
        import pyopencl as cl
        import pyopencl.array
    except ImportError:
        print("no pyopencl; Debian's python3-pyopencl brings it")
        return
    a = np.random.default_rng(6).integers(-1, 2, (50, 50)).astype("f4")
    x = ts.asarray(a, device=DEVICE)
    # Of our own queue.
    back = ts.from_pyopencl(ts.to_pyopencl(x))
    assert back.memory.session is x.memory.session and back.device == x.device
    equal(x + back, a + a)
    assert back.overlaps(x) and ts.matmul(x, back, out=x) is x
    equal(back, a @ a)
    # Of other queues in our context, and of two in one of pyopencl's.
    context = ts.to_pyopencl(x).context
    device = context.devices[0]
    for here in (context, cl.Context([device])):
        queues = [cl.CommandQueue(here) for _ in range(2)]
        theirs = [pyopencl.array.to_device(q, a) for q in queues]
        y, z = map(ts.from_pyopencl, theirs)
        assert y.memory.session is not z.memory.session
        assert y.device == z.device == x.device
        assert ts.asarray(y, device=DEVICE) is y
        equal(ts.sort(y, device=DEVICE), np.sort(a))
        for _ in range(20): # each on the other's queue, one after another
            y[...] = z @ z
            z[...] = y
            y[...] = 1
            y += z
            z -= z
            equal(y, a @ a + 1)
            z += ts.from_pyopencl(pyopencl.array.to_device(queues[1], a))
        # What pyopencl enqueues afterwards on the array's queue comes behind our work on others.
        product = y @ z
        theirs[1].fill(0)
        equal(product, (a @ a + 1) @ a)
        equal(z, np.zeros_like(a))
        if here is context:
            equal(x + y, a @ a + a @ a + 1)
            w = x @ y
            del x, y # the memory of both may be given out again
            equal(ts.asarray(a, device=DEVICE), a)
            equal(w, (a @ a) @ (a @ a + 1))
            x = ts.asarray(a, device=DEVICE)
        else:
            e = raised(ValueError, lambda: x + y)
            assert "another OpenCL context" in str(e) and "to_pyopencl" in str(e), e
            raised(ValueError, x.__setitem__, Ellipsis, y)
    # Views of pyopencl's that go backwards.
    for key in (np.s_[::-1], np.s_[:, ::-1], np.s_[10:2:-2, ::3]):
        b = a.copy()
        theirs = pyopencl.array.to_device(queues[0], a)
        y = ts.from_pyopencl(theirs[key])
        equal(y, b[key])
        equal(y.T + 1, b[key].T + 1)
        equal(y @ y.T, b[key] @ b[key].T)
        assert y.overlaps(ts.from_pyopencl(theirs)[2:9])
        y += 1
        y[1:] = y[:-1]
        b[key] += 1
        b[key][1:] = b[key][:-1].copy()
        np.testing.assert_array_equal(theirs.get(), b)
    # Parts of one buffer are seen as such.
    whole = pyopencl.array.to_device(queues[0], np.arange(4096, dtype="f4"))
    size = 2048 * 4
    parts = [pyopencl.array.Array(queues[0], (2048,), "f4", data=whole.base_data.get_sub_region(at, size))
             for at in (0, size // 2)]
    first, second = map(ts.from_pyopencl, parts)
    assert first.overlaps(second) and not first[:1024].overlaps(second)
    second += first
    expected = np.arange(1024, 3072) + np.arange(2048.0)
    equal(second, expected)


def test_threads_on_several_queues():
    """One array, which threads read on queues of their own at once: PoCL 3.1 maps a buffer for one queue
    at a time."""
    try:
        import pyopencl as cl
        import pyopencl.array
    except ImportError:
        print("no pyopencl; Debian's python3-pyopencl brings it")
        return
    a = np.random.default_rng(6).integers(-1, 2, (64, 64)).astype("f4")
    x = ts.asarray(a, device=DEVICE)
    context = ts.to_pyopencl(x).context
    expected = a.copy()
    expected[::2] = (2 * a @ a @ a)[::2]
    right = []

    def work(queue):
        y = ts.from_pyopencl(pyopencl.array.to_device(queue, a))
        for _ in range(100):
            z = x @ (y @ x)
            z += x @ (y @ x)
            w = y + 0
            w[::2] = z[::2]
        right.append(np.array_equal(ts.to_numpy(w), expected))

    threads = [threading.Thread(target=work, args=(cl.CommandQueue(context),)) for _ in range(5)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert right == [True] * 5


def test_reports_name_the_device():
    x = ts.asarray(np.arange(3.0), device=DEVICE)
    ts.sort(np.arange(3.0), device="host")
    report = ts.last_report()
    assert report["device"] == "host" and report["device_number"] == len(ts.devices()) - 1
    x + x
    report = ts.last_report()
    assert ts.devices()[report["device_number"]] == x.device
    assert report["device"] == x.device.name != "host"


def test_memory_is_released():
    def resident():
        with open("/proc/self/statm", encoding="ascii") as f:
            return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    a = np.zeros(1 << 20)
    for i in range(60):
        x = ts.asarray(a, device=DEVICE)
        y = x + x
        y.wait()
        if i == 10:
            before = resident()
    assert resident() - before < 100 << 20  # fifty pairs of arrays are 800 MiB


def test_what_is_shown():
    x = ts.asarray(np.ones((2, 3), np.float32), device=DEVICE)
    for shown in (x, x[0], x[0, 0], x.wait(), ts.sum(x)):
        text = repr(shown)
        assert text == str(shown) and text.startswith("<tessera.DeviceArray ("), text
        assert " on <tessera.Device " in text, text


def test_fork_and_close():
    x = ts.asarray(np.arange(5.0), device=DEVICE)
    event = x.event
    child = os.fork()
    if child == 0:
        try:
            raised(ts.Error, event.wait)
            raised(ts.Error, lambda: event.is_done)
            raised(ts.Error, lambda: x.event)
            raised(ts.Error, x.after, event)
            # No driver is asked about what is no event.
            assert raised(ts.Error, x.memory.session.after, 0).status == "TSR_EINVAL"
            raised(ts.Error, ts.to_numpy, x)
            raised(ts.Error, lambda: x + x)
            assert x.device is None and repr(x).endswith(" lost>"), repr(x)
            del x
            e = raised(ts.Error, ts.asarray, np.ones(3), device=DEVICE)
            assert "fork" in str(e), e
            os._exit(0)
        except BaseException as e:  # pylint: disable=broad-except
            print(repr(e), flush=True)
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    equal(x + x, np.arange(5.0) * 2)
    ts.close()
    raised(ts.Error, ts.to_numpy, x)
    raised(ts.Error, lambda: ts.sum(x))
    assert x.device is None and repr(x).endswith(" lost>"), repr(x)
    equal(ts.asarray(np.arange(3), device=DEVICE), np.arange(3))


def boxes_are_refused():
    """The layer that refuses boxes as NVIDIA's driver does is there."""
    try:
        import pyopencl as cl
    except ImportError:
        return
    context = cl.create_some_context(interactive=False)
    one, other = (cl.Buffer(context, cl.mem_flags.READ_WRITE, 7) for _ in range(2))
    raised(cl.LogicError, cl.enqueue_copy, cl.CommandQueue(context), one, other, src_origin=(0, 0),
           dst_origin=(0, 0), region=(3, 2), src_pitches=(4,), dst_pitches=(4,))


def main():
    if not any(d.kind != "host" for d in ts.devices()):
        sys.exit(77)
    if os.environ.get("TESSERA_STRICT_BOXES"):
        boxes_are_refused()
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test()
            print("ok", name)


main()
