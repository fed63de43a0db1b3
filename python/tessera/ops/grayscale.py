"""Pictures without colour."""

from math import prod

from .._arrays import as_array, check_type, deliver, packed, result_in, run
from .._operations import operation

__all__ = ["grayscale"]

_op = operation("grayscale")


def grayscale(picture, weights="bt601", out=None, *, device=None, kernel=None, settings=None):
    """The brightness of each pixel of pictures of shape (..., height, width, 3 or 4), in uint8 or
    float32; `weights` are "bt601", "bt709" or "opencv", which has the bits of OpenCV's cvtColor.

    >>> import numpy as np
    >>> import tessera as ts
    >>> ts.grayscale(np.array([[[255, 0, 0], [255, 255, 255]]], dtype=np.uint8))
    array([[ 76, 255]], dtype=uint8)
    """
    picture = as_array(picture)
    name = check_type(_op, picture.dtype)
    if picture.ndim < 3 or picture.shape[-1] not in (3, 4):
        raise ValueError("grayscale: shape %s is not (height, width, 3 or 4)" % (picture.shape,))
    x = packed(picture)
    result = result_in(out, x.shape[:-1], x.dtype, (x,))
    if result.size:
        problem = _op.problem(type=name, height=prod(x.shape[:-2]), width=x.shape[-2],
                              channels=x.shape[-1], weights=weights)
        run(_op, problem, (x, result), ("offset_in", "offset_out"), device, kernel, settings)
    return deliver(result, out)
