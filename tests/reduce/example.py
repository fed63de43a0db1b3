"""A small sum, which tests of the command in general run."""

import numpy as np

X = np.random.default_rng(5).integers(0, 99, 300).astype(np.float32)

FILES = {"r.npy": X}
CALL = ("reduce", "r.npy", "-o", "sum.npy")
RESULT = ("sum.npy", X.sum(keepdims=True))
SIZE = "30"
KERNEL = "tree"
PROGRAMS = []
# What a call on a CPU runs without compiling.
FIRST_CALL = "simd"
