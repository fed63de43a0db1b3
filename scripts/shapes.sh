#!/usr/bin/env bash
# Compare Tessera with the vendor's library at 1,400 shapes drawn at random, by wall time and, where
# DEVICE is gpu, by the device's own time.  Options are those of scripts/shapes.py.
#
#     scripts/shapes.sh DEVICE FILE [OPTION]...
#
# FILE takes the rows: data/results/shapes-NAME.jsonl.  The command is build/tessera, or --tessera's.
set -euo pipefail

if [ $# -lt 2 ] || [[ $1 == -* || $2 == -* ]]; then
    echo "Usage: scripts/shapes.sh DEVICE FILE [OPTION of scripts/shapes.py]..." >&2
    exit 2
fi
device=$1
file=$2
shift 2
shapes=$(dirname "$0")/shapes.py
clocks=()
if [ "$device" = gpu ]; then
    clocks=(--held both)
fi
exec "$shapes" --device "$device" -o "$file" "${clocks[@]}" "$@"
