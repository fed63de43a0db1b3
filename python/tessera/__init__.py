"""Tessera: operations on arrays, on every OpenCL device of a machine.

    import tessera as ts

    ts.devices()                       # what there is
    ts.matmul(a, b)                    # on NumPy arrays, as numpy.matmul
    ts.sort(keys, device="gpu")        # on the device that you name
    ts.last_report()["kernel"]         # what ran

Each function takes device= (a name, or one of devices()), kernel= and settings= (a variant by its
name, and its tunables).  There is a function for every operation of the library: on arrays, or, where
that is missing, the operation itself on flat memory.  operation(NAME) is that of any one, and needs
no NumPy.

    x = ts.asarray(a, device="gpu")    # an array that stays on the device
    y = (x @ x.T + 1) @ x              # and so do results
    ts.to_numpy(y)
"""

from importlib import import_module as _import_module
from importlib.util import find_spec as _find_spec

from ._devices import Device, close, device, devices, empty_cache, memory_stats
from ._operations import Operation, operation, operations
from ._tessera import Error, Event, InvalidError, OutOfMemoryError, UnsupportedError
from ._tessera import last_report
from ._tessera import version as _version

__version__ = _version()
__all__ = ["Device", "Error", "Event", "InvalidError", "Operation", "OutOfMemoryError",
           "UnsupportedError", "close", "device", "devices", "empty_cache", "last_report",
           "memory_stats", "operation", "operations"]

# Names of Python's own, which `from tessera import *` leaves alone.
_BUILTIN = {"sum", "min", "max", "any", "all"}


def _add_operations():
    has_numpy = _find_spec("numpy") is not None
    if has_numpy:
        arrays = _import_module("tessera._device_array")
        for name in ("DeviceArray", "asarray", "empty", "to_numpy", "from_pyopencl", "to_pyopencl"):
            globals()[name] = getattr(arrays, name)
            __all__.append(name)
        globals()["from_cuda"] = _import_module("tessera._cuda").from_cuda
        __all__.append("from_cuda")
    for name, described in operations().items():
        if has_numpy and _find_spec("tessera.ops." + name):
            module = _import_module("tessera.ops." + name)
            found = {n: getattr(module, n) for n in module.__all__}
        else:
            found = {name: described}
        globals().update(found)
        __all__.extend(n for n in found if n not in _BUILTIN)


_add_operations()


def __getattr__(name):
    """A function on arrays that is not there says what it needs."""
    why = "" if _find_spec("numpy") else ": NumPy is not installed, and only operation(NAME) needs none"
    raise AttributeError("module 'tessera' has no attribute %r%s" % (name, why))
