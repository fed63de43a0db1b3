"""tessera kernels matvec."""

import unittest

import test_kernels
from cli_support import has_opencl


@unittest.skipUnless(has_opencl(), "no OpenCL device")
class Listing(test_kernels.Listing):
    def test_problem(self):
        self.assertEqual(self.listing("matvec", "--size", "20x30")[0]["problem"], "20x30 float32")

    def test_problem_options(self):
        self.check_define("-DTRANS=1", "matvec", "row-item", "--trans")
        self.fail_with(2, "kernels", "matvec", "--segments", "mixed", says="belongs to sort")


if __name__ == "__main__":
    unittest.main()
