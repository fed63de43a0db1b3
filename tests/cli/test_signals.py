"""Signals at random moments of calls: the old output stays or the new one is whole, and nothing else is
left.  TESSERA_RANDOM says how many (20)."""

import fcntl
import os
import random
import signal
import subprocess
import time
import unittest

import numpy as np

from cli_support import COMMAND, EXAMPLES, Case, environment, has_opencl

COUNT = int(os.environ.get("TESSERA_RANDOM", "20"))
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL, signal.SIGPIPE)


class Signals(Case):
    def test_random_moments(self):
        calls = self.save_examples()
        rng = random.Random(6)
        old = np.arange(5.0)
        ended = {}
        for i in range(COUNT):
            op, example = rng.choice(list(EXAMPLES.items()))
            name = example["RESULT"][0]
            there = rng.random() < 0.5
            if there:
                self.save(name, old)
            before = self.names()
            device = rng.choice((("--device", "host"), (), ("--copy",)))
            start = time.monotonic()
            job = subprocess.Popen([COMMAND, *example["CALL"], *device], cwd=self.folder,
                                   env=environment(), stderr=subprocess.PIPE)
            number = rng.choice(SIGNALS)
            time.sleep(rng.random() * (0.04 if device and device[0] == "--device" else 0.4))
            job.send_signal(number)
            _, err = job.communicate(timeout=100)
            with self.subTest(i, op=op, signal=number, status=job.returncode,
                              seconds=time.monotonic() - start):
                # Before main() is there, the signal's own effect ends it.
                of_pipe = 128 + signal.SIGPIPE
                self.assertIn(job.returncode,
                              (0, of_pipe if number == signal.SIGPIPE else 130, -number), err)
                self.assertNotIn(b"Sanitizer", err)
                left = [n for n in self.names() if n not in before]
                beside = [n for n in left if n.startswith(".tessera-")]
                if there and number == signal.SIGKILL and len(beside) == 1:
                    # Killed before the new file, which is whole, was renamed over the old one.
                    np.testing.assert_array_equal(self.load(name), old)
                    os.replace(self.path(beside[0]), self.path(name))
                    left.remove(beside[0])
                self.assertIn(left, ([], [name]))
                if left or there:
                    got = self.load(name)
                    if not (there and np.array_equal(got, old)):
                        self.check_example(op)
                        os.remove(self.path(name))
                    elif job.returncode == 0:
                        self.fail("status 0 and no result")
            if os.path.exists(self.path(name)):
                os.remove(self.path(name))
            ended[job.returncode] = ended.get(job.returncode, 0) + 1
        self.assertGreater(len(ended), 1)
        self.assertTrue(calls)
        print("ended with", ended)


@unittest.skipUnless(has_opencl(), "no OpenCL device")
class WhileCompiling(Case):
    """A compiler that cannot be stopped is simulated by another process that has the entry's lock,
    for which a build waits two minutes."""

    def setUp(self):
        super().setUp()
        self.env = environment(TESSERA_CACHE_DIR=self.path("cache"),
                               TESSERA_TUNING_DIR=self.path("tuning"))
        self.succeed("cache", env={"TESSERA_CACHE_DIR": self.path("cache")})

    def interrupted(self, *args, then=()):
        """The command's status, seconds from the signal to its end, and standard error."""
        with open(self.path("cache/lock"), "w") as lock:
            fcntl.lockf(lock, fcntl.LOCK_EX)
            job = subprocess.Popen([COMMAND, *args], cwd=self.folder, env=self.env,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            time.sleep(3)
            self.assertIsNone(job.poll())
            start = time.monotonic()
            job.send_signal(signal.SIGINT)
            for number in then:
                time.sleep(0.05)
                job.send_signal(number)
            _, err = job.communicate(timeout=100)
            return job.returncode, time.monotonic() - start, err.decode()

    def test_a_driver_that_aborts_after_it(self):
        """As PoCL does whose linker the signal ended too: where a handler returns, LLVM's for
        one, abort() raises it again."""
        op, example = next(iter(EXAMPLES.items()))
        status, _, err = self.interrupted("bench", op, "--kernel", example["KERNEL"], "--size",
                                          example["SIZE"], then=2 * (signal.SIGABRT,))
        self.assertEqual(status, 130, err)

    def test_the_first_signal_ends_it(self):
        """Soon, with its status, and what was kept before stays whole."""
        op, example = next(iter(EXAMPLES.items()))
        problem = (op, "--kernel", example["KERNEL"], "--size", example["SIZE"])
        for args, says in ((("bench", *problem, "-o", "rows"), "interrupted: 0 of 1 rows are done"),
                           (("tune", *problem), "interrupted: 0 of 1 classes of problems are done"),
                           (("roofline", op, "-o", "rows"), "interrupted: what was measured is"),
                           (("verify", op, example["KERNEL"], "--tiny"), "")):
            self.write("rows", "old\n")
            status, seconds, err = self.interrupted(*args)
            with self.subTest(args[0]):
                self.assertEqual(status, 130, err)
                self.assertIn(says, err)
                self.assertLess(seconds, 3, err)
                self.assertEqual([n for n in self.names() if n not in ("cache", "rows")], [])
                self.assertEqual(os.listdir(self.path("cache")), ["lock"])
                with open(self.path("rows"), encoding="utf-8") as f:
                    self.assertEqual(f.read(), "old\n")


if __name__ == "__main__":
    unittest.main()
