"""The table that scripts/figures.py makes of made-up rows, and which rows it draws."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPTS = os.path.join(HERE, "..", "..", "scripts")
sys.path[:0] = [SCRIPTS, os.path.join(HERE, "..", "report")]

import figures  # noqa: E402
import made_up_rows  # noqa: E402
import results_rows  # noqa: E402
from made_up_rows import IN_BYTES, IN_FLOPS, IN_KEYS  # noqa: E402

GPU, CPU = made_up_rows.GPU, made_up_rows.CPU
MARKERS = f"head\n<!-- {figures.MARKER} -->\nold\n<!-- end {figures.MARKER} -->\ntail\n"
HELD_MARKERS = MARKERS.replace(figures.MARKER, figures.HELD_MARKER)


def ours(rate, op=IN_FLOPS, n=1024, where=GPU, **fields):
    fields = dict(dict(name="block", timer="wall", verified=True, limit_rate=1e6,
                       selected="preferred"), **fields)
    return made_up_rows.timed(made_up_rows.job(where, op, n, **fields), rate)


def peer(name, place, rate, *args, **fields):
    return ours(rate, *args, **dict(dict(kind="peer", name=name, place=place, selected="",
                                         peer_version="9.9"), **fields))


def refused(why, outcome="unsupported"):
    return dict(outcome=outcome, unsupported=why)


def limit(name, rate, where=GPU, **fields):
    unit = "GB/s" if name.startswith("memory") else "GFLOP/s"
    return made_up_rows.row(where, kind="limit", op="limit", problem=f"how {name} is measured",
                            type="", precision="", name=name, unit=unit, rate=rate, **fields)


def named(*rows, name="made-up"):
    return [(name, r) for r in rows]


def cells(*rows):
    """The table's lines as lists of cells, without the head."""
    lines = [s for s in figures.table(named(*rows)).splitlines() if s.startswith("|")]
    return [[c.strip() for c in s.strip("|").split("|")] for s in lines[2:]]


class Table(unittest.TestCase):
    def test_no_rows(self):
        self.assertEqual(figures.table([]), "No comparison with other libraries is recorded.")
        self.assertEqual(cells(*made_up_rows.limit_rows("gpu", GPU)), [])

    def test_peers_of_every_place(self):
        got = cells(ours(20000), peer("OpenBLAS", "host", 90000),
                    peer("CLBlast", "device", 15.5), peer("Slow CL", "device", 10),
                    peer("cuBLAS", "cuda", 40000))
        self.assertEqual(got, [[GPU["device"], f"{IN_FLOPS} 1024x1024x1024 float32",
                                "20.0 TFLOP/s, `block`", "cuBLAS 40.0 TFLOP/s", "0.50",
                                "CLBlast 15.5 GFLOP/s", "1,290"]])

    def test_processor_where_cuda_has_no_rate(self):
        job = (IN_KEYS, 1 << 20, CPU)
        got = cells(ours(600, *job), peer("CUB", "cuda", 900, *job, **refused("no such device")),
                    peer("wrong", "host", 900, *job, verified=False),
                    peer("std::sort", "host", 150, *job))
        self.assertEqual(got, [[CPU["device"], f"{IN_KEYS} 2^20 uint32", "600 Mkeys/s, `block`",
                                "std::sort 150 Mkeys/s", "4.00", "", ""]])

    def test_missing_peers(self):
        """What was not put beside others has no line; what none could do has one without them."""
        self.assertEqual(cells(ours(100)), [])
        got = cells(ours(100), peer("cuBLAS", "cuda", 1, **refused("too small")))
        self.assertEqual([line[3:] for line in got], [["", "", "", ""]])

    def test_which_row_is_ours(self):
        """Not a row by the device's clock, of a named variant, or of another job."""
        rival = peer("cuBLAS", "cuda", 50)
        for other in (ours(100, timer="events"), ours(100, selected="named"),
                      ours(100, n=512), ours(100, where=CPU), ours(100, cold=False),
                      ours(100, verified=False), ours(100, precision="tf32")):
            self.assertEqual(cells(other, rival), [], other)
        self.assertEqual(cells(ours(100), ours(7, timer="events"), rival), [])
        self.assertEqual(cells(ours(100), ours(200), rival)[0][4], "4.00")

    def test_peer_of_another_precision(self):
        """It is timed in the same comparison, but is of another job."""
        got = cells(ours(10), peer("cuBLAS TF32", "cuda", 90, precision="tf32",
                                   problem="1024x1024x1024 float32 tf32"), peer("b", "cuda", 20))
        self.assertEqual([line[1:5] for line in got], [
            [f"{IN_FLOPS} 1024x1024x1024 float32", "10.0 GFLOP/s, `block`", "b 20.0 GFLOP/s", "0.50"]])

    def test_by_the_clock_of_the_device(self):
        """In a table of their own, beside what ran through CUDA, and in no other."""
        held = dict(timer="held")
        rows = [dict(ours(100, **held), median_ns=2500.0), peer("OpenBLAS", "host", 90, **held),
                dict(peer("cuBLAS", "cuda", 80, **held), median_ns=3125.0),
                ours(70, n=64, **held), peer("cuBLAS", "cuda", 1, n=64, **refused("too small"))]
        self.assertEqual(cells(*rows), [])
        text = figures.held_table(named(*rows))
        self.assertIn(f"| {GPU['device']} | {IN_FLOPS} 1024x1024x1024 float32 | 2.50 us, `block` "
                      "| cuBLAS 3.12 us | 1.25 |\n\n- ", text)
        self.assertNotIn("64x64", text)
        self.assertEqual(figures.held_table(named(ours(100), peer("cuBLAS", "cuda", 50))),
                         "No comparison by the device's clock is recorded.")

    def test_unknown_place(self):
        with self.assertRaisesRegex(figures.Problem, "of x does not say where it ran: 'far away'"):
            cells(ours(1), peer("x", "far away", 1))

    def test_newest(self):
        """Of one job on one device, wherever it stands."""
        def compared(rate, day, **fields):
            when = f"2001-01-{day:02}T00:00:00Z"
            return ours(rate, when=when, **fields), peer("cuBLAS", "cuda", 100, when=when, **fields)

        got = cells(*compared(10, 2, driver="a"), *compared(30, 4, driver="b"),
                    *compared(20, 3, driver="c"))
        self.assertEqual([line[4] for line in got], ["0.30"])

    def test_order(self):
        """Devices as they come, each named once; operations, types and then sizes in order."""
        wide = dict(type="float64", problem="9x9x9 float64")
        rows = [ours(10, n=9, **wide), peer("a", "device", 10, n=9, **wide)]
        for where, op, n in ((GPU, IN_KEYS, 512), (GPU, IN_FLOPS, 2048), (CPU, IN_BYTES, 64),
                             (GPU, IN_FLOPS, 256), (GPU, IN_BYTES, 32)):
            rows += [ours(10, op, n, where), peer("a", "device", 10, op, n, where)]
        self.assertEqual([line[:2] for line in cells(*rows)], [
            [GPU["device"], f"{IN_FLOPS} 256x256x256 float32"],
            ["", f"{IN_FLOPS} 2048x2048x2048 float32"], ["", f"{IN_FLOPS} 9x9x9 float64"],
            ["", f"{IN_BYTES} 32x32 float32"], ["", f"{IN_KEYS} 512 uint32"],
            [CPU["device"], f"{IN_BYTES} 64x64 float32"]])

    def test_jobs(self):
        for fields, text in (
                (dict(problem="65536 uint32 descending"), f"{IN_KEYS} 2^16 uint32 descending"),
                (dict(problem="65537 uint32"), f"{IN_KEYS} 65537 uint32"),
                (dict(problem="32768 uint32"), f"{IN_KEYS} 32768 uint32"),
                (dict(problem="10000000 uint32"), f"{IN_KEYS} 10M uint32"),
                (dict(problem="1000000x10 float32"), f"{IN_KEYS} 1000000x10 float32"),
                (dict(problem="1024 uint32", cold=False), f"{IN_KEYS} 1024 uint32, warm")):
            self.assertEqual(figures.job_text(ours(1, IN_KEYS, **fields)), text)

    def test_rates(self):
        for rate, unit, text in ((0.3741, "GFLOP/s", "0.374 GFLOP/s"), (5, "GB/s", "5.00 GB/s"),
                                 (99.96, "GB/s", "100 GB/s"), (999.4, "GB/s", "999 GB/s"),
                                 (999.6, "GB/s", "1.00 TB/s"), (18923, "GFLOP/s", "18.9 TFLOP/s"),
                                 (2345678, "Mkeys/s", "2,350 Gkeys/s"), (1234, "us", "1,230 us")):
            self.assertEqual(figures.rate(dict(rate=rate, unit=unit)), text)

    def test_hostile_names(self):
        """A name from a file is text in its cell."""
        where = dict(GPU, device="a|b <img> `c`")
        got = figures.table(named(ours(1, where=where), peer("x|y", "device", 1, where=where)))
        self.assertIn(r"| a\|b \<img> \`c\` |", got)
        self.assertIn(r"x\|y 1.00 GFLOP/s", got)

    def test_what_was_compared(self):
        got = figures.table(named(
            ours(1), peer("b", "cuda", 2), peer("slower", "cuda", 1), peer("a", "device", 1),
            ours(1, n=8, when="2001-02-03T00:00:00Z"), peer("b", "cuda", 2, n=8)))
        self.assertEqual(got.splitlines()[-1],
                         "- Made-up GPU 9000, Made-up CL, driver 0.0 made up, "
                         "2001-01-01 to 2001-02-03: a (9.9), b (9.9).")


class ShortTable(unittest.TestCase):
    """The README's table: chosen lines, with the arithmetic of both sides."""

    def lines(self, wanted, *rows):
        text = figures.short_table(named(*rows), wanted)
        lines = [s for s in text.splitlines() if s.startswith("|")]
        return [[c.strip() for c in s.strip("|").split("|")] for s in lines[2:]]

    def test_order_and_arithmetic(self):
        job = f"{IN_FLOPS} 1024x1024x1024 float32"
        split = ours(20000, name="wgmma-3xtf32-fused", precision="f32")
        strict = dict(precision="f32-strict", problem="1024x1024x1024 float32 f32-strict")
        keys = dict(op=IN_KEYS, n=512, where=CPU, precision="")
        got = self.lines(((CPU["device"], f"{IN_KEYS} 512 uint32"), (GPU["device"], job + " f32-strict"),
                          (GPU["device"], job), (GPU["device"], f"{IN_FLOPS} 1x1x1 float32")),
                         split, peer("cuBLAS", "cuda", 10000, precision="f32"),
                         ours(3, **strict), peer("cuBLAS", "cuda", 2, **strict),
                         ours(5, **keys), peer("std::sort", "host", 1, **keys),
                         ours(1, n=2048), peer("cuBLAS", "cuda", 1, n=2048))
        self.assertEqual([line[:4] + line[5:6] for line in got], [
            [CPU["device"], f"{IN_KEYS} 512 uint32", "exact", "5.00 Mkeys/s, `block`", "5.00"],
            [GPU["device"], job + " f32-strict", "FP32 multiply-adds", "3.00 GFLOP/s, `block`",
             "1.50"],
            ["", job, "three TF32 products; cuBLAS: FP32",
             "20.0 TFLOP/s, `wgmma-3xtf32-fused`", "2.00"]])

    def test_readme_has_every_chosen_line(self):
        """Rows of each are recorded."""
        with open(os.path.join(SCRIPTS, "..", "README.md"), encoding="utf-8") as f:
            text = f.read().split(f"<!-- {figures.MARKER} -->")[1].split("<!-- end ")[0]
        self.assertEqual(text.count("\n| ") - 2, len(figures.SHOWN))


class Drawn(unittest.TestCase):
    """Which rows a picture is made of."""

    def drawn(self, *rows):
        return {device: [r["name"] for r in kept]
                for (_, device), kept in figures.drawable(rows).items()}

    def test_only_what_belongs_together(self):
        rows = [limit("fp32", 900), limit("fp64", 450), limit("memory read", 80),
                limit("memory copy", 70, **refused("too little memory")),
                ours(5, bound_by="fp32", name="tiled", timer="events"), ours(9, bound_by="fp32"),
                peer("cuBLAS", "cuda", 10), peer("elsewhere", "host", 1, limit_rate=0.0)]
        self.assertEqual(self.drawn(*rows), {
            GPU["device"]: ["fp32", "memory read", "tiled", "block", "cuBLAS"]})
        self.assertEqual(self.drawn(*rows[:2], *rows[4:]), {}, "no limit of memory")
        self.assertEqual(self.drawn(*rows[:4]), {}, "no kernel")

    def test_newest(self):
        """Of one line the newest row, and of a device the newest driver."""
        old, new = dict(when="2001-01-01T00:00:00Z"), dict(when="2001-01-02T00:00:00Z")
        rows = [ours(2, **new), limit("memory read", 80), ours(1, **old)]
        (kept,) = figures.drawable(rows).values()
        self.assertEqual([r["rate"] for r in kept], [2, 80])
        later = dict(driver="later", when="2001-01-03T00:00:00Z")
        rows += [limit("memory read", 90, **later), ours(3, **later)]
        for order in (rows, rows[::-1]):
            (kept,) = figures.drawable(order).values()
            self.assertEqual(sorted(r["rate"] for r in kept), [3, 90])

    def test_names(self):
        def device(where):
            return [limit("memory read", 80, where), ours(1, where=where)]

        rows = [*named(*device(GPU), *device(CPU), name="x"), *named(*device(GPU), name="y"),
                *named(ours(1, where=dict(GPU, device="no limits")), name="z")]
        self.assertEqual({d: n for (_, d), n in figures.picture_names(rows).items()},
                         {GPU["device"]: "x", CPU["device"]: "x-2"})
        got = figures.document("roofline-x.png\n" + MARKERS, rows, ())
        self.assertIn("- Further rooflines: [x-2](docs/images/roofline-x-2.png).", got)


class Document(unittest.TestCase):
    def test_file_names(self):
        for path in ("a/ladder-x-1.jsonl", "bench-x-1.jsonl", "x-1.jsonl"):
            self.assertEqual(results_rows.name_of(path), "x-1")

    def test_broken_rows(self):
        with tempfile.TemporaryDirectory() as folder:
            path = made_up_rows.write(os.path.join(folder, "r.jsonl"), [ours(1)])
            with open(path, "a", encoding="utf-8") as f:
                f.write("{\n")
            with self.assertRaisesRegex(ValueError, "r.jsonl, line 2: "):
                list(results_rows.read([path]))

    def test_between_markers(self):
        got = figures.document(MARKERS, [], figures.SHOWN)
        self.assertEqual(got, MARKERS.replace("old", "\n" + figures.table([]) + "\n"))
        self.assertEqual(figures.document(got, [], figures.SHOWN), got)

    def test_page_of_an_operation(self):
        """What was compared of it on one device, by both clocks; other text stays."""
        place = f"figures: {IN_BYTES} on made-up"
        page = MARKERS.replace(figures.MARKER, place)
        job, other = (IN_BYTES, 512), (IN_KEYS, 1 << 20)
        by_wall = named(ours(100, *job), peer("a", "cuda", 50, *job))
        held = named(ours(90, *job, timer="held"), peer("a", "cuda", 45, *job, timer="held"))
        others = (named(ours(1, *other), peer("b", "cuda", 2, *other))
                  + named(ours(3, *job), peer("c", "cuda", 4, *job), name="elsewhere"))

        def body(rows):
            return figures.operation_page(page, rows + others).split(f"<!-- {place} -->\n\n")[1]

        self.assertTrue(body([]).startswith("No comparison with other libraries is recorded.\n\n<!--"))
        self.assertTrue(body(by_wall).startswith(figures.table(by_wall) + "\n\n<!--"))
        clock = "By the device's clock (`bench --held`):\n\n" + figures.held_table(held) + "\n\n<!--"
        self.assertTrue(body(held).startswith(clock))
        self.assertTrue(body(by_wall + held).startswith(figures.table(by_wall) + "\n\n" + clock))
        self.assertEqual(figures.operation_page(MARKERS, by_wall), MARKERS)

    def test_markers_that_are_no_pair(self):
        backwards = "".join(reversed(MARKERS.splitlines(keepends=True)))
        begin, _, end, _ = MARKERS.splitlines(keepends=True)[1:]
        for text in ("", MARKERS + begin, MARKERS + end, backwards):
            with self.assertRaisesRegex(ValueError, "not one pair"):
                results_rows.put(text, figures.MARKER, "body")

    def test_check(self):
        """The command says in one line that a table is old, and writes nothing."""
        device, shown_job = figures.SHOWN[0]
        with tempfile.TemporaryDirectory() as folder:
            readme, every, rows = (os.path.join(folder, name) for name in
                                   ("README.md", "comparisons.md", "bench-a.jsonl"))
            job = dict(where=dict(GPU, device=device), n=4096)
            made_up_rows.write(rows, [limit("memory read", 9), ours(1, **job),
                                      peer("a", "device", 1, **job),
                                      ours(1, n=999), peer("a", "device", 1, n=999)])
            with open(rows, "a", encoding="utf-8") as f:
                f.write(json.dumps(dict(schema="tessera-run-1", op=IN_KEYS)) + "\n")
            read = [(n, r) for n, r in results_rows.read([rows]) if r["schema"] == figures.SCHEMA]
            some = figures.document(MARKERS, read, figures.SHOWN)
            all_jobs = (results_rows.put(MARKERS, figures.MARKER, figures.table(read))
                        + results_rows.put(HELD_MARKERS, figures.HELD_MARKER,
                                           figures.held_table(read)))
            self.assertIn(f"| {device} | {shown_job} | FP32 | ", some)
            self.assertNotIn("999", some)
            self.assertIn("999", all_jobs)
            for text, others, status, said in (
                    (some, all_jobs, 0, ""), (MARKERS, all_jobs, 1, "README.md is not"),
                    (some, some + HELD_MARKERS, 1, "comparisons.md is not"),
                    ("no markers\n", all_jobs, 1, "not one pair")):
                for path, content in ((readme, text), (every, others)):
                    with open(path, "w", encoding="utf-8") as f:
                        f.write(content)
                done = subprocess.run(
                    [sys.executable, os.path.join(SCRIPTS, "figures.py"), "--check", "--tessera",
                     "none", "--images", folder, "--readme", readme, "--comparisons", every,
                     rows],
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                self.assertEqual((done.returncode, done.stdout), (status, ""))
                self.assertEqual(done.stderr.count("\n"), status)
                self.assertIn(said, done.stderr)
                with open(readme, encoding="utf-8") as f:
                    self.assertEqual(f.read(), text)


if __name__ == "__main__":
    unittest.main()
