"""The extension exports the function that initialises it, and nothing of the library's.

    check_exports.py NM EXTENSION

Of CPython it uses the limited API alone, which has no name that begins with an underscore but these.
"""

import subprocess
import sys

LIMITED = {"_Py_Dealloc", "_Py_NoneStruct", "_Py_TrueStruct", "_Py_FalseStruct", "_Py_IncRef",
           "_Py_DecRef", "_PyArg_ParseTuple_SizeT", "_PyArg_ParseTupleAndKeywords_SizeT",
           "_Py_BuildValue_SizeT"}


def names(nm, extension, *options):
    out = subprocess.run([nm, "-D", *options, extension], check=True, capture_output=True,
                         text=True).stdout
    return {line.split()[-1].split("@")[0] for line in out.splitlines()}


def main():
    nm, extension = sys.argv[1:]
    exported = names(nm, extension, "--defined-only")
    private = {n for n in names(nm, extension, "--undefined-only") if n.startswith("_Py")} - LIMITED
    if exported != {"PyInit__tessera"} or private:
        sys.exit("exported: %s; private names of CPython: %s" % (sorted(exported), sorted(private)))


main()
