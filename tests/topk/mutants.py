"""Bugs in topk's C code, which tests find: scripts/mutants.py plants them."""

HOST = "unit/test_topk_host device/topk/host-top"

MUTANTS = {
    "topk-limit-of-the-first":
        ("host/ops/topk/topk_host.c", "limit = c->pair[c->count - 1].key;", 0, "limit = c->pair[0].key;",
         HOST),
    "topk-memory-of-a-block":
        ("host/ops/topk/topk_host.c", "if (c->count + BLOCK <= x->capacity)", 0,
         "if (c->count <= x->capacity)", HOST),
    "topk-last-chunk":
        ("host/ops/topk/topk_host.c", "i + 1 < r->count ? each * (i + 1) : r->x->n", 0,
         "each * (i + 1)", HOST),
    "topk-chunks-unmerged":
        ("host/ops/topk/topk_host.c", "    }\n    cut_down(x, &c[0]);\n", 0, "    }\n", HOST),
    "topk-values-of-a-row":
        ("host/ops/topk/topk_host.c", "s.offset_values += row * s.n;", 0, "s.offset_values += row;",
         HOST),
    "topk-leak":
        ("host/ops/topk/topk_host.c", "    free(memory);\n    free(y.c);\n    return y.failed", 0,
         "    free(memory);\n    return y.failed", HOST),
    "topk-k-0":
        ("host/ops/topk/topk.c", "if (topk_of(p)->k == 0)", 0, "if (0)",
         "unit/test_topk_plan"),
}
