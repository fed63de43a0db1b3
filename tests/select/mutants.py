"""Bugs in select's C code, which tests find: scripts/mutants.py plants them."""

LOOPS = "unit/test_select_loops"

MUTANTS = {
    "select-lanes-counted":
        ("host/ops/select/select_loops.c", "(size_t)__builtin_popcount(held)", 0,
         "(size_t)__builtin_popcount(held & 0x7fff)", LOOPS),
    "select-count-wraps":
        ("host/ops/select/select_loops.c", "count = (uint16_t)(count + holds[i])", 0,
         "count = (uint8_t)(count + holds[i])", LOOPS),
    "select-line-of-another-block":
        ("host/ops/select/select_direct_body.h", "if (first) {", 0, "if (0) {", LOOPS),
    "select-line-carried":
        ("host/ops/select/select_direct_body.h", "held -= whole;", 0, "held = 0;", LOOPS),
}
