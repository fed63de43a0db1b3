"""tessera compare: rates side by side, losses beyond the noise, and what is refused.

The rows are made up (tests/report/made_up_rows.py); no device is needed.
"""

import csv
import io
import json
import os
import re
import sys
import unittest

from cli_support import Case

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "report"))
import made_up_rows  # noqa: E402
from made_up_rows import IN_FLOPS, IN_KEYS  # noqa: E402


def slowed(rows, factor, name=None):
    """The rows, with those of a name `factor` times as fast."""
    out = []
    for r in rows:
        r = dict(r)
        if r["kind"] == "kernel" and not r["unsupported"] and name in (None, r["name"]):
            r["rate"] *= factor
            for field in ("min_ns", "low_ns", "median_ns", "high_ns", "max_ns"):
                r[field] /= factor
        out.append(r)
    return out


class Compare(Case):
    def rows(self, name, rows):
        return self.write(name, made_up_rows.lines(rows))

    def setUp(self):
        super().setUp()
        self.base = [r for r in made_up_rows.gpu() if r["op"] != IN_KEYS]
        self.rows("a.json", self.base)

    def test_table(self):
        self.rows("b.json", slowed(self.base, 2, "tiled"))
        r = self.succeed("compare", "a.json", "b.json")
        self.assertIn("[1] a.json: Made-up GPU 9000, ", r.out)
        self.assertIn("ratio to [1]", r.out)
        self.assertRegex(r.out, r"\n  tiled +7\.111 +14\.22 +2\.000\n")
        self.assertRegex(r.out, r"\n  naive +5\.037 +5\.037 +1\.000\n")
        self.assertRegex(r.out, r"\n  needs-sub-groups +unsupported +unsupported\n")
        self.assertEqual(r.err, "")

    def test_one_file(self):
        r = self.succeed("compare", "a.json")
        self.assertRegex(r.out, r"\n  tiled +7\.111\n")

    def test_a_platform_of_another_number(self):
        """It is the same device when other drivers are installed; another device of it is not."""
        rows = list(self.base)
        number = rows[0]["device_id"]
        for other, columns in (("7:" + number.split(":")[1], 1), ("%s7" % number, 2)):
            half = len(rows) // 2
            self.rows("c.json", rows[:half] + [dict(r, device_id=other) for r in rows[half:]])
            self.assertEqual("\n[2] " in "\n" + self.succeed("compare", "c.json").out, columns == 2, other)

    def test_losses(self):
        self.rows("b.json", slowed(self.base, 0.9, "tiled"))
        r = self.fail_with(3, "compare", "a.json", "b.json", "--fail-below", "0.95",
                           says=["below 0.95 times the earlier file's: "
                                 f"{IN_FLOPS} 256x256x256 float32, f32, cold, device time: tiled (0.900 "
                                 "of that in a.json, within the noise 0.9", " at most, in b.json)",
                                 "5 of "])
        self.assertNotIn("naive", r.err)
        self.assertRegex(r.out, r"\n  tiled +7\.111 +6\.400 +0\.900 <\n")
        self.succeed("compare", "a.json", "b.json", "--fail-below", "0.85")

    def test_within_the_noise(self):
        """Quartiles of 1% on both sides allow 0.97 to be 0.99."""
        self.rows("b.json", slowed(self.base, 0.97))
        self.succeed("compare", "a.json", "b.json", "--fail-below", "0.98")
        self.fail_with(3, "compare", "a.json", "b.json", "--fail-below", "0.995")

    def test_peers_and_single_samples_are_not_judged(self):
        """One sample has no spread, and another library's loss is not ours."""
        few = [dict(r, samples=1) if r["samples"] else r for r in self.base]
        self.rows("b.json", slowed(few, 0.5, "tiled"))
        self.succeed("compare", "a.json", "b.json", "--fail-below", "0.95")

        def as_peers(rows):
            return [dict(r, kind="peer") if r["name"] == "tiled" else r for r in rows]

        self.rows("a.json", as_peers(self.base))
        self.rows("b.json", as_peers(slowed(self.base, 0.5, "tiled")))
        self.succeed("compare", "a.json", "b.json", "--fail-below", "0.95")

    def test_peers_are_shown_with_their_versions(self):
        """Once where the files agree, else each: the core that a library takes a processor for."""
        def peers(core):
            return [dict(r, peer_version="9.9, " + core) for r in self.base if r["kind"] == "peer"]

        name = peers("")[0]["name"]
        self.rows("a.json", peers("Haswell"))
        r = self.succeed("compare", "a.json", "a.json")
        self.assertRegex(r.out, r"\n  %s 9\.9, Haswell +[0-9]" % re.escape(name))
        self.rows("b.json", peers("SkylakeX"))
        r = self.succeed("compare", "a.json", "b.json", env={"COLUMNS": "100"})
        self.assertRegex(r.out, r"\n  %s 9\.9, Haswell; 9\.9, SkylakeX +[0-9]" % re.escape(name))

    def test_faster_is_no_loss(self):
        kernels = [r for r in self.base if r["kind"] == "kernel"]
        self.rows("b.json", slowed(kernels, 1.5))
        self.succeed("compare", "a.json", "b.json", "--fail-below", "1.2")
        self.fail_with(3, "compare", "b.json", "a.json", "--fail-below", "1")

    def test_missing_rows_are_reported(self):
        self.rows("b.json", [r for r in self.base if r["name"] != "tiled"])
        r = self.succeed("compare", "a.json", "b.json", "--fail-below", "0.95")
        self.assertRegex(r.err, r"^hint: 5 of the rates of \[1\] are missing in \[2\] b\.json, .*"
                                r"tiled\n$")
        self.assertRegex(r.out, r"\n  tiled +7\.111 +missing\n")
        self.assertEqual(self.succeed("compare", "a.json", "b.json", "--quiet").err, "")
        # A second device of the same file has lost nothing that the first has.
        other = [dict(r, device="another", device_id="1:0") for r in self.base if r["name"] != "tiled"]
        self.rows("c.json", self.base + other)
        r = self.succeed("compare", "c.json")
        self.assertRegex(r.out, "tiled .*missing")
        self.assertEqual(r.err, "")

    def test_what_broke_is_lost(self):
        """A kernel that has a rate in the first file, and in the second is wrong or fails."""
        for outcome in "wrong", "failed":
            broken = [dict(r, outcome=outcome, samples=0, rate=0, verified=False, unsupported="broken")
                      if r["name"] == "tiled" and r["kind"] == "kernel" else r for r in self.base]
            self.rows("b.json", broken)
            self.fail_with(3, "compare", "a.json", "b.json", "--fail-below", "0.5",
                           says=["tiled (%s in b.json)" % outcome])
            self.succeed("compare", "b.json", "a.json", "--fail-below", "0.5")

    def test_standard_input_is_no_file(self):
        self.fail_with(2, "compare", "a.json", "-", says="standard input")

    def test_nothing_to_judge(self):
        self.rows("b.json", [dict(r, verified=False) for r in self.base if r["kind"] != "limit"])
        self.fail_with(1, "compare", "a.json", "b.json", "--fail-below", "0.9",
                       says="nothing to judge")

    def test_other_problems_are_taken_together(self):
        """Files of different operations: of one device they are one column, of two they are two."""
        cpu = [r for r in made_up_rows.cpu() if r["kind"] == "kernel"]
        files = {"gpu-rest.json": self.base, "cpu-rest.json": [r for r in cpu if r["op"] != IN_KEYS],
                 "gpu-keys.json": [r for r in made_up_rows.gpu() if r["op"] == IN_KEYS],
                 "cpu-keys.json": [r for r in cpu if r["op"] == IN_KEYS]}
        for name, rows in files.items():
            self.rows(name, rows)
        r = self.succeed("compare", *files, "--json")
        d = json.loads(r.out)
        self.assertEqual([c["file"] for c in d["columns"]],
                         ["gpu-rest.json + gpu-keys.json", "cpu-rest.json + cpu-keys.json"])
        self.assertEqual(sum(c["rows"] for c in d["columns"]), sum(map(len, files.values())))
        self.assertEqual({j["op"] for j in d["jobs"] if all(j["best"])},
                         {r["op"] for r in cpu})
        self.succeed("compare", *files, "--html", "r.html")

    def test_other_files_of_the_same_jobs_stay_apart(self):
        self.rows("b.json", slowed(self.base, 2))
        d = json.loads(self.succeed("compare", "a.json", "b.json", "--json").out)
        self.assertEqual([c["file"] for c in d["columns"]], ["a.json", "b.json"])

    def test_fastest_of_each_job(self):
        """Of each device the fastest variant, its ratio to the first, and the limit that binds it."""
        self.rows("b.json", made_up_rows.cpu())
        r = self.succeed("compare", "a.json", "b.json")
        job = rf"{IN_FLOPS} 4096x4096x4096 float32, f32, cold, device time\n"
        gpu = r" +\[1\] +(\S+) TFLOP/s +warp-tile, (\S+)% of fp32\n"
        cpu = r" +\[2\] +(\S+) GFLOP/s +(\S+) x \[1\] +cpu-block, (\S+)% of fp32\n"
        found = re.search(job + gpu + cpu, r.out)
        self.assertTrue(found, r.out)
        first, share, second, ratio, other = (float(x) for x in found.groups())
        self.assertAlmostEqual(ratio, second / first / 1000, 4)
        self.assertAlmostEqual(share, 100 * first / 52, 0)
        self.assertAlmostEqual(other, 100 * second / 900, 0)
        self.assertLess(r.out.index("fastest variant"), r.out.index("limits of the device"))

    def test_host_and_device_meet_on_wall_time(self):
        """The host has no other clock; a device's rows bring their wall time along."""
        device = next(r for r in self.base if r["name"] == "tiled" and r["kind"] == "kernel")
        host = dict(device, device="host", device_id="host", name="openmp", timer="wall", place="host")
        host = slowed([host], 0.5)[0]
        for wall, says in ((2 * device["median_ns"], "1.000 x [1]"), (None, "openmp, wall time")):
            self.rows("b.json", [dict(device, **({"wall_ns": wall} if wall else {}))])
            self.rows("c.json", [host])
            out = self.succeed("compare", "b.json", "c.json").out
            self.assertIn(says, out)
            self.assertEqual(" x [1]" in out, wall is not None)

    def test_parameters_are_a_set(self):
        """Their order makes no other row."""
        rows = [dict(r, parameters=p) for p in ("TILE=16 ROWS=4", "TILE=32 ROWS=4")
                for r in self.base if r["name"] == "tiled" and r["kind"] == "kernel"]
        self.rows("a.json", rows)
        self.rows("b.json", [dict(r, parameters=" ".join(reversed(r["parameters"].split())))
                             for r in rows])
        d = json.loads(self.succeed("compare", "a.json", "b.json", "--json").out)
        self.assertEqual(len(d["lines"]), len(rows))
        self.assertTrue(all(x["cells"][1]["ratio"] == 1 for x in d["lines"]))

    def test_lines_fit_the_terminal(self):
        """Names, and columns where there are many."""
        long = " ".join("PARAMETER%d=%d" % (i, i) for i in range(9))
        rows = [dict(r, parameters=long + " TILE=%d" % t) for t in (8, 16) for r in self.base
                if r["kind"] == "kernel"]
        names = ["%d.json" % i for i in range(6)]
        for i, name in enumerate(names):
            self.rows(name, slowed(rows, 1 + i))
        for width in (60, 80, 132):
            out = self.succeed("compare", *names, env={"COLUMNS": str(width)}).out
            self.assertLessEqual(max(map(len, out.splitlines())), width)
            self.assertIn("PARAMETER8=8", out)

    def test_ratios_stand_apart(self):
        """Also small ones, of eight characters."""
        self.rows("b.json", slowed(self.base, 1 / 3700))
        out = self.succeed("compare", "a.json", "b.json").out
        self.assertRegex(out, r"/s +0\.00027 x \[1\] ")
        self.rows("b.json", slowed(self.base, 1 / 3690))
        out = self.succeed("compare", "a.json", "b.json").out
        self.assertRegex(out, r"/s +0\.000271 x \[1\] ")
        self.assertRegex(out, r"\n  tiled +[0-9.]+ +[0-9.]+ +0\.000271\n")

    def test_tables_without_rows_are_one_line(self):
        """Where columns do not fit beside one another."""
        jobs = [r for r in self.base if r["kind"] != "limit"]
        some = [r for r in jobs if r["problem"] == jobs[0]["problem"]]
        self.rows("b.json", slowed(jobs, 2))
        self.rows("c.json", slowed(some, 3))
        out = self.succeed("compare", "a.json", "b.json", "c.json", env={"COLUMNS": "80"}).out
        tables = out[out.index("limits of the device"):]
        without = [r for r in self.base if r not in some]
        groups = {(r["kind"] == "limit", r["problem"], r["timer"]) for r in without}
        limits = sum(g[0] for g in groups)
        self.assertEqual(tables.count("\n  none of these in [3]\n"), len(groups) - limits + 1)
        for table in tables.split("\n\n"):
            self.assertRegex(table, r"\n  [^\[]{24,}([0-9]|unsupported)")

    def test_shares_of_limits_that_came_later(self):
        """Rows that were measured before the limits of their device were known get their share."""
        self.rows("b.json", [dict(r, share=0.0, limit_rate=0.0, bound_by="") for r in self.base])

        def best(name):
            return {(j["op"], j["problem"]): (j["best"][0]["share"], j["best"][0]["bound_by"])
                    for j in json.loads(self.succeed("compare", name, "--json").out)["jobs"]}

        before, after = best("a.json"), best("b.json")
        self.assertEqual(before.keys(), after.keys())
        for job, (share, roof) in before.items():
            self.assertEqual(after[job][1], roof)
            self.assertAlmostEqual(after[job][0], share, 6)

    def test_what_no_kernel_takes(self):
        """Its row has no name, which its column says."""
        none = dict(next(r for r in self.base if r["unsupported"] and r["kind"] == "kernel"), name="")
        self.rows("b.json", [*self.base, none])
        self.assertRegex(self.succeed("compare", "b.json").out, r"(?m)^  \(none\) +unsupported$")

    def test_json(self):
        self.rows("b.json", slowed(self.base, 0.5, "tiled"))
        r = self.tessera("compare", "a.json", "b.json", "--json", "--fail-below", "0.9")
        self.assertEqual(r.status, 3)
        d = json.loads(r.out)
        self.assertEqual(d["schema"], "tessera-compare-1")
        self.assertEqual([c["file"] for c in d["columns"]], ["a.json", "b.json"])
        self.assertEqual([c["base"] for c in d["columns"]], [None, 0])
        for line in d["lines"]:
            cell = line["cells"][1]
            if line["cells"][0]["rate"] is None:
                self.assertRegex(cell["why"], "^the device has no (sub-groups|tensor cores)$")
                continue
            expected = 0.5 if line["name"] == "tiled" and line["op"] == IN_FLOPS else 1
            self.assertAlmostEqual(cell["ratio"], expected)
            self.assertEqual(cell["lost"], expected == 0.5)
            self.assertGreater(cell["favourable_ratio"], cell["ratio"])

    def test_csv(self):
        self.rows("b.json", slowed(self.base, 2, "tiled"))
        r = self.succeed("compare", "a.json", "b.json", "--csv", "-o", "t.csv")
        self.assertEqual(r.out, "")
        with open(self.path("t.csv"), newline="", encoding="utf-8") as f:
            records = list(csv.DictReader(f))
        self.assertEqual(len(records), 2 * len(self.base))
        tiled = [x for x in records if x["name"] == "tiled" and x["file"] == "b.json"]
        self.assertEqual({x["ratio"] for x in tiled}, {"2"})
        self.assertEqual({x["outcome"] for x in records if x["file"] == "a.json"}, {"no base"})
        self.assertEqual(len(list(csv.reader(io.StringIO("\n".join(records[0]))))), 18)

    def test_html(self):
        r = self.succeed("compare", "a.json", "--html", "r.html")
        self.assertIn("tiled", r.out)
        self.assertIn("page: r.html\n", r.err)
        self.assertEqual(self.succeed("compare", "a.json", "--html", "r.html", "--quiet").err, "")
        with open(self.path("r.html"), encoding="utf-8") as f:
            page = f.read()
        self.assertTrue(page.startswith("<!DOCTYPE html>"))
        self.assertTrue(page.rstrip().endswith("</html>"))
        self.assertIn("<td class=\"n\">7.111</td>", page)
        start = page.index(">", page.index('<script type="application/json"')) + 1
        data = json.loads(page[start:page.index("</script>", start)])
        self.assertEqual(data["schema"], "tessera-report-1")
        self.assertEqual(sum(c is not None for x in data["lines"] for c in x["cells"]),
                         len(self.base))

    def test_outputs(self):
        self.fail_with(2, "compare", "a.json", "--html", "-", says="both be written")
        r = self.succeed("compare", "a.json", "--html", "-", "-o", "t.txt")
        self.assertTrue(r.out.startswith("<!DOCTYPE html>"))
        self.fail_with(1, "compare", "a.json", "--html", "no/such/r.html", says="no/such/r.html")
        self.assertEqual(self.names(), ["a.json", "t.txt"])

    def test_an_input_is_no_output(self):
        """By whatever name: nothing is written, and no part of it left behind."""
        os.link(self.path("a.json"), self.path("hard.json"))
        os.symlink("a.json", self.path("soft.json"))
        with open(self.path("a.json"), encoding="utf-8") as f:
            before = f.read()
        names = self.names()
        for option in ("-o", "--html"):
            for path in ("a.json", "./a.json", self.path("a.json"), "hard.json", "soft.json"):
                self.fail_with(2, "compare", "a.json", option, path,
                               says="%s %s would overwrite the input a.json" % (option, path))
            self.fail_with(2, "compare", "hard.json", "soft.json", option, "a.json",
                           says="overwrite the input hard.json")
        with open(self.path("a.json"), "ab") as f:
            self.fail_with(2, "compare", "soft.json", stdout=f, says="-o - would overwrite")
        with open(self.path("a.json"), encoding="utf-8") as f:
            self.assertEqual(f.read(), before)
        self.assertEqual(self.names(), names)
        self.succeed("compare", "a.json", "-o", "/dev/null", "--html", "r.html")

    def test_wrong_usage(self):
        self.fail_with(2, "compare", says="0 of 1 inputs")
        self.fail_with(2, "compare", "a.json", "--fail-below", "0.9", says="two files")
        self.fail_with(2, "compare", "a.json", "a.json", "--fail-below", "x", says="--fail-below")
        self.fail_with(2, "compare", "a.json", "--json", "--csv", says="exclude")

    def test_bad_files(self):
        self.fail_with(1, "compare", "a.json", "no.json", says="no.json")
        self.write("b.json", '{"schema":"tessera-run-1"}\n')
        self.fail_with(1, "compare", "a.json", "b.json", says=["b.json", "tessera-run-1"])
        self.write("empty.json", "")
        self.fail_with(1, "compare", "a.json", "empty.json", says="empty.json")

    def test_control_characters_stay_out_of_the_terminal(self):
        self.rows("b.json", [dict(r, device="x\x1b[31m\ny") for r in self.base])
        r = self.succeed("compare", "b.json")
        self.assertNotIn("\x1b", r.out)
        self.assertIn("x?[31m?y", r.out)


if __name__ == "__main__":
    unittest.main()
