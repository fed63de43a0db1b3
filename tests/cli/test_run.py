"""Calls of every operation: its example, tests/OP/example.py, on the host and on the device.  Each
class is a test."""

import json
import os
import unittest

from cli_support import EXAMPLES, OPERATIONS, Case, has_opencl


class Run(Case):
    """On the host; what repeats it on the device has none here."""

    device = ("--device", "host")

    def listing(self, *args):
        return json.loads(self.succeed("kernels", "--json", *args, *self.device).out)["operations"]

    def shares(self):
        """Whether operands stay where they are: on the host, and where devices share its memory."""
        if self.device:
            return True
        ran = json.loads(self.succeed("kernels", "--json").out)["device"]["id"]
        devices = json.loads(self.succeed("devices", "--json").out)["devices"]
        return next(d["unified_memory"] for d in devices if d["id"] == ran)


class OnHost(Run):
    def test_a_file_with_other_names(self):
        """It is replaced: the others keep what they have, and a warning says so, once."""
        self.save_examples()
        for op in OPERATIONS:
            call, name = EXAMPLES[op]["CALL"], EXAMPLES[op]["RESULT"][0]
            with open(self.path(name), "w", encoding="ascii") as f:
                f.write("old")
            os.link(self.path(name), self.path("kept"))
            self.assertEqual(self.succeed(*call, *self.device, "--quiet").err,
                             "tessera: warning: %s: the file that was there has other names (hard links), "
                             "which keep the old content\n" % name)
            with open(self.path("kept"), encoding="ascii") as f:
                self.assertEqual(f.read(), "old")
            self.check_example(op)
            self.assertEqual(self.succeed(*call, *self.device, "--quiet").err, "")
            os.unlink(self.path("kept"))

    def variants(self, op):
        """Those that --kernel accepts on this device."""
        return [v["name"] for v in self.listing(op)[0]["variants"] if v["suited"]]

    def test_every_variant(self):
        self.save_examples()
        for op in OPERATIONS:
            for name in self.variants(op):
                r = self.succeed(*EXAMPLES[op]["CALL"], "--kernel", name, "--verify", *self.device)
                self.assertIn(": %s" % name, r.err)
                self.check_example(op)

    def test_set(self):
        """A value that a tunable takes is what runs; one that it does not is refused."""
        self.save_examples()
        for op in OPERATIONS:
            for v in [v for v in self.listing(op)[0]["variants"] if v["suited"] and v["tunables"]][:1]:
                t = v["tunables"][0]
                args = (*EXAMPLES[op]["CALL"], "--kernel", v["name"], *self.device)
                wanted = "%s=%d" % (t["name"], t["values"][-1])
                r = self.succeed(*args, "--set", wanted, "--verify")
                self.assertIn(wanted, r.err)
                self.fail_with(2, *args, "--set", t["name"] + "=987654321", says="987654321")


@unittest.skipUnless(has_opencl(), "no OpenCL device")
class OnDevice(OnHost):
    device = ()

    def variants(self, op):
        """The sweep has the others: each is a program to compile."""
        return [EXAMPLES[op]["KERNEL"]]


if __name__ == "__main__":
    unittest.main()
