"""tessera bench topk."""

import unittest

import test_bench
from cli_support import has_opencl
from test_bench import QUICK


@unittest.skipUnless(has_opencl(), "no OpenCL device")
class Kernels(test_bench.Bench):
    device = ()

    def test_no_library_does_the_same(self):
        says = "hint: topk is compared with no other library"
        for args, said in (((), False), (("--peers",), True), (("--peers", "--quiet"), False)):
            r = self.succeed("bench", "topk", "--size", "500", "--device", "host", *args, *QUICK)
            self.assertEqual(says in r.err, said, r)

    def test_the_first_keys(self):
        """The rate counts all keys, also of a variant that does not sort them all."""
        for name in "naive", "tiles":
            row, = self.rows("sort", "--size", "5000", "--top", "7", "--kernel", name, *QUICK)
            self.check_row(row)
            self.assertEqual((row["op"], row["problem"], row["size"], row["work"], row["bytes"]),
                             ("topk", "first 7 of 5000 uint32", "5000", 5000, 4 * 5000 + 4 * 7))
        row, = self.rows("topk", "--size", "5000", "--device", "host", *QUICK)
        self.assertEqual(row["problem"], "first 100 of 5000 uint32 descending")
        row, = self.rows("topk", "--size", "5000", "--device", "host", "--smallest", *QUICK)
        self.assertEqual(row["problem"], "first 100 of 5000 uint32")
        row, = self.rows("sort", "--size", "30x70", "--top", "3", "--argsort", "--device", "host",
                         *QUICK)
        self.assertEqual(row["problem"], "first 3 of each of 30 rows of 70 uint32 argsort")
        for args, says in ((("matvec",), "matvec has no --top"),
                           (("overlap",), "overlap has no --top"),
                           (("sort", "--size", "3x4", "--segments", "mixed"),
                            "--segments mixed and --top exclude each other")):
            self.fail_with(2, "bench", *args, "--top", "7", says=says)


if __name__ == "__main__":
    unittest.main()
