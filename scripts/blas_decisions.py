#!/usr/bin/env python3
"""How well libtessera-blas decides where a call runs: random calls of level 3, timed with all on the CPU's
BLAS, with all on the device, and by its own decision.

    blas_decisions.py LIBRARY [--calls N] [--seed S] [--side MAX]

Prints the worst and the median time by decision over that of the better place, and the calls that were
decided worst.  Run `tessera tune blas` before, on a machine with nothing else to do.  Needs NumPy.
"""

import argparse
import ctypes
import json
import math
import os
import random
import statistics
import subprocess
import sys
import time

MODES = ("never", "always", "auto")
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


def time_calls(library, calls, side):
    """In a process of a mode: the best time of each call, in seconds."""
    import numpy as np
    blas = ctypes.CDLL(library)
    types = {"s": np.float32, "d": np.float64, "c": np.complex64, "z": np.complex128}
    found = []
    for call in calls:
        # A is the identity, whose products and solutions neither grow nor vanish.
        lead = call[4] if call[0] in ("gemm", "syrk", "syr2k") else call[2]
        a = np.zeros(side * side, dtype=types[call[1]])
        a[:lead * lead:lead + 1] = 1
        run = caller(blas, call, (a, np.ones_like(a), np.ones_like(a)))
        run()
        times = []
        start = time.perf_counter()
        while len(times) < 3 or (len(times) < 20 and time.perf_counter() - start < 0.2):
            before = time.perf_counter()
            run()
            times.append(time.perf_counter() - before)
        found.append(min(times))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("library")
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--side", type=int, default=4096)
    parser.add_argument("--timed", action="store_true", help=argparse.SUPPRESS)
    o = parser.parse_args()
    rng = random.Random(o.seed)
    calls = [draw(rng, o.side) for _ in range(o.calls)]
    if o.timed:
        json.dump(time_calls(o.library, calls, o.side), sys.stdout)
        return
    times = {}
    for mode in MODES:
        done = subprocess.run([sys.executable, *sys.argv, "--timed"], check=True,
                              env={**os.environ, "TESSERA_BLAS": mode}, stdout=subprocess.PIPE)
        times[mode] = json.loads(done.stdout)
    ratios = [auto / min(cpu, device) for cpu, device, auto in
              zip(times["never"], times["always"], times["auto"])]
    worst = sorted(range(len(calls)), key=lambda i: -ratios[i])[:10]
    print("%d calls: worst %.2f, median %.3f; the device is faster for %d"
          % (len(calls), max(ratios), statistics.median(ratios),
             sum(d < c for c, d in zip(times["never"], times["always"]))))
    for i in worst:
        print("  %.2f  %s%s m %d n %d k %d: CPU %.3f ms, device %.3f ms, decided %.3f ms"
              % (ratios[i], calls[i][1], calls[i][0], *calls[i][2:],
                 *(times[mode][i] * 1e3 for mode in MODES)))


main()
