#!/usr/bin/env python3
"""How long first and second calls of every operation take, a process each, from start to result:

    scripts/first_calls.py --tessera build/tessera [--device D] --name NAME    # measures, then writes
    scripts/first_calls.py                                                     # writes alone
    scripts/first_calls.py --tessera build/tessera --random 20                 # lists the slow ones

A first call begins with every cache empty, a second one finds what the first left.  The problem is
that of the operation's tests, tests/OP/example.py, and one FACTOR times as long in each direction,
in each type that --as takes; of --tries the one with the shortest first call counts.  `arrays` is the
operation as it runs by default on files, `buffers` the same with --copy, as it runs on OpenCL
buffers.  The times go to data/results/first-calls-NAME.json, and all such files into the table of
docs/first_calls.md.

--random N takes N problems of each operation from tests/OP/random_problems.py instead, of any type, layout
and option, in both ways, and prints those whose first call took longer than --most, and the longest.
"""
import argparse
import glob
import json
import os
import runpy
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DOCUMENT = os.path.join(ROOT, "docs", "first_calls.md")
TYPES = ("f32", "f64", "f16")
FACTORS = (1, 30)
TRIES = 3
WAYS = {"arrays": (), "buffers": ("--copy",)}


def save_inputs(example, factor, folder):
    for name, array in example["FILES"].items():
        longer = np.resize(array, [factor * n for n in array.shape])
        np.save(os.path.join(folder, name), longer)


def call(tessera, args, folder):
    """Seconds of one process, and its JSON; None where it refuses."""
    env = dict(os.environ, TESSERA_CACHE_DIR=os.path.join(folder, "cache"),
               POCL_CACHE_DIR=os.path.join(folder, "pocl"),
               CUDA_CACHE_PATH=os.path.join(folder, "cuda"))
    start = time.monotonic()
    r = subprocess.run([tessera, *args, "--quiet", "--json"], cwd=folder, env=env, timeout=600,
                       capture_output=True, text=True)
    seconds = time.monotonic() - start
    return (seconds, json.loads(r.stdout)) if r.returncode == 0 else None


def measure(tessera, device, example, factor, kind, way):
    """A row: both calls, or None where the operation does not take the type."""
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "pocl"))
        save_inputs(example, factor, folder)
        args = [*example["CALL"], "--as", kind, *WAYS[way], *(("--device", device) if device else ())]
        first = call(tessera, args, folder)
        second = first and call(tessera, args, folder)
    if not second:
        return None
    row = {"op": first[1]["op"], "problem": first[1]["problem"]["description"], "way": way,
           "variant": first[1]["variant"], "device": first[1]["device"]}
    for name, (seconds, result) in (("first", first), ("second", second)):
        times = result["times"]
        row[name] = {"process_s": round(seconds, 4), "build": result["build"],
                     **{k: times[k] for k in ("probe_ns", "build_ns", "device_ns", "first_wall_ns")}}
    return row


def measure_all(options):
    rows = []
    for op in operations(options.tessera):
        example = runpy.run_path(os.path.join(ROOT, "tests", op, "example.py"))
        for factor in FACTORS:
            for kind in TYPES:
                for way in options.ways.split(","):
                    tries = [measure(options.tessera, options.device, example, factor, kind, way)
                             for _ in range(options.tries)]
                    if not all(tries):
                        continue
                    row = min(tries, key=lambda r: r["first"]["process_s"])
                    rows.append(row)
                    print("%-8s %-28s %-8s %-16s %7.2f s %7.2f s"
                          % (row["op"], row["problem"], way, row["variant"],
                             row["first"]["process_s"], row["second"]["process_s"]), flush=True)
    return rows


def operations(tessera):
    listing = subprocess.run([tessera, "kernels", "--json"], capture_output=True, text=True, check=True)
    return [op["op"] for op in json.loads(listing.stdout)["operations"]]


def measure_random(options):
    """First calls of random problems: True where one took too long."""
    sys.path.insert(0, os.path.join(ROOT, "tests", "cli"))
    slow = False
    for number, op in enumerate(operations(options.tessera)):
        draw = runpy.run_path(os.path.join(ROOT, "tests", op, "random_problems.py"))["draw"]
        times = []
        for i in range(options.random):
            files, args, _ = draw(np.random.default_rng([options.seed, number, i]))
            for way in options.ways.split(","):
                with tempfile.TemporaryDirectory() as folder:
                    os.mkdir(os.path.join(folder, "pocl"))
                    for name, array in files.items():
                        np.save(os.path.join(folder, name), array)
                    line = [op, *args, *WAYS[way], *(("--device", options.device) if options.device else ())]
                    first = call(options.tessera, line, folder)
                if not first:
                    sys.exit("failed: %s" % " ".join(line))
                seconds, result = first
                times.append(seconds)
                if seconds > options.most:
                    slow = True
                    print("%.2f s: %s: %s, %s, %s, compiling %.2f s" % (
                        seconds, op, result["problem"]["description"], " ".join(line), result["variant"],
                        result["times"]["build_ns"] / 1e9), flush=True)
        print("%-10s %d calls, median %.2f s, longest %.2f s" % (op, len(times), np.median(times),
                                                                 max(times)), flush=True)
    return slow


def cell(seconds):
    return "%.2f" % seconds


def table(name, rows):
    device = rows[0]["device"]
    lines = ["", "## %s" % name, "", "%s, %s %s." % (device["name"], device["platform"],
                                                     device["driver"]), "",
             "| operation | problem | way | kernel | first, s | of it compiling | probing | second, s |",
             "| --- | --- | --- | --- | ---: | ---: | ---: | ---: |"]
    for r in rows:
        first = r["first"]
        lines.append("| %s | %s | %s | %s | %s | %s | %s | %s |" % (
            r["op"], r["problem"], r["way"], r["variant"], cell(first["process_s"]),
            cell(first["build_ns"] / 1e9), cell(first["probe_ns"] / 1e9),
            cell(r["second"]["process_s"])))
    return lines


def write_document():
    lines = ["# First and second calls", "",
             "Seconds of a process from start to result on files in memory: the first with every cache",
             "empty, the second with what the first left there ([cache.md](cache.md)). Of --tries such",
             "pairs, three on PoCL 3.1 and one or two elsewhere, that with the shortest first call counts.",
             "`arrays` is the operation as it runs by default on files, `buffers` the same with `--copy`,",
             "as it runs on OpenCL buffers. `scripts/first_calls.py` measures and writes this page.", "",
             "On the H200 a program that opens the GPU and does nothing takes 0.25 to 0.37 s: 0.10 s to list",
             "platforms, 0.11 s for a context, up to 0.07 s to destroy it and 0.1 s to end."]
    for path in sorted(glob.glob(os.path.join(ROOT, "data", "results", "first-calls-*.json"))):
        with open(path) as f:
            rows = json.load(f)["rows"]
        if rows:
            lines += table(os.path.basename(path)[len("first-calls-"):-len(".json")], rows)
    with open(DOCUMENT, "w") as f:
        f.write("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tessera", help="the command; without it nothing is measured")
    parser.add_argument("--device", help="as the command takes it")
    parser.add_argument("--name", help="of the device in results: pocl3-epyc2, h200")
    parser.add_argument("--tries", type=int, default=TRIES)
    parser.add_argument("--ways", default=",".join(WAYS), help="of %s" % ",".join(WAYS))
    parser.add_argument("--random", type=int, metavar="N", help="random problems of each operation")
    parser.add_argument("--seed", type=int, default=1, help="of --random")
    parser.add_argument("--most", type=float, default=0.5, help="seconds, of --random")
    options = parser.parse_args()

    if options.random:
        if not options.tessera:
            parser.error("--random needs --tessera")
        options.tessera = os.path.abspath(options.tessera)
        return measure_random(options)
    if options.tessera:
        if not options.name:
            parser.error("--name says what the file of times is called")
        options.tessera = os.path.abspath(options.tessera)
        rows = measure_all(options)
        path = os.path.join(ROOT, "data", "results", "first-calls-%s.json" % options.name)
        with open(path, "w") as f:
            json.dump({"schema": "tessera-first-calls-1", "rows": rows}, f, indent=1)
            f.write("\n")
    write_document()
    return 0


if __name__ == "__main__":
    sys.exit(main())
