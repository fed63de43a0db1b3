"""A signal ends a run with status 130 and leaves no file behind."""

import os
import signal
import subprocess
import time
import unittest

import numpy as np

from cli_support import COMMAND, Case, environment


class Interrupt(Case):
    def writes_here(self, descriptors):
        """Whether a process has a file of the test's folder open that is no input."""
        try:
            opened = [os.readlink(os.path.join(descriptors, fd)) for fd in os.listdir(descriptors)]
        except OSError:
            return False
        folder = os.path.realpath(self.folder)
        return any(f.startswith(folder) and not f.endswith("a.npy") for f in opened)

    def interrupt(self, number, existing):
        big = np.ones((2500, 2500), np.float64)
        self.save("a.npy", big)
        if existing:
            self.write("c.npy", "kept as it is")
        job = subprocess.Popen([COMMAND, "matmul", "a.npy", "a.npy", "-o", "c.npy", "--device",
                                "host", "--kernel", "jik"], cwd=self.folder, env=environment(),
                               stderr=subprocess.PIPE)
        # The output is opened before the work begins.
        descriptors = "/proc/%d/fd" % job.pid
        deadline = time.monotonic() + 60
        while not self.writes_here(descriptors) and time.monotonic() < deadline:
            time.sleep(0.02)
        self.assertTrue(self.writes_here(descriptors))
        time.sleep(0.1)
        job.send_signal(number)
        _, err = job.communicate(timeout=60)
        self.assertEqual(job.returncode, -9 if number == signal.SIGKILL else 130, err)
        self.assertEqual(self.names(), ["a.npy"] + ["c.npy"] * existing)
        if existing:
            with open(self.path("c.npy"), encoding="ascii") as f:
                self.assertEqual(f.read(), "kept as it is")

    def test_interrupt(self):
        self.interrupt(signal.SIGINT, False)

    def test_interrupt_keeps_the_old_output(self):
        self.interrupt(signal.SIGINT, True)

    def test_terminate(self):
        self.interrupt(signal.SIGTERM, False)

    def test_hang_up(self):
        self.interrupt(signal.SIGHUP, False)

    def test_kill(self):
        """Nothing can be removed then: the output has no name yet."""
        self.interrupt(signal.SIGKILL, True)


if __name__ == "__main__":
    unittest.main()
