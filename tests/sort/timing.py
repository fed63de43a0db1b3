"""How sorts are timed by the checks of tests/device/bench_runs.py."""

# Grow no further: the inputs are made and verified on the host.
LARGEST = 1 << 24
# The time of a large problem grows with this power of its size.
POWER = 1.2
# Variants whose timer is checked; None is the one that is selected.
VARIANTS = (None,)
