"""traffic.py [OP VARIANT]: what plans say that work-items ask for, against the accesses that Oclgrind
counts.

tests/OP/traffic.txt has a line for each call: `exact`; `at-most` where stores that data decide count as
made; or `local`, of vload and vstore in global memory, which Oclgrind does not count.  Then a variant,
and options of `bench`.  A step of a ladder without a line is not checked.
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


def calls():
    """(operation, rule, variant, options) of each line."""
    for path in sorted(glob.glob(os.path.join(TESTS, "*", "traffic.txt"))):
        with open(path, encoding="utf-8") as f:
            for line in f:
                if line.strip() and not line.startswith("#"):
                    rule, variant, *options = line.split()
                    yield os.path.basename(os.path.dirname(path)), rule, variant, options


def counted(out):
    """Bytes of each launch, in order: {"global": n, "local": n}."""
    launches = []
    for block in out.split("Instructions executed for kernel")[1:]:
        sums = {"global": 0, "local": 0}
        for _, space, size in COUNT.findall(block):
            sums[space] += int(size)
        launches.append(sums)
    return launches


def run(op, variant, options):
    """The explanation of a call, and the counts of its launches."""
    with tempfile.TemporaryDirectory(prefix="tessera-traffic-") as folder:
        env = {k: v for k, v in os.environ.items() if k != "TESSERA_DEVICE"}
        # Unoptimized, each access of the source is one instruction.
        env.update(OCL_ICD_VENDORS=os.environ["OCLGRIND_LIBRARY"], OCLGRIND_INST_COUNTS="1",
                   OCLGRIND_BUILD_OPTIONS="-cl-opt-disable", OCLGRIND_NUM_THREADS="1",
                   TESSERA_CACHE_DIR=os.path.join(folder, "cache"))
        done = subprocess.run([os.environ["TESSERA"], "bench", op, "--kernel", variant, *options,
                               "--seconds", "0.001", "--repeat", "1", "--explain", "--json",
                               "--quiet", "--device", "0:0"], env=env, timeout=600, check=True,
                              stdout=subprocess.PIPE, universal_newlines=True)
    text, explained = re.fullmatch(r"(.*?)(\{\"schema\":\"tessera-explain-1\".*)", done.stdout,
                                   re.DOTALL).groups()
    explained = json.loads(explained)
    return explained, counted(text)[-len(explained["commands"]):]


def wrong(rule, space, stated, measured):
    if rule == "local" and space == "global":
        return False
    if rule == "at-most" and space == "global":
        return not measured <= stated <= 2 * measured
    return stated != measured


def main():
    bad = done = 0
    for op, rule, variant, options in calls():
        if sys.argv[1:] not in ([], [op, variant]):
            continue
        done += 1
        explained, launches = run(op, variant, options)
        for command, counts in zip(explained["commands"], launches, strict=True):
            for key, space in (("requested_bytes", "global"), ("local_traffic_bytes", "local")):
                fails = wrong(rule, space, command[key], counts[space])
                bad += fails
                print("%-4s %s %s %s: %s of %s memory: stated %d, counted %d"
                      % ("FAIL" if fails else "ok", op, variant, " ".join(options),
                         command["kernel"], space, command[key], counts[space]), flush=True)
    if not done:
        print("FAIL no tests/OP/traffic.txt has a line for this")
    sys.exit(bad > 0 or not done)


main()
