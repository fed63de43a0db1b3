"""check_first_call.py: what a first call takes, from the start of the process to its end, with every
cache empty, on the CPU's OpenCL device.

The example of an operation, tests/OP/example.py, that names FIRST_CALL runs by that variant in C,
compiles nothing and leaves no program in a cache, in arrays and (--copy) in buffers.  It takes at
most half a second, the shortest of a few runs.  So do LONG_CALLS of an example, files, arguments and
variant of calls whose best kernels take seconds to compile: they take at most a second more than the
next call.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))

from cli_support import COMMAND, EXAMPLES, OPERATIONS  # noqa: E402
import numpy as np  # noqa: E402

SECONDS = 0.5
SECONDS_MORE = 1.0
RUNS = 5
LONG_RUNS = 2


def call_once(call, folder, empty):
    """The report of a call, with caches that are empty or those of the last call, its seconds, and
    the files that are in them then."""
    caches = {name: os.path.join(folder, name) for name in ("TESSERA_CACHE_DIR", "POCL_CACHE_DIR")}
    for path in caches.values() if empty else ():
        shutil.rmtree(path, ignore_errors=True)
        os.mkdir(path, 0o700)
    start = time.monotonic()
    done = subprocess.run([COMMAND, *call, "--device", "cpu", "--json", "--quiet"], check=True,
                          cwd=folder, stdout=subprocess.PIPE, env={**os.environ, **caches})
    seconds = time.monotonic() - start
    left = [name for path in caches.values() for _, _, names in os.walk(path) for name in names
            if name.endswith((".so", ".bc", ".bin"))]
    return json.loads(done.stdout), seconds, left


def check(op, files, call, variant, runs, second):
    """Whether each way of a call is as it should be, or is said not to be."""
    right = []
    with tempfile.TemporaryDirectory() as folder:
        for name, array in files.items():
            np.save(os.path.join(folder, name), array)
        for way in ((), ("--copy",), ("--device-memory", "1M")):
            tries = [call_once((*call, *way), folder, True) for _ in range(runs)]
            report = tries[0][0]
            seconds = min(t[1] for t in tries)
            most = SECONDS_MORE + call_once((*call, *way), folder, False)[1] if second else SECONDS
            right.append(report["variant"] == variant and report["build"] == "none" and
                         report["bytes"]["shared"] == (way != ("--copy",)) and seconds <= most and
                         not any(t[2] for t in tries))
            print("%s %s: %s, %.3f s of %.3f, built %s, left %s" % (
                "ok  " if right[-1] else "FAIL", " ".join((op, *way)), report["variant"], seconds, most,
                report["build"], tries[0][2]))
    return all(right)


def main():
    results = []
    for op in OPERATIONS:
        example = EXAMPLES[op]
        if example.get("FIRST_CALL"):
            results.append(check(op, example["FILES"], example["CALL"], example["FIRST_CALL"], RUNS, False))
        for files, call, variant in example.get("LONG_CALLS", lambda: ())():
            results.append(check(op, files, call, variant, LONG_RUNS, True))
    if not results or not all(results):
        sys.exit(1)


main()
