"""Bad input of tessera matmul."""

import io
import subprocess
import unittest

import numpy as np

import test_bad_input
from cli_support import COMMAND, SANITIZED, environment, npy


class Bad(test_bad_input.Bad):
    def setUp(self):
        super().setUp()
        self.save("good.npy", np.eye(2, dtype=np.float32))

    def matmul(self, a, *args, b="good.npy", **options):
        return self.refused("matmul", a, b, "-o", "c.npy", *args, **options)


class Operands(Bad):
    def test_standard_input_is_named(self):
        file = io.BytesIO()
        np.save(file, np.ones(3, np.float32))
        self.matmul("-", stdin=file.getvalue(), says="standard input is a vector of 3")
        file = io.BytesIO()
        np.save(file, np.ones((3, 2)))
        self.matmul("-", stdin=file.getvalue(),
                    says="standard input is float64 and good.npy is float32")
        self.matmul("-", "--as", "f32", "--trans-a", stdin=file.getvalue(),
                    says="standard input is 3x2 transposed")
        huge = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000, 1000000), }")
        self.matmul("-", stdin=huge, says="tessera: standard input: ")

    def test_shapes(self):
        self.save("w.npy", np.ones((3, 4), np.float32))
        self.matmul("w.npy", says=("w.npy is 3x4", "good.npy is 2x2", "4 and 2"))
        self.matmul("good.npy", "--trans-b", b="w.npy", says=("w.npy is 3x4 transposed",))
        self.matmul("good.npy", "--add", "w.npy", "--beta", "1",
                    says=("w.npy is 3x4", "good.npy", "2x2"))

    def test_ranks(self):
        self.save("s.npy", np.float32(1))
        self.matmul("s.npy", says=("s.npy is a scalar", "matrix"))

    def test_types(self):
        self.save("d.npy", np.eye(2))
        self.matmul("d.npy", says=("d.npy is float64", "good.npy is float32", "--as"))
        self.save("i.npy", np.eye(2, dtype=np.int64))
        self.refused("matmul", "i.npy", "i.npy", "-o", "c.npy",
                     says=("i.npy is int64, and matmul takes int8, float16, bfloat16, float8_e4m3fn, float8_e5m2, complex64, "
                           "complex128, float32 or float64; --as f32 or --as f64 converts, and --as i8 where its "
                           "values fit",))

    def test_int8(self):
        self.save("i.npy", np.eye(2, dtype=np.int8))
        self.refused("matmul", "i.npy", "good.npy", "-o", "c.npy",
                     says=("i.npy is int8", "good.npy is float32"))
        self.refused("matmul", "i.npy", "i.npy", "-o", "c.npy", "--alpha", "0.5",
                     says="alpha is 0.5, and for int8 operands it must be a whole number of 32 bits")
        self.refused("matmul", "i.npy", "i.npy", "-o", "c.npy", "--alpha", "nan",
                     says="alpha is nan, and for int8")
        self.refused("matmul", "i.npy", "i.npy", "-o", "c.npy", "--beta", "2147483648", "--add", "i.npy",
                     says="i.npy is int8, and what is added to int8 products is int32")
        self.save("c0.npy", np.eye(2, dtype=np.int32))
        self.refused("matmul", "i.npy", "i.npy", "-o", "c.npy", "--beta", "2147483648", "--add", "c0.npy",
                     says="beta is 2.14748e+09, and for int8")
        self.refused("matmul", "i.npy", "i.npy", "-o", "c.npy", "--out-type", "f32",
                     says="C must be int32, since the operands are int8")
        self.refused("matmul", "i.npy", "i.npy", "-o", "c.npy", "--precision", "f32", status=2,
                     says="precision f32 does not go with int8 operands; --as f32")
        self.refused("matmul", "good.npy", "good.npy", "-o", "c.npy", "--precision", "i8", status=2,
                     says="precision i8 does not go with float32 operands; --as i8 converts them")
        self.save("i.npy", np.array([[1, 2], [128, 3]]))
        self.refused("matmul", "i.npy", "i.npy", "-o", "c.npy", "--as", "int8",
                     says="i.npy: element 2 is 128, and int8 has the whole numbers from -128 to 127")
        self.save("i.npy", np.array([[1, 2.5]]))
        self.refused("matmul", "i.npy", "i.npy", "-o", "c.npy", "--as", "int8",
                     says="i.npy: element 1 is 2.5, and int8 has")

    def test_fp8(self):
        self.save("bytes.npy", np.zeros((2, 2), "V1"))
        for flags in ((), ("--as", "f16")):
            self.refused("matmul", "bytes.npy", "bytes.npy", "-o", "c.npy", *flags,
                         says="bytes.npy holds a byte an element and not what it means; --as f8e4m3")
        both = ("matmul", "good.npy", "good.npy", "-o", "c.npy")
        self.refused(*both, "--out-type", "bf16",
                     says="bfloat16 as the type of C needs FP8 operands, and these are float32")
        self.refused(*both, "--as", "f8e4m3", "--precision", "bf16", status=2,
                     says="precision bf16 does not go with float8_e4m3fn operands")
        self.refused(*both, "--precision", "f8", status=2, says="precision f8 does not go with float32 operands; --as f8e4m3 or f8e5m2")
        self.refused("matvec", "good.npy", "good.npy", "-o", "c.npy", "--as", "f8e4m3", status=2,
                     says="f8e4m3")

    def test_scales(self):
        fp8 = ("matmul", "good.npy", "good.npy", "-o", "c.npy", "--as", "f8e4m3")
        self.save("s3.npy", np.ones(3, np.float32))
        self.refused(*fp8, "--scale-a", "s3.npy", says="s3.npy is a vector of 3, and op(A) has 2 rows, each with a scale")
        self.refused(*fp8, "--scale-b", "s3.npy", says="s3.npy is a vector of 3, and op(B) has 2 columns")
        self.save("one.npy", np.float32(1))
        self.refused(*fp8, "--scale-b", "one.npy", says="one.npy is a scalar")
        self.save("z.npy", np.ones(2, np.complex64))
        self.refused(*fp8, "--scale-a", "z.npy", says="z.npy is complex64, and scales must be float32")
        self.save("bytes.npy", np.zeros(2, "V1"))
        self.refused(*fp8, "--scale-a", "bytes.npy", says="bytes.npy is float8_e4m3fn, and scales must be float32")
        self.save("wide.npy", np.array([1, 1e300]))
        self.refused(*fp8, "--scale-a", "wide.npy", says="wide.npy: 1 of 2 scales are infinite as float32")
        self.save("s.npy", np.ones(2, np.float32))
        self.refused("matmul", "good.npy", "good.npy", "-o", "c.npy", "--scale-a", "s.npy",
                     says="s.npy: only rows of FP8 have scales, and the matrices are float32; --as f8e4m3")
        self.refused(*fp8, "--scaled-a", status=2, says="--scaled-a")
        self.refused(*fp8, "--scale-a", "none.npy", says="none.npy")
        self.refused("bench", "matmul", "--scaled-b", "--size", "4", status=2,
                     says="only FP8 operands have scales, and these are float32")

    def test_complex(self):
        self.save("z.npy", np.eye(2, dtype="complex64"))
        self.save("w.npy", np.eye(2, dtype="complex128"))
        self.save("r.npy", np.eye(2, dtype="float32"))
        self.refused("matmul", "z.npy", "w.npy", "-o", "c.npy", says="and complex matrices go with")
        self.refused("matmul", "z.npy", "z.npy", "-o", "c.npy", "--as", "f32",
                     says="from complex64 to float32 would lose the imaginary parts")
        self.refused("matmul", "z.npy", "z.npy", "-o", "c.mtx", says="not complex64")
        self.refused("matmul", "r.npy", "r.npy", "-o", "c.npy", "--conj-a",
                     says="need complex operands, and these are float32")
        self.refused("matmul", "z.npy", "z.npy", "-o", "c.npy", "--beta-im", "1", status=2,
                     says="--beta-im 1 needs --add FILE")
        self.refused("matmul", "z.npy", "z.npy", "-o", "c.npy", "--add", "z.npy", "--beta-im", "0",
                     status=2, says="--beta")
        self.refused("matmul", "z.npy", "z.npy", "-o", "c.npy", "--alpha-im", "1e39",
                     says="alpha_im = 1e+39")
        self.refused("matvec", "z.npy", "z.npy", "-o", "c.npy",
                     says="z.npy is complex64, and matvec takes float16, bfloat16, float32 or float64")

    def test_precision(self):
        self.matmul("good.npy", "--precision", "f64", status=2,
                    says=("f64", "float32", "--as f64"))
        self.save("d.npy", np.eye(2))
        self.matmul("d.npy", "--precision", "f32", b="d.npy", status=2,
                    says=("float64", "--as f32"))

    def test_two_bytes_without_a_meaning(self):
        self.save("v2.npy", np.zeros((2, 2), "V2"))
        self.refused("matmul", "v2.npy", "v2.npy", "-o", "c.npy",
                     says=("v2.npy holds two bytes", "--as bf16"))
        self.refused("matmul", "v2.npy", "v2.npy", "--as", "f32", "-o", "c.npy",
                     says=("v2.npy holds two bytes", "--as bf16"))

    def test_types_and_precisions(self):
        self.save("h.npy", np.eye(2, dtype=np.float16))
        self.matmul("h.npy", "--precision", "f32", b="h.npy", status=2,
                    says=("float16", "--as f32"))
        self.matmul("h.npy", "--precision", "bf16", b="h.npy", status=2,
                    says=("float16", "--as f32"))
        self.matmul("h.npy", says=("h.npy is float16 and good.npy is float32",))
        self.matmul("h.npy", "--add", "h.npy", "--beta", "1", "--out-type", "f32", b="h.npy",
                    says=("h.npy is float16, and with --out-type f32", "float32"))
        self.save("d.npy", np.eye(2))
        self.matmul("d.npy", "--out-type", "f32", b="d.npy", says="C must be float64")

    def test_batches(self):
        self.save("b2.npy", np.zeros((2, 3, 4), np.float32))
        self.save("b3.npy", np.zeros((3, 4, 5), np.float32))
        self.save("m.npy", np.zeros((4, 5), np.float32))
        self.refused("matmul", "b2.npy", "b3.npy", "-o", "c.npy",
                     says=("b2.npy is 2x3x4", "b3.npy is 3x4x5", "batches of 2 and 3"))
        self.refused("matmul", "b2.npy", "b2.npy", "-o", "c.npy", says="inner lengths 4 and 3")
        self.refused("matmul", "b2.npy", "m.npy", "--add", "m.npy", "--beta", "1", "-o", "c.npy",
                     says=("m.npy is 4x5 and the product of b2.npy and m.npy is 2x3x5",))
        self.refused("matmul", "b2.npy", "m.npy", "-o", "c.mtx",
                     says=("c.mtx: a .mtx file holds one matrix", "2x3x5"))

    def test_product_beyond_memory(self):
        self.save("tall.npy", np.zeros((10**7, 1), np.float32))
        self.refused("matmul", "tall.npy", "tall.npy", "--trans-b", "-o", "c.npy",
                     says=("10000000x10000000 float32", "bytes"))

    def test_product_overflows(self):
        self.write("a.npy", npy("{'descr': '<f4', 'fortran_order': False, "
                                "'shape': (4611686018427387904, 0), }"))
        self.write("b.npy", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (0, 9), }"))
        self.refused("matmul", "a.npy", "b.npy", "-o", "c.npy")

    def test_threads_without_number(self):
        """More of them than can be started would end the process."""
        self.save("big.npy", np.ones((200, 200), np.float32))
        for variant in ("openmp", "ijk"):
            self.succeed("matmul", "big.npy", "big.npy", "-o", "out.npy", "--verify", "--device",
                         "host", "--kernel", variant, env={"OMP_NUM_THREADS": "999999"})

    @unittest.skipIf(SANITIZED, "a sanitizer takes more address space")
    def test_threads_without_address_space(self):
        """Of 60 MB eight threads with stacks of 8 MiB have too little."""
        self.save("big.npy", np.ones((200, 200), np.float32))
        done = subprocess.run(
            ["bash", "-c", 'ulimit -s 8192 -v 60000; exec "$@"', "bash", COMMAND, "matmul", "big.npy",
             "big.npy", "-o", "out.npy", "--device", "host", "--kernel", "openmp"],
            cwd=self.folder, env=environment(OMP_NUM_THREADS="999"), stderr=subprocess.PIPE,
            check=False, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
