"""What is run of a variant, whichever it is: types and extents follow from the program's own list."""

import json
import os
import subprocess


def width(type_name):
    return int("".join(c for c in type_name if c.isdigit()))


def variant(op, name):
    """(types, i): the operation's types, its main one first, and which of its variants this is."""
    out = subprocess.run([os.environ["TESSERA"], "kernels", op, "--json", "--device", "host"],
                         check=True, stdout=subprocess.PIPE).stdout
    (found,) = json.loads(out)["operations"]
    return found["types"], [v["name"] for v in found["variants"]].index(name)


def one_of_each_width(types, i):
    """One type of each width but that of the first, another one for each variant."""
    widths = sorted({width(t) for t in types} - {width(types[0])})
    return [of[i % len(of)] for of in ([t for t in types if width(t) == w] for w in widths)]


def outcome(status, out):
    """"ok", "skip" where the variant supports no problem here, or "FAIL"."""
    if status == 0:
        return "ok"
    return "skip" if status == 1 and "FAIL" not in out and "skip " in out else "FAIL"
