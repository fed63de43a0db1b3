#!/usr/bin/env python3
"""Large arrays in host memory through the Python package beside NumPy: sums, scans, transposes,
selections and histograms.

    scripts/numpy_rates.py [--device cpu] [-o ROWS.jsonl]

Results go into arrays that are there before, where both can do that.  The two take turns, and the
median of ROUNDS calls of each counts.  Results are compared before.  Needs NumPy; the package is
found by PYTHONPATH, as build/python.
"""
import argparse
import json
import os
import statistics
import sys
import time

import numpy as np

import tessera as ts

ROUNDS = 7


def jobs(device):
    """(what, type, shape, ours, NumPy's, the largest error): functions that return their result."""
    rng = np.random.default_rng(1)
    x, y = (rng.standard_normal(1 << 26, "float32") for _ in "xy")
    ours, theirs = np.zeros_like(x), np.zeros_like(x)
    a, pixels = x.reshape(8192, 8192), rng.integers(0, 256, 1 << 26, "uint8")

    yield ("x + y", x, lambda: ts.axpy(1, x, y, ours, device=device),
           lambda: np.add(x, y, theirs), 0)
    # NumPy adds up float32 in float32.
    yield ("cumsum", x, lambda: ts.cumsum(x, out=ours, device=device),
           lambda: np.cumsum(x, out=theirs), 10)
    yield ("a.T", a, lambda: ts.transpose(a, out=ours.reshape(a.shape), device=device),
           lambda: np.copyto(theirs.reshape(a.shape), a.T) or theirs.reshape(a.shape), 0)
    yield "x[x > 0]", x, lambda: ts.select(x, ">", 0, device=device), lambda: x[x > 0], 0
    yield ("bincount", pixels,
           lambda: ts.histogram(pixels, bins=256, range=(0, 256), device=device)[0],
           lambda: np.bincount(pixels, minlength=256), 0)
    few = x[:1 << 24]
    yield ("100 bins", few, lambda: ts.histogram(few, bins=100, range=(-4, 4), device=device)[0],
           lambda: np.histogram(few, bins=100, range=(-4, 4))[0], 0)


def seconds(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("-o", "--output", help="rows are added to this file")
    args = parser.parse_args()
    os.environ["TESSERA_SAME_KERNELS"] = "1"  # not those that run while others are compiled
    slower = 0
    for what, x, ours, theirs, error in jobs(args.device):
        mine, other = ours(), theirs()
        kernel = ts.last_report()["kernel"]
        if mine.shape != other.shape or np.max(np.abs(mine - other), initial=0) > error:
            sys.exit("numpy_rates.py: %s differs from NumPy's" % what)
        took = [statistics.median(t) for t in zip(*[[seconds(ours), seconds(theirs)]
                                                    for _ in range(ROUNDS)])]
        row = {"schema": "tessera-numpy-1", "what": what, "type": x.dtype.name, "shape": x.shape,
               "tessera_ns": round(took[0] * 1e9), "numpy_ns": round(took[1] * 1e9),
               "ratio": round(took[1] / took[0], 3), "kernel": kernel,
               "device": ts.device(args.device).name, "numpy": np.__version__}
        slower += took[1] < took[0]
        print("%-10s %-8s %-13s %8.1f ms, NumPy %8.1f ms: %5.2f  %s"
              % (what, x.dtype, "x".join(map(str, x.shape)), took[0] * 1e3, took[1] * 1e3,
                 row["ratio"], kernel), flush=True)
        if args.output:
            with open(args.output, "a", encoding="utf-8") as f:
                f.write(json.dumps(row) + "\n")
    sys.exit(slower > 0)


main()
