"""traffic.py [OP VARIANT]: what plans say that work-items ask for, against the accesses that Oclgrind
counts.

tests/OP/traffic.txt has a line for each call: `exact`; `at-most` where accesses of global memory that
data decide count as made, `data` where those of local memory do too; or `optimized`, exact too, of kernels
that copy structures, which Oclgrind counts only as the compiler's optimization takes them apart.  Then a variant, and options of `bench`.  A step of a ladder
without a line is not checked.  Barriers are exact in all.

Of all the calls that bench makes the first one runs, which it verifies; a layer (faults/fault_layer.c)
sees to it.
"""

import glob
import json
import os
import re
import subprocess
import sys
import tempfile

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
COUNT = re.compile(r"- (load|store) (global|local) \((\d+) bytes\)")
# Of 32 bits, which it reads and writes; the address space stands in the mangled name.
ATOMIC = re.compile(r"(\d+) - call _Z\d+atom(?:ic)?_\w+?PU3AS([13])V[ij]")
# vload4, vstore4_, vload_half4: how often, of how many, of what; a call, which is no load for Oclgrind.
VECTOR = re.compile(r"(\d+) - call _Z\d+v(?:load|store)a?(?:_half)?(\d*)(?:_rt\w)?(?:Dv\d+_)?\w*?PU3AS([13])K?(Dh|[a-z])")
SIZE = {"c": 1, "h": 1, "s": 2, "t": 2, "Dh": 2, "i": 4, "j": 4, "f": 4, "l": 8, "m": 8, "d": 8}
BARRIER = re.compile(r"(\d+) - call _Z7barrierj")
SPACES = {"1": "global", "3": "local"}


def calls():
    """(operation, rule, variant, options) of each line."""
    for path in sorted(glob.glob(os.path.join(TESTS, "*", "traffic.txt"))):
        with open(path, encoding="utf-8") as f:
            for line in f:
                if line.strip() and not line.startswith("#"):
                    rule, variant, *options = line.split()
                    yield os.path.basename(os.path.dirname(path)), rule, variant, options


def counted(out):
    """Of each launch, in order: bytes of "global" and "local", and "barriers" that work-items passed."""
    launches = []
    for block in out.split("Instructions executed for kernel")[1:]:
        sums = {"global": 0, "local": 0, "barriers": sum(map(int, BARRIER.findall(block)))}
        for _, space, size in COUNT.findall(block):
            sums[space] += int(size)
        for number, width, space, element in VECTOR.findall(block):
            sums[SPACES[space]] += int(number) * int(width or 1) * SIZE[element]
        for number, space in ATOMIC.findall(block):
            sums[SPACES[space]] += 8 * int(number)
        launches.append(sums)
    return launches


def run(op, rule, variant, options):
    """The explanation of a call, and the counts of its launches, of which none is another call's."""
    with tempfile.TemporaryDirectory(prefix="tessera-traffic-") as folder:
        env = {k: v for k, v in os.environ.items() if k != "TESSERA_DEVICE"}
        # Unoptimized, each access of the source is one instruction.
        env.update(OCL_ICD_VENDORS=os.environ["OCLGRIND_LIBRARY"], OCLGRIND_INST_COUNTS="1",
                   OCLGRIND_BUILD_OPTIONS="" if rule == "optimized" else "-cl-opt-disable",
                   OCLGRIND_NUM_THREADS="1",
                   OPENCL_LAYERS=os.environ["FAULT_LAYER"], TESSERA_ONE_CALL="1",
                   TESSERA_CACHE_DIR=os.path.join(folder, "cache"))
        done = subprocess.run([os.environ["TESSERA"], "bench", op, "--kernel", variant, *options,
                               "--seconds", "0.001", "--repeat", "1", "--explain", "--json",
                               "--quiet", "--device", "0:0"], env=env, timeout=600, check=True,
                              stdout=subprocess.PIPE, universal_newlines=True)
    text, explained = re.fullmatch(r"(.*?)(\{\"schema\":\"tessera-explain-1\".*)", done.stdout,
                                   re.DOTALL).groups()
    explained = json.loads(explained)
    return explained, counted(text)


def wrong(rule, space, stated, measured):
    if (rule, space) in (("at-most", "global"), ("data", "global"), ("data", "local")):
        return not measured <= stated <= 2 * measured
    return stated != measured


def main():
    bad = done = 0
    for op, rule, variant, options in calls():
        if sys.argv[1:] not in ([], [op, variant]):
            continue
        done += 1
        explained, launches = run(op, rule, variant, options)
        for command, counts in zip(explained["commands"], launches, strict=True):
            stated = {"global": command["requested_bytes"], "local": command["local_traffic_bytes"],
                      "barriers": command["barriers"] * command["groups"] * command["group"]}
            for what, count in counts.items():
                fails = wrong(rule, what, stated[what], count)
                bad += fails
                print("%-4s %s %s %s: %s, %s: stated %d, counted %d"
                      % ("FAIL" if fails else "ok", op, variant, " ".join(options),
                         command["kernel"], what, stated[what], count), flush=True)
    if not done:
        print("FAIL no tests/OP/traffic.txt has a line for this")
    sys.exit(bad > 0 or not done)


main()
