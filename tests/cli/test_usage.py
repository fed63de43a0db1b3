"""The command line itself: help, messages, suggestions, exit statuses."""

import re
import unittest

import numpy as np

from cli_support import OPERATIONS, Case, has_opencl

COMMANDS = ("devices", "kernels", "matmul", "matvec", "sort", "verify", "cache")


class Help(Case):
    def test_help_names_every_command(self):
        for flag in ("--help", "-h", "help"):
            r = self.succeed(flag)
            for name in COMMANDS:
                self.assertIn("\n  %s " % name, r.out)
            self.assertEqual(r.err, "")

    def test_help_of_each_command(self):
        for name in COMMANDS:
            for args in ((name, "--help"), ("help", name), ("--help", name)):
                r = self.succeed(*args)
                self.assertTrue(r.out.startswith("Usage: tessera %s" % name), r)
                self.assertIn("--help", r.out)

    def page(self, command, columns=1000):
        """A command's help, each option in one line."""
        return self.succeed(command, "--help", env={"COLUMNS": str(columns)}).out

    def test_help_fits_the_terminal(self):
        for name in (*COMMANDS, "bench", "tune", "roofline", "compare"):
            for columns in (60, 80, 120):
                text = self.page(name, columns)
                head = text.split("\nExamples:\n")[0]  # what is copied stays in one line
                self.assertLessEqual(max(map(len, head.splitlines())), columns)
                self.assertEqual(re.findall(r"--[\w-]+", text), re.findall(r"--[\w-]+", self.page(name)))
        text = self.succeed("--help", env={"COLUMNS": "50"}).out
        self.assertLessEqual(max(map(len, text.splitlines())), 50)

    def test_help_has_examples(self):
        """Two of each command; their options are ones that it takes."""
        for name in (*COMMANDS, "bench", "tune", "roofline", "compare"):
            text, examples = self.page(name).split("\nExamples:\n")
            lines = examples.splitlines()
            self.assertEqual(len(lines), 2, name)
            for line in lines:
                self.assertTrue(line.startswith("  tessera %s" % name), line)
                self.assertNotRegex(line, r"\b(OP|SIZE|VARIANT)\b")
                for option in re.findall(r" --[\w-]+", line):
                    self.assertRegex(text, r"(?m)^ {5}%s\b" % option)

    def test_help_lists_what_the_command_takes(self):
        self.assertIn("--trans-a", self.succeed("matmul", "--help").out)
        self.assertNotIn("--trans-a", self.succeed("matvec", "--help").out)
        self.assertIn("--argsort FILE", self.succeed("sort", "--help").out)
        self.assertIn(".mtx", self.succeed("sort", "--help").out)
        self.assertRegex(self.page("kernels"), r"--type TYPE .*f32, f64.*i32, u32, i64 or u64 \(")

    def test_help_says_what_is_measured_and_refused(self):
        text = self.page("matmul")
        self.assertRegex(text, r"--precision P .*tf32, bf16 or f16 round the factors")
        self.assertRegex(text, r"--repeat N .*warm")

    def option(self, command, name):
        """What a command's help says of an option."""
        line, = re.findall(r"(?m)^  .{4}--%s(?![\w-])(.*)$" % name,
                           self.page(command))
        return re.sub(r" \(default: .*\)$", "", line)

    def test_help_and_parser_agree_on_values(self):
        """An option that commands take each in its own way: what help names is taken, and no more.
        What is taken is missed as a file, status 1; what is not is a usage error."""
        for command, operands, name, values in (
                ("matmul", "ab", "precision", "f32 f32-strict f64 tf32 bf16 f16"),
                ("matvec", "ab", "precision", "f32 f32-strict f64 bf16 f16"),
                ("matmul", "ab", "as", "f32 f64 f16 bf16"),
                ("sort", "k", "as", "f32 f64 f16")):
            said = re.findall(r"\bt?b?f\d\d(?:-strict)?", self.option(command, name))
            self.assertEqual(set(said), set(values.split()))
            for value in "f32 f32-strict f64 tf32 bf16 f16".split():
                args = (command, *operands, "-o", "c", "--" + name, value)
                if value in values.split():
                    self.fail_with(1, *args, says="cannot open")
                else:
                    self.fail_with(2, *args, says="option '--%s' takes f32, " % name)

    def test_help_names_the_operation_of_an_option(self):
        for command in ("kernels", "bench", "tune"):
            for op, *names in (("matmul", "trans-a", "trans-b"), ("matvec", "trans"),
                               ("sort, topk, segsort", "argsort", "descending"),
                               ("sort, segsort", "segments"),
                               ("matmul, matvec", "batch", "out-type")):
                for name in names:
                    self.assertIn(" %s: " % op, self.option(command, name))
        self.assertIn(" overlap: ", self.option("bench", "pinned"))
        for command in ("matmul", "matvec", "sort"):
            self.assertNotIn("overlap", self.option(command, "pinned"))
        self.assertIn("samples", self.option("bench", "repeat"))

    @unittest.skipUnless(has_opencl(), "no OpenCL device")
    def test_all_devices(self):
        """Help offers all of them where they are taken."""
        self.save("k.npy", np.arange(3, dtype=np.float32))
        for command, *args in (("kernels",), ("tune", "sort"), ("sort", "k.npy", "-o", "o")):
            self.assertNotRegex(self.option(command, "device"), r"\ball\b")
            self.fail_with(2, command, *args, "--device", "all", says="'all'")
        for command in ("devices", "verify", "bench", "roofline"):
            self.assertRegex(self.option(command, "device"), r"\ball\b")
        self.assertIn("or all", self.option("bench", "kernel"))
        self.assertNotIn("all", self.option("sort", "kernel"))
        self.succeed("devices", "--device", "all")

    def test_help_states_defaults(self):
        device = r"--device +what TESSERA_DEVICE names, else the first GPU, accelerator or CPU"
        for name, *defaults in (
                ("devices", r"--device +all"),
                ("kernels", device, r"--type +f32, .*; sort u32", r"--size +1024 for matmul"),
                ("matmul", device, r"--kernel +the tuned variant, else", r"--alpha +1", r"--beta +0",
                 r"--repeat +1", r"--set +the tuned values"),
                ("sort", device, r"--kernel +the tuned variant, else", r"--repeat +1"),
                ("verify", device, r"--kernel +every variant", r"--seed +1", r"--type +every type"),
                ("bench", device, r"--size +1024 for matmul, 4096 for matvec, 10M for sort",
                 r"--kernel +the tuned variant, else", r"--budget +none", r"--repeat +at least 5 samples",
                 r"--seed +1", r"--type +f32", r"--batch +1", r"--out-type +that of"),
                ("roofline", device, r"--size +matmul 4096"),
                ("tune", device, r"--size +some", r"--kernel +every variant", r"--budget +30 for",
                 r"--seed +1")):
            text = self.page(name)
            for line in defaults:
                option, value = line.split(" +", 1)
                self.assertRegex(text, r"(?m)^ .*%s .*\(default: %s" % (option, value))

    def test_version(self):
        for args in (("--version",), ("-V",), ("matmul", "--version"), ("matmul", "-V")):
            self.assertRegex(self.succeed(*args).out, r"^tessera \S+\n$")

    def test_nothing_given(self):
        r = self.tessera()
        self.assertEqual((r.status, r.out), (2, ""))
        self.assertIn("Usage", r.err)


class Wrong(Case):
    def test_unknown_command(self):
        self.fail_with(2, "matmull", says="unknown command 'matmull': did you mean 'matmul'?")
        self.fail_with(2, "frobnicate", says="unknown command 'frobnicate'")
        self.fail_with(2, "", says="unknown command ''")

    def test_unknown_operation(self):
        """Each command names what it takes itself."""
        for command in ("kernels", "tune", "verify", "roofline"):
            self.fail_with(2, command, "overlap", says="%s: no operation 'overlap' (%s takes %s)"
                           % (command, command, ", ".join(OPERATIONS)))
        self.fail_with(2, "bench", "nosuch", says="bench: no operation 'nosuch' (bench takes %s, "
                                                  "overlap)" % ", ".join(OPERATIONS))
        self.fail_with(2, "bench", "overlaps", says="did you mean 'overlap'?")

    def test_command_by_its_beginning_or_in_another_case(self):
        for word, meant in (("dev", "'devices'"), ("KERN", "'kernels'"), ("MATMUL", "'matmul'"),
                            ("Matmull", "'matmul'"), ("mat", "'matmul' or 'matvec'")):
            r = self.fail_with(2, word)
            self.assertEqual(r.err, "tessera: unknown command '%s': did you mean %s?\n"
                             % (word, meant))

    def test_unknown_option(self):
        r = self.fail_with(2, "matmul", "a", "b", "--verfy")
        self.assertEqual(r.err,
                         "tessera: unknown option '--verfy': did you mean '--verify'?\n")
        self.fail_with(2, "matmul", "a", "b", "--zzzzzz", says="unknown option '--zzzzzz'")
        self.fail_with(2, "sort", "-x", says="unknown option '-x'")
        self.fail_with(2, "--versoin", says="did you mean '--version'?")

    def test_one_value_given_twice(self):
        """Of two values none is silently dropped; what may be repeated says so."""
        for command, option, first, second in (
                ("bench", "--device", "cpu", "host"), ("bench", "--device", "host", "host"),
                ("bench", "--type", "f32", "f64"), ("bench", "--budget", "1", "2"),
                ("bench", "--kernel", "naive", "tiled"), ("tune", "--seed", "1", "2"),
                ("matmul", "--alpha", "1", "2"), ("matmul", "-o", "c.npy", "d.npy")):
            operands = ("matmul",) if command != "matmul" else ("a.npy", "b.npy")
            name = "--output" if option == "-o" else option
            self.fail_with(2, command, *operands, option, first, option, second,
                           says=("option '%s' is given twice" % name, "'%s' or '%s'" %
                                 (first, second)))
        self.fail_with(2, "matmul", "a", "b", "-o", "c.npy", "--output=d.npy", says="'--output'")
        self.succeed("bench", "sort", "--size", "10", "--size", "20", "--budget", "1", "--device",
                     "host", "--quiet", "--quiet")
        for name in ("bench", "tune", "roofline"):
            text = self.succeed(name, "--help", env={"COLUMNS": "1000"}).out
            self.assertRegex(text, r"--size .*may be repeated")

    def test_one_dash_for_two(self):
        for argument in ("-trans-a", "-verify", "-alpha=2", "-output"):
            name = argument.split("=")[0]
            for args in ((argument, "c"), (argument,)):
                self.fail_with(2, "matmul", "a", "b", *args,
                               says="unknown option '%s': did you mean '-%s'?" % (name, name))
        self.fail_with(2, "matmul", "a", "-zz", says="unknown option '-z'")

    def test_options_are_not_abbreviated(self):
        self.fail_with(2, "sort", "k", "--desc",
                       says="unknown option '--desc': did you mean '--descending'?")
        self.fail_with(2, "matmul", "a", "b", "--alph=2",
                       says="unknown option '--alph': did you mean '--alpha'?")
        self.fail_with(2, "matmul", "a", "b", "--alph", "2",
                       says="unknown option '--alph': did you mean '--alpha'?")
        self.fail_with(2, "matmul", "a", "b", "--trans-", says="did you mean '--trans-a'?")

    def test_option_of_another_command(self):
        self.fail_with(2, "matvec", "a", "x", "--descending",
                       says=("matvec takes no option '--descending'",))
        self.fail_with(2, "matmul", "a", "b", "--trans",
                       says="'--trans': did you mean '--trans-a' or '--trans-b'?")
        self.fail_with(2, "matvec", "a", "x", "--trans-a",
                       says="'--trans-a': did you mean '--trans'?")

    def test_values(self):
        for args, says in (
            (("--alpha", "1x"), "--alpha' takes a number, not '1x'"),
            (("--alpha", " 1"), "not ' 1'"),
            (("--alpha=",), "empty"),
            (("--beta", "one"), "--beta' takes a number, not 'one'"),
            (("--alpha", "1e999"), "1e999"),
            (("--repeat", "0"), "--repeat' takes a whole number"),
            (("--repeat", "-1"), "'-1'"),
            (("--repeat", "2.5"), "'2.5'"),
            (("--as", "i32"), "--as' takes f32, f64, f16 or bf16, not 'i32'"),
            (("--out-type", "f16"), "--out-type' takes f32, not 'f16'"),
            (("--precision", "f31"), "--precision' takes"),
            (("--set", "TILE"), "--set' takes NAME=VALUE, not 'TILE'"),
            (("--set", "=1"), "NAME=VALUE"),
            (("--device-memory", "9t"), "--device-memory' takes a number of bytes from 1 to 2^64 "),
            (("--verify=yes",), "takes no value"),
            (("--alpha",), "needs a value"),
            (("-o",), "needs a value"),
            (("-o", "--json"), "'--json' is an option"),
        ):
            self.fail_with(2, "matmul", "a", "b", *args, says=says)
        self.fail_with(2, "verify", "--seed", "1x", says="'1x'")
        self.fail_with(2, "verify", "--seed", "-1", says="'-1'")
        self.fail_with(2, "verify", "--seed", "18446744073709551616", says="2^64")

    def test_operands(self):
        self.fail_with(2, "matmul", "a", says="1 of 2 inputs")
        self.fail_with(2, "matmul", "a", "b", "c", says="unexpected 'c'")
        self.fail_with(2, "sort", says="0 of 1 inputs")
        self.fail_with(2, "devices", "x", says="unexpected 'x'")

    def test_options_and_operands_mix(self):
        self.save("a.npy", np.eye(2, dtype=np.float32))
        for env in ({}, {"POSIXLY_CORRECT": "1"}):
            self.succeed("matmul", "a.npy", "--device", "host", "a.npy", "-o", "c.npy", env=env)
            self.succeed("matmul", "--device=host", "-oc.npy", "--", "a.npy", "a.npy", env=env)

    def test_two_dashes_end_the_options(self):
        self.save("--odd", np.arange(3, dtype=np.float32))
        self.succeed("sort", "--device", "host", "-o", "out.npy", "--", "--odd")
        self.assertEqual(self.load("out.npy").tolist(), [0, 1, 2])

    def test_no_output(self):
        self.fail_with(2, "matmul", "a", "b", says="-o FILE")
        self.fail_with(2, "sort", "k", says=("-o FILE", "--argsort FILE"))

    def test_beta_and_add_go_together(self):
        self.fail_with(2, "matmul", "a", "b", "-o", "c", "--beta", "2",
                       says=("--beta 2", "--add"))
        self.fail_with(2, "matvec", "a", "b", "-o", "c", "--add", "y0",
                       says=("--add y0", "--beta"))

    def test_streams(self):
        self.fail_with(2, "matmul", "-", "-", "-o", "c", says="standard input")
        self.fail_with(2, "matmul", "-", "b", "--add", "-", "--beta", "1", "-o", "c",
                       says="standard input")
        self.fail_with(2, "matmul", "a", "b", "-o", "-", "--json", says="standard output")
        self.fail_with(2, "sort", "k", "--argsort", "-", "--json", says="standard output")
        self.fail_with(2, "sort", "k", "-o", "-", "--argsort", "-", says="both outputs")

    def test_names(self):
        self.fail_with(2, "matmul", "a", "b", "-o", "c", "--kernel", "nave",
                       says=("'nave'", "naive"))
        self.fail_with(2, "matmul", "a", "b", "-o", "c", "--set", "TILE=16",
                       says=("--set TILE=16", "--kernel V"))
        self.fail_with(2, "kernels", "matmul", "--set", "TILE=16",
                       says=("--set TILE=16", "VARIANT"))
        self.fail_with(2, "matmul", "a", "b", "-o", "c", "--kernel", "tiled", "--set", "tile=8",
                       says="no tunable 'tile': did you mean 'TILE'?")
        self.fail_with(2, "verify", "matmull", says=("'matmull'", "'matmul'"))
        self.fail_with(2, "kernels", "sorted", says=("'sorted'", "'sort'"))
        self.fail_with(2, "verify", "--kernel", "naive", says="operation")
        self.fail_with(2, "verify", "matmul", "naive", "--kernel", "tiled",
                       says=("'naive'", "--kernel tiled"))
        self.fail_with(2, "verify", "matmul", "nave", says=("'nave'", "'naive'"))
        self.fail_with(2, "verify", "matmul", "naive", "tiled", says="unexpected 'tiled'")

    def test_two_formats(self):
        self.write("a.json", "")
        for args in (("bench", "sort"), ("roofline",), ("compare", "a.json"),
                     ("bench", "sort", "-o", "rows")):
            self.fail_with(2, *args, "--csv", "--json",
                           says="%s: --json and --csv exclude each other" % args[0])
        self.assertEqual(self.names(), ["a.json"])

    def test_a_type_that_the_operation_does_not_take(self):
        """One status in every command: what is wrong stands on the command line."""
        for command in ("kernels", "bench", "tune", "verify"):
            for op, name in (("matvec", "i16"), ("sort", "bf16"), ("matmul", "i32")):
                self.fail_with(2, command, op, "--type", name, says=op)
        self.fail_with(2, "bench", "matmul", "--type", "f64", "--precision", "bf16", says="bf16")
        for command in ("kernels", "bench", "tune"):
            for name in ("tf32", "bf16", "f16"):
                self.fail_with(2, command, "matvec", "--precision", name,
                               says="precision %s does not go with float32 operands of matvec"
                               % name)
        self.fail_with(2, "sort", "k", "-o", "o", "--as", "bf16",
                       says="--as' takes f32, f64 or f16, not 'bf16'")

    def test_unknown_device(self):
        self.save("k.npy", np.arange(3, dtype=np.float32))
        for args in (("devices",), ("sort", "k.npy", "-o", "o"), ("verify",), ("kernels",)):
            self.fail_with(2, *args, "--device", "no such device",
                           says=("'no such device'", "host"))
        self.fail_with(2, "sort", "k.npy", "-o", "o", env={"TESSERA_DEVICE": "9:9"}, says="9:9")
        self.fail_with(2, "sort", "k.npy", "-o", "o", "--device", "9:9", says="9:9")

    def test_all_devices_where_one_runs(self):
        self.save("k.npy", np.arange(3, dtype=np.float32))
        self.fail_with(2, "sort", "k.npy", "-o", "o", "--device", "all", says="'all'")


class StandardOutput(Case):
    def test_full(self):
        with open("/dev/full", "wb") as full:
            for args in (("--help",), ("cache",), ("matmul", "--help")):
                r = self.tessera(*args, stdout=full)
                self.assertEqual(r.status, 1, r)
                self.assertEqual(r.err, "tessera: standard output: cannot write: No space left on device\n")


if __name__ == "__main__":
    unittest.main()
