"""Bugs in histogram's C code, which tests find: scripts/mutants.py plants them."""

HOST = "device/histogram/host cli/test_histogram_command"

MUTANTS = {
    "histogram-last-edge-open":
        ("host/ops/histogram/histogram_loops.c", "v >= low && v <= high", 0, "v >= low && v < high",
         HOST),
    "histogram-edge-below":
        ("host/ops/histogram/histogram_loops.c", "edges[first + half] <= v", 0,
         "edges[first + half] < v", HOST),
    "histogram-rest-of-bytes":
        ("host/ops/histogram/histogram_loops.c", "table[0][x[i]]++;", 0, ";", HOST),
    "histogram-last-piece":
        ("host/ops/histogram/histogram_host.c", "size_min(c->piece, c->n - first)", 0, "c->piece", HOST),
    "histogram-weights-offset":
        ("host/ops/histogram/histogram_host.c", "p->offset_weights * tsr_type_size(w.type)", 0, "0",
         HOST),
    "histogram-weights-tables-lost":
        ("host/ops/histogram/histogram_host.c", "for (size_t t = 0; t < tables; t++)", 0,
         "for (size_t t = 0; t < 1; t++)", "unit/test_histogram_plan"),
    "histogram-edge-rounded-down":
        ("host/ops/histogram/histogram_edges.c", "nextafterf(rounded, INFINITY)", 0, "rounded",
         "unit/test_histogram_plan"),
    "histogram-edges-unchecked":
        ("host/ops/histogram/histogram_edges.c", "if (edge < before)", 0, "if (0)",
         "unit/test_histogram_plan"),
    "histogram-table-too-long":
        ("host/ops/histogram/histogram_ladder.c", "size_div_up(n, GROUP_ELEMENTS_MAX)", 0, "1",
         "unit/test_histogram_plan"),
}
