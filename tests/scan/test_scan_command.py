"""tessera scan: what NumPy's cumsum, minimum.accumulate and maximum.accumulate have."""

import json
import unittest

import numpy as np

from cli_support import Case, has_opencl

HOST = ("--device", "host", "--quiet")
TYPES = ("f4", "f8", "f2", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "?")
ACCUMULATE = {"sum": np.add, "min": np.minimum, "max": np.maximum}


def type_of_sums(x):
    return x.dtype if x.dtype.kind == "f" else np.uint64 if x.dtype.kind == "u" else np.int64


def expected(x, axis, by, exclusive, reverse):
    """Along an axis; of None the whole array in its order.  Sums of floats in float64."""
    line = x.reshape(-1) if axis is None else x
    along = 0 if axis is None else axis
    if reverse:
        line = np.flip(line, along)
    exact = np.float64 if x.dtype.kind == "f" else type_of_sums(x)
    result = ACCUMULATE[by].accumulate(line, axis=along, **({"dtype": exact} if by == "sum" else {}))
    if exclusive:
        identity = {"sum": 0, "min": np.inf, "max": -np.inf}[by]
        if by != "sum" and x.dtype.kind in "iu":
            identity = np.iinfo(x.dtype).max if by == "min" else np.iinfo(x.dtype).min
        result = np.roll(result, 1, along)
        if result.shape[along]:
            np.moveaxis(result, along, 0)[0] = identity
    if reverse:
        result = np.flip(result, along)
    return result.reshape(x.shape)


class Scan(Case):
    def scan(self, x, *args):
        np.save(self.path("x.npy"), x)
        self.succeed("scan", "x.npy", "-o", "s.npy", *HOST, "--verify", *args)
        return np.load(self.path("s.npy"))

    def assert_scan(self, x, axis=None, by="sum", exclusive=False, reverse=False):
        args = ["--by", by]
        args += ["--axis", str(axis)] if axis is not None else []
        args += ["--exclusive"] if exclusive else []
        args += ["--reverse"] if reverse else []
        got = self.scan(x, *args)
        wanted = expected(x, axis, by, exclusive, reverse)
        self.assertEqual(got.dtype, type_of_sums(x) if by == "sum" else x.dtype, args)
        self.assertEqual(got.shape, x.shape, args)
        if x.dtype.kind == "f" and by == "sum":
            unit = np.finfo(x.dtype).eps
            bound = unit * (1 + np.sum(np.abs(x), dtype=np.float64))
            np.testing.assert_allclose(got.astype(np.float64), wanted, rtol=0, atol=bound)
        else:
            np.testing.assert_array_equal(got, wanted)

    def test_each_type_along_each_axis(self):
        r = np.random.default_rng(1)
        for number, dtype in enumerate(TYPES):
            x = (r.integers(0, 2, (3, 5, 4)) if dtype == "?" else
                 r.integers(0, 100, (3, 5, 4))).astype(dtype)
            for axis in (None, 0, 1, -1):
                by = list(ACCUMULATE)[number % 3]
                self.assert_scan(np.asfortranarray(x) if axis == 0 else x, axis, by,
                                 exclusive=axis == 1 and dtype != "?", reverse=axis == -1)
            self.assert_scan(x, 1)

    def test_long_lines_on_every_thread(self):
        r = np.random.default_rng(2)
        x = r.integers(-1000, 1000, 500009).astype(np.int32)
        for reverse in (False, True):
            for exclusive in (False, True):
                self.assert_scan(x, None, "sum", exclusive, reverse)
        self.assert_scan(x.astype(np.float32), None, "max", True, True)

    def test_segments(self):
        x = np.arange(1, 11, dtype=np.int32)
        np.save(self.path("o.npy"), np.array([0, 3, 3, 10]))
        got = self.scan(x, "--segments", "o.npy")
        np.testing.assert_array_equal(got, [1, 3, 6, 4, 9, 15, 22, 30, 39, 49])
        got = self.scan(x, "--segments", "o.npy", "--exclusive", "--reverse")
        np.testing.assert_array_equal(got, [5, 3, 0, 45, 40, 34, 27, 19, 10, 0])

    def test_segments_before_the_operation(self):
        """Who they belong to says what they are: lengths by name, of an operation that sorts."""
        self.succeed("bench", "--segments", "4", "scan", "--size", "8", "--repeat", "1",
                     "--seconds", "0.01", *HOST)

    def test_segments_that_are_wrong(self):
        np.save(self.path("x.npy"), np.float32([1, 2, 3]))
        np.save(self.path("table.npy"), np.ones((3, 3), np.float32))
        call = ("scan", "x.npy", "-o", "s.npy", "--segments", "o.npy", *HOST)
        for offsets, message in (([1, 3], "segment offset 0 is 1, not 0"),
                                 ([0, 2, 1, 3], "segment offset 2 is 1, below the 2 of offset 1"),
                                 ([0, 2], "the last one, is 2 and must be the number of elements, 3"),
                                 ([], "o.npy is empty")):
            np.save(self.path("o.npy"), np.array(offsets, np.int64))
            self.fail_with(1, *call, says=message)
        np.save(self.path("o.npy"), np.array([0, 9]))
        self.fail_with(1, "scan", "table.npy", "-o", "s.npy", "--segments", "o.npy", *HOST,
                       says="table.npy is 3x3, and a vector is needed; --segments are stretches")
        self.fail_with(2, *call, "--axis", "0", says="exclude each other")

    def test_special_values(self):
        x = np.float32([1, np.inf, -2, np.nan, 3])
        np.testing.assert_array_equal(self.scan(x), np.float32([1, np.inf, np.inf, np.nan, np.nan]))
        np.testing.assert_array_equal(self.scan(x, "--by", "min"),
                                      np.float32([1, 1, -2, np.nan, np.nan]))

    def test_sums_of_integers_wrap(self):
        x = np.uint8([200, 100, 3])
        np.testing.assert_array_equal(self.scan(x), np.uint64([200, 300, 303]))
        got = self.scan(x, "--same-type")
        self.assertEqual(got.dtype, np.uint8)
        np.testing.assert_array_equal(got, np.uint8([200, 44, 47]))
        most = np.int64([2**63 - 1, 1])
        np.testing.assert_array_equal(self.scan(most), np.int64([2**63 - 1, -2**63]))

    @unittest.skipUnless(has_opencl(), "no OpenCL device")
    def test_sums_have_the_same_bits_each_time(self):
        """Whichever tiles they meet on their way back."""
        np.save(self.path("x.npy"), np.random.default_rng(4).standard_normal(300007).astype("f4"))
        results = set()
        for _ in range(6):
            self.succeed("scan", "x.npy", "-o", "s.npy", "--device", "cpu", "--kernel", "look-back",
                         "--set", "GROUP=4", "--set", "ITEMS=2", "--quiet")
            results.add(np.load(self.path("s.npy")).tobytes())
        self.assertEqual(len(results), 1)

    def test_axis_that_is_none(self):
        np.save(self.path("x.npy"), np.ones((2, 3), np.float32))
        for axis in ("2", "-3"):
            self.fail_with(1, "scan", "x.npy", "-o", "s.npy", "--axis", axis, *HOST,
                           says="x.npy is 2x3, and has 2 dimensions")
        for axis in ("one", "1.5", "", "99"):
            self.fail_with(2, "scan", "x.npy", "-o", "s.npy", "--axis", axis, *HOST, says="--axis")

    def test_sums_of_booleans_in_their_type_are_bytes(self):
        np.save(self.path("b.npy"), np.array([True, False, True]))
        self.succeed("scan", "b.npy", "-o", "s.npy", "--same-type", *HOST)
        np.testing.assert_array_equal(np.load(self.path("s.npy")), np.uint8([1, 1, 2]), strict=True)
        self.succeed("scan", "b.npy", "-o", "s.npy", "--by", "min", *HOST)
        np.testing.assert_array_equal(np.load(self.path("s.npy")), [True, False, False], strict=True)

    def pieces(self, x, memory, *args):
        np.save(self.path("x.npy"), x)
        r = self.succeed("scan", "x.npy", "-o", "s.npy", "--device", "cpu", "--copy", "--verify",
                         "--device-memory", memory, "--json", *args)
        return np.load(self.path("s.npy")), json.loads(r.out)["bytes"]["chunks"]

    def test_columns_of_a_matrix_whose_rows_device_memory_does_not_hold(self):
        """Some columns come at a time, each whole: results are those of one piece, to the bit."""
        wide = np.random.default_rng(10).standard_normal((3, 6, 1001)).astype(np.float32)
        wide[1, 2, 1000] = wide[2, 4, 0] = np.nan
        for dtype, args in ((np.float32, ()), (np.float16, ("--exclusive",)), (np.int8, ("--reverse",)),
                            (np.float32, ("--by", "min"))):
            x = np.nan_to_num(wide * 9).astype(dtype) if dtype == np.int8 else wide.astype(dtype)
            for axis in ("0", "1"):
                got, count = self.pieces(x, "4K", "--axis", axis, *args)
                self.assertGreater(count, 10)
                whole, _ = self.pieces(x, "1G", "--axis", axis, *args)
                np.testing.assert_array_equal(got, whole, (dtype, args, axis))

    def test_arrays_that_device_memory_does_not_hold(self):
        rng = np.random.default_rng(8)
        x = rng.integers(-100, 100, 10000).astype(np.int8)
        half = rng.standard_normal((400, 9)).astype(np.float16)
        before = np.concatenate([[0], np.cumsum(x)[:-1]])
        for array, args, wanted in (
                (x, ("--exclusive",), before),
                (x, ("--reverse",), np.cumsum(x[::-1])[::-1]),
                (half, ("--axis", "0"), np.cumsum(half, 0, np.float64)),
                (half, ("--axis", "1"), np.cumsum(half, 1, np.float64)),
                (half, ("--axis", "0", "--by", "min"), np.minimum.accumulate(half))):
            got, count = self.pieces(array, "5K", *args)
            self.assertGreater(count, 3)
            np.testing.assert_allclose(got, wanted, rtol=2e-3, atol=1e-2)

    def test_segments_in_pieces(self):
        rng = np.random.default_rng(9)
        for dtype, count, by, args in (
                ("i4", 2, "sum", ()), ("i4", 300, "sum", ("--exclusive",)),
                ("f4", 40, "sum", ("--reverse",)), ("f4", 3000, "max", ("--reverse",)),
                ("f2", 50, "sum", ("--exclusive", "--reverse")), ("i1", 9, "min", ("--exclusive",)),
                ("i4", 7, "sum", ("--same-type",)), ("f8", 1, "sum", ())):
            x = rng.integers(-9, 9, 5000).astype(dtype)
            inner = np.sort(rng.integers(0, 5001, count - 1))
            np.save(self.path("o.npy"), np.concatenate([[0], inner, [5000]]))
            args = ("--segments", "o.npy", "--by", by, *args)
            whole = self.scan(x, *args)
            for memory in ("1K", "5K"):
                got, pieces = self.pieces(x, memory, *args)
                self.assertGreater(pieces, 3)
                np.testing.assert_array_equal(got, whole)

    def test_json_has_the_words(self):
        np.save(self.path("x.npy"), np.ones((2, 3, 4), np.float32))
        r = self.succeed("scan", "x.npy", "-o", "s.npy", "--json", "--axis", "1", "--reverse", *HOST)
        problem = json.loads(r.out)["problem"]
        self.assertEqual([problem[k] for k in ("outer", "n", "inner", "by", "reverse", "exclusive")],
                         [2, 3, 4, "sum", True, False])
        self.assertEqual(problem["description"], "sum of 2x3x4 float32 from the end")

    def test_what_it_adds_up_by_is_its_own(self):
        """reduce has an option of this name, with more values."""
        for call in (("scan", "x.npy", "-o", "s.npy"), ("bench", "scan"), ("tune", "scan")):
            self.fail_with(2, *call, "--by", "mean", says="'--by' takes sum, min or max, not 'mean'")


if __name__ == "__main__":
    unittest.main()
