#!/usr/bin/env python3
"""How long first and second calls of every operation take, a process each, from start to result:

    scripts/first_calls.py --tessera build/tessera [--device D] --name NAME    # measures, then writes
    scripts/first_calls.py                                                     # writes alone
    scripts/first_calls.py --tessera build/tessera --random 20                 # lists the slow ones

A first call begins with every cache empty, a second one finds what the first left.  The problem is
that of the operation's tests, tests/OP/example.py, and one FACTOR times as long in each direction,
in each type that --as takes.  Every call is made once, then every one again, --tries times; of the
tries the one with the median first call counts, and the longest is kept beside it.  `arrays` is the
operation as it runs by default on files, `buffers` the same with --copy, as it runs on OpenCL
buffers.  --bare names the program bare_opencl, built with the tests, that does nothing of ours: it is
measured in turn with the calls, with an empty and with a filled cache of the driver.

The times go to data/results/first-calls-NAME.json, or where --output says, after each call: --budget
ends the run after so many seconds with what there is then.  All such files go into the table of
docs/first_calls.md.

--random N takes N problems of each operation from tests/OP/random_problems.py instead, of any type, layout
and option, in both ways, and prints those whose first call took longer than --most, and the longest.
"""
import argparse
import glob
import json
import math
import os
import runpy
import shutil
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


# What the bare program does, its arguments and environment: with one channel to NVIDIA's devices as the
# command has it for small problems.
ONE_CHANNEL = {"CUDA_DEVICE_MAX_CONNECTIONS": "1"}
BARE = {"opens a device": ((), {}), "opens a device by one channel": ((), ONE_CHANNEL),
        "builds and runs one kernel": (("kernel",), {}),
        "builds and runs one kernel by one channel": (("kernel",), ONE_CHANNEL)}
CACHES = ("cache", "pocl", "cuda")
WANTED = {"h200": {"first": 0.6, "second": 0.35},  # seconds, of what --name begins with
          "pocl3": {"first": 0.5, "second": 0.1}}


def save_inputs(example, factor, folder):
    for name, array in example["FILES"].items():
        longer = np.resize(array, [factor * n for n in array.shape])
        np.save(os.path.join(folder, name), longer)


def run(command, folder, more=()):
    """Seconds of one process, and its JSON; None where it refuses."""
    env = dict(os.environ, **dict(more), TESSERA_CACHE_DIR=os.path.join(folder, "cache"),
               POCL_CACHE_DIR=os.path.join(folder, "pocl"),
               CUDA_CACHE_PATH=os.path.join(folder, "cuda"))
    start = time.monotonic()
    r = subprocess.run(command, cwd=folder, env=env, timeout=600, capture_output=True, text=True)
    seconds = time.monotonic() - start
    return (seconds, json.loads(r.stdout)) if r.returncode == 0 else None


def call(tessera, args, folder):
    return run([tessera, *args, "--quiet", "--json"], folder)


def with_empty_caches(folder):
    for name in CACHES:
        shutil.rmtree(os.path.join(folder, name), ignore_errors=True)
    os.mkdir(os.path.join(folder, "pocl"))


def measure(tessera, device, example, factor, kind, way):
    """A row: both calls, or None where the operation does not take the type."""
    with tempfile.TemporaryDirectory() as folder:
        with_empty_caches(folder)
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


def measure_bare(options, bare):
    """Each thing that the bare program does once more, with an empty and with a filled cache."""
    kind = options.device if options.device in ("gpu", "cpu", "accelerator") else "all"
    with tempfile.TemporaryDirectory() as folder:
        for what, (args, more) in BARE.items():
            row = bare.setdefault(what, {"what": what, "empty": [], "filled": []})
            with_empty_caches(folder)
            for cache in ("empty", "filled"):
                done = run([options.bare, kind, *args], folder, more)
                if not done:
                    sys.exit("%s %s failed" % (options.bare, kind))
                row[cache].append({"process_s": round(done[0], 4), **done[1]})


def median_try(tries):
    """The try whose first call took as long as the median, with the seconds of all."""
    chosen = sorted(tries, key=lambda r: r["first"]["process_s"])[(len(tries) - 1) // 2]
    return {**chosen, "tries": [[r[name]["process_s"] for name in ("first", "second")] for r in tries]}


def write_results(path, note, measured, bare):
    fresh = path + ".fresh"
    with open(fresh, "w") as f:
        json.dump({"schema": "tessera-first-calls-2", "note": note, "bare": list(bare.values()),
                   "rows": [median_try(tries) for tries in measured.values()]}, f, indent=1)
        f.write("\n")
    os.replace(fresh, path)


def measure_all(options, path):
    end = time.monotonic() + options.budget
    measured, bare = {}, {}
    refused = set()
    write_results(path, options.note, measured, bare)
    for op, factor, kind, way, number in (
            (op, factor, kind, way, number) for number in range(options.tries)
            for factor in options.factors for op in options.ops for kind in options.types
            for way in options.ways):
        key = (op, factor, kind, way)
        if time.monotonic() > end:
            print("the budget is spent")
            break
        if key in refused:
            continue
        if options.bare and (factor, kind, way) == (options.factors[0], options.types[0], options.ways[0]):
            measure_bare(options, bare)
        example = runpy.run_path(os.path.join(ROOT, "tests", op, "example.py"))
        row = measure(options.tessera, options.device, example, factor, kind, way)
        if not row:
            refused.add(key)
            continue
        measured.setdefault(key, []).append(row)
        print("%-8s %-28s %-8s %-16s %7.2f s %7.2f s"
              % (row["op"], row["problem"], way, row["variant"],
                 row["first"]["process_s"], row["second"]["process_s"]), flush=True)
        write_results(path, options.note, measured, bare)


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
            for way in options.ways:
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


def median_and_longest(seconds):
    return cell(float(np.median(seconds))), cell(max(seconds))


def bare_table(bare, platform):
    one_channel = "NVIDIA" in platform
    bare = [row for row in bare if one_channel or not BARE[row["what"]][1]]
    lines = ["", "A program that does nothing of ours, in turn with these calls, %d times%s:" % (
        len(bare[0]["empty"]), "; by one channel as the command has it for small problems "
        "([cache.md](cache.md#first-calls))" if one_channel else ""), "",
             "| it | empty cache, s | longest | filled, s | longest |",
             "| --- | ---: | ---: | ---: | ---: |"]
    for row in bare:
        lines.append("| %s | %s | %s | %s | %s |" % (
            row["what"], *(c for cache in ("empty", "filled")
                           for c in median_and_longest([r["process_s"] for r in row[cache]]))))
    parts = [(name, [float(np.median([r[key] for r in bare[-1][cache]])) for cache in ("empty", "filled")])
             for name, key in (("listing the platforms", "platforms_ms"), ("opening the device", "context_ms"),
                               ("building the kernel", "build_ms"), ("running it", "run_ms"))]
    return lines + ["", "Of the last, empty and filled: %s ms; the rest is the start and end of the process."
                    % ", ".join("%s %.0f and %.0f" % (name, *ms) for name, ms in parts)]


def seconds_of(row, name):
    at = ("first", "second").index(name)
    return [t[at] for t in row["tries"]] if "tries" in row else [row[name]["process_s"]]


def summary(rows, wanted):
    parts = []
    for name in ("first", "second"):
        seconds = [float(np.median(seconds_of(r, name))) for r in rows]
        parts.append("%s calls %s s at the median, %s at most"
                     % (name, cell(np.median(seconds)), cell(max(seconds))))
        if wanted:
            parts[-1] += " (%d of them at most %.2f)" % (
                sum(round(s, 2) <= wanted[name] for s in seconds), wanted[name])
    return "Of %d rows: %s." % (len(rows), "; ".join(parts))


def table(name, results):
    rows, bare = results["rows"], results.get("bare")
    device = rows[0]["device"]
    several = "tries" in rows[0]
    about = ["%s, %s %s." % (device["name"], device["platform"], device["driver"]),
             "The median of each call's tries, and the longest." if several else
             "Of each call's tries that with the shortest first call.", results.get("note", "")]
    lines = ["", "## %s" % name, "", " ".join(about).rstrip()]
    lines += bare_table(bare, device["platform"]) if bare else []
    columns = ["operation", "problem", "way", "kernel", "first, s", *["longest"] * several, "of it compiling",
               "probing", "second, s", *["longest"] * several]
    lines += ["", summary(rows, WANTED.get(name.split("-")[0])), "", "| %s |" % " | ".join(columns),
              "| %s |" % " | ".join(["---"] * 4 + ["---:"] * (len(columns) - 4))]
    for r in rows:
        first = r["first"]
        lines.append("| %s |" % " | ".join([
            r["op"], r["problem"], r["way"], r["variant"],
            *median_and_longest(seconds_of(r, "first"))[:1 + several],
            cell(first["build_ns"] / 1e9), cell(first["probe_ns"] / 1e9),
            *median_and_longest(seconds_of(r, "second"))[:1 + several]]))
    return lines


def write_document():
    lines = ["# First and second calls", "",
             "Seconds of a process from start to result on files in memory: the first with every cache",
             "empty, the second with what the first left there ([cache.md](cache.md)). `arrays` is the",
             "operation as it runs by default on files, `buffers` the same with `--copy`, as it runs on",
             "OpenCL buffers. `scripts/first_calls.py` measures and writes this page."]
    for path in sorted(glob.glob(os.path.join(ROOT, "data", "results", "first-calls-*.json"))):
        with open(path) as f:
            results = json.load(f)
        if results["rows"]:
            lines += table(os.path.basename(path)[len("first-calls-"):-len(".json")], results)
    with open(DOCUMENT, "w") as f:
        f.write("\n".join(lines) + "\n")


def names(text):
    return text.split(",")


def numbers(text):
    return [int(n) for n in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tessera", help="the command; without it nothing is measured")
    parser.add_argument("--device", help="as the command takes it")
    parser.add_argument("--name", help="of the device in results: pocl3-xeon2, h200")
    parser.add_argument("--tries", type=int, default=TRIES)
    parser.add_argument("--budget", type=float, default=math.inf, help="seconds, after which no call starts")
    parser.add_argument("--bare", help="the program bare_opencl; without it the table has no floor")
    parser.add_argument("--ops", type=names, help="operations, separated by commas; default: all")
    parser.add_argument("--types", type=names, default=list(TYPES), help="default: %s" % ",".join(TYPES))
    parser.add_argument("--factors", type=numbers, default=list(FACTORS),
                        help="default: %s" % ",".join(map(str, FACTORS)))
    parser.add_argument("--ways", type=names, default=list(WAYS), help="default: %s" % ",".join(WAYS))
    parser.add_argument("--note", default="", help="sentences about the machine, for the document")
    parser.add_argument("--output", help="a file for the times; the document is then left as it is")
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
        if not options.name and not options.output:
            parser.error("--name says what the file of times is called")
        options.tessera = os.path.abspath(options.tessera)
        options.bare = options.bare and os.path.abspath(options.bare)
        options.ops = options.ops or operations(options.tessera)
        measure_all(options, options.output or
                    os.path.join(ROOT, "data", "results", "first-calls-%s.json" % options.name))
    if not options.output:
        write_document()
    return 0


if __name__ == "__main__":
    sys.exit(main())
