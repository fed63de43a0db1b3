"""The command line of products of matrices: help, messages, suggestions, exit statuses."""

import unittest

import numpy as np

from cli_support import Case, HelpCase


class Help(HelpCase):
    def test_options(self):
        self.assertIn("--trans-a", self.page("matmul"))
        for command in ("kernels", "bench", "tune"):
            for name in ("trans-a", "trans-b"):
                self.assertIn(" matmul: ", self.option(command, name))
            self.assertIn(" matmul, matvec: ", self.option(command, "batch"))
            self.assertIn(" matmul: f32 makes the result of f16, bf16, f8e4m3", self.option(command, "out-type"))
        self.assertNotIn("overlap", self.option("matmul", "pinned"))
        self.assertRegex(self.page("matmul"), r"--precision P .*tf32, bf16 or f16 round the factors")
        self.assertRegex(self.page("matmul"), r"--repeat N .*warm")

    def test_help_and_parser_agree_on_values(self):
        self.assert_agreement("matmul", "ab", "precision", "f32 f32-strict f64 tf32 bf16 f16 i8 f8")
        self.assert_agreement("matmul", "ab", "as", "f32 f64 f16 bf16 f8e4m3 f8e5m2 i8")

    def test_defaults(self):
        self.assert_defaults("matmul", r"--alpha +1", r"--beta +0")
        for command in ("kernels", "bench"):
            self.assert_defaults(command, r"--size +1024 for matmul")
        self.assert_defaults("roofline", r"--size +matmul 4096")


class Wrong(Case):
    def test_unknown_command(self):
        self.fail_with(2, "matmull", says="unknown command 'matmull': did you mean 'matmul'?")
        for word, meant in (("MATMUL", "'matmul'"), ("Matmull", "'matmul'"),
                            ("mat", "'matmul' or 'matvec'")):
            r = self.fail_with(2, word)
            self.assertEqual(r.err, "tessera: unknown command '%s': did you mean %s?\n"
                             % (word, meant))

    def test_unknown_option(self):
        r = self.fail_with(2, "matmul", "a", "b", "--verfy")
        self.assertEqual(r.err, "tessera: unknown option '--verfy': did you mean '--verify'?\n")
        self.fail_with(2, "matmul", "a", "b", "--zzzzzz", says="unknown option '--zzzzzz'")

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

    def test_one_dash_for_two(self):
        for argument in ("-trans-a", "-verify", "-alpha=2", "-output"):
            name = argument.split("=")[0]
            for args in ((argument, "c"), (argument,)):
                self.fail_with(2, "matmul", "a", "b", *args,
                               says="unknown option '%s': did you mean '-%s'?" % (name, name))
        self.fail_with(2, "matmul", "a", "-zz", says="unknown option '-z'")

    def test_options_are_not_abbreviated(self):
        self.fail_with(2, "matmul", "a", "b", "--alph=2",
                       says="unknown option '--alph': did you mean '--alpha'?")
        self.fail_with(2, "matmul", "a", "b", "--alph", "2",
                       says="unknown option '--alph': did you mean '--alpha'?")
        self.fail_with(2, "matmul", "a", "b", "--trans-", says="did you mean '--trans-a'?")

    def test_options_and_operands_mix(self):
        self.save("a.npy", np.eye(2, dtype=np.float32))
        for env in ({}, {"POSIXLY_CORRECT": "1"}):
            self.succeed("matmul", "a.npy", "--device", "host", "a.npy", "-o", "c.npy", env=env)
            self.succeed("matmul", "--device=host", "-oc.npy", "--", "a.npy", "a.npy", env=env)

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
            (("--as", "i32"), "--as' takes f32, f64, f16, bf16, f8e4m3, f8e5m2 or i8, not 'i32'"),
            (("--out-type", "f16"), "--out-type' takes f32 or bf16, not 'f16'"),
            (("--precision", "f31"), "--precision' takes f32, f32-strict, tf32, bf16, f16, f64, i8 or f8, "
                                     "not 'f31': did you mean 'f32'?"),
            (("--set", "TILE"), "--set' takes NAME=VALUE, not 'TILE'"),
            (("--set", "=1"), "NAME=VALUE"),
            (("--device-memory", "9t"), "--device-memory' takes a number of bytes from 1 to 2^64 "),
            (("--verify=yes",), "takes no value"),
            (("--alpha",), "needs a value"),
            (("-o",), "needs a value"),
            (("-o", "--json"), "'--json' is an option"),
        ):
            self.fail_with(2, "matmul", "a", "b", *args, says=says)

    def test_streams(self):
        self.fail_with(2, "matmul", "-", "-", "-o", "c", says="standard input")
        self.fail_with(2, "matmul", "-", "b", "--add", "-", "--beta", "1", "-o", "c",
                       says="standard input")
        self.fail_with(2, "matmul", "a", "b", "-o", "-", "--json", says="standard output")

    def test_option_of_another_command(self):
        self.fail_with(2, "matmul", "a", "b", "--trans",
                       says="'--trans': did you mean '--trans-a' or '--trans-b'?")

    def test_operands(self):
        self.fail_with(2, "matmul", "a", says="1 of 2 inputs")
        self.fail_with(2, "matmul", "a", "b", "c", says="unexpected 'c'")
        self.fail_with(2, "matmul", "a", "b", says="-o FILE")

    def test_beta_and_add_go_together(self):
        self.fail_with(2, "matmul", "a", "b", "-o", "c", "--beta", "2", says=("--beta 2", "--add"))

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
        self.fail_with(2, "verify", "matmul", "naive", "--kernel", "tiled",
                       says=("'naive'", "--kernel tiled"))
        self.fail_with(2, "verify", "matmul", "nave", says=("'nave'", "'naive'"))
        self.fail_with(2, "verify", "matmul", "naive", "tiled", says="unexpected 'tiled'")

    def test_a_type_that_the_operation_does_not_take(self):
        for command in ("kernels", "bench", "tune", "verify"):
            self.fail_with(2, command, "matmul", "--type", "i32", says="matmul")
        self.fail_with(2, "bench", "matmul", "--type", "f64", "--precision", "bf16", says="bf16")


if __name__ == "__main__":
    unittest.main()
