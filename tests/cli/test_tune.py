"""tessera tune: what is kept, and where.  Unoptimized kernels do here."""

import fcntl
import json
import os
import threading
import time
import unittest

from cli_support import EXAMPLES, OPERATIONS, SANITIZED, SOME, Case, has_opencl


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

    def document(self, *entries):
        return json.dumps({"schema": "tessera-tuning-1", "entries": entries})


class OnHost(Tuned):
    """The search itself needs no OpenCL: the host has variants too."""

    def test_nothing_kept_says_why(self):
        r = self.succeed("tune", OPERATIONS[0], "--device", "host", "--size", "300", "--budget",
                         "0.0001", env=self.env())
        self.assertIn("  tuning unchanged: the fastest were not compared\n", r.out)
        self.assertIn("tuning unchanged: the time was too short", r.err)

    def test_the_budget_is_of_all_classes(self):
        """One that is not reached is left out, and a line says so; each problem of one was tried."""
        sizes = ("--size", "100", "--size", "200", "--size", "100", "--size", "400")
        r = self.succeed("tune", OPERATIONS[0], "--device", "host", *sizes, "--budget", "0.0001",
                         env=self.env())
        self.assertRegex(r.err, r"(?m)^tessera: tune: after \S+ s there is no time in the budget for 2 of 3 "
                                r"classes of problems; a --budget above 0.0001 takes more of them$")
        self.assertEqual(len(self.tune(OPERATIONS[0], "--device", "host", *sizes, "--budget",
                                       "0.0001")["classes"]), 1)
        if SANITIZED:  # the search is seen above
            return
        r = self.succeed("tune", OPERATIONS[0], "--device", "host", "--size", "20", "--size", "40",
                         "--budget", "4", env=self.env())
        self.assertNotIn("budget", r.err)
        self.assertEqual(r.out.count("nothing left to try"), 2)

    def test_output(self):
        self.succeed("tune", OPERATIONS[0], "--device", "host", "--size", "48", "--budget", "1", "-o",
                     "host.json", env=self.env())
        with open(self.path("host.json"), encoding="utf-8") as f:
            self.assertEqual(json.load(f)["entries"], self.entries())
        os.rename(self.path("host.json"), os.path.join(self.tuning, "host.json"))

    def test_nothing_runs(self):
        """The status of an unsupported kernel, and why it is, with the report all the same."""
        for op in SOME:
            kernel = EXAMPLES[op]["KERNEL"]
            args = ("tune", op, "--device", "host", "--size", EXAMPLES[op]["SIZE"], "--kernel",
                    kernel, "--budget", "1")
            r = self.fail_with(1, *args, env=self.env(), says="tessera: tune: nothing ran: %s/%s: "
                               "it is an OpenCL kernel" % (op, kernel))
            self.assertIn("  tuning unchanged: nothing ran\n", r.out)
            (c,) = self.tune(*args[1:], status=1)["classes"]
            self.assertEqual((c["best"], c["kept"]), (None, None))
            self.assertFalse(os.path.exists(self.tuning))

    def test_wrong_usage(self):
        for op in SOME:
            kernel = EXAMPLES[op]["KERNEL"]
            self.fail_with(2, "tune", op + "l", says="'%sl'" % op)
            self.fail_with(2, "tune", op, "--kernel", kernel + "x", says="'%sx'" % kernel)
            self.fail_with(2, "tune", op, "--set", "TILE=8",
                           says="--set TILE=8 needs --kernel V, whose tunable it is")
            self.fail_with(2, "tune", op, "--kernel", "all", "--set", "TILE=8", says="--kernel V")
            self.fail_with(2, "tune", op, "--budget", "0", says="budget")
            self.fail_with(2, "tune", op, "--json", "-o", "-", says="standard output")

    def test_blas_has_its_own_help(self):
        r = self.succeed("tune", "blas", "--help")
        self.assertIn("tessera tune blas [--device D]", r.out)
        self.assertNotIn("--budget", r.out)
        self.fail_with(2, "tune", "blass", says="blas")
        # Before anything is timed.
        self.fail_with(2, "tune", "blas", "--device", "nope", says="'nope' is not there", timeout=10)

    def test_no_place_to_keep(self):
        """It is refused before the search."""
        for op in SOME:
            start = time.monotonic()
            r = self.tessera("tune", op, "--device", "host", "--budget", "60",
                             env={"TESSERA_TUNING_DIR": "/dev/null/no"})
            self.assertEqual(r.status, 1, r)
            self.assertIn("/dev/null/no", r.err)
            self.assertEqual(r.out, "")
            self.assertLess(time.monotonic() - start, 20)


@unittest.skipUnless(has_opencl(), "no OpenCL device")
class OnDevice(Tuned):
    def test_the_budget_and_a_slow_compiler(self):
        """What is compiled is waited for, nothing is begun that may take longer than what is left, and the
        report says where the time went.  Another process has the entry's lock in place of a compiler,
        for 5 of the 5.2 seconds before the finals: less is left then than the first candidate took,
        also where the command begins to wait two seconds late."""
        op, example = next(iter(EXAMPLES.items()))
        env = {**self.env(), "TESSERA_CACHE_DIR": self.path("cache")}
        self.succeed("cache", env=env)
        with open(self.path("cache/lock"), "w") as lock:
            fcntl.lockf(lock, fcntl.LOCK_EX)
            timer = threading.Timer(5, lambda: fcntl.lockf(lock, fcntl.LOCK_UN))
            timer.start()
            r = self.tessera("tune", op, "--kernel", example["KERNEL"], "--size", example["SIZE"],
                             "--budget", "6.5", "--json", env=env)
            timer.join()
        (c,) = json.loads(r.out)["classes"]
        self.assertGreater(c["build_seconds"], 1.5, r)
        self.assertGreaterEqual(c["seconds"], c["build_seconds"], r)
        # Another may take the seconds that the first one did.
        self.assertEqual(len(c["tried"]), 1, r)
        self.assertIsNone(c["kept"])
        self.assertRegex(r.err, r"the time was too short: of [\d.]+ s, compiling took [\d.]+ s\n")

    def test_what_calls_on_arrays_run(self):
        """A CPU device runs C code for some problems; the report says which, where it does."""
        for op in SOME:
            problem = (op, "--size", EXAMPLES[op]["SIZE"])
            (listed,) = json.loads(self.succeed("kernels", *problem, "--json").out)["operations"]
            chosen = listed["tuning"]["chosen"]["variant"]
            (runs_on,) = [v["runs_on"] for v in listed["variants"] if v["name"] == chosen]
            in_c = "host" in runs_on
            r = self.tessera("tune", *problem, "--budget", "0.0001", "--json", env=self.env())
            (c,) = json.loads(r.out)["classes"]
            self.assertEqual(c["on_arrays"], chosen if in_c else None, r)
            r = self.tessera("tune", *problem, "--budget", "0.0001", env=self.env())
            self.assertEqual("calls on arrays run %s, C code" % chosen in r.out, in_c, r)

    def chosen(self, op, size):
        (listed,) = json.loads(self.succeed("kernels", op, "--size", size, "--json",
                                            env=self.env()).out)["operations"]
        chosen = listed["tuning"]["chosen"]["variant"]
        (runs_on,) = [v["runs_on"] for v in listed["variants"] if v["name"] == chosen]
        return chosen, "host" in runs_on

    def test_c_code_goes_before_kernels_not_measured_against_it(self):
        """An entry takes the place of a CPU's C code only where it says that it is faster."""
        for op in SOME:
            kernel, size = EXAMPLES[op]["KERNEL"], EXAMPLES[op]["SIZE"]
            self.put("%s-x.json" % op, [])
            before, in_c = self.chosen(op, size)
            entry = dict.fromkeys(("class", "parameters", "problem", "device", "driver", "family",
                                   "vendor", "kind"), "")
            entry.update(op=op, variant=kernel, median_ns=1)
            self.put("%s-x.json" % op, [entry])
            after, _ = self.chosen(op, size)
            self.assertEqual(after, before if in_c else kernel)
            if in_c:
                self.put("%s-x.json" % op, [{**entry, "faster_than": before}])
                self.assertEqual(self.chosen(op, size), (kernel, False))
                self.put("%s-x.json" % op, [{**entry, "faster_than": "other"}])
                self.assertEqual(self.chosen(op, size), (before, True))

    @unittest.skipIf(SANITIZED, "a sanitizer sees the search in tests of less time")
    def test_what_is_tuned_is_compared_with_c_code(self):
        for op in OPERATIONS:
            before, in_c = self.chosen(op, EXAMPLES[op]["SIZE"])
            if in_c:
                break
        else:
            self.skipTest("no operation runs C code here")
        args = (op, "--size", EXAMPLES[op]["SIZE"], "--kernel", EXAMPLES[op]["KERNEL"])
        (c,) = self.tune(*args, "--budget", "6")["classes"]
        self.assertIsNotNone(c["kept"], c)
        self.assertEqual(c["against_c"]["variant"], before)
        faster = c["against_c"]["best_ns"] < c["against_c"]["median_ns"]
        self.assertLessEqual(c["against_c"]["faster"], faster, c["against_c"])
        (entry,) = self.entries()
        self.assertEqual(entry.get("faster_than"), before if c["against_c"]["faster"] else None)
        now = c["best"]["variant"] if c["against_c"]["faster"] else before
        self.assertEqual(self.chosen(op, EXAMPLES[op]["SIZE"])[0], now)
        self.assertEqual(c["on_arrays"], None if c["against_c"]["faster"] else before)


if __name__ == "__main__":
    unittest.main()
