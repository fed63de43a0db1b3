"""The examples in the docstrings of the Python package, and in pages of the manual.

    run_doctests.py [PAGE...]
"""

import doctest
import importlib
import importlib.util
import os
import pkgutil
import sys

os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True"  # for CUDA to export its memory

import tessera


def has_pyopencl():
    return importlib.util.find_spec("pyopencl") is not None


def has_cuda():
    if importlib.util.find_spec("torch") is None:
        return False
    return importlib.import_module("torch").cuda.is_available()


# What the examples of some functions need besides.
NEEDS = {"from_pyopencl": has_pyopencl, "to_pyopencl": has_pyopencl, "from_cuda": has_cuda}


def main():
    failed = attempted = 0
    modules = [tessera] + [importlib.import_module(m.name)
                           for m in pkgutil.walk_packages(tessera.__path__, "tessera.")
                           if not m.name.endswith("._tessera")]
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner()
    tests = {t.name: t for m in modules for t in finder.find(m)}
    # A function that is made by another, or is one in C, is found in no module.
    finder = doctest.DocTestFinder(recurse=False)
    for name in dir(tessera):
        if getattr(getattr(tessera, name), "__name__", "") == name:
            tests.update((t.name, t) for t in finder.find(getattr(tessera, name), name, module=False))
    results = []
    for name, test in tests.items():
        needed = NEEDS.get(name.rsplit(".", 1)[-1])
        if needed and not needed():
            print("left out: %s" % name)
        else:
            results.append(runner.run(test))
    for name in ("last_report", "to_numpy", "from_pyopencl", "from_cuda"):
        if name not in tests:
            sys.exit("%s has no example" % name)
    results += [doctest.testfile(page, module_relative=False) for page in sys.argv[1:]]
    failed = sum(r.failed for r in results)
    attempted = sum(r.attempted for r in results)
    print("%d examples, %d failed" % (attempted, failed))
    sys.exit(failed > 0 or attempted < 20)


main()
