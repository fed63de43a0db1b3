#!/usr/bin/env bash
# Every test of Tessera, without a GPU, on Debian 12 or Ubuntu 24.04: installs what is missing,
# builds with gcc and with clang, plain and with sanitizers, and runs what each build is for.
#
#     scripts/test.sh         everything
#     scripts/test.sh quick   the release build and the tests that need no device
#
# Tests with the label `timing` compare speeds and want a machine with nothing else to do: run them
# by `ctest -L timing`.  TESSERA_BUILD_DIR is where the build folders go (default: build/).  What PoCL
# compiled, which takes most of the time, builds share there in pocl-cache/.  A step that fails does
# not keep the others from running; the summary at the end names it, and the exit status is then 1.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source-path=SCRIPTDIR source=packages.sh
. "$root/scripts/packages.sh"

what=${1:-all}
if [ $# -gt 1 ] || { [ "$what" != all ] && [ "$what" != quick ]; }; then
    echo "Usage: scripts/test.sh [quick]" >&2
    exit 2
fi

builds=${TESSERA_BUILD_DIR:-$root/build}
mkdir -p "$builds"
builds=$(cd "$builds" && pwd)
jobs=$(nproc)
summary=()
failed=0

# step NAME COMMAND...: run it, and keep how it went for the summary.
step() {
    local name=$1 start=$SECONDS outcome=ok status
    shift

    printf '\n== %s\n\n' "$name"
    # In a subshell of its own, where `set -e` holds: it would not in an `if`.
    set +e
    (set -e; "$@")
    status=$?
    set -e
    if [ "$status" -ne 0 ]; then
        outcome=FAILED
        failed=1
    fi
    summary+=("$(printf '%-6s %5d s  %s' "$outcome" $((SECONDS - start)) "$name")")
    [ "$outcome" = ok ]
}

# build FOLDER OPTION...: configure and build with every test that there is.  Programs, of which tests are
# many, are linked by gold where it is there: it takes half the time.
build() {
    local folder=$builds/$1 linker=
    shift

    if command -v ld.gold >/dev/null; then
        linker=-fuse-ld=gold
    fi
    cmake -S "$root" -B "$folder" -G Ninja -DTESSERA_WERROR=ON -DTESSERA_REQUIRE_ALL_TESTS=ON \
        -DTESSERA_TEST_POCL_CACHE="$builds/pocl-cache" -DCMAKE_EXE_LINKER_FLAGS="$linker" "$@"
    cmake --build "$folder" --parallel "$jobs"
}

# run_ctest FOLDER LABELS OPTION...: a build's tests but those with LABELS, a pattern.
run_ctest() {
    local folder=$builds/$1 without=$2
    shift 2

    # Two more than there are cores: some tests wait, for a browser, an interrupt or a made-up peer.
    ctest --test-dir "$folder" --output-on-failure --output-log "$folder/ctest.txt" \
        --no-tests=error -j $((jobs + 2)) -LE "$without" "$@"
}

# What ctest said at the end of a build's tests.
closing_lines() {
    local said=$builds/$1/ctest.txt

    if [ -f "$said" ]; then
        sed -n '/tests passed,/,$p' "$said"
    fi
}

check_format() {
    find "$root"/{host,include,blas,tests,examples,bench,python} -name '*.[ch]' -print0 |
        xargs -0 -P "$jobs" -n 50 clang-format --dry-run --Werror
}

# One process for a few files: with -j cppcheck 2.10 keeps one core busy.  As with -j ctunullpointer is
# off, which reports a NULL that is meant.
check_with_cppcheck() {
    find "$root/host" "$root/blas" -name '*.c' -print0 |
        xargs -0 -P "$jobs" -n 12 cppcheck --quiet --error-exitcode=1 --std=c11 \
            --enable=warning,portability --inline-suppr --suppress=missingIncludeSystem \
            --suppress=ctunullpointer -I "$root/include" -I "$root/host" -I "$root" \
            -DCL_TARGET_OPENCL_VERSION=300
}

test_release() {
    # Of peers, whose C++ takes the compiler as long as all else, the results are tested here.
    step "gcc, release: build" build test-release -DCMAKE_BUILD_TYPE=Release \
        -DCMAKE_C_COMPILER=gcc "-DCMAKE_CXX_FLAGS_RELEASE=-O0 -DNDEBUG" || return 0
    if [ "$what" = quick ]; then
        step "gcc, release: quick tests" run_ctest test-release timing -L quick || true
    else
        # Tests of failing calls (label `faults`), and of damaged files, run in the sanitized build,
        # which sees more of what they leave behind.
        step "gcc, release: every test but faults" run_ctest test-release 'timing|faults' \
            -E '^cli/test_malformed$' || true
    fi
}

# gcc warns of more, and wrongly, in sanitized code: that is no error here.  LeakSanitizer crashes
# ("Tracer caught signal 11") where it reads the thread-local storage of a driver's thread that ends: it
# does not (use_tls=0 in CMakeLists.txt, which lets no leak through).  Should it crash all the
# same, a command that ends so runs again (tests/cli/cli_support.py), as does a test, up to eight times
# in all.  Tests of failing calls run once: a call that is now right and now wrong is what they look
# for, and all that they start runs again by itself.
# After the release build's tests, whose programs PoCL then has: compiled under the sanitizer they
# would take several times as long.  Measuring and tuning are looked at in general, and not again for
# each operation; plans in test_plans, which has those of all variants (the others run in the build of
# clang); lessons and real data in the release build; and the instruction sets of C code at the sizes of
# test_isa alone.  What the command takes from an operation's tables it takes of two
# operations there (SOME in tests/cli/cli_support.py), and what it measures or draws once of each kind
# (SANITIZED): the release build has the rest.
test_sanitized() {
    step "gcc, address and undefined-behaviour sanitizers: build" build test-asan \
        -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS=-O1 -DCMAKE_C_FLAGS_DEBUG=-g1 -DCMAKE_C_COMPILER=gcc \
        -DTESSERA_SANITIZE=address,undefined -DTESSERA_WERROR=OFF -DTESSERA_PEERS=OFF \
        -DTESSERA_MANUAL=OFF || return 0
    step "gcc, sanitizers: tests" run_ctest test-asan timing -L 'quick|device|cli|examples' \
        -E '^(docs|headers|layers|lessons|manual)/|^cli/test_[a-z]+_(bench|tune)$|RealData$|^unit/test_(isa_whole|[a-z]+_plan)$' \
        --repeat until-pass:8 || true
    step "gcc, sanitizers: failing calls" run_ctest test-asan timing -L faults || true
}

# Documents and scripts are the same whatever the compiler; the unit tests of C code and of proofs, which
# take longest, run in the other builds.
test_clang() {
    step "clang with clang-tidy: build" build test-clang -DCMAKE_BUILD_TYPE=Debug \
        -DCMAKE_C_FLAGS=-Wreserved-identifier -DCMAKE_C_FLAGS_DEBUG=-O0 -DCMAKE_C_COMPILER=clang \
        -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DTESSERA_CXX_PEERS=OFF -DTESSERA_MANUAL=OFF \
        "-DCMAKE_C_CLANG_TIDY=clang-tidy;--quiet;--warnings-as-errors=*" || return 0
    step "clang: quick tests and fuzzers" run_ctest test-clang timing -L 'quick|fuzz' \
        -E '^(docs|layers|manual)/|^unit/test_[a-z]+_(host|proof)$' || true
}

step "packages" install_packages "${BUILD_PACKAGES[@]}" "${RUN_PACKAGES[@]}" "${TEST_PACKAGES[@]}" \
    "${PEER_PACKAGES[@]}" || true
if [ "$what" = all ]; then
    step "clang-format" check_format || true
    step "cppcheck" check_with_cppcheck || true
    test_clang
fi
rm -f "$builds/test-release/ctest.txt"
test_release
if [ "$what" = all ]; then
    test_sanitized
    # Again, so that ctest's closing lines on all tests stand at the end.
    closing_lines test-release
fi

printf '\n== Summary\n\n'
printf '%s\n' "${summary[@]}"
if [ "$failed" -ne 0 ]; then
    echo "test.sh: something failed"
    exit 1
fi
echo "test.sh: all passed in $SECONDS s"
