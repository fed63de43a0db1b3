"""Man pages of the library and of concepts, and the documents that are installed.

As test_manual.py; TESSERA_SOURCE is the source tree.
"""

import glob
import html
import html.parser
import os
import re
import subprocess
import sys
import unittest

from test_manual import MANUAL, Read

SOURCE = os.environ["TESSERA_SOURCE"]
sys.path += [os.path.join(SOURCE, "tests", "docs"), os.path.join(SOURCE, "packaging")]

import header_pages  # noqa: E402
import test_links  # noqa: E402

HEADERS = [path for path in sorted(glob.glob(os.path.join(SOURCE, "include", "tessera", "*.h")))
           if os.path.basename(path) != "tessera.h"]
PAGES = sorted(glob.glob(os.path.join(MANUAL, "man[1-9]", "*.*")))
KEYWORDS = {"TSR_API", "bool", "char", "cl_context", "cl_event", "cl_uint", "cl_command_queue",
            "cl_mem", "const", "define", "double", "enum", "int", "int64_t", "size_t", "struct",
            "typedef", "uint64_t", "union", "void"}


def source_of(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def code_of(path):
    """What a header declares, without comments, conditions and values of macros."""
    text = re.sub(r"(?s)/\*.*?\*/", "", source_of(path))
    text = re.sub(r"(?s)#ifdef __cplusplus.*?#endif|#if defined.*?#endif", "", text)
    text = re.sub(r"(?m)^#define (TSR_\w+)(?:.*\\\n)*.*", r"\1", text)
    return re.sub(r"(?m)^#.*$", "", text)


class Library(Read):
    def test_no_warnings(self):
        self.read("-man", "-ww", "-z", "-Tutf8", "-I" + MANUAL, *(p for p in PAGES if "/man1/" not in p))

    def test_all_that_is_declared(self):
        """Each word of a header's code is on its page, and each function and type has one."""
        for path in HEADERS:
            header, code = os.path.basename(path), code_of(path)
            functions = re.findall(r"TSR_API [^;(]*?(tsr_\w+)\(", code)
            types = re.findall(r"(?m)^(?:typedef struct \w+ |\} |typedef enum.*\} )(tsr_\w+);", code)
            files = {name: source_of(os.path.join(MANUAL, "man3", name + ".3"))
                     for name in functions + types}
            (own,) = (name for name, text in files.items() if not text.startswith(".so "))
            page = self.page(3, own)
            self.assertIn("#include <tessera/%s>" % header, page["SYNOPSIS"])
            # A comment between two members would be taken for one.
            self.assertNotRegex(page.get("TYPES", ""), r"(?m)^ *[*/]", own)
            for name, text in files.items():
                self.assertTrue(name == own or text == ".so man3/%s.3\n" % own, name)
                self.assertRegex(page["NAME"], r"\b%s\b" % name)
                self.assertIn(name + "()" if name in functions else name,
                              page["FUNCTIONS" if name in functions else "TYPES"])
            shown = set(re.findall(r"\w+", " ".join(page.values())))
            self.assertEqual(set(re.findall(r"\b[A-Za-z]\w*", code)) - KEYWORDS - shown, set(), header)

    def test_overview(self):
        page = self.page(3, "libtessera")
        for path in HEADERS:
            self.assertIn(os.path.basename(path), page["HEADERS"])
        for title, word in (("PARAMETERS", "session"), ("CONVENTIONS", "tsr_status"),
                            ("ON BUFFERS AND A QUEUE OF YOUR OWN", "tsr_session_adopt"),
                            ("EXAMPLES", "own_queue")):
            self.assertIn(word, page[title])


    def test_parameters(self):
        """Each parameter of each function is described, and no other."""
        for path in HEADERS:
            for d in header_pages.Header(path).declarations:
                if d.function:
                    names = d.parameter_names()
                    self.assertTrue(d.comment, d.function)
                    self.assertLessEqual(set(d.comment.params), set(names), d.function)
                    self.assertLessEqual(set(names), {*d.comment.params, *header_pages.COMMON}, d.function)


class Environment(Read):
    def test_every_variable(self):
        """What the code asks for is said in tessera(7) or tessera-blas(7)."""
        asked, unnamed = set(), 0
        for folder in "host", "blas", "python":
            for path in glob.glob(os.path.join(SOURCE, folder, "**", "*.[ch]"), recursive=True):
                text = source_of(path)
                asked |= set(re.findall(r'getenv\("(\w+)"\)|"(TESSERA_\w+)"|"(\w+_NUM_THREADS)"', text))
                unnamed += len(re.findall(r"\bgetenv\((?!\")", text))
        asked = {name for names in asked for name in names if name}
        self.assertEqual(unnamed, 2, "getenv() of a table: blas/cpu.c has two")
        self.assertGreater(len(asked), 15)
        text = self.page(7, "tessera")["ENVIRONMENT"] + self.page(7, "tessera-blas")["ENVIRONMENT"]
        said = {name for tags in re.findall(r"(?m)^([A-Z_\d]+(?:, [A-Z_\d]+)*)(?= |$)", text)
                for name in tags.split(", ")}
        self.assertEqual(asked - said, set())

    def test_exit_statuses(self):
        help_text = subprocess.run([os.environ["TESSERA"], "--help"], stdout=subprocess.PIPE, text=True).stdout
        listed = re.findall(r"(?m)^  (\d+)  ", help_text)
        self.assertEqual(re.findall(r"(?m)^(\d+)(?: |$)", self.page(7, "tessera")["EXIT STATUS"]), listed)


class Names(Read):
    def test_pages_have_names(self):
        """What whatis and apropos find."""
        pages = [p for p in PAGES if not source_of(p).startswith(".so ")]
        found = self.read(*pages).splitlines()
        self.assertEqual({line.split(":")[0] for line in found}, set(pages))

    def test_references(self):
        """A page that another one names is there."""
        there = {tuple(os.path.basename(p).rsplit(".", 1)) for p in PAGES}
        for path in PAGES:
            for reference in re.findall(r"(?m)^\.BR (\S+) \((\d)\)", source_of(path).replace("\\-", "-")):
                if not (reference[1] == "1" and not os.path.isdir(os.path.join(MANUAL, "man1"))):
                    self.assertIn(reference, there, path)


class Man(Read):
    def test_no_warnings(self):
        """As a user reads them: one of each kind, since all are read by groff above."""
        for page in "man7/tessera.7", "man7/tessera-blas.7", "man3/libtessera.3", "man3/tsr_session.3":
            shown = self.read("--warnings", "-E", "UTF-8", "-P", "cat", "-l", os.path.join(MANUAL, page))
            self.assertIn("SEE ALSO", shown)


class Links(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.targets = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.targets += [value for name, value in attributes if name in ("href", "src") and value]


class Documents(unittest.TestCase):
    folder = os.path.realpath(os.path.join(MANUAL, "doc"))

    def files(self, pattern):
        return glob.glob(os.path.join(self.folder, "**", pattern), recursive=True)

    def test_documents(self):
        """Links lead to what is installed, by the paths that they have there."""
        self.assertGreater(len(self.files("*.md")), 20)
        for path in self.files("*.md"):
            self.assertEqual(list(test_links.broken(path)), [], path)
            self.check(path, [a or b for a, b in test_links.LINK.findall(source_of(path))])

    def test_html(self):
        for path in self.files("*.html"):
            self.check(path, Links(source_of(path)).targets)

    def check(self, path, targets):
        for target in targets:
            if re.match(r"https?:|#|javascript:", target):
                continue
            there = os.path.realpath(os.path.join(os.path.dirname(path), re.sub("[#?].*", "", target)))
            self.assertTrue(there.startswith(self.folder + os.sep), (path, target))
            self.assertTrue(os.path.exists(there), (path, target))

    def test_examples(self):
        """Those that docs/library.md leads to are there, and what they include."""
        programs = re.findall(r"\]\(\.\./(examples/\w+\.c)\)", source_of(self.folder + "/docs/library.md"))
        self.assertIn("examples/own_queue.c", programs)
        for path in self.files("examples/*.c"):
            for name in re.findall(r'#include "([\w.]+)"', source_of(path)):
                self.assertTrue(os.path.exists(os.path.join(os.path.dirname(path), name)), (path, name))


class Reference(unittest.TestCase):
    """The pages that Doxygen makes of the headers."""

    def text(self, name):
        return " ".join(re.sub(r"<[^>]*>", " ", html.unescape(source_of(
            os.path.join(MANUAL, "doc", "html", name + ".html")))).split())

    def test_functions(self):
        for path in HEADERS:
            text = self.text(os.path.basename(path).replace(".", "_8"))
            for name in re.findall(r"TSR_API [^;(]*?(tsr_\w+)\(", code_of(path)):
                self.assertIn(" %s() " % name, text)

    def test_first_page(self):
        """It is docs/library.md, and leads to the pages of headers and to examples."""
        page = source_of(os.path.join(MANUAL, "doc", "html", "index.html"))
        for target in "session_8h.html", "../examples/own_queue.c", "../docs/blas.md", "examples.html":
            self.assertIn('href="%s"' % target, page)


del Read  # a class of its own would be a test without tests

if __name__ == "__main__":
    unittest.main()
