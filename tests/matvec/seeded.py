"""Bugs of matvec's kernels that tests find: tests/device/seeded_bugs.py seeds them."""

BARRIER = "barrier(CLK_LOCAL_MEM_FENCE);"

# name: (variant, file, text, which occurrence of it, replacement, settings)
BUGS = {
    # Right results, and more accesses than the plans state.
    "traffic-matvec-row-item-twice":
        ("row-item", "matvec/matvec_row_item.cl", "load_factor(a + a_index(call.lda, row, c + u));", 0,
         "fmin(load_factor(a + a_index(call.lda, row, c + u)), load_factor(a + a_index(call.lda, row, c + u)));", []),
    # Dropped barriers.
    "oclgrind-group-row-fill-barrier":
        ("group-row", "matvec/matvec_group_row.cl", BARRIER, 0, "", ["TEAM=8", "GROUP=32"]),
    "oclgrind-group-row-refill-barrier":
        ("group-row", "matvec/matvec_group_row.cl", BARRIER, 2, "", ["TEAM=2", "GROUP=4"]),
    "oclgrind-local-x-refill-barrier":
        ("local-x", "matvec/matvec_local_x.cl", BARRIER, 1, "", ["TEAM=2", "TILE=4", "GROUP=4"]),
    "oclgrind-column-slices-fill-barrier":
        ("column-slices", "matvec/matvec_column_slices.cl", BARRIER, 0, "", []),
    "oclgrind-column-slices-store-barrier":
        ("column-slices", "matvec/matvec_column_slices.cl", BARRIER, 1, "", []),
    "oclgrind-short-columns-halves-barrier":
        ("short-columns", "matvec/matvec_short_columns.cl", BARRIER, 1, "", ["GROUP=64"]),
    "oclgrind-flat-rows-fill-barrier":
        ("flat-rows", "matvec/matvec_flat_rows.cl", BARRIER, 0, "", []),
    # Wrong strides.
    "sweep-split-row-part-stride":
        ("split-row", "matvec/matvec_parts.clh", "parts + part) * call.rows", 0,
         "parts + part) * (call.rows - 1)", []),
    "sweep-parts-of-a-batch":
        ("split-row", "matvec/matvec_parts.clh",
         "partial += product_number() * call.parts * rows;", 0, "", []),
    "sweep-last-group-of-a-tile":
        ("split-row", "common/last_group.clh", "== groups - 1", 0, "== groups", []),
    "sweep-last-group-once":
        ("split-row", "common/last_group.clh", "atomic_store_explicit(done, 0u,", 0,
         "atomic_store_explicit(done, 1u,", ["GROUP=16"]),
    "sweep-matvec-increments":
        ("row-item", "matvec/matvec.clh", "STRIDED ? i * inc : i", 0, "i", []),
    "sweep-rows-vector-increment":
        ("rows-vector", "matvec/matvec_vectors.clh", "v_index(incx, c + i)", 0, "c + i", []),
    "sweep-short-rows-vector-mask":
        ("short-rows-vector", "matvec/matvec_short_rows_vector.cl",
         "select((VECTOR)0, load_vector(row + r * lda + whole), inside)", 0,
         "load_vector(row + r * lda + whole)", ["BITS=128"]),
    "sweep-columns-vector-lines":
        ("columns-vector", "matvec/matvec_columns_vector.cl", "line += LINES * call.lda", 0,
         "line += call.lda", []),
    "sweep-tree-vector-tail":
        ("tree-vector", "matvec/matvec_tree_vector.cl", "c = vectors + lane", 0,
         "c = vectors + lane + 1", []),
    "sweep-split-vector-beyond-the-part":
        ("split-vector", "matvec/matvec_split_vector.cl", "c + u * APART <= last", 2, "true", []),
    "oclgrind-split-vector-shifted-rows":
        ("split-vector", "matvec/matvec_split_vector.cl", "const uint c = e < before ? e : e + whole;", 0,
         "const uint c = e + whole;", ["ROWS=2", "TEAM=8", "GROUP=64"]),
    "sweep-column-slices-edge":
        ("column-slices", "matvec/matvec_column_slices.cl", "(left + ACROSS - 1) / ACROSS", 0,
         "left / ACROSS", []),
    "sweep-column-slices-beyond-the-part":
        ("column-slices", "matvec/matvec_column_slices.cl", "inside = u <= last", 0,
         "inside = true", ["ACROSS=8", "LOADS=2", "STAGES=1", "GROUP=64"]),
    "sweep-column-slices-next-batch":
        ("column-slices", "matvec/matvec_column_slices.cl", "c + AT_ONCE, end", 0,
         "c, length", ["ACROSS=8", "LOADS=2", "STAGES=2", "GROUP=64"]),
    "sweep-row-item-beyond-the-row":
        ("row-item", "matvec/matvec_row_item.cl", "c + u < columns", 0, "true", ["LOADS=4"]),
    "sweep-short-columns-beyond-the-part":
        ("short-columns", "matvec/matvec_short_columns.cl", "s + u < whole", 0, "true", []),
    "sweep-short-columns-halves-stride":
        ("short-columns", "matvec/matvec_short_columns.cl", "e + kept * rows", 0, "e + rows",
         []),
    "sweep-flat-rows-columns":
        ("flat-rows", "matvec/matvec_flat_rows.cl", "c + 1 < columns ? c + 1 : 0", 0, "c + 1",
         []),
    "sweep-matvec-batch-stride":
        ("short-rows", "matvec/matvec.clh", "product_number() * stride", 0,
         "product_number() * (stride - 1)", []),
    # Off-by-one guards.
    "oclgrind-local-x-fill-barrier":
        ("local-x", "matvec/matvec_local_x.cl", BARRIER, 0, "", []),
    "oclgrind-split-vector-odd-start":
        ("split-vector", "matvec/matvec_split_vector.cl", "(words.s0123 & ~odd)", 0,
         "words.s0123", []),
    "oclgrind-column-slices-last-row":
        ("column-slices", "matvec/matvec_column_slices.cl", "begin + length == call.columns", 0,
         "begin + length == 0", []),
    "oclgrind-local-x-last-row":
        ("local-x", "matvec/matvec_local_x.cl", "min(first + r * TEAMS, rows - 1)", 0,
         "first + r * TEAMS", []),
    "sweep-local-x-row-guard":
        ("local-x", "matvec/matvec_local_x.cl", "lane == 0 && row < rows", 0,
         "lane == 0 && row + 1 < rows", []),
    "sweep-tree-row-guard":
        ("tree", "matvec/matvec_tree.cl", "lane == 0 && row < rows", 0,
         "lane == 0 && row + 1 < rows", []),
    # Rounded down.
    "sweep-matvec-bfloat16-result":
        ("row-item", "common/bfloat16.clh", "0x7FFFu", 0, "0u", []),
}

# A call in place of the sweep: more rows than a launch has groups, or an A that is large enough for
# rows to be read by vectors wherever they start.
SHAPES = {
    "oclgrind-group-row-refill-barrier": [(65540, 2), (2,)],
    "oclgrind-column-slices-last-row": [(513, 129), (513,), "--trans", "--verify"],
}

# Of a type that is not the main one: it is there alone, or has fewer problems, all of which the
# simulator runs.
TYPES = {
    "oclgrind-split-vector-odd-start": "bf16", "oclgrind-split-vector-shifted-rows": "bf16",
    "sweep-matvec-bfloat16-result": "bf16",
    "sweep-parts-of-a-batch": "f64",
}
