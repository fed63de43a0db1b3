"""Random problems of each operation against NumPy: tests/OP/random_problems.py draws them, of any size,
type, layout and option.  Each runs on the host, on a CPU where it is and on a CPU in buffers.

TESSERA_RANDOM says how many of each operation (6); with few, only the first runs in buffers, since a
device has to compile for those.  TESSERA_SEED is a number (1), TESSERA_OPERATIONS names some."""

import os
import runpy
import sys
import unittest

import numpy as np

import random_support
from cli_support import OPERATIONS, SOURCE, Case, has_opencl

COUNT = int(os.environ.get("TESSERA_RANDOM", "6"))
SEED = int(os.environ.get("TESSERA_SEED", "1"))
FEW = 100
CHOSEN = os.environ.get("TESSERA_OPERATIONS", "").split() or OPERATIONS


class Random(Case):
    def run_one(self, files, args, results):
        for name, array in files.items():
            self.save(name, array)
        self.succeed(*args)
        for name, wanted in results.items():
            got = self.load(name)
            wrong = wanted(got) if callable(wanted) else random_support.same_bits(got, wanted)
            self.assertIsNone(wrong, "%s of %s" % (name, " ".join(args)))
            os.remove(self.path(name))

    def test_each_operation(self):
        on_cpus = has_opencl()
        for number, op in enumerate(OPERATIONS):
            path = os.path.join(SOURCE, "tests", op, "random_problems.py")
            if op not in CHOSEN or not os.path.exists(path):
                continue
            draw = runpy.run_path(path)["draw"]
            done = 0
            for i in range(COUNT):
                devices = [("--device", "host")]
                if on_cpus:
                    devices.append(("--device", "cpu"))
                if on_cpus and (COUNT >= FEW or i == 0):
                    devices.append(("--device", "cpu", "--copy"))
                for device in devices:
                    rng = np.random.default_rng([SEED, number, i])
                    files, args, results = draw(rng)
                    verify = ("--verify",) if rng.random() < 0.2 else ()
                    with self.subTest(op=op, problem=i, device=device):
                        self.run_one(files, (op, *args, *device, *verify, "--quiet"), results)
                        done += 1
            self.assertGreaterEqual(done, COUNT)
            print("%s: %d problems, %d runs right" % (op, COUNT, done), file=sys.stderr)


if __name__ == "__main__":
    unittest.main()
