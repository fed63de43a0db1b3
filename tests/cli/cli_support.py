"""What the tests of the command share: running it, and writing files by hand.

The environment names what is tested: TESSERA is the command's path, TESSERA_DATA
the folder of real inputs.
"""

import atexit
import contextlib
import fcntl
import functools
import os
import pty
import re
import runpy
import shutil
import stat
import struct
import subprocess
import tempfile
import termios
import unittest

import numpy as np

COMMAND = os.environ.get("TESSERA", "tessera")
SOURCE = os.environ.get(
    "TESSERA_SOURCE", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
DATA = os.environ.get(
    "TESSERA_DATA", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "data"))

# The operations, in the order in which they are registered and listed.
with open(os.path.join(SOURCE, "host", "ops", "operations.c"), encoding="utf-8") as registered:
    OPERATIONS = re.findall(r"&operation_(\w+)", registered.read())

# What tests of the command in general run: tests/OP/example.py, by the operation's name.
EXAMPLES = {op: runpy.run_path(os.path.join(SOURCE, "tests", op, "example.py")) for op in OPERATIONS}

# The user's caches stay untouched.  Tessera's is off but where a test names a folder: to save a
# program, PoCL compiles it once more.  PoCL's own is the environment's where it names one: ctest
# names that of the build.
CACHE = tempfile.mkdtemp(prefix="tessera-test-cache-")
atexit.register(shutil.rmtree, CACHE, ignore_errors=True)

CLEAN = ("TESSERA_DEVICE", "TESSERA_KERNEL_DIR", "OPENCL_VENDOR_PATH", "POSIXLY_CORRECT")


# Of a program that is done, where a driver's thread ends while LeakSanitizer looks: it runs again, on
# what was there before.
SANITIZER_CRASH = b"LeakSanitizer has encountered a fatal error"

# What the environment of each attempt has besides: where it crashes time and again, leaks are not
# looked for.
ATTEMPTS = ({}, {}, {"ASAN_OPTIONS": "detect_leaks=0"})
with open(shutil.which(COMMAND) or os.devnull, "rb") as command_file:
    SANITIZED = b"__asan_" in command_file.read()

# Bytes of a file from which on a test does not keep it for another attempt.
LARGE = 1 << 24

# What loops over operations that differ in their tables alone: the release build sees all of them, a
# sanitizer the same code of the command in two.  Code of an operation's own is sanitized by the tests in
# its folder.
SOME = OPERATIONS[::len(OPERATIONS) - 1] if SANITIZED else OPERATIONS


def environment(**changes):
    env = {k: v for k, v in os.environ.items() if k not in CLEAN}
    env["TESSERA_CACHE_DIR"] = "off"
    env.setdefault("POCL_CACHE_DIR", os.path.join(CACHE, "pocl"))
    env["TESSERA_TUNING_DIR"] = os.path.join(CACHE, "tuning")
    for name, value in changes.items():
        if value is None:
            env.pop(name, None)
        else:
            env[name] = value
    return env


def run(command, variables=None, between=lambda: None, attempts=ATTEMPTS, **options):
    """subprocess.run with the environment of tests and these variables, again where LeakSanitizer
    crashes; between() restores what was there before."""
    for last in attempts:
        if last is not attempts[0]:
            between()
        done = subprocess.run(command, stderr=subprocess.PIPE, check=False,
                              env=environment(**(variables or {}), **last), **options)
        if SANITIZER_CRASH not in done.stderr:
            break
    return done


# Rows of bench in little time, in place of a second for each.
BRIEF = ("--seconds", "0.05")


@functools.lru_cache(maxsize=None)
def cache_with_limits():
    """A folder for TESSERA_CACHE_DIR.  The limits of the CPU's device are in it, which take a quarter of a
    minute: they are measured once, in brief."""
    folder = tempfile.mkdtemp(prefix="tessera-test-limits-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    subprocess.run([COMMAND, "roofline", "--limits", "--device", "cpu", "--seconds", "0.05", "--quiet"],
                   stdout=subprocess.DEVNULL, check=True, env=environment(TESSERA_CACHE_DIR=folder))
    return folder


class Result:
    def __init__(self, args, status, out, err):
        self.args, self.status, self.out, self.err = args, status, out, err

    def __str__(self):
        return "tessera %s\nstatus %d\n--- stdout\n%s\n--- stderr\n%s" % (
            " ".join(self.args), self.status, self.out[:2000], self.err)


class Case(unittest.TestCase):
    """A test in a folder of its own, `self.folder`; relative paths are relative to it."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="tessera-test-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def example(self, op):
        """The call that tests/OP/example.py has, whose files are saved."""
        for name, values in EXAMPLES[op]["FILES"].items():
            self.save(name, values)
        return EXAMPLES[op]["CALL"]

    def path(self, name):
        return os.path.join(self.folder, name)

    def keep_folder(self):
        """What is in the test's folder now: {path: None of a folder; (mode, content) of a file; () of a link
        and a pipe, and of what is large or may not be read, which no command changes}.  In memory: to copy
        it by a process of its own takes longer than many commands."""
        kept = {}
        for folder, folders, files in os.walk(self.folder):
            kept.update((os.path.join(folder, name), None) for name in folders)
            for path in (os.path.join(folder, name) for name in files):
                with contextlib.suppress(FileNotFoundError):  # a command that runs beside removed it
                    about = os.lstat(path)
                    kept[path] = ()
                    if not (stat.S_ISREG(about.st_mode) and about.st_size <= LARGE and
                            os.access(path, os.R_OK)):
                        continue
                    kept[path] = (about.st_mode, b"")
                    # An empty file may be a lock: to close it would give up what this process has locked.
                    if about.st_size:
                        with open(path, "rb") as f:
                            kept[path] = (about.st_mode, f.read())
        return kept

    def restore_folder(self, kept):
        for folder, folders, files in os.walk(self.folder, topdown=False):
            for path in (os.path.join(folder, name) for name in folders + files):
                if path not in kept:
                    (os.rmdir if os.path.isdir(path) and not os.path.islink(path) else os.remove)(path)
        for path, file in kept.items():  # a folder is before what is in it
            if file:
                mode, content = file
                if content or not os.path.exists(path):
                    with open(path, "wb") as f:
                        f.write(content)
                elif os.path.getsize(path):
                    os.truncate(path, 0)  # it opens nothing, and so closes no lock
                os.chmod(path, stat.S_IMODE(mode))
            elif file is None and not os.path.lexists(path):
                os.mkdir(path)

    def tessera(self, *args, stdin=b"", binary=False, stdout=None, env=None, timeout=300):
        before = self.keep_folder() if SANITIZED else None
        done = run([COMMAND, *args], env, between=lambda: self.restore_folder(before),
                   attempts=ATTEMPTS if stdout is None else ATTEMPTS[:1], input=stdin,
                   timeout=timeout, cwd=self.folder,
                   stdout=stdout if stdout is not None else subprocess.PIPE)
        out = done.stdout or b""
        return Result(args, done.returncode, out if binary else out.decode(),
                      done.stderr.decode(errors="replace"))

    def succeed(self, *args, **options):
        r = self.tessera(*args, **options)
        self.assertEqual(r.status, 0, r)
        return r

    def said_on_terminal(self, columns, *args, env=None):
        """What a run says on a terminal that is so wide: one text for each time it was redrawn."""
        terminal, user = pty.openpty()
        fcntl.ioctl(user, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        try:
            done = subprocess.run([COMMAND, *args], stdout=subprocess.DEVNULL, stderr=user,
                                  timeout=300, cwd=self.folder, env=environment(**(env or {})))
            os.close(user)
            said = b""
            while True:
                try:
                    more = os.read(terminal, 65536)
                except OSError:  # the other end is closed
                    break
                if not more:
                    break
                said += more
        finally:
            os.close(terminal)
        self.assertEqual(done.returncode, 0, said)
        return said.decode().split("\r\x1b[K")

    def fail_with(self, status, *args, says=(), **options):
        """Run a command that fails: its status, a message of one line, and parts of it."""
        r = self.tessera(*args, **options)
        self.assertEqual(r.status, status, r)
        lines = [s for s in r.err.splitlines() if not s.startswith("hint: ")]
        self.assertEqual(len(lines), 1, r)
        self.assertTrue(lines[0].startswith("tessera: "), r)
        for part in [says] if isinstance(says, str) else says:
            self.assertIn(part, lines[0], r)
        return r

    def save(self, name, array):
        with open(self.path(name), "wb") as f:
            np.save(f, array)
        return name

    def load(self, name):
        return np.load(self.path(name), allow_pickle=False)

    def save_examples(self):
        """Write the files of all examples; the calls of those."""
        names = [name for e in EXAMPLES.values() for name in (*e["FILES"], e["RESULT"][0])]
        self.assertEqual(len(names), len(set(names)), "a file of two examples: %s" % sorted(names))
        for example in EXAMPLES.values():
            for name, array in example["FILES"].items():
                self.save(name, array)
        return [example["CALL"] for example in EXAMPLES.values()]

    def check_example(self, op):
        """The example's call has given its result."""
        name, wanted = EXAMPLES[op]["RESULT"]
        got = self.load(name)
        self.assertEqual((got.dtype, got.tolist()), (wanted.dtype, wanted.tolist()), op)

    def write(self, name, content):
        with open(self.path(name), "wb") as f:
            f.write(content if isinstance(content, bytes) else content.encode())
        return name

    def names(self):
        return sorted(os.listdir(self.folder))


def random(shape, kind, seed=1):
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(kind)


def npy(header, data=b"", version=(1, 0), length=None):
    """A .npy file with any header text, right or wrong."""
    text = header.encode() + b"\n"
    size = struct.pack("<H" if version[0] == 1 else "<I", len(text) if length is None else length)
    return b"\x93NUMPY" + bytes(version) + size + text + data


def has_opencl():
    return run([COMMAND, "devices", "--json"], stdout=subprocess.PIPE).returncode == 0


def wide(array):
    """In a type whose rounding error is below what is judged."""
    return array.astype(np.longdouble if array.dtype == np.float64 else np.float64)


def gamma(length, dtype):
    """gamma_n of Higham, section 3.1, with n = length + 2."""
    u = np.finfo(dtype).eps / 2
    n = length + 2
    return n * u / (1 - n * u)


def within_bound(got, a, b, alpha=1.0, c=None, beta=0.0):
    """Whether |got - exact| <= gamma_(k+2) (|alpha| |A| |B| + |beta| |C|), elementwise."""
    kind = a.dtype.type
    alpha, beta = kind(alpha), kind(beta)
    exact = wide(a) @ wide(b) * wide(alpha)
    limit = wide(np.abs(a)) @ wide(np.abs(b)) * abs(wide(alpha))
    if c is not None:
        exact = exact + wide(beta) * wide(c)
        limit = limit + abs(wide(beta)) * wide(np.abs(c))
    bound = gamma(a.shape[-1], a.dtype) * limit + np.finfo(a.dtype).tiny * (a.shape[-1] + 2)
    return bool(np.all(np.abs(wide(got) - exact) <= bound))


class HelpCase(Case):
    """What a command's help says."""

    pages = {}  # each is asked for once

    def page(self, command, columns=1000):
        """A command's help, each option in one line."""
        if (command, columns) not in self.pages:
            self.pages[command, columns] = self.succeed(command, "--help",
                                                        env={"COLUMNS": str(columns)}).out
        return self.pages[command, columns]

    def option(self, command, name):
        """What a command's help says of an option."""
        line, = re.findall(r"(?m)^  .{4}--%s(?![\w-])(.*)$" % name,
                           self.page(command))
        return re.sub(r" \(default: .*\)$", "", line)

    def assert_agreement(self, command, operands, name, values):
        """What help names as values of an option is taken, and no more.  What is taken is missed as a
        file, status 1; what is not is a usage error."""
        said = re.findall(r"\b(?:t?b?f\d+(?:e\dm\d)?(?:-strict)?|[iu]\d+)\b(?!-)", self.option(command, name))
        self.assertEqual(set(said), set(values.split()))
        for value in ("f32 f32-strict f64 tf32 bf16 f16 f8 f8e4m3 f8e5m2 i8 u8 i16 u16 i32 u32 i64 u64 "
                      "c64").split():
            args = (command, *operands, "-o", "c", "--" + name, value)
            if value in values.split():
                self.fail_with(1, *args, says="cannot open")
            else:
                self.fail_with(2, *args, says="option '--%s' takes f32, " % name)

    def assert_defaults(self, command, *defaults):
        """Each is "--option +default", as a pattern."""
        text = self.page(command)
        for line in defaults:
            option, value = line.split(" +", 1)
            self.assertRegex(text, r"(?m)^ .*%s .*\(default: .*%s" % (option, value))
