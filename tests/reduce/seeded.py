"""Bugs of reduce's kernels that tests find: tests/device/seeded_bugs.py seeds them."""

# name: (variant, file, text, which occurrence of it, replacement, settings)
BUGS = {
    "oclgrind-reduce-tree-barrier":
        ("tree", "reduce/reduce_tree.cl", "barrier(CLK_LOCAL_MEM_FENCE);", 0, "", ["GROUP=32"]),
    "sweep-reduce-tree-offset":
        ("tree", "reduce/reduce_tree.cl", "x[call.from + i]", 0, "x[i]", []),
    "sweep-reduce-nan":
        ("vector", "reduce/reduce.clh", "if (isnan(a))", 0, "if (false)", []),
    "sweep-reduce-vector-tail":
        ("vector", "reduce/reduce_vector.cl", "whole + get_global_id(0)", 0,
         "whole + get_global_id(0) + 1", []),
}
