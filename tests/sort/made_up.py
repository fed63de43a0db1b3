"""Sorts on devices that do not exist, for tests/report/made_up_rows.py."""

UNIT = "Mkeys/s"
SIZES = [1 << 16, 1 << 20, 1 << 24]
# Parts of the limit that each step reaches on a large problem.
LADDERS = {
    "gpu": {"naive": 0.03, "two-phase": 0.09, "registers": 0.15, "radix": 0.72},
    "cpu": {"naive": 0.004, "two-phase": 0.02, "registers": 0.05, "radix": 0.22},
}
PEERS = {"gpu": {"cuZZZ radix (made up)": 0.99}, "cpu": {"parallel std::xxxx (made up)": 0.11}}


def job(n):
    return dict(problem="%d uint32" % n, size=str(n), type="uint32", precision="", work=float(n),
                bytes=8.0 * n)


def bound(limits, r):
    """The limit of a row, as rate and name."""
    return limits["memory copy"] * r["work"] / r["bytes"] * 1e3, "memory copy"
