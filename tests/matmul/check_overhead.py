"""What `tessera bench` adds to the time of a call: less than 1% of a run of 10 ms.

    ninja -C build tessera bare_loop
    TESSERA=build/tessera check_overhead.py build/tests/matmul/bare_loop [--device D]
                                                                              [--kernel VARIANT]
    check_overhead.py --self-test

A matmul is made large enough to last 10 ms.  Each row of bench stands against a bare loop of the
same kernel with the same tunables on one set of inputs: call by call (bench by the device's clock)
against a wait after each call, and back to back (as beside peers) against a wait after five.  So
work of bench inside a timed interval, and a queue made slow by recording times, show.  A row that
is below its loop by more than 1% fails as well: the device's clock errs, or the loop was disturbed,
and then nothing is known of 1%.  What a launch and a wait cost (some 10 us) is far below that.

Other work on the machine takes from all, so they take turns, and the best median of each counts:
three rounds at least, further ones until all agree, ROUNDS at most.  The device is TESSERA_DEVICE,
else the CPU.
"""

import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "device"))
import bench_runs  # noqa: E402

LEAST_NS = 10e6
MOST = 1.01
ROUNDS_MIN, ROUNDS = 3, 20


def bare(command, device, size, row):
    """Times of the loop's two ways, in the order of bench's rows."""
    out = subprocess.run([command, device, str(size), "1", row["name"], *row["parameters"].split()],
                         stdout=subprocess.PIPE, check=True, text=True).stdout
    return [float(line.split()[1]) for line in out.splitlines()]


def reported(device, size, variant):
    """Both rows of ours; no peer is loaded from an empty folder."""
    with tempfile.TemporaryDirectory() as empty:
        rows = bench_runs.bench(device, "matmul", variant, [size], "--warm", "--peers",
                                TESSERA_PEER_DIR=empty)
    if len(rows) != 2:
        raise SystemExit("bench gave %d rows, not two" % len(rows))
    return rows


def judge(best):
    """What is wrong, in lines; best is {name: [ns of bench, ns of the bare loop]}."""
    above = ["bench, %s, adds %.1f%%" % (name, 100 * (ns / loop - 1))
             for name, (ns, loop) in best.items() if ns > MOST * loop]
    below = ["bench, %s, is %.1f%% below the bare loop: a clock errs, or other work disturbs"
             % (name, 100 * (1 - ns / loop)) for name, (ns, loop) in best.items()
             if MOST * ns < loop]
    return above + below


def self_test():
    good = {"call by call": [9.99e6, 10e6], "back to back": [10.09e6, 10e6]}
    assert not judge(good)
    for name in good:
        assert len(judge({**good, name: [10.11e6, 10e6]})) == 1
        assert len(judge({**good, name: [9.89e6, 10e6]})) == 1


def main():
    parser = bench_runs.arguments(__doc__)
    parser.add_argument("bare_loop", nargs="?")
    parser.add_argument("--kernel", help="a slow one needs a smaller problem and a shorter proof")
    given = parser.parse_args()
    self_test()
    if given.self_test:
        return
    variant, best = given.kernel, {}
    size = bench_runs.size_lasting(given.device, "matmul", variant, LEAST_NS)
    for rounds in range(1, ROUNDS + 1):
        rows = reported(given.device, size, variant)
        variant = rows[0]["name"]
        loops = bare(given.bare_loop, given.device, size, rows[0])
        for name, row, loop in zip(("call by call", "back to back"), rows, loops):
            fresh = [row["median_ns"], loop]
            best[name] = [min(x) for x in zip(fresh, best.get(name, fresh))]
        wrong = judge(best)
        if rounds >= ROUNDS_MIN and not wrong:
            break
    print("matmul %d %s on %s, best of %d rounds" % (size, variant, rows[0]["device"], rounds))
    for name, (ns, loop) in best.items():
        print("  %s: bench %9.4f ms, bare loop %9.4f ms  %+.2f%%"
              % (name, ns / 1e6, loop / 1e6, 100 * (ns / loop - 1)))
    if wrong:
        raise SystemExit("\n".join(wrong))


main()
