#!/usr/bin/env python3
"""Time every variant of matmul, matvec and sort, and write the tables of docs/ladders.md.

    scripts/ladders.py run --tessera build/tessera --device gpu -o data/results/ladder-NAME.jsonl
    scripts/ladders.py document --tessera build/tessera data/results/ladder-*.jsonl

`run` times each variant on one device (and, with --device host, the C variants) through the
command itself: every result is verified, and the device time is the median of --repeat runs.
A row is the command's own JSON, one line each.  Needs NumPy, for the random inputs.
`document` puts the tables made of recorded rows into docs/ladders.md, between its markers.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import results_rows

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


def read_rows(paths):
    """Devices in the order of the files, and {op: {variant: {device: row}}}."""
    devices, rows = [], {}
    for device, row in results_rows.read(paths):
        if device not in devices:
            devices.append(device)
        rows.setdefault(row["op"], {}).setdefault(row["variant"], {})[device] = row
    return devices, rows


def cell(row):
    """The rate in three digits, or as an integer where it has more."""
    if not row:
        return ""
    return f"{rate(row):,.0f}" if rate(row) >= 100 else f"{rate(row):.3g}"


def ladder(operation, by_variant, devices):
    """The Markdown table of one operation, steps in the table's order."""
    devices = [d for d in devices if any(d in v for v in by_variant.values())]
    unit = next(iter(next(iter(by_variant.values())).values()))["rate_unit"]
    yield f"{JOBS[operation['op']][1]}, {unit}:"
    yield ""
    yield "| variant | what it adds | " + " | ".join(devices) + " |"
    yield "| --- | --- |" + " ---: |" * len(devices)
    for v in operation["variants"]:
        found = by_variant.get(v["name"], {})
        if found:
            yield (f"| {v['name']} | {v['idea']} | "
                   + " | ".join(cell(found.get(d)) for d in devices) + " |")


def document(args):
    devices, rows = read_rows(args.results)
    out = subprocess.run([args.tessera, "kernels", "--device", "host", "--json"], check=True,
                         stdout=subprocess.PIPE)
    with open(args.file) as f:
        text = f.read()
    for operation in json.loads(out.stdout)["operations"]:
        op = operation["op"]
        text = results_rows.put(text, op, "\n".join(ladder(operation, rows[op], devices)))
    with open(args.file, "w") as f:
        f.write(text)


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
    d = commands.add_parser("document", help="put tables of recorded rows into docs/ladders.md")
    d.add_argument("--tessera", default="build/tessera", help="the command that knows the ideas")
    d.add_argument("--file", default="docs/ladders.md", help="the document")
    d.add_argument("results", nargs="+", help="files that `run` wrote; their names head columns")
    d.set_defaults(function=document)
    args = parser.parse_args()
    args.function(args)


if __name__ == "__main__":
    main()
