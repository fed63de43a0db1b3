"""The package's functions on arrays of a device, called with NumPy arrays: they are copied there,
as views of larger arrays now and then, and results are copied back."""

import numpy as np


class OnDevice:
    """In place of the module `tessera`.  What is refused on a device, another type in a product for
    instance, is called on the host instead, and counted."""

    def __init__(self, module, rng):
        self.module = module
        self.rng = rng
        self.ran = self.refused = 0

    def __getattr__(self, name):
        function = getattr(self.module, name)

        def call(*args, **named):
            device = named.pop("device", None)
            for most in (len(args), 1):  # the first alone, where others are to be in host memory
                moved = {}
                there = [self.upload(a, device, moved) for a in args[:most]] + list(args[most:])
                there_named = {k: self.upload(v, device, moved) for k, v in named.items()}
                try:
                    got = function(*there, **there_named)
                    break
                except (TypeError, self.module.UnsupportedError) as e:
                    if "device" not in str(e) and not isinstance(e, self.module.UnsupportedError):
                        raise
            else:
                self.refused += 1
                return function(*args, device=device, **named)
            self.ran += 1
            for a, x in moved.values():
                if got is x:
                    a[...] = self.module.to_numpy(x)
                    return a
            return self.download(got)

        return call

    def upload(self, a, device, moved):
        if not isinstance(a, np.ndarray) or a.dtype.kind in "mMVc" or a.ndim == 0:
            return a
        if id(a) in moved:
            return moved[id(a)][1]
        asarray = self.module.asarray
        how = self.rng.integers(0, 4)
        if how == 0 and a.ndim > 1:
            x = asarray(np.swapaxes(a, -1, -2).copy(), device).transpose(
                *range(a.ndim - 2), a.ndim - 1, a.ndim - 2)
        elif how == 1:
            wide = np.zeros(a.shape[:-1] + (a.shape[-1] + 3,), a.dtype)
            wide[..., 2:-1] = a
            x = asarray(wide, device)[..., 2:-1]
        else:
            x = asarray(a, device)
        np.testing.assert_array_equal(self.module.to_numpy(x), a)
        moved[id(a)] = a, x
        return x

    def download(self, x):
        if isinstance(x, self.module.DeviceArray):
            out = self.module.to_numpy(x)
            return out if out.ndim else out[()]
        if isinstance(x, tuple):
            there = [self.download(i) for i in x]
            return type(x)(*there) if hasattr(x, "_fields") else tuple(there)
        return x
