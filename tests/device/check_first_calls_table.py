"""The script that measures first calls, on the CPU's OpenCL device.

    check_first_calls_table.py BARE_OPENCL

Of an operation it leaves a row of two tries, the median one with the seconds of both, and what the bare
program takes in turn with them; with no budget a file of no rows.  The document is what it makes of the
recorded times, and says how many calls of a device with a target hold it.
"""

import json
import os
import re
import runpy
import subprocess
import sys
import tempfile

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "first_calls.py")


def measured(folder, *more):
    path = os.path.join(folder, "times.json")
    subprocess.run([sys.executable, SCRIPT, "--tessera", os.environ["TESSERA"], "--device", "cpu", "--types",
                    "f32", "--factors", "1", "--ways", "arrays", "--tries", "2", "--output", path, *more],
                   check=True, stdout=subprocess.DEVNULL)
    assert os.listdir(folder) == ["times.json"], "files left: %s" % os.listdir(folder)
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def check_document():
    script = runpy.run_path(SCRIPT)
    variables = script["write_document"].__globals__
    with open(script["DOCUMENT"], encoding="utf-8") as f:
        page = f.read()
    with tempfile.TemporaryDirectory() as folder:
        variables["DOCUMENT"] = os.path.join(folder, "page.md")
        script["write_document"]()
        with open(variables["DOCUMENT"], encoding="utf-8") as f:
            assert f.read() == page, "docs/first_calls.md is not what scripts/first_calls.py writes"
    for name in ("h200", "pocl3-xeon2"):
        assert re.search(r"## %s\n[^#]*\(\d+ of them at most [^#]*\(\d+ of them at most " % name,
                         page.replace("cache.md#", "")), "%s has no target" % name


def main(bare_opencl):
    check_document()
    listing = subprocess.run([os.environ["TESSERA"], "kernels", "--json"], capture_output=True, check=True)
    op = json.loads(listing.stdout)["operations"][0]["op"]
    with tempfile.TemporaryDirectory() as folder:
        whole = measured(folder, "--bare", bare_opencl, "--ops", op)
    assert [r["op"] for r in whole["rows"]] == [op], "rows of %s" % [r["op"] for r in whole["rows"]]
    row, seconds = whole["rows"][0], [whole["rows"][0][n]["process_s"] for n in ("first", "second")]
    assert len(row["tries"]) == 2, "%d tries, not 2" % len(row["tries"])
    assert seconds in row["tries"], "the row has %s, its tries %s" % (seconds, row["tries"])
    assert seconds[0] == min(first for first, _ in row["tries"]), "%s is not the shorter of %s" % (
        seconds, row["tries"])
    assert len(whole["bare"]) == 4, "%d rows of the bare program" % len(whole["bare"])
    for row in whole["bare"]:
        counts = {cache: len(row[cache]) for cache in ("empty", "filled")}
        assert counts == {"empty": 2, "filled": 2}, "the bare program %s: %s" % (row["what"], counts)
        assert all(r["process_s"] > r["platforms_ms"] / 1e3 > 0 for r in row["empty"]), "platforms: %s" % row
    assert all(r["build_ms"] > 0 for r in whole["bare"][3]["empty"]), "no time to build: %s" % whole["bare"][3]
    with tempfile.TemporaryDirectory() as folder:
        none = measured(folder, "--budget", "0")
    assert none["rows"] == [] and none["bare"] == [], "%d rows without a budget" % len(none["rows"])


if __name__ == "__main__":
    main(sys.argv[1])
