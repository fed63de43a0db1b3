"""What ladders.py and figures.py share: rows of data/results, and documents with made parts."""
import glob
import json
import os
import re

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")


def aliases():
    """{(operation, old name): name now} of variants whose rows of data/results may have either."""
    found = {}
    for path in glob.glob(os.path.join(ROOT, "host", "ops", "*", "*.c")):
        op = os.path.basename(os.path.dirname(path))
        with open(path, encoding="utf-8") as f:
            for name, old in re.findall(r'\.name = "([^"]+)",\s*\.alias = "([^"]+)"', f.read()):
                found[op, old] = name
    return found


def origins():
    """Where problems of an operation were before it had a name of its own: (operation that rows name,
    words in their descriptions, the operation now), as its descriptor says."""
    found = []
    for path in glob.glob(os.path.join(ROOT, "host", "ops", "*", "*.c")):
        with open(path, encoding="utf-8") as f:
            for op, words in re.findall(r'\.origin = \{\s*\.op = "([^"]+)",\s*\.problem = "([^"]+)"',
                                        f.read()):
                found.append((op, words, os.path.basename(os.path.dirname(path))))
    return found


def renamings():
    """{(operation, old name): (what build options then had, name now on plain problems of float32,
    on others)}: struct renaming of host/core/operation.h."""
    found = {}
    for path in glob.glob(os.path.join(ROOT, "host", "ops", "*", "*.c")):
        op = os.path.basename(os.path.dirname(path))
        with open(path, encoding="utf-8") as f:
            for table in re.findall(r"renaming renamings\[\] = \{\n(.*?)\n\};", f.read(), re.DOTALL):
                for old, *rest in re.findall(r'\{"(.*?)", "(.*?)", "(.*?)", "(.*?)"\}', table):
                    found[op, old] = rest
    return found


def name_now(row, alias, renamed):
    """What the row's variant is called now."""
    key = row.get("op"), row.get("name")
    if key in renamed:
        built, plain, other = renamed[key]
        if built in row.get("options", ""):
            return plain if row["problem"] == row["size"] + " float32" else other
    return alias.get(key, row.get("name"))


def name_of(path):
    """NAME of data/results/ladder-NAME.jsonl or bench-NAME.jsonl: one device, in short."""
    stem = os.path.splitext(os.path.basename(path))[0]
    return stem.removeprefix("ladder-").removeprefix("bench-")


def read(paths):
    """Every row of the files with its file's name, in order: (NAME, row)."""
    alias, renamed, before = aliases(), renamings(), origins()
    for path in paths:
        with open(path, encoding="utf-8") as f:
            for number, line in enumerate(f, 1):
                try:
                    row = json.loads(line)
                    for op, words, own in before:
                        if row.get("op") == op and words in row.get("problem", ""):
                            row["op"] = own
                    if "name" in row:
                        row["name"] = name_now(row, alias, renamed)
                    if row.get("outcome") == "unsuited":
                        row["outcome"] = "unsupported"
                    if "unsuited" in row:
                        row["unsupported"] = row.pop("unsuited")
                    yield name_of(path), row
                except ValueError as error:
                    raise ValueError(f"{path}, line {number}: {error}") from None


def put(text, name, body):
    """The document with body, and nothing else, between its markers of that name."""
    begin, end = f"<!-- {name} -->\n", f"<!-- end {name} -->\n"
    if text.count(begin) != 1 or text.count(end) != 1 or text.index(end) < text.index(begin):
        raise ValueError(f"not one pair of the lines {begin.strip()} and {end.strip()}")
    before, rest = text.split(begin)
    return before + begin + "\n" + body + "\n\n" + end + rest.split(end)[1]
