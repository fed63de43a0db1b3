"""sweep.py OP VARIANT: the tiny sweep of one variant in Oclgrind, with small tiles and groups.

The operation's main type runs with every value of each tunable that has no value for simulators.  Of
many other types one of each width runs, of few each; on a CPU all of them do.  Of programs those run
that device/verify_variant.py would compile.

To look for reads of what nobody wrote takes more than all else.  The main type has that check, and one
of the others, which turns from variant to variant; all have the others: results, bounds, races,
barriers and wrong calls.  With TESSERA_LONG=1 every type has every check, and every program runs, as
compiled.
"""

import os
import sys

from simulator import Run

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "device"))
from variant_runs import one_of_each_width, outcome, variant

FEW_TYPES = 4


def main():
    op, name = sys.argv[1:]
    types, i = variant(op, name)
    others = types[1:] if len(types) <= FEW_TYPES else one_of_each_width(types, i)
    whole = os.environ.get("TESSERA_LONG") == "1"
    checked = types if whole else types[:1] + others[i % max(len(others), 1):][:1]
    bad = False
    for type_name in types[:1] + others:
        options = "%s,%s,tiny,small" % (name, type_name)
        options += ",pairs" * (not whole)
        options += ",defaults" * (type_name != types[0])
        run = Run(op, options, program="SWEEP", uninitialized=type_name in checked,
                  promoted=not whole)
        how = outcome(run.status, run.out)
        how = "FAIL" if run.complaints() else how
        print("%-4s %s: %s" % (how, options, run.out), flush=True)
        if how == "FAIL":
            bad = True
            print("status %d\n%s\n%s" % (run.status, run.err[:2000], run.complaints()[:4000]))
    if bad:
        sys.exit(1)


main()
