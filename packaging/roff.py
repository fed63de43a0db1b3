"""Man pages from the Markdown of docs/: what of it they use, as roff."""

import re

# What readers would otherwise print as typographic characters.
ASCII = {"\\": "\\e", "-": "\\-", "^": "\\(ha", "~": "\\(ti", "`": "\\(ga"}


def escaped(text):
    """Plain text, of which no line is a request."""
    text = re.sub(r"[\\^~`-]", lambda m: ASCII[m[0]], text)
    return re.sub(r"(?m)^(?=[.'])", r"\\&", text)


def inline(text, links=True):
    """A paragraph: `code` and **strong** in bold, *emphasis* in italics, links as their texts.  Names
    are not hyphenated."""
    text = " ".join(text.split())
    if links:
        text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    parts = re.split(r"`([^`]*)`", text)
    for i, part in enumerate(parts):
        part = escaped(part).removeprefix("\\&") if i else escaped(part)
        if i % 2:
            parts[i] = "\\fB%s\\fR" % re.sub(r"(^| )(?=\S)", r"\1\\%", part)
        else:
            part = re.sub(r"\b(?=\w+_)", r"\\%", part)
            part = re.sub(r"\*\*([^*]+)\*\*", r"\\fB\1\\fR", part)
            parts[i] = re.sub(r"(?<![\w*])\*([^*\s][^*]*)\*(?![\w*])", r"\\fI\1\\fR", part)
    return "".join(parts)


def literal(lines):
    return [".PP", ".RS 4", ".EX", *(escaped(line) for line in lines), ".EE", ".RE"]


def table(rows):
    """The first column as tags, the others behind; of three columns and more with their titles."""
    cells = [[c.strip() for c in re.split(r"(?<!\\)\|", row.strip().strip("|"))] for row in rows]
    titles, lines = cells[0][1:], []
    for tag, *values in cells[2:]:
        if len(titles) > 1:
            values = ["%s: %s" % pair for pair in zip(titles, values) if pair[1]]
        lines += [".TP", inline(tag), inline("; ".join(values)) or "\\&"]
    return lines


def blocks(text):
    """Markdown as blocks: (kind, lines)."""
    kind, lines = None, []

    def done():
        nonlocal kind, lines
        if kind == "code":
            while lines and not lines[-1]:
                lines.pop()
        if lines:
            yield kind, lines
        kind, lines = None, []

    fenced = False
    for line in text.splitlines():
        item = re.match(r"(?:-|\d+\.) +", line)
        if line.startswith("```"):
            yield from done()
            fenced = not fenced
            kind = "code" if fenced else None
        elif fenced:
            lines.append(line)
        elif kind == "code" and (line.startswith("    ") or not line):
            lines.append(line[4:])
        elif not line:
            yield from done()
        elif kind == "list" and line.startswith(" "):
            lines.append(line)
        elif kind is None and line.startswith("    "):
            kind, lines = "code", [line[4:]]
        elif line.startswith("#"):
            yield from done()
            yield "heading", [line]
        elif item or kind is None or kind == "code":
            yield from done()
            kind = "list" if item else "table" if line.startswith("|") else "text"
            lines = [line]
        else:
            lines.append(line)
    yield from done()


def from_markdown(text):
    """Lines of roff; headings become subsections."""
    out = []
    for kind, lines in blocks(text):
        if kind == "code":
            out += literal(lines)
        elif kind == "table":
            out += table(lines)
        elif kind == "heading":
            out += [".SS " + inline(lines[0].lstrip("# "))]
        elif kind == "list":
            mark, rest = re.match(r"(-|\d+\.) +(.*)", "\n".join(lines), re.S).groups()
            out += [".IP %s 4" % ("\\(bu" if mark == "-" else mark), inline(rest)]
        elif not lines[0].startswith("<"):
            out += [".PP", inline("\n".join(lines))]
    return out


def part_of(markdown, heading):
    """The text below a heading, up to the next of its level or above; "": what opens the page."""
    text = re.split(r"(?m)^## " + re.escape(heading) + r"$\n", markdown) if heading else \
        re.split(r"(?m)\A# .*$\n", markdown)
    if len(text) != 2:
        raise ValueError("no heading '%s', or several" % heading)
    return re.split(r"(?m)^##? ", text[1])[0]


def page(names, section, summary, parts, see_also, version):
    """A whole page of `parts`: titles, and their lines of roff.  Its file has the first name."""
    lines = ['.TH %s %s "" "Tessera %s"' % (escaped(names[0].upper()), section, version),
             ".ad l", ".SH NAME", "%s \\- %s" % (escaped(", ".join(names)), escaped(summary))]
    for title, body in parts:
        # No space before the first paragraph of a section.
        lines += [".SH " + title] + (body[1:] if body[:1] == [".PP"] and body[1:2] != [".RS 4"] else body)
    lines += [".SH SEE ALSO", ",\n".join(".BR %s (%s)" % (escaped(other), number)
                                         for other, number in see_also)]
    return "\n".join(lines) + "\n"
