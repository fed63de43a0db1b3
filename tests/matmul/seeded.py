"""Bugs of matmul's kernels that tests find: tests/device/seeded_bugs.py seeds them."""

BARRIER = "barrier(CLK_LOCAL_MEM_FENCE);"

# name: (variant, file, text, which occurrence of it, replacement, settings)
BUGS = {
    # Right results, and more barriers than the plans state.
    "traffic-matmul-general-tiled-barrier":
        ("general-tiled", "matmul/matmul_general_tiled.cl", "        for (uint p = 0; p < TILE; p++)", 0,
         "        barrier(CLK_LOCAL_MEM_FENCE);\n        for (uint p = 0; p < TILE; p++)", []),
    # Dropped barriers.
    "oclgrind-tiled-fill-barrier":
        ("tiled", "matmul/matmul_tiled.cl", BARRIER, 0, "", ["TILE=8"]),
    "oclgrind-tiled-refill-barrier":
        ("tiled", "matmul/matmul_tiled.cl", BARRIER, 1, "", ["TILE=8"]),
    "oclgrind-pipelined-slices-barrier":
        ("pipelined", "matmul/matmul_pipelined.cl", BARRIER, 0, "",
         ["TILE_M=32", "TILE_N=32", "DEPTH=8", "SLICES=2", "SPLIT=1"]),
    "oclgrind-block-column-refill-barrier":
        ("block-column", "matmul/matmul_block_column.cl", BARRIER, 1, "",
         ["TILE=32", "BLOCK=16", "DEPTH=8"]),
    "oclgrind-batched-refill-barrier":
        ("batched", "matmul/matmul_batched.cl", BARRIER, 1, "", ["GROUP=64", "DEPTH_MAX=16"]),
    "oclgrind-outer-refill-barrier":
        ("outer", "matmul/matmul_outer.cl", BARRIER, 1, "", ["ITEMS=64", "DEPTH=4"]),
    "oclgrind-async-wait":
        ("async", "matmul/matmul_async.cl", "wait_group_events(1, &arrival);", 0, "",
         ["SIDE=8", "BLOCK=2", "DEPTH=8"]),
    # FP8.
    "sweep-fp8-denormals":
        ("general", "common/fp8.clh", "2.0f * (shifted - FP8_START)", 0, "shifted", []),
    "sweep-fp8-ties":
        ("general", "common/fp8.clh", "((1 << (FP8_DROPPED - 1)) - 1)", 0,
         "(1 << FP8_DROPPED)", []),
    "sweep-fp8-saturation":
        ("general", "common/fp8.clh", "fmin(fabs(x), (float##n)FP8_MAX)", 0, "fabs(x)", []),
    # Scales of rows and columns.
    "sweep-fp8-scale-of-the-next-row":
        ("general", "matmul/matmul_scales.clh", "s->a[i]", 0, "s->a[i ^ 1]", []),
    "sweep-fp8-scale-of-first-column":
        ("general-tiled", "matmul/matmul_scales.clh", "s->b[j]", 0, "s->b[0]", []),
    "sweep-fp8-scale-of-a-neighbour":
        ("pipelined", "matmul/matmul_scales.clh", "min(j + 1, n - 1)", 0, "j", []),
    "sweep-fp8-scale-of-a-product":
        ("general", "matmul/matmul_general.cl", "in_batch(call.offset_scale_a, call.stride_scale_a)", 0,
         "call.offset_scale_a", []),
    "sweep-fp8-scale-of-parts":
        ("pipelined", "matmul/matmul_parts.clh", "scale_at(&by, o / n, o % n)", 0,
         "scale_at(&by, o % m, o % n)", ["SPLIT=2"]),
    # Complex numbers.
    "sweep-complex-conjugate":
        ("complex-general", "matmul/matmul_complex.clh", "sign * x.y", 0, "x.y", []),
    "sweep-complex-imaginary-scale":
        ("complex-general", "matmul/matmul_complex.clh", "(-x.y, x.x)", 0, "(x.y, x.x)", []),
    "sweep-complex-right-sign":
        ("complex-pipelined", "matmul/matmul_complex_factors.clh", "left_sign * (", 0, "(", []),
    "sweep-complex-batch":
        ("complex-pipelined", "matmul/matmul_complex_factors.clh", "(e * copy.rows + p) * 2", 0,
         "p * 2", []),
    # Wrong strides.
    "sweep-async-turned-stride":
        ("async", "matmul/matmul_async.cl", "from + p, inside, ld, others", 0,
         "from + p, inside, inside, others", ["SIDE=8", "BLOCK=2", "DEPTH=8"]),
    "sweep-naive-a-stride":
        ("naive", "matmul/matmul_naive.cl", "(ulong)row * k + p", 0, "(ulong)row * n + p", []),
    "sweep-general-c-stride":
        ("general", "matmul/matmul_general.cl", "(ulong)i * ldc + j", 0, "(ulong)i * n + j", []),
    "sweep-matmul-a-stride":
        ("general", "matmul/matmul_access.clh", "(ulong)i * lda + p", 0,
         "(ulong)i * (lda - 1) + p", []),
    "sweep-block-b-stride":
        ("block", "matmul/matmul_block.cl", "tile_b[p][x + r * SIDE]", 0,
         "tile_b[p][x + r * (SIDE - 1)]", ["SIDE=8", "BLOCK=2", "DEPTH=8"]),
    "sweep-block-column-row-stride":
        ("block-column", "matmul/matmul_block_column.cl", "tile_a[p][y + r * ROWS]", 0,
         "tile_a[p][y + r * (ROWS - 1)]", ["TILE=32", "BLOCK=4", "DEPTH=8"]),
    "sweep-swizzle-read-in-order":
        ("swizzle", "matmul/matmul_vector.cl", "tile_b[at(p, x + s * SIDE)]", 0,
         "tile_b[p * ROW + x + s * SIDE]", ["SIDE=8", "BLOCK=4", "DEPTH=8"]),
    "sweep-item-split-part-stride":
        ("cpu-split", "matmul/matmul_cpu_panels.cl", "part + z * size + j", 0,
         "part + z * n + j", ["SPAN=8"]),
    # Off-by-one guards.
    "sweep-tiled-load-guard":
        ("tiled", "matmul/matmul_tiled.cl", "row < m && p0 + x < k ?", 0,
         "row + 1 < m && p0 + x < k ?", []),
    "sweep-general-tiled-load-guard":
        ("general-tiled", "matmul/matmul_general_tiled.cl", "i < m && p0 + x < k ?", 0,
         "i < m && p0 + x <= k ?", []),
    "sweep-block-row-guard":
        ("block", "matmul/matmul_block.cl", "if (row < m && column < n)", 0,
         "if (row + 1 < m && column < n)", ["SIDE=8", "BLOCK=2", "DEPTH=8"]),
    "oclgrind-naive-store-guard":
        ("naive", "matmul/matmul_naive.cl", "if (row >= m || column >= n)", 0,
         "if (row > m || column >= n)", []),
    "sweep-row-first-column-guard":
        ("row-first", "matmul/matmul_row_first.cl", "column >= n", 0, "column + 1 >= n", []),
    "sweep-general-column-guard":
        ("general", "matmul/matmul_general.cl", "j >= n", 0, "j + 1 >= n", []),
    "oclgrind-batched-last-products":
        ("batched", "matmul/matmul_batched.cl", "min(own, call.batch - 1)", 0, "own",
         ["GROUP=32", "DEPTH_MAX=16"]),
    "oclgrind-skinny-columns-end":
        ("skinny-columns", "matmul/matmul_skinny_columns.cl", "p + u * SLICES < x->k", 0,
         "p < x->k + SLICES", []),
    "sweep-skinny-dots-lanes":
        ("skinny-dots", "matmul/matmul_skinny_sums.clh", "y < PEERS", 0, "y + 1 < PEERS", []),
    "oclgrind-outer-last-columns":
        ("outer", "matmul/matmul_outer.cl", "if (j + e < n)", 1, "if (j <= n)",
         ["ITEMS=64", "DEPTH=4"]),
    "sweep-outer-rows-of-a-slot":
        ("outer", "matmul/matmul_outer.cl", "row % SLOTS * ROWS", 0, "row % SLOTS", ["ROWS=2"]),
    "sweep-pipelined-span-guard":
        ("pipelined", "matmul/matmul_pipelined.cl", "min(call.span, call.k - front)", 0, "call.k - front",
         ["TILE_M=32", "TILE_N=32", "SUMS=32", "DEPTH=8", "SLICES=1", "SPLIT=4", "REGISTERS=255"]),
    "oclgrind-async-edge":
        ("async", "matmul/matmul_async.cl", "min(a.most - a.first, (uint)TILE)", 0, "TILE",
         ["SIDE=8", "BLOCK=2", "DEPTH=8"]),
    "oclgrind-async-zeroed-steps":
        ("async", "matmul/matmul_async.cl", "e / TILE >= steps", 0, "e / TILE > steps",
         ["SIDE=8", "BLOCK=2", "DEPTH=8"]),
    "sweep-item-panels-block-guard":
        ("cpu-panels", "matmul/matmul_cpu_panels.cl", "p0 == front ? call.beta : 1", 0, "call.beta",
         ["DEPTH=16"]),
    "oclgrind-item-panels-row-guard":
        ("cpu-panels", "matmul/matmul_cpu_panels.cl", "min(r, rows - 1)", 0, "r",
         ["PANELS=1", "DEPTH=16"]),
    "oclgrind-item-panels-rounded-row":
        ("cpu-panels", "matmul/matmul_cpu_panels.cl", "p + LANES <= depth", 0, "p < depth",
         ["PANELS=1", "DEPTH=16"]),
    # Not rounded, which bounds do not show, and ties to even.
    "factors-item-panels-as-they-are":
        ("cpu-panels", "matmul/matmul_cpu_panels.cl", "vload_rounded(0, from + p)", 0,
         "VLOAD_FACTORS(LANES_NUMBER, 0, from + p)", []),
    "factors-tf32-ties":
        ("cpu-panels", "common/tf32.clh", "+ 0x1000u", 0,
         "+ 0xFFFu + (as_uint##n(x) >> 13 & 1u)", []),
}

# Of a type that is not the main one.
TYPES = {bug: "c64" if bug.startswith("sweep-complex-") else "f8e4m3" for bug in BUGS
         if bug.startswith(("sweep-complex-", "sweep-fp8-"))}
