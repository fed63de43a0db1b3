#!/usr/bin/env bash
# Shows what Tessera does, from a fresh Debian 12 or Ubuntu 24.04: installs what is missing, builds,
# lists the devices, does five real jobs whose answers are known, and proves the command's results.
#
#     scripts/demo.sh
#
# TESSERA_DEVICE picks the device (default: the first GPU, else the CPU), TESSERA_BUILD_DIR the build
# folder (default: build/).  Exits with 0 only if every answer is right.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$root/scripts/packages.sh"

build=${TESSERA_BUILD_DIR:-$root/build}
data=$root/data
doing="making the build folder"

on_exit() {
    local status=$?
    if [ "$status" -ne 0 ]; then
        echo "demo.sh: failed while $doing (exit status $status)" >&2
    fi
}
trap on_exit EXIT

# begin HEADING DOING: what the reader sees, and what is said if it fails.
begin() {
    doing=$2
    printf '\n== %s\n\n' "$1"
}

# Print a command as one would type it in the repository, and run it.
show() {
    local line="$*"
    echo "\$ ${line//"$root/"/}"
    "$@"
}

# Build what is shown, without the tests.  Quietly: the log counts only when it fails.
build_shown() {
    local log=$build/demo/build.log generator=()
    local targets=(tessera_command nearest_digit package_rank largest_packages)

    if [ ! -e "$build/CMakeCache.txt" ]; then
        generator=(-G Ninja)
    fi
    if ! { cmake -S "$root" -B "$build" "${generator[@]}" -DCMAKE_BUILD_TYPE=Release &&
        cmake --build "$build" --parallel "$(nproc)" --target "${targets[@]}"; } >"$log" 2>&1; then
        tail -n 40 "$log" >&2
        return 1
    fi
    echo "Built in $build"
}

# The vector of n ones, as Matrix Market.
ones() {
    echo "%%MatrixMarket matrix array real general"
    echo "$1 1"
    for ((i = 0; i < $1; i++)); do
        echo 1
    done
}

# A^T 1, 1 a vector of ones, counts the entries of each column: awk counts them again, and compares.
compare_column_sums() {
    awk '
        /^%/ { next }
        !header[FILENAME]++ { next }
        FILENAME == matrix  { count[$2]++; next }
        { row++; if ($1 + 0 != count[row] + 0) wrong++ }
        END {
            print "  " row " sums compared with a plain count: " wrong + 0 " differ"
            exit row == 0 || wrong > 0
        }' matrix="$1" "$1" "$2"
}

# The pixels of each eighth of the brightness, drawn as bars, against data/README.md's.
compare_brightness() {
    awk -v known="74543 85270 135189 162032 145087 121461 55439 7411" '
        BEGIN { n = split(known, count, " ") }
        /^%/ { next }
        !header++ { next }
        {
            bar = sprintf("%*s", $1 / 4000, "")
            gsub(/ /, "#", bar)
            printf "  %3d to %3d  %6d  %s\n", 32 * row, 32 * row + 31, $1, bar
            if ($1 != count[++row]) wrong++
        }
        END {
            print "  " row " counts compared with the known ones: " wrong + 0 " differ"
            exit row != n || wrong > 0
        }' "$1"
}

mkdir -p "$build/demo"
build=$(cd "$build" && pwd)

begin "Packages" "installing packages"
install_packages "${BUILD_PACKAGES[@]}" "${RUN_PACKAGES[@]}"
echo "All there."

begin "Build" "building"
build_shown
tessera=$build/tessera

begin "The devices of this machine" "listing the devices"
show "$tessera" devices

begin "Handwritten digits by nearest neighbour: matrix multiply" "recognising digits"
show "$build/examples/nearest_digit" "$data"

begin "The most important packages of Debian: matrix times vector" "ranking packages"
show "$build/examples/package_rank" "$data"

begin "The largest packages of Debian: sort" "sorting packages"
show "$build/examples/largest_packages" "$data"

begin "The same through the command, proved against the CPU reference" "running the command"
show "$tessera" matmul "$data/digits.npy" "$data/digits.npy" --trans-b \
    -o "$build/demo/products.npy" --verify
show "$tessera" sort "$data/debian_sizes_kib.npy" --descending \
    -o "$build/demo/sizes.npy" --argsort "$build/demo/order.npy" --verify
ones 2000 >"$build/demo/ones.mtx"
show "$tessera" matvec "$data/debian_deps.mtx" "$build/demo/ones.mtx" --trans --as f32 \
    -o "$build/demo/dependants.mtx" --verify
compare_column_sums "$data/debian_deps.mtx" "$build/demo/dependants.mtx"

begin "A photograph in grey and transposed, and how bright its pixels are" "converting a photograph"
show "$tessera" grayscale "$data/raccoon.png" -o "$build/demo/raccoon.png" --verify
show "$tessera" transpose "$build/demo/raccoon.png" -o "$build/demo/transposed.png" --verify
"$tessera" transpose "$build/demo/transposed.png" -o "$build/demo/twice.png" --quiet
cmp "$build/demo/raccoon.png" "$build/demo/twice.png"
echo "  transposed twice it is the same file"
"$tessera" grayscale "$data/raccoon.png" -o "$build/demo/raccoon.npy" --quiet
show "$tessera" histogram "$build/demo/raccoon.npy" --bins 8 --range 0:256 \
    -o "$build/demo/brightness.mtx" --verify
compare_brightness "$build/demo/brightness.mtx"

printf '\nAll known answers are right.\n'
