"""tessera trace: what it refuses, and why.  Its figures are tested in tests/unit/test_trace.c."""

import os
import unittest

from cli_support import OPERATIONS, Case, has_opencl


class Trace(Case):
    def test_usage(self):
        self.fail_with(2, "trace", says="trace")
        self.fail_with(2, "trace", "nothing", says="nothing")
        op = OPERATIONS[0]
        self.fail_with(2, "trace", op, "--size", "8", "--size", "9", says="one --size")
        self.fail_with(2, "trace", op, "--kernel", "nothing", says="nothing")
        self.fail_with(2, "trace", op, "--set", "A=1", says="--set A=1 needs --kernel")

    def test_devices_that_cannot(self):
        path = self.path("units.svg")
        for device in ["host"] + ["cpu"] * has_opencl():
            self.fail_with(1, "trace", OPERATIONS[0], "--device", device, "-o", path,
                           says=["on NVIDIA's GPUs only", "docs/trace.md has a picture"])
            self.assertFalse(os.path.exists(path))

    def test_one_thing_on_standard_output(self):
        self.fail_with(2, "trace", OPERATIONS[0], "--json", "-o", "-", "--device", "host",
                       says="--json and -o -")


if __name__ == "__main__":
    unittest.main()
