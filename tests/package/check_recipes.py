"""Run the recipes for spack and vcpkg with stubs of the functions that they call, and check that each option,
folder and file they name exists.

    check_recipes.py CMAKE SOURCE BUILD

BUILD is a configured build of SOURCE, whose cache knows the options.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import types

# The fields of a manifest that vcpkg knows, of those that a port without features has.
FIELDS = {"name", "version", "description", "homepage", "license", "supports", "dependencies"}

# What a port may call: each prints its name and arguments, one a line.
CALLS = ("vcpkg_find_acquire_program", "vcpkg_cmake_configure", "vcpkg_cmake_install", "vcpkg_cmake_config_fixup",
         "vcpkg_fixup_pkgconfig", "vcpkg_copy_tools", "vcpkg_install_copyright")


class Spec:
    def __init__(self, variants):
        self.variants = variants

    def satisfies(self, text):
        assert text[:1] == "+", text
        return text[1:] in self.variants


def spack_recipe(folder, variants, tests):
    """The arguments of CMake, the directives and the folders that `check` enters."""
    told, stub = [], types.ModuleType("spack.package")

    def directive(name):
        return lambda *args, **named: told.append((name, args, named))

    class CMakePackage:
        run_tests = tests
        spec = Spec(variants)
        build_directory = "the-build"

        @staticmethod
        def define(name, value):
            value = ("ON" if value else "OFF") if isinstance(value, bool) else value
            return "-D%s=%s" % (name, value)

        def define_from_variant(self, name, variant):
            assert any(t[0] == "variant" and t[1][0] == variant for t in told), variant
            return self.define(name, variant in self.spec.variants)

    class working_dir:
        def __init__(self, path):
            told.append(("enter", (path,), {}))

        def __enter__(self):
            return self

        def __exit__(self, *error):
            return False

    for name in ("license", "version", "variant", "depends_on", "extends", "generator", "ctest"):
        setattr(stub, name, directive(name))
    stub.CMakePackage, stub.working_dir, stub.python_platlib = CMakePackage, working_dir, "/site"
    sys.modules["spack"], sys.modules["spack.package"] = types.ModuleType("spack"), stub
    path = os.path.join(folder, "packages", "tessera", "package.py")
    names = {"__file__": path, "__name__": "recipe"}
    with open(path, encoding="utf-8") as f:
        exec(compile(f.read(), path, "exec"), names)  # pylint: disable=exec-used
    package = names["Tessera"]()
    package.check()
    return package, package.cmake_args(), told


def options_known(arguments, cache):
    for argument in arguments:
        name = re.fullmatch(r"-D(\w+)=.*", argument)
        assert name and re.search(r"^%s:" % name[1], cache, re.M), argument


def check_spack(source, cache):
    folder = os.path.join(source, "packaging", "spack")
    with open(os.path.join(folder, "repo.yaml"), encoding="utf-8") as f:
        assert re.fullmatch(r"repo:\n  namespace: \w+\n", f.read())
    for variants in (set(), {"python"}):
        for tests in (False, True):
            package, arguments, told = spack_recipe(folder, variants, tests)
            options_known(arguments, cache)
            assert "-DBUILD_TESTING=" + ("ON" if tests else "OFF") in arguments, arguments
            assert "-DTESSERA_PYTHON=" + ("ON" if variants else "OFF") in arguments, arguments
            assert ("enter", ("the-build",), {}) in told
            assert package.git == "file://" + os.path.realpath(source), package.git
            needed = {t[1][0].split("@")[0] for t in told if t[0] == "depends_on"}
            assert {"c", "cmake", "ninja", "pkgconfig", "opencl", "opencl-c-headers", "jansson",
                    "libpng"} <= needed, needed
    lowest = [t[1][0] for t in told if t[0] == "depends_on" and t[1][0].startswith("cmake@")]
    with open(os.path.join(source, "CMakeLists.txt"), encoding="utf-8") as f:
        asked = re.search(r"cmake_minimum_required\(VERSION ([0-9.]+)", f.read())[1]
    assert lowest == ["cmake@%s:" % asked], (lowest, asked)


def check_vcpkg(cmake, source, cache):
    port = os.path.join(source, "packaging", "vcpkg", "tessera")
    with open(os.path.join(port, "vcpkg.json"), encoding="utf-8") as f:
        manifest = json.load(f)
    assert set(manifest) <= FIELDS and {"name", "version", "dependencies"} <= set(manifest)
    assert manifest["name"] == os.path.basename(port)
    for one in manifest["dependencies"]:
        assert isinstance(one, str) or set(one) <= {"name", "host", "platform"}, one
    needed = {d if isinstance(d, str) else d["name"] for d in manifest["dependencies"]}
    assert needed == {"jansson", "libpng", "opencl", "vcpkg-cmake", "vcpkg-cmake-config"}, needed
    with tempfile.TemporaryDirectory() as packages:
        stubs = os.path.join(packages, "stubs.cmake")
        with open(stubs, "w", encoding="utf-8") as f:
            for name in CALLS:
                f.write('function(%s)\n  string(REPLACE ";" "|" all "${ARGV}")\n'
                        '  message("%s|${all}")\nendfunction()\n' % (name, name))
            f.write('set(PKGCONFIG /usr/bin/pkg-config)\nset(CURRENT_PACKAGES_DIR "%s")\n' % packages)
            f.write('include("%s")\n' % os.path.join(port, "portfile.cmake"))
        os.makedirs(os.path.join(packages, "debug", "include"))
        # CMAKE_CURRENT_LIST_DIR is the port's while it is included.
        out = subprocess.run([cmake, "-P", stubs], capture_output=True, text=True, timeout=60)
        assert out.returncode == 0, out.stderr
        assert not os.path.exists(os.path.join(packages, "debug", "include"))
    calls = {l.split("|")[0]: l.split("|")[1:] for l in out.stderr.splitlines() if l}
    assert set(calls) == set(CALLS), calls
    configured = calls["vcpkg_cmake_configure"]
    assert configured[:2] == ["SOURCE_PATH", os.path.realpath(source)], configured
    options_known([a for a in configured if a.startswith("-D")], cache)
    installed = calls["vcpkg_install_copyright"]
    assert os.path.isfile(installed[-1]), installed


def main():
    cmake, source, build = sys.argv[1], os.path.realpath(sys.argv[2]), sys.argv[3]
    with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as f:
        cache = f.read()
    cache += "PKG_CONFIG_EXECUTABLE:\n"  # CMake's own, where pkg-config is looked for
    check_spack(source, cache)
    check_vcpkg(cmake, source, cache)
    print("2 recipes hold")


main()
