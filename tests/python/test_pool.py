"""Memory of arrays on a device that is kept for the next ones: reuse, what is never reused, bounds,
order of work, threads, forks, and devices that have no memory.

    test_pool.py [--device cpu] [LAYER]

With the fault layer (tests/faults), on a CPU device, processes of their own see that every buffer is given back, that
forked children call no driver, and that an allocation which fails is made again once what was kept
is given back.  77 where there is no such device.
"""

import argparse
import gc
import os
import subprocess
import sys
import tempfile
import threading

import numpy as np

import tessera as ts

parser = argparse.ArgumentParser()
parser.add_argument("layer", nargs="?")
parser.add_argument("--device", default="cpu")
parser.add_argument("--part", help="run this part alone")
given = parser.parse_args()
DEVICE = given.device
MIB = 1 << 20
FAULT = os.environ.get("TESSERA_FAULT")


def stats():
    return ts.memory_stats(DEVICE)


def empty(nbytes):
    return ts.empty(nbytes, "u1", device=DEVICE)


def filled(nbytes, value):
    return ts.asarray(np.full(nbytes, value, "u1"), device=DEVICE)


def raised(kind, f, *args):
    try:
        f(*args)
    except kind as e:
        return e
    raise AssertionError("no %s" % kind.__name__)


def gained(f):
    """(made, reused): buffers in a call of f."""
    before = stats()
    f()
    after = stats()
    return after["made"] - before["made"], after["reused"] - before["reused"]


def afresh():
    """A session of its own for a test: no limits of others, nothing kept."""
    gc.collect()
    ts.close()
    empty(1)
    ts.empty_cache()
    now = stats()
    assert now["used_bytes"] == now["kept"] == now["kept_bytes"] == 0, now
    return ts.asarray(np.zeros(1), device=DEVICE).memory.session


def test_the_same_memory():
    for size in (1000, 3 * MIB):
        x = filled(size, 7)
        del x
        assert stats()["kept"] == 1
        made = []
        assert gained(lambda: made.append(empty(size - 1))) == (0, 1), size
        assert set(ts.to_numpy(made[0])) == {7}  # nothing has written to it since
        assert gained(lambda: made.append(empty(size))) == (1, 0)  # the other one is in use
        del made
        ts.empty_cache()


def test_results_are_reused():
    a = np.random.default_rng(0).random((40, 40)).astype("f4")
    x = ts.asarray(a, device=DEVICE)
    for call in (lambda: x @ x, lambda: x + x, lambda: ts.sum(x, axis=0), lambda: ts.sort(x)):
        y = call()
        y = call()

        def many():
            nonlocal y
            for _ in range(50):
                y = call()
        made, reused = gained(many)
        assert made == 0 and reused >= 50, (made, reused)
    np.testing.assert_array_equal(ts.to_numpy(y), np.sort(a))
    view = (x + x)[3:]
    assert stats()["kept"] >= 1
    y = [x + x for _ in range(5)]
    np.testing.assert_array_equal(ts.to_numpy(view), (a + a)[3:])  # a view has its memory
    del y


def test_sizes():
    """A buffer is at most 512 bytes or 1/8 larger than its array, and large enough."""
    rng = np.random.default_rng(1)
    for n in [0, 1, 511, 512, 513, MIB - 1, MIB, MIB + 1, 2 * MIB, 9 * MIB + 5, 16 * MIB - 1] + \
            list(rng.integers(1, 40 * MIB, 30)):
        before = stats()["used_bytes"]
        x = empty(int(n))
        took = stats()["used_bytes"] - before
        assert n <= took <= max(n * 9 // 8, n + 512), (n, took)
        assert took % 512 == 0
        del x
    # Calls go by the array's size, not the buffer's.
    x = ts.DeviceArray(ts.asarray(np.zeros(10), device=DEVICE).memory, (11,), "f8")
    raised(ts.InvalidError, ts.sum, x)
    raised(ValueError, ts.to_numpy, x)


def test_what_others_have():
    x = filled(5000, 1)
    handle = x.memory.handle
    other = x.memory.session.memory(handle)  # as another library that retains it
    kept = stats()["kept"]
    del x
    assert stats()["kept"] == kept
    y = filled(5000, 2)
    seen = bytearray(5000)
    other.read(seen, 0)
    assert set(seen) == {1}  # y is elsewhere
    del other, y
    assert stats()["kept"] == kept + 1  # y's
    try:
        import pyopencl
        import pyopencl.array
    except ImportError:
        print("no pyopencl")
        return
    x = filled(6000, 3)
    theirs = ts.to_pyopencl(x)
    del x
    y = filled(6000, 4)
    assert set(theirs.get()) == {3}
    context = pyopencl.Context([theirs.queue.device])
    queue = pyopencl.CommandQueue(context)
    ours = ts.from_pyopencl(pyopencl.array.to_device(queue, np.ones(100, "f4")))
    session = ours.memory.session
    for _ in range(5):
        sums = ours + ours
    np.testing.assert_array_equal(ts.to_numpy(sums), np.full(100, 2, "f4"))
    del sums, ours
    assert session.memory_stats()["kept"] == session.memory_stats()["reused"] == 0


def test_bounds():
    session = afresh()
    total = ts.device(DEVICE).memory
    assert stats()["limit_bytes"] == total // 4
    # No more than arrays had at once.
    for n in range(1, 40):
        x = empty(n * 100_000)
        del x
        assert stats()["kept_bytes"] <= n * 100_000 * 9 // 8 + 1024
    # The oldest go first.
    session.limit_memory(3 * MIB, total)
    ts.empty_cache()
    held = [filled(MIB, i) for i in range(4)]
    for i in range(4):
        held[i] = None
    assert stats()["kept_bytes"] == 3 * MIB
    found = [empty(MIB) for _ in range(3)]
    assert [int(ts.to_numpy(x)[0]) for x in found] == [3, 2, 1]
    held = empty(4 * MIB)
    kept = stats()["kept"]
    del held  # larger than the limit
    assert stats()["kept"] == kept
    del found
    # What is kept makes room.
    session.limit_memory(64 * MIB, 10 * MIB)
    held = [empty(2 * MIB) for _ in range(3)]
    del held
    assert stats()["kept_bytes"] >= 6 * MIB
    held = empty(5 * MIB)
    assert stats()["kept_bytes"] + stats()["used_bytes"] <= 10 * MIB
    assert stats()["kept"] > 0
    # Nor are there buffers without number.
    session.limit_memory(64 * MIB, total)
    held = [empty(8) for _ in range(1100)]
    del held
    assert stats()["kept"] == 1024
    session.limit_memory(0, total)
    x = empty(8)
    kept = stats()["kept"]
    del x
    assert stats()["kept"] <= kept


def test_emptying():
    session = afresh()
    held, gone = filled(3000, 5), empty(100)
    del gone
    assert stats()["kept"] == 1
    ts.empty_cache()
    assert stats()["kept"] == stats()["kept_bytes"] == 0
    assert set(ts.to_numpy(held)) == {5}
    gone = empty(100)
    del gone
    ts.close()
    assert session.memory_stats()["kept"] == 0
    used = session.memory_stats()["used_bytes"]
    del held
    assert session.memory_stats()["kept"] == 0 and session.memory_stats()["used_bytes"] < used


def test_order():
    """Results are right though memory goes from array to array before the work is done."""
    afresh()
    rng = np.random.default_rng(5)
    arrays = []
    for i in range(3000):
        if len(arrays) < 3 or rng.random() < 0.15:
            a = rng.integers(-3, 4, (int(rng.choice([8, 30, 31, 32])),) * 2).astype("f4")
            arrays.append((ts.asarray(a, device=DEVICE), a))
            continue
        x, a = arrays[rng.integers(len(arrays))]
        how = rng.integers(6)
        if how == 0:
            b = rng.integers(-2, 3, a.shape).astype("f4")
            x, a = x @ ts.asarray(b, device=DEVICE), a @ b
        elif how == 1:
            x, a = x + x.T, a + a.T
        elif how == 2:
            x, a = ts.sort(x), np.sort(a)
        elif how == 3:
            x, a = ts.cumsum(x, axis=1), np.cumsum(a, axis=1)
        elif how == 4:
            x, a = (x - 1) * 0.5 + x, (a - 1) * np.float32(0.5) + a
        else:
            x, a = x.T.copy(), a.T
        if np.abs(a).max() < 1e4:
            arrays.append((x, a))
        while len(arrays) > 12:
            x, a = arrays.pop(rng.integers(len(arrays)))
            if rng.random() < 0.3:
                np.testing.assert_allclose(ts.to_numpy(x), a, rtol=1e-4, atol=0.05)
    for x, a in arrays:
        np.testing.assert_allclose(ts.to_numpy(x), a, rtol=1e-4, atol=0.05)
    now = stats()
    assert now["reused"] > 20 * now["made"], now


def test_threads():
    session = afresh()
    session.limit_memory(2 * MIB, 8 * MIB)
    right = []

    def work(seed):
        rng = np.random.default_rng(seed)
        for i in range(300):
            n = int(rng.integers(1, 200_000))
            x = filled(n, seed)
            y = x + 1
            if i % 50 == 0:
                ts.empty_cache()
            del x
            out = ts.to_numpy(y)
            assert out.min() == out.max() == seed + 1
        right.append(seed)  # an exception ends the thread alone

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert sorted(right) == list(range(6)), right
    del session
    assert stats()["used_bytes"] == 0 and stats()["kept_bytes"] <= 2 * MIB, stats()


def test_forks():
    x, gone = filled(4000, 1), filled(5000, 1)
    del gone
    session, kept = x.memory.session, stats()["kept"]
    child = os.fork()
    if child == 0:
        try:
            assert session.memory_stats()["kept"] == 0
            raised(ts.Error, session.allocate, 5000)
            del x
            assert session.memory_stats()["kept"] == 0
            ts.empty_cache()
            ts.close()
            os._exit(0)
        except BaseException as e:  # pylint: disable=broad-except
            print(repr(e), flush=True)
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    assert stats()["kept"] == kept
    assert gained(lambda: empty(5000)) == (0, 1)
    assert set(ts.to_numpy(x)) == {1}


def resident():
    with open("/proc/self/statm", encoding="ascii") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_no_leak(calls=20_000):
    afresh()
    x = ts.asarray(np.ones((16, 16), "f4"), device=DEVICE)
    for i in range(calls):
        y = x @ x if i % 2 else x + x
        if i == calls // 4:
            y.wait()
            before = resident()
    np.testing.assert_array_equal(ts.to_numpy(y), np.full((16, 16), 16 if calls % 2 == 0 else 2))
    assert stats()["made"] < 50 and stats()["reused"] > calls - 50, stats()
    assert resident() - before < 20 * MIB, resident() - before


# ---- in processes of their own, on the fault layer --------------------------------------------------

def part_balance():
    test_no_leak(100_000)
    test_forks()


def part_allocation():
    x = filled(4096, 1)
    del x
    assert stats()["kept"] == 1
    x = empty(8192)  # the last buffer that is made: its first try fails
    assert stats()["made"] == 2 and stats()["kept"] == (0 if FAULT else 1), stats()
    del x


def part_call():
    a = np.ones((100, 100), "f4")
    x, gone = ts.asarray(a, device=DEVICE), filled(4096, 1)
    del gone
    assert stats()["kept"] == 1
    y = ts.matmul(x, x, kernel="pipelined")  # its first try fails
    assert stats()["kept"] == (0 if FAULT else 1), stats()
    np.testing.assert_array_equal(ts.to_numpy(y), a @ a)


def part_transfers():
    """A write, a copy, a fill and a read, each with something in the pool."""
    def kept_before(f):
        x = empty(700_000)
        del x
        assert stats()["kept"] >= 1
        return f()

    a = np.arange(1000.0)
    x = kept_before(lambda: ts.asarray(a, device=DEVICE))
    y = kept_before(lambda: ts.empty((20, 50), device=DEVICE))
    kept_before(x.copy)
    kept_before(lambda: x._filled_like(3.0))
    z = kept_before(lambda: x.reshape(20, 50)[:, 1:].copy())
    np.testing.assert_array_equal(ts.to_numpy(z), a.reshape(20, 50)[:, 1:])
    np.testing.assert_array_equal(kept_before(lambda: ts.to_numpy(x.copy())), a)
    np.testing.assert_array_equal(ts.to_numpy(x._filled_like(3.0)), np.full(1000, 3.0))
    del y


def part_call_in_place():
    """A call that has begun to change what it reads is not made again."""
    a = np.ones((100, 100), "f4")
    x, gone = ts.asarray(a, device=DEVICE), filled(4096, 1)
    out = ts.asarray(a, device=DEVICE)
    del gone

    def call():
        ts.matmul(x, x, out, beta=1.0, kernel="pipelined")

    if FAULT:
        raised(ts.Error, call)
    else:
        call()
    assert stats()["kept"] == (0 if FAULT else 1), stats()


def run_part(layer, part, fault=None):
    """The layer's report of a part of this file, in a process of its own: {(word, name): number}."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "report")
        env = {**os.environ, "OPENCL_LAYERS": layer, "TESSERA_FAULT_REPORT": path}
        if fault:
            env["TESSERA_FAULT"] = fault
        done = subprocess.run([sys.executable, __file__, "--part", part], env=env, check=False)
        assert done.returncode == 0, (part, fault)
        if not os.path.exists(path):
            return None
        with open(path, encoding="ascii") as f:
            words = [line.split() for line in f]
    return {tuple(w[:-1]): w[-1] for w in words}


def layered(layer):
    report = run_part(layer, "balance")
    if report is None:
        print("the loader takes no layers")
        return
    left = {k: n for k, n in report.items() if k[0] == "balance" and n != "0"}
    assert not left, left
    assert int(report["calls", "clCreateBuffer"]) < 500, report
    # CL_MEM_OBJECT_ALLOCATION_FAILURE of the last call of a function, which is made again.
    for part, function, more in (("allocation", "clCreateBuffer", 1),
                                 ("call", "clEnqueueNDRangeKernel", 1),
                                 ("call_in_place", "clEnqueueNDRangeKernel", 0)):
        last = int(run_part(layer, part)["calls", function])
        report = run_part(layer, part, "%s:%d:-4" % (function, last))
        assert report["failed", function] == "1", (part, report)
        assert int(report["calls", function]) == last + more, (part, last, report)
        assert report["balance", "mem"] == "0", (part, report)
    counts = run_part(layer, "transfers")
    for function in ("clEnqueueWriteBuffer", "clEnqueueCopyBuffer", "clEnqueueCopyBufferRect",
                     "clEnqueueFillBuffer", "clEnqueueReadBuffer"):
        for n in range(1, int(counts.get(("calls", function), 0)) + 1):
            report = run_part(layer, "transfers", "%s:%d:-5" % (function, n))
            assert report["failed", function] == "1", (function, n, report)


def main():
    try:
        ts.device(DEVICE)
    except ts.Error:
        sys.exit(77)
    if given.part:
        globals()["part_" + given.part]()
        return
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test()
            print("ok", name, flush=True)
    if given.layer:
        ts.close()
        layered(given.layer)
        print("ok layered")


main()
