"""Segments of a few keys, which tests of the command in general run."""

import numpy as np

KEYS = np.random.default_rng(5).integers(0, 99, 300).astype(np.uint32)
OFFSETS = np.array([0, 7, 7, 100, 101, 300])

FILES = {"g.npy": KEYS, "offsets.npy": OFFSETS}
CALL = ("segsort", "g.npy", "--segments", "offsets.npy", "-o", "segments.npy")
RESULT = ("segments.npy", np.concatenate([np.sort(part) for part in np.split(KEYS, OFFSETS[1:-1])]))
SIZE = "3x10"
KERNEL = "segments"
# In the place of what is preferred on GPUs, which a CPU's compiler takes many minutes for.
KERNEL_OF_FORGED_GPUS = KERNEL
PROGRAMS = []


def LONG_CALLS():
    keys = np.random.default_rng(6).random(3 * 2**20, np.float32)
    return [({"long.npy": keys, "long_offsets.npy": np.array([0, 2**20, 3 * 2**20])},
             ("segsort", "long.npy", "--segments", "long_offsets.npy", "-o", "segments.npy"),
             "host-radix")]
