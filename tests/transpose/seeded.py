"""Bugs of transpose's kernels that tests find: tests/device/seeded_bugs.py seeds them."""

# name: (variant, file, text, which occurrence of it, replacement, settings)
BUGS = {
    "sweep-transpose-read-coalesced-sides":
        ("read-coalesced", "transpose/transpose_read_coalesced.cl", "x * rows + y", 0,
         "x * columns + y", []),
    # Right results, and more accesses than the plans state.
    "traffic-transpose-read-twice":
        ("read-coalesced", "transpose/transpose_read_coalesced.cl", "a[from_a + y * columns + x]", 0,
         "fmin(a[from_a + y * columns + x], a[from_a + y * columns + x])", []),
    "traffic-transpose-tile-local":
        ("tile", "transpose/transpose_tile.cl", "tile[x][i];", 0, "fmin(tile[x][i], tile[x][i]);", []),
    "sweep-transpose-tile-index":
        ("tile", "transpose/transpose_tile.cl", "tile[x][i];", 0, "tile[i][x];",
         ["TILE=16", "ITEMS=4"]),
    "oclgrind-transpose-padded-barrier":
        ("padded", "transpose/transpose_padded.cl", "barrier(CLK_LOCAL_MEM_FENCE);", 0, "",
         ["TILE=16", "ITEMS=4"]),
    "sweep-transpose-swizzle":
        ("swizzle", "transpose/transpose_swizzle.cl", "[i ^ x]", 0, "[i]", ["TILE=16", "ITEMS=4"]),
    "sweep-transpose-vector-edge":
        ("vector", "transpose/transpose_vector.cl", "row + k < rows", 0, "row + k + 1 < rows",
         ["ITEMS=4"]),
    "oclgrind-transpose-general-edge":
        ("general", "transpose/transpose_general.cl", "if (r < call.rows)", 0,
         "if (r <= call.rows)", ["TILE=16", "ITEMS=4"]),
    "sweep-transpose-general-sector":
        ("general", "transpose/transpose_general.cl", "(x + SECTOR - 1 - early)", 0,
         "(x + SECTOR - 1)", ["TILE=16", "ITEMS=4", "SECTOR=4"]),
    "sweep-transpose-general-batch":
        ("general", "transpose/transpose_general.cl", "matrix * call.stride_b", 0,
         "matrix * call.stride_a", ["TILE=16", "ITEMS=4"]),
    "oclgrind-transpose-in-place-barrier":
        ("in-place", "transpose/transpose_in_place.cl",
         "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);", 0, "",
         ["TILE=16", "ITEMS=4"]),
}
