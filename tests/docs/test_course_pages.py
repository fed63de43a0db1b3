"""Cells of docs/course: figures, and in place of one the reason why there is none."""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts"))
import course_pages  # noqa: E402


def row(**more):
    return dict({"experiment": "a t", "outcome": "timed", "device": "D", "unit": "GB/s", "rate": 2.0,
                 "ratio": 1.0}, **more)


class Cells(unittest.TestCase):
    def cells(self, *rows):
        """Lines of a table with a row for each of these."""
        found = {("a t", "here", str(i), "d"): r for i, r in enumerate(rows) if r}
        t = {"name": "t", "knob": "k", "claims_values": False,
             "rows": [{"series": "", "x": str(i), "says": "-", "claim": "-"} for i in range(len(rows))]}
        return course_pages.table({"name": "a"}, t, found, ["d"])

    def test_without_a_figure(self):
        lines = self.cells(row(), None, row(outcome="unsupported"), row(outcome="failed"),
                           row(outcome="wrong"))
        self.assertEqual(lines[2:], ["| 0 |  |  | 2.00 | 1.00 |", "| 1 |  |  | not measured |  |",
                                     "| 2 |  |  | not here |  |", "| 3 |  |  | failed |  |",
                                     "| 4 |  |  | wrong |  |"])
        self.assertEqual(self.cells(None)[2:], ["| 0 |  |  | not measured |  |"])

    def test_units(self):
        """In the heading where all have one, else in each row."""
        self.assertIn(" D, GB/s |", self.cells(row(), row())[0])
        lines = self.cells(row(), row(unit="GFLOP/s"))
        self.assertIn(" D | x base |", lines[0])
        self.assertEqual([line.split(" | ")[3] for line in lines[2:]], ["2.00 GB/s", "2.00 GFLOP/s"])

    def test_where_it_ran(self):
        self.assertIn(" host of the D, GB/s |", self.cells(row(device="host"))[0])
        lines = self.cells(row(), row(device="host"))
        self.assertIn(" D, GB/s |", lines[0])
        self.assertIn("| 2.00, on the host |", lines[3])

    def test_sizes_of_a_cpu(self):
        """They stand behind its figure where they are others."""
        t = {"name": "t", "knob": "k", "claims_values": True,
             "rows": [{"series": "", "x": "{8|16|32}", "says": "-", "claim": "-"}]}
        found = {("a t", "here", "32", "gpu"): row(), ("a t", "here", "16", "cpu"): row(rate=1.0)}
        self.assertEqual(course_pages.table({"name": "a"}, t, found, ["gpu", "cpu"])[2:],
                         ["| 32 |  |  | 2.00 | 1.00, 16 |"])


if __name__ == "__main__":
    unittest.main()
