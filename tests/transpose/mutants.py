"""Bugs in transpose's C code, which tests find: scripts/mutants.py plants them."""

HOST = "device/transpose/host"
PLAN = "unit/test_transpose_plan"

MUTANTS = {
    "transpose-rest-of-a-row":
        ("host/ops/transpose/transpose_loops.c",
         "memcpy(to + head + lines, from + head + lines, row - head - lines);", 0, ";", PLAN),
    "transpose-columns-left":
        ("host/ops/transpose/transpose_loops.c",
         "move_elements(&above, bytes, 0, columns, to, to_pitch);", 0, "", HOST),
    "transpose-lines-past-the-caches":
        ("host/ops/transpose/transpose_loops.c", "(row - head) / CACHE_LINE * CACHE_LINE", 0,
         "row - head", PLAN),
    "transpose-head-past-the-caches":
        ("host/ops/transpose/transpose_loops.c", "memcpy(to, from, head);", 0, "", HOST),
    "transpose-line-of-two-blocks":
        ("host/ops/transpose/transpose_host.c", "size_div_up(CACHE_LINE, bytes);", 0, "0;", PLAN),
    "transpose-tiles-in-order":
        ("host/ops/transpose/transpose_host.c", "size_min(x->wide, x->across - left)", 0, "x->wide",
         PLAN),
    "transpose-diagonal-twice":
        ("host/ops/transpose/transpose_host.c", "i / x->across % x->down <= i % x->across", 0, "true",
         HOST),
    "transpose-block-at-the-edge":
        ("host/ops/transpose/transpose_host.c", "size_min(x->rows + x->shared, p->rows - row)", 0, "x->rows",
         HOST),
    "transpose-piece-of-b":
        ("host/ops/transpose/transpose_partition.c", "b.column, b.columns, b.row, b.rows}", 0,
         "b.row, b.columns, b.column, b.rows}", "cli/test_transpose_command"),
    "transpose-overlapping-batch":
        ("host/ops/transpose/transpose.c", "view_apart(&v, transpose_batch(p))", 0, "true", PLAN),
}
