#!/usr/bin/env bash
# Test suites that others wrote for what calls BLAS, under libtessera-blas: LAPACK's, NumPy's, SciPy's.
#
#     scripts/blas_suites.sh LIBRARY [lapack|numpy|scipy]...   default: all; half an hour on two cores
#
# LIBRARY is libtessera-blas.so.  Each suite runs twice: with the CPU's BLAS alone, and with every
# product of level 3 on the device (TESSERA_DEVICE, default: cpu).  It fails where the second run has
# more errors than the first or not all of its tests, where a run ends early, and where nothing ran on
# the device.  The tests come from Debian's liblapack-test, python3-numpy, python3-scipy
# and python3-pytest.  docs/blas.md has what it printed.
#
# shellcheck disable=SC2317 # suites are called by their names
set -euo pipefail

if [ $# -lt 1 ] || [ ! -f "$1" ]; then
    echo "Usage: scripts/blas_suites.sh LIBRARY [lapack|numpy|scipy]..." >&2
    exit 2
fi
library=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
shift
suites=("$@")
[ ${#suites[@]} -gt 0 ] || suites=(lapack numpy scipy)
libraries=$(dirname "$(find /usr/lib -path '*/lapack/lapack_testing.py' -print -quit)")
python=/usr/bin/python3 # the one of Debian's packages
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
export TESSERA_DEVICE=${TESSERA_DEVICE:-cpu}

# LAPACK's own test programs with the reference LAPACK, which calls BLAS for all its products.  Prints
# the numbers of tests and of errors for each type.
run_lapack() {
    local folder

    folder=$(mktemp -d -p "$results")
    ln -s "$libraries"/x* "$libraries"/*.in "$folder"
    (cd "$folder" && LD_LIBRARY_PATH=$libraries LD_PRELOAD=$library \
        "$python" "$libraries/lapack_testing.py" -b . -d . -r >summary.txt 2>errors.txt) || true
    sed -n '/^SUMMARY/,$p' "$folder/summary.txt" | grep -E '^(REAL|DOUBLE|COMPLEX|-->)'
}

# The counts that pytest prints at the end, without its time.
run_pytest() {
    LD_PRELOAD=$library "$python" -m pytest -q -p no:cacheprovider "$@" 2>"$results/errors.txt" |
        tail -n 1 | sed 's/ in [0-9.]*s.*//; s/[0-9]* warnings\?//; s/, *$//'
}

run_numpy() {
    local numpy=/usr/lib/python3/dist-packages/numpy

    run_pytest "$numpy"/linalg "$numpy"/core/tests/test_{multiarray,einsum,numeric}.py \
        -k 'dot or matmul or Matmul or Dot or linalg or einsum or inner or tensordot'
}

run_scipy() {
    run_pytest /usr/lib/python3/dist-packages/scipy/linalg/tests/test_{basic,blas,decomp,matfuncs}.py
}

# counts_of FILE: the numbers of tests and of errors, by LAPACK's table or pytest's last line; nothing
# where the suite did not come to its end.
counts_of() {
    if grep -q '^-->' "$1"; then
        awk -F '\t' '/^-->/ && $2 > 0 {print $2, $4 + $6}' "$1" # numerical and other errors
    elif grep -qE '(^|, )[0-9]+ passed' "$1"; then
        grep -oE '[0-9]+ (passed|failed|errors?|skipped|xfailed|xpassed)' "$1" |
            awk '{tests += $1} / (failed|error)/ {errors += $1} END {print tests, errors + 0}'
    fi
}

# judge SUITE CALLS: is the run on the device, of so many calls there, as good as the CPU's?
judge() {
    local cpu device

    read -ra cpu <<<"$(counts_of "$results/cpu")"
    read -ra device <<<"$(counts_of "$results/device")"
    if [ ${#cpu[@]} -ne 2 ]; then
        echo "$1: the run with the CPU's BLAS alone did not come to its end"
    elif [ ${#device[@]} -ne 2 ]; then
        echo "$1: the run on the device did not come to its end"
    elif [ "$2" -eq 0 ]; then
        echo "$1: nothing ran on the device"
    elif [ "${device[1]}" -gt "${cpu[1]}" ]; then
        echo "$1: ${device[1]} errors on the device, ${cpu[1]} with the CPU's BLAS alone"
    # LAPACK's script counts the tests of groups without an error: fewer errors are more tests.
    elif [ "${device[0]}" -lt "${cpu[0]}" ] ||
        { [ "$1" != lapack ] && [ "${device[0]}" -ne "${cpu[0]}" ]; }; then
        echo "$1: ${device[0]} tests on the device, ${cpu[0]} with the CPU's BLAS alone"
    else
        return 0
    fi
    return 1
}

# The products that ran on the device, by the summaries of a log.
count_offloaded() {
    touch "$1"
    sed -n 's/.*summary: \(\w*\): \([0-9]*\) on the device.*/\2/p' "$1" | awk '{n += $1} END {print n + 0}'
}

failed=0
for suite in "${suites[@]}"; do
    log=$results/$suite.log
    TESSERA_BLAS=never "run_$suite" >"$results/cpu" || true
    TESSERA_BLAS=always TESSERA_BLAS_LOG=$log "run_$suite" >"$results/device" || true
    calls=$(count_offloaded "$log")
    echo "== $suite: $calls calls on the device"
    cat "$results/device"
    if ! cmp -s "$results/cpu" "$results/device"; then
        echo "with the CPU's BLAS alone:"
        cat "$results/cpu"
    fi
    judge "$suite" "$calls" || failed=1
done
exit $failed
