#!/usr/bin/env bash
# Verify every variant of one version of the command on the first GPU, and time two versions in turn.
#
#     scripts/gpu_versions.sh OLD NEW [RESULTS_FOLDER] [SECONDS]
#
# OLD and NEW are `tessera` commands, of which NEW is verified.  Leaves verify.txt (what failed),
# verify-all.txt, kernels.json and versions.jsonl in RESULTS_FOLDER (default: build/gpu-versions), and
# stops timing after about so many seconds (default: 400).
set -euo pipefail

if [ $# -lt 2 ] || [ $# -gt 4 ] || [[ $1 == -* ]]; then
    echo "Usage: scripts/gpu_versions.sh OLD NEW [RESULTS_FOLDER] [SECONDS]" >&2
    exit 2
fi
root=$(cd "$(dirname "$0")/.." && pwd)
old=$(realpath "$1")
new=$(realpath "$2")
results=${3:-$root/build/gpu-versions}
seconds=${4:-400}
mkdir -p "$results"
status=0

"$new" kernels --device gpu --json > "$results/kernels.json"
# Each variant in a process of its own, on all cores; one that does not run here passes by default.
verify() {
    OMP_NUM_THREADS=1 timeout 120 "$new" verify "$1" "$2" --device gpu --defaults \
        > "$results/part-$1-$2.txt" 2>&1 || grep -q 'nothing ran$' "$results/part-$1-$2.txt" ||
        echo "verify $1 $2 failed: $(grep -v '^ok\|^skip' "$results/part-$1-$2.txt" | head -n 3)"
}
export -f verify
export results new
python3 -c 'import json, sys
for o in json.load(open(sys.argv[1]))["operations"]:
    for v in o["variants"]:
        print(o["op"], v["name"])' "$results/kernels.json" > "$results/part-variants.txt"
xargs -P "$(nproc)" -L 1 bash -euc 'verify "$@"' verify < "$results/part-variants.txt" |
    tee "$results/verify.txt"
cat "$results"/part-*-*.txt > "$results/verify-all.txt"
rm -f "$results"/part-*
awk '/ passed, / { ok += $1; bad += $3; skipped += $5 }
     END { print "verify: " ok " passed, " bad " failed, " skipped " skipped" }' \
    "$results/verify-all.txt"
[ ! -s "$results/verify.txt" ] || status=1
timeout "$seconds" "$root/scripts/versions.py" "$old" "$new" --device gpu \
    -o "$results/versions.jsonl" || status=1
exit "$status"
