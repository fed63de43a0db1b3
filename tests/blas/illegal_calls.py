"""Illegal arguments of level 3: libtessera-blas reports them as the reference BLAS does.

    illegal_calls.py            compare every routine with one and with two arguments changed
    illegal_calls.py calls      make the calls, and print what the error handlers receive
"""

import ctypes
import glob
import itertools
import os
import subprocess
import sys

SKIP = 77
OPTIONS = {"side": "LR", "uplo": "UL", "trans": "NTC", "transa": "NTC", "transb": "NTC", "diag": "NU"}
NUMBERS = {"side": {"L": 141, "R": 142}, "uplo": {"U": 121, "L": 122}, "diag": {"N": 131, "U": 132}}
TRANS = {"N": 111, "T": 112, "C": 113}
# The arguments of each routine, in Fortran's order.
ROUTINES = {"gemm": "transa transb m n k alpha a lda b ldb beta c ldc",
            "symm": "side uplo m n alpha a lda b ldb beta c ldc",
            "hemm": "side uplo m n alpha a lda b ldb beta c ldc",
            "syrk": "uplo trans n k alpha a lda beta c ldc",
            "herk": "uplo trans n k real-alpha a lda real-beta c ldc",
            "syr2k": "uplo trans n k alpha a lda b ldb beta c ldc",
            "her2k": "uplo trans n k alpha a lda b ldb real-beta c ldc",
            "trmm": "side uplo transa diag m n alpha a lda c ldc",
            "trsm": "side uplo transa diag m n alpha a lda c ldc"}
USUAL = {"side": "L", "uplo": "U", "trans": "N", "transa": "N", "transb": "N", "diag": "N",
         "m": 3, "n": 4, "k": 5, "lda": 5, "ldb": 5, "ldc": 5}
# Options by letters, in C by their numbers; a number is itself in C, and X in Fortran: other options'
# numbers, and a letter.
VALUES = {**{name: list(letters) + [letters[0].lower(), "X", "\0"] +
             [n for n in (111, 112, 121, 122, 131, 142, ord("T"))
              if n not in (NUMBERS.get(name) or TRANS).values()]
             for name, letters in OPTIONS.items()},
          "m": [-1, 0], "n": [-1, 0], "k": [-1, 0],
          "lda": [-1, 0, 2, 3, 4], "ldb": [-1, 0, 2, 3, 4], "ldc": [-1, 0, 2, 3, 4]}


def value_in_c(name, letter):
    if isinstance(letter, int):
        return letter
    numbers = NUMBERS.get(name, TRANS)
    return numbers.get(letter, {"X": 99, "\0": 0}.get(letter, 150))


def call(blas, prefix, routine, layout, changed, arrays):
    """Make one call, in C's calling sequence where there is a layout."""
    real = {"s": ctypes.c_float, "d": ctypes.c_double}.get(prefix)
    real_alpha = ctypes.c_float if prefix in "sc" else ctypes.c_double
    in_c = layout is not None
    arguments = [ctypes.c_int(layout)] if in_c else []
    for name in ROUTINES[routine].split():
        value = changed.get(name, USUAL.get(name))
        if name in OPTIONS:
            arguments.append(ctypes.c_int(value_in_c(name, value)) if in_c
                             else ctypes.c_char_p(b"X" if isinstance(value, int) else value.encode() + b"\0"))
        elif name in USUAL:
            arguments.append(ctypes.c_int(value) if in_c else ctypes.byref(ctypes.c_int(value)))
        elif name in ("a", "b", "c"):
            arguments.append(arrays[name])
        elif in_c and (real or name.startswith("real")):
            arguments.append((real or real_alpha)(1))
        else:
            arguments.append(arrays["one " + prefix])
    function = getattr(blas, ("cblas_%s%s" if in_c else "%s%s_") % (prefix, routine))
    function.restype = None
    function(*arguments, *[ctypes.c_size_t(1)] * (0 if in_c else 4))


def make_calls():
    blas = ctypes.CDLL(None)
    received = (ctypes.c_char * 256).in_dll(blas, "received")
    arrays = {name: (ctypes.c_double * 200)() for name in "abc"}
    for i in range(200):
        arrays["a"][i] = 1
    arrays.update({"one s": (ctypes.c_float * 2)(1), "one d": (ctypes.c_double * 2)(1),
                   "one c": (ctypes.c_float * 2)(1), "one z": (ctypes.c_double * 2)(1)})
    for prefix, routine in itertools.product("sdcz", ROUTINES):
        if routine.startswith("he") and prefix in "sd":
            continue
        names = [name for name in ROUTINES[routine].split() if name in USUAL]
        changes = [{}]
        changes += [{name: value} for name in names for value in VALUES[name]]
        changes += [{x: u, y: v} for x, y in itertools.combinations(names, 2)
                    for u in VALUES[x] for v in VALUES[y]]
        for layout, changed in itertools.product((None, 101, 102, 100, 0), changes):
            received.value = b""
            call(blas, prefix, routine, layout, changed, arrays)
            print("%s%s %s %r: %s" % (prefix, routine, layout, changed, received.value.decode()))


def run(preload):
    env = {**os.environ, "LD_PRELOAD": preload, "TESSERA_BLAS": "never"}
    done = subprocess.run([sys.executable, __file__, "calls"], env=env, check=True, text=True,
                          stdout=subprocess.PIPE, timeout=300)
    return done.stdout.splitlines()


def corrected(line):
    """A line of the reference without its mistakes; None where it reports nothing, or the wrong thing."""
    routine, layout = line.split()[:2]
    received = line.rsplit("}: ", 1)[1]
    if layout == "101":
        line = line.replace(" 2 row-major: Illegal TransB", " 3 row-major: Illegal TransB")
        if "k" in routine:
            line = line.replace(" 3 row-major: Illegal Uplo", " 2 row-major: Illegal Uplo")
        # It takes a conjugated matrix for a transposed one, and the reverse.
        wrong_trans = {"sy": "'trans': 'C'", "he": "'trans': 'T'"}.get(routine[1:3], "-")
        if routine[0] in "cz" and wrong_trans in line and "Uplo" not in received:
            return None
    # It reports the option, and goes on.
    if (routine == "ctrmm" and layout == "102" and "cblas_xerbla" not in received and
            any("'diag': " + repr(value) in line for value in VALUES["diag"][2:])):
        return None
    return line


def main():
    reference = glob.glob("/usr/lib/*/blas/libblas.so.3")
    if not reference:
        print("no reference BLAS")
        sys.exit(SKIP)
    handlers, library = os.environ["OWN_XERBLA"], os.environ["TESSERA_BLAS_LIBRARY"]
    expected = run(handlers + ":" + reference[0])
    wrong = []
    for preload in (handlers + ":" + library, library + ":" + handlers):
        found = run(preload)
        wrong += ["%s\n    reference: %s" % (f, e) for e, f in zip(expected, found)
                  if (f != corrected(e) if corrected(e) else "xerbla" not in f)]
        wrong += [] if len(expected) == len(found) else ["%d calls of %d" % (len(found), len(expected))]
    reported = sum("xerbla" in line for line in expected)
    print("%d calls, %d illegal, %d different" % (len(expected), reported, len(wrong)))
    print("\n".join(wrong[:40]))
    sys.exit(bool(wrong))


if sys.argv[1:] == ["calls"]:
    make_calls()
else:
    main()
