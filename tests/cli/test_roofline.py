"""tessera roofline: the limits of a device, kept, and a ladder placed on them.

Unoptimized kernels do here: limits are compared with each other alone.
"""

import csv
import io
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from cli_support import COMMAND, EXAMPLES, OPERATIONS, SANITIZED, SOURCE, Case, environment, has_opencl

LIMITS = ["fp32", "fp64", "int32", "tensor tf32", "tensor bf16", "tensor f16", "tensor f64",
          "tensor fp8", "tensor int8", "sparse bf16", "sparse fp8", "sparse int8", "memory read",
          "memory write", "memory copy", "local memory", "to device", "from device",
          "to device, pinned", "from device, pinned", "both ways, pinned", "launch, queued",
          "launch, waited"]
UNITS = {"GFLOP/s", "Gop/s", "GB/s", "us"}
ONCE = "measuring all limits again shows a sanitizer little that is new"
# What is placed on the limits: of the first operation a ladder of many steps, of the last one of few.
OP = OPERATIONS[-1 if SANITIZED else 0]
KERNEL = EXAMPLES[OP]["KERNEL"]


def rows_of(text):
    return [json.loads(line) for line in text.splitlines()]


@unittest.skipUnless(has_opencl(), "no OpenCL device")
class Measured(Case):
    """One measurement of the device of the type CPU, looked at from all sides."""

    @classmethod
    def setUpClass(cls):
        cls.cache = tempfile.mkdtemp(prefix="tessera-roofline-")
        cls.addClassCleanup(shutil.rmtree, cls.cache, ignore_errors=True)
        cls.file = os.path.join(cls.cache, "rows.json")
        cls.done = subprocess.run(
            [COMMAND, "roofline", OP, "--size", "128", "--size", "64", "--device", "cpu",
             "--seconds", "0.05", "-o", cls.file],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=600,
            env=environment(TESSERA_CACHE_DIR=os.path.join(cls.cache, "own")))
        cls.rows = cls.read()

    @classmethod
    def read(cls):
        if not os.path.exists(cls.file):
            return []
        with open(cls.file, encoding="utf-8") as f:
            return rows_of(f.read())

    def test_limits_take_no_operation(self):
        self.fail_with(2, "roofline", OP, "--limits", says="takes no operation")
        self.fail_with(2, "roofline", "--limits", "--size", "8", says="takes no --size")

    def again(self, *args):
        """The limits of a further run, without a ladder, which finds the first's: {name: row}, and what
        it said."""
        own = self.path("own")
        if not os.path.exists(own):
            shutil.copytree(os.path.join(self.cache, "own"), own)
        r = self.succeed("roofline", "--limits", "--device", "cpu", "--seconds", "0.05",
                         "-o", "more.json", *args, env={"TESSERA_CACHE_DIR": own})
        with open(self.path("more.json"), encoding="utf-8") as f:
            rows = rows_of(f.read())
        self.assertEqual([(row["kind"], row["name"]) for row in rows],
                         [("limit", name) for name in LIMITS])
        return {row["name"]: row for row in rows}, r

    def limits(self):
        return {r["name"]: r for r in self.rows if r["kind"] == "limit"}

    def of_kernel(self):
        """The rows of one kernel, one for each size."""
        return [r for r in self.rows if r["kind"] == "kernel" and r["name"] == KERNEL]

    def test_it_runs(self):
        self.assertEqual((self.done.returncode, self.done.stderr), (0, ""), self.done)

    def test_every_limit_has_a_value_or_a_reason(self):
        self.assertEqual([r["name"] for r in self.rows if r["kind"] == "limit"], LIMITS)
        for name, r in self.limits().items():
            self.assertIn(r["unit"], UNITS)
            self.assertEqual(r["schema"], "tessera-result-2")
            if r["unsupported"]:
                self.assertEqual((r["rate"], r["verified"]), (0, False), r)
            else:
                self.assertTrue(r["rate"] > 0 and r["verified"], r)
                self.assertGreaterEqual(r["samples"], 5)
                self.assertLessEqual(r["min_ns"], r["median_ns"])

    def test_rates_are_amounts_over_the_fastest_time(self):
        for name, r in self.limits().items():
            if r["unsupported"]:
                continue
            if r["unit"] == "us":
                expected = r["min_ns"] / 1e3
            else:
                expected = (r["bytes"] if r["unit"] == "GB/s" else r["work"]) / r["min_ns"]
            self.assertAlmostEqual(r["rate"] / expected, 1, 6, r)

    def test_what_a_cpu_has(self):
        limits = self.limits()
        for name in LIMITS:
            if not name.startswith(("tensor", "sparse")) and name != "fp64":
                self.assertGreater(limits[name]["rate"], 0, name)
        if "NVIDIA" not in limits["fp32"]["vendor"]:
            for name in (n for n in LIMITS if n.startswith(("tensor", "sparse"))):
                self.assertIn("inline PTX", limits[name]["unsupported"])

    def test_the_table(self):
        for name in LIMITS:
            self.assertRegex(self.done.stdout, r"(?m)^    %s +(-|[0-9.]+) " % name)
        self.assertRegex(self.done.stdout, r"(?m)^  %s %s: " % (OP, self.of_kernel()[0]["problem"]))
        self.assertRegex(self.done.stdout,
                         r"(?m)^    %s .* %s +(-|[0-9.]+) +[0-9.]+%% of [0-9.]+ \("
                         % (KERNEL, self.of_kernel()[0]["unit"]))

    def test_the_ladder_is_placed(self):
        steps = [r for r in self.rows if r["kind"] == "kernel"]
        self.assertEqual([r["size"].split("x")[0] for r in self.of_kernel()], ["128", "64"])
        fp32 = self.limits()["fp32"]["rate"]
        read = self.limits()["memory read"]["rate"]
        for r in steps:
            if r["unsupported"]:
                continue
            amount = r["bytes"] if r["unit"] == "GB/s" else r["work"]
            attainable = min(fp32, r["work"] / r["bytes"] * read) * amount / r["work"]
            self.assertAlmostEqual(r["limit_rate"] / attainable, 1, 6, r)
            self.assertAlmostEqual(r["share"], r["rate"] / attainable, 6, r)
            self.assertIn(r["bound_by"], ("fp32", "memory read"))

    def test_the_limits_are_kept(self):
        own = {"TESSERA_CACHE_DIR": os.path.join(self.cache, "own")}
        self.assertIn("limits of ", self.succeed("cache", env=own).out)
        self.succeed("bench", OP, "--size", "128", "--kernel", KERNEL, "--device", "cpu",
                     "--budget", "5", "-o", "rows.json", env=own)
        with open(self.path("rows.json"), encoding="utf-8") as f:
            bench, = rows_of(f.read())
        here = self.of_kernel()[0]
        self.assertEqual((bench["bound_by"], bench["limit_rate"]),
                         (here["bound_by"], here["limit_rate"]))

    @unittest.skipIf(SANITIZED, ONCE)
    def test_the_best_of_all_runs_is_kept(self):
        """A later run takes no limit back, and says which it kept."""
        before, (after, r) = self.limits(), self.again()
        kept = 0
        for name, row in after.items():
            old = before[name]
            if not old["rate"]:
                self.assertEqual(row["unsupported"], old["unsupported"])
                continue
            if old["unit"] == "us":
                self.assertLessEqual(row["rate"], old["rate"], name)
            else:
                self.assertGreaterEqual(row["rate"], old["rate"], name)
            is_kept = row["median_ns"] == old["median_ns"] and row["rate"] == old["rate"]
            kept += is_kept
            self.assertEqual(row["when"] == old["when"], is_kept, (row, old))
            line = next(s for s in r.out.splitlines() if s.startswith("    %s " % name))
            self.assertEqual("; kept from %s, now " % old["when"] in line, is_kept, line)
        self.assertEqual(len(re.findall("^hint: %d of the limits" % kept, r.err)), kept > 0, r)

    @unittest.skipIf(SANITIZED, ONCE)
    def test_fresh_limits_replace_those_of_before(self):
        before, (fresh, r) = self.limits(), self.again("--fresh")
        self.assertNotIn("kept from", r.out + r.err)
        for name, row in fresh.items():
            self.assertGreater(row["when"], before[name]["when"])


@unittest.skipUnless(has_opencl(), "no OpenCL device")
class Others(Case):
    def interrupt(self, *args):
        """Interrupt once the first limit is there."""
        p = subprocess.Popen([COMMAND, "roofline", "--device", "cpu", *args], cwd=self.folder,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             env=environment())
        first = p.stdout.readline() + p.stdout.readline()
        p.send_signal(signal.SIGINT)
        out, err = p.communicate(timeout=300)
        return p.returncode, first + out, err

    def test_an_interrupt_keeps_what_there_is(self):
        status, out, err = self.interrupt("-o", "rows.csv", "--csv")
        self.assertEqual(status, 130, err)
        self.assertIn("interrupted", err)
        with open(self.path("rows.csv"), encoding="utf-8", newline="") as f:
            rows = list(csv.DictReader(io.StringIO(f.read())))
        self.assertEqual([r["name"] for r in rows], LIMITS[:len(rows)])
        self.assertTrue(0 < len(rows) < len(LIMITS), rows)
        self.assertEqual(self.names(), ["rows.csv"])

    def broken(self, file, old, new):
        """A folder of kernels, one of them broken: the rows of a run that is cut short by it."""
        shutil.copytree(os.path.join(SOURCE, "cl"), self.path("cl"))
        with open(self.path("cl/" + file), encoding="utf-8") as f:
            text = f.read()
        self.assertIn(old, text)
        self.write("cl/" + file, text.replace(old, new))
        r = self.tessera("roofline", "--device", "cpu", "--seconds", "0.05", "--json", "--kernel-dir", "cl",
                         env={"TESSERA_CACHE_DIR": self.path("own")})
        kept = self.succeed("cache", env={"TESSERA_CACHE_DIR": self.path("own")})
        return r, {row["name"]: row for row in rows_of(r.out)}, kept.out

    @unittest.skipIf(SANITIZED, ONCE)
    def test_work_left_out_is_found(self):
        r, rows, kept = self.broken("roofline/roofline_fma.cl", "s < steps", "s + UNROLL < steps")
        self.assertEqual(r.status, 3, r)
        self.assertIn("fp32: ", r.err)
        self.assertIn("wrong result", r.err)
        self.assertEqual(rows["fp32"]["rate"], 0)
        self.assertIn("wrong result", rows["fp32"]["unsupported"])
        self.assertEqual(rows["fp32"]["outcome"], "wrong")
        self.assertGreater(rows["memory read"]["rate"], 0)
        self.assertNotIn("limits of ", kept)  # a wrong measurement is no limit

    def test_names(self):
        self.fail_with(2, "roofline", OP + "t", says=OP)
        self.fail_with(2, "roofline", "--device", "nowhere", says="nowhere")
        self.fail_with(1, "roofline", "--device", "host", says="host runs C")
        self.assertEqual(self.names(), [])

    def test_a_wrong_size_costs_no_measuring(self):
        start = time.monotonic()
        for op in OPERATIONS:
            for size in ("9x9x9x9", "0"):
                self.fail_with(2, "roofline", op, "--size", size, says="'%s'" % size)
        # The first takes it.
        self.fail_with(2, "roofline", *OPERATIONS, "--size", "8x8x8", says="8x8x8")
        self.assertLess(time.monotonic() - start, 20)

    def test_an_output_that_cannot_be_written_costs_no_measuring(self):
        start = time.monotonic()
        self.fail_with(1, "roofline", "-o", "nowhere/rows.json", says="nowhere")
        self.assertLess(time.monotonic() - start, 20)


if __name__ == "__main__":
    unittest.main()
