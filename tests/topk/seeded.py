"""Bugs of topk's kernels that tests find: tests/device/seeded_bugs.py seeds them."""

HEAPS = ["BITS=128", "VECTORS=1", "STRIP=256", "CHUNK=64"]

# name: (variant, file, text, which occurrence of it, replacement, settings)
BUGS = {
    # Right results, and more accesses than the plans state.
    "traffic-topk-fetched-twice":
        ("tiles", "topk/topk_tiles.cl", "held_of(keys[r * GROUP], ", 0,
         "held_of(min(keys[r * GROUP], keys[r * GROUP]), ", []),
    "sweep-tiles-place":
        ("tiles", "topk/topk_tiles.cl", "(size_t)group * keep", 0,
         "(size_t)(group / 2) * keep", ["KEYS=4", "GROUP=8"]),
    "sweep-cpu-heaps-child":
        ("cpu-heaps", "topk/topk_cpu_heaps.cl", "heap_at(h, child + 1), heap_at(h, child))", 0,
         "heap_at(h, child), heap_at(h, child + 1))", HEAPS),
    "sweep-cpu-heaps-equal-keys":
        ("cpu-heaps", "topk/topk_cpu_heaps.cl", "first.index = at", 0, "first.index = LONG_MAX",
         HEAPS[:-1] + ["CHUNK=4096"]),
    "sweep-cpu-heaps-lanes":
        ("cpu-heaps", "topk/topk_cpu_heaps.cl", "lanes_swapped(orders, 1u << shift)", 0,
         "lanes_swapped(orders, 1)", HEAPS),
    "sweep-cpu-heaps-strips":
        ("cpu-heaps", "topk/topk_cpu_heaps.cl", "* 0x9E3779B9ul >> 32) | 1", 0,
         "* 0x9E3779B9ul >> 32) * 2", HEAPS[:-1] + ["CHUNK=4096"]),
    "sweep-cpu-heaps-place":
        ("cpu-heaps", "topk/topk_cpu_heaps.cl", "+ group * keep", 0, "+ group / 2 * keep", HEAPS),
    "oclgrind-cpu-heaps-last":
        ("cpu-heaps", "topk/topk_cpu_heaps.cl", "at + min(n - at, chunk)", 0, "at + chunk", HEAPS),
    "oclgrind-tiles-last":
        ("tiles", "topk/topk_tiles.cl", "min(n - start, (uint)TILE)", 0, "(uint)TILE",
         ["KEYS=4", "GROUP=8"]),
}

# Of a type that is not the main one: its problems are those that show them.
TYPES = {
    "sweep-cpu-heaps-equal-keys": "i32",
    "sweep-cpu-heaps-place": "f32",
    "sweep-tiles-place": "f32",
}
