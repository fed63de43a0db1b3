"""No file outside an operation's own folders names it, but for EXCEPTIONS.

    check_names.py TREE       read host/, bench/, scripts/ and tests/ of a source tree
    check_names.py --control  show that names of each kind are found, in a tree made up
"""

import os
import re
import sys
import tempfile

FOLDERS = ["host", "bench", "scripts", "tests"]
KINDS = (".c", ".h", ".cpp", ".hpp", ".cu", ".py", ".txt", ".cmake", ".sh", ".in")

# Operations whose names are words of English, or of C: they count only where they are names.
WORDS = ["reduce", "scan", "select", "sort", "transpose"]

# Files and folders that name operations, and why.
EXCEPTIONS = {
    "host/ops/operations.c": "the list of operations",
    "scripts/blas_suites.sh": "picks tests of NumPy by their names",
    "scripts/cold_processes.py": "has an example of a command",
    "scripts/demo.sh": "does real jobs",
    "scripts/gpu.sh": "says what is timed",
    "scripts/numpy_rates.py": "puts functions of the package beside NumPy's",
    "scripts/scaling.sh": "says what is timed",
    "scripts/slurm.sh": "has an example of a command",
    "tests/headers/initialisers.c": "reads the initialiser of each operation",
    "tests/layers/check_names.py": "says which names are words",
    "tests/python/": "calls functions of the package by their names",
    "tests/unit/mutants.py": "says which tests find a bug",
}


def pattern_of(ops):
    """Matches what names one of the operations; its group is the name."""
    name = "(?P<%%s>%s)" % "|".join(ops)
    plain = "|".join(o for o in ops if o not in WORDS)
    return re.compile("|".join([
        # A name by itself or between the parts of an identifier: matmul, MATMUL_TILE, test_matmul_plan.
        r"(?<![a-z])(?P<plain>%s)(?![a-z])" % plain,
        # Public and shared identifiers: tsr_sort_problem, TSR_SORT_PROBLEM_INIT, operation_sort.
        r"(?<![a-z])(?:operation|tsr|op)_" + name % "part" + "(?![a-z])",
        r"[\"'/]" + name % "quoted" + r"[\"'/._]",
        r"\btessera\"? (?:\w+ )?" + name % "command" + r"\b",
        r"\b" + name % "kernel" + r"(?:_\w+)?\.clh?\b"]), re.IGNORECASE)


def named(tree):
    """The files outside of an operation's own folders that name one: {file: (line, name)}."""
    ops = sorted(o for o in os.listdir(os.path.join(tree, "host/ops"))
                 if os.path.isdir(os.path.join(tree, "host/ops", o)))
    pattern = pattern_of(ops)
    own = tuple("%s/%s/" % (room, o) for room in ("host/ops", "tests", "bench") for o in ops)
    found = {}
    for folder in FOLDERS:
        for path, _, names in os.walk(os.path.join(tree, folder)):
            for name in names:
                file = os.path.relpath(os.path.join(path, name), tree)
                if not name.endswith(KINDS) or file.startswith(own):
                    continue
                with open(os.path.join(tree, file), encoding="utf-8", errors="replace") as f:
                    for number, line in enumerate([name, *f]):  # its own name is line 0
                        match = pattern.search(line)
                        if match:
                            found.setdefault(file, (number, match[match.lastgroup]))
    return found


def check(tree, exceptions):
    found = named(tree)
    wrong = ["%s:%d: names %s" % (f, *where) for f, where in sorted(found.items())
             if not f.startswith(tuple(exceptions))]
    return wrong + ["%s: is an exception, but names no operation" % e for e in exceptions
                    if not any(f.startswith(e) for f in found)]


def control():
    """In a tree with the operations rank and, by a name that is a word, sort."""
    exceptions = {"host/ops/operations.c": "the list"}
    good = {"host/ops/rank/rank.c": "operation_rank", "host/ops/sort/sort.c": "operation_sort",
            "host/ops/operations.c": "&operation_rank", "tests/rank/test.c": "operation_rank",
            "host/core/a.c": "qsort(x); sort_rows(ranked); /* sort \"tessera\" */"}
    one = ["operation_rank", "tsr_rank_problem p;", "extern const variant rank_tiled;", "int own_rank;",
           "TSR_RANK_PROBLEM_INIT", "offsetof(tsr_rank_problem, k)", '"tessera verify rank x"', "/* rank */",
           "tsr_sort_problem p;", "TSR_SORT_PROBLEM_INIT", "&operation_sort", '"tessera sort KEYS"',
           '"$tessera" sort x', "run('sort')", "/* sort_warp.cl */", '#include "tessera/sort.h"']
    cases = [({}, 0), ({"host/ops/operations.c": "none"}, 1)]
    cases += [({"host/core/b.c": "int x;\n%s\n" % text}, 1) for text in one]
    cases += [({"tests/cli/t.py": "run('rank')"}, 1), ({"bench/peer.cu": "rank"}, 1),
              ({"tests/cli/test_rank.py": "run()"}, 1)]
    for changes, expected in cases:
        with tempfile.TemporaryDirectory() as tree:
            for name, text in {**good, **changes}.items():
                os.makedirs(os.path.join(tree, os.path.dirname(name)), exist_ok=True)
                with open(os.path.join(tree, name), "w", encoding="utf-8") as f:
                    f.write(text)
            found = check(tree, exceptions)
            if len(found) != expected:
                sys.exit("control: %s: %d found, not %d: %s" % (changes, len(found), expected, found))


def main():
    if sys.argv[1:] == ["--control"]:
        control()
    else:
        wrong = check(sys.argv[1], EXCEPTIONS)
        print("\n".join(wrong) or "no operation is named where it should not be")
        sys.exit(bool(wrong))


main()
