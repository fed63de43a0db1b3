#!/usr/bin/env python3
"""Run a file of jobs and keep the rows of all of them in one.

    scripts/bench_jobs.py [--jobs data/bandwidth.jobs] --device gpu -o data/results/bench-NAME.jsonl

A job is a line, the arguments of `tessera bench` or `tessera roofline`; jobs of bench that follow each
other run in one process, `tessera bench --jobs`.  Rows are added to the output as they come, so that
those of a run that is stopped stay.  A job that fails or is left out is named, and the others run all
the same; the exit status is then 1, or 3 where a result or a rate was wrong.
"""
import argparse
import itertools
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


def worse(before, status):
    """Of two statuses the one to end with: 3 before 1 before 0."""
    return before if not status else max(before, 3 if status == 3 else 1)


def leave_out(jobs):
    """Name jobs that time is over for; their status."""
    for job in jobs:
        print(f"== left out: {' '.join(job)}", flush=True)
    return 1


def run(command, output):
    """Run a command whose rows are appended to the output as they come; its status."""
    with open(output, "a", encoding="utf-8") as out:
        return subprocess.run([*command, "-o", "-"], stdout=out).returncode


def run_bench(arguments, jobs, seconds):
    """Run jobs of bench in one process, within so many seconds; its status."""
    with tempfile.NamedTemporaryFile("w", suffix=".jobs", encoding="utf-8") as f:
        f.writelines(" ".join(job) + "\n" for job in jobs)
        f.flush()
        # A budget of 0 is none.
        budget = () if seconds == float("inf") else ("--budget", f"{max(seconds, 0.001):.3f}")
        return run([arguments.tessera, "bench", "--jobs", f.name, "--device", arguments.device,
                    *budget], arguments.output)


def run_rooflines(arguments, jobs, end):
    """Run jobs of roofline, none that would start behind the end; their status."""
    worst = 0
    for job in jobs:
        if time.monotonic() >= end:
            worst = worse(worst, leave_out([job]))
            continue
        status = run([arguments.tessera, *job, "--device", arguments.device, "--quiet"],
                     arguments.output)
        if status:
            print(f"== status {status}: {' '.join(job)}", flush=True)
        worst = worse(worst, status)
    return worst


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
                        help="end after about so long: jobs left out are named, and the last may have "
                             "fewer rows, as by --budget of bench")
    parser.add_argument("-o", "--output", required=True, help="file that the rows are added to")
    arguments = parser.parse_args()
    start = time.monotonic()
    worst = 0
    jobs = [job for job in read_jobs(arguments.jobs) if arguments.only in " ".join(job)]
    for tool, group in itertools.groupby(jobs, lambda job: job[0]):
        group = list(group)
        left = arguments.within - (time.monotonic() - start)
        if left <= 0:
            status = leave_out(group)
        elif tool == "bench":
            status = run_bench(arguments, group, left)
        else:
            status = run_rooflines(arguments, group, start + arguments.within)
        worst = worse(worst, status)
    print(f"== {time.monotonic() - start:.0f} s in all", flush=True)
    return worst


if __name__ == "__main__":
    sys.exit(main())
