#!/usr/bin/env bash
# Build, verify every variant on every device of this machine, measure its limits, and time the
# ladders and the peers beside each other: in less than eight minutes on an H200 and 16 cores.
#
#     scripts/gpu.sh [RESULTS_FOLDER]
#
# For a machine with a GPU and its OpenCL driver.  Needs what the build needs (README.md); installs
# nothing.  Leaves in RESULTS_FOLDER (default: build/gpu-results)
# devices.json, verify-DEVICE.txt, bench-DEVICE.jsonl (limits, variants and peers) and report.html.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
build=${TESSERA_BUILD_DIR:-$root/build}
results=${1:-$build/gpu-results}
tessera=$build/tessera
mkdir -p "$results"
results=$(cd "$results" && pwd)
status=0

# step NAME COMMAND...: run it, say how long it took, and remember when it failed.
step() {
    local name=$1 start=$SECONDS
    shift
    "$@" || { status=$? && echo "gpu.sh: $name failed with status $status"; }
    echo "== $name: $((SECONDS - start)) s"
}

has() {
    "$tessera" kernels --device "$1" > /dev/null 2>&1 || {
        echo "gpu.sh: no device '$1' here"
        return 1
    }
}

build_all() {
    cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF &&
        ninja -C "$build" --quiet
}

# Nothing is timed here, so all devices at once.
verify_all() {
    local device failed=0 jobs=()
    for device in "${devices[@]}"; do
        "$tessera" verify --device "$device" > "$results/verify-$device.txt" 2>&1 &
        jobs+=($!)
    done
    for device in "${jobs[@]}"; do
        wait "$device" || failed=$?
    done
    tail -n 1 "$results"/verify-*.txt
    return "$failed"
}

# bench DEVICE NAME OP OPTION...: rows into $results/part-DEVICE-NAME.jsonl.
bench() {
    local device=$1 name=$2
    shift 2
    step "bench $name on $device" "$tessera" bench "$@" --device "$device" --peers --quiet \
        -o "$results/part-$device-$name.jsonl"
}

step "build" build_all
devices=()
for device in gpu cpu; do
    if has "$device"; then
        devices+=("$device")
    fi
done
"$tessera" devices --json > "$results/devices.json"
"$tessera" devices
step "verify" verify_all

rm -f "$results"/part-*.jsonl
for device in "${devices[@]}"; do
    step "roofline of $device" "$tessera" roofline --device "$device" --quiet \
        -o "$results/part-$device-limits.jsonl"
done
if has gpu; then
    bench gpu matmul matmul --kernel all --size 1024 --size 4096 --budget 45
    bench gpu matmul-sizes matmul --size 256 --size 2048 --size 8192 --size 4096x64x4096 \
        --size 64x64x16384 --budget 35
    bench gpu matvec matvec --kernel all --size 4096 --budget 15
    bench gpu matvec-sizes matvec --size 1000 --size 10000 --size 10x1000000 --size 1000000x10 \
        --budget 15
    bench gpu sort sort --kernel all --size 2^22 --budget 15
    bench gpu sort-sizes sort --size 2^20 --size 10M --size 2^24 --size 100M --size 2^27 --budget 75
fi
if has cpu; then
    bench cpu matmul matmul --kernel all --size 1024 --budget 20
    bench cpu matmul-sizes matmul --size 256 --size 2048 --size 4096 --budget 20
    bench cpu matvec matvec --kernel all --size 4096 --budget 15
    bench cpu sort sort --kernel all --size 2^22 --budget 15
    bench cpu sort-sizes sort --size 2^20 --size 2^24 --budget 10
fi
for device in "${devices[@]}"; do
    cat "$results/part-$device"-*.jsonl > "$results/bench-$device.jsonl"
done
rm -f "$results"/part-*.jsonl
step "report" "$tessera" compare "$results"/bench-*.jsonl --html "$results/report.html" \
    > "$results/compare.txt"
echo "gpu.sh: ended after $SECONDS s with status $status; results are in $results"
exit "$status"
