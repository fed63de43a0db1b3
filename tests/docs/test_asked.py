"""What the documents say that steps of a ladder ask for is what their plans say.

A table between `<!-- asked OP SIZE -->` and `<!-- end asked OP SIZE -->` has a row for a step, with the values of
its tunables; the other columns are compared with `bench --explain`.
"""

import glob
import json
import os
import re
import subprocess
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
COMMAND = os.environ.get("TESSERA", "tessera")

# What a column is of the commands of a call.
COLUMNS = {"launches": len,
           "global memory": lambda all: sum(c["requested_bytes"] for c in all),
           "local memory": lambda all: sum(c["local_traffic_bytes"] for c in all),
           "barriers a group": lambda all: sum(c["barriers"] for c in all),
           "FLOP a byte": lambda all: sum(c["flops"] for c in all) / sum(c["requested_bytes"] for c in all)}


def tables():
    """(document, operation, size, names of the columns, cells of a row)."""
    for path in sorted(glob.glob(os.path.join(ROOT, "docs", "*.md"))):
        with open(path, encoding="utf-8") as f:
            text = f.read()
        for op, size, body in re.findall(r"<!-- asked (\S+) (\S+) -->\n(.*?)<!-- end asked \1 \2 -->", text, re.S):
            lines = [[c.strip() for c in line.strip("|").split("|")]
                     for line in body.splitlines() if line.startswith("|")]
            for cells in lines[2:]:
                yield os.path.basename(path), op, size, lines[0], cells


def commands(op, size, step, settings):
    """The commands of a call on the CPU device, as --explain has them."""
    chosen = [word for s in settings.split() for word in ("--set", s)]
    done = subprocess.run([COMMAND, "bench", op, "--kernel", step, "--size", size, *chosen, "--device", "cpu",
                           "--seconds", "0.001", "--repeat", "1", "--warm", "--explain", "--json", "--quiet"],
                          stdout=subprocess.PIPE, check=True, universal_newlines=True)
    return json.loads(done.stdout.splitlines()[-1])["commands"]


def agrees(cell, got):
    """To the last digit that is written."""
    number, _, unit = cell.partition(" ")
    decimals = len(number.partition(".")[2])
    return abs(got / {"": 1, "MB": 1e6, "GB": 1e9}[unit] - float(number)) <= 0.501 * 10 ** -decimals


class Asked(unittest.TestCase):
    def test_tables(self):
        seen = 0
        for page, op, size, names, cells in tables():
            got = commands(op, size, cells[0], cells[1])
            for name, cell in list(zip(names, cells))[2:]:
                with self.subTest(page=page, step=cells[0], column=name):
                    self.assertTrue(agrees(cell, COLUMNS[name](got)), (cell, COLUMNS[name](got)))
                    seen += 1
        self.assertGreater(seen, 20)


if __name__ == "__main__":
    unittest.main()
