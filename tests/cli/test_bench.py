"""tessera bench: its table, its rows, and that it ends well."""

import fcntl
import json
import os
import pty
import struct
import subprocess
import termios
import unittest

from cli_support import COMMAND, EXAMPLES, OPERATIONS, Case, environment

# One row is done however soon the budget ends; of several, none may be late.
QUICK = ("--budget", "0.4")
# Of the first operation, so long that a line says what goes on.
SLOW_SIZE = "2000"
SEVERAL = ("--budget", "15")


def rows_of(text):
    return [json.loads(line) for line in text.splitlines()]


class Bench(Case):
    device = ("--device", "host")

    def bench(self, *args, **options):
        return self.succeed("bench", *args, *self.device, **options)

    def rows(self, *args, **options):
        return rows_of(self.bench(*args, "--json", "--quiet", **options).out)

    def check_row(self, row):
        self.assertEqual(row["schema"], "tessera-result-2")
        self.assertTrue(row["verified"], row)
        self.assertLessEqual(row["worst"], 1)
        self.assertGreaterEqual(row["samples"], 3)
        times = [row[k + "_ns"] for k in ("min", "low", "median", "high", "max")]
        self.assertEqual(times, sorted(times))
        self.assertGreater(times[0], 0)
        amount = row["bytes"] if row["unit"] == "GB/s" else row["work"]
        factor = 1e3 if row["unit"] == "Mkeys/s" else 1
        self.assertAlmostEqual(row["rate"] / (amount / row["median_ns"] * factor), 1, places=9)


class Progress(Bench):
    def on_terminal(self, columns):
        """What a run says on a terminal that is so wide: one text for each time it was redrawn."""
        terminal, user = pty.openpty()
        fcntl.ioctl(user, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        try:
            done = subprocess.run(
                [COMMAND, "bench", OPERATIONS[0], "--size", SLOW_SIZE, *self.device, *QUICK],
                stdout=subprocess.DEVNULL, stderr=user, timeout=300, env=environment())
            os.close(user)
            said = b""
            while True:
                try:
                    more = os.read(terminal, 65536)
                except OSError:  # the other end is closed
                    break
                if not more:
                    break
                said += more
        finally:
            os.close(terminal)
        self.assertEqual(done.returncode, 0)
        return said.decode().split("\r\x1b[K")

    def test_line_fits_the_terminal(self):
        """A longer one would leave its first part behind at each redrawing."""
        for columns in (44, 200):
            lines = [s for s in self.on_terminal(columns) if s.startswith("[")]
            self.assertTrue(lines)
            self.assertTrue(all(len(s) < columns and "\n" not in s for s in lines), lines)
        self.assertIn(" on host", lines[0])


class Host(Bench):
    def test_wrong_command_lines(self):
        for args, says in (
                ((), "0 of 1"),
                (("multiply",), "multiply")):
            self.fail_with(2, "bench", *args, says=says)

    def test_each_operation(self):
        """Its default on a small problem, verified, and the rows are what compare reads."""
        for op in OPERATIONS:
            r = self.bench(op, "--size", EXAMPLES[op]["SIZE"], "-o", "r.json", *QUICK)
            self.assertIn("kernel", r.out)
            with open(self.path("r.json"), encoding="utf-8") as f:
                row, = rows_of(f.read())
            self.check_row(row)
            self.assertEqual((row["op"], row["timer"], row["place"]), (op, "wall", "host"))
            self.succeed("compare", "r.json")


if __name__ == "__main__":
    unittest.main()
