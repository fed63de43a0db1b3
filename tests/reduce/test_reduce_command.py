"""tessera reduce: arrays in, one number or an array without one of the axes out."""

import json
import unittest

import numpy as np

from cli_support import Case

HOST = ("--device", "host", "--quiet")


class Reduce(Case):
    def reduce(self, x, *args):
        np.save(self.path("x.npy"), x)
        self.succeed("reduce", "x.npy", "-o", "r.npy", *HOST, *args)
        return np.load(self.path("r.npy"))

    def number(self, x, *args):
        result = self.reduce(x, *args)
        self.assertEqual(result.shape, (1,))
        return result[0]

    def test_each_reduction_of_a_whole_array(self):
        x = np.random.default_rng(1).standard_normal((30, 7)).astype(np.float32)
        x[3, 4] = 0
        for by, expected in (("sum", x.sum(dtype=np.float64)), ("mean", x.mean(dtype=np.float64)),
                             ("norm2", np.linalg.norm(x.astype(np.float64))),
                             ("min", x.min()), ("max", x.max()), ("argmin", x.argmin()),
                             ("argmax", x.argmax()), ("any", True), ("all", False),
                             ("count", 209)):
            result = self.number(x, "--by", by, "--verify")
            self.assertAlmostEqual(float(result), float(expected), delta=1e-4)

    def test_types_are_numpys(self):
        numpy_names = {"sum": np.sum, "min": np.min, "argmax": np.argmax, "mean": np.mean,
                       "any": np.any, "count": np.count_nonzero}
        for name in ("int8", "uint8", "int16", "uint32", "int64", "uint64", "float16", "float64",
                     "bool"):
            x = np.random.default_rng(2).integers(0, 2 if name == "bool" else 100, 50).astype(name)
            for by, function in numpy_names.items():
                expected = np.asarray(function(x))
                result = self.number(x, "--by", by)
                self.assertEqual(result.dtype, expected.dtype, (name, by))
                self.assertAlmostEqual(float(result), float(expected), delta=float(expected) / 500)

    def test_axes(self):
        x = np.random.default_rng(3).integers(-9, 9, (5, 6, 7)).astype(np.int32)
        for order in "CF":
            for axis in (0, 1, 2, -1, -3):
                result = self.reduce(np.asarray(x, order=order), "--axis", str(axis))
                np.testing.assert_array_equal(result, x.sum(axis=axis))
                self.assertEqual(result.dtype, np.int64)
        self.assertEqual(self.number(x, "--axis", "all"), x.sum())
        self.assertEqual(self.number(x[0, 0], "--axis", "0"), x[0, 0].sum())
        np.save(self.path("x.npy"), x)
        self.fail_with(1, "reduce", "x.npy", "--axis", "3", *HOST,
                       says="x.npy has axes -3 to 2, and no axis 3")
        self.fail_with(2, "reduce", "x.npy", "--axis", "row", *HOST,
                       says="option '--axis' takes all or a whole number, not 'row'")

    def test_a_name_that_is_nearly_one(self):
        self.fail_with(2, "reduce", "x.npy", "--by", "norm",
                       says="any, all or count, not 'norm': did you mean 'norm2'?")
        r = self.fail_with(2, "reduce", "x.npy", "--by", "variance", says="count, not 'variance'")
        self.assertNotIn("did you mean", r.err)

    def test_axes_without_elements(self):
        for shape, axis in (((0, 4), 0), ((0, 4), 1), ((3, 0), 1), ((2, 0, 5), 0)):
            x = np.zeros(shape, np.float32)
            for by in ("sum", "count"):
                result = self.reduce(x, "--axis", str(axis), "--by", by)
                expected = x.sum(axis=axis)
                np.testing.assert_array_equal(result, expected)

    def test_no_results_have_their_type(self):
        for dtype in (np.float16, np.uint8, np.int64, np.bool_):
            x = np.zeros((4, 0), dtype)
            for by in ("any", "all", "count", "max", "argmin"):
                result = self.reduce(x, "--axis", "0", "--by", by)
                expected = np.count_nonzero(x, axis=0) if by == "count" else getattr(x, by)(axis=0)
                self.assertEqual((result.dtype, result.shape), (expected.dtype, (0,)), by)

    def test_special_values(self):
        x = np.float32([1, np.inf, -2])
        self.assertEqual(self.number(x), np.inf)
        x[0] = np.nan
        for by in ("sum", "min", "max", "mean", "norm2"):
            self.assertTrue(np.isnan(self.number(x, "--by", by)))
        self.assertEqual(self.number(x, "--by", "argmax"), 0)
        self.assertEqual(self.number(x, "--by", "count"), 3)

    def test_of_nothing(self):
        nothing = np.zeros(0, np.float32)
        self.assertEqual(self.number(nothing), 0)
        self.assertTrue(np.isnan(self.number(nothing, "--by", "mean")))
        self.assertEqual(self.number(nothing, "--by", "all"), True)
        for by, what in (("min", "minimum"), ("max", "maximum"), ("argmin", "index of a minimum")):
            self.fail_with(1, "reduce", "x.npy", "-o", "r.npy", "--by", by, *HOST,
                           says="the array is empty, and an empty array has no " + what)

    def test_of_an_axis_without_elements(self):
        """Where there are no results either, as NumPy has it."""
        np.save(self.path("x.npy"), np.zeros((0, 0), np.float32))
        for by, what in (("min", "minimum"), ("argmax", "index of a maximum")):
            self.fail_with(1, "reduce", "x.npy", "-o", "r.npy", "--axis", "1", "--by", by, *HOST,
                           says="an empty array has no " + what)
        self.succeed("reduce", "x.npy", "-o", "r.npy", "--axis", "1", *HOST)
        self.assertEqual(np.load(self.path("r.npy")).shape, (0,))
        np.save(self.path("x.npy"), np.zeros((0, 4), np.float32))
        self.succeed("reduce", "x.npy", "-o", "r.npy", "--axis", "1", "--by", "max", *HOST)
        self.assertEqual(np.load(self.path("r.npy")).shape, (0,))

    def test_the_result_is_printed_where_no_file_is_named(self):
        np.save(self.path("x.npy"), np.float32([[1, 2], [3, np.nan]]))
        self.assertEqual(self.succeed("reduce", "x.npy", "--by", "argmax", *HOST).out, "3\n")
        self.assertEqual(self.succeed("reduce", "x.npy", "--axis", "1", *HOST).out, "3\nnan\n")
        r = self.succeed("reduce", "x.npy", "--axis", "0", "--json", *HOST)
        self.assertEqual(json.loads(r.out)["result"], [4, "nan"])
        r = self.succeed("reduce", "x.npy", "-o", "r.npy", "--json", *HOST)
        self.assertNotIn("result", json.loads(r.out))

    def test_as_few_digits_as_read_back(self):
        for values, printed in ((np.float64([0.05, 0.1, 0.2, 0.362]), "0.178"), (np.float64([1, 0, 0]), "0.3333333333333333"),
                                (np.float32([0.1, 0.2]), "0.15"), (np.float32([1, 0, 0]), "0.33333334")):
            np.save(self.path("m.npy"), values)
            got = self.succeed("reduce", "m.npy", "--by", "mean", *HOST).out
            self.assertEqual(got, printed + "\n")
            self.assertEqual(values.dtype.type(got), self.number(values, "--by", "mean"))

    def test_conversion(self):
        self.assertEqual(self.number(np.arange(3.0)).dtype, np.float64)
        self.assertEqual(self.number(np.arange(3.0), "--as", "f32").dtype, np.float32)

    def test_json_has_the_word(self):
        np.save(self.path("x.npy"), np.float32([3, 1, 2]))
        for args, by in (((), "sum"), (("--by", "min"), "min")):
            r = self.succeed("reduce", "x.npy", "-o", "r.npy", "--json", *HOST, *args)
            problem = json.loads(r.out)["problem"]
            self.assertEqual((problem["n"], problem["by"], problem["description"]),
                             (3, by, "%s of 3 float32" % by))

    def test_a_report_without_results_has_what_was_asked_for(self):
        np.save(self.path("x.npy"), np.zeros((5, 0), np.float32))
        r = self.succeed("reduce", "x.npy", "-o", "r.npy", "--axis", "0", "--by", "max", "--device",
                         "host")
        self.assertIn("reduce max along axis 0 of 5x0 float32 on host", r.err)

    def test_sizes_and_axes_of_bench(self):
        for args, what in ((("--size", "210"), "sum of 210 float32"),
                           (("--size", "30x7"), "sum of 210 float32"),
                           (("--size", "30x7", "--axis", "0"), "sum of each column of 30x7 float32"),
                           (("--size", "30x7", "--axis", "-1"), "sum of each row of 30x7 float32")):
            r = self.succeed("bench", "reduce", *args, "--repeat", "3", "--kernel", "simd", "--json",
                             *HOST)
            self.assertIn(what, r.out)
        self.fail_with(2, "bench", "reduce", "--size", "30x7", "--axis", "2", *HOST,
                       says="--size 30x7 has axes -2 to 1, and no axis 2")
        self.fail_with(2, "bench", "reduce", "--size", "3x4x5", *HOST, says="ROWSxCOLUMNS")

    def pieces(self, x, memory, *args):
        np.save(self.path("x.npy"), x)
        r = self.succeed("reduce", "x.npy", "-o", "r.npy", "--device", "cpu", "--copy", "--verify",
                         "--device-memory", memory, "--json", *args)
        return np.load(self.path("r.npy")), json.loads(r.out)["bytes"]["chunks"]

    def test_arrays_that_device_memory_does_not_hold(self):
        rng = np.random.default_rng(8)
        x = rng.standard_normal((301, 7, 20)).astype(np.float16)
        x[200, 3, 4] = x[100, 3, 4] = -9
        for by, axis, wanted in (("sum", 0, x.sum(0, np.float64)), ("norm2", "all", None),
                                 ("argmin", "all", np.argmin(x))):
            got, count = self.pieces(x, "20K", "--by", by, "--axis", str(axis))
            self.assertGreater(count, 4)
            if wanted is None:
                wanted = np.sqrt((x.astype(np.float64) ** 2).sum())
            np.testing.assert_allclose(got, wanted, rtol=2e-3, atol=2e-2)

    def test_pieces_of_integers_and_rows(self):
        x = np.random.default_rng(9).integers(-2**63, 2**63 - 1, (40, 300), endpoint=True)
        for by, axis, wanted in (("mean", None, x.mean()), ("max", None, x.max()),
                                 ("sum", 1, x.sum(1)), ("argmax", 0, x.argmax(0))):
            got, count = self.pieces(x, "30K", "--by", by, "--axis",
                                     "all" if axis is None else str(axis))
            self.assertGreater(count, 3)
            np.testing.assert_allclose(got, wanted, rtol=1e-12)

    def test_minimum_of_pieces_with_nan(self):
        x = np.ones(5000, np.float32)
        self.assertEqual(self.pieces(x, "4K", "--by", "min")[0], 1)
        x[10] = np.nan
        self.assertTrue(np.isnan(self.pieces(x, "4K", "--by", "min")[0]))

    def test_columns_of_a_matrix_whose_rows_device_memory_does_not_hold(self):
        """Some columns come at a time, each whole: results are those of one piece, to the bit."""
        rng = np.random.default_rng(10)
        wide = rng.standard_normal((3, 6, 1001)).astype(np.float32)
        wide[1, 2, 1000] = wide[2, 4, 0] = np.nan
        for dtype, by in ((np.float32, "sum"), (np.float32, "argmin"), (np.float16, "norm2"),
                          (np.int64, "mean")):
            x = np.nan_to_num(wide * 99).astype(dtype) if dtype == np.int64 else wide.astype(dtype)
            for axis in ("0", "1"):
                got, count = self.pieces(x, "2K", "--by", by, "--axis", axis)
                self.assertGreater(count, 10)
                whole, _ = self.pieces(x, "1G", "--by", by, "--axis", axis)
                np.testing.assert_array_equal(got, whole, (dtype, by, axis))

    def test_device_memory_that_does_not_hold_a_piece(self):
        np.save(self.path("x.npy"), np.ones((40, 1000), np.float32))
        self.fail_with(1, "reduce", "x.npy", "-o", "r.npy", "--device", "cpu", "--copy", "--axis",
                       "0", "--device-memory", "400",
                       says="3 pieces of 40 elements with their results need 492 bytes at once, and "
                            "400 are allowed")

    def test_unknown_reduction(self):
        self.fail_with(2, "reduce", "x.npy", "-o", "r.npy", "--by", "median", *HOST,
                       says=("median", "sum, min, max"))


if __name__ == "__main__":
    unittest.main()
