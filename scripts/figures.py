#!/usr/bin/env python3
"""Make figures from measured rows: the rooflines, and the tables of peers.

    scripts/figures.py --tessera build/tessera    # data/results/bench-*.jsonl, all of it
    scripts/figures.py --check                    # are the tables made of these rows?  No build

Pictures are docs/images/roofline-NAME.png, one for each device of a file bench-NAME.jsonl that
holds limits and kernels: the roofline of `tessera compare --html`, drawn by Chromium.  The table
goes into docs/comparisons.md, between markers: for each problem the newest comparison, that is the
variant that Tessera chose and the peers timed in turn with it.  A second table of
docs/comparisons.md has the comparisons of `bench --held`.  The README's table has the lines that
data/results/readme.json names.  Other pages of docs/ have the comparisons of one operation on one
device, between lines that name both: `figures: OP on NAME`.
"""
import argparse
import collections
import glob
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import results_rows

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCHEMA = "tessera-result-2"
MARKER, HELD_MARKER = "figures: peers", "figures: held"
NOTHING_COMPARED = "No comparison with other libraries is recorded."
NOTHING_HELD = "No comparison by the device's clock is recorded."

# The README's table, line by line: device and job, as the table spells them.
SHOWN_FILE = os.path.join(ROOT, "data", "results", "readme.json")
with open(SHOWN_FILE, encoding="utf-8") as shown_file:
    SHOWN = [tuple(line) for line in json.load(shown_file)]

# What a precision computes in.
ARITHMETIC = {"": "exact", "f32": "FP32", "f32-strict": "FP32 multiply-adds", "f64": "FP64",
              "tf32": "TF32 products, FP32 sums", "f16": "FP16 products, FP32 sums",
              "bf16": "BF16 products, FP32 sums"}

# What is 1000 of a unit.
LARGER = {"GFLOP/s": "TFLOP/s", "Gop/s": "Top/s", "GB/s": "TB/s", "Mkeys/s": "Gkeys/s"}

# Where a peer may have run, as rows have it.
PLACES = ("device", "cuda", "host")

# Window of a picture, in CSS pixels; a picture has twice as many.
WIDTH, HEIGHT = 800, 560

# Of the page, the roofline alone, as large as the window.
STYLE = f"""<style>
header, footer, details, section:not(#roofline), #roofline > h2, #roofline > .note {{
    display: none !important;
}}
body {{ background: #fff; }}
main {{ max-width: none; padding: 0; }}
section, .figures {{ display: block; margin: 0; }}
figure {{ padding: 8px; border: 0; }}
figcaption h3 {{ height: 24px; margin: 0; }}
figcaption p {{ display: none; }}
.canvas {{ height: {HEIGHT - 24 - 2 * 8}px !important; }}
</style>
</head>"""

Comparison = collections.namedtuple("Comparison", "ours peers")


class Problem(Exception):
    """What keeps a figure from being made, in one line."""


# ---- rows ------------------------------------------------------------------------------------


def rated(row):
    """Whether the row has a rate that was verified, as `tessera compare` judges it."""
    return (row["rate"] > 0 and row["outcome"] == "timed"
            and (row["verified"] or row["kind"] == "limit"))


def device_of(row):
    return row["platform"], row["device"]


def job_of(row):
    """What rows compare by, on one device."""
    return tuple(row[f] for f in ("op", "problem", "type", "precision", "cold"))


def comparisons(rows, timer="wall"):
    """{device: {job: the newest comparison}}.

    A comparison is a kernel's row by that timer and, of the peers' rows that follow at once, those
    of its job: a peer that computes in another precision has another one.
    """
    found, now = {}, None
    for row in rows:
        device, job = device_of(row), job_of(row)
        if row["kind"] != "peer":
            now = Comparison(row, []) if is_choice(row, timer) else None
        elif now and (device, job) == (device_of(now.ours), job_of(now.ours)):
            if row["place"] not in PLACES:
                raise Problem(f"a row of {row['name']} does not say where it ran: "
                              f"'{row['place']}'")
            now.peers.append(row)
            jobs = found.setdefault(device, {})
            if job not in jobs or jobs[job].ours["when"] <= now.ours["when"]:
                jobs[job] = now
    return found


def is_choice(row, timer):
    """Whether it may be our side of a comparison, and no caller named the variant."""
    return (row["kind"] == "kernel" and row["timer"] == timer and rated(row)
            and row["selected"] != "named")


def drawable(rows):
    """{device: the rows of its picture}, where it has kernels and a limit of its memory.

    Of a device that was measured under several drivers the newest is drawn, and of each line the
    newest row, whatever version of Tessera it is of.  Left out are limits that bound none of the
    problems, peers that ran elsewhere than on the device, which have no limit, and times by the
    device's own clock, which have a table.
    """
    by_setting = {}
    for row in rows:
        if rated(row) and row["timer"] != "held":
            setting = *device_of(row), row["driver"]
            line = (*job_of(row), row["kind"], row["timer"], row["name"], row["parameters"])
            lines = by_setting.setdefault(setting, {})
            if line not in lines or lines[line]["when"] <= row["when"]:
                lines[line] = {**row, "version": "", "device_id": ""}
    out = {}
    for (platform, device, *_), lines in by_setting.items():
        bounds = {"memory read", "memory copy"}
        for row in lines.values():
            # "tensor tf32 / 3": FP32 by matrix units, above the roof of other instructions.
            roof, *by = row["bound_by"].split(" / ")
            bounds |= {roof, "fp32"} if by else {roof}
        kept = [r for r in lines.values()
                if r["kind"] == "kernel" or r["kind"] == "limit" and r["name"] in bounds
                or r["kind"] == "peer" and r["limit_rate"] > 0]
        has_kernels = any(r["kind"] == "kernel" for r in kept)
        has_memory = any(r["kind"] == "limit" and r["name"].startswith("memory") for r in kept)
        before = out.get((platform, device))
        if has_kernels and has_memory and (not before or newest(before) <= newest(kept)):
            out[platform, device] = kept
    return out


def newest(rows):
    return max(r["when"] for r in rows)


def picture_file(name):
    return f"roofline-{name}.png"


def picture_names(named_rows):
    """{device: NAME of its picture}: of its first file, with a number where NAME is taken."""
    names, drawn = {}, drawable([r for _, r in named_rows])
    for name, row in named_rows:
        device = device_of(row)
        if device in drawn and device not in names:
            others = itertools.chain([name], (f"{name}-{n}" for n in itertools.count(2)))
            names[device] = next(n for n in others if n not in names.values())
    return names


# ---- the table -------------------------------------------------------------------------------


def rate(row):
    """The rate in three digits, with the unit that makes it short."""
    value, unit = float(f"{row['rate']:.3g}"), row["unit"]
    if value >= 1000 and unit in LARGER:
        value, unit = value / 1000, LARGER[unit]
    number = f"{value:,.0f}" if value >= 100 else f"{value:#.3g}"
    return f"{number} {unit}"


def ratio(ours, peer):
    value = ours["rate"] / peer["rate"]
    return f"{value:.2f}" if value < 10 else f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


def plain(text):
    """Text of a row in a cell of Markdown."""
    return re.sub(r"([|\\`*_<&])", r"\\\1", text)


def job_text(row):
    """As rows spell the problem, but 2^16 and so on, and millions, as `--size` takes them."""
    head, _, rest = row["problem"].partition(" ")
    count = int(head) if head.isdigit() else 0
    if count >= 1 << 16 and count & count - 1 == 0:
        head = f"2^{count.bit_length() - 1}"
    elif count and count % 1000000 == 0:
        head = f"{count // 1000000}M"
    return plain(f"{row['op']} {head} {rest}".rstrip() + ("" if row["cold"] else ", warm"))


def fastest(peers, *places):
    """The fastest peer of the first place that has one."""
    for place in places:
        there = [p for p in peers if p["place"] == place and rated(p)]
        if there:
            return max(there, key=lambda p: p["rate"])
    return None


def versus(ours, peer):
    """Two cells."""
    if not peer:
        return "", ""
    return f"{plain(peer['name'])} {rate(peer)}", ratio(ours, peer)


def provenance(jobs, shown):
    """Which versions were compared, and when, of one device."""
    rows = [c.ours for c in jobs]
    platform, device = device_of(rows[0])
    drivers = ", ".join(sorted({r["driver"] for r in rows}))
    libraries = sorted({p["name"] + (f" ({p['peer_version']})" if p["peer_version"] else "")
                        for p in shown})
    days = sorted({r["when"][:10] for r in rows})
    when = " to ".join(days[:1] + days[1:][-1:])
    return plain(f"- {device}, {platform}, driver {drivers}, {when}"
                 + (": " + ", ".join(libraries) if libraries else "") + ".")


def in_order(jobs):
    """Comparisons by operation, type and size."""
    return sorted(jobs, key=lambda c: (*(c.ours[f] for f in ("op", "type", "precision", "work")),
                                       job_text(c.ours)))


def held_table(named_rows):
    """The table of --held: what a call takes on the device."""
    def cell(row):
        return f"{row['median_ns'] / 1000:.2f} us"

    lines, notes = [], []
    for (_, device), of_device in comparisons((r for _, r in named_rows), "held").items():
        pairs = [(c, fastest(c.peers, "cuda")) for c in in_order(of_device.values())]
        pairs = [(c, peer) for c, peer in pairs if peer]
        for i, (c, peer) in enumerate(pairs):
            lines.append(f"| {'' if i else plain(device)} | {job_text(c.ours)} "
                         f"| {cell(c.ours)}, `{c.ours['name']}` "
                         f"| {plain(peer['name'])} {cell(peer)} | {ratio(c.ours, peer)} |")
        if pairs:
            notes.append(provenance(*zip(*pairs)))
    if not lines:
        return NOTHING_HELD
    head = ["| device | job | Tessera | native library | ratio |",
            "| --- | --- | --- | --- | ---: |"]
    return "\n".join([*head, *lines, "", *notes])


def table(named_rows):
    """The table of every job in Markdown, and below it what was compared."""
    lines, notes = [], []
    for (_, device), of_device in comparisons(r for _, r in named_rows).items():
        jobs = in_order(of_device.values())
        shown = []
        for i, c in enumerate(jobs):
            native = fastest(c.peers, "cuda", "host")
            opencl = fastest(c.peers, "device")
            shown += [p for p in (native, opencl) if p]
            cells = ("" if i else plain(device), job_text(c.ours),
                     f"{rate(c.ours)}, `{c.ours['name']}`", *versus(c.ours, native),
                     *versus(c.ours, opencl))
            lines.append("| " + " | ".join(cells) + " |")
        notes.append(provenance(jobs, shown))
    if not lines:
        return NOTHING_COMPARED
    head = ["| device | job | Tessera | native library | ratio | OpenCL library | ratio |",
            "| --- | --- | --- | --- | ---: | --- | ---: |"]
    return "\n".join([*head, *lines, "", *notes])


def arithmetic(ours, peer):
    """What both sides compute in; a variant that splits float32 factors says so in its name."""
    usual = ARITHMETIC.get(ours["precision"], plain(ours["precision"]))
    if "3xtf32" not in ours["name"]:
        return usual
    return "three TF32 products" + (f"; {plain(peer['name'])}: {usual}" if peer else "")


def short_table(named_rows, wanted):
    """The table of chosen lines, in their order, with the arithmetic of both sides."""
    lines, compared, last = [], {}, None
    found = {(device, job_text(c.ours)): c
             for (_, device), jobs in comparisons(r for _, r in named_rows).items()
             for c in jobs.values()}
    for line in wanted:
        if line not in found:
            continue
        c = found[line]
        native = fastest(c.peers, "cuda", "host")
        opencl = fastest(c.peers, "device")
        jobs, shown = compared.setdefault(line[0], ([], []))
        jobs.append(c)
        shown += [p for p in (native, opencl) if p]
        cells = ("" if line[0] == last else plain(line[0]), line[1], arithmetic(c.ours, native),
                 f"{rate(c.ours)}, `{c.ours['name']}`", *versus(c.ours, native),
                 *versus(c.ours, opencl))
        lines.append("| " + " | ".join(cells) + " |")
        last = line[0]
    if not lines:
        return NOTHING_COMPARED
    head = ["| device | job | arithmetic | Tessera | native library | ratio | OpenCL library | ratio |",
            "| --- | --- | --- | --- | --- | ---: | --- | ---: |"]
    return "\n".join([*head, *lines, "", *(provenance(*of) for of in compared.values())])


def document(text, named_rows, wanted):
    """A document with the chosen lines, and with links to the pictures that it does not show."""
    outside = results_rows.put(text, MARKER, "")
    links = [f"[{name}](docs/images/{picture_file(name)})"
             for name in picture_names(named_rows).values() if picture_file(name) not in outside]
    more = [f"- Further rooflines: {', '.join(links)}."] if links else []
    return results_rows.put(text, MARKER, "\n".join([short_table(named_rows, wanted), *more]))


def every_table(text, named_rows):
    """The document of all jobs with its tables."""
    text = results_rows.put(text, MARKER, table(named_rows))
    return results_rows.put(text, HELD_MARKER, held_table(named_rows))


def operation_tables(named_rows, op, column):
    """What was compared of one operation, in the rows of one file."""
    rows = [(name, row) for name, row in named_rows if (name, row["op"]) == (column, op)]
    by_wall, held = table(rows), held_table(rows)
    if held == NOTHING_HELD:
        return by_wall
    parts = [] if by_wall == NOTHING_COMPARED else [by_wall, ""]
    return "\n".join([*parts, "By the device's clock (`bench --held`):", "", held])


def operation_page(text, named_rows):
    """A page with the comparisons that it names."""
    for place, op, column in re.findall(r"^<!-- (figures: (\S+) on (\S+)) -->$", text, re.MULTILINE):
        text = results_rows.put(text, place, operation_tables(named_rows, op, column))
    return text


# ---- pictures --------------------------------------------------------------------------------


def browser():
    for name in (os.environ.get("CHROMIUM"), "chromium", "chromium-browser", "google-chrome"):
        if name and shutil.which(name):
            return name
    raise Problem("no Chromium to draw the pictures; Debian's chromium brings it")


def browse(chromium, folder, page, *options):
    """Run the browser over the page; what it wrote to standard output."""
    done = subprocess.run(
        [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
         "--no-first-run", "--disable-background-networking", "--disable-component-update",
         "--disable-sync", "--hide-scrollbars", "--blink-settings=preferredColorScheme=1",
         f"--user-data-dir={folder}/profile", f"--window-size={WIDTH},{HEIGHT}",
         "--force-device-scale-factor=2", "--virtual-time-budget=5000", *options, f"file://{page}"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    if done.returncode:
        raise Problem(f"{chromium} ended with status {done.returncode}")
    return done.stdout.decode()


def draw(tessera, chromium, rows, picture):
    """The roofline of the rows of one device into the file."""
    with tempfile.TemporaryDirectory(prefix="tessera-figures-") as folder:
        results, page, drawn = (os.path.join(folder, n) for n in ("r.jsonl", "r.html", "r.png"))
        with open(results, "w", encoding="utf-8") as f:
            f.writelines(json.dumps(r) + "\n" for r in rows)
        subprocess.run([tessera, "compare", results, "--html", page, "--quiet"], check=True,
                       stdout=subprocess.DEVNULL)
        with open(page, encoding="utf-8") as f:
            text = f.read()
        with open(page, "w", encoding="utf-8") as f:
            f.write(text.replace("</head>", STYLE, 1))
        dom = browse(chromium, folder, page, "--dump-dom")
        if not all(s in dom for s in ('data-errors="0"', 'data-ready="1"', "data-series=")):
            raise Problem(f"the report has no charts: was {tessera} built with Chart.js?")
        browse(chromium, folder, page, f"--screenshot={drawn}")
        shutil.copyfile(drawn, picture)


def update(path, check, made):
    """Write what made() makes of the file, or with `check` say where that is something else."""
    with open(path, encoding="utf-8") as f:
        before = f.read()
    after = made(before)
    if check and after != before:
        raise Problem(f"the table of {path} is not that of the rows: run scripts/figures.py")
    if after != before:
        with open(path, "w", encoding="utf-8") as f:
            f.write(after)


def make(args, named_rows):
    update(args.readme, args.check, lambda text: document(text, named_rows, SHOWN))
    update(args.comparisons, args.check, lambda text: every_table(text, named_rows))
    for path in sorted(glob.glob(os.path.join(os.path.dirname(args.comparisons), "*.md"))):
        update(path, args.check, lambda text: operation_page(text, named_rows))
    if args.check:
        return
    chromium = browser()
    os.makedirs(args.images, exist_ok=True)
    names = picture_names(named_rows)
    for device, rows in drawable(r for _, r in named_rows).items():
        picture = os.path.join(args.images, picture_file(names[device]))
        draw(args.tessera, chromium, rows, picture)
        print(picture)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tessera", default="build/tessera",
                        help="the command that writes reports")
    parser.add_argument("--check", action="store_true",
                        help="status 1 where the table is not what the rows make; writes nothing")
    parser.add_argument("--readme", default=os.path.join(ROOT, "README.md"), help="the README")
    parser.add_argument("--comparisons", default=os.path.join(ROOT, "docs", "comparisons.md"),
                        help="the document of all jobs")
    parser.add_argument("--images", default=os.path.join(ROOT, "docs", "images"),
                        help="folder for the pictures")
    parser.add_argument("results", nargs="*", help="files of rows (data/results/bench-*.jsonl)")
    args = parser.parse_args()
    paths = args.results or sorted(glob.glob(os.path.join(ROOT, "data", "results",
                                                          "bench-*.jsonl")))
    try:
        make(args, [(name, row) for name, row in results_rows.read(paths)
                    if row.get("schema") == SCHEMA])
    except (Problem, OSError, ValueError, subprocess.SubprocessError) as problem:
        sys.exit(f"figures.py: {problem}")


if __name__ == "__main__":
    main()
