#!/usr/bin/env python3
"""Time two builds of the command in turn on the same jobs, and say which jobs changed.

    scripts/versions.py OLD NEW [--device D] [--rounds N] [--jobs FILE] [-o FILE]

OLD and NEW are `tessera` commands of two versions.  FILE (data/versions.jobs) has a job a line: the
arguments of `tessera`, `bench` first, or those of an operation on files, whose inputs are made
from `{random:ROWSxCOLUMNS}` and `{keys:N}`.  A job runs N times with each build, turn by turn.  A
ratio is the old time over the new one, by the medians of each build's rounds; a job is `slower` where
the new build's best round is slower than the old build's worst by more than a hundredth, and `faster`
likewise.  Exit status 3 where a job is slower or fails with one build alone.
"""
import argparse
import json
import math
import os
import re
import shlex
import statistics
import subprocess
import sys
import tempfile


def make_input(folder, what):
    """The path of a made .npy file for `random:RxC` (float32 from 1 to 2) or `keys:RxC` (uint32)."""
    path = os.path.join(folder, what.replace(":", "-") + ".npy")
    if os.path.exists(path):
        return path
    kind, size = what.split(":")
    shape = tuple(int(n) for n in size.split("x"))
    count = math.prod(shape)
    dtype = "<f4" if kind == "random" else "<u4"
    header = repr({"descr": dtype, "fortran_order": False, "shape": shape}).encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
        for first in range(0, count, 1 << 20):
            n = min(1 << 20, count - first)
            bits = int.from_bytes(os.urandom(4 * n), "little")
            if kind == "random":
                bits &= int.from_bytes(b"\xff\xff\x7f\x00" * n, "little")
                bits |= int.from_bytes(b"\x00\x00\x80\x3f" * n, "little")
            f.write(bits.to_bytes(4 * n, "little"))
    return path


def time_once(tessera, job, device, folder):
    """Nanoseconds of one run of a job, or the message of what failed."""
    rows = os.path.join(folder, "rows.jsonl")
    words = [re.sub(r"\{(.*?)\}", lambda m: make_input(folder, m[1]), word)
             for word in shlex.split(job)]
    if words[0] == "bench":
        extra = ["--quiet", "--budget", "1.5", "-o", rows]
    else:
        extra = ["-o", os.path.join(folder, "out.npy"), "--json", "--quiet", "--repeat", "5"]
    if os.path.exists(rows):
        os.remove(rows)
    run = subprocess.run([tessera, *words, "--device", device, *extra], text=True,
                         capture_output=True, timeout=300)
    if run.returncode:
        return (run.stderr.strip().splitlines() or ["status %d" % run.returncode])[-1]
    if words[0] != "bench":
        times = json.loads(run.stdout)["times"]
        return float(times.get("median_wall_ns") or times["wall_ns"])
    with open(rows, encoding="utf-8") as f:
        timed = [r for r in map(json.loads, f) if r["kind"] == "kernel" and r["outcome"] == "timed"]
    return timed[0]["median_ns"] if timed else "no row was timed"


def compare(old, new):
    """Ratio and word for the rounds of one job."""
    if isinstance(old[-1], str) or isinstance(new[-1], str):
        both = isinstance(old[-1], str) and isinstance(new[-1], str)
        return None, "fails" if both else "FAILS"
    ratio = statistics.median(old) / statistics.median(new)
    if min(new) > 1.01 * max(old):
        return ratio, "SLOWER"
    return ratio, "faster" if 1.01 * max(new) < min(old) else "same"


def main():
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--device", default="gpu")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--jobs", default=os.path.join(root, "data", "versions.jobs"))
    parser.add_argument("-o", "--output", help="write a JSON line a job here")
    arguments = parser.parse_args()
    with open(arguments.jobs, encoding="utf-8") as f:
        jobs = [line.strip() for line in f if line.strip() and not line.startswith("#")]
    status = 0
    out = open(arguments.output, "w", encoding="utf-8") if arguments.output else None
    with tempfile.TemporaryDirectory(dir=os.environ.get("TESSERA_VERSIONS_DIR")) as folder:
        for job in jobs:
            times = {"old": [], "new": []}
            for _ in range(arguments.rounds):
                for which in times:
                    times[which].append(time_once(os.path.abspath(getattr(arguments, which)), job,
                                                  arguments.device, folder))
                if any(isinstance(rounds[-1], str) for rounds in times.values()):
                    break
            ratio, word = compare(times["old"], times["new"])
            if word.isupper():
                status = 3
            print("%-6s %s  %s" % (word, "%.3f" % ratio if ratio else "  -  ", job), flush=True)
            if not ratio:
                print("       ", [t for which in times for t in times[which] if isinstance(t, str)])
            if out:
                out.write(json.dumps({"job": job, "device": arguments.device, "ratio": ratio,
                                      "outcome": word.lower(), "old_ns": times["old"],
                                      "new_ns": times["new"]}) + "\n")
                out.flush()
    return status


if __name__ == "__main__":
    sys.exit(main())
