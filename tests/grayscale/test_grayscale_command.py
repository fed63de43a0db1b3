"""tessera grayscale: pictures in colour in, grey ones out; the files that pictures are in."""

import os
import struct
import unittest
import zlib

import numpy as np

from cli_support import Case

HOST = ("--device", "host", "--quiet")
DATA = os.environ["TESSERA_DATA"]


def grey_of(x, weights=(19595, 38470, 7471)):
    return ((x[..., :3] * np.uint32(weights)).sum(2) + 32768 >> 16).astype(np.uint8)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width, height, rows, depth=8, colour=2, more=()):
    """A PNG file of rows of bytes."""
    data = zlib.compress(b"".join(b"\0" + bytes(row) for row in rows))
    return (b"\x89PNG\r\n\x1a\n" +
            chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)) +
            b"".join(chunk(k, d) for k, d in more) + chunk(b"IDAT", data) + chunk(b"IEND", b""))


class Grayscale(Case):
    def setUp(self):
        super().setUp()
        self.x = np.random.default_rng(3).integers(0, 256, (9, 14, 3)).astype(np.uint8)
        self.rows = [row.tobytes() for row in self.x]

    def write(self, name, data):
        with open(self.path(name), "wb") as f:
            f.write(data)

    def convert(self, name, out="g.npy", *args):
        self.succeed("grayscale", name, "-o", out, *HOST, *args)

    def refuse(self, name, says, out="g.npy", status=1):
        self.fail_with(status, "grayscale", name, "-o", out, *HOST, says=says)

    def has_png(self):
        self.write("try.png", png(1, 1, [b"abc"]))
        if "without libpng" in str(self.tessera("grayscale", "try.png", "-o", "try.npy", *HOST)):
            self.skipTest("built without libpng")

    def test_arrays(self):
        np.save(self.path("x.npy"), self.x)
        self.convert("x.npy", "g.npy", "--verify")
        np.testing.assert_array_equal(np.load(self.path("g.npy")), grey_of(self.x))
        self.convert("x.npy", "g.npy", "--weights", "bt709")
        np.testing.assert_array_equal(np.load(self.path("g.npy")),
                                      grey_of(self.x, (13933, 46871, 4732)))
        np.save(self.path("x.npy"), np.dstack([self.x, self.x[..., 0]])) # opacity is not looked at
        self.convert("x.npy")
        np.testing.assert_array_equal(np.load(self.path("g.npy")), grey_of(self.x))

    def test_what_is_no_picture_in_colour(self):
        for shape in ((4, 5), (4, 5, 2), (4, 5, 5), (2, 4, 5, 3)):
            np.save(self.path("x.npy"), np.zeros(shape, np.uint8))
            self.refuse("x.npy", "a picture in colour must be height x width x 3 or 4")
        np.save(self.path("x.npy"), np.zeros((4, 5, 3), np.int32))
        self.refuse("x.npy", "x.npy is int32, and grayscale takes uint8, float32; --as f32 converts")

    def test_white_stays_white(self):
        np.save(self.path("x.npy"), np.full((3, 3, 3), 255, np.uint8))
        for weights in ("bt601", "bt709", "opencv"):
            self.convert("x.npy", "g.npy", "--weights", weights)
            self.assertTrue((np.load(self.path("g.npy")) == 255).all())

    def test_ppm_and_pgm(self):
        self.write("x.ppm", b"P6 # a comment\n14\n# another\n9 255\n" + self.x.tobytes())
        self.convert("x.ppm", "g.pgm")
        with open(self.path("g.pgm"), "rb") as f:
            self.assertEqual(f.read(), b"P5\n14 9\n255\n" + grey_of(self.x).tobytes())
        self.refuse("g.pgm", "a picture in colour must be height x width x 3 or 4")
        self.refuse("x.ppm", "a .ppm file holds uint8 of height x width x 3, not uint8 of 9x14",
                    out="g.ppm")

    def test_bad_ppm(self):
        for data, says in ((b"P6\n14 9\n255\n" + self.x.tobytes()[:-1],
                            "x.ppm: data: truncated, expected 378 bytes, found 377"),
                           (b"P6\n14 9\n255\n" + self.x.tobytes() + b"\n",
                            "x.ppm: data: there is more behind the 378 bytes"),
                           (b"P6\n14 9\n65535\n" + self.x.tobytes() * 2, "its largest value is 65535"),
                           (b"P6\n14\n", "the header of a PPM file is"),
                           (b"P6\n99999999999999999 99999999999999999 255\n", "are too many")):
            self.write("x.ppm", data)
            self.refuse("x.ppm", says)

    def test_png(self):
        self.has_png()
        self.write("x.png", png(14, 9, self.rows))
        self.convert("x.png", "g.png", "--verify")
        with open(self.path("g.png"), "rb") as f:
            got = f.read()
        size = struct.unpack(">IIBB", got[16:26])
        self.assertEqual(size, (14, 9, 8, 0)) # grey, 8 bits
        self.convert("x.png")
        np.testing.assert_array_equal(np.load(self.path("g.npy")), grey_of(self.x))

    def test_png_with_a_palette_and_opacity(self):
        self.has_png()
        palette = np.uint8([[1, 2, 3], [200, 100, 50], [255, 255, 255]])
        more = [(b"PLTE", palette.tobytes()), (b"tRNS", bytes([255, 0, 128]))]
        self.write("x.png", png(3, 2, [[0, 1, 2], [2, 1, 0]], colour=3, more=more))
        self.convert("x.png")
        np.testing.assert_array_equal(np.load(self.path("g.npy")),
                                      grey_of(palette[np.array([[0, 1, 2], [2, 1, 0]])]))

    def test_bad_png(self):
        self.has_png()
        whole = png(14, 9, self.rows)
        for data, says in ((whole[:100], "x.png: PNG: "), (whole[:-40], "x.png: PNG: "),
                           (whole[:20], "x.png: PNG: "),
                           (whole[:-1], "x.png: PNG: cut short"),
                           (whole[:-12], "x.png: PNG: cut short"),
                           (whole + b"\n\n", "x.png: PNG: 2 bytes follow the %d of one picture"
                            % len(whole)),
                           (png(1, 1, [b"abcdef"], depth=16), "x.png: has 16 bits a channel")):
            self.write("x.png", data)
            self.refuse("x.png", says)
            self.assertFalse(os.path.exists(self.path("g.npy")))

    def test_the_photograph(self):
        self.has_png()
        self.succeed("grayscale", os.path.join(DATA, "raccoon.png"), "-o", "g.npy", *HOST, "--verify")
        g = np.load(self.path("g.npy"))
        self.assertEqual((g.dtype, g.shape), (np.uint8, (768, 1024)))
        self.succeed("histogram", "g.npy", "-o", "h.npy", "--bins", "4", "--range", "0:256", *HOST)
        self.assertEqual(np.load(self.path("h.npy")).tolist(),
                         np.histogram(g, 4, (0, 256))[0].tolist())


if __name__ == "__main__":
    unittest.main()
