"""The command line of products of a matrix and a vector: help, messages, suggestions, exit statuses."""

import unittest

from cli_support import Case, HelpCase


class Help(HelpCase):
    def test_options(self):
        self.assertNotIn("--trans-a", self.page("matvec"))
        for command in ("kernels", "bench", "tune"):
            self.assertIn(" matvec: ", self.option(command, "trans"))
        self.assertNotIn("overlap", self.option("matvec", "pinned"))
        self.assert_defaults("bench", r"--size +.*4096 for matvec")

    def test_help_and_parser_agree_on_values(self):
        self.assert_agreement("matvec", "ab", "precision", "f32 f32-strict f64 bf16 f16")


class Wrong(Case):
    def test_option_of_another_command(self):
        self.fail_with(2, "matvec", "a", "x", "--descending",
                       says=("matvec takes no option '--descending'",))
        self.fail_with(2, "matvec", "a", "x", "--trans-a", says="'--trans-a': did you mean '--trans'?")

    def test_beta_and_add_go_together(self):
        self.fail_with(2, "matvec", "a", "b", "-o", "c", "--add", "y0", says=("--add y0", "--beta"))

    def test_a_type_that_the_operation_does_not_take(self):
        for command in ("kernels", "bench", "tune", "verify"):
            self.fail_with(2, command, "matvec", "--type", "i16", says="matvec")
        for command in ("kernels", "bench", "tune"):
            for name in ("tf32", "bf16", "f16"):
                self.fail_with(2, command, "matvec", "--precision", name,
                               says="precision %s does not go with float32 operands of matvec"
                               % name)


if __name__ == "__main__":
    unittest.main()
