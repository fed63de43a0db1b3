"""A small product of matrices, which tests of the command in general run."""

import numpy as np

A = np.random.default_rng(1).integers(-9, 9, (33, 33)).astype(np.float32)

FILES = {"a.npy": A}
CALL = ("matmul", "a.npy", "a.npy", "-o", "c.npy")
RESULT = ("c.npy", A @ A)
# A small --size.
SIZE = "30"
# A kernel that every device can run; KERNEL's file is cl/OP/OP_KERNEL.cl.
KERNEL = "general"
# Calls of which each is a program of its own.
PROGRAMS = [("matmul", "--kernel", "general", "a.npy", "a.npy", *more)
            for more in ((), ("--trans-b",))]
# What a call on a CPU runs without compiling.
FIRST_CALL = "simd"


def LONG_CALLS():
    """More than C does in 50 ms on 2 cores, and integers."""
    rng = np.random.default_rng(6)
    call = ("matmul", "long.npy", "long.npy", "-o", "c.npy")
    return [({"long.npy": x}, call, "simd") for x in (
        rng.random((1500, 1500), np.float32), rng.integers(-9, 9, (64, 64), np.int8))]
