"""A module for each operation: its functions on arrays, named in __all__."""
