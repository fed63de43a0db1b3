"""What names an operation: its own folders, and no other file.

    check_names.py TREE       read host/, bench/, scripts/ and tests/ of a source tree
    check_names.py --control  show that a name is found, in a tree made up
"""

import os
import re
import sys
import tempfile

FOLDERS = ["host", "bench", "scripts", "tests"]
KINDS = (".c", ".h", ".py", ".txt", ".cmake", ".sh", ".in")


def named(tree):
    """The files outside of an operation's own folders that name one: {file: (line, name)}."""
    ops = sorted(o for o in os.listdir(os.path.join(tree, "host/ops"))
                 if os.path.isdir(os.path.join(tree, "host/ops", o)))
    # An operation's name may be a word as well: it counts where it is a name.
    pattern = re.compile(r"(?:operation_|tsr_|\bOP_)(%s)\b|[\"'/](%s)[\"'/._]" % (("|".join(ops),) * 2))
    own = tuple("%s/%s/" % (room, o) for room in ("host/ops", "tests", "bench") for o in ops)
    found = {}
    for folder in FOLDERS:
        for path, _, names in os.walk(os.path.join(tree, folder)):
            for name in names:
                file = os.path.relpath(os.path.join(path, name), tree)
                if (not name.endswith(KINDS) or file.startswith(own) or
                        file == "host/ops/operations.c"):
                    continue
                with open(os.path.join(tree, file), encoding="utf-8", errors="replace") as f:
                    for number, line in enumerate(f, 1):
                        match = pattern.search(line)
                        if match:
                            found.setdefault(file, (number, match[1] or match[2]))
    return found


def check(tree):
    return ["%s:%d: names %s" % (f, *where) for f, where in sorted(named(tree).items())]


def control():
    good = {"host/ops/rank/rank.c": "operation_rank", "host/core/a.c": "int x;",
            "host/ops/operations.c": "&operation_rank", "tests/rank/test.c": "operation_rank"}
    for changes, expected in [({}, 0), ({"host/core/a.c": "operation_rank"}, 1),
                              ({"tests/cli/t.py": "run('rank')"}, 1),
                              ({"host/core/b.c": '#include "tessera/rank.h"'}, 1)]:
        with tempfile.TemporaryDirectory() as tree:
            for name, text in {**good, **changes}.items():
                os.makedirs(os.path.join(tree, os.path.dirname(name)), exist_ok=True)
                with open(os.path.join(tree, name), "w", encoding="utf-8") as f:
                    f.write(text)
            found = check(tree)
            if len(found) != expected:
                sys.exit("control: %s: %d found, not %d: %s" % (changes, len(found), expected, found))


def main():
    if sys.argv[1:] == ["--control"]:
        control()
    else:
        wrong = check(sys.argv[1])
        print("\n".join(wrong) or "no operation is named where it should not be")
        sys.exit(bool(wrong))


main()
