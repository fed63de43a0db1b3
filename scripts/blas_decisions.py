#!/usr/bin/env python3
"""How well libtessera-blas decides where a call runs: random calls of level 3, timed with all on the CPU's
BLAS, with all on the device, and by its own decision.

    blas_decisions.py LIBRARY [--calls N] [--seed S] [--side MAX] [--rounds N] [--more N] [-o ROWS.jsonl]

Prints the worst and the median time by decision over that of the better place, and the calls that were
decided worst; status 1 where the worst is over 1.2 or the median over 1.03.  One process has the library
three times, over the same BLAS of the CPU.  They are timed by turns of some calls in an order that is drawn, and
the best of the turns' medians counts.  Before each turn the process waits until the threads of the CPU's BLAS,
which spin for milliseconds after a call and slow the device meanwhile, sleep: so each way is timed as in a program
that makes such calls alone.  A call whose decision takes over 1.05 times as long as the better place is timed in up
to --more further rounds, in all three ways: what else the machine does makes single times longer, never shorter;
the turns of those over 1.2 are printed.  Before, the call is made some times in all three ways, and by decision for
a third of a second, since calls near break-even are tried in both places: the times of the first calls are
reported separately.  Kernels are compiled before, by processes that make each call once on the device.
Run `tessera tune blas` before.  Needs NumPy.
"""

import argparse
import ctypes
import json
import math
import os
import random
import shutil
import statistics
import sys
import tempfile
import time

MODES = ("never", "always", "auto")
SECONDS_A_TURN = 0.003
SECONDS_LONG = 0.03  # such a call wakes what sleeps
CLEAR = 1.05
WORST_MAX = 1.2
SECONDS_SPINNING = 0.04
SECONDS_SETTLED = 0.33
BUILDERS_MAX = 8
FIRST_CALLS_MAX = 500
SECONDS_FIRST, SECONDS_FIRST_MAX, CALLS_ENOUGH = 0.02, 0.15, 24
THREADS = ("OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")
ROW_MAJOR, NO_TRANS, TRANS, LOWER, NON_UNIT, LEFT = 101, 111, 112, 122, 131, 141
ROUTINES = ("gemm", "gemm", "symm", "syrk", "syr2k", "trmm", "trsm")


def draw(rng, side):
    """A routine, a type and sizes whose logarithms are uniform."""
    size = lambda: int(math.exp(rng.uniform(math.log(8), math.log(side))))
    return rng.choice(ROUTINES), rng.choice("sdcz"), size(), size(), size()


def caller(blas, call, arrays):
    """A function without arguments that makes the call."""
    routine, kind, m, n, k = call
    a, b, c = (x.ctypes.data_as(ctypes.c_void_p) for x in arrays)
    real = ctypes.c_float if kind in "sc" else ctypes.c_double
    # Scalars of complex types are passed by address: 1 + 0i.
    one = real(1) if kind in "sd" else ctypes.byref((real * 2)(1, 0))
    zero = real(0) if kind in "sd" else ctypes.byref((real * 2)(0, 0))
    arguments = {
        "gemm": (ROW_MAJOR, NO_TRANS, NO_TRANS, m, n, k, one, a, k, b, n, zero, c, n),
        "symm": (ROW_MAJOR, LEFT, LOWER, m, n, one, a, m, b, n, zero, c, n),
        "syrk": (ROW_MAJOR, LOWER, NO_TRANS, n, k, one, a, k, zero, c, n),
        "syr2k": (ROW_MAJOR, LOWER, NO_TRANS, n, k, one, a, k, b, k, zero, c, n),
        "trmm": (ROW_MAJOR, LEFT, LOWER, NO_TRANS, NON_UNIT, m, n, one, a, m, c, n),
        "trsm": (ROW_MAJOR, LEFT, LOWER, NO_TRANS, NON_UNIT, m, n, one, a, m, c, n),
    }[routine]
    function = getattr(blas, "cblas_" + kind + routine)
    return lambda: function(*arguments)


def elements(call):
    """Of the arrays A, B and C of a call."""
    routine, _, m, n, k = call
    return {"gemm": (m * k, k * n, m * n), "syrk": (n * k, 1, n * n),
            "syr2k": (n * k, n * k, n * n)}.get(routine, (m * m, m * n, m * n))


def prepare(blas, call):
    """A function for each library, which makes the call on matrices that they share."""
    import numpy as np
    kind = {"s": np.float32, "d": np.float64, "c": np.complex64, "z": np.complex128}[call[1]]
    # A is the identity, whose products and solutions neither grow nor vanish.
    lead = call[4] if call[0] in ("gemm", "syrk", "syr2k") else call[2]
    a, b, c = (make(size, kind) for make, size in zip((np.zeros, np.ones, np.ones), elements(call)))
    a[:lead * lead:lead + 1] = 1
    return [caller(x, call, (a, b, c)) for x in blas], (a, b, c)


def load(library, folder, mode, log=None):
    """The library once more, by another file: it reads its environment at its first call of level 3."""
    path = os.path.join(folder, "blas-%d-%s%s.so" % (os.getpid(), mode, "-logged" if log else ""))
    shutil.copy(library, path)
    os.environ["TESSERA_BLAS"] = mode
    os.environ["TESSERA_SAME_KERNELS"] = "1"  # not those that run while others are compiled
    os.environ.pop("TESSERA_BLAS_LOG", None)
    if log:
        os.environ["TESSERA_BLAS_LOG"] = log
    blas = ctypes.CDLL(path)
    prepare([blas], ("gemm", "d", 8, 8, 8))[0][0]()
    return blas


def build_ahead(library, folder, calls):
    """Make each call once on the device, in processes of their own, before this one uses a driver."""
    builders = min(os.cpu_count(), BUILDERS_MAX, len(calls))
    children = []
    for i in range(builders):
        child = os.fork()
        if child == 0:
            try:
                os.environ.update(dict.fromkeys(THREADS, "1"))
                blas = load(library, folder, "always")
                for call in calls[i::builders]:
                    runs, arrays = prepare([blas], call)
                    runs[0]()
                    del arrays
            finally:  # what it did not compile is compiled before it is timed
                os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)


def turn(run):
    """The middle one of the times of some calls in a row, in seconds, after one that wakes the threads."""
    time.sleep(SECONDS_SPINNING)
    start = time.perf_counter()
    run()
    first = time.perf_counter() - start
    if first > SECONDS_LONG:
        return first
    times = []
    start = time.perf_counter()
    for calls in range(20):
        before = time.perf_counter()
        run()
        times.append(time.perf_counter() - before)
        if calls > 1 and time.perf_counter() - start > SECONDS_A_TURN:
            break
    return statistics.median(times)


def ratio_of(times):
    return times["auto"] / min(times["never"], times["always"])


def first_calls(run):
    """The mean seconds of the first calls but one, which wakes threads."""
    run()
    start = time.perf_counter()
    for calls in range(1, FIRST_CALLS_MAX + 1):
        run()
        took = time.perf_counter() - start
        if took > (SECONDS_FIRST if calls >= CALLS_ENOUGH else SECONDS_FIRST_MAX):
            break
    return took / calls


def settle(run):
    """Calls in a row, by which the library learns where they are faster."""
    start = time.perf_counter()
    while time.perf_counter() - start < SECONDS_SETTLED:
        run()


def time_ways(blas, call, o, rng):
    """Seconds of a call in each mode, and of the first ones by decision; the last library writes what it
    decides to its log."""
    runs, arrays = prepare(blas, call)
    best = dict.fromkeys(MODES, math.inf)
    runs[-1]()  # whose line in the log is the decision of a first call
    best["first"] = [first_calls(run) for run in runs[:3]]
    best["turns"] = {mode: [] for mode in MODES}
    settle(runs[2])
    for i in range(o.rounds + o.more):
        if i >= o.rounds and ratio_of(best) <= CLEAR:
            break
        for mode, run in rng.sample(list(zip(MODES, runs)), len(MODES)):
            best["turns"][mode].append(turn(run))
            best[mode] = min(best["turns"][mode])
    del arrays
    return best


def decisions(calls, log):
    """What the log says of each call: "device", or why it is on the CPU."""
    with open(log, encoding="utf-8") as f:
        lines = [l for l in f if ": device, " in l or ": CPU, " in l][1:]  # without load()'s
    for call, line in zip(calls, lines):
        assert line.split()[1] == call[1] + call[0], (call, line)
    return ["device" if ": device, " in l else l.strip().split(" ms: ", 1)[1] for l in lines]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("library")
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--side", type=int, default=4096)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--more", type=int, default=8)
    parser.add_argument("--build-only", action="store_true", help="compile kernels, and time nothing")
    parser.add_argument("-o", dest="rows")
    o = parser.parse_args()
    rng = random.Random(o.seed)
    calls = [draw(rng, o.side) for _ in range(o.calls)]
    library = os.path.realpath(o.library)
    with tempfile.TemporaryDirectory() as folder:
        # Where they look for libtessera, if nowhere else.
        for name in os.listdir(os.path.dirname(library)):
            if name.startswith("libtessera.so"):
                os.symlink(os.path.join(os.path.dirname(library), name), os.path.join(folder, name))
        log = os.path.join(folder, "log")
        build_ahead(library, folder, calls)
        if o.build_only:
            return
        blas = [load(library, folder, mode) for mode in MODES] + [load(library, folder, "auto", log)]
        times = [time_ways(blas, call, o, rng) for call in calls]
        decided = decisions(calls, log)
        with open(log, encoding="utf-8") as f:
            lines = [l.split(" ", 1)[1].strip() for l in f]
    cpu_blas = lines[0].split(" is ", 1)[1]
    for line in lines:
        if line.startswith("rates of "):
            print(line)
    ratios = [ratio_of(t) for t in times]
    # What a call takes that is decided right: a measure of the measurement.
    same = [t["auto"] / t["always" if d == "device" else "never"] for t, d in zip(times, decided)]
    chosen = [t["always" if d == "device" else "never"] / min(t["never"], t["always"])
              for t, d in zip(times, decided)]
    first = [t["first"][2] / min(t["first"][:2]) for t in times]
    worst = sorted(range(len(calls)), key=lambda i: -ratios[i])[:10]
    median = statistics.median(ratios)
    print("%d calls: worst %.2f, median %.3f; the device is faster for %d, and has %d"
          % (len(calls), max(ratios), median, sum(t["always"] < t["never"] for t in times),
             decided.count("device")))
    print("the place of a first call, by the times of `tune blas`, over the better one: worst %.2f, median %.3f; "
          "a call by decision over one in that place without: worst %.2f, median %.3f"
          % (max(chosen), statistics.median(chosen), max(same), statistics.median(same)))
    print("the first calls of a shape, %d ms of them or %d calls, over as many in the better place: "
          "median %.3f, 90th percentile %.2f, worst %.2f"
          % (SECONDS_FIRST * 1e3, CALLS_ENOUGH, statistics.median(first), sorted(first)[len(first) * 9 // 10],
             max(first)))
    for i in worst:
        print("  %.2f  %s%s m %d n %d k %d: CPU %.3f ms, device %.3f ms, decided %.3f ms: %s"
              % (ratios[i], calls[i][1], calls[i][0], *calls[i][2:],
                 *(times[i][mode] * 1e3 for mode in MODES), decided[i]))
        if ratios[i] > WORST_MAX:
            for mode in MODES:
                print("    %s: %s" % (mode, " ".join("%.3f" % (t * 1e3) for t in times[i]["turns"][mode])))
    if o.rows:
        with open(o.rows, "a", encoding="utf-8") as f:
            for i, (routine, kind, m, n, k) in enumerate(calls):
                f.write(json.dumps({
                    "schema": "tessera-blas-decisions-1", "routine": kind + routine, "m": m, "n": n,
                    "k": k, "cpu_ns": round(times[i]["never"] * 1e9),
                    "device_ns": round(times[i]["always"] * 1e9),
                    "decided_ns": round(times[i]["auto"] * 1e9), "ratio": round(ratios[i], 4),
                    "first_ns": [round(x * 1e9) for x in times[i]["first"]],
                    "decision": decided[i], "device": os.environ.get("TESSERA_DEVICE", ""),
                    "cpu_blas": cpu_blas, "seed": o.seed}) + "\n")
    sys.exit(max(ratios) > WORST_MAX or median > 1.03)


main()
