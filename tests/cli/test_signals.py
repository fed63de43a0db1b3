"""Signals at random moments of calls: the old output stays or the new one is whole, and nothing else is
left.  TESSERA_RANDOM says how many (20)."""

import os
import random
import signal
import subprocess
import time
import unittest

import numpy as np

from cli_support import COMMAND, EXAMPLES, Case, environment

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


if __name__ == "__main__":
    unittest.main()
