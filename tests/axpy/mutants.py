"""Bugs in axpy's C code, which tests find: scripts/mutants.py plants them."""

HOST = "device/axpy/host"
PLAN = "unit/test_axpy_plan"

MUTANTS = {
    "axpy-rest-past-the-caches":
        ("host/ops/axpy/axpy_simd_body.h", "NAMED(apart)(n - i, alpha, x + i, y + i, z + i);", 0, "",
         PLAN),
    "axpy-in-place-from-x":
        ("host/ops/axpy/axpy_simd_body.h", "GET(z[i])", 0, "GET(x[i])", HOST),
    "axpy-increment-of-y":
        ("host/ops/axpy/axpy_simd_body.h", "y[i * s->incy]", 0, "y[i * s->incx]", HOST),
    "axpy-last-stretch":
        ("host/ops/axpy/axpy_host.c", "size_min(a->at_once, a->whole.n - first)", 0, "a->at_once", HOST),
    "axpy-negative-factor-of-integers":
        ("host/ops/axpy/axpy.c", "0 - (uint64_t)-alpha", 0, "(uint64_t)-alpha", PLAN),
    "axpy-half-tie":
        ("host/base/vector_half.h", "0xFFFu + (bits >> 13 & 1)", 0, "0x1000u", PLAN),
    "axpy-fractions-of-integers":
        ("host/ops/axpy/axpy.c", "|| p->alpha != floor(p->alpha)", 0, "", PLAN),
    "axpy-piece-from-the-start":
        ("host/ops/axpy/axpy_partition.c", "+ first * inc)", 0, ")", "cli/test_axpy_command"),
}
