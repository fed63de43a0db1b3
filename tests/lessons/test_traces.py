"""Traces: each record is what memory held, and the end of all is the result; on PoCL and in Oclgrind."""

import os
import shutil
import tempfile
import unittest

from traces import *


class Traces(unittest.TestCase):
    def check_reads(self, run):
        """Each load has the value that the record of a store left there, or the input."""
        memory, early = Memory(run), 0
        for k, launch in enumerate(run["launches"]):
            for record in launch["records"]:
                memory.take(k, record)
                if record[KIND] != "load":
                    continue
                expected = memory.read(k, record)
                early += expected is None
                if expected is not None:
                    self.assertEqual(record[VALUE], expected, (run["id"], record))
        return early

    def check_end(self, run):
        """The last stores are what the host read back."""
        memory = final(run)
        for operand in run["operands"]:
            if operand["access"] == "read":
                continue
            held = memory.array(operand["name"])
            for i, value in held.items():
                self.assertEqual(value, operand["after"][i], (run["id"], operand["name"], i))

    def check_lesson(self, lesson):
        for run in lesson["runs"]:
            if "launches" not in run:
                continue
            self.assertTrue(run["launches"][0]["records"], run["id"])
            if "without_barrier" not in run:
                self.assertTrue(run["right"], run["detail"])
            if not run.get("as_they_ran"):
                early = self.check_reads(run)
                if run["right"] and "without_barrier" not in run:
                    self.assertEqual(early, 0, run["id"])
            if not run.get("launches_kept"):
                self.check_end(run)

    def test_pocl(self):
        for name in ("tiled",):
            self.check_lesson(traced(name))

    @unittest.skipUnless(os.environ.get("OCLGRIND_LIBRARY"), "no Oclgrind")
    def test_simulator(self):
        for name in ("tiled",):
            self.check_lesson(traced(name, simulator=True))

    @unittest.skipUnless(os.environ.get("OCLGRIND_LIBRARY"), "no Oclgrind")
    def test_barriers(self):
        """Without either the result is wrong, where work-items run one after another."""
        runs = {r["id"]: r for r in traced("tiled", simulator=True)["runs"]}
        right = runs["one-group"]["operands"][2]["after"]
        first = runs["without-first"]["operands"][2]["after"]
        second = runs["without-second"]["operands"][2]["after"]
        self.assertEqual(first, ["NaN"] * 3 + right[3:])
        self.assertEqual([a == b for a, b in zip(second, right)], [True, False, False, False])
        self.assertGreater(self.check_reads(runs["without-first"]), 0)
        self.assertEqual(self.check_reads(runs["without-second"]), 0)
        line = runs["without-second"]["files"][0]["text"].splitlines()
        self.assertIn("barrier(", line[runs["without-second"]["removed"] - 1])

    def test_a_changed_kernel(self):
        """--kernel-dir: another text, and another trace."""
        with tempfile.TemporaryDirectory() as folder:
            mine = os.path.join(folder, "cl")
            shutil.copytree(os.path.join(SOURCE, "cl"), mine)
            path = os.path.join(mine, traced("tiled")["runs"][0]["source"])
            with open(path, encoding="utf-8") as f:
                text = f.read()
            with open(path, "w", encoding="utf-8") as f:
                f.write(text.replace("tile_b[y][x] =", "tile_b[x][y] =").replace("tile_b[p][x]", "tile_b[x][p]"))
            mine_runs = traced("tiled", "--kernel-dir", mine)["runs"]
            self.assertTrue(mine_runs[0]["right"])
            self.assertIn("tile_b[x][y] =", mine_runs[0]["files"][0]["text"])
            with open(path, "w", encoding="utf-8") as f:
                f.write(text.replace("tile_b[y][x] =", "tile_b[x][y] ="))
            self.assertFalse(traced("tiled", "--kernel-dir", mine)["runs"][0]["right"])

    def test_usage(self):
        for args, status, says in [
                (("tild", "--json"), 2, "did you mean 'tiled'?"),
                (("tiled",), 2, "either -o FILE.html or --json"),
                (("tiled", "--json", "-o", "x.html"), 2, "either -o FILE.html or --json"),
                (("tiled", "all", "-o", "/nowhere/x.html"), 2, "several lessons need -o FOLDER"),
                (("tiled", "--json", "--device", "host"), 1, "the host has no kernels")]:
            done = command("lesson", *args)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn(says, done.stderr.decode())
        names = [x["name"] for x in json.loads(command("lesson", "--json").stdout)["lessons"]]
        self.assertEqual(names[0], "tiled")


if __name__ == "__main__":
    unittest.main()
