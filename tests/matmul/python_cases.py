import numpy as np
from random_arrays import FLOATS, array, fill, same_error, shape_of


COMPLEX = ["complex64", "complex128"]


def wide(x):
    """In the type that what is expected is computed in."""
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def bound(a, b, k, dtype):
    u = 2.0 ** -53 if dtype.name in ("float64", "complex128") else 2.0 ** -24
    size = np.matmul(np.abs(wide(a)), np.abs(wide(b)))
    terms = 2 * k + 5 if dtype.kind == "c" else k + 3
    out = terms * u * size * (2 if dtype.kind == "c" else 1) + 1e-30
    return out + (2.0 ** -11 * size + 2.0 ** -24 if dtype == np.float16 else 0)


def compare(got, a, b, extra=0):
    exact = np.matmul(wide(a), wide(b))
    assert got.shape == exact.shape, (got.shape, exact.shape)
    k = a.shape[-1]
    wrong = np.abs(wide(got) - exact) > bound(a, b, k, got.dtype) * (1 + 1e-3) + extra
    assert not np.any(wrong), (a.shape, a.strides, b.shape, b.strides, a.dtype, b.dtype)


def operands(rng):
    batch = shape_of(rng, int(rng.integers(0, 3)), 4, 4)
    m, k, n = (int(rng.integers(0, 30)) for _ in range(3))
    shapes = [batch + (m, k), batch + (k, n)]
    for i in range(2):
        how = rng.integers(0, 5)
        if how == 0:
            shapes[i] = shapes[i][-2:]
        elif how == 1 and len(shapes[i]) > 2:
            shapes[i] = (1,) + shapes[i][1:]
        elif how == 2:
            shapes[i] = (k,)
    a_type = rng.choice(FLOATS + COMPLEX)
    b_type = a_type if rng.random() < 0.8 else rng.choice(FLOATS + COMPLEX + ["int32", "bool"])
    return array(rng, shapes[0], a_type), array(rng, shapes[1], b_type)


def check_int8(rng, ts, device):
    m, k, n = (int(rng.integers(0, 40)) for _ in range(3))
    a, b = (rng.integers(-128, 128, s).astype(np.int8) for s in ((m, k), (n, k)))
    exact = a.astype(np.int32) @ b.T.astype(np.int32)
    if rng.random() < 0.5:
        got = ts.matmul(a, b.T, dtype=np.int32, alpha=-3, device=device)
        assert got.dtype == np.int32 and np.array_equal(got, -3 * exact)
        return
    out = rng.integers(-2**31, 2**31, (m, n)).astype(np.int32)
    want = exact + 2 * out
    ts.matmul(a, b.T, out, beta=2, device=device)
    assert np.array_equal(out, want)
    wrong = np.zeros((m, n), np.int64)
    for says, dtype, into in (("is int8, and wraps", None, None), ("dtype is int8", np.int8, None),
                              ("dtype is int64", np.int64, None), ("out is int64", None, wrong),
                              ("out is int8", None, wrong.astype(np.int8)),
                              ("out must be an array, not list", np.int32, [[1]])):
        try:
            ts.matmul(a, b.T, into, dtype=dtype, device=device)
        except TypeError as e:
            assert says in str(e), e
        else:
            raise AssertionError(says)
    single = ts.matmul(a, b.T, dtype=np.float32, device=device)
    assert single.dtype == np.float32 and np.array_equal(single, exact.astype(np.float32))


def fp8_codes(x, name):
    """The bytes of whole numbers up to 8."""
    if name == "float8_e5m2":
        return (x.astype("f2").view("u2") >> 8).astype("u1")
    bits = np.abs(x).astype("f4").view("u4") >> 20
    return (np.where(x == 0, 0, bits - (120 << 3)) | np.where(x < 0, 0x80, 0)).astype("u1")


def check_wrong_scales(ts, rows, columns, device):
    a, b = np.ones((len(rows), 2), np.float32), np.ones((2, len(columns)), np.float32)
    for error, says, call in (
            (ValueError, "only FP8 operands have scales", dict(scale_a=rows)),
            (ValueError, "scale_b has shape (%d,), and there are" % (len(columns) + 1),
             dict(scale_b=np.ones(len(columns) + 1, np.float32))),
            (ValueError, "scale_a has shape (1, %d)" % (len(rows) + 1),
             dict(scale_a=np.ones((1, len(rows) + 1), np.float32))),
            (TypeError, "scale_a is complex64", dict(scale_a=rows.astype("c8")))):
        try:
            ts.matmul(a, b, device=device, **call)
        except error as e:
            assert says in str(e), e
        else:
            raise AssertionError(says)


def check_fp8(rng, ts, device):
    """Sums of whole numbers are exact.  FP8 is bytes here: no type of NumPy's own is needed."""
    name = rng.choice(["float8_e4m3fn", "float8_e5m2"]).item()
    m, k, n = (int(rng.integers(1, 40)) for _ in range(3))
    a, b = (rng.integers(-8, 9, s) for s in ((m, k), (n, k)))
    exact = a @ b.T
    call = dict(type=name, m=m, n=n, k=k, trans_b=True, device=device)
    given = fp8_codes(a, name), fp8_codes(b, name)
    op = ts.operation("matmul")
    (c,) = op(*given, out_type=True, **call)
    assert np.array_equal(np.frombuffer(c, "f4").reshape(m, n), exact)
    (c,) = op(*given, c_bf16=True, alpha=0.5, **call)
    got = (np.frombuffer(c, "u2").astype("u4") << 16).view("f4").reshape(m, n)
    assert np.all(np.abs(got - exact / 2) <= np.abs(exact) * 2.0**-9)
    (c,) = op(*given, alpha=2.0**-9, **call)
    assert len(memoryview(c).cast("B")) == m * n
    rows, columns = ((2.0 ** rng.integers(-4, 5, count)).astype("f4") for count in (m, n))
    (c,) = op(*given, None, rows, columns, out_type=True, scale_a=True, scale_b=True, **call)
    assert np.array_equal(np.frombuffer(c, "f4").reshape(m, n), exact * (rows[:, None] * columns))
    check_wrong_scales(ts, rows, columns, device)
    try:
        import ml_dtypes
    except ImportError:
        return
    dtype = getattr(ml_dtypes, name)
    a, b = a.astype(dtype), b.astype(dtype)
    for wanted, expected in ((np.float32, exact), (ml_dtypes.bfloat16, exact.astype(ml_dtypes.bfloat16)),
                             (None, np.clip(exact, -448, 448).astype(dtype) if name[7:] == "e4m3fn"
                              else exact.astype(dtype))):
        got = ts.matmul(a, b.T, dtype=wanted, device=device)
        assert got.dtype == (dtype if wanted is None else wanted)
        assert np.array_equal(got.astype("f4"), expected.astype("f4"))
    for scale_a, scale_b in ((rows, columns), (rows[:, None], None), (None, columns[None].astype("f8"))):
        got = ts.matmul(a, b.T, dtype=np.float32, scale_a=scale_a, scale_b=scale_b, device=device)
        assert np.array_equal(got, exact * (1 if scale_a is None else rows[:, None]) *
                              (1 if scale_b is None else columns))


def check(rng, ts, device):
    if rng.random() < 0.1:
        check_fp8(rng, ts, device)
        return
    if rng.random() < 0.1:
        check_int8(rng, ts, device)
        return
    a, b = operands(rng)
    how = rng.integers(0, 10)
    if how == 0:
        same_error(lambda: ts.matmul(a, np.zeros(b.shape[:-2] + (a.shape[-1] + 1, 2), b.dtype),
                                     device=device),
                   lambda: np.matmul(a, np.zeros(b.shape[:-2] + (a.shape[-1] + 1, 2), b.dtype)))
        return
    expected = np.matmul(a, b)
    if how == 1:
        out = laid = np.empty(expected.shape[:-1] + (2 * expected.shape[-1],),
                              expected.dtype)[..., ::2] if expected.ndim else np.empty_like(expected)
        assert ts.matmul(a, b, out, device=device) is out
        compare(laid, a, b)
        return
    if how == 2 and expected.ndim:
        out = fill(rng, expected.shape, expected.dtype)
        before = wide(out)
        ts.matmul(a, b, out, beta=2, device=device)
        compare(wide(out) - 2 * before, a, b,
                np.abs(before) * 2.0 ** (-8 if out.dtype == np.float16 else -20) + 2.0 ** -8 *
                np.matmul(np.abs(wide(a)), np.abs(wide(b))))
        return
    if how == 3 and a.dtype.newbyteorder("=") == b.dtype.newbyteorder("=") == np.float16:
        got = ts.matmul(a, b, dtype=np.float32, device=device)
        assert got.dtype == np.float32
        compare(got, a, b)
        return
    if how == 4 and expected.dtype.kind == "c":
        conj_a, conj_b = (bool(rng.integers(0, 2)) for _ in range(2))
        got = ts.matmul(a, b, alpha=1 - 2j, conj_a=conj_a, conj_b=conj_b, device=device)
        compare(np.asarray(got), (1 - 2j) * wide(a.conj() if conj_a else a),
                wide(b.conj() if conj_b else b))
        return
    got = ts.matmul(a, b, device=device)
    assert got.dtype == expected.dtype and type(got) is type(expected)
    compare(np.asarray(got), a, b)
