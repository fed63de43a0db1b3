#!/usr/bin/env python3
"""Write the tables of docs/ladders.md: what each step of each ladder reaches on each device, and those
of operations' own pages: what each step gains on one.

    scripts/ladders.py --tessera build/tessera    # data/results/bench-*.jsonl, all of it

In ladders.md a column is a file bench-NAME.jsonl where some step was asked for by name, a cell the
newest row of the variant there, from

    tessera bench OP --kernel all --size SIZE --device DEVICE -o data/results/bench-NAME.jsonl

with --precision tf32, --type f64, --batch 4096 or --trans where the table's problem says so.  The
lines around a table name it: `OP PROBLEM` in ladders.md, `steps COLUMN PROBLEM` in docs/OP.md, where
a table without rows says that nothing is measured yet.
"""
import argparse
import glob
import json
import os
import re
import subprocess
import sys

import results_rows

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

LADDERS = os.path.join(ROOT, "docs", "ladders.md")
# Of some tables on one device: column and problem, how the names of steps for other devices begin, the
# first step (those before it are lessons, which do not take the problem), and the one that others are
# compared with.  Others begin with the first step that was measured, which is compared with.
STORIES = {("h200", "4096x4096x4096 float32"): ("cpu-", "row-first", "naive"),
           ("h200", "4096x4096x4096 float32 tf32"): ("cpu-", "general", "general"),
           ("h200", "4096x4096x4096 float64"): ("cpu-", "general", "general"),
           ("h200", "64x64x64 float32 x 4096"): ("cpu-", "general", "general"),
           ("h200", "4096x4096 float32"): (("rows-vector", "short-rows"), "naive", "naive"),
           ("h200", "4096x4096 float32 transposed"): (("columns-vector", "tree", "group-row", "local-x"), "row-item",
                                                     "row-item"),
           ("h200", "64x262144 float32"): (("rows-vector", "short-rows"), "naive", "naive"),
           ("h200", "1000000x10 float32"): (("rows-vector", "short-rows-vector"), "naive", "naive"),
           ("h200", "4194304 uint32"): ("cpu-", "naive", "naive"),
           ("pocl3-xeon2", "4194304 uint32"): (("wgmma-",), "naive", "naive"),
           ("pocl3-epyc2", "1024x1024x1024 float32"): ("wgmma-", "row-first", "naive")}

NOT_MEASURED = "Not measured yet."

# Steps of which there are rows from a time when they took the problem.
GONE = {"4096x4096 float32 transposed": ("tree", "group-row", "local-x")}


def claim(row):
    """What a row for the same cell needs more of."""
    return row["selected"] == "named", row["when"]


def steps(named_rows, op, problem):
    """{variant: {column: row}}: the newest row of each variant of the operation that was asked for
    by name, or else ran because it is preferred."""
    found = {}
    for name, row in named_rows:
        if (row["kind"] != "kernel" or row["outcome"] != "timed" or not row["verified"]
                or row["selected"] not in ("named", "preferred")
                or (row["op"], row["problem"]) != (op, problem)
                or (row["timer"] == "wall") != (row["platform"] == "host")):
            continue
        columns = found.setdefault(row["name"], {})
        if name not in columns or claim(columns[name]) <= claim(row):
            columns[name] = row
    return found


def cell(row):
    """The rate in three digits, or as an integer where it has more."""
    if not row:
        return ""
    return f"{row['rate']:,.0f}" if row["rate"] >= 100 else f"{row['rate']:.3g}"


def ladder(operation, by_variant, names):
    """The Markdown table of one operation, steps in the table's order: of columns where some step
    was asked for by name."""
    columns = [n for n in names if any(n in rows and rows[n]["selected"] == "named"
                                       for rows in by_variant.values())]
    if not columns:
        raise ValueError(f"no step of {operation['name']} was asked for by name")
    row = next(iter(next(iter(by_variant.values())).values()))
    yield f"{row['problem']}, {row['unit']}:"
    yield ""
    yield "| variant | what it adds | " + " | ".join(columns) + " |"
    yield "| --- | --- |" + " ---: |" * len(columns)
    for v in operation["variants"]:
        found = by_variant.get(v["name"], {})
        if any(n in found for n in columns):
            yield (f"| {v['name']} | {v['idea']} | "
                   + " | ".join(cell(found.get(n)) for n in columns) + " |")


def story(operation, by_variant, column, foreign="cpu-", first=None, base=None):
    """The Markdown table of one device: rates, and gains over the best step before and over one; of
    problems of bytes the share of the limit, too."""
    names = [v["name"] for v in operation["variants"]]
    rows = [(name, by_variant[name][column]) for name in names[names.index(first) if first else 0:]
            if column in by_variant.get(name, {}) and not name.startswith(foreign)]
    if not rows:
        yield NOT_MEASURED
        return
    base = base or rows[0][0]
    best, basis = rows[0][1]["rate"], dict(rows)[base]["rate"]
    shares = rows[0][1]["unit"] == "GB/s" and any(row["share"] for _, row in rows)
    yield f"{rows[0][1]['problem']} on {rows[0][1]['device']}:"
    yield ""
    yield (f"| step | {rows[0][1]['unit']} |" + (f" of {rows[0][1]['bound_by']} |" if shares else "")
           + f" over the best before | over {base} |")
    yield "| --- | ---: |" + (" ---: |" if shares else "") + " ---: | ---: |"
    for name, row in rows:
        yield (f"| {name} | {cell(row)} |" + (f" {row['share']:.1%} |" if shares else "")
               + f" {row['rate'] / best:.2f} x | {row['rate'] / basis:.1f} x |")
        best = max(best, row["rate"])


def make_stories(operation, named_rows):
    """The tables of an operation's own page, where it has some."""
    path = os.path.join(ROOT, "docs", operation["op"] + ".md")
    with open(path, encoding="utf-8") as f:
        text = f.read()
    places = re.findall(r"^<!-- steps (\S+) (.*) -->$", text, re.MULTILINE)
    for column, problem in places:
        by_variant = steps(named_rows, operation["op"], problem)
        known = (column, problem) in STORIES
        if known and not any(column in rows for rows in by_variant.values()):
            raise ValueError(f"no rows of {operation['op']} {problem} on {column}")
        how = STORIES[column, problem] if known else ()
        text = results_rows.put(text, f"steps {column} {problem}", "\n".join(
            story(operation, by_variant, column, *how)))
    if places:
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
    return places


def make(args, named_rows):
    names = sorted({name for name, _ in named_rows})
    out = subprocess.run([args.tessera, "kernels", "--device", "host", "--json"], check=True,
                         stdout=subprocess.PIPE)
    with open(args.file, encoding="utf-8") as f:
        text = f.read()
    operations = {o["op"]: o for o in json.loads(out.stdout)["operations"]}
    if args.file == LADDERS:
        made = [place for o in operations.values() for place in make_stories(o, named_rows)]
        missing = set(STORIES) - set(made)
        if missing:
            raise ValueError(f"no place in docs/ for the steps of {sorted(missing)}")
    places = re.findall(r"^<!-- (?!end )((\S+) (.*)) -->$", text, re.MULTILINE)
    if not places:
        raise ValueError(f"{args.file}: no place of a table")
    for place, op, problem in places:
        found = {name: rows for name, rows in steps(named_rows, op, problem).items()
                 if name not in GONE.get(problem, ())}
        if not found:
            raise ValueError(f"no rows of {op} {problem}")
        text = results_rows.put(text, place, "\n".join(ladder(operations[op], found, names)))
    with open(args.file, "w", encoding="utf-8") as f:
        f.write(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tessera", default="build/tessera",
                        help="the command that knows the ideas")
    parser.add_argument("--file", default=LADDERS,
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
