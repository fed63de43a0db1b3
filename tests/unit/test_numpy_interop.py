"""NumPy as an independent reader and writer of .npy, and of the values of .mtx.

ARRAY_TOOL names the program built from array_tool.c.
"""

import io
import os
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy as np
except ImportError:
    sys.exit(77)

TOOL = os.environ["ARRAY_TOOL"]
TYPES = ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
SHAPES = [(), (0,), (1,), (5,), (0, 3), (3, 0), (1, 1), (1, 7), (7, 1), (3, 5), (65, 33),
          (2, 3, 4), (1, 5, 1), (3, 1, 2), (0, 2, 3), (2, 3, 0), (33, 2, 40), (2, 3, 4, 5),
          (3, 2, 1, 4, 2), (2, 0, 3, 1), (1,) * 29 + (2, 3, 4)]


def sample(dtype, shape):
    """Every bit pattern has the same chance: NaN payloads, denormals and both zeros included."""
    dtype = np.dtype(dtype)
    count = int(np.prod(shape))
    random = np.random.default_rng(count + dtype.itemsize)
    return random.integers(0, 256, count * dtype.itemsize, np.uint8).view(dtype).reshape(shape)


class Interop(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)

    def path(self, name):
        return os.path.join(self.directory.name, name)

    def tool(self, *arguments, data=None):
        return subprocess.run([TOOL, *arguments], input=data, capture_output=True, timeout=60)

    def copy(self, source, target, *arguments):
        said, = self.copy_all([(source, target)], *arguments)
        return said

    def copy_all(self, pairs, *arguments):
        """In one process, which takes longer to start than to copy an array: what it said of each."""
        done = self.tool(*(path for pair in pairs for path in pair), *arguments)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        said = done.stdout.decode().splitlines()
        self.assertEqual(len(said), len(pairs))
        return said

    def assert_same(self, found, expected):
        """Same type (in this host's order), shape and bits."""
        self.assertEqual(found.dtype, expected.dtype.newbyteorder("="))
        self.assertEqual(found.shape, expected.shape)
        native = np.ascontiguousarray(expected.astype(found.dtype)).reshape(expected.shape)
        self.assertEqual(found.tobytes(), native.tobytes())

    def test_every_type_shape_version_and_order(self):
        cases = [(kind, order, shape, version, layout)
                 for kind in TYPES for order in "<>" for shape in SHAPES
                 # The header's version and what follows it do not interact.
                 for version in ([(1, 0), (2, 0), (3, 0)] if shape == (3, 5) else [(1, 0)])
                 for layout in "CF"]
        pairs = [(self.path(f"in{i}.npy"), self.path(f"out{i}.npy")) for i in range(len(cases))]
        # Integers are byte-swapped as bits; floats too, so NaN payloads survive.
        bits = [sample("u" + kind[1], shape) for kind, _, shape, _, _ in cases]
        for values, (source, _), (kind, order, _, version, layout) in zip(bits, pairs, cases):
            array = np.asarray(values.astype(order + "u" + kind[1]), order=layout).view(order + kind)
            with open(source, "wb") as file:
                np.lib.format.write_array(file, array, version)
        for said, values, (_, target), case in zip(self.copy_all(pairs), bits, pairs, cases):
            with self.subTest(case=case):
                kind, _, shape, _, _ = case
                found = np.load(target, allow_pickle=False)
                native = np.dtype(kind)
                self.assertEqual(said, f"{native.name} {shape}")
                self.assertEqual(found.dtype, native)
                self.assertEqual(found.shape, shape)
                self.assertEqual(found.view("u" + kind[1]).tobytes(), values.tobytes())

    def test_written_header_is_version_1_and_aligned(self):
        for shape in SHAPES:
            np.save(self.path("in.npy"), np.zeros(shape, "f4"))
            self.copy(self.path("in.npy"), self.path("out.npy"))
            with open(self.path("out.npy"), "rb") as file:
                self.assertEqual(np.lib.format.read_magic(file), (1, 0))
                self.assertEqual(np.lib.format.read_array_header_1_0(file)[0], shape)
                self.assertEqual(file.tell() % 64, 0)

    def test_conversion_rounds_as_numpy_does(self):
        arrays = {kind: sample(kind, (400, 7)) for kind in TYPES}
        for kind, array in arrays.items():
            if kind[0] == "f":
                arrays[kind] = np.where(np.isnan(array), array.dtype.type(1), array)
            np.save(self.path(kind + ".npy"), arrays[kind])
        for name, target in [("f32", "f4"), ("f64", "f8"), ("f16", "f2")]:
            self.copy_all([(self.path(kind + ".npy"), self.path(kind + "-out.npy")) for kind in TYPES],
                          "--as", name)
            for kind, array in arrays.items():
                with self.subTest(kind=kind, to=name), np.errstate(over="ignore"):
                    self.assert_same(np.load(self.path(kind + "-out.npy")), array.astype(target))

    def test_bfloat16_is_two_bytes_without_a_meaning(self):
        values = np.array([1, -2.5, 3.140625, np.inf, 1e-40, 0, 65280], np.float32)
        bits = (values.view("u4") >> 16).astype("u2")
        for order in "<>|":
            stored = bits.astype(order.replace("|", "=") + "u2")
            with open(self.path("in.npy"), "wb") as file:
                np.lib.format.write_array_header_1_0(file, {
                    "descr": order + "V2", "fortran_order": False, "shape": bits.shape})
                file.write(stored.tobytes())
            self.assertEqual(self.copy(self.path("in.npy"), self.path("out.npy")),
                             "bfloat16 (7,)")
            found = np.load(self.path("out.npy"), allow_pickle=False)
            self.assertEqual(found.dtype, np.dtype("V2"))
            self.assertEqual(found.tobytes(), bits.tobytes())
            self.copy(self.path("in.npy"), self.path("out.npy"), "--as", "f32")
            self.assert_same(np.load(self.path("out.npy")),
                             (bits.astype("u4") << 16).view(np.float32))
        np.save(self.path("in.npy"), np.array([1 + 2**-8, 1 + 2**-7 + 2**-8, 1 + 2**-8 + 2**-20]))
        self.copy(self.path("in.npy"), self.path("out.npy"), "--as", "bf16")
        self.assertEqual(np.load(self.path("out.npy")).view("u2").tolist(),
                         [0x3F80, 0x3F82, 0x3F81])

    def test_standard_input_and_output(self):
        array = sample("i4", (300, 200))
        buffer = io.BytesIO()
        np.save(buffer, array)
        done = self.tool("-", "-", data=buffer.getvalue())
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assert_same(np.load(io.BytesIO(done.stdout)), array)
        self.assertEqual(done.stderr.decode(), "int32 (300, 200)\n")

    def test_standard_input_redirected_from_a_file(self):
        array = sample("f4", (300, 200)).view("u4")
        np.save(self.path("in.npy"), array)
        with open(self.path("in.npy"), "rb") as file:
            done = subprocess.run([TOOL, "-", self.path("out.npy")], stdin=file, check=True,
                                  capture_output=True, timeout=60)
        self.assertEqual(done.stdout, b"uint32 (300, 200)\n")
        self.assert_same(np.load(self.path("out.npy")), array)

    def test_mtx_values_come_back(self):
        for kind in TYPES:
            array = sample(kind, (40, 30))
            if kind[0] == "f":
                array = np.where(np.isnan(array), array.dtype.type(1), array)
            with self.subTest(kind=kind):
                np.save(self.path("in.npy"), array)
                self.copy(self.path("in.npy"), self.path("out.mtx"))
                with open(self.path("out.mtx")) as file:
                    lines = file.read().splitlines()
                field = "real" if kind[0] == "f" else "integer"
                self.assertEqual(lines[:2],
                                 [f"%%MatrixMarket matrix array {field} general", "40 30"])
                read = float if kind[0] == "f" else int
                values = np.array([read(line) for line in lines[2:]], kind)
                self.assert_same(values.reshape(30, 40).T, array)
                if kind[1:] == "8" and kind[0] != "f":  # what float64 would round is not read
                    array = (array >> array.dtype.type(11)) << array.dtype.type(1)
                    np.save(self.path("in.npy"), array)
                    self.copy(self.path("in.npy"), self.path("out.mtx"))
                self.copy(self.path("out.mtx"), self.path("back.npy"))
                back = np.load(self.path("back.npy"))
                self.assertEqual(back.dtype, np.float64)
                if kind[0] == "f":  # nine digits say which float32 it was, not its float64
                    self.assert_same(back.astype(kind), array)
                else:
                    self.assert_same(back, array.astype("f8"))

    def test_what_numpy_writes_and_this_does_not_read(self):
        refused = {
            "a complex number of a size": np.zeros(3, np.clongdouble),
            "a Unicode string": np.array(["x"]),
            "a byte string": np.array([b"x"]),
            "a datetime64": np.zeros(3, "M8[s]"),
            "a timedelta64": np.zeros(3, "m8[s]"),
            "a Python object": np.array([{}], object),
            "a float of a size": np.zeros(3, np.longdouble),
            "a structured type": np.zeros(3, [("a", "f4"), ("b", "i4")]),
            "a void record": np.zeros(2, "V3"),
        }
        for what, array in refused.items():
            with self.subTest(what=what):
                np.save(self.path("in.npy"), array)
                done = self.tool(self.path("in.npy"), self.path("out.npy"))
                self.assertEqual(done.returncode, 1)
                self.assertIn(what, done.stderr.decode())
                self.assertEqual(done.stderr.count(b"\n"), 1)
                self.assertFalse(os.path.exists(self.path("out.npy")))

    def test_booleans(self):
        array = np.random.default_rng(1).random((3, 4, 5)) < 0.5
        np.save(self.path("in.npy"), np.asfortranarray(array))
        self.assertEqual(self.copy(self.path("in.npy"), self.path("out.npy")), "bool (3, 4, 5)")
        self.assert_same(np.load(self.path("out.npy")), array)
        self.copy(self.path("in.npy"), self.path("out.npy"), "--as", "f32")
        self.assert_same(np.load(self.path("out.npy")), array.astype("f4"))

    def test_every_truncation_is_refused(self):
        buffer = io.BytesIO()
        np.save(buffer, np.arange(6, dtype="f4"))
        whole = buffer.getvalue()
        pairs = []
        for size in range(len(whole)):
            pairs.append((self.path(f"in{size}.npy"), self.path(f"out{size}.npy")))
            with open(pairs[-1][0], "wb") as file:
                file.write(whole[:size])
        done = self.tool(*(path for pair in pairs for path in pair))
        self.assertEqual(done.returncode, 1)
        for size, line in enumerate(done.stderr.decode().splitlines()):
            self.assertRegex(line, rf"/in{size}\.npy: .*(truncated|is empty)")
        self.assertEqual((size + 1, done.stdout), (len(whole), b""))
        self.assertEqual([name for _, name in pairs if os.path.exists(name)], [])


if __name__ == "__main__":
    unittest.main()
