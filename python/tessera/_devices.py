"""Devices, and the session that calls on each of them run in."""

import atexit
import os
import threading
from typing import NamedTuple

from . import _tessera


class Device(NamedTuple):
    """A device of this machine.

    The last one is "host", which runs in plain C and needs no OpenCL.
    """

    number: int
    name: str
    platform: str
    kind: str
    compute_units: int
    memory: int
    shares_memory: bool

    def __repr__(self):
        return "<tessera.Device %d: %s, %s>" % (self.number, self.name, self.kind)


def devices():
    """List every OpenCL device, and last the device "host".

    >>> import tessera as ts
    >>> ts.devices()[-1].kind
    'host'
    """
    return [Device(*d) for d in _tessera.devices()]


def device(which=None):
    """Find a device by its name.

    `which` is "cpu", "gpu", "accelerator", "host", two numbers "PLATFORM:DEVICE", or any part of a
    platform's, vendor's or device's name.  None: the environment variable TESSERA_DEVICE, else the
    first GPU, else accelerator, else CPU, and where there is no OpenCL device the host.

    >>> import tessera as ts
    >>> ts.device("host").name
    'host'
    >>> ts.device("no such device")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    tessera.InvalidError: device 'no such device' is not there; there are ...
    """
    if isinstance(which, Device):
        return which
    if not isinstance(which, (str, type(None))):
        what = repr(which) if isinstance(which, int) else type(which).__name__
        raise TypeError("a device is a name, as 'gpu' or '0:1', or one of tessera.devices(), as "
                        "devices()[0]; not %s" % what)
    try:
        index = _tessera.select(which)
    except _tessera.Error as e:
        none = e.status in ("TSR_ENODEVICE", "TSR_EUNSUPPORTED")  # the latter in a forked child
        if which is not None or "TESSERA_DEVICE" in os.environ or not none:
            if e.status == "TSR_ENODEVICE" and _tessera.failures():
                e.args = ("%s: %s" % (e, "; ".join(_tessera.failures())),)
            raise
        index = len(_tessera.devices()) - 1
    return devices()[index]


# The session of each device, by every name that it was asked for: a Device, a str, or None.
_sessions: dict = {}
_opening = threading.Lock()


def session(which=None):
    """The session of a device, which is opened at its first use and shared by all threads."""
    try:
        found = _sessions.get(which)
    except TypeError:  # it has no hash, and device() says what has
        found = None
    if found is None:
        one = device(which)
        by_default = which is None and one.number == len(devices()) - 1  # reports then say why
        with _opening:
            found = None if by_default else _sessions.get(one)
            if found is None:
                found = _tessera.Session(one.number, by_default=by_default)
            _sessions[which] = found
            if not by_default:
                _sessions[one] = found
    return found


def is_on(one, which):
    """Whether a session is one of the device of that name."""
    return device(which).number == one.device


def adopt(queue):
    """The session on a queue, by the address of the cl_command_queue, which it retains: the one that
    has it where it is ours."""
    with _opening:
        for found in _sessions.values():
            if found.handle == queue:
                return found
        found = _sessions["queue", queue] = _tessera.Session.adopt(queue)
    return found


def close():
    """Release every device.  Calls that follow open them again; device arrays are lost.

    >>> import numpy as np
    >>> import tessera as ts
    >>> x = ts.asarray(np.arange(4.0), device="cpu")
    >>> ts.close()
    >>> ts.to_numpy(x)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    tessera.InvalidError: the device was closed, ...
    """
    with _opening:
        open_ones = set(_sessions.values())
        _sessions.clear()
    for one in open_ones:
        one.close()


def empty_cache():
    """Give back the memory that was arrays' on devices and is kept for the next ones, as another
    program or library may need it.  Arrays keep theirs.

    An allocation that would fail does this by itself.

    >>> import numpy as np
    >>> import tessera as ts
    >>> x = ts.asarray(np.arange(4.0), device="cpu")
    >>> del x
    >>> ts.empty_cache()
    >>> ts.memory_stats("cpu")["kept_bytes"]
    0
    """
    _tessera.empty_pools()


def memory_stats(device=None):
    """What arrays on a device have now, and what is kept for the next ones: a dict.

    used_bytes is what arrays have, kept_bytes and kept the bytes and buffers that are kept, and
    limit_bytes the most that may be; made and reused count the buffers that were made for arrays,
    and those that were given out again.

    >>> import numpy as np
    >>> import tessera as ts
    >>> before = ts.memory_stats("cpu")["used_bytes"]
    >>> x = ts.asarray(np.zeros(1000), device="cpu")
    >>> ts.memory_stats("cpu")["used_bytes"] - before >= x.nbytes
    True
    """
    return session(device).memory_stats()


def _forget():
    # Drivers of OpenCL do not survive a fork: the child has the host alone.
    global _opening
    for one in set(_sessions.values()):
        one.abandon()
    _sessions.clear()
    _opening = threading.Lock()
    _tessera.forget()


atexit.register(close)
os.register_at_fork(after_in_child=_forget)
