#!/usr/bin/env python3
"""Random calls of the Python package beside NumPy, operation by operation, in several processes:

    scripts/random_calls.py --package build/python [--count 2000] [--seed 1] [--device D]...
                            [--processes N] [--seconds S] [OPERATION]...

Each operation and device is a process of tests/python/compare_numpy.py, and a line here: how many calls
were made, how many were not what NumPy gives, what the first of those printed.  Device `host` is the C
code; any other takes half of its calls on arrays in host memory and half on arrays of the device.
After --seconds no call begins, and the lines say how many there were.  Ends with 1 where a call failed.
"""
import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COMPARE = os.path.join(ROOT, "tests", "python", "compare_numpy.py")
START_SECONDS = 2  # of a process, its driver and its last call


def run(options, device, op, count, on_device, seconds):
    """Of one process: calls, failures, what it printed."""
    command = [sys.executable, COMPARE, ROOT, str(count), "--seed", str(options.seed), "--device", device,
               "--only", op, *(("--on-device",) if on_device else ()),
               *(("--seconds", "%.1f" % seconds) if seconds else ())]
    env = dict(os.environ, PYTHONPATH=os.path.abspath(options.package), PYTHONDONTWRITEBYTECODE="1")
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace")
    said = re.search(r"^(\d+) calls, (\d+) failed$", done.stdout, re.MULTILINE)
    calls, failed = map(int, said.groups()) if said else (0, 1)
    return calls, max(failed, int(done.returncode != 0)), done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("operations", nargs="*", metavar="OPERATION", help="default: all")
    parser.add_argument("--package", required=True, help="the folder that holds the package")
    parser.add_argument("--count", type=int, default=2000, help="calls of each operation on each device")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", action="append", help="default: host and cpu")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=float, help="no call begins after that long")
    options = parser.parse_args()
    listing = subprocess.run([sys.executable, "-c", "import tessera; print(*tessera.operations())"],
                             env=dict(os.environ, PYTHONPATH=os.path.abspath(options.package)),
                             stdout=subprocess.PIPE, text=True, check=True)
    tasks = []
    for device in options.device or ["host", "cpu"]:
        for op in options.operations or listing.stdout.split():
            if device == "host":
                tasks.append((device, op, options.count, False))
            else:
                half = options.count // 2
                tasks += [(device, op, options.count - half, False), (device, op, half, True)]
    start = time.monotonic()
    left = [len(tasks)]

    def one(task):
        device, op, count, on_device = task
        seconds = None
        if options.seconds:  # what is left, in equal parts
            rest = options.seconds - (time.monotonic() - start)
            rounds = -(-left[0] // options.processes)
            seconds = max(rest / rounds - START_SECONDS, 0.1)
        left[0] -= 1
        begin = time.monotonic()
        calls, failed, text = run(options, device, op, count, on_device, seconds)
        line = "%-10s %-6s %-15s %5d calls, %d failed, %.1f s\n" % (
            op, device, "on its arrays" if on_device else "on host memory", calls, failed,
            time.monotonic() - begin)
        sys.stdout.write(line + (text[:3000] if failed else ""))
        sys.stdout.flush()
        return calls, failed

    with concurrent.futures.ThreadPoolExecutor(options.processes) as pool:
        results = list(pool.map(one, tasks))
    calls, failed = (sum(r[i] for r in results) for i in range(2))
    print("seed %d: %d calls, %d failed, in %.0f s" % (options.seed, calls, failed,
                                                       time.monotonic() - start))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
