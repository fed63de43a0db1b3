"""bench sort --peers: how long a peer takes, and what it cannot do."""

import json
import os
import time
import unittest

from cli_support import has_opencl
from peers_support import REAL, Peers


class Time(Peers):
    def sort(self, which, *args, size="1000", **options):
        return self.rows("sort", "--size", size, *args, FAKE_SORT=which,
                         FAKE_LOG=self.path("log"), **options)

    def test_parts_of_the_problem_reach_a_peer_that_takes_none(self):
        for size, args in ("3x40", ()), ("40", ("--value-bytes", "4")):
            row = self.sort("two seconds", *args, size=size)["fake two seconds"]
            self.assertEqual(row["unsupported"], "it sorts one sequence of uint32 keys only")

    def test_one_that_asks_for_a_setting(self):
        """It is loaded again with it, which is said; what is set already stays."""
        args = "sort", "--size", "1000", "--budget", "2"
        for env, says in (({"FAKE_ASKS": "1"}, True), ({"FAKE_ASKS": "1", "FAKE_SETTING": "mine"}, False)):
            r = self.bench(*args, FAKE_SORT="two seconds", FAKE_LOG=self.path("log"), **env)
            note = "hint: the fake is compared as wide (FAKE_SETTING=wide)\n"
            self.assertEqual(note in r.err, says, r.err)
            self.assertIn("fake two seconds", r.out)

    def test_a_slow_peer_gets_three_samples(self):
        row = self.sort("two seconds")["fake two seconds"]
        self.assertEqual((row["samples"], row["median_ns"], self.calls()), (3, 2e9, 4))

    def test_keys_that_cannot_be_restored(self):
        row = self.sort("unrestorable")["fake unrestorable"]
        self.assertEqual((row["unsupported"], row["samples"]),
                         ("restoring the inputs of fake unrestorable failed with code 78", 0))

    def test_the_proof_of_a_long_call_is_its_sample(self):
        row = self.sort("five seconds")["fake five seconds"]
        self.assertEqual((row["samples"], row["median_ns"], self.calls()), (1, 5e9, 1))

    @unittest.skipUnless(has_opencl(), "no OpenCL device")
    def test_a_first_call_on_a_device_may_have_compiled(self):
        row = self.sort("compiles", device=())["fake compiles"]
        self.assertGreater(row["samples"], 3)
        self.assertEqual(row["median_ns"], 1e6)

    @unittest.skipUnless(has_opencl(), "no OpenCL device")
    def test_the_second_call_on_a_device_is_its_sample(self):
        row = self.sort("stays long", device=())["fake stays long"]
        self.assertEqual((row["samples"], row["median_ns"], self.calls()), (1, 5e9, 2))

    def test_budget(self):
        """What no longer fits says so: a call that was seen to be too long, or any after the end."""
        start = time.monotonic()
        rows = self.sort("sleeper", "--budget", "1.8")
        self.assertLess(time.monotonic() - start, 6)
        for n in (1, 2, 3):
            row = rows["fake sleeper %d" % n]
            self.assertEqual((row["unsupported"], row["samples"]), ("the budget is over", 0))
        self.assertLessEqual(self.calls(), 2)

    def test_what_the_budget_leaves_out_is_counted(self):
        """At the end, peers like variants, also where others of their comparison ran."""
        for budget in ("1.8", "0.001"):
            r = self.bench("sort", "--size", "1000", "--size", "1001", "--json", "--budget", budget,
                           FAKE_SORT="sleeper", FAKE_LOG=self.path("log"))
            outcomes = [json.loads(line)["outcome"] for line in r.out.splitlines()]
            late = outcomes.count("late")
            self.assertGreaterEqual(late, 3)
            self.assertRegex(r.err, r"(?m)^tessera: bench: the budget is over after [\d.e-]+ s: "
                             r"%d of %d rows are left out; a --budget above %s takes more of them$"
                             % (late, len(outcomes), budget))


class Held(Peers):
    @unittest.skipUnless(has_opencl(), "no OpenCL device")
    def test_both_clocks(self):
        """Sorts, whose calls use their keys up: each is of fresh ones, and verified."""
        # Onesweep is compiled first, with whatever else the machine does.
        args = "sort", "--size", "5000", "--held", "--wall", "--brief", "--budget", "120"
        for more in (), ("--kernel", "onesweep"):
            r = self.bench(*args, *more, "--json", "--quiet", device=("--device", "cpu"),
                           FAKE_SORT="two")
            rows = [json.loads(line) for line in r.out.splitlines()]
            ours = rows[0]["name"]
            timed = {(row["timer"], row["kind"], row["name"]): row for row in rows
                     if row["outcome"] == "timed"}
            self.assertEqual(list(timed), [(timer, *one) for timer in ("held", "wall") for one in
                                           (("kernel", ours), ("peer", "fake two clocks"))])
            self.assertEqual([timed[timer, "peer", "fake two clocks"]["median_ns"]
                              for timer in ("held", "wall")], [5e5, 1e6])
            self.assertTrue(all(row["verified"] for row in timed.values()))
            slow, = [row for row in rows if row["name"] == "fake two seconds"]
            self.assertEqual((slow["timer"], slow["unsupported"]), ("held", "it cannot be held back"))


@unittest.skipUnless(os.path.exists(os.path.join(REAL, "peer_sort_std.so")), "no std::sort")
class Keys(Peers):
    def test_floats_are_sorted_by_peers_too(self):
        """Random keys hold no NaN, for which std::sort promises nothing."""
        for kind in ("f32", "f64"):
            rows = self.rows("sort", "--size", "100k", "--type", kind, "--budget", "60",
                             TESSERA_PEER_DIR=REAL)
            self.assertEqual(rows["std::sort"]["unsupported"], "")
            self.assertTrue(rows["std::sort"]["samples"])

    def test_rows_and_segments(self):
        """Each is sorted by itself, and verified so."""
        for args, problem in ((("--descending",), "30 rows of 70 uint32 descending"),
                              (("--segments", "mixed", "--argsort"),
                               "2100 uint32 argsort in 30 mixed segments of up to 1120")):
            rows = self.rows("sort", "--size", "30x70", *args, "--budget", "4",
                             TESSERA_PEER_DIR=REAL)
            self.assertIn("std::sort", rows)
            for name in {"std::sort", "parallel std::sort", "vqsort"} & set(rows):
                row = rows[name]
                self.assertEqual(row["problem"], problem)
                if name == "vqsort" and "--argsort" in args:
                    self.assertEqual(row["unsupported"], "it sorts keys alone")
                else:
                    self.assertTrue(row["verified"] and row["samples"], row)


if __name__ == "__main__":
    unittest.main()
