"""The script that measures first calls, on the CPU's OpenCL device.

    check_first_calls_table.py BARE_OPENCL

Of an operation it leaves a row of two tries, the median one with the seconds of both, and what the bare
program takes in turn with them; with no budget a file of no rows.
"""

import json
import os
import subprocess
import sys
import tempfile

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "first_calls.py")


def measured(folder, *more):
    path = os.path.join(folder, "times.json")
    subprocess.run([sys.executable, SCRIPT, "--tessera", os.environ["TESSERA"], "--device", "cpu", "--types",
                    "f32", "--factors", "1", "--ways", "arrays", "--tries", "2", "--output", path, *more],
                   check=True, stdout=subprocess.DEVNULL)
    assert os.listdir(folder) == ["times.json"], os.listdir(folder)
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def main(bare_opencl):
    listing = subprocess.run([os.environ["TESSERA"], "kernels", "--json"], capture_output=True, check=True)
    op = json.loads(listing.stdout)["operations"][0]["op"]
    with tempfile.TemporaryDirectory() as folder:
        whole = measured(folder, "--bare", bare_opencl, "--ops", op)
    assert [r["op"] for r in whole["rows"]] == [op], whole["rows"]
    row = whole["rows"][0]
    assert len(row["tries"]) == 2, row
    assert [row["first"]["process_s"], row["second"]["process_s"]] in row["tries"], row
    assert row["first"]["process_s"] == min(first for first, _ in row["tries"]), row
    assert len(whole["bare"]) == 4, whole["bare"]
    for row in whole["bare"]:
        assert len(row["empty"]) == len(row["filled"]) == 2, row
        assert all(r["process_s"] > r["platforms_ms"] / 1e3 > 0 for r in row["empty"]), row
    assert all(r["build_ms"] > 0 for r in whole["bare"][3]["empty"]), whole["bare"]
    with tempfile.TemporaryDirectory() as folder:
        none = measured(folder, "--budget", "0")
    assert none["rows"] == [] and none["bare"] == [], none


if __name__ == "__main__":
    main(sys.argv[1])
