"""tessera topk: which end it takes."""

import unittest

import numpy as np

from cli_support import Case

KEYS = np.array([5, 1, 9, 7, 9, 3], np.int32)


class Ends(Case):
    def first(self, *args):
        self.save("k.npy", KEYS)
        self.succeed(*args, "--top", "3", "-o", "f.npy", "--argsort", "i.npy", "--device", "host",
                     "--quiet")
        return self.load("f.npy").tolist(), self.load("i.npy").tolist()

    def test_the_largest_unless_the_smallest_are_asked_for(self):
        largest, smallest = ([9, 9, 7], [2, 4, 3]), ([1, 3, 5], [1, 5, 0])
        self.assertEqual(self.first("topk", "k.npy"), largest)
        self.assertEqual(self.first("topk", "k.npy", "--descending"), largest)
        self.assertEqual(self.first("topk", "k.npy", "--smallest"), smallest)

    def test_of_sort_they_are_the_first_of_its_order(self):
        self.assertEqual(self.first("sort", "k.npy")[0], [1, 3, 5])
        self.assertEqual(self.first("sort", "k.npy", "--descending")[0], [9, 9, 7])

    def test_not_both(self):
        self.save("k.npy", KEYS)
        says = "--smallest and --descending exclude each other"
        self.fail_with(2, "topk", "k.npy", "--top", "2", "-o", "f.npy", "--smallest",
                       "--descending", says=says)
        self.fail_with(2, "bench", "topk", "--size", "99", "--smallest", "--descending", says=says)


if __name__ == "__main__":
    unittest.main()
