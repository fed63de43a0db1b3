#!/usr/bin/env python3
"""Write the tables of docs/ladders.md: what each step of each ladder reaches on each device.

    scripts/ladders.py --tessera build/tessera    # data/results/bench-*.jsonl, all of it

A column is a file bench-NAME.jsonl, a cell the newest row of the variant there, from

    tessera bench OP --kernel all --size SIZE --device DEVICE -o data/results/bench-NAME.jsonl
"""
import argparse
import glob
import json
import os
import subprocess
import sys

import results_rows

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# The size that each operation's ladder is measured at, and how rows spell the problem.
PROBLEMS = {
    "matmul": ("1024", "1024x1024x1024 float32"),
    "matvec": ("4096", "4096x4096 float32"),
    "sort": ("2^22", "4194304 uint32"),
}


def steps(named_rows):
    """{op: {variant: {column: row}}}: the newest row of each variant that was asked for by name."""
    found = {}
    for name, row in named_rows:
        if (row["kind"] != "kernel" or row["outcome"] != "timed" or not row["verified"]
                or row["selected"] != "named"
                or row["problem"] != PROBLEMS.get(row["op"], ("", ""))[1]
                or (row["timer"] == "wall") != (row["platform"] == "host")):
            continue
        columns = found.setdefault(row["op"], {}).setdefault(row["name"], {})
        if name not in columns or columns[name]["when"] <= row["when"]:
            columns[name] = row
    return found


def cell(row):
    """The rate in three digits, or as an integer where it has more."""
    if not row:
        return ""
    return f"{row['rate']:,.0f}" if row["rate"] >= 100 else f"{row['rate']:.3g}"


def ladder(operation, by_variant, names):
    """The Markdown table of one operation, steps in the table's order."""
    columns = [n for n in names if any(n in rows for rows in by_variant.values())]
    row = next(iter(next(iter(by_variant.values())).values()))
    yield f"{row['problem']}, {row['unit']}:"
    yield ""
    yield "| variant | what it adds | " + " | ".join(columns) + " |"
    yield "| --- | --- |" + " ---: |" * len(columns)
    for v in operation["variants"]:
        found = by_variant.get(v["name"], {})
        if found:
            yield (f"| {v['name']} | {v['idea']} | "
                   + " | ".join(cell(found.get(n)) for n in columns) + " |")


def make(args, named_rows):
    found = steps(named_rows)
    names = sorted({name for name, _ in named_rows})
    out = subprocess.run([args.tessera, "kernels", "--device", "host", "--json"], check=True,
                         stdout=subprocess.PIPE)
    with open(args.file, encoding="utf-8") as f:
        text = f.read()
    for operation in json.loads(out.stdout)["operations"]:
        op = operation["op"]
        if op not in found:
            raise ValueError(f"no rows of {op} {PROBLEMS[op][1]}")
        text = results_rows.put(text, op, "\n".join(ladder(operation, found[op], names)))
    with open(args.file, "w", encoding="utf-8") as f:
        f.write(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tessera", default="build/tessera",
                        help="the command that knows the ideas")
    parser.add_argument("--file", default=os.path.join(ROOT, "docs", "ladders.md"),
                        help="the document")
    parser.add_argument("results", nargs="*", help="files of rows (data/results/bench-*.jsonl)")
    args = parser.parse_args()
    paths = args.results or sorted(glob.glob(os.path.join(ROOT, "data", "results",
                                                          "bench-*.jsonl")))
    try:
        make(args, list(results_rows.read(paths)))
    except (OSError, ValueError, subprocess.SubprocessError) as problem:
        sys.exit(f"ladders.py: {problem}")


if __name__ == "__main__":
    main()
