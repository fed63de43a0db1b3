"""tessera diagnose: six questions, each with evidence, and steps of the ladder that are measured."""

import glob
import json
import os
import re
import shutil
import tempfile
import unittest

from cli_support import OPERATIONS, SANITIZED, SOURCE, Case, cache_with_limits, has_opencl

NAMES = ["launches", "memory", "barriers", "divergence", "matrix units", "roof"]


def bound():
    """(operation, variant, options, what may bind it, the steps of which one is the fastest on a CPU) of
    each line of tests/OP/diagnose.txt; of the last operation where a sanitizer looks at the code alone,
    which is the same for all."""
    paths = sorted(glob.glob(os.path.join(SOURCE, "tests", "*", "diagnose.txt")))
    for path in paths[-1:] if SANITIZED else paths:
        with open(path, encoding="utf-8") as f:
            lines = [line for line in f if line.strip() and not line.startswith("#")]
        for line in lines[-1:] if SANITIZED else lines:
            variant, binds, fastest, *options = line.split()
            yield (os.path.basename(os.path.dirname(path)), variant, options, binds.split(","),
                   [] if fastest == "-" else fastest.split(","))


class Usage(Case):
    def test_wrong_usage(self):
        op = OPERATIONS[0]
        self.fail_with(2, "diagnose", says="diagnose")
        self.fail_with(2, "diagnose", "nothing", says="nothing")
        self.fail_with(2, "diagnose", op, "--size", "8", "--size", "9", says="one --size")
        self.fail_with(2, "diagnose", op, "--kernel", "nothing", says="nothing")
        self.fail_with(2, "diagnose", op, "--set", "A=1", says="--set A=1 needs --kernel")
        self.fail_with(1, "diagnose", op, "--device", "host", "--size", "8", says="no launches")


@unittest.skipUnless(has_opencl(), "no OpenCL device")
class Diagnosed(Case):
    @classmethod
    def setUpClass(cls):
        cls.cache = cache_with_limits()

    def diagnose(self, *args):
        return json.loads(self.succeed("diagnose", *args, "--device", "cpu", "--json",
                                       env={"TESSERA_CACHE_DIR": self.cache}).out)

    def test_what_binds(self):
        for op, variant, options, binds, fastest in bound():
            got = self.diagnose(op, "--kernel", variant, *options)
            self.assertEqual((got["schema"], got["op"], got["name"]),
                             ("tessera-diagnose-1", op, variant))
            self.assertEqual([q["name"] for q in got["questions"]], NAMES)
            for q in got["questions"]:
                self.assertIn(q["answer"], ("yes", "no", "unknown"))
                self.assertRegex(q["evidence"], r"\w")
                self.assertRegex(q["question"], r"\?$")
                self.assertGreaterEqual(q["share"], 0)
            answers = {q["name"]: q["answer"] for q in got["questions"]}
            self.assertIn(got["binds"], binds, got)
            if got["binds"] != "latency":
                self.assertEqual(answers[got["binds"]], "yes", got)
            self.assertEqual(answers["divergence"], "no")  # a CPU has no warps
            self.assertNotRegex(got["cure"], "coalescing|tessera occupancy|bank conflicts|within a warp")
            self.assertGreater(got["commands_ns"], 0)
            times = [s["median_ns"] for s in got["steps"]]
            self.assertEqual(times, sorted(times))
            for s in got["steps"]:
                self.assertAlmostEqual(s["speedup"], got["median_ns"] / s["median_ns"])
                self.assertNotEqual(s["name"], variant)
                self.assertGreaterEqual(s["speedup"], 0.9)
                self.assertLessEqual(set(s["addresses"]), set(NAMES) | {"latency"})
                self.assertEqual(len(s["addresses"]), len(set(s["addresses"])))
            if fastest:
                self.assertIn(got["steps"][0]["name"], fastest)
            self.assertEqual(got["failed_steps"], [])

    @unittest.skipIf(SANITIZED, "a sanitizer sees the command in test_what_binds")
    def test_failing_steps_are_listed(self):
        """Of the first variant that has steps."""
        for op, variant, options, *_ in bound():
            folder = self.path("cl")
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(os.path.join(SOURCE, "cl"), folder)
            own = "%s_%s.cl" % (op, variant.replace("-", "_"))
            for name in os.listdir(os.path.join(folder, op)):
                if name.endswith(".cl") and name != own:
                    with open(os.path.join(folder, op, name), "a", encoding="utf-8") as f:
                        f.write("\nbroken\n")
            args = (op, "--kernel", variant, *options, "--kernel-dir", folder)
            got = self.diagnose(*args)
            self.assertEqual(got["steps"], [])
            for step in got["failed_steps"]:
                self.assertIn("broken", step["reason"])
            if not got["failed_steps"]:
                continue
            out = self.succeed("diagnose", *args, "--device", "cpu",
                               env={"TESSERA_CACHE_DIR": self.cache}).out
            self.assertRegex(out, r"(?m)^  \S+ +could not be measured: \w")
            break
        else:
            self.fail("no variant has steps")

    def test_a_kernel_that_cannot_run_is_refused_before_limits_are_measured(self):
        op, variant, options, *_ = next(bound())
        of_host = json.loads(self.succeed("kernels", op, "--device", "host", "--json").out)["operations"][0]
        in_c = next(v["name"] for v in of_host["variants"] if v["suited"])
        own = os.path.join(SOURCE, "cl", op, "%s_%s.cl" % (op, variant.replace("-", "_")))
        with open(own, encoding="utf-8") as f:
            self.write("mine.cl", f.read() + "\nbroken\n")
        for args, says in (((variant, "--kernel-file", "mine.cl"), "broken"), ((in_c,), "no launches")):
            cache = tempfile.mkdtemp(dir=self.folder)
            r = self.tessera("diagnose", op, "--kernel", *args, *options, "--device", "cpu",
                             env={"TESSERA_CACHE_DIR": cache})
            self.assertEqual(r.status, 1, r)
            self.assertIn(says, r.err)
            for name in os.listdir(cache):
                with open(os.path.join(cache, name), "rb") as f:
                    self.assertNotIn(b"limits of ", f.read(), args)

    @unittest.skipIf(SANITIZED, "a sanitizer sees the command in test_what_binds")
    def test_table(self):
        op, variant, options, *_ = next(bound())
        out = self.succeed("diagnose", op, "--kernel", variant, *options, "--device", "cpu",
                           env={"TESSERA_CACHE_DIR": self.cache}).out
        for i, name in enumerate(NAMES):
            self.assertRegex(out, r"(?m)^  %d %s +(yes|no|unknown) +\S" % (i + 1, name))
        self.assertRegex(out.splitlines()[0], r", [\d.]+ us by the device's clock, \S+ [GMT]\w+/s$")
        self.assertRegex(out, r"(?m)^It is \w")
        said = " ".join(out.split())
        self.assertRegex(said, r"2 to 4 are answered from its commands, each timed by itself, together [\d.]+ us;")
        self.assertRegex(out, r"(?m)^What helps: \w")
        self.assertRegex(out, re.compile(r"^(The fastest steps of|None of the steps of|The ladder has no|The steps of) ", re.M))

    def test_a_step_is_not_compared_with_itself(self):
        for op, variant, options, *_ in bound():
            out = self.succeed("bench", op, "--kernel", variant, *options, "--seconds", "0.001",
                               "--explain", "--device", "cpu").out
            self.assertIn("work-items ask for", out)
            self.assertNotRegex(out, r"as much as %s\b" % re.escape(variant))


if __name__ == "__main__":
    unittest.main()
