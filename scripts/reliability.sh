#!/usr/bin/env bash
# The long runs of tests of which scripts/test.sh has a small share: thousands of damaged files under
# ASan and UBSan, calls of OpenCL that fail once and from then on, forged devices, random problems
# against NumPy, calls of the Python package, signals at random moments, every type of every variant in
# Oclgrind with all its checks and kernels as compiled, every program of the sweeps on PoCL, and bugs
# planted in the C code, which tests have to find.
#
#     scripts/reliability.sh [NAME...]     all, or some of: malformed faults forged random python
#                                          signals oclgrind sweeps mutants
#
# Some hours on two cores.  TESSERA_BUILD_DIR is where the build folder goes (default: build/).
# A part that fails does not keep the others from running; the exit status is then 1.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
builds=${TESSERA_BUILD_DIR:-$root/build}
mkdir -p "$builds"
builds=$(cd "$builds" && pwd)
parts=${*:-malformed faults forged random python signals oclgrind sweeps mutants}
failed=0

# part FOLDER DIRECTORY TEST NAME=VALUE...: a Python test of tests/DIRECTORY on what was built in the
# folder, with this environment.
part() {
    local folder=$builds/$1 directory=$2 test=$3
    shift 3

    (cd "$root/tests/$directory" &&
        env PYTHONPATH="$root/tests/cli:$root/tests/faults" PYTHONDONTWRITEBYTECODE=1 \
            TESSERA="$folder/tessera" \
            POCL_CACHE_DIR="$builds/pocl-cache" FAULT_LAYER="$folder/tests/faults/fault_layer.so" \
            FORGED_LAYER="$folder/tests/forged/forged_layer.so" \
            LSAN_OPTIONS="suppressions=$root/tests/lsan.supp:print_suppressions=0:use_tls=0:symbolize=0" "$@" \
            python3 -m unittest -v "$test") || failed=1
}

# python_test SCRIPT ARGUMENT...: one of tests/python, on the package that was built.
python_test() {
    local script=$1
    shift

    env PYTHONPATH="$builds/reliability/python" POCL_CACHE_DIR="$builds/pocl-cache" \
        PYTHONDONTWRITEBYTECODE=1 python3 "$root/tests/python/$script" "$@" || failed=1
}

build() {
    local folder=$builds/$1
    shift

    cmake -S "$root" -B "$folder" -G Ninja -DTESSERA_PEERS=OFF \
        -DTESSERA_TEST_POCL_CACHE="$builds/pocl-cache" "$@"
    cmake --build "$folder" --parallel "$(nproc)" --target tessera_command exiting_driver \
        fault_layer forged_layer
}

for name in $parts; do
    printf '\n== %s\n\n' "$name"
    case $name in
    malformed)
        build reliability-sanitized -DCMAKE_BUILD_TYPE=RelWithDebInfo \
            -DTESSERA_SANITIZE=address,undefined
        # Of each input of an operation's example and of seven other files: more than 5,000.
        part reliability-sanitized cli test_malformed TESSERA_RANDOM=400
        ;;
    faults)
        build reliability -DCMAKE_BUILD_TYPE=Release
        part reliability faults test_faults.EveryFunction TESSERA_LONG=1
        for test in "$root"/tests/*/faults.py; do
            if grep -q '^class EveryFunction' "$test"; then
                part reliability "$(basename "$(dirname "$test")")" faults.EveryFunction \
                    TESSERA_LONG=1
            fi
        done
        ;;
    forged)
        build reliability -DCMAKE_BUILD_TYPE=Release
        part reliability forged test_forged TESSERA_LONG=1
        ;;
    random)
        build reliability -DCMAKE_BUILD_TYPE=Release
        for test in "$root"/tests/*/test_*_shapes.py; do
            part reliability "$(basename "$(dirname "$test")")" "$(basename "$test" .py)" \
                TESSERA_RANDOM=2000
        done
        part reliability cli test_random TESSERA_RANDOM=2000
        ;;
    python)
        build reliability -DCMAKE_BUILD_TYPE=Release
        cmake --build "$builds/reliability" --target tessera_python tessera_python_modules
        env POCL_CACHE_DIR="$builds/pocl-cache" "$root/scripts/random_calls.py" \
            --package "$builds/reliability/python" || failed=1
        python_test test_module.py 100000
        python_test test_device_arrays.py
        python_test test_pool.py
        ;;
    signals)
        build reliability -DCMAKE_BUILD_TYPE=Release
        part reliability cli test_signals TESSERA_RANDOM=200
        ;;
    oclgrind)
        build reliability -DCMAKE_BUILD_TYPE=Release
        cmake --build "$builds/reliability" --target variant_tests sweep promote_layer
        TESSERA_LONG=1 ctest --test-dir "$builds/reliability" -R '^oclgrind/' -E '/traffic$' \
            -j "$(nproc)" --output-on-failure || failed=1
        ;;
    sweeps)
        build reliability -DCMAKE_BUILD_TYPE=Release
        cmake --build "$builds/reliability" --target variant_tests sweep test_isa
        TESSERA_LONG=1 ctest --test-dir "$builds/reliability" \
            -R '^device/[a-z]+/|^unit/test_isa_whole$' \
            -j "$(nproc)" --output-on-failure || failed=1
        ;;
    mutants)
        "$root/scripts/mutants.py" --folder "$builds/mutants" --pocl-cache "$builds/pocl-cache" ||
            failed=1
        ;;
    *)
        echo "Usage: scripts/reliability.sh [malformed|faults|forged|random|python|signals|oclgrind|sweeps|mutants]..." >&2
        exit 2
        ;;
    esac
done
exit "$failed"
