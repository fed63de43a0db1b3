"""Results of matmul, matvec and sort against NumPy in higher precision, on the device and the host."""

import io
import json
import os
import re
import unittest

import numpy as np

from cli_support import DATA, SANITIZED, Case, has_opencl, within_bound

REALS = (np.float32, np.float64)
KEYS = (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64,
        np.float16, np.float32, np.float64)


def random(shape, kind, seed=1):
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(kind)


def order_key(keys):
    """Unsigned integers that order as the command orders keys (DESIGN.md, Numerics)."""
    if keys.dtype.kind != "f":
        return keys
    bits = keys.view("u%d" % keys.dtype.itemsize).astype(np.uint64)
    size = keys.dtype.itemsize * 8
    sign = np.uint64(1 << (size - 1))
    full = np.uint64((1 << size) - 1)
    mono = np.where(bits & sign, bits ^ full, bits | sign)
    below = np.uint64((1 << (np.finfo(keys.dtype).nmant)) - 1)
    return (mono - below) & full


def sorted_order(keys, descending=False):
    key = order_key(keys)
    if not descending:
        return np.argsort(key, kind="stable")
    back = np.argsort(key[::-1], kind="stable")
    return (len(keys) - 1 - back)[::-1]


class OnHost(Case):
    """On the host; OnDevice repeats all of it, with fewer kernels to compile."""

    device = ("--device", "host")
    key_types, key_counts = KEYS, (0, 1, 2, 3, 100, 1000, 1025)
    operations = ("matmul", "matvec", "sort")
    matvec_shapes = (1, 1), (7, 3), (64, 257), (300, 2), (0, 4), (4, 0)

    def matmul(self, *args, **options):
        return self.succeed("matmul", *args, "-o", "c.npy", *self.device, **options)

    def test_shapes(self):
        for kind in REALS:
            for m, k, n in ((1, 1, 1), (3, 5, 7), (17, 64, 33), (1, 100, 1), (65, 1, 65)):
                a, b = random((m, k), kind), random((k, n), kind, 2)
                self.save("a.npy", a)
                self.save("b.npy", b)
                self.matmul("a.npy", "b.npy", "--verify", "--quiet")
                c = self.load("c.npy")
                self.assertEqual((c.shape, c.dtype), ((m, n), kind))
                self.assertTrue(within_bound(c, a, b), (kind, m, k, n))

    def test_transposes_and_scalars(self):
        for kind in REALS:
            a, b, c0 = random((9, 14), kind), random((14, 6), kind, 2), random((9, 6), kind, 3)
            self.save("c0.npy", c0)
            for ta in (False, True):
                for tb in (False, True):
                    self.save("a.npy", np.ascontiguousarray(a.T if ta else a))
                    self.save("b.npy", np.ascontiguousarray(b.T if tb else b))
                    flags = ["--trans-a"] * ta + ["--trans-b"] * tb
                    self.matmul("a.npy", "b.npy", *flags, "--alpha", "-0.3", "--beta=2.5",
                                "--add", "c0.npy", "--verify")
                    self.assertTrue(within_bound(self.load("c.npy"), a, b, -0.3, c0, 2.5))

    def test_zero_factors_read_nothing(self):
        nan = np.full((3, 3), np.nan, np.float32)
        one = np.ones((3, 3), np.float32)
        self.save("nan.npy", nan)
        self.save("one.npy", one)
        self.matmul("nan.npy", "nan.npy", "--alpha", "0", "--beta", "2", "--add", "one.npy",
                    "--verify")
        self.assertTrue(np.array_equal(self.load("c.npy"), 2 * one))
        self.matmul("one.npy", "one.npy", "--beta", "0", "--add", "nan.npy", "--verify")
        self.assertTrue(np.array_equal(self.load("c.npy"), 3 * one))

    def product16(self, a, b, kind, *flags):
        """|got - exact| of 16-bit operands: FP32 sums, and one rounding of the result."""
        self.save("a.npy", a)
        self.save("b.npy", b)
        self.matmul("a.npy", "b.npy", "--as", kind, "--verify", "--quiet", *flags)
        return self.load("c.npy")

    def test_float16(self):
        a, b = random((9, 40), np.float16), random((40, 7), np.float16, 2)
        exact = a.astype(np.float64) @ b.astype(np.float64)
        sums = np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64)) * 42 * 2.0**-24
        c = self.product16(a, b, "f16")
        self.assertEqual(c.dtype, np.float16)
        self.assertTrue(np.all(np.abs(c - exact) <= sums + np.abs(exact) * 2.0**-11 + 2.0**-25))
        c = self.product16(a, b, "f16", "--out-type", "f32")
        self.assertEqual(c.dtype, np.float32)
        self.assertTrue(np.all(np.abs(c - exact) <= sums))
        # Files of float16 need no word, and what is too large is infinite.
        big = np.full((2, 2), 300, np.float16)
        self.save("big.npy", big)
        self.matmul("big.npy", "big.npy", "--verify")
        self.assertTrue(np.isposinf(self.load("c.npy")).all())
        self.matmul("big.npy", "big.npy", "--alpha", "0.125", "--verify")
        self.assertEqual(self.load("c.npy").tolist(), [[float(np.float16(22500))] * 2] * 2)

    def test_what_overflows_is_warned_of(self):
        """How many finite values of a file became infinite; infinity and NaN were so before."""
        self.save("a.npy", np.array([[1, 65519, 7e4], [-1e9, np.inf, np.nan]]))
        self.save("b.npy", np.full((3, 2), 1e300))
        self.save("c.npy", np.array([[1, 70000]], np.int32))
        args = ("--device", "host", "-o", "o.npy")
        for flags in ((), ("--quiet",), ("--verify",)):
            r = self.succeed("matmul", "a.npy", "b.npy", "--as", "f16", *args, *flags)
            self.assertEqual(re.findall("tessera: warning: (.*)", r.err), [
                "a.npy: 2 of 6 values are infinite as float16, whose largest is 65504",
                "b.npy: 6 of 6 values are infinite as float16, whose largest is 65504"], r)
        r = self.succeed("matmul", "a.npy", "b.npy", "--as", "f32", *args)
        self.assertEqual(re.findall("warning: (.*)", r.err), [
            "b.npy: 6 of 6 values are infinite as float32, whose largest is 3.40282e+38"], r)
        r = self.succeed("matmul", "c.npy", "c.npy", "--trans-b", "--as", "f16", *args)
        self.assertIn("c.npy: 1 of 2 values is infinite as float16", r.err)
        for kind in ("f32", "bf16"):
            r = self.succeed("matmul", "c.npy", "c.npy", "--trans-b", "--as", kind, *args)
            self.assertNotIn("warning", r.err)

    def test_bfloat16(self):
        a, b = random((6, 5), np.float32), random((5, 8), np.float32, 2)
        wide = lambda x: (x.view("u2").astype("u4") << 16).view(np.float32).reshape(x.shape)
        c = self.product16(a, b, "bf16")
        self.assertEqual(c.dtype, np.dtype("V2"))
        a16, b16 = self.bfloat16(a), self.bfloat16(b)
        exact = wide(a16).astype(np.float64) @ wide(b16).astype(np.float64)
        error = np.abs(wide(c) - exact)
        self.assertTrue(np.all(error <= np.abs(exact) * 2.0**-8 + 1e-5))
        # What it wrote it reads, and NumPy's bytes too.
        self.save("a16.npy", a16)
        self.save("b16.npy", b16)
        self.matmul("a16.npy", "b16.npy", "--as", "bf16", "--verify")
        self.assertEqual(self.load("c.npy").tobytes(), c.tobytes())
        self.matmul("c.npy", "b16.npy", "--trans-b", "--as", "bf16", "--out-type", "f32")
        self.assertEqual(self.load("c.npy").dtype, np.float32)

    @staticmethod
    def bfloat16(array):
        bits = array.astype(np.float32).view("u4")
        return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype("u2").view("V2")

    def test_precisions_round_factors(self):
        a = np.array([[1 + 2.0**-9 + 2.0**-20, 100000]], np.float32)
        one = np.array([[1], [0]], np.float32)
        self.save("a.npy", a)
        self.save("b.npy", one)
        for name, want in (("bf16", 1), ("tf32", 1 + 2.0**-9), ("f32", a[0, 0])):
            self.matmul("a.npy", "b.npy", "--precision", name, "--verify")
            self.assertEqual(self.load("c.npy")[0, 0], want, name)
        self.matmul("a.npy", "b.npy", "--precision", "f16", "--verify")
        self.assertTrue(np.isnan(self.load("c.npy")[0, 0])) # 100000 is infinite, times 0
        self.save("b.npy", one[::-1].copy())
        self.matmul("a.npy", "b.npy", "--precision", "f16", "--verify")
        self.assertTrue(np.isposinf(self.load("c.npy")[0, 0]))

    def test_batches(self):
        """Rank 3 as NumPy's matmul has it: a lone matrix serves every product."""
        rng = np.random.default_rng(5)
        for shape_a, shape_b in (((3, 4, 5), (3, 5, 6)), ((4, 5), (3, 5, 6)), ((3, 4, 5), (5, 6)),
                                 ((1, 4, 5), (3, 5, 6)), ((1, 4, 5), (5, 6)), ((2, 1, 9), (2, 9, 1)),
                                 ((0, 4, 5), (5, 6)), ((1, 4, 5), (0, 5, 6)), ((2, 4, 0), (2, 0, 3))):
            a = rng.integers(-8, 9, shape_a).astype(np.float32)
            b = rng.integers(-8, 9, shape_b).astype(np.float32)
            want = np.matmul(a, b)
            c0 = rng.integers(-8, 9, want.shape).astype(np.float32)
            self.save("a.npy", np.asfortranarray(a))
            self.save("b.npy", b)
            self.save("c0.npy", c0)
            self.matmul("a.npy", "b.npy", "--verify")
            c = self.load("c.npy")
            self.assertEqual(c.shape, want.shape)
            self.assertTrue(np.array_equal(c, want), (shape_a, shape_b))
            self.save("at.npy", np.ascontiguousarray(np.swapaxes(a, -1, -2)))
            self.save("bt.npy", np.ascontiguousarray(np.swapaxes(b, -1, -2)))
            self.matmul("at.npy", "bt.npy", "--trans-a", "--trans-b", "--alpha", "2", "--beta",
                        "-1", "--add", "c0.npy", "--verify")
            self.assertTrue(np.array_equal(self.load("c.npy"), 2 * want - c0))
        self.save("a.npy", rng.integers(0, 3, (2, 3, 4)).astype(np.float16))
        r = self.matmul("a.npy", "a.npy", "--trans-b", "--json")
        problem = json.loads(r.out)["problem"]
        self.assertEqual((problem["batch"], problem["out_type"]), (2, "float16"))
        self.assertEqual(problem["description"], "3x3x4 float16 x 2 B^T")

    def test_empty(self):
        for m, k, n in ((0, 3, 4), (4, 3, 0), (4, 0, 3), (0, 0, 0)):
            self.save("a.npy", np.ones((m, k), np.float32))
            self.save("b.npy", np.ones((k, n), np.float32))
            self.matmul("a.npy", "b.npy", "--verify")
            c = self.load("c.npy")
            self.assertEqual(c.shape, (m, n))
            self.assertFalse(c.any())

    def test_fortran_order_and_byte_order(self):
        a, b = random((5, 8), np.float32), random((8, 3), np.float32, 2)
        self.save("a.npy", np.asfortranarray(a))
        self.save("b.npy", b.astype(">f4"))
        self.matmul("a.npy", "b.npy")
        c = self.load("c.npy")
        self.assertTrue(within_bound(c, a, b))
        self.assertEqual(c.dtype, np.dtype("<f4"))

    def test_matrix_market(self):
        self.write("a.mtx", "%%MatrixMarket matrix coordinate real general\n"
                            "% a comment\n\n2 3 3\n1 1 1.5\n2 3 -2\n1 1 0.5\n")
        self.write("b.mtx", "%%matrixmarket MATRIX array integer general\n3 2\n1\n2\n3\n4\n5\n6\n")
        self.succeed("matmul", "a.mtx", "b.mtx", "-o", "c.mtx", *self.device)
        with open(self.path("c.mtx"), encoding="ascii") as f:
            lines = [s for s in f.read().splitlines() if s and s[0] != "%"]
        self.assertEqual([float(x) for s in lines for x in s.split()], [2, 2, 2, -6, 8, -12])
        self.matmul("a.mtx", "b.mtx")
        self.assertEqual(self.load("c.npy").tolist(), [[2, 8], [-6, -12]])
        self.assertEqual(self.load("c.npy").dtype, np.float64)

    def test_as_converts(self):
        a = random((4, 4), np.float64)
        self.save("a.npy", a)
        self.save("i.npy", np.arange(16, dtype=np.int16).reshape(4, 4))
        self.matmul("a.npy", "i.npy", "--as", "f32")
        c = self.load("c.npy")
        self.assertEqual(c.dtype, np.float32)
        i = np.arange(16, dtype=np.float32).reshape(4, 4)
        self.assertTrue(within_bound(c, a.astype(np.float32), i))
        for name, kind in (("f64", np.float64), ("float64", np.float64), ("float32", np.float32)):
            self.matmul("a.npy", "i.npy", "--as", name)
            self.assertEqual(self.load("c.npy").dtype, kind)

    def test_streams(self):
        a = random((6, 6), np.float32)
        file = io.BytesIO()
        np.save(file, a)
        r = self.succeed("matmul", "-", "-o", "-", self.save("a.npy", a), *self.device,
                         stdin=file.getvalue(), binary=True)
        self.assertTrue(within_bound(np.load(io.BytesIO(r.out)), a, a))
        self.assertIn("matmul 6x6x6 float32", r.err)

    def test_output_may_be_an_input(self):
        a = random((6, 6), np.float32)
        self.save("a.npy", a)
        self.succeed("matmul", "a.npy", "a.npy", "-o", "a.npy", *self.device)
        self.assertTrue(within_bound(self.load("a.npy"), a, a))
        self.assertEqual(self.names(), ["a.npy"])

    def test_output_is_aligned(self):
        self.save("a.npy", random((3, 3), np.float32))
        self.matmul("a.npy", "a.npy")
        self.assertEqual((os.path.getsize(self.path("c.npy")) - 36) % 64, 0)

    def test_matvec(self):
        for kind in REALS:
            for rows, columns in self.matvec_shapes:
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

    def sort(self, keys, *flags):
        self.save("k.npy", keys)
        self.succeed("sort", "k.npy", "-o", "s.npy", "--argsort", "i.npy", "--verify",
                     *flags, *self.device)
        got, index = self.load("s.npy"), self.load("i.npy")
        self.assertEqual((got.dtype, index.dtype), (keys.dtype, np.int64))
        want = sorted_order(keys, "--descending" in flags)
        self.assertEqual(index.tolist(), want.tolist())
        self.assertEqual(got.tobytes(), keys[want].tobytes())

    def test_sort(self):
        rng = np.random.default_rng(7)
        for kind in self.key_types:
            for n in self.key_counts:
                size = np.dtype(kind).itemsize
                keys = rng.integers(0, 256, n * size, dtype=np.uint8).view(kind)
                few = rng.integers(0, 5, n).astype(kind)
                self.sort(keys)
                self.sort(few, "--descending")

    def test_sort_order_of_special_floats(self):
        for kind in (np.float16, np.float32, np.float64):
            keys = np.array([np.nan, 1, -0.0, 0.0, -np.nan, np.inf, -np.inf, -1, 1e-40, 0.0, -0.0],
                            kind)
            self.sort(keys)
            self.sort(keys, "--descending")
            self.sort(keys)
            got = self.load("s.npy")
            self.assertTrue(np.isneginf(got[0]) and np.isnan(got[-2:]).all())
            self.assertEqual(np.signbit(got[2:6]).tolist(), [True, True, False, False])

    def test_sort_order_of_nans(self):
        """First without the sign and rising, then with it and falling; the same bits are equal."""
        kinds = ((np.float32, np.uint32, 0x3F800000, 0x7F800000, 0x00400000),
                 (np.float16, np.uint16, 0x3C00, 0x7C00, 0x0200),
                 (np.float64, np.uint64, 0x3FF << 52, 0x7FF << 52, 1 << 51))
        for kind, word, one, infinity, quiet in kinds[:1] if SANITIZED else kinds:
            sign = 1 << (8 * np.dtype(kind).itemsize - 1)
            nan, negative = infinity | quiet, sign | infinity | quiet
            bits = np.array([negative, nan | 1, sign | infinity | 1, nan, negative, infinity | 1,
                             one, nan | 1], word)
            self.save("k.npy", bits.view(kind))
            self.save("v.npy", np.arange(8, dtype=np.uint8))
            for options, order in ((), [6, 5, 3, 1, 7, 0, 4, 2]), (("--descending",),
                                                                   [2, 0, 4, 1, 7, 3, 5, 6]):
                self.succeed("sort", "k.npy", "-o", "s.npy", "--argsort", "i.npy", "--values",
                             "v.npy", "--values-out", "w.npy", *options, *self.device)
                self.assertEqual(self.load("s.npy").view(word).tolist(), bits[order].tolist())
                self.assertEqual(self.load("i.npy").tolist(), order)
                self.assertEqual(self.load("w.npy").tolist(), order)

    def test_sort_vectors_of_rank_2(self):
        keys = np.array([3, 1, 2], np.int32)
        for shape in ((3, 1), (1, 3)):
            self.save("k.npy", keys.reshape(shape))
            self.succeed("sort", "k.npy", "-o", "s.npy", "--argsort", "i.npy", *self.device)
            self.assertEqual(self.load("s.npy").tolist(), [1, 2, 3])
            self.assertEqual(self.load("i.npy").tolist(), [1, 2, 0])
        self.write("k.mtx", "%%MatrixMarket matrix array real general\n3 1\n2.5\n-1\n0\n")
        self.succeed("sort", "k.mtx", "-o", "s.mtx", *self.device)
        self.succeed("sort", "s.mtx", "-o", "s.npy", "--descending", *self.device)
        self.assertEqual(self.load("s.npy").tolist(), [2.5, 0, -1])

    def test_sort_without_index_and_without_keys(self):
        keys = np.array([3, 1, 2], np.int32)
        self.save("k.npy", keys)
        self.succeed("sort", "k.npy", "-o", "s.npy", *self.device)
        self.assertEqual(self.load("s.npy").tolist(), [1, 2, 3])
        self.succeed("sort", "k.npy", "--argsort", "i.npy", *self.device)
        self.assertEqual(self.load("i.npy").tolist(), [1, 2, 0])
        self.assertEqual(self.names(), ["i.npy", "k.npy", "s.npy"])

    def sort_values(self, keys, values, *flags):
        self.save("k.npy", keys)
        self.save("v.npy", values)
        r = self.succeed("sort", "k.npy", "-o", "s.npy", "--values", "v.npy", "--values-out",
                         "w.npy", "--verify", *flags, *self.device)
        want = sorted_order(keys, "--descending" in flags)
        got = self.load("w.npy")
        self.assertEqual((got.dtype, got.shape), (values.dtype, values.shape))
        self.assertEqual(got.tobytes(), values[want].tobytes())
        self.assertEqual(self.load("s.npy").tobytes(), keys[want].tobytes())
        return r

    def test_sort_with_values(self):
        """Values of every size, of equal keys in input order, with and without an index."""
        n = 1500
        keys = np.random.default_rng(3).integers(0, 40, n).astype(np.uint32)
        for values in (np.arange(n, dtype=np.uint8), np.arange(n, dtype=np.int16),
                       random(n, np.float32), random(n, np.float64), random((n, 2), np.float64)):
            self.sort_values(keys, values)
        bits = np.arange(16 * n, dtype=np.uint32).view(np.uint8)
        for name in ("?", "S1", "S2", "c8", "c16", "M8[ns]", "m8[25us]", ">M8[D]", "<U4", "V16", ">U1",
                     "g"):
            count = n * np.dtype(name).itemsize
            values = (bits[:count] & 1 if name == "?" else bits[:count]).view(name)
            self.sort_values(keys, values)
            self.assertEqual(np.load(self.path("w.npy")).dtype.str, values.dtype.str)
        self.sort_values(keys, np.asfortranarray(bits[:16 * n].view("c8").reshape(n, 2)))
        r = self.sort_values(keys, random((n, 4), np.float16), "--descending", "--stable",
                             "--argsort", "i.npy")
        self.assertIn("1500 uint32 argsort descending with 8-byte values", r.err)
        self.assertEqual(self.load("i.npy").tolist(), sorted_order(keys, True).tolist())

    def test_sort_rows(self):
        """Each row by itself: short and long ones, none, and rows of nothing and of one key."""
        rng = np.random.default_rng(5)
        for shape in ((40, 25), (3, 5000), (1, 9), (9, 1), (0, 4), (4, 0)):
            keys = rng.integers(0, 30, shape).astype(np.int16)
            values = rng.integers(0, 1 << 60, shape)
            self.save("k.npy", keys)
            self.save("v.npy", values)
            r = self.succeed("sort", "k.npy", "--rows", "-o", "s.npy", "--argsort", "i.npy",
                             "--values", "v.npy", "--values-out", "w.npy", "--verify", "--json",
                             *self.device)
            want = np.argsort(keys, axis=1, kind="stable")
            self.assertEqual(self.load("i.npy").shape, shape)
            self.assertEqual(self.load("i.npy").tolist(), want.tolist())
            for name, given in (("s.npy", keys), ("w.npy", values)):
                self.assertEqual(self.load(name).dtype, given.dtype)
                self.assertEqual(self.load(name).tolist(),
                                 np.take_along_axis(given, want, 1).tolist())
            self.assertEqual(json.loads(r.out)["problem"]["rows"], max(shape[0], 1))

    def test_sort_segments(self):
        """Each segment by itself: none, empty ones, of one key, short and long ones."""
        rng = np.random.default_rng(9)
        for lengths, kind in (((3, 0, 0, 1, 40, 2, 9000, 17), "i2"), ((0, 0), "u1"), ((), "i4"),
                              ((1,), "u8"), ((5000,), "u2"), (rng.integers(0, 90, 100), ">u4")):
            offsets = np.concatenate(([0], np.cumsum(lengths))).astype(kind)
            keys = rng.integers(-20, 20, offsets[-1]).astype(np.float32)
            values = rng.integers(0, 1 << 60, (len(keys), 2))
            self.save("k.npy", keys)
            self.save("v.npy", values)
            self.save("o.npy", offsets)
            flags = ["--descending", "--stable"] if len(lengths) % 2 else []
            r = self.succeed("sort", "k.npy", "--segments", "o.npy", "-o", "s.npy", "--argsort",
                             "i.npy", "--values", "v.npy", "--values-out", "w.npy", "--verify",
                             "--json", "--repeat", "2", *flags, *self.device)
            parts = [slice(int(a), int(b)) for a, b in zip(offsets[:-1], offsets[1:])]
            order = [sorted_order(keys[p], bool(flags)) for p in parts]
            flat = [p.start + o for p, o in zip(parts, order)]
            flat = np.concatenate(flat).astype(int) if flat else np.zeros(0, int)
            self.assertEqual(self.load("s.npy").tolist(), keys[flat].tolist())
            self.assertEqual(self.load("w.npy").tolist(), values[flat].tolist())
            self.assertEqual(self.load("i.npy").tolist(), [i for o in order for i in o])
            self.assertEqual(json.loads(r.out)["problem"]["segments"], len(lengths))

    def test_sort_top(self):
        """The first keys, indices and values of the sorted order, of a vector and of rows."""
        rng = np.random.default_rng(11)
        cases = (((9000,), 7), ((4, 2500), 10), ((9000,), 3000), ((1, 9000), 2), ((9000, 1), 2),
                 ((5,), 9), ((30, 20), 3), ((3, 1), 1), ((1,), 1), ((0, 4), 2), ((0,), 2))
        for i, (shape, top) in enumerate(cases[:5] if SANITIZED else cases):
            rows = ["--rows"] if len(shape) == 2 and 9000 not in shape else []
            axis = int(bool(rows) or shape[0] == 1 and len(shape) == 2)
            keys = random(shape, np.float64) if i % 3 == 2 else rng.integers(0, 300, shape, np.int32)
            values = rng.integers(0, 1 << 60, shape + (2,))
            self.save("k.npy", keys)
            self.save("v.npy", values)
            flags = ["--descending"] if i % 2 else []
            r = self.succeed("sort", "k.npy", "-o", "s.npy", "--argsort", "i.npy", "--values",
                             "v.npy", "--values-out", "w.npy", "--top", str(top), "--verify",
                             "--json", "--repeat", "2", *rows, *flags, *self.device)
            order = np.argsort(-keys if flags else keys, axis=axis, kind="stable")
            want = order.take(range(min(top, shape[axis])), axis)
            kept = want.shape if rows else (want.size,)
            found, index = self.load("s.npy"), self.load("i.npy")
            self.assertEqual((found.shape, index.shape), (kept, kept))
            self.assertEqual(index.ravel().tolist(), want.ravel().tolist())
            self.assertEqual(found.ravel().tolist(),
                             np.take_along_axis(keys, want, axis).ravel().tolist())
            self.assertEqual(self.load("w.npy").tolist(),
                             np.take_along_axis(values, want[..., None], axis).tolist())
            self.assertEqual(json.loads(r.out)["op"], "sort")
            self.assertEqual(json.loads(r.out)["problem"]["top"],
                             min(top, shape[axis] if shape[0] else 0))

    def test_top_takes_a_count(self):
        self.save("k.npy", np.arange(3, dtype=np.int32))
        for wrong in ("0", "-1", "2.5", "x", "99999999999999999999"):
            self.fail_with(2, "sort", "k.npy", "-o", "s.npy", "--top", wrong, *self.device,
                           says="--top' takes a whole number from 1 on, not '%s'" % wrong)
        self.fail_with(2, "matvec", "k.npy", "k.npy", "-o", "s.npy", "--top", "1",
                       says="matvec takes no option '--top'")

    def test_values_alone_and_few(self):
        for n in (0, 1, 2):
            self.save("k.npy", np.arange(n, 0, -1, dtype=np.int64))
            self.save("v.npy", np.arange(n, dtype=np.int8))
            self.succeed("sort", "k.npy", "--values", "v.npy", "--values-out", "v.npy",
                         "--repeat", "2", *self.device)
            self.assertEqual(self.load("v.npy").tolist(), list(range(n))[::-1])

    def shares(self):
        """Whether operands stay where they are: on the host, and where devices share its memory."""
        if self.device:
            return True
        self.save("two.npy", random((2, 2), np.float32))
        ran = json.loads(self.matmul("two.npy", "two.npy", "--json").out)["device"]["id"]
        devices = json.loads(self.succeed("devices", "--json").out)["devices"]
        return next(d["unified_memory"] for d in devices if d["id"] == ran)

    def test_summary(self):
        self.save("a.npy", random((20, 20), np.float32))
        warm = {"TESSERA_CACHE_DIR": self.path("cache")}
        self.matmul("a.npy", "a.npy", env=warm)  # a first run after compiling has no rate
        r = self.matmul("a.npy", "a.npy", "--verify", env=warm)
        self.assertEqual(r.out, "")
        self.assertRegex(r.err, r"^matmul 20x20x20 float32 on .*: \S+.*, device .*GFLOP/s, "
                                r"(nothing copied, |copied in .* and out .*, )?"
                                r"(loaded in [^,]*, )?verified.*\n$")
        self.save("b.npy", random((20, 20), np.float32))
        printed = "nothing copied" in self.matmul("a.npy", "b.npy").err
        self.assertEqual(printed, self.shares() and not self.device)
        err = self.matmul("a.npy", "b.npy", "--copy").err
        self.assertNotIn("nothing copied", err)
        self.assertEqual(bool(re.search(r", copied in [\d.]+ [mu]s and out [\d.]+ [mu]s[,\n]", err)),
                         not self.device)
        self.assertEqual(self.matmul("a.npy", "a.npy", "--quiet").err, "")
        self.assertIn("best of 3, median", self.matmul("a.npy", "a.npy", "--repeat", "3").err)

    def test_json(self):
        self.save("a.npy", random((8, 5), np.float32))
        self.save("x.npy", random(5, np.float32))
        r = self.succeed("matvec", "a.npy", "x.npy", "-o", "y.npy", "--json", "--verify",
                         "--repeat", "2", *self.device)
        d = json.loads(r.out)
        self.assertEqual((d["schema"], d["op"]), ("tessera-run-1", "matvec"))
        self.assertEqual((d["problem"]["rows"], d["problem"]["columns"]), (8, 5))
        self.assertEqual(d["problem"]["type"], "float32")
        self.assertTrue(d["verify"]["ok"])
        self.assertIn(d["build"], ("none", "cached", "cold"))
        self.assertEqual(d["times"]["runs"], 2)
        self.assertGreater(d["times"]["wall_ns"], 0)
        self.assertGreaterEqual(d["times"]["median_device_ns"], d["times"]["device_ns"])
        self.assertGreaterEqual(d["times"]["median_wall_ns"], d["times"]["median_device_ns"])
        self.assertEqual(set(d["device"]), {"id", "name", "platform", "driver"})
        self.assertEqual(d["bytes"]["compulsory"], 4 * (40 + 5 + 8))
        self.assertEqual(d["bytes"]["shared"], self.shares())
        if self.shares():
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
                         ("the host$" if self.device else "(CPUs|GPUs|accelerators)$|^tuned: "))

    def test_streamed_product(self):
        """Through less of the device's memory than the matrices have: right, in pieces; too little
        is printed, and no file is left."""
        if self.device:
            self.skipTest("the host has no memory of its own")
        for dtype in (np.float32, np.float64, np.float16):
            a, b = random((150, 70), dtype), random((130, 70), dtype, 2)
            c0 = random((150, 130), dtype, 3)
            for name, array in (("a.npy", a), ("b.npy", b), ("c0.npy", c0)):
                self.save(name, array)
            for memory in ("6K", "40K"):
                r = self.succeed("matmul", "a.npy", "b.npy", "-o", "c.npy", "--trans-b", "--add",
                                 "c0.npy", "--beta", "0.5", "--copy", "--device-memory", memory,
                                 "--verify", "--json")
                d = json.loads(r.out)
                self.assertTrue(d["verify"]["ok"], r)
                self.assertGreater(d["bytes"]["chunks"], 2, r)
                self.assertEqual(d["bytes"]["from_device"], c0.nbytes)
                self.assertGreaterEqual(d["bytes"]["to_device"], a.nbytes + b.nbytes + c0.nbytes)
                if dtype != np.float16:
                    self.assertTrue(within_bound(self.load("c.npy"), a, b.T, c=c0, beta=0.5))
                os.remove(self.path("c.npy"))
        self.fail_with(1, "matmul", "a.npy", "b.npy", "-o", "c.npy", "--trans-b", "--copy",
                       "--device-memory", "500", says="and 500 are allowed")
        self.assertFalse(os.path.exists(self.path("c.npy")))
        r = self.matmul("a.npy", "b.npy", "--trans-b", "--copy", "--device-memory", "40K")
        self.assertRegex(r.err, r"streamed in \d+ pieces")
        self.assertRegex(r.err, r", device [\d.]+ .s")

    def test_streamed_batches(self):
        """Batches that do not fit go some products, one product, or parts of one at a time."""
        if self.device:
            self.skipTest("the host has no memory of its own")
        self.save("a.npy", random((2, 30, 30), np.float32))
        self.save("v.npy", random((5, 30, 40), np.float32))
        self.save("x.npy", random((5, 40), np.float32))
        product = ("matmul", "a.npy", "a.npy", "-o", "c3.npy", "--copy", "--device-memory")
        vectors = ("matvec", "v.npy", "x.npy", "-o", "y5.npy", "--copy", "--device-memory")
        for args, memory, least, most in ((product, "22k", 0, 0), (product, "21600", 0, 0),
                                          (product, "21599", 10, 100), (product, "9K", 4, 100),
                                          (product, "9k", 4, 100), (product, "1g", 0, 0),
                                          (vectors, "1M", 0, 0), (vectors, "25399", 5, 5),
                                          (vectors, "16K", 5, 5), (vectors, "4K", 10, 100)):
            r = self.succeed(*args, memory, "--json", "--verify")
            self.assertTrue(least <= json.loads(r.out)["bytes"]["chunks"] <= most, r)
        for args, says in ((product, "3 rows of op(A) and a column of op(B) need 488 bytes"),
                           (vectors, "x, y and 3 lines of A need 760 bytes")):
            self.fail_with(1, *args, "400", says=says + " at once, and 400 are allowed")

    def test_streamed_slabs(self):
        """What the device holds is multiplied as it arrives, from whichever memory."""
        if self.device:
            self.skipTest("the host has no memory of its own")
        a, b = random((90, 70), np.float32), random((70, 50), np.float32, 2)
        self.save("a.npy", a)
        self.save("b.npy", b)
        for pinned in ("on", "off"):
            r = self.succeed("matmul", "a.npy", "b.npy", "-o", "c.npy", "--copy",
                             "--device-memory", "1M", "--pinned", pinned, "--json", "--verify",
                             "--repeat", "2")
            d = json.loads(r.out)["bytes"]
            self.assertGreater(d["chunks"], 10)
            self.assertEqual((d["to_device"], d["from_device"]), (a.nbytes + b.nbytes, 4 * 90 * 50))
            self.assertTrue(within_bound(self.load("c.npy"), a, b))
        self.assertIn("streamed in", r.err)

    def test_memory_that_limits_nothing(self):
        """Where the device works on the arrays themselves, with how to have it otherwise."""
        self.save("k.npy", np.arange(50, dtype=np.int32))
        args = ("sort", "k.npy", "-o", "s.npy", "--device-memory", "1k", *self.device)
        says = "warning: --device-memory 1k limits nothing: "
        self.assertEqual(says in self.succeed(*args).err, self.shares())
        r = self.succeed(*args, "--copy", "--quiet")
        self.assertNotIn("with --copy they are", r.err)
        self.assertEqual(says in r.err, bool(self.device))

    def sort_streamed(self, keys, chunks, *args):
        self.save("k.npy", keys)
        for pinned in ("on", "off"):
            r = self.succeed("sort", "k.npy", "-o", "s.npy", "--copy", "--pinned", pinned, "--json",
                             "--verify", *args)
            d = json.loads(r.out)
            self.assertEqual(d["bytes"]["chunks"], chunks)
            self.assertTrue(d["verify"]["ok"])
            np.testing.assert_array_equal(self.load("s.npy"), np.sort(keys, axis=-1))
        return d["bytes"]

    def test_streamed_sort(self):
        """As the keys arrive, by rows, and with less memory than they need."""
        if self.device:
            self.skipTest("the host has no memory of its own")
        rng = np.random.default_rng(7)
        keys = rng.integers(0, 2**32, 10000, dtype=np.uint32)
        d = self.sort_streamed(keys, 10, "--kernel", "fused-passes", "--device-memory", "1M")
        self.assertEqual((d["to_device"], d["from_device"]), (keys.nbytes, keys.nbytes))
        d = self.sort_streamed(keys.reshape(100, 100), 25, "--rows", "--device-memory", "4800")
        self.assertEqual((d["to_device"], d["from_device"]), (keys.nbytes, keys.nbytes))
        # Five chunks: 2 + (2 + 2) + (1 + 2 + 2) comparators of two chunks of 2000 keys.
        d = self.sort_streamed(keys, 11, "--device-memory", "32000")
        self.assertEqual(d["to_device"], 11 * 2 * 2000 * 4)
        self.fail_with(1, "sort", "k.npy", "-o", "s2.npy", "--copy", "--device-memory", "400",
                       says=("with 400 bytes of device memory it falls into 8736 pieces",
                             "; 4096 are allowed, from "))
        self.save("k.npy", keys)
        r = self.fail_with(1, "sort", "k.npy", "-o", "s2.npy", "--argsort", "i.npy", "--copy",
                           "--device-memory", "32000", says="need 120000 bytes at once, and 32000 are allowed")
        self.assertEqual(self.names().count("s2.npy"), 0, r)
        self.save("o.npy", np.array([0, 4000, 10000]))
        self.fail_with(1, "sort", "k.npy", "-o", "s2.npy", "--segments", "o.npy", "--copy",
                       "--device-memory", "32000", says="10000 keys of 2 segments, ")

    def test_pinned_memory_of_no_device(self):
        if not self.device:
            self.skipTest("the device has pinned memory")
        self.save("k.npy", np.arange(5))
        self.fail_with(1, "sort", "k.npy", "-o", "s.npy", "--pinned", "on", *self.device,
                       says="no pinned memory")

    def test_repeat_starts_afresh(self):
        a, c0 = random((5, 5), np.float32), random((5, 5), np.float32, 2)
        self.save("a.npy", a)
        self.save("c0.npy", c0)
        self.matmul("a.npy", "a.npy", "--add", "c0.npy", "--beta", "2", "--repeat", "4")
        self.assertTrue(within_bound(self.load("c.npy"), a, a, 1, c0, 2))
        self.save("k.npy", np.array([2, 3, 1], np.float64))
        self.succeed("sort", "k.npy", "--argsort", "i.npy", "--repeat", "3", *self.device)
        self.assertEqual(self.load("i.npy").tolist(), [2, 0, 1])

    def test_every_variant(self):
        """Each variant that --kernel accepts on this device gives a right result."""
        self.save("a.npy", random((70, 33), np.float32))
        self.save("b.npy", random((33, 45), np.float32))
        self.save("x.npy", random(33, np.float32))
        self.save("k.npy", np.random.default_rng(1).integers(0, 999, 3000).astype(np.uint32))
        jobs = {"matmul": ("a.npy", "b.npy"), "matvec": ("a.npy", "x.npy"), "sort": ("k.npy",)}
        listing = json.loads(self.succeed("kernels", "--json", *self.device).out)
        for op in listing["operations"]:
            for v in op["variants"]:
                if not v["suited"] or op["op"] not in self.operations:
                    continue
                r = self.tessera(op["op"], *jobs[op["op"]], "-o", "out.npy", "--kernel",
                                 v["name"], "--verify", *self.device)
                self.assertEqual(r.status, 0, r)
                self.assertIn(": %s" % v["name"], r.err)

    def test_set(self):
        self.save("k.npy", np.arange(300, dtype=np.uint32)[::-1])
        listing = json.loads(self.succeed("kernels", "sort", "--json", *self.device).out)
        variants = [v for v in listing["operations"][0]["variants"]
                    if v["suited"] and v["tunables"]]
        for v in variants[:1]:
            t = v["tunables"][0]
            wanted = "%s=%d" % (t["name"], t["values"][0])
            r = self.succeed("sort", "k.npy", "-o", "s.npy", "--kernel", v["name"], "--set",
                             wanted, "--verify", *self.device)
            self.assertIn(wanted, r.err)
            self.fail_with(2, "sort", "k.npy", "-o", "s.npy", "--kernel", v["name"], "--set",
                           t["name"] + "=987654321", *self.device, says="987654321")


@unittest.skipUnless(has_opencl(), "no OpenCL device")
class OnDevice(OnHost):
    device = ()
    key_types, key_counts = (np.uint32, np.float64, np.float16), (0, 3, 1025)
    operations = ("matvec",)
    matvec_shapes = (64, 257), (300, 2), (0, 4)

    def test_summary_of_a_first_run(self):
        self.save("a.npy", random((20, 20), np.float32))
        cold = {"TESSERA_CACHE_DIR": self.path("cache")}
        args = ("a.npy", "a.npy", "--kernel", "general")
        self.assertNotIn("FLOP/s", self.matmul(*args, env=cold).err)
        self.assertIn("FLOP/s", self.matmul(*args, env=cold).err)
        cold = {"TESSERA_CACHE_DIR": self.path("cache2")}
        self.assertIn("FLOP/s", self.matmul(*args, "--repeat", "2", env=cold).err)

    def test_times_of_a_first_call_add_up(self):
        """With every cache empty, what is compiled at the first launch too is no device time."""
        self.save("a.npy", random((20, 20), np.float32))
        cold = {"TESSERA_CACHE_DIR": self.path("cache"), "POCL_CACHE_DIR": self.path("pocl")}
        os.mkdir(self.path("pocl"))
        out = self.matmul("a.npy", "a.npy", "--kernel", "general", "--json", env=cold).out
        result = json.loads(out)
        times = result["times"]
        self.assertEqual(result["build"], "cold")
        self.assertIsNone(result["rate"])
        parts = sum(times[k] for k in ("probe_ns", "build_ns", "to_device_ns", "device_ns",
                                       "from_device_ns"))
        self.assertLessEqual(parts, times["wall_ns"])
        self.assertGreater(parts, 0.9 * times["wall_ns"])
        self.assertLess(times["device_ns"], 0.2 * times["wall_ns"])

    def test_unsupported_kernel(self):
        self.save("a.npy", random((4, 4), np.float32))
        listing = json.loads(self.succeed("kernels", "matmul", "--json").out)
        v = next(v for v in listing["operations"][0]["variants"] if not v["suited"])
        self.fail_with(1, "matmul", "a.npy", "a.npy", "-o", "c.npy", "--kernel", v["name"],
                       says=v["unsupported"])
        self.assertEqual(self.names(), ["a.npy"])

    def test_sort_in_chunks(self):
        """Two queues sort a chunk each, and what merges them waits for both."""
        keys = np.random.default_rng(5).integers(0, 2**32, 2**21 + 77, dtype=np.uint32)
        self.save("k.npy", keys)
        keys.sort()
        for queues in ("1", "2"):
            self.succeed("sort", "k.npy", "-o", "s.npy", "--kernel", "fused-passes", "--set",
                         "CHUNK=20", "--set", "QUEUES=" + queues)
            np.testing.assert_array_equal(self.load("s.npy"), keys)

    def test_wrong_result(self):
        """A kernel that is off by 1% is found out: status 3, and nothing is written."""
        source = self.succeed("kernels", "matmul", "naive", "--source").out
        wrong = source.replace("= sum;", "= sum * 1.01f;")
        self.assertNotEqual(source, wrong)
        os.makedirs(self.path("cl/matmul"))
        self.write(os.path.join("cl", "matmul/matmul_naive.cl"), wrong)
        self.save("a.npy", random((5, 5), np.float32))
        self.write("c.npy", "kept as it is")
        args = ("matmul", "a.npy", "a.npy", "-o", "c.npy", "--kernel", "naive", "--kernel-dir",
                "cl", "--verify")
        self.fail_with(3, *args, "--quiet")
        r = self.tessera(*args, "--json")
        self.assertEqual(r.status, 3, r)
        self.assertIs(json.loads(r.out)["verify"]["ok"], False)
        self.assertIn(", WRONG\ntessera: matmul: ", r.err)
        with open(self.path("c.npy"), encoding="ascii") as f:
            self.assertEqual(f.read(), "kept as it is")
        r = self.tessera("verify", "matmul", "--tiny", "--kernel", "naive", "--kernel-dir", "cl")
        self.assertEqual(r.status, 3, r)
        self.assertRegex(r.out, r"(?m)^FAIL matmul/naive float32 on .*problems: \S")
        self.assertEqual(self.names(), ["a.npy", "c.npy", "cl"])

    def test_beyond_the_largest_allocation(self):
        """Need and limit are named before any work; PoCL's own limit is lowered for that."""
        limit = {"POCL_MEMORY_LIMIT": "1"}
        device = json.loads(self.succeed("devices", "--json", env=limit).out)["devices"][0]
        need = 4 * 12000 * 12000
        if device["max_allocation_bytes"] >= need:
            self.skipTest("the device allocates %d bytes" % need)
        self.save("a.npy", np.ones((12000, 1), np.float32))
        self.fail_with(1, "matmul", "a.npy", "a.npy", "--trans-b", "-o", "c.npy", "--kernel",
                       "general", env=limit, says=(str(need), str(device["max_allocation_bytes"])))
        self.assertEqual(self.names(), ["a.npy"])

    def test_kernel_dir(self):
        """A folder of kernels takes the place of the embedded ones, and a broken one shows its log."""
        self.save("k.npy", np.arange(9, dtype=np.uint32))
        v = next(v for v in json.loads(self.succeed("kernels", "sort", "--json").out)
                 ["operations"][0]["variants"] if v["suited"])
        os.makedirs(self.path("cl/sort"))
        self.write(os.path.join("cl", v["file"]), "kernel void broken(global int *x) { y; }\n")
        r = self.tessera("sort", "k.npy", "-o", "s.npy", "--kernel", v["name"], "--kernel-dir",
                         "cl")
        self.assertEqual(r.status, 1, r)
        self.assertGreater(len(r.err.splitlines()), 1, r)
        self.assertIn("undeclared identifier", r.err)
        self.assertNotIn("s.npy", self.names())
        self.fail_with(1, "sort", "k.npy", "-o", "s.npy", "--kernel-dir", "nowhere",
                       says="nowhere")


@unittest.skipUnless(has_opencl(), "no OpenCL device")
class RealData(Case):
    """The known answers of data/README.md."""

    def test_package_sizes(self):
        file = os.path.join(DATA, "debian_sizes_kib.npy")
        keys = np.load(file)
        self.succeed("sort", file, "-o", "s.npy", "--argsort", "i.npy", "--verify", "--descending")
        want = sorted_order(keys, True)
        self.assertEqual(self.load("i.npy").tolist(), want.tolist())

    def test_digits(self):
        file = os.path.join(DATA, "digits.npy")
        x, labels = np.load(file), np.load(os.path.join(DATA, "digits_labels.npy"))
        self.succeed("matmul", file, file, "--trans-b", "-o", "g.npy", "--verify")
        g = self.load("g.npy")
        square = np.diag(g)
        distance = square[:, None] - 2 * g + square[None, :]
        np.fill_diagonal(distance, np.inf)
        self.assertEqual(int((labels[distance.argmin(axis=1)] == labels).sum()), 1776)

    def test_dependencies(self):
        file = os.path.join(DATA, "debian_deps.mtx")
        x = np.ones(2000)
        self.save("x.npy", x)
        self.succeed("matvec", file, "x.npy", "-o", "y.npy", "--verify")
        self.assertEqual(self.load("y.npy").sum(), 8873)


if __name__ == "__main__":
    unittest.main()
