"""Arrays in the memory of a device."""

import operator
import sys
from functools import lru_cache
from importlib import import_module
from itertools import product
from math import prod

import numpy as np

from . import _devices, _tessera


@lru_cache(maxsize=1024)
def _c_strides(shape, itemsize):
    out, step = [], itemsize
    for n in reversed(shape):
        out.append(step)
        step *= max(n, 1)
    return tuple(reversed(out))


@lru_cache(maxsize=1024)
def _c_order(shape, dtype):
    """(dtype, strides, bytes) of an array in C order."""
    dtype = np.dtype(dtype)
    return dtype, _c_strides(shape, dtype.itemsize), prod(shape) * dtype.itemsize


@lru_cache(maxsize=None)
def _function(module, name):
    """A function of an operation, whose module imports this one."""
    return getattr(import_module("tessera.ops." + module), name)


def _on_device(dtype):
    """The dtype, where a device can hold its elements."""
    dtype = np.dtype(dtype)
    if dtype.hasobject:
        raise TypeError("Python objects stay on the host")
    return dtype


def _is_sequence(x):
    return hasattr(x, "__len__") and not isinstance(x, str)


# Kinds of devices that DLPack has: the host's memory, pinned for CUDA or ROCm, and CUDA's own, managed too.
_DL_HOST, DL_CUDA = (1, 3, 11), (2, 13)


def host_array(x, dtype=None):
    """NumPy's array of anything that it makes one of, and of what has DLPack's interface, without a copy
    where that can be.  What is on a device is refused with what takes it."""
    if isinstance(x, np.ma.MaskedArray):
        raise TypeError("a masked array: what its mask hides would count; x.filled(value), x.compressed() "
                        "and x.data are arrays without one")
    if isinstance(x, np.ndarray):
        return np.asarray(x, dtype)
    what = type(x).__name__
    if hasattr(x, "base_data") and hasattr(x, "queue"):
        raise TypeError("%s is on an OpenCL device: tessera.from_pyopencl(x) takes it without a copy, and "
                        "x.get() copies it to the host" % what)
    if not hasattr(x, "__dlpack__") or not hasattr(x, "__dlpack_device__"):
        return np.asarray(x, dtype)
    kind = x.__dlpack_device__()[0]
    if kind in DL_CUDA:
        raise TypeError("%s is in CUDA's memory: tessera.from_cuda(x) takes it without a copy" % what)
    if kind not in _DL_HOST:
        raise TypeError("%s is on a device, of DLPack's kind %d: copy it to the host first" % (what, kind))
    if hasattr(x, "__array__"):
        return np.asarray(x, dtype)
    try:
        return np.asarray(np.from_dlpack(x), dtype)
    except (RuntimeError, BufferError) as e:  # a type that NumPy has not, for instance
        raise TypeError("%s, by DLPack: %s" % (what, e)) from None


def _whole(key):
    """An index that is a whole number."""
    try:
        if not isinstance(key, (bool, np.bool_)):
            return operator.index(key)
    except TypeError:
        pass
    raise IndexError("an array on a device is indexed by whole numbers, slices, '...' and None, not by %s: "
                     "tessera.to_numpy(x) copies it to where NumPy does" % type(key).__name__)


class DeviceArray(_tessera.Bufferless):
    """An array in the memory of an OpenCL device.

    Tessera's functions take it in place of a NumPy array, and their result is on the device too; so
    are x @ y, x + y, x - y, and +, - and * with a number, which for integers is one that their type
    holds.  x += y and the like, and x[key] = y, write into the array.  Slices and x.T are views.
    Calls return once the work is enqueued, in order; wait() waits for it.  Nothing is copied from or
    to the host but by ts.asarray() and ts.to_numpy().
    """

    __slots__ = ("_memory", "_offset", "_shape", "_strides", "_dtype")
    __array_priority__ = 1000

    def __init__(self, memory, shape, dtype, strides=None, offset=0):
        self._memory = memory
        self._shape = tuple(shape)
        if strides is None:
            self._dtype, self._strides, _ = _c_order(self._shape, dtype)
        else:
            self._dtype, self._strides = np.dtype(dtype), tuple(strides)
        self._offset = offset

    @classmethod
    def empty(cls, session, shape, dtype):
        self = cls.__new__(cls)
        self._shape = tuple(shape)
        self._dtype, self._strides, size = _c_order(self._shape, dtype)
        self._memory = session.allocate(size)
        self._offset = 0
        return self

    # ---- what it is: none of it can be assigned ----

    memory = property(operator.attrgetter("_memory"))
    offset = property(operator.attrgetter("_offset"))
    shape = property(operator.attrgetter("_shape"))
    strides = property(operator.attrgetter("_strides"))
    dtype = property(operator.attrgetter("_dtype"))
    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: prod(self.shape))
    nbytes = property(lambda self: self.size * self.dtype.itemsize)
    itemsize = property(lambda self: self.dtype.itemsize)

    @property
    def device(self):
        """The device that it is on; None where devices() does not have it, or the array is lost."""
        session = self.memory.session
        return None if session.device < 0 or session.lost else _devices.devices()[session.device]

    @property
    def is_contiguous(self):
        """Whether its elements follow one another in C order."""
        expected = _c_strides(self.shape, self.dtype.itemsize)
        return self.strides == expected or 0 in self.shape or all(
            n == 1 or s == e for n, s, e in zip(self.shape, self.strides, expected))

    def __repr__(self):
        where = "lost" if self.memory.session.lost else "on %s" % (self.device,)
        return "<tessera.DeviceArray %s %s %s>" % (self.shape, self.dtype, where)

    def __len__(self):
        if not self.shape:
            raise TypeError("a 0-d array has no length")
        return self.shape[0]

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    # ---- views ----

    def _view(self, shape, strides, offset=None):
        return DeviceArray(self.memory, shape, self.dtype, strides,
                           self.offset if offset is None else offset)

    def __getitem__(self, key):
        key = key if isinstance(key, tuple) else (key,)
        if sum(k is Ellipsis for k in key) > 1:
            raise IndexError("'...' stands twice")
        if Ellipsis not in [k if k is Ellipsis else None for k in key]:
            key += (Ellipsis,)
        at = next(i for i, k in enumerate(key) if k is Ellipsis)
        taken = sum(k is not None for k in key) - 1
        if taken > self.ndim:
            raise IndexError("%d indices for an array of %d dimensions" % (taken, self.ndim))
        key = key[:at] + (slice(None),) * (self.ndim - taken) + key[at + 1:]
        shape, strides, offset, axis = [], [], self.offset, 0
        for k in key:
            if k is None:
                shape.append(1)
                strides.append(0)
                continue
            n, step = self.shape[axis], self.strides[axis]
            if isinstance(k, slice):
                start, stop, stride = k.indices(n)
                length = len(range(start, stop, stride))
                if stride < 0 and length > 1:
                    raise IndexError("a step below 0: memory of a device is read forwards")
                shape.append(length)
                strides.append(step * stride)
                offset += start * step if length else 0
            else:
                i = _whole(k)
                if not -n <= i < n:
                    raise IndexError("index %d is out of bounds for axis %d of length %d"
                                     % (i, axis, n))
                offset += i % n * step
            axis += 1
        return self._view(shape, strides, offset)

    def __setitem__(self, key, value):
        """Write a number, or an array on the device of the same type that is broadcast."""
        self[key]._write(value)

    def transpose(self, *axes):
        """The axes in another order, reversed by default: a view."""
        if len(axes) == 1 and (axes[0] is None or _is_sequence(axes[0])):
            axes = () if axes[0] is None else tuple(axes[0])
        n = self.ndim
        order = axes or range(n)[::-1]
        if not all(isinstance(a, (int, np.integer)) and -n <= a < n for a in order) or \
                sorted(a % n for a in order) != list(range(n)):
            raise ValueError("%s are not the axes of %d dimensions" % (tuple(axes), n))
        axes = [a % n for a in order]
        return self._view([self.shape[a] for a in axes], [self.strides[a] for a in axes])

    T = property(transpose)

    def reshape(self, *shape):
        """Another shape of as many elements: a view of a contiguous array, else of a copy."""
        shape = shape[0] if len(shape) == 1 and _is_sequence(shape[0]) else shape
        shape = [operator.index(n) for n in shape]
        if shape.count(-1) == 1:
            rest = -prod(shape)
            if rest and self.size % rest == 0:
                shape[shape.index(-1)] = self.size // rest
        if prod(shape) != self.size or min(shape, default=0) < 0:
            raise ValueError("cannot make shape %s of %d elements" % (tuple(shape), self.size))
        x = self if self.is_contiguous else self.copy()
        return x._view(shape, None)

    def view(self, dtype):
        """The same bytes as elements of another type of the same size."""
        dtype = _on_device(dtype)
        if dtype.itemsize != self.dtype.itemsize:
            raise TypeError("elements of %s and of %s differ in size" % (dtype, self.dtype))
        return DeviceArray(self.memory, self.shape, dtype, self.strides, self.offset)

    # ---- copies ----

    def copy(self):
        """A contiguous copy on the device."""
        if 0 in self.shape or self.is_contiguous:
            out = DeviceArray.empty(self.memory.session, self.shape, self.dtype)
            _, _, size = _c_order(self.shape, self.dtype)
            if size:
                out.memory.copy(self.memory, self.offset, (0, 0), 0, (0, 0), (size, 1, 1))
            return out
        x = self._merged()
        if 0 in x.strides:
            x = x._repeated()
            if x.is_contiguous:
                return x._view(self.shape, None)
        order = sorted(range(x.ndim), key=lambda i: -x.strides[i])
        if order == sorted(order) or x.itemsize > 16:
            return x._boxes_copied()._view(self.shape, None)
        # Axes are in another order than in memory: transposed matrices move them, the first one
        # that is not in its place to there, with all behind it.
        transpose = _function("transpose", "transpose")
        out = x.transpose(order)
        if not out.is_contiguous:
            out = out._boxes_copied()
        while order != sorted(order):
            i = next(i for i, axis in enumerate(order) if axis != i)
            j = order.index(i)
            sides = [prod(x.shape[axis] for axis in part)
                     for part in (order[:i], order[i:j], order[j:])]
            out = transpose(out._view(sides, None))
            order = order[:i] + order[j:] + order[i:j]
        return out._view(self.shape, None)

    def _merged(self):
        """The elements in the same order along as few axes as can be: those that follow one another
        at one distance are one axis."""
        shape, strides = [], []
        for n, step in zip(self.shape, self.strides):
            if n == 1:
                continue
            if strides and strides[-1] == n * step:
                shape[-1] *= n
                strides[-1] = step
            else:
                shape.append(n)
                strides.append(step)
        return self._view(shape, strides)

    def _repeated(self):
        """A copy, as a view of a contiguous array, where axes of stride 0 repeat elements: each is
        copied once, and then all that is there doubles."""
        order = sorted(range(self.ndim), key=lambda i: self.strides[i] != 0)
        axes = [i for i in order if self.strides[i]]
        once = self._view([self.shape[i] for i in axes], [self.strides[i] for i in axes]).copy()
        out = DeviceArray.empty(self.memory.session, [self.shape[i] for i in order], self.dtype)
        out.memory.copy(once.memory, once.offset, (0, 0), 0, (0, 0), (once.nbytes, 1, 1))
        done = once.nbytes
        while done < out.nbytes:
            more = min(done, out.nbytes - done)
            out.memory.copy(out.memory, 0, (0, 0), done, (0, 0), (more, 1, 1))
            done += more
        return out.transpose([order.index(i) for i in range(self.ndim)])

    def _boxes_copied(self):
        """A contiguous copy, by commands that copy a box each."""
        out = DeviceArray.empty(self.memory.session, self.shape, self.dtype)
        for at, pitches, flat_at, flat_pitches, region in self._boxes():
            out.memory.copy(self.memory, at, pitches, flat_at, flat_pitches, region)
        return out

    def _boxes(self):
        """Boxes of the elements, and where they are in a contiguous copy: (byte, pitches, byte there,
        pitches there, region).  A box are rows, and slices of them, at distances that OpenCL allows."""
        x = self._merged()
        to = _c_strides(x.shape, x.itemsize)
        row, axes = x.itemsize, x.ndim
        if axes and x.strides[-1] == row:
            axes -= 1
            row *= x.shape[-1]
        sides, pitches, to_pitches, side, least = [1, 1], [0, 0], [0, 0], 0, row
        while axes and side < 2:
            n, pitch = x.shape[axes - 1], x.strides[axes - 1]
            if pitch < least or (side and pitch % pitches[0]):
                break
            axes -= 1
            sides[side], pitches[side], to_pitches[side] = n, pitch, to[axes]
            least = n * pitch
            side += 1
        for i in product(*map(range, x.shape[:axes])):
            yield (x.offset + sum(map(operator.mul, i, x.strides)), tuple(pitches),
                   sum(map(operator.mul, i, to)), tuple(to_pitches), (row, *sides))

    # ---- what is written into it ----

    def _write(self, value):
        """A number, or the elements of an array that is broadcast, to where this one has its own."""
        if isinstance(value, DeviceArray):
            x = value
        else:
            is_bool = self.dtype.kind == "b" and isinstance(value, (bool, np.bool_))
            n = value if is_bool else self._number(value)
            if n is None or self.dtype.kind in "SUMm":
                raise TypeError("numbers and arrays on the device are written into an array there, not %s"
                                % type(value).__name__)
            x = self._filled_like(n)
        if x.dtype != self.dtype:
            raise TypeError("an array on a device is %s, and what is written into it %s"
                            % (self.dtype, x.dtype))
        while x.ndim > self.ndim and x.shape[0] == 1:  # as NumPy does here, and nowhere else
            x = x[0]
        x = x.broadcast_to(self.shape)
        if self.size == 0 or self._is_at(x):
            return
        if any(n > 1 and s == 0 for n, s in zip(self.shape, self.strides)):
            raise ValueError("an array whose elements are repeated, as by broadcast_to(), is not written into")
        # Both in the order that the axes have in memory here, the longest way first.
        order = sorted(range(self.ndim), key=lambda i: -self.strides[i])
        to, x = self.transpose(order), x.transpose(order)
        # Boxes within one buffer have one distance between rows.
        if not x.is_contiguous or x.memory.place[0] == self.memory.place[0]:
            x = x.copy()
        for at, pitches, flat_at, flat_pitches, region in to._boxes():
            to.memory.copy(x.memory, x.offset + flat_at, flat_pitches, at, pitches, region)

    def broadcast_to(self, shape):
        """A view of the shape that it is broadcast to, which is not written into."""
        shape = tuple(shape) if _is_sequence(shape) else (shape,)
        if shape == self.shape:
            return self._view(shape, self.strides)
        try:
            if np.broadcast_shapes(self.shape, shape) != shape:
                raise ValueError
        except ValueError:
            raise ValueError("an array of shape %s is not broadcast to %s" % (self.shape, shape)) from None
        missing = len(shape) - self.ndim
        strides = [s if n == m else 0 for n, m, s in zip(self.shape, shape[missing:], self.strides)]
        return self._view(shape, [0] * missing + strides)

    def _is_at(self, x):
        """Whether an array of this shape has its elements in the same places."""
        return x._bytes() == self._bytes() and all(
            n == 1 or a == b for n, a, b in zip(self.shape, self.strides, x.strides))

    def _bytes(self):
        """(buffer, first byte, one behind the last): where the elements are."""
        root, at = self.memory.place
        ways = [(n - 1) * s for n, s in zip(self.shape, self.strides)]
        return (root, at + self.offset + sum(w for w in ways if w < 0),
                at + self.offset + sum(w for w in ways if w > 0) + self.itemsize)

    def overlaps(self, x):
        """Whether some of its bytes may be those of another array: where both reach."""
        (root, first, end), (other, other_first, other_end) = self._bytes(), x._bytes()
        return bool(self.size and x.size) and root == other and first < other_end and other_first < end

    # ---- order of work ----

    @property
    def event(self):
        """An event that completes with all that was enqueued on the device until now, and so when
        the array is computed."""
        return self.memory.session.mark()

    def after(self, *events):
        """Let what is enqueued later on the array's device wait for events, ours or pyopencl's, and
        for what arrays stand for now; returns the array.

        The device waits for events of its own context, and the host for those of others, now.
        """
        for e in events:
            event = e.event if isinstance(e, DeviceArray) else e
            ours = isinstance(event, _tessera.Event)
            handle = getattr(event, "handle" if ours else "int_ptr", None)
            if handle is None:
                raise TypeError("after() takes events and arrays on devices, not %s"
                                % type(e).__name__)
            self.memory.session.after(handle)
        return self

    def wait(self):
        """Wait until what was enqueued on the device is done; returns the array."""
        self.memory.session.finish()
        return self

    # ---- what NumPy asks ----

    def __array__(self, dtype=None, copy=None):
        if not copy:
            raise TypeError("an array on a device is not copied to the host by itself: "
                            "tessera.to_numpy(x) does it")
        out = to_numpy(self)
        return out if dtype is None else out.astype(dtype)

    def __array_function__(self, func, types, args, kwargs):
        from . import _numpy
        ours = _numpy.function_of(func)
        if ours is None:
            return NotImplemented
        _numpy.check_arguments(func, ours, args, kwargs)
        return ours(*args, **kwargs)

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        from . import _numpy
        ours = _numpy.ufunc_of(ufunc) if method == "__call__" else None
        if ours is None:
            return NotImplemented
        _numpy.check_arguments(ufunc, ours, inputs, kwargs)
        return ours(*inputs, **kwargs)

    # ---- operators ----

    def __matmul__(self, other):
        return _function("matmul", "matmul")(self, other)

    def __rmatmul__(self, other):
        return _function("matmul", "matmul")(other, self)

    def _scaled_sum(self, alpha, x, y):
        """alpha x + y, of which y may be a number; alpha is 1 or -1 of complex arrays."""
        axpy = _function("axpy", "axpy")
        if not isinstance(y, DeviceArray):
            y = x._filled_like(y)
        if x.dtype != y.dtype:
            raise TypeError("an array on a device is %s, and the other %s" % (x.dtype, y.dtype))
        if x.dtype.kind != "c":
            return axpy(alpha, x, y)
        shape = np.broadcast_shapes(x.shape, y.shape)
        out = axpy(alpha, x.broadcast_to(shape)._as_reals(), y.broadcast_to(shape)._as_reals())
        return DeviceArray(out.memory, shape, x.dtype, None, out.offset)

    def _add(self, alpha, x):
        """Add alpha x, of a number or an array that is broadcast, in place; alpha is 1 or -1."""
        x = x if isinstance(x, DeviceArray) else self._filled_like(x)
        if x.dtype != self.dtype:
            raise TypeError("an array on a device is %s, and what is added to it %s"
                            % (self.dtype, x.dtype))
        x = x.broadcast_to(self.shape)
        y = self if self.is_contiguous else self.copy()
        x, place = (x._as_reals(), y._as_reals()) if self.dtype.kind == "c" else (x, y)
        _function("axpy", "axpy")(alpha, x, place, out=place)
        if y is not self:
            self._write(y)
        return self

    def _as_reals(self):
        """Real and imaginary parts side by side, of a contiguous array without a copy."""
        x = self if self.is_contiguous else self.copy()
        return DeviceArray(x.memory, x.shape + (2,), "f%d" % (x.itemsize // 2), None, x.offset)

    def _scaled(self, alpha):
        axpy = _function("axpy", "axpy")
        if isinstance(alpha, complex):
            x = self if self.is_contiguous else self.copy()
            return _function("axpy", "add_turned")(alpha.imag, x, x._scaled(alpha.real))
        if self.dtype.kind == "c":
            x = self._as_reals()
            out = axpy(alpha, x, x._filled_like(-0.0))
            return DeviceArray(out.memory, self.shape, self.dtype, None, out.offset)
        if self.dtype.kind not in "iu":
            # -0.0 is what is added to keep the sign of a zero.
            return self._scaled_sum(alpha, self, -0.0)
        # A factor is a float64: one that needs more bits goes in two parts, modulo 2^64 as they are.
        low = alpha if abs(alpha) <= 2 ** 53 else (alpha + 2 ** 31) % 2 ** 32 - 2 ** 31
        out = self._scaled_sum(low, self, 0)
        high = (alpha - low + 2 ** 63) % 2 ** 64 - 2 ** 63
        return out if high == 0 else axpy(high, self, out, out=out)

    def _filled_like(self, value):
        """An array of this shape and type of one number, an integer modulo 2^bits."""
        out = DeviceArray.empty(self.memory.session, self.shape, self.dtype)
        if self.dtype.kind in "iu":
            n = value % 2 ** (8 * self.itemsize)
            pattern = n.to_bytes(self.itemsize, sys.byteorder)
        else:
            pattern = np.array(value).astype(self.dtype).tobytes()
        if out.size:
            out.memory.fill(pattern, out.nbytes)
        return out

    def _number(self, x):
        """A number as an operator takes it: of an array of integers one that their type holds, as
        the result is of that type too.  None for what is no number."""
        if isinstance(x, np.ndarray):
            if x.ndim:
                raise TypeError("one array is in host memory and another on a device: tessera.asarray "
                                "and to_numpy copy")
            x = x[()]
        if self.dtype.kind == "c" and isinstance(x, (complex, np.complexfloating)):
            return complex(x)
        if isinstance(x, bool) or not isinstance(x, (int, float, np.integer, np.floating)):
            return None
        if self.dtype.kind not in "iu":
            return float(x)
        n = None if isinstance(x, (float, np.floating)) else int(x)
        info = np.iinfo(self.dtype)
        if n is None or not info.min <= n <= info.max:
            raise TypeError("%r is not a value of %s, the type of this array on a device"
                            % (x, self.dtype))
        return n

    def __add__(self, other):
        if isinstance(other, DeviceArray):
            return self._scaled_sum(1, self, other)
        n = self._number(other)
        return NotImplemented if n is None else self._scaled_sum(1, self, n)

    __radd__ = __add__

    def __sub__(self, other):
        if isinstance(other, DeviceArray):
            return self._scaled_sum(-1, other, self)
        n = self._number(other)
        return NotImplemented if n is None else self._scaled_sum(1, self, -n)

    def __rsub__(self, other):
        n = self._number(other)
        return NotImplemented if n is None else self._scaled_sum(-1, self, n)

    def __mul__(self, other):
        if isinstance(other, DeviceArray):
            raise TypeError("arrays on a device are multiplied by numbers, and as matrices by @; "
                            "tessera.to_numpy(x) copies one")
        n = self._number(other)
        return NotImplemented if n is None else self._scaled(n)

    __rmul__ = __mul__

    def __iadd__(self, other):
        n = other if isinstance(other, DeviceArray) else self._number(other)
        return NotImplemented if n is None else self._add(1, n)

    def __isub__(self, other):
        if isinstance(other, DeviceArray):
            return self._add(-1, other)
        n = self._number(other)
        return NotImplemented if n is None else self._add(1, -n)

    def __imul__(self, other):
        product = self * other
        self._write(product)
        return self

    def __imatmul__(self, other):
        product = self @ other
        if product.shape != self.shape:
            raise ValueError("matmul: the product has shape %s, and the array that it is written into %s"
                             % (product.shape, self.shape))
        self._write(product)
        return self

    def __truediv__(self, other):
        raise TypeError("arrays on a device are not divided: x * (1 / n) is near x / n, and "
                        "tessera.to_numpy(x) copies one")

    __rtruediv__ = __truediv__

    def __neg__(self):
        return self._scaled(-1)

    def __float__(self):
        raise TypeError("an array on a device is no number of Python's: tessera.to_numpy(x) copies it")

    __int__ = __complex__ = __float__

    def __copy__(self):
        return self.copy()

    def __deepcopy__(self, memo):
        return self.copy()

    def __bool__(self):
        raise TypeError("an array on a device is neither true nor false: tessera.to_numpy(x) copies "
                        "it")

    def __eq__(self, other):
        raise TypeError("arrays on a device are not compared: tessera.to_numpy(x) copies one")

    __ne__ = __eq__
    __hash__ = object.__hash__


def asarray(a, device=None, dtype=None):
    """An array on a device: a copy, or `a` itself where it is there already.  `a` is anything that NumPy
    makes an array of, or what has DLPack's interface in host memory.

    >>> import numpy as np
    >>> import tessera as ts
    >>> x = ts.asarray(np.arange(6.0).reshape(2, 3), device="cpu")
    >>> ts.to_numpy(x @ x.T)
    array([[ 5., 14.],
           [14., 50.]])
    """
    if isinstance(a, DeviceArray):
        if device is not None and not _devices.is_on(a.memory.session, device):
            raise ValueError("the array is on another device")
        if dtype is not None and np.dtype(dtype) != a.dtype:
            raise TypeError("the array is %s; a copy on the host can be converted" % a.dtype)
        return a
    a = host_array(a, dtype)
    _on_device(a.dtype)
    a = np.ascontiguousarray(a, a.dtype.newbyteorder("=")).reshape(a.shape)
    out = DeviceArray.empty(_devices.session(device), a.shape, a.dtype)
    out.memory.write(_bytes_of(a), 0)
    return out


def empty(shape, dtype=float, device=None):
    """An array on a device, of unspecified elements: for out=.

    >>> import numpy as np
    >>> import tessera as ts
    >>> x = ts.asarray(np.arange(4.0), device="cpu")
    >>> y = ts.empty(4, device="cpu")
    >>> ts.to_numpy(ts.cumsum(x, out=y))
    array([0., 1., 3., 6.])
    """
    shape = tuple(map(operator.index, shape if _is_sequence(shape) else (shape,)))
    if any(n < 0 for n in shape):
        raise ValueError("empty: shape %s has an extent below 0" % (shape,))
    return DeviceArray.empty(_devices.session(device), shape, _on_device(dtype))


def _bytes_of(a):
    return a.reshape(-1).view(np.uint8) if a.dtype.itemsize else a


def to_numpy(x):
    """A copy in host memory of an array on a device, once its work is done.

    >>> import numpy as np
    >>> import tessera as ts
    >>> x = ts.asarray(np.arange(4.0), device="cpu")
    >>> ts.to_numpy(x[1::2] * 10)
    array([10., 30.])
    """
    if not isinstance(x, DeviceArray):
        return host_array(x)
    if x.size == 0:
        return np.empty(x.shape, x.dtype)
    if x.is_contiguous:
        out = np.empty(x.shape, x.dtype)
        x.memory.read(_bytes_of(out), x.offset)
        return out
    if min(x.strides) < 0:  # pyopencl's may go backwards
        return to_numpy(x.copy())
    span = x.itemsize + sum((n - 1) * s for n, s in zip(x.shape, x.strides))
    raw = np.empty(span, np.uint8)
    x.memory.read(raw, x.offset)
    return np.ndarray(x.shape, x.dtype, raw, strides=x.strides).copy()


def from_pyopencl(arr):
    """The memory of a pyopencl.array.Array without a copy: calls go to its queue, once its events
    are complete.  It is kept, that of a pool too, until no array has it.

    Arrays of one context work together, whatever queues they are on: calls wait for what was
    enqueued on those of their arrays, and what is enqueued there later waits for them.  Tessera's
    own arrays are in the context of to_pyopencl(x).

    >>> import pyopencl, pyopencl.array
    >>> import tessera as ts
    >>> queue = pyopencl.CommandQueue(pyopencl.create_some_context(interactive=False))
    >>> theirs = pyopencl.array.arange(queue, 4, dtype="f4")
    >>> x = ts.from_pyopencl(theirs)
    >>> x += 10
    >>> theirs.get()
    array([10., 11., 12., 13.], dtype=float32)
    """
    if not hasattr(arr, "base_data"):
        raise TypeError("from_pyopencl takes a pyopencl.array.Array, not %s" % type(arr).__name__)
    if arr.queue is None:
        raise ValueError("from_pyopencl: the array has no queue; its with_queue() gives it one")
    session = _devices.adopt(arr.queue.int_ptr)
    memory = session.memory(arr.base_data.int_ptr, arr.base_data)
    return DeviceArray(memory, arr.shape, arr.dtype, arr.strides, arr.offset).after(*arr.events)


def to_pyopencl(x):
    """A pyopencl.array.Array in the same memory, without a copy, on the device's own queue, with the
    event of what was enqueued there.

    >>> import numpy as np
    >>> import tessera as ts
    >>> x = ts.asarray(np.arange(4.0), device="cpu")
    >>> ts.to_pyopencl(x + 1).get()
    array([1., 2., 3., 4.])
    """
    if not isinstance(x, DeviceArray):
        raise TypeError("to_pyopencl takes a tessera.DeviceArray, not %s" % type(x).__name__)
    import pyopencl
    import pyopencl.array
    event = x.event
    queue = pyopencl.CommandQueue.from_int_ptr(x.memory.session.handle, True)
    data = pyopencl.Buffer.from_int_ptr(x.memory.handle, True)
    return pyopencl.array.Array(queue, x.shape, x.dtype, data=data, offset=x.offset,
                                strides=x.strides,
                                events=[pyopencl.Event.from_int_ptr(event.handle, True)])
