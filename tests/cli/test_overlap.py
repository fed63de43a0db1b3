"""tessera bench overlap: an array in chunks over several queues, verified, and its timeline."""

import json
import os
import shutil
import stat
import unittest

from cli_support import SOURCE, OPERATIONS, Case, has_opencl

SMALL = ("bench", "overlap", "--device", "cpu", "--size", "10007", "--rounds", "3",
         "--repeat", "3")


def rows_of(text):
    return [json.loads(line) for line in text.splitlines()]


class Usage(Case):
    def test_wrong_values(self):
        for option, value, says in (
                ("--queues", "1,0", "from 1 to 64"), ("--queues", "65", "from 1 to 64"),
                ("--queues", "2,2", "different"), ("--chunks", "4097", "from 1 to 4096"),
                ("--chunks", "x", "from 1 to 4096"), ("--pinned", "yes", "on or off"),
                ("--rounds", "0", "from 1 to 2^20"), ("--size", "4x4", "number of 4-byte words"),
                ("--size", "0", "number of 4-byte words")):
            r = self.fail_with(2, "bench", "overlap", option, value, says=[option, says])
            self.assertEqual(r.out, "", r)

    def test_options_of_operations(self):
        for args in (["--kernel", "naive"], ["--peers"], ["--held"], ["--type", "f64"],
                     ["--batch", "2"], ["--warm"], ["--errors"], ["--explain"], ["--set", "A=1"]):
            self.fail_with(2, "bench", "overlap", *args, says="overlap has no " + args[0])
        self.fail_with(2, "bench", "overlap", "--csv", says="--csv has no columns for overlap")
        for args in (["--queues", "1"], ["--chunks", "1"], ["--pinned", "on"], ["--rounds", "1"]):
            op = OPERATIONS[-1]
            self.fail_with(2, "bench", op, *args, says="%s has no %s" % (op, args[0]))

    def test_host_has_no_queues(self):
        self.fail_with(1, "bench", "overlap", "--device", "host", says="no queues")


@unittest.skipUnless(has_opencl(), "no OpenCL device")
class Measured(Case):
    def rows(self, *args):
        r = self.succeed(*SMALL, "--json", *args)
        self.assertEqual(r.err, "", r)
        return rows_of(r.out)

    def test_every_way(self):
        """Each memory has its copies alone and each number of queues; all are right."""
        rows = self.rows("--queues", "1,3", "--chunks", "5,7")
        alone = [", copy in", ", copy out", ", both ways"]
        table = ["QUEUES=%d CHUNKS=%d" % (q, c) for c in (5, 7) for q in (1, 3)]
        by_memory = {m: [r for r in rows if r["memory"] == m] for m in ("pageable", "pinned", "svm")}
        self.assertEqual(sum(map(len, by_memory.values())), len(rows))
        for memory in ("pageable", "pinned"):
            self.assertEqual([r["name"] for r in by_memory[memory]],
                             [memory + a for a in alone] + [memory] * 4)
            self.assertEqual([r["parameters"] for r in by_memory[memory]], [""] * 3 + table)
        if by_memory["svm"][0]["outcome"] == "timed":
            self.assertEqual([r["parameters"] for r in by_memory["svm"]], table)
        else:
            self.assertEqual(len(by_memory["svm"]), 1)
            self.assertIn("shared virtual memory", by_memory["svm"][0]["unsupported"])
        for r in rows:
            if r["outcome"] == "timed":
                self.assertTrue(r["verified"] and r["rate"] > 0 and r["queue_ns"] > 0, r)
                self.assertEqual((r["kind"], r["op"], r["type"], r["size"], r["timer"]),
                                 ("overlap", "overlap", "uint32", "10007", "wall"))
                self.assertEqual(r["bytes"], r["to_device_bytes"] + r["from_device_bytes"])
                self.assertAlmostEqual(r["rate"], r["bytes"] / r["median_ns"], delta=1e-9)

    def test_compiling_ends(self):
        """The line of a terminal does not say of what runs that it compiles."""
        shown = self.said_on_terminal(100, "bench", "overlap", "--device", "cpu", "--size", "2^18", "--rounds", "3",
                                      "--queues", "1", "--pinned", "off", "--seconds", "1")
        lines = [s for s in shown if s.startswith("overlap, pageable")]
        self.assertTrue(lines, shown)
        self.assertEqual([s for s in lines if "compiling" in s], [])

    def test_timeline(self):
        """Each command once; on a queue they follow one another, in the order of the chunks."""
        for r in self.rows("--queues", "3", "--chunks", "8"):
            bars = r["timeline"]
            if r["outcome"] != "timed":
                self.assertEqual(bars, [])
                continue
            if not r["parameters"]:
                self.assertEqual(sorted(b[1] for b in bars), sorted(
                    {"in": ["copy in"], "out": ["copy out"],
                     "ways": ["copy in", "copy out"]}[r["name"].split()[-1]]))
                continue
            self.assertEqual(len(bars), 24)
            self.assertEqual(min(b[2] for b in bars), 0)
            for queue in range(3):
                own = [b for b in bars if b[0] == queue]
                count = 3 if queue < 2 else 2
                self.assertEqual([b[1] for b in own], ["copy in", "kernel", "copy out"] * count)
                for before, after in zip(own, own[1:]):
                    self.assertLessEqual(before[2], before[3])
                    self.assertLessEqual(before[3], after[2], r["name"])

    def test_many_chunks(self):
        """A timeline has the first 64 chunks."""
        rows = self.rows("--queues", "2", "--chunks", "100", "--pinned", "off")
        self.assertEqual({r["memory"] for r in rows}, {"pageable"})
        self.assertEqual((rows[-1]["commands"], len(rows[-1]["timeline"])), (300, 192))

    def test_table(self):
        r = self.succeed(*SMALL, "--queues", "1,2", "--chunks", "2", "--pinned", "on", "-o", "f.json")
        lines = r.out.splitlines()
        self.assertIn("overlap 10007 uint32 in and out, 3 rounds on ", lines[1])
        self.assertEqual([s.split()[0].rstrip(",") for s in lines[3:]], ["pinned"] * 5)
        self.assertIn("1.00x", lines[-2])
        with open(self.path("f.json"), encoding="utf-8") as f:
            rows = rows_of(f.read())
        self.assertEqual(len(rows), 5)
        self.assertEqual([row["samples"] for row in rows], [3] * 5)
        self.succeed("compare", "f.json", "f.json", "--html", "page.html", "--fail-below", "0.9")
        with open(self.path("page.html"), encoding="utf-8") as f:
            self.assertIn('<section id="overlap">', f.read())
        self.assertIn("pinned, both ways", self.succeed("compare", "f.json").out)
        with open(self.path("g.json"), "w", encoding="utf-8") as f:
            for row in rows:
                for name in ("min_ns", "low_ns", "median_ns", "high_ns", "max_ns"):
                    row[name] *= 1000
                f.write(json.dumps({**row, "rate": row["rate"] / 1000}) + "\n")
        self.fail_with(3, "compare", "f.json", "g.json", "--fail-below", "0.9", says="5 of 5 rates")

    def test_what_cannot_be(self):
        rows = self.rows("--queues", "1,4", "--chunks", "2", "--pinned", "on")
        self.assertEqual([r["outcome"] for r in rows], ["timed"] * 4 + ["unsupported"])
        self.assertIn("queues without work", rows[-1]["unsupported"])
        r = self.fail_with(1, "bench", "overlap", "--device", "cpu", "--size", "2", "--chunks", "3",
                           "--queues", "1", "--pinned", "on", "--rounds", "1", "--size", "2^33",
                           "--json", says="8589934592 words are more than")
        self.assertEqual(rows_of(r.out)[-1]["unsupported"], "there are fewer words than chunks")

    def test_budget(self):
        r = self.succeed("bench", "overlap", "--device", "cpu", "--size", "1000", "--rounds", "1",
                         "--budget", "0.000001", "--pinned", "on", "--json")
        outcomes = [row["outcome"] for row in rows_of(r.out)]
        self.assertEqual(outcomes, ["timed"] + ["late"] * 7)
        self.assertIn("1 of 8 rows are done", r.err)

    def test_found_rounds(self):
        """Without --rounds: a power of two, the same for all rows."""
        r = self.succeed("bench", "overlap", "--device", "cpu", "--size", "50000", "--queues", "1",
                         "--budget", "1", "--json")
        problems = {row["problem"] for row in rows_of(r.out)}
        self.assertEqual(len(problems), 1)
        rounds = int(problems.pop().split()[-2])
        self.assertEqual(rounds & (rounds - 1), 0)

    def test_wrong_kernels_are_found(self):
        """The control: a kernel that does one round too few, that shifts its words, or that leaves
        the last one out gives status 3, and no times."""
        with open(os.path.join(SOURCE, "cl", "measure/overlap.cl"), encoding="utf-8") as f:
            right = f.read()
        for old, new in (("r = 0;", "r = 1;"), ("in[i]", "in[i ? i - 1 : 0]"),
                         ("i < count)", "i + 1 < count)")):
            self.assertEqual(right.count(old), 1)
            folder = self.path("cl")
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(os.path.join(SOURCE, "cl"), folder)
            os.chmod(os.path.join(folder, "measure/overlap.cl"), stat.S_IRUSR | stat.S_IWUSR)
            with open(os.path.join(folder, "measure/overlap.cl"), "w", encoding="utf-8") as f:
                f.write(right.replace(old, new))
            r = self.tessera(*SMALL, "--json", "--kernel-dir", "cl", "--pinned", "on", "--queues",
                             "2", "--chunks", "3")
            self.assertEqual(r.status, 3, r)
            self.assertRegex(r.err, r"^tessera: pinned: word \d+ is \d+ after the kernel, and should")
            rows = rows_of(r.out)
            self.assertEqual([row["outcome"] for row in rows], ["timed"] * 3 + ["wrong"])
            self.assertEqual((rows[-1]["samples"], rows[-1]["timeline"]), (0, []))


if __name__ == "__main__":
    unittest.main()
