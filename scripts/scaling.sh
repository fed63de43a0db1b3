#!/usr/bin/env bash
# Time an operation from small to large problems, or of the sizes named, beside every peer that is
# there, on one device: rows for the report's figure of sizes.
#
#     scripts/scaling.sh OP [DEVICE [RESULTS_FOLDER [SIZE]...]]
#
# OP is matmul (64 to 16384 rows, as f32 and f32-strict) or sort (2^10 to 2^30 keys of uint32).
# DEVICE is what `tessera --device` takes (default: gpu).  Needs what the build needs (README.md);
# installs nothing.  Leaves scaling-OP-DEVICE.jsonl and .html in RESULTS_FOLDER (default:
# build/scaling-results).  TESSERA_BUDGET: seconds for each precision of matmul (default: 90), for
# sort altogether (default: 180).
set -euo pipefail

usage() {
    echo "Usage: scripts/scaling.sh matmul|sort [DEVICE [RESULTS_FOLDER [SIZE]...]]" >&2
    exit 2
}

op=${1:-}
case "$op" in
matmul)
    all_sizes=(64 128 256 512 1024 2048 4096 8192 16384)
    precisions=(f32 f32-strict)
    budget=90
    ;;
sort)
    all_sizes=(2^10 2^12 2^14 2^16 2^18 2^20 2^22 2^24 2^26 2^28 2^30)
    precisions=("")
    budget=180
    ;;
*)
    usage
    ;;
esac
[[ ${2:-} != -* ]] || usage

root=$(cd "$(dirname "$0")/.." && pwd)
build=${TESSERA_BUILD_DIR:-$root/build}
device=${2:-gpu}
results=${3:-$build/scaling-results}
budget=${TESSERA_BUDGET:-$budget}
wanted=("${@:4}")
[ $# -gt 3 ] || wanted=("${all_sizes[@]}")
sizes=()
for size in "${wanted[@]}"; do
    sizes+=(--size "$size")
done
name=$results/scaling-$op-${device//[^A-Za-z0-9.-]/-}
mkdir -p "$results"
cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF
ninja -C "$build" --quiet
status=0
: > "$name.jsonl"
for precision in "${precisions[@]}"; do
    part=$results/part.jsonl
    rm -f "$part"
    "$build/tessera" bench "$op" ${precision:+--precision "$precision"} "${sizes[@]}" \
        --device "$device" --peers --quiet --budget "$budget" -o "$part" || status=$?
    [ ! -f "$part" ] || cat "$part" >> "$name.jsonl"
    rm -f "$part"
done
"$build/tessera" compare "$name.jsonl" --html "$name.html"
exit "$status"
