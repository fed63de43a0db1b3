"""The public headers as man pages, and as Doxygen reads them.

    header_pages.py FILE    write a header, its comments in Doxygen's form, or a document, its links
                            as HTML, to standard output

A man page is what one header declares.  It has the name of the header where something is called so,
else that of its first function or type, and its other names lead to it.  What comments need not say
of parameters that nearly every function has stands here once.
"""

import glob
import os
import re
import sys
import textwrap

import roff

COMMON = {
    "session": "An open session.",
    "problem": "The problem: its type, sizes and layout.",
    "run": "What to run, and which events to wait for.  NULL: the best variant, at once.",
    "report": "Receives what ran, and how long it took.  May be NULL.",
    "err": "Receives what failed, in one line.  May be NULL.",
    "arrays": "What it works on, in host memory.",
    "buffers": "What it works on, in OpenCL buffers of the session's context.",
    "list": "A list of devices.",
    "device": "A device, borrowed from its list.",
    "operation": "An operation, of tsr_operation_get.",
    "type": "The type of the elements.",
}
# A line of what a function returns that begins with what it explains.
STATUS = re.compile(r"(TSR_E[A-Z]+(?:, TSR_E[A-Z]+)*)(?:\s+|$)")


class Comment:
    """A comment: paragraphs as lists of lines, parameters and what is returned."""

    def __init__(self, text):
        self.paragraphs, self.params, self.returns, self.statuses = [[]], {}, None, []
        into = self.paragraphs[0]
        for line in re.sub(r"\A/\*+ ?|\s*\*+/\s*\Z", "", text).split("\n"):
            line = re.sub(r"^\s*\* ?", "", line).rstrip()
            tag = re.match(r"@(?:param\s+(\w+)|return)\s+(.*)", line)
            status = STATUS.match(line.strip()) if self.returns else None
            if tag:
                into = [tag[2]]
                if tag[1]:
                    self.params[tag[1]] = into
                else:
                    self.returns = into
            elif status:
                into = [line.strip()[status.end():]]
                self.statuses.append((status[1], into))
            elif line:
                into.append(line)
            else:
                into = []
                self.paragraphs.append(into)
        self.paragraphs = [p for p in self.paragraphs if p]

    def sentence(self):
        """The first one, without its end."""
        return re.split(r"\.(?:\s|$)", joined(self.paragraphs[0]).replace("`", ""))[0]


class Declaration:
    """What one comment belongs to: a function, types, a macro, or only text."""

    def __init__(self, text):
        comment, self.code = re.match(r"(?s)(/\*.*?\*/\n)?(.*)\Z", text.strip() + "\n").groups()
        self.comment = Comment(comment.strip()) if comment else None
        function = re.match(r"(?s)TSR_API\s+(.*?)(tsr_\w+)\((.*)\);", self.code)
        self.returns, self.function, parameters = function.groups() if function else ("", None, "")
        self.parameters = [" ".join(p.split()) for p in parameters.split(",") if p.strip() != "void"] \
            if function else []
        self.types = [] if function else re.findall(
            r"(?m)^(?:typedef .*?\(\*|typedef struct \w+ |\}|typedef .*\} )\s*(tsr_\w+)\b", self.code)
        self.macros = re.findall(r"(?m)^#define (TSR_(?!API)\w+)", self.code)

    def parameter_names(self):
        return [re.search(r"(\w+)(?:\[\w*\])?$", p)[1] for p in self.parameters]

    def members(self):
        """Of structures, unions and enumerations: (declaration, comment) of each."""
        body = re.search(r"(?s)\{(.*)\}", self.code)[1]
        if re.search(r"\benum\b", self.code):
            found = re.findall(r"(?s)()([^,/]*[^,/\s]),?(?:\s*/\*(.*?)\*/)?", body)
        else:
            found = re.findall(r"(?s)(?:/\*\*(.*?)\*/)?([^;/]+;)(?:\s*/\*(?!\*)(.*?)\*/)?", body)
        return [(joined([text]), joined([re.sub(r"(?m)^\s*\* ?", "", before), behind]))
                for before, text, behind in found]


class Header:
    def __init__(self, path):
        with open(path, encoding="utf-8") as f:
            text = f.read()
        self.name = os.path.basename(path)
        about, rest = re.match(r"(?s)(/\*\*.*?\*/)(.*)", text).groups()
        self.about = Comment(about)
        rest = re.sub(r"(?s)#ifdef __cplusplus\n.*?#endif\n", "", rest)
        rest = re.sub(r"#endif\s*\Z|#ifndef (TESSERA_\w+)\n#define \1\n|#include .*\n", "", rest)
        found = [Declaration(part) for part in re.split(r"\n\s*\n", rest) if part.strip()]
        self.declarations = [d for d in found if d.function or d.types or d.macros or not d.code
                             or d.code.startswith("enum")]
        functions = [d.function for d in found if d.function]
        names = functions + [name for d in found for name in d.types]
        own = "tsr_" + self.name.removesuffix(".h")
        self.names = sorted(names, key=lambda name: name != own)
        self.tree = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(path))))

    def examples(self):
        """The names of the programs in examples/."""
        for path in sorted(glob.glob(os.path.join(self.tree, "examples", "*.c"))):
            with open(path, encoding="utf-8") as f:
                if "\nint main(" in f.read():
                    yield os.path.basename(path)


def joined(lines):
    return " ".join(" ".join(lines).split())


# ---- man pages -----------------------------------------------------------------------------


def text_of(lines):
    """A paragraph of a comment, in which names of the library are bold."""
    text = roff.inline(joined(lines), links=False)
    return re.sub(r"\\%(tsr_\w+)", r"\\fB\\%\1\\fR", text)


def paragraphs(comment):
    out = []
    for p in comment.paragraphs if comment else []:
        out += roff.literal(textwrap.dedent("\n".join(p)).split("\n")) if p[0].startswith("    ") else \
            [".PP", text_of(p)]
    return out


def tagged(tag, lines):
    return [".TP", "\\fB%s\\fR" % roff.escaped(tag)] + list(filter(None, [text_of(lines)]))


def prototype(d):
    """Lines that end between parameters."""
    parameters = ", ".join(p.replace(" ", "\0") for p in d.parameters) or "void"
    text = "%s%s(%s);" % (d.returns, d.function, parameters)
    return [line.replace("\0", " ") for line in textwrap.wrap(text, 70, subsequent_indent="    ")]


def function(d):
    out = [".SS " + roff.escaped(d.function + "()")] + paragraphs(d.comment)
    for name, lines in d.comment.params.items():
        out += [".TP", "\\fI%s\\fR" % name, text_of(lines)]
    if d.comment.returns:
        out += [".PP", "Returns " + text_of(d.comment.returns)]
    for names, lines in d.comment.statuses:
        out += tagged(names, lines)
    return out


def types(d):
    if d.macros:
        lines = [re.sub(r"\s*\\$", "", line) for line in d.code.rstrip().split("\n")]
        head = [line for line in lines if line.startswith("#define")]
        return [".SS " + roff.escaped(", ".join(d.macros))] + paragraphs(d.comment) + \
            (roff.literal(head) if len(head) > 1 else [])
    head = re.search(r"(?:struct|enum|union)\b", d.code)
    kind = head[0] if head and "{" in d.code else ""
    out = [".SS " + roff.escaped(" ".join(filter(None, (kind, ", ".join(d.types)))) or "Constants")]
    out += paragraphs(d.comment)
    if not kind:
        return out + roff.literal(re.sub(r" *\n +", " ", d.code).rstrip().split("\n"))
    out += [".PP", ".PD 0"]
    for declaration, comment in d.members():
        out += tagged(declaration, [comment])
    return out + [".PD"]


def man_page(header, pages, version):
    """The page of a header.  `pages` has the name of the page of each function and type."""
    declarations = header.declarations
    functions = [d for d in declarations if d.function]
    others = [d for d in declarations if d.code and not d.function]
    synopsis = [".EX", "#include <tessera/%s>" % header.name]
    for d in functions:
        synopsis += [""] + [roff.escaped(line) for line in prototype(d)]
    parts = [("SYNOPSIS", synopsis + [".EE"]), ("DESCRIPTION", paragraphs(header.about))]
    if others:
        parts.append(("TYPES", [line for d in others for line in types(d)]))
    if functions:
        body = [".PP", "Parameters that are not named here are those of \\fBlibtessera\\fR(3)."]
        parts.append(("FUNCTIONS", body + [line for d in declarations if d.function or not d.code
                                           for line in (function(d) if d.function else
                                                        paragraphs(d.comment))]))
    mentioned = {pages[name] for part in parts for name in re.findall(r"tsr_\w+", "\n".join(part[1]))
                 if name in pages}
    see_also = [("libtessera", 3)] + [(name, 3) for name in sorted(mentioned - {header.names[0]})]
    if header.name == "blas.h":
        see_also.append(("tessera-blas", 7))
    return roff.page(header.names, 3, header.about.sentence(), parts, see_also, version)


# ---- Doxygen -------------------------------------------------------------------------------


def doxygen_comment(d):
    c = d.comment
    lines = [line for p in c.paragraphs for line in [*p, ""]]
    lines += ["@param %s %s" % (name, joined(c.params.get(name) or [COMMON[name]]))
              for name in d.parameter_names() if name in c.params or name in COMMON]
    if c.returns:
        lines.append("@return " + joined(c.returns))
    elif d.function and d.returns.strip() == "tsr_status":
        lines.append("@return TSR_OK, or the status of what failed.")
    elif d.function and d.returns.strip() != "void":
        lines.append("@return " + c.sentence() + ".")
    for names, text in c.statuses:
        lines += ["@retval %s %s" % (name, joined(text) or "See ::tsr_status.") for name in names.split(", ")]
    return "/**\n%s\n */\n" % "\n".join(" * " + line for line in lines)


def for_doxygen(header):
    out = ["/**\n * @file\n%s\n */\n" % "\n".join(
        " * " + line for p in header.about.paragraphs for line in [*p, ""])]
    for d in header.declarations:
        if d.code:
            code = d.code if d.function or d.macros else re.sub(r"/\*(?!\*)", "/**<", d.code)
            out.append((doxygen_comment(d) if d.comment else "") + code)
    if header.name == "tessera.h":
        out += ["/** @example %s */\n" % name for name in header.examples()]
    return "\n".join(out)


def document_for_doxygen(path):
    """Documents and examples lie beside the folder of its pages."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    return re.sub(r"\[([^\]]*)\]\(([\w./#-]+)\)", lambda link: '<a href="%s">%s</a>' % (
        os.path.normpath(os.path.join("../docs", link[2])), link[1].replace("`", "")), text)


if __name__ == "__main__":
    file = sys.argv[1]
    print(for_doxygen(Header(file)) if file.endswith(".h") else document_for_doxygen(file))
