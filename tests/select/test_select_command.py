"""tessera select: what NumPy's boolean indexing has."""

import json
import operator
import unittest

import numpy as np

from cli_support import SANITIZED, Case

HOST = ("--device", "host", "--quiet")
HOLDS = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le,
         "==": operator.eq, "!=": operator.ne}


class Select(Case):
    def select(self, x, where, *args):
        np.save(self.path("x.npy"), x)
        self.succeed("select", "x.npy", "--where", where, "-o", "y.npy", "--indices", "i.npy",
                     "--verify", *HOST, *args)
        return np.load(self.path("y.npy")), np.load(self.path("i.npy"))

    def assert_selects(self, x, where, holds):
        got, indices = self.select(x, where)
        places = np.flatnonzero(holds)
        self.assertEqual((got.dtype, indices.dtype), (x.dtype, np.int64), where)
        np.testing.assert_array_equal(indices, places, where)
        np.testing.assert_array_equal(got, x.reshape(-1)[places], where)

    def test_each_comparison(self):
        r = np.random.default_rng(1)
        for dtype in ("f4", "f2", "i1", "u8"):
            x = r.integers(0, 7, (30, 11)).astype(dtype)
            for name, holds in HOLDS.items():
                self.assert_selects(x, name + "3", holds(x, x.dtype.type(3)))

    def test_long_arrays_on_every_thread(self):
        x = np.random.default_rng(2).standard_normal(400001).astype(np.float32)
        self.assert_selects(x, "> 0.5", x > np.float32(0.5))
        self.assert_selects(x, "> 9", x > 9)

    def test_one_tile_takes_one_launch(self):
        for n, launches in ((4096, 1), (4097, 3)):
            r = self.succeed("bench", "select", "--size", str(n), "--kernel", "three-launches",
                             "--device", "cpu", "--seconds", "0.01", "--json")
            self.assertEqual(json.loads(r.out)["commands"], launches, n)

    def test_floats_compare_with_the_number_in_their_type(self):
        x = np.float32([0.1, 0.2, np.nan, -np.inf, np.inf, -0.0])
        self.assert_selects(x, "== 0.1", x == np.float32(0.1))
        self.assert_selects(x, "== 0", x == 0)
        self.assert_selects(x, "!= 0.1", x != np.float32(0.1))
        self.assert_selects(x, "< inf", x < np.inf)
        self.assert_selects(x, "isnan", np.isnan(x))
        self.assert_selects(x, "notnan", ~np.isnan(x))
        self.assert_selects(x, "== nan", np.zeros(6, bool))
        self.assert_selects(x, "!= nan", np.ones(6, bool))

    def test_integers_compare_with_any_number(self):
        """Also with those that their type does not have."""
        small = np.int8([-128, -1, 0, 1, 127])
        large = np.uint64([0, 1, 2**63, 2**64 - 1])
        for x in (small, large, np.int64([-2**63, 2**63 - 1, 5])):
            exact = [int(e) for e in x]
            numbers = ("-0.5", "127", "-129", "1e30", "9223372036854775807", "18446744073709551615",
                       "99999999999999999999")
            # Types and numbers meet in the release build, where a call takes a tenth of the time.
            for number in numbers[::3] if SANITIZED else numbers:
                value = float(number) if set(number) & set(".e") else int(number)
                for name, holds in HOLDS.items():
                    self.assert_selects(x, "%s %s" % (name, number),
                                        np.array([holds(e, value) for e in exact]))
        beyond = np.int64([2**53, 2**53 + 1, 2**53 + 2, -2**53 - 1])
        self.assert_selects(beyond, "> 9007199254740992.5", beyond > 2**53)
        self.assert_selects(beyond, "== 9007199254740993.0", beyond == 2**53 + 1)
        self.assert_selects(beyond, "< -9007199254740992.5", beyond < -2**53)
        self.assert_selects(small, "> -0.5", small > -1)
        self.assert_selects(small, "== 1.0e0", small == 1)
        for zero in ("-0", "-0.0", "0.0", "-0e0"):
            self.assert_selects(np.uint8([0, 1]), "== " + zero, np.array([True, False]))
        self.assert_selects(small, "> nan", np.zeros(5, bool))
        self.assert_selects(small, "!= nan", np.ones(5, bool))
        self.assert_selects(small, "isnan", np.zeros(5, bool))
        self.assert_selects(small, "notnan", np.ones(5, bool))

    def test_of_nothing_and_nothing_of_it(self):
        self.assert_selects(np.zeros(0, np.float32), "> 0", np.zeros(0, bool))
        self.assert_selects(np.ones((2, 3), np.float32), "> 1", np.zeros(6, bool))

    def test_booleans(self):
        x = np.array([True, False, True])
        self.assert_selects(x, "== 1", x)
        r = self.succeed("select", "x.npy", "--where", "== 1", "-o", "y.npy", "--device",
                         "host")
        self.assertIn("select those == 1 of 3 bool on ", r.err)

    def test_one_output_is_enough(self):
        np.save(self.path("x.npy"), np.float32([3, -1, 2]))
        self.succeed("select", "x.npy", "--where", "> 0", "--indices", "i.npy", *HOST)
        np.testing.assert_array_equal(np.load(self.path("i.npy")), [0, 2])
        self.fail_with(2, "select", "x.npy", "--where", "> 0", *HOST, says="no output")

    def test_conditions_that_are_none(self):
        self.fail_with(2, "select", "x.npy", "-o", "y.npy", "--where", "> 1e400", *HOST,
                       says="a number that float64 holds")
        np.save(self.path("x.npy"), np.float32([3, -1, 2]))
        self.fail_with(2, "select", "x.npy", "-o", "y.npy", *HOST, says="no --where")
        for where in ("0.5", "> ", "> x", "=> 1", "isnan 1", "> 1 2", "= 1"):
            self.fail_with(2, "select", "x.npy", "-o", "y.npy", "--where", where, *HOST,
                           says="a comparison and a number")

    def test_any_order(self):
        x = np.random.default_rng(3).standard_normal(3000).astype(np.float32)
        got, indices = self.select(x, "> 0", "--any-order")
        np.testing.assert_array_equal(got, x[indices])
        np.testing.assert_array_equal(np.sort(indices), np.flatnonzero(x > 0))

    def test_arrays_that_device_memory_does_not_hold(self):
        x = np.random.default_rng(3).standard_normal(3000)
        x[1000:2000] = -1
        np.save(self.path("x.npy"), x)
        r = self.succeed("select", "x.npy", "-o", "y.npy", "--where", "> 0", "--indices", "i.npy",
                         "--device", "cpu", "--copy", "--verify", "--device-memory", "10K", "--json")
        self.assertGreater(json.loads(r.out)["bytes"]["chunks"], 4)
        np.testing.assert_array_equal(np.load(self.path("y.npy")), x[x > 0])
        np.testing.assert_array_equal(np.load(self.path("i.npy")), np.flatnonzero(x > 0))
        self.fail_with(1, "select", "x.npy", "-o", "y.npy", "--where", "> 0", "--device", "cpu",
                       "--copy", "--device-memory", "50",
                       says="3 elements and as many results need 72 bytes at once")

    def test_reports_have_the_condition_as_it_is_spelled_and_the_count(self):
        np.save(self.path("x.npy"), np.int32([3, -1, 2]))
        for where, described, count in ((">=1.5", "those >= 1.5 of 3 int32", 2),
                                        ("< -1e30", "those < -1e30 of 3 int32", 0),
                                        ("notnan", "those notnan of 3 int32", 3)):
            call = ("select", "x.npy", "-o", "y.npy", "--device", "host", "--where", where)
            r = json.loads(self.succeed(*call, "--quiet", "--json").out)
            self.assertEqual((r["problem"]["n"], r["problem"]["description"], r["selected"]),
                             (3, described, count))
            err = self.succeed(*call).err
            self.assertIn("select %s on host" % described, err)
            self.assertIn(", %d selected" % count, err)


if __name__ == "__main__":
    unittest.main()
