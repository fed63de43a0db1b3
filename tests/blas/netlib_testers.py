"""The 24 test programs of the reference BLAS (Debian's libblas-test) under libtessera-blas.

    netlib_testers.py cpu-blas|reference|host|device|rates

On `host` and `device` every product of level 3 runs there, in blocks of two rows, since their matrices
have nine at most; `cpu-blas` forwards all to the system's BLAS, `reference` to the reference BLAS.
`rates` is `host` by a decision: the rates of `tessera tune blas` are made up so that every product is
worth it.
"""

import glob
import os
import re
import subprocess
import sys
import tempfile

SKIP = 77
LIBRARY = os.environ["TESSERA_BLAS_LIBRARY"]
ENVIRONMENTS = {"cpu-blas": {"TESSERA_BLAS": "never"},
                "reference": {"TESSERA_BLAS": "never"},
                "host": {"TESSERA_BLAS": "always", "TESSERA_DEVICE": "host"},
                "device": {"TESSERA_BLAS": "always", "TESSERA_DEVICE": "cpu"},
                "rates": {"TESSERA_BLAS": "auto", "TESSERA_DEVICE": "host"}}
TIMED = [t + r for t in "sdcz"
         for r in ("gemm", "symm", "symm-right", "syrk", "syrk-trans", "syr2k", "syr2k-trans", "trmm",
                   "trmm-right", "trsm", "trsm-right")]
ROUTINES = {name.split("-")[0] for name in TIMED}
ROUTINES |= {t + r for t in "cz" for r in ("hemm", "herk", "her2k")}
# Why the CPU has a call of a program that sends all to the device.
REASONS = {"there is nothing to multiply", "the triangle is one block, which the CPU does"}


def run(program, stdin, env, folder):
    with open(stdin or os.devnull, "rb") as f:
        done = subprocess.run([program], stdin=f, cwd=folder, env=env, timeout=300,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        sys.exit("%s: status %d\n%s" % (program, done.returncode, done.stdout.decode()[-2000:]))
    return done.stdout.decode()


def run_all(tests, env, folder):
    """What all programs print and write."""
    text = ""
    for t in "sdcz":
        for program, data in (("xblat1" + t, ""), ("xblat2" + t, t + "blat2.in"),
                              ("xblat3" + t, t + "blat3.in"), ("x%scblat1" % t, ""),
                              ("x%scblat2" % t, t + "in2"), ("x%scblat3" % t, t + "in3")):
            text += run(os.path.join(tests, program), data and os.path.join(tests, data), env, folder)
    for file in sorted(glob.glob(os.path.join(folder, "*.out"))):
        with open(file, encoding="utf-8") as f:
            text += f.read()
    return text


def write_rates(tests, env, folder):
    """Times of `host` and of the CPU's BLAS that a program finds."""
    log = os.path.join(folder, "rates.log")
    run(os.path.join(tests, "xblat3s"), os.path.join(tests, "sblat3.in"),
        {**env, "TESSERA_BLAS": "never", "TESSERA_BLAS_LOG": log}, folder)
    with open(log, encoding="utf-8") as f:
        cpu = f.readline().split(" is ", 1)[1].strip()
    with open(os.path.join(folder, "blas-rates"), "w", encoding="utf-8") as f:
        f.write("\n".join(["tessera-blas-rates-5", "device host", "platform host", "cpu-blas " + cpu,
                           "processors %d" % os.sysconf("SC_NPROCESSORS_ONLN"),
                           "copies-in 1e12", "sides 1 2 3 4 5 6"]
                          + [name + " " + place + times * (216 if name.endswith("gemm") else 36)
                             for name in TIMED for place, times in (("cpu", " 1"), ("device", " 1e-9"))]
                          + [""]))


def judge_log(lines):
    """What is wrong in the log of a run that sends all to the device."""
    offloaded = set()
    wrong = []
    for line in lines:
        match = re.search(r"summary: (\w+): (\d+) on the device", line)
        if match and int(match[2]) > 0:
            offloaded.add(match[1])
        match = re.search(r": CPU, [\d.]+ ms: (.*)", line)
        # Of triangles some blocks are not worth it: what the CPU would do of them takes as long.
        unworthy = match and re.search(r" .tr[ms]m ", line) and match[1].endswith("are expected")
        if match and match[1] not in REASONS and not unworthy:
            wrong.append(line.strip())
    return wrong[:10] + ["%s: never on the device" % r for r in sorted(ROUTINES - offloaded)]


def main():
    tests = sorted(glob.glob("/usr/lib/*/blas/xblat1s"))
    if not tests:
        print("no libblas-test")
        sys.exit(SKIP)
    where = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "calls.log")
        env = {**os.environ, **ENVIRONMENTS[where], "LD_PRELOAD": LIBRARY, "TESSERA_BLAS_BLOCK": "2",
               "TESSERA_BLAS_LOG": log, "TESSERA_TUNING_DIR": folder}
        if where == "reference":
            env["TESSERA_BLAS_CPU"] = os.path.join(os.path.dirname(tests[0]), "libblas.so.3")
        if where == "rates":
            write_rates(os.path.dirname(tests[0]), env, folder)
        text = run_all(os.path.dirname(tests[0]), env, folder)
        with open(log, encoding="utf-8") as f:
            lines = f.readlines()
    counts = (text.count("----- PASS -----"), text.count("PASSED"), len(re.findall("FAIL", text)))
    print("%d PASS, %d PASSED, %d FAIL; %d calls of level 3" % (*counts, len(lines)))
    wrong = judge_log(lines) if env["TESSERA_BLAS"] != "never" else []
    if where == "reference" and not any("/blas/libblas.so.3" in line for line in lines):
        wrong.append("another BLAS was used")
    print("\n".join(wrong))
    sys.exit(counts != (86, 480, 0) or bool(wrong))


main()
