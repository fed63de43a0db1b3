#!/usr/bin/env python3
"""How well libtessera-blas decides where a call runs: random calls of level 3, timed with all on the CPU's
BLAS, with all on the device, and by its own decision.

    blas_decisions.py LIBRARY [--calls N] [--seed S] [--side MAX] [--rounds N] [-o ROWS.jsonl]

Prints the worst and the median time by decision over that of the better place, and the calls that were
decided worst; status 1 where the worst is over 1.2 or the median over 1.03.  Each call is timed in the
three ways by turns, and the best time of all rounds counts, so that what else the machine does slows
all of them.  Run `tessera tune blas` before.  Needs NumPy.
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
import tempfile
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


def prepare(blas, call, side):
    """A function that makes the call on matrices of its own."""
    import numpy as np
    types = {"s": np.float32, "d": np.float64, "c": np.complex64, "z": np.complex128}
    # A is the identity, whose products and solutions neither grow nor vanish.
    lead = call[4] if call[0] in ("gemm", "syrk", "syr2k") else call[2]
    a = np.zeros(side * side, dtype=types[call[1]])
    a[:lead * lead:lead + 1] = 1
    arrays = (a, np.ones_like(a), np.ones_like(a))
    run = caller(blas, call, arrays)
    return lambda: (run(), arrays)


def serve(library, calls):
    """In a process of one mode: make the call whose number a line says, and answer with its best time of
    a round in seconds."""
    blas = ctypes.CDLL(library)
    last, run = None, None
    for line in sys.stdin:
        number = int(line)
        if number != last:
            run = prepare(blas, calls[number], max(calls[number][2:]))
            run()
        last = number
        times = []
        start = time.perf_counter()
        while len(times) < 2 or (len(times) < 20 and time.perf_counter() - start < 0.05):
            before = time.perf_counter()
            run()
            times.append(time.perf_counter() - before)
        print(min(times), flush=True)


class Server:
    """A process of a mode."""

    def __init__(self, **variables):
        self.process = subprocess.Popen([sys.executable, *sys.argv, "--serve"], text=True,
                                        env={**os.environ, **variables}, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)

    def time(self, number):
        self.process.stdin.write("%d\n" % number)
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit("a process ended early")
        return float(line)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def decisions(calls):
    """What the log says of each call by decision: "device", or why it is on the CPU; and its first
    line."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "log")
        server = Server(TESSERA_BLAS="auto", TESSERA_BLAS_LOG=path)
        found = []
        for number, (routine, kind, *_) in enumerate(calls):
            server.time(number)
            with open(path, encoding="utf-8") as f:
                line = [l for l in f if l.split()[1] == kind + routine][-1]
            found.append("device" if ": device, " in line else line.strip().split(" ms: ", 1)[1])
        server.close()
        with open(path, encoding="utf-8") as f:
            lines = [l.split(" ", 1)[1].strip() for l in f]
    ignored = [l for l in lines if l.startswith("rates of ")]
    return found, lines[0].split(" is ", 1)[1], ignored


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("library")
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--side", type=int, default=4096)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("-o", dest="rows")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    o = parser.parse_args()
    rng = random.Random(o.seed)
    calls = [draw(rng, o.side) for _ in range(o.calls)]
    if o.serve:
        serve(o.library, calls)
        return
    servers = {mode: Server(TESSERA_BLAS=mode) for mode in MODES}
    times = {mode: [] for mode in MODES}
    for number in range(len(calls)):
        rounds = [{mode: server.time(number) for mode, server in servers.items()}
                  for _ in range(o.rounds)]
        for mode in MODES:
            times[mode].append(min(r[mode] for r in rounds))
    for server in servers.values():
        server.close()
    decided, cpu_blas, ignored = decisions(calls)
    print("\n".join(ignored), end="\n" if ignored else "")
    ratios = [auto / min(cpu, device) for cpu, device, auto in
              zip(times["never"], times["always"], times["auto"])]
    worst = sorted(range(len(calls)), key=lambda i: -ratios[i])[:10]
    median = statistics.median(ratios)
    print("%d calls: worst %.2f, median %.3f; the device is faster for %d, and has %d"
          % (len(calls), max(ratios), median,
             sum(d < c for c, d in zip(times["never"], times["always"])), decided.count("device")))
    for i in worst:
        print("  %.2f  %s%s m %d n %d k %d: CPU %.3f ms, device %.3f ms, decided %.3f ms: %s"
              % (ratios[i], calls[i][1], calls[i][0], *calls[i][2:],
                 *(times[mode][i] * 1e3 for mode in MODES), decided[i]))
    if o.rows:
        with open(o.rows, "a", encoding="utf-8") as f:
            for i, (routine, kind, m, n, k) in enumerate(calls):
                f.write(json.dumps({
                    "schema": "tessera-blas-decisions-1", "routine": kind + routine, "m": m, "n": n,
                    "k": k, "cpu_ns": round(times["never"][i] * 1e9),
                    "device_ns": round(times["always"][i] * 1e9),
                    "decided_ns": round(times["auto"][i] * 1e9), "ratio": round(ratios[i], 4),
                    "decision": decided[i], "device": os.environ.get("TESSERA_DEVICE", ""),
                    "cpu_blas": cpu_blas, "seed": o.seed}) + "\n")
    sys.exit(max(ratios) > 1.2 or median > 1.03)


main()
