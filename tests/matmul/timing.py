"""How products of matrices are timed by the checks of tests/device/bench_runs.py."""

# Grow no further: the inputs are made and verified on the host.
LARGEST = 16384
# The time of a large problem grows with this power of its size.
POWER = 3
# Variants whose timer is checked; None is the one that is selected.
VARIANTS = (None, "naive")
