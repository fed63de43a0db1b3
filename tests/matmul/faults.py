"""OpenCL calls that fail in products of matrices, and objects that are all given back."""

import unittest

import numpy as np

from faults_support import WORDS, COPIES, Failing, FailingOnce, Layered, Warm, setUpModule

RNG = np.random.default_rng(5)
# A shape that every variant takes.
FILES = {"a.npy": RNG.uniform(-1, 1, (40, 30)).astype(np.float32),
         "b.npy": RNG.uniform(-1, 1, (30, 50)).astype(np.float32)}
CALL = ("matmul", "a.npy", "b.npy", "-o", "out.npy", "--kernel", "cpu-block")
IN_C = ("matmul", "a.npy", "b.npy", "-o", "out.npy", "--kernel", "simd", "--copy")


class Balance(Layered):
    FILES = FILES

    def test_call(self):
        self.assert_balance_of(CALL)
        self.assert_balance_of(IN_C, "clEnqueueNativeKernel")

    def test_refusals(self):
        for args, status in (("--kernel tiled --set TILE=31", 2), ("--kernel mma", 1)):
            r, report = self.run_layered(*CALL[:5], *args.split())
            self.assertEqual(r.status, status, r)
            if report.ready:
                self.assert_balance(r, report)


class Failures(Failing):
    FILES = FILES

    def test_vital(self):
        self.vital(CALL)

    def test_c_code(self):
        """C code on buffers, which the host maps for it."""
        args = IN_C
        functions = ["clCreateBuffer", "clGetMemObjectInfo", "clEnqueueMapBuffer",
                     "clEnqueueNativeKernel", "clEnqueueUnmapMemObject", *COPIES]
        self.words = {**WORDS, "clEnqueueMapBuffer": "clEnqueueMapBuffer",
                      "clEnqueueUnmapMemObject": "clEnqueueUnmapMemObject"}
        calls = self.each(args, functions, self.assert_failed, "cache")
        self.assertEqual([f for f in functions if not calls.get(f)], [])
        self.assertNotIn("clEnqueueNDRangeKernel", [f for f, n in calls.items() if n])

    def test_streamed_tiles(self):
        self.save("c0.npy", np.ones((40, 50), np.float32))
        self.stream((*CALL, "--add", "c0.npy", "--beta", "2"), "6K", 5, anywhere=True)

    def test_streamed_slabs(self):
        self.stream(CALL, "1M", 10)

    def test_streamed_slabs_with_gaps(self):
        """Rows of 4 KiB of a slab are copied straight from pinned memory."""
        self.save("a.npy", np.ones((3, 17000), np.float32))
        self.save("b.npy", np.ones((17000, 2), np.float32))
        self.stream((*CALL, "--pinned", "on"), "1M", 5,
                    "clEnqueueWriteBufferRect")

    def test_streamed_scales(self):
        self.save("s.npy", np.ones(40, np.float32))
        self.save("t.npy", np.ones(50, np.float32))
        self.stream(("matmul", "a.npy", "b.npy", "-o", "out.npy", "--kernel", "general", "--as", "f8e4m3",
                     "--scale-a", "s.npy", "--scale-b", "t.npy"), "3K", 5)

    def test_streamed_batch(self):
        self.save("a.npy", np.ones((30, 5, 6), np.float32))
        self.save("b.npy", np.ones((30, 6, 7), np.float32))
        self.stream(CALL, "4K", 5)

    def test_streamed_batch_by_product(self):
        self.save("a.npy", np.ones((3, 20, 6), np.float32))
        self.save("b.npy", np.ones((3, 6, 7), np.float32))
        self.stream(CALL, "500", 5)


class EveryFunction(FailingOnce):
    FILES = FILES

    def test_copies(self):
        self.fail_each(*CALL, "--copy", beside=CALL)

    def test_c_code(self):
        self.fail_each(*IN_C, beside=CALL)


class WarmCalls(Warm):
    def test_one_launch(self):
        self.assert_each({"clGetMemObjectInfo": 12, "clSetKernelArg": 3, "clEnqueueNDRangeKernel": 1},
                         "tiled")

    def test_c_code(self):
        """Each buffer mapped and unmapped, and nothing set."""
        self.assert_each({"clGetMemObjectInfo": 6 * 3, "clEnqueueMapBuffer": 3,
                          "clEnqueueNativeKernel": 1, "clEnqueueUnmapMemObject": 3},
                         "simd")


if __name__ == "__main__":
    unittest.main()
