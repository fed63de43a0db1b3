"""Files that are damaged at random: .npy, .mtx, results, tuning, kernels and entries of the cache.  The
command ends by itself, with a result or one message, and no sanitizer has anything to say.

TESSERA_RANDOM says how many of each kind (40).
"""

import glob
import os
import random
import re
import shutil
import unittest

from cli_support import EXAMPLES, OPERATIONS, SOURCE, Case, has_opencl

COUNT = int(os.environ.get("TESSERA_RANDOM", "40"))
HOST = ("--device", "host")
WORDS = [b"NaN", b"-1", b"0", b"1e999", b"18446744073709551616", b"4294967296", b"\xff\xfe", b"\0", b"[",
         b"{", b"]", b"}", b'"', b"'", b"\\", b"\\u0000", b"\n", b" ", b"%", b"null", b"()", b"\x1b[2J",
         b"#include \"", b"9" * 400]


def damaged(content, rng):
    """One to four changes of what is there."""
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        at = rng.randrange(len(content) + 1)
        end = min(len(content), at + rng.choice((1, 2, 8, 100, 5000)))
        how = rng.randrange(7)
        if how == 0 and content:
            at = min(at, len(content) - 1)
            content = (content[:at] + bytes([content[at] ^ 1 << rng.randrange(8)]) +
                       content[at + 1:])
        elif how == 1:
            content = content[:at] + content[end:]
        elif how == 2:
            content = content[:end] + content[at:end] + content[end:]
        elif how == 3:
            content = content[:at]
        elif how == 4:
            content = content[:at] + rng.choice(WORDS) + content[end:]
        elif how == 5:
            content = content[:at] + rng.choice(WORDS) + content[at:]
        else:  # another number in the place of one
            numbers = list(re.finditer(rb"[0-9]+", content[:4000]))
            if numbers:
                m = rng.choice(numbers)
                content = content[:m.start()] + rng.choice(WORDS) + content[m.end():]
    return content


class Malformed(Case):
    def damage(self, path, *args, statuses=(0, 1), env=None, count=COUNT):
        """Run the command on damaged copies of the file."""
        with open(path, "rb") as f:
            whole = f.read()
        rng = random.Random(len(whole))
        ended = {}
        for i in range(count):
            content = damaged(whole, rng)
            with open(path, "wb") as f:
                f.write(content)
            r = self.tessera(*args, env=env, timeout=60, binary=True)
            with self.subTest(i, args=args):
                self.assertIn(r.status, statuses, r)
                self.assertNotIn("Sanitizer", r.err)
                self.assertNotIn("runtime error", r.err)
                self.assertNotRegex(r.err, "[\x00-\x09\x0b-\x1f\x7f-\x9f]")
                if r.status:
                    self.assertTrue(r.err.startswith("tessera: "), r)
                ended[r.status] = ended.get(r.status, 0) + 1
        with open(path, "wb") as f:
            f.write(whole)
        self.assertGreater(sum(n for status, n in ended.items() if status), count // 20, ended)

    def test_npy(self):
        """One reader serves all operations; they differ in the shapes and types that they refuse."""
        self.save_examples()
        for op, example in EXAMPLES.items():
            call = example["CALL"]
            file = next(a for a in call if a in example["FILES"])
            self.damage(self.path(file), *call, *HOST, "--quiet",
                        count=COUNT if op == OPERATIONS[0] else max(COUNT // 4, 1))

    def test_mtx(self):
        self.save_examples()
        call = EXAMPLES[OPERATIONS[0]]["CALL"]
        file = next(a for a in call if a in EXAMPLES[OPERATIONS[0]]["FILES"])
        for text in (b"%%MatrixMarket matrix coordinate real symmetric\n% a\n4 4 5\n1 1 1.5\n2 1 -3e2\n"
                     b"3 3 4\n4 4 0x1p3\n4 2 7\n",
                     b"%%MatrixMarket matrix array integer general\n3 3\n" + b"1\n2\n3\n" * 3):
            self.write(file, text)
            self.damage(self.path(file), *call, *HOST, "--quiet")

    def test_results(self):
        self.succeed("bench", OPERATIONS[0], "--size", "16", "--repeat", "2", *HOST, "-o", "r.json")
        shutil.copy(self.path("r.json"), self.path("other.json"))
        for args in (("compare", "r.json", "other.json"), ("compare", "r.json", "--html", "r.html")):
            self.damage(self.path("r.json"), *args)

    def test_kernels(self):
        kernels = self.path("cl")
        shutil.copytree(os.path.join(SOURCE, "cl"), kernels)
        for op, example in EXAMPLES.items():
            name = "%s/%s_%s.cl" % (op, op, example["KERNEL"].replace("-", "_"))
            if os.path.exists(os.path.join(kernels, name)):
                # What is no kernel's text is shown as it is: only its files and includes are read.
                for i in range(2):
                    self.damage_source(os.path.join(kernels, name), op, example["KERNEL"])
                break
        else:
            self.fail("no example's kernel has a file of its name")

    def damage_source(self, path, op, kernel):
        with open(path, "rb") as f:
            whole = f.read()
        rng = random.Random(3)
        for i in range(COUNT):
            with open(path, "wb") as f:
                f.write(damaged(b'#include "common/none.clh"\n' * rng.randrange(2) + whole, rng))
            r = self.tessera("kernels", op, kernel, "--source", "--kernel-dir", self.path("cl"),
                             *HOST, timeout=60, binary=True)
            with self.subTest(i):
                self.assertIn(r.status, (0, 1), r)
                self.assertNotIn("Sanitizer", r.err)
                self.assertNotIn("runtime error", r.err)
        with open(path, "wb") as f:
            f.write(whole)

    def test_tuning(self):
        env = {"TESSERA_TUNING_DIR": self.path("tuning")}
        self.save_examples()
        self.succeed("tune", OPERATIONS[0], "--size", "33", *HOST, "--budget", "2", env=env, timeout=200)
        files = [f for f in glob.glob(self.path("tuning/**"), recursive=True) if os.path.isfile(f)]
        self.assertTrue(files)
        self.damage_tuning(files[0], env)

    def damage_tuning(self, path, env):
        """A damaged one is passed over with a warning: the call is right all the same."""
        with open(path, "rb") as f:
            whole = f.read()
        rng = random.Random(4)
        warned = 0
        for i in range(COUNT):
            with open(path, "wb") as f:
                f.write(damaged(whole, rng))
            r = self.tessera(*EXAMPLES[OPERATIONS[0]]["CALL"], *HOST, env=env, timeout=60)
            with self.subTest(i):
                self.assertEqual(r.status, 0, r)
                self.assertNotRegex(r.err, "Sanitizer|runtime error|[\x00-\x09\x0b-\x1f\x7f-\x9f]")
                self.check_example(OPERATIONS[0])
                warned += "warning" in r.err
        self.assertGreater(warned, 0)

    def test_cache(self):
        if not has_opencl():
            self.skipTest("no OpenCL device")
        env = {"TESSERA_CACHE_DIR": self.path("cache")}
        self.save_examples()
        example = EXAMPLES[OPERATIONS[0]]
        call = (*example["CALL"], "--kernel", example["KERNEL"], "--quiet", "--device", "cpu")
        self.succeed(*call, env=env)
        rng = random.Random(5)
        files = sorted(f for f in glob.glob(self.path("cache/**"), recursive=True)
                       if os.path.isfile(f) and os.path.getsize(f))
        self.assertTrue(files)
        for i in range(max(COUNT // 10, 3)):
            path = rng.choice(files)
            with open(path, "rb") as f:
                whole = f.read()
            with open(path, "wb") as f:
                f.write(damaged(whole, rng))
            r = self.succeed(*call, env=env)
            self.assertNotRegex(r.err, "Sanitizer|runtime error")
            self.check_example(OPERATIONS[0])
            self.succeed("cache", env=env)
            with open(path, "wb") as f:
                f.write(whole)


if __name__ == "__main__":
    unittest.main()
