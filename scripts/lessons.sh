#!/usr/bin/env bash
# Make the pages of docs/course again: in Oclgrind, where runs are the same each time, and those that
# need more of a device on the one that TESSERA_DEVICE names.
#
#     scripts/lessons.sh TESSERA [LESSON...]   the latter; all of them where none is named
#     scripts/lessons.sh TESSERA frame         the latter keep their traces, in the page of today
set -euo pipefail
cd "$(dirname "$0")/.."
tessera=$(realpath "$1")
shift
[ $# -gt 0 ] || set -- radix overlap shuffle

mkdir -p docs/course
for lesson in tiled bitonic reduction blelloch banks coalescing; do
    oclgrind "$tessera" lesson $lesson -o docs/course/$lesson.html
done
if [ "$1" != frame ]; then
    # Atomics in the scope of the device, several queues, warps: what the device lacks is left out.
    "$tessera" lesson "$@" -o docs/course
fi
# Pages of a device that is not here keep what it did.
python3 - docs/course/*.html <<'END'
import glob
import json
import sys

lessons = []
for path in glob.glob("data/lessons/*.json"):
    with open(path, encoding="utf-8") as f:
        lessons.append(json.load(f))
names = json.dumps([{"name": l["name"], "title": l["title"]} for l in sorted(lessons, key=lambda l: l["number"])],
                   separators=(",", ":"))
for sign in "<>&":
    names = names.replace(sign, "\\u%04x" % ord(sign))
frame = open("data/lessons/lesson.html", encoding="utf-8").read().replace("{{lessons}}", names).split("{{data}}")
opening = '<script type="application/json" id="trace">'
for path in sys.argv[1:]:
    page = open(path, encoding="utf-8").read()
    title = page.split("<title>Tessera: ", 1)[1].split("</title>", 1)[0]
    trace = page.split(opening, 1)[1].split("</script>", 1)[0]
    with open(path, "w", encoding="utf-8") as f:
        f.write(frame[0].replace("{{title}}", title) + trace + frame[1])
END
