"""OpenCL calls that fail at their 1st, 2nd, ... use, and objects that are all given back.

FAULT_LAYER names the layer built from fault_layer.c.  Every run here asserts that the layer was
loaded: the loader ignores one that it cannot.
"""

import json
import os
import subprocess
import sys
import unittest
import unittest.mock

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from cli_support import Case, environment, has_opencl

LAYER = os.environ["FAULT_LAYER"]
KINDS = {"context", "queue", "mem", "program", "kernel", "event", "svm"}
KIND_OF_RELEASE = {"clReleaseContext": "context", "clReleaseCommandQueue": "queue",
                   "clReleaseMemObject": "mem", "clReleaseProgram": "program",
                   "clReleaseKernel": "kernel", "clReleaseEvent": "event"}
CODE = -5  # CL_OUT_OF_RESOURCES: any call may give it

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
    def setUp(self):
        super().setUp()
        rng = np.random.default_rng(5)
        # The product of a shape that one variant always takes, and keys of several launches.
        self.save("a.npy", rng.uniform(-1, 1, (40, 30)).astype(np.float32))
        self.save("b.npy", rng.uniform(-1, 1, (30, 50)).astype(np.float32))
        self.save("x.npy", rng.uniform(-1, 1, 30).astype(np.float32))
        self.save("keys.npy", rng.integers(0, 1000, 5000).astype(np.int32))

    def run_layered(self, *args, fault=None, cache=None, timeout=300):
        path = self.path("report")
        if os.path.exists(path):
            os.remove(path)
        env = {"OPENCL_LAYERS": LAYER, "TESSERA_FAULT_REPORT": path, "TESSERA_FAULT": fault}
        if cache:
            env["TESSERA_CACHE_DIR"] = self.path(cache)
        r = self.tessera(*args, env=env, timeout=timeout)
        return r, Report(path)

    def assert_balance(self, r, report):
        """What was taken is given back, but for releases that failed, and the caller's memory once
        nothing works on it."""
        self.assertTrue(report.ready, "the layer was not loaded\n%s" % r)
        self.assertEqual(set(report.balance), KINDS)
        kept = {KIND_OF_RELEASE[f]: n for f, n in report.failed.items()
                if n and f in KIND_OF_RELEASE}
        self.assertEqual({k: n for k, n in report.balance.items() if n}, kept, r)
        self.assertEqual(report.early, 0, r)


SORT = ("sort", "keys.npy", "-o", "out.npy", "--argsort", "index.npy")

OPERATIONS = {
    "matmul": ("matmul", "a.npy", "b.npy", "-o", "out.npy", "--kernel", "cpu-block"),
    "matmul C": ("matmul", "a.npy", "b.npy", "-o", "out.npy", "--kernel", "simd", "--copy"),
    "matmul naive": ("matmul", "a.npy", "b.npy", "-o", "out.npy", "--kernel", "naive"),
    "matvec": ("matvec", "a.npy", "x.npy", "-o", "out.npy", "--kernel", "rows-vector"),
    "matvec split-row": ("matvec", "a.npy", "x.npy", "-o", "out.npy", "--kernel", "split-row"),
    "sort": (*SORT, "--kernel", "radix"),
    "sort general": ("sort", "keys.npy", "-o", "out.npy", "--kernel", "general"),
}


class Balance(Layered):
    """Every object that a run takes is given back."""

    def test_operations(self):
        for name, args in OPERATIONS.items():
            for state in ("cold", "warm"):
                with self.subTest(name, cache=state):
                    r, report = self.run_layered(*args, cache="balance-" + args[0])
                    self.assertEqual(r.status, 0, r)
                    self.assert_balance(r, report)
                    launch = "clEnqueueNativeKernel" if "--copy" in args else "clEnqueueNDRangeKernel"
                    self.assertGreater(report.calls[launch], 0)

    def test_repeats(self):
        r, report = self.run_layered(*OPERATIONS["sort"], "--repeat", "5", "--verify")
        self.assertEqual(r.status, 0, r)
        self.assert_balance(r, report)

    def test_devices_and_kernels(self):
        for args in (("devices",), ("kernels",), ("kernels", "sort", "naive", "--source")):
            r, report = self.run_layered(*args)
            self.assertEqual(r.status, 0, r)
            self.assert_balance(r, report)

    def test_verify(self):
        for op, variant, element in (("matmul", "tiled", "f32"), ("matvec", "split-row", "f32"),
                                     ("sort", "naive", "u32")):
            with self.subTest(op):
                r, report = self.run_layered("verify", op, "--tiny", "--device", "cpu",
                                             "--kernel", variant, "--type", element)
                self.assertEqual(r.status, 0, r)
                self.assert_balance(r, report)

    def test_refusals(self):
        for args in (("--kernel", "tiled", "--set", "TILE=31"), ("--kernel", "tield"),
                     ("--precision", "f61"), ("--kernel", "mma"), ("--device", "nothing")):
            r, report = self.run_layered(*OPERATIONS["matmul"], *args)
            self.assertIn(r.status, (1, 2), r)
            # What is wrong by its name is refused before OpenCL is asked for anything.
            if report.ready:
                self.assert_balance(r, report)
            else:
                self.assertEqual(r.status, 2, r)

    def test_the_layer_sees_a_leak(self):
        """The control: a release that does not reach the driver is a reference that is kept."""
        r, report = self.run_layered(*OPERATIONS["matmul"], fault="clReleaseMemObject:2:-5")
        self.assertTrue(report.struck, r)
        self.assertEqual(report.balance["mem"], 1, r)
        self.assert_balance(r, report)  # and knows what caused it


class WarmCalls(Layered):
    """What an enqueued call asks of OpenCL once its session has seen it: of each buffer its size,
    context, flags and parent, each buffer as an argument, and its launches."""

    FEW, MANY = 4, 24

    def calls_of(self, *args):
        path = self.path("report")
        done = subprocess.run([os.environ["WARM_CALLS"], *args], timeout=300, check=False,
                              stderr=subprocess.PIPE, text=True,
                              env=environment(OPENCL_LAYERS=LAYER, TESSERA_FAULT_REPORT=path))
        self.assertEqual(done.returncode, 0, done.stderr)
        report = Report(path)
        self.assertTrue(report.ready, "the layer was not loaded")
        self.assertEqual({k: n for k, n in report.balance.items() if n}, {})
        return report.calls

    def assert_each(self, wanted, op, variant, *turns):
        few = self.calls_of(op, variant, str(self.FEW), *turns)
        many = self.calls_of(op, variant, str(self.MANY), *turns)
        each = {name: (n - few.get(name, 0)) / (self.MANY - self.FEW) for name, n in many.items()}
        self.assertEqual({name: n for name, n in each.items() if n}, wanted)

    def test_one_launch(self):
        for op, variant, buffers in (("matvec", "row-item", 3), ("matmul", "tiled", 3)):
            with self.subTest(op):
                self.assert_each({"clGetMemObjectInfo": 4 * buffers, "clSetKernelArg": buffers,
                                  "clEnqueueNDRangeKernel": 1}, op, variant)

    def test_c_code(self):
        """Each buffer mapped and unmapped, and nothing set."""
        self.assert_each({"clGetMemObjectInfo": 6 * 3, "clEnqueueMapBuffer": 3,
                          "clEnqueueNativeKernel": 1, "clEnqueueUnmapMemObject": 3},
                         "matmul", "simd")

    def test_a_scalar_that_changes(self):
        self.assert_each({"clGetMemObjectInfo": 12, "clSetKernelArg": 4,
                          "clEnqueueNDRangeKernel": 1}, "matvec", "row-item", "turns")

    def test_a_workspace_and_counters_stay(self):
        """Sums of parts, which the last group adds up: A, x and y change, what the session keeps
        does not."""
        self.assert_each({"clGetMemObjectInfo": 12, "clSetKernelArg": 3,
                          "clEnqueueNDRangeKernel": 1}, "matvec", "split-row")

    def test_launches_that_share_a_kernel(self):
        """A network of 12 stages, a launch a step: the keys once, and then what differs.  The stride
        does from launch to launch, but for the first one after the last of the call before; whether a
        stage begins does twice a stage of three steps and more, and once in each of the first two."""
        self.assert_each({"clGetMemObjectInfo": 4, "clSetKernelArg": 1 + 77 + 22,
                          "clEnqueueNDRangeKernel": 78, "clFlush": 2}, "sort", "naive")


class Failing(Layered):
    """What every failing call has in common; the cases say which calls."""

    words = WORDS

    def assert_gone(self, args, r):
        """Nothing of the output is left, nor of its temporary file."""
        self.assertEqual([n for n in self.names() if n not in self.before], [], r)

    def calls_of(self, args, cache):
        r, report = self.run_layered(*args, cache=cache)
        self.assertEqual(r.status, 0, r)
        self.assert_balance(r, report)
        with open(self.path("out.npy"), "rb") as f:
            self.right = f.read()
        for name in ("out.npy", "index.npy"):
            if os.path.exists(self.path(name)):
                os.remove(self.path(name))
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
            with open(self.path("out.npy"), "rb") as f:
                self.assertEqual(f.read(), self.right, r)
            for name in ("out.npy", "index.npy"):
                if os.path.exists(self.path(name)):
                    os.remove(self.path(name))
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


class Failures(Failing):
    """Calls of a run whose programs are in the cache."""

    def vital(self, name):
        for option, used, unused in (([], SHARES, COPIES), (["--copy"], COPIES, SHARES)):
            args = [*OPERATIONS[name], *option]
            functions = (VITAL if option else []) + used
            self.calls_of(args, "cache")
            calls = self.each(args, functions, self.assert_failed, "cache")
            self.assertEqual([f for f in functions if not calls.get(f)], [])
            self.assertEqual([f for f in unused if calls.get(f)], [])

    def test_matmul(self):
        self.vital("matmul")

    def test_sort(self):
        self.vital("sort")

    def test_matvec(self):
        self.vital("matvec split-row")

    def test_c_code(self):
        """C code on buffers, which the host maps for it."""
        args = OPERATIONS["matmul C"]
        functions = ["clCreateBuffer", "clGetMemObjectInfo", "clEnqueueMapBuffer",
                     "clEnqueueNativeKernel", "clEnqueueUnmapMemObject", *COPIES]
        self.words = {**WORDS, "clEnqueueMapBuffer": "clEnqueueMapBuffer",
                      "clEnqueueUnmapMemObject": "clEnqueueUnmapMemObject"}
        calls = self.each(args, functions, self.assert_failed, "cache")
        self.assertEqual([f for f in functions if not calls.get(f)], [])
        self.assertNotIn("clEnqueueNDRangeKernel", [f for f, n in calls.items() if n])

    def test_two_queues(self):
        """A sort that forks into a second queue, and joins it, or fails to."""
        self.save("many.npy", np.arange(2**21, dtype=np.uint32)[::-1].copy())
        args = ("sort", "many.npy", "-o", "out.npy", "--kernel", "fused-passes", "--set",
                "CHUNK=20", "--set", "QUEUES=2")
        self.calls_of(args, "cache")
        for function, n in (("clCreateCommandQueue", 2), ("clEnqueueMarkerWithWaitList", 1),
                            ("clEnqueueMarkerWithWaitList", 2),
                            ("clEnqueueBarrierWithWaitList", 1),
                            ("clEnqueueBarrierWithWaitList", 2), ("clEnqueueNDRangeKernel", 4)):
            with self.subTest(function=function, call=n):
                self.assert_failed(args, function, n, self.strike(args, function, n, "cache"))

    def test_streamed(self):
        """A pipeline that breaks anywhere ends: its error, no hang, no leak, no output file."""
        self.stream(OPERATIONS["matvec"], "1K", 10)

    def test_streamed_tiles(self):
        self.save("c0.npy", np.ones((40, 50), np.float32))
        self.stream((*OPERATIONS["matmul"], "--add", "c0.npy", "--beta", "2"), "6K", 5)

    def test_streamed_slabs(self):
        self.stream(OPERATIONS["matmul"], "1M", 10)

    def test_streamed_slabs_with_gaps(self):
        """Rows of 4 KiB of a slab are copied straight from pinned memory."""
        self.save("a.npy", np.ones((3, 17000), np.float32))
        self.save("b.npy", np.ones((17000, 2), np.float32))
        self.stream((*OPERATIONS["matmul"], "--pinned", "on"), "1M", 5,
                    "clEnqueueWriteBufferRect")

    def test_streamed_batch(self):
        self.save("a.npy", np.ones((30, 5, 6), np.float32))
        self.save("b.npy", np.ones((30, 6, 7), np.float32))
        self.stream(OPERATIONS["matmul"], "4K", 5)

    def test_streamed_batch_by_product(self):
        self.save("a.npy", np.ones((3, 20, 6), np.float32))
        self.save("b.npy", np.ones((3, 6, 7), np.float32))
        self.stream(OPERATIONS["matmul"], "500", 5)

    def test_streamed_vectors(self):
        """Groups of whole products, and panels of each."""
        self.save("a.npy", np.ones((7, 20, 30), np.float32))
        self.save("x.npy", np.ones((7, 30), np.float32))
        for memory, chunks in (("8K", 6), ("1K", 20)):
            self.stream(OPERATIONS["matvec"], memory, chunks)

    def test_streamed_sort(self):
        """Chunks in two queues, that are merged as they arrive."""
        for pinned in ("off", "on"):
            self.stream((*SORT, "--kernel", "fused-passes", "--pinned", pinned), "1M",
                        8, "clEnqueueMarkerWithWaitList", "clEnqueueBarrierWithWaitList")

    def test_streamed_rows(self):
        self.save("keys.npy", np.arange(5000, dtype=np.int32)[::-1].reshape(100, 50))
        self.stream((*SORT, "--rows", "--pinned", "on"), "12K", 10)

    def test_streamed_exchange(self):
        self.stream(("sort", "keys.npy", "-o", "out.npy"), "12K", 10)

    def stream(self, args, memory, chunks, *more):
        args = [*args, "--copy", "--device-memory", memory]
        r = self.succeed(*args, "--json")
        self.assertGreater(json.loads(r.out)["bytes"]["chunks"], chunks)
        self.calls_of(args, "cache")
        functions = PIPELINE + COPIES + ["clEnqueueMapBuffer", "clWaitForEvents", *more]
        self.words = {**WORDS, "clEnqueueMapBuffer": "pinned memory",
                      "clEnqueueWriteBufferRect": "to the device",
                      "clWaitForEvents": "waiting for a copy"}
        calls = self.each(args, functions, self.assert_failed, "cache",
                          which=lambda n: {1, (n + 1) // 2, n})
        self.assertEqual([f for f in functions if not calls.get(f)], [])
        if calls.get("clRetainEvent"):
            self.each(args, ["clRetainEvent"], self.assert_right_or_failed, "cache")

    def test_queries(self):
        self.calls_of(OPERATIONS["matmul"], "cache")
        self.each(OPERATIONS["matmul"], HARMLESS, self.assert_right_or_failed, "cache")

    def test_every_device_query(self):
        """The list of devices is read by many: none of them may bring the run down."""
        args = OPERATIONS["matmul"]
        self.calls_of(args, "cache")
        calls = self.calls_of(args, "cache")
        for n in range(1, min(calls["clGetDeviceInfo"], 60) + 1):
            with self.subTest(call=n):
                self.assert_right_or_failed(args, "clGetDeviceInfo", n,
                                            self.strike(args, "clGetDeviceInfo", n, "cache"))

    def test_stale_binary(self):
        """A binary that the driver refuses is built anew, silently.  PoCL is asked for binaries
        where it keeps no builds itself."""
        args = OPERATIONS["matmul"]
        variable = unittest.mock.patch.dict(os.environ, {"POCL_KERNEL_CACHE": "0"})
        variable.start()
        self.addCleanup(variable.stop)
        self.calls_of(args, "cache")
        calls = self.calls_of(args, "cache")
        for function in ("clCreateProgramWithBinary", "clBuildProgram"):
            self.assertGreater(calls[function], 0)
            r = self.strike(args, function, 1, "cache")
            self.assertEqual((r.status, r.out), (0, ""), r)
            self.assert_right_or_failed(args, function, 1, r)

    def test_no_platform(self):
        args = OPERATIONS["matmul"]
        self.calls_of(args, "cache")
        for function in ("clGetPlatformIDs", "clGetDeviceIDs"):
            for n in (1, 2):
                with self.subTest(function=function, call=n):
                    r = self.strike(args, function, n, "cache")
                    self.assertEqual(r.status, 4, r)
                    self.assertIn("CL_OUT_OF_RESOURCES (-5)", r.err)
                    self.assertIn("no OpenCL device", r.err)
                    self.assert_gone(args, r)


class EveryFunction(Failing):
    """Each function that a run calls fails once, at its first, middle and last call, and from there
    on: retains and releases too.  The result is right, or there is a message and no result; nothing
    leaks, is released twice or hangs.  TESSERA_LONG=1: more operations, and up to 40 calls of each
    function."""

    LONG = os.environ.get("TESSERA_LONG") == "1"

    def fail_each(self, *args):
        self.calls_of(args, "cache")
        calls = self.calls_of(args, "cache")
        done = 0
        for function, count in sorted(calls.items()):
            some = {1, (count + 1) // 2, count}
            for n in sorted(some | set(range(1, min(count, 40) + 1)) if self.LONG else some):
                for last in ("", "+"):
                    done += self.fail_one(args, function, "%d%s" % (n, last))
        self.assertGreater(done, 2 * len(calls))
        print("%d runs with failing calls of %s" % (done, " ".join(args)), file=sys.stderr)

    def fail_one(self, args, function, n):
        with self.subTest(function=function, call=n):
            r, report = self.run_layered(*args, fault="%s:%s:%d" % (function, n, CODE),
                                         cache="cache", timeout=60)
            self.assertTrue(report.struck, r)
            self.assert_balance(r, report)
            self.assert_right_or_failed(args, function, n, r)
        return 1

    def test_shared(self):
        self.fail_each(*OPERATIONS["matmul naive"])

    def test_copies(self):
        self.fail_each(*OPERATIONS["matmul"], "--copy")

    def test_c_code(self):
        self.fail_each(*OPERATIONS["matmul C"])

    def test_streamed(self):
        self.fail_each(*OPERATIONS["matvec split-row"], "--copy", "--device-memory", "1K")

    @unittest.skipUnless(LONG, "TESSERA_LONG=1 asks for it")
    def test_all_operations(self):
        self.save("c0.npy", np.ones((40, 50), np.float32))
        for args in (a for a in OPERATIONS.values() if "--copy" not in a):
            for more in ([], ["--copy"], ["--copy", "--device-memory", "6K"],
                         ["--copy", "--device-memory", "1M", "--pinned", "on"]):
                with self.subTest(args=args, more=more):
                    self.fail_each(*args, *more)

    @unittest.skipUnless(LONG, "TESSERA_LONG=1 asks for it")
    def test_every_call_in_turn(self):
        """The N-th call of all, for each N, and all calls from the N-th on."""
        args = [*OPERATIONS["matmul"], "--copy"]
        self.calls_of(args, "cache")
        calls = self.calls_of(args, "cache")
        for n in range(1, sum(c for f, c in calls.items() if "." not in f) + 1):
            for last in ("", "+"):
                self.fail_one(args, "*", "%d%s" % (n, last))


class ColdFailures(Failing):
    """Calls of a run that has to compile."""

    FUNCTIONS = ["clCreateProgramWithSource", "clBuildProgram"]

    def test_matmul(self):
        self.each(OPERATIONS["matmul naive"], self.FUNCTIONS, self.check, "cold", fresh=True)

    def test_sort(self):
        self.each(OPERATIONS["sort general"], self.FUNCTIONS, self.check, "cold", fresh=True)

    def check(self, args, function, n, r):
        self.assertEqual(r.status, 1, r)
        self.assertTrue(r.err.startswith("tessera: "), r)
        self.assertIn("CL_OUT_OF_RESOURCES (-5)", r.err)
        self.assertIn("building " if function == "clBuildProgram" else function, r.err)
        self.assert_gone(args, r)

    def test_log(self):
        """A compiler that fails and has no log to give is still reported."""
        args = OPERATIONS["matmul naive"]
        self.each(args, ["clGetProgramBuildInfo"], self.assert_right_or_failed, "cold", fresh=True)


class Waits(Failing):
    """What fails while it runs is found at the wait, and named."""

    def test_finish(self):
        for name in ("matmul", "sort", "matvec"):
            with self.subTest(name):
                args = OPERATIONS[name]
                self.calls_of(args, "cache")
                self.calls_of(args, "cache")
                r = self.strike(args, "clFinish", 1, "cache")
                self.assert_failed(args, "clFinish", 1, r)
                self.assertRegex(r.err, args[0] + r"/[a-z-]+ failed while it ran on ")

    def test_last_finish(self):
        """The wait at the end of a session has nothing left to lose."""
        args = OPERATIONS["matmul"]
        self.calls_of(args, "cache")
        calls = self.calls_of(args, "cache")
        self.assertGreater(calls["clFinish"], 1)
        r = self.strike(args, "clFinish", calls["clFinish"], "cache")
        self.assertEqual(r.status, 0, r)
        self.assert_right_or_failed(args, "clFinish", calls["clFinish"], r)

    def test_status_of_the_vendor(self):
        """NVIDIA's driver reports an illegal access by a status of its own."""
        args = OPERATIONS["sort"]
        self.calls_of(args, "cache")
        r, report = self.run_layered(*args, fault="clGetEventInfo.status:1:-9999", cache="cache")
        self.assertEqual(r.status, 1, r)
        self.assertIn("(-9999)", r.err)
        self.assertIn("NVIDIA", r.err)
        self.assert_balance(r, report)
        self.assert_gone(args, r)

    def test_existing_output_is_kept(self):
        args = OPERATIONS["matmul"]
        self.calls_of(args, "cache")
        self.write("out.npy", "as it was")
        r, _ = self.run_layered(*args, fault="clFinish:1:-5", cache="cache")
        self.assertEqual(r.status, 1, r)
        with open(self.path("out.npy"), encoding="ascii") as f:
            self.assertEqual(f.read(), "as it was")


class Overlap(Layered):
    """bench overlap with calls that fail: the row says so, the others are measured, nothing leaks."""

    ARGS = ("bench", "overlap", "--device", "cpu", "--size", "1000", "--rounds", "2", "--queues",
            "1,2", "--chunks", "4", "--repeat", "1", "--json")
    BUFFERS = ["clCreateCommandQueue", "clCreateBuffer", "clEnqueueWriteBuffer",
               "clEnqueueReadBuffer", "clEnqueueNDRangeKernel", "clSetKernelArg", "clFinish",
               "clFlush", "clGetEventProfilingInfo"]
    SHARED = ["clSVMAlloc", "clEnqueueSVMMap", "clEnqueueSVMUnmap", "clSetKernelArgSVMPointer"]

    def rows(self, r):
        return [json.loads(line) for line in r.out.splitlines()]

    def each(self, args, functions):
        args = [*self.ARGS, *args]
        r, report = self.run_layered(*args, cache="cache")
        self.assertEqual((r.status, r.err), (0, ""), r)
        self.assert_balance(r, report)
        count = len(self.rows(r))
        failed = 0
        for function in functions:
            calls = report.calls[function]
            for n in {1, 2, calls // 3, calls // 2, calls - 1}:
                with self.subTest(function=function, call=n):
                    r, struck = self.run_layered(*args, cache="cache",
                                                 fault="%s:%d:%d" % (function, n, CODE))
                    self.assert_balance(r, struck)
                    if not struck.struck or (r.status == 0 and not r.err):
                        continue
                    self.assertEqual(r.status, 1, r)
                    self.assertIn("tessera: ", r.err)
                    if function != "clSVMAlloc":
                        self.assertIn("CL_OUT_OF_RESOURCES (-5)", r.err)
                    wrong = [row for row in self.rows(r) if row["outcome"] != "timed"]
                    if wrong:
                        self.assertEqual([row["outcome"] for row in wrong], ["failed"])
                        self.assertEqual(len(self.rows(r)), count)
                        self.assertEqual(wrong[0]["timeline"], [])
                        failed += 1
        self.assertGreater(failed, len(functions))

    def test_buffers(self):
        self.each(["--pinned", "on"], self.BUFFERS)

    def test_shared(self):
        r, report = self.run_layered(*self.ARGS, cache="cache")
        self.assertEqual(r.status, 0, r)
        if not report.calls.get("clSVMAlloc"):
            self.skipTest("the device has no shared virtual memory")
        self.each([], self.SHARED)


def setUpModule():
    if not has_opencl():
        raise unittest.SkipTest("no OpenCL device")
    if not has_layers():
        raise unittest.SkipTest("this OpenCL loader takes no layers: ocl-icd 2.3 or newer does")


if __name__ == "__main__":
    unittest.main()
