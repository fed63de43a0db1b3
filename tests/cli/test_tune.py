"""tessera tune, and what the tuning does to later calls."""

import json
import os
import shutil
import signal
import subprocess
import time
import unittest

import numpy as np

from cli_support import COMMAND, Case, environment, has_opencl


class Tuned(Case):
    def setUp(self):
        super().setUp()
        self.tuning = self.path("tuning")

    def env(self):
        return {"TESSERA_TUNING_DIR": self.tuning}

    def tune(self, *args, status=0):
        r = self.tessera("tune", *args, "--json", env=self.env())
        self.assertEqual(r.status, status, r)
        return json.loads(r.out)

    def entries(self):
        found = []
        for name in sorted(os.listdir(self.tuning)):
            with open(os.path.join(self.tuning, name), encoding="utf-8") as f:
                d = json.load(f)
            self.assertEqual(d["schema"], "tessera-tuning-1")
            found += d["entries"]
        return found

    def put(self, name, entries):
        os.makedirs(self.tuning, exist_ok=True)
        with open(os.path.join(self.tuning, name), "w", encoding="utf-8") as f:
            json.dump({"schema": "tessera-tuning-1", "entries": entries}, f)

    def multiply(self, n, *args):
        """The report of a product of n x n matrices."""
        rng = np.random.default_rng(1)
        self.save("a.npy", rng.uniform(-1, 1, (n, n)).astype(np.float32))
        r = self.succeed("matmul", "a.npy", "a.npy", "-o", "c.npy", "--json", *args,
                         env=self.env())
        return json.loads(r.out)


class OnHost(Tuned):
    """The search itself needs no OpenCL: the host has variants too."""

    def test_the_winner_is_kept_and_used(self):
        d = self.tune("matmul", "--device", "host", "--size", "48", "--budget", "2")
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

    def test_the_best_is_not_slower_than_a_finalist(self):
        (c,) = self.tune("matvec", "--device", "host", "--size", "300", "--budget", "2")["classes"]
        final = [t for t in c["tried"] if t["outcome"] == "final"]
        fastest = min(t["median_ns"] for t in final)
        self.assertEqual(c["fastest"]["median_ns"], fastest)
        if c["best"]["median_ns"] > fastest:
            self.assertTrue(c["best"]["tied"], c["best"])

    def test_several_sizes(self):
        d = self.tune("sort", "--device", "host", "--size", "1000", "--size", "2^20", "--size",
                      "900", "--budget", "30")
        self.assertEqual([len(c["problems"]) for c in d["classes"]], [2, 1])
        self.assertEqual(len(self.entries()), 2)

    def test_output(self):
        self.succeed("tune", "sort", "--device", "host", "--size", "1000", "--budget", "1", "-o",
                     "sort-host.json", env=self.env())
        with open(self.path("sort-host.json"), encoding="utf-8") as f:
            self.assertEqual(json.load(f)["entries"], self.entries())
        os.rename(self.path("sort-host.json"), os.path.join(self.tuning, "sort-host.json"))

    def test_restricted(self):
        (c,) = self.tune("matmul", "--device", "host", "--kernel", "ijk", "--size", "32",
                         "--budget", "1")["classes"]
        self.assertEqual(c["best"]["variant"], "ijk")
        self.assertEqual(self.multiply(32, "--device", "host")["variant"], "ijk")

    def test_wrong_usage(self):
        self.fail_with(2, "tune", "matmull", says="'matmull'")
        self.fail_with(2, "tune", "matmul", "--kernel", "tilled", says=("'tilled'", "'tiled'"))
        self.fail_with(2, "tune", "matmul", "--set", "TYLE=8", says="TYLE")
        self.fail_with(2, "tune", "matmul", "--set", "TILE=8,7", says=("TILE", "'7'"))
        self.fail_with(2, "tune", "matmul", "--kernel", "naive", "--set", "TILE=8", says="TILE=8")
        self.fail_with(2, "tune", "sort", "--size", "3x3", says="3x3")
        self.fail_with(2, "tune", "sort", "--budget", "0", says="budget")
        self.fail_with(2, "tune", "sort", "--json", "-o", "-", says="standard output")

    def test_no_place_to_keep(self):
        """It is told before the search."""
        start = time.monotonic()
        r = self.tessera("tune", "sort", "--device", "host", "--size", "100k", "--budget", "60",
                         env={"TESSERA_TUNING_DIR": "/dev/null/no"})
        self.assertEqual(r.status, 1, r)
        self.assertIn("/dev/null/no", r.err)
        self.assertEqual(r.out, "")
        self.assertLess(time.monotonic() - start, 20)

    def test_interrupted_before_the_finals(self):
        """Times of the search alone decide nothing."""
        child = subprocess.Popen(
            [COMMAND, "tune", "matmul", "--device", "host", "--size", "1500", "--budget", "600",
             "--json"], cwd=self.folder, env=environment(**self.env()),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(5)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=120)
        self.assertEqual(child.returncode, 130, err)
        (c,) = json.loads(out)["classes"]
        self.assertTrue(c["interrupted"] and c["tried"], c)
        self.assertEqual((c["best"], c["kept"]), (None, None))
        self.assertFalse(os.path.exists(self.tuning))
        if any(t["outcome"] in ("timed", "final") for t in c["tried"]):
            self.assertIn("nothing kept: the time was too short", err)


class LookUp(Tuned):
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

    def test_unsuited_is_skipped_and_says_so(self):
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
        self.assertRegex(text, r"tuning ignored: .*matmul-c\.json: no JSON: line 1")
        d = json.loads(self.succeed("kernels", "matmul", "--device", "host", "--json",
                                    env=self.env()).out)
        self.assertEqual(d["tuning_folder"], self.tuning)
        t = d["operations"][0]["tuning"]
        self.assertEqual(t["chosen"]["variant"], "ijk")
        self.assertEqual([e["level"] for e in t["entries"]], ["name"])
        self.assertEqual(len(t["ignored"]), 2)

    def test_later_calls_of_a_session_see_a_new_entry(self):
        """--repeat and verify run many calls in one session; an entry does not change results."""
        self.put("matmul-mine.json", [self.entry(variant="blocked")])
        self.succeed("verify", "matmul", "--tiny", "--device", "host", env=self.env())


@unittest.skipUnless(has_opencl(), "no OpenCL device")
class OnDevice(Tuned):
    def test_tunables_are_searched(self):
        (c,) = self.tune("matmul", "--kernel", "tiled", "--set", "TILE=8,16", "--size", "64",
                         "--budget", "20")["classes"]
        tried = {t["parameters"]: t["outcome"] for t in c["tried"] if t["variant"] == "tiled"}
        self.assertEqual(sorted(tried), ["TILE=16", "TILE=8"], c)
        self.assertIn(c["best"]["parameters"], tried)
        report = self.multiply(64)
        self.assertEqual((report["variant"], report["parameters"]),
                         ("tiled", c["best"]["parameters"]))
        self.assertIn("tuned: device entry", report["chosen"])

    def broken(self, file, right, wrong):
        """A folder of kernels, one of them broken."""
        source = os.path.join(os.environ.get("TESSERA_SOURCE", ""), "cl")
        if not os.path.isdir(source):
            self.skipTest("no kernel sources")
        folder = self.path("cl")
        shutil.copytree(source, folder)
        with open(os.path.join(folder, file), "r+", encoding="utf-8") as f:
            text = f.read()
            self.assertIn(right, text)
            f.seek(0)
            f.write(text.replace(right, wrong))
        return folder

    def test_a_wrong_kernel_is_never_chosen(self):
        """One that leaves out a term of every sum."""
        folder = self.broken("matmul_naive.cl", "p < k;", "p + 1 < k;")
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
        folder = self.broken("matmul_tiled.cl", "if (i < m && j < n)",
                             "if (i < m && j < n && sum == (REAL)12345.5)")
        r = self.tessera("tune", "matmul", "--size", "32", "--budget", "40", "--set", "TILE=16",
                         "--set", "BITS=256", "--set", "SIDE=8", "--set", "BLOCK=4",
                         "--kernel-dir", folder, "--json", env=self.env())
        self.assertEqual(r.status, 3, r)
        (c,) = json.loads(r.out)["classes"]
        tiled = [t for t in c["tried"] if t["variant"] == "tiled"]
        self.assertEqual([t["outcome"] for t in tiled], ["wrong"])
        self.assertTrue(c["best"])
        self.assertNotEqual(c["best"]["variant"], "tiled")

    def test_interrupted(self):
        """Ctrl-C ends it cleanly, soon, and what was found is kept."""
        child = subprocess.Popen(
            [COMMAND, "tune", "matmul", "--size", "64", "--size", "128", "--budget", "600",
             "--json"], cwd=self.folder, env=environment(**self.env()),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(12)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=120)
        self.assertEqual(child.returncode, 130, err)
        (c,) = json.loads(out)["classes"]
        self.assertTrue(c["interrupted"])
        if c["best"]:
            self.assertEqual(self.entries()[0]["variant"], c["best"]["variant"])
        leftovers = [n for n in os.listdir(self.tuning) if not n.endswith(".json")] \
            if os.path.isdir(self.tuning) else []
        self.assertEqual(leftovers, [])


if __name__ == "__main__":
    unittest.main()
