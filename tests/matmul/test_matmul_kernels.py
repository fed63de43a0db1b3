"""tessera kernels matmul."""

import json
import re
import unittest

import numpy as np

import test_kernels
from cli_support import has_opencl


@unittest.skipUnless(has_opencl(), "no OpenCL device")
class Listing(test_kernels.Listing):
    def test_default_is_marked(self):
        """The mark stands at the variant that a call of that size gets."""
        self.save("a.npy", np.zeros((1024, 1024), np.float32))
        r = self.succeed("matmul", "a.npy", "a.npy", "-o", "c.npy", "--alpha", "0", "--json")
        text = self.succeed("kernels", "matmul").out
        self.assertEqual(re.findall(r"(?m)^  (\S+): .*\n      chosen by default$", text),
                         [json.loads(r.out)["variant"]])
        self.assertNotIn("chosen by default", self.succeed("kernels", "matmul", "naive").out)

    def test_type(self):
        for name in ("f64", "float64"):
            self.assertIn("float64", self.listing("matmul", "--type", name)[0]["problem"])
        self.fail_with(2, "kernels", "matmul", "--type", "u32", says=("matmul", "uint32"))

    def test_problem(self):
        """What the options describe is what variants are judged by."""
        for args, problem in (
                (("--size", "20x30x40", "--batch", "5", "--type", "f16", "--out-type", "f32"),
                 "20x30x40 float16 to float32 x 5"),
                (("--precision", "tf32"), "1024x1024x1024 float32 tf32")):
            self.assertEqual(self.listing("matmul", *args)[0]["problem"], problem)

    def test_problem_options(self):
        self.check_define("-DTRANS_A=1", "matmul", "general", "--trans-a")
        self.check_define("-DTRANS_B=1", "matmul", "general", "--trans-b")

    def test_wrong(self):
        self.fail_with(2, "kernels", "matmul", "tilled", says=("'tilled'", "'tiled'"))
        self.fail_with(2, "kernels", "matmul", "tiled", "--set", "TILE=7", says="TILE")


if __name__ == "__main__":
    unittest.main()
