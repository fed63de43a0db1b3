#!/usr/bin/env python3
"""Time every variant of matmul, matvec and sort, and write the tables of docs/ladders.md.

    scripts/ladders.py run --tessera build/tessera --device gpu -o data/results/NAME.jsonl
    scripts/ladders.py table data/results/*.jsonl

`run` times each variant on one device (and, with --device host, the C variants) through the
command itself: every result is verified, and the device time is the median of --repeat runs.
A row is the command's own JSON, one line each.  `table` prints a Markdown table an operation.
Needs NumPy, for the random inputs.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

# The problem of each operation: files to make, and the command's operands.
JOBS = {
    "matmul": (["a.npy", "b.npy", "-o", "c.npy"], "1024x1024x1024 float32"),
    "matvec": (["m.npy", "x.npy", "-o", "y.npy"], "4096x4096 float32"),
    "sort": (["k.npy", "-o", "s.npy"], "4194304 uint32"),
}


def make_inputs(folder):
    import numpy as np

    random = np.random.default_rng(1)
    for name, shape in (("a", (1024, 1024)), ("b", (1024, 1024)), ("m", (4096, 4096)),
                        ("x", (4096,))):
        np.save(os.path.join(folder, name), random.uniform(-1, 1, shape).astype("f4"))
    np.save(os.path.join(folder, "k"), random.integers(0, 2**32, 1 << 22, dtype="u4"))


def variants(args, op):
    """Names of the variants of op that suit the device, in the table's order."""
    out = subprocess.run([args.tessera, "kernels", op, "--device", args.device, "--json"],
                         check=True, stdout=subprocess.PIPE)
    for group in json.loads(out.stdout)["operations"]:
        for v in group["variants"]:
            if v["suited"]:
                yield v["name"]


def run(args):
    with tempfile.TemporaryDirectory() as folder, open(args.output, "w") as out:
        make_inputs(folder)
        for op, (operands, _) in JOBS.items():
            for name in variants(args, op):
                command = [os.path.abspath(args.tessera), op, *operands, "--device", args.device,
                           "--kernel", name, "--verify", "--json", "--quiet",
                           "--repeat", str(args.repeat)]
                done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE)
                if done.returncode:
                    sys.exit(f"ladders.py: {op}/{name}: exit status {done.returncode}")
                row = json.loads(done.stdout)
                out.write(json.dumps(row) + "\n")
                out.flush()
                print(f"{op:7} {name:22} {row['times']['median_device_ns'] / 1e6:10.3f} ms "
                      f"{rate(row):10.4g} {row['rate_unit']}", file=sys.stderr)


def rate(row):
    """The row's rate, from the median time."""
    return row["rate"] * row["times"]["device_ns"] / row["times"]["median_device_ns"]


def table(args):
    columns = []
    rows = {}
    for path in args.results:
        with open(path) as f:
            for line in f:
                row = json.loads(line)
                where = row["device"]["name"]
                if where not in columns:
                    columns.append(where)
                rows.setdefault(row["op"], {}).setdefault(row["variant"], {})[where] = row
    for op, by_variant in rows.items():
        first = next(iter(next(iter(by_variant.values())).values()))
        print(f"{op}, {JOBS[op][1]}, {first['rate_unit']} (ms):\n")
        print("| variant | " + " | ".join(columns) + " |")
        print("| --- |" + " --- |" * len(columns))
        for variant, by_device in by_variant.items():
            cells = []
            for where in columns:
                row = by_device.get(where)
                cells.append(f"{rate(row):.3g} ({row['times']['median_device_ns'] / 1e6:.3g})"
                             if row else "")
            print(f"| {variant} | " + " | ".join(cells) + " |")
        print()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    r = commands.add_parser("run", help="time every variant on one device")
    r.add_argument("--tessera", default="build/tessera", help="the command to run")
    r.add_argument("--device", default="cpu", help="as the command takes it")
    r.add_argument("--repeat", type=int, default=5, help="runs of each variant")
    r.add_argument("-o", "--output", required=True, help="file for the rows, JSON lines")
    r.set_defaults(function=run)
    t = commands.add_parser("table", help="Markdown tables of recorded rows")
    t.add_argument("results", nargs="+", help="files that `run` wrote")
    t.set_defaults(function=table)
    args = parser.parse_args()
    args.function(args)


if __name__ == "__main__":
    main()
