"""OpenCL calls that fail in products of a matrix and a vector, and objects that are all given back."""

import unittest

import numpy as np

from faults_support import Failing, FailingOnce, Layered, Warm, setUpModule

RNG = np.random.default_rng(5)
FILES = {"a.npy": RNG.uniform(-1, 1, (40, 30)).astype(np.float32),
         "x.npy": RNG.uniform(-1, 1, 30).astype(np.float32)}
CALL = ("matvec", "a.npy", "x.npy", "-o", "out.npy", "--kernel", "rows-vector")
SPLIT = ("matvec", "a.npy", "x.npy", "-o", "out.npy", "--kernel", "split-row")


class Balance(Layered):
    FILES = FILES

    def test_calls(self):
        self.assert_balance_of(CALL)
        self.assert_balance_of(SPLIT)


class Copies(Layered):
    def test_lines_far_apart(self):
        """The last line of a matrix with gaps is copied too: NVIDIA's driver, as the layer, wants the
        gap behind it in the buffer."""
        r, report = self.run_layered("verify", "matvec", "row-item", "--type", "f64", "--defaults",
                                     cache="lines", TESSERA_OWN_MEMORY="1")
        self.assertEqual(r.status, 0, r)
        self.assertGreater(report.calls["clEnqueueWriteBufferRect"], 0)


class Failures(Failing):
    FILES = FILES

    def test_vital(self):
        self.vital(SPLIT)

    def test_streamed(self):
        self.stream(CALL, "1K", 10, anywhere=True)

    def test_streamed_vectors(self):
        """Groups of whole products, and panels of each."""
        self.save("a.npy", np.ones((7, 20, 30), np.float32))
        self.save("x.npy", np.ones((7, 30), np.float32))
        for memory, chunks in (("8K", 6), ("1K", 20)):
            self.stream(CALL, memory, chunks)


class EveryFunction(FailingOnce):
    FILES = FILES

    def test_streamed(self):
        self.fail_each(*SPLIT, "--copy", "--device-memory", "1K")


class WarmCalls(Warm):
    def test_one_launch(self):
        self.assert_each({"clGetMemObjectInfo": 12, "clSetKernelArg": 3, "clEnqueueNDRangeKernel": 1},
                         "row-item")

    def test_a_scalar_that_changes(self):
        self.assert_each({"clGetMemObjectInfo": 12, "clSetKernelArg": 4,
                          "clEnqueueNDRangeKernel": 1}, "row-item", "turns")

    def test_a_workspace_and_counters_stay(self):
        """Sums of parts, which the last group adds up: A, x and y change, what the session keeps
        does not."""
        self.assert_each({"clGetMemObjectInfo": 12, "clSetKernelArg": 3,
                          "clEnqueueNDRangeKernel": 1}, "split-row")


if __name__ == "__main__":
    unittest.main()
