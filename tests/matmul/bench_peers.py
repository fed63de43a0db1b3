"""bench matmul --peers: precisions of their own, errors, the order of rows, and the device's clock."""

import json
import os
import platform
import re
import signal
import subprocess
import time
import unittest

from cli_support import COMMAND, environment, has_opencl
from peers_support import DEVICE, FAKES, REAL, Peers

# A kernel is built first, with whatever else the machine does.
ROOMY = ("--budget", "120")


class Unsupported(Peers):
    def test_what_a_peer_cannot_do_is_named(self):
        """Batches and types of 16 bits reach a peer only if it does them; ours is timed."""
        for args, why in ((("--batch", "3"), "one pair of matrices"),
                          (("--type", "f16"), "float32 and float64 only"),
                          (("--type", "bf16", "--out-type", "f32"), "float32 and float64 only")):
            rows = self.rows("matmul", "--size", "8", "--budget", "2", *args,
                             TESSERA_PEER_DIR=REAL)
            for row in rows.values():
                self.assertEqual(row["samples"], 0, row)
                if row["name"] == "OpenBLAS":
                    self.assertIn(why, row["unsupported"])
            rows = self.rows("matmul", "--size", "8", "--budget", "2", *args)
            self.assertIn("plain float32 matrices", rows["fake FP32"]["unsupported"])


@unittest.skipUnless(os.path.exists(os.path.join(REAL, "peer_matmul_openblas.so")), "without OpenBLAS")
@unittest.skipUnless(platform.machine() == "x86_64", "cores of x86-64")
class Core(Peers):
    """The core that OpenBLAS takes the processor for.  OLDER_OPENBLAS has it say Prescott."""

    def run_as(self, **env):
        r = self.bench("matmul", "--size", "50", "--budget", "4", TESSERA_PEER_DIR=REAL,
                       OPENBLAS_CORETYPE=env.pop("core", None), **env)
        return r.err, re.search(r"OpenBLAS [0-9.]+, ([^,]*), [0-9]+ threads", r.out).group(1)

    def test_as_it_is(self):
        err, core = self.run_as()
        self.assertEqual("OpenBLAS takes this processor for" in err, core.endswith(" as set"), (err, core))
        self.assertNotIn("as OPENBLAS_CORETYPE says", err)

    def test_a_core_below_the_processor_is_replaced(self):
        err, core = self.run_as(LD_PRELOAD=os.environ["OLDER_OPENBLAS"])
        chosen = re.search(r"hint: OpenBLAS takes this processor for Prescott, which is below what it can "
                           r"do: it is compared as (\w+) \(OPENBLAS_CORETYPE=(\w+)\)\n", err)
        self.assertTrue(chosen, err)
        self.assertEqual(chosen.group(1), chosen.group(2))
        self.assertEqual(core, chosen.group(1) + " as set")

    def test_what_the_user_has_set_stays(self):
        err, core = self.run_as(core="Prescott")
        self.assertIn("hint: OpenBLAS runs as Prescott, as OPENBLAS_CORETYPE says, which is below what this "
                      "processor can do (", err)
        self.assertEqual(core, "Prescott as set")

    def test_what_it_does_not_have_is_not_set(self):
        self.assertNotIn("as set", self.run_as(core="nosuch")[1])
        err, core = self.run_as(core="nosuch", LD_PRELOAD=os.environ["OLDER_OPENBLAS"])
        self.assertIn("hint: OpenBLAS has no core nosuch, which OPENBLAS_CORETYPE names, and runs as "
                      "Prescott, below what this processor can do (", err)
        self.assertEqual(core, "Prescott")


class Precision(Peers):
    def test_a_precision_of_its_own(self):
        """Both peers are timed, and the row of each says what it computed in."""
        rows = self.rows("matmul", "--size", "50x40x1", "--budget", "2")
        one, other = rows["fake FP32"], rows["fake TF32"]
        self.assertEqual((one["precision"], other["precision"]), ("f32", "tf32"))
        for row in (one, other):
            self.assertTrue(row["verified"] and row["samples"], row)
            self.assertLessEqual(row["worst"], 1)
        self.assertGreater(other["worst"], 0.1, "it is judged by the bound of another precision")
        self.assertEqual(other["problem"], "50x40x1 float32 tf32")

    def test_each_claim_is_judged(self):
        rows = self.rows("matmul", "--size", "50x40x1", "--budget", "2", status=3, FAKE_WRONG="1")
        for name in ("fake TF32 as FP32", "fake BF16 as TF32"):
            self.assertEqual(rows[name]["outcome"], "wrong", rows[name])
            self.assertRegex(rows[name]["unsupported"], "^C", rows[name])
            self.assertEqual(rows[name]["samples"], 0)
        self.assertTrue(rows["fake TF32"]["samples"])

    def test_sums_of_a_big_product(self):
        """Above the work limit of a full check, and so shallow that float32's rows would not do."""
        rows = self.rows("matmul", "--size", "4000x4000x17", "--warm", "--budget", "60")
        self.assertTrue(rows["fake TF32"]["sampled"])
        self.assertEqual(rows["fake TF32"]["unsupported"], "")

    def test_where_the_type_has_no_such_precision(self):
        rows = self.rows("matmul", "--size", "9", "--type", "f64", "--budget", "2")
        self.assertEqual(rows["fake TF32"]["precision"], "f64")
        self.assertIn("float32", rows["fake TF32"]["unsupported"])

    def test_table(self):
        r = self.bench("matmul", "--size", "50x40x1", "--budget", "2")
        self.assertRegex(r.out, r"(?m)^  fake FP32 1 +[\d.]+ ")
        self.assertRegex(r.out, r"(?m)^  fake TF32 1 \(tf32\) +[\d.]+ ")

    def test_compare(self):
        """Files with such rows are compared; the row stands in a group of its own precision."""
        for name in ("a.json", "b.json"):
            self.bench("matmul", "--size", "50x40x1", "--budget", "2", "-o", name)
        r = self.succeed("compare", "a.json", "b.json", "--json", "--html", "r.html")
        group = {line["name"]: line["precision"] for line in json.loads(r.out)["lines"]}
        self.assertEqual((group["fake FP32"], group["fake TF32"]), ("f32", "tf32"))
        r = self.succeed("compare", "a.json", "b.json")
        self.assertRegex(r.out, r"float32 tf32, tf32, \w+, wall time; .*\n.*\n  fake TF32 ")


class Accumulated(Peers):
    def test_calls_that_add_follow_one_another(self):
        """As a peer's do, on one set of inputs: no time depends on what C has come to."""
        r = self.bench("matmul", "--size", "8", "--beta", "1", "--warm", "--seconds", "0.01", "--budget", "4",
                       "--json", "--quiet")
        rows = [json.loads(line) for line in r.out.splitlines()]
        ours = [row["calls"] for row in rows if row["kind"] == "kernel" and row["timer"] == "wall"]
        self.assertGreater(max(ours), 10, rows)  # of some hundred; a busy machine makes samples shorter


class Errors(Peers):
    def errors(self, *args, **env):
        r = self.bench("matmul", "--size", "50x40x512", "--errors", "--budget", "2", "--json",
                       "--quiet", *args, **env)
        rows = [json.loads(line) for line in r.out.splitlines()]
        return {(row["name"], row["family"]): row for row in rows if row["kind"] == "error"}

    def test_peers_beside_ours(self):
        """The unit is the same, so that what a precision of its own loses is seen."""
        rows = self.errors()
        ours, = {row["name"] for row in rows.values() if row["subject"] == "kernel"}
        self.assertEqual([name for name, family in rows if family == "wide"],
                         [ours, "fake FP32", "fake TF32"])
        for family in ("uniform", "wide", "cancelling", "special"):
            one, other = rows["fake FP32", family], rows["fake TF32", family]
            self.assertEqual((one["class_errors"], other["class_errors"]), (0, 0))
            self.assertLess(one["error_max"], 512 * 2**-24)
            self.assertGreater(other["error_max"], 10 * one["error_max"])
            self.assertEqual((other["precision"], other["roundoff"]), ("tf32", 2**-24))
            self.assertGreater(other["rate"], 0)

    def test_one_that_is_wrong_has_errors(self):
        """Its result is out of its bound: it has no time, and its row says why."""
        r = self.tessera("bench", "matmul", "--size", "50x40x8", "--errors", "--budget", "2",
                         "--json", "--quiet", "--peers", *DEVICE,
                         env={"TESSERA_PEER_DIR": FAKES, "FAKE_WRONG": "1"})
        self.assertEqual(r.status, 3, r)
        rows = {(row["name"], row.get("family")): row
                for row in map(json.loads, r.out.splitlines())}
        row = rows["fake TF32 as FP32", "uniform"]
        self.assertEqual((row["kind"], row["outcome"], row["samples"]), ("error", "wrong", 0))
        self.assertGreater(row["error_max"], 100 * 2**-24)

    def test_one_that_the_budget_left_out(self):
        """It is not opened for its errors either, and has no rows of them: the first that is opened
        for its time, if one is, ends the budget."""
        self.write("log", "")
        rows = self.errors(FAKE_NAP="3", FAKE_LOG=self.path("log"))
        self.assertEqual({row["subject"] for row in rows.values()}, {"kernel"})
        with open(self.path("log"), encoding="utf-8") as f:
            self.assertLessEqual(len(f.readlines()), 1)

    def test_one_that_fails_later(self):
        """It is timed before its fourth call, and has no errors: its row of times says why."""
        rows = self.errors(FAKE_FAILS="1")
        self.assertNotIn("fake failing", {name for name, _ in rows})

    def test_table(self):
        r = self.bench("matmul", "--size", "50x40x512", "--errors", "--budget", "2")
        self.assertRegex(r.out, r"(?m)^  fake TF32 1 \(tf32\) +[\d.]+( +[\d.e+]+){8} +right$")


class Failure(Peers):
    def test_one_that_fails_while_it_is_timed(self):
        """It says so in its row; the others and ours are timed."""
        r = self.bench("matmul", "--size", "50x40x1", "--budget", "2", "--json", "--quiet",
                       FAKE_FAILS="1")
        rows = {row["name"]: row for row in map(json.loads, r.out.splitlines())}
        failed = rows.pop("fake failing")
        self.assertEqual((failed["unsupported"], failed["samples"]),
                         ("fake failing failed with code 77", 0))
        self.assertTrue(rows["fake FP32"]["samples"] and rows["fake TF32"]["samples"])
        self.assertTrue([row for row in rows.values() if row["kind"] == "kernel"])


class Interrupted(Peers):
    def test_a_wrong_result_of_the_job_that_is_interrupted(self):
        """It is the status of the whole, as without --jobs."""
        args = "matmul", "--size", "50x40x1", "--size", "50x40x2", "--brief", "--seconds", "0.7"
        self.write("some.jobs", "bench " + " ".join(args) + "\n")
        for which in args, ("--jobs", "some.jobs"):
            job = subprocess.Popen(
                [COMMAND, "bench", *which, "--peers", *DEVICE, "-o", "-"], cwd=self.folder,
                env=environment(TESSERA_PEER_DIR=FAKES, FAKE_WRONG="1"), stdout=subprocess.PIPE,
                stderr=subprocess.PIPE)
            rows = [json.loads(job.stdout.readline()) for _ in range(5)]
            self.assertIn("wrong", [row["outcome"] for row in rows])
            time.sleep(0.2)
            job.send_signal(signal.SIGINT)
            rest, err = job.communicate(timeout=60)
            self.assertEqual(job.returncode, 3, (rest, err))


class Time(Peers):
    def test_peers_come_before_the_rest_of_all(self):
        """They are reached behind the default variant; rows stand where they do without a budget."""
        def run(budget, **env):
            r = self.bench("matmul", "--size", "50x40x8", "--kernel", "all", "--json", "--budget",
                           budget, **env)
            return [json.loads(line) for line in r.out.splitlines()]

        rows = run("60")
        self.assertEqual({row["outcome"] for row in rows if row["name"].startswith("fake ")},
                         {"timed", "unsupported"})
        self.assertNotIn("late", {row["outcome"] for row in rows})
        late = run("3", FAKE_NAP="4", FAKE_LOG=self.path("log"))
        self.assertEqual(self.calls(), 1, "the first that is opened ends the budget")
        self.assertEqual([row["name"] for row in late], [row["name"] for row in rows])
        chosen = next(row["name"] for row in rows if row["selected"] == "preferred")
        self.assertEqual([row["name"] for row in late if row["outcome"] == "timed"], [chosen] * 2)


class Held(Peers):
    @unittest.skipUnless(has_opencl(), "no OpenCL device")
    def test_by_the_clock_of_the_device(self):
        """Ours and the peer that has such a clock; one that has none says so."""
        r = self.bench("matmul", "--size", "50x40x1", "--held", *ROOMY, "--json",
                       "--quiet", device=("--device", "cpu"))
        alone, ours, *others = [json.loads(line) for line in r.out.splitlines()]
        rows = {row["name"]: row for row in others}
        self.assertEqual([row["timer"] for row in (alone, ours, *others)],
                         ["events"] + ["held"] * (1 + len(others)))
        self.assertEqual((ours["kind"], ours["outcome"]), ("kernel", "timed"))
        self.assertLess(0, ours["calls"])
        self.assertLessEqual(ours["calls"], 250)
        self.assertEqual(rows["fake FP32"]["median_ns"], 5e5)
        self.assertEqual(rows["fake TF32"]["unsupported"], "it cannot be held back")

    @unittest.skipUnless(has_opencl(), "no OpenCL device")
    def test_both_clocks(self):
        """From the same inputs and proofs, and of the same peers: what cannot be held has one row."""
        r = self.bench("matmul", "--size", "50x40x1", "--held", "--wall", "--brief",
                       *ROOMY, "--json", "--quiet", device=("--device", "cpu"))
        rows = [json.loads(line) for line in r.out.splitlines()]
        timed = [(row["timer"], row["kind"], row["name"]) for row in rows
                 if row["outcome"] == "timed"]
        ours = rows[0]["name"]
        self.assertEqual(timed, [(timer, *one) for timer in ("held", "wall")
                                 for one in (("kernel", ours), ("peer", "fake FP32"))])
        self.assertEqual([row["timer"] for row in rows if row["name"] == "fake TF32"], ["held"])
        self.assertTrue(all(row["verified"] for row in rows if row["outcome"] == "timed"))
        r = self.bench("matmul", "--size", "50x40x1", "--held", "--wall", "--brief", *ROOMY,
                       device=("--device", "cpu"))
        self.assertEqual(re.findall(r"(?m), (the device's|wall) time of calls", r.out),
                         ["the device's", "wall"])

    @unittest.skipUnless(has_opencl(), "no OpenCL device")
    def test_table_and_errors(self):
        """The head names the clock; only who has a time by it has errors."""
        r = self.bench("matmul", "--size", "50x40x1", "--held", *ROOMY, "--errors",
                       device=("--device", "cpu"))
        self.assertRegex(r.out, r"(?m)^matmul .*, the device's time of calls back to back$")
        for name, lines in (("fake FP32 1", 2), (r"fake TF32 1 \(tf32\)", 1)):
            self.assertEqual(len(re.findall(r"(?m)^  %s +\S" % name, r.out)), lines, name)

    @unittest.skipUnless(has_opencl(), "no OpenCL device")
    def test_what_the_budget_leaves_out(self):
        """Its rows name the same clock."""
        rows = self.rows("matmul", "--size", "50x40x1", "--held", "--budget", "0.001",
                         device=("--device", "cpu"))
        self.assertEqual({row["timer"] for row in rows.values()}, {"held"})

    def test_c_code_on_the_host(self):
        """Refused where it is all there is to measure; else a hint, and no peers."""
        r = self.bench("matmul", "--size", "50x40x1", "--held", status=2)
        self.assertEqual(r.out, "")
        self.assertIn("C code on the host has no queue for --held to hold back", r.err)
        if not has_opencl():
            return
        r = self.bench("matmul", "--size", "50x40x1", "--held", *ROOMY, "--json",
                       device=("--device", "all"))
        self.assertIn("hint: C code on the host has no queue for --held to hold back", r.err)
        rows = [json.loads(line) for line in r.out.splitlines()]
        self.assertEqual({row["timer"] for row in rows if row["device_id"] == "host"}, {"wall"})
        self.assertNotIn("peer", {row["kind"] for row in rows if row["device_id"] == "host"})
        self.assertIn("peer", {row["kind"] for row in rows})


if __name__ == "__main__":
    unittest.main()
