#!/usr/bin/env python3
"""Plants bugs in the library's C code, one at a time, and sees that a test finds each.

    scripts/mutants.py [NAME...]      all bugs, or those named
    scripts/mutants.py --plain        the same without sanitizers
    scripts/mutants.py --list         their names, files and tests
    scripts/mutants.py --check        each bug's text is in its file, and its tests are in the tree

The bugs are the lists MUTANTS of tests/*/mutants.py: a file, a text that occurs in it, which occurrence
(from 0), what takes its place, and the tests of ctest that should fail, of which the first to do so
ends the run.  A list SURVIVORS says of a bug why no test can find it.

They are planted in a copy of the tree under --folder (build/mutants/), built with ASan and UBSan, as
scripts/test.sh builds the tests of that kind; --plain builds without, in a folder of its own, and takes
a quarter of the time, but does not find a leak or what is read beyond an array.  Before any bug its tests have to pass.  Ends with 1
where a bug survives that is not expected to.
"""
import argparse
import glob
import os
import re
import runpy
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OPTIONS = ("-DTESSERA_WERROR=OFF", "-DTESSERA_PEERS=OFF")
SANITIZED = ("-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_FLAGS=-O1", "-DTESSERA_SANITIZE=address,undefined")
PLAIN = ("-DCMAKE_BUILD_TYPE=Release",)
# What a test runs besides the command, by the first part of its name; a test under unit/ is a target.
BESIDE = {"device": ["variant_tests", "sweep"], "oclgrind": ["variant_tests", "sweep", "fault_layer", "promote_layer"], "cli": ["exiting_driver"],
          "forged": ["forged_layer"],
          "faults": ["fault_layer", *("warm_calls_" + os.path.basename(os.path.dirname(path)) for path in
                                     glob.glob(os.path.join(ROOT, "tests", "*", "warm_call.c")))]}
SECONDS_MAX = 600
# LeakSanitizer's own crash, where a driver's thread ends while it looks.
SANITIZER_CRASH = "LeakSanitizer has encountered a fatal error"


def read_lists():
    """{name: (file, text, which, replacement, [test...])} and {name: why it survives}."""
    mutants, survivors = {}, {}
    for path in sorted(glob.glob(os.path.join(ROOT, "tests", "*", "mutants.py"))):
        lists = runpy.run_path(path)
        for name, (file, text, which, new, tests) in lists["MUTANTS"].items():
            if name in mutants:
                sys.exit("%s: two bugs are called %s" % (path, name))
            mutants[name] = (file, text, which, new, tests.split())
        survivors.update(lists.get("SURVIVORS", {}))
    return mutants, survivors


def planted(name, mutant, whole):
    """A file's text with the bug in it."""
    file, text, which, new, _ = mutant
    at = [m.start() for m in re.finditer(re.escape(text), whole)]
    if which >= len(at):
        raise ValueError("%s: '%s' occurs %d times in %s, and number %d is to be replaced"
                         % (name, text, len(at), file, which))
    return whole[:at[which]] + new + whole[at[which] + len(text):]


def test_exists(test):
    label, name = test.split("/", 1)
    if label == "unit":
        return glob.glob(os.path.join(ROOT, "tests", "*", name + ".c"))
    return glob.glob(os.path.join(ROOT, "tests", "*", "test_*.py"))


def check(mutants, survivors):
    wrong = ["%s: no such bug" % name for name in survivors if name not in mutants]
    for name, mutant in mutants.items():
        try:
            with open(os.path.join(ROOT, mutant[0]), encoding="utf-8") as f:
                whole = f.read()
            if planted(name, mutant, whole) == whole:
                wrong.append("%s: it changes nothing" % name)
        except (OSError, ValueError) as e:
            wrong.append(str(e))
        wrong += ["%s: no test %s" % (name, t) for t in mutant[4] if not test_exists(t)]
    return wrong


class Tree:
    """The copy and its build."""

    def __init__(self, folder, jobs, cache, options):
        self.source, self.build = os.path.join(folder, "source"), os.path.join(folder, "build")
        self.jobs = jobs
        self.copy()
        launcher = ["-DCMAKE_C_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
        subprocess.run(["cmake", "-S", self.source, "-B", self.build, "-G", "Ninja", *OPTIONS, *options, *launcher,
                        "-DTESSERA_TEST_POCL_CACHE=" + cache], check=True, stdout=subprocess.DEVNULL)

    def copy(self):
        """Files that differ alone, so that no others are built again."""
        listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True,
                                stdout=subprocess.PIPE, text=True).stdout.splitlines()
        kept = set()
        for file in listed:
            from_path, to = os.path.join(ROOT, file), os.path.join(self.source, file)
            if not os.path.isfile(from_path):
                continue
            kept.add(to)
            with open(from_path, "rb") as f:
                whole = f.read()
            self.write(to, whole)
            shutil.copymode(from_path, to)
        for path, _, names in os.walk(self.source):
            for name in names:
                if os.path.join(path, name) not in kept:
                    os.remove(os.path.join(path, name))

    @staticmethod
    def write(path, whole):
        if os.path.exists(path):
            with open(path, "rb") as f:
                if f.read() == whole:
                    return
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(whole)

    def read(self, file):
        with open(os.path.join(self.source, file), encoding="utf-8") as f:
            return f.read()

    def put(self, file, text):
        self.write(os.path.join(self.source, file), text.encode())

    def make(self, test):
        label, name = test.split("/", 1)
        targets = [name] if label == "unit" else ["tessera_command", *BESIDE.get(label, [])]
        done = subprocess.run(["cmake", "--build", self.build, "-j%d" % self.jobs, "--target", *targets],
                              check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.returncode == 0, done.stdout

    def passes(self, test):
        """Whether a test passes, and what it printed."""
        for _ in range(4):
            done = subprocess.run(["ctest", "--test-dir", self.build, "--output-on-failure", "--timeout",
                                   str(SECONDS_MAX), "--no-tests=error", "-R", "^%s$" % re.escape(test)],
                                  check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True, errors="replace")
            if done.returncode == 0:
                break
            if SANITIZER_CRASH not in done.stdout:
                break
        return done.returncode == 0, done.stdout


def run(tree, name, mutant, healthy):
    """Plant one bug: the test that found it, or None; why, where it could not be tried."""
    file, _, _, _, tests = mutant
    for test in tests:
        if test not in healthy:
            built, out = tree.make(test)
            healthy[test] = tree.passes(test) if built else (False, out)
        if not healthy[test][0]:
            return None, "%s fails without it:\n%s" % (test, healthy[test][1][-3000:])
    whole = tree.read(file)
    tree.put(file, planted(name, mutant, whole))
    try:
        for test in tests:
            built, out = tree.make(test)
            if not built:
                return None, "it does not compile:\n%s" % out[-3000:]
            if not tree.passes(test)[0]:
                return test, None
        return None, None
    finally:
        tree.put(file, whole)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--plain", action="store_true", help="without sanitizers")
    parser.add_argument("--folder", help="default: build/mutants, of --plain build/mutants-plain")
    parser.add_argument("--pocl-cache", help="PoCL's own cache in tests (default: in the folder)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    mutants, survivors = read_lists()
    chosen = {n: mutants[n] for n in options.names or mutants if n in mutants}
    wrong = ["no bug is called " + n for n in options.names if n not in mutants] + check(
        chosen, {n: why for n, why in survivors.items() if n in chosen or not options.names})
    if wrong:
        sys.exit("\n".join(wrong))
    if options.list:
        for name, (file, _, _, _, tests) in chosen.items():
            print("%-32s %-36s %s" % (name, file, " ".join(tests)))
    if options.list or options.check:
        print("%d bugs, %d of them expected to survive" % (len(chosen), len(survivors)))
        return 0
    folder = os.path.abspath(options.folder or os.path.join(
        ROOT, "build", "mutants-plain" if options.plain else "mutants"))
    cache = os.path.abspath(options.pocl_cache or os.path.join(folder, "pocl-cache"))
    tree = Tree(folder, options.jobs, cache, PLAIN if options.plain else SANITIZED)
    healthy, caught, survived, broken = {}, 0, [], []
    for name, mutant in chosen.items():
        start = time.monotonic()
        found, why = run(tree, name, mutant, healthy)
        caught += found is not None
        if why:
            broken.append(name)
        elif not found:
            survived.append(name)
        outcome = ("found by " + found if found else "NOT TRIED: " + why if why else
                   "survives, " + survivors[name] if name in survivors else "SURVIVES")
        print("%-32s %4.0f s  %s" % (name, time.monotonic() - start, outcome), flush=True)
    print("%d bugs: %d found, %d survive, %d not tried" % (len(chosen), caught, len(survived),
                                                           len(broken)))
    return bool(broken) or any(n not in survivors for n in survived)


if __name__ == "__main__":
    sys.exit(main())
