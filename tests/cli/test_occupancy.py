"""tessera occupancy: what a compute unit holds, against NVIDIA's occupancy calculator."""

import json
import unittest

from cli_support import Case, has_opencl


class Occupancy(Case):
    def row(self, *args, capability="9.0"):
        d = json.loads(self.succeed("occupancy", *args, "--capability", capability, "--json").out)
        self.assertEqual(d["schema"], "tessera-occupancy-1")
        (row,) = d["rows"]
        return row["groups"], row["work_items"], row["occupancy"], row["bound"]

    def test_numbers_of_the_calculator(self):
        self.assertEqual(self.row("--registers", "40"), (6, 1536, 0.75, "registers"))
        self.assertEqual(self.row("--group", "32"), (32, 1024, 0.5, "groups"))
        self.assertEqual(self.row("--group", "512", "--registers", "56", "--local", "128K"),
                         (1, 512, 0.25, "local memory"))
        self.assertEqual(self.row(capability="12.0"), (6, 1536, 1.0, "work-items"))
        self.assertEqual(self.row("--group", "1024", "--registers", "65"), (0, 0, 0.0, "registers"))
        # A warp is a warp, however few work-items it has.
        self.assertEqual(self.row("--group", "1"), (32, 1024, 0.5, "groups"))

    def test_all_capabilities(self):
        out = self.succeed("occupancy").out
        self.assertRegex(out, r"(?m)^groups of 256 work-items, 32 registers each, 0 bytes")
        self.assertRegex(self.succeed("occupancy", "--group", "100").out,
                         r"(?m)^groups of 100 work-items, 128 in whole warps, 32 registers each")
        for capability in ("7.0", "7.5", "8.0", "9.0", "10.3", "12.1"):
            self.assertRegex(out, r"(?m)^  %s +[0-9]+ +[0-9]+ +100.0%%  work-items$"
                             % capability.replace(".", r"\."))
        rows = json.loads(self.succeed("occupancy", "--json").out)["rows"]
        self.assertEqual(out.count("work-items\n"), len(rows))

    def test_advice(self):
        """Each line's number is the first that helps: one less of it does not."""
        out = self.succeed("occupancy", "--registers", "40", "--capability", "9.0").out
        self.assertIn("  32 registers or fewer: 8 at once, 100.0%", out)
        self.assertEqual(self.row("--registers", "33")[0], 6)
        out = self.succeed("occupancy", "--local", "60K", "--capability", "9.0").out
        self.assertIn("  57344 bytes of local memory or fewer: 4 at once, 50.0%", out)
        self.assertEqual(self.row("--local", "57345")[0], 3)
        self.assertIn("  groups of 288: 3 at once, 42.2%", out)

    def test_wrong_values(self):
        for option, value in (("--group", "0"), ("--group", "1025"), ("--registers", "256"),
                              ("--local", "-1"), ("--local", "1025K"), ("--capability", "9"), ("--capability", "4.2"),
                              ("--capability", "9.00"), ("--capability", "9..")):
            self.fail_with(2, "occupancy", option, value, says="option '%s' takes" % option)
        self.fail_with(2, "occupancy", "--device", "cpu", "--capability", "9.0", says="exclude")

    @unittest.skipUnless(has_opencl(), "no OpenCL device")
    def test_a_device_of_others(self):
        self.fail_with(1, "occupancy", "--device", "cpu", says="OpenCL does not report it")


if __name__ == "__main__":
    unittest.main()
