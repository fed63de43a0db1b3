"""Man pages and completions of every command: what its help has is in them, and no more.

The environment names the command, TESSERA, the folder of the pages and completions, MANUAL, and the
program that reads them, READER.
"""

import os
import re
import subprocess
import tempfile
import unittest

TESSERA, MANUAL, READER = os.environ["TESSERA"], os.environ["MANUAL"], os.environ["READER"]
# Those that list the operations which they take, when they are given another one.
OF_OPERATIONS = ("kernels", "verify", "bench", "roofline", "lab", "tune")


def tessera(*args):
    return subprocess.run([TESSERA, *args], env={**os.environ, "COLUMNS": "80"}, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


COMMANDS = re.findall(r"(?m)^  ([a-z]+)  +[a-z]", tessera("--help").stdout)
HELP = {command: tessera(command, "--help").stdout for command in COMMANDS}


def options(command):
    return ["--" + name for name in re.findall(r"(?m)^  .{4}--([\w-]+)", HELP[command])]


def letters(command):
    return re.findall(r"(?m)^  (-\w), ", HELP[command])


class Read(unittest.TestCase):
    def read(self, *args, stdin=""):
        """What the reader prints, which complains of nothing."""
        with tempfile.TemporaryDirectory() as home:
            env = {**os.environ, "HOME": home, "XDG_CONFIG_HOME": home, "LC_ALL": "C.UTF-8"}
            done = subprocess.run([READER, *args], input=stdin, env=env, cwd=home, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def page(self, part, name):
        """The sections of a page as groff shows it, without the indentation."""
        text = self.read("-man", "-Tascii", "-P-cbou", "-rLL=300n", "-rHY=0",
                         os.path.join(MANUAL, "man%d" % part, "%s.%d" % (name, part)))
        parts = re.split(r"(?m)^([A-Z][A-Z ]+)\n", text)
        return {title: re.sub(r"(?m)^ +", "", part) for title, part in zip(parts[1::2], parts[2::2])}


class Pages(Read):
    def test_a_page_for_each_command(self):
        self.assertGreater(len(COMMANDS), 10)
        self.assertEqual(sorted(os.listdir(os.path.join(MANUAL, "man1"))),
                         sorted(["tessera.1"] + ["tessera-%s.1" % c for c in COMMANDS]))

    def test_no_warnings(self):
        folder = os.path.join(MANUAL, "man1")
        self.read("-man", "-ww", "-z", "-Tutf8", *(os.path.join(folder, n) for n in os.listdir(folder)))

    def test_all_of_the_help(self):
        for command in COMMANDS:
            page = self.page(1, "tessera-" + command)
            with self.subTest(command):
                self.assertRegex(page["NAME"], r"^tessera-%s - \w" % command)
                self.assertTrue(page["SYNOPSIS"].startswith("tessera " + command), page["SYNOPSIS"])
                tags = re.findall(r"(?m)^(?:-\w, )?(--[\w-]+)(?: |$)", page["OPTIONS"])
                self.assertEqual(tags, options(command))
                for letter in letters(command):
                    self.assertRegex(page["OPTIONS"], r"(?m)^%s, --" % letter)
                examples = HELP[command].split("\nExamples:\n")[1].splitlines()
                self.assertEqual(page["EXAMPLES"].strip().splitlines(), [s.strip() for s in examples])

    def test_of_the_command(self):
        page = self.page(1, "tessera")
        for command in COMMANDS:
            self.assertRegex(page["SEE ALSO"], r"\btessera-%s\(1\)" % command)
            self.assertRegex(page["DESCRIPTION"], r"(?m)^%s( |\n)" % command)
        for variable in re.findall(r"(?m)^  (TESSERA_\w+)", tessera("--help").stdout):
            self.assertIn(variable, page["ENVIRONMENT"])


class Completions:
    """What a shell offers for a line.  That of classes below."""

    def test_syntax(self):
        self.read("-n", self.path())

    def test_commands(self):
        self.assertLessEqual(set(COMMANDS), set(self.offered("")))
        self.assertLessEqual({"--help", "--version"}, set(self.offered("-")))

    def test_options(self):
        for command in COMMANDS:
            with self.subTest(command):
                offered = self.offered(command, "-")
                self.assertEqual(sorted(o for o in offered if o.startswith("-")),
                                 sorted(options(command) + letters(command)))

    def test_operations(self):
        for command in OF_OPERATIONS:
            takes = re.search(r"takes ([\w, ]+)\)", tessera(command, "?").stderr)[1].split(", ")
            with self.subTest(command):
                self.assertLessEqual(set(takes), set(self.offered(command, "")))
        self.assertIn("blas", self.offered("tune", ""))

    def test_variants(self):
        """Those of the operation that is named, where a variant is taken."""
        operations = re.search(r"takes ([\w, ]+)\)", tessera("kernels", "?").stderr)[1].split(", ")
        for op in operations[0], operations[-1]:
            listed = re.search(r"\(there are (.*)\)", tessera("kernels", op, "?").stderr)[1].split(", ")
            self.assertGreater(len(listed), 4)
            for words, more in ((("kernels", op), []), (("verify", op), []), ((op, "--kernel"), []),
                                (("verify", op, "--kernel"), ["all"]), (("bench", op, "--kernel"), ["all"]),
                                (("tune", op, "--kernel"), ["all"]), (("trace", op, "--kernel"), []),
                                (("diagnose", op, "--kernel"), [])):
                with self.subTest(words):
                    self.assertEqual(sorted(self.offered(*words, "")), sorted(listed + more))
        self.assertEqual(self.offered("bench", "--kernel", ""), ["all"])
        self.assertIn(operations[-1], self.offered("verify", "--tiny", ""))

    def test_words_of_options(self):
        types = re.search(r" takes (.*), not", tessera("bench", "--type", "?").stderr)[1]
        for command, option, words in (
                ("bench", "--type", re.split(", | or ", types)), ("bench", "--pinned", ["on", "off"]),
                ("blas", "--offload", ["auto", "always", "never"]),
                ("devices", "--device", ["all", "cpu", "gpu", "accelerator", "host"]),
                ("kernels", "--device", ["cpu", "gpu", "accelerator", "host"]),
                ("bench", "--where", ["isnan", "notnan"]), ("bench", "--repeat", [])):
            with self.subTest((command, option)):
                self.assertEqual(sorted(self.offered(command, option, "")), sorted(words))


class Bash(Completions, Read):
    def path(self):
        return os.path.join(MANUAL, "bash-completion", "completions", "tessera")

    def offered(self, *words, by=""):
        return self.read("--norc", "-s", self.path(), "tessera", *words, stdin=by + """
            source "$1"; shift
            compopt() { COMPREPLY+=("<$2>"); }
            COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
            _tessera; printf '%s\\n' "${COMPREPLY[@]}"
            """).split()

    def test_files(self):
        self.assertEqual(self.offered("compare", ""), ["<default>"])
        self.assertEqual(self.offered("compare", "-o", ""), ["<default>"])
        self.assertEqual(self.offered("cache", "--kernel-dir", ""), ["<dirnames>"])
        self.assertEqual(self.offered("devices", ""), [])

    def test_program(self):
        """Commands, and behind one what completes its arguments, else files."""
        self.assertIn("bash", self.offered("blas", "bas"))
        self.assertIn("bash", self.offered("blas", "--device", "cpu", "--", "bas"))
        self.assertEqual(self.offered("blas", "--offload", ""), ["auto", "always", "never"])
        for before in ((), ("--device", "cpu"), ("--device", "=", "cpu", "--log", "x"), ("--",)):
            for words in ((), ("-",), ("--offload", ""), ("x", "")):
                words = ("blas", *before, "bash", *(words or [""]))
                self.assertEqual(self.offered(*words), ["<default>"], words)
                self.assertEqual(self.offered(*words, by="_command_offset() { COMPREPLY=(at $1); }"),
                                 ["at", str(2 + len(before))], words)

    def test_equals_sign(self):
        self.assertEqual(self.offered("bench", "--pinned", "="), ["on", "off"])
        self.assertEqual(self.offered("bench", "--pinned", "=", "of"), ["off"])


class Zsh(Completions, Read):
    def path(self):
        return os.path.join(MANUAL, "zsh", "site-functions", "_tessera")

    def offered(self, *words):
        """What it hands to _arguments, which is not there without a terminal."""
        specs = self.read("-f", "-s", os.path.dirname(self.path()), "tessera", *words, stdin="""
            fpath=($1); shift; words=("$@"); CURRENT=$#
            _arguments() { print -rl -- "$@"; }
            _describe() { print -rl -- "${(@P)4}"; }
            compadd() { print -rl -- "$@"; }
            autoload -U _tessera; _tessera; print -- -----; _tessera_variants
            """).splitlines()
        at = specs.index("-----")
        specs, variants = specs[:at], specs[at + 1:]
        if len(words) == 1:
            return [re.match(r"[\w-]+", s)[0] for s in specs if re.match(r"[\w-]", s)]
        if words[-1] == "-":
            return [m[1] for m in (re.match(r"(?:\*|\(.*?\))?(-[\w-]+)[+=]?\[", s) for s in specs) if m]
        name = (words[-2] if len(words) > 2 and words[-2].startswith("-") and words[-2] != "--tiny" else
                "2:variant" if len(words) > 2 and words[-2] != "--tiny" else r"(?:\*|1):operation")
        takes = [m for m in (re.match(r"(?:\*|\(.*?\))?%s\b.*?:(?:\(([^)]*)\)|_tessera_variants(.*))$" % name, s)
                             for s in specs) if m]
        if takes and takes[0][1] is None:
            return takes[0][2].split() + [word for word in variants if word]
        return takes[0][1].split() if takes else []

    def test_program(self):
        specs = self.read("-f", "-s", os.path.dirname(self.path()), stdin="""
            fpath=($1); words=(tessera blas ""); CURRENT=3
            _arguments() { print -rl -- "$@"; }
            autoload -U _tessera; _tessera
            """).splitlines()
        self.assertIn("(-)1:program: _command_names -e", specs)
        self.assertIn("*::argument: _normal", specs)


class Fish(Completions, Read):
    def path(self):
        return os.path.join(MANUAL, "fish", "vendor_completions.d", "tessera.fish")

    def offered(self, *words):
        lines = self.read("--no-config", "-c", "source $argv[1]; complete -C $argv[2]", self.path(),
                          " ".join(("tessera", *words))).splitlines()
        return [line.split("\t")[0] for line in lines]

    def test_program(self):
        """Commands, and behind one its own arguments, and files."""
        folder = os.path.join(MANUAL, "zsh", "")
        self.assertIn("bash", self.offered("blas", "bas"))
        self.assertIn("bash", self.offered("blas", "--device", "cpu", "--", "bas"))
        for before in ((), ("--device", "cpu"), ("--device=cpu", "--log", "x"), ("--",)):
            words = ("blas", *before, "bash")
            self.assertEqual(self.offered(*words, folder), [folder + "site-functions/"], words)
            self.assertEqual(self.offered(*words, "x", folder), [folder + "site-functions/"], words)
            self.assertNotIn("--offload", self.offered(*words, "--"), words)
        self.assertIn("--offload", self.offered("blas", "--"))


if __name__ == "__main__":
    unittest.main()
