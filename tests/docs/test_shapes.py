"""scripts/shapes.py: what it draws, and what it makes of rows."""

import collections
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
sys.path.insert(0, os.path.join(ROOT, "scripts"))

import shapes  # noqa: E402


def sides(size):
    return [int(n) for n in size.split("x")]


class Drawing(unittest.TestCase):
    def test_products(self):
        """As many as asked, of each kind, within the largest side."""
        runs = shapes.draw("bf16", 300, 1, 16384, 0)
        drawn = [(options, sides(size)) for options, sizes in runs.items() for size in sizes]
        self.assertGreater(len(drawn), 290)  # a few may be equal
        self.assertTrue(all(1 <= n <= 16384 for _, size in drawn for n in size))
        self.assertGreater(sum(min(size) <= shapes.SKINNY for _, size in drawn), 90)
        self.assertGreater(sum(max(size) <= 2 * min(size) for _, size in drawn), 80)
        counts = collections.Counter(
            ("--trans-a" in o, "--trans-b" in o, "--padding" in o) for o, _ in drawn)
        self.assertEqual(len(counts), 8)
        padded = sum(n for (*_, pad), n in counts.items() if pad)
        self.assertTrue(30 < padded < 90, padded)

    def test_the_seed_decides(self):
        for group in shapes.GROUPS:
            one, again, other = (shapes.draw(group, 20, seed, 2048, 2 ** 20) for seed in (1, 1, 2))
            self.assertEqual(one, again)
            self.assertNotEqual(one, other)

    def test_bench_takes_every_option(self):
        """It looks for the device once it has understood all else."""
        for group, about in shapes.GROUPS.items():
            for options, sizes in shapes.draw(group, 5, 1, 2048, 2 ** 20).items():
                words = [word for size in sizes for word in ("--size", size)]
                done = subprocess.run([os.environ["TESSERA"], "bench", about["bench"].split()[0],
                                       *options, *words, "--device", "nosuch"],
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                self.assertRegex(done.stderr, "device 'nosuch' is not there|no OpenCL device was found",
                                 (group, options))


class Measuring(unittest.TestCase):
    def test_one_bench_runs_all(self):
        """A problem a line, of every group; rows are those that it writes, added to the output."""
        with tempfile.TemporaryDirectory() as folder:
            fake, out = os.path.join(folder, "fake"), os.path.join(folder, "rows.jsonl")
            with open(fake, "w", encoding="utf-8") as f:
                f.write('#!/bin/sh\necho "$@" >> "%s/calls"\n[ "$4" = --build-only ] || '
                        'sort "$3"\n' % folder)
            os.chmod(fake, 0o755)
            args = ["--tessera", fake, "--device", "gpu", "--count", "3", "--held", "both", "--warm",
                    "-o", out]
            subprocess.run([sys.executable, "-c", "import sys, shapes; shapes.report = lambda *_: 1; "
                            "sys.exit(shapes.main())", *args], check=True, stderr=subprocess.PIPE,
                           cwd=os.path.dirname(shapes.__file__))
            with open(os.path.join(folder, "calls"), encoding="utf-8") as f:
                *builds, last = f.read().splitlines()
            with open(out, encoding="utf-8") as f:
                jobs = f.read().splitlines()
        self.assertTrue(builds and all("--build-only" in call for call in builds))
        for option in ("--peers --brief", "--held --wall", "--warm", "--device gpu", "-o -"):
            self.assertIn(option, last)
        drawn = sorted(
            " ".join(("bench", about["bench"].split()[0], *options, "--size", size))
            for group, about in shapes.GROUPS.items()
            for options, sizes in shapes.draw(group, 3, 1, 16384, 2 ** 27).items() for size in sizes)
        self.assertEqual(sorted(jobs), drawn)


class Report(unittest.TestCase):
    def report(self, rows):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "rows.jsonl")
            with open(path, "w", encoding="utf-8") as f:
                f.writelines(json.dumps(r) + "\n" for r in rows)
            done = subprocess.run([sys.executable, shapes.__file__, "--report", path],
                                  stdout=subprocess.PIPE, text=True)
            return (done.returncode, done.stdout, *shapes.compare(path))

    def test_nothing_is_compared(self):
        status, said, *_ = self.report([])
        self.assertEqual(status, 3)
        self.assertIn("nothing is compared", said)

    def test_ratios(self):
        """The fastest peer counts, and beside a library on the GPU none on the CPU does."""
        def row(kind, place, ns, **more):
            return {"kind": kind, "place": place, "median_ns": ns, "outcome": "timed",
                    "op": "product", "precision": "f64", "timer": "wall", "problem": "p",
                    "name": "n", **more}

        rows = [row("kernel", "device", 100), row("peer", "cuda", 90), row("peer", "cuda", 80),
                row("peer", "host", 10),
                row("kernel", "device", 100), row("peer", "cuda", 300),
                row("kernel", "device", 100, outcome="wrong"), row("peer", "cuda", 1),
                # What takes a moment on a CPU says nothing.
                row("kernel", "host", 40000), row("peer", "host", 20000),
                row("kernel", "device", 0, outcome="failed"),
                # One in TF32 says nothing of one in FP32, and a peer's wrong result nothing of ours.
                row("kernel", "device", 100, precision="f32"),
                row("peer", "cuda", 10, precision="tf32"), row("peer", "cuda", 120, precision="f32"),
                row("peer", "cuda", 1, precision="f32", outcome="wrong")]
        status, said, found, wrong = self.report(rows)
        self.assertEqual([ratio for ratio, *_ in found["f64", "wall"]], [0.8, 3])
        self.assertEqual([ratio for ratio, *_ in found["f32", "wall"]], [1.2])
        self.assertEqual(wrong, [rows[6], rows[10]])
        self.assertEqual(status, 3)
        self.assertIn("| f64 | wall | 2 | 1.90 | 1.02 | 0.80 | p, `n`; n |", said)
        self.assertIn("wrong: product p, n", said)
        self.assertIn("failed: product p, n", said)
        self.assertIn("1 more take another library less than 50 us", said)

    def test_what_is_no_file_of_rows(self):
        for name, text in (("missing", None), ("other", "{}\n"), ("broken", "{\n")):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, name)
                if text is not None:
                    with open(path, "w", encoding="utf-8") as f:
                        f.write(text)
                done = subprocess.run([sys.executable, shapes.__file__, "--report", path],
                                      stderr=subprocess.PIPE, text=True)
                self.assertEqual(done.returncode, 1)
                self.assertRegex(done.stderr, r"^shapes.py: .*%s: .+\n$" % name)

    def test_wrong_numbers(self):
        for option in ("--count=0", "--count=-1", "--most=10", "--largest=0"):
            done = subprocess.run([sys.executable, shapes.__file__, "--device", "cpu", "-o", "x", option],
                                  stderr=subprocess.PIPE, text=True)
            self.assertEqual(done.returncode, 2)


class Document(unittest.TestCase):
    def test_readme_has_the_medians(self):
        """Of the first table, each group once."""
        with open(os.path.join(ROOT, "docs", "shapes.md"), encoding="utf-8") as f:
            table = f.read().split("<!-- rows: ", 1)[1].split("<!-- end rows -->", 1)[0]
        medians = {group: median for group, median in
                   re.findall(r"(?m)^\| ([a-z0-9-]+) \| held \| \d+ \| ([0-9.]+)", table)}
        with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as f:
            said = re.search(r"At shapes drawn at random (.*?)\[docs/shapes", f.read(), re.S).group(1)
        self.assertEqual({group: median for median, group in re.findall(r"([0-9.]+)\s\(([a-z0-9-]+)\)", said)},
                         medians)

    def test_the_table_is_of_its_rows(self):
        with open(os.path.join(ROOT, "docs", "shapes.md"), encoding="utf-8") as f:
            text = f.read()
        parts = text.split("<!-- rows: ")[1:]
        self.assertTrue(parts)
        for part in parts:
            path, rest = part.split(" -->", 1)
            done = subprocess.run([sys.executable, shapes.__file__, "--report", os.path.join(ROOT, path)],
                                  stdout=subprocess.PIPE, text=True)
            self.assertEqual(done.stdout.strip(), rest.split("<!-- end rows -->")[0].strip())


if __name__ == "__main__":
    unittest.main()
