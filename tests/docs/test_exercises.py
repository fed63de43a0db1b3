"""docs/course/exercises.md: a change for each kernel that teaches."""

import glob
import json
import os
import re
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")

with open(os.path.join(ROOT, "data", "course", "exercises.json"), encoding="utf-8") as f:
    # What a file's step is called, where it is not the file's name; and kernels that take another step's
    # lesson to other types, shapes, or units.
    KNOWN = json.load(f)


class Exercises(unittest.TestCase):
    def test_each_kernel_that_teaches_has_one(self):
        with open(os.path.join(ROOT, "docs", "course", "exercises.md"), encoding="utf-8") as f:
            text = f.read()
        there = set()
        for head, part in re.findall(r"(?ms)^## (.*?)\n(.*?)(?=^## |\Z)", text):
            there |= {step if " " in step else head + " " + step
                      for step in re.findall(r"(?m)^\| (.+?) \| `", part)}
        kernels = set()
        for path in glob.glob(os.path.join(ROOT, "cl", "*", "*.cl")):
            op, name = os.path.basename(os.path.dirname(path)), os.path.basename(path)[:-len(".cl")]
            if os.path.isdir(os.path.join(ROOT, "host", "ops", op)) and name.startswith(op + "_"):
                name = name[len(op) + 1:].replace("_", "-")
                if name not in KNOWN["others"].get(op, []):
                    step = op + " " + name
                    kernels.add(KNOWN["called"].get(step, step))
        self.assertGreater(len(kernels), 50)
        self.assertEqual(sorted(kernels - there), [])


if __name__ == "__main__":
    unittest.main()
