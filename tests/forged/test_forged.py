"""Devices with odd limits and words: `devices` lists them, and every operation gives a right result or
one message, within the limits.

FORGED_LAYER names the layer built from forged_layer.c.  TESSERA_LONG=1 runs every device; else each
eighth.
"""

import json
import os
import signal
import subprocess
import time
import unittest

from cli_support import COMMAND, EXAMPLES, Case, environment, has_opencl

LAYER = os.environ["FORGED_LAYER"]
LONG = os.environ.get("TESSERA_LONG") == "1"
GPU, ACCELERATOR = 4, 8
KERNELS_ALONE = {"EXECUTION_CAPABILITIES": 1}  # and no C code on buffers


def group(n, **more):
    return {"MAX_WORK_GROUP_SIZE": n, "MAX_WORK_ITEM_SIZES": n, **more}


DEVICES = (
    [group(n) for n in (1, 2, 3, 4, 5, 7, 8, 12, 16, 31, 32, 48, 63, 64)] +
    [{"MAX_WORK_GROUP_SIZE": 64, "MAX_WORK_ITEM_SIZES": n} for n in (1, 2)] +
    [{"LOCAL_MEM_SIZE": n} for n in (0, 1, 256, 1024, 4096, 16384)] +
    [{"LOCAL_MEM_SIZE": 0, "LOCAL_MEM_TYPE": 0}] +
    [{"MAX_MEM_ALLOC_SIZE": n} for n in (1, 1000, 4096, 65536)] +
    [{"GLOBAL_MEM_SIZE": n, "MAX_MEM_ALLOC_SIZE": n} for n in (0, 20000)] +
    [{"DOUBLE_FP_CONFIG": 0, "EXTENSIONS": "cl_khr_byte_addressable_store"}, {"EXTENSIONS": ""},
     {"MEM_BASE_ADDR_ALIGN": 1, "HOST_UNIFIED_MEMORY": 0, "SVM_CAPABILITIES": 0},
     {"MAX_COMPUTE_UNITS": 0, "MAX_CLOCK_FREQUENCY": 0, "GLOBAL_MEM_CACHE_SIZE": 0},
     {"MAX_COMPUTE_UNITS": 4000000000, "MAX_NUM_SUB_GROUPS": 0},
     {"NATIVE_VECTOR_WIDTH_FLOAT": 0, "NATIVE_VECTOR_WIDTH_INT": 0,
      "NATIVE_VECTOR_WIDTH_DOUBLE": 0},
     {"NATIVE_VECTOR_WIDTH_FLOAT": 3, "NATIVE_VECTOR_WIDTH_INT": 5},
     {"NAME": "x" * 3000, "VENDOR": "y" * 3000}, {"NAME": "", "VENDOR": ""},
     {"NAME": "\x1b[31mred\x7f\t\x85 \"<b>'&", "VENDOR": "a\\b\nc"},
     {"VERSION": "OpenCL 1.2", "OPENCL_C_VERSION": "OpenCL C 1.2"},
     {"VERSION": "OpenCL 99.9 of tomorrow", "OPENCL_C_VERSION": "none"},
     {"TYPE": GPU}, {"TYPE": GPU, **group(32, LOCAL_MEM_SIZE=1024)}, {"TYPE": ACCELERATOR},
     {"TYPE": 0x10},
     group(1, LOCAL_MEM_SIZE=0, MAX_MEM_ALLOC_SIZE=30000, MAX_COMPUTE_UNITS=0, EXTENSIONS="",
           DOUBLE_FP_CONFIG=0, NAME="", HOST_UNIFIED_MEMORY=0)])


class Forged(Case):
    def run_on(self, device, *args):
        env = {"OPENCL_LAYERS": LAYER, "TESSERA_FORGED_REPORT": self.path("report"),
               "TESSERA_FORGED": ";".join("%s=%s" % item for item in device.items())}
        r = self.tessera(*args, env=env, timeout=600)
        if os.path.exists(self.path("report")):
            with open(self.path("report"), encoding="ascii") as f:
                violations = f.read()
            os.remove(self.path("report"))
            self.fail("%s\n%s" % (violations, r))
        return r

    def test_compilers_write_nothing_to_standard_error(self):
        self.save_examples()
        env = {"OPENCL_LAYERS": LAYER, "TESSERA_FORGED_COMPILER": "1 warning generated."}
        on_kernels = {**env, "TESSERA_FORGED": "EXECUTION_CAPABILITIES=1"}
        example = next(iter(EXAMPLES.values()))
        self.assertNotIn("generated", self.tessera("devices", env=env, timeout=600).err)
        r = self.tessera(*example["CALL"], "--copy", "--device", "0:0", "--json", env=on_kernels,
                         timeout=600)
        self.assertEqual((r.status, r.err.count("generated")), (0, 0), r)
        self.assertEqual(json.loads(r.out)["build"], "compiled", r)

    def test_a_compiler_that_ends_the_process_is_heard(self):
        """As PoCL's exits where the disk of its cache is full, and aborts where its path is too long: what
        it wrote is the only reason."""
        self.save_examples()
        example = next(iter(EXAMPLES.values()))
        for end in ("exit", "abort"):
            env = {"OPENCL_LAYERS": LAYER, "TESSERA_FORGED_COMPILER": "No space left on device",
                   "TESSERA_FORGED_END": end, "TESSERA_CACHE_DIR": self.path("cache")}
            r = self.tessera(*example["CALL"], "--kernel", example["KERNEL"], "--device", "0:0", env=env,
                             timeout=600)
            self.assertEqual((r.status, r.err), (1, "tessera: the OpenCL driver ended the program\n"
                                                    "No space left on device\n"), r)
            self.assertFalse(os.path.exists(self.path(example["RESULT"][0])))

    def test_an_interrupt_while_a_compiler_works_is_told(self):
        op, example = next(iter(EXAMPLES.items()))
        job = subprocess.Popen(
            [COMMAND, "tune", op, "--kernel", example["KERNEL"], "--size", example["SIZE"], "--device",
             "0:0"], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            env=environment(OPENCL_LAYERS=LAYER, TESSERA_FORGED_SECONDS="8",
                            TESSERA_CACHE_DIR=self.path("cache"),
                            TESSERA_TUNING_DIR=self.path("tuning")))
        time.sleep(4)
        job.send_signal(signal.SIGINT)
        _, err = job.communicate(timeout=100)
        self.assertEqual(job.returncode, 130, err)
        self.assertIn("interrupted: 0 of 1 classes", err.decode())

    def check_call(self, device, op):
        example = EXAMPLES[op]
        name = example["RESULT"][0]
        call = [*example["CALL"], "--copy", "--verify", "--device", "0:0"]
        if device.get("TYPE") == GPU and "KERNEL_OF_FORGED_GPUS" in example:
            call += ["--kernel", example["KERNEL_OF_FORGED_GPUS"]]
        r = self.run_on(device, *call)
        if r.status == 0:
            self.check_example(op)
            os.remove(self.path(name))
            return True
        self.assertEqual(r.status, 1, r)
        lines = [s for s in r.err.splitlines() if not s.startswith("hint: ")]
        self.assertEqual(len(lines), 1, r)
        self.assertTrue(lines[0].startswith("tessera: "), r)
        self.assertNotIn("CL_", lines[0], r)  # found before the driver is asked
        self.assertFalse(os.path.exists(self.path(name)), r)
        return False

    def test_devices(self):
        self.save_examples()
        done = refused = 0
        for i, device in enumerate(DEVICES):
            if i % 8 and device.get("MAX_MEM_ALLOC_SIZE") != 1 and not LONG:
                continue
            with self.subTest(device=device):
                r = self.run_on(device, "devices", "--json")
                self.assertEqual(r.status, 0, r)
                json.loads(r.out)
                for listed in (r, self.run_on(device, "devices")):
                    self.assertNotRegex(listed.out, "[\x00-\x09\x0b-\x1f\x7f-\x9f]")
                for op in EXAMPLES:
                    for more in (KERNELS_ALONE, {}):
                        with self.subTest(op=op, more=more):
                            ok = self.check_call({**device, **more}, op)
                            done += ok
                            refused += not ok
        self.assertGreater(done, refused)
        print("%d calls right, %d refused" % (done, refused))

    def test_the_layer_is_loaded(self):
        """The control: what it says is seen, and what a kernel may not do is noticed."""
        self.assertIn("A forged device", self.run_on({"NAME": "A forged device"}, "devices").out)
        self.save_examples()
        call = next(iter(EXAMPLES.values()))["CALL"]
        lying = {"LOCAL_MEM_SIZE": 1 << 20, "MAX_WORK_ITEM_SIZES": 0, "MAX_WORK_GROUP_SIZE": 64,
                 **KERNELS_ALONE}
        with self.assertRaisesRegex(AssertionError, "an extent of a work-group is [0-9]+, and at most 0"):
            self.run_on(lying, *call, "--copy", "--device", "0:0")

    def test_verify_where_the_device_has_no_memory(self):
        """What it does not hold is skipped, not wrong."""
        op, example = next(iter(EXAMPLES.items()))
        r = self.run_on({"MAX_MEM_ALLOC_SIZE": 1000}, "verify", op, "--tiny", "--defaults", "--small",
                        "--device", "0:0", "--kernel", example["KERNEL"], "--json")
        rows = json.loads(r.out)["rows"]
        self.assertEqual((r.status, sum(row["failed"] for row in rows)), (0, 0), r)
        self.assertGreater(sum(row["problems"] for row in rows), 0)
        self.assertGreater(sum(row["unsupported"] for row in rows), 0)

    def test_experiments_on_small_groups(self):
        """Those that need larger groups are skipped with the reason; the others run."""
        for size, skipped, runs in ((16, ["banks", "atomics", "chains", "stride"], "allocation"),
                                    (48, ["stride"], "chains")):
            r = self.run_on(group(size), "lab", *skipped, runs, "--size", "64", "--repeat", "1",
                            "--device", "0:0", "--json")
            self.assertEqual(r.status, 0, r)
            rows = [json.loads(line) for line in r.out.splitlines()]
            self.assertEqual({row["experiment"] for row in rows}, {*skipped, runs})
            for row in rows:
                small = row["experiment"] in skipped
                self.assertEqual(row["outcome"], "unsupported" if small else "timed", row)
                self.assertIn("work-groups are smaller than" if small else "", row["unsupported"])


def setUpModule():
    if not has_opencl():
        raise unittest.SkipTest("no OpenCL device")


if __name__ == "__main__":
    unittest.main()
