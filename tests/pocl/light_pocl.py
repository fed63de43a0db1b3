"""light_pocl.py SOURCE FOLDER [DRIVER.icd...]: of the installed drivers PoCL with no more of its built-in
functions than the kernels of this project name.

PoCL reads Clang's opencl-c.h, 18,000 lines, for each program, and its own library of 23,000 functions
in each process that compiles: of a kernel that is not optimized that is most of the time.  Here Clang
declares what a program calls when it meets it (-fdeclare-opencl-builtins), from a table that it has
beside the header.  It knows the functions by the names that kernels call them by, and not by those that
PoCL's header makes of them (_cl_max of max): so they have these in the library.  The functions that stay
are as they were, and so is what a kernel is compiled to (test_light_pocl.py).  FOLDER/vendors is for
OCL_ICD_VENDORS: other drivers are there as they are installed, and so is PoCL where something is not
laid out as it is expected here, or where what was made does not build a kernel; a line says so.
"""

import ctypes
import glob
import os
import re
import shutil
import subprocess
import sys

EXTERNAL, INTERNAL = 0, 8 # linkage in LLVM's C API
REPLACED = "replaced." # before the names of functions that are to go
ANY_TYPE, PLATFORM_VERSION = 0xFFFFFFFF, 0x0901 # of a device, and to ask for, in OpenCL's
# Built-in functions whose names kernels mention, but whose overloads they never call (vectors of three,
# copies of vectors by a work-group, shuffles): nearly half of the code.  A kernel that calls one does not
# build here.
NEVER_CALLED = re.compile(r"_Z\d+(shuffle2?D|(async_work_group_(strided_)?copy|prefetch)P.*Dv|.*Dv3_)")
KERNEL = b"kernel void k(global float *x) { x[get_global_id(0)] += max(x[0], convert_float(1)); }"

# Of the options that PoCL has for Clang, which it puts one behind the other.  The first one is in the
# header then; of the current folder no kernel includes anything.
OPTIONS = ((b"-D__USE_CLANG_OPENCL_C_H ", b"-fdeclare-opencl-builtins"), (b"-xcl ", b" -xcl"),
           (b"-Dinline= ", b" -Dinline="), (b"-I. ", b"    "))

# Of those for the linker, which takes a quarter of the time of a kernel that is not optimized, nearly
# all of it to read libraries: what a kernel calls of them is in every process.  -s takes the place of -lm
# alone: PoCL has a fixed number of options.
OPTIONS += ((b"-nostartfiles", b"-nostdlib"), (b"-lm", b"-s"))


def without_comments(text):
    text = re.sub(r"[ \t]*\\\n\s*", " ", text)
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return re.sub(r"//[^\n]*", "", text)


class Names:
    """Those of built-in functions to keep: words of the kernels and of tests that have some.  Names are
    put together there of words and a width (vstore_half ## 4 ## _rte), or of convert_ and a type."""

    def __init__(self, source):
        self.words = set()
        for folder in ("cl", "tests"):
            for path in glob.glob(os.path.join(source, folder, "**", "*.*"), recursive=True):
                if not path.endswith((".cl", ".clh", ".c", ".py")):
                    continue
                with open(path, encoding="utf-8", errors="replace") as f:
                    text = f.read()
                if folder == "cl" or "kernel void" in text or path.endswith("seeded.py"):
                    self.words.update(re.findall(r"\w+", without_comments(text)))

    def __contains__(self, name):
        parts = [part for part in re.split(r"\d+", name) if part]
        return name in self.words or self.words.issuperset(parts) or \
            bool(re.fullmatch(r"convert_[a-z]+\d*", name))


# Clang's table has the events in the generic address space, PoCL's library in that of the kernel's variables.
DECLARED = "void __attribute__((overloadable)) wait_group_events(int, event_t *);"


def light_header(text):
    """A header's lines for the preprocessor, without the end of macros that Clang's table asks for."""
    lines = (line.strip() for line in without_comments(text).split("\n"))
    return "\n".join([*(line for line in lines
                        if line.startswith("#") and not line.startswith("#undef __opencl_c_")), DECLARED, ""])


def with_options(library):
    """PoCL's library with OPTIONS."""
    for old, new in OPTIONS:
        if library.count(b"\0" + old + b"\0") != 1:
            raise ValueError("PoCL has no option " + old.decode())
        library = library.replace(b"\0" + old + b"\0", b"\0" + new.ljust(len(old), b"\0") + b"\0")
    return library


class Module:
    """A module of LLVM: the library that PoCL itself uses reads and writes it."""

    def __init__(self, library, path):
        self.llvm = ctypes.CDLL(library)
        pointer, text = ctypes.c_void_p, ctypes.c_char_p
        buffer, self.module, said = pointer(), pointer(), text()
        self.must(self.call("LLVMCreateMemoryBufferWithContentsOfFile", ctypes.c_int, text(path.encode()),
                            ctypes.byref(buffer), ctypes.byref(said)))
        context = self.call("LLVMContextCreate", pointer)
        self.must(self.call("LLVMParseBitcodeInContext2", ctypes.c_int, pointer(context), buffer,
                            ctypes.byref(self.module)))

    def call(self, name, result, *args):
        function = getattr(self.llvm, name)
        function.restype = result
        return function(*args)

    def must(self, status):
        if status:
            raise OSError("LLVM refuses the library of built-in functions")

    def functions(self):
        function = self.call("LLVMGetFirstFunction", ctypes.c_void_p, self.module)
        while function:
            length = ctypes.c_size_t()
            name = self.call("LLVMGetValueName2", ctypes.c_char_p, ctypes.c_void_p(function),
                             ctypes.byref(length))
            yield ctypes.c_void_p(function), name.decode()
            function = self.call("LLVMGetNextFunction", ctypes.c_void_p, ctypes.c_void_p(function))

    def rename(self, function, name):
        self.call("LLVMSetValueName2", None, function, ctypes.c_char_p(name.encode()),
                  ctypes.c_size_t(len(name)))

    def take_plain_names(self):
        """max of what is _cl_max, in the place of a function for other compilers that calls it."""
        functions = dict((name, function) for function, name in self.functions())
        for name, function in functions.items():
            mangled = re.match(r"_Z(\d+)(_cl_)", name)
            if mangled:
                plain = "_Z%d%s" % (int(mangled[1]) - len(mangled[2]), name[mangled.end():])
                if plain in functions:
                    self.rename(functions[plain], REPLACED + plain)
                    self.call("LLVMSetLinkage", None, functions[plain], INTERNAL)
                self.rename(function, plain)

    def keep(self, names):
        """Drop what neither `names` has nor something that is kept calls."""
        dropped = set()
        for function, name in self.functions():
            mangled = re.match(r"_Z(\d+)", name)
            if not mangled and not name.startswith("Sleef"):
                continue # PoCL's own
            plain = name[mangled.end():mangled.end() + int(mangled[1])] if mangled else name
            if (plain not in names or NEVER_CALLED.match(name)) and \
                    self.call("LLVMGetLinkage", ctypes.c_int, function) == EXTERNAL and \
                    not self.call("LLVMIsDeclaration", ctypes.c_int, function):
                self.call("LLVMSetLinkage", None, function, INTERNAL)
                dropped.add(name)
        self.call("LLVMStripModuleDebugInfo", ctypes.c_int, self.module)
        options = self.call("LLVMCreatePassBuilderOptions", ctypes.c_void_p)
        self.must(self.call("LLVMRunPasses", ctypes.c_void_p, self.module,
                            b"globaldce,strip-dead-prototypes", None, ctypes.c_void_p(options)))
        for function, name in self.functions():
            if name.startswith(REPLACED):
                raise ValueError("something calls " + name)
            if name in dropped: # called by one that is kept
                self.call("LLVMSetLinkage", None, function, EXTERNAL)

    def write(self, path):
        self.must(self.call("LLVMWriteBitcodeToFile", ctypes.c_int, self.module, path.encode()))


def loaded(library):
    """The path of a loaded library."""
    with open("/proc/self/maps", encoding="utf-8") as f:
        for line in f:
            path = line.split()[-1]
            if os.path.basename(path).startswith(library):
                return path
    raise OSError("PoCL loads no " + library)


def built_in_libraries(data):
    """Those that PoCL may take on this processor."""
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        found = re.search(r"^flags\s*:(.*)", f.read(), re.M)
    flags = set(found[1].split()) if found else set()
    for name, needs in (("avx512", {"avx512f"}), ("avx2", {"avx2"})):
        if needs <= flags:
            return glob.glob(os.path.join(data, "kernel-*-%s.bc" % name))
    return []


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def make(source, folder, driver):
    """FOLDER/lib/*/libpocl.so.*, a copy that looks for all else beside itself, as PoCL does; its path."""
    ctypes.CDLL(driver)
    library = loaded("libpocl.so")
    data = os.path.join(os.path.dirname(library), "..", "..", "share", "pocl")
    place = os.path.join(folder, "lib", "libraries")
    for made in (os.path.join(place, "pocl"), os.path.join(folder, "share", "pocl", "include")):
        os.makedirs(made)
    for path in glob.glob(os.path.join(os.path.dirname(library), "pocl", "*")):
        os.symlink(path, os.path.join(place, "pocl", os.path.basename(path)))

    light = os.path.join(folder, "share", "pocl")
    for path in glob.glob(os.path.join(data, "include", "*")):
        name = os.path.basename(path)
        with open(path, encoding="utf-8") as f:
            text = f.read()
        if name in ("opencl-c.h", "_clang_opencl.h"): # which declare functions
            text = light_header(text)
        elif name == "_builtin_renames.h":
            text = ""
        elif name == "pocl_types.h": # which comes first
            text = "#define __USE_CLANG_OPENCL_C_H\n" + text
        write(os.path.join(light, "include", name), text)
    names = Names(source)
    for path in built_in_libraries(data):
        module = Module(loaded("libLLVM"), path)
        module.take_plain_names()
        module.keep(names)
        module.write(os.path.join(light, os.path.basename(path)))
    copy = os.path.join(place, os.path.basename(library))
    with open(library, "rb") as f, open(copy, "wb") as made:
        made.write(with_options(f.read()))
    return copy


def build_a_kernel():
    """On the first device that the loader finds."""
    opencl = ctypes.CDLL("libOpenCL.so.1")
    platform, device, text = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_char_p(KERNEL)

    def must(name, *args):
        status = getattr(opencl, name)(*args)
        if status:
            raise OSError("%s fails with %d" % (name, status))

    def create(name, *args):
        function = getattr(opencl, name)
        function.restype = ctypes.c_void_p
        return ctypes.c_void_p(function(*args, None))

    must("clGetPlatformIDs", 1, ctypes.byref(platform), None)
    version = ctypes.create_string_buffer(200)
    must("clGetPlatformInfo", platform, PLATFORM_VERSION, ctypes.c_size_t(len(version)), version, None)
    if b" PoCL 3." not in version.value: # of another nobody has compared what it compiles
        raise OSError("tried with PoCL 3 alone, and this is " + version.value.decode())
    must("clGetDeviceIDs", platform, ctypes.c_uint64(ANY_TYPE), 1, ctypes.byref(device), None)
    context = create("clCreateContext", None, 1, ctypes.byref(device), None, None)
    program = create("clCreateProgramWithSource", context, 1, ctypes.byref(text), None)
    must("clBuildProgram", program, 1, ctypes.byref(device), b"", None, None)


def run_part(*words, **variables):
    """Run this script for a part of its work, in a process of its own, since LLVM ends one in which it
    fails: what that prints."""
    done = subprocess.run([sys.executable, os.path.abspath(__file__), *words], capture_output=True,
                          text=True, check=False, env={**os.environ, **variables})
    if done.returncode:
        said = done.stderr.strip().splitlines()
        raise OSError(said[-1] if said else "status %d" % done.returncode)
    return done.stdout.strip()


def light_driver(source, folder, driver):
    """The path of the driver in the place of an installed one, which has built a kernel."""
    light = run_part("make", source, folder, driver)
    alone = os.path.join(folder, "alone")
    os.makedirs(alone)
    write(os.path.join(alone, "pocl.icd"), light + "\n")
    run_part("build", OCL_ICD_VENDORS=alone, POCL_CACHE_DIR=os.path.join(folder, "cache"))
    return light


def main():
    if sys.argv[1] == "make":
        print(make(*sys.argv[2:]))
        return
    if sys.argv[1] == "build":
        build_a_kernel()
        return
    source, folder, *installed = (os.path.abspath(path) for path in sys.argv[1:])
    shutil.rmtree(folder, ignore_errors=True)
    vendors = os.path.join(folder, "vendors")
    os.makedirs(vendors)
    for path in installed:
        with open(path, encoding="utf-8") as f:
            driver = f.read().strip()
        if "libpocl" in driver:
            try:
                driver = light_driver(source, folder, driver)
                print("tests: PoCL with the built-in functions alone that kernels name")
            except OSError as error:
                print("tests: PoCL as it is installed, which takes longer: %s" % error)
        write(os.path.join(vendors, os.path.basename(path)), driver + "\n")


main()
