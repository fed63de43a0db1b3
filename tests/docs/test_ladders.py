"""The tables of steps that scripts/ladders.py makes of made-up rows."""

import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "..", "scripts"), os.path.join(HERE, "..", "report")]

import ladders  # noqa: E402
import made_up_rows  # noqa: E402
from made_up_rows import GPU, IN_BYTES, IN_FLOPS  # noqa: E402


def step(name, rate, op, **fields):
    return made_up_rows.timed(
        made_up_rows.job(GPU, op, 1024, name=name, verified=True, **fields), rate)


def story(op, rows, *how):
    problem = rows[0]["problem"]
    operation = {"op": op, "variants": [{"name": n} for n in ("lesson", "first", "second", "cpu-own")]}
    found = ladders.steps([("made-up", r) for r in rows], op, problem)
    return list(ladders.story(operation, found, "made-up", *how))


class Story(unittest.TestCase):
    def test_gains(self):
        rows = [step("second", 300, IN_FLOPS), step("first", 100, IN_FLOPS),
                step("cpu-own", 900, IN_FLOPS), step("lesson", 50, IN_FLOPS)]
        got = story(IN_FLOPS, rows)
        self.assertEqual(got[2:], ["| step | GFLOP/s | over the best before | over lesson |",
                                   "| --- | ---: | ---: | ---: |",
                                   "| lesson | 50 | 1.00 x | 1.0 x |",
                                   "| first | 100 | 2.00 x | 2.0 x |",
                                   "| second | 300 | 3.00 x | 6.0 x |"])
        self.assertEqual(story(IN_FLOPS, rows, "cpu-", "first", "first")[4:],
                         ["| first | 100 | 1.00 x | 1.0 x |", "| second | 300 | 3.00 x | 3.0 x |"])

    def test_nothing_measured(self):
        """Also where all that was measured is no step of today's, or of another device."""
        for name in "cpu-own", "gone":
            self.assertEqual(story(IN_FLOPS, [step(name, 1, IN_FLOPS)]), ["Not measured yet."])

    def test_share_of_the_limit(self):
        rows = [step("first", 100, IN_BYTES, share=0.25, bound_by="memory copy"),
                step("second", 90, IN_BYTES, share=0.225, bound_by="memory copy")]
        self.assertEqual(story(IN_BYTES, rows)[2:],
                         ["| step | GB/s | of memory copy | over the best before | over first |",
                          "| --- | ---: | ---: | ---: | ---: |",
                          "| first | 100 | 25.0% | 1.00 x | 1.0 x |",
                          "| second | 90 | 22.5% | 0.90 x | 0.9 x |"])
        self.assertNotIn(" of ", story(IN_BYTES, [step("first", 100, IN_BYTES)])[2])


if __name__ == "__main__":
    unittest.main()
