"""Nothing is written to standard error where PoCL compiles kernels: clang says "1 warning generated."
there, which a library does not hide.  With caches that are empty.

77 where there is no OpenCL device.
"""

import os
import subprocess
import sys
import tempfile

PROGRAM = """
import sys
import numpy as np
import tessera as ts
if not any(d.kind == "cpu" for d in ts.devices()):
    sys.exit(77)
few, a = np.ones((8, 1000), "f4"), np.ones((1000, 900), "f4")
for operands, kernel in (((few, a), "skinny-columns"), ((few, np.asfortranarray(a)), "skinny-dots"),
                         ((a.T, a), "pipelined"), ((a.T, a), "general-tiled")):
    ts.matmul(*operands, device="cpu", kernel=kernel)
    print(ts.last_report()["kernel"], ts.last_report()["build"])
ts.sum(ts.sort(ts.asarray(a.reshape(-1), device="cpu"))).wait()
"""


def main():
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, "-c", PROGRAM], text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE,
                              env={**os.environ, "POCL_CACHE_DIR": folder, "TESSERA_CACHE_DIR": "off"})
    print(done.stdout, done.stderr)
    if done.returncode == 0 and (done.stderr or done.stdout.count("compiled") != 4):
        sys.exit("standard error is not empty, or a kernel was not compiled")
    sys.exit(done.returncode)


main()
