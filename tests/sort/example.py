"""A small sort, which tests of the command in general run."""

import numpy as np

KEYS = np.random.default_rng(2).integers(0, 99, 3000).astype(np.uint32)

FILES = {"k.npy": KEYS, "f.npy": KEYS.astype(np.float32)}
CALL = ("sort", "k.npy", "-o", "s.npy")
RESULT = ("s.npy", np.sort(KEYS))
SIZE = "30"
KERNEL = "naive"
PROGRAMS = [("sort", "--kernel", "general", *more)
            for more in (("k.npy",), ("k.npy", "--descending"), ("f.npy",),
                         ("k.npy", "--argsort", "i.npy"))]
# What a call on a CPU runs without compiling.
FIRST_CALL = "host-radix"
