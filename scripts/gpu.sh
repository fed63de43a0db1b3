#!/usr/bin/env bash
# Build, verify every variant on the first GPU and CPU of this machine, measure their limits, and
# time the ladders and the peers beside each other.
#
#     scripts/gpu.sh [RESULTS_FOLDER]
#
# For a machine with a GPU and its OpenCL driver.  Needs what the build needs (README.md); installs
# nothing.  Leaves in RESULTS_FOLDER (default: build/gpu-results)
# devices.json, verify-DEVICE.txt, bench-DEVICE.jsonl (limits, variants and peers) and report.html.
set -euo pipefail

if [ $# -gt 1 ] || [[ ${1:-} == -* ]]; then
    echo "Usage: scripts/gpu.sh [RESULTS_FOLDER]" >&2
    exit 2
fi

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

build() {
    cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF &&
        ninja -C "$build" --quiet tessera
}

# verify DEVICE OP VARIANT TYPE: what it printed in $results/part-verify-DEVICE-OP-VARIANT-TYPE.txt.
# A variant that is unsupported for the type has "nothing ran", which is no failure here.  On a CPU all
# but its own variants have their default tunables: compiling the others takes most of the time, and
# scripts/test.sh has them.  The processes use all cores: one thread each.
verify() {
    local out=$results/part-verify-$1-$2-$3-$4.txt options=()
    [ "$4" = all ] || options+=(--type "$4")
    [ "$1" = gpu ] || [[ $3 =~ ^(cpu-.*|.*(rows|columns)-vector)$ ]] || options+=(--defaults)
    OMP_NUM_THREADS=1 "$tessera" verify "$2" "$3" --device "$1" "${options[@]}" > "$out" 2>&1 ||
        grep -q 'nothing ran$' "$out"
}

# Lines "DEVICE OP VARIANT TYPE" of all variants on all devices.  A matmul variant has most to
# compile, so its types are apart; on CPUs, whose compilers take long over 16 bits, tests cover those
# and the rarer types.
variants() {
    local device
    for device in "${devices[@]}"; do
        "$tessera" kernels --device "$device" --json > "$results/part-kernels.json" || return 1
        python3 -c 'import json, sys
device = sys.argv[1]
for o in json.load(open(sys.argv[2]))["operations"]:
    types = ["all"]
    if o["op"] == "matmul":
        types = o["types"] if device == "gpu" else ["float32", "float64"]
    for v in o["variants"]:
        if v["runs_on"] != "host":
            for t in types:
                print(device, o["op"], v["name"], t)' "$device" "$results/part-kernels.json" ||
            return 1
    done
}

# Nothing is timed here, so every variant on every device at once, on all cores, and the peers are
# built meanwhile.
verify_and_build_peers() {
    local device peers failed=0
    ninja -C "$build" --quiet &
    peers=$!
    variants > "$results/part-variants.txt" || failed=1
    xargs -P "$(nproc)" -L 1 bash -euc 'verify "$@"' verify < "$results/part-variants.txt" ||
        failed=1
    wait "$peers" || failed=1
    for device in "${devices[@]}"; do
        cat "$results/part-verify-$device"-*.txt > "$results/verify-$device.txt"
        awk -v device="$device" '/ passed, / { ok += $1; bad += $3; not += $5 }
            END { print "verify " device ": " ok " passed, " bad " failed, " not " skipped"
                  exit bad || !ok }' "$results/verify-$device.txt" || failed=1
    done
    return "$failed"
}

# bench DEVICE NAME OP OPTION...: rows into $results/part-DEVICE-NAME.jsonl.
bench() {
    local device=$1 name=$2
    shift 2
    step "bench $name on $device" "$tessera" bench "$@" --device "$device" --peers --quiet \
        -o "$results/part-$device-$name.jsonl"
}

step "build" build
devices=()
for device in gpu cpu; do
    if has "$device"; then
        devices+=("$device")
    fi
done
"$tessera" devices --json > "$results/devices.json"
"$tessera" devices
rm -f "$results"/part-*
export -f verify
export results tessera
step "verify" verify_and_build_peers

# Seconds of the benchmarks: 380 in all.
ladder=15
for device in "${devices[@]}"; do
    step "roofline of $device" "$tessera" roofline --device "$device" --quiet \
        -o "$results/part-$device-limits.jsonl"
    bench "$device" matmul matmul --kernel all --size 1024 --budget "$ladder"
    bench "$device" matvec matvec --kernel all --size 4096 --budget "$ladder"
    bench "$device" matvec-trans matvec --kernel all --size 4096 --trans --budget "$ladder"
    bench "$device" sort sort --kernel all --size 2^22 --budget "$ladder"
done
if has gpu; then
    bench gpu matmul-sizes matmul --size 256 --size 512 --size 1000 --size 4096x64x4096 \
        --size 64x64x16384 --size 2048 --size 4095 --size 4096 --size 8192 --budget 65
    bench gpu matmul-strict matmul --precision f32-strict --size 256 --size 512 --size 1000 \
        --size 1024 --size 4096x64x4096 --size 64x64x16384 --size 2048 --size 4095 --size 4096 \
        --budget 35
    bench gpu matmul-tf32 matmul --precision tf32 --size 1024 --size 8192 --budget 10
    bench gpu matmul-tf32-ladder matmul --precision tf32 --kernel all --size 4096 --budget 25
    bench gpu matmul-bf16 matmul --type bf16 --size 4096 --size 8192 --budget 12
    bench gpu matmul-batch matmul --kernel all --size 64 --batch 4096 --budget 15
    bench gpu matmul-f64 matmul --type f64 --kernel all --size 4096 --budget 25
    bench gpu matvec-sizes matvec --size 1000 --size 10000 --size 10x1000000 --size 1000000x10 \
        --budget 15
    bench gpu sort-sizes sort --size 2^20 --size 10M --size 2^24 --budget 17
    # One thread of the host takes ten seconds and more to sort each of these.
    bench gpu sort-large sort --size 100M --size 2^27 --budget 55
fi
for device in "${devices[@]}"; do
    cat "$results/part-$device"-*.jsonl > "$results/bench-$device.jsonl"
done
rm -f "$results"/part-*
step "report" "$tessera" compare "$results"/bench-*.jsonl --html "$results/report.html" \
    > "$results/compare.txt"
echo "gpu.sh: ended after $SECONDS s with status $status; results are in $results"
exit "$status"
