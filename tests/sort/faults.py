"""OpenCL calls that fail in sorts, and objects that are all given back."""

import unittest

import numpy as np

from faults_support import Failing, Layered, Warm, setUpModule

# Of several launches.
FILES = {"keys.npy": np.random.default_rng(5).integers(0, 1000, 5000).astype(np.int32)}
SORT = ("sort", "keys.npy", "-o", "out.npy", "--argsort", "index.npy")
CALL = (*SORT, "--kernel", "radix")
GENERAL = ("sort", "keys.npy", "-o", "out.npy", "--kernel", "general")


class Balance(Layered):
    FILES = FILES

    def test_calls(self):
        self.assert_balance_of(CALL)
        self.assert_balance_of(GENERAL)


class Failures(Failing):
    FILES = FILES

    def test_vital(self):
        self.vital(CALL)

    def test_two_queues(self):
        """A sort that forks into a second queue, and joins it, or fails to."""
        self.save("many.npy", np.arange(2**21, dtype=np.uint32)[::-1].copy())
        args = ("sort", "many.npy", "-o", "out.npy", "--kernel", "fused-passes", "--set",
                "CHUNK=20", "--set", "QUEUES=2")
        self.calls_of(args, "cache")
        for function, n in (("clCreateCommandQueue", 2), ("clEnqueueMarkerWithWaitList", 1),
                            ("clEnqueueMarkerWithWaitList", 2),
                            ("clEnqueueBarrierWithWaitList", 1),
                            ("clEnqueueBarrierWithWaitList", 2), ("clEnqueueNDRangeKernel", 4)):
            with self.subTest(function=function, call=n):
                self.assert_failed(args, function, n, self.strike(args, function, n, "cache"))

    def test_streamed_sort(self):
        """Chunks in two queues, that are merged as they arrive."""
        for pinned in ("off", "on"):
            self.stream((*SORT, "--kernel", "fused-passes", "--pinned", pinned), "1M",
                        8, "clEnqueueMarkerWithWaitList", "clEnqueueBarrierWithWaitList",
                        anywhere=pinned == "off")

    def test_streamed_rows(self):
        self.save("keys.npy", np.arange(5000, dtype=np.int32)[::-1].reshape(100, 50))
        self.stream((*SORT, "--rows", "--pinned", "on"), "12K", 10)

    def test_streamed_exchange(self):
        self.stream(("sort", "keys.npy", "-o", "out.npy"), "12K", 10)


class WarmCalls(Warm):
    def test_launches_that_share_a_kernel(self):
        """A network of 12 stages, a launch a step: the keys once, and then what differs.  The stride
        does from launch to launch, but for the first one after the last of the call before; whether a
        stage begins does twice a stage of three steps and more, and once in each of the first two."""
        self.assert_each({"clGetMemObjectInfo": 4, "clSetKernelArg": 1 + 77 + 22,
                          "clEnqueueNDRangeKernel": 78, "clFlush": 2}, "naive")


if __name__ == "__main__":
    unittest.main()
