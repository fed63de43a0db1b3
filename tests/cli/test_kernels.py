"""tessera kernels and tessera verify."""

import json
import os
import re
import unittest

from cli_support import EXAMPLES, OPERATIONS, SOME, SOURCE, Case, has_opencl


class Listing(Case):
    def listing(self, *args):
        return json.loads(self.succeed("kernels", "--json", *args).out)["operations"]

    def check_define(self, define, op, variant, *option):
        """An option of the problem reaches the source as a -D, and without it another."""
        for args, has in (((op, variant, *option), True), ((op, variant), False)):
            options = self.succeed("kernels", *args, "--source").out.splitlines()[0]
            self.assertEqual(define + " " in options, has, options)


@unittest.skipUnless(has_opencl(), "no OpenCL device")
class Kernels(Listing):

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
                    self.assertIsInstance(t["any"], bool)

    def on_cpu(self):
        """Whether the default device is a CPU, for which there are variants in C too."""
        default = json.loads(self.succeed("kernels", "--json").out)["device"]["id"]
        cpus = self.tessera("devices", "--device", "cpu", "--json")
        return cpus.status == 0 and default in [d["id"] for d in json.loads(cpus.out)["devices"]]

    def test_text_says_the_same(self):
        """What JSON has of this side; the variants of the other side are one line at the end."""
        of_device = ("device", "host and CPUs") if self.on_cpu() else ("device",)
        for args, here, there in (((), of_device, r"  %d variants? in C runs? on the device 'host'"),
                                  (("--device", "host"), ("host", "host and CPUs"),
                                   r"  %d OpenCL kernels? runs? on other devices")):
            for op in self.listing(*args):
                text = self.succeed("kernels", op["op"], *args, env={"COLUMNS": "1000"}).out
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
        op, = self.listing(OPERATIONS[0])
        name = next(v["name"] for v in op["variants"] if v["runs_on"] == "host")
        text = self.succeed("kernels", OPERATIONS[0], name).out
        self.assertIn("\n  %s: " % name, text)
        self.assertIn("unsupported: ", text)
        self.assertNotIn("variants in C", text)

    def test_one(self):
        op = self.listing(OPERATIONS[0])
        self.assertEqual(len(op), 1)
        name = op[0]["variants"][-1]["name"]
        one = self.listing(OPERATIONS[0], name)
        self.assertEqual([v["name"] for v in one[0]["variants"]], [name])

    def test_on_host(self):
        for op in self.listing("--device", "host"):
            for v in op["variants"]:
                self.assertEqual(v["suited"], v["runs_on"] != "device", v)

    def test_source(self):
        for op in (op for op in self.listing() if op["op"] in SOME):
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
        files = re.search(r" in (host/ops/\S+\.[ch])(?: and (\S+\.h))? of ", message)
        self.assertIsNotNone(files, message)
        with open(os.path.join(SOURCE, files[1]), encoding="utf-8") as f:
            text = f.read()
        if files[2]:
            self.assertRegex(text, r'(?m)^#include "ops/\w+/%s"$' % re.escape(files[2]))

    def test_default_is_marked(self):
        """One of each operation, on whichever device."""
        for args in ((), ("--device", "host")):
            text = self.succeed("kernels", *args).out
            first = re.findall(r"(?m)^(\S+): .*\n(?:  .*\n)*?  runs by default: (\S+)\n", text)
            self.assertEqual(len(first), len(OPERATIONS))
            for op, name in ((op, name) for op, name in first if op in SOME):
                marked = r"(?m)^  (\S+): .*\n      chosen by default$"
                self.assertEqual(re.findall(marked, self.succeed("kernels", op, *args).out), [name])

    def test_variants_fit_the_terminal(self):
        """Ideas, reasons, tunables and what they are judged by are broken for somebody who reads
        them, not for programs."""
        def variants(**env):
            return self.succeed("kernels", OPERATIONS[0], env=env).out.splitlines()

        whole, broken = variants(COLUMNS=None), variants(COLUMNS="60")
        self.assertGreater(max(map(len, whole)), 80)
        self.assertLessEqual(max(map(len, broken)), 60)
        self.assertEqual(" ".join(" ".join(whole).split()), " ".join(" ".join(broken).split()))

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

    def test_short_list_of_a_narrow_terminal(self):
        for args in ((), ("--type", "c64")):
            lines = self.succeed("kernels", *args, env={"COLUMNS": "60"}).out.splitlines()
            self.assertEqual([s for s in lines if len(s) > 60], [])

    def test_type(self):
        """Of a type all operations are listed that take it, and the others are named."""
        takes = {o["op"]: set(o["types"]) for o in self.listing()}
        listed = {o["op"] for o in json.loads(self.succeed("kernels", "--type", "i8", "--json").out)
                  ["operations"]}
        text = self.succeed("kernels", "--type", "i8").out
        self.assertTrue(0 < len(listed) < len(takes))
        for op, types in takes.items():
            self.assertEqual(op in listed, bool(re.search(r"(?m)^%s: " % op, text)), op)
            if "int8" in types:
                self.assertIn(op, listed)
        left = re.search(r"(?m)^Operations without int8: (.*)\.$", text).group(1).split(", ")
        self.assertEqual(listed & set(left), set())
        self.assertEqual(listed | set(left), set(takes))
        self.fail_with(2, "kernels", left[0], "--type", "i8", says=(left[0], "not int8"))

    def test_wrong(self):
        self.fail_with(2, "kernels", "--source", says="--source")
        for args in (("--trans-a",), ("--size", "8"), ("--segments", "mixed"), ("--batch", "3")):
            self.fail_with(2, "kernels", *args, says=(args[0], "'tessera kernels OP " + args[0]))
        for op in SOME:
            name = EXAMPLES[op]["KERNEL"]
            self.fail_with(2, "kernels", op, "--ptx", says="--ptx")
            self.fail_with(2, "kernels", op, name, "--source", "--json", says="exclude")
            self.fail_with(2, "kernels", op, "--set", "TILE=8", says="--set TILE=8")
            self.fail_with(2, "kernels", op, name + "x", says=("'%sx'" % name, "'%s'" % name))
            self.fail_with(2, "kernels", op, name, "--set", "TYLE=8", says="TYLE")

    def test_source_with_a_tunable(self):
        v = next(v for v in self.listing(OPERATIONS[0])[0]["variants"] if v["tunables"])
        t = v["tunables"][0]
        value = next(x for x in t["values"] if x != t["default"])
        text = self.succeed("kernels", OPERATIONS[0], v["name"], "--source", "--set",
                            "%s=%d" % (t["name"], value)).out
        self.assertIn("-D%s=%d" % (t["name"], value), text)

    def test_ptx(self):
        name = next(v for v in self.listing(OPERATIONS[0])[0]["variants"] if v["suited"])["name"]
        r = self.tessera("kernels", OPERATIONS[0], name, "--ptx")
        if r.status:
            self.assertEqual(r.status, 1, r)
            self.assertIn("NVIDIA", r.err)
        else:
            self.assertIn(".target", r.out)


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
        for op in SOME:
            rows = self.check(op, "--device", "host")
            self.assertTrue(all("/" in row and " on host: " in row for row in rows))

    def test_one_kernel(self):
        for op in SOME:
            d, = json.loads(self.succeed("kernels", op, "--json", "--device", "host").out)["operations"]
            name = next(v["name"] for v in d["variants"] if v["runs_on"] != "device")
            rows = self.check(op, "--device", "host", "--kernel", name)
            self.assertTrue(all("%s/%s " % (op, name) in row for row in rows))
            self.assertEqual(self.check(op, name, "--device", "host"), rows)

    def test_json(self):
        d = json.loads(self.succeed("verify", OPERATIONS[0], "--tiny", "--device", "host", "--json",
                                    "--seed", "5").out)
        self.assertEqual((d["schema"], d["seed"], d["failed"]), ("tessera-verify-1", 5, 0))
        self.assertEqual(d["passed"], sum(r["outcome"] == "ok" for r in d["rows"]))

    @unittest.skipUnless(has_opencl(), "no OpenCL device")
    def test_nothing_runs(self):
        """Of a kernel on the host."""
        op, name = OPERATIONS[0], EXAMPLES[OPERATIONS[0]]["KERNEL"]
        r = self.tessera("verify", op, "--tiny", "--kernel", name, "--device", "host")
        self.assertEqual(r.status, 1, r)
        self.assertIn("nothing ran", r.err)
        self.assertIn("skip %s/%s" % (op, name), r.out)

    @unittest.skipUnless(has_opencl(), "no OpenCL device")
    def test_all_devices(self):
        op, name = OPERATIONS[0], EXAMPLES[OPERATIONS[0]]["KERNEL"]
        rows = self.check(op, "--device", "all", "--kernel", name)
        self.assertRegex(rows[0], r"^ok   %s/%s \w+ on (?!host: )" % (op, name))
        self.assertTrue(rows[-1].startswith("skip %s/%s " % (op, name)), rows[-1])
        self.assertIn(" on host: ", rows[-1])


if __name__ == "__main__":
    unittest.main()
