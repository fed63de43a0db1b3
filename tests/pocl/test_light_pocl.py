"""The PoCL of tests (light_pocl.py) makes of kernels the very libraries that the installed one makes."""

import hashlib
import os
import unittest

from cli_support import EXAMPLES, OPERATIONS, Case, has_opencl


SOME = OPERATIONS[:4]


@unittest.skipUnless(has_opencl(), "no OpenCL device")
class LightPocl(Case):
    def compiled(self, name, **env):
        """{kernel and size of its groups: hashes of what PoCL made}, of examples of some operations."""
        cache = self.path(name)
        os.mkdir(cache)
        for op in SOME:
            self.succeed(*self.example(op), "--kernel", EXAMPLES[op]["KERNEL"], "--device", "cpu",
                         env={"POCL_CACHE_DIR": cache, **env})
        made = {}
        for path, _, files in os.walk(cache):
            for file in files:
                if file.endswith(".so"):
                    with open(os.path.join(path, file), "rb") as f:
                        key = os.path.join(os.path.basename(path), file)
                        made.setdefault(key, set()).add(hashlib.sha256(f.read()).hexdigest())
        return made

    def test_kernels_are_the_same(self):
        self.assertIsNotNone(os.environ.get("OCL_ICD_VENDORS"))
        light = self.compiled("light")
        self.assertGreaterEqual(len(light), len(SOME))
        self.assertEqual(light, self.compiled("installed", OCL_ICD_VENDORS=None))


if __name__ == "__main__":
    unittest.main()
