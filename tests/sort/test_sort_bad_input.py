"""Bad input of tessera sort."""

import os
import pty
import unittest

import numpy as np

import test_bad_input


class Bad(test_bad_input.Bad):
    def setUp(self):
        super().setUp()
        self.save("k.npy", np.ones(4, np.int32))


class Operands(Bad):
    def test_ranks(self):
        self.save("good.npy", np.eye(2, dtype=np.float32))
        self.save("v.npy", np.ones(2, np.float32))
        self.save("s.npy", np.float32(1))
        self.refused("sort", "good.npy", "-o", "c.npy",
                     says=("good.npy is 2x2", "vector", "--rows sorts each row"))
        self.save("o.npy", np.array([0, 4], np.uint64))
        self.refused("sort", "good.npy", "-o", "c.npy", "--segments", "o.npy",
                     says=("good.npy is 2x2", "vector", "--segments are stretches of it"))
        self.refused("sort", "v.npy", "-o", "c.npy", "--rows",
                     says=("v.npy is a vector of 2", "--rows"))
        self.refused("sort", "s.npy", "-o", "c.npy", says=("s.npy is a scalar", "vector"))
        self.save("b2.npy", np.zeros((2, 3, 4), np.float32))
        self.refused("sort", "b2.npy", "-o", "c.npy", says="b2.npy is 2x3x4")

    def test_a_stream_that_is_full(self):
        """It is written before a file takes the place of another."""
        self.save("out.npy", np.zeros(2, np.int32))
        self.refused("sort", "k.npy", "-o", "out.npy", "--argsort", "/dev/full",
                     says=("/dev/full", "No space left"))
        self.assertEqual(self.load("out.npy").tolist(), [0, 0])

    def test_values(self):
        def refused(*says, status=1, **values):
            self.save("v.npy", values["v"])
            self.refused("sort", "k.npy", "--values", "v.npy", "--values-out", "w.npy",
                         status=status, says=says)

        refused("v.npy is a vector of 5", "k.npy are a vector of 4", v=np.ones(5))
        refused("v.npy is 2x2", v=np.ones((2, 2)))
        refused("v.npy has 3 float32 for each key", "16 bytes", v=np.ones((4, 3), np.float32))
        refused("v.npy has 4 float64 for each key", v=np.ones((4, 4)))
        refused("v.npy has 0 int8 for each key", v=np.ones((4, 0), np.int8))
        refused("v.npy has 1 |S3 for each key", v=np.zeros(4, "S3"))
        refused("v.npy has 2 <c16 for each key", v=np.zeros((4, 2), "c16"))
        refused("descr: a structured type is not read", v=np.zeros(4, "i4,f4"))
        refused("descr: '|O' is a Python object that is not read; elements of a fixed size are",
                v=np.array([None] * 4))
        self.save("v.npy", np.zeros(4, "c8"))
        self.refused("sort", "k.npy", "--values", "v.npy", "--values-out", "w.mtx",
                     says="output w.mtx: a .mtx file holds real or whole numbers, and v.npy holds "
                          "<c8")
        self.refused("sort", "v.npy", "-o", "w.npy", says="v.npy is complex64, and sort takes int8 to int64")
        self.refused("sort", "k.npy", "--values", "k.npy", "-o", "w.npy", status=2,
                     says="--values k.npy needs --values-out")
        self.refused("sort", "k.npy", "--values-out", "w.npy", status=2,
                     says="--values-out w.npy needs --values")
        self.refused("sort", "k.npy", "--values", "k.npy", "--values-out", "w.npy", "--argsort",
                     "w.npy", status=2, says=("--argsort w.npy", "--values-out w.npy"))
        self.refused("sort", "k.npy", "--values", "no.npy", "--values-out", "w.npy", says="no.npy")
        self.refused("sort", "-", "--values", "-", "--values-out", "w.npy", status=2,
                     says="2 inputs")

    def test_segments(self):
        def refused(offsets, *says):
            self.save("o.npy", offsets)
            self.refused("sort", "k.npy", "--segments", "o.npy", "-o", "c.npy", says=says)

        refused(np.array([0, 3, 2, 4]), "tessera: sort: segment offset 2 is 2, below the 3 of "
                                        "offset 1")
        refused(np.array([1, 4]), "segment offset 0 is 1, not 0")
        refused(np.array([0, 3]), "segment offset 1, the last one, is 3 and must be the number of elements, 4")
        refused(np.array([0, 4, 5]), "segment offset 2, the last one, is 5 and must be the number of elements, 4")
        refused(np.array([0]), "segment offset 0, the last one, is 0 and must be the number of elements, 4")
        refused(np.array([0, -1, 4], np.int8), "tessera: o.npy: element 1 is -1, below 0")
        refused(np.zeros(0, np.uint64), "o.npy is empty: it needs one offset more")
        refused(np.array([0, 4.0]), "o.npy is float64, and must be whole numbers")
        refused(np.zeros((2, 2), int), "o.npy is 2x2, and a vector is needed")
        self.refused("sort", "k.npy", "--segments", "no.npy", "-o", "c.npy", says="no.npy")
        self.save("o.npy", np.array([0, 4]))
        for other in (("--rows",), ("--top", "2")):
            self.refused("sort", "k.npy", "--segments", "o.npy", "-o", "c.npy", *other, status=2,
                         says="--segments o.npy and %s exclude each other" % other[0])
        self.refused("sort", "-", "--segments", "-", "-o", "c.npy", status=2, says="2 inputs")

    def test_type(self):
        self.refused("sort", "k.npy", "-o", "c.npy", "--as", "bf16", status=2,
                     says="--as' takes f32, f64, f16, i8, u8, i16, u16, i32, u32, i64 or u64, not 'bf16'")


class Outputs(Bad):
    def test_same_output(self):
        self.refused("sort", "k.npy", "-o", "c.npy", "--argsort", "c.npy", status=2,
                     says=("-o c.npy", "--argsort c.npy"))
        self.refused("sort", "k.npy", "-o", "n.npy", "--argsort", "./n.npy", status=2)
        os.symlink("c.npy", self.path("l.npy"))
        self.refused("sort", "k.npy", "-o", "c.npy", "--argsort", "l.npy", status=2)

    def test_suffix(self):
        self.refused("sort", "k.npy", "--argsort", "i.idx", status=2, says="output i.idx")

    def test_terminal(self):
        terminal, user = pty.openpty()
        try:
            self.refused("sort", "k.npy", "--argsort", "-", status=2, stdout=user,
                         says=("terminal", "binary", ".mtx"))
        finally:
            os.close(user)
            os.close(terminal)

    def test_one_of_two_outputs_fails(self):
        self.refused("sort", "k.npy", "-o", "new.npy", "--argsort", "no/i.npy", says="no/i.npy")


if __name__ == "__main__":
    unittest.main()
