#!/usr/bin/env bash
# Debian's packages of Tessera, on Debian 12: installs what is missing, builds them in a copy of the
# tree, and has lintian find nothing in them.
#
#     scripts/package.sh              leaves them in build-debian/, after about five minutes on two cores
#     scripts/package.sh --install    also installs them, runs their tests (debian/tests) and removes
#                                     them again; as root
#     scripts/package.sh --abi        compares the library's interface with that of the last tag of
#                                     its version, MAJOR.MINOR
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source-path=SCRIPTDIR source=packages.sh
. "$root/scripts/packages.sh"

what=${1:-build}
if [ $# -gt 1 ] || [[ ! $what =~ ^(build|--install|--abi)$ ]]; then
    echo "Usage: scripts/package.sh [--install | --abi]" >&2
    exit 2
fi
work=$root/build-debian

build_packages() {
    rm -rf "$work"
    mkdir -p "$work/tessera"
    # Of those that git lists, files that are deleted in the work tree are left out.
    (cd "$root" && comm -z -23 <(git ls-files -co --exclude-standard -z | sort -zu) \
        <(git ls-files -d -z | sort -z) | xargs -0 cp --parents -t "$work/tessera")
    (cd "$work/tessera" && dpkg-buildpackage -us -uc)
    lintian --info --display-info --pedantic --fail-on error,warning,info,pedantic "$work"/*.changes
}

# What the packages' tests see is the installed system alone.
test_installed() {
    local packages=() files=$work/files.txt before after test status=0

    for test in "$work"/*.deb; do
        case $test in
        *-dbgsym_*) ;;
        *) packages+=("$test") ;;
        esac
    done
    before=$(alternative)
    apt-get -q -y install --no-install-recommends "${packages[@]}"
    mapfile -t packages < <(for test in "${packages[@]}"; do dpkg-deb -f "$test" Package; done)
    dpkg -L "${packages[@]}" | sort -u > "$files"
    for test in $(sed -n 's/^Tests: //p' "$work/tessera/debian/tests/control"); do
        echo "== debian/tests/$test"
        rm -rf "$work/test"
        mkdir "$work/test"
        # Before a python3 of the user's own comes Debian's, whose packages these are.
        if ! (cd "$work/tessera" && PATH=/usr/sbin:/usr/bin:/sbin:/bin \
                AUTOPKGTEST_TMP=$work/test "debian/tests/$test"); then
            echo "package.sh: debian/tests/$test failed"
            status=1
        fi
    done
    apt-get -q -y purge "${packages[@]}"
    while read -r file; do
        if [[ $file == *tessera* ]] && [ -e "$file" ]; then
            echo "package.sh: left behind: $file"
            status=1
        fi
    done < "$files"
    after=$(alternative)
    if [ "$before" != "$after" ]; then
        printf 'package.sh: libblas.so.3 was %s and is %s\n' "$before" "$after"
        status=1
    fi
    return $status
}

alternative() {
    update-alternatives --query "libblas.so.3-$(dpkg-architecture -qDEB_HOST_MULTIARCH)" \
        2>/dev/null || true
}

compare_interfaces() {
    local api tag i sources=("$work/abi/tag" "$root") options=(-G Ninja
        -DCMAKE_BUILD_TYPE=Debug -DBUILD_TESTING=OFF -DTESSERA_PEERS=OFF -DTESSERA_PYTHON=OFF
        -DTESSERA_MANUAL=OFF)

    api=$(sed -nE 's/.*define TSR_VERSION_(MAJOR|MINOR) //p' "$root/include/tessera/api.h" | paste -sd.)
    tag=$(git -C "$root" tag --list "v$api.*" --sort=-version:refname | head -1)
    if [ -z "$tag" ]; then
        echo "package.sh: no tag v$api.*, so nothing to compare with"
        return 0
    fi
    rm -rf "$work/abi"
    mkdir -p "$work/abi/tag"
    git -C "$root" archive "$tag" | tar -x -C "$work/abi/tag"
    for i in 0 1; do
        cmake -S "${sources[i]}" -B "$work/abi/build-$i" "${options[@]}"
        cmake --build "$work/abi/build-$i" --target libtessera.so
    done
    # New functions are no change of what programs have been linked with.
    abidiff --no-added-syms --headers-dir1 "${sources[0]}/include" \
        --headers-dir2 "${sources[1]}/include" \
        "$work/abi/build-0/libtessera.so" "$work/abi/build-1/libtessera.so"
}

if [ "$what" = --abi ]; then
    install_packages "${BUILD_PACKAGES[@]}" abigail-tools git
    compare_interfaces
    exit
fi
install_packages "${BUILD_PACKAGES[@]}" "${DEBIAN_PACKAGES[@]}"
build_packages
if [ "$what" = --install ]; then
    install_packages "${RUN_PACKAGES[@]}"
    test_installed
fi
echo "package.sh: all passed in $SECONDS s"
