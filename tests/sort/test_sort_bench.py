"""tessera bench sort.  Unoptimized kernels do here."""

import csv
import io
import os
import unittest

import test_bench
from cli_support import has_opencl
from test_bench import QUICK, rows_of


@unittest.skipUnless(has_opencl(), "no OpenCL device")
class Kernels(test_bench.Bench):
    device = ()

    def test_explain(self):
        """The commands of a call: their bytes are those of passes over the keys."""
        n = 5000
        row, explained = rows_of(self.bench(
            "sort", "--kernel", "two-phase-registers", "--size", "5000", "--argsort", "--explain",
            "--set", "STAGES=1", "--set", "GROUP=1024", "--json", "--quiet").out)
        self.check_row(row)
        self.assertEqual(explained["schema"], "tessera-explain-1")
        same = ("op", "problem", "name", "parameters", "device", "device_id")
        self.assertEqual([explained[k] for k in same], [row[k] for k in same])
        commands = explained["commands"]
        self.assertEqual(len(commands), row["commands"])
        self.assertEqual(explained["compulsory_bytes"], row["bytes"])
        # The first launch reads keys alone, the others keys and index.  Of the last block of 2^12,
        # 904 keys in its lower half have nobody to be compared with.
        self.assertEqual([(c["kernel"], c["bytes"]) for c in commands],
                         [("sort_registers_tile", n * 16), ("sort_registers_pass", 4096 * 24),
                          ("sort_registers_merge", n * 24), ("sort_registers_pass", n * 24),
                          ("sort_registers_pass", 4096 * 24), ("sort_registers_merge", n * 24)])
        self.assertEqual(explained["bytes"], sum(c["bytes"] for c in commands))
        for c in commands:
            self.assertGreater(c["time"]["median_ns"], 0)
            self.assertEqual(c["group"], 1024)
            self.assertAlmostEqual(c["passes"] * row["bytes"], c["bytes"], places=3)
        self.assertLessEqual(sum(c["time"]["min_ns"] for c in commands),
                             explained["call"]["max_ns"])
        self.assertGreater(explained["to_device_ns"], 0)

    def test_explain_as_a_table(self):
        # Not within a budget, which a busy machine spends before copies are timed.
        r = self.bench("sort", "--kernel", "naive", "--size", "5", "--explain", "--seconds", "0.05")
        self.assertRegex(r.out, r"(?m)^  naive +[\d.]+ [mun]?s .* exact$")
        self.assertRegex(r.out, r"(?m)^ +6 sort_naive +[\d.]+ us ")
        self.assertRegex(r.out, r"(?m)^ +6 x sort_naive ")
        self.assertRegex(r.out, r"(?m)^ +6 x the whole call ")
        self.assertRegex(r.out, r"(?m)^ +copying to the device ")
        self.assertLess(r.out.index("the whole call"), r.out.index("     1 sort_naive"))
        self.assertRegex(r.out, r"(?m)^ +6 x the whole call +[\d.]+ us 100\.0% ")
        for field in ("share: of", "passes: ", "registers: ", "local B: ", "occupancy: ",
                      "-: not known"):
            self.assertIn(field, r.out)

    def test_the_host_has_no_commands(self):
        r = self.succeed("bench", "sort", "--size", "50", "--explain", "--device", "host", *QUICK)
        self.assertIn("hint: C code on the host has no commands", r.err)
        self.assertNotIn("commands of one", r.out)

    def test_options_of_the_problem(self):
        row, = self.rows("sort", "--size", "3000", "--argsort", "--type", "f64", "--descending",
                         *QUICK)
        self.check_row(row)
        self.assertEqual(row["problem"], "3000 float64 argsort descending")

    def test_rows_of_keys(self):
        row, = self.rows("sort", "--size", "30x70", *QUICK)
        self.check_row(row)
        self.assertEqual((row["problem"], row["size"], row["work"], row["bytes"]),
                         ("30 rows of 70 uint32", "30x70", 2100, 2 * 4 * 2100))
        self.fail_with(2, "bench", "sort", "--size", "3x4x5", says="'3x4x5'")

    def test_segments_of_keys(self):
        """Lengths are drawn; their number, mean and bound are what the command line says."""
        for lengths, longest in (("uniform", 140), ("mixed", 1120)):
            row, = self.rows("sort", "--size", "30x70", "--segments", lengths, *QUICK)
            self.check_row(row)
            self.assertIn("segments", row["name"])
            self.assertEqual((row["problem"], row["size"], row["work"], row["bytes"]),
                             ("2100 uint32 in 30 %s segments of up to %d" % (lengths, longest),
                              "30x70", 2100, 2 * 4 * 2100 + 31 * 8))
        row, = self.rows("sort", "--segments", "mixed", "--argsort", "--device", "host", *QUICK)
        self.assertEqual(row["problem"],
                         "10000000 uint32 argsort in 100000 mixed segments of up to 1600")
        for args, says in ((("sort", "--size", "2100"), "needs a --size of SEGMENTSxKEYS"),
                           (("matvec", "--size", "3x4"), "matvec has no --segments"),
                           (("overlap",), "overlap has no --segments")):
            self.fail_with(2, "bench", *args, "--segments", "mixed", says=says)
        self.fail_with(2, "bench", "sort", "--segments", "5", says="uniform or mixed, not '5'")

    def test_keys_with_values(self):
        for device, extra in ("host", ()), ("cpu", ("--kernel", "radix")):
            row, = self.rows("sort", "--size", "5000", "--value-bytes", "4", "--device", device,
                             *extra, *QUICK)
            self.assertEqual((row["problem"], row["bytes"], row["verified"]),
                             ("5000 uint32 with 4-byte values", 5000 * (2 * 4 + 2 * 4), True))
        row, = self.rows("sort", "--size", "30x70", "--value-bytes", "16", "--argsort", "--device",
                         "host", *QUICK)
        self.assertEqual(row["problem"], "30 rows of 70 uint32 argsort with 16-byte values")
        for args, says in ((("bench", "matvec"), "matvec has no --value-bytes"),
                           (("bench", "overlap"), "overlap has no --value-bytes"),
                           (("tune", "matmul"), "matmul has no --value-bytes"),
                           (("verify", "sort"), "verify takes no option '--value-bytes'")):
            self.fail_with(2, *args, "--value-bytes", "4", says=says)
        for wrong in "0", "3", "32", "x":
            self.fail_with(2, "bench", "sort", "--value-bytes", wrong,
                           says="takes 1, 2, 4, 8 or 16, not '%s'" % wrong)

    def test_order_of_keys(self):
        """It is said in the row, and what is asked for is what is sorted."""
        row, = self.rows("sort", "--size", "3000", *QUICK)
        self.assertEqual((row["problem"], row["order"]), ("3000 uint32", "random"))
        for order in ("sorted", "reversed", "constant", "few-values", "two-values", "sawtooth"):
            row, = self.rows("sort", "--size", "3000", "--order", order, "--type", "f32",
                             "--descending", "--device", "host", *QUICK)
            self.check_row(row)
            self.assertEqual((row["problem"], row["order"]),
                             ("3000 float32 descending, %s input" % order, order))
        row, = self.rows("matvec", "--size", "30", "--device", "host", *QUICK)
        self.assertNotIn("order", row)
        for args, says in ((("bench", "matmul"), "matmul has no --order, which belongs to sort"),
                           (("bench", "matvec"), "matvec has no --order"),
                           (("bench", "overlap"), "overlap has no --order"),
                           (("tune", "sort"), "tune takes no option '--order'")):
            self.fail_with(2, *args, "--order", "sorted", says=says)
        for wrong in "shuffled", "special", "uniform", "Sorted":
            self.fail_with(2, "bench", "sort", "--order", wrong,
                           says="takes random, few-values, sorted, reversed, constant, two-values "
                           "or sawtooth, not '%s'" % wrong)

    def test_what_peers_are_compared_with(self):
        """On a CPU that is what a call on arrays runs, C code, unless a kernel is named."""
        os.mkdir(self.path("none"))
        for kernel, timers, place, selected in (
                ((), ["events", "wall"], "host", "preferred"),
                (("--kernel", "naive"), ["events", "wall"], "device", "named")):
            r = self.tessera("bench", "sort", "--size", "1000", "--peers", "--json", "--device", "cpu",
                             *kernel, *QUICK, env={"TESSERA_PEER_DIR": self.path("none")})
            if r.status == 4:
                self.skipTest("no CPU with OpenCL")
            rows = rows_of(r.out)
            self.assertEqual([row["timer"] for row in rows], timers)
            self.assertEqual((rows[1]["place"], rows[1]["selected"]), (place, selected))
            self.assertEqual(rows[0]["name"] == rows[1]["name"], bool(kernel))

    def test_peers_that_are_missing(self):
        os.mkdir(self.path("none"))
        r = self.succeed("bench", "sort", "--size", "1000", "--peers", *QUICK,
                         env={"TESSERA_PEER_DIR": self.path("none")})
        for package in ("libboost-dev", "libtbb-dev"):
            self.assertIn(package, r.err)
        self.assertNotIn("OpenBLAS", r.err)
        self.assertIn("wall time of calls back to back", r.out)


class Host(test_bench.Bench):
    def test_sizes(self):
        for size, wanted in (("2^10", "1024"), ("3k", "3000"), ("17", "17")):
            row, = self.rows("sort", "--size", size, "--budget", "0.2")
            self.assertEqual(row["size"], wanted)

    def test_a_problem_that_nothing_takes(self):
        """The library chooses nothing, so there is no name to print."""
        r = self.tessera("bench", "sort", "--size", "2^60", *self.device)
        self.assertEqual(r.status, 1, r)
        self.assertRegex(r.out, r"(?m)^  \(none\) +unsupported: it needs \d+ bytes")

    def test_files(self):
        """-o takes the rows while the table goes to standard output; CSV on request."""
        r = self.bench("sort", "--size", "100", "--size", "200", "-o", "r.json")
        self.assertIn("kernel", r.out)
        with open(self.path("r.json"), encoding="utf-8") as f:
            rows = rows_of(f.read())
        self.assertEqual([row["size"] for row in rows], ["100", "200"])
        r = self.bench("sort", "--size", "100", "-o", "r.csv", "--csv", *QUICK)
        self.assertIn("kernel", r.out)
        with open(self.path("r.csv"), encoding="utf-8", newline="") as f:
            table = list(csv.DictReader(f))
        self.assertEqual(list(table[0]), [k for k in rows[0] if k not in ("schema", "order")])
        self.assertEqual(table[0]["size"], "100")
        r = self.bench("sort", "--size", "100", "--csv", *QUICK)
        self.assertEqual(len(list(csv.reader(io.StringIO(r.out)))), 2)
        r = self.bench("sort", "--size", "100", "-o", "-", *QUICK)
        self.assertEqual(len(rows_of(r.out)), 1)

    def test_output_that_cannot_be(self):
        self.fail_with(1, "bench", "sort", "-o", "no/such/folder", *self.device, says="no/such")

    def test_wrong_command_lines(self):
        for args, says in (
                (("sort", "--size", "3x4x5"), "3x4"),
                (("sort", "--size", "20000000000G"), "'20000000000G' is too large: a number is at"),
                (("sort", "--size", "0"), "'0' is an empty sort"),
                (("sort", "--size", "0^2"), "'0^2' is an empty"),
                (("sort", "--precision", "f32"), "precision"),
                (("sort", "--errors"), "sort is exact"),
                (("sort", "--explain", "--csv"), "--explain"),
                (("sort", "--argsort=file"), "argsort"),
                (("sort", "--html", "x"), "html")):
            self.fail_with(2, "bench", *args, says=says)


if __name__ == "__main__":
    unittest.main()
