"""Bugs of scan's kernels that tests find: tests/device/seeded_bugs.py seeds them."""

TILES = ["GROUP=4", "ITEMS=2"]

# name: (variant, file, text, which occurrence of it, replacement, settings)
BUGS = {
    # Right results, and more accesses than the plans state.
    "traffic-scan-hillis-steele-twice":
        ("hillis-steele", "scan/scan_hillis_steele.cl", "own = x[call.from + i]", 0,
         "own = fmin(x[call.from + i], x[call.from + i])", []),
    "traffic-scan-blelloch-local":
        ("blelloch", "scan/scan_blelloch.cl", "sum = node[PLACE(left)]", 0,
         "sum = fmin(node[PLACE(left)], node[PLACE(left)])", []),
    "traffic-scan-tile-local":
        ("three-launches", "scan/scan_tile.clh", "next.value = tile[PLACE(i)];", 0,
         "next.value = fmin(tile[PLACE(i)], tile[PLACE(i)]);", []),
    "traffic-scan-tile-barrier":
        ("three-launches", "scan/scan_tile.clh", "    /* All results are there. */\n", 0,
         "    barrier(CLK_LOCAL_MEM_FENCE);\n", []),
    "sweep-scan-carry":
        ("chunks", "scan/scan_chunks.cl", "value = combine(value, own);", 0, "value = own;",
         ["CHUNK=64"]),
    "sweep-scan-segment":
        ("chunks", "scan/scan_chunks.cl", "if (i == start)", 0, "if (i == start + 1)", []),
    "sweep-scan-column":
        ("chunks", "scan/scan_chunks.cl", "column = id % (ordinal)inner", 0, "column = 0", []),
    "sweep-scan-nan":
        ("chunks", "scan/scan.clh", "if (isnan(a))", 0, "if (false)", []),
    "sweep-scan-totals":
        ("three-launches", "scan/scan_three_launches.cl", "totals[i] = sum.value;", 0, "", TILES),
    "sweep-scan-look-back":
        ("look-back", "scan/scan_look_back.cl", "state == PREFIX ? prefixes[k]", 0,
         "false ? prefixes[k]", TILES),
    "sweep-scan-starts":
        ("three-launches", "scan/scan_tile.clh", "after.starts ? after.value", 0,
         "false ? after.value", TILES),
    "sweep-scan-rounds":
        ("hillis-steele", "scan/scan_hillis_steele.cl", "i >= call.distance", 0,
         "i > call.distance", []),
    "sweep-scan-levels":
        ("blelloch", "scan/scan_blelloch.cl", "y[call.to + i] += before", 0,
         "y[call.to + i] = before", ["GROUP=32"]),
    "oclgrind-scan-barrier":
        ("three-launches", "scan/scan_tile.clh", "barrier(CLK_LOCAL_MEM_FENCE);", 0, "",
         ["GROUP=4", "ITEMS=2", "CARRY_GROUP=1"]),
    "oclgrind-scan-way-down":
        ("blelloch-padded", "scan/scan_blelloch.cl", "barrier(CLK_LOCAL_MEM_FENCE);", 2, "",
         ["GROUP=32"]),
    "oclgrind-scan-last":
        ("chunks", "scan/scan_chunks.cl", "min(c.begin + call->chunk, call->n)", 0,
         "c.begin + call->chunk", ["CHUNK=64"]),  # 301 elements are no five chunks of as many
}

# Of a type that is not the main one: its problems are those that show them.
TYPES = {"sweep-scan-nan": "f64"}
