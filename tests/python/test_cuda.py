"""Arrays of CUDA's memory: what is taken and refused, with a driver that is played here, on any machine;
and memory that CUDA exports, where there is CUDA and an OpenCL device that imports it.

    test_cuda.py [--need-cuda]    fail where there is none
"""

import contextlib
import ctypes
import os
import sys

import numpy as np

import tessera as ts
from tessera import _cuda, _devices


def raised(kind, f, *args, **named):
    try:
        f(*args, **named)
    except kind as e:
        return str(e)
    raise AssertionError("no %s" % kind.__name__)


def open_files():
    return len(os.listdir("/proc/self/fd"))


class Exposed:
    """An array with __cuda_array_interface__."""

    def __init__(self, address, like, **more):
        self.__cuda_array_interface__ = {
            "shape": like.shape, "typestr": like.dtype.str, "data": (address, False), "version": 3,
            "strides": None if like.flags.c_contiguous else like.strides, "stream": None, **more}


class Exchanged:
    """An array with DLPack's interface, which NumPy made of one on the host."""

    def __init__(self, a, address, device=(2, 0)):
        self.capsule = a.__dlpack__()
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        self.tensor = _cuda._Tensor.from_address(pointer(self.capsule, b"dltensor"))
        self.tensor.data = address
        self.device = device

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, stream=None):
        assert stream == 1
        return self.capsule


class PlayedDriver(_cuda._Driver):
    """CUDA's driver, with two allocations of a MiB that can be exported, side by side, and one that
    cannot."""

    SIZE = 1 << 20
    BASE, SECOND, PLAIN = 0x7F0000000000, 0x7F0000100000, 0x7F1000000000

    def __init__(self):
        self.retained = 0
        self.calls = []
        super().__init__(None)

    def code(self, name, *args):
        self.calls.append(name)
        at = {"cuPointerGetAttribute": 2, "cuMemGetAddressRange_v2": 2,
              "cuMemRetainAllocationHandle": 1}.get(name)
        base = next((b for b in (self.BASE, self.SECOND, self.PLAIN)
                     if at and b <= args[at].value < b + self.SIZE), None)
        if name == "cuPointerGetAttribute":
            args[0]._obj.value = 0
            return base is None
        if name == "cuMemGetAddressRange_v2":
            args[0]._obj.value, args[1]._obj.value = base, self.SIZE
        elif name == "cuMemRetainAllocationHandle":
            if base in (None, self.PLAIN):
                return 1
            self.retained += 1
            args[0]._obj.value = base >> 20
        elif name == "cuMemRelease":
            self.retained -= 1
        elif name == "cuMemExportToShareableHandle":
            args[0]._obj.value = os.open("/dev/null", os.O_RDONLY)
        elif name == "cuDeviceGetPCIBusId":
            args[0].value = b"0000:1B:00.0"
        return 0


class PlayedSession:
    """A session that imports memory whose bytes are those of `content`."""

    def __init__(self, content):
        self.session = _devices.session("cpu")
        self.content = content

    def import_memory(self, descriptor, size, owner):
        os.close(descriptor)
        assert size == self.content.size and owner is not None
        memory = self.session.allocate(size)
        memory.write(self.content, 0)
        return memory

    def pci(self):
        return 0, 0x1B, 0


@contextlib.contextmanager
def played(content=None):
    """from_cuda() has the played driver, and imports `content`."""
    before = _cuda._driver, _cuda._devices
    driver = PlayedDriver()

    class Devices:
        session = staticmethod(_devices.session if content is None
                               else lambda which: PlayedSession(content))
        devices = staticmethod(lambda: [ts.devices()[0]._replace(kind="gpu")])

    _cuda._driver, _cuda._devices = lambda: driver, Devices
    try:
        yield driver
    finally:
        _cuda._driver, _cuda._devices = before
    assert driver.retained == 0 and driver.calls.count("cuCtxPushCurrent_v2") == driver.calls.count(
        "cuCtxPopCurrent_v2")


def test_what_is_no_array_of_cuda():
    assert "ndarray" in raised(TypeError, ts.from_cuda, np.ones(3))
    assert "list" in raised(TypeError, ts.from_cuda, [1.0])
    a = np.ones(3)
    assert "mask" in raised(TypeError, ts.from_cuda, Exposed(1, a, mask=Exposed(2, a)))
    assert "read-only" in raised(ValueError, ts.from_cuda, Exposed(1, a, data=(1, True)))
    assert "byte order" in raised(TypeError, ts.from_cuda, Exposed(1, a.astype(">f8")))
    assert "backwards" in raised(ValueError, ts.from_cuda, Exposed(1, a[::-1]))
    assert "kind of device 10" in raised(TypeError, ts.from_cuda, Exchanged(a, 1, (10, 0)))
    wrong = Exchanged(a, 1)
    wrong.tensor.lanes = 2
    assert "lanes" in raised(TypeError, ts.from_cuda, wrong)


def test_no_driver():
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        e = raised(ts.UnsupportedError, ts.from_cuda, Exposed(1 << 40, np.ones(3)))
        assert "libcuda" in e, e


def test_what_is_not_exported():
    a = np.ones(1 << 10)
    with played() as driver:
        for where, of, expected in ((driver.PLAIN, a, "expandable_segments"),
                                    (driver.SECOND - 8, a, "one allocation"),
                                    (driver.BASE, np.ones(1 << 18), "one allocation"),
                                    (driver.BASE, a, "cannot import memory")):
            e = raised(ts.UnsupportedError, ts.from_cuda, Exposed(where, of), device="cpu")
            assert expected in e, e
        e = raised(ValueError, ts.from_cuda, Exposed(driver.BASE + 12, a), device="cpu")
        assert "byte 12" in e and "8 bytes" in e, e
        assert "not in CUDA's memory" in raised(ValueError, ts.from_cuda, Exposed(1 << 50, a))
        assert "0000:1b:00" in raised(ts.UnsupportedError, ts.from_cuda, Exposed(driver.BASE, a))


def test_layout():
    """Elements are found by the interface's type, shape, strides and address."""
    content = np.random.default_rng(1).integers(0, 256, PlayedDriver.SIZE, dtype=np.uint8)
    with played(content) as driver:
        for dtype in ("f4", "i8", "u2", "u1", "c8"):
            wide = content[4096:4096 + 800 * np.dtype(dtype).itemsize].view(dtype).reshape(20, 40)
            for a in (wide, wide.T, wide[2:, ::3], wide[3, 5:7]):
                at = a.__array_interface__["data"][0] - content.__array_interface__["data"][0]
                for x in (Exposed(driver.BASE + at, a), Exchanged(a, driver.BASE + at)):
                    got = ts.from_cuda(x)
                    assert got.dtype == a.dtype and got.shape == a.shape and got.strides == a.strides
                    assert ts.to_numpy(got).tobytes() == a.tobytes()
        assert ts.from_cuda(Exposed(0, np.ones((0, 3)))).shape == (0, 3)
        assert "cuCtxSynchronize" in driver.calls
        assert driver.calls.count("cuDevicePrimaryCtxRetain") == 1


def test_a_gpu_that_fails():
    """A GPU that cannot be used is passed over where the one at a place on the bus is looked for."""
    content = np.arange(PlayedDriver.SIZE, dtype=np.uint8)
    with played(content) as driver:
        devices = _cuda._devices
        good, session = devices.devices()[0], devices.session

        def fail(which):
            if which.name == "broken":
                raise ts.Error("it is broken")
            return session(which)

        devices.devices = lambda: [good._replace(name="broken"), good]
        devices.session = fail
        np.testing.assert_array_equal(
            ts.to_numpy(ts.from_cuda(Exposed(driver.BASE, content[:8]))), content[:8])


def test_descriptors():
    """One that is not imported is closed, once."""
    session = _devices.session("cpu")
    for close in (False, True):
        if close:
            ts.close()
        # PoCL cannot import memory of /dev/null.
        descriptor = os.open("/dev/null", os.O_RDONLY)
        raised(ts.Error, session.import_memory, descriptor, 4096, None)
        raised(OSError, os.fstat, descriptor)
    with played() as driver:
        a = np.ones(1 << 10)
        before = open_files()
        raised(ts.UnsupportedError, ts.from_cuda, Exposed(driver.BASE, a), device="cpu")
        raised(ValueError, ts.from_cuda, Exposed(driver.BASE + 4, a), device="cpu")
        assert open_files() == before


def test_bfloat16():
    """By DLPack's kind 4, which NumPy has no type of its own for."""
    content = np.arange(PlayedDriver.SIZE // 2, dtype=np.uint16)
    x = Exchanged(content[:6], PlayedDriver.BASE)
    x.tensor.kind = 4
    try:
        import ml_dtypes
    except ImportError:
        assert "ml_dtypes" in raised(ImportError, ts.from_cuda, x)
        return
    with played(content.view(np.uint8)):
        got = ts.from_cuda(x)
    assert got.dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(ts.to_numpy(got).view(np.uint16), content[:6])


# ---- on a GPU --------------------------------------------------------------------------------------

class Properties(ctypes.Structure):  # CUmemAllocationProp
    _fields_ = [("kind", ctypes.c_int), ("handles", ctypes.c_int), ("location", ctypes.c_int),
                ("device", ctypes.c_int), ("win32", ctypes.c_void_p), ("flags", ctypes.c_uint64)]


class Access(ctypes.Structure):  # CUmemAccessDesc
    _fields_ = [("location", ctypes.c_int), ("device", ctypes.c_int), ("flags", ctypes.c_int)]


def exportable(cuda, a):
    """An address of CUDA's, a MiB into an allocation that it exports, with the elements of `a`."""
    made = Properties(1, 1, 1, 0, None, 0)
    size, address, handle = ctypes.c_size_t(32 << 20), ctypes.c_uint64(), ctypes.c_uint64()
    cuda.call("cuMemCreate", ctypes.byref(handle), size, ctypes.byref(made), ctypes.c_uint64(0))
    cuda.call("cuMemAddressReserve", ctypes.byref(address), size, ctypes.c_size_t(0),
              ctypes.c_uint64(0), ctypes.c_uint64(0))
    cuda.call("cuMemMap", address, size, ctypes.c_size_t(0), handle, ctypes.c_uint64(0))
    cuda.call("cuMemSetAccess", address, size, ctypes.byref(Access(1, 0, 3)), ctypes.c_size_t(1))
    at = address.value + (1 << 20)
    cuda.call("cuMemcpyHtoD_v2", ctypes.c_uint64(at), ctypes.c_void_p(a.ctypes.data),
              ctypes.c_size_t(a.nbytes))
    return at


def test_on_a_gpu():
    """What CUDA wrote is read, and what OpenCL writes CUDA reads; no file stays open."""
    if "gpu" not in [d.kind for d in ts.devices()]:
        raise ts.UnsupportedError("no GPU")
    cuda = _cuda._driver()
    a = np.random.default_rng(2).random((500, 500), "f4")
    # Memory of cuMemAlloc goes with the context, and the context with the last who holds it.
    with cuda.context(0):
        at = exportable(cuda, a)
        plain = ctypes.c_uint64()
        cuda.call("cuMemAlloc_v2", ctypes.byref(plain), ctypes.c_size_t(1 << 20))
        x = ts.from_cuda(Exposed(at, a))
        np.testing.assert_array_equal(ts.to_numpy(x), a)
        np.testing.assert_allclose(ts.to_numpy(x @ x.T), a @ a.T, rtol=1e-5)
        ts.axpy(1, x.copy(), x, out=x).wait()
        back = np.empty_like(a)
        cuda.call("cuMemcpyDtoH_v2", ctypes.c_void_p(back.ctypes.data), ctypes.c_uint64(at),
                  ctypes.c_size_t(a.nbytes))
        np.testing.assert_array_equal(back, a + a)
        assert "expandable_segments" in raised(ts.UnsupportedError, ts.from_cuda,
                                               Exposed(plain.value, a[:100]))
    before = open_files()
    for _ in range(50):
        ts.from_cuda(Exposed(at, a)).wait()
    assert open_files() - before < 5, open_files() - before
    try:
        import torch
    except ImportError:
        return
    t = torch.rand(300, 200, device="cuda")
    e = os.environ.get("PYTORCH_CUDA_ALLOC_CONF", "")
    if "expandable_segments:True" in e:
        np.testing.assert_array_equal(ts.to_numpy(ts.from_cuda(t.T)), t.T.cpu().numpy())
    else:
        assert "expandable_segments" in raised(ts.UnsupportedError, ts.from_cuda, t)


def main():
    need_cuda = "--need-cuda" in sys.argv[1:]
    kinds = [d.kind for d in ts.devices()]
    for name, test in list(globals().items()):
        if not name.startswith("test_"):
            continue
        if "cpu" not in kinds and name not in ("test_what_is_no_array_of_cuda", "test_no_driver",
                                               "test_on_a_gpu"):
            print("not tried without a CPU device:", name)
            continue
        try:
            test()
        except ts.UnsupportedError as e:
            if name != "test_on_a_gpu" or need_cuda:
                raise
            print("not tried with CUDA:", e)
            continue
        print("ok", name)


main()
