"""A wheel: it is built, named for CPython from 3.11 on, complete, and works where it is unpacked.

    test_wheel.py SOURCE BUILD

77 where there is no setuptools.  The sources are copied, as setuptools writes among them.
"""

import glob
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile

try:
    import setuptools  # noqa: F401
    import wheel  # noqa: F401
except ImportError:
    sys.exit(77)


def main():
    source, build = sys.argv[1:]
    with tempfile.TemporaryDirectory() as work:
        copy = os.path.join(work, "source")
        os.mkdir(copy)
        for name in ("pyproject.toml", "setup.py", "MANIFEST.in", "LICENSE", "README.md"):
            shutil.copy(os.path.join(source, name), copy)
        for name in ("python", "include", "docs"):
            shutil.copytree(os.path.join(source, name), os.path.join(copy, name))
        code = "from setuptools import build_meta; print(build_meta.build_wheel(%r))" % work
        subprocess.run([sys.executable, "-c", code], cwd=copy, check=True,
                       env={**os.environ, "TESSERA_BUILD_DIR": build})
        wheels = glob.glob(os.path.join(work, "*.whl"))
        assert len(wheels) == 1 and "-cp311-abi3-linux" in wheels[0], wheels
        place = os.path.join(work, "place")
        with zipfile.ZipFile(wheels[0]) as z:
            z.extractall(place)
        packed = {os.path.relpath(f, place) for f in
                  glob.glob(os.path.join(place, "tessera", "**", "*.*"), recursive=True)}
        needed = {os.path.relpath(f, os.path.join(source, "python")) for f in
                  glob.glob(os.path.join(source, "python", "tessera", "**", "*.py*"),
                            recursive=True) if "__pycache__" not in f}
        assert needed <= packed, needed - packed
        code = "import tessera as ts, numpy as np; print(ts.__file__, ts.sum(np.ones(3)))"
        out = subprocess.run([sys.executable, "-c", code], check=True, text=True,
                             capture_output=True, env={**os.environ, "PYTHONPATH": place}).stdout
        assert out.startswith(place) and out.endswith(" 3.0\n"), out


main()
