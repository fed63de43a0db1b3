#!/usr/bin/env bash
# Build this tree and another version of it, verify this one on the first GPU, and time both in turn.
#
#     scripts/gpu_versions.sh OLD_TREE [RESULTS_FOLDER] [SECONDS]
#
# OLD_TREE is a checkout of the other version.  Needs what the build needs (README.md); installs
# nothing.  Leaves verify.txt (what failed), verify-all.txt, kernels.json and versions.jsonl in RESULTS_FOLDER (default:
# build/gpu-versions), and stops timing after about so many seconds (default: 400).
set -euo pipefail

if [ $# -lt 1 ] || [ $# -gt 3 ] || [[ $1 == -* ]]; then
    echo "Usage: scripts/gpu_versions.sh OLD_TREE [RESULTS_FOLDER] [SECONDS]" >&2
    exit 2
fi
root=$(cd "$(dirname "$0")/.." && pwd)
old=$(cd "$1" && pwd)
results=${2:-$root/build/gpu-versions}
seconds=${3:-400}
mkdir -p "$results"

build() {
    cmake -S "$1" -B "$2" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF \
        -DTESSERA_PEERS=OFF > /dev/null && ninja -C "$2" --quiet tessera
}
build "$old" "$root/build/old" &
build "$root" "$root/build/new"
wait $!
new=$root/build/new/tessera
status=0

"$new" kernels --device gpu --json > "$results/kernels.json"
# Each variant in a process of its own, on all cores; one that does not run here passes by default.
verify() {
    OMP_NUM_THREADS=1 timeout 250 "$new" verify "$1" "$2" --device gpu --defaults \
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
timeout "$seconds" "$root/scripts/versions.py" "$root/build/old/tessera" "$new" --device gpu \
    -o "$results/versions.jsonl" || status=1
exit "$status"
