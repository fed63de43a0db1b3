#!/usr/bin/env python3
"""Arrays on a GPU through the Python package beside CuPy: products, sorts and sums.

    scripts/cupy_rates.py [--device gpu] [-o ROWS.jsonl]

Each call is made so often that a sample takes about 20 ms, back to back, and its end is waited for;
the two take turns, and the fastest of ROUNDS samples counts.  Results are compared before.  Needs
NumPy and CuPy; the package is found by PYTHONPATH, as build/python.
"""
import argparse
import json
import os
import sys
import time

import cupy as cp
import numpy as np

import tessera as ts

ROUNDS = 5
SAMPLE = 0.02  # seconds


def jobs(device):
    """(what, type, size, ours, CuPy's): functions that enqueue a call and return its result."""
    rng = np.random.default_rng(1)

    def both(a):
        return ts.asarray(a, device=device), cp.asarray(a)

    for dtype in ("float32", "float64", "float16"):
        for n in (256, 1000, 2048, 4096):
            (a, x), (b, y) = (both(rng.random((n, n)).astype(dtype)) for _ in "ab")
            yield "product", dtype, n, lambda: a @ b, lambda: x @ y
    for dtype in ("float32", "uint32", "int64"):
        for n in (1 << 16, 1_000_000, 1 << 24):
            a, x = both((rng.random(n) * 1e9).astype(dtype))
            yield "order", dtype, n, lambda: ts.sort(a), lambda: cp.sort(x)
    for n in (1_000_000, 1 << 24, 100_000_000):
        a, x = both(rng.random(n, "float32"))
        yield "sum", "float32", n, lambda: ts.sum(a), lambda: cp.sum(x)


def ours_done(result):
    result.wait()


def theirs_done(_):
    cp.cuda.Device().synchronize()


def seconds(call, done, repeats):
    start = time.perf_counter()
    for _ in range(repeats):
        result = call()
    done(result)
    return (time.perf_counter() - start) / repeats


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="gpu")
    parser.add_argument("-o", "--output", help="rows are added to this file")
    args = parser.parse_args()
    rows = []
    os.environ["TESSERA_SAME_KERNELS"] = "1"  # not those that run while others are compiled
    for what, dtype, n, ours, theirs in jobs(args.device):
        mine, other = ts.to_numpy(ours()), cp.asnumpy(theirs())
        kernel = ts.last_report()["kernel"]
        # Sums of random numbers in [0, 1): half precision keeps three digits.
        close = np.array_equal(mine, other) if what == "order" else \
            np.allclose(mine, other, rtol=1e-2 if dtype == "float16" else 1e-4)
        if not close:
            sys.exit("cupy_rates.py: %s of %d %s differs from CuPy's" % (what, n, dtype))
        ways = ((ours, ours_done), (theirs, theirs_done))
        repeats = [max(1, int(SAMPLE / max(seconds(*way, 1), seconds(*way, 1)))) for way in ways]
        took = [min(t) for t in zip(*[[seconds(*way, count) for way, count in zip(ways, repeats)]
                                      for _ in range(ROUNDS)])]
        rows.append({"schema": "tessera-cupy-1", "what": what, "type": dtype, "size": n,
                     "tessera_ns": round(took[0] * 1e9), "cupy_ns": round(took[1] * 1e9),
                     "ratio": round(took[1] / took[0], 3), "kernel": kernel,
                     "device": ts.device(args.device).name, "cupy": cp.__version__})
        print("%-8s %-8s %10d: %9.1f us, CuPy %9.1f us: %5.2f  %s"
              % (what, dtype, n, took[0] * 1e6, took[1] * 1e6, took[1] / took[0], kernel), flush=True)
        if args.output:
            with open(args.output, "a", encoding="utf-8") as f:
                f.write(json.dumps(rows[-1]) + "\n")
    low = [r for r in rows if r["ratio"] < 1]
    print("%d of %d calls are as fast as CuPy's or faster" % (len(rows) - len(low), len(rows)))
    sys.exit(bool(low))


main()
