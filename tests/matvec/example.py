"""A small product of a matrix and a vector, which tests of the command in general run."""

import numpy as np

A = np.random.default_rng(2).integers(-9, 9, (33, 33)).astype(np.float32)
X = np.random.default_rng(3).integers(0, 99, 33).astype(np.float32)

FILES = {"m.npy": A, "x.npy": X}
CALL = ("matvec", "m.npy", "x.npy", "-o", "y.npy")
RESULT = ("y.npy", A @ X)
SIZE = "30"
KERNEL = "row-item"
PROGRAMS = [("matvec", "--kernel", KERNEL, "m.npy", "x.npy", *more) for more in ((), ("--trans",))]
# What a call on a CPU runs without compiling.
FIRST_CALL = "simd"
