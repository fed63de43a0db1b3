"""The README's commands do what it shows: what one prints for good is as it stands there, and of lines
with times and rates the problem."""

import os
import re
import subprocess
import tempfile
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def commands():
    """[(command, the lines that it prints)]"""
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as f:
        (block,) = re.findall(r"(?:^    .*\n)*^    \$ (?:.*\n    )*.*\n", f.read(), re.M)
    parts = re.split(r"^    \$ ", block, flags=re.M)[1:]
    return [(p.splitlines()[0], [line[4:] for line in p.splitlines()[1:]]) for p in parts]


class Commands(unittest.TestCase):
    def test_output(self):
        self.assertEqual(len(commands()), 4)
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(os.path.join(ROOT, "data"), os.path.join(folder, "data"))
            os.symlink(os.environ["TESSERA"], os.path.join(folder, "tessera"))
            env = {**os.environ, "PATH": folder + ":" + os.environ["PATH"], "TESSERA_DEVICE": "cpu"}
            for command, shown in commands():
                done = subprocess.run(["bash", "-e", "-c", command], cwd=folder, env=env, text=True,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                self.assertEqual(done.returncode, 0, done.stdout)
                if "--quiet" in command:
                    self.assertEqual(done.stdout.splitlines(), shown, command)
                else:
                    self.assertIn(shown[0].split(" on ")[0] + " on ", done.stdout, command)


if __name__ == "__main__":
    unittest.main()
