"""No function has more than eight parameters; beyond that a structure has them.

    check_parameters.py TREE       read the kernels and the C code of a source tree
    check_parameters.py --control  show that longer lists are found, in texts made up

Of kernels and their inline functions too.  Parameters that a macro brings count as one.
"""

import os
import re
import sys

MOST = 8
FOLDERS = ["cl", "host", "include", "bench", "blas"]
SUFFIXES = (".c", ".h", ".cl", ".clh")

KEYWORDS = {"if", "for", "while", "switch", "return", "sizeof", "defined"}


def blank(match):
    """As many lines, with nothing in them."""
    return re.sub(r"[^\n]", " ", match[0])


def plain(text):
    """C code without comments, directives and literals."""
    text = re.sub(r"/\*.*?\*/", blank, text, flags=re.S)
    text = re.sub(r"//[^\n]*", blank, text)
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", blank, text, flags=re.M)
    return re.sub(r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", "0", text)


def closing(text, at):
    """Where the bracket that opens before `at` closes, and how many commas are between."""
    depth, commas = 1, 0
    while at < len(text) and depth:
        depth += text[at] in "([{"
        depth -= text[at] in ")]}"
        commas += text[at] == "," and depth == 1
        at += 1
    return at, commas


def functions(text):
    """(line, name, number of parameters) of each function that is defined."""
    text = plain(text)
    for match in re.finditer(r"\b([A-Za-z_]\w*)\s*\(", text):
        if match[1] in KEYWORDS:
            continue
        end, commas = closing(text, match.end())
        if text[end:].lstrip().startswith("{"):
            yield text.count("\n", 0, match.start()) + 1, match[1], commas + 1


def judge(tree):
    wrong, count = [], 0
    for folder in FOLDERS:
        for path, _, names in os.walk(os.path.join(tree, folder)):
            for name in sorted(names):
                file = os.path.relpath(os.path.join(path, name), tree)
                if not name.endswith(SUFFIXES):
                    continue
                with open(os.path.join(tree, file), encoding="utf-8") as f:
                    for line, function, parameters in functions(f.read()):
                        count += 1
                        if parameters > MOST:
                            wrong.append("%s:%d: %s has %d parameters; a structure takes more than "
                                         "%d" % (file, line, function, parameters, MOST))
    return wrong, count


def control():
    nine = "int a, int b, int c, int d, int e, int f, int g, int h, int i"
    found = {"static void f(%s)\n{\n}" % nine: [9],
             "void f(int a)\n{\n    g(1, 2, 3, 4, 5, 6, 7, 8, 9);\n}": [1],
             "IN_REGISTERS void f(const int x[2][3], int y)\n{\n}": [2],
             "/* f(%s) { */ int g(int a, void (*b)(int, int))\n{ if (f(1, 2)) { } }" % nine: [2],
             '__kernel __attribute__((reqd_work_group_size(G, 1, 1))) void\nf(%s)\n{\n}' % nine:
                 [9]}
    for text, counts in found.items():
        got = [parameters for _, name, parameters in functions(text) if name in "fg"]
        if got != counts:
            sys.exit("%r: counted %s, not %s" % (text, got, counts))


def main():
    if sys.argv[1:] == ["--control"]:
        control()
        return
    wrong, count = judge(sys.argv[1])
    print("\n".join(wrong) if wrong else "%d functions, none with more than %d parameters" %
          (count, MOST))
    if count < 5000:
        sys.exit("only %d functions were found" % count)
    sys.exit(bool(wrong))


main()
