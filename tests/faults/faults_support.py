"""OpenCL calls that fail, and objects that are given back: what tests of them share.

FAULT_LAYER names the layer built from fault_layer.c.  Every run here asserts that the layer was
loaded: the loader ignores one that it cannot.
"""

import json
import os
import sys
import unittest

from cli_support import EXAMPLES, OPERATIONS, Case, has_opencl, run

LAYER = os.environ["FAULT_LAYER"]
KINDS = {"context", "queue", "mem", "program", "kernel", "event", "svm"}
KIND_OF_RELEASE = {"clReleaseContext": "context", "clReleaseCommandQueue": "queue",
                   "clReleaseMemObject": "mem", "clReleaseProgram": "program",
                   "clReleaseKernel": "kernel", "clReleaseEvent": "event"}
CODE = -5  # CL_OUT_OF_RESOURCES: any call may give it

# More operations, and more calls of each function.
LONG = os.environ.get("TESSERA_LONG") == "1"

# Of each function the first calls fail in turn; later ones come from the same lines.
TIMES = 3

# Without these there is no result.
VITAL = ["clCreateContext", "clCreateCommandQueue", "clCreateBuffer", "clCreateKernel",
         "clSetKernelArg", "clEnqueueNDRangeKernel", "clGetEventInfo", "clGetEventInfo.status"]
# Of them, those of which a pipeline has calls of its own.
PIPELINE = ["clCreateCommandQueue", "clCreateBuffer", "clEnqueueNDRangeKernel", "clGetEventInfo",
            "clGetEventInfo.status"]
# How operands come and go: as buffers of the device, or where they are.
COPIES = ["clEnqueueWriteBuffer", "clEnqueueReadBuffer"]
SHARES = ["clEnqueueMapBuffer", "clEnqueueUnmapMemObject"]
# What the message says in place of the call's name.
WORDS = {"clEnqueueWriteBuffer": "to the device", "clEnqueueReadBuffer": "from the device",
         "clEnqueueMapBuffer": ": mapping ", "clEnqueueUnmapMemObject": ": mapping ",
         "clGetEventInfo": "failed while it ran", "clGetEventInfo.status": "failed while it ran",
         "clFinish": "failed while it ran"}
# These may cost a detail (a name, a time, a cache entry) or the run, but nothing else.
HARMLESS = ["clGetPlatformInfo", "clGetDeviceInfo", "clGetProgramInfo", "clGetProgramBuildInfo",
            "clGetKernelWorkGroupInfo", "clGetEventProfilingInfo", "clFlush"]


class Report:
    """What the layer wrote at exit."""

    def __init__(self, path):
        self.calls, self.failed, self.balance, self.ready, self.struck = {}, {}, {}, False, False
        self.early = 0
        if not os.path.exists(path):
            return
        with open(path, encoding="ascii") as f:
            for line in f:
                word, *rest = line.split()
                if word == "layer":
                    self.ready = True
                elif word == "fault":
                    self.struck = True
                elif word == "early":
                    self.early = int(rest[0])
                else:
                    getattr(self, word)[rest[0]] = int(rest[1])


def has_layers():
    """Whether the loader takes layers: ocl-icd does."""
    class Probe(Layered):
        def runTest(self):
            pass
    probe = Probe()
    probe.setUp()
    try:
        return probe.run_layered("devices")[1].ready
    finally:
        probe.doCleanups()


class Layered(Case):
    FILES = {}  # name: array, of the calls of a case

    def setUp(self):
        super().setUp()
        for name, values in self.FILES.items():
            self.save(name, values)

    def call(self, op=OPERATIONS[0]):
        """A small call of an operation, by a kernel of OpenCL."""
        return (*self.example(op), "--kernel", EXAMPLES[op]["KERNEL"])

    def run_layered(self, *args, fault=None, cache=None, timeout=300, **variables):
        path = self.path("report")
        if os.path.exists(path):
            os.remove(path)
        env = {"OPENCL_LAYERS": LAYER, "TESSERA_FAULT_REPORT": path, "TESSERA_FAULT": fault,
               **variables}
        if cache:
            env["TESSERA_CACHE_DIR"] = self.path(cache)
        r = self.tessera(*args, env=env, timeout=timeout)
        return r, Report(path)

    def assert_balance_of(self, args, launch="clEnqueueNDRangeKernel"):
        """Of a call that runs, compiled and from the cache."""
        for state in ("cold", "warm"):
            with self.subTest(args=args, cache=state):
                r, report = self.run_layered(*args, cache="balance-" + args[0])
                self.assertEqual(r.status, 0, r)
                self.assert_balance(r, report)
                self.assertGreater(report.calls[launch], 0)

    def assert_balance(self, r, report):
        """What was taken is given back, but for releases that failed, and the caller's memory once
        nothing works on it."""
        self.assertTrue(report.ready, "the layer was not loaded\n%s" % r)
        self.assertEqual(set(report.balance), KINDS)
        kept = {KIND_OF_RELEASE[f]: n for f, n in report.failed.items()
                if n and f in KIND_OF_RELEASE}
        self.assertEqual({k: n for k, n in report.balance.items() if n}, kept, "objects that are kept\n%s" % r)
        self.assertEqual(report.early, 0, "memory was given back that commands still use\n%s" % r)


class Warm(Layered):
    """What an enqueued call asks of OpenCL once its session has seen it: of each buffer its size,
    context, flags and parent, each buffer as an argument, and its launches."""

    FEW, MANY = 4, 24

    def calls_of(self, *args):
        path = self.path("report")
        done = run([os.environ["WARM_CALLS"], *args], timeout=300,
                   variables={"OPENCL_LAYERS": LAYER, "TESSERA_FAULT_REPORT": path})
        self.assertEqual(done.returncode, 0, done.stderr.decode(errors="replace"))
        report = Report(path)
        self.assertTrue(report.ready, "the layer was not loaded")
        self.assertEqual({k: n for k, n in report.balance.items() if n}, {})
        return report.calls

    def assert_each(self, wanted, variant, *turns):
        few = self.calls_of(variant, str(self.FEW), *turns)
        many = self.calls_of(variant, str(self.MANY), *turns)
        each = {name: (n - few.get(name, 0)) / (self.MANY - self.FEW) for name, n in many.items()}
        self.assertEqual({name: n for name, n in each.items() if n}, wanted)


class Failing(Layered):
    """What every failing call has in common; the cases say which calls."""

    words = WORDS

    def assert_gone(self, args, r):
        """Nothing of the output is left, nor of its temporary file."""
        self.assertEqual([n for n in self.names() if n not in self.before], [], r)

    def take_outputs(self, args):
        """What the outputs of a call hold, which are removed."""
        files = [self.path(name) for option, name in zip(args, args[1:])
                 if option in ("-o", "--argsort")]
        contents = []
        for file in files:
            with open(file, "rb") as f:
                contents.append(f.read())
            os.remove(file)
        return contents

    def calls_of(self, args, cache):
        r, report = self.run_layered(*args, cache=cache)
        self.assertEqual(r.status, 0, r)
        self.assert_balance(r, report)
        self.right = self.take_outputs(args)
        self.before = set(self.names()) | {"report"}
        return report.calls

    def strike(self, args, function, n, cache):
        r, report = self.run_layered(*args, fault="%s:%d:%d" % (function, n, CODE), cache=cache)
        self.assertTrue(report.struck, "%s was not called %d times\n%s" % (function, n, r))
        self.assert_balance(r, report)
        self.assertGreaterEqual(r.status, 0, r)
        return r

    def assert_failed(self, args, function, n, r):
        self.assertEqual(r.status, 1, r)
        lines = [s for s in r.err.splitlines() if not s.startswith("hint: ")]
        self.assertEqual(len(lines), 1, r)
        self.assertTrue(lines[0].startswith("tessera: "), r)
        self.assertIn("CL_OUT_OF_RESOURCES (-5)", lines[0], r)
        self.assertIn(self.words.get(function, function), lines[0], r)
        self.assert_gone(args, r)

    def assert_right_or_failed(self, args, function, n, r):
        if r.status == 0:
            self.assertEqual(self.take_outputs(args), self.right, r)
        else:
            self.assertIn(r.status, (1, 2, 4), r)
            self.assertTrue(r.err.startswith("tessera: "), r)
            self.assert_gone(args, r)

    def each(self, args, functions, check, cache, fresh=False,
             which=lambda n: set(range(1, min(n, TIMES) + 1))):
        """Let calls of the functions fail, the first TIMES of each or as given; they have to be
        called."""
        calls = self.calls_of(args, cache)
        done = 0
        for function in functions:
            for n in sorted(i for i in which(calls.get(function, 0)) if calls.get(function)):
                with self.subTest(function=function, call=n):
                    folder = "%s-%s-%d" % (cache, function, n) if fresh else cache
                    self.before.add(folder)
                    check(args, function, n, self.strike(args, function, n, folder))
                    done += 1
        self.assertGreater(done, 0)
        return calls

    def vital(self, call, times=TIMES):
        """Each of the calls without which there is no result fails, so many times each, of a run whose
        programs are in the cache."""
        for option, used, unused in (([], SHARES, COPIES), (["--copy"], COPIES, SHARES)):
            args = [*call, *option]
            functions = (VITAL if option else []) + used
            self.calls_of(args, "cache")
            calls = self.each(args, functions, self.assert_failed, "cache",
                              which=lambda n: set(range(1, min(n, times) + 1)))
            self.assertEqual([f for f in functions if not calls.get(f)], [])
            self.assertEqual([f for f in unused if calls.get(f)], [])

    def stream(self, args, memory, chunks, *more, anywhere=False):
        """A pipeline that breaks ends: its error, no hang, no leak, no output file.  In the middle of each
        function's calls; or anywhere, at the first and the last one too, as one form of each operation."""
        args = [*args, "--copy", "--device-memory", memory]
        r = self.succeed(*args, "--json")
        self.assertGreater(json.loads(r.out)["bytes"]["chunks"], chunks)
        self.calls_of(args, "cache")
        functions = PIPELINE + COPIES + ["clEnqueueMapBuffer", "clWaitForEvents", *more]
        self.words = {**WORDS, "clEnqueueMapBuffer": "pinned memory",
                      "clEnqueueWriteBufferRect": "to the device",
                      "clWaitForEvents": "waiting for a copy"}
        calls = self.each(args, functions, self.assert_failed, "cache",
                          which=lambda n: {1, (n + 1) // 2, n} if anywhere or LONG else {(n + 1) // 2})
        self.assertEqual([f for f in functions if not calls.get(f)], [])
        if calls.get("clRetainEvent"):
            self.each(args, ["clRetainEvent"], self.assert_right_or_failed, "cache")


class FailingOnce(Failing):
    """Each function that a run calls fails once, at its first, middle and last call, and from there
    on: retains and releases too.  The result is right, or there is a message and no result; nothing
    leaks, is released twice or hangs.  TESSERA_LONG=1: more operations, and up to 40 calls of each
    function."""

    def fail_each(self, *args, beside=None):
        """Those of this call; or, where the calls of `beside` fail in a test of their own, of functions
        that it uses in another number: the others are called at the same places, to open and close a
        session."""
        known = {}
        if beside:
            self.calls_of(beside, "cache")
            known = self.calls_of(beside, "cache")
        self.calls_of(args, "cache")
        calls = self.calls_of(args, "cache")
        calls = {f: n for f, n in calls.items() if LONG or known.get(f) != n}
        done = 0
        for function, count in sorted(calls.items()):
            some = {1, (count + 1) // 2, count}
            for n in sorted(some | set(range(1, min(count, 40) + 1)) if LONG else some):
                for last in ("", "+"):
                    done += self.fail_one(args, function, "%d%s" % (n, last))
        self.assertGreater(done, 2 * len(calls))
        print("%d runs with failing calls of %s" % (done, " ".join(args)), file=sys.stderr)

    def fail_one(self, args, function, n):
        with self.subTest(function=function, call=n):
            r, report = self.run_layered(*args, fault="%s:%s:%d" % (function, n, CODE),
                                         cache="cache", timeout=60)
            self.assertTrue(report.struck, "it was not called as often, or left no report\n%s" % r)
            self.assert_balance(r, report)
            self.assert_right_or_failed(args, function, n, r)
        return 1


def setUpModule():
    if not has_opencl():
        raise unittest.SkipTest("no OpenCL device")
    if not has_layers():
        raise unittest.SkipTest("this OpenCL loader takes no layers: ocl-icd 2.3 or newer does")
