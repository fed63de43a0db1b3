"""tessera course: each table of each course, in little, and courses of one's own.  Unoptimized kernels do here."""

import collections
import glob
import json
import os
import re
import shutil
import sys
import unittest

from cli_support import COMMAND, DATA, OPERATIONS, SANITIZED, SOURCE, Case, cache_with_limits, has_opencl

sys.path.insert(0, os.path.join(SOURCE, "scripts"))

import course_commands  # pylint: disable=wrong-import-position

OWN = """# a comment
course own One of one's own
about What it is about.
table first A table,
  whose title goes on
lines 1-2
says What is said.
base {a|b} | 1 | - | occupancy 256 32 0 9.0
series other
row c | 2 | {0.5|0.25} | occupancy 256 64 0 9.0
why Why it is so.
cpu Why a CPU differs.
wrong What is wrong.
see tessera devices
table second
claims values
row d | - | 16 | occupancy 256 128 0 9.0
"""

# For variants over which PoCL's compiler takes minutes unless it optimizes.
OPTIMIZED = {"POCL_EXTRA_BUILD_FLAGS": ""}


def rows_of(text):
    return [json.loads(line) for line in text.splitlines()]


class Listed(Case):
    def test_list(self):
        courses = json.loads(self.succeed("course", "--json").out)["courses"]
        out = self.succeed("course").out
        self.assertGreaterEqual(len(courses), 5)
        for course in courses:
            self.assertIn("%s  %s\n" % (course["name"], course["title"]), out)
            self.assertRegex(course["about"], r"^[A-Z].*\.$")
            names = [table["name"] for table in course["tables"]]
            self.assertEqual(len(names), len(set(names)))
            for table in course["tables"]:
                where = "%s %s" % (course["name"], table["name"])
                self.assertLess(len(where), 16)
                self.assertRegex(table["lines"], r"^\d+(-\d+)?(, \d+(-\d+)?)*$", where)
                for text in [table["says"], table["why"]] + [table[k] for k in ("cpu", "wrong") if table[k]]:
                    self.assertRegex(text, r'^["A-Z0-9].*[.?]$', where)
                for row in table["rows"]:
                    self.assertLess(len(row["x"]), 40, where)
        err = self.fail_with(2, "course", "009", says="no course '009'").err
        self.assertIn("003", err)
        self.assertNotIn("did you mean", err)

    def test_points_exist(self):
        """Points of experiments are among those that were recorded, or could not be there."""
        recorded = []
        for name in sorted(os.listdir(os.path.join(DATA, "results"))):
            if name.startswith("lab-"):
                with open(os.path.join(DATA, "results", name), encoding="utf-8") as f:
                    recorded += rows_of(f.read())
        points = {(r["experiment"], r["name"], r["x"]) for r in recorded}
        missing = {(r["experiment"], r["name"]) for r in recorded if r["outcome"] != "timed"}
        for course in json.loads(self.succeed("course", "--json").out)["courses"]:
            for row in (row for table in course["tables"] for row in table["rows"]):
                if row["command"].startswith("lab "):
                    name, series, at = row["command"][4:].split(" / ")
                    name = name.split()[0]  # without a size
                    for x in at.strip("{}").split("|"):
                        self.assertTrue((name, series, x) in points or (name, series) in missing
                                        or (name, "") in missing, row["command"])

    def test_recorded(self):
        """Rows of courses and experiments that are kept can be compared and drawn."""
        kept = [os.path.join(DATA, "results", name) for name in sorted(os.listdir(os.path.join(DATA, "results")))
                if re.match(r"(course|lab)-.*\.jsonl$", name)]
        self.assertGreater(len(kept), 3)
        self.succeed("compare", *kept, "--html", "page.html", "--quiet")

    def test_wrong_usage(self):
        self.fail_with(2, "course", "--small", says="--small needs the name of a course")
        self.fail_with(2, "course", "all", "levels", says="all takes no table")
        self.fail_with(2, "course", "levels", says="no course 'levels': it is a table of course 003")
        self.fail_with(2, "course", "edges", says="no course 'edges': it is a table of course 000, 002 (")
        self.fail_with(2, "course", "003", "nosuch", says=["has no table 'nosuch'", "levels"])
        self.fail_with(1, "course", "./nosuch.course", says="nosuch.course")


@unittest.skipUnless(has_opencl(), "no OpenCL device")
class Own(Case):
    def course(self, *options):
        return self.succeed("course", "own.course", "--device", "cpu", *options)

    def test_tables(self):
        self.write("own.course", OWN)
        out = self.course().out
        self.assertIn("own:1-2  first: A table, whose title goes on\n", out)
        self.assertRegex(out, r"(?m)^  b +1 +64\.0 +1\.00$")
        self.assertRegex(out, r"(?m)^  other, c +2 +32\.0 +0\.50 +0\.25  differs$")
        self.assertRegex(out, r"(?m)^  d +- +16\.0 +16  agrees$")
        for text in ("The document: What is said.", "0 of 1 agree here", "Why, on a GPU: Why it is so.", "Why, on a CPU: Why a CPU differs.",
                     "Where the document errs: What is wrong.", "More: tessera devices"):
            self.assertIn(text, out)
        self.assertNotIn("times and rates mean nothing", out)
        self.write("own.course", OWN.replace("cpu Why a CPU differs.\n", ""))
        self.assertIn("\n  Why: Why it is so.\n", self.course().out)
        self.write("own.course", OWN.replace("see tessera devices", "see tessera devices" + 20 * " --device cpu"))
        self.assertIn("\n  More: tessera devices%s\n" % (20 * " --device cpu"), self.course().out)
        out = self.course("--small").out
        self.assertRegex(out, r"(?m)^  other, c .* 0\.5  agrees$")
        self.assertIn("times and rates mean nothing", out)

    def test_what_is_judged(self):
        """Rows with something to compare, but the base; with little work, nothing that has a time."""
        self.write("own.course", OWN.replace("{a|b} | 1 | - |", "{a|b} | 1 | 1 |"))
        out = self.course("first").out
        self.assertRegex(out, r"(?m)^  b +1 +64\.0 +1\.00 +1$")
        self.assertIn("0 of 1 agree", out)
        for base in ("row {a|b} | 1 | - | occupancy 256 32 0 9.0", "base b | 1 | - | limit nosuch"):
            self.write("own.course", OWN.replace("base {a|b} | 1 | - | occupancy 256 32 0 9.0", base))
            out = self.tessera("course", "own.course", "first", "--device", "cpu").out
            self.assertRegex(out, r"(?m)^  other, c +2 +32\.0(?: warps)? +0\.25$")
            self.assertNotIn(" agree here", out)
        bench = "bench %s --size {16|17}" % OPERATIONS[0]
        self.write("own.course", OWN.replace("occupancy 256 128 0 9.0", bench))
        options = ["second", "--repeat", "2", "--seconds", "0.01"]
        self.assertRegex(self.course(*options).out, r"(?m)^  d .*(?:agrees|differs)$")
        self.assertRegex(self.course("--small", *options).out, r"(?m)^  d .* 16$")

    def test_the_least(self):
        """A claim that is the least is reached or missed, however far."""
        self.write("own.course", OWN.replace("- | 16 |", "- | >4 |"))
        self.assertRegex(self.course("second").out, r"(?m)^  d +- +16\.0 +>4  reached$")
        self.write("own.course", OWN.replace("- | 16 |", "- | >1180.5 |"))
        self.assertRegex(self.course("second").out, r"(?m)^  d +- +16\.0 +>1180\.5  missed$")
        self.write("own.course", OWN.replace("- | 16 |", "- | >17 |"))
        self.assertRegex(self.course("second").out, r"(?m)^  d +- +16\.0 +>17  missed$")

    def test_figures_of_rows(self):
        """A figure is that of the rows behind it, all of one call where their command is one."""
        bench = "bench %s --size 16" % OPERATIONS[0]
        self.write("own.course", OWN.replace(
            "occupancy 256 128 0 9.0",
            bench + "\nfigure time\nrow e | - | - | " + bench + "\nfigure launches\nrow f | - | - | " + bench))
        self.course("second", "--repeat", "2", "--seconds", "0.01", "-o", "rows.jsonl")
        with open(self.path("rows.jsonl"), encoding="utf-8") as f:
            rows = rows_of(f.read())
        self.assertEqual([r["unit"] for r in rows][1:], ["us", "commands"])
        self.assertNotIn(rows[0]["unit"], ("us", "commands"))
        self.assertEqual(len({r["median_ns"] for r in rows}), 1)
        self.assertAlmostEqual(rows[1]["rate"], rows[1]["median_ns"] / 1000)

    def test_loads(self):
        """Of each element of the operands of a 64-wide product, and of each result beside naive."""
        out = self.succeed("course", "002", "loads", "--json", "--repeat", "2", "--seconds", "0.01",
                           "--device", "cpu").out
        self.assertEqual([(r["rate"], r["unit"]) for r in rows_of(out)],
                         [(64, "loads"), (4, "loads"), (2, "loads")])
        for course, table in (("002", "loads"), ("001", "widths")):  # counts, judged with little work too
            out = self.succeed("course", course, table, "--small", "--repeat", "2", "--seconds", "0.01",
                               "--device", "cpu").out
            self.assertIn("3 of 3 agree here", out)
        out = self.succeed("course", "001", "widths", "--small", "--json", "--repeat", "2", "--seconds", "0.01",
                           "--device", "cpu").out
        self.assertEqual([r["rate"] for r in rows_of(out)], [8, 16, 32])

    def test_sizes_of_experiments(self):
        """They are runs of their own."""
        self.write("own.course", OWN.replace("occupancy 256 64 0 9.0", "lab queues 16 / row blocks / 2")
                   .replace("occupancy 256 128 0 9.0", "lab queues 24 / row blocks / 2"))
        self.course("--repeat", "2", "-o", "rows.jsonl")
        with open(self.path("rows.jsonl"), encoding="utf-8") as f:
            rows = rows_of(f.read())
        self.assertEqual([r["chosen"][:13] for r in rows[1:]], ["lab queues 16", "lab queues 24"])
        self.assertNotEqual(rows[1]["median_ns"], rows[2]["median_ns"])

    def test_units_that_differ(self):
        bench = "bench %s --size 16" % OPERATIONS[0]
        self.write("own.course", OWN.replace("occupancy 256 64 0 9.0", bench))
        out = self.course("first", "--repeat", "2", "--seconds", "0.01").out
        self.assertRegex(out, r"(?m)^  step +document +here  ")
        self.assertRegex(out, r"(?m)^  b +1 +64\.0 warps +1\.00$")
        self.assertRegex(out, r"(?m)^  other, c +2 +\S+ \w+/s +\S+ +0\.25  \w+$")
        self.write("own.course", OWN.replace("series other", "figure time"))
        self.assertRegex(self.course("first").out, r"(?m)^  b +1 +64\.0 warps +1\.00$")

    def test_line_ends(self):
        """Of Windows; and a line of blanks alone belongs to none."""
        plain = self.rows_of(OWN)
        self.assertEqual(self.rows_of(OWN.replace("\n", "\r\n")), plain)
        self.assertEqual(self.rows_of(OWN.replace("\nbase", "\n   \nbase")), plain)

    def rows_of(self, text):
        self.write("own.course", text)
        return [[r[k] for k in ("experiment", "name", "x", "chosen", "rate")]
                for r in rows_of(self.course("--json").out)]

    def test_one_table(self):
        self.write("own.course", OWN)
        out = self.course("second").out
        self.assertIn("second", out)
        self.assertNotIn("first", out)

    def test_rows(self):
        self.write("own.course", OWN)
        self.course("-o", "rows.jsonl")
        with open(self.path("rows.jsonl"), encoding="utf-8") as f:
            rows = rows_of(f.read())
        self.assertEqual([(r["kind"], r["experiment"], r["name"], r["x"], r["rate"], r["ratio"],
                           r["claim"]) for r in rows],
                         [("lab", "own first", "here", "b", 64, 1, 0),
                          ("lab", "own first", "other", "c", 32, 0.5, 0.25),
                          ("lab", "own second", "here", "d", 16, 0, 16)])
        self.assertEqual(rows[0]["chosen"], "occupancy 256 32 0 9.0")
        self.assertIn("course own, first", self.succeed("compare", "rows.jsonl").out)

    def test_what_is_no_course(self):
        for text, says in (("", "names no course"), ("lines 1\n", "line 1: no keyword before"),
                           (OWN.replace("says", "sais"), "line 7: 'sais' is no keyword of a table"),
                           (OWN.replace("| - | occ", "| occ", 1), "line 8: a row is X"),
                           (OWN.replace("lines", "figure"), "line 6: there is no such figure"),
                           (OWN.replace("second", "first"), "line 15: there is a table of that name"),
                           (OWN.replace("second", "s" * 12), "line 15: the names of course and table"),
                           (OWN.replace("{0.5|0.25}", "{0.5|abc}"), "line 10: a claim is a number"),
                           (OWN.replace("{0.5|0.25}", "0"), "line 10: a claim is a number"),
                           (OWN.replace("{0.5|0.25}", ">"), "line 10: a claim is a number"),
                           (OWN.replace("{0.5|0.25}", ">-1"), "line 10: a claim is a number"),
                           (OWN.replace("{0.5|0.25}", "1" * 16), "line 10: a claim is a number"),
                           (OWN.replace("row c", "row " + "c" * 24), "line 10: X has more than"),
                           (OWN.replace("other", "o" * 48), "line 10: the series has more than"),
                           (OWN.replace("lines 1-2", "knob " + "k" * 16), "line 6: a knob has at"),
                           (OWN.replace("9.0", "9.0 " + "1" * 160), "line 8: the command has more than 159"),
                           (OWN.replace("9.0", "9.0" + " 1" * 28), "line 8: the command has more than 32")):
            self.write("own.course", text)
            self.fail_with(1, "course", "own.course", "--device", "cpu", says=says)

    def test_rows_that_cannot_run(self):
        """They are named, the others run, and the status tells."""
        mistakes = (("bench nosuch", "nosuch"), ("lab nosuch / a / b", "no experiment"),
                    ("lab queues x / row blocks / 1", "queues takes no size 'x'"),
                    ("lab launches 8 / one queue / 1", "launches takes no size '8'"),
                    ("lab launches / nosuch / 1", "launches has no series 'nosuch'"),
                    ("lab launches / one queue / 3", "has no point '3'"),
                    ("limit nosuch", "no limit"), ("dance 1", "'dance 1' is neither bench, lab"),
                    ("bench a b", "'bench a b' names 2 operations, not one"),
                    ("lab queues", "SERIES / X, not 'queues'"),
                    ("overlap nosuch 1", "no memory 'nosuch'"),
                    ("overlap 1", "MEMORY QUEUES, not '1'"),
                    ("occupancy 1", "CAPABILITY, not '1'"),
                    ("occupancy 256 32 0 1.0", "unit of compute capability 1.0 holds is not known"))
        for command, says in mistakes[::6] if SANITIZED else mistakes:
            self.write("own.course", OWN.replace("occupancy 256 64 0 9.0", command))
            got = self.fail_with(2, "course", "own.course", "--device", "cpu", says=says)
            self.assertRegex(got.out, r"(?m)^  other, c +2 +failed: ")
            self.assertRegex(got.out, r"(?m)^  d ")


    def test_a_series_that_ends(self):
        """Larger devices go on: no mistake."""
        self.write("own.course", OWN.replace("occupancy 256 64 0 9.0", "lab launches / one queue / 4096"))
        self.assertRegex(self.course().out, r"(?m)^  other, c .*unsupported: one queue of lab launches ends at 256 here$")

    def test_rows_that_fail(self):
        """So does the command, although the others run."""
        folder = self.path("cl")
        shutil.copytree(os.path.join(SOURCE, "cl"), folder)
        file = os.path.join(folder, "lab", "lab_integers.cl")
        with open(file, encoding="utf-8") as f:
            text = f.read()
        with open(file, "w", encoding="utf-8") as f:  # no launch has groups of 3
            f.write(re.sub(r"__kernel ", "__kernel __attribute__((reqd_work_group_size(3, 1, 1))) ", text))
        self.write("own.course", OWN.replace("occupancy 256 64 0 9.0", "lab integers / instructions / float"))
        got = self.tessera("course", "own.course", "--device", "cpu", "--kernel-dir", folder)
        self.assertEqual(got.status, 1, got)
        self.assertRegex(got.out, r"(?m)^  other, c +2 +failed: ")
        self.assertRegex(got.out, r"(?m)^  d ")


class Progress(Case):
    def first_rows(self, command, device):
        """What a terminal says of a row that takes a second, the first that runs on its device."""
        self.write("own.course", "course own One\ntable first A table\nrow a | - | - | %s\n" % command)
        return self.said_on_terminal(100, "course", "own.course", "--seconds", "1", "--device", device)

    def test_first_row_in_c(self):
        listed = json.loads(self.succeed("kernels", OPERATIONS[0], "--json", "--device", "host").out)
        name = next(v["name"] for v in listed["operations"][0]["variants"] if v["suited"])
        said = self.first_rows("bench %s --kernel %s --size 64" % (OPERATIONS[0], name), "host")
        self.assertTrue([s for s in said if s.startswith("course own, first: a, ")], said)

    @unittest.skipUnless(has_opencl(), "no OpenCL device")
    def test_first_row_on_a_device(self):
        said = self.first_rows("bench %s --size 64" % OPERATIONS[0], "cpu")
        self.assertTrue([s for s in said if s.startswith("course own, first: a, ")], said)


@unittest.skipUnless(has_opencl(), "no OpenCL device")
class Courses(Case):
    def measured(self, *args, **options):
        """The rows of a course in little work."""
        self.succeed("course", *args, "--small", "--repeat", "2", "-o", "measured.jsonl", **options)
        with open(self.path("measured.jsonl"), encoding="utf-8") as f:
            return rows_of(f.read())

    def test_every_row(self):
        """All of them once, with little work; under a sanitizer those of one course.  Tables with a
        variant over which PoCL's compiler takes minutes unless it optimizes are optimized."""
        courses = json.loads(self.succeed("course", "--json").out)["courses"]
        if SANITIZED:
            courses = [min(courses, key=lambda c: sum(len(t["rows"]) for t in c["tables"]))]
        limits = {} if SANITIZED else {"TESSERA_CACHE_DIR": cache_with_limits()}
        listed = json.loads(self.succeed("kernels", "--json", "--device", "host").out)["operations"]
        slow = [r"bench %s .*--kernel %s\b" % (op["op"], v["name"]) for op in listed
                for v in op["variants"] if v.get("slow_unless_optimized")]
        self.assertTrue(slow)
        rows = []
        for course in courses:
            optimized = [t["name"] for t in course["tables"]
                         if any(re.match("|".join(slow), r["command"]) for r in t["rows"])]
            plain = [t["name"] for t in course["tables"] if t["name"] not in optimized]
            for names, flags in (plain, {}), (optimized, OPTIMIZED):
                if names:
                    rows += self.measured(course["name"], *names, "--seconds", "0.01", "--device", "cpu",
                                          env={**limits, **flags})
        self.write("rows.jsonl", "".join(json.dumps(r) + "\n" for r in rows))
        self.assertEqual(len(rows), sum(len(t["rows"]) for c in courses for t in c["tables"]))
        named = collections.Counter((r["experiment"], r["name"], r["x"]) for r in rows)
        self.assertEqual([name for name, count in named.items() if count > 1], [], "rows of one name")
        for r in rows:  # what a row is called is what ran
            for called, ran in zip(re.findall(r"\b(\d+)x\1\b", r["name"] + " " + r["x"]),
                                   re.findall(r"^lab queues (\d+)|--size (\d+)$", r["chosen"])):
                self.assertIn(called, ran, r)
        for r in rows:
            if r["outcome"] == "timed":
                self.assertGreater(r["rate"], 0, r)
                self.assertTrue(r["verified"], r)
            else:
                self.assertEqual(r["outcome"], "unsupported", r)
                self.assertRegex(
                    r["unsupported"],
                    "NVIDIA|sub-group|no queues|what a compute unit holds|ends at 64 MiB here|"
                    "runs a group on each|does not have|shared virtual", r)
        self.assertGreater(sum(r["outcome"] == "timed" for r in rows), len(rows) * 3 / 4)
        self.succeed("compare", "rows.jsonl", "--html", "page.html")

    @unittest.skipIf(SANITIZED, "a sanitizer sees the rows of one course in test_every_row")
    def test_all_on_the_host(self):
        """Steps in C are timed, and the others say why they cannot run."""
        rows = self.measured("all", "--seconds", "0.001", "--device", "host")
        courses = json.loads(self.succeed("course", "--json").out)["courses"]
        self.assertEqual(len(rows), sum(len(t["rows"]) for c in courses for t in c["tables"]))
        for r in rows:
            self.assertIn(r["outcome"], ("timed", "unsupported"), r)
            self.assertEqual(bool(r["unsupported"]), r["outcome"] == "unsupported", r)
            self.assertEqual(r["verified"] and r["rate"] > 0, r["outcome"] == "timed", r)
        self.assertGreater(sum(r["outcome"] == "timed" for r in rows), 20)

    @unittest.skipIf(SANITIZED, "a sanitizer sees each command in tests of its own")
    def test_what_the_page_shows(self):
        """The commands of docs/course/README.md's tables run.  Tables of courses, which the other test
        has run, and experiments, which test_lab has, exist; so does what `diagnose`, which test_diagnose
        has run, is asked for.  Limits are those that cache_with_limits measures, and peers, which have
        tests of their own, are left out: PoCL compiles them for a quarter of a minute."""
        commands = course_commands.commands()
        courses = {c["name"]: [t["name"] for t in c["tables"]]
                   for c in json.loads(self.succeed("course", "--json").out)["courses"]}
        experiments = [e["name"] for e in json.loads(self.succeed("lab", "--json").out)["experiments"]]
        self.assertGreater(len(commands), 70)
        env = dict(os.environ, TESSERA_CACHE_DIR=cache_with_limits(), TESSERA=COMMAND)
        for command in commands:
            words = command.split()
            if words[:2] == ["tessera", "course"]:
                self.assertLessEqual(set(words[3:]), set(courses[words[2]]), command)
                continue
            if words[:2] == ["tessera", "lab"]:
                self.assertIn(words[2], experiments, command)
                self.assertEqual(words[3:], [], command)
                continue
            if words[:2] == ["tessera", "diagnose"]:
                self.assertIn(words[3:4], ([], ["--kernel"]), command)
                self.succeed("kernels", words[2], *words[4:])
                continue
            if words[:2] == ["tessera", "roofline"]:
                self.assertEqual(words[2:], ["--limits"], command)
                continue
            with self.subTest(command=command):
                row = course_commands.run(command.replace(" --peers", ""), COMMAND, "cpu", self.path("."),
                                          env)
                self.assertTrue(row["status"] == 0 or row["lacks"], row)
                self.assertEqual(row["lacks"], words[1] == "trace", row)
                self.assertTrue(row["output"].strip(), row)

    @unittest.skipIf(SANITIZED, "to a sanitizer each is one and the same call of verify")
    def test_exercises(self):
        """The text that each changes is there, and a proof of the result sees what the page says."""
        with open(os.path.join(SOURCE, "docs", "course", "exercises.md"), encoding="utf-8") as f:
            text = f.read()
        done, sized = 0, collections.Counter()
        for head, part in re.findall(r"(?ms)^## (.*?)\n(.*?)(?=^## |\Z)", text):
            for step, old, new, seen in re.findall(r"(?m)^\| (.+?) \| `(.+?)` → `(.+?)` \| (.+) \|$",
                                                   part):
                op, name = step.split() if " " in step else (head, step)
                source = self.succeed("kernels", op, name, "--source").out
                self.assertIn(old, source, step)
                done += 1
                if head == "On a GPU":
                    continue
                self.write("mine.cl", source.replace(old, new))
                own = ["--kernel-file", "mine.cl", "--device", "cpu"]
                size = re.search(r", at `--size (\S+)`", seen)
                sized[op] += bool(size)
                # Each costs a compilation: one of an operation here, all with TESSERA_LONG=1.
                if size and sized[op] > 1 and os.environ.get("TESSERA_LONG") != "1":
                    continue
                if size:
                    own += ["--any-order"] * ("atomic" in name)
                    command = ["bench", op, "--kernel", name, "--size", size.group(1), "--seconds", "0.001"]
                else:
                    command = ["verify", op, name, "--tiny", "--defaults", "--stop-on-failure"]
                with self.subTest(step=step, change=new):
                    got = self.tessera(*command, *own)
                    if seen.startswith("wrong"):
                        self.assertEqual(got.status, 3, got)
                        if not size:  # in numbers that a reader knows, with the tunables as they ran
                            self.assertNotRegex(got.out, r"\b0x|is wrong|=0\b")
                    else:
                        self.assertEqual(got.status, 0, got)
        self.assertGreater(done, 80)

    def test_files_that_do_not_fit(self):
        """Of another step, of another type, with a mistake: said once, in words of the file's author."""
        with open(os.path.join(SOURCE, "docs", "course", "README.md"), encoding="utf-8") as f:
            op, step = re.search(r"`tessera kernels (\S+) (\S+) --source > mine.cl`", f.read()).groups()
        source = self.succeed("kernels", op, step, "--source").out
        self.write("mine.cl", source)
        self.fail_with(1, "verify", op, "naive", "--kernel-file", "mine.cl", "--device", "cpu",
                       says="mine.cl has no kernel '%s_naive', which naive launches: begin with what "
                            "`tessera kernels %s naive --source` prints" % (op, op))
        verify = ["verify", op, step, "--kernel-file", "mine.cl", "--tiny", "--device", "cpu"]
        self.fail_with(1, *verify, "--type", "f64", says="nothing ran: it takes float32 alone")
        self.write("mine.cl", source.replace("float sum = 0;", "float sum = nothing;"))
        got = self.tessera(*verify)
        self.assertEqual(got.status, 1, got)
        self.assertEqual(got.err.count("undeclared identifier 'nothing'"), 1, got)

    @unittest.skipIf(SANITIZED, "a sanitizer sees each command in tests of its own")
    def test_first_ten_minutes(self):
        """What docs/course/README.md begins with: one change gives a wrong result, both a right one."""
        with open(os.path.join(SOURCE, "docs", "course", "README.md"), encoding="utf-8") as f:
            part = re.search(r"(?s)## The first ten minutes\n(.*?)\n## ", f.read())[1]
        source = self.succeed(*re.search(r"`tessera (kernels .*) > mine.cl`", part)[1].split()).out
        verify = re.search(r"`tessera (verify .*)`", part)[1].split() + ["--device", "cpu"]
        old, new = re.search(r"`(\S+)` into `(\S+)`", part).groups()
        stored = re.search(r"as well, to `(\S+)`", part)[1]
        self.assertEqual(source.count(old), 1)
        once = source.replace(old, new)
        both = re.sub(r"(?m)^( +)tile_b\S+ = ", r"\g<1>%s = " % stored, once)
        self.assertNotEqual(both, once)
        for text, status in ((source, 0), (once, 3), (both, 0)):
            self.write("mine.cl", text)
            self.assertEqual(self.tessera(*verify).status, status)


@unittest.skipUnless(has_opencl(), "no OpenCL device")
class KernelFile(Case):
    """--kernel-file: a kernel of one's own in the place of a step of the first operation."""

    def setUp(self):
        super().setUp()
        self.op = OPERATIONS[0]
        listed = json.loads(self.succeed("kernels", self.op, "--json", "--device", "cpu").out)
        self.step = next(v["name"] for v in listed["operations"][0]["variants"]
                         if v["suited"] and v["runs_on"] == "device")
        file = os.path.join(SOURCE, "cl", self.op,
                            "%s_%s.cl" % (self.op, self.step.replace("-", "_")))
        with open(file, encoding="utf-8") as f:
            self.source = f.read()
        self.options = ["--device", "cpu", "--size", "16", "--repeat", "2", "--seconds", "0.01"]

    def test_a_row_of_its_name(self):
        self.write("mine.cl", self.source)
        self.succeed("bench", self.op, "--kernel", self.step, "--kernel-file", "mine.cl",
                     *self.options, "-o", "rows.jsonl")
        with open(self.path("rows.jsonl"), encoding="utf-8") as f:
            rows = rows_of(f.read())
        self.assertEqual([(r["name"], r["verified"]) for r in rows], [("mine", True)])

    @unittest.skipIf(SANITIZED, "a sanitizer sees the file in test_a_row_of_its_name, the commands in their tests")
    def test_its_name_wherever_it_ran(self):
        self.write("mine.cl", self.source)
        own = ["--kernel", self.step, "--kernel-file", "mine.cl"]
        said = self.succeed("verify", self.op, self.step, "--kernel-file", "mine.cl", "--tiny",
                            "--defaults", "--device", "cpu")
        self.assertIn("from mine.cl", said.out)
        said = self.succeed("diagnose", self.op, *own, "--device", "cpu", "--size", "16",
                            env={"TESSERA_CACHE_DIR": cache_with_limits()})
        self.assertIn("%s from mine.cl" % self.step, said.out)
        os.mkdir(self.path("peers"))
        for file in glob.glob(os.path.join(os.path.dirname(COMMAND), "bench", "peer_%s_*" % self.op)):
            if "clblast" not in file:  # whose kernels take PoCL seconds
                os.symlink(file, os.path.join(self.path("peers"), os.path.basename(file)))
        for more in ("--errors",), ("--peers",):
            with self.subTest(more=more):
                self.succeed("bench", self.op, *own, *self.options, *more, "-o", "rows.jsonl",
                             env={"TESSERA_PEER_DIR": self.path("peers")})
                with open(self.path("rows.jsonl"), encoding="utf-8") as f:
                    rows = rows_of(f.read())
                self.assertIn("mine", [r["name"] for r in rows])
                self.assertNotIn(self.step, [r["name"] for r in rows])
                for r in rows:
                    self.assertFalse(r["name"] == "mine" and r["unsupported"], r)
                    if r["name"] == "mine":
                        self.assertIn("mine.cl", r["chosen"])
        os.rename(self.path("mine.cl"), self.path(".cl"))
        said = self.succeed("bench", self.op, "--kernel", self.step, "--kernel-file", ".cl",
                            *self.options)
        self.assertRegex(said.out, r"(?m)^ +\.cl ")

    def test_errors_of_the_file(self):
        entry = re.search(r"__kernel[^(]*?(\w+)\(", self.source)[1]
        broken = "".join(self.source.rsplit(";", 1))
        renamed = self.source.replace(entry + "(", "other(")
        fewer = re.sub(r"(__kernel[^(]*\w+\([^,]*),", r"\1, uint too_many,", self.source, count=1)
        self.write("mine.cl", broken)
        self.write("renamed.cl", renamed)
        self.write("fewer.cl", fewer)
        for file, says in (("mine.cl", "building mine.cl"), ("renamed.cl", "has no kernel"),
                           ("fewer.cl", "must define"), ("none.cl", "none.cl")):
            with self.subTest(file=file):
                for command in (["verify", self.op, self.step, "--tiny", "--device", "cpu"],
                                ["bench", self.op, "--kernel", self.step, *self.options]):
                    r = self.tessera(*command, "--kernel-file", file)
                    self.assertEqual(r.status, 1, r)
                    self.assertNotIn("FAIL ", r.out)
                    self.assertIn(says, r.out + r.err)
                    if says in ("has no kernel", "must define"):
                        self.assertIn(entry, r.out + r.err)

    def test_of_the_environment(self):
        for folder in "%s/nosuch.cl=mine.cl" % self.op, "nothing.cl=1":
            self.write("mine.cl", self.source)
            r = self.tessera("verify", self.op, self.step, "--tiny", "--defaults", "--device",
                             "cpu", env={"TESSERA_KERNEL_DIR": folder})
            self.assertEqual(r.status, 1, r)
            self.assertIn("no source that a file can replace", r.err)
        file = "%s/%s_%s.cl" % (self.op, self.op, self.step.replace("-", "_"))
        r = self.tessera("verify", "--tiny", "--defaults", "--device", "cpu",
                         env={"TESSERA_KERNEL_DIR": file + "=/nonexistent"})
        self.assertEqual(r.status, 1, r)
        self.assertIn("/nonexistent", r.err)
        shutil.copytree(os.path.join(SOURCE, "cl"), self.path("x.cl=1"))
        with open(self.path("x.cl=1/" + file), "w", encoding="utf-8") as f:
            f.write(self.source.replace("sum +=", "sum -="))
        r = self.tessera("verify", self.op, self.step, "--tiny", "--defaults", "--device", "cpu",
                         env={"TESSERA_KERNEL_DIR": "x.cl=1"})
        self.assertEqual(r.status, 3, r)

    def test_wrong_and_broken(self):
        self.write("wrong.cl", self.source.replace("sum +=", "sum -="))
        r = self.tessera("bench", self.op, "--kernel", self.step, "--kernel-file", "wrong.cl",
                         *self.options)
        self.assertEqual(r.status, 3, r)
        self.write("broken.cl", "".join(self.source.rsplit(";", 1)))
        r = self.tessera("verify", self.op, self.step, "--kernel-file", "broken.cl", "--tiny",
                         "--device", "cpu")
        self.assertEqual(r.status, 1, r)

    def test_wrong_usage(self):
        self.write("mine.cl", self.source)
        for options, says in (([], "needs --kernel V"), (["--kernel", "all"], "needs --kernel V"),
                              (["--kernel", self.step, "--kernel-dir", "."], "exclude each other")):
            self.fail_with(2, "bench", self.op, "--kernel-file", "mine.cl", *options,
                           *self.options, says="bench: --kernel" if "needs" in says else says)
        self.fail_with(1, "bench", self.op, "--kernel", self.step, "--kernel-file", "none.cl",
                       *self.options, says="none.cl")
        self.write("some.jobs", "bench %s\n" % self.op)
        self.fail_with(2, "bench", "--jobs", "some.jobs", "--kernel-file", "mine.cl", says="--jobs")


if __name__ == "__main__":
    unittest.main()
