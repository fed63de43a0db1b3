"""A bug in a copy of the kernels is found: by the sweep (status 3), by Oclgrind, by look_back.c or
by rounded_factors.c.

    seeded_bugs.py BUG      seed it, run, and fail unless it is found
    seeded_bugs.py --list   the names

Each class is here: a dropped barrier, a wrong stride, an off-by-one guard.  PoCL runs work-items
one after another between barriers, and a dropped one does no harm where the compiler keeps to that;
Oclgrind sees the race.  Not where async's barrier is dropped: just before, the group waits for
copies, and that is a barrier in Oclgrind, which the specification does not promise.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "oclgrind"))
from simulator import Run

BARRIER = "barrier(CLK_LOCAL_MEM_FENCE);"

# Small tiles, so that the tiny sweep has passes of both kinds.
FUSED = ["KEYS=4", "GROUP=8", "SORT_TILES=1", "SHORT_GROUP=8"]
SEGMENTS = ["GROUP=16", "TILE=64"]
RADIX = ["BITS=4", "GROUP=8", "ITEMS=4"]
TOP = ["BITS=128", "VECTORS=1", "STRIP=256", "CHUNK=64"]

# name: (operation, variant, file, text, which occurrence of it, replacement, settings)
BUGS = {
    # Dropped barriers.
    "oclgrind-tiled-fill-barrier":
        ("matmul", "tiled", "matmul/matmul_tiled.cl", BARRIER, 0, "", ["TILE=8"]),
    "oclgrind-tiled-refill-barrier":
        ("matmul", "tiled", "matmul/matmul_tiled.cl", BARRIER, 1, "", ["TILE=8"]),
    "oclgrind-pipelined-slices-barrier":
        ("matmul", "pipelined", "matmul/matmul_pipelined.cl", BARRIER, 0, "",
         ["TILE_M=32", "TILE_N=32", "DEPTH=8", "SLICES=2", "SPLIT=1"]),
    "oclgrind-group-row-fill-barrier":
        ("matvec", "group-row", "matvec/matvec_group_row.cl", BARRIER, 0, "", ["TEAM=8", "GROUP=32"]),
    "oclgrind-column-slices-fill-barrier":
        ("matvec", "column-slices", "matvec/matvec_column_slices.cl", BARRIER, 0, "", []),
    "oclgrind-column-slices-store-barrier":
        ("matvec", "column-slices", "matvec/matvec_column_slices.cl", BARRIER, 1, "", []),
    "oclgrind-short-columns-halves-barrier":
        ("matvec", "short-columns", "matvec/matvec_short_columns.cl", BARRIER, 1, "", ["GROUP=64"]),
    "oclgrind-flat-rows-fill-barrier":
        ("matvec", "flat-rows", "matvec/matvec_flat_rows.cl", BARRIER, 0, "", []),
    "oclgrind-two-phase-exchange-barrier":
        ("sort", "two-phase", "sort/sort_tile_pairs.clh", BARRIER, 0, "",
         ["GROUP=16", "KEYS_PER_ITEM=4"]),
    "oclgrind-block-column-refill-barrier":
        ("matmul", "block-column", "matmul/matmul_block_column.cl", BARRIER, 1, "",
         ["TILE=32", "BLOCK=16", "DEPTH=8"]),
    "oclgrind-batched-refill-barrier":
        ("matmul", "batched", "matmul/matmul_batched.cl", BARRIER, 1, "", ["GROUP=64", "DEPTH_MOST=16"]),
    "oclgrind-async-wait":
        ("matmul", "async", "matmul/matmul_async.cl", "wait_group_events(1, &arrival);", 0, "",
         ["SIDE=8", "BLOCK=2", "DEPTH=8"]),
    # Wrong strides.
    "sweep-async-turned-stride":
        ("matmul", "async", "matmul/matmul_async.cl", "from + p, inside, ld, others", 0,
         "from + p, inside, inside, others", ["SIDE=8", "BLOCK=2", "DEPTH=8"]),
    "sweep-naive-c-stride":
        ("matmul", "naive", "matmul/matmul_naive.cl", "(ulong)i * ldc + j", 0, "(ulong)i * n + j", []),
    "sweep-matmul-a-stride":
        ("matmul", "naive", "matmul/matmul_access.clh", "(ulong)i * lda + p", 0,
         "(ulong)i * (lda - 1) + p", []),
    "sweep-block-b-stride":
        ("matmul", "block", "matmul/matmul_block.cl", "tile_b[p][x + r * SIDE]", 0,
         "tile_b[p][x + r * (SIDE - 1)]", ["SIDE=8", "BLOCK=2", "DEPTH=8"]),
    "sweep-block-column-row-stride":
        ("matmul", "block-column", "matmul/matmul_block_column.cl", "tile_a[p][y + r * ROWS]", 0,
         "tile_a[p][y + r * (ROWS - 1)]", ["TILE=32", "BLOCK=4", "DEPTH=8"]),
    "sweep-swizzle-read-in-order":
        ("matmul", "swizzle", "matmul/matmul_vector.cl", "tile_b[at(p, x + s * SIDE)]", 0,
         "tile_b[p * ROW + x + s * SIDE]", ["SIDE=8", "BLOCK=4", "DEPTH=8"]),
    "sweep-item-split-part-stride":
        ("matmul", "cpu-split", "matmul/matmul_cpu_panels.cl", "part + z * size + j", 0,
         "part + z * n + j", ["SPAN=8"]),
    "sweep-split-row-part-stride":
        ("matvec", "split-row", "matvec/matvec_parts.clh", "parts + part) * call.rows", 0,
         "parts + part) * (call.rows - 1)", []),
    "sweep-parts-of-a-batch":
        ("matvec", "split-row", "matvec/matvec_parts.clh",
         "partial += (ulong)get_group_id(1) * call.parts * rows;", 0, "", []),
    "sweep-last-group-of-a-tile":
        ("matvec", "split-row", "common/last_group.clh", "== groups - 1", 0, "== groups", []),
    "sweep-last-group-once":
        ("matvec", "split-row", "common/last_group.clh", "atomic_store_explicit(done, 0u,", 0,
         "atomic_store_explicit(done, 1u,", ["GROUP=16"]),
    "sweep-matvec-increments":
        ("matvec", "row-item", "matvec/matvec.clh", "STRIDED ? i * inc : i", 0, "i", []),
    "sweep-rows-vector-increment":
        ("matvec", "rows-vector", "matvec/matvec_vectors.clh", "v_index(incx, c + i)", 0, "c + i", []),
    "sweep-short-rows-vector-mask":
        ("matvec", "short-rows-vector", "matvec/matvec_short_rows_vector.cl",
         "select((VECTOR)0, load_vector(row + r * lda + whole), inside)", 0,
         "load_vector(row + r * lda + whole)", ["BITS=128"]),
    "sweep-columns-vector-lines":
        ("matvec", "columns-vector", "matvec/matvec_columns_vector.cl", "line += LINES * call.lda", 0,
         "line += call.lda", []),
    "sweep-tree-vector-tail":
        ("matvec", "tree-vector", "matvec/matvec_tree_vector.cl", "c = vectors + lane", 0,
         "c = vectors + lane + 1", []),
    "sweep-split-vector-beyond-the-part":
        ("matvec", "split-vector", "matvec/matvec_split_vector.cl", "c + u * STEP < end", 0, "true", []),
    "sweep-column-slices-edge":
        ("matvec", "column-slices", "matvec/matvec_column_slices.cl", "min((uint)VEC, rows - row)", 0,
         "min((uint)VEC, rows - row - 1)", []),
    "sweep-column-slices-beyond-the-part":
        ("matvec", "column-slices", "matvec/matvec_column_slices.cl", "c + u * SLICES < length", 0, "true",
         ["ACROSS=8", "LOADS=2", "STAGES=1", "GROUP=64"]),
    "sweep-column-slices-next-batch":
        ("matvec", "column-slices", "matvec/matvec_column_slices.cl", "c + AT_ONCE, length", 0,
         "c, length", ["ACROSS=8", "LOADS=2", "STAGES=2", "GROUP=64"]),
    "sweep-row-item-beyond-the-row":
        ("matvec", "row-item", "matvec/matvec_row_item.cl", "c + u < columns", 0, "true", ["LOADS=4"]),
    "sweep-short-columns-beyond-the-part":
        ("matvec", "short-columns", "matvec/matvec_short_columns.cl", "s + u < whole", 0, "true", []),
    "sweep-short-columns-halves-stride":
        ("matvec", "short-columns", "matvec/matvec_short_columns.cl", "e + kept * rows", 0, "e + rows",
         []),
    "sweep-flat-rows-columns":
        ("matvec", "flat-rows", "matvec/matvec_flat_rows.cl", "c + 1 < columns ? c + 1 : 0", 0, "c + 1",
         []),
    "sweep-matvec-batch-stride":
        ("matvec", "tree", "matvec/matvec.clh", "get_group_id(1) * stride", 0,
         "get_group_id(1) * (stride - 1)", []),
    "sweep-two-phase-stride":
        ("sort", "two-phase", "sort/sort_tile_pairs.clh", "low ^ (flip ? 2 * stride - 1 : stride)", 0,
         "low ^ stride", ["GROUP=16", "KEYS_PER_ITEM=4"]),
    "sweep-item-vectors-unmirrored":
        ("sort", "cpu-vectors", "sort/sort_cpu_vectors.cl", "- width - column", 0,
         "- width", ["BITS=128", "BLOCK=64", "LEVELS=3"]),
    "sweep-item-merges-search":
        ("sort", "cpu-merges", "sort/sort_merges.clh", "from[a + middle] < from[b", 0,
         "from[a + middle] > from[b", ["BITS=128", "BLOCK=64", "PIECE=64"]),
    "sweep-item-merges-trade":
        ("sort", "cpu-merges", "sort/sort_merges.clh", "lanes_zip(low, high)", 0, "(void)0",
         ["BITS=128", "BLOCK=64"]),
    "sweep-fused-flip":
        ("sort", "fused-passes", "sort/sort_held.clh", "flip && bit == top ? (2u << bit) - 1 : 1u << bit",
         0, "1u << bit", FUSED),
    "sweep-fused-turned-columns":
        ("sort", "fused-passes", "sort/sort_fused.cl", "(1u << shift) - columns - chunk", 0, "chunk",
         FUSED),
    "sweep-fused-short-columns":
        ("sort", "fused-passes", "sort/sort_fused.cl", "block + (stride - 1 - column)", 0,
         "block + column", FUSED),
    "sweep-fused-level-top":
        ("sort", "fused-passes", "sort/sort_held_tile.clh", "level_merge(held, l, (l + 1) * KEYS_SHIFT - 1",
         0, "level_merge(held, l, (l + 1) * KEYS_SHIFT - 2", FUSED),
    "sweep-rows-registers-columns":
        ("sort", "rows-registers", "sort/sort_rows_registers.cl", "0, -1, members_shift, -1", 0, "0, -1, 0, -1",
         ["KEYS=4", "GROUP=8"]),
    "sweep-rows-registers-strips":
        ("sort", "rows-registers", "sort/sort_rows_registers.cl", "column * KEYS, apart", 0,
         "column * VECTOR, apart", ["KEYS=8", "GROUP=8"]),
    "sweep-rows-registers-dealt":
        ("sort", "rows-registers", "sort/sort_held_tile.clh", "slot(start + r * members)", 0,
         "slot(start + r)", ["KEYS=32", "GROUP=8"]),
    "sweep-top-tiles-place":
        ("sort", "top-tiles", "sort/sort_top.cl", "(size_t)group * keep", 0,
         "(size_t)(group / 2) * keep", ["KEYS=4", "GROUP=8"]),
    "sweep-item-merges-index":
        ("sort", "cpu-merges", "sort/sort_vectors.clh", "VECTOR_STORE(v & UINT_MAX", 0,
         "VECTOR_STORE(v >> 32", ["BITS=128", "BLOCK=64"]),
    "sweep-item-vectors-position":
        ("sort", "cpu-vectors", "sort/sort_vectors.clh", "(vector)(position + i) + LANE_NUMBERS", 0,
         "(vector)(position) + LANE_NUMBERS", ["BITS=128", "BLOCK=64", "LEVELS=3"]),
    "sweep-item-vectors-end":
        ("sort", "cpu-vectors", "sort/sort_vectors.clh", "from_order((word)(part[l] >> 32))", 0,
         "from_order((word)part[l])", ["BITS=128", "BLOCK=64", "LEVELS=3"]),
    "sweep-item-segments-turns":
        ("sort", "cpu-segments", "sort/sort_cpu_segments.cl", "left % 2 ? a->lanes : a->keys", 0,
         "left % 2 ? a->keys : a->lanes", ["BITS=128", "BLOCK=64", "PIECE=64"]),
    "sweep-item-segments-end":
        ("sort", "cpu-segments", "sort/sort_segment_units.clh", "w->found.start + w->at >= w->end", 0,
         "false", ["BITS=128", "BLOCK=64", "PIECE=64"]),
    "sweep-item-top-child":
        ("sort", "cpu-top", "sort/sort_cpu_top.cl", "heap_at(h, child + 1), heap_at(h, child))", 0,
         "heap_at(h, child), heap_at(h, child + 1))", TOP),
    "sweep-item-top-equal-keys":
        ("sort", "cpu-top", "sort/sort_cpu_top.cl", "first.index = at", 0, "first.index = LONG_MAX",
         TOP[:-1] + ["CHUNK=4096"]),
    "sweep-item-top-lanes":
        ("sort", "cpu-top", "sort/sort_cpu_top.cl", "lanes_swapped(orders, 1u << shift)", 0,
         "lanes_swapped(orders, 1)", TOP),
    "sweep-item-top-strips":
        ("sort", "cpu-top", "sort/sort_cpu_top.cl", "* 0x9E3779B9ul >> 32) | 1", 0,
         "* 0x9E3779B9ul >> 32) * 2", TOP[:-1] + ["CHUNK=4096"]),
    "sweep-item-top-place":
        ("sort", "cpu-top", "sort/sort_cpu_top.cl", "+ group * keep", 0, "+ group / 2 * keep", TOP),
    "oclgrind-item-top-last":
        ("sort", "cpu-top", "sort/sort_cpu_top.cl", "at + min(n - at, chunk)", 0, "at + chunk", TOP),
    "oclgrind-segments-registers-merge":
        ("sort", "segments-registers", "sort/sort_segments_registers.cl", "level_merge(held, level, TILE_SHIFT - 1", 0,
         "level_merge(held, level, TILE_SHIFT - 2", ["KEYS=4", "GROUP=8"]),
    "oclgrind-segments-registers-blocks":
        ("sort", "segments-registers", "sort/sort_segments_registers.cl", "block < blocks ? list->n[at + block] : 0",
         0, "list->n[at + block]", ["KEYS=4", "GROUP=8"]),
    "oclgrind-radix-room-barrier":
        ("sort", "radix", "sort/sort_radix_tile.clh",
         "/* Counters are read before keys take their room. */\n    " + BARRIER, 0, "", RADIX),
    "sweep-radix-scan":
        ("sort", "radix", "sort/sort_radix_scan.clh", "of_digit[i] = before", 0, "of_digit[i] = 0", RADIX),
    "sweep-item-radix-begin":
        ("sort", "cpu-radix", "sort/sort_cpu_radix.cl", "before + counts[digit * chunks + mine]", 0,
         "before", ["BITS=4"]),
    "sweep-radix-missing-keys":
        ("sort", "radix", "sort/sort_radix_tile.clh", "from_order(ALL_BITS)", 0, "from_order(0)", RADIX),
    "sweep-radix-payload-order":
        ("sort", "radix", "sort/sort_radix_tile.clh", "room->loads[rank[r]] = load[r]", 0,
         "room->loads[own_place() + r * TEAM] = load[r]", RADIX),
    "sweep-radix-digits-in-order":
        ("sort", "onesweep", "sort/sort_onesweep.cl", "STATE_ENDS + before + count", 0,
         "STATE_ENDS + before", RADIX),
    "sweep-radix-states-back":
        ("sort", "onesweep", "sort/sort_onesweep.cl", "i < all_states", 0,
         "i < all_states && i + PASSES >= all_states", RADIX),
    "sweep-radix-look-back":
        ("sort", "onesweep", "sort/sort_radix_states.clh", "? tile - 1 - k : 0", 0, "? tile - k : 0",
         RADIX),
    "look-back-stops-early":
        ("sort", "onesweep", "sort/sort_radix_states.clh", "sum += seen[k] - 1;", 0,
         "sum += k < LOOK - 1 ? seen[k] - 1 : 0;", []),
    "oclgrind-radix-count-guard":
        ("sort", "radix", "sort/sort_radix_count.clh", "(int)(r * GROUP) < mine ? keys", 0,
         "(int)(r * GROUP) <= mine ? keys", RADIX),
    "sweep-segments-flip":
        ("sort", "segments", "sort/sort_segments.cl", "indices, positions, size / 2, 1", 0,
         "indices, positions, size / 2, 0", SEGMENTS),
    "sweep-segments-second-tile":
        ("sort", "segments", "sort/sort_segments_long.clh", "!(odd && s.start <= window)", 0, "!odd",
         SEGMENTS),
    "sweep-segments-gather":
        ("sort", "segments", "sort/sort_segments_values.clh", "copy[offset_copy + s.start + from]", 0,
         "copy[offset_copy + from]", SEGMENTS),
    # Off-by-one guards.
    "oclgrind-segments-column-guard":
        ("sort", "segments", "sort/sort_segments.cl", "column < list->n[place]", 1,
         "column <= list->n[place]", SEGMENTS),
    "oclgrind-segments-last-batch":
        ("sort", "segments", "sort/sort_segments.cl", "(uint)min((ulong)batch, segments - first)", 0,
         "batch", SEGMENTS),
    "oclgrind-top-tiles-last":
        ("sort", "top-tiles", "sort/sort_top.cl", "min(n - start, (uint)TILE)", 0, "(uint)TILE",
         ["KEYS=4", "GROUP=8"]),
    "sweep-fused-tile-guard":
        ("sort", "fused-passes", "sort/sort_fused.cl", "end - start >= SORT_TILE", 0,
         "end - start >= SORT_TILE - 1", FUSED),
    "oclgrind-rows-registers-last":
        ("sort", "rows-registers", "sort/sort_rows_registers.cl", "row < rows ? n : 0", 0, "n",
         ["KEYS=4", "GROUP=8"]),
    "oclgrind-rows-registers-vectors":
        ("sort", "rows-registers", "sort/sort_rows_registers.cl", "if (first + r * apart < end)", 0,
         "if (first + r * apart <= end)", ["KEYS=8", "GROUP=8"]),
    "oclgrind-fused-leave-guard":
        ("sort", "fused-passes", "sort/sort_fused.cl", "if (i < end)", 0, "if (i <= end)", FUSED),
    "sweep-tiled-load-guard":
        ("matmul", "tiled", "matmul/matmul_tiled.cl", "i < m && p0 + x < k ?", 0,
         "i < m && p0 + x <= k ?", []),
    "sweep-block-row-guard":
        ("matmul", "block", "matmul/matmul_block.cl", "if (i < m && j < n)", 0,
         "if (i + 1 < m && j < n)", ["SIDE=8", "BLOCK=2", "DEPTH=8"]),
    "oclgrind-naive-store-guard":
        ("matmul", "naive", "matmul/matmul_naive.cl", "if (i >= m || j >= n)", 0,
         "if (i > m || j >= n)", []),
    "sweep-coalesced-column-guard":
        ("matmul", "coalesced", "matmul/matmul_coalesced.cl", "j >= n", 0, "j + 1 >= n", []),
    "oclgrind-batched-last-products":
        ("matmul", "batched", "matmul/matmul_batched.cl", "min(own, batch - 1)", 0, "own",
         ["GROUP=32", "DEPTH_MOST=16"]),
    "sweep-pipelined-span-guard":
        ("matmul", "pipelined", "matmul/matmul_pipelined.cl", "min(span, k - front)", 0, "k - front",
         ["TILE_M=32", "TILE_N=32", "SUMS=32", "DEPTH=8", "SLICES=1", "SPLIT=4", "REGISTERS=255"]),
    "oclgrind-async-edge":
        ("matmul", "async", "matmul/matmul_async.cl", "min(m - i0, (uint)TILE)", 0, "TILE",
         ["SIDE=8", "BLOCK=2", "DEPTH=8"]),
    "oclgrind-async-zeroed-steps":
        ("matmul", "async", "matmul/matmul_async.cl", "e / TILE >= steps", 0, "e / TILE > steps",
         ["SIDE=8", "BLOCK=2", "DEPTH=8"]),
    "sweep-item-panels-block-guard":
        ("matmul", "cpu-panels", "matmul/matmul_cpu_panels.cl", "p0 == front ? beta : 1", 0, "beta",
         ["DEPTH=16"]),
    "oclgrind-item-panels-row-guard":
        ("matmul", "cpu-panels", "matmul/matmul_cpu_panels.cl", "min(r, rows - 1)", 0, "r",
         ["PANELS=1", "DEPTH=16"]),
    "oclgrind-item-panels-rounded-row":
        ("matmul", "cpu-panels", "matmul/matmul_cpu_panels.cl", "p + LANES <= depth", 0, "p < depth",
         ["PANELS=1", "DEPTH=16"]),
    "sweep-sort-naive-guard":
        ("sort", "naive", "sort/sort_naive.cl", "if (high < n)", 0, "if (high + 1 < n)", []),
    "oclgrind-sort-naive-guard":
        ("sort", "naive", "sort/sort_naive.cl", "if (high < n)", 0, "if (high <= n)", []),
    "sweep-sort-rows-guard":
        ("sort", "rows", "sort/sort_rows.cl", "column < n && row < rows", 0,
         "column + 1 < n && row < rows", ["GROUP=16", "KEYS_PER_ITEM=4"]),
    "oclgrind-sort-rows-last":
        ("sort", "rows", "sort/sort_rows.cl", "column < n && row < rows", 1, "column < n",
         ["GROUP=16", "KEYS_PER_ITEM=4"]),
    "sweep-sort-row-start":
        ("sort", "naive", "sort/sort_row.clh", "* (size_t)n", 0, "* (size_t)(n - 1)", []),
    "sweep-sort-values-gather":
        ("sort", "naive", "sort/sort_values.clh", "(size_t)index[offset_index + row + i]", 0, "i", []),
    "oclgrind-sort-values-guard":
        ("sort", "naive", "sort/sort_values.clh", "if (i < n)", 1, "if (i <= n)", []),
    "oclgrind-item-vectors-store-guard":
        ("sort", "cpu-vectors", "sort/sort_vectors.clh", "i <= n - LANES", 1, "i < n",
         ["BLOCK=256", "LEVELS=3"]),
    "oclgrind-item-merges-head-guard":
        ("sort", "cpu-merges", "sort/sort_merges.clh", "next < end ?", 0, "next <= end ?",
         ["BITS=128", "BLOCK=64"]),
    "oclgrind-local-x-fill-barrier":
        ("matvec", "local-x", "matvec/matvec_local_x.cl", BARRIER, 0, "", []),
    "oclgrind-local-x-last-row":
        ("matvec", "local-x", "matvec/matvec_local_x.cl", "min(first + r * TEAMS, rows - 1)", 0,
         "first + r * TEAMS", []),
    "sweep-local-x-row-guard":
        ("matvec", "local-x", "matvec/matvec_local_x.cl", "lane == 0 && row < rows", 0,
         "lane == 0 && row + 1 < rows", []),
    "sweep-tree-row-guard":
        ("matvec", "tree", "matvec/matvec_tree.cl", "lane == 0 && row < rows", 0,
         "lane == 0 && row + 1 < rows", []),
    # Rounded down.
    "sweep-matvec-bfloat16-result":
        ("matvec", "row-item", "matmul/matmul_elements.clh", "0x7FFFu", 0, "0u", []),
    # Not rounded, which bounds do not tell, and ties to even.
    "factors-item-panels-as-they-are":
        ("matmul", "cpu-panels", "matmul/matmul_cpu_panels.cl", "vload_rounded(0, from + p)", 0,
         "VLOAD_FACTORS(LANES_NUMBER, 0, from + p)", []),
    "factors-tf32-ties":
        ("matmul", "cpu-panels", "common/tf32.clh", "+ 0x1000u", 0,
         "+ 0xFFFu + (as_uint##n(x) >> 13 & 1u)", []),
}

# Not float32's, nor uint32's; or of a type with fewer problems, all of which the simulator runs.
TYPES = {"sweep-item-top-equal-keys": "i32", "sweep-matvec-bfloat16-result": "bf16",
         "sweep-parts-of-a-batch": "f64",
         "oclgrind-sort-naive-guard": "u8", "oclgrind-sort-values-guard": "u8",
         "oclgrind-two-phase-exchange-barrier": "u8", "oclgrind-fused-leave-guard": "f16"}


# What a launch before left sends tiles astray, perhaps for ever: a sweep that does not end has found
# these, as one that ends with a complaint has.  Without the bug it takes 12 s.
HANGS = {"sweep-radix-states-back"}
HANG_SECONDS = 60


def replace(text, old, which, new):
    """The text with one occurrence of `old` replaced; it has to be there."""
    at = [m.start() for m in re.finditer(re.escape(old), text)]
    if which >= len(at):
        sys.exit("'%s' occurs %d times, and number %d is to be replaced: the seed is stale"
                 % (old, len(at), which + 1))
    return text[:at[which]] + new + text[at[which] + len(old):]


def run_sweep(args, hangs):
    """The sweep on PoCL: status, what it printed, and whether it found the bug."""
    try:
        done = subprocess.run([os.environ["TESSERA"], *args, "--tiny", "--stop-on-failure",
                               "--device", "cpu"], check=False, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=HANG_SECONDS if hangs else 280)
    except subprocess.TimeoutExpired:
        return None, "it does not end", hangs
    out = done.stdout.decode(errors="replace")
    # Keys out of order may leave what pads a tile among them, whose index, followed to a value, is
    # nowhere in memory; and a wrong place may be outside of the keys, in what malloc keeps there.
    crashed = done.returncode in (-signal.SIGSEGV, -signal.SIGABRT)
    return done.returncode, out, crashed or (done.returncode == 3 and "\nFAIL " in "\n" + out)


def run_simulator(args):
    run = Run(*args, "--tiny", "--device", "0:0", timeout=280)
    # A refusal to build the seeded kernel would be no find.
    wrong = run.status == 3 and "\nFAIL " in "\n" + run.out
    found = wrong or (run.status == 0 and bool(run.complaints()))
    return run.status, run.out + run.err + run.complaints()[:2000], found


def run_program(*args):
    """A program for what a sweep on a CPU hardly goes through, or does not tell: as run_sweep."""
    done = subprocess.run(args, check=False, timeout=120, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    out = done.stdout.decode(errors="replace")
    return done.returncode, out, done.returncode == 3 and "\nFAIL " in "\n" + out


def main():
    if sys.argv[1:] == ["--list"]:
        print("\n".join(BUGS))
        return
    op, variant, file, old, which, new, settings = BUGS[sys.argv[1]]
    with tempfile.TemporaryDirectory(prefix="tessera-seeded-") as folder:
        kernels = os.path.join(folder, "cl")
        shutil.copytree(os.path.join(os.environ["TESSERA_SOURCE"], "cl"), kernels)
        path = os.path.join(kernels, file)
        with open(path, encoding="utf-8") as f:
            text = replace(f.read(), old, which, new)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        # Of one type and with these values alone the bug is there too.
        args = ["verify", op, "--kernel", variant, "--kernel-dir", kernels, "--defaults", "--type",
                TYPES.get(sys.argv[1], "u32" if op == "sort" else "f32")]
        args += [a for s in settings for a in ("--set", s)]
        if sys.argv[1].startswith("look-back-"):
            status, out, found = run_program(os.environ["LOOK_BACK"], "cpu", kernels)
        elif sys.argv[1].startswith("factors-"):
            status, out, found = run_program(os.environ["ROUNDED_FACTORS"], "cpu", kernels, variant)
        elif sys.argv[1].startswith("oclgrind-"):
            status, out, found = run_simulator(args)
        else:
            status, out, found = run_sweep(args, sys.argv[1] in HANGS)
    print(out)
    if not found:
        sys.exit("not found: status %s" % status)
    print("found")


main()
