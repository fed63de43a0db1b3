"""Bugs of histogram's kernels that tests find: tests/device/seeded_bugs.py seeds them."""

# name: (variant, file, text, which occurrence of it, replacement, settings)
BUGS = {
    # Right results, and more accesses than the plans state.
    "traffic-histogram-local-twice":
        ("local", "histogram/histogram_local.cl", "load_value(x, call.x + i)", 0,
         "fmax(load_value(x, call.x + i), load_value(x, call.x + i))", []),
    "oclgrind-histogram-local-barrier":
        ("local", "histogram/histogram_local.cl", "barrier(CLK_LOCAL_MEM_FENCE);", 1, "",
         ["GROUP=32"]),
    "oclgrind-histogram-plain-increment":
        ("local", "histogram/histogram_local.cl", "atomic_inc(&table[bin_of(edges, call.bins, v)])",
         0, "table[bin_of(edges, call.bins, v)]++", ["GROUP=32"]),
    "sweep-histogram-carry":
        ("naive", "histogram/histogram.clh", "(before + low < before)", 0, "0", []),
    "sweep-histogram-last-bin":
        ("naive", "histogram/histogram.clh", "v <= edges[bins]", 0, "v < edges[bins]", []),
    "sweep-histogram-one-off":
        ("copies", "histogram/histogram.clh", "edges[bin + part] <= v", 0,
         "edges[bin + part] < v", []),
    "sweep-histogram-copies":
        ("copies", "histogram/histogram_copies.cl", "c < COPIES", 0, "c + 1 < COPIES",
         ["GROUP=32"]),
    "sweep-histogram-copies-last-group":
        ("copies", "histogram/histogram_copies.cl", "!ALONE ? take_counter(all + bin) : ", 0, "",
         []),
    "sweep-histogram-few-upper-edge":
        ("few", "histogram/histogram_few.cl", "v[l] > edge[BINS]", 0, "v[l] >= edge[BINS]", []),
    "sweep-histogram-few-last-round":
        ("few", "histogram/histogram_few.cl", "i + l * stride < call.n ? load_value", 0,
         "i + l * stride + 1 < call.n ? load_value", []),
    "sweep-histogram-few-last-group":
        ("few", "histogram/histogram_few.cl", "!ALONE ? take_counter(all + b) : ", 0, "", []),
    "oclgrind-histogram-few-barrier":
        ("few", "histogram/histogram_few.cl", "barrier(CLK_LOCAL_MEM_FENCE);", 0, "", ["GROUP=32"]),
    "oclgrind-histogram-own-barrier":
        ("own", "histogram/histogram_own.cl", "barrier(CLK_LOCAL_MEM_FENCE);", 0, "", ["GROUP=32"]),
    "sweep-histogram-own-slice":
        ("own", "histogram/histogram_own.cl", "call.slice, bins - first", 0,
         "call.slice, bins - first - 1", []),
    "sweep-histogram-own-stretch":
        ("own", "histogram/histogram_own.cl", "begin + item; i < end", 0, "begin + item; i + 1 < end",
         []),
    "sweep-histogram-own-add":
        ("own", "histogram/histogram_own.cl", "call.add ? sums[call.all.counts + bin] : 0", 0, "0", []),
    "sweep-histogram-weight-carry":
        ("naive", "histogram/histogram_naive.cl", "(before + low < before)", 0, "0", []),
    "sweep-histogram-bytes-one-value":
        ("bytes", "histogram/histogram_bytes.cl", "length += 16", 0, "length += 15", []),
    "sweep-histogram-bytes-last-group":
        ("bytes", "histogram/histogram_bytes.cl", "add_to_counter(sums + value, times)", 0,
         "add_to_counter(sums + value, 1)", []),
    "sweep-histogram-bytes-tail":
        ("bytes", "histogram/histogram_bytes.cl", "head + vectors * 16 + item", 0,
         "head + vectors * 16 + item + 1", []),
}

TYPES = {"sweep-histogram-carry": "f64", "sweep-histogram-one-off": "f64",
         "sweep-histogram-bytes-tail": "u8", "sweep-histogram-bytes-one-value": "u8",
         "sweep-histogram-bytes-last-group": "u8", "sweep-histogram-own-add": "f64",
         "sweep-histogram-weight-carry": "i64"}
