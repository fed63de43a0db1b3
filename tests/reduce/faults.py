"""OpenCL calls that fail in reductions, whose pieces become one result on the host."""

import numpy as np

from faults_support import Failing, setUpModule


class Failures(Failing):
    FILES = {"x.npy": np.random.default_rng(3).standard_normal(5000).astype(np.float32)}

    def test_vital(self):
        self.vital(self.call("reduce"))

    def test_streamed(self):
        self.stream(("reduce", "x.npy", "-o", "r.npy"), "4K", 10, anywhere=True)
