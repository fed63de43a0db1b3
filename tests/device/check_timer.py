"""The timer is honest: what is timed twice differs by less than the spread that is printed, and
nothing is faster than the device.

    TESSERA=build/tessera check_timer.py [--device D]
    check_timer.py --self-test

Variants of each operation, at about 20 us and about 10 ms, are benched twice in one run, in
several rounds.  The medians of a pair differ by less than the larger of its spreads (half the
distance between the quartiles, over the median), or by less than the 0.1% that the table prints
it in.  How many pairs may be beyond follows from the number n of samples.  For samples that do
not depend on each other, of a normal distribution with deviation sigma,

    spread                        s     = 0.6745 sigma
    standard error of a median    1.2533 sigma / sqrt(n) = 1.858 s / sqrt(n)
    of the difference of two      2.628 s / sqrt(n)

so that a pair is beyond s with p = P(|Z| > sqrt(n) / 2.628): 0.01% at n = 101, the least taken
here.  The pairs beyond are about Poisson with the sum of all p as mean; as many are allowed as
are exceeded with less than RISK: one in 50 pairs.  A spread half as wide as it should be would
give p = 6%, three in 50.  What else puts pairs beyond is a machine that changes between two
rows: another load, another clock.  Then the spread promises too much there.

No row's rate is above the device's limit (`tessera roofline`, measured before each round, the
best kept) by more than 3%; a problem that stays in the caches may be faster than memory.
The device is TESSERA_DEVICE or the CPU; `host`, which has no roofline, is judged by pairs alone.
"""

import math
import random

import bench_runs

SHORT_NS, LONG_NS = 20e3, 10e6
CASES = [(op, variant) for op, timing in bench_runs.TIMING.items() for variant in timing["VARIANTS"]]
ROUNDS = 5
SAMPLES = 101
PRINTED = 0.001
RISK = 0.001
MARGIN = 1.03


def spread(row):
    return (row["high_ns"] - row["low_ns"]) / 2 / row["median_ns"]


def difference(a, b):
    return abs(a["median_ns"] - b["median_ns"]) / min(a["median_ns"], b["median_ns"])


def is_beyond(a, b):
    return difference(a, b) > max(spread(a), spread(b), PRINTED)


def allowed(pairs):
    """As many beyond as are exceeded with a probability below RISK."""
    mean = sum(math.erfc(math.sqrt(min(a["samples"], b["samples"]) / 2) / 2.628)
               for a, b in pairs)
    most, left = 0, 1 - math.exp(-mean)
    while left >= RISK:
        most += 1
        left -= math.exp(-mean) * mean ** most / math.factorial(most)
    return most


def too_fast(rows):
    """Rows above the limit; of one problem the best limit counts, which later rounds may raise."""
    limit = {}
    for r in rows:
        limit[r["problem"]] = max(r["limit_rate"], limit.get(r["problem"], 0))
    return [r for r in rows if r["rate"] > MARGIN * limit[r["problem"]] > 0 and
            (r["cold"] or not r["bound_by"].startswith("memory"))]


def judge(pairs):
    """What is wrong, in lines."""
    beyond = [p for p in pairs if is_beyond(*p)]
    wrong = ["%s %s %s is %.4g %s, above the limit of %.4g %s"
             % (r["op"], r["size"], r["name"], r["rate"], r["unit"], r["limit_rate"], r["unit"])
             for r in too_fast([r for p in pairs for r in p])]
    if len(beyond) > allowed(pairs):
        wrong.append("%d of %d pairs differ by more than their spread, %d may"
                     % (len(beyond), len(pairs), allowed(pairs)))
    return wrong


def simulated(generator, spread_by=1.0, drift=0.0, rate=100.0):
    """A row as SAMPLES normal samples give it, with numbers to doctor."""
    x = sorted(generator.gauss(1e6, 2e4) for _ in range(SAMPLES))
    middle = x[SAMPLES // 2] * (1 + drift)
    half = (x[3 * SAMPLES // 4] - x[SAMPLES // 4]) / 2 * spread_by
    return {"op": "made-up", "size": "64", "name": "doctored", "problem": "64", "unit": "GFLOP/s",
            "samples": SAMPLES, "median_ns": middle, "low_ns": middle - half,
            "high_ns": middle + half, "rate": rate, "limit_rate": 100.0, "bound_by": "fp32",
            "cold": False}


def self_test():
    assert CASES
    g = random.Random(1)
    for _ in range(20):
        assert not judge([(simulated(g), simulated(g, rate=102)) for _ in range(50)])
        assert judge([(simulated(g, 0.25), simulated(g, 0.25)) for _ in range(50)])
        assert judge([(simulated(g), simulated(g, drift=0.03)) for _ in range(50)])
    assert judge([(simulated(g), simulated(g, rate=104))])


def measure(device):
    cases = [c for c in CASES if device != "host" or not c[1]]
    sized = [(op, variant, bench_runs.size_lasting(device, op, variant, ns))
             for op, variant in cases for ns in (SHORT_NS, LONG_NS)]
    pairs = []
    for _ in range(ROUNDS):
        if device != "host":
            bench_runs.tessera("roofline", "--size", "16", "--device", device)
        for op, variant, size in sized:
            a, b = bench_runs.bench(device, op, variant, [size, size], "--repeat", str(SAMPLES))
            pairs.append((a, b))
            print("%-6s %-14s %-20s %6d samples %11.4f ms, differs by %6.2f%%, spread %6.2f%%%s, "
                  "%5.1f%% of %s"
                  % (op, a["size"], a["name"], a["samples"], a["median_ns"] / 1e6,
                     100 * difference(a, b), 100 * max(spread(a), spread(b)),
                     " BEYOND" if is_beyond(a, b) else "",
                     100 * max(a["share"], b["share"]), a["bound_by"] or "no limit"), flush=True)
    return pairs


def main():
    given = bench_runs.arguments(__doc__).parse_args()
    self_test()
    if given.self_test:
        return
    pairs = measure(given.device)
    print("%d of %d pairs beyond their spread, %d may be"
          % (sum(is_beyond(*p) for p in pairs), len(pairs), allowed(pairs)))
    wrong = judge(pairs)
    if given.device != "host" and not any(r["limit_rate"] for p in pairs for r in p):
        wrong.append("no row has a limit")
    if wrong:
        raise SystemExit("\n".join(wrong))


main()
