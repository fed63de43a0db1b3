"""Results of matmul against NumPy in higher precision, on the device and the host.  Each class is a test."""

import glob
import io
import json
import os
import re
import threading
import time
import unittest

import numpy as np

import test_run
from cli_support import DATA, Case, has_opencl, random, within_bound


REALS = (np.float32, np.float64)


class OnHost(test_run.Run):
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

    def test_scales_of_rows_and_columns(self):
        """Whole numbers times powers of two are exact; a batch shares its scales."""
        rng = np.random.default_rng(8)
        a, b = (rng.integers(-8, 9, s).astype(np.float32) for s in ((3, 5, 40), (40, 7)))
        rows, columns = 2.0 ** rng.integers(-5, 6, (5, 1)), 2.0 ** rng.integers(-5, 6, 7)
        c0 = rng.integers(-9, 9, (3, 5, 7)).astype(np.float32)
        for name, x in (("a.npy", a), ("b.npy", b), ("c0.npy", c0), ("rows.npy", rows),
                        ("columns.npy", columns.astype(np.float32))):
            self.save(name, x)
        for scales in (("rows",), ("columns",), ("rows", "columns")):
            flags = [x for s in scales for x in ("--scale-a" if s == "rows" else "--scale-b", s + ".npy")]
            self.matmul("a.npy", "b.npy", "--as", "f8e4m3", "--out-type", "f32", "--alpha", "0.5", "--beta", "2",
                        "--add", "c0.npy", *flags, "--verify")
            factor = 0.5 * (rows if "rows" in scales else 1) * (columns if "columns" in scales else 1)
            np.testing.assert_array_equal(self.load("c.npy"), factor * (a @ b) + 2 * c0)

    def fp8(self, name):
        """(values of the codes that are numbers, their codes), smallest first."""
        fraction, bias, most = (3, 7, 0x7E) if name == "f8e4m3" else (2, 15, 0x7B)
        codes = np.array([x for x in range(256) if x & 0x7F <= most and x != 0x80])
        magnitude = codes & 0x7F
        exponent, rest = magnitude >> fraction, magnitude & ((1 << fraction) - 1)
        values = np.where(exponent > 0, (rest + (1 << fraction)) * 2.0**(exponent - bias - fraction),
                          rest * 2.0**(1 - bias - fraction)) * np.where(codes & 0x80, -1, 1)
        order = np.argsort(values)
        return values[order], codes[order]

    def test_fp8(self):
        for name in ("f8e4m3", "f8e5m2"):
            values, codes = self.fp8(name)
            rng = np.random.default_rng(5)
            middle = np.abs(values) <= 16
            a, b = (rng.choice(np.flatnonzero(middle), s) for s in ((9, 70), (70, 7)))
            exact, size = values[a] @ values[b], np.abs(values[a]) @ np.abs(values[b])
            lost = 144 / 8192 * size  # of a block, at most
            self.save("a.npy", codes[a].astype("u1").view("V1"))
            self.save("b.npy", codes[b].astype("u1").view("V1"))
            call = ("a.npy", "b.npy", "--as", name, "--verify", "--quiet")
            self.matmul(*call, "--out-type", "f32")
            c = self.load("c.npy")
            self.assertEqual(c.dtype, np.float32)
            self.assertTrue(np.all(np.abs(c - exact) <= lost + 72 * 2.0**-24 * size))
            self.matmul(*call, "--out-type", "f32", "--precision", "f32")
            self.assertTrue(np.all(np.abs(self.load("c.npy") - exact) <= 72 * 2.0**-24 * size))
            self.matmul(*call, "--out-type", "bf16", "--precision", "f32")
            c = (self.load("c.npy").view("u2").astype("u4") << 16).view("f4")
            self.assertTrue(np.all(np.abs(c - exact) <= 2.0**-8 * np.abs(exact) + 80 * 2.0**-24 * size))
            # Of the operands' type, saturated: alpha makes some too large.
            self.matmul(*call, "--alpha", "1024", "--precision", "f32")
            c = self.load("c.npy")
            self.assertEqual(c.dtype, np.dtype("V1"))
            found = dict(zip(codes.tolist(), values))
            c = np.vectorize(found.__getitem__)(c.view("u1") & np.where(c.view("u1") == 0x80, 0, 255))
            near = np.clip(1024 * exact, values[0], values[-1])
            self.assertTrue((np.abs(c) == values[-1]).any() or name == "f8e5m2")
            self.assertTrue(np.all(np.abs(c - near) <= np.abs(near) * (2.0**-4 if name == "f8e4m3" else 2.0**-3)
                                   + 1024 * 80 * 2.0**-24 * size + 1e-5))
            # Numbers of other files are rounded, and what saturates is counted.
            self.save("x.npy", np.array([[1e9, -1.0625]], np.float32))
            r = self.matmul("x.npy", "x.npy", "--trans-b", "--as", name, "--alpha", "0.001",
                            "--out-type", "f32", "--verify")
            self.assertIn("x.npy: 1 of 2 values is saturated as float8_e", r.err)
            self.assertAlmostEqual(float(self.load("c.npy")[0, 0]), (values[-1]**2 + 1) / 1000, delta=.5)

    def test_complex(self):
        """Transposed, conjugated and both, with complex scales, in either byte order."""
        rng = np.random.default_rng(3)
        turns = {(): lambda x: x, ("trans",): lambda x: x.T, ("conj",): np.conj,
                 ("trans", "conj"): lambda x: x.conj().T}
        scales = (([], 1, 0),
                  (["--alpha", "0", "--alpha-im", "-2"], -2j, 0),
                  (["--alpha-im", "1", "--beta", "3", "--beta-im", "-1", "--add", "c0.npy"],
                   1 + 1j, 3 - 1j))
        for kind, order in (("complex64", "<"), ("complex128", ">")):
            a, b, c0 = ((rng.uniform(-1, 1, s) + 1j * rng.uniform(-1, 1, s)).astype(kind)
                        for s in ((7, 19), (19, 5), (7, 5)))
            self.save("c0.npy", np.asfortranarray(c0))
            for i, (how_a, turn_a) in enumerate(turns.items()):
                how_b, turn_b = list(turns.items())[(i + 1 + (order == ">")) % 4]
                args, alpha, beta = scales[i % 3]
                self.save("a.npy", turn_a(a).astype(np.dtype(kind).newbyteorder(order)))
                self.save("b.npy", turn_b(b))
                self.matmul("a.npy", "b.npy", "--verify", "--quiet", *args,
                            *("--%s-a" % x for x in how_a), *("--%s-b" % x for x in how_b))
                c = self.load("c.npy")
                self.assertEqual((c.shape, c.dtype), ((7, 5), kind))
                wide = alpha * (a.astype(complex) @ b.astype(complex)) + beta * c0
                size = abs(alpha) * (np.abs(a) @ np.abs(b)) + abs(beta) * np.abs(c0)
                self.assertTrue(np.all(np.abs(c - wide) <= 2 * 42 * np.finfo(kind).eps * size))

    def test_int8(self):
        """Exact int32 sums, modulo 2^32, transposed or not, in batches, and as they are added to."""
        rng = np.random.default_rng(5)
        a, b = (rng.integers(-128, 128, s, np.int8) for s in ((7, 300), (300, 5)))
        c0 = rng.integers(-2**31, 2**31, (7, 5)).astype(np.int32)
        exact = a.astype(np.int64) @ b.astype(np.int64)
        for trans, args, want in (("", [], exact), ("ab", ["--precision", "i8"], exact),
                                  ("a", ["--alpha", "-2147483648", "--beta", "3", "--add", "c0.npy"],
                                   -2**31 * exact + 3 * c0.astype(np.int64))):
            self.save("a.npy", a.T.copy() if "a" in trans else a)
            self.save("b.npy", b.T.copy() if "b" in trans else b)
            self.save("c0.npy", c0)
            self.matmul("a.npy", "b.npy", "--verify", "--quiet", *args,
                        *("--trans-" + x for x in trans))
            c = self.load("c.npy")
            self.assertEqual((c.shape, c.dtype), ((7, 5), np.int32))
            np.testing.assert_array_equal(c, want.astype(np.int32))
        self.save("a.npy", np.stack([a, -a // 2]))
        self.save("b.npy", b)
        self.matmul("a.npy", "b.npy", "--verify", "--quiet")
        np.testing.assert_array_equal(self.load("c.npy")[1],
                                      (-a // 2).astype(np.int32) @ b.astype(np.int32))
        r = self.matmul("a.npy", "b.npy", "--repeat", "2", "--json")
        self.assertEqual(json.loads(r.out)["rate_unit"], "Gop/s")
        self.assertRegex(r.err, r", \S+ Gop/s\b")
        self.matmul("a.npy", "b.npy", "--as", "f32")
        self.assertEqual(self.load("c.npy").dtype, np.float32)
        self.save("a.npy", a.astype(np.int64)) # what NumPy makes of lists
        self.save("b.npy", b.astype(np.float64))
        self.save("c0.npy", c0.astype(np.int64))
        for name in ("int8", "i8"):
            self.matmul("a.npy", "b.npy", "--as", name, "--beta", "2", "--add", "c0.npy", "--verify",
                        "--quiet")
            np.testing.assert_array_equal(self.load("c.npy"),
                                          (exact + 2 * c0.astype(np.int64)).astype(np.int32))

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

    def test_summary(self):
        shares = self.shares()
        self.save("a.npy", random((20, 20), np.float32))
        warm = {"TESSERA_CACHE_DIR": self.path("cache")}
        self.matmul("a.npy", "a.npy", env=warm)  # a first run after compiling has no rate
        r = self.matmul("a.npy", "a.npy", "--verify", env=warm)
        self.assertEqual(r.out, "")
        self.assertRegex(r.err, r"^matmul 20x20x20 float32 on .*: \S+.*, device .*GFLOP/s, "
                                r"(nothing copied, |copied in .* and out .*, )?wall [^,]*, "
                                r"(opened the device in [^,]*, )?(loaded in [^,]*, )?verified.*\n$")
        self.save("b.npy", random((20, 20), np.float32))
        printed = "nothing copied" in self.matmul("a.npy", "b.npy").err
        self.assertEqual(printed, shares and not self.device)
        err = self.matmul("a.npy", "b.npy", "--copy").err
        self.assertNotIn("nothing copied", err)
        self.assertEqual(bool(re.search(r", copied in [\d.]+ [mu]s and out [\d.]+ [mu]s[,\n]", err)),
                         not self.device)
        self.assertEqual(self.matmul("a.npy", "a.npy", "--quiet").err, "")
        self.assertIn("best of 3, median", self.matmul("a.npy", "a.npy", "--repeat", "3").err)

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
        self.assertRegex(r.err, r", streamed in \d+ pieces, copied in [\d.]+ .?s and out [\d.]+ .?s, "
                                r"wall [\d.]+ .?s, .*verified")

    def test_repeat_starts_afresh(self):
        a, c0 = random((5, 5), np.float32), random((5, 5), np.float32, 2)
        self.save("a.npy", a)
        self.save("c0.npy", c0)
        self.matmul("a.npy", "a.npy", "--add", "c0.npy", "--beta", "2", "--repeat", "4")
        self.assertTrue(within_bound(self.load("c.npy"), a, a, 1, c0, 2))

    def test_streamed_batches(self):
        """Batches that do not fit go some products, one product, or parts of one at a time."""
        if self.device:
            self.skipTest("the host has no memory of its own")
        self.save("a.npy", random((2, 30, 30), np.float32))
        args = ("matmul", "a.npy", "a.npy", "-o", "c3.npy", "--copy", "--device-memory")
        for memory, least, most in (("22k", 0, 0), ("21600", 0, 0), ("21599", 10, 100),
                                    ("9K", 4, 100), ("9k", 4, 100), ("1g", 0, 0)):
            r = self.succeed(*args, memory, "--json", "--verify")
            self.assertTrue(least <= json.loads(r.out)["bytes"]["chunks"] <= most, r)
        self.fail_with(1, *args, "400", says="3 rows of op(A) and a column of op(B) need 488 bytes "
                                             "at once, and 400 are allowed")


@unittest.skipUnless(has_opencl(), "no OpenCL device")
class OnDevice(OnHost):
    device = ()

    def test_summary_of_a_first_run(self):
        """A run that compiled says nothing of the rate."""
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
        self.assertEqual(result["build"], "compiled")
        self.assertIsNone(result["rate"])
        parts = sum(times[k] for k in ("probe_ns", "build_ns", "to_device_ns", "device_ns",
                                       "from_device_ns"))
        self.assertLessEqual(parts, times["wall_ns"])
        self.assertGreater(parts, 0.9 * times["wall_ns"])
        self.assertLess(times["device_ns"], 0.2 * times["wall_ns"])

    def test_copies_of_a_streamed_first_call(self):
        """No copy of a later piece waits until the kernel of the first one is compiled."""
        self.save("a.npy", random((300, 300), np.float32))
        cold = {"TESSERA_CACHE_DIR": self.path("cache"), "POCL_CACHE_DIR": self.path("pocl"),
                "POCL_EXTRA_BUILD_FLAGS": None}
        os.mkdir(self.path("pocl"))
        times = json.loads(self.matmul("a.npy", "a.npy", "--kernel", "tiled", "--json", "--copy",
                                       "--device-memory", "100K", env=cold).out)["times"]
        self.assertLess(times["to_device_ns"], 0.15 * times["build_ns"])

    def test_times_of_files(self):
        """Reading and writing have fields of their own, and words where they take long."""
        self.save("a.npy", random((300, 300), np.float32))
        pipe, slow = self.path("pipe.npy"), 0.3
        os.mkfifo(pipe)

        def write_slowly():
            with open(self.path("a.npy"), "rb") as f, open(pipe, "wb") as to:
                time.sleep(slow)
                to.write(f.read())

        writer = threading.Thread(target=write_slowly)
        writer.start()
        r = self.matmul("pipe.npy", "a.npy", "--json")
        writer.join()
        times = json.loads(r.out)["times"]
        self.assertGreaterEqual(times["read_ns"], slow * 1e9 * 0.9)
        self.assertGreater(times["write_ns"], 0)
        self.assertLess(times["first_wall_ns"] + times["read_ns"] + times["write_ns"], 60e9)
        self.assertGreater(times["open_ns"], 0)
        self.assertEqual(times["verify_ns"], 0)
        self.assertRegex(r.err, r", wall [\d.]+ .?s.*, read in [\d.]+ .?s")
        r = self.matmul("a.npy", "a.npy", "--json", "--verify")
        self.assertGreater(json.loads(r.out)["times"]["verify_ns"], 0)

    def test_more_groups_than_a_launch_takes(self):
        """Of 65,535 along the second and third dimension: products, rows and columns beyond."""
        for kernel, a, b in ((("general",), (70000, 2, 1), (70000, 1, 2)),
                             (("tiled", "--set", "TILE=2"), (131080, 1), (1, 2)),
                             (("row-first",), (2, 1), (1, 1048600))):
            self.save("a.npy", random(a, np.float32))
            self.save("b.npy", random(b, np.float32, 2))
            self.matmul("a.npy", "b.npy", "--kernel", *kernel, "--verify", "--copy")

    def test_every_kernel_takes_its_place_in_a_split_launch(self):
        """A group's number is counted in its part of the launch."""
        known = ("SPLITS ? get_group_id(2)",  # of parts of k, of which there are few
                 "all + (ulong)get_group_id(2) *",  # likewise
                 "to = parts + (ulong)get_group_id(2) *",  # likewise, and skinny_of's span is bare
                 "row = get_group_id(1) * TILE")  # of transposes, whose plans refuse more groups
        bare = []
        for path in glob.glob(os.path.join(os.environ["TESSERA_SOURCE"], "cl", "*", "*.cl*")):
            with open(path, encoding="utf-8") as f:
                bare += [(path, line) for line in f
                         if re.search(r"get_(group_id|num_groups|global_size)\([12]\)", line)
                         and "get_global_offset(1)" not in line
                         and not any(text in line for text in known)]
        self.assertEqual(bare, [])

    def test_unsupported_kernel(self):
        self.save("a.npy", random((4, 4), np.float32))
        listing = json.loads(self.succeed("kernels", "matmul", "--json").out)
        v = next(v for v in listing["operations"][0]["variants"] if not v["suited"])
        self.fail_with(1, "matmul", "a.npy", "a.npy", "-o", "c.npy", "--kernel", v["name"],
                       says=v["unsupported"])
        self.assertEqual(self.names(), ["a.npy"])

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
        self.assertRegex(r.out, r"(?m)^FAIL matmul/naive from cl float32 on .*problems: \S")
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


@unittest.skipUnless(has_opencl(), "no OpenCL device")
class RealData(Case):
    """A known answer of data/README.md."""

    def test_digits(self):
        file = os.path.join(DATA, "digits.npy")
        x, labels = np.load(file), np.load(os.path.join(DATA, "digits_labels.npy"))
        self.succeed("matmul", file, file, "--trans-b", "-o", "g.npy", "--verify")
        g = self.load("g.npy")
        square = np.diag(g)
        distance = square[:, None] - 2 * g + square[None, :]
        np.fill_diagonal(distance, np.inf)
        self.assertEqual(int((labels[distance.argmin(axis=1)] == labels).sum()), 1776)


if __name__ == "__main__":
    unittest.main()
