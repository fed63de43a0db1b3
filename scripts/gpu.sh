#!/usr/bin/env bash
# Build, verify every variant on every device of this machine, measure its limits, and time the
# ladders beside their peers.
#
#     scripts/gpu.sh [RESULTS_FOLDER]
#
# For a machine with a GPU and its OpenCL driver.  Needs what the build needs (README.md) and
# python3 with NumPy; installs nothing.  Leaves in RESULTS_FOLDER (default: build/gpu-results)
# devices.json, verify.txt, ladder-DEVICE.jsonl, roofline-DEVICE.jsonl, bench-OP.jsonl and
# report.html.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
build=${TESSERA_BUILD_DIR:-$root/build}
results=${1:-$build/gpu-results}
tessera=$build/tessera
mkdir -p "$results"

cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF
ninja -C "$build"
"$tessera" devices --json > "$results/devices.json"
"$tessera" devices

status=0
"$tessera" verify --device all | tee "$results/verify.txt" || status=$?

has() {
    "$tessera" kernels --device "$1" > /dev/null 2>&1 || {
        echo "gpu.sh: no device '$1' here"
        return 1
    }
}

for device in gpu cpu; do
    has "$device" || continue
    "$tessera" roofline matmul --size 2048 --device "$device" -o "$results/roofline-$device.jsonl" ||
        status=$?
done
if has gpu; then
    "$tessera" bench matmul --kernel all --device gpu --size 1024 --size 4096 --peers \
        -o "$results/bench-matmul.jsonl" || status=$?
    "$tessera" bench matvec --kernel all --device gpu --size 4096 --size 10000 --peers \
        -o "$results/bench-matvec.jsonl" || status=$?
    "$tessera" bench sort --kernel all --device gpu --size 2^20 --size 2^24 --peers \
        -o "$results/bench-sort.jsonl" || status=$?
    cat "$results"/roofline-gpu.jsonl "$results"/bench-*.jsonl > "$results/gpu.jsonl"
    "$tessera" compare "$results/gpu.jsonl" --html "$results/report.html" > /dev/null || status=$?
fi
for device in gpu cpu host; do
    has "$device" || continue
    python3 "$root/scripts/ladders.py" run --tessera "$tessera" --device "$device" \
        -o "$results/ladder-$device.jsonl"
done
echo "gpu.sh: ended with status $status; results are in $results"
exit "$status"
