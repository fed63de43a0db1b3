"""tessera bench matmul."""

import json
import os
import re
import signal
import subprocess
import time
import unittest

import test_bench
from cli_support import (ATTEMPTS, BRIEF, COMMAND, SANITIZER_CRASH, environment,
                         has_opencl)
from test_bench import QUICK, rows_of


@unittest.skipUnless(has_opencl(), "no OpenCL device")
class Kernels(test_bench.Bench):
    device = ()

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
        rows = self.rows("matmul", "--size", "64", "--kernel", "tiled", "--set", "TILE=8,16")
        self.assertEqual([r["parameters"] for r in rows], ["TILE=8", "TILE=16"])
        self.assertIn("-DTILE=16", rows[1]["options"])

    def bench_broken(self, old, new):
        """The naive kernel with a change, on two sizes: the run, and the rows that it wrote."""
        source = self.succeed("kernels", "matmul", "naive", "--source").out
        self.assertIn(old, source)
        os.makedirs(self.path("cl/matmul"))
        self.write(os.path.join("cl", "matmul/matmul_naive.cl"), source.replace(old, new))
        r = self.tessera("bench", "matmul", "--size", "32", "--size", "40", "--kernel", "naive",
                         "--kernel-dir", "cl", "-o", "r.json", *BRIEF)
        self.assertIn("\nwith the kernel files of cl\n\nmatmul 32x32x32", r.out)
        with open(self.path("r.json"), encoding="utf-8") as f:
            return r, rows_of(f.read())

    def test_loads_explained(self):
        out = self.succeed("bench", "matmul", "--kernel", "tiled", "--size", "128", "--explain", "--seconds",
                           "0.001", "--device", "cpu").out
        self.assertRegex(out, r"68 bytes for each result \(16 loads and a store\), 15\.1 times less than naive")

    def test_loads_that_a_course_cannot_count(self):
        """Bytes of two types, or of several commands, do not say how many elements are loaded."""
        bench = "bench matmul --size 64 --kernel "
        commands = (bench + "general --precision bf16", bench + "general --type bf16 --out-type f32",
                    bench + "pipelined --set SPLIT=2", "bench reduce --size 4096")
        self.write("own.course", "course own Own\nabout A.\ntable t T\nlines 1\nsays S.\n" + "".join(
            "figure %s\nrow %d | - | 1 | %s\n" % (figure, i, command)
            for figure in ("loads", "flops-a-load") for i, command in enumerate(commands)) + "why W.\n")
        rows = rows_of(self.succeed("course", "own.course", "--json", "--repeat", "2", "--seconds", "0.01",
                                    "--device", "cpu").out)
        self.assertEqual([r["outcome"] for r in rows], (["timed"] + ["unsupported"] * 3) * 2)
        self.assertEqual([rows[0]["rate"], rows[4]["rate"]], [64, 1])
        for row in rows:
            if row["outcome"] != "timed":
                self.assertIn("only of a product in one command, with operands of one type", row["unsupported"])

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
        row, = self.rows("matmul", "--size", "5x8x4", "--trans-a", "--padding", "3", "--alpha", "2",
                         "--beta", "-1", "--device", "host")
        self.assertEqual(row["problem"], "5x8x4 float32 A^T alpha 2 beta -1 ld 8 11 11")
        self.assertEqual(row["bytes"], 4 * (5 * 4 + 4 * 8 + 2 * 5 * 8))
        self.assertTrue(row["verified"])
        self.fail_with(2, "bench", "sort", "--batch", "3", says="sort has no --batch")
        self.fail_with(2, "bench", "matmul", "--batch", "0", says="--batch")
        self.fail_with(2, "bench", "sort", "--out-type", "f32", says="sort has no --out-type")


FAMILIES = ["uniform", "wide", "cancelling", "special"]


class Errors(test_bench.Bench):
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
    def test_values_that_the_shape_gives(self):
        """A parameter that --set does not take, as the shape found it, is found again."""
        self.device = ()
        found, timed = self.errors("matmul", "--size", "24x59x70", "--kernel", "outer", *QUICK)
        self.assertIn("DEPTH=64", timed["outer"]["parameters"])
        self.check_errors(found, timed, ["outer"], 70)

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


class Host(test_bench.Bench):
    def test_variants_in_c(self):
        rows = self.rows("matmul", "--kernel", "all", "--size", "40x50x60")
        self.assertIn("ijk", [r["name"] for r in rows])
        for row in rows:
            if not row["unsupported"]:
                self.check_row(row)
            self.assertEqual((row["timer"], row["device_id"], row["place"]),
                             ("wall", "host", "host"))
            self.assertEqual(row["build_cold_ns"], 0)

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
                (("matmul", "--size", "3x4"), "3x4"),
                (("matmul", "--size", "3x4x5x6"), "3x4x5x6"),
                (("matmul", "--size", "12q"), "12q"),
                (("matmul", "--size", "2^70"), "--size '2^70' is too large: a number is at most 18446744073709551615"),
                (("matmul", "--size", "2^40"), "'2^40' is too large: a matrix has at most 1844674"),
                (("matmul", "--size", "2^"), "'2^' is no size"),
                (("matmul", "--size", "-1"), "-1"),
                (("matmul", "--size", "0"), "'0' is an empty matmul"),
                (("matmul", "--size", "8", "--size", "3x4x0"), "'3x4x0' is an empty"),
                (("matmul", "--size", "99999999999999999999"), "9999"),
                (("matmul", "--trans"), "trans"),
                (("matmul", "--kernel", "fastest"), "fastest"),
                (("matmul", "--set", "TILE=8"), "TILE=8"),
                (("matmul", "--kernel", "all", "--set", "TILE=8"), "TILE=8"),
                (("matmul", "--kernel", "tiled", "--set", "TILE=8,9"), "'9'"),
                (("matmul", "--kernel", "tiled", "--set", "TILE=8,"), "TILE"),
                (("matmul", "--budget", "0"), "budget"),
                (("matmul", "--seconds", "0"), "seconds"),
                (("matmul", "--padding", "-1"), "padding"),
                (("matmul", "--padding", "18446744073709551615"), "padding"),
                (("matmul", "--errors", "--beta", "1"), "--errors measures A B alone"),
                (("matmul", "--errors", "--csv"), "--csv")):
            self.fail_with(2, "bench", *args, says=says)


if __name__ == "__main__":
    unittest.main()
