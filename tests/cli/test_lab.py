"""tessera lab: each experiment on a device, in little: checked, timed, drawn beside its claims.

Unoptimized kernels do here: how fast they are is not judged.
"""

import json
import os
import re
import shutil
import unittest

from cli_support import SANITIZED, SOURCE, Case, has_opencl

KERNELS = os.path.join(SOURCE, "cl")

# A change of each kernel that gives a wrong result: the text and its replacement, by file.
BROKEN = {
    "lab/lab_stride.cl": ("sum += in[", "sum -= in["),
    "lab/lab_structures.cl": ("sum += in[", "sum -= in["),
    "lab/lab_latency.cl": ("        at = next[at];", "        at = next[next[at]];"),
    "lab/lab_warps.cl": ("sum += word[k]", "sum -= word[k]"),
    "lab/lab_chains.cl": ("i < rounds", "i < rounds + 1"),
    "lab/lab_integers.cl": ("i < rounds", "i < rounds + 1"),
    "lab/lab_divergence.cl": ("if (mine == p)", "if (mine == p + 1)"),
    "lab/lab_branches.cl": ("item % 2 == 0", "item % 2 == 1"),
    "lab/lab_banks.cl": ("sum += tile[", "sum ^= tile["),
    "lab/lab_barriers.cl": ("(item + 1)", "(item + 2)"),
    "lab/lab_exchange.cl": ("item ^ mask", "item"),
    "lab/lab_atomics.cl": ("i < ADDS", "i + 1 < ADDS"),
    "lab/lab_registers.cl": ("i < rounds", "i < rounds + 1"),
    "lab/lab_votes.cl": (">> 7", ">> 6"),
    "lab/lab_masks.cl": ("(item + 1)", "(item + 2)"),
    "lab/lab_grid.cl": ("(group + 1) % groups] + 1", "(group + 1) % groups] + 2"),
    "lab/lab_graphs.cl": ("* 5 + list", "* 4 + list"),
    "lab/lab_children.cl": ("atomic_inc(count)", "atomic_add(count, 2)"),
    "lab/lab_clusters.cl": ("(i + 33)", "(i + 35)"),
    "lab/lab_queues.cl": ("row[i] * i", "row[i]"),
    "lab/lab_launches.cl": ("atomic_inc(count)", "atomic_add(count, 2)"),
}


def rows_of(text):
    return [json.loads(line) for line in text.splitlines()]


class Listed(Case):
    def setUp(self):
        super().setUp()
        self.experiments = json.loads(self.succeed("lab", "--json").out)["experiments"]

    def test_list(self):
        out = self.succeed("lab").out
        self.assertGreaterEqual(len(self.experiments), 3)
        for e in self.experiments:
            self.assertRegex(out, r"(?m)^  %s  +%s" % (e["name"], re.escape(e["summary"][:20])))
            for text in (e["claim"], e["on_cpu"], e["on_gpu"]):
                self.assertRegex(text, r"^[A-Z].*\.\)?$")

    def test_sources(self):
        for e in self.experiments:
            if e["source"]:
                out = self.succeed("lab", e["name"], "--source").out
                self.assertIn("/* Experiment: ", out)
                self.assertIn(e["source"], BROKEN)
            else:
                self.fail_with(1, "lab", e["name"], "--source", says="has no kernel")
        self.assertIn("__kernel", self.succeed("lab", "all", "--source").out)
        self.assertEqual({e["source"] for e in self.experiments if e["source"]}, set(BROKEN))

    def test_described(self):
        """docs/lab.md has each by its name."""
        with open(os.path.join(SOURCE, "docs", "lab.md"), encoding="utf-8") as f:
            text = f.read()
        for e in self.experiments:
            self.assertIn("\n## %s\n" % e["name"], text)

    def test_wrong_usage(self):
        for option in (["--size", "8"], ["--repeat", "2"], ["--device", "cpu"], ["--source"],
                       ["--output", "rows.jsonl"], ["--kernel-dir", KERNELS]):
            self.fail_with(2, "lab", *option, says="%s needs the name of an experiment" % option[0])
        self.fail_with(2, "lab", "strid", says=["no experiment 'strid'", "'stride'"])
        self.fail_with(2, "lab", "launches", "--size", "8", says="launches has no --size")
        self.fail_with(2, "lab", "stride", "--size", "8x8", says="no size of an experiment")
        self.fail_with(2, "lab", "stride", "--source", "--json", says="--source and --json exclude")
        self.fail_with(2, "lab", "stride", "--size", "8", "--size", "9", says="one --size")
        self.fail_with(1, "lab", "stride", "--device", "host", says="no queues")
        self.assertNotIn("host,", self.succeed("lab", "--help").out)

    @unittest.skipUnless(has_opencl(), "no OpenCL device")
    def test_sizes_that_are_too_large(self):
        for name, size in (("chains", 2**20 + 1), ("integers", 2**20 + 1), ("stride", 2**31 + 1)):
            self.fail_with(2, "lab", name, "--size", str(size), "--device", "cpu",
                           says="size %d is too large: %s takes at most" % (size, name))
        self.fail_with(2, "lab", "queues", "--size", str(2**31), "--device", "cpu", says="too many bytes")


@unittest.skipUnless(has_opencl(), "no OpenCL device")
class Measured(Case):
    """All of them once, with few samples of little work."""

    @classmethod
    def setUpClass(cls):
        case = cls("test_rows")
        case.setUp()
        cls.addClassCleanup(case.doCleanups)
        cls.done = case.succeed("lab", "all", "--device", "cpu", "--size", "64", "--repeat", "2",
                                "-o", "rows.jsonl")
        with open(case.path("rows.jsonl"), encoding="utf-8") as f:
            cls.rows = rows_of(f.read())
        cls.experiments = {e["name"]: e for e in json.loads(case.succeed("lab", "--json").out)["experiments"]}

    def test_sizes_that_are_raised(self):
        """One line for each experiment that does more than it was asked for."""
        raised = {e: int(r["size"]) for e in self.experiments for r in self.rows
                  if r["experiment"] == e and r.get("size") not in (None, "", "64")}
        self.assertIn("stride", raised)
        self.assertEqual([line for line in self.done.err.splitlines() if "is raised" in line],
                         ["hint: %s: --size 64 is raised to %d %s"
                          % (e, n, self.experiments[e]["size"]) for e, n in raised.items()])

    def test_rows(self):
        """Each point is right, with a rate of its own samples, or the device lacks something."""
        self.assertEqual({r["experiment"] for r in self.rows}, set(self.experiments))
        for r in self.rows:
            e = self.experiments[r["experiment"]]
            self.assertEqual((r["kind"], r["op"], r["unit"]), ("lab", "lab", e["unit"]))
            if r["outcome"] == "unsupported":
                self.assertTrue(r["unsupported"], r)
                continue
            self.assertEqual((r["outcome"], r["verified"], r["samples"]), ("timed", True, 2), r)
            amount = r["bytes"] or r["work"]
            if e["unit"] in ("us", "ns"):
                self.assertAlmostEqual(r["rate"] * amount, r["median_ns"] * (1e-3 if e["unit"] == "us" else 1),
                                       delta=1e-6 * r["median_ns"])
            elif e["unit"] != "cycles":
                self.assertAlmostEqual(r["rate"], amount / r["median_ns"], delta=1e-6 * r["rate"])
        points = [(r["experiment"], r["name"], r["x"]) for r in self.rows]
        self.assertEqual(len(points), len(set(points)))

    def test_tables(self):
        """Each experiment has its claim, its points, a curve, and why a CPU differs."""
        parts = dict(zip(self.experiments, re.split(r"(?m)^\w[\w-]*: .*\n", self.done.out)[1:]))
        self.assertEqual(len(parts), len(self.experiments))
        for name, text in parts.items():
            rows = [r for r in self.rows if r["experiment"] == name]
            flat = " ".join(text.split())
            self.assertIn(self.experiments[name]["claim"], flat)
            self.assertIn("Why a CPU differs: " + self.experiments[name]["on_cpu"], flat)
            claims = [r for r in rows if r["claim"] > 0 and r["outcome"] == "timed"]
            bases = [r for r in claims if r.get("base") and r["ratio"]]
            self.assertEqual(len(re.findall("  the base$", text, re.M)), len(bases))
            self.assertEqual(len(re.findall("  (?:agrees|differs)$", text, re.M)),
                             len(claims) - len(bases))
            if len(claims) > len(bases):
                points, agreed = len(claims) - len(bases), len(re.findall("  agrees$", text, re.M))
                self.assertIn("predict %d point%s; %d agree%s here" % (
                    points, "s" * (points != 1), agreed, "s" * (agreed == 1)), text)
            if len({r["x"] for r in rows if r["outcome"] == "timed"}) > 1:
                self.assertRegex(text, r"(?m)^ {10}(?:logarithmic, )?%s$" % re.escape(rows[0]["unit"]))
                self.assertRegex(text, r"(?m)^ *[\d.e+]+ \|")
                # Sizes along the axis ascend, whichever series has them.
                axis = re.search(r"(?m)^ {10}((?:\d+ (?:B|KiB|MiB|GiB) *)+)\w+$", text)
                sizes = [int(n) * 1024 ** ["B", "KiB", "MiB", "GiB"].index(unit)
                         for n, unit in re.findall(r"(\d+) (\w+)", axis[1])] if axis else []
                self.assertEqual(sizes, sorted(sizes))

    def test_ratios(self):
        """A ratio is to the base that comes last before it."""
        base = None
        for r in self.rows:
            if r.get("base"):
                self.assertIn(r["ratio"], (0, 1))
                base = r["rate"]
            if r["ratio"]:
                self.assertAlmostEqual(r["ratio"], r["rate"] / base, delta=1e-9 * r["ratio"])

    def test_wrong_results_are_noticed(self):
        folder = self.path("cl")
        shutil.copytree(KERNELS, folder)
        changed = [(name, e) for name, e in self.experiments.items() if e["source"]]
        # How a wrong result is reported is the same for each.
        for name, e in changed[:4] if SANITIZED else changed:
            with open(os.path.join(folder, e["source"]), encoding="utf-8") as f:
                text = f.read()
            old, new = BROKEN[e["source"]]
            self.assertIn(old, text)
            with open(os.path.join(folder, e["source"]), "w", encoding="utf-8") as f:
                f.write(text.replace(old, new))
            args = ["--size", "64"] if e["size"] else []
            r = self.tessera("lab", name, *args, "--device", "cpu", "--repeat", "1", "--json",
                             "--kernel-dir", folder)
            if any(row["experiment"] == name and row["outcome"] == "timed" for row in self.rows):
                self.assertEqual(r.status, 3, r)
                self.assertEqual(rows_of(r.out)[-1]["outcome"], "wrong", r)

    def test_compare(self):
        """Rows of experiments stand side by side, and are no jobs."""
        with open(self.path("a.jsonl"), "w", encoding="utf-8") as f:
            f.writelines(json.dumps(r) + "\n" for r in self.rows)
        got = json.loads(self.succeed("compare", "a.jsonl", "a.jsonl", "--json").out)
        self.assertEqual(got["jobs"], [])
        self.assertEqual(len(got["lines"]), len(self.rows))
        self.succeed("compare", "a.jsonl", "--html", "page.html", "--quiet")
        with open(self.path("page.html"), encoding="utf-8") as f:
            self.assertIn('<section id="lab">', f.read())
