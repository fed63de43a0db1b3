"""tessera bench matvec."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import test_bench
from cli_support import COMMAND, SANITIZED, environment, has_opencl
from test_bench import QUICK, rows_of


@unittest.skipUnless(has_opencl(), "no OpenCL device")
@unittest.skipIf(SANITIZED, "the sweep runs the host's code of every variant")
class Ladder(test_bench.Bench):
    """One run over every variant of a device, looked at from all sides: it builds each of them."""

    device = ()
    args = ("bench", "matvec", "--kernel", "all", "--size", "300x70")

    @classmethod
    def setUpClass(cls):
        folder = tempfile.mkdtemp(prefix="tessera-ladder-")
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        file = os.path.join(folder, "rows.json")
        cls.done = subprocess.run([COMMAND, *cls.args, "--budget", "50", "-o", file], text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300,
                                  env=environment(TESSERA_CACHE_DIR=os.path.join(folder, "own")))
        cls.found = []
        if os.path.exists(file):
            with open(file, encoding="utf-8") as f:
                cls.found = rows_of(f.read())

    def test_every_variant_has_a_row(self):
        """In the table's order, with times or a reason."""
        self.assertEqual(self.done.returncode, 0, self.done)
        listing = json.loads(self.succeed("kernels", "matvec", "--json").out)
        names = [v["name"] for v in listing["operations"][0]["variants"] if v.get("file")]
        rows = self.found
        self.assertEqual([r["name"] for r in rows], names)
        for row in rows:
            self.assertEqual((row["op"], row["size"], row["unit"]), ("matvec", "300x70", "GB/s"))
            if row["unsupported"]:
                self.assertEqual((row["samples"], row["outcome"]), (0, "unsupported"))
                self.assertFalse(row["unsupported"].startswith("matvec/"), row)
            else:
                self.check_row(row)
                self.assertEqual([row[k] for k in ("timer", "kind", "outcome", "selected", "place")],
                                 ["events", "kernel", "timed", "named", "device"])
                self.assertGreater(row["build_cold_ns"], 0)
                self.assertGreater(row["build_cached_ns"], 0)
                self.assertGreater(row["enqueue_ns"], 0)
                self.assertEqual(row["to_device_bytes"], 4 * (300 * 70 + 70))
                self.assertEqual(row["from_device_bytes"], 4 * 300)
                self.assertEqual(row["work"], 2 * 300 * 70)
        self.assertTrue(any(r["unsupported"] for r in rows))

    def test_budget_leaves_out_what_building_costs(self):
        """It takes as long again as the row."""
        row, = rows_of(self.succeed("bench", "matvec", "--size", "90", "--kernel", "row-item",
                                    "--device", "cpu", "--budget", "1e-9", "--json",
                                    "--quiet").out)
        self.assertEqual((row["outcome"], row["build_cold_ns"]), ("timed", 0))

    def test_table(self):
        out = self.done.stdout
        self.assertRegex(out, r"(?m)^matvec 300x70 float32 on .* \(\d+:\d+\), (cold|warm)$")
        lines = re.findall(
            r"(?m)^  (naive|tree)  +\S+ [mun]?s .*?([\d.]+)x +[\d.e-]+  \S+=", out)
        self.assertEqual([name for name, _ in lines], ["naive", "tree"])
        self.assertEqual(lines[0][1], "1.00")
        self.assertIn("costs apart", out)
        self.assertIn("hint: 'tessera roofline'", self.done.stderr)

    def test_what_is_unsupported_is_not_late(self):
        """The choice costs nothing: rows behind the budget say what it says."""
        late = rows_of(self.succeed(*self.args, "--json", "--budget", "0.001").out)
        unsupported = {r["name"]: r["unsupported"] for r in self.found if r["outcome"] == "unsupported"}
        self.assertTrue(unsupported)
        self.assertEqual({r["name"]: r["unsupported"] for r in late if r["outcome"] == "unsupported"},
                         unsupported)
        self.assertIn("late", [r["outcome"] for r in late])


@unittest.skipUnless(has_opencl(), "no OpenCL device")
class Kernels(test_bench.Bench):
    device = ()

    def test_unsupported_kernel(self):
        r = self.tessera("bench", "matvec", "--size", "30", "--kernel", "columns-vector")
        self.assertEqual(r.status, 1, r)
        self.assertIn("unsupported: ", r.out)
        self.assertIn("nothing ran", r.err)

    def test_batches_and_types(self):
        row, = self.rows("matvec", "--size", "16x8", "--batch", "7", "--type", "f16",
                         "--out-type", "f32", "--trans", "--device", "host")
        self.assertEqual((row["problem"], row["type"], row["precision"], row["size"]),
                         ("16x8 float16 to float32 x 7 transposed", "float16", "f16", "16x8"))
        self.assertEqual((row["work"], row["bytes"]),
                         (2 * 16 * 8 * 7, 7 * (2 * (16 * 8 + 16) + 4 * 8)))
        self.assertTrue(row["verified"])

    def test_bytes_for_each_result(self):
        """A row and x, each of 20 elements of 4 bytes, and the store."""
        out = self.bench("matvec", "--kernel", "naive", "--size", "30x20", "--explain").out
        self.assertIn(", %d bytes for each result" % (2 * 20 * 4 + 4), out)

    def test_explained_call_of_one_command(self):
        """It moves what the problem takes."""
        r = self.bench("matvec", "--kernel", "row-item", "--size", "30x20", "--explain",
                       *QUICK)
        self.assertRegex(r.out, r"(?m)^ +1 \S+ +[\d.]+ us +[\d.]+% +1.00 +0.0026 ")


class Host(test_bench.Bench):
    def test_sizes(self):
        rows = self.rows("matvec", "--size", "12", "--size", "3x4", "--trans", "--budget", "0.2")
        self.assertEqual([r["size"] for r in rows], ["12x12", "3x4"])

    def test_wrong_command_lines(self):
        for args, says in (
                (("matvec", "--size", "3x2^64"), "'3x2^64' is too large"),
                (("matvec", "--size", "0x5"), "'0x5' is an empty"),
                (("matvec", "--held"), "--held needs --peers")):
            self.fail_with(2, "bench", *args, says=says)


if __name__ == "__main__":
    unittest.main()
