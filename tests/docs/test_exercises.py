"""docs/course/exercises.md: a change for each kernel that teaches."""

import glob
import os
import re
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")

# What a file's step is called, where it is not the file's name.
NAMES = {"grayscale image": "grayscale image2d", "segsort registers": "segsort segments-registers",
         "segsort tiles": "segsort segments", "sort fused": "sort fused-passes",
         "sort registers": "sort two-phase-registers"}

# Kernels that take another step's lesson to other types, shapes, or units.
OTHERS = {"axpy": ["general"], "histogram": ["few", "own"],
          "matmul": ["batched", "complex-general", "complex-panels", "complex-pipelined", "cp-async", "general",
                     "general-tiled", "mma", "mma-3xtf32", "mma-f64", "mma-f64-tensor", "skinny-columns",
                     "skinny-dots", "stream", "subgroup", "tensor", "wgmma", "wgmma-fused"],
          "matvec": ["columns-vector", "rows-vector", "short-rows-vector"],
          "reduce": ["atomic", "columns", "group-atomic", "rows", "whole"], "scan": ["chunks"],
          "segsort": ["cpu-merges"],
          "sort": ["cpu-merges", "cpu-radix", "cpu-vectors", "general", "rows", "rows-registers"],
          "transpose": ["general", "in-place"]}


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
                if name not in OTHERS.get(op, []):
                    step = op + " " + name
                    kernels.add(NAMES.get(step, step))
        self.assertGreater(len(kernels), 50)
        self.assertEqual(sorted(kernels - there), [])


if __name__ == "__main__":
    unittest.main()
