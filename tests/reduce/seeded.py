"""Bugs of reduce's kernels that tests find: tests/device/seeded_bugs.py seeds them."""

# name: (variant, file, text, which occurrence of it, replacement, settings)
BUGS = {
    "oclgrind-reduce-tree-barrier":
        ("tree", "reduce/reduce_tree.cl", "barrier(CLK_LOCAL_MEM_FENCE);", 0, "", ["GROUP=32"]),
    "sweep-reduce-tree-offset":
        ("tree", "reduce/reduce_tree.cl", "x[call.from + i]", 0, "x[i]", []),
    "sweep-reduce-nan":
        ("vector", "reduce/reduce.clh", " && !isnan(a)", 0, "", []),
    "sweep-reduce-vector-tail":
        ("vector", "reduce/reduce_vectors.clh", "whole + get_global_id(0)", 0,
         "whole + get_global_id(0) + 1", []),
    "oclgrind-reduce-rows-barrier":
        ("rows", "reduce/reduce_rows.cl", "    barrier(CLK_LOCAL_MEM_FENCE);", 0, "",
         ["GROUP=32", "TEAM=32", "LOADS=1", "VEC=1", "PER_UNIT=1"]),
    "sweep-reduce-rows-remainder":
        ("rows", "reduce/reduce_rows.cl", "% VEC + lane; VEC > 1 && i < end", 0,
         "% VEC + lane; i + 1 < end", ["VEC=4"]),
    "sweep-reduce-columns-part":
        ("columns", "reduce/reduce_columns.cl", "chain_take(&chains[0], from[i * call.step], i)", 0,
         "chain_take(&chains[0], from[i * call.step], i + 1)", []),
    "sweep-reduce-index-of-ties":
        ("rows", "reduce/reduce_values.clh", "b.index < a.index", 0, "b.index > a.index", []),
    "oclgrind-reduce-sequential-barrier":
        ("sequential", "reduce/reduce_sequential.cl", "barrier(CLK_LOCAL_MEM_FENCE);", 0, "",
         ["GROUP=32"]),
    "sweep-reduce-first-add-second":
        ("first-add", "reduce/reduce_first_add.cl", "i + GROUP < call.n", 0, "i < call.n", []),
    "sweep-reduce-last-group-values":
        ("last-group", "reduce/reduce_last_group.cl", "g < groups", 0, "g + 1 < groups", []),
    "sweep-reduce-whole-values":
        ("whole", "reduce/reduce_whole.cl", "g < groups", 0, "g + 1 < groups", []),
    "sweep-reduce-whole-block":
        ("whole", "reduce/reduce_whole.cl", "index = r.index * BLOCK + *found", 0,
         "index = *found", []),
    "sweep-reduce-whole-ties":
        ("whole", "reduce/reduce_whole.cl", "        atomic_min(first, mine.index);", 0,
         "        *first = mine.index;", ["GROUP=32"]),
    "sweep-reduce-group-atomic-offset":
        ("group-atomic", "reduce/reduce_group_atomic.cl", "result + call.to", 0, "result", []),
}

TYPES = {"sweep-reduce-whole-block": "i8"}
