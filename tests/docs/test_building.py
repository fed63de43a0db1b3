"""What README says of building: its packages are those that the scripts install, and the preset that
it names builds what is installed."""

import json
import os
import re
import subprocess
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as f:
        return f.read()


class Building(unittest.TestCase):
    def test_packages(self):
        line = re.search(r"apt install ((?:[^\n]|\\\n)*[^\\])\n", read("README.md")).group(1)
        script = "source packages.sh; echo ${BUILD_PACKAGES[@]} ${RUN_PACKAGES[@]}"
        done = subprocess.run(["bash", "-c", script], cwd=os.path.join(ROOT, "scripts"), check=True,
                              stdout=subprocess.PIPE)
        self.assertEqual(sorted(line.replace("\\", " ").split()), sorted(done.stdout.decode().split()))

    def test_presets(self):
        """Ninja uses all cores; who installs waits for no tests; each is built where it says."""
        presets = json.loads(read("CMakePresets.json"))
        configure = {p["name"]: p for p in presets["configurePresets"]}
        release = configure["release"]
        self.assertEqual(release["generator"], "Ninja")
        self.assertEqual(release["cacheVariables"]["BUILD_TESTING"], "OFF")
        self.assertEqual(configure["test"]["cacheVariables"]["BUILD_TESTING"], "ON")
        self.assertEqual(len({p["binaryDir"] for p in configure.values()}), len(configure))
        for preset in presets["buildPresets"] + presets["testPresets"]:
            self.assertIn(preset["configurePreset"], configure)
        self.assertNotIn("release", [p["configurePreset"] for p in presets["testPresets"]])


if __name__ == "__main__":
    unittest.main()
