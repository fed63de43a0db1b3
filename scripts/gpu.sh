#!/usr/bin/env bash
# Build, verify every variant on every device of this machine, and time the ladders.
#
#     scripts/gpu.sh [RESULTS_FOLDER]
#
# For a machine with a GPU and its OpenCL driver.  Needs what the build needs (README.md) and
# python3 with NumPy; installs nothing.  Leaves verify.txt, devices.json and one ladder-*.jsonl a
# device in RESULTS_FOLDER (default: build/gpu-results).
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
build=${TESSERA_BUILD_DIR:-$root/build}
results=${1:-$build/gpu-results}
tessera=$build/tessera
mkdir -p "$results"

cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF
ninja -C "$build" tessera_command
"$tessera" devices --json > "$results/devices.json"
"$tessera" devices

status=0
"$tessera" verify --device all | tee "$results/verify.txt" || status=$?

for device in gpu cpu host; do
    if "$tessera" kernels --device "$device" > /dev/null 2>&1; then
        python3 "$root/scripts/ladders.py" run --tessera "$tessera" --device "$device" \
            -o "$results/ladder-$device.jsonl"
    else
        echo "gpu.sh: no device '$device' here, so no ladder for it"
    fi
done
echo "gpu.sh: verify ended with status $status; results are in $results"
exit "$status"
