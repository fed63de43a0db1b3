"""tessera tune matvec."""

import unittest

import test_tune


class OnHost(test_tune.Tuned):
    def test_the_best_is_not_slower_than_a_finalist(self):
        (c,) = self.tune("matvec", "--device", "host", "--size", "300", "--budget", "2")["classes"]
        final = [t for t in c["tried"] if t["outcome"] == "final"]
        fastest = min(t["median_ns"] for t in final)
        self.assertEqual(c["fastest"]["median_ns"], fastest)
        if c["best"]["median_ns"] > fastest:
            self.assertTrue(c["best"]["tied"], c["best"])

    def test_each_rate_is_of_its_time(self):
        """However soon the budget ends: before the finals, within them, or after."""
        for budget in ("0.05", "0.3", "1"):
            for c in self.tune("matvec", "--device", "host", "--size", "700", "--budget",
                               budget)["classes"]:
                timed = [t for t in c["tried"] if t["outcome"] in ("timed", "final")]
                self.assertTrue(timed)
                for t in timed + [t for t in (c["best"], c["fastest"], c["before"]) if t]:
                    self.assertAlmostEqual(t["rate"] * t["median_ns"] / (4 * (700 * 700 + 1400)), 1,
                                           9, t)
                for t in (c["best"], c["fastest"]):
                    self.assertTrue(t is None or t["outcome"] == "final", t)
                    self.assertTrue(t is None or t in c["tried"], t)


if __name__ == "__main__":
    unittest.main()
