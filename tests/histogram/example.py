"""A small histogram, which tests of the command in general run."""

import numpy as np

X = np.random.default_rng(5).integers(0, 99, 300).astype(np.float32)

FILES = {"h.npy": X}
CALL = ("histogram", "h.npy", "-o", "counts.npy", "--bins", "7")
RESULT = ("counts.npy", np.histogram(X, 7)[0].astype(np.int64))
SIZE = "30"
KERNEL = "copies"
PROGRAMS = []
# What a call on a CPU runs without compiling.
FIRST_CALL = "tables"
