"""Traces: each record is what memory held, and the end of all is the result; on PoCL and in Oclgrind."""

import glob
import json
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

    def check_lesson(self, lesson, in_turn=False):
        """in_turn: work-groups ran one after another."""
        for run in lesson["runs"]:
            if "launches" not in run:
                continue
            self.assertTrue(run["launches"][0]["records"], run["id"])
            if "without_barrier" not in run:
                self.assertIsNot(run.get("right"), False, run.get("detail"))
            if in_turn or not run.get("as_they_ran"):
                early = self.check_reads(run)
                if "without_barrier" not in run:
                    self.assertEqual(early, 0, run["id"])
            if "kept" not in run:
                self.check_end(run)

    @unittest.skipIf(os.environ.get("TESSERA_SANITIZED"), "to a sanitizer one lesson is like another")
    def test_pocl(self):
        for name in ("bitonic", "radix", "blelloch"):
            self.check_lesson(traced(name))

    @unittest.skipUnless(os.environ.get("OCLGRIND_LIBRARY"), "no Oclgrind")
    def test_simulator(self):
        for name in ("tiled", "bitonic", "reduction", "blelloch", "banks", "coalescing", "strides", "contention",
                     "compaction", "pixels"):
            self.check_lesson(traced(name, simulator=True), in_turn=True)

    @unittest.skipUnless(os.environ.get("OCLGRIND_LIBRARY"), "no Oclgrind")
    def test_vectors_and_words(self):
        """A vector, and a word of bytes, is one access with a record for each element."""
        runs = {r["id"]: r for name in ("strides", "pixels") for r in traced(name, simulator=True)["runs"]}
        for run, each in (("vector", 4), ("packed", 4), ("vectors", 16)):
            records = runs[run]["launches"][0]["records"]
            accesses = []
            for r in records:
                if len(r) > 7:
                    before = accesses[-1][-1]
                    self.assertEqual((r[ITEM], r[KIND], r[ARRAY], r[INDEX]),
                                     (before[ITEM], before[KIND], before[ARRAY], before[INDEX] + 1))
                    accesses[-1].append(r)
                else:
                    accesses.append([r])
            self.assertEqual({len(a) for a in accesses}, {each}, run)

    @unittest.skipUnless(os.environ.get("OCLGRIND_LIBRARY"), "no Oclgrind")
    def test_atomics(self):
        """Each atomic is a read and the store of one more, and all of a bin are its count."""
        runs = {r["id"]: r for r in traced("contention", simulator=True)["runs"]}
        for run, array, elements in (("naive", "counts", 4), ("local", "table", 4), ("copies", "table", 16)):
            at = [a["name"] for a in runs[run]["arrays"]].index(array)
            records = runs[run]["launches"][1]["records"]
            added = [0] * elements
            for read, stored in zip(records, records[1:]):
                if read[ARRAY] == stored[ARRAY] == at and (read[KIND], stored[KIND]) == ("load", "store"):
                    self.assertEqual((stored[ITEM], stored[INDEX], stored[VALUE]),
                                     (read[ITEM], read[INDEX], read[VALUE] + 1))
                    added[read[INDEX]] += 1
            counts = [sum(added[k:k + elements // 4]) for k in range(0, elements, elements // 4)]
            self.assertEqual(counts, runs[run]["operands"][2]["after"], run)

    def test_overlap(self):
        """A bar of each command; each chunk is copied in, computed and copied out in this order."""
        for run in traced("overlap")["runs"]:
            self.assertEqual(len(run["timeline"]), 3 * run["chunks"])
            self.assertEqual(len(run["steps"]), len(run["timeline"]))
            self.assertEqual({b["queue"] for b in run["timeline"]}, set(range(run["queues"])))
            for queue in range(run["queues"]):
                bars = [b for b in run["timeline"] if b["queue"] == queue]
                self.assertEqual([b["kind"] for b in bars], ["in", "kernel", "out"] * (len(bars) // 3))
                for one, other in zip(bars, bars[1:]):
                    self.assertLessEqual(one["end"], other["begin"])

    def test_what_a_device_lacks(self):
        """One lesson fails with the reason; of several it is left out."""
        done = command("lesson", "shuffle", "--json")
        if done.returncode == 0:
            self.check_lesson(json.loads(done.stdout))
            return
        self.assertEqual(done.returncode, 1)
        self.assertIn("it needs inline PTX", done.stderr.decode())
        self.assertIn("docs/course/shuffle.html in the sources shows it", done.stderr.decode())
        with tempfile.TemporaryDirectory() as folder:
            done = command("lesson", "shuffle", "overlap", "-o", folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("lesson shuffle is left out", done.stderr.decode())
            self.assertEqual(os.listdir(folder), ["overlap.html"])

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

    def source(self):
        """The kernel file of the tiled lesson."""
        return on_page(os.path.join(SOURCE, "docs", "course", "tiled.html"))["runs"][0]["source"]

    def changed(self, *edits, encoding="utf-8"):
        """What comes of the tiled lesson with a changed kernel."""
        file = self.source()
        with tempfile.TemporaryDirectory() as folder:
            mine = os.path.join(folder, "cl")
            shutil.copytree(os.path.join(SOURCE, "cl"), mine)
            with open(os.path.join(mine, file), encoding="utf-8") as f:
                text = f.read()
            for old, new in edits:
                self.assertIn(old, text)
                text = text.replace(old, new, 1)
            with open(os.path.join(mine, file), "w", encoding=encoding) as f:
                f.write(text)
            done = command("lesson", "tiled", "--json", "--kernel-dir", mine)
        return done, {r["id"]: r for r in json.loads(done.stdout)["runs"]} if done.returncode == 0 else None

    def test_steps_up_and_down(self):
        """++ and -- before and behind an element, and addresses: values as C has them, once each."""
        sum_line = "        for (uint p = 0; p < TILE; p++)\n"
        done, runs = self.changed((sum_line, """        uint where = 0;
        tile_a[y][x] += 0;
        ++tile_a[y][x]; tile_a[y][x]--; --tile_a[y][x];
        sum += tile_a[y][x]++ - ++tile_a[y][x] + 2;
        tile_a[y][x]--;
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += *(__local float *)&tile_a[y][x] - tile_a[y][x] + where;
""" + sum_line), ("__local float tile_a", "if (k == 0)\n        return;\n    __local float tile_a"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(runs["tiled"]["right"], runs["tiled"]["detail"])
        self.check_end(runs["tiled"])

    def test_subscripts_that_change_something(self):
        """Read and written by one expression they would be evaluated twice; else they are right."""
        stores = "        c[(ulong)row * n + column] = sum;"
        done, runs = self.changed((stores, "    {\n        ulong i = (ulong)row * n + column;\n        c[i++] = sum;\n    }"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(runs["tiled"]["right"])
        for what in ("c[i++] = 0, i--, c[i++] += sum", "c[i] = sum, c[i++]--", "c[i] = sum, ++c[i = i + 1]"):
            done, _ = self.changed((stores, "    {\n        ulong i = (ulong)row * n + column;\n        %s;\n    }" % what))
            self.assertEqual(done.returncode, 1, (what, done.stderr))
            self.assertIn("the subscript of 'c' changes something", done.stderr.decode())

    def test_what_has_no_record(self):
        """A result without a store says so; address spaces may be written without underscores."""
        stores = "        c[(ulong)row * n + column] = sum;"
        done, runs = self.changed((stores, "        *(c + (ulong)row * n + column) = sum;"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(runs["tiled"]["right"])
        self.assertIn("lesson tiled, run tiled: no store into C is recorded", done.stderr.decode())
        done, runs = self.changed(("__global float *restrict c", "global float *restrict c"),
                                  ("__local float tile_b", "local float tile_b"))
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.check_end(runs["tiled"])
        self.assertIn("tile_b", [a["name"] for a in runs["tiled"]["arrays"]])

    def test_kernel_file(self):
        """One file in the place of the first run's kernel."""
        with open(os.path.join(SOURCE, "cl", self.source()), encoding="utf-8") as f:
            text = f.read()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "mine.cl")
            with open(path, "w", encoding="utf-8") as f:
                f.write(text.replace("tile_b[y][x] =", "tile_b[x][y] ="))
            runs = {r["id"]: r for r in traced("tiled", "--kernel-file", path)["runs"]}
            self.assertEqual([runs[k]["right"] for k in ("tiled", "naive")], [False, True])
            for args in (("tiled", "--json", "--kernel-dir", "cl"), ("overlap", "--json"), ("tiled", "banks", "-o", folder)):
                self.assertEqual(command("lesson", *args, "--kernel-file", path).returncode, 2, args)

    def test_printed_source(self):
        """What `kernels --source` prints is as good a file, with its own lines, includes in it."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "mine.cl")
            for lesson, without in (("tiled", "without-first"), ("reduction", "")):
                own = traced(lesson)["runs"][0]
                printed = command("kernels", own["op"], own["kernel"], "--source").stdout.decode()
                with open(path, "w", encoding="utf-8") as f:
                    f.write(printed)
                runs = {r["id"]: r for r in traced(lesson, "--kernel-file", path)["runs"]}
                first = next(iter(runs.values()))
                self.assertTrue(first["right"], lesson)
                self.assertTrue(first["files"][0]["name"].endswith("mine.cl"))
                shown = first["files"][0]["text"].splitlines()
                at = max(i for i, line in enumerate(shown) if "barrier(CLK" in line)
                self.assertEqual(shown[at], printed.splitlines()[at])
                self.assertTrue(first["files"][0]["replaces"].startswith(own["op"] + "/"))
                self.assertFalse(any("replaces" in file for run in runs.values() if run is not first
                                     for file in run["files"] if not file["name"].endswith("mine.cl")))
                if without:
                    self.assertFalse(runs[without]["right"])
                    self.assertIn("barrier(", shown[runs[without]["removed"] - 1])

    def test_without_a_barrier_of_its_own(self):
        """The page is made; runs that leave out a barrier, which is not there, are not on it.  In Oclgrind
        the result is wrong, of `verify` too, as docs/course/exercises.md says."""
        own = traced("tiled")["runs"][0]
        printed = command("kernels", own["op"], own["kernel"], "--source").stdout.decode()
        simulator = bool(os.environ.get("OCLGRIND_LIBRARY"))
        barriers = [i for i, line in enumerate(printed.splitlines()) if line.strip().startswith("barrier(")]
        self.assertEqual(len(barriers), 2)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "mine.cl")
            for missing in barriers:
                lines = printed.splitlines()
                lines[missing] = ""
                with open(path, "w", encoding="utf-8") as f:
                    f.write("\n".join(lines))
                verify = ["verify", own["op"], own["kernel"], "--kernel-file", path, "--tiny", "--type", "f32"]
                if simulator:
                    self.assertEqual(command(*verify, simulator=True).returncode, 3)
            done = command("lesson", "tiled", "--json", "--kernel-file", path, simulator=simulator)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("'Without the first barrier' is left out: ", done.stderr.decode())
            self.assertIn("has 1 barrier, not the 2 of which one is left out", done.stderr.decode())
            lesson = json.loads(done.stdout)
            self.assertFalse([run["id"] for run in lesson["runs"] if run["id"].startswith("without")])
            self.assertEqual(len(lesson["left_out"]), 2)
            tasks = "\n".join(lesson["exercise"])
            self.assertIn("tessera verify %s tiled --kernel-file %s\n" % (own["op"], path), tasks)
            self.assertNotIn("> " + path, tasks)
            if simulator:
                self.assertFalse(lesson["runs"][0]["right"])

    def test_folder(self):
        """Of several pages: it is made."""
        with tempfile.TemporaryDirectory() as folder:
            pages = os.path.join(folder, "pages")
            done = command("lesson", "coalescing", "reduction", "-o", pages)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(sorted(os.listdir(pages)), ["coalescing.html", "reduction.html"])
            done = command("lesson", "coalescing", "reduction", "-o", os.path.join(folder, "x.html"))
            self.assertEqual(done.returncode, 2)
            self.assertIn(b"is the name of a page", done.stderr)
            self.assertEqual(os.listdir(folder), ["pages"])

    def test_a_long_path(self):
        """Records are of the file's own lines however long its path is, and messages name it whole."""
        own = traced("reduction")["runs"][0]
        printed = command("kernels", own["op"], own["kernel"], "--source").stdout
        with tempfile.TemporaryDirectory() as folder:
            folder = os.path.join(folder, "a" * 90)
            os.mkdir(folder)
            path = os.path.join(folder, "mine.cl")
            with open(path, "wb") as f:
                f.write(printed)
            run = traced("reduction", "--kernel-file", path)["runs"][0]
            self.assertEqual(run["files"][0]["name"], path)
            self.assertEqual({record[FILE] for launch in run["launches"] for record in launch["records"]}, {0})
            with open(path, "wb") as f:
                f.write(b"__kernel int x;\n")
            done = command("lesson", "reduction", "--json", "--kernel-file", path)
            self.assertIn(path + " ", done.stderr.decode().splitlines()[0])

    def test_line_numbers_of_its_own(self):
        """A file may name any line: the page does not grow with it."""
        own = traced("reduction")["runs"][0]
        printed = command("kernels", own["op"], own["kernel"], "--source").stdout.decode()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "mine.cl")
            with open(path, "w", encoding="utf-8") as f:
                f.write('#line 2000000000 "elsewhere.cl"\n#line 3000000 "%s"\n%s' % (path, printed))
            run = traced("reduction", "--kernel-file", path)["runs"][0]
            self.assertTrue(run["right"])
            self.assertLess(sum(len(file["text"]) for file in run["files"]), 3 * len(printed))

    def test_file_of_another_kernel(self):
        """It says which kernel is missing, and what prints it."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "mine.cl")
            with open(path, "wb") as f:
                f.write(b"__kernel void another(__global int *x) { x[0] = 1; }\n")
            own = traced("reduction")["runs"][0]
            done = command("lesson", "reduction", "--json", "--kernel-file", path)
            self.assertEqual(done.returncode, 1)
            self.assertIn("has no kernel '%s_%s', which this lesson launches: begin with what `tessera kernels %s %s "
                          "--source` prints" % (own["op"], own["kernel"], own["op"], own["kernel"]),
                          done.stderr.decode())

    def test_other_encodings(self):
        """A byte that is no UTF-8 is a '?', and the files are there."""
        done, runs = self.changed(("/* Filled", "/* Gef\u00fcllt"), encoding="latin-1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("/* Gef?llt before read", runs["tiled"]["files"][0]["text"])

    def test_errors_of_a_changed_kernel(self):
        """The compiler names the place in the file as its author wrote it, and nothing else is said."""
        with open(os.path.join(SOURCE, "cl", self.source()), encoding="utf-8") as f:
            lines = f.read().splitlines()
        number = next(i for i, l in enumerate(lines, 1) if "float sum = 0;" in l)
        done, _ = self.changed(("float sum = 0;", "float sum = nothing;"))
        said = done.stderr.decode()
        self.assertEqual(done.returncode, 1)
        self.assertRegex(said, r"%s:%d:%d: use of undeclared identifier" % (self.source(), number, lines[number - 1].index("0;") + 1))
        self.assertNotIn("generated", said)

    def turns(self, run):
        """The most words of one bank that the first warp reads of a tile at once."""
        local = [k for k, a in enumerate(run["arrays"]) if a["space"] == "local"]
        reads, number = {}, {}
        for r in run["launches"][0]["records"]:
            if r[KIND] == "load" and r[ARRAY] in local and r[ITEM] < 32:
                number[r[ITEM]] = number.get(r[ITEM], -1) + 1
                reads.setdefault(number[r[ITEM]], set()).add(r[INDEX])
        return max(sum(w % 32 == b for w in words) for words in reads.values() for b in range(32))

    @unittest.skipIf(os.environ.get("TESSERA_SANITIZED"), "to a sanitizer each is one and the same call of lesson")
    def test_what_pages_suggest(self):
        """Each change that a page asks its reader to try does what the page says."""
        tried = 0
        for path in sorted(glob.glob(os.path.join(SOURCE, "data", "lessons", "*.json"))):
            with open(path, encoding="utf-8") as f:
                lesson = json.load(f)
            simulator = lesson["name"] not in ("radix", "shuffle") and bool(os.environ.get("OCLGRIND_LIBRARY"))
            for change in lesson.get("tries", []):
                with tempfile.TemporaryDirectory() as folder:
                    mine = os.path.join(folder, "cl")
                    shutil.copytree(os.path.join(SOURCE, "cl"), mine)
                    for file, old, new in change["edits"]:
                        with open(os.path.join(mine, file), encoding="utf-8") as f:
                            text = f.read()
                        self.assertIn(old, text, path)
                        with open(os.path.join(mine, file), "w", encoding="utf-8") as f:
                            f.write(text.replace(old, new))
                    done = command("lesson", lesson["name"], "--json", "--kernel-dir", mine, simulator=simulator)
                    if "lab" in change:
                        lab = command("lab", change["lab"], "--size", str(1 << 20), "--kernel-dir", mine)
                        self.assertEqual(lab.returncode, 0, lab.stderr)
                if b"inline PTX" in done.stderr:
                    continue
                self.assertEqual(done.returncode, 0, done.stderr)
                runs = {r["id"]: r for r in json.loads(done.stdout)["runs"]}
                for run, right in change["right"].items():
                    self.assertEqual(runs[run]["right"], right, (path, change))
                for run, turns in change.get("turns", {}).items():
                    self.assertEqual(self.turns(runs[run]), turns, (path, change))
                for run, sectors in change.get("sectors", {}).items():
                    reads = {r[INDEX] * 4 // 32 for r in runs[run]["launches"][0]["records"] if r[KIND] == "load"}
                    self.assertEqual(len(reads), sectors, (path, change))
                for run, sectors in change.get("first_sectors", {}).items():
                    first = {}
                    for r in runs[run]["launches"][0]["records"]:
                        first.setdefault(r[ITEM], r[INDEX] * 4 // 32)
                    self.assertEqual(len(set(first.values())), sectors, (path, change))
                tried += 1
        self.assertGreater(tried, 14)

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
        for args in (("-o", "x.html"), ("--kernel-dir", "zz"), ("--device", "0:0")):
            done = command("lesson", *args)
            self.assertEqual(done.returncode, 2, args)
            self.assertIn("needs the name of a lesson, or all", done.stderr.decode())
        names = [x["name"] for x in json.loads(command("lesson", "--json").stdout)["lessons"]]
        self.assertEqual(names[0], "tiled")


if __name__ == "__main__":
    unittest.main()
