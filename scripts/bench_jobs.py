#!/usr/bin/env python3
"""Run a file of jobs and keep the rows of all of them in one.

    scripts/bench_jobs.py [--jobs data/bandwidth.jobs] --device gpu -o data/results/bench-NAME.jsonl

A job is a line, the arguments of `tessera bench` or `tessera roofline`.  The rows of each are added to
the output as it ends, so that those of a run that is stopped stay.  A job that fails is named, and the
others run all the same; the exit status is then 1, or 3 where a result or a rate was wrong.
"""
import argparse
import os
import shlex
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def read_jobs(path):
    """The jobs of a file, as lists of arguments."""
    with open(path, encoding="utf-8") as f:
        jobs = [shlex.split(line, comments=True) for line in f]
    jobs = [job for job in jobs if job]
    for job in jobs:
        if job[0] not in ("bench", "roofline"):
            sys.exit(f"bench_jobs.py: {path}: '{' '.join(job)}' is no job of bench or roofline")
    return jobs


def run(command, output):
    """Run one job; its status.  Its rows are appended to the output, as far as it came."""
    with tempfile.TemporaryDirectory(prefix="tessera-jobs-") as folder:
        rows = os.path.join(folder, "rows.jsonl")
        status = subprocess.run([*command, "--quiet", "-o", rows]).returncode
        if os.path.exists(rows):
            with open(rows, encoding="utf-8") as new, open(output, "a", encoding="utf-8") as out:
                out.write(new.read())
    return status


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tessera", default=os.path.join(ROOT, "build", "tessera"),
                        help="the command (build/tessera)")
    parser.add_argument("--device", default="gpu", help="as --device of the command (gpu)")
    parser.add_argument("--jobs", default=os.path.join(ROOT, "data", "bandwidth.jobs"),
                        help="the file of jobs (data/bandwidth.jobs)")
    parser.add_argument("--only", metavar="WORD", default="",
                        help="the jobs alone whose line has this word in it")
    parser.add_argument("--within", metavar="SECONDS", type=float, default=float("inf"),
                        help="start no job later than this; those left out are named")
    parser.add_argument("-o", "--output", required=True, help="file that the rows are added to")
    arguments = parser.parse_args()
    start = time.monotonic()
    worst = 0
    for job in read_jobs(arguments.jobs):
        line = " ".join(job)
        begun = time.monotonic()
        if arguments.only not in line:
            continue
        if begun - start > arguments.within:
            print(f"== left out: {line}", flush=True)
            worst = max(worst, 1)
            continue
        status = run([arguments.tessera, *job, "--device", arguments.device], arguments.output)
        said = "" if status == 0 else f", status {status}"
        print(f"== {time.monotonic() - begun:.1f} s{said}: {line}", flush=True)
        if status:
            worst = max(worst, 3 if status == 3 else 1)
    print(f"== {time.monotonic() - start:.0f} s in all", flush=True)
    return worst


if __name__ == "__main__":
    sys.exit(main())
