"""Products of matrices on devices that do not exist, for tests/report/made_up_rows.py."""

UNIT = "GFLOP/s"
SIZES = [256, 512, 1024, 2048, 4096]
# Parts of the limit that each step reaches on a large problem.
LADDERS = {
    "gpu": {"naive": 0.10, "tiled": 0.14, "block": 0.36, "vector": 0.52, "split": 0.61,
            "warp-tile": 0.93},
    "cpu": {"naive": 0.015, "tiled": 0.03, "block": 0.05, "vector": 0.12, "cpu-block": 0.81},
}
PEERS = {"gpu": {"cuXXXX (made up)": 0.96, "CLYYYY (made up)": 0.62},
         "cpu": {"OpenXXXX (made up)": 0.84}}


def job(n):
    return dict(problem="%dx%dx%d float32" % (n, n, n), size="%dx%dx%d" % (n, n, n),
                work=2.0 * n ** 3, bytes=12.0 * n * n)


def bound(limits, r):
    """The limit of a row, as rate and name."""
    by_memory = limits["memory read"] * r["work"] / r["bytes"]
    return min((limits["fp32"], "fp32"), (by_memory, "memory read"))
