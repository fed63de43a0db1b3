"""OpenCL calls that fail at their 1st, 2nd, ... use, and objects that are all given back: in calls of
every operation.  What one of them does besides is in tests/OP/faults.py."""

import json
import os
import unittest
import unittest.mock

from cli_support import EXAMPLES, OPERATIONS, SOME, SOURCE
from faults_support import CODE, HARMLESS, LONG, Failing, FailingOnce, Layered, setUpModule

# Those that have no calls of their own.
PLAIN = [op for op in OPERATIONS
         if not os.path.exists(os.path.join(SOURCE, "tests", op, "faults.py"))]


class Balance(Layered):
    """Every object that a run takes is given back."""

    def test_operations(self):
        for op in OPERATIONS:
            self.assert_balance_of(self.call(op))

    def test_repeats(self):
        for op in OPERATIONS:
            r, report = self.run_layered(*self.call(op), "--repeat", "3", "--verify")
            self.assertEqual(r.status, 0, r)
            self.assert_balance(r, report)

    def test_devices_and_kernels(self):
        for args in (("devices",), ("kernels",),
                     *(("kernels", op, EXAMPLES[op]["KERNEL"], "--source") for op in OPERATIONS)):
            r, report = self.run_layered(*args)
            self.assertEqual(r.status, 0, r)
            self.assert_balance(r, report)

    def test_verify(self):
        for op in SOME:
            with self.subTest(op):
                listing = json.loads(self.succeed("kernels", op, "--json", "--device", "host").out)
                r, report = self.run_layered("verify", op, "--tiny", "--small", "--defaults", "--device",
                                             "cpu", "--kernel", EXAMPLES[op]["KERNEL"], "--type",
                                             listing["operations"][0]["types"][0])
                self.assertEqual(r.status, 0, r)
                self.assert_balance(r, report)

    def test_refusals(self):
        op = OPERATIONS[0]
        for args in (("--kernel", EXAMPLES[op]["KERNEL"], "--set", "NONE=31"), ("--kernel", "nosuch"),
                     ("--precision", "f61"), ("--device", "nothing")):
            r, report = self.run_layered(*self.example(op), *args)
            self.assertIn(r.status, (1, 2), r)
            # What is wrong by its name is refused before OpenCL is asked for anything.
            if report.ready:
                self.assert_balance(r, report)
            else:
                self.assertEqual(r.status, 2, r)

    def test_the_layer_sees_a_leak(self):
        """The control: a release that does not reach the driver is a reference that is kept."""
        r, report = self.run_layered(*self.call(), fault="clReleaseMemObject:2:-5")
        self.assertTrue(report.struck, r)
        self.assertEqual(report.balance["mem"], 1, r)
        self.assert_balance(r, report)  # and knows what caused it


class Failures(Failing):
    """Calls of a run whose programs are in the cache."""

    def test_operations(self):
        """The first call of each function: later ones come from lines that other operations have too."""
        for op in PLAIN:
            with self.subTest(op):
                self.vital(self.call(op), times=1)

    def test_queries(self):
        args = self.call()
        self.calls_of(args, "cache")
        self.each(args, HARMLESS, self.assert_right_or_failed, "cache")

    def test_every_device_query(self):
        """The list of devices is read by many: none of them may bring the run down."""
        args = self.call()
        self.calls_of(args, "cache")
        calls = self.calls_of(args, "cache")
        for n in range(1, min(calls["clGetDeviceInfo"], 60) + 1):
            with self.subTest(call=n):
                self.assert_right_or_failed(args, "clGetDeviceInfo", n,
                                            self.strike(args, "clGetDeviceInfo", n, "cache"))

    def test_stale_binary(self):
        """A binary that the driver refuses is built anew, silently.  PoCL is asked for binaries
        where it keeps no builds itself."""
        args = self.call()
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
        args = self.call()
        self.calls_of(args, "cache")
        for function in ("clGetPlatformIDs", "clGetDeviceIDs"):
            for n in (1, 2):
                with self.subTest(function=function, call=n):
                    r = self.strike(args, function, n, "cache")
                    self.assertEqual(r.status, 4, r)
                    self.assertIn("CL_OUT_OF_RESOURCES (-5)", r.err)
                    self.assertIn("no OpenCL device", r.err)
                    self.assert_gone(args, r)


class EveryFunction(FailingOnce):
    def test_one_call(self):
        self.fail_each(*self.call())

    @unittest.skipUnless(LONG, "TESSERA_LONG=1 asks for it")
    def test_all_operations(self):
        for op in OPERATIONS:
            for more in ([], ["--copy"], ["--copy", "--device-memory", "6K"],
                         ["--copy", "--device-memory", "1M", "--pinned", "on"]):
                with self.subTest(op, more=more):
                    self.fail_each(*self.call(op), *more)

    @unittest.skipUnless(LONG, "TESSERA_LONG=1 asks for it")
    def test_every_call_in_turn(self):
        """The N-th call of all, for each N, and all calls from the N-th on."""
        args = [*self.call(), "--copy"]
        self.calls_of(args, "cache")
        calls = self.calls_of(args, "cache")
        for n in range(1, sum(c for f, c in calls.items() if "." not in f) + 1):
            for last in ("", "+"):
                self.fail_one(args, "*", "%d%s" % (n, last))


class ColdFailures(Failing):
    """Calls of a run that has to compile."""

    def test_operations(self):
        for op in OPERATIONS:
            with self.subTest(op):
                self.each(self.call(op), ["clCreateProgramWithSource", "clBuildProgram"], self.check,
                          "cold-" + op, fresh=True)

    def check(self, args, function, n, r):
        self.assertEqual(r.status, 1, r)
        self.assertTrue(r.err.startswith("tessera: "), r)
        self.assertIn("CL_OUT_OF_RESOURCES (-5)", r.err)
        self.assertIn("building " if function == "clBuildProgram" else function, r.err)
        self.assert_gone(args, r)

    def test_log(self):
        """A compiler that fails and has no log to give is still reported."""
        args = self.call()
        self.each(args, ["clGetProgramBuildInfo"], self.assert_right_or_failed, "cold", fresh=True)


class Waits(Failing):
    """What fails while it runs is found at the wait, and named."""

    def test_finish(self):
        for op in OPERATIONS:
            with self.subTest(op):
                args = self.call(op)
                self.calls_of(args, "cache")
                self.calls_of(args, "cache")
                r = self.strike(args, "clFinish", 1, "cache")
                self.assert_failed(args, "clFinish", 1, r)
                self.assertRegex(r.err, args[0] + r"/[a-z-]+ failed while it ran on ")

    def test_last_finish(self):
        """The wait at the end of a session has nothing left to lose."""
        args = self.call()
        self.calls_of(args, "cache")
        calls = self.calls_of(args, "cache")
        self.assertGreater(calls["clFinish"], 1)
        r = self.strike(args, "clFinish", calls["clFinish"], "cache")
        self.assertEqual(r.status, 0, r)
        self.assert_right_or_failed(args, "clFinish", calls["clFinish"], r)

    def test_status_of_the_vendor(self):
        """NVIDIA's driver reports an illegal access by a status of its own."""
        args = self.call()
        self.calls_of(args, "cache")
        r, report = self.run_layered(*args, fault="clGetEventInfo.status:1:-9999", cache="cache")
        self.assertEqual(r.status, 1, r)
        self.assertIn("(-9999)", r.err)
        self.assertIn("NVIDIA", r.err)
        self.assert_balance(r, report)
        self.assert_gone(args, r)

    def test_existing_output_is_kept(self):
        args = self.call()
        self.calls_of(args, "cache")
        output = args[args.index("-o") + 1]
        self.write(output, "as it was")
        r, _ = self.run_layered(*args, fault="clFinish:1:-5", cache="cache")
        self.assertEqual(r.status, 1, r)
        with open(self.path(output), encoding="ascii") as f:
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
            for n in {1, calls // 2, calls - 1}:
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


if __name__ == "__main__":
    unittest.main()
