"""Bad input: each kind its own message, status 1 or 2, and nothing changed or left behind."""

import os
import pty
import resource
import subprocess
import threading
import unittest

import numpy as np

from cli_support import COMMAND, EXAMPLES, OPERATIONS, SOURCE, Case, environment, npy

HEADER = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }"
DATA = np.ones((2, 2), np.float32).tobytes()

# The call that meets bad files, its first file, and its output.
OP = OPERATIONS[0]
CALL = EXAMPLES[OP]["CALL"]
FILES = list(EXAMPLES[OP]["FILES"])
OUTPUT = EXAMPLES[OP]["RESULT"][0]


class Bad(Case):
    output = "c.npy"

    def setUp(self):
        super().setUp()
        self.write(self.output, "kept as it is")

    def refused(self, *args, status=1, says=(), **options):
        """The command fails with a message, and the folder is as it was."""
        before = {n: self.read(n) for n in self.names()}
        r = self.fail_with(status, *args, "--device", "host", says=says, **options)
        self.assertEqual({n: self.read(n) for n in self.names()}, before, r)
        return r.err

    def read(self, name):
        if not os.path.isfile(self.path(name)):
            return None
        with open(self.path(name), "rb") as f:
            return f.read()


class Call(Bad):
    """The call of an example, with another first file or another output."""

    output = OUTPUT

    def setUp(self):
        super().setUp()
        for name, array in EXAMPLES[OP]["FILES"].items():
            self.save(name, array)

    def call(self, *args, file=FILES[0], output=OUTPUT):
        words = list(CALL)
        words[words.index(FILES[0])] = file
        words[words.index(OUTPUT)] = output
        return (*words, *args)

    def refused_file(self, file, **options):
        return self.refused(*self.call(file=file), **options)

    def refused_output(self, output, **options):
        return self.refused(*self.call(output=output), **options)


class Files(Call):
    def test_missing(self):
        self.refused_file("none.npy", says=("none.npy", "No such file"))
        self.refused_file("", says=("tessera: '': cannot open", "No such file"))

    def test_directory(self):
        os.mkdir(self.path("d"))
        self.refused_file("d", says=("tessera: d: ", "directory"))

    @unittest.skipIf(os.geteuid() == 0, "permission bits do not bind root")
    def test_unreadable(self):
        os.chmod(self.path(self.write("u.npy", "x")), 0)
        self.fail_with(1, *self.call("--device", "host", file="u.npy"),
                       says=("u.npy", "Permission denied"))

    def test_empty_file(self):
        self.refused_file(self.write("e.npy", ""), says=("e.npy", "empty"))

    def test_empty_standard_input(self):
        self.refused_file("-", says="tessera: standard input: ")

    def test_not_an_array(self):
        self.refused_file(self.write("t.npy", "hello"), says=("t.npy", "is not a .npy"))
        self.refused_file(self.write("z.npy", b"PK\x03\x04" + b"\0" * 60), says=("z.npy", "zip"))

    def test_each_npy_defect_has_its_own_message(self):
        header = HEADER.replace
        files = {
            "magic": b"\x93NUMPX" + b"\0" * 100,
            "version": npy(HEADER, DATA, version=(9, 0)),
            "short head": b"\x93NUMPY\x01",
            "short header": npy(HEADER, b"", length=5000),
            "huge header": npy(HEADER, DATA, version=(2, 0), length=0xFFFFFFF0),
            "truncated": npy(HEADER, DATA[:-1]),
            "no data": npy(HEADER),
            "trailing": npy(HEADER, DATA + b"x"),
            "negative": npy(header("(2, 2)", "(-2, 2)"), DATA),
            "huge": npy(header("(2, 2)", "(99999999999999999999999, 2)"), DATA),
            "overflow": npy(header("(2, 2)", "(9223372036854775807, 4)"), DATA),
            "beyond memory": npy(header("(2, 2)", "(1000000000, 1000000)"), DATA),
            "rank 65": npy(header("(2, 2)", "(2, 2%s)" % (63 * ", 1")), DATA),
            "object": npy(header("<f4", "|O"), DATA),
            "complex": npy(header("<f4", "<c8"), DATA),
            "structured": npy(header("'<f4'", "[('a', '<f4')]"), DATA),
            "odd size": npy(header("<f4", "<f3"), DATA),
            "no descr": npy("{'fortran_order': False, 'shape': (2, 2), }", DATA),
            "no order": npy("{'descr': '<f4', 'shape': (2, 2), }", DATA),
            "twice": npy(header("{", "{'shape': (2, 2), "), DATA),
            "unknown key": npy(header("{", "{'colour': 1, "), DATA),
            "order": npy(header("False", "1"), DATA),
            "float shape": npy(header("(2, 2)", "(2.0, 2)"), DATA),
            "code": npy("__import__('os').system('true')", DATA),
            "cut": npy(HEADER[:30], DATA),
            "after": npy(HEADER + " x", DATA),
        }
        seen = {}
        for name, content in files.items():
            message = self.refused_file(self.write("bad.npy", content), says="tessera: bad.npy: ")
            self.assertNotIn(message, seen, (name, seen.get(message)))
            seen[message] = name

    def test_truncation_at_every_byte(self):
        whole = npy(HEADER, DATA)
        for size in range(0, len(whole), 7):
            self.refused_file(self.write("bad.npy", whole[:size]), says="bad.npy")

    def test_each_mtx_defect_has_its_own_message(self):
        banner = "%%MatrixMarket matrix "
        files = {
            "banner": "%%MatrixMarkt matrix array real general\n1 1\n1\n",
            "object": "%%MatrixMarket vector array real general\n1 1\n1\n",
            "format": banner + "dense real general\n1 1\n1\n",
            "complex": banner + "array complex general\n1 1\n1 1\n",
            "hermitian": banner + "coordinate real hermitian\n1 1 1\n1 1 1\n",
            "symmetry": banner + "array real triangular\n1 1\n1\n",
            "no size": banner + "array real general\n",
            "size": banner + "array real general\n2 x\n",
            "negative": banner + "array real general\n-2 2\n",
            "few": banner + "array real general\n2 2\n1\n2\n3\n",
            "many": banner + "array real general\n1 1\n1\n2\n",
            "text": banner + "array real general\n1 2\n1\nfish\n",
            "index": banner + "coordinate real general\n2 2 1\n3 1 1\n",
            "zero": banner + "coordinate real general\n2 2 1\n1 0 1\n",
            "no value": banner + "coordinate real general\n2 2 1\n1 1\n",
            "not square": banner + "array real symmetric\n2 3\n1\n2\n3\n",
            "above": banner + "coordinate real symmetric\n2 2 1\n1 2 1\n",
            "beyond memory": banner + "coordinate real general\n1000000000 1000000000 0\n",
        }
        seen = {}
        for name, content in files.items():
            message = self.refused_file(self.write("bad.mtx", content), says="tessera: bad.mtx: ")
            self.assertNotIn(message, seen, (name, seen.get(message)))
            seen[message] = name


class Outputs(Call):
    def test_missing_folder(self):
        self.refused_output("no/c.npy", says="no/c.npy: cannot create: there is no folder 'no'")

    def test_suffix(self):
        for name in ("c.txt", "c.NPY", "c.npy.gz", "d/c.csv"):
            self.refused_output(name, status=2, says=("output " + name, ".npy", ".mtx"))
        os.mkfifo(self.path("p.fifo"))
        self.refused(*self.call(file="none", output="p.fifo"), says="none")
        os.mkdir(self.path("v1.0"))
        for name in ("/dev/null", "plain", ".hidden", "v1.0/plain", "dot."):
            self.succeed(*self.call("--device", "host", output=name))

    def test_terminal(self):
        terminal, user = pty.openpty()
        try:
            self.refused_output("-", status=2, stdout=user, says=("terminal", "binary", ".mtx"))
        finally:
            os.close(user)
            os.close(terminal)

    def test_directory(self):
        os.mkdir(self.path("d"))
        self.refused_output("d", says="d: ")

    @unittest.skipIf(os.geteuid() == 0, "permission bits do not bind root")
    def test_unwritable_folder(self):
        os.mkdir(self.path("d"), 0o500)
        self.refused_output("d/c.npy", says="Permission denied")

    def test_full_device(self):
        self.refused_output("/dev/full", says=("/dev/full", "No space left"))
        with open("/dev/full", "wb") as full:
            self.refused_output("-", stdout=full, says=("standard output", "No space left"))
            r = self.tessera(*self.call("--json", "--quiet", "--device", "host", output="x.npy"),
                             stdout=full)
            self.assertEqual(r.status, 1, r)

    def test_full_device_of_a_table(self):
        """The cause, where standard output was flushed long before its end too."""
        bench = ("bench", OP, "--size", "64", "--repeat", "1")
        for args in (bench, (*bench, "--csv"), ("kernels", "--json")):
            with open("/dev/full", "wb") as full:
                r = self.tessera(*args, "--device", "host", stdout=full)
            self.assertEqual(r.status, 1, r)
            self.assertEqual(r.err, "tessera: standard output: cannot write: No space left on device\n")

    def test_control_characters_stay_off_the_terminal(self):
        escape = "\x1b[2J\x9b1m\x7f\a.npy"
        for args in ((escape,), self.call(file=escape), self.call(output="none/" + escape),
                     (OP, "--" + escape), ("bench", OP, "--size", escape),
                     ("verify", OP, "--kernel", escape), ("devices", "--device", escape),
                     ("kernels", OP, "--set", escape), ("compare", escape), ("help", escape)):
            r = self.tessera(*args)
            self.assertNotEqual(r.status, 0, r)
            self.assertIn("?[2J", r.err)
            self.assertNotRegex(r.err, "[\x00-\x09\x0b-\x1f\x7f-\x9f]")

    def test_names_of_folders_in_results_are_plain(self):
        """Those of the cache, of kernel files and of what is tuned stand in what is printed."""
        folder = self.path("f\x1b[31m\u202eq")
        os.mkdir(folder, 0o700)
        os.mkdir(folder + "/kernels")
        env = {"TESSERA_CACHE_DIR": folder, "TESSERA_TUNING_DIR": folder}
        for args in (("cache",), ("cache", "--clear"),
                     ("tune", OP, "--size", "64", "--device", "host", "--budget", "0.5"),
                     ("bench", OP, "--size", "64", "--repeat", "1", "--device", "host",
                      "--kernel-dir", folder + "/kernels")):
            r = self.tessera(*args, env=env)
            self.assertIn("f?[31m???q", r.out)
            self.assertNotRegex(r.out, "[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]")

    def test_bytes_of_a_terminal_of_eight_bits(self):
        """A name that is no UTF-8."""
        done = subprocess.run([COMMAND, "compare", b"\x9b1m.json"], cwd=self.folder,
                              env=environment(), stderr=subprocess.PIPE, timeout=60)
        self.assertNotIn(b"\x9b", done.stderr)

    def test_a_folder_deeper_than_a_path_is_long(self):
        """A short relative name works there, also through a link and of a file that exists."""
        top = os.open(self.folder, os.O_RDONLY)
        self.addCleanup(os.close, top)
        here = os.getcwd()
        try:
            os.chdir(self.folder)
            for _ in range(25):
                os.mkdir("d" * 200)
                os.chdir("d" * 200)
            for name, array in EXAMPLES[OP]["FILES"].items():
                np.save(name, array)
            os.symlink(OUTPUT, "link.npy")
            for out in (OUTPUT, OUTPUT, "link.npy"):
                done = subprocess.run(
                    [COMMAND, *self.call("--device", "host", "--quiet", output=out)],
                    env=environment(), stderr=subprocess.PIPE, timeout=60)
                self.assertEqual((done.returncode, done.stderr), (0, b""))
                self.assertTrue(os.path.islink("link.npy"))
                np.testing.assert_array_equal(np.load(OUTPUT), EXAMPLES[OP]["RESULT"][1])
                self.assertEqual(sorted(os.listdir(".")), sorted([*FILES, OUTPUT, "link.npy"]))
        finally:
            os.chdir(here)

    def test_a_long_path_leaves_the_cause(self):
        path = "/".join(["p" * 200] * 9)
        self.refused_file(path, says=("tessera: ppp", ": cannot open: No such file or directory"))

    def test_limit_on_file_sizes(self):
        """The system's signal for it is ignored, so that the write fails and says why."""
        before = self.names()
        done = subprocess.run(
            [COMMAND, *self.call("--device", "host", output="out.npy")],
            cwd=self.folder, env=environment(), stderr=subprocess.PIPE, timeout=60,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)))
        self.assertEqual((done.returncode, done.stderr),
                         (1, b"tessera: out.npy: cannot write: File too large\n"))
        self.assertEqual(self.names(), before)

    def test_pipe_is_written_in_place(self):
        os.mkfifo(self.path("pipe"))
        got = []

        def read():
            with open(self.path("pipe"), "rb") as f:
                got.append(f.read())

        reader = threading.Thread(target=read)
        reader.start()
        self.succeed(*self.call("--device", "host", output="pipe"))
        reader.join()
        self.assertTrue(got[0].startswith(b"\x93NUMPY"))
        self.assertTrue(got[0].endswith(EXAMPLES[OP]["RESULT"][1].tobytes()))
        self.assertEqual(self.names(), sorted([*FILES, OUTPUT, "pipe"]))

    def test_gone_reader(self):
        """Quiet, as with any command in a pipe, and no temporary file is left."""
        with open(os.path.join(SOURCE, "data", "results", "bench-host-epyc2.jsonl"), "rb") as f:
            self.write("rows", f.readline())
        for args in (self.call(output="-"), ("kernels",),
                     ("kernels", OP, "--json"), ("devices",), ("cache",), ("--help",),
                     self.call("--quiet", "--json", output="new.npy"),
                     ("compare", "rows"), ("compare", "rows", "--html", "page"),
                     ("bench", OP, "--size", "64", "--repeat", "1"),
                     ("bench", OP, "--size", "64", "--repeat", "1", "--json"),
                     ("bench", OP, "--size", "64", "--repeat", "1", "--csv")):
            names = self.names()
            reader, writer = os.pipe()
            os.close(reader)
            r = self.tessera(*args, stdout=writer, env={"TESSERA_DEVICE": "host"})
            os.close(writer)
            self.assertEqual((r.status, r.err), (141, ""), r)
            self.assertLessEqual(set(self.names()), {*names, "page", "new.npy"})

    def test_closed_standard_output(self):
        done = subprocess.run(["sh", "-c", '"$@" >&-', "sh", COMMAND, *self.call("--json")],
                              cwd=self.folder, stderr=subprocess.PIPE,
                              env=environment(TESSERA_DEVICE="host"))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.check_example(OP)

    def test_replaced_whole(self):
        os.chmod(self.path(OUTPUT), 0o640)
        self.succeed(*CALL, "--device", "host")
        self.check_example(OP)
        self.assertEqual(os.stat(self.path(OUTPUT)).st_mode & 0o777, 0o640)
        self.assertEqual(self.names(), sorted([*FILES, OUTPUT]))


if __name__ == "__main__":
    unittest.main()
