"""A small picture, which tests of the command in general run."""

import numpy as np

X = np.random.default_rng(5).integers(0, 256, (5, 7, 3)).astype(np.uint8)

FILES = {"picture.npy": X}
CALL = ("grayscale", "picture.npy", "-o", "grey.npy")
RESULT = ("grey.npy", ((X * np.uint32([19595, 38470, 7471])).sum(2) + 32768 >> 16).astype(np.uint8))
SIZE = "30"
KERNEL = "naive"
PROGRAMS = []
# What a call on a CPU runs without compiling.
FIRST_CALL = "simd"
