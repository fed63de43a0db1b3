#!/usr/bin/env python3
"""Compare Tessera with the vendor's library at shapes that are drawn at random.

    scripts/shapes.py --device gpu -o data/results/shapes-NAME.jsonl [--held] [--seed 1]
    scripts/shapes.py --device cpu --largest 2048 --most 2^24 -o data/results/shapes-NAME.jsonl
    scripts/shapes.py --report data/results/shapes-NAME.jsonl [--draw docs/images]

Groups are products in each precision, products with a vector, and sorts.  Those of a group are
drawn by the seed: sides are log-uniform, a third of the products has sides within a factor of two,
a third has one side of at most 64; all four transposes, a result that is added to in half of them,
and leading dimensions longer than rows in a fifth.  One run of `tessera bench --jobs` measures them all beside
peers, verified before.  With --held their kernels are built first, on all cores of the host.

The report has for each group the ratios of the fastest peer's time and Tessera's: above 1 Tessera
is faster.  Exit status 3 where a group misses a target or has nothing to compare with, or where a
row of ours is wrong or failed.
"""
import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# Of each group what bench is given, how its shapes are drawn, and median, 10th percentile and worst
# ratio to reach beside the vendor's library on a GPU.
with open(os.path.join(ROOT, "data", "shapes.json"), encoding="utf-8") as groups_file:
    GROUPS = json.load(groups_file)
ON_A_CPU = (1.0, 0.8, 0.0)  # the same of every group beside libraries on the CPU,
ON_A_CPU_NS = 50e3  # of problems that take so long
KEYS = ("i8", "u8", "i16", "u16", "f16", "i32", "u32", "f32", "i64", "u64", "f64")
EXACT_FACTORS = ("f32", "f32-strict")  # precisions that take factors of float32 as they are
SKINNY = 64  # the longest of a product's short sides
WALL_BELOW = 0.05  # by wall time a target is so much lower


# ---- drawing -----------------------------------------------------------------------------------


def log_uniform(rng, low, high):
    """A whole number whose logarithm is uniform."""
    return min(high, int(low * (high / low + 1) ** rng.random()))


def draw_product(rng, largest, i):
    """Options and size of one product: squarish, skinny or anything, by turns."""
    m, n, k = (log_uniform(rng, 1, largest) for _ in range(3))
    if i % 3 == 0:
        m, n, k = (min(largest, max(1, int(m * 2 ** rng.uniform(-0.5, 0.5)))) for _ in range(3))
    elif i % 3 == 1:
        sides = [m, n, k]
        sides[rng.randrange(3)] = log_uniform(rng, 1, min(SKINNY, largest))
        m, n, k = sides
    options = [["--trans-a"], ["--trans-b"], ["--trans-a", "--trans-b"], []][rng.randrange(4)]
    if rng.random() < 0.2:
        # Half of the padded ones are added to: so few options go together that runs are shared.
        return (*options, "--padding", "8", "--beta", rng.choice(("0", "1"))), f"{m}x{n}x{k}"
    return (*options, "--beta", rng.choice(("0", "1"))), f"{m}x{n}x{k}"


def draw_matrix(rng, most):
    """The same of a matrix and a vector, of at most so many elements."""
    rows, columns = most, most
    while rows * columns > most:
        rows, columns = (log_uniform(rng, 1, min(10 ** 7, most)) for _ in range(2))
    kind = rng.choice(("f32", "f64", "bf16"))
    return ("--type", kind, *rng.choice(((), ("--trans",)))), f"{rows}x{columns}"


def draw_keys(rng, most):
    """The same of a sort: keys alone, with values, with their order, or in rows."""
    count = log_uniform(rng, 2 ** 8, most)
    what = rng.choice(((), ("--value-bytes", "4"), ("--value-bytes", "8"), ("--argsort",), "rows"))
    options = ("--type", rng.choice(KEYS), *(() if what == "rows" else what))
    if what != "rows":
        return options, str(count)
    rows = log_uniform(rng, 2, count // 8)
    return options, f"{rows}x{count // rows}"


def draw(group, count, seed, largest, most):
    """{options of bench: sizes} of a group."""
    rng = random.Random(f"{seed} {group}")
    _, *fixed = GROUPS[group]["bench"].split()
    runs = {}
    for i in range(count):
        if GROUPS[group]["drawn as"] == "product":
            options, size = draw_product(rng, largest, i)
        elif GROUPS[group]["drawn as"] == "keys":
            options, size = draw_keys(rng, most)
        else:
            options, size = draw_matrix(rng, most)
        sizes = runs.setdefault((*fixed, *options), [])
        if size not in sizes:
            sizes.append(size)
    return runs


# ---- measuring ---------------------------------------------------------------------------------


def jobs_of(args, groups):
    """The lines of a file of jobs: those of all groups, a problem a line."""
    for group in groups:
        op = GROUPS[group]["bench"].split()[0]
        runs = draw(group, args.count or GROUPS[group]["count"], args.seed, args.largest, args.most)
        for options, sizes in sorted(runs.items()):
            for size in sizes:
                yield " ".join(("bench", op, *options, "--size", size))


def write_jobs(folder, name, jobs):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as f:
        f.writelines(job + "\n" for job in jobs)
    return path


def build(args, jobs, folder):
    """Build the kernels of all jobs into the cache, in a process a core."""
    cores = os.cpu_count() or 1
    parts = [write_jobs(folder, f"build-{i}", jobs[i::cores]) for i in range(cores) if jobs[i::cores]]
    # What cannot be built is named when it is measured.
    running = [subprocess.Popen([args.tessera, "bench", "--jobs", part, "--build-only", "--quiet",
                                 "--device", args.device], stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL) for part in parts]
    for process in running:
        process.wait()


def measure(args, groups):
    """Add the rows of all groups to the output; whether all were right."""
    jobs = list(jobs_of(args, groups))
    random.Random(args.seed).shuffle(jobs)  # a run that is stopped has some of each group
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="tessera-shapes-") as folder:
        if args.held:
            build(args, jobs, folder)
            print(f"kernels of {len(jobs)} shapes: {time.monotonic() - begun:.0f} s",
                  file=sys.stderr, flush=True)
        # Rows are kept as they come, so that those of a run that is stopped stay.
        with open(args.output, "a", encoding="utf-8") as out:
            status = subprocess.run(
                [args.tessera, "bench", "--jobs", write_jobs(folder, "jobs", jobs), "--peers",
                 "--brief", "--device", args.device, "--seconds", str(args.seconds),
                 "--seed", str(args.seed), *(["--held"] if args.held else []),
                 *(["--wall"] if args.held == "both" else []),
                 *(["--warm"] if args.warm else []),
                 *(["--budget", str(args.budget)] if args.budget else []), "-o", "-"],
                stdout=out).returncode
    print(f"{len(jobs)} shapes: {time.monotonic() - begun:.0f} s"
          + (f", status {status}" if status else ""), file=sys.stderr, flush=True)
    return status in (0, 1)  # 1: a peer or a size was refused


# ---- reporting ---------------------------------------------------------------------------------


def group_of(row):
    """The group whose row it is: products by their precision."""
    return row["op"] if row["op"] in GROUPS else row["precision"]


def is_as_precise(peer, ours):
    """Whether a peer rounds no factor of float32 where ours does not: cuBLAS's products in TF32 are
    no match for those of FP32."""
    return peer["precision"] == ours["precision"] or ours["precision"] not in EXACT_FACTORS \
        or peer["precision"] in EXACT_FACTORS


def is_brief(peer):
    """Whether it is of a problem that is too short to compare, which is so on CPUs alone."""
    return peer["place"] != "cuda" and peer["median_ns"] < ON_A_CPU_NS


def count_brief(path):
    """How many rows of ours have no peer beside them but those of brief problems."""
    brief, peers = 0, []
    for row in [*read_rows(path), {"kind": "kernel", "outcome": ""}]:
        if row["kind"] == "kernel":
            brief += bool(peers) and all(map(is_brief, peers))
            peers = []
        elif row["kind"] == "peer" and row["outcome"] == "timed":
            peers.append(row)
    return brief


def read_rows(path):
    try:
        with open(path, encoding="utf-8") as f:
            rows = [json.loads(line) for line in f]
        if all("kind" in row and "outcome" in row for row in rows):
            return rows
        sys.exit(f"shapes.py: {path}: not all lines are rows of bench")
    except (OSError, ValueError, TypeError) as e:
        sys.exit(f"shapes.py: {path}: {e}")


def compare(path):
    """{(group, timer): [(ratio, row of ours, row of the fastest peer)]}, empty where there is none,
    and the rows that are wrong or failed.  A peer's wrong row is none of ours."""
    rows = read_rows(path)
    comparisons = []  # our row and those of peers behind it
    for row in rows:
        if row["kind"] == "kernel":
            comparisons.append((row, []))
        elif row["kind"] == "peer" and row["outcome"] == "timed":
            comparisons[-1][1].append(row)
    found = {}
    for ours, peers in comparisons:
        of_group = found.setdefault((group_of(ours), ours["timer"]), [])
        # Where the vendor's own library ran, none on the CPU beside it counts.
        peers = [p for p in peers if p["place"] == "cuda"] or peers
        peers = [p for p in peers if is_as_precise(p, ours)]
        if peers and ours["outcome"] == "timed":
            best = min(peers, key=lambda p: p["median_ns"])
            if is_brief(best):
                continue
            of_group.append((best["median_ns"] / ours["median_ns"], ours, best))
    return found, [row for row in rows
                   if row["kind"] == "kernel" and row["outcome"] in ("wrong", "failed")]


def percentile(ratios, part):
    return statistics.quantiles(ratios, n=100, method="inclusive")[int(part * 100) - 1] \
        if len(ratios) > 1 else ratios[0]


def report(path, folder):
    """Print the table; whether every target is reached."""
    found, wrong = compare(path)
    reached = not wrong and any(found.values())
    print("| group | time | shapes | median | 10th percentile | worst | at |")
    print("| --- | --- | ---: | ---: | ---: | ---: | --- |")
    for group in GROUPS:
        for timer in ("held", "wall"):
            compared = found.get((group, timer))
            if not compared:
                continue
            ratios = sorted(ratio for ratio, _, _ in compared)
            _, worst, peer = min(compared, key=lambda c: c[0])
            on_gpu = peer["place"] == "cuda"
            cells = []
            for value, target in zip((statistics.median(ratios), percentile(ratios, 0.1),
                                      ratios[0]), GROUPS[group]["targets"] if on_gpu else ON_A_CPU):
                target -= WALL_BELOW if on_gpu and timer == "wall" else 0
                reached = reached and value >= target
                cells.append(f"{value:.2f}" + ("" if value >= target else f" (< {target:.2f})"))
            print(f"| {group} | {timer} | {len(ratios)} | {' | '.join(cells)} "
                  f"| {worst['problem']}, `{worst['name']}`; {peer['name']} |")
    for row in wrong:
        print(f"{row['outcome']}: {row['op']} {row['problem']}, {row['name']}")
    brief = count_brief(path)
    if brief:
        print(f"\n{brief} more take another library less than {ON_A_CPU_NS / 1e3:.0f} us on the CPU, "
              "and are not compared")
    if not any(found.values()):
        print("nothing is compared: there is no row with a peer beside it")
    if folder:
        for timer in ("held", "wall"):
            groups = {g: found[g, timer] for g in GROUPS if found.get((g, timer))}
            if groups:
                draw_picture(groups, timer, path, folder)
    return reached


def draw_picture(groups, timer, path, folder):
    """Ratio over the work of a problem, a point each, and a panel for each group."""
    try:
        import matplotlib
    except ImportError:
        sys.exit("shapes.py: --draw needs matplotlib (package python3-matplotlib)")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    name = os.path.splitext(os.path.basename(path))[0]
    columns = min(4, len(groups))
    lines = -(-len(groups) // columns)
    figure, panels = pyplot.subplots(lines, columns, figsize=(3 * columns, 2.6 * lines), dpi=120,
                                     sharey=True, squeeze=False)
    for panel in panels.flat[len(groups):]:
        panel.set_visible(False)
    for panel, (group, compared) in zip(panels.flat, groups.items()):
        panel.scatter([ours["work"] for _, ours, _ in compared],
                      [ratio for ratio, _, _ in compared], s=9)
        panel.axhline(1, color="grey", linewidth=0.8)
        panel.set(xscale="log", yscale="log", title=group,
                  xlabel="keys" if GROUPS[group]["drawn as"] == "keys" else "operations")
        panel.yaxis.set_major_locator(matplotlib.ticker.FixedLocator([.25, .5, 1, 2, 4, 8, 16]))
        panel.yaxis.set_major_formatter(matplotlib.ticker.FormatStrFormatter("%g"))
        panel.yaxis.set_minor_locator(matplotlib.ticker.NullLocator())
        panel.grid(True, which="major", linewidth=0.3)
    for panel in panels[:, 0]:
        panel.set_ylabel("peer's time / ours")
    figure.suptitle(next(iter(groups.values()))[0][1]["device"] + ", "
                    + ("time on the device" if timer == "held" else "wall time"))
    figure.tight_layout()
    figure.savefig(os.path.join(folder, f"{name}-{timer}.png"))
    pyplot.close(figure)


def number(text):
    """A count as --size spells it: 1000 or 2^20."""
    base, _, power = text.partition("^")
    return int(base) ** int(power) if power else int(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tessera", default=os.path.join(ROOT, "build", "tessera"))
    parser.add_argument("--device", help="as tessera bench takes it")
    parser.add_argument("--groups", default=",".join(GROUPS), help="of %(default)s")
    parser.add_argument("--count", type=int, help="shapes of each group (200 products, 100 others)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--largest", type=int, default=16384, help="side of a product")
    parser.add_argument("--most", type=number, default=2 ** 27,
                        help="keys of a sort, elements of a matrix that a vector multiplies (2^27)")
    parser.add_argument("--seconds", type=float, default=0.02, help="of samples for a row")
    parser.add_argument("--budget", type=float, help="seconds, behind which no shape is begun")
    parser.add_argument("--held", nargs="?", const="held", choices=("held", "both"),
                        help="time on the device alone, or by wall time, too")
    parser.add_argument("--warm", action="store_true", help="time calls on the same inputs")
    parser.add_argument("-o", "--output", help="rows are added to this file")
    parser.add_argument("--report", metavar="FILE", help="the ratios of a file")
    parser.add_argument("--draw", metavar="FOLDER", help="with --report: pictures (matplotlib)")
    args = parser.parse_args()
    groups = args.groups.split(",")
    unknown = [g for g in groups if g not in GROUPS]
    if unknown:
        parser.error(f"no group '{unknown[0]}' (there are {', '.join(GROUPS)})")
    if args.count is not None and args.count < 1 or args.largest < 1 or args.most < 2 ** 8:
        parser.error("--count and --largest are 1 at least, and --most 256")
    if args.report:
        return 0 if report(args.report, args.draw) else 3
    if not args.device or not args.output:
        parser.error("--device and --output say where it runs and where rows go")
    try:
        right = measure(args, groups)
    except KeyboardInterrupt:
        report(args.output, None)
        return 130
    return 0 if report(args.output, None) and right else 3


if __name__ == "__main__":
    sys.exit(main())
