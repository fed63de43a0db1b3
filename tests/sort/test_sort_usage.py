"""The command line of sorts: help, messages, suggestions, exit statuses."""

import unittest

import numpy as np

from cli_support import Case, HelpCase


class Help(HelpCase):
    def test_options(self):
        text = self.page("sort")
        self.assertIn("--argsort FILE", text)
        self.assertIn(".mtx", text)
        self.assertNotIn("overlap", self.option("sort", "pinned"))
        for command in ("kernels", "bench", "tune"):
            self.assertIn(" sort, topk, segsort: ", self.option(command, "argsort"))
            for name in ("descending", "segments"):
                self.assertIn(" sort, segsort: ", self.option(command, name))

    def test_defaults(self):
        self.assert_defaults("kernels", r"--type +f32, .*; sort u32")
        self.assert_defaults("bench", r"--size +.*10M for sort")

    def test_help_and_parser_agree_on_values(self):
        self.assert_agreement("sort", "k", "as", "f32 f64 f16 i8 u8 i16 u16 i32 u32 i64 u64")


class Wrong(Case):
    def test_names(self):
        self.fail_with(2, "sort", "-x", says="unknown option '-x'")
        self.fail_with(2, "sort", "k", "--desc",
                       says="unknown option '--desc': did you mean '--descending'?")
        self.fail_with(2, "kernels", "sorted", says=("'sorted'", "'sort'"))

    def test_operands(self):
        self.fail_with(2, "sort", says="0 of 1 inputs")
        self.fail_with(2, "sort", "k", says=("-o FILE", "--argsort FILE"))

    def test_two_dashes_end_the_options(self):
        self.save("--odd", np.arange(3, dtype=np.float32))
        self.succeed("sort", "--device", "host", "-o", "out.npy", "--", "--odd")
        self.assertEqual(self.load("out.npy").tolist(), [0, 1, 2])

    def test_streams(self):
        self.fail_with(2, "sort", "k", "--argsort", "-", "--json", says="standard output")
        self.fail_with(2, "sort", "k", "-o", "-", "--argsort", "-", says="both outputs")

    def test_types(self):
        for command in ("kernels", "bench", "tune", "verify"):
            self.fail_with(2, command, "sort", "--type", "bf16", says="sort")
        self.fail_with(2, "sort", "k", "-o", "o", "--as", "bf16",
                       says="--as' takes f32, f64, f16, i8, u8, i16, u16, i32, u32, i64 or u64, not 'bf16'")


if __name__ == "__main__":
    unittest.main()
