"""Arrays in memory of CUDA's, without a copy.

CUDA exports memory as a file descriptor, and OpenCL imports that: cl_khr_external_memory_opaque_fd.
What CUDA allocates for it is whole allocations, of which an array is a part.
"""

import contextlib
import ctypes
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from . import _devices, _tessera
from ._device_array import DL_CUDA, DeviceArray, empty

# Names in CUDA's headers.
_DEVICE_ORDINAL = 9  # CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
_FILE_DESCRIPTOR = 1  # CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR

# DLPack's kinds of types by the letter that NumPy has for them.
_DL_KINDS = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}
_DL_BFLOAT = 4


def from_cuda(x, device=None):
    """An array of CUDA's memory, without a copy: one of PyTorch's, CuPy's or Numba's, or any with
    __cuda_array_interface__ or DLPack's interface.

    CUDA has to be able to export the memory, as it is where cuMemCreate made it with a file
    descriptor as the type of its handles: that is what PyTorch has by
    PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True.  Memory of cudaMalloc is not.

    What CUDA has begun in the device's primary context is waited for here: that is the one of
    CUDA's runtime, and so of PyTorch and CuPy.  Work in other contexts is the program's to wait
    for.  Before CUDA uses the memory again, wait() for ours.  `device` is found by its place on the
    bus where it is not named.

    >>> import torch  # with PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True
    >>> import tessera as ts
    >>> t = torch.arange(4.0, device="cuda")
    >>> x = ts.from_cuda(t)
    >>> x += 10
    >>> x = x.wait()
    >>> t.tolist()
    [10.0, 11.0, 12.0, 13.0]
    """
    source = _described(x)
    if 0 in source.shape:
        return empty(source.shape, source.dtype, device)
    if source.strides is not None and any(s < 0 for s in source.strides):
        raise ValueError("from_cuda: strides %s go backwards" % (source.strides,))
    cuda = _driver()
    with cuda.context(source.ordinal or 0):
        ordinal = cuda.ordinal(source.address)
    session = _devices.session(_device_at(cuda.place(ordinal)) if device is None else device)
    with cuda.context(ordinal):
        cuda.call("cuCtxSynchronize")
        strides = source.strides or DeviceArray(None, source.shape, source.dtype).strides
        span = source.dtype.itemsize + sum((n - 1) * s for n, s in zip(source.shape, strides))
        base, size = cuda.allocation(source.address)
        offset = source.address - base
        if offset % source.dtype.itemsize:
            raise ValueError("from_cuda: the array starts at byte %d of its allocation, between "
                             "elements of %d bytes" % (offset, source.dtype.itemsize))
        descriptor = cuda.exported(base, size, offset, span)
    memory = session.import_memory(descriptor, size, source.owner)  # the descriptor is its own now
    return DeviceArray(memory, source.shape, source.dtype, strides, offset)


# ---- array interfaces ----------------------------------------------------------------------------

class _Source(NamedTuple):
    address: int
    shape: tuple
    strides: "tuple | None"  # bytes; None: C order
    dtype: np.dtype
    ordinal: "int | None"  # of the device, where the array says it
    owner: object


def _described(x):
    if hasattr(x, "__dlpack__") and hasattr(x, "__dlpack_device__"):
        kind = x.__dlpack_device__()[0]
        if kind not in DL_CUDA:
            raise TypeError("from_cuda: %s is not in CUDA's memory, but in DLPack's kind of device %d"
                            % (type(x).__name__, kind))
        return _of_dlpack(x)
    there = getattr(x, "__cuda_array_interface__", None)
    if there is None:
        raise TypeError("from_cuda takes an array with DLPack's interface or "
                        "__cuda_array_interface__, not %s" % type(x).__name__)
    if there.get("mask") is not None:
        raise TypeError("from_cuda: the array has a mask")
    address, read_only = there["data"]
    if read_only:
        raise ValueError("from_cuda: the array is read-only, and arrays of a device can be written")
    dtype = np.dtype(there["typestr"])
    if not dtype.isnative:
        raise TypeError("from_cuda: elements are %s, in another byte order" % dtype.str)
    return _Source(address or 0, tuple(there["shape"]), there.get("strides"), dtype, None, x)


class _Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_kind", ctypes.c_int32),
                ("device", ctypes.c_int32), ("ndim", ctypes.c_int32), ("kind", ctypes.c_uint8),
                ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("offset", ctypes.c_uint64)]


def _of_dlpack(x):
    """The capsule stays unused, and so frees what it stands for once it is gone."""
    capsule = x.__dlpack__(stream=1)  # the default stream, which is waited for with the others
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    t = _Tensor.from_address(pointer(capsule, b"dltensor"))
    shape = tuple(t.shape[:t.ndim])
    dtype = _dl_dtype(t.kind, t.bits, t.lanes)
    strides = tuple(s * dtype.itemsize for s in t.strides[:t.ndim]) if t.strides else None
    return _Source((t.data or 0) + t.offset, shape, strides, dtype, t.device, capsule)


def _dl_dtype(kind, bits, lanes):
    if kind == _DL_BFLOAT and (bits, lanes) == (16, 1):
        from ml_dtypes import bfloat16
        return np.dtype(bfloat16)
    if kind not in _DL_KINDS or bits % 8 or lanes != 1:
        raise TypeError("from_cuda: elements are of DLPack's kind %d, with %d bits and %d lanes"
                        % (kind, bits, lanes))
    return np.dtype("%s%d" % (_DL_KINDS[kind], bits // 8))


# ---- CUDA's driver --------------------------------------------------------------------------------

def _unsupported(line):
    e = _tessera.UnsupportedError("from_cuda: " + line)
    e.status = "TSR_EUNSUPPORTED"
    return e


class _Driver:
    """The functions of libcuda that from_cuda() calls."""

    def __init__(self, library):
        self.library = library
        self.shared = {}  # contexts by the numbers of devices
        self.call("cuInit", 0)

    def code(self, name, *args):
        """What a function returns; 0 is success."""
        return getattr(self.library, name)(*args)

    def call(self, name, *args):
        rc = self.code(name, *args)
        if rc:
            spelled = ctypes.c_char_p()
            self.code("cuGetErrorName", rc, ctypes.byref(spelled))
            raise _unsupported("%s: %s" % (name, (spelled.value or b"error %d" % rc).decode()))

    @contextlib.contextmanager
    def context(self, ordinal):
        """The context that a device's users share is that of this thread.  It is retained once, for
        good: where no one else has it, CUDA takes half a second to make it."""
        device, shared, before = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
        if ordinal not in self.shared:
            self.call("cuDeviceGet", ctypes.byref(device), ordinal)
            self.call("cuDevicePrimaryCtxRetain", ctypes.byref(shared), device)
            self.shared[ordinal] = shared
        self.call("cuCtxPushCurrent_v2", self.shared[ordinal])
        try:
            yield
        finally:
            self.call("cuCtxPopCurrent_v2", ctypes.byref(before))

    def ordinal(self, address):
        """The number of the device that has the memory at an address."""
        out = ctypes.c_int()
        if self.code("cuPointerGetAttribute", ctypes.byref(out), _DEVICE_ORDINAL,
                     ctypes.c_uint64(address)):
            raise ValueError("from_cuda: address %#x is not in CUDA's memory" % address)
        return out.value

    def place(self, ordinal):
        """(domain, bus, device) of PCI."""
        device, text = ctypes.c_int(), ctypes.create_string_buffer(32)
        self.call("cuDeviceGet", ctypes.byref(device), ordinal)
        self.call("cuDeviceGetPCIBusId", text, len(text), device)
        domain, bus, rest = text.value.decode().split(":")
        return int(domain, 16), int(bus, 16), int(rest.split(".")[0], 16)

    def allocation(self, address):
        """(address, bytes) of the allocation that an address is in."""
        base, size = ctypes.c_uint64(), ctypes.c_size_t()
        self.call("cuMemGetAddressRange_v2", ctypes.byref(base), ctypes.byref(size),
                  ctypes.c_uint64(address))
        return base.value, size.value

    def exported(self, base, size, offset, span):
        """The caller's file descriptor of an allocation, which has `span` bytes at an offset."""
        descriptor = ctypes.c_int(-1)
        with contextlib.ExitStack() as held:
            ends = [self._handle(base + at, held) for at in (0, offset, offset + span - 1)]
            if ends[0] is None:
                raise _unsupported("CUDA exports memory of cuMemCreate, not that of cudaMalloc; PyTorch "
                                   "allocates such with "
                                   "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True")
            if len(set(ends)) != 1 or offset + span > size:
                raise _unsupported("the array's %d bytes are not all in one allocation of CUDA's, of %d "
                                   "bytes" % (span, size))
            if self.code("cuMemExportToShareableHandle", ctypes.byref(descriptor),
                         ctypes.c_uint64(ends[0]), _FILE_DESCRIPTOR, ctypes.c_uint64(0)):
                raise _unsupported("the memory was not made to be exported as a file descriptor")
        return descriptor.value

    def _handle(self, address, held):
        """The handle of the allocation at an address, until `held` is closed; None: it has none."""
        handle = ctypes.c_uint64()
        if self.code("cuMemRetainAllocationHandle", ctypes.byref(handle), ctypes.c_uint64(address)):
            return None
        held.callback(self.call, "cuMemRelease", handle)
        return handle.value


@lru_cache(maxsize=None)
def _driver():
    try:
        return _Driver(ctypes.CDLL("libcuda.so.1"))
    except OSError as e:
        raise _unsupported("there is no CUDA driver: %s" % e) from None


def _device_at(place):
    """The GPU at a place on the bus, of those that can be used."""
    for d in _devices.devices():
        if d.kind != "gpu":
            continue
        try:
            at = _devices.session(d).pci()
        except _tessera.Error:
            continue
        if at == place:
            return d
    raise _unsupported("no OpenCL device is at %04x:%02x:%02x, where CUDA has the memory; device= names "
                       "one" % place)
