"""Cells of docs/course: figures, and in place of one the reason why there is none."""

import json
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

    def test_reasons(self):
        """One sentence for the rows of a device that lack the same."""
        found = {("a t", "here", str(i), "d"): r for i, r in enumerate(
            [row(), row(outcome="unsupported", unsupported="it needs x"),
             row(outcome="unsupported", unsupported="D: it needs y"),
             row(outcome="unsupported", unsupported="it needs x")])}
        t = {"name": "t", "rows": [{"series": "", "x": str(i)} for i in range(4)]}
        self.assertEqual(course_pages.reasons({"name": "a"}, t, found, ["d"]),
                         'on D "1", "3": it needs x; on D "2": it needs y')
        self.assertEqual(course_pages.reasons({"name": "a"}, t, {}, ["d"]), "")

    def test_figures_of_the_list_of_errors(self):
        """What docs/course/README.md says that an H200 shows is what the rows have."""
        rows, _ = course_pages.read_rows()
        ridge = {x: r["ratio"] for (where, _, x, device), r in rows.items()
                 if (where, device) == ("004 ridge", "h200")}
        cycles = {x: r["rate"] for (where, _, x, device), r in rows.items()
                  if (where, device) == ("004 latency", "h200")}
        with open(os.path.join(course_pages.PAGES, "README.md"), encoding="utf-8") as f:
            text = f.read()
        self.assertIn("measured %.1f for FP32 and %.0f for bfloat16" % (ridge["fp32"], ridge["tensor bf16"]), text)
        self.assertIn("%.0f of local memory, 190 to 210 of another group's, %.0f and %.0f on an H200" % tuple(
            cycles[x] for x in ("local", "second cache", "memory")), text)

    def test_figures_of_the_lab(self):
        with open(os.path.join(course_pages.RESULTS, "lab-h200.jsonl"), encoding="utf-8") as f:
            rows = {(r["experiment"], r["name"], r["x"]): r["rate"] for r in map(json.loads, f)}
        with open(os.path.join(course_pages.PAGES, "..", "lab.md"), encoding="utf-8") as f:
            text = f.read()
        self.assertIn("| %.3f, %.2f Gop/s |" % (rows["atomics", "swap", "1"], rows["atomics", "swap", "1024"]), text)
        self.assertIn("a group without a cluster loads in %.0f," % rows["clusters", "no cluster", "1"], text)
        self.assertIn("%.1f us here" % rows["graphs", "launches", "256"], text)

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
