"""scripts/bench_jobs.py: the command takes every job of data/bandwidth.jobs, and what a job fails with
keeps no other from running; and the command takes data/ratios.jobs."""

import argparse
import os
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
sys.path.insert(0, os.path.join(ROOT, "scripts"))

import bench_jobs  # noqa: E402

# A command in the place of `tessera`, called as "bench --jobs FILE ...": the third word of a job is its
# status, or the row that it writes.  The second word of a roofline is its status, or "slow".
FAKE = """#!/bin/sh
if [ "$1" = roofline ]; then
    [ "$2" != slow ] || exec sleep 0.6
    exit "$2"
fi
[ "$1 $2" = "bench --jobs" ] || exit 9
worst=0
while read -r bench op what rest; do
    case $what in
    [0-9]) echo "status $what: $bench $op $what" >&2; [ "$worst" = 3 ] || worst=$what ;;
    *) echo "$what" ;;
    esac
done < "$3"
exit $worst
"""


class Jobs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(path, 0o755)
        return path

    def run_jobs(self, jobs, *options):
        """The status, and the rows, of a file of jobs with the fake command."""
        out = os.path.join(self.folder, "rows.jsonl")
        done = subprocess.run(
            [sys.executable, bench_jobs.__file__, "--tessera", self.write("fake", FAKE), "--jobs",
             self.write("some.jobs", jobs), "-o", out, *options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        rows = ""
        if os.path.exists(out):
            with open(out, encoding="utf-8") as f:
                rows = f.read()
        return done.returncode, rows, done.stdout + done.stderr

    def test_the_command_takes_every_job(self):
        """It looks for the device once it has understood all else."""
        jobs = bench_jobs.read_jobs(os.path.join(ROOT, "data", "bandwidth.jobs"))
        self.assertGreater(len(jobs), 20)
        for job in jobs:
            done = subprocess.run([os.environ["TESSERA"], *job, "--device", "nosuch"],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.assertRegex(done.stderr, "device 'nosuch' is not there|no OpenCL device was found",
                             " ".join(job))

    def test_the_command_takes_the_file_of_ratios(self):
        jobs = os.path.join(ROOT, "data", "ratios.jobs")
        done = subprocess.run([os.environ["TESSERA"], "bench", "--jobs", jobs, "--device", "nosuch"],
                              stderr=subprocess.PIPE, text=True)
        self.assertRegex(done.stderr, "device 'nosuch' is not there|no OpenCL device was found")

    def test_rows_of_all_jobs(self):
        status, rows, _ = self.run_jobs("# a comment\n\nbench op first\nbench op second # too\n")
        self.assertEqual((status, rows), (0, "first\nsecond\n"))
        status, rows, _ = self.run_jobs("bench op third\nbench op fourth\n", "--only", "third",
                                        "--within", "60")
        self.assertEqual((status, rows), (0, "first\nsecond\nthird\n"))

    def test_a_job_that_fails(self):
        status, rows, said = self.run_jobs("bench op 1\nbench op next\n")
        self.assertEqual((status, rows), (1, "next\n"))
        self.assertIn("status 1: bench op 1", said)
        self.assertEqual(self.run_jobs("bench op 3\nbench op 1\n")[0], 3)

    def test_time_is_over(self):
        status, rows, said = self.run_jobs("bench op first\n", "--within", "-1")
        self.assertEqual((status, rows), (1, ""))
        self.assertIn("left out: bench op first", said)

    def test_a_roofline_that_fails(self):
        status, rows, said = self.run_jobs("roofline 4\nroofline 0\nbench op next\n")
        self.assertEqual((status, rows), (1, "next\n"))
        self.assertIn("status 4: roofline 4", said)
        self.assertNotIn("roofline 0", said)
        self.assertEqual(self.run_jobs("roofline 3\nroofline 1\n")[0], 3)

    def test_time_is_over_between_rooflines(self):
        status, _, said = self.run_jobs("roofline slow\nroofline 0\nbench op next\n",
                                        "--within", "0.5")
        self.assertEqual(status, 1)
        self.assertNotIn("left out: roofline slow", said)
        for job in "roofline 0", "bench op next":
            self.assertIn(f"left out: {job}", said)

    def test_the_budget_of_bench_is_what_is_left(self):
        """However little: one of 0.000 would be refused."""
        seen = []
        arguments = argparse.Namespace(tessera="t", device="d", output="o")
        with unittest.mock.patch.object(bench_jobs, "run", lambda command, _: seen.extend(command)):
            bench_jobs.run_bench(arguments, [["bench"]], 1e-5)
            self.assertEqual(seen[-2:], ["--budget", "0.001"])
            bench_jobs.run_bench(arguments, [["bench"]], float("inf"))
            self.assertEqual(seen[-1], "d")

    def test_no_job(self):
        status, _, said = self.run_jobs("tune op\n")
        self.assertEqual(status, 1)
        self.assertIn("'tune op' is no job", said)


if __name__ == "__main__":
    unittest.main()
