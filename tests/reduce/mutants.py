"""Bugs in reduce's C code, which tests find: scripts/mutants.py plants them."""

HOST = "device/reduce/host unit/test_reduce_on_arrays"

MUTANTS = {
    "reduce-rest-of-a-block":
        ("host/ops/reduce/reduce_simd_loops.c", "lane[i % LANES] += (double)x[i];", 0,
         "lane[i % LANES] = (double)x[i];", HOST),
    "reduce-nan-lost":
        ("host/ops/reduce/reduce_simd_loops.c", "|| isnan(x[i]) ? x[i]", 0, "? x[i]", HOST),
    "reduce-nan-lost-between-blocks":
        ("host/ops/reduce/reduce_simd.c", "beyond || isnan(other) ? other", 0, "beyond ? other", HOST),
    "reduce-last-block":
        ("host/ops/reduce/reduce_simd.c", "size_min(block, p->n - b * block)", 0, "block", HOST),
    "reduce-sum-in-single":
        ("host/ops/reduce/reduce_simd.c", "            sum += part[b];", 0,
         "            sum = (double)((float)sum + (float)part[b]);", HOST),
    "reduce-minimum-of-none":
        ("host/ops/reduce/reduce.c", "if (p->n == 0 && p->by != TSR_REDUCE_SUM)", 0, "if (0)",
         "unit/test_reduce_plan"),
    "reduce-bound-of-an-extreme":
        ("host/ops/reduce/reduce_proof.c", "if (got == best ||", 0, "if (got <= best ||",
         "unit/test_reduce_plan unit/test_reduce_on_arrays"),
}
