"""Bugs in matvec's C code, which tests find: scripts/mutants.py plants them."""

HOST = "device/matvec/host"
STREAMS = "unit/test_matvec_streams"

MUTANTS = {
    "matvec-rest-of-four":
        ("host/ops/matvec/matvec_host_body.h", "for (; c + 4 <= columns; c += 4, at += 4 * stride) {", 0,
         "for (; c + 3 <= columns; c += 4, at += 4 * stride) {", HOST),
    "matvec-flat-rows-lanes":
        ("host/ops/matvec/matvec_simd_body.h", "SPREAD_FROM(at % lanes)", 0,
         "SPREAD_FROM((at + 1) % lanes)", HOST),
    "matvec-flat-columns-rows":
        ("host/ops/matvec/matvec_simd_body.h", "row++;", 0, "row += 2;", HOST),
    "matvec-sums-that-begin-late":
        ("host/ops/matvec/matvec_simd_body.h", "(3, a, step, columns, x, true, sums);", 0,
         "(3, a, step, columns, x, false, sums);", HOST),
    "matvec-sums-of-two-threads":
        ("host/ops/matvec/matvec_simd.c", "p * v->rows + r : who * m->block;", 0,
         "p * v->rows + r : 0;", HOST),
    "matvec-sums-over-what-y-was":
        ("host/ops/matvec/matvec_simd.c", "v->trans && v->beta != 0 ? threads * block", 0,
         "false ? threads * block", HOST),
    "matvec-leak-of-pointers":
        ("host/ops/matvec/matvec_host_body.h", "    free(row);\n", 0, "", HOST),
    "matvec-block-of-rows":
        ("host/ops/matvec/matvec_host_body.h", "size_min(OPENMP_BLOCK, v->rows - r)", 0, "OPENMP_BLOCK",
         HOST),
    "matvec-incx":
        ("host/ops/matvec/matvec_host.c", "matvec_incx(p) == 1 && ", 0, "",
         "unit/test_matvec_plan"),
    "matvec-offset-of-a-copy":
        ("host/ops/matvec/matvec_host.c", "plain.offset_x = plain.offset_y = 0;", 0,
         "plain.offset_y = 0;", HOST),
    "matvec-proof-gaps":
        ("host/ops/matvec/matvec_proof.c",
         "view_gaps_kept(&y, before[MATVEC_Y], after[MATVEC_Y])", 0, "true",
         "unit/test_matvec_session unit/test_matvec_plan"),
    "matvec-proof-only-the-first-block":
        ("host/ops/matvec/matvec_proof.c", "(size_t)i % blocks * BLOCK, &part);", 0, "0, &part);",
         "unit/test_matvec_session unit/test_matvec_plan"),
}
