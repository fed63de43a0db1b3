#!/usr/bin/env python3
"""Calls on arrays of more than 2^32 elements, with known answers.

    scripts/large_arrays.py [--tessera build/tessera] [--jobs data/large_arrays.jobs] [--device D]... \\
        [--only TEXT] [--folder DIR] [-o ROWS.jsonl]

The jobs file has lines of four kinds; arrays are given as TYPE SHAPE, then AT=VALUE for one element and
AT:VALUE for all from there on, counted in the order of the file; what is not named is 0:

    array NAME TYPE SHAPE PLACES...      an input, a .npy file that is sparse where it is 0
    run ARGUMENTS                        of the command; --device is added, and NAME.npy are its files
    prints LINE                          what the run before writes
    result NAME TYPE SHAPE PLACES...     a file that the run before writes

Each device runs all.  With data/large_arrays.jobs files take 8 GiB of a disk, and a call up to 13 GiB of
memory.  Status 1 where an answer is another.
"""

import argparse
import json
import pathlib
import shlex
import subprocess
import sys
import tempfile
import time

import numpy as np

PIECE = 1 << 26


def runs_of(places, count):
    """Where each value begins, in order: the array is constant from one to the next."""
    at = {0: "0"}
    current = "0"
    for place in places:
        single = "=" in place
        where, value = place.split("=" if single else ":")
        where = int(where)
        at[where] = value
        if single:
            at.setdefault(where + 1, current)
        else:
            current = value
    return sorted((where, value) for where, value in at.items() if where < count)


def array_of(words):
    """Type, shape and runs of an array in a jobs file."""
    dtype = np.dtype(words[0])
    shape = tuple(int(n) for n in words[1].split("x"))
    count = int(np.prod(shape, dtype=object))
    return dtype, shape, count, runs_of(words[2:], count)


def write(path, words):
    dtype, shape, count, runs = array_of(words)
    with open(path, "wb") as file:
        np.lib.format.write_array_header_1_0(
            file, {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape})
        begin = file.tell()
        file.truncate(begin + count * dtype.itemsize)
        for (where, value), (end, _) in zip(runs, runs[1:] + [(count, "")]):
            for at in range(where, end if value != "0" else where, PIECE):
                file.seek(begin + at * dtype.itemsize)
                np.full(min(PIECE, end - at), float(value), dtype).tofile(file)


def difference(path, words):
    """What is wrong with a result, or an empty string."""
    dtype, shape, count, runs = array_of(words)
    got = np.load(path, mmap_mode="r")
    if got.dtype != dtype or got.shape != shape:
        return f"{got.dtype} {got.shape}, not {dtype} {shape}"
    flat = got.reshape(-1)
    for (where, value), (end, _) in zip(runs, runs[1:] + [(count, "")]):
        want = np.array(float(value)).astype(dtype)
        for at in range(where, end, PIECE):
            wrong = np.flatnonzero(flat[at:min(at + PIECE, end)] != want)
            if wrong.size:
                return f"element {at + wrong[0]} is {flat[at + wrong[0]]}, not {want}"
    return ""


def jobs_of(path):
    """Arrays by name, and runs with what they give."""
    arrays, runs = {}, []
    for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines():
        words = shlex.split(line, comments=True)
        if not words:
            continue
        if words[0] == "array":
            arrays[words[1]] = words[2:]
        elif words[0] == "run":
            runs.append((words[1:], [], {}))
        elif words[0] == "prints":
            runs[-1][1].append(" ".join(words[1:]))
        elif words[0] == "result":
            runs[-1][2][words[1]] = words[2:]
        else:
            raise SystemExit(f"{path}: {words[0]}: no such line")
    return arrays, runs


def answer(command, prints, results, folder):
    """Run a command: what is wrong, or an empty string, and its own summary."""
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    summary = (run.stderr.strip().splitlines() or [""])[-1]
    if run.returncode:
        return f"status {run.returncode}: {summary}", summary
    if prints and run.stdout.split("\n")[:-1] != prints:
        return f"it prints {run.stdout!r}", summary
    for name, words in results.items():
        path = folder / f"{name}.npy"
        why = difference(path, words)
        path.unlink()
        if why:
            return f"{name}: {why}", summary
    return "", summary


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--tessera", default="build/tessera")
    options.add_argument("--jobs", default="data/large_arrays.jobs")
    options.add_argument("--device", action="append", help="a device; may be repeated (default: host)")
    options.add_argument("--only", default="", help="the runs whose arguments hold this text")
    options.add_argument("--folder", help="where the arrays go (default: a temporary folder)")
    options.add_argument("-o", "--output", help="append a line of JSON for each run")
    given = options.parse_args()
    arrays, runs = jobs_of(given.jobs)
    tessera = str(pathlib.Path(given.tessera).resolve())
    wrong = 0
    with tempfile.TemporaryDirectory(dir=given.folder) as temporary:
        folder = pathlib.Path(temporary)
        for name, words in arrays.items():
            write(folder / f"{name}.npy", words)
        for device in given.device or ["host"]:
            for arguments, prints, results in runs:
                if given.only not in " ".join(arguments):
                    continue
                start = time.monotonic()
                why, summary = answer([tessera, *arguments, "--device", device], prints, results, folder)
                seconds = round(time.monotonic() - start, 1)
                wrong += bool(why)
                print(f"{'FAILED' if why else 'ok':6} {device}: {' '.join(arguments)}: {why or summary}"
                      f" ({seconds} s)", flush=True)
                if given.output:
                    with open(given.output, "a", encoding="utf-8") as file:
                        json.dump({"device": device, "command": arguments, "wrong": why,
                                   "summary": summary, "seconds": seconds}, file)
                        file.write("\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
