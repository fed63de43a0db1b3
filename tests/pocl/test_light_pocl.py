"""The PoCL of tests (light_pocl.py) makes of kernels the very code and constants that the installed one
makes: optimized, where built-in functions are part of the kernels.  Of others their names and places
differ."""

import glob
import hashlib
import os
import struct
import subprocess
import sys
import unittest

from cli_support import EXAMPLES, OPERATIONS, SOURCE, Case, has_opencl

SOME = OPERATIONS[1::3]
SCRIPT = os.path.join(SOURCE, "tests", "pocl", "light_pocl.py")


def code_and_constants(library):
    """Bytes of the sections of a library of 64 bits that the compiler filled, by their names; what the
    linker wrote names other libraries."""
    table, = struct.unpack_from("<Q", library, 40)
    size, count, names = struct.unpack_from("<HHH", library, 58)
    sections = [struct.unpack_from("<IIQQQQ", library, table + i * size) for i in range(count)]
    found = {}
    for name, _, _, _, offset, length in sections:
        at = sections[names][4] + name
        name = library[at:library.index(b"\0", at)].decode()
        if name.startswith((".text", ".rodata", ".data")):
            found[name] = library[offset:offset + length]
    return found


@unittest.skipUnless(has_opencl(), "no OpenCL device")
class LightPocl(Case):
    def compiled(self, name, **env):
        """{kernel and size of its groups: hashes of what PoCL made}, of examples of some operations."""
        cache = self.path(name)
        os.mkdir(cache)
        for op in SOME:
            self.succeed(*self.example(op), "--kernel", EXAMPLES[op]["KERNEL"], "--device", "cpu",
                         env={"POCL_CACHE_DIR": cache, "POCL_EXTRA_BUILD_FLAGS": None, **env})
        made = {}
        for path, _, files in os.walk(cache):
            for file in files:
                if file.endswith(".so"):
                    with open(os.path.join(path, file), "rb") as f:
                        key = os.path.join(os.path.basename(path), file)
                        code = code_and_constants(f.read())
                    self.assertIn(".text", code)
                    made.setdefault(key, set()).add(hashlib.sha256(repr(code).encode()).hexdigest())
        return made

    def test_kernels_are_the_same(self):
        self.assertIsNotNone(os.environ.get("OCL_ICD_VENDORS"))
        light = self.compiled("light")
        self.assertGreaterEqual(len(light), len(SOME))
        self.assertEqual(light, self.compiled("installed", OCL_ICD_VENDORS=None))

    def test_what_builds_no_kernel_is_not_taken(self):
        """Of sources without a kernel it keeps no function."""
        drivers = glob.glob("/etc/OpenCL/vendors/*.icd")
        done = subprocess.run([sys.executable, SCRIPT, self.folder, self.path("made"), *drivers], text=True,
                              stdout=subprocess.PIPE, check=True)
        self.assertIn("tests: PoCL as it is installed, which takes longer: ", done.stdout)
        for path in drivers:
            with open(path, encoding="utf-8") as installed, \
                    open(self.path("made/vendors/" + os.path.basename(path)), encoding="utf-8") as taken:
                self.assertEqual(taken.read().strip(), installed.read().strip())


if __name__ == "__main__":
    unittest.main()
