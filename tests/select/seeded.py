"""Bugs of select's kernels that tests find: tests/device/seeded_bugs.py seeds them."""

TILES = ["GROUP=32", "ITEMS=4"]

# name: (variant, file, text, which occurrence of it, replacement, settings)
BUGS = {
    # Right results, and more accesses than the plans state.
    "traffic-select-counted-twice":
        ("three-launches", "select/select_tile.clh", "own += holds(x[call->from + i], value);", 0,
         "own += holds(x[call->from + i], value) & holds(x[call->from + i], value);", []),
    "sweep-select-carry":
        ("look-back", "select/select_look_back.cl", "STATE_PREFIX + first + all", 0,
         "STATE_PREFIX + all", TILES),
    "sweep-select-counts":
        ("three-launches", "select/select_three_launches.cl", "place = 0;\n#if", 0,
         "\n#if", TILES),
    "sweep-select-index":
        ("three-launches", "select/select.clh", "call->to_indices + place", 0, "place", TILES),
    "sweep-select-comparison":
        ("three-launches", "select/select.clh", "return x > value;", 0, "return x >= value;", TILES),
    "oclgrind-select-barrier":
        ("group-atomic", "select/select_group_atomic.cl", "barrier(CLK_LOCAL_MEM_FENCE);", 0, "",
         ["GROUP=32"]),
    "oclgrind-select-last":
        ("three-launches", "select/select_tile.clh", "first_of(call, tile) + call->items, call->n)",
         0, "first_of(call, tile) + call->items, call->n + 1)", TILES),
}

# Of a type that is not the main one: its problems are those that show them.
TYPES = {}
