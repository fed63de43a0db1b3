"""The version is the public header's, wherever else it is written.

    check_versions.py SOURCE    compare the files of a source tree with include/tessera/api.h
"""

import os
import re
import sys

# A file that has the version, and where: the first match.
PLACES = [("CHANGELOG.md", r"^## (\S+),"),
          ("debian/changelog", r"^tessera \(([^)]*)\)"),
          ("packaging/vcpkg/tessera/vcpkg.json", r'"version": "([^"]*)"')]
# One that has the version of the API alone, MAJOR.MINOR.
API_PLACES = [("cmake/libtessera.map", r"^TESSERA_(\S+) "),
              ("debian/control", r"^Package: libtessera(\d\S*)$"),
              ("debian/libtessera-blas.links", r"libtessera-blas\.so\.(\S+)"),
              ("debian/libtessera-blas.symbols", r"^libtessera-blas\.so\.(\S+)"),
              ("docs/building.md", r"^\| libtessera(\d\S*) \|")]


def main():
    def read(*path):
        with open(os.path.join(sys.argv[1], *path), encoding="utf-8") as f:
            return f.read()

    header = read("include", "tessera", "api.h")
    version = ".".join(re.findall(r"define TSR_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header))
    api = version.rpartition(".")[0]
    places = [(version, *p) for p in PLACES] + [(api, *p) for p in API_PLACES]
    places.append((api, "debian/libtessera%s.symbols" % api, r"^libtessera\.so\.(\S+)"))
    wrong = []
    for expected, path, pattern in places:
        try:
            found = re.search(pattern, read(*path.split("/")), re.M)
        except FileNotFoundError:
            wrong.append("%s: is missing" % path)
            continue
        if not found or found[1] != expected:
            wrong.append("%s: has %s, not %s" % (path, found and found[1], expected))
    if wrong:
        sys.exit("\n".join(wrong))
    print("%d files have version %s" % (len(places), version))


main()
