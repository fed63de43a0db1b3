"""tessera tune sort."""

import os
import unittest

import test_tune


class OnHost(test_tune.Tuned):
    def test_what_is_compared_with_nothing_is_not_kept(self):
        """A lone kernel runs anyway: an entry would only keep a better one of later out."""
        command = ("tune", "sort", "--device", "host", "--kernel", "host-radix", "--size", "1000",
                   "--budget", "1", "-o", "e.json")
        r = self.succeed(*command, env=self.env())
        self.assertIn("\n  tuning unchanged: it was the only candidate\n", r.out)
        self.assertEqual(r.err, "")
        r = self.succeed(*command, "--json", env=self.env())
        self.assertEqual(r.err, "tessera: tune: tuning unchanged: host-radix was the only candidate\n")
        self.assertFalse(os.path.exists(self.tuning))
        self.assertEqual(self.names(), [])

    def test_wrong_usage(self):
        self.fail_with(2, "tune", "sort", "--size", "3x3x3", says="3x3x3")
        self.fail_with(2, "tune", "sort", "--size", "0", says="'0' is an empty sort")


if __name__ == "__main__":
    unittest.main()
