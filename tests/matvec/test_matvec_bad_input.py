"""Bad input of tessera matvec."""

import io
import unittest

import numpy as np

import test_bad_input


class Operands(test_bad_input.Bad):
    def setUp(self):
        super().setUp()
        self.save("good.npy", np.eye(2, dtype=np.float32))

    def test_standard_input_is_named(self):
        file = io.BytesIO()
        np.save(file, np.ones(3, np.float32))
        self.refused("matvec", "good.npy", "-", "-o", "c.npy", stdin=file.getvalue(),
                     says="standard input has 3 elements, not 2")

    def test_shapes(self):
        self.save("v.npy", np.ones(3, np.float32))
        self.refused("matvec", "good.npy", "v.npy", "-o", "c.npy",
                     says=("good.npy is 2x2", "v.npy has 3 elements, not 2"))
        self.save("x.npy", np.ones(2, np.float32))
        self.refused("matvec", "good.npy", "x.npy", "--add", "v.npy", "--beta", "1", "-o", "c.npy",
                     says=("v.npy has 3 elements", "good.npy"))

    def test_ranks(self):
        self.save("w.npy", np.ones((2, 3), np.float32))
        self.refused("matvec", "good.npy", "w.npy", "-o", "c.npy",
                     says=("good.npy is 2x2", "w.npy has 3 elements a row, not 2", "matmul"))

    def test_types(self):
        self.save("h.npy", np.ones(2, np.int8))
        self.save("m.npy", np.eye(2, dtype=np.int8))
        self.refused("matvec", "m.npy", "h.npy", "-o", "c.npy",
                     says=("m.npy is int8, and matvec takes float16, bfloat16, float32 or "
                           "float64; --as f32",))

    def test_precision(self):
        """What no kernel of matvec gives, whichever is named: the command line is wrong."""
        self.save("v.npy", np.ones(2, np.float32))
        for name in ("bf16", "f16"):
            for kernel in ((), ("--kernel", "contiguous")):
                err = self.refused("matvec", "good.npy", "v.npy", "-o", "c.npy", "--precision",
                                   name, *kernel, status=2)
                self.assertEqual(err, "tessera: matvec: precision %s does not go with float32 "
                                      "operands of matvec: matmul alone rounds factors\n" % name)

    def test_batches(self):
        for name, shape in (("b2.npy", (2, 3, 4)), ("x3.npy", (3, 4)), ("x2.npy", (2, 5)),
                            ("v5.npy", 5), ("v4.npy", 4), ("y3.npy", 3), ("s.npy", ())):
            self.save(name, np.zeros(shape, np.float32))
        for x, says in (("x3.npy", ("b2.npy is 2x3x4 and x3.npy is 3x4", "batches of 2 and 3")),
                        ("x2.npy", ("b2.npy is 2x3x4", "x2.npy has 5 elements a row, not 4")),
                        ("v5.npy", ("b2.npy is 2x3x4", "v5.npy has 5 elements, not 4")),
                        ("b2.npy", ("b2.npy is 2x3x4 and b2.npy is 2x3x4", "batches of 2 and 3")),
                        ("s.npy", ("s.npy is a scalar, and a vector is needed",))):
            self.refused("matvec", "b2.npy", x, "-o", "c.npy", says=says)
        self.refused("matvec", "b2.npy", "v4.npy", "-o", "c.npy", "--trans",
                     says=("b2.npy is 2x3x4 transposed", "v4.npy has 4 elements, not 3"))
        self.refused("matvec", "b2.npy", "v4.npy", "--add", "y3.npy", "--beta", "1", "-o", "c.npy",
                     says="y3.npy is a vector of 3 and the product of b2.npy and v4.npy is 2x3")
        self.refused("matvec", "v4.npy", "v4.npy", "-o", "c.npy",
                     says="v4.npy is a vector of 4, and a matrix is needed")
        self.save("d.npy", np.eye(2))
        self.save("e.npy", np.ones(2))
        self.refused("matvec", "d.npy", "e.npy", "-o", "c.npy", "--out-type", "f32",
                     says="y must be float64")


if __name__ == "__main__":
    unittest.main()
