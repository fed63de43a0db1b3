"""Bugs in reduce's C code, which tests find: scripts/mutants.py plants them."""

SIMD = "unit/test_reduce_simd device/reduce/host"

MUTANTS = {
    "reduce-last-block":
        ("host/ops/reduce/reduce_simd.c", "size_min(r->chunk, r->s.n - first);", 0, "r->chunk;", SIMD),
    "reduce-nan-lost-between-blocks":
        ("host/ops/reduce/reduce_simd.c", "taken = is_nan(p->type, b) && ", 0, "taken = false && ", SIMD),
    "reduce-later-index-of-equals":
        ("host/ops/reduce/reduce_simd.c", "(!is_beyond(p, a, b) && b->index < a->index);", 0,
         "(!is_beyond(p, a, b) && b->index > a->index);", SIMD),
    "reduce-carry-lost-between-blocks":
        ("host/ops/reduce/reduce_simd.c", "        reduce_add(a, -b->carry);\n", 0, "", SIMD),
    "reduce-index-of-what-was-gathered":
        ("host/ops/reduce/reduce_simd.c", "(gathered, count, first + at, part);", 0,
         "(gathered, count, first, part);", SIMD),
    "reduce-rest-of-the-folds":
        ("host/ops/reduce/reduce_simd.c", "rows % folds, inner, inner,", 0, "0, inner, inner,", SIMD),
    "reduce-leak-of-parts":
        ("host/ops/reduce/reduce_simd.c", "    free(r.left);\n    return TSR_OK;", 0,
         "    return TSR_OK;", SIMD),
    "reduce-leak-of-tiles":
        ("host/ops/reduce/reduce_simd.c", "    free(r.tile_left);\n", 0, "", SIMD),
    "reduce-part-of-a-tile-left-out":
        ("host/ops/reduce/reduce_simd.c", "k < r->parts; k++)\n        r->loops->join", 0,
         "k + 1 < r->parts; k++)\n        r->loops->join", SIMD),
    "reduce-parts-of-another-matrix":
        ("host/ops/reduce/reduce_simd.c", "&r->tile_left[o * r->parts * r->tiles + ", 0,
         "&r->tile_left[o * r->tiles + ", SIMD),
    "reduce-carry-lost-down-a-column":
        ("host/ops/reduce/reduce_simd_body.h", "ADD_COMPENSATED(-later->carry[j])", 0, "", SIMD),
    "reduce-later-index-down-a-column":
        ("host/ops/reduce/reduce_simd_body.h", "next[j] < best[j] : next[j] > best[j];", 0,
         "next[j] <= best[j] : next[j] >= best[j];", SIMD),
    "reduce-nan-lost-down-a-column":
        ("host/ops/reduce/reduce_simd_body.h", "((beyond || IS_BAD(next[j])) && ", 0, "(beyond && ", SIMD),
    "reduce-f16-denormals":
        ("host/ops/reduce/reduce_simd_loops.c", "value *= 0x1p112f;", 0,
         "value *= magnitude < 0x800000u ? 0 : 0x1p112f;", SIMD),
    "reduce-mean-of-pieces":
        ("host/ops/reduce/reduce_partition.c", "real * (long double)at->count", 0, "real",
         "cli/test_reduce_command"),
    "reduce-index-in-piece":
        ("host/ops/reduce/reduce_partition.c", "at->first + index : *best", 0, "index : *best",
         "cli/test_reduce_command"),
    "reduce-columns-of-the-first":
        ("host/ops/reduce/reduce_partition.c", "outer * s.stride + first) * in", 0, "outer * s.stride) * in",
         "cli/test_reduce_command"),
    "reduce-minimum-of-none":
        ("host/ops/reduce/reduce.c", "if (p->n == 0 && p->by < ARRAY_COUNT(names) && names[p->by])", 0,
         "if (0)", "unit/test_reduce_plan"),
    "reduce-rows-overlap":
        ("host/ops/reduce/reduce.c", "if (s->n > 1 && s->step < s->inner)", 0, "if (0)",
         "unit/test_reduce_plan"),
}
