"""What is run of a variant, whichever it is: types and extents follow from the program's own list."""

import functools
import json
import os
import runpy
import subprocess

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")


def lists_of(op):
    """What an operation's list of bugs says, tests/OP/seeded.py, where it has one."""
    path = os.path.join(TESTS, op, "seeded.py")
    return runpy.run_path(path) if os.path.exists(path) else {}


@functools.lru_cache(maxsize=None)
def listing(op):
    """What `tessera kernels` says of an operation, without a device."""
    out = subprocess.run([os.environ["TESSERA"], "kernels", op, "--json", "--device", "host"],
                         check=True, stdout=subprocess.PIPE).stdout
    (found,) = json.loads(out)["operations"]
    return found


def says(op, name, what):
    """Whether a variant's entry in the table says so."""
    return any(v.get(what, False) for v in listing(op)["variants"] if v["name"] == name)


def is_optimized(op, name):
    """Whether PoCL's compiler takes minutes over the variant where it does not optimize.  Of the others
    it leaves out its optimizations, which take three quarters of its time."""
    return says(op, name, "slow_unless_optimized")


def is_slow_to_optimize(op, name):
    """Whether PoCL optimizes the variant's programs for longer than its sweep then takes less:
    tests/OP/slow_to_optimize.txt names those."""
    path = os.path.join(TESTS, op, "slow_to_optimize.txt")
    if not os.path.exists(path):
        return False
    with open(path, encoding="utf-8") as f:
        names = [line.strip() for line in f if not line.startswith("#")]
    unknown = set(names) - {v["name"] for v in listing(op)["variants"]}
    if unknown:
        raise ValueError("%s: no variant is called %s" % (path, " or ".join(sorted(unknown))))
    return name in names


def has_many_programs(op, name):
    """Whether nearly each problem of the sweep is a program of its own."""
    return says(op, name, "program_a_shape")


def unoptimized(op, name):
    """The environment of a process in which they are left out."""
    if is_optimized(op, name):
        return os.environ
    return {**os.environ, "POCL_EXTRA_BUILD_FLAGS": "-cl-opt-disable"}


def about_variant(op, name, device, env):
    """What `tessera kernels` says of a variant on a device."""
    out = subprocess.run([os.environ["TESSERA"], "kernels", op, "--json", "--device", device],
                         check=True, stdout=subprocess.PIPE, env=env).stdout
    (found,) = json.loads(out)["operations"]
    (about,) = [v for v in found["variants"] if v["name"] == name]
    return about


def source_of(about):
    """The text of a variant's kernels; "" of C code."""
    if "file" not in about:
        return ""
    with open(os.path.join(TESTS, "..", "cl", about["file"]), encoding="utf-8") as f:
        return f.read()


def is_simulated(op, name):
    """Whether oclgrind/sweep.py runs the variant's types as PoCL would: Oclgrind refuses none of its
    problems that PoCL takes, and no group of it has to come last, for which it has no atomics."""
    library = os.environ.get("OCLGRIND_LIBRARY")
    if not library:
        return False
    simulated = about_variant(op, name, "0:0", {**os.environ, "OCL_ICD_VENDORS": library})
    on_cpu = about_variant(op, name, "cpu", os.environ)
    if "LAST_ADDS" in source_of(on_cpu) or "group_counter" in source_of(on_cpu):
        return False
    return simulated.get("unsupported") in (None, on_cpu.get("unsupported"))


def width(type_name):
    return int("".join(c for c in type_name if c.isdigit()))


def variant(op, name):
    """(types, i): the operation's types, its main one first, and which of its variants this is."""
    found = listing(op)
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
