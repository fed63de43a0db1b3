"""Bugs of scan's kernels that tests find: tests/device/seeded_bugs.py seeds them."""

# name: (variant, file, text, which occurrence of it, replacement, settings)
BUGS = {
    "sweep-scan-carry":
        ("chunks", "scan/scan_chunks.cl", "value = combine(value, own);", 0, "value = own;",
         ["CHUNK=64"]),
    "sweep-scan-segment":
        ("chunks", "scan/scan_chunks.cl", "if (i == start)", 0, "if (i == start + 1)", []),
    "sweep-scan-column":
        ("chunks", "scan/scan_chunks.cl", "id % call->inner, row", 0, "0, row", []),
    "sweep-scan-nan":
        ("chunks", "scan/scan.clh", "if (isnan(a))", 0, "if (false)", []),
    "oclgrind-scan-last":
        ("chunks", "scan/scan_chunks.cl", "min(c.begin + call->chunk, call->n)", 0,
         "c.begin + call->chunk", []),
}

# Of a type that is not the main one: its problems are those that show them.
TYPES = {"sweep-scan-nan": "f64"}
