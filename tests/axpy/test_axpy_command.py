"""tessera axpy: two arrays in, their scaled sum out."""

import json
import unittest

import numpy as np

from cli_support import SANITIZED, Case

HOST = ("--device", "host", "--quiet")
ALL = ("float32", "float64", "float16", "int8", "uint8", "int16", "uint16", "int32", "uint32",
       "int64", "uint64")


class Axpy(Case):
    def axpy(self, x, y, *args):
        np.save(self.path("x.npy"), x)
        np.save(self.path("y.npy"), y)
        self.succeed("axpy", "x.npy", "y.npy", "-o", "z.npy", *HOST, *args)
        return np.load(self.path("z.npy"))

    def test_sums_are_those_of_numpy(self):
        rng = np.random.default_rng(1)
        for name in ALL:
            bits = rng.integers(0, 256, (2, 7, 31 * np.dtype(name).itemsize), np.uint8)
            x, y = bits.view(name)
            with np.errstate(all="ignore"):
                z = self.axpy(x, y, "--verify")
                np.testing.assert_array_equal(z, x + y, name, strict=True)
                z = self.axpy(x, y, "--alpha", "-1")
                np.testing.assert_array_equal(z, y - x, name, strict=True)

    def test_integers_wrap(self):
        x = np.int32([2**31 - 1, -2**31, 5])
        np.testing.assert_array_equal(self.axpy(x, x, "--alpha", "3"), x * np.int32(4))
        self.fail_with(1, "axpy", "x.npy", "y.npy", "-o", "z.npy", "--alpha", "0.5", *HOST,
                       says="alpha = 0.5, and for int32 it must be a whole number from -2^63 to 2^63")

    def test_factors_are_not_rounded(self):
        """Whole ones: an integer would be multiplied by another one."""
        x, y = np.array([1, -3]), np.array([0, 0])
        for alpha in -2**63, 2**53, 2**62 + 2**10, -2**53 - 2:
            np.testing.assert_array_equal(self.axpy(x, y, "--alpha=%d" % alpha),
                                          x * np.int64(alpha))
        for alpha in 2**53 + 1, -2**53 - 1, 2**63 - 1:
            self.fail_with(2, "axpy", "x.npy", "y.npy", "-o", "z.npy", "--alpha=%d" % alpha, *HOST,
                           says=("--alpha", str(alpha)))

    def test_problems_at_random_against_numpy(self):
        rng = np.random.default_rng(2)
        for _ in range(40):
            name = str(rng.choice(ALL))
            shape = tuple(rng.integers(0, 9, rng.integers(1, 4)))
            kind = np.dtype(name).kind
            alpha = int(rng.integers(-100, 100)) if kind in "iu" else float(rng.normal())
            x, y = ((rng.standard_normal((2, *shape)) if kind == "f" else
                     rng.integers(0, 100, (2, *shape))).astype(name))
            z = self.axpy(x, y, "--alpha", repr(alpha), "--verify")
            if kind == "f":
                wide = np.float64(alpha) * x.astype(np.float64) + y.astype(np.float64)
                np.testing.assert_allclose(z.astype(np.float64), wide, atol=0.01, rtol=1e-3)
            else:
                exact = alpha * x.astype(object) + y.astype(object)
                wrapped = np.array([int(v) % 2**64 for v in exact.ravel()], np.uint64)
                np.testing.assert_array_equal(z.ravel(), wrapped.astype(name))
            self.assertEqual((z.dtype, z.shape), (np.dtype(name), shape))

    def test_special_values(self):
        x, y = np.float32([np.inf, np.inf, np.nan, 1, -0.0]), np.float32([-np.inf, 1, 1, np.nan, 0])
        np.testing.assert_array_equal(self.axpy(x, y, "--verify"), x + y)
        z = self.axpy(x, y, "--alpha", "0", "--verify")
        self.assertTrue(np.isnan(z[:4]).all() and z[4] == 0)

    def test_the_result_may_take_the_place_of_an_input(self):
        x = np.arange(5, dtype=np.float64)
        np.save(self.path("x.npy"), x)
        np.save(self.path("y.npy"), x)
        self.succeed("axpy", "x.npy", "y.npy", "-o", "y.npy", "--alpha", "2", *HOST)
        np.testing.assert_array_equal(np.load(self.path("y.npy")), 3 * x)

    def test_shapes_and_types_that_differ(self):
        np.save(self.path("x.npy"), np.float32([1, 2]))
        np.save(self.path("y.npy"), np.float32([[1, 2]]))
        np.save(self.path("d.npy"), np.float64([1, 2]))
        self.fail_with(1, "axpy", "x.npy", "y.npy", "-o", "z.npy", *HOST,
                       says="shapes do not match: x.npy is a vector of 2 and y.npy is 1x2")
        self.fail_with(1, "axpy", "x.npy", "d.npy", "-o", "z.npy", *HOST,
                       says="x.npy is float32 and d.npy is float64; --as f32 or --as f64 converts")
        self.fail_with(2, "axpy", "x.npy", "y.npy", *HOST, says="'-o FILE' says where the sum goes")
        self.fail_with(2, "axpy", "x.npy", "-o", "z.npy", *HOST)

    def test_booleans_are_no_numbers(self):
        np.save(self.path("b.npy"), np.array([True, False]))
        self.fail_with(1, "axpy", "b.npy", "b.npy", "-o", "z.npy", *HOST,
                       says="b.npy is bool, and only numbers can be scaled and added")

    def test_streamed_in_pieces(self):
        x = np.random.default_rng(3).standard_normal(100003).astype(np.float32)
        np.save(self.path("x.npy"), x)
        np.save(self.path("y.npy"), x[::-1])
        r = self.succeed("axpy", "x.npy", "y.npy", "-o", "z.npy", "--device", "cpu", "--copy",
                         "--device-memory", "100K", "--json")
        self.assertGreater(json.loads(r.out)["bytes"]["chunks"], 8)
        np.testing.assert_array_equal(np.load(self.path("z.npy")), x + x[::-1])

    def test_bench_in_place(self):
        r = self.succeed("bench", "axpy", "--size", "1000", "--in-place", "--alpha", "3", *HOST,
                         "--json")
        rows = [json.loads(line) for line in r.out.splitlines()]
        self.assertTrue(any("in place" in json.dumps(row) for row in rows), r.out)

    @unittest.skipIf(SANITIZED, "a sanitizer sees tuning in tests of its own")
    def test_tunables_that_calls_choose_are_left_out(self):
        """Of what tune and kernels print for people; in JSON they stand."""
        env = {"TESSERA_TUNING_DIR": self.path("tuning")}
        r = self.succeed("tune", "axpy", "--device", "cpu", "--size", "1000", "--kernel", "general",
                         "--set", "GROUP=0", "--set", "VECTORS=0,1", "--set", "VEC=0", "--budget", "5",
                         env=env)
        self.assertRegex(r.out, r"(?m)^  general  ")
        self.assertRegex(r.out, r"(?m)^  general VECTORS=1  ")
        kernels = ("kernels", "axpy", "--device", "cpu")
        text = self.succeed(*kernels, env=env).out
        self.assertRegex(text, r"\n  tuned for .*: general( VECTORS=1)? \(device entry of ")
        (o,) = json.loads(self.succeed(*kernels, "--json", env=env).out)["operations"]
        self.assertRegex(o["tuning"]["entries"][0]["parameters"], r"^GROUP=0 VECTORS=[01] VEC=0$")


if __name__ == "__main__":
    unittest.main()
