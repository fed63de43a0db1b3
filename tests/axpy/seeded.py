"""Bugs of axpy's kernels that tests find: tests/device/seeded_bugs.py seeds them."""

# name: (variant, file, text, which occurrence of it, replacement, settings)
BUGS = {
    # Right results, and more accesses than the plans state.
    "traffic-axpy-naive-twice":
        ("naive", "axpy/axpy_naive.cl", "alpha * x[from_x + i]", 0,
         "alpha * fmin(x[from_x + i], x[from_x + i])", []),
    "oclgrind-axpy-naive-guard":
        ("naive", "axpy/axpy_naive.cl", "if (i < n)", 0, "if (i <= n)", ["GROUP=32"]),
    "sweep-axpy-grid-stride":
        ("grid-stride", "axpy/axpy_grid_stride.cl", "get_global_size(0)", 0,
         "(get_global_size(0) + 1)", []),
    "sweep-axpy-vector-tail":
        ("vector", "axpy/axpy_vector.cl", "4 * vectors + get_global_id(0)", 0,
         "4 * vectors + 1 + get_global_id(0)", []),
    "sweep-axpy-general-increment":
        ("general", "axpy/axpy_general.cl", "i * call.inc_y", 0, "i", []),
    "oclgrind-axpy-general-block":
        ("general", "axpy/axpy_general.cl", "first + block <= call.n", 0, "first < call.n",
         ["GROUP=32", "VECTORS=2", "VEC=4"]),
}
