"""The Python package beside its results: errors, devices, threads, forks, memory.

    test_module.py COUNT    so many calls for the test of leaks
"""

import array
import ast
import ctypes
import gc
import inspect
import operator
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np

import tessera as ts
from tessera import _devices, _tessera


def raised(kind, f, *args, **named):
    try:
        f(*args, **named)
    except kind as e:
        return e
    raise AssertionError("no %s" % kind.__name__)


def example():
    """An operation, and a problem: a vector is scaled and another added."""
    for op in ts.operations().values():
        if {"n", "alpha", "incx"} <= set(op.members) and "m" not in op.members:
            return op, {"type": "float32", "n": 1000, "alpha": 1.0}
    raise AssertionError("no such operation")


def test_devices():
    found = ts.devices()
    assert found[-1].kind == "host" and found[-1].shares_memory
    assert ts.device("host") == found[-1] and ts.device(found[0]) == found[0]
    assert ts.device() in found
    e = raised(ts.InvalidError, ts.device, "no such thing")
    assert e.status == "TSR_ENAME" and isinstance(e, ValueError) and "no such thing" in str(e)
    for which in (0, 5, True, [], 1.5):
        for f in (ts.device, lambda which: ts.sort(np.ones(2), device=which)):
            e = raised(TypeError, f, which)
            assert "'gpu'" in str(e) and "devices()[0]" in str(e) and "\n" not in str(e), e


def test_descriptions():
    for name, op in ts.operations().items():
        assert ts.operation(name) is op and op.summary in op.__doc__
        assert set(op.members) <= set(inspect.signature(op).parameters)
        assert hasattr(ts, name) or any(name in (f or "") for f in map(
            lambda n: getattr(getattr(ts, n), "__module__", ""), ts.__all__)), name
    e = raised(ts.InvalidError, ts.operation, "juggle")
    assert "juggle" in str(e)
    op, problem = example()
    raised(TypeError, op, no_such_member=1, **problem)
    raised(ValueError, op.problem, n=-1)
    raised(ValueError, op.problem, n=2 ** 70)
    raised(TypeError, op.problem, type="float128")
    raised(TypeError, ts.operation(ORDER).problem, descending="no")


def test_stub():
    """The types of the package are of the functions that there are, with their parameters."""
    path = os.path.join(os.path.dirname(ts.__file__), "__init__.pyi")
    with open(path, encoding="utf-8") as f:
        body = ast.parse(f.read()).body
    typed = {n.name: n for n in body if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
    public = {n for n in dir(ts) if n in ts.__all__ or n in ("sum", "min", "max", "any", "all")}
    assert public == set(typed) - {"TopK"}, public ^ set(typed)
    for name, node in typed.items():
        if isinstance(node, ast.FunctionDef) and name != "last_report":
            there = inspect.signature(getattr(ts, name)).parameters.values()
            by_place = [p.name for p in there if p.kind == p.POSITIONAL_OR_KEYWORD]
            by_name = [p.name for p in there if p.kind == p.KEYWORD_ONLY]
            assert [a.arg for a in node.args.args] == by_place, name
            assert [a.arg for a in node.args.kwonlyargs] == by_name, name


def test_flat_memory():
    """Without NumPy's arrays: operands are anything with a buffer, results bytearrays."""
    op, problem = example()
    x = array.array("f", range(1000))
    (z,) = op(x, x, device="host", **problem)
    assert memoryview(z).cast("f")[999] == 1998
    z = array.array("f", [0] * 1000)
    assert op(x, x, z, device="host", **problem)[0] is z and z[1] == 2
    report = ts.last_report()
    assert report["kernel"] and report["wall_ns"] > 0 and report["shared"]


def test_bfloat16():
    """In words of 16 bits, the upper ones of a float32: 1 + 3 and 2 + 2."""
    op, problem = example()
    problem.update(type="bfloat16", n=2)
    x, y = array.array("H", [0x3f80, 0x4000]), array.array("H", [0x4040, 0x4000])
    for device in ("host", ts.device()):
        (z,) = op(x, y, device=device, **problem)
        assert memoryview(z).cast("H").tolist() == [0x4080, 0x4080]


def test_ml_dtypes():
    """bfloat16 of NumPy's arrays is the type that ml_dtypes brings."""
    try:
        from ml_dtypes import bfloat16
    except ImportError:
        print("no ml_dtypes, whose bfloat16 is not tried; `pip install ml_dtypes` brings it")
        return
    rng = np.random.default_rng(9)
    small, a = (rng.integers(-3, 4, s).astype(bfloat16) for s in ((6, 40), (40, 5)))
    x = rng.random(40).astype(bfloat16)
    exact = small.astype("f4") @ a.astype("f4")  # sums of whole numbers, which both types hold
    for device in {"host", ts.device()}:
        for got, expected in (
                (ts.matmul(small, a, device=device), exact.astype(bfloat16)),
                (ts.matmul(small, a, dtype=np.float32, device=device), exact),
                (ts.matmul(a.T, small.T, device=device), exact.T.astype(bfloat16)),
                (ts.matmul(small, a.astype("f4"), device=device), exact),
                (ts.matvec(small, a[:, 1], device=device), exact[:, 1].astype(bfloat16)),
                (ts.axpy(1, x, x[::-1], device=device), x + x[::-1]),
                (ts.transpose(small, device=device), small.T), (ts.max(x, device=device), x.max()),
                (ts.select(x, ">", 0.5, device=device), x[x > 0.5]),
                (ts.sum(small, axis=1, device=device), small.astype("f4").sum(1).astype(bfloat16))):
            assert got.dtype == expected.dtype and np.array_equal(got, expected), (got, expected)
    e = raised(TypeError, ts.sort, x, device="host")
    assert "bfloat16" in str(e) and "astype" in str(e)
    if ts.device().kind != "host":
        y = ts.asarray(small)
        assert np.array_equal(ts.to_numpy((y @ ts.asarray(a) + 1) * 2),
                              (exact.astype(bfloat16) + bfloat16(1)) * bfloat16(2))


def test_other_arrays():
    """What has a buffer or DLPack's interface is taken as it is; lists too."""
    class Exchanged:
        def __init__(self, a):
            self.a = a

        def __dlpack__(self, stream=None):
            return self.a.__dlpack__()

        def __dlpack_device__(self):
            return self.a.__dlpack_device__()

    a = np.array([3.0, 1.0, 2.0])
    for other in (Exchanged(a), array.array("d", a), memoryview(a), [3.0, 1.0, 2.0]):
        assert list(ts.argsort(other, device="host")) == [1, 2, 0]


def test_masked_arrays():
    """What a mask hides does not count without a word."""
    a = np.ma.array([1.0, 5.0, 2.0], mask=[False, True, False])
    for f in (ts.sum, ts.sort, ts.cumsum, ts.to_numpy, ts.asarray, lambda a: ts.matmul(a, a),
              lambda a: ts.axpy(1.0, np.ones(3), a), lambda a: ts.select(a, ">", 1)):
        e = raised(TypeError, f, a)
        assert "mask" in str(e) and "filled" in str(e) and "\n" not in str(e), e
    assert ts.sum(a.compressed(), device="host") == ts.sum(a.filled(0), device="host") == 3

    class Kept(np.ndarray):
        pass

    assert ts.sum(np.ones(3).view(Kept), device="host") == 3


def test_memory_is_checked():
    """No call reads or writes beyond what it is given, whatever the problem says."""
    op, problem = example()
    x, short = array.array("f", [0] * 1000), array.array("f", [0] * 999)
    for operands in ((short, x, x), (x, short, x), (x, x, short)):
        assert "should have 4000" in str(raised(ValueError, op, *operands, device="host",
                                                **problem))
    raised(ValueError, op, np.zeros(2000, "f")[::-2], x, device="host", **problem)
    raised(ValueError, op, np.broadcast_to(np.float32(1), 1000), x, device="host", **problem)
    # Flat memory has no gaps: what is between the elements of a view would be taken for them.
    apart = np.arange(8, 0, -1, dtype="f")
    raised(ValueError, ts.operation(ORDER), apart[::2], type="float32", n=4, device="host")
    raised(ValueError, op, apart.reshape(4, 2)[:, :1], x, device="host", type="float32", n=4)
    assert apart.tolist() == [8, 7, 6, 5, 4, 3, 2, 1]
    ts.operation(ORDER)(apart.reshape(2, 4).T, type="float32", n=8, device="host")
    assert apart.tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    raised(BufferError, op, x, x, bytes(4000), device="host", **problem)
    raised(TypeError, op, x, x, 5, device="host", **problem)
    raised(TypeError, op, x, x, None, None, x, device="host", **problem)
    # Memory of another type is refused; elements of one byte may be anything.
    for other in (np.zeros(1000), np.zeros(1000, "i4"), np.zeros(1000, "f2")):
        assert "float32" in str(raised(TypeError, op, other, x, x, device="host", **problem))
    op(np.zeros(4000, "u1"), x, device="host", **problem)
    raised(TypeError, op, (ctypes.c_int32 * 1000)(), x, device="host", **problem)
    order = ts.operation(ORDER)
    for other in (np.zeros(4, "f4"), np.zeros(4, "i8"), np.zeros(4, "u4"), np.zeros(4, ">i4"),
                  np.zeros(4, object), np.zeros(4, "i2,i2")):
        raised(TypeError, order, other, type="int32", n=4, device="host")
    # Values beside keys may be anything of their bytes.
    raised(TypeError, order, np.zeros(4, "f4"), n=4, device="host")  # keys are uint32 by default
    raised(TypeError, order, np.zeros(4, "i4"), None, np.zeros(4, object), type="int32", n=4,
           value_bytes=8, device="host")
    assert "read-only" in str(raised(BufferError, order, bytes(16), type="int32", n=4, device="host"))
    for value in (np.zeros(4, "c16"), np.zeros((4, 2), "f8"), np.zeros(4, "V16")):
        order(np.arange(4, dtype="i4"), None, value, type="int32", n=4, value_bytes=16, device="host")
    session = _devices.session("host")
    packed = op.problem(**problem)
    raised(TypeError, session.run, op.index, packed[:-1], (x, x, x), None, None)
    raised(IndexError, session.run, 1000, packed, (x, x, x), None, None)
    raised(TypeError, session.run, op.index, packed, [x, x, x], None, None)
    raised(TypeError, session.run, op.index, packed, (x, x), None, None)
    raised(TypeError, session.run, op.index, packed, (x, x, x), 5, None)
    raised(TypeError, session.run, op.index, packed, (x, x, x), None, (5,))
    raised(ValueError, session.run, op.index, packed, (x, x, x), None, ("A=1",) * 100)
    raised(TypeError, session.run)


def test_errors():
    op, problem = example()
    x = np.zeros(1000, "f")
    e = raised(ts.InvalidError, op, x, x, device="host", kernel="no-such-kernel", **problem)
    assert e.status == "TSR_ENAME" and "no-such-kernel" in str(e) and "\n" not in str(e)
    assert isinstance(e, ts.Error)
    raised(ts.InvalidError, op, x, x, device="host", settings={"NO_SUCH": 1}, **problem)
    raised(ts.InvalidError, op, x, x, x, device="host", **problem)  # the operands overlap
    raised(ts.UnsupportedError, op, x, x, device="host", kernel="naive", **problem)


def test_conditions_on_integers():
    """A number that the type does not hold compares as it is, as in NumPy and the command."""
    compare = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le,
               "==": operator.eq, "!=": operator.ne}
    numbers = [0.5, -0.5, 2.0, -1, 300, -2 ** 70, 2 ** 70, 1e300, -1e300, 2.0 ** 63, 2.0 ** 64,
               np.inf, -np.inf, np.nan, np.float32(0.5), np.int64(-1), True]
    for dtype in ("bool", "int8", "uint8", "int16", "uint32", "int64", "uint64"):
        info = np.iinfo("uint8" if dtype == "bool" else dtype)
        a = np.array([0, 1] if dtype == "bool" else [0, 1, 2, 5, info.min, info.max], dtype)
        for where, holds in compare.items():
            for number in numbers + [info.min, info.max, info.min - 1, info.max + 1]:
                plain = number.item() if isinstance(number, np.generic) else number
                got = ts.select(a, where, number, device="host")
                # Comparisons of Python's integers round nothing.
                expected = [x for x in a.tolist() if holds(x, plain)]
                assert got.dtype == a.dtype and got.tolist() == expected, (
                    dtype, where, number, got, expected)
    a = np.array([1, 2])
    assert ts.select(a, "notnan", device="host").tolist() == [1, 2]
    assert ts.select(a, "isnan", device="host").size == 0
    for number in (0, 0.5):
        e = raised(ValueError, ts.select, a, "=>", number, device="host")
        assert "'=>'" in str(e) and "'>='" in str(e), e


def test_refused_values_are_named():
    """A message has the place and the value of what it refuses."""
    x = np.array([1., 2., 3.])
    for message, call in (
            ("edge 1 is 2, below the 3 before it", lambda: ts.histogram(x, [3, 2, 1])),
            ("bins is -1", lambda: ts.histogram(x, -1)),
            ("range begins at 3, above its end at 1", lambda: ts.histogram(x, range=(3, 1))),
            ("weight 1 is 9223372036854775808, and int64 ends at 9223372036854775807",
             lambda: ts.histogram(x, weights=np.array([0, 2 ** 63, 1], np.uint64))),
            ("weight 2 is 9223372036854775809",
             lambda: ts.histogram(x, weights=np.array([0, 1, 2 ** 63 + 1], ">u8"))),
            ("offset 1 of segments is -2, below 0", lambda: ts.scan(x, segments=[0, -2, 3]))):
        assert message in str(raised(ValueError, call)), message
    assert ts.histogram(x, 1, weights=np.array([1, 2 ** 62, 3], np.uint64))[0][0] == 2 ** 62 + 4
    sums, _ = ts.histogram(x, 1, weights=np.array([1, 2 ** 30, 2 ** -20], ">f8"))
    assert sums.dtype == np.float64 and sums[0] == 1 + 2 ** 30 + 2 ** -20


def test_segments_of_scans():
    """Segments are of a vector, and have no axis."""
    e = raised(ValueError, ts.scan, np.ones(6), axis=0, segments=[0, 6], device="host")
    assert "axis" in str(e) and "segments" in str(e)
    e = raised(ValueError, ts.scan, np.ones((2, 3)), segments=[0, 6], device="host")
    assert "(2, 3)" in str(e)
    assert ts.scan(np.ones(3), segments=[0, 2, 3], device="host").tolist() == [1, 2, 1]


def test_kernel_and_settings():
    op, problem = example()
    x = np.ones(1000, "f")
    op(x, x, device="host", **problem)
    kernel = ts.last_report()["kernel"]
    op(x, x, device="host", kernel=kernel, **problem)
    assert ts.last_report()["kernel"] == kernel and "named" in ts.last_report()["chosen"]


def test_arguments_in_words():
    a = np.ones((2, 2))
    for settings in (3, 0, "TILE=16", ["TILE=16"]):
        e = raised(TypeError, ts.sort, a, device="host", settings=settings)
        assert "settings" in str(e) and "dict" in str(e), e
    for f, x in ((ts.matmul, a), (ts.matvec, a[0])):
        e = raised(TypeError, f, a, x, dtype=int, device="host")
        assert "dtype" in str(e) and "int64" in str(e) and "astype" not in str(e), e
    for bins in ("auto", 2.5, None):
        e = raised(TypeError, ts.histogram, a, bins, device="host")
        assert "bins must be a whole number" in str(e) and repr(bins) in str(e), e
    e = raised(TypeError, ts.from_pyopencl, a)
    assert "pyopencl" in str(e) and "ndarray" in str(e), e
    e = raised(TypeError, ts.to_pyopencl, a)
    assert "ndarray" in str(e), e


def test_reductions_by_the_names_of_functions():
    """Of NumPy's functions, where the library has another name."""
    a = np.array([[3.0, 0.0, 4.0], [0.0, 0.0, 12.0]])
    assert ts.reduce(a, "norm") == ts.reduce(a, "norm2") == 13
    assert ts.reduce(a, "count_nonzero", 1).tolist() == ts.reduce(a, "count", 1).tolist() == [2, 1]
    assert "norm2" in str(raised(ValueError, ts.reduce, a, "median"))


def test_axis_of_an_array_without_one():
    """0 and -1, as NumPy takes them; a vector is its own transpose."""
    one = np.array(3.0)
    for axis in (0, -1):
        for name in ("sum", "min", "max", "any", "all", "count_nonzero", "argmin", "argmax", "cumsum"):
            got, exact = getattr(ts, name)(one, axis=axis), getattr(np, name)(one, axis=axis)
            assert np.shape(got) == np.shape(exact) and np.all(got == exact), name
        assert ts.argsort(one, axis=axis).tolist() == [0]
    for wrong in (1, (0,)):
        raised(np.AxisError if hasattr(np, "AxisError") else np.exceptions.AxisError, ts.sum, one, wrong)
    for x in (one, np.arange(5), np.zeros(0)):
        got = ts.transpose(x)
        assert np.shape(got) == x.shape and np.array_equal(got, x)


def test_factors():
    """alpha and beta are numbers, one of them that an array without dimensions holds; what is none is
    named, with what it is."""
    a = np.eye(2, dtype=np.float32)
    calls = {"alpha": [lambda x: ts.matmul(a, a, alpha=x), lambda x: ts.matvec(a, a[0], alpha=x),
                       lambda x: ts.axpy(x, a, a)],
             "beta": [lambda x: ts.matmul(a, a, a.copy(), beta=x),
                      lambda x: ts.matvec(a, a[0], a[1].copy(), beta=x)],
             "value": [lambda x: ts.select(a, ">", x), lambda x: ts.select(a.astype(int), ">", x)]}
    others = {"an array of shape (3,)": np.ones(3), "None": None, "'2'": "2", "[1]": [1], "(1,)": (1,)}
    for name, functions in calls.items():
        for f in functions:
            for shown, x in others.items():
                e = raised(TypeError, f, x)
                assert ": %s must be a number, not %s" % (name, shown) in str(e), e
            if f is not calls["value"][1]:  # integers compare with any
                raised(ValueError, f, 10 ** 400)
            for x in (2, np.array(2.0), np.float16(2), np.int8(2)):
                np.testing.assert_array_equal(f(x), f(2.0))
            for x in (1j, np.complex64(1j)):
                assert "real" in str(raised(TypeError, f, x))


def test_interpreter_runs_meanwhile():
    """Another thread of Python goes on while the library works."""
    a = np.random.default_rng(1).random(3_000_000)
    seen = {"count": 0, "on": True}

    def count():
        while seen["on"]:
            seen["count"] += 1
            time.sleep(0)

    thread = threading.Thread(target=count)
    thread.start()
    during = most = 0
    for _ in range(10):
        at = seen["count"]
        session, op = _devices.session("host"), ts.operation(ORDER)
        keys = a.copy()
        before = seen["count"]
        session.run(op.index, op.problem(type="float64", n=keys.size), (keys,), None, None)
        during = seen["count"] - before
        most = max(most, during)
        assert at <= before
    seen["on"] = False
    thread.join()
    assert most > 10, most


def test_threads():
    """Threads share a device: each has its own result, and its own report."""
    op, problem = example()
    wrong = []

    def work(seed):
        rng = np.random.default_rng(seed)
        for _ in range(50):
            x, y = (rng.random(1000, "f") for _ in range(2))
            (z,) = op(x, y, np.empty(1000, "f"), **problem)
            if not np.array_equal(z, x + y) or not ts.last_report():
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(s,)) for s in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong
    seen = []
    t = threading.Thread(target=lambda: seen.append(ts.last_report()))
    t.start()
    t.join()
    assert seen == [None]


def test_first_calls_of_threads():
    """Threads whose first calls come at once find the same devices, before any has used one."""
    code = """if True:
        import threading
        import tessera as ts
        go, found = threading.Barrier(8), []
        def work():
            go.wait()
            found.append((ts.device(), len(ts.devices())))
        threads = [threading.Thread(target=work) for _ in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        print(len(found), len(set(found)))
        """
    for _ in range(4):
        out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
        assert out.stdout == "8 1\n", (out.returncode, out.stdout, out.stderr)


def test_forks_beside_threads():
    """A child that is forked while other threads call has the host, and their locks are free."""
    op, problem = example()
    x = np.ones(1000, "f")
    on = [True]

    def work():
        while on[0]:
            op(x, x, np.empty(1000, "f"), **problem)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for t in threads:
        t.start()
    for _ in range(20):
        child = os.fork()
        if child == 0:
            signal.alarm(30)  # a child that waits for ever is ended
            try:
                (z,) = op(x, x, np.empty(1000, "f"), **problem)
                os._exit(0 if z[0] == 2 else 1)
            except BaseException as e:  # pylint: disable=broad-except
                print(e, flush=True)
                os._exit(2)
        status = os.waitpid(child, 0)[1]
        if status:
            on[0] = False
        assert status == 0, status
    on[0] = False
    for t in threads:
        t.join()


def test_fork():
    """A child has the host, whatever the parent used."""
    op, problem = example()
    x = np.ones(1000, "f")
    op(x, x, **problem)
    child = os.fork()
    if child == 0:
        try:
            (z,) = op(x, x, np.empty(1000, "f"), **problem)
            os._exit(0 if z[0] == 2 and [d.kind for d in ts.devices()] == ["host"] else 1)
        except BaseException as e:  # pylint: disable=broad-except
            print(e, flush=True)
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
    op(x, x, **problem)


def test_interrupt():
    """Ctrl-C ends a loop of calls."""
    code = """if True:
        import numpy as np, tessera as ts
        a = np.random.rand(200_000)
        op = ts.operation(%r)
        print("ready", flush=True)
        try:
            while True:
                op(a.copy(), type="float64", n=a.size, device="host")
        except KeyboardInterrupt:
            print("interrupted")
        """ % ORDER
    p = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert p.stdout.readline() == "ready\n"
    time.sleep(0.2)
    p.send_signal(signal.SIGINT)
    assert p.communicate(timeout=60)[0] == "interrupted\n"


def test_without_numpy():
    code = """if True:
        import sys
        sys.modules["numpy"] = None
        import importlib.util
        real = importlib.util.find_spec
        importlib.util.find_spec = lambda name, *r: None if name == "numpy" else real(name, *r)
        import array
        import tessera as ts
        x = array.array("d", [3, 1, 2])
        ts.operation(%r)(x, type="float64", n=3, device="host")
        print(list(x))
        try:
            getattr(ts, %r)([3, 1])
        except TypeError as e:
            print("NumPy is not installed" in str(e) and "list" in str(e) or e)
        try:
            ts.asarray
        except AttributeError as e:
            print("asarray" in str(e) and "NumPy is not installed" in str(e) or e)
        """ % (ORDER, ORDER)
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert out.stdout == "[1.0, 2.0, 3.0]\nTrue\nTrue\n", out.stdout + out.stderr


def test_closing():
    op, problem = example()
    x = np.ones(1000, "f")
    session = _devices.session("host")
    ts.close()
    raised(ts.InvalidError, session.run, op.index, op.problem(**problem),
           (x, x, np.empty(1000, "f")), None, None)
    op(x, x, device="host", **problem)
    raised(ValueError, _tessera.Session, 1000)
    for _ in range(20):
        _tessera.Session(len(ts.devices()) - 1)


def resident():
    with open("/proc/self/statm", encoding="ascii") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_leaks(count):
    """Neither objects nor memory grow with calls, those that fail among them."""
    op, problem = example()
    x = np.ones(1000, "f")

    def calls(n):
        for i in range(n):
            op(x, x, device="host", **problem)
            ts.last_report()
            if i % 10 == 0:
                raised(ts.InvalidError, op, x, x, x, device="host", **problem)
                raised(ValueError, op, x[1:], x, device="host", **problem)
                raised(ts.InvalidError, op, x, x, device="host", kernel="nothing",
                       settings={"A": 1}, **problem)

    calls(2000)
    gc.collect()
    before, objects = resident(), len(gc.get_objects())
    calls(count)
    gc.collect()
    grown = resident() - before
    assert grown < 2 << 20, "%d bytes in %d calls" % (grown, count)
    assert len(gc.get_objects()) - objects < 100


# An operation whose first operand alone is needed, and is put in order.
ORDER = next(n for n, o in ts.operations().items()
             if "descending" in o.members and "n" in o.members)


def main():
    count = int(sys.argv[1])
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test(*([count] if name == "test_leaks" else []))
            print("ok", name)


main()
