"""Results of sort against NumPy in higher precision, on the device and the host.  Each class is a test."""

import json
import os
import unittest

import numpy as np

import test_run
from cli_support import DATA, SANITIZED, Case, has_opencl, random


KEYS = (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64,
        np.float16, np.float32, np.float64)


def order_key(keys):
    """Unsigned integers that order as the command orders keys (DESIGN.md, Numerics)."""
    if keys.dtype.kind != "f":
        return keys
    bits = keys.view("u%d" % keys.dtype.itemsize).astype(np.uint64)
    size = keys.dtype.itemsize * 8
    sign = np.uint64(1 << (size - 1))
    full = np.uint64((1 << size) - 1)
    mono = np.where(bits & sign, bits ^ full, bits | sign)
    below = np.uint64((1 << (np.finfo(keys.dtype).nmant)) - 1)
    return (mono - below) & full


def sorted_order(keys, descending=False):
    key = order_key(keys)
    if not descending:
        return np.argsort(key, kind="stable")
    back = np.argsort(key[::-1], kind="stable")
    return (len(keys) - 1 - back)[::-1]


class OnHost(test_run.Run):
    key_types, key_counts = KEYS, (0, 1, 2, 3, 100, 1000, 1025)

    def sort(self, keys, *flags):
        self.save("k.npy", keys)
        self.succeed("sort", "k.npy", "-o", "s.npy", "--argsort", "i.npy", "--verify",
                     *flags, *self.device)
        got, index = self.load("s.npy"), self.load("i.npy")
        self.assertEqual((got.dtype, index.dtype), (keys.dtype, np.int64))
        want = sorted_order(keys, "--descending" in flags)
        self.assertEqual(index.tolist(), want.tolist())
        self.assertEqual(got.tobytes(), keys[want].tobytes())

    def test_sort(self):
        rng = np.random.default_rng(7)
        for kind in self.key_types:
            for n in self.key_counts:
                size = np.dtype(kind).itemsize
                keys = rng.integers(0, 256, n * size, dtype=np.uint8).view(kind)
                few = rng.integers(0, 5, n).astype(kind)
                self.sort(keys)
                self.sort(few, "--descending")

    def test_sort_order_of_special_floats(self):
        for kind in (np.float16, np.float32, np.float64):
            keys = np.array([np.nan, 1, -0.0, 0.0, -np.nan, np.inf, -np.inf, -1, 1e-40, 0.0, -0.0],
                            kind)
            self.sort(keys)
            self.sort(keys, "--descending")
            self.sort(keys)
            got = self.load("s.npy")
            self.assertTrue(np.isneginf(got[0]) and np.isnan(got[-2:]).all())
            self.assertEqual(np.signbit(got[2:6]).tolist(), [True, True, False, False])

    def test_sort_order_of_nans(self):
        """First without the sign and rising, then with it and falling; the same bits are equal."""
        kinds = ((np.float32, np.uint32, 0x3F800000, 0x7F800000, 0x00400000),
                 (np.float16, np.uint16, 0x3C00, 0x7C00, 0x0200),
                 (np.float64, np.uint64, 0x3FF << 52, 0x7FF << 52, 1 << 51))
        for kind, word, one, infinity, quiet in kinds[:1] if SANITIZED else kinds:
            sign = 1 << (8 * np.dtype(kind).itemsize - 1)
            nan, negative = infinity | quiet, sign | infinity | quiet
            bits = np.array([negative, nan | 1, sign | infinity | 1, nan, negative, infinity | 1,
                             one, nan | 1], word)
            self.save("k.npy", bits.view(kind))
            self.save("v.npy", np.arange(8, dtype=np.uint8))
            for options, order in ((), [6, 5, 3, 1, 7, 0, 4, 2]), (("--descending",),
                                                                   [2, 0, 4, 1, 7, 3, 5, 6]):
                self.succeed("sort", "k.npy", "-o", "s.npy", "--argsort", "i.npy", "--values",
                             "v.npy", "--values-out", "w.npy", *options, *self.device)
                self.assertEqual(self.load("s.npy").view(word).tolist(), bits[order].tolist())
                self.assertEqual(self.load("i.npy").tolist(), order)
                self.assertEqual(self.load("w.npy").tolist(), order)

    def test_sort_vectors_of_rank_2(self):
        keys = np.array([3, 1, 2], np.int32)
        for shape in ((3, 1), (1, 3)):
            self.save("k.npy", keys.reshape(shape))
            self.succeed("sort", "k.npy", "-o", "s.npy", "--argsort", "i.npy", *self.device)
            self.assertEqual(self.load("s.npy").tolist(), [1, 2, 3])
            self.assertEqual(self.load("i.npy").tolist(), [1, 2, 0])
        self.write("k.mtx", "%%MatrixMarket matrix array real general\n3 1\n2.5\n-1\n0\n")
        self.succeed("sort", "k.mtx", "-o", "s.mtx", *self.device)
        self.succeed("sort", "s.mtx", "-o", "s.npy", "--descending", *self.device)
        self.assertEqual(self.load("s.npy").tolist(), [2.5, 0, -1])

    def test_sort_without_index_and_without_keys(self):
        keys = np.array([3, 1, 2], np.int32)
        self.save("k.npy", keys)
        self.succeed("sort", "k.npy", "-o", "s.npy", *self.device)
        self.assertEqual(self.load("s.npy").tolist(), [1, 2, 3])
        self.succeed("sort", "k.npy", "--argsort", "i.npy", *self.device)
        self.assertEqual(self.load("i.npy").tolist(), [1, 2, 0])
        self.assertEqual(self.names(), ["i.npy", "k.npy", "s.npy"])

    def sort_values(self, keys, values, *flags):
        self.save("k.npy", keys)
        self.save("v.npy", values)
        r = self.succeed("sort", "k.npy", "-o", "s.npy", "--values", "v.npy", "--values-out",
                         "w.npy", "--verify", *flags, *self.device)
        want = sorted_order(keys, "--descending" in flags)
        got = self.load("w.npy")
        self.assertEqual((got.dtype, got.shape), (values.dtype, values.shape))
        self.assertEqual(got.tobytes(), values[want].tobytes())
        self.assertEqual(self.load("s.npy").tobytes(), keys[want].tobytes())
        return r

    def test_sort_with_values(self):
        """Values of every size, of equal keys in input order, with and without an index."""
        n = 1500
        keys = np.random.default_rng(3).integers(0, 40, n).astype(np.uint32)
        for values in (np.arange(n, dtype=np.uint8), np.arange(n, dtype=np.int16),
                       random(n, np.float32), random(n, np.float64), random((n, 2), np.float64)):
            self.sort_values(keys, values)
        bits = np.arange(16 * n, dtype=np.uint32).view(np.uint8)
        for name in ("?", "S1", "S2", "c8", "c16", "M8[ns]", "m8[25us]", ">M8[D]", "<U4", "V16", ">U1",
                     "g"):
            count = n * np.dtype(name).itemsize
            values = (bits[:count] & 1 if name == "?" else bits[:count]).view(name)
            self.sort_values(keys, values)
            self.assertEqual(np.load(self.path("w.npy")).dtype.str, values.dtype.str)
        self.sort_values(keys, np.asfortranarray(bits[:16 * n].view("c8").reshape(n, 2)))
        r = self.sort_values(keys, random((n, 4), np.float16), "--descending", "--stable",
                             "--argsort", "i.npy")
        self.assertIn("1500 uint32 argsort descending with 8-byte values", r.err)
        self.assertEqual(self.load("i.npy").tolist(), sorted_order(keys, True).tolist())

    def test_sort_rows(self):
        """Each row by itself: short and long ones, none, and rows of nothing and of one key."""
        rng = np.random.default_rng(5)
        for shape in ((40, 25), (3, 5000), (1, 9), (9, 1), (0, 4), (4, 0)):
            keys = rng.integers(0, 30, shape).astype(np.int16)
            values = rng.integers(0, 1 << 60, shape)
            self.save("k.npy", keys)
            self.save("v.npy", values)
            r = self.succeed("sort", "k.npy", "--rows", "-o", "s.npy", "--argsort", "i.npy",
                             "--values", "v.npy", "--values-out", "w.npy", "--verify", "--json",
                             *self.device)
            want = np.argsort(keys, axis=1, kind="stable")
            self.assertEqual(self.load("i.npy").shape, shape)
            self.assertEqual(self.load("i.npy").tolist(), want.tolist())
            for name, given in (("s.npy", keys), ("w.npy", values)):
                self.assertEqual(self.load(name).dtype, given.dtype)
                self.assertEqual(self.load(name).tolist(),
                                 np.take_along_axis(given, want, 1).tolist())
            self.assertEqual(json.loads(r.out)["problem"]["rows"], max(shape[0], 1))

    def test_sort_segments(self):
        """Each segment by itself: none, empty ones, of one key, short and long ones."""
        rng = np.random.default_rng(9)
        for lengths, kind in (((3, 0, 0, 1, 40, 2, 9000, 17), "i2"), ((0, 0), "u1"), ((), "i4"),
                              ((1,), "u8"), ((5000,), "u2"), (rng.integers(0, 90, 100), ">u4")):
            offsets = np.concatenate(([0], np.cumsum(lengths))).astype(kind)
            keys = rng.integers(-20, 20, offsets[-1]).astype(np.float32)
            values = rng.integers(0, 1 << 60, (len(keys), 2))
            self.save("k.npy", keys)
            self.save("v.npy", values)
            self.save("o.npy", offsets)
            flags = ["--descending", "--stable"] if len(lengths) % 2 else []
            r = self.succeed("sort", "k.npy", "--segments", "o.npy", "-o", "s.npy", "--argsort",
                             "i.npy", "--values", "v.npy", "--values-out", "w.npy", "--verify",
                             "--json", "--repeat", "2", *flags, *self.device)
            parts = [slice(int(a), int(b)) for a, b in zip(offsets[:-1], offsets[1:])]
            order = [sorted_order(keys[p], bool(flags)) for p in parts]
            flat = [p.start + o for p, o in zip(parts, order)]
            flat = np.concatenate(flat).astype(int) if flat else np.zeros(0, int)
            self.assertEqual(self.load("s.npy").tolist(), keys[flat].tolist())
            self.assertEqual(self.load("w.npy").tolist(), values[flat].tolist())
            self.assertEqual(self.load("i.npy").tolist(), [i for o in order for i in o])
            self.assertEqual(json.loads(r.out)["problem"]["segments"], len(lengths))

    def test_sort_top(self):
        """The first keys, indices and values of the sorted order, of a vector and of rows."""
        rng = np.random.default_rng(11)
        cases = (((9000,), 7), ((4, 2500), 10), ((9000,), 3000), ((1, 9000), 2), ((9000, 1), 2),
                 ((5,), 9), ((30, 20), 3), ((3, 1), 1), ((1,), 1), ((0, 4), 2), ((0,), 2))
        for i, (shape, top) in enumerate(cases[:5] if SANITIZED else cases):
            rows = ["--rows"] if len(shape) == 2 and 9000 not in shape else []
            axis = int(bool(rows) or shape[0] == 1 and len(shape) == 2)
            keys = random(shape, np.float64) if i % 3 == 2 else rng.integers(0, 300, shape, np.int32)
            values = rng.integers(0, 1 << 60, shape + (2,))
            self.save("k.npy", keys)
            self.save("v.npy", values)
            flags = ["--descending"] if i % 2 else []
            r = self.succeed("sort", "k.npy", "-o", "s.npy", "--argsort", "i.npy", "--values",
                             "v.npy", "--values-out", "w.npy", "--top", str(top), "--verify",
                             "--json", "--repeat", "2", *rows, *flags, *self.device)
            order = np.argsort(-keys if flags else keys, axis=axis, kind="stable")
            want = order.take(range(min(top, shape[axis])), axis)
            kept = want.shape if rows else (want.size,)
            found, index = self.load("s.npy"), self.load("i.npy")
            self.assertEqual((found.shape, index.shape), (kept, kept))
            self.assertEqual(index.ravel().tolist(), want.ravel().tolist())
            self.assertEqual(found.ravel().tolist(),
                             np.take_along_axis(keys, want, axis).ravel().tolist())
            self.assertEqual(self.load("w.npy").tolist(),
                             np.take_along_axis(values, want[..., None], axis).tolist())
            self.assertEqual(json.loads(r.out)["op"], "sort")
            self.assertEqual(json.loads(r.out)["problem"]["top"],
                             min(top, shape[axis] if shape[0] else 0))

    def test_top_takes_a_count(self):
        self.save("k.npy", np.arange(3, dtype=np.int32))
        for wrong in ("0", "-1", "2.5", "x", "99999999999999999999"):
            self.fail_with(2, "sort", "k.npy", "-o", "s.npy", "--top", wrong, *self.device,
                           says="--top' takes a whole number from 1 on, not '%s'" % wrong)
        self.fail_with(2, "matvec", "k.npy", "k.npy", "-o", "s.npy", "--top", "1",
                       says="matvec takes no option '--top'")

    def test_values_alone_and_few(self):
        for n in (0, 1, 2):
            self.save("k.npy", np.arange(n, 0, -1, dtype=np.int64))
            self.save("v.npy", np.arange(n, dtype=np.int8))
            self.succeed("sort", "k.npy", "--values", "v.npy", "--values-out", "v.npy",
                         "--repeat", "2", *self.device)
            self.assertEqual(self.load("v.npy").tolist(), list(range(n))[::-1])

    def test_memory_that_limits_nothing(self):
        """Where the device works on the arrays themselves, with how to have it otherwise."""
        self.save("k.npy", np.arange(50, dtype=np.int32))
        args = ("sort", "k.npy", "-o", "s.npy", "--device-memory", "1k", *self.device)
        says = "warning: --device-memory 1k limits nothing: "
        self.assertEqual(says in self.succeed(*args).err, self.shares())
        r = self.succeed(*args, "--copy", "--quiet")
        self.assertNotIn("with --copy they are", r.err)
        self.assertEqual(says in r.err, bool(self.device))

    def sort_streamed(self, keys, chunks, *args):
        self.save("k.npy", keys)
        for pinned in ("on", "off"):
            r = self.succeed("sort", "k.npy", "-o", "s.npy", "--copy", "--pinned", pinned, "--json",
                             "--verify", *args)
            d = json.loads(r.out)
            self.assertEqual(d["bytes"]["chunks"], chunks)
            self.assertTrue(d["verify"]["ok"])
            np.testing.assert_array_equal(self.load("s.npy"), np.sort(keys, axis=-1))
        return d["bytes"]

    def test_streamed_sort(self):
        """As the keys arrive, by rows, and with less memory than they need."""
        if self.device:
            self.skipTest("the host has no memory of its own")
        rng = np.random.default_rng(7)
        keys = rng.integers(0, 2**32, 10000, dtype=np.uint32)
        d = self.sort_streamed(keys, 10, "--kernel", "fused-passes", "--device-memory", "1M")
        self.assertEqual((d["to_device"], d["from_device"]), (keys.nbytes, keys.nbytes))
        d = self.sort_streamed(keys.reshape(100, 100), 25, "--rows", "--device-memory", "4800")
        self.assertEqual((d["to_device"], d["from_device"]), (keys.nbytes, keys.nbytes))
        # Five chunks: 2 + (2 + 2) + (1 + 2 + 2) comparators of two chunks of 2000 keys.
        d = self.sort_streamed(keys, 11, "--device-memory", "32000")
        self.assertEqual(d["to_device"], 11 * 2 * 2000 * 4)
        self.fail_with(1, "sort", "k.npy", "-o", "s2.npy", "--copy", "--device-memory", "400",
                       says=("with 400 bytes of device memory it falls into 8736 pieces",
                             ", and at most 4096 are allowed: it needs "))
        self.save("k.npy", keys)
        r = self.fail_with(1, "sort", "k.npy", "-o", "s2.npy", "--argsort", "i.npy", "--copy",
                           "--device-memory", "32000", says="need 120000 bytes at once, and 32000 are allowed")
        self.assertEqual(self.names().count("s2.npy"), 0, r)
        self.save("o.npy", np.array([0, 4000, 10000]))
        self.fail_with(1, "sort", "k.npy", "-o", "s2.npy", "--segments", "o.npy", "--copy",
                       "--device-memory", "32000", says="10000 keys of 2 segments, ")

    def test_pinned_memory_of_no_device(self):
        if not self.device:
            self.skipTest("the device has pinned memory")
        self.save("k.npy", np.arange(5))
        self.fail_with(1, "sort", "k.npy", "-o", "s.npy", "--pinned", "on", *self.device,
                       says="no pinned memory")

    def test_repeat_starts_afresh(self):
        self.save("k.npy", np.array([2, 3, 1], np.float64))
        self.succeed("sort", "k.npy", "--argsort", "i.npy", "--repeat", "3", *self.device)
        self.assertEqual(self.load("i.npy").tolist(), [2, 0, 1])


@unittest.skipUnless(has_opencl(), "no OpenCL device")
class OnDevice(OnHost):
    device = ()
    key_types, key_counts = (np.uint32, np.float64, np.float16), (0, 3, 1025)

    def test_sort_in_chunks(self):
        """Two queues sort a chunk each, and what merges them waits for both."""
        keys = np.random.default_rng(5).integers(0, 2**32, 2**21 + 77, dtype=np.uint32)
        self.save("k.npy", keys)
        keys.sort()
        for queues in ("1", "2"):
            self.succeed("sort", "k.npy", "-o", "s.npy", "--kernel", "fused-passes", "--set",
                         "CHUNK=20", "--set", "QUEUES=" + queues)
            np.testing.assert_array_equal(self.load("s.npy"), keys)

    def test_kernel_dir(self):
        """A folder of kernels takes the place of the embedded ones, and a broken one shows its log."""
        self.save("k.npy", np.arange(9, dtype=np.uint32))
        v = next(v for v in json.loads(self.succeed("kernels", "sort", "--json").out)
                 ["operations"][0]["variants"] if v["suited"] and "file" in v)
        os.makedirs(self.path("cl/sort"))
        self.write(os.path.join("cl", v["file"]), "kernel void broken(global int *x) { y; }\n")
        r = self.tessera("sort", "k.npy", "-o", "s.npy", "--kernel", v["name"], "--kernel-dir",
                         "cl")
        self.assertEqual(r.status, 1, r)
        self.assertGreater(len(r.err.splitlines()), 1, r)
        self.assertIn("undeclared identifier", r.err)
        self.assertNotIn("s.npy", self.names())
        self.fail_with(1, "sort", "k.npy", "-o", "s.npy", "--kernel-dir", "nowhere",
                       says="nowhere")


@unittest.skipUnless(has_opencl(), "no OpenCL device")
class RealData(Case):
    """A known answer of data/README.md."""

    def test_package_sizes(self):
        file = os.path.join(DATA, "debian_sizes_kib.npy")
        keys = np.load(file)
        self.succeed("sort", file, "-o", "s.npy", "--argsort", "i.npy", "--verify", "--descending")
        want = sorted_order(keys, True)
        self.assertEqual(self.load("i.npy").tolist(), want.tolist())


if __name__ == "__main__":
    unittest.main()
