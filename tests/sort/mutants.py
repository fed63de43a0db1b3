"""Bugs in sort's C code, which tests find: scripts/mutants.py plants them."""

HOST = "device/sort/host-radix"
RESULT, PLAN, STREAMS = "unit/test_sort_result", "unit/test_sort_plan", "unit/test_sort_streams"

MUTANTS = {
    "sort-quick-loses-rest":
        ("host/ops/sort/sort_host_quick.h", "high + (i + k * LANES - at[k])", 0,
         "high + (i + (k ? k - 1 : 0) * LANES - at[k])", "unit/test_sort_host"),
    "sort-quick-shares-space":
        ("host/ops/sort/sort_host_quick.h", "{result, rest + high, low,", 0, "{result, rest, low,",
         "unit/test_sort_host"),
    "sort-quick-stores-behind":
        ("host/ops/sort/sort_host_quick.h", "rest = (MASK)~less & all;", 0, "rest = (MASK)~less;",
         "unit/test_sort_host"),
    "sort-quick-greatest-lost":
        ("host/ops/sort/sort_host_quick.h", "memcpy(result, rest, p.n * sizeof(WORD));", 0, "",
         "unit/test_sort_host"),
    "sort-columns-not-mirrored":
        ("host/ops/sort/sort_host_quick.h", "&word[v ^ (run - 1)]", 0, "&word[v + run / 2]",
         "unit/test_sort_host"),
    "sort-lanes-not-merged":
        ("host/ops/sort/sort_host_quick.h", "[8] = 0xFF00", 0, "[8] = 0xF0F0", "unit/test_sort_host"),
    "sort-scatter-twice":
        ("host/ops/sort/sort_host_digits.h", "to[at[value[3]]++] = word[3]", 0,
         "to[at[value[3]]++] = word[2]", "unit/test_sort_host"),
    "sort-line-of-another-thread":
        ("host/ops/sort/sort_host_digits.h", "if (line >= start[v]) {", 0, "if (line + 1) {",
         "unit/test_sort_host"),
    "sort-last-lines-left-out":
        ("host/ops/sort/sort_host_digits.h", "(at[v] - first) * sizeof(WORD));", 0, "0);",
         "unit/test_sort_host"),
    "sort-flip-of-either-sign":
        ("host/ops/sort/sort_host_keys.h", "(KEY)~bits)", 0, "bits)", "unit/test_sort_host"),
    "sort-bits-of-a-bucket":
        ("host/ops/sort/sort_host.c", "return topmost(varies, wanted", 0,
         "return topmost(varies >> 1, wanted", "unit/test_sort_host"),
    "sort-rank-not-stable":
        ("host/ops/sort/sort_host_digits.h", "key[j] > key[i]", 0, "key[j] >= key[i]", HOST),
    "sort-nan-bias":
        ("host/ops/sort/sort_host_words.c", "m.bias = ((uint64_t)1 << fraction) - 1;", 0,
         "m.bias = (uint64_t)1 << fraction;", HOST),
    "sort-index-of-32-bits":
        ("host/ops/sort/sort_host_keys.h", "(int64_t)(uint32_t)from[i];", 0, "(int64_t)(int32_t)from[i];",
         HOST + " unit/test_sort_host"),
    "sort-digit-lost":
        ("host/ops/sort/sort_host_words.c", "(span + most - 1) / most, bits", 0, "span / most, bits",
         "unit/test_sort_host " + HOST),
    "sort-leak-of-scratch":
        ("host/ops/sort/sort_host.c", "    scratch_give(y.memory);\n    return TSR_OK;\n}\n\ntsr_status sort_host",
         0, "    return TSR_OK;\n}\n\ntsr_status sort_host", HOST),
    "sort-extent-wraps":
        ("host/ops/sort/sort.c", "!size_mul(end, bytes, &end) || end > PTRDIFF_MAX", 0,
         "(end *= bytes, false)", "unit/test_sort_session unit/test_sort_plan"),
    "sort-descending-lost":
        ("host/ops/sort/sort_host_words.c", ".down = descending ? all : 0", 0, ".down = 0", HOST),
    "sort-short-chunk":
        ("host/ops/sort/sort_partition.c", "chunks * chunk - q->n : 0;", 0, "0 : 0;", STREAMS),
    "sort-pairs-of-a-stage":
        ("host/ops/sort/sort_partition.c", "(rest > half ? rest - half : 0)", 0, "0",
         STREAMS + " " + PLAN),
    "sort-last-rows":
        ("host/ops/sort/sort_partition.c", "size_min(p->cut[ROWS], sort_rows(q) - at)", 0, "p->cut[ROWS]",
         STREAMS),
}

SURVIVORS = {
    "sort-index-of-32-bits": "an index from 2^31 on takes as many keys, of 2 GiB and more",
}
