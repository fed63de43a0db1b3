#!/usr/bin/env bash
# Make the pages of docs/course again: in Oclgrind, where runs are the same each time, and those that
# need more of a device on the one that TESSERA_DEVICE names.
#
#     scripts/lessons.sh TESSERA [LESSON...]   the latter; all of them where none is named
#     scripts/lessons.sh TESSERA frame         the latter keep their traces, in the page and with the texts of today
set -euo pipefail
cd "$(dirname "$0")/.."
tessera=$(realpath "$1")
shift
[ $# -gt 0 ] || set -- radix overlap shuffle

mkdir -p docs/course
for lesson in tiled bitonic reduction blelloch banks coalescing strides contention compaction pixels; do
    oclgrind --num-threads 1 "$tessera" lesson $lesson -o docs/course/$lesson.html
done
if [ "$1" != frame ]; then
    # Atomics in the scope of the device, several queues, warps: what the device lacks is left out.
    "$tessera" lesson "$@" -o docs/course
fi
# Pages of a device that is not here keep what it did; around it is what the command has just written, and
# within it the texts of data/lessons.
python3 - docs/course/tiled.html docs/course/*.html <<'END'
import json
import re
import sys

PARTS = re.compile(r'(.*<title>)(.*?)(</title>.*<script type="application/json" id="trace">)(.*?)(</script>.*)', re.S)


def parts(path):
    with open(path, encoding="utf-8") as f:
        return PARTS.fullmatch(f.read()).groups()


before, _, between, _, behind = parts(sys.argv[1])
for path in sys.argv[2:]:
    _, _, _, trace, _ = parts(path)
    made = json.loads(trace)
    with open("data/lessons/%s.json" % made["name"], encoding="utf-8") as f:
        lesson = json.load(f)
    runs = {run["id"]: run for run in lesson.pop("runs")}
    now = dict(made, **lesson)
    now["runs"] = [dict(run, **runs[run["id"]]) for run in made["runs"]]
    title = "Tessera: " + now["title"]
    if now != made:
        trace = json.dumps(now, ensure_ascii=False, separators=(",", ":"))
        for sign in "<>&":
            trace = trace.replace(sign, "\\u%04x" % ord(sign))
    with open(path, "w", encoding="utf-8") as f:
        f.write(before + title + between + trace + behind)
END
