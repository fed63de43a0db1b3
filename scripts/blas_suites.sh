#!/usr/bin/env bash
# Test suites that others wrote for what calls BLAS, under libtessera-blas: LAPACK's, NumPy's, SciPy's;
# and programs that call one: R, Octave, scikit-learn, hpcc.
#
#     scripts/blas_suites.sh LIBRARY [lapack|numpy|scipy|r|octave|sklearn|hpcc]...
#
# Default: all; half an hour on two cores.  LIBRARY is libtessera-blas.so.  Each runs twice: with the
# CPU's BLAS alone, and with every product of level 3 on the device (TESSERA_DEVICE, default: cpu).  It
# fails where the second run has more errors than the first or not all of its tests, or numbers that
# differ by more than rounding, where a run ends early, and where nothing ran on the device.  They come
# from Debian's liblapack-test, python3-numpy, python3-scipy, python3-pytest, python3-hypothesis, r-base-core,
# octave, python3-sklearn and hpcc.  docs/blas.md has what it printed.
#
# shellcheck disable=SC2016,SC2317 # programs in quotes; suites are called by their names
set -euo pipefail

if [ $# -lt 1 ] || [ ! -f "$1" ]; then
    echo "Usage: scripts/blas_suites.sh LIBRARY [lapack|numpy|scipy|r|octave|sklearn|hpcc]..." >&2
    exit 2
fi
library=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
shift
suites=("$@")
[ ${#suites[@]} -gt 0 ] || suites=(lapack numpy scipy r octave sklearn hpcc)
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

# ---- programs: they print numbers, one a line, which are the same on the device but for rounding

# Products, crossprod, a solution, principal components, complex products, and processes of mclapply.
run_r() {
    LD_PRELOAD=$library Rscript --vanilla -e '
        set.seed(1)
        a <- matrix(rnorm(400 * 300), 400)
        z <- matrix(complex(real = rnorm(40000), imaginary = rnorm(40000)), 200)
        s <- crossprod(a) + diag(300)
        show <- function(x) cat(sprintf("%.17g\n", as.vector(x)), sep = "")
        show((a %*% t(a))[seq(1, 160000, 997)])
        show(s[seq(1, 90000, 997)])
        show(solve(s, t(a))[seq(1, 120000, 997)])
        show(prcomp(a)$sdev)
        show(Mod((z %*% z)[seq(1, 40000, 997)]))
        show(unlist(parallel::mclapply(1:4, function(i) sum((a + i) %*% t(a)), mc.cores = 2)))'
}

# No display, no start-up files.
run_octave() {
    LD_PRELOAD=$library octave-cli --norc --quiet --eval '
        rand("seed", 1); a = rand(400, 300); z = rand(200) + 1i * rand(200); s = a.'"'"' * a + eye(300);
        printf("%.17g\n", (a * a.'"'"')(1:997:end), (s \ a.'"'"')(1:997:end), chol(s)(1:9970:end),
               abs((z * z'"'"')(1:997:end)), det(s / 300), expm(s / 1e4)(1:9970:end));'
}

run_sklearn() {
    LD_PRELOAD=$library "$python" -W ignore -c '
import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.neural_network import MLPClassifier
rng = np.random.default_rng(1)
centres = rng.normal(size=(8, 60)) * 5
labels = rng.integers(0, 8, 4000)
x = centres[labels] + rng.normal(size=(4000, 60))
means = KMeans(8, n_init=3, random_state=1).fit(x)
parts = PCA(20, svd_solver="full").fit(x)
net = MLPClassifier((100,), max_iter=30, random_state=1).fit(x, labels)
for a in (means.inertia_, np.sort(means.cluster_centers_, 0)[:, ::7], parts.explained_variance_,
          abs(parts.components_[:3, ::7]), net.score(x, labels)):
    print("\n".join("%.17g" % n for n in np.ravel(a)))'
}

# HPL alone counts of hpcc, on one process: its residual, and that it passed.
run_hpcc() {
    local folder

    folder=$(mktemp -d -p "$results")
    sed -e '0,/^[0-9 ]* *Ns$/s/^[0-9 ]* *Ns$/1200 Ns/' -e 's/^[0-9 ]* *Ps$/1 Ps/' \
        -e 's/^[0-9 ]* *Qs$/1 Qs/' "$(find /usr/share/doc/hpcc -name '*hpccinf.txt*' -print -quit)" \
        >"$folder/hpccinf.txt"
    (cd "$folder" && LD_PRELOAD=$library OMPI_ALLOW_RUN_AS_ROOT=1 hpcc) >/dev/null 2>"$results/errors.txt"
    awk '/^HPL_N=/ {print substr($0, 7)} /Ax-b.*PASSED/ {print "1"} /Ax-b.*FAILED/ {print "0"}' \
        FS=, "$folder/hpccoutf.txt"
}

# judge_numbers SUITE CALLS: whether the numbers are the same but for rounding.
judge_numbers() {
    "$python" - "$results/cpu" "$results/device" "$@" <<'END'
import sys
cpu, device = ([float(line) for line in open(file, encoding="ascii")] for file in sys.argv[1:3])
suite, calls = sys.argv[3:]
scale = max(map(abs, cpu), default=0)
worst = max((abs(x - y) / max(abs(x), 1e-3 * scale) for x, y in zip(cpu, device)), default=0)
print("%d numbers, which differ by %.1e at most" % (len(device), worst))
if not cpu:
    sys.exit("%s: the run with the CPU's BLAS alone printed no numbers" % suite)
if len(cpu) != len(device):
    sys.exit("%s: %d numbers on the device, %d with the CPU's BLAS alone" % (suite, len(device), len(cpu)))
if calls == "0":
    sys.exit("%s: nothing ran on the device" % suite)
if not worst < 1e-8:
    sys.exit("%s: numbers differ by %g" % (suite, worst))
END
}

# ---- what came out

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
    if [[ $suite =~ ^(r|octave|sklearn|hpcc)$ ]]; then
        judge_numbers "$suite" "$calls" || failed=1
        continue
    fi
    cat "$results/device"
    if ! cmp -s "$results/cpu" "$results/device"; then
        echo "with the CPU's BLAS alone:"
        cat "$results/cpu"
    fi
    judge "$suite" "$calls" || failed=1
done
exit $failed
