"""A small scaled sum, which tests of the command in general run."""

import numpy as np

X = np.random.default_rng(6).integers(0, 99, 300).astype(np.float32)

FILES = {"ax.npy": X, "ay.npy": X[::-1]}
CALL = ("axpy", "ax.npy", "ay.npy", "-o", "az.npy", "--alpha", "2")
RESULT = ("az.npy", 2 * X + X[::-1])
SIZE = "30"
KERNEL = "vector"
PROGRAMS = []
# What a call on a CPU runs without compiling.
FIRST_CALL = "simd"
