"""tessera devices, with drivers that are there, absent and broken."""

import json
import os
import re
import unittest

from cli_support import EXAMPLES, OPERATIONS, SOME, Case, has_opencl

FEATURES = {"fp16", "sub-groups", "inline PTX", "async copies", "large local memory", "wgmma",
            "tensor copies", "device-scope atomics", "sub-group shuffles",
            "loads past L1", "warp reductions"}


@unittest.skipUnless(has_opencl(), "no OpenCL device")
class Present(Case):
    def test_no_device_of_a_kind(self):
        """One status in every command: the name is right, and no such device is there."""
        calls = self.save_examples()
        for kind, name in (("gpu", "GPU"), ("accelerator", "accelerator")):
            if self.tessera("devices", "--device", kind).status == 0:
                continue
            for args in (("devices",), ("roofline",), *calls,
                         *((command, op) for command in ("kernels", "verify", "bench", "tune")
                           for op in OPERATIONS[:1])):
                r = self.fail_with(4, *args, "--device", kind,
                                   says="no %s was found; there are 0:0 " % name)
                self.assertIn("\nhint: ", r.err)
            self.fail_with(4, "kernels", env={"TESSERA_DEVICE": kind}, says=name)

    def test_json(self):
        d = json.loads(self.succeed("devices", "--json").out)
        self.assertEqual(d["schema"], "tessera-devices-1")
        self.assertEqual(d["failures"], [])
        self.assertEqual(d["devices"][-1]["id"], "host")
        for one in d["devices"][:-1]:
            self.assertRegex(one["id"], r"^\d+:\d+$")
            for key in ("name", "platform", "vendor", "driver", "opencl_c"):
                self.assertIsInstance(one[key], str)
            for key in ("compute_units", "global_memory_bytes", "max_allocation_bytes",
                        "local_memory_bytes", "max_work_group"):
                self.assertGreater(one[key], 0)
            self.assertIsInstance(one["fp64"], bool)
            self.assertEqual(set(one["features"]), FEATURES)
            for feature in one["features"].values():
                self.assertIn(feature["available"], (True, False))
                self.assertTrue(feature["available"] or feature["reason"])

    def test_text(self):
        r = self.succeed("devices")
        for one in json.loads(self.succeed("devices", "--json").out)["devices"][:-1]:
            self.assertIn("%s %s\n    platform" % (one["id"], one["name"]), r.out)
        for word in ("fp16", "sub-groups", "inline PTX", "local memory", "work-group limit"):
            self.assertIn("    " + word, r.out)
        self.assertIn("\nhost\n", r.out)

    def test_host(self):
        """What the C variants run on: the processor, its instructions and threads."""
        host = json.loads(self.succeed("devices", "--json").out)["devices"][-1]
        self.assertEqual([host[k] for k in ("id", "name", "platform")], ["host"] * 3)
        with open("/proc/cpuinfo", encoding="utf-8") as f:
            known = f.read()
        names = re.findall(r"(?m)^model name\s*: (.*)$", known)
        if names:
            self.assertEqual(host["processor"], names[0])
        flags = set(re.findall(r"(?m)^flags\s*: (.*)$", known)[0].split()) if names else set()
        if "avx512bw" in flags:
            self.assertIn("AVX-512", host["instruction_set"])
        elif "avx2" in flags:
            self.assertIn("AVX2", host["instruction_set"])
        else:
            self.assertTrue(host["instruction_set"])
        self.assertEqual(json.loads(self.succeed(
            "devices", "--device", "host", "--json", env={"OMP_NUM_THREADS": "1"}).out)["devices"]
            [0]["threads"], 1)
        self.assertEqual(json.loads(self.succeed(
            "devices", "--device", "host", "--json", env={"OMP_NUM_THREADS": "1000"}).out)
            ["devices"][0]["threads"], len(os.sched_getaffinity(0)))
        text = self.succeed("devices", "--device", "host").out
        for key in "processor", "instruction_set":
            self.assertIn("  %s\n" % host[key], text)

    def test_features_say_what_they_are(self):
        """A name alone, as of large local memory, tells nobody what is missing."""
        text = self.succeed("devices", env={"COLUMNS": "1000"}).out
        for feature in FEATURES:
            self.assertRegex(text, r"(?m)^    %s +(yes|no: .*) \(\w.{10,}\)$" % feature)
        wrapped = self.succeed("devices", env={"COLUMNS": "64"}).out
        features = wrapped[wrapped.index("    fp16"):]
        self.assertLessEqual(max(map(len, features.splitlines())), 64)

    def test_pocl_by_its_name(self):
        """Its platform is called Portable Computing Language; its version has the name."""
        devices = json.loads(self.succeed("devices", "--json").out)["devices"]
        pocl = [d["id"] for d in devices if d["platform"] == "Portable Computing Language"]
        if len(pocl) != 1:
            self.skipTest("not one device of PoCL")
        for name in ("pocl", "PoCL", "pocl 3" if "3." in devices[0]["driver"] else "PoCL "):
            d = json.loads(self.succeed("devices", "--json", "--device", name).out)
            self.assertEqual([x["id"] for x in d["devices"]], pocl)
        r = self.fail_with(2, "devices", "--device", "pocls", says="'pocls' is not there")
        self.assertNotIn("TESSERA_DEVICE", r.err)
        self.fail_with(2, "kernels", OPERATIONS[0], env={"TESSERA_DEVICE": "pocls"},
                       says=": TESSERA_DEVICE: device 'pocls' is not there; there are ")

    def test_one_device(self):
        one = json.loads(self.succeed("devices", "--json").out)["devices"][0]
        for which in (one["id"], one["platform"].upper()[:12], "all"):
            d = json.loads(self.succeed("devices", "--json", "--device", which).out)
            self.assertEqual(d["devices"][0]["id"], one["id"])
        r = self.succeed("devices", "--device", "host")
        self.assertTrue(r.out.startswith("host\n"), r)

    def test_the_environment_does_not_hide_a_device(self):
        r = self.succeed("devices", env={"TESSERA_DEVICE": "host"})
        self.assertIn("0:0 ", r.out)

    def test_the_environment_names_the_device(self):
        call = self.save_examples()[0]
        r = self.succeed(*call, env={"TESSERA_DEVICE": "host"})
        self.assertIn(" on host: ", r.err)
        r = self.succeed(*call, "--kernel", EXAMPLES[OPERATIONS[0]]["KERNEL"], "--device", "0:0",
                         env={"TESSERA_DEVICE": "host"})
        self.assertNotIn(" on host: ", r.err)


class OfAnotherKind(Case):
    def test_a_kind_that_is_not_there(self):
        """The drivers that are named are loaded: the way out is the missing one."""
        if self.tessera("devices", "--device", "gpu").status == 0:
            self.skipTest("there is a GPU")
        r = self.fail_with(4, "devices", "--device", "gpu", says="no GPU was found")
        self.assertIn("nvidia-opencl-icd", r.err)


class Absent(Case):
    """The loader finds no driver: OCL_ICD_VENDORS names a folder without one."""

    def setUp(self):
        super().setUp()
        os.mkdir(self.path("vendors"))
        self.none = {"OCL_ICD_VENDORS": self.path("vendors")}

    def test_devices(self):
        r = self.fail_with(4, "devices", env=self.none, says="no OpenCL device")
        self.assertTrue(r.out.startswith("host\n"), r)
        self.assertIn("hint: the OpenCL loader looked in OCL_ICD_VENDORS=%s"
                      % self.path("vendors"), r.err)
        self.assertIn("pocl-opencl-icd", r.err)
        r = self.fail_with(4, "devices", "--json", env=self.none)
        self.assertEqual([d["id"] for d in json.loads(r.out)["devices"]], ["host"])

    def test_drivers_that_are_named_and_not_loaded(self):
        """That one is there already is no reason to install it."""
        for name in ("one.icd", "two.icd"):
            with open(self.path("vendors/" + name), "w", encoding="ascii") as f:
                f.write("/nonexistent/libdriver.so\n")
        r = self.fail_with(4, "devices", env=self.none)
        self.assertIn("hint: 2 drivers are named there, but none that has a device could be loaded", r.err)
        self.assertNotIn("pocl-opencl-icd", r.err)

    def test_commands_that_need_one(self):
        calls = self.save_examples()
        before = self.names()
        for args in (*calls, *(("verify", op) for op in SOME),
                     ("verify", "--device", "all"), ("devices", "--device", "gpu"),
                     *(("kernels", op, EXAMPLES[op]["KERNEL"], "--ptx") for op in SOME)):
            r = self.fail_with(4, *args, env=self.none)
            self.assertIn("hint: ", r.err)
            self.assertEqual(r.out, "")
        self.assertEqual(self.names(), before)
        # The host is named where it serves.
        for args, serves in ((("verify",), True), (("lab", "stride"), False), (("lesson", "tiled", "--json"), False)):
            r = self.fail_with(4, *args, "--device", "gpu", env=self.none)
            self.assertEqual("'--device host' needs no OpenCL" in r.err, serves, r.err)

    def test_host_needs_none(self):
        for op, call in zip(OPERATIONS, self.save_examples()):
            self.succeed(*call, "--verify", "--device", "host", env=self.none)
            self.check_example(op)
        self.succeed("devices", "--device", "host", env=self.none)

    def test_kernels_are_listed_all_the_same(self):
        d = json.loads(self.succeed("kernels", "--json", env=self.none).out)
        self.assertIsNone(d["device"])
        self.assertNotIn("suited", d["operations"][0]["variants"][0])
        for op in SOME:
            r = self.succeed("kernels", op, EXAMPLES[op]["KERNEL"], "--source", env=self.none)
            self.assertTrue(r.out.startswith("/* options: they depend on"), r)

    def test_bogus_driver(self):
        self.write(os.path.join("vendors", "bogus.icd"), "/nowhere/libbogus.so\n")
        r = self.tessera("devices", env=self.none)
        self.assertEqual(r.status, 4, r)
        self.assertIn("host\n", r.out)


class Hostile(Case):
    """The only driver ends the process that loads it, with status 66."""

    def setUp(self):
        super().setUp()
        os.mkdir(self.path("vendors"))
        self.write(os.path.join("vendors", "exiting.icd"), os.environ["EXITING_DRIVER"] + "\n")
        self.env = {"OCL_ICD_VENDORS": self.path("vendors"), "OPENCL_VENDOR_PATH": None}

    def test_host_loads_no_driver(self):
        self.assertEqual(self.tessera("devices", env=self.env).status, 66)
        calls = self.save_examples()
        for args in (("devices",), ("kernels",), ("verify", OPERATIONS[-1], "--tiny"),
                     ("bench", OPERATIONS[-1], "--size", "100", "--repeat", "1"),
                     *((*call, "--verify") for call in calls)):
            self.succeed(*args, "--device", "host", env=self.env)
        self.succeed(*calls[0], env={**self.env, "TESSERA_DEVICE": "host"})
        self.check_example(OPERATIONS[0])

    def test_small_calls_open_one_channel(self):
        call = self.save_examples()[0]
        for args, env, channels in ((call, {}, "1"), (call, {"CUDA_DEVICE_MAX_CONNECTIONS": "4"}, "4"),
                                    ((*call, "--repeat", "3"), {}, "as ever"), (("devices",), {}, "as ever")):
            r = self.tessera(*args, env={"CUDA_DEVICE_MAX_CONNECTIONS": None, **self.env, **env})
            self.assertEqual((r.status, r.err), (66, "channels: %s\n" % channels))


@unittest.skipUnless(has_opencl() and os.path.isdir("/etc/OpenCL/vendors"), "no OpenCL device")
class Mixed(Case):
    def test_bogus_driver_does_not_hide_the_others(self):
        os.mkdir(self.path("vendors"))
        for name in os.listdir("/etc/OpenCL/vendors"):
            with open(os.path.join("/etc/OpenCL/vendors", name), encoding="utf-8") as f:
                self.write(os.path.join("vendors", name), f.read())
        self.write(os.path.join("vendors", "00-bogus.icd"), "/nowhere/libbogus.so\n")
        self.write(os.path.join("vendors", "empty.icd"), "")
        r = self.succeed("devices", env={"OCL_ICD_VENDORS": self.path("vendors")})
        self.assertIn("0:0 ", r.out)


if __name__ == "__main__":
    unittest.main()
