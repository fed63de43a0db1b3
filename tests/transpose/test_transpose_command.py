"""tessera transpose: a matrix in, its transpose out."""

import json
import unittest

import numpy as np

from cli_support import Case

HOST = ("--device", "host", "--quiet")


class Transpose(Case):
    def transpose(self, a, *args):
        np.save(self.path("a.npy"), a)
        self.succeed("transpose", "a.npy", "-o", "b.npy", *HOST, *args)
        return np.load(self.path("b.npy"))

    def test_types_of_every_size(self):
        rng = np.random.default_rng(1)
        for name in ("?", "i1", "u2", "f2", "i4", "f4", "f8", "u8", "c8", "c16", "S3", "S12", "M8[s]"):
            dtype = np.dtype(name)
            a = rng.integers(0, 2, (2, 33, 70 * dtype.itemsize), np.uint8).view(dtype)
            b = self.transpose(a, "--verify")
            self.assertEqual((b.dtype, b.tobytes()),
                             (a.dtype, np.ascontiguousarray(a.swapaxes(1, 2)).tobytes()), name)

    def test_orders_and_shapes(self):
        a = np.random.default_rng(2).standard_normal((40, 9)).astype(np.float32)
        np.testing.assert_array_equal(self.transpose(np.asfortranarray(a)), a.T)
        np.testing.assert_array_equal(self.transpose(a[:, :1]), a[:, :1].T)
        for shape in ((0, 5), (5, 0), (0, 3, 4), (3, 0, 4)):
            self.assertEqual(self.transpose(np.zeros(shape)).shape, (*shape[:-2], shape[-1], shape[-2]))

    def test_in_place(self):
        a = np.random.default_rng(3).standard_normal((2, 130, 130))
        np.testing.assert_array_equal(self.transpose(a, "--in-place", "--verify"), a.swapaxes(1, 2))
        np.save(self.path("a.npy"), a[0, :5])
        self.fail_with(1, "transpose", "a.npy", "-o", "b.npy", "--in-place", *HOST,
                       says="in place a matrix is square, and this one is 5x130")

    def test_what_is_converted_first(self):
        a = np.arange(6).reshape(2, 3)
        b = self.transpose(a, "--as", "f32")
        np.testing.assert_array_equal(b, a.T.astype(np.float32), strict=True)

    def test_what_is_no_matrix(self):
        np.save(self.path("x.npy"), np.float32([1, 2]))
        self.fail_with(1, "transpose", "x.npy", "-o", "b.npy", *HOST,
                       says="x.npy is a vector of 2, and a matrix is needed")
        np.save(self.path("s.npy"), np.zeros((2, 3), "S20"))
        self.fail_with(1, "transpose", "s.npy", "-o", "b.npy", *HOST,
                       says="elements of 20 bytes, and of up to 16 are transposed")
        self.fail_with(2, "transpose", "x.npy", *HOST,
                       says="'-o FILE' says where the transposed matrix goes")

    def test_streamed_in_pieces(self):
        rng = np.random.default_rng(4)
        for shape in ((300, 411), (1, 60000), (60000, 1), (7, 100, 90), (30, 33, 35)):
            a = rng.standard_normal(shape).astype(np.float32)
            np.save(self.path("a.npy"), a)
            r = self.succeed("transpose", "a.npy", "-o", "b.npy", "--device", "cpu", "--copy",
                             "--kernel", "general", "--device-memory", "100K", "--json")
            said = json.loads(r.out)
            self.assertGreater(said["bytes"]["chunks"], 2)
            self.assertNotIn("TILE=0", said["parameters"])
            np.testing.assert_array_equal(np.load(self.path("b.npy")), a.swapaxes(-1, -2))
        np.save(self.path("a.npy"), np.zeros((300, 300), np.float32))
        self.fail_with(1, "transpose", "a.npy", "-o", "b.npy", "--device", "cpu", "--copy",
                       "--in-place", "--device-memory", "100K",
                       says="matrices that are transposed in place need 360000 bytes at once")

    def test_bench(self):
        r = self.succeed("bench", "transpose", "--size", "30x40", "--batch", "3", "--element-bytes",
                         "12", *HOST, "--json")
        row = json.loads(r.out.splitlines()[0])
        self.assertIn("30x40 of 12 bytes x 3", json.dumps(row))
        self.fail_with(2, "bench", "transpose", "--size", "30", "--element-bytes", "17", *HOST,
                       says="a whole number from 1 to 16")


if __name__ == "__main__":
    unittest.main()
