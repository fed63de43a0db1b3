"""The limits that `tessera roofline` measures on the CPU, against plain loops in C.

    check_limits.py PLAIN_LOOPS

Each limit is at least 90% of what the plain loop reaches on the same cores.  Other work on the
machine takes from both, so they take turns, and the best of each counts: rounds go on until every
limit is there, ROUNDS at most.
"""

import json
import os
import subprocess
import sys
import tempfile

LEAST = 0.9
ROUNDS = 6


def plain(command):
    out = subprocess.run([command, "0.5"], stdout=subprocess.PIPE, check=True, text=True).stdout
    return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in out.splitlines()}


def measured(file):
    subprocess.run([os.environ["TESSERA"], "roofline", "--size", "16", "--device", "cpu", "--quiet",
                    "-o", file], stdout=subprocess.DEVNULL, check=True)
    with open(file, encoding="utf-8") as f:
        rows = [json.loads(line) for line in f]
    return {r["name"]: r["rate"] for r in rows if r["kind"] == "limit"}


def keep_best(best, fresh):
    for name, rate in fresh.items():
        best[name] = max(rate, best.get(name, 0))


def main():
    ours, theirs = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(ROUNDS):
            keep_best(theirs, plain(sys.argv[1]))
            keep_best(ours, measured(os.path.join(folder, "rows.json")))
            # A machine without fp64 has no such limit; a plain loop always has.
            short = [n for n in theirs if ours[n] and ours[n] < LEAST * theirs[n]]
            if not short:
                break
    for name in theirs:
        print("%-14s %8.1f  plain loop %8.1f  %.2f" % (name, ours[name], theirs[name],
                                                       ours[name] / theirs[name]))
    if short:
        sys.exit("below %.2f of a plain loop: %s" % (LEAST, ", ".join(short)))


main()
