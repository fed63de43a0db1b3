#!/usr/bin/env bash
# Time products from 64 x 64 x 64 to 16384 x 16384 x 16384, or of the sizes named, beside every peer
# that is there, on one device: rows for the report's figure of sizes.
#
#     scripts/scaling.sh [DEVICE [RESULTS_FOLDER [SIZE]...]]
#
# DEVICE is what `tessera --device` takes (default: gpu).  Needs what the build needs (README.md);
# installs nothing.  Leaves scaling-DEVICE.jsonl and scaling.html in RESULTS_FOLDER (default:
# build/scaling-results).  TESSERA_BUDGET: seconds for each precision (default: 90).
set -euo pipefail

if [[ ${1:-} == -* ]]; then
    echo "Usage: scripts/scaling.sh [DEVICE [RESULTS_FOLDER [SIZE]...]]" >&2
    exit 2
fi

root=$(cd "$(dirname "$0")/.." && pwd)
build=${TESSERA_BUILD_DIR:-$root/build}
device=${1:-gpu}
results=${2:-$build/scaling-results}
budget=${TESSERA_BUDGET:-90}
wanted=("${@:3}")
[ $# -gt 2 ] || wanted=(64 128 256 512 1024 2048 4096 8192 16384)
sizes=()
for size in "${wanted[@]}"; do
    sizes+=(--size "$size")
done
rows=$results/scaling-${device//[^A-Za-z0-9.-]/-}.jsonl
parts=("$results/part-f32.jsonl" "$results/part-f32-strict.jsonl")
mkdir -p "$results"
rm -f "${parts[@]}"
cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF
ninja -C "$build" --quiet
status=0
for precision in f32 f32-strict; do
    "$build/tessera" bench matmul --precision "$precision" "${sizes[@]}" --device "$device" \
        --peers --quiet --budget "$budget" -o "$results/part-$precision.jsonl" || status=$?
done
for part in "${parts[@]}"; do
    [ ! -f "$part" ] || cat "$part"
done > "$rows"
rm -f "${parts[@]}"
"$build/tessera" compare "$rows" --html "$results/scaling.html"
exit "$status"
