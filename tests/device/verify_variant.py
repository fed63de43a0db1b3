"""verify_variant.py OP VARIANT: the sweep of one variant on the CPU's OpenCL device.

The operation's main type has the whole sweep with defaults, and the tiny one with every value of
every tunable that a CPU's compiler is not minutes over.  Types differ in few lines, and a program
takes that compiler a quarter of a second and more: of the others one has the whole sweep with small
tiles, of which there are many then, and one of each other width the tiny one.  Which ones turns from
variant to variant, so that each type meets every shared header; a GPU's sweep has them all.

The compiler takes three quarters of its time to optimize.  The main type's whole sweep is optimized,
whose large problems would take longer otherwise, and of the variants made for CPUs the other type's.
The rest is not.  With TESSERA_SANITIZED the main type alone, and the tiny sweep: a sanitizer looks at
the host's code, not at what the device's compiler made.

The runs that are optimized are in one process, and the others in another (sweep.c).
"""

import os
import subprocess
import sys

from variant_runs import one_of_each_width, unoptimized, variant


def runs(name, types, i):
    """(runs of sweep.c, whether they are optimized) of each process, the cheapest first."""
    main, others = types[0], types[1:]
    if os.environ.get("TESSERA_SANITIZED"):
        return [([main + ",tiny,small,defaults"], False)]
    whole = [t + ",small,defaults" for t in (others[i % len(others)],)] if others else []
    tiny = [t + ",tiny,small,defaults" for t in one_of_each_width(types, i)
            if t + ",small,defaults" not in whole]
    for_cpus = name.startswith("cpu-")
    return [(tiny + whole * (not for_cpus) + [main + ",tiny"], False),
            (whole * for_cpus + [main + ",defaults"], True)]


def main():
    op, name = sys.argv[1:]
    bad = 0
    for some, optimized in runs(name, *variant(op, name)):
        bad |= subprocess.run([os.environ["SWEEP"], op, name, *some], check=False,
                              env=os.environ if optimized else unoptimized(op, name)).returncode
    sys.exit(bad != 0)


main()
