"""tessera kernels and tessera verify."""

import json
import os
import re
import unittest

import numpy as np

from cli_support import OPERATIONS, SOURCE, Case, has_opencl


@unittest.skipUnless(has_opencl(), "no OpenCL device")
class Kernels(Case):
    def listing(self, *args):
        return json.loads(self.succeed("kernels", "--json", *args).out)["operations"]

    def test_json(self):
        ops = self.listing()
        self.assertEqual([op["op"] for op in ops], OPERATIONS)
        for op in ops:
            names = [v["name"] for v in op["variants"]]
            self.assertEqual(len(names), len(set(names)))
            for v in op["variants"]:
                self.assertTrue(v["idea"])
                self.assertEqual(v["suited"], "unsupported" not in v)
                self.assertEqual(v["runs_on"] == "device", "file" in v)
                for t in v["tunables"]:
                    self.assertIn(t["default"], t["values"])
                    self.assertTrue(t["meaning"])

    def on_cpu(self):
        """Whether the default device is a CPU, for which there are variants in C too."""
        r = self.tessera("kernels", "reduce", "simd")
        return "unsupported" not in r.out

    def test_text_says_the_same(self):
        """What JSON has of this side; the variants of the other side are one line at the end."""
        of_device = ("device", "host and CPUs") if self.on_cpu() else ("device",)
        for args, here, there in (((), of_device, r"  %d variants? in C runs? on the device 'host'"),
                                  (("--device", "host"), ("host", "host and CPUs"),
                                   r"  %d OpenCL kernels? runs? on other devices")):
            for op in self.listing(*args):
                text = self.succeed("kernels", op["op"], *args).out
                self.assertIn("%s: %s\n" % (op["op"], op["idea"]), text)
                if op["words"]:
                    self.assertIn("\n  %s\n" % op["words"], text)
                for v in op["variants"]:
                    line = "\n  %s: %s\n" % (v["name"], v["idea"])
                    self.assertEqual(line in text, v["runs_on"] in here, v)
                    if v["runs_on"] in here and not v["suited"]:
                        self.assertIn("unsupported: %s\n" % v["unsupported"], text)
                others = sum(v["runs_on"] not in here for v in op["variants"])
                self.assertRegex(text.splitlines()[-1], r"\A%s\Z" % (there % others))

    def test_one_of_the_other_side(self):
        text = self.succeed("kernels", "matmul", "ijk").out
        self.assertIn("\n  ijk: ", text)
        self.assertIn("unsupported: ", text)
        self.assertNotIn("variants in C", text)

    def test_default_is_marked(self):
        """The mark stands at the variant that a call of that size gets."""
        self.save("a.npy", np.zeros((1024, 1024), np.float32))
        r = self.succeed("matmul", "a.npy", "a.npy", "-o", "c.npy", "--alpha", "0", "--json")
        text = self.succeed("kernels", "matmul").out
        self.assertEqual(re.findall(r"(?m)^  (\S+): .*\n      chosen by default$", text),
                         [json.loads(r.out)["variant"]])
        for args in ((), ("--device", "host")):
            text = self.succeed("kernels", *args).out
            first = re.findall(r"(?m)^(\S+): .*\n(?:  .*\n)*?  runs by default: (\S+)\n", text)
            self.assertEqual(len(first), len(OPERATIONS))
            for op, name in first:
                marked = r"(?m)^  (\S+): .*\n      chosen by default$"
                self.assertEqual(re.findall(marked, self.succeed("kernels", op, *args).out), [name])
        self.assertNotIn("chosen by default", self.succeed("kernels", "matmul", "naive").out)

    def test_short_list(self):
        """Every variant once, as the listing of programs judges it, in lines that fit."""
        text = self.succeed("kernels", env={"COLUMNS": "72"}).out
        for op in self.listing():
            part = re.search(r"(?m)^%s: .*\n(?:  .*\n)+" % op["op"], text).group()
            for line in part.splitlines()[3:]:
                self.assertLessEqual(len(line), 72)
            part = re.sub(r"\n      ", " ", part)
            for name, wanted in (("supported", True), ("unsupported", False)):
                found = re.search(r"(?m)^  %s: (.*)$" % name, part)
                listed = found.group(1).split(", ") if found else []
                self.assertEqual(listed, [v["name"] for v in op["variants"] if v["suited"] is wanted
                                          and v["runs_on"] != "host"])
        self.assertIn("'tessera kernels OP'", text)

    def test_one(self):
        op = self.listing("matmul")
        self.assertEqual(len(op), 1)
        name = op[0]["variants"][-1]["name"]
        one = self.listing("matmul", name)
        self.assertEqual([v["name"] for v in one[0]["variants"]], [name])

    def test_type(self):
        self.assertIn("float64", self.listing("matmul", "--type", "f64")[0]["problem"])
        self.assertIn("int64", self.listing("sort", "--type", "i64")[0]["problem"])
        self.assertIn("float64", self.listing("matmul", "--type", "float64")[0]["problem"])
        self.assertIn("uint32", self.listing("sort", "--type", "uint32")[0]["problem"])
        self.fail_with(2, "kernels", "matmul", "--type", "u32", says=("matmul", "uint32"))

    def test_problem(self):
        """What the options describe is what variants are judged by."""
        keys = "1000000 uint32"
        for args, problem in (
                (("matmul", "--size", "20x30x40", "--batch", "5", "--type", "f16", "--out-type",
                  "f32"), "20x30x40 float16 to float32 x 5"),
                (("matmul", "--precision", "tf32"), "1024x1024x1024 float32 tf32"),
                (("matvec", "--size", "20x30"), "20x30 float32"),
                (("sort",), "4194304 uint32"),
                (("sort", "--size", "1M", "--argsort"), keys + " argsort"),
                (("sort", "--size", "1000x1k"), "1000 rows of 1000 uint32"),
                (("sort", "--size", "1000x1k", "--segments", "mixed"),
                 keys + " in 1000 mixed segments of up to 16000")):
            self.assertEqual(self.listing(*args)[0]["problem"], problem)
        suited = {v["name"]: v["suited"] for v in
                  self.listing("sort", "--segments", "uniform")[0]["variants"]}
        self.assertTrue(suited["segments"])
        self.assertNotIn("naive", suited)
        text = self.succeed("kernels", "sort", "--segments", "uniform").out
        self.assertRegex(text, r"(?m)^  (cpu-)?segments\S*: .*\n      chosen by default$")

    def test_on_host(self):
        for op in self.listing("--device", "host"):
            for v in op["variants"]:
                self.assertEqual(v["suited"], v["runs_on"] != "device", v)

    def test_source(self):
        for op in self.listing():
            for v in op["variants"]:
                args = ("kernels", op["op"], v["name"], "--source")
                if v["runs_on"] != "device":
                    r = self.fail_with(1, *args, says="runs on the host")
                    self.check_host_files(r.err)
                    continue
                text = self.succeed(*args).out
                if v["suited"]:
                    self.assertRegex(text, r"\A/\* options: .*\*/\n")
                self.assertEqual(re.findall(r"(?m)^/\* unsupported here: (.*) \*/$", text),
                                 [] if v["suited"] else [v["unsupported"]])
                self.assertRegex(text, r"(?m)^(__)?kernel\b")
                self.assertNotRegex(text, r'(?m)^#include "')
                options = text.partition("\n")[0]
                for t in v["tunables"]: # those that only plan() reads are no -D
                    for value in re.findall(r" -D%s=(\d+) " % t["name"], options):
                        if t["default"]:
                            self.assertEqual(int(value), t["default"], t)
                        else: # set by the problem
                            self.assertNotEqual(int(value), 0, t)

    def check_host_files(self, message):
        files = re.search(r" in (host/ops/\S+\.c)(?: and (\S+\.h))? of ", message)
        self.assertIsNotNone(files, message)
        with open(os.path.join(SOURCE, files[1]), encoding="utf-8") as f:
            text = f.read()
        if files[2]:
            self.assertRegex(text, r'(?m)^#include "ops/\w+/%s"$' % re.escape(files[2]))

    def test_problem_options(self):
        for args, define in ((("matmul", "general", "--trans-a"), "-DTRANS_A=1"),
                             (("matmul", "general", "--trans-b"), "-DTRANS_B=1"),
                             (("matvec", "row-item", "--trans"), "-DTRANS=1"),
                             (("sort", "general", "--descending"), "-DDESCENDING=1"),
                             (("sort", "general", "--argsort"), "-DWITH_INDEX=1"),
                             (("sort", "general", "--size", "3x9"), "-DWITH_ROWS=1")):
            options = self.succeed("kernels", *args, "--source").out.splitlines()[0]
            self.assertIn(define + " ", options)
            options = self.succeed("kernels", *args[:2], "--source").out.splitlines()[0]
            self.assertNotIn(define + " ", options)
        self.fail_with(2, "kernels", "sort", "--trans", says="no --trans, which is of matvec")
        self.fail_with(2, "kernels", "matvec", "--segments", "mixed", says="is of sort")
        self.fail_with(2, "kernels", "sort", "--batch", "2", says="is of matmul and matvec")
        for args in (("--trans-a",), ("--size", "8"), ("--segments", "mixed"), ("--batch", "3")):
            self.fail_with(2, "kernels", *args, says=(args[0], "'tessera kernels OP " + args[0]))
        self.fail_with(2, "kernels", "sort", "--size", "8", "--size", "9", says="given 2 times")
        self.fail_with(2, "kernels", "sort", "--size", "0x9", says="'0x9' is an empty sort")
        self.fail_with(2, "kernels", "sort", "--segments", "mixed", "--size", "9",
                       says="SEGMENTSxKEYS")

    def test_source_with_a_tunable(self):
        v = next(v for v in self.listing("matmul")[0]["variants"] if v["tunables"])
        t = v["tunables"][0]
        value = next(x for x in t["values"] if x != t["default"])
        text = self.succeed("kernels", "matmul", v["name"], "--source", "--set",
                            "%s=%d" % (t["name"], value)).out
        self.assertIn("-D%s=%d" % (t["name"], value), text)

    def test_ptx(self):
        name = next(v for v in self.listing("matmul")[0]["variants"] if v["suited"])["name"]
        r = self.tessera("kernels", "matmul", name, "--ptx")
        if r.status:
            self.assertEqual(r.status, 1, r)
            self.assertIn("NVIDIA", r.err)
        else:
            self.assertIn(".target", r.out)

    def test_wrong(self):
        self.fail_with(2, "kernels", "--source", says="--source")
        self.fail_with(2, "kernels", "matmul", "--ptx", says="--ptx")
        self.fail_with(2, "kernels", "matmul", "tiled", "--source", "--json", says="exclude")
        self.fail_with(2, "kernels", "matmul", "--set", "TILE=8", says="--set TILE=8")
        self.fail_with(2, "kernels", "matmul", "tilled", says=("'tilled'", "'tiled'"))
        self.fail_with(2, "kernels", "matmul", "tiled", "--set", "TILE=7", says="TILE")
        self.fail_with(2, "kernels", "matmul", "tiled", "--set", "TYLE=8", says="TYLE")


class Verify(Case):
    line = re.compile(r"^(ok  |FAIL|skip) (%s)/\S+ \w+ on .+: .+$" % "|".join(OPERATIONS))

    def check(self, *args):
        r = self.succeed("verify", "--tiny", *args)
        *rows, last = r.out.splitlines()
        for row in rows:
            self.assertRegex(row, self.line)
        n = [sum(row.startswith(w) for row in rows) for w in ("ok", "FAIL", "skip")]
        self.assertEqual(last, "%d passed, %d failed, %d skipped (seed 1)" % tuple(n))
        self.assertGreater(n[0], 0)
        return rows

    def test_host(self):
        for op in OPERATIONS:
            rows = self.check(op, "--device", "host")
            self.assertTrue(all("/" in row and " on host: " in row for row in rows))

    def test_one_kernel(self):
        name = json.loads(self.succeed("kernels", "sort", "--json", "--device", "host").out)[
            "operations"][0]["variants"][0]["name"]
        rows = self.check("sort", "--device", "host", "--kernel", name)
        self.assertTrue(all("sort/%s " % name in row for row in rows))
        self.assertEqual(self.check("sort", name, "--device", "host"), rows)

    def test_json(self):
        d = json.loads(self.succeed("verify", "sort", "--tiny", "--device", "host", "--json",
                                    "--seed", "5").out)
        self.assertEqual((d["schema"], d["seed"], d["failed"]), ("tessera-verify-1", 5, 0))
        self.assertEqual(d["passed"], sum(r["outcome"] == "ok" for r in d["rows"]))

    @unittest.skipUnless(has_opencl(), "no OpenCL device")
    def test_nothing_runs(self):
        d = json.loads(self.succeed("kernels", "sort", "--json").out)["operations"][0]
        host = next(v["name"] for v in d["variants"] if v["runs_on"] == "host")
        r = self.tessera("verify", "sort", "--tiny", "--kernel", host)
        self.assertEqual(r.status, 1, r)
        self.assertIn("nothing ran", r.err)
        self.assertIn("skip sort/%s" % host, r.out)

    @unittest.skipUnless(has_opencl(), "no OpenCL device")
    def test_all_devices(self):
        rows = self.check("matvec", "--device", "all", "--kernel", "row-item")
        self.assertRegex(rows[0], r"^ok   matvec/row-item float32 on (?!host: )")
        self.assertTrue(rows[-1].startswith("skip matvec/row-item "), rows[-1])
        self.assertIn(" on host: ", rows[-1])


if __name__ == "__main__":
    unittest.main()
