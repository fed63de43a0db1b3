"""Bugs in segsort's C code, which tests find: scripts/mutants.py plants them."""

OFFSETS = "unit/test_segsort_tiles unit/test_segsort_session"

MUTANTS = {
    "segsort-offsets-descend":
        ("host/core/operation.c", "if (offsets[i] < offsets[i - 1])", 0, "if (0)", OFFSETS),
    "segsort-last-offset":
        ("host/core/operation.c", "if (offsets[segments] != n)", 0, "if (offsets[segments] > n)",
         OFFSETS),
    "segsort-first-offset":
        ("host/core/operation.c", "if (offsets[0] != 0)", 0, "if (0)", OFFSETS),
    "segsort-longest-of-the-last":
        ("host/core/operation.c", "most = size_max(most, (size_t)(offsets[i] - offsets[i - 1]));", 0,
         "most = size_max(1, (size_t)(offsets[i] - offsets[i - 1]));",
         OFFSETS),
    "segsort-offsets-too-many":
        ("host/ops/segsort/segsort.c", "if (!size_add(s->segments, 1, &offsets))", 0,
         "if ((offsets = s->segments + 1, false))", OFFSETS),
}
