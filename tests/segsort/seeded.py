"""Bugs of segsort's kernels that tests find: tests/device/seeded_bugs.py seeds them."""

TILES = ["GROUP=16", "TILE=64"]
REGISTERS = ["KEYS=4", "GROUP=8"]
MERGES = ["BITS=128", "BLOCK=64", "PIECE=64"]

# name: (variant, file, text, which occurrence of it, replacement, settings)
BUGS = {
    "sweep-item-segments-turns":
        ("cpu-segments", "segsort/segsort_cpu_merges.cl", "left % 2 ? a->lanes : a->keys", 0,
         "left % 2 ? a->keys : a->lanes", MERGES),
    "sweep-item-segments-end":
        ("cpu-segments", "segsort/segsort_units.clh", "w->found.start + w->at >= w->end", 0,
         "false", MERGES),
    "oclgrind-segments-registers-merge":
        ("segments-registers", "segsort/segsort_registers.cl", "level_merge(held, level, TILE_SHIFT - 1", 0,
         "level_merge(held, level, TILE_SHIFT - 2", REGISTERS),
    "oclgrind-segments-registers-blocks":
        ("segments-registers", "segsort/segsort_registers.cl", "block < blocks ? list->n[at + block] : 0",
         0, "list->n[at + block]", REGISTERS),
    "sweep-segments-flip":
        ("segments", "segsort/segsort_tiles.cl", "positions, stride, stride == size / 2", 0,
         "positions, stride, 0", TILES),
    "sweep-segments-second-tile":
        ("segments", "segsort/segsort_long.clh", "!(odd && s.start <= window)", 0, "!odd",
         TILES),
    "sweep-segments-gather":
        ("segments", "segsort/segsort_values.clh", "copy[call.offset_copy + s.start + from]", 0,
         "copy[call.offset_copy + from]", TILES),
    "oclgrind-segments-column-guard":
        ("segments", "segsort/segsort_tiles.cl", "column < list->n[place]", 1,
         "column <= list->n[place]", TILES),
    "oclgrind-segments-last-batch":
        ("segments", "segsort/segsort_tiles.cl", "(uint)min((ulong)call.batch, call.segments - first)", 0,
         "call.batch", TILES),
}
