"""A bug in a copy of the kernels is found: by the sweep (status 3), by Oclgrind, by traffic.py, whose
plans it makes wrong, by look_back.c or by rounded_factors.c.

    seeded_bugs.py BUG      seed it, run, and fail unless it is found
    seeded_bugs.py --list   the names

Each class is here: a dropped barrier, a wrong stride, an off-by-one guard.  PoCL runs work-items
one after another between barriers, and a dropped one does no harm where the compiler keeps to that;
Oclgrind sees the race.  Not where async's barrier is dropped: just before, the group waits for
copies, and that is a barrier in Oclgrind, which the specification does not promise.
"""

import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "oclgrind"))
from simulator import Run
from variant_runs import TESTS, lists_of, unoptimized, variant

HANG_SECONDS = 10 # at least, and several times what the kernel takes without the bug
HANG_TIMES = 3


def read_bugs():
    """{bug: (operation, its entry, its type or None, whether it may hang, shapes of the files of a call
    that shows it)}, of every operation that has a list: tests/OP/seeded.py."""
    found = {}
    for op in sorted(os.listdir(TESTS)):
        lists = lists_of(op)
        for bug, entry in lists.get("BUGS", {}).items():
            found[bug] = (op, entry, lists.get("TYPES", {}).get(bug),
                          bug in lists.get("HANGS", ()), lists.get("SHAPES", {}).get(bug))
    return found


def replace(text, old, which, new):
    """The text with one occurrence of `old` replaced; it has to be there."""
    at = [m.start() for m in re.finditer(re.escape(old), text)]
    if which >= len(at):
        sys.exit("'%s' occurs %d times, and number %d is to be replaced: the seed is stale"
                 % (old, len(at), which + 1))
    return text[:at[which]] + new + text[at[which] + len(old):]


def run_sweep(args, hangs, env):
    """The sweep on PoCL: status, what it printed, and whether it found the bug."""
    command = [os.environ["TESSERA"], *args, "--tiny", "--stop-on-failure", "--device", "cpu"]
    limit = 280
    if hangs:
        at = command.index("--kernel-dir")
        start = time.monotonic()
        subprocess.run(command[:at] + command[at + 2:], check=True, stdout=subprocess.DEVNULL,
                       timeout=limit, env=env)
        limit = max(HANG_SECONDS, HANG_TIMES * (time.monotonic() - start))
    try:
        done = subprocess.run(command, check=False, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=limit, env=env)
    except subprocess.TimeoutExpired:
        return None, "it does not end", hangs
    out = done.stdout.decode(errors="replace")
    # Keys out of order may leave what pads a tile among them, whose index, followed to a value, is
    # nowhere in memory; and a wrong place may be outside of the keys, in what malloc keeps there: it
    # aborts, which the command says.
    crashed = done.returncode == -signal.SIGSEGV or (
        done.returncode == 1 and "tessera: the program was aborted" in out)
    return done.returncode, out, crashed or (done.returncode == 3 and "\nFAIL " in "\n" + out)


def run_simulator(args):
    run = Run(*args, "--device", "0:0", timeout=280, stop=True)
    # A refusal to build the seeded kernel would be no find.
    wrong = run.status == 3 and "\nFAIL " in "\n" + run.out
    found = wrong or ((run.stopped or run.status == 0) and bool(run.complaints()))
    return run.status, run.out + run.err + run.complaints()[:2000], found


def write_ones(path, *shape):
    """A .npy file of float32, all 1; this has no NumPy."""
    count = 1
    for extent in shape:
        count *= extent
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': %s, }" % repr(shape)
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00\x76\x00" + header.ljust(117).encode() + b"\n")
        f.write(struct.pack("<f", 1) * count)


def run_program(env, *args):
    """A program for what a sweep on a CPU hardly goes through, or does not show: as run_sweep."""
    done = subprocess.run(args, check=False, timeout=120, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env=env)
    out = done.stdout.decode(errors="replace")
    return done.returncode, out, done.returncode == 3 and "\nFAIL " in "\n" + out


def run_traffic(op, name, kernels):
    """The accesses that a plan states against those of the seeded kernel."""
    done = subprocess.run([sys.executable, os.path.join(TESTS, "oclgrind", "traffic.py"), op, name],
                          check=False, timeout=280, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, "TESSERA_KERNEL_DIR": kernels}, text=True)
    return done.returncode, done.stdout, "\nFAIL %s %s " % (op, name) in "\n" + done.stdout


def main():
    if sys.argv[1:] == ["--list"]:
        print("\n".join(read_bugs()))
        return
    op, entry, type_name, hangs, shapes = read_bugs()[sys.argv[1]]
    name, file, old, which, new, settings = entry
    with tempfile.TemporaryDirectory(prefix="tessera-seeded-") as folder:
        kernels = os.path.join(folder, "cl")
        shutil.copytree(os.path.join(os.environ["TESSERA_SOURCE"], "cl"), kernels)
        path = os.path.join(kernels, file)
        with open(path, encoding="utf-8") as f:
            text = replace(f.read(), old, which, new)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        # Of one type and with these values alone the bug is there too.
        args = ["verify", op, "--kernel", name, "--kernel-dir", kernels, "--defaults", "--type",
                type_name or variant(op, name)[0][0]]
        args += [a for s in settings for a in ("--set", s)]
        if shapes:  # of more work than any problem of the sweep; texts are options of the call
            options = [s for s in shapes if isinstance(s, str)]
            shapes = [s for s in shapes if s not in options]
            files = [os.path.join(folder, "%d.npy" % i) for i in range(len(shapes))]
            for file, shape in zip(files, shapes):
                write_ones(file, *shape)
            args = [op, *files, "-o", os.path.join(folder, "out.npy"), "--copy", *args[2:6],
                    *options, *args[args.index(type_name or variant(op, name)[0][0]) + 1:]]
        env = unoptimized(op, name)
        if sys.argv[1].startswith("look-back-"):
            status, out, found = run_program(env, os.environ["LOOK_BACK"], "cpu", kernels)
        elif sys.argv[1].startswith("factors-"):
            status, out, found = run_program(env, os.environ["ROUNDED_FACTORS"], "cpu", kernels, name)
        elif sys.argv[1].startswith("traffic-"):
            status, out, found = run_traffic(op, name, kernels)
        elif sys.argv[1].startswith("oclgrind-"):
            status, out, found = run_simulator(args if shapes else
                                               [*args, "--tiny", "--stop-on-failure"])
        else:
            status, out, found = run_sweep(args, hangs, env)
    print(out)
    if not found:
        sys.exit("not found: status %s" % status)
    print("found")


main()
