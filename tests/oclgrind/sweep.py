"""sweep.py OP SHARD OF: the tiny sweep of OP's device variants, every OF-th run, in Oclgrind."""

import json
import os
import subprocess
import sys

from simulator import Run

# Defaults are for devices, not for a simulator: smaller groups and tiles reach the same code.
SMALLER = {
    ("matmul", "block-column"): ["TILE=32", "BLOCK=16"],
    ("matmul", "block"): ["SIDE=8"],
    ("matmul", "vector"): ["SIDE=8"],
    ("matmul", "swizzle"): ["SIDE=8"],
    ("matmul", "async"): ["SIDE=8", "BLOCK=2", "DEPTH=8"],
    ("matmul", "batched"): ["GROUP=32", "DEPTH_MOST=16"],
    ("matmul", "pipelined"): ["TILE_M=32", "TILE_N=32", "DEPTH=8", "SLICES=2", "SPLIT=2"],
    ("matmul", "cpu-panels"): ["PANELS=1", "DEPTH=16"],
    ("matmul", "cpu-split"): ["PANELS=1", "DEPTH=16", "SPAN=8"],
    ("matvec", "group-row"): ["TEAM=8", "GROUP=32"],
    ("matvec", "local-x"): ["TEAM=16", "GROUP=64", "TILE=512"],
    ("sort", "fused-passes"): ["KEYS=4", "GROUP=8", "SHORT_GROUP=8"],
    ("sort", "rows-registers"): ["KEYS=4", "GROUP=8"],
    ("sort", "top-tiles"): ["KEYS=4", "GROUP=8"],
    ("sort", "cpu-radix"): ["BITS=4", "PER_UNIT=8"],
    ("sort", "cpu-top"): ["BITS=128", "VECTORS=2", "STRIP=256", "CHUNK=64"],
    ("sort", "radix"): ["BITS=4", "GROUP=8", "ITEMS=4", "PER_UNIT=8"],
    ("sort", "rows"): ["GROUP=16", "KEYS_PER_ITEM=4"],
    ("sort", "segments"): ["GROUP=16", "TILE=64"],
    ("sort", "segments-registers"): ["KEYS=4", "GROUP=8"],
    ("sort", "two-phase"): ["GROUP=16", "KEYS_PER_ITEM=4"],
    ("sort", "two-phase-registers"): ["GROUP=16", "STAGES=2"],
}

# Runs of their own for values of a tunable where not all of them run: BITS=512 holds vectors of 16
# floats, BITS=256 of 16 elements of 16 bits, whose halves are a false alarm of the simulator
# (simulator.py).  And where one does not serve for all types: 16 keys of a byte in a vector need a
# larger block than reaches every kernel.
APART = {
    ("sort", "cpu-vectors"): [["BITS=256", "BLOCK=256", "LEVELS=3"],
                               ["BITS=128", "BLOCK=64", "LEVELS=3"]],
    ("sort", "cpu-merges"): [["BITS=256", "BLOCK=256", "PIECE=64"],
                              ["BITS=128", "BLOCK=64", "STREAMS=4", "PIECE=64"]],
    ("sort", "cpu-segments"): [["BITS=256", "BLOCK=256", "PIECE=64"],
                                ["BITS=128", "BLOCK=64", "STREAMS=4", "PIECE=64"]],
    ("matvec", "rows-vector"): [["BITS=128"], ["BITS=256"]],
    ("matvec", "short-rows-vector"): [["BITS=128"], ["BITS=256"]],
    ("matvec", "columns-vector"): [["BITS=128", "WIDTH=64"], ["BITS=256", "WIDTH=64"]],
    ("matvec", "tree-vector"): [["BITS=128"]],
    ("matvec", "split-vector"): [["GROUP=64"]],
}

# Keys of a type of each width, unsigned, signed and floating; the sweep on a CPU has all types.
# The first runs with all values of the tunables, the others with one set of them.
KEYS = ["u32", "u8", "f16", "i64"]
TYPES = {
    ("sort", "fused-passes"): ["u32", "f16", "u64"],
    ("sort", "rows-registers"): ["u32", "u8", "i64"],
    ("sort", "segments-registers"): ["u32", "u8", "f16", "u64"],
    ("sort", "cpu-segments"): ["u32", "u8", "u64"],
    ("sort", "top-tiles"): ["u32", "f16", "f64"],
}


def variants(op):
    env = dict(os.environ, OCL_ICD_VENDORS=os.environ["OCLGRIND_LIBRARY"])
    out = subprocess.run([os.environ["TESSERA"], "kernels", op, "--json"], env=env, check=True,
                         stdout=subprocess.PIPE).stdout
    (found,) = json.loads(out)["operations"]
    return [v["name"] for v in found["variants"] if v["runs_on"] == "device"]


def runs(op, name):
    """(variant, options) of each run."""
    found = []
    for values in APART.get((op, name), [SMALLER.get((op, name), [])]):
        settings = [a for s in values for a in ("--set", s)]
        types = TYPES.get((op, name), KEYS) if op == "sort" else []
        found += [(name, settings + ["--type", t] + ["--defaults"] * (t != types[0]))
                  for t in types] or [(name, settings)]
    return found


def main():
    op, shard, of = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    bad = ran = 0
    for name, settings in [r for v in variants(op) for r in runs(op, v)][shard - 1::of]:
        run = Run("verify", op, "--tiny", "--kernel", name, "--device", "0:0", *settings)
        skipped = run.status == 1 and "FAIL" not in run.out and "skip " in run.out
        clean = (run.status == 0 or skipped) and not run.complaints()
        print("%s %s/%s %s" % ("skip" if skipped else "ok  " if clean else "FAIL", op, name,
                               " ".join(settings)))
        if skipped:
            print(run.out)
        ran += not skipped
        if not clean:
            bad += 1
            print("status %d\n%s\n%s\n%s" % (run.status, run.out, run.err[:2000],
                                             run.complaints()[:4000]))
    if bad or not ran:
        sys.exit(1)


main()
