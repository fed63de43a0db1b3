"""Bugs in sort's C code, which tests find: scripts/mutants.py plants them."""

HOST = "device/sort/host-radix"
RESULT, PLAN, STREAMS = "unit/test_sort_result", "unit/test_sort_plan", "unit/test_sort_streams"

MUTANTS = {
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
         HOST),
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
