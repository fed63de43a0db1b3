"""Bugs of sort's kernels that tests find: tests/device/seeded_bugs.py seeds them."""

BARRIER = "barrier(CLK_LOCAL_MEM_FENCE);"

# Small tiles, so that the tiny sweep has passes of both kinds.
FUSED = ["KEYS=4", "GROUP=8", "SORT_TILES=1", "SHORT_GROUP=8"]
MERGES = ["GROUP=4", "ITEMS=3"]
RADIX = ["BITS=4", "GROUP=8", "ITEMS=4"]

# name: (variant, file, text, which occurrence of it, replacement, settings)
BUGS = {
    # Right results, and more barriers than the plans state.
    "traffic-sort-rows-barrier":
        ("rows", "sort/sort_rows.cl", "    for (uint size = 2; size <= width; size *= 2) {", 0,
         "    barrier(CLK_LOCAL_MEM_FENCE);\n    for (uint size = 2; size <= width; size *= 2) {", []),
    # Dropped barriers.
    "oclgrind-two-phase-exchange-barrier":
        ("two-phase", "sort/sort_two_phase.cl", BARRIER, 1, "",
         ["GROUP=16", "KEYS_PER_ITEM=4"]),
    "oclgrind-sort-rows-exchange-barrier":
        ("rows", "sort/sort_tile_pairs.clh", BARRIER, 0, "",
         ["GROUP=16", "KEYS_PER_ITEM=4"]),
    # Wrong strides.
    "sweep-two-phase-stride":
        ("two-phase", "sort/sort_two_phase.cl", "low ^ (flip ? 2 * stride - 1 : stride)", 0,
         "low ^ stride", ["GROUP=16", "KEYS_PER_ITEM=4"]),
    "sweep-sort-rows-stride":
        ("rows", "sort/sort_tile_pairs.clh", "low ^ (flip ? 2 * stride - 1 : stride)", 0,
         "low ^ stride", ["GROUP=16", "KEYS_PER_ITEM=4"]),
    "sweep-item-vectors-unmirrored":
        ("cpu-vectors", "sort/sort_cpu_vectors.cl", "- width - column", 0,
         "- width", ["BITS=128", "BLOCK=64", "LEVELS=3"]),
    "sweep-item-merges-search":
        ("cpu-merges", "sort/sort_merges.clh", "from[a + middle] < from[b", 0,
         "from[a + middle] > from[b", ["BITS=128", "BLOCK=64", "PIECE=64"]),
    "sweep-item-merges-trade":
        ("cpu-merges", "sort/sort_merges.clh", "lanes_zip(low, high)", 0, "(void)0",
         ["BITS=128", "BLOCK=64"]),
    "sweep-fused-flip":
        ("fused-passes", "sort/sort_held.clh", "flip && bit == top ? (2u << bit) - 1 : 1u << bit",
         0, "1u << bit", FUSED),
    "sweep-fused-turned-columns":
        ("fused-passes", "sort/sort_fused.cl", "(1u << shift) - columns - chunk", 0, "chunk",
         FUSED),
    "sweep-fused-short-columns":
        ("fused-passes", "sort/sort_fused.cl", "block + (stride - 1 - column)", 0,
         "block + column", FUSED),
    "sweep-fused-level-top":
        ("fused-passes", "sort/sort_held_tile.clh", "level_merge(held, l, (l + 1) * KEYS_SHIFT - 1",
         0, "level_merge(held, l, (l + 1) * KEYS_SHIFT - 2", FUSED),
    "sweep-rows-registers-columns":
        ("rows-registers", "sort/sort_rows_registers.cl", "0, -1, members_shift, -1", 0, "0, -1, 0, -1",
         ["KEYS=4", "GROUP=8"]),
    "sweep-rows-registers-strips":
        ("rows-registers", "sort/sort_rows_registers.cl", "column * KEYS, apart", 0,
         "column * VECTOR, apart", ["KEYS=8", "GROUP=8"]),
    "sweep-rows-registers-dealt":
        ("rows-registers", "sort/sort_held_tile.clh", "slot(start + r * members)", 0,
         "slot(start + r)", ["KEYS=32", "GROUP=8"]),
    "sweep-item-merges-index":
        ("cpu-merges", "sort/sort_vectors.clh", "VECTOR_STORE(v & UINT_MAX", 0,
         "VECTOR_STORE(v >> 32", ["BITS=128", "BLOCK=64"]),
    "sweep-item-vectors-position":
        ("cpu-vectors", "sort/sort_vectors.clh", "(vector)(position + i) + LANE_NUMBERS", 0,
         "(vector)(position) + LANE_NUMBERS", ["BITS=128", "BLOCK=64", "LEVELS=3"]),
    "sweep-item-vectors-end":
        ("cpu-vectors", "sort/sort_vectors.clh", "from_order((word)(part[l - i] >> 32))", 0,
         "from_order((word)part[l - i])", ["BITS=128", "BLOCK=64", "LEVELS=3"]),
    "oclgrind-radix-room-barrier":
        ("radix", "sort/sort_radix_tile.clh",
         "/* Counters are read before keys take their room. */\n    " + BARRIER, 0, "", RADIX),
    "sweep-radix-scan":
        ("radix", "sort/sort_radix_scan.clh", "of_digit[i] = before", 0, "of_digit[i] = 0", RADIX),
    "sweep-item-radix-begin":
        ("cpu-radix", "sort/sort_cpu_radix.cl", "before + counts[digit * chunks + mine]", 0,
         "before", ["BITS=4"]),
    "sweep-radix-missing-keys":
        ("radix", "sort/sort_radix_tile.clh", "from_order(ALL_BITS)", 0, "from_order(0)", RADIX),
    "sweep-radix-payload-order":
        ("radix", "sort/sort_radix_tile.clh", "room->loads[rank[r]] = load[r]", 0,
         "room->loads[own_place() + r * TEAM] = load[r]", RADIX),
    "sweep-radix-digits-in-order":
        ("onesweep", "sort/sort_onesweep.cl", "STATE_PREFIX + before + count", 0,
         "STATE_PREFIX + before", RADIX),
    "sweep-radix-states-back":
        ("onesweep", "sort/sort_onesweep.cl", "i < call.states", 0,
         "i < call.states && i + PASSES >= call.states", RADIX),
    "sweep-radix-look-back":
        ("onesweep", "common/look_back.clh", "? tile - 1 - k : 0", 0, "? tile - k : 0",
         RADIX),
    "look-back-stops-early":
        ("onesweep", "common/look_back.clh", "sum += seen[k] - 1;", 0,
         "sum += k < LOOK - 1 ? seen[k] - 1 : 0;", []),
    "oclgrind-radix-count-guard":
        ("radix", "sort/sort_radix_count.clh", "(int)(r * GROUP) < mine ? keys", 0,
         "(int)(r * GROUP) <= mine ? keys", RADIX),
    # Off-by-one guards.
    "sweep-fused-tile-guard":
        ("fused-passes", "sort/sort_fused.cl", "end - start >= SORT_TILE", 0,
         "end - start >= SORT_TILE - 1", FUSED),
    "oclgrind-rows-registers-last":
        ("rows-registers", "sort/sort_rows_registers.cl", "row < rows ? n : 0", 0, "n",
         ["KEYS=4", "GROUP=8"]),
    "oclgrind-rows-registers-vectors":
        ("rows-registers", "sort/sort_rows_registers.cl", "if (first + r * apart < end)", 0,
         "if (first + r * apart <= end)", ["KEYS=8", "GROUP=8"]),
    "oclgrind-fused-leave-guard":
        ("fused-passes", "sort/sort_fused.cl", "if (i < end)", 0, "if (i <= end)", FUSED),
    "sweep-sort-naive-guard":
        ("naive", "sort/sort_naive.cl", "if (high < n)", 0, "if (high + 1 < n)", []),
    "oclgrind-sort-naive-guard":
        ("naive", "sort/sort_naive.cl", "if (high < n)", 0, "if (high <= n)", []),
    "sweep-sort-rows-values":
        ("rows", "sort/sort_rows.cl", "values[row * n + (size_t)indices[i]]", 0,
         "values[row * n + (i & (width - 1))]", []),
    "sweep-rows-registers-values":
        ("rows-registers", "sort/sort_rows_registers.cl", "values[(uint)held[r]]", 0,
         "values[place_of(r, column, members)]", []),
    "sweep-counted-equal-keys":
        ("counted", "sort/sort_counted.cl", "0, own, lane, true", 0, "0, own, lane, false", []),
    "sweep-counted-own-keys":
        ("counted", "sort/sort_counted.cl", "start + i < first + k", 0, "start + i < first", []),
    # 8 bits: the values' ends and places, and what one digit copies.
    "sweep-value-counts-ends":
        ("value-counts", "sort/sort_value_counts.cl", "while (ends[order] <= i + k)", 0,
         "while (ends[order] < i + k)", ["GROUP=16", "COPIES=4"]),
    "sweep-value-counts-places":
        ("value-counts", "sort/sort_value_counts.cl", "from_order((word)place)", 1, "place",
         ["GROUP=16", "COPIES=4"]),
    "sweep-value-counts-rows":
        ("value-counts", "sort/sort_value_counts.cl", "get_group_id(0) * call.n", 0, "0",
         ["GROUP=16", "COPIES=4"]),
    "sweep-radix-one-digit-copy":
        ("onesweep", "sort/sort_onesweep.cl", "(keys_to + call.offset_keys_to + start)", 0,
         "(keys_to + call.offset_keys_to)", ["BITS=8", "GROUP=8", "ITEMS=4"]),
    "oclgrind-counted-fill-barrier":
        ("counted", "sort/sort_counted.cl", BARRIER, 0, "", ["KEYS=2", "GROUP=32"]),
    # Merges: the wrong run first where keys are equal; a probe too many; a tile that is overwritten
    # while it is read.
    "sweep-merge-path-equal-keys":
        ("merge-path", "sort/sort_merge_path.cl", "next_a <= next_b", 0, "next_a < next_b", MERGES),
    "sweep-merge-path-crossing":
        ("merge-path", "sort/sort_merge_path.cl", "low = a + 1", 0, "low = a + 2", MERGES),
    "sweep-merge-path-rows":
        ("merge-path", "sort/sort_merge_path.cl", "rows[which] = LANES", 0,
         "rows[which] = LANES - 1", MERGES),
    "oclgrind-merge-path-read-barrier":
        ("merge-path", "sort/sort_merge_path.cl", BARRIER, 1, "", MERGES),
    "sweep-sort-rows-guard":
        ("rows", "sort/sort_rows.cl", "column < n && row < rows", 0,
         "column + 1 < n && row < rows", ["GROUP=16", "KEYS_PER_ITEM=4"]),
    "oclgrind-sort-rows-last":
        ("rows", "sort/sort_rows.cl", "column < n && row < rows", 1, "column < n",
         ["GROUP=16", "KEYS_PER_ITEM=4"]),
    "sweep-sort-general-flip":
        ("general", "sort/sort_general.cl", "flip ? 2 * stride - 1 : stride", 0, "stride", []),
    "sweep-sort-row-start":
        ("general", "sort/sort_row.clh", "* (size_t)n", 0, "* (size_t)(n - 1)", []),
    "sweep-sort-values-gather":
        ("general", "sort/sort_values.clh", "(size_t)index[offset_index + row + i]", 0, "i", []),
    "oclgrind-sort-values-guard":
        ("general", "sort/sort_values.clh", "if (i < n)", 1, "if (i <= n)", []),
    "oclgrind-item-vectors-store-guard":
        ("cpu-vectors", "sort/sort_vectors.clh", "i <= n - LANES", 1, "i < n",
         ["BLOCK=256", "LEVELS=3"]),
    "oclgrind-item-merges-head-guard":
        ("cpu-merges", "sort/sort_merges.clh", "next < end ?", 0, "next <= end ?",
         ["BITS=128", "BLOCK=64"]),
}

# Of a type that is not the main one: it is there alone, or has fewer problems, all of which the
# simulator runs, or it shows after fewer programs.
TYPES = {
    "sweep-value-counts-ends": "u8", "sweep-value-counts-places": "i8", "sweep-value-counts-rows": "i8",
    "sweep-radix-one-digit-copy": "i8",
    "oclgrind-sort-values-guard": "u8",
    "oclgrind-sort-rows-exchange-barrier": "u8",
    "oclgrind-fused-leave-guard": "f16",
    "sweep-fused-flip": "i16",
    "sweep-fused-turned-columns": "i16",
    "sweep-fused-short-columns": "i16",
    "sweep-fused-level-top": "i16",
    "sweep-fused-tile-guard": "f32",
    "sweep-rows-registers-dealt": "f16",
    "sweep-rows-registers-strips": "i8",
    "sweep-rows-registers-columns": "f32",
}

# What a launch before left sends tiles astray, perhaps for ever: a sweep that does not end has found
# these, as one that ends with a complaint has.  Without the bug it takes 12 s.
HANGS = {"sweep-radix-states-back"}
