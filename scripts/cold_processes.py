#!/usr/bin/env python3
"""How long many processes take that make the same call at once with every cache empty, beside one:

    scripts/cold_processes.py --tessera build/tessera [--processes 16] ARGUMENT...

ARGUMENT... is a command line of tessera that writes no file, for instance

    matmul a.npy a.npy -o /dev/null --device cpu --kernel cpu-block

One process compiles what all want, and the others wait for it.  Ends with 1 where all of them take
more than three times as long as one.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time

RATIO_MAX = 3


def seconds_of(command, processes):
    with tempfile.TemporaryDirectory() as folder:
        env = dict(os.environ, TESSERA_CACHE_DIR=os.path.join(folder, "cache"),
                   POCL_CACHE_DIR=os.path.join(folder, "pocl"),
                   CUDA_CACHE_PATH=os.path.join(folder, "cuda"))
        os.mkdir(env["POCL_CACHE_DIR"])
        start = time.monotonic()
        running = [subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL)
                   for _ in range(processes)]
        failed = [p.returncode for p in running if p.wait(600)]
    if failed:
        sys.exit("%d of %d processes failed" % (len(failed), processes))
    return time.monotonic() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tessera", required=True)
    parser.add_argument("--processes", type=int, default=16)
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    command = [options.tessera, *options.arguments, "--quiet"]

    one = seconds_of(command, 1)
    many = seconds_of(command, options.processes)
    print("1 process %.2f s, %d processes %.2f s: %.2f times" % (one, options.processes, many,
                                                                 many / one))
    return many > RATIO_MAX * one


if __name__ == "__main__":
    sys.exit(main())
