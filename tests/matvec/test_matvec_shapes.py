"""tessera matvec on batches of any rank: shapes and values of numpy.matvec, but that to a lone
matrix one row is a vector."""

import os
import unittest

import numpy as np

from cli_support import Case

HOST = ("--device", "host", "--quiet")
PROBLEMS = int(os.environ.get("TESSERA_RANDOM", "25"))


class Shapes(Case):
    def test_random_batches(self):
        rng = np.random.default_rng(8)
        for i in range(PROBLEMS):
            full = rng.integers(0, 4, rng.integers(0, 5))
            m, k = rng.integers(int(rng.random() < 0.8), 5), rng.integers(2, 6)

            def operand(*last):
                batch = np.where(rng.random(len(full)) < 0.3, 1, full)
                batch[:1] = np.where(rng.random() < 0.2, 5, batch[:1])
                shape = [*batch[rng.integers(0, len(full) + 1):], *last]
                return rng.integers(-5, 6, shape).astype(np.float32)

            a, x, trans = operand(m, k), operand(k), rng.random() < 0.5
            np.save(self.path("a.npy"), np.swapaxes(a, -1, -2) if trans else a)
            np.save(self.path("x.npy"), x)
            args = ("matvec", "a.npy", "x.npy", "-o", "y.npy", *["--trans"] * trans, *HOST)
            with self.subTest(i, a=a.shape, x=x.shape, trans=trans):
                try:
                    wanted = (a @ x[..., None])[..., 0]
                except ValueError:
                    self.fail_with(1, *args, says="shapes do not match")
                    continue
                if a.ndim == 2 and x.ndim == 2 and len(x) == 1:
                    wanted = wanted[0]
                self.succeed(*args)
                got = np.load(self.path("y.npy"))
                self.assertEqual(got.shape, wanted.shape)
                np.testing.assert_array_equal(got, wanted)


if __name__ == "__main__":
    unittest.main()
