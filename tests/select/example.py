"""The larger ones of a few numbers, which tests of the command in general run."""

import numpy as np

X = np.random.default_rng(7).integers(0, 99, 300).astype(np.float32)

FILES = {"v.npy": X}
CALL = ("select", "v.npy", "--where", "> 50", "-o", "large.npy")
RESULT = ("large.npy", X[X > 50])
SIZE = "30"
KERNEL = "three-launches"
PROGRAMS = []
# What a call on a CPU runs without compiling.
FIRST_CALL = "simd"
