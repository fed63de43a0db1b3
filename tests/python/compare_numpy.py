"""Random calls of the Python package, compared with NumPy.

    compare_numpy.py SOURCE COUNT [--seed N] [--device D]... [--only OPERATION] [--on-device]
                     [--seconds S]

An operation's calls are in tests/OP/python_cases.py: check(rng, ts, device) makes one and raises an
exception where it is not what NumPy gives.  --on-device makes them on arrays of the device.  --seconds
begins no call after that long.
"""

import argparse
import glob
import importlib.util
import os
import sys
import time
import traceback

import numpy as np

import tessera as ts

FEW = 100  # calls, of which many may be refused on a device


def cases_in(source):
    for path in sorted(glob.glob(os.path.join(source, "tests", "*", "python_cases.py"))):
        name = os.path.basename(os.path.dirname(path))
        spec = importlib.util.spec_from_file_location("cases_" + name, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        yield name, module.check


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("source")
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", action="append")
    parser.add_argument("--only")
    parser.add_argument("--on-device", action="store_true")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    given = parser.parse_args()
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    from on_device import OnDevice
    cases = [c for c in cases_in(given.source) if given.only in (None, c[0])]
    missing = set(ts.operations()) - {name for name, _ in cases}
    if not cases:
        parser.error("there is no operation %s" % given.only)
    if missing and not given.only:
        sys.exit("no tests/OP/python_cases.py of %s" % ", ".join(sorted(missing)))
    devices = given.device or ["host", "cpu"]
    module = OnDevice(ts, np.random.default_rng(given.seed)) if given.on_device else ts
    failed = done = 0
    end = time.monotonic() + given.seconds
    for i in range(given.count):
        if time.monotonic() > end:
            break
        done += 1
        name, check = cases[i % len(cases)]
        device = devices[i // len(cases) % len(devices)]
        try:
            with np.errstate(all="ignore"):
                check(np.random.default_rng([given.seed, i]), module, device)
        except Exception: # pylint: disable=broad-except
            failed += 1
            print("call %d of seed %d, %s on %s:" % (i, given.seed, name, device))
            traceback.print_exc(limit=-2, file=sys.stdout)
            if failed == 10:
                break
    print("%d calls, %d failed" % (done, failed))
    if given.on_device:
        print("on arrays of a device: %d; refused there: %d" % (module.ran, module.refused))
        failed += done >= FEW and module.ran < 2 * module.refused
    sys.exit(failed > 0)


main()
