"""Bugs in segsort's C code, which tests find: scripts/mutants.py plants them."""

SESSION = "unit/test_segsort_session"

MUTANTS = {
    "segsort-offsets-descend":
        ("host/ops/segsort/segsort.c", "if (offsets[i] < offsets[i - 1])", 0, "if (0)", SESSION),
    "segsort-last-offset":
        ("host/ops/segsort/segsort.c", "if (offsets[segments] != n)", 0, "if (offsets[segments] > n)",
         SESSION),
    "segsort-first-offset":
        ("host/ops/segsort/segsort.c", "if (offsets[0] != 0)", 0, "if (0)", SESSION),
    "segsort-longest-of-the-last":
        ("host/ops/segsort/segsort.c", "most = size_max(most, (size_t)(offsets[i] - offsets[i - 1]));", 0,
         "most = size_max(1, (size_t)(offsets[i] - offsets[i - 1]));",
         SESSION + " unit/test_segsort_tiles"),
    "segsort-offsets-too-many":
        ("host/ops/segsort/segsort.c", "if (!size_add(s->segments, 1, &offsets))", 0,
         "if ((offsets = s->segments + 1, false))", SESSION),
}
