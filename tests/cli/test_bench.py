"""tessera bench: its table, its rows, and that it ends well.  Unoptimized kernels do here."""

import json
import os
import re
import signal
import subprocess
import time
import unittest

from cli_support import BRIEF, COMMAND, EXAMPLES, OPERATIONS, SANITIZED, SOME, Case, environment, has_opencl

# One row is done however soon the budget ends.
QUICK = ("--budget", "0.4")
# Of the first operation, so long that a line says what goes on.
SLOW_SIZE = "700" if SANITIZED else "2000"


def rows_of(text):
    return [json.loads(line) for line in text.splitlines()]


class Bench(Case):
    device = ("--device", "host")

    def bench(self, *args, **options):
        """In little time, unless the arguments say in how much."""
        brief = () if {"--seconds", "--budget"} & set(args) else BRIEF
        return self.succeed("bench", *args, *self.device, *brief, **options)

    def rows(self, *args, **options):
        return rows_of(self.bench(*args, "--json", "--quiet", **options).out)

    def check_row(self, row):
        self.assertEqual(row["schema"], "tessera-result-2")
        self.assertTrue(row["verified"], row)
        self.assertLessEqual(row["worst"], 1)
        self.assertGreaterEqual(row["samples"], 3)
        times = [row[k + "_ns"] for k in ("min", "low", "median", "high", "max")]
        self.assertEqual(times, sorted(times))
        self.assertGreater(times[0], 0)
        amount = row["bytes"] if row["unit"] == "GB/s" else row["work"]
        factor = 1e3 if row["unit"] == "Mkeys/s" else 1
        self.assertAlmostEqual(row["rate"] / (amount / row["median_ns"] * factor), 1, places=9)


class Progress(Bench):
    def on_terminal(self, columns):
        return self.said_on_terminal(
            columns, "bench", OPERATIONS[0], "--size", SLOW_SIZE, *self.device, *QUICK)

    def test_line_fits_the_terminal(self):
        """A longer one would leave its first part behind at each redrawing."""
        for columns in (17, 44, 200):
            lines = [s for s in self.on_terminal(columns) if s.startswith("[")]
            self.assertTrue(lines)
            self.assertTrue(all(len(s) < columns and "\n" not in s for s in lines), lines)
        self.assertIn(" on host", lines[0])


class Host(Bench):
    def test_wrong_command_lines(self):
        for args, says in (
                ((), "which operation?"),
                (("multiply",), "multiply"),
                ((OPERATIONS[0], "--wall", "--peers"), "--wall needs --held"),
                ((OPERATIONS[0], "--brief"), "--brief needs --peers"),
                ((OPERATIONS[0], "--brief", "--peers", "--kernel", "all"),
                 "--brief compares one variant"),
                ((OPERATIONS[0], "--brief", "--peers", "--explain"), "--brief prints no rows"),
                (("overlap", "--jobs", "x"), "overlap has no --jobs"),
                (("--jobs", "x", "overlap"), "overlap has no --jobs"),
                (("overlap", "--wall"), "overlap has no --wall"),
                (("overlap", "--brief"), "overlap has no --brief"),
                (("overlap", "--build-only"), "overlap has no --build-only"),
                *((args, f"{args[1]} is of what is timed, and --build-only times nothing")
                  for args in ((OPERATIONS[0], "--peers", "--build-only"),
                               (OPERATIONS[0], "--errors", "--build-only"),
                               (OPERATIONS[0], "--explain", "--build-only"),
                               (OPERATIONS[0], "--held", "--build-only"),
                               (OPERATIONS[0], "--output", "x", "--build-only"),
                               ("--build-only", "--peers", "--jobs", "x")))):
            self.fail_with(2, "bench", *args, says=says)

    def test_each_operation(self):
        """Its default on a small problem, verified, and the rows are what compare reads."""
        for op in SOME:
            r = self.bench(op, "--size", EXAMPLES[op]["SIZE"], "-o", "r.json", *QUICK)
            self.assertIn("kernel", r.out)
            with open(self.path("r.json"), encoding="utf-8") as f:
                row, = rows_of(f.read())
            self.check_row(row)
            self.assertEqual((row["op"], row["timer"], row["place"]), (op, "wall", "host"))
            self.succeed("compare", "r.json")


class Jobs(Bench):
    def jobs(self, *lines):
        self.write("some.jobs", "".join(line + "\n" for line in lines))
        return ("--jobs", "some.jobs")

    def test_all_in_one_output(self):
        """Comments and empty lines are none; what the command line gives goes for each job that does
        not give it."""
        jobs = self.jobs("# a comment", "", *(
            f"bench {op} --size {EXAMPLES[op]['SIZE']}  # of {op}" for op in SOME),
            f"  bench {OPERATIONS[0]} --size {EXAMPLES[OPERATIONS[0]]['SIZE']} --seed 7")
        rows = self.rows(*jobs, "--seed", "5")
        self.assertEqual([row["op"] for row in rows], [*SOME, OPERATIONS[0]])
        self.assertEqual([row["seed"] for row in rows], ["5"] * len(SOME) + ["7"])
        for row in rows:
            self.check_row(row)
        r = self.bench(*jobs, "-o", "rows")
        with open(self.path("rows"), encoding="utf-8") as f:
            self.assertEqual(len(rows_of(f.read())), len(rows))
        self.assertIn(f"{len(rows)} of {len(rows)}, ", r.err)
        all_, *parts = map(float, re.findall(r"\d+\.\d", re.search(
            r"(?m)^hint: .* s: inputs .*, proofs .*, samples .*$", r.err).group()))
        self.assertAlmostEqual(all_, sum(parts), delta=0.3)  # each is rounded

    def test_wrong_jobs(self):
        """Each is named before the first job runs, and none does."""
        size = EXAMPLES[OPERATIONS[0]]["SIZE"]
        good = f"bench {OPERATIONS[0]} --size {size}"
        wrong = (
                (f"{good} --kernel nosuch", "nosuch"), (f"{good} --nosuch", "unknown option"),
                (f"{good} -o x", "--output is an option of the command, not of a job"),
                (f"{good} --device host", "--device is an option of the command"),
                (f"{good} --jobs x", "--jobs is an option of the command"),
                ("bench overlap", "overlap cannot be a job in a file"),
                (f"{good} --peers --build-only", "--build-only times nothing"),
                ("bench", "0 operations are named"))
        r = self.tessera("bench", *self.jobs(good, *(bad for bad, _ in wrong), good), *self.device,
                         "-o", "rows", *BRIEF)
        self.assertEqual((r.status, r.out), (2, ""), r.err)
        self.assertFalse(os.path.exists(self.path("rows")))
        for i, (bad, says) in enumerate(wrong):
            self.assertIn(says, r.err)
            self.assertIn(f"some.jobs: line {i + 2}: status 2: {bad}\n", r.err)
        r = self.tessera("bench", *self.jobs("bench nonsense"), *self.device)
        self.assertEqual(r.status, 2, r)
        self.assertIn(OPERATIONS[0], r.err)
        self.assertNotIn("overlap", r.err)

    def test_a_job_that_fails(self):
        """It is named, and the others run."""
        good = f"bench {OPERATIONS[0]} --size {EXAMPLES[OPERATIONS[0]]['SIZE']}"
        bad = f"bench {OPERATIONS[0]} --size 4000000"  # more than there is memory for
        r = self.tessera("bench", *self.jobs(good, bad, good), "--device", "host", "--json",
                         "--quiet", *BRIEF)
        self.assertEqual(r.status, 1, r)
        self.assertEqual([row["outcome"] for row in rows_of(r.out)].count("timed"), 2)
        self.assertIn(f"some.jobs: line 2: status 1: {bad}", r.err)

    def test_quotes(self):
        """They keep blanks and '#', and are left out."""
        op, size = OPERATIONS[0], EXAMPLES[OPERATIONS[0]]["SIZE"]
        rows = self.rows(*self.jobs(f"bench '{op}' --size \"{size}\" --seed '7' # 'of it",
                                    f"ben'ch' {op} '--size={size}'"))
        self.assertEqual([row["seed"] for row in rows][0], "7")
        self.assertEqual(len(rows), 2)
        r = self.tessera("bench", *self.jobs(f"bench {op} --size 'a # b'"), *self.device)
        self.assertEqual(r.status, 2, r)
        self.assertIn("'a # b'", r.err)
        for line in (f"bench {op} --size '7", f"bench {op} --size \"7"):
            self.fail_with(1, "bench", *self.jobs("# x", line), *self.device,
                           says=f"some.jobs: line 2: a quote is not closed: {line}")

    @unittest.skipUnless(has_opencl(), "no OpenCL device")
    def test_what_a_call_on_a_cpu_runs_has_a_line(self):
        """Beside the default kernel, and beside all kernels; not beside one that is named."""
        op = next(o for o in OPERATIONS if EXAMPLES[o].get("FIRST_CALL") == "simd")
        example = EXAMPLES[op]
        for kernel, has in (((), True), (("--kernel", "all"), True),
                            (("--kernel", example["KERNEL"]), False)):
            r = self.succeed("bench", op, "--size", example["SIZE"], "--device", "cpu", *kernel, *BRIEF)
            self.assertEqual("\n  simd " in r.out, has, r.out)
            self.assertEqual("which is C code" in r.err, has, r.err)

    @unittest.skipUnless(has_opencl(), "no OpenCL device")
    def test_nothing_is_timed(self):
        """Limits are not asked for where no row would be compared with them."""
        listed = json.loads(self.succeed("kernels", "--json", "--device", "cpu").out)["operations"]
        op, kernel = next((o["op"], v["name"]) for o in listed for v in o["variants"]
                          if v.get("unsupported") and v["runs_on"] != "host")
        job = f"bench {op} --size {EXAMPLES[op]['SIZE']}"
        for lines, hinted in (((f"{job} --kernel {kernel}",), False),
                              ((f"{job} --kernel {kernel}", job, f"{job} --kernel {kernel}"), True)):
            r = self.tessera("bench", *self.jobs(*lines), "--device", "cpu", *BRIEF)
            self.assertEqual(r.status, 1, r)
            self.assertEqual("hint: 'tessera roofline' measures" in r.err, hinted, r)

    def test_wrong_command_lines(self):
        jobs = self.jobs(f"bench {OPERATIONS[0]}")
        for args, says in (
                ((*jobs, OPERATIONS[0]), "both"), ((*jobs, "--size", "7"), "--size is an option of a"),
                ((*jobs, "--kernel", "all"), "--kernel is an option of a job")):
            self.fail_with(2, "bench", *args, *self.device, says=says)
        self.fail_with(1, "bench", "--jobs", "no.jobs", *self.device, says="no.jobs")
        for line, says in (("tune x", "line 1: 'tune x' is not a job of bench"), ("# x", "has no job")):
            self.fail_with(1, "bench", *self.jobs(line), *self.device, says=says)
        self.fail_with(1, "bench", *self.jobs("# x", f"bench {OPERATIONS[0]}\0", "bench"), *self.device,
                       says="some.jobs: line 2 is not text: it has a zero byte")

    def test_the_budget_is_of_all(self):
        """The first job has a row however short it is; what else there is is named."""
        job = f"bench {OPERATIONS[0]}" + f" --size {EXAMPLES[OPERATIONS[0]]['SIZE']}" * 4
        r = self.tessera("bench", *self.jobs(job, job, job), "--json", "--quiet", *self.device,
                         "--budget", "0.0001")
        self.assertEqual(r.status, 1, r)
        self.assertEqual([row["outcome"] for row in rows_of(r.out)], ["timed"] + ["late"] * 3)
        self.assertIn("3 of 4 rows are left out", r.err)
        self.assertIn(f"line 3 is left out: {job}", r.err)
        self.assertIn("2 of 3 jobs are left out", r.err)

    slow = f"bench {OPERATIONS[0]} --size {EXAMPLES[OPERATIONS[0]]['SIZE']}"
    quick = slow + " --seconds 0.01"

    def interrupt(self, status, *lines, before=1):
        """Interrupt the first slow job of three; those before it have so many rows."""
        self.jobs(*lines)
        job = subprocess.Popen(
            [COMMAND, "bench", "--jobs", "some.jobs", "-o", "-", "--seconds", "20", *self.device],
            cwd=self.folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        first = b"".join(job.stdout.readline() for _ in range(before))
        time.sleep(0.5)
        job.send_signal(signal.SIGINT)
        rest, err = job.communicate(timeout=60)
        self.assertEqual(job.returncode, status, err)
        self.assertIn(b"interrupted: %d of 3 jobs are done" % lines.index(self.slow), err)
        self.assertIn(len(rows_of((first + rest).decode())), (before, before + 1))

    def test_interrupted(self):
        """With the rows of the jobs before, and what there is of the running one."""
        self.interrupt(130, self.quick, self.slow, self.slow)

    def test_interrupted_behind_one_that_failed(self):
        """Its status stays that of the whole."""
        self.interrupt(1, f"bench {OPERATIONS[0]} --size 4000000", self.quick, self.slow, before=2)

    @unittest.skipUnless(has_opencl(), "no OpenCL device")
    def test_build_only(self):
        """Nothing is written but the programs that a row needs, beside those of probes."""
        def kept():
            return {name for _, _, names in os.walk(self.path("cache")) for name in names}

        job = self.jobs(f"bench {OPERATIONS[0]} --size {EXAMPLES[OPERATIONS[0]]['SIZE']}")
        env = {"TESSERA_CACHE_DIR": self.path("cache")}
        args = "--json", "--quiet", "--device", "cpu"
        self.succeed("kernels", OPERATIONS[0], "--device", "cpu", env=env)
        probes = kept()
        r = self.succeed("bench", *job, "--build-only", *args, env=env)
        self.assertEqual((r.out, r.err), ("", ""))
        built = kept()
        self.assertLess(probes, built)
        self.succeed("bench", *job, *args, *QUICK, env=env)
        self.assertEqual(kept(), built)


if __name__ == "__main__":
    unittest.main()
