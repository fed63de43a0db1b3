"""Operations as the library describes them, and how each becomes a function."""

import inspect
import struct
from collections.abc import Mapping
from functools import lru_cache
from importlib.util import find_spec as _find_spec
from typing import NamedTuple

from . import _devices, _tessera

# How a member of a problem is packed.
_FORMATS = {"count": "N", "choice": "N", "flag": "?", "real": "d", "type": "i", "precision": "i",
            "layout": "i"}
_LAYOUTS = {"C": 0, "F": 1}
_PRECISIONS = _tessera.precisions()

_WRITTEN = 2


class Member(NamedTuple):
    """A member of a problem's structure."""

    name: str
    kind: str
    offset: int
    bytes: int
    meaning: str
    choices: dict


class Operand(NamedTuple):
    """What an operation reads or writes in a problem: its name, type, and bytes."""

    name: str
    type: str
    access: int
    bytes: int

    @property
    def is_written(self):
        return bool(self.access & _WRITTEN)


class Operation:
    """An operation of the library, on flat memory: what the functions on arrays are made of.

    Called, it takes its operands in their order, each anything with a buffer or None, and the
    members of its problem by name.  Buffers have no gaps, as a view of every second element has; of
    one that is larger than its operand the beginning is used.
    An operand that is only written may be None, and becomes a bytearray.  It returns the operands
    that are written.

    >>> import array
    >>> import tessera as ts
    >>> keys = array.array("i", [3, 1, 2])
    >>> ts.operation("sort")(keys, type="int32", n=3, device="host")  # doctest: +ELLIPSIS
    (array('i', [1, 2, 3]),)
    """

    def __init__(self, description):
        self.index = description["index"]
        self.name = description["name"]
        self.summary = description["summary"]
        self.types = description["types"]
        self.members = {m[0]: Member(*m) for m in description["members"]}
        self._start = description["start"]
        self.__name__ = self.name
        self.__doc__ = self._doc()
        self.__signature__ = self._signature()

    def __repr__(self):
        return "<tessera.Operation %s>" % self.name

    def _doc(self):
        described = ["%s: %s" % (m.name, m.meaning) for m in self.members.values() if m.meaning]
        return "%s.\n\n%s" % (self.summary, "\n".join(described))

    def _signature(self):
        by_name = [inspect.Parameter(m.name, inspect.Parameter.KEYWORD_ONLY, default=None)
                   for m in self.members.values()]
        by_name += [inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY, default=None)
                    for n in ("device", "kernel", "settings")]
        return inspect.Signature(
            [inspect.Parameter("operands", inspect.Parameter.VAR_POSITIONAL)] + by_name)

    def _packed(self, member, value, values):
        if member.kind == "type":
            return "i", self.type_code(value)
        if member.kind == "precision":
            return "i", precision_code(value)
        if member.kind == "layout":
            return "i", choice_code(member, value, _LAYOUTS)
        if member.kind == "choice":
            return "N", choice_code(member, value)
        if member.kind == "scalar":
            name = values.get("type", "float32")
            return ("d" if "float" in name else "Q" if name[0] == "u" else "q"), value
        if member.kind == "flag" and isinstance(value, str):  # "no" would be true
            raise TypeError("%s: %s must be True or False, not %r" % (self.name, member.name, value))
        return _FORMATS[member.kind], value

    def type_code(self, name):
        """The library's number of a type that this operation takes."""
        try:
            return self.types[name]
        except KeyError:
            raise TypeError("%s: %s is none of %s" % (self.name, name,
                                                      ", ".join(self.types))) from None

    def problem(self, **values):
        """The bytes of a problem with these members; the others are as the library has them."""
        out = bytearray(self._start)
        for name, value in values.items():
            member = self.members.get(name)
            if member is None:
                raise TypeError("%s has no '%s'; it has %s"
                                % (self.name, name, ", ".join(self.members)))
            form, packed = self._packed(member, value, values)
            try:
                struct.pack_into("@" + form, out, member.offset, packed)
            except struct.error as e:
                raise ValueError("%s: %s is %r: %s" % (self.name, name, value, e)) from None
        return bytes(out)

    def changed(self, problem, counts):
        """A problem with other values of members that are counts."""
        out = bytearray(problem)
        for name, n in counts.items():
            struct.pack_into("@N", out, self.members[name].offset, n)
        return bytes(out)

    def operands(self, problem):
        """The operands of a problem, in order."""
        return [Operand(*o) for o in _tessera.operands(self.index, problem)]

    def run(self, device, problem, operands, kernel=None, settings=None):
        """Run a problem on host memory."""
        _devices.session(device).run(self.index, problem, operands, kernel, flat(settings))

    def check_flat(self, x, described):
        """TypeError where an operand is no memory, such as a list (with NumPy it would be an array), or
        memory of another type: elements of one byte may be anything."""
        try:
            memory = memoryview(x)
        except TypeError:
            why = "" if _find_spec("numpy") else "NumPy is not installed, and without it "
            raise TypeError("%s: %s%s must be flat memory, such as array.array, not %s"
                            % (self.name, why, described.name, type(x).__name__)) from None
        if memory.format == "O" or (memory.itemsize > 1 and not self._is_moved(described) and
                                    not _suits(described.type, memory.itemsize, memory.format)):
            raise TypeError("%s: %s is %s, and this memory has elements of %d bytes, of format '%s'"
                            % (self.name, described.name, described.type, memory.itemsize,
                               memory.format))

    def _is_moved(self, described):
        """Whether an operand's elements are moved and not looked at, whatever they are."""
        return described.name == "values" or "type" not in self.members or "element_bytes" in self.members

    def __call__(self, *operands, device=None, kernel=None, settings=None, **members):
        problem = self.problem(**{n: v for n, v in members.items() if v is not None})
        described = self.operands(problem)
        if len(operands) > len(described):
            raise TypeError("%s takes %s" % (self.name, ", ".join(o.name for o in described)))
        given = list(operands) + [None] * (len(described) - len(operands))
        for x, o in zip(operands, described):
            if x is not None:
                self.check_flat(x, o)
        for i, o in enumerate(described):
            if given[i] is None and o.bytes and o.access == _WRITTEN:
                given[i] = bytearray(o.bytes)
            elif given[i] is not None and not memoryview(given[i]).contiguous:
                raise ValueError("%s: %s has gaps, or goes backwards: flat memory is one stretch"
                                 % (self.name, o.name))
            elif given[i] is not None and not o.bytes and memoryview(given[i]).nbytes:
                raise ValueError("%s: %s is empty in this problem, and %d bytes are given: operands come "
                                 "as %s, None for one that is not there, and the problem's sizes are "
                                 "given by name, of %s"
                                 % (self.name, o.name, memoryview(given[i]).nbytes,
                                    ", ".join(d.name for d in described), ", ".join(self.members)))
            elif given[i] is not None and o.is_written and memoryview(given[i]).readonly:
                raise BufferError("%s: %s is written, and this memory is read-only" % (self.name, o.name))
        self.run(device, problem, tuple(given), kernel, settings)
        return tuple(g for g, o in zip(given, described) if o.is_written and g is not None)


# Formats of memory, by the kind of a type: float16 may be in words too, as bfloat16 is.
_MEMORY = {"int": "bhilqn", "uint": "BHILQN", "float": "efd", "complex": ("Zf", "Zd"), "bfloat": "H"}


@lru_cache(maxsize=256)
def _suits(name, itemsize, form):
    """Whether memory of elements of more than one byte and this format is of a type of the library."""
    kind = name.rstrip("0123456789")
    formats = "eH" if name == "float16" else _MEMORY.get(kind, "")
    return (form[0] not in ">!" and form.lstrip("@=<") in formats and
            8 * itemsize == int(name[len(kind):] or 0))


def choice_code(member, value, choices=None):
    """The library's number of a choice that a member of a problem has, by its name."""
    choices = choices or member.choices
    try:
        return choices[value]
    except (KeyError, TypeError):
        raise ValueError("%s is %r, and must be one of %s"
                         % (member.name, value, ", ".join(map(repr, choices)))) from None


def precision_code(name):
    """The library's number of a precision; None is that of the operands' type."""
    if name is None:
        return 0
    try:
        return _PRECISIONS[name]
    except KeyError:
        raise ValueError("precision is %r, and must be one of %s"
                         % (name, ", ".join(map(repr, _PRECISIONS)))) from None


def flat(settings):
    """{"TILE": 16} as the library takes it."""
    if settings is None:
        return None
    if not isinstance(settings, Mapping):
        raise TypeError("settings must be a dict of tunables, as {'TILE': 16}, not %r" % (settings,))
    return tuple("%s=%s" % s for s in settings.items())


_operations = {d["name"]: Operation(d) for d in _tessera.operations()}


def operations():
    """The operations that the library has, by name.

    >>> import tessera as ts
    >>> sorted(ts.operations())[:3]
    ['axpy', 'grayscale', 'histogram']
    """
    return dict(_operations)


def operation(name):
    """The operation of a name, to be called on flat memory.

    >>> import tessera as ts
    >>> list(ts.operation("transpose").members)[:4]
    ['type', 'element_bytes', 'rows', 'columns']
    """
    try:
        return _operations[name]
    except KeyError:
        raise _tessera.InvalidError("there is no operation '%s'; there are %s"
                                    % (name, ", ".join(_operations))) from None
