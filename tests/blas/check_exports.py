"""libtessera-blas exports the routines of BLAS, for both sizes of integers, and nothing else.

    check_exports.py NM LIBRARY ROUTINES
"""

import subprocess
import sys

# What a libblas.so.3 has beside its routines, and programs replace or read.
OTHERS = {"xerbla_", "xerbla_array_", "lsame_", "cblas_xerbla", "RowMajorStrg", "CBLAS_CallFromC"}
# tessera/blas.h.
OTHERS |= {"tsr_blas_keep", "tsr_blas_drop"}


def main():
    nm, library, file = sys.argv[1:]
    with open(file, encoding="utf-8") as f:
        routines = " ".join(line for line in f if not line.startswith("#")).split()
    assert len(set(routines)) == 148, len(set(routines))
    expected = set(OTHERS)
    for name in routines:
        # C's functions return no complex number.
        c_name = name + "_sub" if name[1:] in ("dotu", "dotc") else name
        expected |= {name + "_", name + "_64_", "cblas_" + c_name, "cblas_" + c_name + "64_"}
    listing = subprocess.run([nm, "-D", "--defined-only", library], check=True,
                             stdout=subprocess.PIPE, text=True).stdout
    found = {line.split()[2].split("@")[0] for line in listing.splitlines()}
    wrong = (["%s: not exported" % n for n in sorted(expected - found)] +
             ["%s: exported, and no routine" % n for n in sorted(found - expected)])
    print("\n".join(wrong) or "%d symbols" % len(found))
    sys.exit(bool(wrong))


main()
