"""Results of matvec against NumPy in higher precision, on the device and the host.  Each class is a test."""

import json
import os
import unittest

import numpy as np

import test_run
from cli_support import DATA, Case, has_opencl, random, within_bound


REALS = (np.float32, np.float64)


class OnHost(test_run.Run):
    shapes = (1, 1), (7, 3), (64, 257), (300, 2), (0, 4), (4, 0)

    def test_matvec(self):
        for kind in REALS:
            for rows, columns in self.shapes:
                a, y0 = random((rows, columns), kind), random(rows, kind, 3)
                x = random(columns, kind, 2)
                self.save("a.npy", a)
                self.save("at.npy", np.ascontiguousarray(a.T))
                self.save("x.npy", x)
                self.save("y0.npy", y0)
                for trans in (False, True):
                    self.succeed("matvec", "at.npy" if trans else "a.npy", "x.npy", "-o", "y.npy",
                                 "--alpha=3", "--beta=-1", "--add=y0.npy", "--verify",
                                 *["--trans"] * trans, *self.device)
                    y = self.load("y.npy")
                    self.assertEqual((y.shape, y.dtype), ((rows,), kind))
                    self.assertTrue(within_bound(y, a, x, 3, y0, -1), (kind, rows, columns, trans))

    def test_vectors_of_rank_2(self):
        a, x = random((3, 4), np.float32), random(4, np.float32, 2)
        self.save("a.npy", a)
        for shape in ((4, 1), (1, 4)):
            self.save("x.npy", x.reshape(shape))
            self.save("y0.npy", np.ones((3, 1), np.float32))
            self.succeed("matvec", "a.npy", "x.npy", "-o", "y.npy", "--add", "y0.npy", "--beta",
                         "1", *self.device)
            self.assertEqual(self.load("y.npy").shape, (3,))
            self.assertTrue(within_bound(self.load("y.npy"), a, x, 1, np.ones(3, np.float32), 1))

    def test_vectors_in_batches(self):
        """As NumPy has it: one vector for all matrices, or a row for each."""
        a, x = random((5, 7, 4), np.float32), random((5, 4), np.float32, 2)
        y0 = random((5, 7), np.float32, 3)
        self.save("a.npy", a)
        self.save("at.npy", np.ascontiguousarray(a.transpose(0, 2, 1)))
        self.save("y0.npy", y0)
        for vectors in (x, x[1], x[2].reshape(4, 1)):
            self.save("x.npy", vectors)
            for trans in (False, True):
                r = self.succeed("matvec", "at.npy" if trans else "a.npy", "x.npy", "-o", "y.npy",
                                 "--alpha=3", "--beta=-1", "--add=y0.npy", "--verify", "--json",
                                 *["--trans"] * trans, *self.device)
                problem = json.loads(r.out)["problem"]
                self.assertEqual((problem["batch"], problem["out_type"]), (5, "float32"))
                y = self.load("y.npy")
                self.assertEqual(y.shape, (5, 7))
                for e in range(5):
                    one = x[e] if vectors is x else vectors.reshape(4)
                    self.assertTrue(within_bound(y[e], a[e], one, 3, y0[e], -1), (e, trans))
        for shape in ((0, 7, 4), (1, 7, 4), (2, 0, 4), (2, 7, 0)):
            self.save("a.npy", np.ones(shape, np.float32))
            self.save("x.npy", np.ones(shape[2], np.float32))
            self.succeed("matvec", "a.npy", "x.npy", "-o", "y.npy", *self.device)
            self.assertTrue((self.load("y.npy") == np.full(shape[:2], shape[2])).all(), shape)
            self.assertEqual(self.load("y.npy").shape, shape[:2])

    def test_vectors_of_one_matrix(self):
        """As numpy.matvec has it, a vector of one element among them."""
        for rows, columns, count in ((7, 4, 5), (3, 1, 4), (3, 4, 0), (4, 4, 4)):
            a, x = random((rows, columns), np.float32), random((count, columns), np.float32, 2)
            y0 = random((count, rows), np.float32, 3)
            self.save("x.npy", x)
            self.save("y0.npy", y0)
            for trans, given in ((False, a), (False, a[None]), (True, a.T)):
                self.save("a.npy", np.ascontiguousarray(given))
                self.succeed("matvec", "a.npy", "x.npy", "-o", "y.npy", "--alpha=3", "--beta=-1",
                             "--add=y0.npy", "--verify", *["--trans"] * trans, *self.device)
                y = self.load("y.npy")
                self.assertEqual(y.shape, (count, rows))
                for e in range(count):
                    self.assertTrue(within_bound(y[e], a, x[e], 3, y0[e], -1), (e, trans))

    def test_matvec_of_16_bits(self):
        a, x = random((30, 90), np.float16), random(90, np.float16, 2)
        self.save("a.npy", a)
        self.save("x.npy", x)
        exact = a.astype(np.float64) @ x.astype(np.float64)
        size = np.abs(a).astype(np.float64) @ np.abs(x).astype(np.float64)
        for kind, more, unit in (("float16", [], 2.0**-11), ("float32", ["--out-type", "f32"], 0),
                                 ("bfloat16", ["--as", "bf16"], 2.0**-8)):
            r = self.succeed("matvec", "a.npy", "x.npy", "-o", "y.npy", "--verify", "--json", *more,
                             *self.device)
            self.assertEqual(json.loads(r.out)["problem"]["out_type"], kind)
            if kind != "bfloat16": # whose factors are rounded as they are read
                y = self.load("y.npy")
                self.assertEqual(y.dtype, kind)
                bound = unit * np.abs(exact) + 100 * 2.0**-24 * size
                self.assertTrue((np.abs(y - exact) <= bound).all(), kind)
        self.assertEqual(self.load("y.npy").dtype, np.dtype("V2"))

    def test_json(self):
        shares = self.shares()
        self.save("a.npy", random((8, 5), np.float32))
        self.save("x.npy", random(5, np.float32))
        r = self.succeed("matvec", "a.npy", "x.npy", "-o", "y.npy", "--json", "--verify",
                         "--repeat", "2", *self.device)
        d = json.loads(r.out)
        self.assertEqual((d["schema"], d["op"]), ("tessera-run-1", "matvec"))
        self.assertEqual((d["problem"]["rows"], d["problem"]["columns"]), (8, 5))
        self.assertEqual(d["problem"]["type"], "float32")
        self.assertTrue(d["verify"]["ok"])
        self.assertIn(d["build"], ("none", "cached", "compiled"))
        self.assertEqual(d["times"]["runs"], 2)
        self.assertGreater(d["times"]["wall_ns"], 0)
        self.assertGreaterEqual(d["times"]["median_device_ns"], d["times"]["device_ns"])
        self.assertGreaterEqual(d["times"]["median_wall_ns"], d["times"]["median_device_ns"])
        self.assertEqual(set(d["device"]), {"id", "name", "platform", "driver"})
        self.assertEqual(d["bytes"]["compulsory"], 4 * (40 + 5 + 8))
        self.assertEqual(d["bytes"]["shared"], shares)
        if shares:
            self.assertEqual((d["bytes"]["to_device"], d["bytes"]["from_device"]), (0, 0))
        d = json.loads(self.succeed("matvec", "a.npy", "x.npy", "-o", "y.npy", "--json", "--copy",
                                    *self.device).out)
        if not self.device:
            self.assertFalse(d["bytes"]["shared"])
            self.assertEqual((d["bytes"]["to_device"], d["bytes"]["from_device"]),
                             (4 * (40 + 5), 4 * 8))
        for key in ("variant", "parameters", "rate", "rate_unit"):
            self.assertIn(key, d)
        self.assertRegex(d["chosen"], r"^first in the order of preference for this problem on " +
                         ("the host$" if self.device else "(GPUs|accelerators)$|^tuned: |"
                          "^C code is at least as fast here, with no kernel to compile or launch$"))

    def test_streamed_batches(self):
        """Batches that do not fit go one product, or parts of one at a time."""
        if self.device:
            self.skipTest("the host has no memory of its own")
        self.save("v.npy", random((5, 30, 40), np.float32))
        self.save("x.npy", random((5, 40), np.float32))
        args = ("matvec", "v.npy", "x.npy", "-o", "y5.npy", "--copy", "--device-memory")
        for memory, least, most in (("1M", 0, 0), ("25399", 5, 5), ("16K", 5, 5), ("4K", 10, 100)):
            r = self.succeed(*args, memory, "--json", "--verify")
            self.assertTrue(least <= json.loads(r.out)["bytes"]["chunks"] <= most, r)
        self.fail_with(1, *args, "400", says="x, y and 3 lines of A need 760 bytes at once, and 400 "
                                             "are allowed")


@unittest.skipUnless(has_opencl(), "no OpenCL device")
class OnDevice(OnHost):
    device = ()
    shapes = (64, 257), (300, 2), (0, 4)

    def test_more_products_than_a_launch_takes(self):
        self.save("a.npy", random((70000, 2, 3), np.float32))
        self.save("x.npy", random((70000, 3), np.float32, 2))
        for kernel in ("rows-vector", "split-vector"):
            self.succeed("matvec", "a.npy", "x.npy", "-o", "y.npy", "--kernel", kernel, "--verify",
                         "--copy", *self.device)


@unittest.skipUnless(has_opencl(), "no OpenCL device")
class RealData(Case):
    """A known answer of data/README.md."""

    def test_dependencies(self):
        file = os.path.join(DATA, "debian_deps.mtx")
        x = np.ones(2000)
        self.save("x.npy", x)
        self.succeed("matvec", file, "x.npy", "-o", "y.npy", "--verify")
        self.assertEqual(self.load("y.npy").sum(), 8873)


if __name__ == "__main__":
    unittest.main()
