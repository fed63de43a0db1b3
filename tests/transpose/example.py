"""A small matrix to transpose, which tests of the command in general run."""

import numpy as np

A = np.random.default_rng(7).integers(0, 99, (20, 15)).astype(np.float32)

FILES = {"wide.npy": A}
CALL = ("transpose", "wide.npy", "-o", "tall.npy")
RESULT = ("tall.npy", np.ascontiguousarray(A.T))
SIZE = "30"
KERNEL = "padded"
PROGRAMS = []
# What a call on a CPU runs without compiling.
FIRST_CALL = "simd"
