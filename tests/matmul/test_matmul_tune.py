"""tessera tune matmul, and what the tuning does to later products."""

import json
import os
import shutil
import signal
import subprocess
import time
import unittest

import numpy as np

import test_tune
from cli_support import COMMAND, SOURCE, environment, has_opencl


class Products(test_tune.Tuned):
    def multiply(self, n, *args):
        """The report of a product of n x n matrices."""
        rng = np.random.default_rng(1)
        self.save("a.npy", rng.uniform(-1, 1, (n, n)).astype(np.float32))
        r = self.succeed("matmul", "a.npy", "a.npy", "-o", "c.npy", "--json", *args,
                         env=self.env())
        return json.loads(r.out)


class OnHost(Products):
    """The search itself needs no OpenCL: the host has variants too."""

    def test_what_is_slower_than_before_is_told(self):
        """--kernel restricts the search: what ran until now may be faster than all of that."""
        r = self.tessera("tune", "matmul", "--device", "host", "--kernel", "jik", "--size", "128",
                         "--budget", "2", env=self.env())
        self.assertEqual(r.status, 0, r)
        self.assertIn("what ran before is faster", r.err)
        self.assertRegex(r.out, r"\n  (simd|openmp|blocked) .*  before\n")
        self.assertRegex(r.out, r"\n  jik .*  chosen\n")

    def test_the_winner_is_kept_and_used(self):
        d = self.tune("matmul", "--device", "host", "--size", "48", "--budget", "1")
        (c,) = d["classes"]
        self.assertEqual(d["schema"], "tessera-tune-1")
        timed = [t for t in c["tried"] if t["outcome"] in ("timed", "final")]
        self.assertTrue(timed)
        self.assertTrue(all(t["median_ns"] > 0 and t["samples"] > 0 for t in timed))
        (e,) = self.entries()
        self.assertEqual((e["op"], e["device"], e["kind"]), ("matmul", "host", "host"))
        self.assertEqual((e["variant"], e["parameters"]),
                         (c["best"]["variant"], c["best"]["parameters"]))
        self.assertEqual(os.path.dirname(c["kept"]), self.tuning)
        report = self.multiply(48, "--device", "host")
        self.assertEqual(report["variant"], e["variant"])
        self.assertIn("tuned: device entry of", report["chosen"])

    def test_what_a_class_holds(self):
        """The table, the rows and `kernels` name the problems that take the winner."""
        holds = "float32 nn, M 32-63, N 32-63, K 32-63"
        r = self.succeed("tune", "matmul", "--device", "host", "--size", "48", "--budget", "1",
                         env=self.env())
        self.assertIn("  kept for %s in %s/" % (holds, self.tuning), r.out)
        (c,) = self.tune("matmul", "--device", "host", "--size", "47", "--budget", "1")["classes"]
        self.assertEqual((c["class"], c["holds"]), ("float32 nn 32x32x32", holds))
        args = ("kernels", "matmul", "--device", "host")
        self.assertIn("  tuned for %s: " % holds, self.succeed(*args, env=self.env()).out)
        d = json.loads(self.succeed(*args, "--json", env=self.env()).out)
        self.assertIn(holds, [e["holds"] for e in d["operations"][0]["tuning"]["entries"]])

    def test_several_sizes(self):
        d = self.tune("matmul", "--device", "host", "--size", "40", "--size", "100", "--size",
                      "41", "--budget", "1")
        self.assertEqual([len(c["problems"]) for c in d["classes"]], [2, 1])
        self.assertEqual(len(self.entries()), 2)

    def test_restricted(self):
        (c,) = self.tune("matmul", "--device", "host", "--kernel", "ijk", "--size", "32",
                         "--budget", "1")["classes"]
        self.assertEqual(c["best"]["variant"], "ijk")
        self.assertEqual(self.multiply(32, "--device", "host")["variant"], "ijk")

    def test_wrong_usage(self):
        self.fail_with(2, "tune", "matmul", "--kernel", "tilled", says=("'tilled'", "'tiled'"))
        self.fail_with(2, "tune", "matmul", "--kernel", "tiled", "--set", "TYLE=8", says="TYLE")
        self.fail_with(2, "tune", "matmul", "--kernel", "tiled", "--set", "TILE=8,7",
                       says=("TILE", "'7'"))
        self.fail_with(2, "tune", "matmul", "--kernel", "naive", "--set", "TILE=8", says="TILE=8")

    def test_interrupted_before_the_finals(self):
        """Times of the search alone decide nothing."""
        child = subprocess.Popen(
            [COMMAND, "tune", "matmul", "--device", "host", "--size", "1000", "--budget", "600",
             "--json"], cwd=self.folder, env=environment(**self.env()),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(2)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=120)
        self.assertEqual(child.returncode, 130, err)
        for c in json.loads(out)["classes"]:  # none where the first variant took its time
            self.assertTrue(c["interrupted"] and c["tried"], c)
            self.assertEqual((c["best"], c["kept"]), (None, None))
            if any(t["outcome"] in ("timed", "final") for t in c["tried"]):
                self.assertIn("tuning unchanged: interrupted before the fastest were compared", err)
        self.assertFalse(os.path.exists(self.tuning))


class LookUp(Products):
    def entry(self, **changes):
        e = {"op": "matmul", "class": "", "variant": "ijk", "parameters": "", "problem": "",
             "device": "host", "driver": "another", "family": "", "vendor": "host",
             "kind": "host", "median_ns": 1}
        e.update(changes)
        return e

    def test_name_level(self):
        self.put("matmul-mine.json", [self.entry()])
        report = self.multiply(16, "--device", "host")
        self.assertEqual(report["variant"], "ijk")
        self.assertIn("tuned: name entry of matmul-mine.json", report["chosen"])

    def test_named_kernel_goes_first(self):
        self.put("matmul-mine.json", [self.entry()])
        report = self.multiply(16, "--device", "host", "--kernel", "kij")
        self.assertEqual(report["variant"], "kij")

    def test_stale_is_skipped_and_says_so(self):
        self.put("matmul-mine.json", [self.entry(variant="gone")])
        report = self.multiply(16, "--device", "host")
        self.assertNotIn("tuned:", report["chosen"])
        self.assertIn("matmul-mine.json skipped: stale", report["chosen"])

    def test_unsupported_is_skipped_and_says_so(self):
        self.put("matmul-mine.json", [self.entry(variant="tiled")])
        report = self.multiply(16, "--device", "host")
        self.assertIn("matmul-mine.json skipped: it is an OpenCL kernel", report["chosen"])

    def test_the_next_entry_serves(self):
        self.put("matmul-mine.json", [self.entry(variant="gone"), self.entry()])
        self.assertEqual(self.multiply(16, "--device", "host")["variant"], "ijk")

    def test_kernels_tells(self):
        self.put("matmul-a.json", [self.entry()])
        self.put("matmul-b.json", [self.entry(variant="gone")])
        self.write("tuning/matmul-c.json", "{ nothing")
        text = self.succeed("kernels", "matmul", "--device", "host", env=self.env()).out
        self.assertIn("  runs ijk (tuned: name entry of matmul-a.json)\n", text)
        self.assertIn("  tuned for every class: ijk (name entry of %s/matmul-a.json)\n" %
                      self.tuning, text)
        self.assertRegex(text, r"tuning ignored: .*matmul-b\.json: stale: .*'gone'")
        self.assertRegex(text, r"tuning ignored: .*matmul-c\.json: not JSON: line 1")
        d = json.loads(self.succeed("kernels", "matmul", "--device", "host", "--json",
                                    env=self.env()).out)
        self.assertEqual(d["tuning_folder"], self.tuning)
        t = d["operations"][0]["tuning"]
        self.assertEqual(t["chosen"]["variant"], "ijk")
        self.assertEqual([e["level"] for e in t["entries"]], ["name"])
        self.assertEqual(len(t["ignored"]), 2)

    def test_what_is_passed_over_is_warned_of(self):
        """One line a file, that names it and why; the next source serves, and --quiet is quiet."""
        self.save("a.npy", np.ones((16, 16), np.float32))
        run = ("matmul", "a.npy", "a.npy", "-o", "c.npy", "--device", "host")
        bench = ("bench", "matmul", "--size", "16", "--size", "17", "--device", "host", "--budget",
                 "0.4")
        tune = ("tune", "matmul", "--size", "16", "--device", "host", "--budget", "0.2")
        self.put("matmul-good.json", [self.entry()])
        for content, why in (
                ("{ nothing", "not JSON: line 1"),
                (json.dumps({"schema": "tessera-tuning-9", "entries": []}), "'tessera-tuning-9'"),
                (self.document(self.entry(variant="gone"), self.entry(variant="fled")), "'gone'"),
                (self.document(self.entry(parameters="TILE=8")), "TILE"),
                (self.document(self.entry(variant="tiled", parameters="TILE=7")), "'7'")):
            self.write("tuning/matmul-bad.json", content)
            for args in (run, bench, tune):
                r = self.succeed(*args, env=self.env())
                warnings = [s for s in r.err.splitlines() if "warning" in s]
                self.assertEqual(len(warnings), 1, r)
                self.assertTrue(warnings[0].startswith(
                    "tessera: warning: %s/matmul-bad.json: ignored: " % self.tuning), r)
                self.assertIn(why, warnings[0], r)
                r = self.succeed(*args, "--quiet", env=self.env())
                self.assertNotIn("warning", r.err)
            for name in os.listdir(self.tuning):
                if name.startswith("matmul."):
                    os.remove(os.path.join(self.tuning, name))  # what tune kept
            self.assertIn("matmul-good.json", self.multiply(16, "--device", "host")["chosen"])
            self.assertNotIn("warning", self.succeed(*run, "--kernel", "ijk", env=self.env()).err)

    def test_what_does_not_concern_a_call_is_not_warned_of(self):
        self.save("a.npy", np.ones((16, 16), np.float32))
        self.put("matmul-bad.json", [
            self.entry(variant="gone", device="another", kind="gpu", vendor="another"),
            self.entry(variant="gone", **{"class": "float64 tt 8x8x8"})])
        self.write("tuning/sort-bad.json", "{")
        r = self.succeed("matmul", "a.npy", "a.npy", "-o", "c.npy", "--device", "host",
                         env=self.env())
        self.assertNotIn("warning", r.err)

    def test_later_calls_of_a_session_see_a_new_entry(self):
        """--repeat and verify run many calls in one session; an entry does not change results."""
        self.put("matmul-mine.json", [self.entry(variant="blocked")])
        self.succeed("verify", "matmul", "--tiny", "--device", "host", env=self.env())


@unittest.skipUnless(has_opencl(), "no OpenCL device")
class OnDevice(Products):
    def test_tunables_are_searched(self):
        (c,) = self.tune("matmul", "--kernel", "tiled", "--set", "TILE=8,16", "--size", "64",
                         "--budget", "4")["classes"]
        tried = {t["parameters"]: t["outcome"] for t in c["tried"] if t["variant"] == "tiled"}
        self.assertEqual(sorted(tried), ["TILE=16", "TILE=8"], c)
        self.assertIn(c["best"]["parameters"], tried)
        report = self.multiply(64)
        if c["on_arrays"]:  # C code of a CPU device, which is faster
            self.assertEqual(report["variant"], c["on_arrays"])
            self.assertIn("tuned tiled was not measured to be faster", report["chosen"])
        else:
            self.assertEqual((report["variant"], report["parameters"]),
                             ("tiled", c["best"]["parameters"]))
            self.assertIn("tuned: device entry", report["chosen"])

    def test_one_of_several_is_no_choice(self):
        """Where the time ends behind the first of the candidates, what ran before beside it."""
        self.multiply(64)
        alone = 0
        for budget, tile in (("0.1", "8,16"), ("0.3", "16,32"), ("0.6", "8,32")):
            r = self.tessera("tune", "matmul", "--kernel", "tiled", "--set", "TILE=" + tile, "--size",
                             "64", "--budget", budget, "--json", env=self.env())
            if r.status:
                self.assertEqual(r.status, 1, r)
                self.assertIn("nothing ran: the time was too short", r.err)
                continue
            (c,) = json.loads(r.out)["classes"]
            ran = [t for t in c["tried"] if t["variant"] == "tiled" and
                   t["outcome"] in ("slow", "timed", "final")]
            if len(ran) > 1:
                continue
            alone += len(ran)
            self.assertFalse(c["complete"])
            self.assertEqual((c["best"], c["kept"]), (None, None))
        if not alone:
            self.skipTest("no run ended behind its first candidate")

    def broken(self, file, right, wrong):
        """A folder of kernels, one of them broken."""
        folder = self.path("cl")
        shutil.copytree(os.path.join(SOURCE, "cl"), folder)
        with open(os.path.join(folder, file), "r+", encoding="utf-8") as f:
            text = f.read()
            self.assertIn(right, text)
            f.seek(0)
            f.write(text.replace(right, wrong))
        return folder

    def test_a_wrong_kernel_is_never_chosen(self):
        """One that leaves out a term of every sum."""
        folder = self.broken("matmul/matmul_naive.cl", "p < k;", "p + 1 < k;")
        r = self.tessera("tune", "matmul", "--kernel", "naive", "--size", "32", "--budget", "10",
                         "--kernel-dir", folder, "--json", env=self.env())
        self.assertEqual(r.status, 3, r)
        self.assertIn("matmul/naive is WRONG", r.err)
        (c,) = json.loads(r.out)["classes"]
        self.assertIsNone(c["best"])
        self.assertIsNone(c["kept"])
        self.assertFalse(os.path.exists(self.tuning))

    def test_a_kernel_that_does_nothing_is_wrong(self):
        """It is fast, and an earlier candidate's result may still lie in the output."""
        folder = self.broken("matmul/matmul_tiled.cl", "if (row < m && column < n)",
                             "if (row < m && column < n && sum == 12345.5f)")
        r = self.tessera("tune", "matmul", "--size", "32", "--budget", "8", "--kernel-dir", folder,
                         "--json", env=self.env())
        self.assertEqual(r.status, 3, r)
        (c,) = json.loads(r.out)["classes"]
        tiled = [t for t in c["tried"] if t["variant"] == "tiled"]
        self.assertEqual({t["outcome"] for t in tiled}, {"wrong"})
        self.assertTrue(c["best"])
        self.assertNotEqual(c["best"]["variant"], "tiled")

    def test_interrupted(self):
        """Ctrl-C ends it cleanly, soon, and what was found is kept."""
        child = subprocess.Popen(
            [COMMAND, "tune", "matmul", "--size", "64", "--size", "128", "--budget", "600",
             "--json"], cwd=self.folder, env=environment(**self.env()),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(5)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=120)
        self.assertEqual(child.returncode, 130, err)
        classes = json.loads(out)["classes"]
        self.assertTrue(classes)  # the one under way, too, while something is compiled
        for c in classes:
            self.assertTrue(c["interrupted"] and c["tried"], c)
            if c["best"]:
                self.assertEqual(self.entries()[0]["variant"], c["best"]["variant"])
        leftovers = [n for n in os.listdir(self.tuning) if not n.endswith(".json")] \
            if os.path.isdir(self.tuning) else []
        self.assertEqual(leftovers, [])


if __name__ == "__main__":
    unittest.main()
