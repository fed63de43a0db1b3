"""Arrays as the library takes them: types, lines and strides, results; and calls on them."""

import operator
from functools import lru_cache
from math import prod
from numbers import Number
from reprlib import repr as shortened

import numpy as np

from . import _devices
from ._device_array import DeviceArray, host_array
from ._operations import flat


# NumPy 2 has it in numpy.exceptions alone, and NumPy 1.24 has no such module.
AxisError = getattr(np, "exceptions", np).AxisError


def as_array(x):
    """An array on a device, or anything that NumPy makes an array of; without a copy what has a
    buffer, or DLPack's interface, in host memory."""
    return x if type(x) in (np.ndarray, DeviceArray) else host_array(x)


def run(op, problem, operands, offsets=(), device=None, kernel=None, settings=None):
    """Run a problem on arrays in host memory, or enqueue it on arrays of a device; the first operand
    says which.  `offsets` names the members of the problem where operands start, of those that may be
    views on a device."""
    if settings is not None:
        settings = flat(settings)
    if type(operands[0]) is not DeviceArray:
        _devices.session(device).run(op.index, problem, tuple(map(plain, operands)), kernel, settings)
        return
    session = operands[0].memory.session
    if device is not None and not _devices.is_on(session, device):
        raise ValueError("%s: the arrays are on another device than %s" % (op.name, device))
    memory, starts = [], {}
    for i, x in enumerate(operands):
        if type(x) is DeviceArray:
            if x.offset:
                starts[offsets[i]] = _first_element(op, x)
            memory.append(x.memory)
        elif x is None:
            memory.append(None)
        else:
            raise TypeError(_MIXED)
    if starts:
        problem = op.changed(problem, starts)
    session.enqueue(op.index, problem, tuple(memory), kernel, settings)


def _first_element(op, x):
    """Where an array starts in its memory, in elements."""
    first, apart = divmod(x.offset, x.itemsize)
    if apart:
        raise ValueError("%s: an array starts at byte %d of its memory, between elements of %d bytes"
                         % (op.name, x.offset, x.itemsize))
    return first


_MIXED = "one array is in host memory and another on a device: tessera.asarray and to_numpy copy"


def empty_beside(x, shape, dtype):
    """An array where x is."""
    if type(x) is DeviceArray:
        return DeviceArray.empty(x.memory.session, shape, dtype)
    return np.empty(shape, dtype)


def beside(x, other):
    """A small array of ours on the host, where x is."""
    if type(x) is not DeviceArray or other is None:
        return other
    out = DeviceArray.empty(x.memory.session, other.shape, other.dtype)
    out.memory.write(other, 0)
    return out


def own_copy(x):
    """A contiguous copy, in this machine's byte order, where x is."""
    if type(x) is DeviceArray:
        return x.copy()
    return x.copy() if x.dtype.isnative else np.array(x, x.dtype.newbyteorder("="), order="C")


@lru_cache(maxsize=256)
def type_name(dtype):
    """The library's name of a dtype: a boolean is kept as a uint8."""
    return "uint8" if dtype == np.bool_ else dtype.name


_array = np.ndarray  # saves an attribute look-up for each operand
_exported = frozenset(np.dtype(t) for t in np.typecodes["AllInteger"] + np.typecodes["AllFloat"] + "?")


def plain(a):
    """An array whose memory can be exported, for types that Python's buffers do not know."""
    if type(a) is _array:
        return a if a.dtype in _exported else _plain(a)
    if type(a) is DeviceArray:
        raise TypeError(_MIXED)
    return a


def _plain(a):
    if a.dtype.isbuiltin == 1 and a.dtype.kind not in "mM":
        return a
    if a.dtype.itemsize <= 2:
        return a.view(np.uint16 if a.dtype.itemsize == 2 else np.uint8)
    return a.view("V%d" % a.dtype.itemsize)


def check_type(op, dtype, hint=""):
    """The library's name of a type; TypeError where the operation does not take it."""
    name = type_name(dtype)
    if name not in op.types:
        raise TypeError("%s takes %s, not %s%s" % (op.name, ", ".join(op.types), dtype, hint))
    return name


def native(a, dtype):
    """The array in a type and in this machine's byte order, itself where it is that already."""
    return a if a.dtype == dtype and a.dtype.isnative else a.astype(dtype.newbyteorder("="))


def packed(a, dtype=None):
    """The array in C order, in a type and in this machine's byte order."""
    if type(a) is DeviceArray:
        if dtype is not None and dtype != a.dtype:
            raise TypeError("an array on a device is %s, and the others %s" % (a.dtype, dtype))
        return a if a.is_contiguous else a.copy()
    a = native(a, dtype or a.dtype)
    return a if a.flags.c_contiguous else np.ascontiguousarray(a)


def line_stride(shape, strides, itemsize):
    """Elements from one to the next where the array is taken as one long line; None where that is
    no one number, or is negative."""
    step, expected = 0, None
    for n, s in zip(reversed(shape), reversed(strides)):
        if n == 1:
            continue
        if expected is None:
            if s < 0 or s % itemsize:
                return None
            step = s // itemsize
        elif s != expected:
            return None
        expected = s * n
    return step


def matrix_layout(shape, strides, itemsize):
    """(transposed, ld) of a matrix whose rows or columns are stretches of memory; else None."""
    rows, columns = shape
    for transposed, (n, length), (apart, next_one) in ((False, shape, strides),
                                                       (True, shape[::-1], strides[::-1])):
        if length > 1 and next_one != itemsize:
            continue
        ld = apart // itemsize if n > 1 else max(length, 1)
        if ld >= max(length, 1) and (n == 1 or apart % itemsize == 0):
            return transposed, ld
    return None


_FP8 = ("float8_e4m3fn", "float8_e5m2")
_NARROW = ("float16", "bfloat16") + _FP8


def product_types(op, a, b, dtype):
    """(type of the operands, type of the result) of a product: where the result is to be float32,
    operands of 16 and 8 bits stay what they are, and those of 8 where it is to be bfloat16."""
    operands = np.result_type(a, b)
    result = operands if dtype is None else np.dtype(dtype)
    if dtype is not None and type_name(result) not in op.types:
        raise TypeError("%s: dtype is %s, and must be one of %s"  # int8 is the operands' alone
                        % (op.name, result, ", ".join(t for t in op.types if t != "int8")))
    if operands.kind == "c" and result.kind != "c":
        raise TypeError("%s: dtype is %s, and the operands are %s" % (op.name, result, operands))
    if not (result == np.float32 and operands.name in _NARROW or
            result.name == "bfloat16" and operands.name in _FP8):
        operands = result
    check_type(op, operands, "; a.astype() on the host converts")
    return operands, result


def product_side(shape, strides, itemsize, batch):
    """(transposed, ld, stride) of the matrices that a batch of products takes; None where they have
    to be copied."""
    if 0 in shape:
        return False, 0, 0
    layout = matrix_layout(shape[-2:], strides[-2:], itemsize)
    missing = len(batch) - (len(shape) - 2)
    apart = (0,) * missing + tuple(0 if n == 1 else s for n, s in zip(shape[:-2], strides[:-2]))
    stride = line_stride(batch, apart, itemsize)
    if layout is None or stride is None:
        return None
    transposed, ld = layout
    lines, length = shape[:-3:-1] if transposed else shape[-2:]
    return None if 0 < stride < ld * (lines - 1) + length else (transposed, ld, stride)


def copied_side(x, op, dtype, batch, rank):
    """A copy of an operand that a batch of products takes, whose last `rank` extents are those of
    one product: one for each product where several are, and not all, share one."""
    if any(n != 1 for n in x.shape[:-rank]) and x.shape[:-rank] != batch:
        x = broadcast(x, batch + x.shape[-rank:])
    return packed(x, dtype)


def split_axis(shape, axis):
    """(outer, n, inner) of an array's elements along an axis; None is all of them."""
    if axis is None:
        return 1, prod(shape), 1
    return prod(shape[:axis]), shape[axis], prod(shape[axis + 1:])


def _shown(x):
    """What an argument is, for an error of one line."""
    shape = getattr(x, "shape", None)
    return shortened(x) if not shape else "an array of shape %s" % (shape,)


def number(op, name, x):
    """An argument that is a number, which an array without dimensions holds too: as Python has it."""
    if type(x) in (float, int):
        return x
    if isinstance(x, np.ndarray) and x.ndim == 0:
        x = x[()]
    if not isinstance(x, Number) and not (isinstance(x, np.generic) and x.dtype.kind in "bV"):
        raise TypeError("%s: %s must be a number, not %s" % (op.name, name, _shown(x)))
    return x


def real_number(op, name, x):
    """A number as a float64."""
    if type(x) is float:
        return x
    x = number(op, name, x)
    try:
        if isinstance(x, (complex, np.complexfloating)):
            raise TypeError
        return float(x)
    except TypeError:
        raise TypeError("%s: %s must be a real number, not %s" % (op.name, name, shortened(x))) from None
    except OverflowError:
        raise ValueError("%s: %s is beyond float64: %s" % (op.name, name, shortened(x))) from None


def complex_number(op, name, x):
    """A number as a complex128, or a real one as a float64."""
    if type(x) is float:
        return x
    x = number(op, name, x)
    is_complex = isinstance(x, (complex, np.complexfloating))
    return complex(x) if is_complex else real_number(op, name, x)


def is_axis_of_scalar(axis, a):
    """Whether NumPy takes an axis for that of an array of no dimension, as if it had one."""
    return a.ndim == 0 and not isinstance(axis, tuple) and normal_axis(axis, 1) == 0


def normal_axis(axis, ndim):
    try:
        axis = operator.index(axis)
    except TypeError:
        raise TypeError("axis must be one whole number here, not %s" % _shown(axis)) from None
    if not -ndim <= axis < ndim:
        raise AxisError(axis, ndim)
    return axis % ndim


def checked_out(out, shape, dtype, beside_this):
    """`out`, where a result can be copied to it that is where `beside_this` is."""
    on_device = type(beside_this) is DeviceArray
    if not isinstance(out, DeviceArray if on_device else np.ndarray):
        raise TypeError(_MIXED if isinstance(out, (DeviceArray, np.ndarray)) else
                        "out must be an array, not %s" % type(out).__name__)
    if out.shape != shape:
        raise ValueError("out has shape %s and should have %s" % (out.shape, shape))
    if on_device:
        if out.dtype != dtype or not out.is_contiguous:
            raise TypeError("out on a device must be a contiguous %s here, not %s with strides %s"
                            % (dtype, out.dtype, out.strides))
        return out
    if not np.can_cast(dtype, out.dtype, "same_kind"):
        raise TypeError("out is %s and the result %s" % (out.dtype, dtype))
    if not out.flags.writeable:
        raise ValueError("out is read-only")
    return out


def result_in(out, shape, dtype, inputs, beta=0):
    """Where a result is computed: `out`, where its memory is as the library writes it and none of
    the inputs', else an array of its own, which deliver() copies.  It holds what `out` does where
    `beta` says that this is added."""
    if out is None:
        if beta:
            raise ValueError("beta is %s, and there is no out that it scales" % format(beta, "g"))
        return empty_beside(inputs[0], shape, dtype)
    checked_out(out, shape, dtype, inputs[0])
    if type(out) is DeviceArray:
        if not any(out.overlaps(x) for x in inputs):
            return out
        return out.copy() if beta else empty_beside(out, shape, dtype)
    if (out.dtype == dtype and out.dtype.isnative and out.flags.c_contiguous and
            not any(np.may_share_memory(out, x) for x in inputs)):
        return out
    result = np.empty(shape, dtype)
    if beta:
        np.copyto(result, out)
    return result


def broadcast(x, shape):
    """The array in a shape that it is broadcast to."""
    if x.shape == shape:
        return x
    return x.broadcast_to(shape) if type(x) is DeviceArray else np.broadcast_to(x, shape)


def scalar(x):
    """A result of no dimensions as NumPy has it: a number; on a device an array."""
    return x if x.shape or type(x) is DeviceArray else x[()]


def deliver(result, out):
    """The result, in `out` where there is one."""
    if out is None or out is result:
        return result
    if type(out) is not DeviceArray:
        np.copyto(out, result, casting="same_kind")
    elif out.size and (out.memory, out.offset) != (result.memory, result.offset):
        result = packed(result)
        out.memory.copy(result.memory, result.offset, (0, 0), out.offset, (0, 0), (out.nbytes, 1, 1))
    return out
