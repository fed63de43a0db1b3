"""check_first_call.py: what a first call takes, from the start of the process to its end, with every
cache empty, on the CPU's OpenCL device.

The example of an operation, tests/OP/example.py, that names FIRST_CALL runs by that variant in C,
compiles nothing and leaves no program in a cache, in arrays and (--copy) in buffers.  It takes at
most half a second, the shortest of a few runs.
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
RUNS = 5


def first_call(call, folder):
    """The report of a call with empty caches, its seconds, and the files that it left in them."""
    caches = {name: os.path.join(folder, name) for name in ("TESSERA_CACHE_DIR", "POCL_CACHE_DIR")}
    for path in caches.values():
        shutil.rmtree(path, ignore_errors=True)
        os.mkdir(path, 0o700)
    start = time.monotonic()
    done = subprocess.run([COMMAND, *call, "--device", "cpu", "--json", "--quiet"], check=True,
                          cwd=folder, stdout=subprocess.PIPE, env={**os.environ, **caches})
    seconds = time.monotonic() - start
    left = [name for path in caches.values() for _, _, names in os.walk(path) for name in names
            if name.endswith((".so", ".bc", ".bin"))]
    return json.loads(done.stdout), seconds, left


def main():
    failed = checked = 0
    for op in OPERATIONS:
        variant = EXAMPLES[op].get("FIRST_CALL")
        if not variant:
            continue
        with tempfile.TemporaryDirectory() as folder:
            for name, array in EXAMPLES[op]["FILES"].items():
                np.save(os.path.join(folder, name), array)
            for way in ((), ("--copy",)):
                call = (*EXAMPLES[op]["CALL"], *way)
                runs = [first_call(call, folder) for _ in range(RUNS)]
                report = runs[0][0]
                seconds = min(r[1] for r in runs)
                good = (report["variant"] == variant and report["build"] == "none" and
                        report["bytes"]["shared"] == (not way) and seconds <= SECONDS and
                        not any(r[2] for r in runs))
                print("%s %s: %s, %.3f s, built %s, left %s" % (
                    "ok  " if good else "FAIL", " ".join((op, *way)), report["variant"], seconds,
                    report["build"], runs[0][2]))
                failed += not good
                checked += 1
    if failed or not checked:
        sys.exit(1)


main()
