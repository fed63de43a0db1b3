# Copyright 2026 The Tessera authors
#
# SPDX-License-Identifier: MIT

import os

from spack.package import *


class Tessera(CMakePackage):
    """Matrix multiply, sort, top-k, reduce, scan and other operations on arrays, on every OpenCL
    device of a machine; a C library, a command, a BLAS for existing programs and a Python module.

    The recipe builds the clone that it lies in:

        spack repo add CLONE/packaging/spack
        spack install tessera
    """

    git = "file://" + os.path.abspath(os.path.join(os.path.dirname(__file__), *[".."] * 4))

    license("MIT")

    version("main", branch="main")

    variant("python", default=False, description="The Python module")

    depends_on("c", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("opencl-c-headers@2022.01.04:")
    depends_on("opencl@1.2:")
    depends_on("jansson@2.12:")
    depends_on("libpng@1.6:")
    depends_on("python@3.11:", when="+python", type=("build", "link", "run"))
    depends_on("py-numpy", when="+python", type="run")

    extends("python", when="+python")

    generator("ninja")

    def cmake_args(self):
        args = [
            self.define("BUILD_TESTING", self.run_tests),
            self.define("TESSERA_PEERS", False),
            self.define_from_variant("TESSERA_PYTHON", "python"),
        ]
        if self.spec.satisfies("+python"):
            args.append(self.define("TESSERA_PYTHON_DIR", python_platlib))
        return args

    def check(self):
        with working_dir(self.build_directory):
            ctest("-L", "quick", "--output-on-failure")
