"""tessera bench: its table, its rows, and that it ends well."""

import csv
import fcntl
import io
import json
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import termios
import time
import unittest

from cli_support import (ATTEMPTS, COMMAND, SANITIZED, SANITIZER_CRASH, Case, environment,
                         has_opencl)

# One row is done however soon the budget ends; of several, none may be late.
QUICK = ("--budget", "0.4")
SEVERAL = ("--budget", "15")


def rows_of(text):
    return [json.loads(line) for line in text.splitlines()]


class Bench(Case):
    device = ("--device", "host")

    def bench(self, *args, **options):
        return self.succeed("bench", *args, *self.device, **options)

    def rows(self, *args, **options):
        return rows_of(self.bench(*args, "--json", "--quiet", **options).out)

    def check_row(self, row):
        self.assertEqual(row["schema"], "tessera-result-2")
        self.assertTrue(row["verified"], row)
        self.assertLessEqual(row["worst"], 1)
        self.assertGreaterEqual(row["samples"], 3)
        times = [row[k + "_ns"] for k in ("min", "low", "median", "high", "max")]
        self.assertEqual(times, sorted(times))
        self.assertGreater(times[0], 0)
        amount = row["bytes"] if row["unit"] == "GB/s" else row["work"]
        factor = 1e3 if row["unit"] == "Mkeys/s" else 1
        self.assertAlmostEqual(row["rate"] / (amount / row["median_ns"] * factor), 1, places=9)


@unittest.skipUnless(has_opencl(), "no OpenCL device")
@unittest.skipIf(SANITIZED, "the sweep runs the host's code of every variant")
class Ladder(Bench):
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
class Kernels(Bench):
    device = ()

    def test_explain(self):
        """The commands of a call: their bytes are those of passes over the keys."""
        n = 5000
        row, explained = rows_of(self.bench(
            "sort", "--kernel", "two-phase-registers", "--size", "5000", "--argsort", "--explain",
            "--set", "STAGES=1", "--set", "GROUP=1024", "--json", "--quiet", *QUICK).out)
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
        r = self.bench("sort", "--kernel", "naive", "--size", "5", "--explain", *QUICK)
        self.assertRegex(r.out, r"(?m)^  naive +[\d.]+ [mun]?s .* exact$")
        self.assertRegex(r.out, r"(?m)^ +6 sort_naive +[\d.]+ us ")
        self.assertRegex(r.out, r"(?m)^ +6 x sort_naive ")
        self.assertRegex(r.out, r"(?m)^ +6 x the whole call ")
        self.assertRegex(r.out, r"(?m)^ +copying to the device ")
        self.assertLess(r.out.index("the whole call"), r.out.index("     1 sort_naive"))
        self.assertRegex(r.out, r"(?m)^ +6 x the whole call +[\d.]+ us 100\.0% ")
        # One command moves what the problem takes.
        r = self.bench("matvec", "--kernel", "row-item", "--size", "30x20", "--explain",
                       *QUICK)
        self.assertRegex(r.out, r"(?m)^ +1 \S+ +[\d.]+ us +[\d.]+% +1.00 +0.0026 ")

    def test_the_host_has_no_commands(self):
        r = self.succeed("bench", "sort", "--size", "50", "--explain", "--device", "host", *QUICK)
        self.assertIn("hint: C code on the host has no commands", r.err)
        self.assertNotIn("commands of one", r.out)

    def test_cold_and_warm(self):
        """A row is cold where sets in an eighth of the memory are more than the cache holds."""
        cold, = self.rows("matmul", "--size", "2000x500x10", *QUICK)
        warm, = self.rows("matmul", "--size", "2000x500x10", "--warm", *QUICK)
        devices = json.loads(self.succeed("devices", "--json").out)["devices"]
        one = next(d for d in devices if d["name"] == cold["device"])
        level3 = subprocess.run(["getconf", "LEVEL3_CACHE_SIZE"], stdout=subprocess.PIPE,
                                check=True).stdout.strip()
        cache = max(one["cache_bytes"], int(level3) if level3.isdigit() else 0)
        host = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        sets_bytes = min(one["global_memory_bytes"], host) // 8 - 2 * 4 * 2000 * 520
        self.assertEqual(cold["cold"], sets_bytes > cache)
        self.assertFalse(warm["cold"])
        tiny, = self.rows("matmul", "--size", "4", *QUICK)
        self.assertFalse(tiny["cold"], "a thousand sets of 192 bytes stay in the cache")

    def test_settings(self):
        rows = self.rows("matmul", "--size", "64", "--kernel", "tiled", "--set", "TILE=8,16",
                         *SEVERAL)
        self.assertEqual([r["parameters"] for r in rows], ["TILE=8", "TILE=16"])
        self.assertIn("-DTILE=16", rows[1]["options"])

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

    def test_the_first_keys(self):
        """The rate counts all keys, also of a variant that does not sort them all."""
        for name in "naive", "tiles":
            row, = self.rows("sort", "--size", "5000", "--top", "7", "--kernel", name, *QUICK)
            self.check_row(row)
            self.assertEqual((row["op"], row["problem"], row["size"], row["work"], row["bytes"]),
                             ("topk", "first 7 of 5000 uint32", "5000", 5000, 4 * 5000 + 4 * 7))
        row, = self.rows("topk", "--size", "5000", "--device", "host", *QUICK)
        self.assertEqual(row["problem"], "first 100 of 5000 uint32")
        row, = self.rows("sort", "--size", "30x70", "--top", "3", "--argsort", "--device", "host",
                         *QUICK)
        self.assertEqual(row["problem"], "first 3 of each of 30 rows of 70 uint32 argsort")
        for args, says in ((("matvec",), "matvec has no --top"),
                           (("overlap",), "overlap has no --top"),
                           (("sort", "--size", "3x4", "--segments", "mixed"),
                            "--segments mixed and --top exclude each other")):
            self.fail_with(2, "bench", *args, "--top", "7", says=says)

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
        for args, says in ((("bench", "matmul"), "matmul has no --order, which is of sort"),
                           (("bench", "matvec"), "matvec has no --order"),
                           (("bench", "overlap"), "overlap has no --order"),
                           (("tune", "sort"), "tune takes no option '--order'")):
            self.fail_with(2, *args, "--order", "sorted", says=says)
        for wrong in "shuffled", "special", "uniform", "Sorted":
            self.fail_with(2, "bench", "sort", "--order", wrong,
                           says="takes random, sorted, reversed, constant, few-values, two-values "
                           "or sawtooth, not '%s'" % wrong)

    def test_unsupported_kernel(self):
        r = self.tessera("bench", "matvec", "--size", "30", "--kernel", "columns-vector")
        self.assertEqual(r.status, 1, r)
        self.assertIn("unsupported: ", r.out)
        self.assertIn("nothing ran", r.err)

    def test_batches_and_types(self):
        row, = self.rows("matmul", "--size", "16x8x4", "--batch", "7", "--type", "bf16",
                         "--out-type", "f32", "--device", "host")
        self.assertEqual(row["problem"], "16x8x4 bfloat16 to float32 x 7")
        self.assertEqual((row["type"], row["precision"], row["size"]),
                         ("bfloat16", "bf16", "16x8x4"))
        self.assertEqual(row["work"], 2 * 16 * 8 * 4 * 7)
        self.assertEqual(row["bytes"], 7 * (2 * (16 * 4 + 4 * 8) + 4 * 16 * 8))
        self.assertTrue(row["verified"])
        row, = self.rows("matmul", "--size", "8", "--type", "f16", "--device", "host")
        self.assertEqual((row["problem"], row["precision"]), ("8x8x8 float16", "f16"))
        self.fail_with(2, "bench", "sort", "--batch", "3", says="sort has no --batch")
        self.fail_with(2, "bench", "matmul", "--batch", "0", says="--batch")
        row, = self.rows("matvec", "--size", "16x8", "--batch", "7", "--type", "f16",
                         "--out-type", "f32", "--trans", "--device", "host")
        self.assertEqual((row["problem"], row["type"], row["precision"], row["size"]),
                         ("16x8 float16 to float32 x 7 transposed", "float16", "f16", "16x8"))
        self.assertEqual((row["work"], row["bytes"]),
                         (2 * 16 * 8 * 7, 7 * (2 * (16 * 8 + 16) + 4 * 8)))
        self.assertTrue(row["verified"])
        self.fail_with(2, "bench", "sort", "--out-type", "f32", says="sort has no --out-type")

    def bench_broken(self, old, new):
        """The naive kernel with a change, on two sizes: the run, and the rows that it wrote."""
        source = self.succeed("kernels", "matmul", "naive", "--source").out
        self.assertIn(old, source)
        os.makedirs(self.path("cl/matmul"))
        self.write(os.path.join("cl", "matmul/matmul_naive.cl"), source.replace(old, new))
        r = self.tessera("bench", "matmul", "--size", "32", "--size", "40", "--kernel", "naive",
                         "--kernel-dir", "cl", "-o", "r.json", *SEVERAL)
        with open(self.path("r.json"), encoding="utf-8") as f:
            return r, rows_of(f.read())

    def test_a_wrong_kernel_is_not_timed(self):
        r, rows = self.bench_broken("= sum;", "= sum * 1.01f;")
        self.assertEqual(r.status, 3, r)
        self.assertEqual([row["size"] for row in rows], ["32x32x32", "40x40x40"])
        for row in rows:
            self.assertEqual([row[k] for k in ("name", "outcome", "samples", "rate", "verified")],
                             ["naive", "wrong", 0, 0, False])
            self.assertGreater(row["worst"], 1)
            self.assertIn(row["unsupported"], r.err)
            self.assertIn("WRONG: " + row["unsupported"], r.out)

    def test_a_kernel_that_fails_has_a_row(self):
        r, rows = self.bench_broken("= sum;", "= some;")
        self.assertEqual(r.status, 1, r)
        for row in rows:
            self.assertEqual([row[k] for k in ("name", "outcome", "samples", "verified")],
                             ["naive", "failed", 0, False])
            self.assertIn("some", row["unsupported"])
            self.assertIn("  naive                    failed: ", r.out)
        self.assertEqual(len(rows), 2)

    def test_what_selected_a_variant(self):
        args = ("matmul", "--size", "32", *QUICK)
        row, = self.rows(*args)
        self.assertEqual(row["selected"], "preferred")
        row, = self.rows(*args, "--kernel", "naive")
        self.assertEqual((row["selected"], row["name"]), ("named", "naive"))
        own = {"TESSERA_TUNING_DIR": self.path("tuning")}
        self.succeed("tune", "matmul", "--size", "32", "--kernel", "naive", "--budget", "2",
                     env=own)
        row, = self.rows(*args, env=own)
        self.assertEqual((row["selected"], row["name"]), ("tuned", "naive"))
        row, = self.rows(*args, "--kernel", "tiled", env=own)
        self.assertEqual((row["selected"], row["name"]), ("named", "tiled"))

    def interrupted(self, **env):
        """Status and output of a run that gets Ctrl-C when its file is there."""
        with subprocess.Popen([COMMAND, "bench", "matmul", "--kernel", "all", "--size", "32",
                               "--size", "48", "--size", "200", "-o", "r.json"],
                              cwd=self.folder, env=environment(**env), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as p:
            until = time.monotonic() + 120
            while not os.path.exists(self.path("r.json")) and time.monotonic() < until:
                time.sleep(0.05)
            p.send_signal(signal.SIGINT)
            return p, *p.communicate(timeout=120)

    def test_interrupt(self):
        """Ctrl-C: status 130, and the file holds whole rows."""
        for env in ATTEMPTS:
            p, out, err = self.interrupted(**env)
            if SANITIZER_CRASH not in err:
                break
            os.remove(self.path("r.json"))
        self.assertEqual(p.returncode, 130, err)
        self.assertRegex(err.decode(), r"(?m)^tessera: bench: interrupted: \d+ of \d+ rows")
        total = int(re.search(rb"of (\d+) rows", err)[1])
        with open(self.path("r.json"), encoding="utf-8") as f:
            rows = rows_of(f.read())
        self.assertGreaterEqual(len(rows), 1)
        self.assertLess(len(rows), total)
        self.check_row(rows[0])
        self.assertEqual(self.names(), ["r.json"])
        self.assertIn(b"\nmatmul 32x32x32", out)

    def test_peers_that_are_missing(self):
        os.mkdir(self.path("none"))
        r = self.succeed("bench", "sort", "--size", "1000", "--peers", *QUICK,
                         env={"TESSERA_PEER_DIR": self.path("none")})
        for package in ("libboost-dev", "libtbb-dev"):
            self.assertIn(package, r.err)
        self.assertNotIn("OpenBLAS", r.err)
        self.assertIn("wall time of calls back to back", r.out)

    @unittest.skipIf(SANITIZED, "the plain build measures times")
    def test_the_timer_is_honest(self):
        """The same kernel twice differs by less than the spread it prints.  The machine may have
        other work: one of three tries has to pass."""
        args = ("matmul", "--kernel", "tiled", "--size", "160", "--size", "160", "--repeat", "40",
                "--budget", "12")
        for _ in range(3):
            a, b = self.rows(*args)
            spread = max((r["high_ns"] - r["low_ns"]) / 2 for r in (a, b))
            if abs(a["median_ns"] - b["median_ns"]) <= spread:
                return
        self.fail("%g and %g ns differ by more than %g" % (a["median_ns"], b["median_ns"], spread))


FAMILIES = ["uniform", "wide", "cancelling", "special"]


class Errors(Bench):
    """--errors: how exact each variant is, beside its speed."""

    def errors(self, *args, **options):
        """The rows of errors by name and family, the others by name."""
        rows = self.rows(*args, "--errors", **options)
        timed = {r["name"]: r for r in rows if r["kind"] != "error"}
        found = {}
        for r in rows[len(timed):]:
            self.assertEqual(r["kind"], "error")
            found.setdefault(r["name"], {})[r["family"]] = r
        return found, timed

    def check_errors(self, found, timed, names, length):
        self.assertEqual(list(found), names)
        for name, families in found.items():
            self.assertEqual(list(families), FAMILIES)
            for row in families.values():
                self.assertEqual([row[k] for k in ("median_ns", "rate", "parameters", "subject")],
                                 [timed[name][k] for k in ("median_ns", "rate", "parameters")]
                                 + [timed[name]["kind"]])
                self.assertEqual(row["class_errors"], 0, row)
                self.assertGreater(row["elements"], 0)
                self.assertGreater(row["error_rms"], 0)
                self.assertLess(row["error_rms"], row["error_max"])
                self.assertLess(row["error_max"], length * row["roundoff"], row)

    def test_variants_in_c(self):
        for args, length, unit in (
                (("matmul", "--size", "30x20x512", "--kernel", "all"), 512, 2**-24),
                (("matmul", "--size", "30x20x600", "--type", "f64", "--trans-a"), 600, 2**-53),
                (("matmul", "--size", "16x16x40", "--type", "f16", "--batch", "3"), 40, 2**-11),
                (("matvec", "--size", "40x700"), 700, 2**-24)):
            found, timed = self.errors(*args)
            self.check_errors(found, timed, [n for n, r in timed.items() if r["samples"]], length)
            self.assertIn("simd", found)
            for families in found.values():
                self.assertEqual({row["roundoff"] for row in families.values()}, {unit})
                self.assertFalse(any(row["sampled"] for row in families.values()))

    def test_table(self):
        r = self.bench("matmul", "--size", "30x20x512", "--size", "8x9x512", "--kernel", "openmp",
                       "--errors", "-o", "r.json")
        self.assertEqual(len(re.findall(
            r"(?m)^  errors: .*u = 2\^-24, \d+ elements \(special \d+\)$\n"
            r"^ +uniform +wide +cancelling +special$\n"
            r"^  kernel +GFLOP/s( +max +rms){4} +classes$\n"
            r"^  openmp +[\d.]+( +[\d.]+){8} +right$", r.out)), 2)
        r = self.succeed("compare", "r.json", "--json", "--html", "r.html")
        self.assertEqual([line["name"] for line in json.loads(r.out)["lines"]], ["openmp"] * 2)
        with open(self.path("r.html"), encoding="utf-8") as f:
            page = f.read()
        self.assertIn('<a href="#errors">', page)
        part = page[page.index('<section id="errors">'):]
        part = part[:part.index("</section>")]
        self.assertEqual(re.findall(r"<caption>matmul (\S+) float32 on ", part),
                         ["30x20x512", "8x9x512"])
        self.assertEqual(len(re.findall(r'<th scope="row">openmp</th><td>f32</td>'
                                        r'<td class="n">\S+ GFLOP/s</td>'
                                        r'(?:<td class="n">[\d.]+</td>){8}<td class="n">0</td>',
                                        part)), 2)

    def test_elements_of_each_family(self):
        """The head of the table says what the rows say: special inputs leave some out."""
        for type_ in ("f32", "f16"):
            r = self.bench("matmul", "--size", "40x40x100", "--kernel", "ikj", "--type", type_,
                           "--errors", "-o", "r.json", "--budget", "1")
            with open(self.path("r.json"), encoding="utf-8") as f:
                n = {row["family"]: row["elements"] for row in rows_of(f.read())
                     if row["kind"] == "error"}
            self.assertEqual(n["uniform"], 1600)
            self.assertLess(n["special"], 1600)
            less = ", ".join("%s %d" % x for x in n.items() if x[1] < 1600)
            self.assertRegex(r.out, r"(?m)^  errors: .*, 1600 elements \(%s\)$" % less)

    def test_what_does_not_run_has_no_errors(self):
        rows = self.rows("matmul", "--size", "64", "--kernel", "openmp", "--errors", "--budget",
                         "1e-9", "--size", "65")
        self.assertEqual([r["kind"] for r in rows if r["outcome"] == "late"], ["kernel"])

    @unittest.skipUnless(has_opencl(), "no OpenCL device")
    def test_kernels(self):
        """Float32 sums of 512 terms, one after another, in parts, and in vectors, are off by less
        than 512 u.  The sweep bounds those of every variant."""
        self.device = ()
        for name in "naive", "pipelined", "cpu-block":
            found, timed = self.errors("matmul", "--size", "40x36x512", "--kernel", name, *QUICK)
            self.check_errors(found, timed, [name], 512)

    @unittest.skipUnless(has_opencl(), "no OpenCL device")
    def test_a_precision_that_rounds(self):
        """What TF32 loses shows in units of float32's roundoff."""
        self.device = ()
        found, _ = self.errors("matmul", "--size", "40x36x512", "--kernel", "general-tiled",
                               "--precision", "tf32")
        row = found["general-tiled"]["uniform"]
        self.assertEqual(row["roundoff"], 2**-24)
        self.assertGreater(row["error_max"] / 2**-24, 256)
        self.assertLess(row["error_max"] / 2**-24, 2**14)

    def doctored(self, new):
        """The naive kernel with another last line, which its verification takes."""
        old = "= sum;"
        source = self.succeed("kernels", "matmul", "naive", "--source").out
        self.assertIn(old, source)
        os.makedirs(self.path("cl/matmul"), exist_ok=True)
        self.write(os.path.join("cl", "matmul/matmul_naive.cl"), source.replace(old, new))
        found, timed = self.errors("matmul", "--size", "40x36x512", "--kernel", "naive",
                                   "--kernel-dir", "cl")
        self.assertEqual((timed["naive"]["outcome"], timed["naive"]["verified"]), ("timed", True))
        return found["naive"]

    @unittest.skipUnless(has_opencl(), "no OpenCL device")
    def test_doctored_kernels(self):
        """They pass the bound that any order of 512 additions allows, and stand out here."""
        self.device = ()
        right = self.doctored("= sum;")
        self.assertLess(right["uniform"]["error_rms"], 2 * 2**-24)
        biased = self.doctored("= sum * 1.0000152587890625f;")
        for key in ("error_max", "error_rms"):
            self.assertGreater(biased["uniform"][key], 4 * right["uniform"][key])
        self.assertEqual(biased["special"]["class_errors"], 0)
        hidden = self.doctored("= isnan(sum) ? 0 : sum;")
        self.assertEqual(hidden["uniform"]["error_max"], right["uniform"]["error_max"])
        self.assertGreater(hidden["special"]["class_errors"], 40 * 36 // 20)


class Progress(Bench):
    def on_terminal(self, columns):
        """What a run says on a terminal that is so wide: one text for each time it was redrawn."""
        terminal, user = pty.openpty()
        fcntl.ioctl(user, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        try:
            done = subprocess.run([COMMAND, "bench", "sort", "--size", "100k", *self.device, *QUICK],
                                  stdout=subprocess.DEVNULL, stderr=user, timeout=300,
                                  env=environment())
            os.close(user)
            said = b""
            while True:
                try:
                    more = os.read(terminal, 65536)
                except OSError:  # the other end is closed
                    break
                if not more:
                    break
                said += more
        finally:
            os.close(terminal)
        self.assertEqual(done.returncode, 0)
        return said.decode().split("\r\x1b[K")

    def test_line_fits_the_terminal(self):
        """A longer one would leave its first part behind at each redrawing."""
        for columns in (44, 200):
            lines = [s for s in self.on_terminal(columns) if s.startswith("[")]
            self.assertTrue(lines)
            self.assertTrue(all(len(s) < columns and "\n" not in s for s in lines), lines)
        self.assertIn(" on host", lines[0])


class Host(Bench):
    def test_variants_in_c(self):
        rows = self.rows("matmul", "--kernel", "all", "--size", "40x50x60", *SEVERAL)
        self.assertIn("ijk", [r["name"] for r in rows])
        for row in rows:
            if not row["unsupported"]:
                self.check_row(row)
            self.assertEqual((row["timer"], row["device_id"], row["place"]),
                             ("wall", "host", "host"))
            self.assertEqual(row["build_cold_ns"], 0)

    def test_sizes(self):
        for size, wanted in (("2^10", "1024"), ("3k", "3000"), ("17", "17")):
            row, = self.rows("sort", "--size", size, "--budget", "0.2")
            self.assertEqual(row["size"], wanted)
        rows = self.rows("matvec", "--size", "12", "--size", "3x4", "--trans", "--budget", "0.2")
        self.assertEqual([r["size"] for r in rows], ["12x12", "3x4"])

    def test_a_problem_that_nothing_takes(self):
        """The library chooses nothing, so there is no name to print."""
        r = self.tessera("bench", "sort", "--size", "2^60", *self.device)
        self.assertEqual(r.status, 1, r)
        self.assertRegex(r.out, r"(?m)^  \(none\) +unsupported: it needs \d+ bytes")

    def test_files(self):
        """-o takes the rows while the table goes to standard output; CSV on request."""
        r = self.bench("sort", "--size", "100", "--size", "200", "-o", "r.json", *SEVERAL)
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

    def test_budget(self):
        r = self.bench("matmul", "--kernel", "all", *["--size=200"] * 20, "--budget", "1")
        self.assertIn("the budget is over", r.err)

    def test_rows_that_the_budget_does_not_reach(self):
        """Each is named, in the table and for programs."""
        r = self.bench("matmul", "--kernel", "all", "--size", "150", "--size", "151", "--budget",
                       "0.01", "-o", "r.json")
        listing = json.loads(self.succeed("kernels", "matmul", *self.device, "--json").out)
        names = [v["name"] for v in listing["operations"][0]["variants"] if not v.get("file")]
        with open(self.path("r.json"), encoding="utf-8") as f:
            rows = rows_of(f.read())
        self.assertEqual([(row["size"], row["name"]) for row in rows],
                         [(size, name) for size in ("150x150x150", "151x151x151")
                          for name in names])
        late = [row for row in rows if row["outcome"] == "late"]
        self.assertGreaterEqual(len(late), len(names))
        for row in late:
            self.assertEqual((row["unsupported"], row["samples"], row["timer"]),
                             ("the budget is over", 0, "wall"))
            self.assertRegex(r.out, r"(?m)^  %s +left out: the budget is over$" % row["name"])
        self.assertIn("%d of %d rows are left out" % (len(late), len(rows)), r.err)

    def test_what_a_call_gets_is_measured_first(self):
        """A budget that one row uses up leaves out all but that of the default, in its place."""
        args = ("matmul", "--size", "90", *self.device)
        text = self.succeed("kernels", *args).out.split("\n\n", 1)[1]
        chosen, = re.findall(r"(?m)^  (\S+): .*\n      chosen by default$", text)
        names = re.findall(r"(?m)^  (\S+): ", text)
        self.assertNotEqual(chosen, names[0])
        rows = self.rows("matmul", "--size", "90", "--kernel", "all", "--budget", "1e-9")
        self.assertEqual([row["name"] for row in rows], names)
        self.assertEqual([row["name"] for row in rows if row["outcome"] == "timed"], [chosen])

    def test_wrong_command_lines(self):
        for args, says in (
                ((), "0 of 1"),
                (("multiply",), "multiply"),
                (("sort", "--size", "3x4x5"), "3x4"),
                (("matmul", "--size", "3x4"), "3x4"),
                (("matmul", "--size", "3x4x5x6"), "3x4x5x6"),
                (("matmul", "--size", "12q"), "12q"),
                (("matmul", "--size", "2^70"),
                 "--size '2^70' is too large: a number is at most 18446744073709551615"),
                (("sort", "--size", "20000000000G"), "'20000000000G' is too large: a number is at"),
                (("matvec", "--size", "3x2^64"), "'3x2^64' is too large"),
                (("matmul", "--size", "2^40"), "'2^40' is too large: a matrix has at most 1844674"),
                (("matmul", "--size", "2^"), "'2^' is no size"),
                (("matmul", "--size", "-1"), "-1"),
                (("matmul", "--size", "0"), "'0' is an empty matmul"),
                (("matmul", "--size", "8", "--size", "3x4x0"), "'3x4x0' is an empty"),
                (("matvec", "--size", "0x5"), "'0x5' is an empty"),
                (("sort", "--size", "0"), "'0' is an empty sort"),
                (("sort", "--size", "0^2"), "'0^2' is an empty"),
                (("matmul", "--size", "99999999999999999999"), "9999"),
                (("matmul", "--trans"), "trans"),
                (("sort", "--precision", "f32"), "precision"),
                (("matmul", "--kernel", "fastest"), "fastest"),
                (("matmul", "--set", "TILE=8"), "TILE=8"),
                (("matmul", "--kernel", "all", "--set", "TILE=8"), "TILE=8"),
                (("matmul", "--kernel", "tiled", "--set", "TILE=8,9"), "'9'"),
                (("matmul", "--kernel", "tiled", "--set", "TILE=8,"), "TILE"),
                (("matmul", "--budget", "0"), "budget"),
                (("sort", "--errors"), "a sort is exact"),
                (("matvec", "--held"), "--held needs --peers"),
                (("sort", "--held", "--peers"), "which a sort uses up"),
                (("matmul", "--errors", "--csv"), "--csv"),
                (("sort", "--explain", "--csv"), "--explain"),
                (("sort", "--argsort=file"), "argsort"),
                (("sort", "--html", "x"), "html")):
            self.fail_with(2, "bench", *args, says=says)


if __name__ == "__main__":
    unittest.main()
