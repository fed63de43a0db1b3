"""verify_variant.py OP VARIANT: the sweep of one variant on the CPU's OpenCL device.

The operation's main type has the whole sweep with defaults, and the tiny one with every value of
every tunable that a CPU's compiler is not minutes over.  Types differ in few lines, and a program
takes that compiler a second and more: of the others one has the whole sweep with small tiles, of
which there are many then, and one of each other width the tiny one.  Which ones turns from variant
to variant, so that each type meets every shared header; a GPU's sweep has them all.

The compiler takes three quarters of its time to optimize.  What CPUs run is optimized here too: the
main type's defaults, and of the variants made for CPUs the other type's.  The rest is not.  With
TESSERA_SANITIZED the main type alone, and the tiny sweep: a sanitizer looks at the host's code, not
at what the device's compiler made.
"""

import os
import subprocess
import sys

from variant_runs import one_of_each_width, outcome, unoptimized, variant

SMALL = ["--small", "--defaults"]


def runs(name, types, i):
    """(type, options, whether it is optimized) of each run, the cheapest first."""
    main, others = types[0], types[1:]
    if os.environ.get("TESSERA_SANITIZED"):
        return [(main, ["--tiny"] + SMALL, False)]
    whole = others[i % len(others)] if others else None
    return ([(t, ["--tiny"] + SMALL, False) for t in one_of_each_width(types, i) if t != whole] +
            [(t, SMALL, name.startswith("cpu-")) for t in others if t == whole] +
            [(main, ["--tiny"], False), (main, ["--defaults"], True)])


def main():
    op, name = sys.argv[1:]
    seen = []
    for type_name, options, optimized in runs(name, *variant(op, name)):
        done = subprocess.run([os.environ["TESSERA"], "verify", op, "--kernel", name, "--device",
                               "cpu", "--type", type_name, *options], check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=os.environ if optimized else unoptimized(op, name))
        out = done.stdout.decode(errors="replace")
        seen.append(outcome(done.returncode, out))
        print("%-4s %s %s: %s" % (seen[-1], type_name, " ".join(options), out), flush=True)
    if "FAIL" in seen:
        sys.exit(1)


main()
