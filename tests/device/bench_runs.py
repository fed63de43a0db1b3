"""`tessera bench` as checks of the timer run it: rows, and a size that lasts long enough."""

import argparse
import glob
import json
import os
import runpy
import subprocess

# What timing.py in an operation's folder of tests says of it, by the operation's name.
TIMING = {os.path.basename(os.path.dirname(path)): runpy.run_path(path) for path in sorted(glob.glob(
    os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "*", "timing.py")))}


def arguments(description):
    parser = argparse.ArgumentParser(description=description,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default=os.environ.get("TESSERA_DEVICE", "cpu"))
    parser.add_argument("--self-test", action="store_true", help="doctored numbers are found")
    return parser


def tessera(*arguments_, fine=(0,), **environment):
    done = subprocess.run([os.environ["TESSERA"], *arguments_, "--quiet", "-o", "-"], text=True,
                          stdout=subprocess.PIPE, env={**os.environ, **environment}, check=False)
    if done.returncode not in fine:
        raise SystemExit("tessera %s: status %d" % (" ".join(arguments_), done.returncode))
    return [json.loads(line) for line in done.stdout.splitlines()]


def bench(device, op, variant, sizes, *options, **environment):
    """Rows, one for each size; with --peers also those.  Status 3: an instrument that errs."""
    kernel = ["--kernel", variant] if variant else []
    for size in sizes:
        kernel += ["--size", str(size)]
    return tessera("bench", op, "--device", device, *kernel, *options, fine=(0, 3), **environment)


def size_lasting(device, op, variant, least_ns):
    """A size that lasts so long, seldom twice that; the largest where none does."""
    size, largest, power = 64, TIMING[op]["LARGEST"], TIMING[op]["POWER"]
    while True:
        rows = bench(device, op, variant, [size], "--budget", "0.5")
        if not rows or not rows[0]["samples"]:
            raise SystemExit("%s/%s was not timed at size %d" % (op, variant, size))
        median = rows[0]["median_ns"]
        if median >= least_ns or size >= largest:
            return size
        # A little more than it should take, since a small problem's time has a constant part.
        grow = min(max(1.1 * (least_ns / median) ** (1 / power), 1.1), 8)
        size = min(-int(-size * grow // 64) * 64, largest)
