"""Bugs in matmul's C code, which tests find: scripts/mutants.py plants them."""

PROOF, PLAN, STREAMS = "unit/test_matmul_proof", "unit/test_matmul_plan", "unit/test_matmul_streams"
HOST = "device/matmul/host"

MUTANTS = {
    "matmul-few-dots-leave-a-line":
        ("host/ops/matmul/matmul_simd_body.h", "columns = count * (g + 1) / groups - j;", 0,
         "columns = count / groups;", "unit/test_matmul_few"),
    "matmul-few-vectors-leave-a-line":
        ("host/ops/matmul/matmul_simd_body.h", "columns = count * (g + 1) / groups - j;", 1,
         "columns = count / groups;", "unit/test_matmul_few"),
    "matmul-fp8-block-loses-nothing":
        ("host/core/real.c", "return (REAL_BLOCK + REAL_BLOCK_STEPS) * unit;", 0, "return 0;", PROOF),
    "matmul-fp8-block-never-ends":
        ("host/core/real.c", "if (s->terms % REAL_BLOCK == 0) {", 0, "if (s->terms == 0) {", PROOF),
    "matmul-fp8-whole-numbers-lose":
        ("host/core/real.c", "if ((long double)(s->block_bits & -s->block_bits) * 0x1p-32L >= unit)", 0,
         "if (false)", PROOF),
    "matmul-fp8-saturation":
        ("host/core/real.c", "exact = fmaxl(fminl(exact, most), -most);", 0, "", PROOF),
    "matmul-scale-of-the-row-before":
        ("host/ops/matmul/matmul_shape.h", "scale_a[p->offset_scale_a + i]", 0,
         "scale_a[p->offset_scale_a + (i ? i - 1 : 0)]", "unit/test_matmul_scales"),
    "matmul-scales-not-turned":
        ("host/ops/matmul/matmul.c", "        order[MATMUL_SCALE_A] = MATMUL_SCALE_B;\n"
         "        order[MATMUL_SCALE_B] = MATMUL_SCALE_A;\n", 0, "", "unit/test_matmul_scales"),
    "matmul-scales-of-a-strip":
        ("host/ops/matmul/matmul_partition.c", "one->offset_scale_a = i;", 0, "one->offset_scale_a = 0 * i;",
         "unit/test_matmul_scales"),
    "matmul-scale-0-passed-over":
        ("host/core/real.c", ".part = {{s, alpha, beta, beta == 0 ? 0 : c}}, .count = 1};", 0,
         ".part = {{s, alpha == 0 ? 1 : alpha, beta, beta == 0 ? 0 : c}}, .count = 1};",
         "unit/test_matmul_scales"),
    "matmul-rows-are-not-projected":
        ("host/ops/matmul/matmul_proof.c", "matmul_alpha(p) * (long double)scale", 0, "matmul_alpha(p)",
         "unit/test_matmul_scales"),
    "matmul-int8-weights-even":
        ("host/ops/matmul/matmul_proof.c", "(uint32_t)random_u64(&state) | 1;", 0,
         "(uint32_t)random_u64(&state) << 1;", PROOF),
    "matmul-int8-beta":
        ("host/ops/matmul/matmul_plan.c", "call->scale.i32[1] = (int32_t)beta;", 0,
         "call->scale.i32[1] = 0;", "oclgrind/matmul/general"),
    "matmul-stride-of-a-batch":
        ("host/ops/matmul/matmul_shape.h", "one.offset_c += e * matmul_matrix_c(p).stride;", 0, "", HOST),
    "matmul-beta-0-reads-c":
        ("host/ops/matmul/matmul_host_body.h", "beta == 0 ? scaled : scaled + beta * c[i * ldc + j];", 0,
         "scaled + beta * c[i * ldc + j];", HOST),
    "matmul-block-of-k":
        ("host/ops/matmul/matmul_host_body.h", "const size_t p1 = size_min(p + BLOCK_K, t->k);", 0,
         "const size_t p1 = size_min(p + BLOCK_K, t->k - 1);", HOST),
    "matmul-strip-past-m":
        ("host/ops/matmul/matmul_host_body.h", "size_min(i + STRIP_M, t->m)", 0, "i + STRIP_M", HOST),
    "matmul-c-zeroed-past-n":
        ("host/ops/matmul/matmul_host_body.h", "memset(c + i * ldc, 0, p->n * sizeof(REAL));", 0,
         "memset(c + i * ldc, 0, ldc * sizeof(REAL));", HOST),
    "matmul-leak-of-sums":
        ("host/ops/matmul/matmul_host_body.h", "    if (beside)\n        free(t.s);\n", 0, "", HOST),
    "matmul-column-major-strides":
        ("host/ops/matmul/matmul.c", "    p->stride_a = given.stride_b;\n"
         "    p->stride_b = given.stride_a;\n", 0, "", HOST + " device/matmul/general"),
    "matmul-outer-classes":
        ("host/ops/matmul/matmul_outer.c", "while (classes * ld % vector)", 0,
         "while (ld % vector && classes < vector)", PLAN),
    "matmul-ld-unchecked":
        ("host/ops/matmul/matmul.c", "if (x->ld < x->length)", 0, "if (x->ld + 1 < x->length)", PLAN),
    "matmul-products-of-c-overlap":
        ("host/ops/matmul/matmul.c", "if (view_apart(c, matmul_batch(p)))", 0, "if (1)", PLAN),
    "matmul-alpha-0-reads-a":
        ("host/ops/matmul/matmul.c", "if (!matmul_reads_factors(p) || p->m == 0 || p->n == 0)", 0,
         "if (p->m == 0 || p->n == 0)", PLAN),
    "matmul-proof-edge-column":
        ("host/ops/matmul/matmul_proof.c", "for (; first < last; first++)\n            judge_element",
         0, "for (first++; first < last; first++)\n            judge_element", PROOF),
    "matmul-proof-gaps":
        ("host/ops/matmul/matmul_proof.c", "if (view_gaps_kept(&c, j->before, j->after))", 0, "if (1)",
         PROOF),
    "matmul-proof-row-sums-unlooked-at":
        ("host/ops/matmul/matmul_proof.c", "fabsl(r.got[part] - exact) <= tolerance)", 0, "1)", PROOF),
    "matmul-proof-imaginary-part-unlooked-at":
        ("host/ops/matmul/matmul_proof.c", "imaginary < 2; imaginary++", 0,
         "imaginary < 1; imaginary++", PROOF),
    "matmul-proof-zero-times-infinity":
        ("host/core/real.c", "    o->nan = o->nan || p->beta == 0;\n", 0, "", PROOF),
    "matmul-proof-pair-of-one-sum":
        ("host/core/real.c", ".part = {x[0], x[1]}, .count = 2", 0,
         ".part = {x[0], x[1]}, .count = 1", PROOF),
    "matmul-tile-of-another-row":
        ("host/ops/matmul/matmul_partition.c", "rows_a(&q, host[MATMUL_A], at_m, m, 0, q.k)", 0,
         "rows_a(&q, host[MATMUL_A], 0, m, 0, q.k)", STREAMS),
    "matmul-slabs-overwrite":
        ("host/ops/matmul/matmul_partition.c", "        one->beta = 1;\n", 0, "", STREAMS),
    "matmul-last-strip":
        ("host/ops/matmul/matmul_partition.c", "size_min(p->cut[STRIP], whole->m - row)", 0,
         "p->cut[STRIP]", STREAMS),
}
