"""tessera reduce: arrays in, one number out."""

import json
import unittest

import numpy as np

from cli_support import Case

HOST = ("--device", "host", "--quiet")


class Reduce(Case):
    def reduce(self, x, *args):
        np.save(self.path("x.npy"), x)
        self.succeed("reduce", "x.npy", "-o", "r.npy", *HOST, *args)
        result = np.load(self.path("r.npy"))
        self.assertEqual((result.dtype, result.shape), (np.float32, (1,)))
        return result[0]

    def test_each_reduction(self):
        x = np.random.default_rng(1).standard_normal((30, 7)).astype(np.float32)
        self.assertAlmostEqual(self.reduce(x), x.sum(dtype=np.float64), delta=1e-4)
        self.assertEqual(self.reduce(x, "--by", "min", "--verify"), x.min())
        self.assertEqual(self.reduce(x, "--by", "max", "--verify"), x.max())

    def test_special_values(self):
        x = np.float32([1, np.inf, -2])
        self.assertEqual(self.reduce(x), np.inf)
        x[0] = np.nan
        for by in ("sum", "min", "max"):
            self.assertTrue(np.isnan(self.reduce(x, "--by", by)))

    def test_of_nothing(self):
        nothing = np.zeros(0, np.float32)
        self.assertEqual(self.reduce(nothing), 0)
        for by, message in (("min", "no elements have no min"), ("max", "no elements have no max")):
            self.fail_with(1, "reduce", "x.npy", "-o", "r.npy", "--by", by, *HOST, says=message)

    def test_other_types_are_refused_with_the_way_out(self):
        np.save(self.path("x.npy"), np.arange(3.0))
        self.fail_with(1, "reduce", "x.npy", "-o", "r.npy", *HOST,
                       says="x.npy is float64, and reduce takes float32; --as f32 converts")
        self.fail_with(2, "reduce", "x.npy", "-o", "r.npy", "--as", "f64", *HOST,
                       says="'--as' takes f32, not 'f64'")
        self.assertEqual(self.reduce(np.arange(3.0), "--as", "f32"), 3)

    def test_json_has_the_word(self):
        np.save(self.path("x.npy"), np.float32([3, 1, 2]))
        for args, by in (((), "sum"), (("--by", "min"), "min")):
            r = self.succeed("reduce", "x.npy", "-o", "r.npy", "--json", *HOST, *args)
            problem = json.loads(r.out)["problem"]
            self.assertEqual((problem["n"], problem["by"], problem["description"]),
                             (3, by, "%s of 3 float32" % by))

    def test_unknown_reduction(self):
        self.fail_with(2, "reduce", "x.npy", "-o", "r.npy", "--by", "mean", *HOST,
                       says=("mean", "sum, min or max"))


if __name__ == "__main__":
    unittest.main()
