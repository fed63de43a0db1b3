"""The global symbols of the libraries are the functions that the public headers declare, and no others.

    check_symbols.py NM INCLUDE LIBRARY...  compare libraries (.a or .so), or Debian's lists of what they
                                            export (.symbols), with the headers of a folder
    check_symbols.py --control              show that each kind of difference is found

The headers are read as text, apart from the mark that exports a function: one that lacks it is found.
"""

import os
import re
import subprocess
import sys

COMMENT = re.compile(r"/\*.*?\*/", re.S)
DIRECTIVE = re.compile(r"^\s*#(?:.*\\\n)*.*$", re.M)
BODY = re.compile(r"\{[^{}]*\}")
FUNCTION = re.compile(r"\b(tsr_\w+)\s*\([^;{}]*\)\s*;")

# Headers of other libraries: libtessera-blas.
OF_OTHERS = {"blas.h"}

# A line of Debian's list: the symbol and its version node, the first package with it.
OF_DEBIAN = re.compile(r"^ (\w+)@\w", re.M)

# The node of the version script is a symbol of the shared library.
VERSION_NODE = re.compile(r"TESSERA_\d+\.\d+")


def declared(header):
    """The functions that a header's text declares; those that it defines inline are not exported."""
    text = DIRECTIVE.sub("", COMMENT.sub("", header)).replace('extern "C" {', "")
    while BODY.search(text):
        text = BODY.sub("", text)
    return set(FUNCTION.findall(text))


def exported(listing):
    """The symbols in what nm prints: VALUE TYPE NAME, the name with its version."""
    fields = [line.split() for line in listing.splitlines()]
    names = {f[2].split("@")[0] for f in fields if len(f) == 3}
    return {n for n in names if not VERSION_NODE.fullmatch(n)}


def differences(functions, symbols):
    return (["%s: global, and in no public header" % n for n in sorted(symbols - functions)] +
            ["%s: in a public header, and not exported" % n for n in sorted(functions - symbols)])


def control():
    header = ("/* tsr_old(); */\n#define TSR_CALL(x) tsr_macro(x);\nTSR_API int tsr_one(int a);\n"
              "const char *tsr_two(\n    int (*f)(int), void *state);\n"
              "static inline int tsr_three(void)\n{\n    return tsr_one(3);\n}\n"
              "typedef struct s {\n    int (*call)(int);\n} s;\n")
    functions = declared(header)
    assert functions == {"tsr_one", "tsr_two"}, functions
    both = "\nlib.o:\n0000000000000010 T tsr_one@@TESSERA_0.2\n0000000000000020 T tsr_two\n"
    for listing, expected in ((both + "0000000000000000 A TESSERA_0.2\n", []),
                              (both + "0000000000000030 T tsr_fail\n", ["tsr_fail"]),
                              (both + "0000000000000030 D variants\n", ["variants"]),
                              (both + "0000000000000008 C .gomp_lock\n", [".gomp_lock"]),
                              (both.replace("tsr_two", "tsr_twin"), ["tsr_twin", "tsr_two"]),
                              ("", ["tsr_one", "tsr_two"])):
        found = [line.split(":")[0] for line in differences(functions, exported(listing))]
        if found != expected:
            sys.exit("control: %r: found %s, not %s" % (listing, found, expected))


def main():
    if sys.argv[1:] == ["--control"]:
        control()
        return
    nm, include, *libraries = sys.argv[1:]
    functions = set()
    for name in sorted(set(os.listdir(include)) - OF_OTHERS):
        with open(os.path.join(include, name), encoding="utf-8") as f:
            functions |= declared(f.read())
    failed = len(functions) < 20
    for library in libraries:
        if library.endswith(".symbols"):
            with open(library, encoding="utf-8") as f:
                symbols = {n for n in OF_DEBIAN.findall(f.read()) if not VERSION_NODE.match(n)}
        else:
            dynamic = ["-D"] if library.endswith(".so") else ["-g"]
            symbols = exported(subprocess.run([nm, *dynamic, "--defined-only", library], check=True,
                                              stdout=subprocess.PIPE, text=True).stdout)
        found = differences(functions, symbols)
        print("%s: %s" % (os.path.basename(library), "; ".join(found) or "the %d functions of the "
                          "public headers" % len(functions)))
        failed = failed or found
    sys.exit(1 if failed else 0)


main()
