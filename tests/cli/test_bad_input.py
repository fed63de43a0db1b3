"""Bad input: each kind its own message, status 1 or 2, and nothing changed or left behind."""

import io
import os
import pty
import resource
import subprocess
import threading
import unittest

import numpy as np

from cli_support import COMMAND, SOURCE, Case, environment, npy

HEADER = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }"
DATA = np.ones((2, 2), np.float32).tobytes()


class Bad(Case):
    def setUp(self):
        super().setUp()
        self.save("good.npy", np.eye(2, dtype=np.float32))
        self.write("c.npy", "kept as it is")

    def refused(self, *args, status=1, says=(), **options):
        """The command fails with a message, and the folder is as it was."""
        before = {n: self.read(n) for n in self.names()}
        r = self.fail_with(status, *args, "--device", "host", says=says, **options)
        self.assertEqual({n: self.read(n) for n in self.names()}, before, r)
        return r.err

    def read(self, name):
        if not os.path.isfile(self.path(name)):
            return None
        with open(self.path(name), "rb") as f:
            return f.read()

    def matmul(self, a, *args, b="good.npy", **options):
        return self.refused("matmul", a, b, "-o", "c.npy", *args, **options)


class Files(Bad):
    def test_missing(self):
        self.matmul("none.npy", says=("none.npy", "No such file"))

    def test_directory(self):
        os.mkdir(self.path("d"))
        self.matmul("d", says=("tessera: d: ", "directory"))

    @unittest.skipIf(os.geteuid() == 0, "permission bits do not bind root")
    def test_unreadable(self):
        os.chmod(self.path(self.write("u.npy", "x")), 0)
        self.fail_with(1, "matmul", "u.npy", "good.npy", "-o", "c.npy", "--device", "host",
                       says=("u.npy", "Permission denied"))

    def test_empty_file(self):
        self.matmul(self.write("e.npy", ""), says=("e.npy", "empty"))

    def test_empty_standard_input(self):
        self.matmul("-", says="tessera: standard input: ")

    def test_standard_input_is_named(self):
        file = io.BytesIO()
        np.save(file, np.ones(3, np.float32))
        self.matmul("-", stdin=file.getvalue(), says="standard input is a vector of 3")
        self.refused("matvec", "good.npy", "-", "-o", "c.npy", stdin=file.getvalue(),
                     says="standard input has 3 elements, not 2")
        file = io.BytesIO()
        np.save(file, np.ones((3, 2)))
        self.matmul("-", stdin=file.getvalue(),
                    says="standard input is float64 and good.npy is float32")
        self.matmul("-", "--as", "f32", "--trans-a", stdin=file.getvalue(),
                    says="standard input is 3x2 transposed")
        huge = npy(HEADER.replace("(2, 2)", "(1000000000, 1000000)"))
        self.matmul("-", stdin=huge, says="tessera: standard input: ")

    def test_not_an_array(self):
        self.matmul(self.write("t.npy", "hello"), says=("t.npy", "neither"))
        self.matmul(self.write("z.npy", b"PK\x03\x04" + b"\0" * 60), says=("z.npy", "zip"))

    def test_each_npy_defect_has_its_own_message(self):
        header = HEADER.replace
        files = {
            "magic": b"\x93NUMPX" + b"\0" * 100,
            "version": npy(HEADER, DATA, version=(9, 0)),
            "short head": b"\x93NUMPY\x01",
            "short header": npy(HEADER, b"", length=5000),
            "huge header": npy(HEADER, DATA, version=(2, 0), length=0xFFFFFFF0),
            "truncated": npy(HEADER, DATA[:-1]),
            "no data": npy(HEADER),
            "trailing": npy(HEADER, DATA + b"x"),
            "negative": npy(header("(2, 2)", "(-2, 2)"), DATA),
            "huge": npy(header("(2, 2)", "(99999999999999999999999, 2)"), DATA),
            "overflow": npy(header("(2, 2)", "(9223372036854775807, 4)"), DATA),
            "beyond memory": npy(header("(2, 2)", "(1000000000, 1000000)"), DATA),
            "rank 65": npy(header("(2, 2)", "(2, 2%s)" % (63 * ", 1")), DATA),
            "object": npy(header("<f4", "|O"), DATA),
            "complex": npy(header("<f4", "<c8"), DATA),
            "structured": npy(header("'<f4'", "[('a', '<f4')]"), DATA),
            "odd size": npy(header("<f4", "<f3"), DATA),
            "no descr": npy("{'fortran_order': False, 'shape': (2, 2), }", DATA),
            "no order": npy("{'descr': '<f4', 'shape': (2, 2), }", DATA),
            "twice": npy(header("{", "{'shape': (2, 2), "), DATA),
            "unknown key": npy(header("{", "{'colour': 1, "), DATA),
            "order": npy(header("False", "1"), DATA),
            "float shape": npy(header("(2, 2)", "(2.0, 2)"), DATA),
            "code": npy("__import__('os').system('true')", DATA),
            "cut": npy(HEADER[:30], DATA),
            "after": npy(HEADER + " x", DATA),
        }
        seen = {}
        for name, content in files.items():
            message = self.matmul(self.write("bad.npy", content), says="tessera: bad.npy: ")
            self.assertNotIn(message, seen, (name, seen.get(message)))
            seen[message] = name

    def test_truncation_at_every_byte(self):
        whole = npy(HEADER, DATA)
        for size in range(0, len(whole), 7):
            self.matmul(self.write("bad.npy", whole[:size]), says="bad.npy")

    def test_each_mtx_defect_has_its_own_message(self):
        banner = "%%MatrixMarket matrix "
        files = {
            "banner": "%%MatrixMarkt matrix array real general\n1 1\n1\n",
            "object": "%%MatrixMarket vector array real general\n1 1\n1\n",
            "format": banner + "dense real general\n1 1\n1\n",
            "complex": banner + "array complex general\n1 1\n1 1\n",
            "hermitian": banner + "coordinate real hermitian\n1 1 1\n1 1 1\n",
            "symmetry": banner + "array real triangular\n1 1\n1\n",
            "no size": banner + "array real general\n",
            "size": banner + "array real general\n2 x\n",
            "negative": banner + "array real general\n-2 2\n",
            "few": banner + "array real general\n2 2\n1\n2\n3\n",
            "many": banner + "array real general\n1 1\n1\n2\n",
            "text": banner + "array real general\n1 2\n1\nfish\n",
            "index": banner + "coordinate real general\n2 2 1\n3 1 1\n",
            "zero": banner + "coordinate real general\n2 2 1\n1 0 1\n",
            "no value": banner + "coordinate real general\n2 2 1\n1 1\n",
            "not square": banner + "array real symmetric\n2 3\n1\n2\n3\n",
            "above": banner + "coordinate real symmetric\n2 2 1\n1 2 1\n",
            "beyond memory": banner + "coordinate real general\n1000000000 1000000000 0\n",
        }
        seen = {}
        for name, content in files.items():
            message = self.matmul(self.write("bad.mtx", content), says="tessera: bad.mtx: ")
            self.assertNotIn(message, seen, (name, seen.get(message)))
            seen[message] = name


class Operands(Bad):
    def test_shapes(self):
        self.save("w.npy", np.ones((3, 4), np.float32))
        self.matmul("w.npy", says=("w.npy is 3x4", "good.npy is 2x2", "4 and 2"))
        self.matmul("good.npy", "--trans-b", b="w.npy", says=("w.npy is 3x4 transposed",))
        self.matmul("good.npy", "--add", "w.npy", "--beta", "1",
                    says=("w.npy is 3x4", "good.npy", "2x2"))
        self.save("v.npy", np.ones(3, np.float32))
        self.refused("matvec", "good.npy", "v.npy", "-o", "c.npy",
                     says=("good.npy is 2x2", "v.npy has 3 elements, not 2"))
        self.save("x.npy", np.ones(2, np.float32))
        self.refused("matvec", "good.npy", "x.npy", "--add", "v.npy", "--beta", "1", "-o", "c.npy",
                     says=("v.npy has 3 elements", "good.npy"))

    def test_ranks(self):
        self.save("v.npy", np.ones(2, np.float32))
        self.save("s.npy", np.float32(1))
        self.matmul("s.npy", says=("s.npy is a scalar", "matrix"))
        self.save("w.npy", np.ones((2, 3), np.float32))
        self.refused("matvec", "good.npy", "w.npy", "-o", "c.npy",
                     says=("good.npy is 2x2", "w.npy has 3 elements a row, not 2", "matmul"))
        self.refused("sort", "good.npy", "-o", "c.npy",
                     says=("good.npy is 2x2", "vector", "--rows sorts each row"))
        self.save("o.npy", np.array([0, 4], np.uint64))
        self.refused("sort", "good.npy", "-o", "c.npy", "--segments", "o.npy",
                     says=("good.npy is 2x2", "vector", "--segments are stretches of it"))
        self.refused("sort", "v.npy", "-o", "c.npy", "--rows",
                     says=("v.npy is a vector of 2", "--rows"))
        self.refused("sort", "s.npy", "-o", "c.npy", says=("s.npy is a scalar", "vector"))

    def test_types(self):
        self.save("d.npy", np.eye(2))
        self.matmul("d.npy", says=("d.npy is float64", "good.npy is float32", "--as"))
        self.save("i.npy", np.eye(2, dtype=np.int64))
        self.refused("matmul", "i.npy", "i.npy", "-o", "c.npy",
                     says=("i.npy is int64, and matmul takes float16, bfloat16, float32 or "
                           "float64; --as f32",))
        self.save("h.npy", np.ones(2, np.int8))
        self.save("m.npy", np.eye(2, dtype=np.int8))
        self.refused("matvec", "m.npy", "h.npy", "-o", "c.npy",
                     says=("m.npy is int8, and matvec takes float16, bfloat16, float32 or "
                           "float64; --as f32",))

    def test_values(self):
        def refused(*says, status=1, **values):
            self.save("v.npy", values["v"])
            self.refused("sort", "k.npy", "--values", "v.npy", "--values-out", "w.npy",
                         status=status, says=says)

        self.save("k.npy", np.ones(4, np.int32))
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
        self.refused("sort", "v.npy", "-o", "w.npy", says="'<c8' is a complex number that is not")
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

        self.save("k.npy", np.ones(4, np.int32))
        refused(np.array([0, 3, 2, 4]), "tessera: sort: segment offset 2 is 2, below the 3 of "
                                        "offset 1")
        refused(np.array([1, 4]), "segment offset 0 is 1, not 0")
        refused(np.array([0, 3]), "segment offset 1, the last one, is 3, and there are 4 keys")
        refused(np.array([0, 4, 5]), "segment offset 2, the last one, is 5, and there are 4 keys")
        refused(np.array([0]), "segment offset 0, the last one, is 0, and there are 4 keys")
        refused(np.array([0, -1, 4], np.int8), "tessera: o.npy: element 1 is -1, below 0")
        refused(np.zeros(0, np.uint64), "o.npy is empty, and needs one offset more")
        refused(np.array([0, 4.0]), "o.npy is float64, and whole numbers are needed")
        refused(np.zeros((2, 2), int), "o.npy is 2x2, and a vector is needed")
        self.refused("sort", "k.npy", "--segments", "no.npy", "-o", "c.npy", says="no.npy")
        self.save("o.npy", np.array([0, 4]))
        for other in (("--rows",), ("--top", "2")):
            self.refused("sort", "k.npy", "--segments", "o.npy", "-o", "c.npy", *other, status=2,
                         says="--segments o.npy and %s exclude each other" % other[0])
        self.refused("sort", "-", "--segments", "-", "-o", "c.npy", status=2, says="2 inputs")

    def test_precision(self):
        self.matmul("good.npy", "--precision", "f64", status=2,
                    says=("f64", "float32", "--as f64"))
        self.save("d.npy", np.eye(2))
        self.matmul("d.npy", "--precision", "f32", b="d.npy", status=2,
                    says=("float64", "--as f32"))

    def test_precision_of_matmul(self):
        """What no kernel of matvec gives, whichever is named: the command line is wrong."""
        self.save("v.npy", np.ones(2, np.float32))
        for name in ("bf16", "f16"):
            for kernel in ((), ("--kernel", "contiguous")):
                err = self.refused("matvec", "good.npy", "v.npy", "-o", "c.npy", "--precision",
                                   name, *kernel, status=2)
                self.assertEqual(err, "tessera: matvec: precision %s does not go with float32 "
                                      "operands of matvec: matmul alone rounds factors\n" % name)

    def test_two_bytes_without_a_meaning(self):
        self.save("v2.npy", np.zeros((2, 2), "V2"))
        self.refused("matmul", "v2.npy", "v2.npy", "-o", "c.npy",
                     says=("v2.npy holds two bytes", "--as bf16"))
        self.refused("matmul", "v2.npy", "v2.npy", "--as", "f32", "-o", "c.npy",
                     says=("v2.npy holds two bytes", "--as bf16"))
        self.refused("sort", "v2.npy", "-o", "c.npy", "--as", "bf16", status=2,
                     says="--as' takes f32, f64 or f16, not 'bf16'")

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
        self.matmul("d.npy", "--out-type", "f32", b="d.npy", says="C is float64")

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
        self.refused("sort", "b2.npy", "-o", "c.npy", says="b2.npy is 2x3x4")

    def test_batches_of_vectors(self):
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
        self.refused("matvec", "v4.npy", "v4.npy", "-o", "c.npy", says="v4.npy is a vector of 4, and a matrix is needed")
        self.save("d.npy", np.eye(2))
        self.save("e.npy", np.ones(2))
        self.refused("matvec", "d.npy", "e.npy", "-o", "c.npy", "--out-type", "f32",
                     says="y is float64")

    def test_product_beyond_memory(self):
        self.save("tall.npy", np.zeros((10**7, 1), np.float32))
        self.refused("matmul", "tall.npy", "tall.npy", "--trans-b", "-o", "c.npy",
                     says=("10000000x10000000 float32", "bytes"))

    def test_product_overflows(self):
        self.write("a.npy", npy("{'descr': '<f4', 'fortran_order': False, "
                                "'shape': (4611686018427387904, 0), }"))
        self.write("b.npy", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (0, 9), }"))
        self.refused("matmul", "a.npy", "b.npy", "-o", "c.npy")


class Outputs(Bad):
    def test_same_output(self):
        self.save("k.npy", np.arange(3, dtype=np.float32))
        self.refused("sort", "k.npy", "-o", "c.npy", "--argsort", "c.npy", status=2,
                     says=("-o c.npy", "--argsort c.npy"))
        self.refused("sort", "k.npy", "-o", "n.npy", "--argsort", "./n.npy", status=2)
        os.symlink("c.npy", self.path("l.npy"))
        self.refused("sort", "k.npy", "-o", "c.npy", "--argsort", "l.npy", status=2)

    def test_missing_folder(self):
        self.refused("matmul", "good.npy", "good.npy", "-o", "no/c.npy",
                     says="no/c.npy: cannot create: there is no folder 'no'")

    def test_suffix(self):
        for name in ("c.txt", "c.NPY", "c.npy.gz", "d/c.csv"):
            self.refused("matmul", "good.npy", "good.npy", "-o", name, status=2,
                         says=("output " + name, ".npy", ".mtx"))
        self.save("k.npy", np.arange(3, dtype=np.float32))
        self.refused("sort", "k.npy", "--argsort", "i.idx", status=2, says="output i.idx")
        os.mkfifo(self.path("p.fifo"))
        self.refused("matmul", "none", "good.npy", "-o", "p.fifo", says="none")
        os.mkdir(self.path("v1.0"))
        for name in ("/dev/null", "plain", ".hidden", "v1.0/plain", "dot."):
            self.succeed("matmul", "good.npy", "good.npy", "-o", name, "--device", "host")

    def test_terminal(self):
        terminal, user = pty.openpty()
        try:
            for args in (("matmul", "good.npy", "good.npy", "-o", "-"),
                         ("sort", "good.npy", "--argsort", "-")):
                self.refused(*args, status=2, stdout=user, says=("terminal", "binary", ".mtx"))
        finally:
            os.close(user)
            os.close(terminal)

    def test_directory(self):
        os.mkdir(self.path("d"))
        self.refused("matmul", "good.npy", "good.npy", "-o", "d", says="d: ")

    @unittest.skipIf(os.geteuid() == 0, "permission bits do not bind root")
    def test_unwritable_folder(self):
        os.mkdir(self.path("d"), 0o500)
        self.refused("matmul", "good.npy", "good.npy", "-o", "d/c.npy", says="Permission denied")

    def test_full_device(self):
        self.refused("matmul", "good.npy", "good.npy", "-o", "/dev/full",
                     says=("/dev/full", "No space left"))
        with open("/dev/full", "wb") as full:
            self.refused("matmul", "good.npy", "good.npy", "-o", "-", stdout=full,
                         says=("standard output", "No space left"))
            r = self.tessera("matmul", "good.npy", "good.npy", "-o", "x.npy", "--json", "--quiet",
                             "--device", "host", stdout=full)
            self.assertEqual(r.status, 1, r)

    def test_full_device_of_a_table(self):
        """The cause, where standard output was flushed long before its end too."""
        for args in (("bench", "sort", "--size", "64", "--repeat", "1"), ("kernels", "--json")):
            with open("/dev/full", "wb") as full:
                r = self.tessera(*args, "--device", "host", stdout=full)
            self.assertEqual(r.status, 1, r)
            self.assertIn("No space left on device", r.err)
            self.assertNotIn("write error", r.err)

    def test_control_characters_stay_off_the_terminal(self):
        escape = "\x1b[2J\x9b1m\x7f\a.npy"
        for args in ((escape,), ("matmul", escape, escape, "-o", "x.npy"),
                     ("matmul", "good.npy", "good.npy", "-o", "none/" + escape),
                     ("matmul", "--" + escape), ("bench", "sort", "--size", escape),
                     ("verify", "sort", "--kernel", escape),
                     ("devices", "--device", escape),
                     ("kernels", "sort", "--set", escape), ("compare", escape),
                     ("help", escape)):
            r = self.tessera(*args)
            self.assertNotEqual(r.status, 0, r)
            self.assertIn("?[2J", r.err)
            self.assertNotRegex(r.err, "[\x00-\x09\x0b-\x1f\x7f-\x9f]")

    def test_bytes_of_a_terminal_of_eight_bits(self):
        """A name that is no UTF-8."""
        done = subprocess.run([COMMAND, "compare", b"\x9b1m.json"], cwd=self.folder,
                              env=environment(), stderr=subprocess.PIPE, timeout=60)
        self.assertNotIn(b"\x9b", done.stderr)

    def test_a_folder_deeper_than_a_path_is_long(self):
        """A short relative name works there, also through a link and of a file that exists."""
        top = os.open(self.folder, os.O_RDONLY)
        self.addCleanup(os.close, top)
        here = os.getcwd()
        try:
            os.chdir(self.folder)
            for _ in range(25):
                os.mkdir("d" * 200)
                os.chdir("d" * 200)
            np.save("a.npy", np.eye(3, dtype=np.float32))
            os.symlink("c.npy", "link.npy")
            for out in ("c.npy", "c.npy", "link.npy"):
                done = subprocess.run(
                    [COMMAND, "matmul", "a.npy", "a.npy", "-o", out, "--device", "host", "--quiet"],
                    env=environment(), stderr=subprocess.PIPE, timeout=60)
                self.assertEqual((done.returncode, done.stderr), (0, b""))
                self.assertTrue(os.path.islink("link.npy"))
                self.assertEqual(np.load("c.npy").trace(), 3)
                self.assertEqual(sorted(os.listdir(".")), ["a.npy", "c.npy", "link.npy"])
        finally:
            os.chdir(here)

    def test_a_long_path_leaves_the_cause(self):
        path = "/".join(["p" * 200] * 9)
        self.matmul(path, says=("tessera: ppp", ": cannot open: No such file or directory"))

    def test_limit_on_file_sizes(self):
        """The system's signal for it is ignored, so that the write fails and says why."""
        self.save("big.npy", np.ones((64, 64), np.float32))
        before = self.names()
        done = subprocess.run(
            [COMMAND, "matmul", "big.npy", "big.npy", "-o", "out.npy", "--device", "host"],
            cwd=self.folder, env=environment(), stderr=subprocess.PIPE, timeout=60,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)))
        self.assertEqual((done.returncode, done.stderr),
                         (1, b"tessera: out.npy: cannot write: File too large\n"))
        self.assertEqual(self.names(), before)

    def test_threads_without_number(self):
        """More of them than can be started would end the process."""
        self.save("big.npy", np.ones((200, 200), np.float32))
        for variant in ("openmp", "ijk"):
            self.succeed("matmul", "big.npy", "big.npy", "-o", "out.npy", "--verify", "--device",
                         "host", "--kernel", variant, env={"OMP_NUM_THREADS": "999999"})

    def test_pipe_is_written_in_place(self):
        os.mkfifo(self.path("pipe"))
        got = []

        def read():
            with open(self.path("pipe"), "rb") as f:
                got.append(f.read())

        reader = threading.Thread(target=read)
        reader.start()
        self.succeed("matmul", "good.npy", "good.npy", "-o", "pipe", "--device", "host")
        reader.join()
        self.assertTrue(got[0].startswith(b"\x93NUMPY"))
        self.assertTrue(got[0].endswith(np.eye(2, dtype=np.float32).tobytes()))
        self.assertEqual(self.names(), ["c.npy", "good.npy", "pipe"])

    def test_gone_reader(self):
        """Quiet, as with any command in a pipe, and no temporary file is left."""
        with open(os.path.join(SOURCE, "data", "results", "bench-host-epyc2.jsonl"), "rb") as f:
            self.write("rows", f.readline())
        for args in (("matmul", "good.npy", "good.npy", "-o", "-"), ("kernels",),
                     ("kernels", "sort", "--json"), ("devices",), ("cache",), ("--help",),
                     ("matmul", "good.npy", "good.npy", "-o", "new.npy", "--quiet", "--json"),
                     ("compare", "rows"), ("compare", "rows", "--html", "page"),
                     ("bench", "sort", "--size", "64", "--repeat", "1"),
                     ("bench", "sort", "--size", "64", "--repeat", "1", "--json"),
                     ("bench", "sort", "--size", "64", "--repeat", "1", "--csv")):
            names = self.names()
            reader, writer = os.pipe()
            os.close(reader)
            r = self.tessera(*args, stdout=writer, env={"TESSERA_DEVICE": "host"})
            os.close(writer)
            self.assertEqual((r.status, r.err), (141, ""), r)
            self.assertLessEqual(set(self.names()), {*names, "page", "new.npy"})

    def test_closed_standard_output(self):
        done = subprocess.run(["sh", "-c", '"$0" matmul good.npy good.npy -o new.npy --json >&-',
                               COMMAND], cwd=self.folder, stderr=subprocess.PIPE,
                              env=environment(TESSERA_DEVICE="host"))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertTrue(np.array_equal(self.load("new.npy"), np.eye(2)))

    def test_one_of_two_outputs_fails(self):
        self.save("k.npy", np.arange(3, dtype=np.float32))
        self.refused("sort", "k.npy", "-o", "new.npy", "--argsort", "no/i.npy", says="no/i.npy")

    def test_replaced_whole(self):
        os.chmod(self.path("c.npy"), 0o640)
        self.succeed("matmul", "good.npy", "good.npy", "-o", "c.npy", "--device", "host")
        self.assertTrue(np.array_equal(self.load("c.npy"), np.eye(2)))
        self.assertEqual(os.stat(self.path("c.npy")).st_mode & 0o777, 0o640)
        self.assertEqual(self.names(), ["c.npy", "good.npy"])


if __name__ == "__main__":
    unittest.main()
