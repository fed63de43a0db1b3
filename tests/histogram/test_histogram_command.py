"""tessera histogram: an array in, counts out, as numpy.histogram has them."""

import json
import unittest

import numpy as np

from cli_support import Case, has_opencl

HOST = ("--device", "host", "--quiet")


class Histogram(Case):
    def histogram(self, x, *args):
        np.save(self.path("x.npy"), x)
        self.succeed("histogram", "x.npy", "-o", "h.npy", *HOST, *args)
        result = np.load(self.path("h.npy"))
        self.assertEqual(result.dtype, np.int64)
        return result.tolist()

    def refuse(self, status, *args, says):
        self.fail_with(status, "histogram", "x.npy", "-o", "h.npy", *HOST, *args, says=says)

    def test_ten_bins_from_the_least_to_the_largest(self):
        x = np.random.default_rng(1).standard_normal((30, 7))
        self.assertEqual(self.histogram(x), np.histogram(x)[0].tolist())

    def test_edges_belong_to_the_bin_above_and_the_last_to_the_one_below(self):
        x = np.float32([0, 1, 1, 2, 3, 3.5, -1])
        self.assertEqual(self.histogram(x, "--bins", "3", "--range", "0:3"), [1, 2, 2])

    def test_nan_and_what_is_outside_is_not_counted(self):
        x = np.float64([np.nan, -np.inf, np.inf, 0.5, 7])
        self.assertEqual(self.histogram(x, "--bins", "2", "--range", "0:1"), [0, 1])
        for value, name in ((np.nan, "NaN"), (np.inf, "an infinity")):
            np.save(self.path("x.npy"), np.float64([1, value]))
            self.refuse(1, says="x.npy holds %s as element 1, and so its elements have no range" % name)

    def test_of_nothing_and_of_one_value(self):
        self.assertEqual(self.histogram(np.zeros(0, np.float32)), [0] * 10)
        x = np.full(5, 3, np.int16)
        self.assertEqual(self.histogram(x, "--bins", "4"), np.histogram(x, 4)[0].tolist())
        self.assertEqual(self.histogram(x, "--bins", "4", "--range", "3:3"), [0, 0, 5, 0])

    def test_edges_of_a_file(self):
        x = np.random.default_rng(2).integers(0, 20, 500).astype(np.uint8)
        for edges in ([0, 3, 3, 7, 19], [2.5, 300.5], [-5, 0.1, 0.2, 8, 8]):
            np.save(self.path("e.npy"), np.array(edges))
            self.assertEqual(self.histogram(x, "--edges", "e.npy", "--verify"),
                             np.histogram(x, np.array(edges))[0].tolist())

    def test_edges_that_are_refused(self):
        np.save(self.path("x.npy"), np.zeros(3))
        for edges, says in (([1, 2, 0.5], "e.npy: edge 2 is 0.5, below the 2 before it"),
                            ([0, np.nan], "e.npy: edge 1 is NaN"),
                            ([4], "e.npy has 1 edge,"),
                            ([[1, 2], [3, 4]], "a vector is needed")):
            np.save(self.path("e.npy"), np.array(edges, float))
            self.refuse(1, "--edges", "e.npy", says=says)
        self.refuse(2, "--edges", "e.npy", "--bins", "3", says="--bins and --edges exclude each other")

    def test_whole_edges_that_float64_rounds_are_refused(self):
        """Where elements have as many bits: others are never equal to them."""
        np.save(self.path("x.npy"), np.array([5, 2**53 + 1]))
        for edges in ([0, 2**53], [-2**60, -1, 3]):
            np.save(self.path("e.npy"), np.array(edges))
            self.refuse(1, "--edges", "e.npy", says=["e.npy: edge", "from 2^53 on", "save the edges as float64"])
        x = np.array([5, 2**31 - 1], np.int32)
        self.assertEqual(self.histogram(x, "--edges", "e.npy"), [0, 0])
        np.save(self.path("e.npy"), np.array([0, 2**53 + 2], float))
        self.assertEqual(self.histogram(np.array([5, 2**53 + 1]), "--edges", "e.npy"), [2])

    def test_bad_bins_and_ranges(self):
        np.save(self.path("x.npy"), np.zeros(3))
        self.refuse(2, "--bins", "0", says="'--bins' takes a whole number from 1 on, not '0'")
        for value in ("2:1", "nan:1", "0:inf", "1", "0:", "0:1:2"):
            self.refuse(2, "--range", value, says="takes two finite numbers, LOW:HIGH")
        self.refuse(1, "--range", "-1e308:1e308", says="too far")

    def test_bins_for_more_than_memory_are_refused(self):
        np.save(self.path("x.npy"), np.zeros(3))
        self.refuse(1, "--bins", str(2**60), says="the edges, a vector of %d float64" % (2**60 + 1))

    def weighted(self, x, w, *args):
        np.save(self.path("x.npy"), x)
        np.save(self.path("w.npy"), w)
        self.succeed("histogram", "x.npy", "-o", "h.npy", "--weights", "w.npy", *HOST, *args)
        return np.load(self.path("h.npy"))

    def test_weights_are_added_up_in_their_type(self):
        rng = np.random.default_rng(4)
        x = rng.standard_normal((40, 50)).astype(np.float32)
        for dtype, result in ((np.float16, np.float32), (np.float32, np.float32),
                              (np.float64, np.float64), (np.int8, np.int64),
                              (np.uint32, np.int64), (np.int64, np.int64), (np.uint64, np.int64)):
            w = (rng.random(x.shape) * 100).astype(dtype)
            got = self.weighted(x, w, "--bins", "9", "--verify")
            self.assertEqual(got.dtype, result)
            np.testing.assert_allclose(got, np.histogram(x, 9, weights=w.astype(result))[0],
                                       rtol=1e-12 if got.dtype != np.float32 else 1e-6)

    def test_weights_of_what_is_outside_do_not_count(self):
        x = np.float32([-1, 0.5, 1.5, np.nan, 9])
        w = np.float64([np.nan, 2, np.inf, np.nan, -np.inf])
        self.assertEqual(self.weighted(x, w, "--bins", "2", "--range", "0:2").tolist(), [2, np.inf])

    def test_weights_that_are_refused(self):
        np.save(self.path("x.npy"), np.zeros((2, 3)))
        for weights, says in ((np.zeros(6), "x.npy is 2x3 and w.npy is a vector of 6: "
                                            "each element needs one weight"),
                              (np.full((2, 3), 2**63, np.uint64),
                               "w.npy: weight 0 is 9223372036854775808"),
                              (np.ones((2, 3), np.complex64),
                               "w.npy is complex64, and weights are added up as real numbers")):
            np.save(self.path("w.npy"), weights)
            self.refuse(1, "--weights", "w.npy", says=says)

    def test_counting_kernels_have_no_sums(self):
        np.save(self.path("x.npy"), np.zeros(3, np.float32))
        np.save(self.path("w.npy"), np.zeros(3))
        for kernel, says in (("copies", "it counts elements, and does not add up weights"),
                             ("naive", "it adds by 32-bit atomics, and the weights are float64")):
            self.fail_with(1, "histogram", "x.npy", "-o", "h.npy", "--weights", "w.npy", "--kernel",
                           kernel, "--device", "cpu", says=says)

    def test_sums_have_the_same_bits_every_time_and_in_pieces_the_bound(self):
        rng = np.random.default_rng(6)
        x, w = rng.random(200000).astype(np.float32), rng.random(200000).astype(np.float32)
        once = self.weighted(x, w)
        self.assertEqual(once.tobytes(), self.weighted(x, w).tobytes())
        r = self.succeed("histogram", "x.npy", "-o", "p.npy", "--weights", "w.npy", "--device",
                         "cpu", "--kernel", "own", "--copy", "--device-memory", "600K", "--verify",
                         "--json")
        self.assertGreater(json.loads(r.out)["bytes"]["chunks"], 2)
        np.testing.assert_allclose(np.load(self.path("p.npy")), once, rtol=1e-5)

    @unittest.skipUnless(has_opencl(), "no OpenCL device")
    def test_groups_of_several_work_items_on_a_cpu(self):
        """As PoCL optimizes them, which tests of kernels mostly do without."""
        x = np.random.default_rng(4).integers(0, 100, 5000).astype(np.uint8)
        for kernel, kind in (("copies", "f32"), ("few", "f32"), ("bytes", "u8")):
            for n in (10, 5000):
                with self.subTest(kernel, n=n):
                    self.save("x.npy", x[:n])
                    self.succeed("histogram", "x.npy", "-o", "c.npy", "--bins", "7", "--range", "0:100",
                                 "--as", kind, "--kernel", kernel, "--set", "GROUP=32", "--device",
                                 "cpu", "--verify", env={"POCL_EXTRA_BUILD_FLAGS": ""})
                    np.testing.assert_array_equal(
                        self.load("c.npy"), np.histogram(x[:n], 7, (0, 100))[0])

    def test_json(self):
        np.save(self.path("x.npy"), np.arange(9, dtype=np.uint16))
        r = self.succeed("histogram", "x.npy", "-o", "h.npy", "--json", *HOST, "--bins", "3")
        problem = json.loads(r.out)["problem"]
        self.assertEqual((problem["n"], problem["bins"], problem["uneven"], problem["description"]),
                         (9, 3, False, "9 uint16 in 3 bins"))

    def test_weights_are_files_that_sizes_do_not_have(self):
        self.fail_with(2, "bench", "histogram", "--weights", "w.npy",
                       says="histogram has no --weights, which belongs to grayscale: did you mean "
                       "--weighted?")


if __name__ == "__main__":
    unittest.main()
