#!/usr/bin/env python3
"""Write docs/course/COURSE.md: each course of `tessera course` beside what machines showed.

    scripts/course_pages.py --tessera build/tessera [--check]

A table has columns for each file data/results/course-DEVICE.jsonl; rows that ran on the host's processor have
"on the host" behind their figure, or in the heading where all did, and those of a CPU that have another size
that. --check compares the pages with what it would write, and changes none.
"""

import argparse
import glob
import json
import os
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
PAGES = os.path.join(ROOT, "docs", "course")
RESULTS = os.path.join(ROOT, "data", "results")


def read_rows():
    """{(experiment, series, x, device)}: the last row of each, and the devices in order."""
    rows, devices = {}, []
    for path in sorted(glob.glob(os.path.join(RESULTS, "course-*.jsonl"))):
        device = os.path.basename(path)[len("course-"):-len(".jsonl")]
        devices.append(device)
        with open(path, encoding="utf-8") as f:
            for line in f:
                r = json.loads(line)
                rows[r["experiment"], r["name"], r["x"], device] = r
    return rows, devices


def expand(text, scale):
    """What course_expand of host/cli/course_file.h makes of it."""
    out = ""
    while "{" in text:
        before, _, rest = text.partition("{")
        inner, _, text = rest.partition("}")
        parts = inner.split("|")
        out += before + parts[min(scale, len(parts) - 1)]
    return out + text


def number(x):
    for least, form in ((99.95, "%.0f"), (9.995, "%.1f"), (0.0995, "%.2f")):
        if x >= least:
            return form % x
    return "%.3g" % x


def find(rows, where, row, device):
    """The row of a device, and what it is called where a CPU's has another size."""
    keys = [(where, expand(row["series"], scale) or "here", expand(row["x"], scale), device) for scale in (2, 1)]
    for key in keys:
        if key in rows:
            differing = [k for k, usual in zip(key, keys[0]) if k != usual]
            return rows[key], "".join(", " + d for d in differing)
    return None, ""


def cell(row, values, unit, host, size=""):
    """A row's figure, with what of it the heading does not say, and its ratio."""
    if row is None:
        return "not measured", ""
    if row["outcome"] != "timed":
        return "not here" if row["outcome"] == "unsupported" else row["outcome"], ""
    value = number(row["rate"]) + (" " + row["unit"]) * (row["unit"] != unit)
    value += size + ", on the host" * (row["device"] == "host" and not host)
    return value, "" if values or not row["ratio"] else number(row["ratio"])


def table(course, t, rows, devices):
    where = "%s %s" % (course["name"], t["name"])
    named = [r for r in rows.values() if r["experiment"] == where and r["outcome"] == "timed"]
    units = {r["unit"] for r in named}
    unit = units.pop() if len(units) == 1 else ""
    host = bool(named) and all(r["device"] == "host" for r in named)
    heads, widths = [t["knob"], "document", "expected"], ["---", "---", "---:"]
    for d in devices:
        name = ("host of the %s" if host else "%s") % d.upper()
        heads += ["%s, %s" % (name, unit) if unit else name]
        widths.append("---:")
        if not t["claims_values"]:
            heads.append("x base")
            widths.append("---:")
    lines = ["| %s |" % " | ".join(heads), "| %s |" % " | ".join(widths)]
    for row in t["rows"]:
        series, x = expand(row["series"], 2), expand(row["x"], 2)
        claim = expand(row["claim"], 2)
        cells = [series + ", " * bool(series) + x, "" if row["says"] == "-" else row["says"],
                 "" if claim == "-" else claim]
        for d in devices:
            found, size = find(rows, where, row, d)
            value, ratio = cell(found, t["claims_values"], unit, host, size)
            cells += [value] if t["claims_values"] else [value, ratio]
        lines.append("| %s |" % " | ".join(cells))
    return lines


def reasons(course, t, rows, devices):
    """Why rows are "not here": a sentence for each device and reason."""
    found = {}
    for row in t["rows"]:
        for d in devices:
            r, _ = find(rows, "%s %s" % (course["name"], t["name"]), row, d)
            if r and r["outcome"] == "unsupported":
                series, x = expand(row["series"], 2), expand(row["x"], 2)
                why = r["unsupported"].replace(r["device"] + ": ", "")
                found.setdefault((d, why), []).append(series + ", " * bool(series) + x)
    return "; ".join("on %s %s: %s" % (d.upper(), ", ".join('"%s"' % n for n in names), why)
                     for (d, why), names in found.items())


def wrap(text, width=100):
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line += " " * bool(line) + word
    return lines + [line]


def page(course, rows, devices):
    out = ["# %s: %s" % (course["name"], course["title"]), ""] + wrap(course["about"]) + ["",
           "    tessera course %s" % course["name"], ""]
    out += wrap("[README.md](README.md) says what the columns are.%s" % (
        " \"x base\" is over the row that others of its table are compared with." if devices else ""))
    for t in course["tables"]:
        out += ["", "## %s" % t["title"], ""] + wrap(
            "Lines %s; `tessera course %s %s`. The document: %s"
            % (t["lines"], course["name"], t["name"], t["says"])) + [""]
        out += table(course, t, rows, devices)
        lacking = reasons(course, t, rows, devices)
        out += [""] + wrap("Not here: " + lacking + ".") if lacking else []
        out += [""] + wrap("Why%s: " % (", on a GPU" * bool(t["cpu"])) + t["why"]) if t["why"] else []
        out += [""] + wrap("Why, on a CPU: " + t["cpu"]) if t["cpu"] else []
        out += [""] + wrap("Where the document errs: " + t["wrong"]) if t["wrong"] else []
        out += ["", "More: `%s`" % t["see"]] if t["see"] else []
    return "\n".join(out) + "\n"


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--tessera", default="tessera")
    p.add_argument("--check", action="store_true")
    args = p.parse_args()
    listed = subprocess.run([args.tessera, "course", "--json"], stdout=subprocess.PIPE, check=True)
    rows, devices = read_rows()
    status = 0
    for course in json.loads(listed.stdout)["courses"]:
        path, text = os.path.join(PAGES, course["name"] + ".md"), page(course, rows, devices)
        if not args.check:
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
            continue
        with open(path, encoding="utf-8") as f:
            if f.read() != text:
                print("%s is not what scripts/course_pages.py writes" % path, file=sys.stderr)
                status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
