"""tessera cache, and what broken entries and folders do to a run: nothing but time.  Unoptimized kernels do here."""

import fcntl
import glob
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import time
import unittest

from cli_support import EXAMPLES, COMMAND, OPERATIONS, SANITIZED, Case, environment, has_opencl

OP, EXAMPLE = next(iter(EXAMPLES.items()))
KERNEL = EXAMPLE["KERNEL"]


class Folder(Case):
    def cache(self, *args, **env):
        return self.succeed("cache", *args, env={"TESSERA_CACHE_DIR": self.path("cache"), **env})

    def test_empty(self):
        r = self.cache()
        self.assertEqual(r.out, "%s: in use\n0 entries, 0 B\n" % self.path("cache"))
        self.assertEqual(os.stat(self.path("cache")).st_mode & 0o777, 0o700)
        self.assertEqual(self.cache("--clear").out,
                         "removed 0 entries from %s\n" % self.path("cache"))

    def test_json(self):
        d = json.loads(self.cache("--json").out)
        self.assertEqual(d, {"schema": "tessera-cache-1", "folder": self.path("cache"),
                             "in_use": True, "why_off": None, "why_read_only": None,
                             "entries": [], "total_bytes": 0})

    def test_folder_of_the_environment(self):
        self.assertIn(self.path("xdg/tessera"), self.cache(
            TESSERA_CACHE_DIR=None, XDG_CACHE_HOME=self.path("xdg")).out)
        self.assertIn(self.path(".cache/tessera"), self.cache(
            TESSERA_CACHE_DIR=None, XDG_CACHE_HOME=None, HOME=self.folder).out)
        self.assertIn("not used", self.cache(
            TESSERA_CACHE_DIR=None, XDG_CACHE_HOME=None, HOME=None).out)

    def test_folder_that_others_can_write(self):
        os.mkdir(self.path("cache"))
        os.chmod(self.path("cache"), 0o770)
        self.assertIn("not used: ", self.cache().out)
        self.assertFalse(json.loads(self.cache("--json").out)["in_use"])
        self.fail_with(1, "cache", "--clear", env={"TESSERA_CACHE_DIR": self.path("cache")},
                       says=self.path("cache"))

    def test_clear_leaves_other_files(self):
        self.cache()
        self.write("cache/notes.txt", "mine")
        self.cache("--clear")
        self.assertEqual(os.listdir(self.path("cache")), ["notes.txt"])


@unittest.skipUnless(has_opencl(), "no OpenCL device")
class Entries(Case):
    def setUp(self):
        super().setUp()
        self.env = {"TESSERA_CACHE_DIR": self.path("cache")}
        self.save_examples()

    def run_once(self):
        r = self.succeed(*EXAMPLE["CALL"], "--json", "--quiet", "--kernel", KERNEL, env=self.env)
        self.check_example(OP)
        return json.loads(r.out)["build"]

    def listed(self):
        return json.loads(self.succeed("cache", "--json", env=self.env).out)["entries"]

    def files(self):
        return [os.path.join(self.path("cache"), e["file"]) for e in self.listed()]

    def test_second_run_is_cached(self):
        first, second = self.run_once(), self.run_once()
        self.assertEqual((first, second), ("compiled", "cached"))
        titles = [e["title"] for e in self.listed()]
        source = "%s/%s_%s.cl" % (OP, OP, KERNEL)
        self.assertTrue(any(source in t for t in titles), titles)
        self.assertTrue(all(e["bytes"] > 0 for e in self.listed()))
        self.assertIn(source, self.succeed("cache", env=self.env).out)
        n = len(titles)
        self.assertRegex(self.succeed("cache", "--clear", env=self.env).out,
                         r"^removed %d entr" % n)
        self.assertEqual(self.listed(), [])
        self.assertEqual(self.run_once(), first)

    def test_saved_programs_serve_their_own_calls(self):
        """What differs in a type, an option or a payload is another program; each, once it is
        saved, gives what it gave."""
        calls = [call for example in EXAMPLES.values() for call in example["PROGRAMS"]]
        self.assertTrue(calls)
        outputs = []
        for wanted in "compiled", "cached":
            for args in calls:
                r = self.succeed(*args, "-o", "o.npy", "--verify", "--json", "--quiet",
                                 env=self.env)
                self.assertEqual(json.loads(r.out)["build"], wanted, args)
                outputs.append(self.load("o.npy").tobytes())
        self.assertEqual(outputs[len(calls):], outputs[:len(calls)])

    def damaged(self, change):
        first = self.run_once()
        for file in self.files():
            with open(file, "rb") as f:
                content = f.read()
            with open(file, "wb") as f:
                f.write(change(content))
        self.assertEqual(self.run_once(), first)
        self.assertEqual(self.run_once(), "cached")

    def test_truncated_entries_are_rebuilt(self):
        self.damaged(lambda content: content[:len(content) // 2])

    def test_empty_entries_are_rebuilt(self):
        self.damaged(lambda content: b"")

    def test_corrupt_entries_are_rebuilt(self):
        self.damaged(lambda content: content[:-9] + bytes([content[-9] ^ 255]) + content[-8:])

    def test_foreign_entries_are_rebuilt(self):
        self.damaged(lambda content: b"\x7fELF" + bytes(200))

    def test_titles_are_plain(self):
        """Whatever wrote an entry."""
        self.assertEqual(self.run_once(), "compiled")
        for file in self.files():
            with open(file, "rb") as f:
                content = f.read()
            title = content.find(b"program ")
            self.assertGreater(title, 0)
            with open(file, "wb") as f:
                f.write(content[:title] + b"\x1b[2J\x7f\xc2\x9b" + content[title + 7:])
        for args in (("cache",), ("cache", "--json")):
            r = self.succeed(*args, env={"TESSERA_CACHE_DIR": self.path("cache")})
            self.assertNotRegex(r.out, "[\x00-\x09\x0b-\x1f\x7f-\x9f]")

    def test_what_stands_in_the_place_of_an_entry(self):
        """The list says why it is none, and whether it is replaced."""
        self.assertEqual(self.run_once(), "compiled")
        file = self.files()[0]
        os.chmod(file, 0o666)
        self.assertIn("others can write it (mode 666); it is replaced",
                      " ".join(e["title"] for e in self.listed()))
        os.remove(file)
        os.mkdir(file)
        self.assertIn("it is no regular file; nothing can be kept in its place",
                      " ".join(e["title"] for e in self.listed()))

    def test_what_cannot_be_kept_is_warned_of(self):
        """Once, with the reason, at the end of the process that could not keep it."""
        self.assertEqual(self.run_once(), "compiled")
        for file in self.files():
            os.remove(file)
            os.mkdir(file)
        r = self.succeed(*EXAMPLE["CALL"], "--quiet", "--kernel", KERNEL, env=self.env)
        self.assertEqual(r.err, "tessera: warning: cache folder '%s': Is a directory: what was built is not kept; "
                                "TESSERA_CACHE_DIR names another, or 'off'\n" % self.path("cache"))

    def test_a_folder_that_others_can_write_is_not_used(self):
        os.mkdir(self.path("cache"))
        os.chmod(self.path("cache"), 0o770)
        self.assertEqual(self.run_once(), "compiled")
        self.assertEqual(self.run_once(), "compiled")
        self.assertEqual(glob.glob(self.path("cache/*")), [])

    def test_entries_are_told_apart(self):
        """Two programs of one file differ in their titles; what a key holds moves no terminal."""
        for args in EXAMPLE["PROGRAMS"]:
            self.succeed(*args, "-o", "o.npy", "--quiet", env=self.env)
        titles = [e["title"] for e in self.listed() if e["title"].startswith("program ")]
        self.assertEqual(len(set(titles)), len(EXAMPLE["PROGRAMS"]))
        for title in titles:
            self.assertRegex(title, r"on .*: .*-D")

    def tune_to_a_kernel(self):
        """The operation with the fewest types, of which tuning puts a kernel in the place of C code, which
        needs nothing built."""
        listed = json.loads(self.succeed("kernels", "--json").out)["operations"]
        op = min(reversed(listed), key=lambda o: len(o["types"]))["op"]
        self.env["TESSERA_TUNING_DIR"] = self.path("tuning")
        os.mkdir(self.path("tuning"))
        self.write("tuning/%s-every-device.json" % op, json.dumps({
            "schema": "tessera-tuning-1", "entries": [{
                "op": op, "class": "", "variant": EXAMPLES[op]["KERNEL"], "parameters": "",
                "problem": "", "device": "", "driver": "", "family": "", "vendor": "", "kind": "",
                "median_ns": 1, "faster_than": EXAMPLES[op]["FIRST_CALL"]}]}))
        return op

    def test_built_ahead(self):
        """What --warm has built, a first call finds."""
        op = self.tune_to_a_kernel()
        r = self.succeed("cache", "--warm", op, "--json", env=self.env)
        warmed = json.loads(r.out)["warmed"]
        self.assertEqual(len(warmed), 1)
        self.assertGreater(warmed[0]["programs"], 0)
        self.assertEqual(r.err, "")
        files = set(self.files())
        self.assertTrue(any("program %s/" % op in e["title"] for e in self.listed()))
        r = self.succeed("cache", "--warm", op, env=self.env)
        self.assertRegex(r.out, r"^.*: %d programs? built in [\d.]+ s\n$" % warmed[0]["programs"])
        self.assertEqual(set(self.files()), files)

    def test_building_ahead_keeps_each_program(self):
        """Soon after it has begun: what was built when it is interrupted stays, of every operation that
        kernels serve at some usual size; under a sanitizer, in which programs take PoCL long, of one."""
        kept = 0
        for op in [self.tune_to_a_kernel()] if SANITIZED else OPERATIONS:
            self.succeed("cache", "--clear", env=self.env)
            # Some kernels take PoCL minutes where it does not optimize.
            listed = json.loads(self.succeed("kernels", op, "--json").out)["operations"][0]
            slow = any(v.get("slow_unless_optimized") for v in listed["variants"])
            env = {**self.env, "POCL_EXTRA_BUILD_FLAGS": None} if slow else self.env
            job = subprocess.Popen([COMMAND, "cache", "--warm", op], cwd=self.folder,
                                   env=environment(**env), stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE)
            deadline = time.monotonic() + 200
            while not self.listed() and job.poll() is None and time.monotonic() < deadline:
                time.sleep(0.1)
            job.send_signal(signal.SIGINT)
            _, err = job.communicate(timeout=100)
            self.assertIn(job.returncode, (0, 130), err)
            self.assertTrue(self.listed() or job.returncode == 0, op)
            kept += bool(self.listed())
            self.assertEqual([f for f in os.listdir(self.path("cache"))
                              if f != "lock" and not f.endswith(".tsr")], [])
        self.assertGreater(kept, 0)

    def test_entries_of_a_driver_that_lost_its_cache(self):
        """Entries that stand for what PoCL keeps end with that: it compiles again, and says so."""
        self.env["POCL_CACHE_DIR"] = self.path("pocl")
        os.mkdir(self.path("pocl"))
        self.assertEqual((self.run_once(), self.run_once()), ("compiled", "cached"))
        if not os.listdir(self.path("pocl")):
            self.skipTest("a driver without a cache of its own")
        shutil.rmtree(self.path("pocl"))
        os.mkdir(self.path("pocl"))
        self.assertEqual((self.run_once(), self.run_once()), ("compiled", "cached"))

    def test_a_folder_that_cannot_be_written(self):
        """What it holds is used, and a warning says once that nothing more is kept."""
        self.env["POCL_CACHE_DIR"] = self.path("pocl")
        os.mkdir(self.path("pocl"))
        self.assertEqual(self.run_once(), "compiled")
        os.chmod(self.path("cache"), 0o500)
        self.addCleanup(os.chmod, self.path("cache"), 0o700)
        call = (*EXAMPLE["CALL"], "--json", "--kernel", KERNEL)
        user = {}
        if os.geteuid() == 0:  # who may write it all the same
            user = {"user": 65534, "group": 65534}
            for folder, _, files in os.walk(self.folder):
                for path in (folder, *(os.path.join(folder, f) for f in files)):
                    os.chown(path, 65534, 65534)
        done = subprocess.run([COMMAND, *call], cwd=self.folder, env=environment(**self.env),
                              capture_output=True, timeout=300, check=False, **user)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count(b"cannot be written: Permission denied"), 1, done.stderr)
        self.assertEqual(json.loads(done.stdout)["build"], "cached")

    def test_building_ahead_refused(self):
        self.fail_with(2, "cache", "--warm", "nosuch", env=self.env, says="nosuch")
        self.fail_with(2, "cache", "--warm", "--clear", env=self.env, says="--clear")
        self.fail_with(2, "cache", OP, env=self.env, says="--warm")
        self.fail_with(2, "cache", "--device", "cpu", env=self.env, says="--device")
        self.fail_with(4, "cache", "--warm", "--device", "gpu", env=self.env)
        self.fail_with(1, "cache", "--warm", OP, "--quiet", env={"TESSERA_CACHE_DIR": "off"},
                       says="nothing is kept")

    def test_an_unusable_folder_is_warned_of_once(self):
        """With its reason, with --quiet too; not where it is asked for."""
        args = (*EXAMPLE["CALL"], "--kernel", KERNEL)
        for folder, times in (self.path("none/file"), 1), ("off", 0):
            self.write("none", "a file")
            r = self.succeed(*args, env={"TESSERA_CACHE_DIR": folder})
            self.assertEqual(r.err.count("is not used: it cannot be made: Not a directory"),
                             times, r)
        # A session on each of two devices.
        r = self.succeed("devices", env={"TESSERA_CACHE_DIR": self.path("none/file"),
                                         "POCL_DEVICES": "pthread pthread"})
        self.assertEqual(r.err.count("is not used: it cannot be made: Not a directory"), 1, r)
        r = self.succeed(*args, "--quiet", env={"TESSERA_CACHE_DIR": self.path("none/file")})
        self.assertEqual(r.err.count("is not used: it cannot be made: Not a directory"), 1, r)

    def run_on_terminal(self, heard, then):
        """What a terminal shows; then() is called once it has shown `heard`."""
        terminal, user = pty.openpty()
        os.mkdir(self.path("pocl"))
        try:
            process = subprocess.Popen(
                [COMMAND, *EXAMPLE["CALL"], "--kernel", KERNEL], cwd=self.folder, stderr=user,
                env=environment(POCL_CACHE_DIR=self.path("pocl"), **self.env))
            os.close(user)
            shown = b""
            while True:
                try:
                    piece = os.read(terminal, 4096)
                except OSError:  # nobody has the other end any more
                    break
                before, shown = shown, shown + piece
                if heard in shown and heard not in before:
                    then()
                if not piece:
                    break
            self.assertEqual(process.wait(300), 0, shown)
        finally:
            os.close(terminal)
        return shown.decode()

    def test_a_terminal_shows_what_is_compiled(self):
        """A slow compiler is simulated by another process that has the entry's lock."""
        self.run_once()
        with open(self.path("cache/lock"), "w") as lock:
            fcntl.lockf(lock, fcntl.LOCK_EX)
            for file in self.files():
                os.remove(file)
            shown = self.run_on_terminal(b"waiting for another process",
                                         lambda: fcntl.lockf(lock, fcntl.LOCK_UN))
        # Without the call where the terminal is too narrow for both.
        self.assertRegex(shown, r"\r\x1b\[K(?:%s[^\r]*: )?waiting for another process that compiles "
                         r"[^\r]*%s[^\r]*, \d+ s" % (EXAMPLE["CALL"][0], KERNEL))
        lines = re.sub(r"[^\n]*\r\x1b\[K", "", shown.replace("\r\n", "\n"))
        self.assertRegex(lines, r"^%s [^\n]*\n$" % EXAMPLE["CALL"][0])

    def test_a_lesson_shows_what_is_compiled(self):
        """By the whole PoCL, as users have it: for half a second and more."""
        os.mkdir(self.path("pocl"))
        shown = self.said_on_terminal(100, "lesson", "tiled", "-o", "page.html", "--device", "cpu",
                                      env={"POCL_CACHE_DIR": self.path("pocl"), "OCL_ICD_VENDORS": None,
                                           "POCL_EXTRA_BUILD_FLAGS": None})
        self.assertRegex("\n".join(shown), r"lesson [a-z-]+: compiling [a-z]+/[a-z_]+\.cl, \d+ s")

    def test_one_process_compiles_for_all(self):
        """Of many that start with an empty cache one compiles; the others wait for its entry."""
        def start():
            return subprocess.Popen([COMMAND, *EXAMPLE["CALL"][:-1], "/dev/null", "--json", "--quiet",
                                     "--kernel", KERNEL], cwd=self.folder, stdout=subprocess.PIPE,
                                    env=environment(**self.env))
        builds = [json.loads(p.communicate(timeout=300)[0])["build"]
                  for p in [start() for _ in range(4)]]
        self.assertEqual(sorted(builds), ["cached"] * 3 + ["compiled"])


if __name__ == "__main__":
    unittest.main()
