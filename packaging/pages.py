"""Man pages of sections 3 and 7 and the documents that are installed, from docs/ and the headers.

    pages.py SOURCE FOLDER VERSION

SOURCE is the source tree.  FOLDER receives man3/, man7/ and doc/, which is the README, docs/ and
examples/ with links among themselves alone.
"""

import glob
import os
import re
import shutil
import sys

import header_pages
import roff

TESSERA = "run operations on OpenCL devices, and measure them"
# The sections of pages: title, file of docs/ and heading in it, "" being what opens it.
TESSERA_7 = (
    ("DESCRIPTION", "command.md", ""), ("CONCEPTS", "command.md", "Concepts"),
    ("DEVICES", "devices.md", "Choosing one"), ("PRECISION", "precision.md", "What a result promises"),
    ("INPUT AND OUTPUT FILES", "files.md", ""), ("NUMPY FILES", "files.md", "NumPy, `.npy`"),
    ("MATRIX MARKET FILES", "files.md", "Matrix Market, `.mtx`"),
    ("PICTURES", "files.md", "Pictures, `.png`, `.ppm`, `.pgm`"), ("TYPES", "files.md", "Types"),
    ("CACHE", "cache.md", ""), ("TUNING", "tuning.md", ""),
    ("OUTPUT AND ERRORS", "command.md", "Output and errors"),
    ("EXIT STATUS", "command.md", "Exit status"), ("ENVIRONMENT", "command.md", "Environment"),
    ("FILES", "command.md", "Files"), ("EXAMPLES", "command.md", "Examples"))
BLAS_7 = (
    ("DESCRIPTION", "blas.md", ""), ("WHAT RUNS ON THE DEVICE", "blas.md", "What runs on the device"),
    ("MATRICES THAT STAY", "blas.md", "Matrices that stay"), ("HOW", "blas.md", "How"), ("ERRORS", "blas.md", "When something fails"),
    ("LIMITS", "blas.md", "What it does not reach"), ("ENVIRONMENT", "blas.md", "Environment"),
    ("LOG", "blas.md", "The log"))
LIBRARY_3 = (
    ("DESCRIPTION", "library.md", ""), ("CONVENTIONS", "library.md", "Conventions"),
    ("ON HOST MEMORY", "library.md", "On host memory"),
    ("ON BUFFERS AND A QUEUE OF YOUR OWN", "library.md", "On buffers and a queue of your own"),
    ("HEADERS", "library.md", "Headers"), ("ENVIRONMENT", "library.md", "Environment"),
    ("EXAMPLES", "library.md", "Examples"))
SYNOPSIS = [".EX", "#include <tessera/tessera.h>", "",
            "cc program.c $(pkg\\-config \\-\\-cflags \\-\\-libs tessera)", ".EE"]


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as f:
        return f.read()


def write(text, *path):
    os.makedirs(os.path.dirname(os.path.join(*path)), exist_ok=True)
    with open(os.path.join(*path), "w", encoding="utf-8") as f:
        f.write(text)


def sections(source, parts):
    """Titles and lines of roff.  Where the text names a document, it is the page that has it."""
    def reference(link):
        if link[1] == "blas.md":
            return "tessera-blas(7)"
        title = next((t for t, name, _ in TESSERA_7 if name == link[1]), None)
        if not title:
            return "docs/" + link[1]
        return title if parts is TESSERA_7 else title + " in tessera(7)"

    return [(title, roff.from_markdown(re.sub(r"\[(\w+\.md)\]\([^)]*\)", reference,
                                              roff.part_of(read(source, "docs", name), heading))))
            for title, name, heading in parts]


def man_pages(source, version):
    """(section, name, text) of each page."""
    headers = [header_pages.Header(path)
               for path in sorted(glob.glob(os.path.join(source, "include", "tessera", "*.h")))
               if os.path.basename(path) != "tessera.h"]
    page_of = {name: header.names[0] for header in headers for name in header.names}
    for name, target in page_of.items():
        header = next(h for h in headers if h.names[0] == target)
        yield 3, name, (header_pages.man_page(header, page_of, version) if name == target else
                        ".so man3/%s.3\n" % target)
    parts = sections(source, LIBRARY_3)
    common = [line for name, text in header_pages.COMMON.items()
              for line in (".TP", "\\fI%s\\fR" % name, roff.inline(text))]
    parts.insert(2, ("PARAMETERS", [".PP", "What pages of functions do not say again:"] + common))
    yield 3, "libtessera", roff.page(
        ["libtessera"], 3, "operations on every OpenCL device, from C", [("SYNOPSIS", SYNOPSIS)] + parts,
        [(h.names[0], 3) for h in headers] + [("tessera", 7)], version)
    yield 7, "tessera", roff.page(["tessera"], 7, TESSERA, sections(source, TESSERA_7),
                                  [("tessera", 1), ("tessera-blas", 7), ("libtessera", 3)], version)
    yield 7, "tessera-blas", roff.page(
        ["tessera-blas"], 7, "BLAS for existing programs, on the device where that is faster",
        sections(source, BLAS_7), [("tessera-blas", 1), ("tessera-tune", 1), ("tsr_blas_keep", 3), ("tessera", 7)],
        version)


def with_own_links(text, folder, installed):
    """Markdown of a folder of the tree: links to what is not installed become their texts."""
    def kept(link):
        target = os.path.normpath(os.path.join(folder, link[2].partition("#")[0]))
        outside = not re.match(r"[a-z]+:|#", link[2]) and target not in installed
        return link[1] if outside else link[0]

    return re.sub(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)", kept, text)


def documents(source, folder):
    """The README, docs/ and examples/ below `folder`."""
    paths = ["README.md", "CHANGELOG.md", *(
        os.path.relpath(path, source) for pattern in ("docs/*.md", "docs/images/*", "docs/course/*", "examples/*.[ch]")
        for path in glob.glob(os.path.join(source, pattern)))]
    installed = set(paths) | {"docs", "docs/images", "docs/course", "examples"}
    for path in paths:
        to = os.path.join(folder, path)
        os.makedirs(os.path.dirname(to), exist_ok=True)
        if path.endswith(".md"):
            write(with_own_links(read(source, path), os.path.dirname(path), installed), to)
        else:
            shutil.copyfile(os.path.join(source, path), to)


def main():
    source, folder, version = sys.argv[1:]
    # A page that is gone is not left behind.
    for name in "man3", "man7", "doc":
        shutil.rmtree(os.path.join(folder, name), ignore_errors=True)
    for section, name, text in man_pages(source, version):
        write(text, folder, "man%d" % section, "%s.%d" % (name, section))
    documents(source, os.path.join(folder, "doc"))


if __name__ == "__main__":
    main()
