"""The count of tiles that matmul could not split: on a device with Hopper's matrix units; elsewhere
there is none to count.
"""

import json
import subprocess
import unittest

import numpy as np

from cli_support import COMMAND, Case, environment

SIDE, DEPTH = 512, 128

# Rows and columns of a tile by default, where k is short.
TILES = {"wgmma-3xtf32": (128, 128), "wgmma-3xtf32-fused": (128, 256)}


def has_matrix_units():
    r = subprocess.run([COMMAND, "kernels", "matmul", "--json"], stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, env=environment())
    if r.returncode:
        return False
    variants = json.loads(r.stdout)["operations"][0]["variants"]
    return any(v["name"] in TILES and v["suited"] for v in variants)


class Matmul(Case):
    device = ()

    def inputs(self):
        rng = np.random.default_rng(5)
        return [rng.uniform(-1, 1, shape).astype(np.float32)
                for shape in ((SIDE, DEPTH), (DEPTH, SIDE))]

    def run_json(self, a, b, *args):
        self.save("a.npy", a)
        self.save("b.npy", b)
        r = self.succeed("matmul", "a.npy", "b.npy", "-o", "c.npy", "--json", *args, *self.device)
        return json.loads(r.out), r.err


class Elsewhere(Matmul):
    device = ("--device", "host")

    def test_nothing_is_split(self):
        d, err = self.run_json(*self.inputs())
        self.assertIsNone(d["tiles"])
        self.assertNotIn("tiles", err)


@unittest.skipUnless(has_matrix_units(), "no device with Hopper's matrix units")
class Counted(Matmul):
    def count(self, name, a, b, strict, *args):
        """Run with a kernel, and expect so many tiles to run strictly."""
        rows, columns = TILES[name]
        every = SIDE // rows * (SIDE // columns)
        d, err = self.run_json(a, b, "--kernel", name, "--verify", *args)
        self.assertEqual(d["tiles"], {"all": every, "strict": strict})
        self.assertEqual(
            "%d of %d tiles held what cannot be split, and ran in FP32" % (strict, every) in err,
            strict > 0, err)

    def test_what_can_be_split(self):
        for name in TILES:
            a, b = self.inputs()
            self.count(name, a, b, 0)
            self.count(name, a, b, 0, "--repeat", "3")
            # Sums of zero make some kernels look again, and find nothing.
            b[:, 7] = 0
            a[3, :] = 0
            self.count(name, a, b, 0)

    def test_rows_of_tiles(self):
        for name, (_, columns) in TILES.items():
            for value in (1e30, 1e-30, np.inf, np.nan):
                a, b = self.inputs()
                a[300, 5] = value
                self.count(name, a, b, SIDE // columns)
                self.count(name, a, b, SIDE // columns, "--repeat", "3")

    def test_parts_of_k(self):
        """Groups that share a tile's k count it once, and go the same way."""
        a, b = self.inputs()
        a[300, 5] = np.inf
        self.count("wgmma-3xtf32", a, b, SIDE // 128, "--set", "SPLIT=4")

    def test_columns_of_tiles(self):
        for name, (rows, _) in TILES.items():
            a, b = self.inputs()
            b[5, 300] = np.nan
            self.count(name, a, b, SIDE // rows)

    def test_all_tiles(self):
        for name, (rows, columns) in TILES.items():
            a, b = self.inputs()
            self.count(name, a * np.float32(1e-20), b, SIDE // rows * (SIDE // columns))

    def test_nothing_to_split(self):
        a, b = self.inputs()
        a[0, 0] = np.nan
        for name in TILES:
            d, _ = self.run_json(a, b, "--kernel", name, "--alpha", "0")
            self.assertIsNone(d["tiles"])

    def test_small_k(self):
        """Below 64 other kernels run, and say why."""
        d, err = self.run_json(np.ones((2048, 32), np.float32), np.ones((32, 2048), np.float32))
        self.assertNotIn(d["variant"], TILES)
        self.assertIsNone(d["tiles"])
        self.assertIn("k is 32, and below 64", d["chosen"])
        self.assertNotIn("tiles", err)
        for name in TILES:
            self.fail_with(1, "matmul", "a.npy", "b.npy", "-o", "c.npy", "--kernel", name,
                           says="k is 32, and below 64")

    def test_bench_rows(self):
        r = self.succeed("bench", "matmul", "--size", "%dx%dx%d" % (SIDE, SIDE, DEPTH), "--kernel",
                         "wgmma-3xtf32-fused", "--errors", "--budget", "5", "--json", "--quiet")
        rows = [json.loads(line) for line in r.out.splitlines()]
        counts = {row.get("family", ""): (row["tiles"], row["strict_tiles"]) for row in rows}
        self.assertEqual(counts[""], (8, 0))
        self.assertEqual(counts["uniform"], (8, 0))
        self.assertEqual(counts["special"], (8, 8))


if __name__ == "__main__":
    unittest.main()
