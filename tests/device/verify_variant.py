"""verify_variant.py OP VARIANT...: the sweeps of variants on the CPU's OpenCL device.

The operation's main type has the whole sweep with defaults, and of the tiny one a problem for every
value of every tunable that a CPU's compiler is not minutes over.  In no sweep does each value of a
-D meet each of the others: a problem that needs one more program runs where two of its -Ds, or of the
sizes of its groups, come together for the first time (measure/programs_met.h) in any sweep of the
variant, of whatever type; those that share a program run all.  Of a variant that is slow unless
optimized, whose programs take longest, and of one that is not made for CPUs and that the simulator
runs, a value that a run meets for the first time is asked for instead: pairs of values are in Oclgrind.
A GPU's sweep has every combination, and with TESSERA_LONG=1 so have these.

Types differ in few lines, and a program takes that compiler a quarter of a second and more: of the
others one has the whole sweep with small tiles, of which there are many then.  One of each other width
has the tiny one, where the simulator does not run just that and judge it (oclgrind/sweep.py).  Variants
made for CPUs have it here too; those that are slow unless optimized, whose other types have no whole
sweep, have one of these types here, and with TESSERA_LONG=1 each.  Which types these are turns from
variant to variant, so that each meets every shared header; a GPU's sweep has them all.

The compiler takes three quarters of its time to optimize.  The main type's whole sweep is optimized,
whose large problems would take longer otherwise: a problem runs there for a value that none had before,
and pairs of values come together in its tiny problems, which are not optimized, or in Oclgrind.  With
TESSERA_LONG=1 all of it is, and of the variants made for CPUs the other type's whole sweep.  The rest is
not; of a variant with a program a shape the tiny problems of the main type's defaults alone are, and
nothing of a kernel in slow_to_optimize.txt.  With TESSERA_SANITIZED the main type's tiny problems run
for values alone, whose programs PoCL has of the sweep without a sanitizer: a sanitizer looks at the
host's code, not at what the device's compiler made, and of small tiles unit/test_plans has the plans.

All runs of a call are in one process (sweep.c), the optimized ones first; of the many variants of a
sanitized call those that are slow unless optimized are in another one.
"""

import os
import subprocess
import sys

from variant_runs import (has_many_programs, is_optimized, is_simulated, is_slow_to_optimize,
                          one_of_each_width, says, variant)


LONG = os.environ.get("TESSERA_LONG") == "1"


def runs(op, name):
    """What sweep.c runs of a variant."""
    if LONG:
        return all_runs(op, name)
    found = usual_runs(op, name)
    if is_slow_to_optimize(op, name):
        return [run + ",unoptimized" * (not run.endswith(",unoptimized")) for run in found]
    return found


def usual_runs(op, name):
    """The runs, before those of a kernel that is slow to optimize lose optimization."""
    some = all_runs(op, name)
    if is_optimized(op, name):
        return [with_words(run, ",pairs,singly,") for run in some]
    whole = variant(op, name)[0][0] + ",defaults"
    if not os.environ.get("TESSERA_SANITIZED") and is_left_to_the_simulator(op, name):
        return [with_words(run, ",pairs,singly,") for run in some]
    found = [with_words(run, ",pairs,singly," if run == whole else ",pairs,") for run in some]
    if whole in some:
        found.insert(0, with_words(whole, ",pairs,tiny,") + ",unoptimized")
    return found


def is_left_to_the_simulator(op, name):
    """Whether pairs of values of a variant that is not made for CPUs come together in Oclgrind."""
    return not name.startswith("cpu-") and is_simulated(op, name)


def with_words(run, words):
    """A run with these behind its type."""
    return run.replace(",", words, 1)


def all_runs(op, name):
    """The same, were every program to run."""
    types, i = variant(op, name)
    main, others = types[0], types[1:]
    # The defaults have the whole sweep; where there is no tunable, nothing but them.
    tiny_values = main + (",tiny,values" if says(op, name, "tunables") else ",tiny")
    plain = "" if is_optimized(op, name) else ",unoptimized"
    if os.environ.get("TESSERA_SANITIZED"):
        return [tiny_values + plain]
    whole = []
    if others and not is_optimized(op, name):
        whole = [others[i % len(others)] + ",small,defaults"]
    tiny = [t + ",tiny,small,defaults" for t in one_of_each_width(types, i)
            if t + ",small,defaults" not in whole]
    for_cpus = name.startswith("cpu-")
    whole_plain = "" if for_cpus and LONG else plain
    if not for_cpus and is_simulated(op, name):
        here = len(tiny) if LONG else 1
        tiny = (tiny[i % max(len(tiny), 1):] + tiny)[:here] if is_optimized(op, name) else []
    if has_many_programs(op, name):
        return [main + ",tiny,small,defaults"] + \
            [run + plain for run in tiny + whole + [tiny_values, main + ",defaults"]]
    return [run + plain for run in tiny] + [run + whole_plain for run in whole] + \
        [tiny_values + plain, main + ",defaults"]


def main():
    op, *names = sys.argv[1:]
    some = ["%s,%s" % (name, run) for name in names for run in runs(op, name)]
    optimized = [run for run in some if not run.endswith(",unoptimized")]
    plain = [run for run in some if run.endswith(",unoptimized")]
    together = [optimized, plain] if os.environ.get("TESSERA_SANITIZED") else [optimized + plain]
    done = [subprocess.run([os.environ["SWEEP"], op, *part], check=False) for part in together if part]
    sys.exit(any(process.returncode != 0 for process in done))


main()
