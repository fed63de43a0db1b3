"""check_sweep.py: sweep.c's runs are optimized or not as they say, by the programs that PoCL keeps."""

import os
import runpy
import subprocess
import tempfile

from variant_runs import variant

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")


def sweep(op, *runs):
    """(status, what it complained of, the programs in a new cache of PoCL's)"""
    with tempfile.TemporaryDirectory(prefix="tessera-sweep-") as folder:
        env = {k: v for k, v in os.environ.items() if k != "POCL_EXTRA_BUILD_FLAGS"}
        done = subprocess.run([os.environ["SWEEP"], op, *runs], check=False, text=True,
                              env={**env, "POCL_CACHE_DIR": folder}, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE)
        programs = {path for path, _, files in os.walk(folder) if "program.bc" in files}
        return done.returncode, done.stderr, {os.path.relpath(path, folder) for path in programs}


def main():
    op = min(name for name in os.listdir(TESTS)
             if os.path.exists(os.path.join(TESTS, name, "example.py")))
    example = runpy.run_path(os.path.join(TESTS, op, "example.py"))
    types, _ = variant(op, example["KERNEL"])
    run = "%s,%s,tiny,defaults" % (example["KERNEL"], types[0])
    plain = run + ",unoptimized"

    status, said, optimized = sweep(op, run)
    assert status == 0 and optimized, said
    status, said, unoptimized = sweep(op, plain)
    assert status == 0 and len(unoptimized - optimized) > 0, (said, optimized, unoptimized)
    status, said, both = sweep(op, run, plain)
    assert status == 0 and both == optimized | unoptimized, (said, optimized, unoptimized, both)
    # PoCL would not optimize it.
    status, said, _ = sweep(op, plain, run)
    assert status == 1 and "optimized runs come before" in said, (status, said)


main()
