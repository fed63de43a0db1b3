#!/usr/bin/env python3
"""Rates of products through libraries with BLAS's interface, on matrices in host memory.

    scripts/blas_rates.py [NAME=]LIBRARY... [--sizes 512,1024,...] [-o ROWS.jsonl]

Each library runs in a process of its own.  sgemm and dgemm of n^3, and of n x n with k of 64 and 256,
column-major; the fastest of up to 10 calls in a second counts, after one that is not timed.  Every
library's result is compared with the first one's at some places.  Libraries read their own environment
(TESSERA_DEVICE, NVBLAS_CONFIG_FILE).  Needs NumPy.
"""
import argparse
import ctypes
import json
import os
import subprocess
import sys
import time

import numpy as np

SIZES = (512, 1024, 2048, 4096, 8192, 16384)
SECONDS = 1.0
SYMBOLS = ("{}gemm_", "scipy_{}gemm_", "{}gemm_64_", "scipy_{}gemm_64_")


def find_gemm(blas, kind):
    """The Fortran routine and its integers' type, under the names that libraries give it."""
    for symbol in SYMBOLS:
        if hasattr(blas, symbol.format(kind)):
            return (getattr(blas, symbol.format(kind)),
                    ctypes.c_int64 if "64" in symbol else ctypes.c_int32)
    sys.exit("blas_rates.py: no %sgemm" % kind)


def serve(library, sizes):
    """Time every product, a line of JSON each."""
    blas = ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)
    for kind, dtype, real in (("s", np.float32, ctypes.c_float), ("d", np.float64, ctypes.c_double)):
        gemm, integer = find_gemm(blas, kind)
        for n in sizes:
            rng = np.random.default_rng(1)
            a, b = (rng.random((n, n), dtype) - dtype(0.5) for _ in "ab")
            c = np.zeros((n, n), dtype)
            for k in sorted({k for k in (64, 256, n) if k <= n}):
                size, depth = integer(n), integer(k)
                one, zero = real(1), real(0)
                arguments = [ctypes.c_char_p(b"N"), ctypes.c_char_p(b"N"),
                             *map(ctypes.byref, (size, size, depth, one)),
                             a.ctypes.data_as(ctypes.c_void_p), ctypes.byref(size),
                             b.ctypes.data_as(ctypes.c_void_p), ctypes.byref(size),
                             ctypes.byref(zero), c.ctypes.data_as(ctypes.c_void_p),
                             ctypes.byref(size)]
                gemm(*arguments)
                best, start = float("inf"), time.perf_counter()
                for _ in range(10):
                    before = time.perf_counter()
                    gemm(*arguments)
                    best = min(best, time.perf_counter() - before)
                    if time.perf_counter() - start > SECONDS:
                        break
                print(json.dumps({"routine": kind + "gemm", "n": n, "k": k, "ns": round(best * 1e9),
                                  "some": [float(x) for x in c.flat[::max(1, n * n // 7)]]}), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("libraries", nargs="+", metavar="[NAME=]LIBRARY")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("-o", "--output", help="rows are added to this file")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    sizes = [int(n) for n in args.sizes.split(",")]
    if args.serve:
        serve(args.libraries[0], sizes)
        return 0
    first, status = {}, 0
    for word in args.libraries:
        name, _, library = word.rpartition("=")
        name = name or os.path.basename(library)
        done = subprocess.run([sys.executable, __file__, library, "--serve", "--sizes", args.sizes],
                              stdout=subprocess.PIPE, text=True)
        if done.returncode:
            print("blas_rates.py: %s: status %d" % (name, done.returncode), file=sys.stderr)
            status = 1
        for row in map(json.loads, done.stdout.splitlines()):
            key, some = (row["routine"], row["n"], row["k"]), row.pop("some")
            tolerance = (1e-5 if row["routine"] == "sgemm" else 1e-13) * row["k"]
            if not np.allclose(first.setdefault(key, some), some, rtol=0, atol=tolerance):
                print("blas_rates.py: %s: %s %d k %d differs" % (name, *key), file=sys.stderr)
                status = 3
            rate = 2.0 * row["n"] ** 2 * row["k"] / row["ns"]
            print("%-12s %s n %5d k %5d: %9.3f ms %9.1f GFLOP/s"
                  % (name, *key, row["ns"] / 1e6, rate))
            if args.output:
                with open(args.output, "a", encoding="utf-8") as f:
                    f.write(json.dumps({"schema": "tessera-gemm-rates-1", "library": name, **row,
                                        "gflops": round(rate, 1)}) + "\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
