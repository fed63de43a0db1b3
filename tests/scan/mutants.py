"""Bugs in scan's C code, which tests find: scripts/mutants.py plants them."""

PIECES = "cli/test_scan_command"
LOOPS = "unit/test_scan_simd"

MUTANTS = {
    "scan-lanes-moved":
        ("host/ops/scan/scan_vectors.h", "low, v, 0, 1, 4, 5)", 0, "low, v, 0, 1, 4, 4)", LOOPS),
    "scan-head-from-the-end":
        ("host/ops/scan/scan_loops.c", "((uintptr_t)out + size) % CACHE_LINE", 0,
         "(uintptr_t)out % CACHE_LINE", LOOPS),
    "scan-ahead-in-one-lane":
        ("host/ops/scan/scan_loops.c", "lane[i / HALF] += VECTOR", 0, "lane[0] += VECTOR", LOOPS),
    "scan-before-without-a-vector":
        ("host/ops/scan/scan_loops.c", "before += (double)v[WIDTH - 1]", 0,
         "before += (double)v[0]", LOOPS),
    "scan-open-from-the-end":
        ("host/ops/scan/scan_partition.c", "(size_t)offsets[above - 1] - at->first", 0,
         "(size_t)offsets[above] - at->first", PIECES),
    "scan-starts-from-the-end":
        ("host/ops/scan/scan_partition.c", "(above && offsets[above - 1] > at->first)", 0,
         "(above && offsets[above] > at->first)", PIECES),
    "scan-closed-at-the-end":
        ("host/ops/scan/scan_partition.c", "next < end ? (size_t)next - at->first : at->closed", 0,
         "at->closed", PIECES),
    "scan-segment-at-the-first":
        ("host/ops/scan/scan_partition.c", "offset_from(offsets, segments, at->first + 1)", 0,
         "offset_from(offsets, segments, at->first)", PIECES),
    "scan-segments-empty":
        ("host/ops/scan/scan_partition.c", "if (offsets[s] - at->first > staged[n - 1])", 0,
         "", PIECES),
    "scan-columns-of-the-first":
        ("host/ops/scan/scan_partition.c", "i / cuts * p->n * inner + first", 0, "first",
         "cli/test_scan_command"),
}

SURVIVORS = {
    "scan-segment-at-the-first":
        "a segment that starts with the stretch is at 0, where staged[0] is, and is left out as empty",
}
