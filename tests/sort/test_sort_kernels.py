"""tessera kernels sort."""

import unittest

import test_kernels
from cli_support import has_opencl


@unittest.skipUnless(has_opencl(), "no OpenCL device")
class Listing(test_kernels.Listing):
    def test_type(self):
        for name, of in (("i64", "int64"), ("uint32", "uint32")):
            self.assertIn(of, self.listing("sort", "--type", name)[0]["problem"])

    def test_problem(self):
        """What the options describe is what variants are judged by."""
        keys = "1000000 uint32"
        for args, problem in (
                ((), "4194304 uint32"),
                (("--size", "1M", "--argsort"), keys + " argsort"),
                (("--size", "1000x1k"), "1000 rows of 1000 uint32"),
                (("--size", "1000x1k", "--segments", "mixed"),
                 keys + " in 1000 mixed segments of up to 16000")):
            self.assertEqual(self.listing("sort", *args)[0]["problem"], problem)
        suited = {v["name"]: v["suited"] for v in
                  self.listing("sort", "--segments", "uniform")[0]["variants"]}
        self.assertTrue(suited["segments"])
        self.assertNotIn("naive", suited)
        text = self.succeed("kernels", "sort", "--segments", "uniform").out
        self.assertRegex(text, r"(?m)^  (cpu-)?segments\S*: .*\n      chosen by default$")

    def test_problem_options(self):
        for define, *args in (("-DDESCENDING=1", "--descending"), ("-DWITH_INDEX=1", "--argsort"),
                              ("-DWITH_ROWS=1", "--size", "3x9")):
            self.check_define(define, "sort", "general", *args)
        self.fail_with(2, "kernels", "sort", "--trans", says="no --trans, which belongs to matvec")
        self.fail_with(2, "kernels", "sort", "--batch", "2", says="belongs to matmul and matvec")
        self.fail_with(2, "kernels", "sort", "--size", "8", "--size", "9", says="given 2 times")
        self.fail_with(2, "kernels", "sort", "--size", "0x9", says="'0x9' is an empty sort")
        self.fail_with(2, "kernels", "sort", "--segments", "mixed", "--size", "9",
                       says="SEGMENTSxKEYS")


if __name__ == "__main__":
    unittest.main()
