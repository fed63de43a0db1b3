# Sourced by the scripts beside it: what they need from Debian 12 or Ubuntu 24.04, and how to get it.
# shellcheck shell=bash disable=SC2034

# To build the library and the command: the compiler, CMake, the OpenCL loader, JSON, PNG files.
BUILD_PACKAGES=(gcc libc6-dev cmake ninja-build pkg-config ocl-icd-opencl-dev opencl-c-headers
                libjansson-dev libpng-dev)

# To run them: PoCL, which makes the CPU an OpenCL device.
RUN_PACKAGES=(pocl-opencl-icd)

# To test them: unit tests, a simulator of OpenCL, NumPy as the second opinion, sanitizers and
# fuzzers (clang's runtime is a package of its own), analysers.  g++ compiles the headers as C++;
# Chart.js and Chromium draw the report.  The Python package takes CPython's headers, its arrays on a
# device those of pyopencl, and a wheel of it setuptools.
TEST_PACKAGES=(libcmocka-dev oclgrind python3 python3-dev python3-numpy python3-pyopencl
               python3-setuptools python3-wheel python3-build g++ clang clang-format clang-tidy cppcheck
               git procps libjs-chart.js chromium)

# To test libtessera-blas: the reference's own programs, and a BLAS for each size of integers.
TEST_PACKAGES+=(libblas-test libopenblas0 libblas64-3)

# To make man pages and the reference of the C library, and to test them and the completions by their
# readers; bash is there.
TEST_PACKAGES+=(help2man doxygen groff-base man-db zsh fish)

# To compare with other libraries (`tessera bench --peers`).  Each is optional.  cuBLAS and CUB come
# with NVIDIA's CUDA toolkit, which the distribution does not have.
PEER_PACKAGES=(g++ libopenblas-dev libclblast-dev libboost-dev libtbb-dev libhwy-dev
               libopencv-imgproc-dev ocl-icd-opencl-dev)

# To make Debian's packages, and to check them (package.sh); python3-dev and help2man for all that
# debian/control says.
DEBIAN_PACKAGES=(build-essential debhelper dh-python dpkg-dev fakeroot lintian git help2man doxygen libjs-chart.js
                 python3-dev python3-numpy libcmocka-dev)

# One fact of this system, such as `system_fact VERSION_ID`.
system_fact() {
    (. /etc/os-release && echo "${!1:-}") 2>/dev/null || true
}

case "$(system_fact ID) $(system_fact VERSION_ID)" in
"debian 12") TEST_PACKAGES+=(libclang-rt-14-dev) ;;
"ubuntu 24.04") TEST_PACKAGES+=(libclang-rt-18-dev) ;;
esac

is_installed() {
    [ "$(dpkg-query -W -f='${Status}' "$1" 2>/dev/null)" = "install ok installed" ]
}

# install_packages PACKAGE...: install those that are missing.  Where there is no apt-get it only
# says what is expected, and the build finds out.
install_packages() {
    local package missing=() as_root=()

    if ! command -v apt-get >/dev/null; then
        echo "No apt-get here; expected to be installed: $*" >&2
        return 0
    fi
    for package in "$@"; do
        is_installed "$package" || missing+=("$package")
    done
    if [ ${#missing[@]} -eq 0 ]; then
        return 0
    fi
    if [ "$(id -u)" -ne 0 ]; then
        if ! command -v sudo >/dev/null; then
            echo "Missing: ${missing[*]}. Install them as root: this is not root, and there is" \
                 "no sudo." >&2
            return 1
        fi
        as_root=(sudo)
    fi
    as_root+=(env DEBIAN_FRONTEND=noninteractive apt-get -q -y)

    echo "Installing with apt-get: ${missing[*]}"
    if ! "${as_root[@]}" update ||
        ! "${as_root[@]}" install --no-install-recommends "${missing[@]}"; then
        echo "apt-get could not install: ${missing[*]}" >&2
        return 1
    fi
}
