"""Products with a vector on devices that do not exist, for tests/report/made_up_rows.py."""

UNIT = "GB/s"
SIZES = [1024, 4096, 16384]
# Parts of the limit that each step reaches on a large problem.
LADDERS = {
    "gpu": {"row-item": 0.08, "group-row": 0.55, "tree": 0.71, "team-shuffle": 0.84,
            "rows-vector": 0.95},
    "cpu": {"row-item": 0.60, "group-row": 0.21, "rows-vector": 0.93},
}
PEERS = {"gpu": {"cuXXXX (made up)": 0.83}, "cpu": {"OpenXXXX (made up)": 0.90}}


def job(n):
    return dict(problem="%dx%d float32" % (n, n), size="%dx%d" % (n, n), work=2.0 * n * n,
                bytes=4.0 * n * n + 8.0 * n)


def bound(limits, r):
    """The limit of a row, as rate and name."""
    return limits["memory read"], "memory read"
