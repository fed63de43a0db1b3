"""The command line itself: help, messages, suggestions, exit statuses."""

import re
import unittest

from cli_support import EXAMPLES, OPERATIONS, SOME, Case, HelpCase, has_opencl

COMMANDS = ("devices", "kernels", *OPERATIONS, "verify", "cache")
FIRST = OPERATIONS[0]


class Help(HelpCase):
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

    def test_help_fits_the_terminal(self):
        for name in (*COMMANDS, "bench", "tune", "roofline", "lab", "course", "lesson",
                     "trace", "compare"):
            for columns in (60, 80, 120):
                text = self.page(name, columns)
                head = text.split("\nExamples:\n")[0]  # what is copied stays in one line
                self.assertLessEqual(max(map(len, head.splitlines())), columns)
                self.assertEqual(re.findall(r"--[\w-]+", text), re.findall(r"--[\w-]+", self.page(name)))
        text = self.succeed("--help", env={"COLUMNS": "50"}).out
        self.assertLessEqual(max(map(len, text.splitlines())), 50)

    def test_help_has_examples(self):
        """Two of each command and more; their options are ones that it takes."""
        for name in (*COMMANDS, "bench", "tune", "roofline", "lab", "course", "lesson",
                     "trace", "compare"):
            text, examples = self.page(name).split("\nExamples:\n")
            lines = examples.splitlines()
            self.assertGreaterEqual(len(lines), 2, name)
            self.assertTrue(lines[0].startswith("  tessera %s" % name), lines)
            for line in lines:
                text = self.page(line.split()[1])
                self.assertNotRegex(line, r"\b(OP|SIZE|VARIANT)\b")
                for option in re.findall(r" --[\w-]+", line):
                    self.assertRegex(text, r"(?m)^ {5}%s\b" % option)

    def test_a_command_without_its_operation(self):
        for command in ("bench", "tune", "diagnose"):
            r = self.fail_with(2, command, says="tessera: %s: which operation? usage is 'tessera %s OP"
                                                % (command, command))
            for op in OPERATIONS:
                self.assertRegex(r.err, r"; OP is .*\b%s\b" % op)
            self.assertEqual(r.err.count("\n"), 1)

    def test_help_names_what_an_option_is_for(self):
        self.assertIn(" overlap: ", self.option("bench", "pinned"))
        self.assertIn("samples", self.option("bench", "repeat"))
        self.assertRegex(self.page("kernels"), r"--type TYPE .*f32, f64.*i64, u64, c64 or "
                                               r"c128 \(complex64, complex128\) \(")

    @unittest.skipUnless(has_opencl(), "no OpenCL device")
    def test_all_devices(self):
        """Help offers all of them where they are taken."""
        for command, *args in (("kernels",), ("tune", FIRST), self.example(FIRST)):
            self.assertNotRegex(self.option(command, "device"), r"\ball\b")
            self.fail_with(2, command, *args, "--device", "all", says="'all'")
        for command in ("devices", "verify", "bench", "roofline", "lab", "course"):
            self.assertRegex(self.option(command, "device"), r"\ball\b")
        self.assertIn("or all", self.option("bench", "kernel"))
        self.assertNotIn("all", self.option(FIRST, "kernel"))
        self.succeed("devices", "--device", "all")

    def test_host(self):
        """Help offers it where it is taken."""
        for name in (FIRST, "devices", "kernels", "verify", "bench", "tune", "course"):
            self.assertRegex(self.option(name, "device"), r"\bhost\b")
        for name, *args in (("diagnose", FIRST), ("trace", FIRST), ("roofline", "--limits"), ("lab", "all"),
                            ("lesson", "all", "-o", "pages"), ("occupancy",)):
            self.assertNotRegex(self.option(name, "device"), r"\bhost\b")
            self.fail_with(1, name, *args, "--device", "host")

    def test_help_states_defaults(self):
        device = r"--device +what TESSERA_DEVICE names, else the first GPU, accelerator or CPU"
        for op in OPERATIONS:
            self.assert_defaults(op, device, r"--kernel +the tuned variant, else", r"--repeat +1",
                                 r"--set +the tuned values")
        for name, *defaults in (
                ("devices", r"--device +all"),
                ("kernels", device),
                ("verify", device, r"--kernel +every variant", r"--seed +1", r"--type +every type"),
                ("bench", device, r"--kernel +the tuned variant, else", r"--budget +none",
                 r"--repeat +at least 5 samples", r"--seed +1", r"--type +f32", r"--batch +1",
                 r"--out-type +that of"),
                ("roofline", device),
                ("tune", device, r"--size +some", r"--kernel +every variant", r"--budget +30 for",
                 r"--seed +1")):
            self.assert_defaults(name, *defaults)

    def test_version(self):
        for args in (("--version",), ("-V",), (FIRST, "--version"), (FIRST, "-V")):
            self.assertRegex(self.succeed(*args).out, r"^tessera \S+\n$")

    def test_nothing_given(self):
        r = self.tessera()
        self.assertEqual((r.status, r.out), (2, ""))
        self.assertIn("Usage", r.err)


class Wrong(HelpCase):
    def test_unknown_command(self):
        self.fail_with(2, "frobnicate", says="unknown command 'frobnicate'")
        self.fail_with(2, "", says="unknown command ''")

    def test_unknown_operation(self):
        """Each command names what it takes itself."""
        for command in ("kernels", "tune", "verify", "roofline"):
            takes = ", ".join((*OPERATIONS, "blas") if command == "tune" else OPERATIONS)
            self.fail_with(2, command, "overlap", says="%s: no operation 'overlap' (%s takes %s)"
                           % (command, command, takes))
        self.fail_with(2, "bench", "nosuch", says="bench: no operation 'nosuch' (bench takes %s, "
                                                  "overlap)" % ", ".join(OPERATIONS))
        self.fail_with(2, "bench", "overlaps", says="did you mean 'overlap'?")

    def test_command_by_its_beginning_or_in_another_case(self):
        for word, meant in (("dev", "'devices'"), ("KERN", "'kernels'"),
                            *((op.upper(), "'%s'" % op) for op in OPERATIONS)):
            r = self.fail_with(2, word)
            self.assertEqual(r.err, "tessera: unknown command '%s': did you mean %s?\n"
                             % (word, meant))

    def test_unknown_option(self):
        for command in COMMANDS:
            self.fail_with(2, command, "--zzzzzz", says="unknown option '--zzzzzz'")
        self.fail_with(2, "--versoin", says="did you mean '--version'?")

    def test_what_may_be_repeated(self):
        for op in SOME:
            size = EXAMPLES[op]["SIZE"]
            self.succeed("bench", op, "--size", size, "--size", size, "--repeat", "1", "--device",
                         "host", "--quiet", "--quiet")
        for name in ("bench", "tune", "roofline"):
            self.assertIn("may be repeated", self.option(name, "size"))
        for name in ("kernels", "diagnose", "trace", "lab"):
            self.assertNotIn("may be repeated", self.option(name, "size"))

    def test_values(self):
        self.fail_with(2, "verify", "--seed", "1x", says="'1x'")
        self.fail_with(2, "verify", "--seed", "-1", says="'-1'")
        self.fail_with(2, "verify", "--seed", "18446744073709551616", says="2^64")

    def test_operands(self):
        self.fail_with(2, "devices", "x", says="unexpected 'x'")
        for op in OPERATIONS:
            self.fail_with(2, op, says="0 of ")

    def test_names(self):
        self.fail_with(2, "verify", "--kernel", "nosuch", says="operation")
        for op in SOME:
            self.fail_with(2, "verify", op + "x", says=("'%sx'" % op, "'%s'" % op))
            self.fail_with(2, "verify", op, "--kernel", "nosuch", says="'nosuch'")
            self.fail_with(2, *EXAMPLES[op]["CALL"], "--kernel", "nosuch", says="'nosuch'")

    def test_two_formats(self):
        self.write("a.json", "")
        for args in (("bench", FIRST), ("roofline",), ("compare", "a.json"),
                     ("bench", FIRST, "-o", "rows")):
            self.fail_with(2, *args, "--csv", "--json",
                           says="%s: --json and --csv exclude each other" % args[0])
        self.assertEqual(self.names(), ["a.json"])

    def test_unknown_device(self):
        for args in (("devices",), self.example(FIRST), ("verify",), ("kernels",)):
            self.fail_with(2, *args, "--device", "no such device",
                           says=("'no such device'", "host"))
        self.fail_with(2, *self.example(FIRST), env={"TESSERA_DEVICE": "9:9"}, says="9:9")
        self.fail_with(2, *self.example(FIRST), "--device", "9:9", says="9:9")

    def test_all_devices_where_one_runs(self):
        self.fail_with(2, *self.example(FIRST), "--device", "all", says="'all'")


class StandardOutput(Case):
    def test_full(self):
        with open("/dev/full", "wb") as full:
            for args in (("--help",), ("cache",), (FIRST, "--help")):
                r = self.tessera(*args, stdout=full)
                self.assertEqual(r.status, 1, r)
                self.assertEqual(r.err, "tessera: standard output: cannot write: No space left on device\n")


if __name__ == "__main__":
    unittest.main()
