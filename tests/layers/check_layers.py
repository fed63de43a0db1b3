"""The direction of #include lines: a file includes its own layer and those below it.

    check_layers.py TREE       read host/, include/, blas/ and examples/ of a source tree
    check_layers.py --control  show that each kind of wrong line is found, in a tree made up

Also: file names are unique in the tree, so that a name says which file is meant.
"""

import os
import re
import sys
import tempfile

# From the bottom up.
LAYERS = ["base", "file", "device", "session", "core", "stream", "ops", "measure", "cli"]

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')

# Public headers of a subject, whose private half has the same name; build files.
SHARED_NAMES = {"CMakeLists.txt", "README.md", "device.h"}


def sources(tree, folder):
    for path, _, names in os.walk(os.path.join(tree, folder)):
        for name in sorted(names):
            if name.endswith((".c", ".h")):
                yield os.path.relpath(os.path.join(path, name), tree)


def includes(tree, file):
    with open(os.path.join(tree, file), encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            match = INCLUDE.match(line)
            if match:
                yield number, match[1] == '"', match[2]


def judge_host(tree, file, number, quoted, name):
    layer = file.split("/")[1]
    other = name.split("/")[0]
    if layer not in LAYERS:
        return "'%s' is no layer" % layer
    if other == "tessera" or not quoted:
        return None
    if layer == "cli" and name in ("blas/cpu.h", "blas/rates_file.h"):  # what `tessera blas` asks too
        return None
    if other not in LAYERS:
        return "'%s' names no layer: write \"layer/file.h\"" % name
    if not os.path.exists(os.path.join(tree, "host", name)):
        return "'%s' does not exist" % name
    if LAYERS.index(other) > LAYERS.index(layer):
        return "%s is above %s" % (other, layer)
    return None


def judge_public(tree, file, number, quoted, name):
    if not quoted or name.startswith("tessera/"):
        return None
    return "'%s' is no public header" % name


def judge_example(tree, file, number, quoted, name):
    if name.split("/")[0] in LAYERS:
        return "'%s' is no public header" % name
    if not quoted or name.startswith("tessera/"):
        return None
    beside = os.path.join(tree, os.path.dirname(file), name)
    return None if os.path.exists(beside) else "'%s' is no public header" % name


def judge_blas(tree, file, number, quoted, name):
    if not quoted or name.startswith(("tessera/", "blas/")):
        return None
    return "'%s' is no public header" % name


def duplicates(tree):
    seen = {}
    for folder in ("host", "include", "blas", "cl", "examples"):
        for path, _, names in os.walk(os.path.join(tree, folder)):
            for name in names:
                if name not in SHARED_NAMES:
                    seen.setdefault(name, []).append(
                        os.path.relpath(os.path.join(path, name), tree))
    return ["%s: the name is not unique" % " and ".join(sorted(files))
            for files in seen.values() if len(files) > 1]


def check(tree):
    """The wrong lines of a tree, and how many #include lines were read."""
    found = duplicates(tree)
    lines = 0
    for folder, judge in (("host", judge_host), ("include", judge_public),
                          ("blas", judge_blas), ("examples", judge_example)):
        for file in sources(tree, folder):
            for number, quoted, name in includes(tree, file):
                lines += 1
                why = judge(tree, file, number, quoted, name)
                if why:
                    found.append("%s:%d: %s" % (file, number, why))
    return found, lines


def control():
    """Each of these trees has one fault, or none."""
    good = {"host/base/text.h": "", "host/core/real.h": '#include "base/text.h"\n',
            "host/core/real.c": '#include "core/real.h"\n#include <math.h>\n',
            "include/tessera/run.h": '#include "tessera/types.h"\n',
            "examples/rank.c": '#include <tessera/tessera.h>\n'}
    faults = [({}, 0),
              ({"host/base/text.c": '#include "core/real.h"\n'}, 1),
              ({"host/base/text.c": '#  include "core/real.h"\n'}, 1),
              ({"host/file/npy.c": '#include "cli/options.h"\n', "host/cli/options.h": ""}, 1),
              ({"host/ops/rate/rate.c": '#include "real.h"\n'}, 1),
              ({"host/ops/rate/rate.c": '#include "base/gone.h"\n'}, 1),
              ({"host/other/x.c": '#include "base/text.h"\n'}, 1),
              ({"include/tessera/run.h": '#include "base/text.h"\n'}, 1),
              ({"examples/rank.c": '#include "base/text.h"\n'}, 1),
              ({"examples/rank.c": '#include <core/real.h>\n'}, 1),
              ({"host/core/real.c": '#include "blas/rates_file.h"\n', "blas/rates_file.h": ""}, 1),
              ({"host/cli/rates.c": '#include "blas/rates_file.h"\n', "blas/rates_file.h": ""}, 0),
              ({"blas/level.c": '#include "core/real.h"\n'}, 1),
              ({"blas/level.c": '#include "blas/level.h"\n#include "tessera/run.h"\n'}, 0),
              ({"host/file/real.c": ""}, 1)]
    for changes, expected in faults:
        with tempfile.TemporaryDirectory() as tree:
            for name, text in {**good, **changes}.items():
                os.makedirs(os.path.join(tree, os.path.dirname(name)), exist_ok=True)
                with open(os.path.join(tree, name), "w", encoding="utf-8") as f:
                    f.write(text)
            found, _ = check(tree)
            if len(found) != expected:
                sys.exit("control: %s: %d wrong lines found, not %d: %s"
                         % (changes, len(found), expected, found))


def main():
    if sys.argv[1:] == ["--control"]:
        control()
        return
    found, lines = check(sys.argv[1])
    print("\n".join(found) or "%d #include lines, all downwards" % lines)
    if found or lines < 100:
        sys.exit(1)


main()
