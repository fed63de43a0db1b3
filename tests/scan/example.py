"""Running sums of a few numbers, which tests of the command in general run."""

import numpy as np

X = np.random.default_rng(6).integers(0, 99, 300).astype(np.float32)

FILES = {"numbers.npy": X}
CALL = ("scan", "numbers.npy", "-o", "sums.npy")
RESULT = ("sums.npy", np.cumsum(X, dtype=np.float64).astype(np.float32))
SIZE = "30"
KERNEL = "chunks"
PROGRAMS = []
# What a call on a CPU runs without compiling.
FIRST_CALL = "simd"
