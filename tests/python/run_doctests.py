"""The examples in the docstrings of the Python package, and in pages of the manual.

    run_doctests.py [PAGE...]
"""

import doctest
import importlib
import pkgutil
import sys

import tessera


def main():
    failed = attempted = 0
    modules = [tessera] + [importlib.import_module(m.name)
                           for m in pkgutil.walk_packages(tessera.__path__, "tessera.")
                           if not m.name.endswith("._tessera")]
    results = [doctest.testmod(m) for m in modules]
    # A function that is made by another is found in no module.
    finder, runner = doctest.DocTestFinder(recurse=False), doctest.DocTestRunner()
    for name in dir(tessera):
        if getattr(getattr(tessera, name), "__name__", "") == name:
            for test in finder.find(getattr(tessera, name), name, module=False):
                results.append(runner.run(test))
    results += [doctest.testfile(page, module_relative=False) for page in sys.argv[1:]]
    failed = sum(r.failed for r in results)
    attempted = sum(r.attempted for r in results)
    print("%d examples, %d failed" % (attempted, failed))
    sys.exit(failed > 0 or attempted < 20)


main()
