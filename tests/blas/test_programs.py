"""Programs that use BLAS without a word of Tessera: NumPy under libtessera-blas, and calls by ctypes."""

import glob
import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

LIBRARY = os.environ["TESSERA_BLAS_LIBRARY"]
FAILING_TESSERA = os.environ["FAILING_TESSERA"]
FAULT_LAYER = os.environ["FAULT_LAYER"]
VARIABLES = ("TESSERA_DEVICE", "TESSERA_BLAS", "TESSERA_BLAS_LOG", "TESSERA_BLAS_CPU",
             "TESSERA_BLAS_BLOCK", "TESSERA_BLAS_PRECISION")


def run(program, preload=True, **variables):
    """Run a Python program under the library: what it prints, and the lines of its log."""
    with tempfile.TemporaryDirectory() as folder:
        env = {k: v for k, v in os.environ.items() if k not in VARIABLES}
        env.update(variables, TESSERA_BLAS_LOG=os.path.join(folder, "log"))
        if preload:
            env["LD_PRELOAD"] = LIBRARY
        done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], env=env, timeout=300,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        log = []
        if os.path.exists(env["TESSERA_BLAS_LOG"]):
            with open(env["TESSERA_BLAS_LOG"], encoding="utf-8") as f:
                log = [line.split(" ", 1)[1].strip() for line in f]
    if done.returncode:
        raise AssertionError("status %d\n%s" % (done.returncode, done.stderr))
    return done.stdout, done.stderr, log


# Products of each type, in orders that NumPy hands to BLAS as they are, against sums in long double.
PRODUCTS = """
    import numpy as np
    random = np.random.default_rng(7)
    for t in (np.float32, np.float64, np.complex64, np.complex128):
        a = random.standard_normal((70, 90)).astype(t)
        b = random.standard_normal((90, 50)).astype(t)
        if np.iscomplexobj(a):
            a += 1j * random.standard_normal(a.shape).astype(a.real.dtype)
            b += 1j * random.standard_normal(b.shape).astype(a.real.dtype)
        for x, y in ((a, b), (b.T, a.T), (a, a.T), (np.asfortranarray(a), b), (a[:, ::-1], b[::-1])):
            wide = np.clongdouble
            error = abs(x @ y - np.einsum("ij,jk", x.astype(wide), y.astype(wide)))
            bound = 190 * np.finfo(t).eps * np.einsum("ij,jk", abs(x), abs(y))
            assert (error <= bound).all(), (t, error.max())
    print("right")
"""


class Programs(unittest.TestCase):
    def test_products_on_the_device(self):
        for device in ("cpu", "host"):
            out, err, log = run(PRODUCTS, TESSERA_BLAS="always", TESSERA_DEVICE=device)
            self.assertEqual((out, err), ("right\n", ""))
            for name in ("sgemm", "dgemm", "cgemm", "zgemm", "ssyrk", "zsyrk"):
                self.assertTrue(any(l.startswith(name) and ": device, " in l for l in log), name)

    def test_small_products_stay(self):
        out, err, log = run(PRODUCTS)
        self.assertEqual((out, err), ("right\n", ""))
        self.assertIn("it is less than 2e9 operations", "\n".join(log))
        self.assertFalse([l for l in log if ": device, " in l])

    def test_cpu_devices_take_nothing_by_default(self):
        _, err, log = run("""
            import numpy as np
            a = np.ones((1100, 1100), dtype=np.float32)
            assert ((a @ a.T.copy()) == 1100).all()
            """, TESSERA_DEVICE="cpu")
        self.assertEqual(err, "")
        self.assertIn("the device is the CPU itself", "\n".join(log))

    def test_no_device(self):
        """A device that there is none of: the CPU's BLAS, and nothing is said but in the log."""
        out, err, log = run(PRODUCTS, TESSERA_BLAS="always", TESSERA_DEVICE="no such device")
        self.assertEqual((out, err), ("right\n", ""))
        self.assertIn("no such device", "\n".join(log))

    def test_level_1_loads_nothing(self):
        out, _, _ = run("""
            import numpy as np
            assert np.dot(np.arange(10.0), np.arange(10.0)) == 285
            with open("/proc/self/maps") as f:
                maps = f.read()
            print("libtessera-blas" in maps, "libtessera.so" in maps, "libOpenCL" in maps)
            """, TESSERA_BLAS="always")
        self.assertEqual(out, "True False False\n")

    def test_children_of_a_process_that_uses_the_device(self):
        """Also where another thread of the parent is in a product when it forks."""
        out, _, log = run("""
            import os
            import threading
            import time
            import numpy as np
            def product(n):
                a = np.ones((n, n))
                return (a @ a.T.copy())[0, 0]
            assert product(60) == 60
            large = threading.Thread(target=product, args=(2000,))
            large.start()
            time.sleep(0.1)
            child = os.fork()
            if child == 0:
                os._exit(int(product(50)))
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), large.is_alive())
            large.join()
            """, TESSERA_BLAS="always", TESSERA_DEVICE="cpu")
        self.assertEqual(out, "50 True\n")
        self.assertIn("the process was forked from one that used the device", "\n".join(log))
        self.assertEqual(len([l for l in log if ": device, " in l]), 2)

    def test_children_while_the_device_is_opened(self):
        """Another thread of the parent is in the first product, which opens the device."""
        for delay in (0, 0.0002, 0.0005, 0.001, 0.01, 0.05):
            out, _, log = run("""
                import os
                import signal
                import threading
                import time
                import numpy as np
                def product(n):
                    a = np.ones((n, n))
                    return (a @ a.T.copy())[0, 0]
                first = threading.Thread(target=product, args=(60,))
                first.start()
                time.sleep(%r)
                child = os.fork()
                if child == 0:
                    signal.alarm(20)
                    os._exit(int(product(50)))
                print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
                first.join()
                """ % delay, TESSERA_BLAS="always", TESSERA_DEVICE="cpu")
            self.assertEqual(out, "50\n", delay)
            self.assertTrue([l for l in log if " 60 60 60: device, " in l], log)

    def test_threads(self):
        _, err, log = run("""
            import threading
            import numpy as np
            wrong = []
            def products(n):
                a = np.arange(n * n, dtype=float).reshape(n, n) % 7
                expected = np.einsum("ij,jk", a, a)
                for i in range(20):
                    if not ((a @ a) == expected).all():
                        wrong.append(n)
            threads = [threading.Thread(target=products, args=(n,)) for n in (40, 50, 60, 70)]
            for t in threads: t.start()
            for t in threads: t.join()
            assert not wrong, wrong
            """, TESSERA_BLAS="always", TESSERA_DEVICE="cpu")
        self.assertEqual(err, "")
        self.assertEqual(len([l for l in log if ": device, " in l]), 80)

    def test_as_the_systems_blas(self):
        """In the place of libblas.so.3 it finds another one for the CPU."""
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(LIBRARY, os.path.join(folder, "libblas.so.3"))
            out, err, log = run(PRODUCTS, preload=False, LD_LIBRARY_PATH=folder,
                                TESSERA_BLAS="always", TESSERA_DEVICE="host")
        self.assertEqual((out, err), ("right\n", ""))
        self.assertNotIn(folder, log[0])
        self.assertTrue(any(": device, " in l for l in log))

    def test_the_log_names_the_cpus_blas(self):
        """The file that a link leads to, and what its threads depend on."""
        _, _, log = run(PRODUCTS)
        path = log[0].split(" is ", 1)[1].split(", ")[0]
        with tempfile.TemporaryDirectory() as folder:
            link = os.path.join(folder, "libblas.so.3")
            os.symlink(path, link)
            _, err, log = run(PRODUCTS, TESSERA_BLAS_CPU=link, OMP_NUM_THREADS="1")
        self.assertEqual(err, "")
        self.assertIn(" is %s, on %d processors" % (os.path.realpath(path),
                                                     len(os.sched_getaffinity(0))), log[0])
        self.assertIn("OMP_NUM_THREADS=1", log[0])

    def test_the_log_names_the_device(self):
        for mode in ("auto", "always"):
            _, _, log = run("""
                import numpy as np
                a = np.ones((1100, 1100), dtype=np.float32)
                assert ((a @ a.T.copy()) == 1100).all()
                """, TESSERA_DEVICE="host", TESSERA_BLAS=mode)
            self.assertEqual([l for l in log if l.startswith("the device ")],
                             ["the device is 'host' of 'host'"])
        _, _, log = run(PRODUCTS, TESSERA_BLAS="never")
        self.assertFalse([l for l in log if l.startswith("the device ")])

    def test_wrong_values_are_named(self):
        _, err, _ = run(PRODUCTS, TESSERA_BLAS="perhaps", TESSERA_BLAS_CPU="/no/such.so",
                        TESSERA_BLAS_BLOCK="2.5")
        self.assertIn("TESSERA_BLAS: 'perhaps' is none of auto, always and never", err)
        self.assertIn("TESSERA_BLAS_CPU: /no/such.so cannot be opened as a BLAS", err)
        self.assertIn("TESSERA_BLAS_BLOCK: '2.5' is not a number from 1 to 1048576", err)


# Each routine of real numbers on blocks of larger arrays, by a device and by the CPU's BLAS alone: the
# same but for rounding, the elements beside them included.
ROUTINES = """
    import ctypes
    import os
    import numpy as np
    blas = ctypes.CDLL(%r)
    cpu = ctypes.CDLL("libblas.so.3")
    pointer = lambda a: a.ctypes.data_as(ctypes.c_void_p)
    real = ctypes.c_double
    random = np.random.default_rng(3)
    row, upper, no_trans, trans, non_unit, left, right = 101, 121, 111, 112, 131, 141, 142
    n, k, ld = 21, 13, 25
    a = random.standard_normal((ld, ld)) + 9 * np.eye(ld)
    b = random.standard_normal((ld, ld))
    calls = {
        "dgemm": lambda c: (row, no_trans, trans, n, n, k, real(2), pointer(a), ld, pointer(b), ld,
                            real(3), pointer(c), ld),
        "dsymm": lambda c: (row, left, upper, n, k, real(2), pointer(a), ld, pointer(b), ld, real(3),
                            pointer(c), ld),
        "dsyrk": lambda c: (row, upper, no_trans, n, k, real(2), pointer(a), ld, real(3), pointer(c),
                            ld),
        "dsyr2k": lambda c: (row, upper, trans, n, k, real(2), pointer(a), ld, pointer(b), ld,
                             real(3), pointer(c), ld),
        "dtrmm": lambda c: (row, left, upper, no_trans, non_unit, n, k, real(2), pointer(a), ld,
                            pointer(c), ld),
        "dtrsm": lambda c: (row, right, upper, trans, non_unit, k, n, real(2), pointer(a), ld,
                            pointer(c), ld),
    }
    for name, arguments in calls.items():
        c = random.standard_normal((ld, ld))
        expected = c.copy()
        getattr(cpu, "cblas_" + name)(*arguments(expected))
        getattr(blas, "cblas_" + name)(*arguments(c))
        assert np.allclose(c, expected, rtol=1e-12, atol=1e-12), name
        assert (c == expected).sum() >= c.size - n * n, name
    print("right")
""" % LIBRARY


# Of float32 and float64 by turns.
PRODUCTS_OF_TYPES = """
    import ctypes
    import numpy as np
    blas = ctypes.CDLL(%r)
    pointer = lambda a: a.ctypes.data_as(ctypes.c_void_p)
    for name, t, real in 2 * (("s", np.float32, ctypes.c_float), ("d", np.float64, ctypes.c_double)):
        a = np.ones((9, 9), dtype=t)
        c = a.copy()
        getattr(blas, "cblas_" + name + "gemm")(101, 111, 111, 9, 9, 9, real(1), pointer(a), 9,
                                                pointer(a), 9, real(2), pointer(c), 9)
        assert (c == 11).all()
""" % LIBRARY


class Failures(unittest.TestCase):
    def run_routines(self, **variables):
        out, err, log = run(ROUTINES, preload=False, TESSERA_BLAS="always", TESSERA_BLAS_BLOCK="4",
                            LD_LIBRARY_PATH=FAILING_TESSERA, **variables)
        self.assertEqual((out, err), ("right\n", ""))
        return [l for l in log if l.startswith("d")]

    def test_device_that_works(self):
        log = self.run_routines()
        self.assertEqual(len([l for l in log if ": device, " in l]), 6, log)

    def test_device_that_fails(self):
        """At any product: what the call overwrites is what it was when the CPU's BLAS begins anew, and
        the device is not used again."""
        products = 0
        for failing in range(1, 60):
            log = self.run_routines(FAILING_PRODUCT=str(failing))
            failed = [l for l in log if "failed on purpose" in l]
            if not failed:
                break
            products = failing
            self.assertTrue(all(": CPU, " in l for l in log[log.index(failed[0]):]), log)
        self.assertGreater(products, 20)

    def test_kernels_that_do_not_build(self):
        """The device is not used again."""
        _, err, log = run(PRODUCTS_OF_TYPES, preload=False, TESSERA_BLAS="always",
                          LD_LIBRARY_PATH=FAILING_TESSERA, FAILING_PRODUCT="2", FAILING_STATUS="build")
        self.assertEqual(err, "")
        self.assertEqual(len([l for l in log if ": device, " in l]), 1, log)
        self.assertEqual(len([l for l in log if "failed on purpose in product 2" in l]), 3, log)

    def test_type_that_the_device_does_not_have(self):
        """It is not tried again; the other type is."""
        _, err, log = run(PRODUCTS_OF_TYPES, preload=False, TESSERA_BLAS="always",
                          LD_LIBRARY_PATH=FAILING_TESSERA, FAILING_PRODUCT="1",
                          FAILING_STATUS="unsupported")
        self.assertEqual(err, "")
        self.assertEqual([": device, " in l for l in log if l[1:5] == "gemm"], [True, False, True, False], log)
        self.assertEqual(len([l for l in log if "failed on purpose in product 2" in l]), 2, log)

    def test_large_products_go_to_a_gpu(self):
        _, err, log = run("""
            import ctypes
            import numpy as np
            blas = ctypes.CDLL(%r)
            pointer = lambda a: a.ctypes.data_as(ctypes.c_void_p)
            a = np.ones((4000, 4000), dtype=np.float32)
            for m, n, k in ((256, 256, 4000), (255, 4000, 1000), (4000, 256, 976), (4000, 256, 977)):
                blas.cblas_sgemm(101, 111, 111, m, n, k, ctypes.c_float(1), pointer(a), 4000,
                                 pointer(a), 4000, ctypes.c_float(0), pointer(np.empty((m, n),
                                 dtype=np.float32)), n)
            """ % LIBRARY, preload=False, LD_LIBRARY_PATH=FAILING_TESSERA, FAILING_PRODUCT="1")
        self.assertEqual(err, "")
        self.assertEqual([l.split(": ")[-1] for l in log if l[1:5] == "gemm"],
                         ["it is less than 2e9 operations", "a side is shorter than 256",
                          "it is less than 2e9 operations",
                          "the device failed on purpose in product 1"])


# Two products of float32 and one of float64.
SIZES = """
    import ctypes
    import numpy as np
    blas = ctypes.CDLL(%r)
    pointer = lambda a: a.ctypes.data_as(ctypes.c_void_p)
    a = np.ones((300, 300))
    for name, n, real in (("s", 100, ctypes.c_float), ("s", 300, ctypes.c_float),
                          ("d", 300, ctypes.c_double)):
        getattr(blas, "cblas_" + name + "gemm")(101, 111, 111, n, n, n, real(1), pointer(a), n,
                                                pointer(a), n, real(0), pointer(a.copy()), n)
""" % LIBRARY

# One of each routine.
SMALL = """
    import ctypes
    import numpy as np
    blas = ctypes.CDLL(%r)
    pointer = lambda a: a.ctypes.data_as(ctypes.c_void_p)
    a, c, one, zero = np.ones((10, 10)), np.ones((10, 10)), ctypes.c_double(1), ctypes.c_double(0)
    blas.cblas_dsymm(101, 141, 121, 10, 10, one, pointer(a), 10, pointer(a), 10, zero, pointer(c), 10)
    blas.cblas_dgemm(101, 111, 111, 10, 10, 10, one, pointer(a), 10, pointer(a), 10, zero, pointer(c), 10)
""" % LIBRARY

SIDES = (8, 50, 100, 200, 300, 600)


TIMED = ("gemm", "symm", "symm-right", "syrk", "syrk-trans", "syr2k", "syr2k-trans", "trmm", "trmm-right",
         "trsm", "trsm-right")


def rates_text(device, cpu, processors, copies_in=1e10, symmetric=1e-9, forms=("symm", "symm-right")):
    """Times of a CPU of 1e10 operations a second in float32 and 1e11 in float64, where a symmetric product
    of these forms takes `symmetric` seconds more, and of a device that multiplies at once, and needs 1 ms
    for a call and 1e10 bytes a second for copies back.  100^3 takes 0.2 ms on the CPU and 1 ms on the device; 300^3 takes
    5.4 ms on the CPU and 1.1 ms on the device; of float64 0.54 ms and 1.2 ms."""
    lines = ["tessera-blas-rates-5", "device %s" % device, "platform Test", "cpu-blas %s" % cpu,
             "processors %d" % processors, "copies-in %g" % copies_in, "sides %d %d %d %d %d %d" % SIDES]
    for kind, size, rate in (("s", 4, 1e10), ("d", 8, 1e11)):
        for routine in TIMED:
            if routine == "gemm":
                shapes = list(itertools.product(SIDES, repeat=3))
            else: # of the order and the other side
                shapes = [(n, m, n) for n, m in itertools.product(SIDES, repeat=2)]
            more = symmetric if routine in forms else 0
            for place, seconds in (
                    ("cpu", lambda m, n, k: 2 * m * n * k / rate + more),
                    ("device", lambda m, n, k: 1e-3 + size * (m * k + k * n) / copies_in
                                               + size * m * n / 1e10)):
                lines.append("%s%s %s " % (kind, routine, place)
                             + " ".join("%.6e" % seconds(*shape) for shape in shapes))
    return "\n".join(lines) + "\n"


class Rates(unittest.TestCase):
    """What is decided by what `tessera tune blas` keeps."""

    def decisions(self, text, program=SIZES, **variables):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "blas-rates"), "w", encoding="utf-8") as f:
                f.write(text)
            _, err, log = run(program, preload=False, LD_LIBRARY_PATH=FAILING_TESSERA,
                              TESSERA_TUNING_DIR=folder, **variables)
        self.assertEqual(err, "")
        self.ignored = [l for l in log if l.startswith("rates of ")]
        return [l.split(": ", 1)[1] for l in log if l[1:5] in ("gemm", "symm")]

    def text(self, **changes):
        _, _, log = run(SIZES, preload=False, TESSERA_BLAS="never")
        values = {"device": "Failing GPU", "cpu": log[0].split(" is ", 1)[1],
                  "processors": os.sysconf("SC_NPROCESSORS_ONLN")}
        return rates_text(**{**values, **changes})

    def test_rates_decide(self):
        small, large, wide = self.decisions(self.text())
        self.assertEqual(self.ignored, [])
        self.assertIn("CPU, ", small)
        self.assertIn("0.200 ms there and 1.0", small)
        self.assertIn("device, ", large)
        self.assertIn("0.540 ms there and 1.2", wide)

    def test_small_symmetric_products(self):
        """Of a BLAS that takes 9 ms to begin one, and a device that takes 1 ms for any product."""
        symm, gemm = self.decisions(self.text(symmetric=9e-3), SMALL)
        self.assertIn("device, ", symm)
        self.assertIn("CPU, ", gemm)
        self.assertIn("CPU, ", self.decisions(self.text(), SMALL)[0])
        # Row-major, with the symmetric matrix on the left: column-major, with it on the right.
        for form, place in (("symm", "CPU, "), ("symm-right", "device, ")):
            text = self.text(symmetric=9e-3, forms=(form,))
            self.assertIn(place, self.decisions(text, SMALL)[0], form)

    def test_symmetric_products_of_what_is_kept(self):
        """On either side: B is not copied, A is."""
        lines = self.decisions(self.text(copies_in=1e8), KEPT + """
    a, b = integers(100, 100), integers(100, 200)
    assert keep(b) == 0
    for side, m, n in ((141, 100, 200), (142, 200, 100)):
        c = np.empty((m, n))
        blas.cblas_dsymm(101, side, 121, m, n, ctypes.c_double(1), pointer(a), 100, pointer(b), n,
                         ctypes.c_double(0), pointer(c), n)
    """)
        self.assertEqual(len(lines), 2)
        for line in lines: # 1 ms to begin, 0.8 to copy A, 0.016 to copy C back
            self.assertRegex(line, "there and 1[.]8[0-9]* ms on the device are expected")

    @unittest.skipUnless(shutil.which("localedef") and os.path.exists("/usr/share/i18n/locales/de_DE"),
                         "no locale with a decimal comma can be made")
    def test_a_locale_with_a_decimal_comma(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", os.path.join(folder, "comma")],
                           check=True, timeout=300, stdout=subprocess.DEVNULL)
            small, large, _ = self.decisions(self.text(), """
    import locale
    locale.setlocale(locale.LC_NUMERIC, "comma")
    assert locale.localeconv()["decimal_point"] == ","
    """ + SIZES, LOCPATH=folder)
        self.assertEqual(self.ignored, [])
        self.assertRegex(small, "CPU, [0-9.]+ ms: 0[.]200 ms there and 1[.]0")
        self.assertRegex(large, "device, [0-9.]+ ms, ")

    def test_rates_of_something_else(self):
        threads = {"OMP_NUM_THREADS": "7"}
        for changes, variables, why in (
                ({"device": "Another GPU"}, {}, "they were measured on 'Another GPU' of 'Test'"),
                ({"cpu": "/usr/lib/another.so"}, {}, "they were measured with the CPU's BLAS /usr/lib/another.so"),
                ({"processors": 10000}, {}, "they were measured on 10000 processors"),
                ({}, threads, "they were measured with the CPU's BLAS ")):
            for line in self.decisions(self.text(**changes), **variables)[1:]:
                self.assertIn("it is less than 2e9 operations", line)
            self.assertEqual(len(self.ignored), 1)
            self.assertIn("/blas-rates are ignored: " + why, self.ignored[0])

    def test_files_that_are_damaged(self):
        """The log names them, and the limits without rates hold."""
        good = self.text()
        single, last = good.splitlines()[7], good.splitlines()[-1]
        first = single.split()[2]
        for text, why in (
                ("", "line 1 is not 'tessera-blas-rates-5'"),
                ("\n", "line 1 is not 'tessera-blas-rates-5'"),
                (good.replace("rates-5", "rates-4"), "line 1 is not 'tessera-blas-rates-5'"),
                (good.replace("copies-in 1", "copies-in x"), "line 6 is damaged"),
                (good.replace("sides 8 50", "sides 50 8"), "line 7 is damaged"),
                (good.replace("sides 8", "sides 0"), "line 7 is damaged"),
                (good.replace("sgemm cpu ", "sgemm cpu -"), "line 8 is damaged"),
                (good.replace(first, "0", 1), "line 8 is damaged"),
                (good.replace(first, "inf", 1), "line 8 is damaged"),
                (good.replace(single, single + " 3"), "line 8 is damaged"),
                (good.replace(" " + first, "", 1), "line 8 is damaged"),
                (good[:-1], "line 51 is damaged"), (good[:-20], "line 51 is damaged"),
                ("tessera-blas-rates-5\n", "a line is missing"),
                (good.replace("platform Test\n", ""), "a line is missing"),
                (good.replace(last + "\n", ""), "a line is missing"),
                (good.replace("dgemm cpu", "hgemm cpu"), "line 30 is damaged"),
                ("tessera-blas-rates-5\n" + "x" * 9999, "line 2 is damaged")):
            for line in self.decisions(text):
                self.assertIn("it is less than 2e9 operations", line)
            self.assertEqual(len(self.ignored), 1, text)
            self.assertIn("/blas-rates are ignored: " + why, self.ignored[0])

    def test_tune(self):
        with tempfile.TemporaryDirectory() as folder:
            env = {**os.environ, "TESSERA_TUNING_DIR": folder, "TESSERA_TUNE_OPERATIONS": "1e6"}
            r = subprocess.run([os.environ["TESSERA"], "tune", "blas", "--device", "host"], env=env,
                               timeout=300, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.assertEqual((r.returncode, r.stderr), (0, ""))
            for name in ("float32", "float64", "complex64", "complex128"):
                self.assertRegex(r.stdout, name + "  a call .* us, copies .* GB/s and .* GB/s back")
            with open(os.path.join(folder, "blas-rates"), encoding="utf-8") as f:
                self.assertRegex(f.read(), "device host\n(.*\n)*sgemm cpu .*\nsgemm device (.*\n)*ztrsm device ")
            out, _, log = run(PRODUCTS, TESSERA_TUNING_DIR=folder, TESSERA_DEVICE="host")
        self.assertEqual(out, "right\n")
        self.assertTrue(any(": device, " in l or "are expected" in l for l in log), log)

    def test_tune_takes_no_other_option(self):
        r = subprocess.run([os.environ["TESSERA"], "tune", "blas", "--size", "3"], timeout=300,
                           stderr=subprocess.PIPE, text=True)
        self.assertEqual((r.returncode, r.stderr),
                         (2, "tessera: tune blas takes no option '--size'\n"))


# What lies beside the elements of a call is another thread's.
OTHERS = """
    import ctypes
    import numpy as np
    blas = ctypes.CDLL(%r)
    pointer = lambda a: a.ctypes.data_as(ctypes.c_void_p)
    n, k, ld = 11, 7, 14
    random = np.random.default_rng(5)
    a = random.standard_normal((n, k)) + 1j * random.standard_normal((n, k))
    for uplo, rows in ((121, np.triu), (122, np.tril)):
        c = np.full((n, ld), np.nan, dtype=complex)
        c[:, :n] = np.where(rows(np.ones((n, n))), 1, np.nan)
        blas.cblas_zherk(101, uplo, 111, n, k, ctypes.c_double(2), pointer(a), k, ctypes.c_double(3),
                         pointer(c), ld)
        inside = rows(np.ones((n, n))).astype(bool)
        expected = 2 * a @ a.conj().T + 3
        assert np.allclose(c[:, :n][inside], expected[inside], atol=1e-13)
        assert (np.diagonal(c).imag == 0).all()
        assert np.isnan(c[:, :n][~inside]).all() and np.isnan(c[:, n:]).all()
    # The imaginary parts of a Hermitian matrix's diagonal are not read.
    two = np.array([2], dtype=complex)
    for update in ("zherk", "zher2k"):
        c = np.ones((n, ld), dtype=complex)
        np.fill_diagonal(c.imag, np.nan)
        c[2, 4] = complex(1, np.inf) # in a block of the diagonal; beta is real
        if update == "zherk":
            blas.cblas_zherk(101, 121, 111, n, k, ctypes.c_double(2), pointer(a), k,
                             ctypes.c_double(3), pointer(c), ld)
        else:
            blas.cblas_zher2k(101, 121, 111, n, k, pointer(two), pointer(a), k, pointer(a), k,
                              ctypes.c_double(3), pointer(c), ld)
        expected = (2 if update == "zherk" else 4) * a @ a.conj().T + 3
        assert np.isclose(c[2, 4].real, expected[2, 4].real) and c[2, 4].imag == np.inf, update
        c[2, 4] = expected[2, 4]
        assert np.allclose(np.triu(c[:, :n]), np.triu(expected), atol=1e-13), update
    print("right")
""" % LIBRARY


# Options of C's calling sequence that are letters, as Fortran's are.
LETTERS = """
    import ctypes
    import os
    import numpy as np
    blas = ctypes.CDLL(%r)
    pointer = lambda a: a.ctypes.data_as(ctypes.c_void_p)
    a, c = np.ones((9, 9)), np.zeros((9, 9))
    child = os.fork()
    if child == 0:
        blas.cblas_dgemm(101, ord("N"), ord("T"), 9, 9, 9, ctypes.c_double(1), pointer(a), 9,
                         pointer(a), 9, ctypes.c_double(0), pointer(c), 9)
        os._exit(77 if c.any() else 0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 77
    print("right")
""" % LIBRARY


# Matrices that several threads copy, of small integers, whose products are exact.
LARGE = """
    import ctypes
    import numpy as np
    blas = ctypes.CDLL(%r)
    pointer = lambda a: a.ctypes.data_as(ctypes.c_void_p)
    random = np.random.default_rng(9)
    m, n, k = 720, 70, 701
    def integers(rows, columns):
        parts = random.integers(-3, 4, (2, rows, columns))
        return parts[0], parts[1], (parts[0] + 1j * parts[1]).astype(np.complex64)
    def product(xr, xi, yr, yi):
        return xr @ yr - xi @ yi + 1j * (xr @ yi + xi @ yr)
    one, two = np.array([1], dtype=np.complex64), np.array([2], dtype=np.complex64)
    ar, ai, a = integers(k, m) # A^H is multiplied by B^T
    br, bi, b = integers(n, k)
    _, _, c = integers(m, n)
    expected = 2 * product(ar.T, -ai.T, br.T, bi.T) + c
    blas.cblas_cgemm(101, 113, 112, m, n, k, pointer(two), pointer(a), m, pointer(b), k, pointer(one),
                     pointer(c), n)
    assert (c == expected).all()
    hr, hi, h = integers(m, m)
    hr, hi = np.tril(hr) + np.tril(hr, -1).T, np.tril(hi, -1) - np.tril(hi, -1).T
    ur, ui, u = integers(m, n)
    blas.cblas_chemm(101, 141, 122, m, n, pointer(one), pointer(h), m, pointer(u), n,
                     pointer(0 * one), pointer(c), n)
    assert (c == product(hr, hi, ur, ui)).all()
    # Two products of blocks, of which a device may fail in the second.
    r = random.integers(-3, 4, (1100, 6)).astype(float)
    s = random.integers(-3, 4, (1100, 1100)).astype(float)
    expected = np.where(np.tri(1100), np.einsum("ik,jk", r, r) + s, s)
    blas.cblas_dsyrk(101, 122, 111, 1100, 6, ctypes.c_double(1), pointer(r), 6, ctypes.c_double(1),
                     pointer(s), 1100)
    assert (s == expected).all()
    print("right")
""" % LIBRARY


class Elements(unittest.TestCase):
    def test_large_matrices(self):
        out, err, log = run(LARGE, preload=False, TESSERA_BLAS="always", TESSERA_DEVICE="host")
        self.assertEqual((out, err), ("right\n", ""))
        self.assertEqual(len([l for l in log if ": device, " in l]), 3)

    def test_large_matrices_of_a_device_that_fails(self):
        out, err, log = run(LARGE, preload=False, TESSERA_BLAS="always", FAILING_PRODUCT="4",
                            LD_LIBRARY_PATH=FAILING_TESSERA)
        self.assertEqual((out, err), ("right\n", ""))
        self.assertIn("failed on purpose", "\n".join(l for l in log if l.startswith("dsyrk")))

    def test_other_elements_are_left_alone(self):
        out, err, log = run(OTHERS, preload=False, TESSERA_BLAS="always", TESSERA_DEVICE="host",
                            TESSERA_BLAS_BLOCK="2")
        self.assertEqual((out, err), ("right\n", ""))
        self.assertEqual(len([l for l in log if ": device, " in l]), 4)

    def test_letters_are_no_options_of_c(self):
        """They are reported, which may end the program."""
        out, _, log = run(LETTERS, preload=False, TESSERA_BLAS="always", TESSERA_DEVICE="host")
        self.assertEqual(out.splitlines()[-1], "right")
        self.assertFalse([l for l in log if ": device, " in l], log)

    def test_options_of_openblas(self):
        if "openblas" not in run(SIZES, TESSERA_BLAS="never")[2][0]:
            self.skipTest("the CPU's BLAS is not OpenBLAS")
        out, err, log = run(CONJUGATED, preload=False, TESSERA_BLAS="always", TESSERA_DEVICE="host")
        self.assertEqual((out, err), ("right\n", ""))
        self.assertEqual([l.split(": ")[-1] for l in log if l.startswith("zgemm")],
                         2 * ["a matrix is conjugated and not transposed"])


# Options that OpenBLAS has beside the reference's: conj(A) B, by C's number and by Fortran's letter.
CONJUGATED = """
    import ctypes
    import numpy as np
    blas = ctypes.CDLL(%r)
    pointer = lambda a: a.ctypes.data_as(ctypes.c_void_p)
    random = np.random.default_rng(8)
    a, b = (random.standard_normal((9, 9)) + 1j * random.standard_normal((9, 9)) for _ in range(2))
    c, one, zero, n = np.empty((9, 9), complex), np.ones(1, complex), np.zeros(1, complex), ctypes.c_int(9)
    blas.cblas_zgemm(101, 114, 111, 9, 9, 9, pointer(one), pointer(a), 9, pointer(b), 9, pointer(zero),
                     pointer(c), 9)
    assert np.allclose(c, a.conj() @ b)
    by = ctypes.byref(n)
    blas.zgemm_(b"N", b"R", by, by, by, pointer(one), pointer(b), by, pointer(a), by, pointer(zero),
                pointer(c), by, 1, 1)
    assert np.allclose(c, a.conj() @ b)
    print("right")
""" % LIBRARY


# Products of matrices that are kept on the device, of small integers, which are exact.
KEPT = """
    import ctypes
    import os
    import threading
    import numpy as np
    blas = ctypes.CDLL(%r)
    pointer = lambda a: a.ctypes.data_as(ctypes.c_void_p)
    keep = lambda a: blas.tsr_blas_keep(pointer(a), ctypes.c_size_t(a.nbytes))
    drop = lambda a: blas.tsr_blas_drop(pointer(a))
    random = np.random.default_rng(4)
    integers = lambda *shape: random.integers(-3, 4, shape).astype(float)
    n, k, ld = 40, 30, 50
    def product(a, b, c=None):
        a_trans, b_trans = (112 if x.strides[0] == 8 else 111 for x in (a, b))
        stride = lambda x: max(x.strides) // 8
        beta = 0 if c is None else 1
        expected = np.einsum("ij,jk", a, b) + (0 if c is None else c)
        c = np.full((len(a), b.shape[1]), np.nan) if c is None else c
        blas.cblas_dgemm(101, a_trans, b_trans, *c.shape, b.shape[0], ctypes.c_double(1), pointer(a),
                         stride(a), pointer(b), stride(b), ctypes.c_double(beta), pointer(c),
                         stride(c))
        assert (c == expected).all()
""" % LIBRARY


class Kept(unittest.TestCase):
    """tsr_blas_keep, on a CPU device that says that it has memory of its own."""

    def run_kept(self, program, **variables):
        out, err, log = run(KEPT + program + """
    print("right")
""", preload=False, **{"TESSERA_BLAS": "always", "TESSERA_DEVICE": "cpu",
                       "OPENCL_LAYERS": FAULT_LAYER, "TESSERA_OWN_MEMORY": "1", **variables})
        self.assertEqual((out, err), ("right\n", ""))
        return log

    def bytes_of(self, log):
        """Of each call, what was copied and what was kept, in elements of float64."""
        found = [re.search(r": device, [0-9.]+ ms, (\d+) bytes copied(?:, (\d+) kept)?$", l)
                 for l in log]
        return [(int(m[1]) // 8, int(m[2] or 0) // 8) for m in found if m]

    def test_it_is_copied_once(self):
        log = self.run_kept("""
    whole, b = integers(n, ld), integers(k, 7)
    a = whole[:, :k]
    product(a, b)
    assert keep(whole) == 0
    product(a, b)
    product(a, b)
    product(a, b, integers(n, 7))
    product(integers(7, 5), whole[11:16, 3:23])        # a block, on the other side
    product(whole[:, :k].T, integers(n, 7))            # transposed
    product(a, a.T)                                    # both: a symmetric product
    drop(whole)
    product(a, b)
    """)
        whole, a, b, c = 40 * 50, 40 * 30, 30 * 7, 40 * 7
        self.assertEqual(self.bytes_of(log), [
            (40 * 50 - 20 + b + c, 0), (whole + b + c, 0), (b + c, a), (b + c + c, a),
            (7 * 5 + 7 * 20, 5 * 20), (c + 30 * 7, a), (40 * 40, 2 * a), (40 * 50 - 20 + b + c, 0)])

    def test_changes(self):
        """By the caller, who says so; and by routines of level 3, on the device and on the CPU."""
        log = self.run_kept("""
    a, b = np.triu(integers(n, n)), integers(n, 7)
    np.fill_diagonal(a, 1)
    assert keep(a) == 0
    product(a, b)
    a[3, 4] += 1
    assert keep(a) == 0
    product(a, b)
    product(integers(n, 5), integers(5, n), a)         # C is kept
    product(a, b)
    before = a.copy()
    upper = np.triu(np.ones((n, n)))
    triangular = lambda routine: getattr(blas, "cblas_dtr" + routine)(
        101, 141, 121, 111, 131, n, n, ctypes.c_double(1), pointer(upper), n, pointer(a), n)
    triangular("mm")                                   # in blocks, some of which the CPU does
    assert (a == np.einsum("ij,jk", upper, before)).all()
    product(a, b)
    triangular("sm")
    assert (a == before).all()
    product(a, b)
    # alpha = 0: the CPU's BLAS has it.
    blas.cblas_dgemm(101, 111, 111, n, n, n, ctypes.c_double(0), pointer(upper), n, pointer(upper), n,
                     ctypes.c_double(2), pointer(a), n)
    product(a, b)
    """, TESSERA_BLAS_BLOCK="8")
        products = [l for l in log if l.startswith("dgemm") and " 7 40 40: " in l]
        self.assertEqual(self.bytes_of(products), 6 * [(40 * 40 + 2 * 40 * 7, 0)])

    def test_what_is_refused(self):
        self.run_kept("""
    a = integers(n, n)
    for memory, size in ((None, 8), (a.ctypes.data, 0), (2**64 - 8, 16)):
        assert blas.tsr_blas_keep(ctypes.c_void_p(memory), ctypes.c_size_t(size)) == 1
    assert keep(a[2:6]) == 0 and keep(a[2:6]) == 0 and keep(a[6:]) == 0
    assert keep(a) == 1 and keep(a[5:7]) == 1 and keep(a[1:3]) == 1 and keep(a[3:4]) == 1
    drop(a)
    drop(a[3:])
    assert keep(a) == 1
    drop(a[2:])
    assert keep(a[:6]) == 0
    drop(a[6:])
    drop(a)
    assert keep(a) == 0
    """)

    def test_other_types(self):
        log = self.run_kept("""
    single = lambda *shape: integers(*shape).astype(np.float32)
    a, b, c = single(n, n), single(n, n), np.empty((n, n), dtype=np.float32)
    z, one, zero = integers(n, n) + 1j * integers(n, n), np.ones(1, complex), np.zeros(1, complex)
    w, v = z.copy(), np.empty((n, n), complex)
    assert keep(a) == 0 and keep(z) == 0
    for i in range(2):
        blas.cblas_sgemm(101, 111, 111, n, n, n, ctypes.c_float(1), pointer(a), n, pointer(b), n,
                         ctypes.c_float(0), pointer(c), n)
        assert (c == np.einsum("ij,jk", a, b)).all()
        blas.cblas_zgemm(101, 111, 111, n, n, n, pointer(one), pointer(z), n, pointer(w), n,
                         pointer(zero), pointer(v), n)
        assert (v == np.einsum("ij,jk", z, w)).all()
    """)
        n2 = 40 * 40
        # Of complex ones the first of column-major matrices is copied as four real ones.
        self.assertEqual(self.bytes_of(log), [(3 * n2 // 2, 0), (8 * n2, 0), (n2, n2 // 2),
                                              (6 * n2, 2 * n2)])

    def test_children_and_threads(self):
        log = self.run_kept("""
    a = integers(n, n)
    assert keep(a) == 0
    def child():
        pid = os.fork()
        if pid == 0:
            product(a, integers(n, 5))
            assert keep(a[:9]) == 0 # nothing is kept there that it would overlap
            product(a, integers(n, 5))
            drop(a) # no buffer of the parent's is released: the fault layer ends a child that calls
            os._exit(0)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    product(a, integers(n, 5))
    product(a, integers(n, 5))
    assert child() == 0
    product(a, integers(n, 5))
    wrong = []
    def work(own):
        try:
            for i in range(10):
                product(a, integers(n, 5))
                own[:] += 1
                assert keep(own) == 0
                product(own, a)
                product(integers(n, 3), integers(3, n), own)
                product(a, own)
                drop(own)
        except AssertionError as e:
            wrong.append(e)
    threads = [threading.Thread(target=work, args=(integers(n, n),)) for i in range(4)]
    for t in threads: t.start()
    for t in threads: t.join()
    assert not wrong
    """)
        self.assertEqual([kept for _, kept in self.bytes_of(log)][:3], [0, 40 * 40, 40 * 40])
        self.assertIn("the process was forked from one that used the device", "\n".join(log))

    def test_a_copy_keeps_nobody_waiting(self):
        """Neither a call that writes beside the matrix meanwhile, nor fork(); it is copied anew then."""
        with tempfile.TemporaryDirectory() as folder:
            log = self.run_kept("""
    import time
    copying = os.environ["TESSERA_HOLD_WRITE"]
    whole = integers(n, ld)
    beside = whole[:, k:]
    assert keep(whole) == 0
    thread = threading.Thread(target=product, args=(whole[:, :k], integers(k, 7)))
    thread.start()
    while not os.path.exists(copying):
        time.sleep(0.001)
    blas.cblas_dgemm(101, 111, 111, n, ld - k, 1, ctypes.c_double(0), pointer(whole), 1,
                     pointer(whole), ld, ctypes.c_double(2), pointer(beside), ld)
    child = os.fork()
    if child == 0:
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert os.path.exists(copying)
    os.unlink(copying)
    thread.join()
    product(whole, integers(ld, 7))
    product(whole, integers(ld, 7))
    """, TESSERA_HOLD_WRITE=os.path.join(folder, "copying"))
        whole, b, c = 40 * 50, 50 * 7, 40 * 7
        self.assertEqual(self.bytes_of(log), [(whole + 30 * 7 + c, 0), (whole + b + c, 0),
                                              (b + c, whole)])

    def test_matrices_larger_than_a_buffer(self):
        """Those that are not kept: the product is one on host memory, in parts."""
        log = self.run_kept("""
    a, b = integers(n, k), integers(k, 5)
    assert keep(b) == 0
    for i in range(2):
        product(a, b)
        product(integers(7, k), b)
    """, TESSERA_LARGEST_BUFFER="8000") # of A's 9600 bytes
        self.assertEqual([kept for _, kept in self.bytes_of(log)], [0, 0, 0, 30 * 5])

    def test_a_device_without_memory(self):
        """It is not kept, and products are what they are without it."""
        program = """
    a = integers(n, n)
    assert keep(a) == 0
    for i in range(2):
        product(a, integers(n, 5), integers(n, 5))
    """
        ordinary = 40 * 40 + 3 * 40 * 5
        log = self.run_kept(program, TESSERA_FAULT="clEnqueueWriteBuffer:1:-4")
        self.assertIn("keep: 12800 bytes are not kept: OpenCL error -4", log)
        self.assertEqual(self.bytes_of(log), 2 * [(ordinary, 0)])
        # A product that fails for want of memory is done again without what is kept.
        log = self.run_kept(program, TESSERA_FAULT="clEnqueueWriteBufferRect:2:-4")
        self.assertIn("keep: 12800 bytes are kept no longer: a product needs the memory", log)
        self.assertEqual([kept for _, kept in self.bytes_of(log)], [0, 0])
        self.assertEqual(self.bytes_of(log)[1], (ordinary, 0))
        # So is one that the device has no buffer large enough for.
        log = self.run_kept(program, TESSERA_FAULT="clCreateBuffer:3:-61")
        self.assertIn("keep: 12800 bytes are kept no longer: a product needs the memory", log)
        self.assertEqual(len(self.bytes_of(log)), 2)
        # After another failure the device is not used again.
        log = self.run_kept(program, TESSERA_FAULT="clEnqueueReadBufferRect:2:-9999")
        self.assertEqual(len(self.bytes_of(log)), 1)
        self.assertIn("OpenCL error -9999", "\n".join(log))

    def test_devices_that_keep_nothing(self):
        """Since they work on the host's memory."""
        for variables in ({"TESSERA_DEVICE": "host"}, {"OPENCL_LAYERS": ""}):
            log = self.run_kept("""
    a = integers(n, n)
    assert keep(a) == 0
    product(a, integers(n, 5))
    product(a, integers(n, 5))
    """, **variables)
            self.assertIn("keep: nothing is kept: the device works on the host's memory itself", log)
            self.assertEqual(self.bytes_of(log), [(0, 0), (0, 0)])


class Command(unittest.TestCase):
    """tessera blas."""

    def run_command(self, *args, **variables):
        env = {k: v for k, v in os.environ.items() if k not in VARIABLES}
        return subprocess.run([os.environ["TESSERA"], "blas", *args], env={**env, **variables},
                              timeout=300, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def test_program(self):
        with tempfile.TemporaryDirectory() as folder:
            log = os.path.join(folder, "log")
            r = self.run_command("--device", "host", "--offload", "always", "--log", log,
                                 sys.executable, "-c", textwrap.dedent(PRODUCTS), "--device")
            self.assertEqual((r.returncode, r.stdout, r.stderr), (0, "right\n", ""))
            with open(log, encoding="utf-8") as f:
                self.assertIn(": device, ", f.read())

    def test_a_log_that_cannot_be_written(self):
        """It is refused before the program runs."""
        for log, status, why in (("-", 2, "--log takes a file"), ("/dev/null/x", 1, "/dev/null/x")):
            r = self.run_command("--log", log, "sh", "-c", "echo ran")
            self.assertEqual((r.returncode, r.stdout), (status, ""))
            self.assertIn(why, r.stderr)

    def test_a_log_that_is_full(self):
        """The program runs on, and the first line that cannot be written is reported."""
        r = self.run_command("--log", "/dev/full", sys.executable, "-c", textwrap.dedent(PRODUCTS))
        self.assertEqual((r.returncode, r.stdout), (0, "right\n"))
        self.assertEqual(r.stderr.count("/dev/full: No space left on device"), 1, r.stderr)

    def test_the_cpus_blas_and_the_precision(self):
        show = "echo $TESSERA_BLAS_CPU $TESSERA_BLAS_PRECISION"
        r = self.run_command("--offload", "never", "--cpu-blas", "libblas.so.3", "--precision", "tf32",
                             "sh", "-c", show)
        self.assertEqual((r.returncode, r.stdout, r.stderr), (0, "libblas.so.3 tf32\n", ""))
        path = run(PRODUCTS)[2][0].split(" is ", 1)[1].split(", ")[0]
        with tempfile.TemporaryDirectory() as folder:
            link, log = os.path.join(folder, "libother.so"), os.path.join(folder, "log")
            os.symlink(path, link)
            # Relative to the folder of the command, whatever the program's is.
            r = self.run_command("--offload", "never", "--cpu-blas", os.path.relpath(link), "--log", log,
                                 "sh", "-c", "cd / && exec %s -c \"$0\"" % sys.executable,
                                 textwrap.dedent(PRODUCTS) + "print(__import__('os').environ['TESSERA_BLAS_CPU'])")
            self.assertEqual((r.returncode, r.stderr), (0, ""))
            self.assertTrue(os.path.samefile(r.stdout.split()[1], link), r.stdout)
            with open(log, encoding="utf-8") as f:
                self.assertIn("the CPU's BLAS is %s" % os.path.realpath(path), f.read())

    def test_each_precision_is_one_of_the_librarys(self):
        program = "import numpy as np; a = np.ones((8, 8), np.float32); print((a @ a).sum())"
        for name in ("f32", "f32-strict", "tf32", "bf16", "f16"):
            r = self.run_command("--device", "host", "--offload", "always", "--precision", name,
                                 sys.executable, "-c", program)
            self.assertEqual((r.returncode, r.stdout, r.stderr), (0, "512.0\n", ""), name)

    def test_arguments_and_status_are_the_programs(self):
        r = self.run_command("sh", "-c", 'echo "$@" $TESSERA_BLAS; exit 7', "sh", "--help", "-V")
        self.assertEqual((r.returncode, r.stdout), (7, "--help -V\n"))
        r = self.run_command("--offload", "never", "--", "sh", "-c", "echo $TESSERA_BLAS $LD_PRELOAD",
                             LD_PRELOAD="")
        self.assertEqual((r.stdout, r.stderr), ("never %s\n" % os.path.realpath(LIBRARY), ""))

    def test_a_device_that_gets_no_call_is_told(self):
        says = "is not a GPU and takes no call"
        with tempfile.TemporaryDirectory() as folder:
            rates = {"TESSERA_TUNING_DIR": folder}
            r = self.run_command("--device", "host", "true", **rates)
            self.assertEqual((r.returncode, r.stdout, r.stderr.count("\n")), (0, "", 1))
            self.assertIn("warning: host " + says, r.stderr)
            r = self.run_command("true", OCL_ICD_VENDORS=folder, **rates)
            self.assertIn("warning: no device takes a call", r.stderr)
            self.assertEqual((r.returncode, r.stderr.count("\n")), (0, 1))
            for more in (["--offload", "always"], ["--offload", "never"]):
                r = self.run_command("--device", "host", *more, "true", **rates)
                self.assertEqual((r.returncode, r.stderr), (0, ""))

    def test_times_that_are_ignored_are_told(self):
        """As the library ignores them.  Those of the device itself decide, and not what kind it is."""
        gpu = {"OPENCL_LAYERS": FAULT_LAYER, "TESSERA_AS_GPU": "1"}
        name, platform = (subprocess.run([os.environ["TESSERA"], "devices", "--device", "cpu", "--json"],
                                         check=True, stdout=subprocess.PIPE, text=True).stdout.split(
                                             '"%s": "' % key, 1)[1].split('"', 1)[0]
                          for key in ("name", "platform"))
        cpu = run(SIZES, preload=False, TESSERA_BLAS="never")[2][0].split(" is ", 1)[1]
        processors = os.sysconf("SC_NPROCESSORS_ONLN")

        def text(device, platform="host", cpu=cpu, processors=processors):
            return rates_text(device, cpu, processors).replace("platform Test", "platform " + platform)

        good, large = text("host"), "%s takes large calls" % name
        ignored = "/blas-rates are ignored: %s; host takes no call"
        with tempfile.TemporaryDirectory() as folder:
            for device, content, more, said in (
                    ("host", good, {}, ""),
                    ("host", text("Another"), {}, ignored % "they were measured on 'Another' of 'host'"),
                    ("host", text("host", "Another"), {}, ignored % "they were measured on 'host' of 'Another'"),
                    ("host", text("host", cpu="/another.so"), {},
                     ignored % "they were measured with the CPU's BLAS /another.so"),
                    ("host", text("host", processors=10000), {}, ignored % "they were measured on 10000 processors"),
                    ("host", good.replace("rates-5", "rates-4"), {}, ignored % "line 1 is not 'tessera-blas-rates-5'"),
                    ("host", good.replace("copies-in 1", "copies-in x"), {}, ignored % "line 6 is damaged"),
                    ("host", "", {}, ignored % "line 1 is not 'tessera-blas-rates-5'"),
                    ("host", None, {}, "host is not a GPU"),
                    ("cpu", text(name, platform), {}, ""),
                    ("gpu", text(name, platform), gpu, ""),
                    ("gpu", good, gpu, "they were measured on 'host' of 'host'; " + large),
                    ("gpu", None, gpu, "")):
                if content is None:
                    os.remove(os.path.join(folder, "blas-rates"))
                else:
                    with open(os.path.join(folder, "blas-rates"), "w", encoding="utf-8") as f:
                        f.write(content)
                for by_name in (True, False):
                    r = self.run_command(*["--device", device] * by_name, "true",
                                         **{} if by_name else {"TESSERA_DEVICE": device},
                                         TESSERA_TUNING_DIR=folder, **more)
                    self.assertEqual((r.returncode, r.stderr.count("\n")), (0, bool(said)), r.stderr)
                    self.assertIn(said, r.stderr)
                    self.assertEqual("tune blas" in r.stderr, bool(said))
                r = self.run_command("--device", device, "--offload", "always", "true",
                                     TESSERA_TUNING_DIR=folder, **more)
                self.assertEqual((r.returncode, r.stderr), (0, ""))

    def test_times_of_a_named_blas(self):
        """The CPU's BLAS is the one that the command names."""
        reference = glob.glob("/usr/lib/*/blas/libblas.so.3")
        if not reference:
            self.skipTest("no reference BLAS")
        named = os.path.realpath(reference[0])
        cpu = run(SIZES, preload=False, TESSERA_BLAS="never", TESSERA_BLAS_CPU=named)[2][0].split(" is ", 1)[1]
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "blas-rates"), "w", encoding="utf-8") as f:
                f.write(rates_text("host", cpu, os.sysconf("SC_NPROCESSORS_ONLN")).replace("platform Test",
                                                                                           "platform host"))
            for more, said in ((["--cpu-blas", named], ""), ([], "the CPU's BLAS " + named)):
                r = self.run_command("--device", "host", *more, "true", TESSERA_TUNING_DIR=folder)
                self.assertEqual((r.returncode, r.stderr.count("\n")), (0, bool(said)), r.stderr)
                self.assertIn(said, r.stderr)

    def test_no_library(self):
        """A command without it, as Debian's package tessera alone is, says what brings it."""
        with tempfile.TemporaryDirectory() as folder:
            alone = os.path.join(folder, "tessera")
            shutil.copy(os.environ["TESSERA"], alone)
            r = subprocess.run([alone, "blas", "true"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, timeout=60)
        self.assertEqual((r.returncode, r.stdout), (1, ""), r.stderr)
        self.assertRegex(r.stderr, r"^tessera: libtessera-blas\.so\S* is neither beside .*"
                                   r"package libtessera-blas has it, .* makes it\n$")

    def test_what_is_wrong_is_said(self):
        for args, status, said in ((["--device", "no such device", "true"], 2, "no such device"),
                                   (["no such program"], 1, "cannot run 'no such program'"),
                                   (["--offload", "often", "true"], 2, "'often'"),
                                   (["--precision", "f64", "true"], 2, "'f64'"),
                                   (["--cpu-blas", "/no/such.so", "true"], 1, "/no/such.so"),
                                   (["--cpu-blas", "libm.so.6", "true"], 1, "dgemm_ is not in it"),
                                   (["--cpu-blas", LIBRARY, "true"], 1, "is libtessera-blas itself"),
                                   ([], 2, "usage is 'tessera blas")):
            r = self.run_command(*args)
            self.assertEqual((r.returncode, r.stdout), (status, ""), r.stderr)
            self.assertIn(said, r.stderr)


# Names that end in 64_, whose integers have 64 bits.
WIDE = """
    import ctypes
    import numpy as np
    blas = ctypes.CDLL(%r)
    pointer = lambda a: a.ctypes.data_as(ctypes.c_void_p)
    long = ctypes.c_int64
    real = ctypes.c_double
    x = np.arange(10.0)
    blas.cblas_ddot64_.restype = real
    assert blas.cblas_ddot64_(long(10), pointer(x), long(1), pointer(x), long(1)) == 285
    n = 30
    a, b = np.tril(np.ones((n, n))), np.arange(n * n * 1.0).reshape(n, n)
    c = np.full((n, n), np.nan)
    blas.cblas_dgemm64_(101, 111, 111, long(n), long(n), long(n), real(1), pointer(a), long(n),
                        pointer(b), long(n), real(0), pointer(c), long(n))
    assert (c == a @ b).all()
    by = ctypes.byref # row by row it is B^T, which is multiplied by A^-T from the right
    blas.dtrsm_64_(b"R", b"U", b"N", b"N", by(long(n)), by(long(n)), by(real(1)), pointer(a),
                   by(long(n)), pointer(c), by(long(n)))
    assert (c == b).all()
    print("right")
""" % LIBRARY


class WideIntegers(unittest.TestCase):
    @unittest.skipUnless(glob.glob("/usr/lib/*/lib*blas64.so.*"), "no BLAS of 64-bit integers")
    def test_routines(self):
        for mode, there in (("never", 0), ("always", 2)):
            out, err, log = run(WIDE, preload=False, TESSERA_BLAS=mode, TESSERA_DEVICE="host",
                                TESSERA_BLAS_BLOCK="8")
            self.assertEqual((out, err), ("right\n", ""))
            self.assertEqual(len([l for l in log if ": device, " in l]), there, log)

    @unittest.skipUnless(glob.glob("/usr/lib/*/libblas64.so.3"), "no libblas64.so.3")
    def test_a_library_of_the_other_integers(self):
        """It is not used, whatever its names."""
        wide = glob.glob("/usr/lib/*/libblas64.so.3")[0]
        for program, variable, path, bits in ((PRODUCTS, "TESSERA_BLAS_CPU", wide, 32),
                                              (WIDE, "TESSERA_BLAS_CPU64", "libblas.so.3", 64)):
            out, err, _ = run(program, preload=program is PRODUCTS, TESSERA_BLAS="never", **{variable: path})
            self.assertEqual(out, "right\n")
            self.assertIn("%s: %s cannot be opened as a BLAS with integers of %d bits" % (variable, path, bits),
                          err)
        r = subprocess.run([os.environ["TESSERA"], "blas", "--cpu-blas", wide, "true"], stderr=subprocess.PIPE,
                           text=True)
        self.assertEqual(r.returncode, 1)
        self.assertIn("has integers of 64 bits", r.stderr)


if __name__ == "__main__":
    unittest.main()
