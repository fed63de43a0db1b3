"""scripts/large_arrays.py: its inputs are what the jobs say, and another result or answer is seen."""

import contextlib
import io
import os
import sys
import tempfile
import unittest
import unittest.mock

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
sys.path.insert(0, os.path.join(ROOT, "scripts"))

try:
    import numpy as np

    import large_arrays
except ImportError:
    np = None

# A command in the place of `tessera`: it copies its second word to its third, and prints the fourth.
FAKE = """#!/bin/sh
[ "$1" = copy ] || exit 2
cp "$2" "$3"
echo "$4"
"""

JOBS = """# a comment
array x u1 2x5 1=3 4:2 8=7
run copy x.npy y.npy 12
prints 12
result y u1 2x5 1=3 4:2 8=7
"""


@unittest.skipUnless(np, "NumPy is not here")
class LargeArrays(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.tessera = os.path.join(self.folder, "tessera")
        with open(self.tessera, "w", encoding="utf-8") as file:
            file.write(FAKE)
        os.chmod(self.tessera, 0o755)

    def run_jobs(self, text):
        """Its status and what it prints."""
        jobs = os.path.join(self.folder, "jobs")
        with open(jobs, "w", encoding="utf-8") as file:
            file.write(text)
        words = ["large_arrays.py", "--tessera", self.tessera, "--jobs", jobs, "--folder", self.folder]
        out = io.StringIO()
        with unittest.mock.patch.object(sys, "argv", words), contextlib.redirect_stdout(out):
            return large_arrays.main(), out.getvalue()

    def test_an_input_is_what_the_job_says(self):
        path = os.path.join(self.folder, "x.npy")
        with unittest.mock.patch.object(large_arrays, "PIECE", 2):
            large_arrays.write(path, "u1 2x5 1=3 4:2 8=7".split())
            self.assertEqual(np.load(path).tolist(), [[0, 3, 0, 0, 2], [2, 2, 2, 7, 2]])
            self.assertEqual(large_arrays.difference(path, "u1 2x5 1=3 4:2 8=7".split()), "")
            self.assertEqual(large_arrays.difference(path, "u1 2x5 1=3 4:2".split()),
                             "element 8 is 7, not 2")

    def test_right_answers(self):
        status, out = self.run_jobs(JOBS)
        self.assertEqual((status, out.split()[0]), (0, "ok"))

    def test_wrong_answers(self):
        for right, wrong, seen in [("prints 12", "prints 13", "it prints"),
                                   ("result y u1 2x5 1=3", "result y u1 2x5 1=4", "element 1 is 3, not 4"),
                                   ("result y u1 2x5", "result y i1 2x5", "not int8"),
                                   ("run copy", "run move", "status 2")]:
            with self.subTest(wrong):
                status, out = self.run_jobs(JOBS.replace(right, wrong))
                self.assertEqual(status, 1)
                self.assertIn(seen, out)

    def test_the_jobs_can_be_read(self):
        for name in ["large_arrays.jobs", "large_arrays_kernels.jobs"]:
            with self.subTest(name):
                self.read(os.path.join(ROOT, "data", name))

    def read(self, path):
        arrays, runs = large_arrays.jobs_of(path)
        for words in arrays.values():
            self.assertGreater(large_arrays.array_of(words)[2], 2**32)
        for arguments, prints, results in runs:
            self.assertTrue(prints or results, arguments)


if __name__ == "__main__":
    unittest.main()
