"""The first of a few keys, which tests of the command in general run."""

import numpy as np

KEYS = np.random.default_rng(4).integers(0, 99, 300).astype(np.uint32)

FILES = {"t.npy": KEYS}
CALL = ("topk", "t.npy", "--top", "5", "-o", "first.npy")
RESULT = ("first.npy", np.sort(KEYS)[:-6:-1])
SIZE = "30"
KERNEL = "general"
PROGRAMS = []
