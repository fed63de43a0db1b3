"""tessera sort on arrays of any rank, along their last dimension, and on booleans: what NumPy's
sort and stable argsort have."""

import os
import unittest

import numpy as np

from cli_support import Case

HOST = ("--device", "host", "--quiet")
PROBLEMS = int(os.environ.get("TESSERA_RANDOM", "15"))


class Shapes(Case):
    def assert_first(self, keys, count, *args):
        """Sorted keys, their indices and what comes with them, of each row the first `count`."""
        order = np.argsort(keys, axis=-1, kind="stable")[..., :count]
        values = np.arange(keys.size, dtype=np.int16).reshape(keys.shape)
        np.save(self.path("k.npy"), keys)
        np.save(self.path("v.npy"), values)
        self.succeed("sort", "k.npy", "-o", "s.npy", "--argsort", "i.npy", "--values", "v.npy",
                     "--values-out", "w.npy", *args, *HOST)
        for name, source, dtype in (("s.npy", keys, keys.dtype), ("i.npy", None, np.int64),
                                    ("w.npy", values, np.int16)):
            got = np.load(self.path(name))
            self.assertEqual((got.dtype, got.shape), (dtype, order.shape), name)
            np.testing.assert_array_equal(
                got, order if source is None else np.take_along_axis(source, order, -1))

    def test_random_rows(self):
        rng = np.random.default_rng(9)
        for i in range(PROBLEMS):
            shape = rng.integers(int(rng.random() < 0.8), 4, rng.integers(2, 7))
            keys = rng.integers(0, 3, shape).astype(rng.choice(["?", "i1", "u8", "f4"]))
            if rng.random() < 0.5:
                keys = np.asfortranarray(keys)
            with self.subTest(i, shape=keys.shape, dtype=keys.dtype):
                self.assert_first(keys, keys.shape[-1], "--rows", "--verify")
                self.assert_first(keys, 2, "--rows", "--top", "2")

    def test_booleans(self):
        keys = np.random.default_rng(10).random(50) < 0.4
        self.assert_first(keys, 50)
        self.assert_first(keys, 7, "--top", "7")
        for top, said in (("50", False), ("51", True)):
            r = self.succeed("sort", "k.npy", "-o", "s.npy", "--top", top, "--device", "host")
            self.assertEqual("hint: --top 51: there are 50 keys, and the result has all" in r.err, said)
        self.succeed("sort", "k.npy", "-o", "s.npy", "--descending", *HOST)
        np.testing.assert_array_equal(np.load(self.path("s.npy")), np.sort(keys)[::-1])
        self.succeed("sort", "k.npy", "-o", "s.npy", "--as", "f32", *HOST)
        got = np.load(self.path("s.npy"))
        self.assertEqual(got.dtype, np.float32)
        np.testing.assert_array_equal(got, np.sort(keys))
        self.succeed("sort", "k.npy", "-o", "s.npy", "--as", "u8", *HOST)
        got = np.load(self.path("s.npy"))
        self.assertEqual(got.dtype, np.uint8)
        np.testing.assert_array_equal(got, np.sort(keys))

    def test_booleans_of_other_bytes_are_true(self):
        """Any byte but 0 is, to NumPy; what is written is 0 or 1."""
        np.save(self.path("k.npy"), np.uint8([2, 0, 255, 1]).view(bool))
        self.succeed("sort", "k.npy", "-o", "s.npy", "--argsort", "i.npy", *HOST)
        np.testing.assert_array_equal(np.load(self.path("s.npy")).view(np.uint8), [0, 1, 1, 1])
        np.testing.assert_array_equal(np.load(self.path("i.npy")), [1, 0, 2, 3])

    def test_booleans_where_they_are_no_numbers(self):
        np.save(self.path("k.npy"), np.uint8([3, 1, 2]))
        np.save(self.path("o.npy"), np.array([False, True]))
        self.fail_with(1, "sort", "k.npy", "-o", "s.npy", "--segments", "o.npy", *HOST,
                       says="o.npy is bool, and must be whole numbers")


if __name__ == "__main__":
    unittest.main()
