#!/usr/bin/env bash
# Make the pages of docs/course again: in Oclgrind, where runs are the same each time, and those that
# need more of a device on the one that TESSERA_DEVICE names.
#
#     scripts/lessons.sh TESSERA
set -euo pipefail
cd "$(dirname "$0")/.."
tessera=$(realpath "$1")

mkdir -p docs/course
for lesson in tiled; do
    oclgrind "$tessera" lesson $lesson -o docs/course/$lesson.html
done
