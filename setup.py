"""Builds the extension of the Python package by CMake; pyproject.toml has the rest.

TESSERA_BUILD_DIR names a folder that CMake has built already.
"""

import os
import re
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = os.path.dirname(os.path.abspath(__file__))


def version():
    with open(os.path.join(ROOT, "include", "tessera", "api.h"), encoding="utf-8") as f:
        return ".".join(re.findall(r"define TSR_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", f.read()))


class BuildByCMake(build_ext):
    def build_extension(self, ext):
        folder = os.environ.get("TESSERA_BUILD_DIR")
        if not folder:
            folder = os.path.join(os.path.abspath(self.build_temp), "cmake")
            subprocess.run(["cmake", "-S", ROOT, "-B", folder, "-DCMAKE_BUILD_TYPE=Release",
                            "-DBUILD_TESTING=OFF", "-DTESSERA_PEERS=OFF", "-DTESSERA_MANUAL=OFF",
                            "-DTESSERA_PYTHON=ON",
                            "-DPython3_EXECUTABLE=" + sys.executable], check=True)
        subprocess.run(["cmake", "--build", folder, "--target", "tessera_python",
                        "--parallel", str(os.cpu_count() or 1)], check=True)
        to = self.get_ext_fullpath(ext.name)
        os.makedirs(os.path.dirname(to), exist_ok=True)
        shutil.copy(os.path.join(folder, "python", "tessera", "_tessera.abi3.so"), to)


setup(version=version(),
      ext_modules=[Extension("tessera._tessera", sources=[], py_limited_api=True)],
      cmdclass={"build_ext": BuildByCMake},
      options={"bdist_wheel": {"py_limited_api": "cp311"}})
