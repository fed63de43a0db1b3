"""OpenCL calls that fail in grayscale, and objects that are all given back: images among them."""

import numpy as np

from faults_support import Failing, Layered, setUpModule

FILES = {"g.npy": np.random.default_rng(3).integers(0, 256, (17, 31, 3), dtype=np.uint8)}
IMAGE = ("grayscale", "g.npy", "-o", "grey.npy", "--kernel", "image2d")


class Balance(Layered):
    FILES = FILES

    def test_calls(self):
        self.assert_balance_of(IMAGE)
        r, report = self.run_layered(*IMAGE, "--repeat", "3")
        self.assertEqual(r.status, 0, r)
        self.assert_balance(r, report)
        self.assertEqual(report.calls["clCreateImage"], 1)


class Failures(Failing):
    FILES = FILES

    def test_vital(self):
        self.vital(self.call("grayscale"))

    def test_images(self):
        self.calls_of(IMAGE, "cache")
        self.each(IMAGE, ["clCreateImage", "clEnqueueCopyBufferToImage"], self.assert_failed, "cache")
