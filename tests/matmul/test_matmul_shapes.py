"""tessera matmul on vectors and batches of any rank: shapes and values of numpy.matmul."""

import os
import unittest

import numpy as np

from cli_support import Case

HOST = ("--device", "host", "--quiet")
PROBLEMS = int(os.environ.get("TESSERA_RANDOM", "25"))


class Shapes(Case):
    def product(self, a, b, *args):
        np.save(self.path("a.npy"), a)
        np.save(self.path("b.npy"), b)
        self.succeed("matmul", "a.npy", "b.npy", "-o", "c.npy", *args, *HOST)
        return np.load(self.path("c.npy"))

    def assert_same(self, got, wanted):
        self.assertEqual(got.shape, np.shape(wanted))
        np.testing.assert_array_equal(got, wanted)

    def test_vectors(self):
        a, v, w = (np.arange(1, n + 1, dtype=np.float32) for n in (12, 3, 4))
        a = a.reshape(3, 4)
        self.assert_same(self.product(v, a, "--verify"), v @ a)
        self.assert_same(self.product(a, w, "--verify"), a @ w)
        self.assert_same(self.product(v, v, "--trans-a", "--trans-b"), v @ v)
        self.assert_same(self.product(w, a, "--trans-b", "--trans-a"), w @ a.T)

    def test_what_is_added_to_a_number(self):
        v = np.float32([1, 2])
        for c0 in (np.float32(7), np.float32([7]), np.float32([[7]])):
            np.save(self.path("c0.npy"), c0)
            self.assert_same(self.product(v, v, "--add", "c0.npy", "--beta", "2"), np.float32(19))
        self.succeed("matmul", "a.npy", "b.npy", "-o", "c.mtx", *HOST)
        with open(self.path("c.mtx"), encoding="ascii") as f:
            self.assertEqual(f.read().split("\n")[1:], ["1 1", "5", ""])

    def test_random_batches(self):
        """Extents that are broadcast, are 0 or do not match; Fortran order; a product that is
        added."""
        rng = np.random.default_rng(7)
        for i in range(PROBLEMS):
            full = rng.integers(0, 4, rng.integers(0, 6))
            m, k, n = rng.integers(int(rng.random() < 0.8), 5, 3)

            def operand(*last):
                batch = np.where(rng.random(len(full)) < 0.3, 1, full)
                batch[:1] = np.where(rng.random() < 0.2, 5, batch[:1])
                shape = [*batch[rng.integers(0, len(full) + 1):], *last]
                if rng.random() < 0.2:
                    shape = [k]
                x = rng.integers(-5, 6, shape).astype(np.float32)
                return np.asfortranarray(x) if rng.random() < 0.5 else x

            a, b = operand(m, k), operand(k, n)
            with self.subTest(i, a=a.shape, b=b.shape):
                try:
                    wanted = a @ b
                except ValueError:
                    np.save(self.path("a.npy"), a)
                    np.save(self.path("b.npy"), b)
                    self.fail_with(1, "matmul", "a.npy", "b.npy", "-o", "c.npy", *HOST,
                                   says="shapes do not match")
                    continue
                c0 = rng.integers(-5, 6, np.shape(wanted)).astype(np.float32)
                np.save(self.path("c0.npy"), c0)
                self.assert_same(self.product(a, b), wanted)
                self.assert_same(self.product(a.T if a.ndim == 2 else a, b, "--add", "c0.npy",
                                              "--beta", "2", *["--trans-a"] * (a.ndim == 2)),
                                 wanted + 2 * c0)

    def test_many_dimensions(self):
        """As many as every NumPy has."""
        a = np.ones([1] * 29 + [2, 3, 4], np.float32)
        self.assert_same(self.product(a, a, "--trans-b"), a @ np.swapaxes(a, -1, -2))

    def test_refusals(self):
        np.save(self.path("s.npy"), np.float32(1))
        np.save(self.path("v.npy"), np.ones(3, np.float32))
        np.save(self.path("b.npy"), np.ones((2, 3, 4), np.float32))
        self.fail_with(1, "matmul", "s.npy", "v.npy", "-o", "c.npy", *HOST,
                       says=("s.npy is a scalar, and a matrix or a vector is needed", "--alpha"))
        self.fail_with(1, "matmul", "b.npy", "v.npy", "-o", "c.npy", *HOST,
                       says="b.npy is 2x3x4 and v.npy is a vector of 3, inner lengths 4 and 3")
        self.fail_with(1, "matmul", "v.npy", "v.npy", "--add", "v.npy", "--beta", "1", "-o",
                       "c.npy", *HOST, says="v.npy is a vector of 3 and the product of v.npy and "
                                            "v.npy is a scalar")
        self.fail_with(1, "matmul", "b.npy", "b.npy", "--trans-b", "-o", "c.mtx", *HOST,
                       says="output c.mtx: a .mtx file holds one matrix, and the result is 2x3x3")

    def test_batches_beyond_reach(self):
        for name, shape in (("a.npy", (2**32, 1, 0, 0)), ("b.npy", (2**32, 0, 0))):
            with open(self.path(name), "wb") as f:
                np.lib.format.write_array_header_1_0(
                    f, {"descr": "<f4", "fortran_order": False, "shape": shape})
        self.fail_with(1, "matmul", "a.npy", "b.npy", "-o", "c.npy", *HOST,
                       says="together they are a batch of more than")


if __name__ == "__main__":
    unittest.main()
