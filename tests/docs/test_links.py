"""Links between the documents: the file is there, and so is the heading that a link names."""

import glob
import os
import re
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
LINK = re.compile(r"\]\(([^)\s]+)\)|<img src=\"([^\"]+)\"")


def headings(text):
    """Anchors of a document's headings, as GitHub and its like make them."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-")
            for title in re.findall(r"^#+ (.*)$", text, flags=re.M)}


def broken(path):
    """The links of a document that lead nowhere."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    for target in (a or b for a, b in LINK.findall(text)):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        there = os.path.join(os.path.dirname(path), name) if name else path
        if not os.path.exists(there):
            yield target
        elif anchor:
            with open(there, encoding="utf-8") as f:
                if anchor not in headings(f.read()):
                    yield target


class Links(unittest.TestCase):
    def test_documents(self):
        paths = [p for pattern in ("*.md", "docs/*.md", "docs/*/*.md", "data/*.md", "data/*/*.md")
                 for p in sorted(glob.glob(os.path.join(ROOT, pattern)))]
        self.assertIn(os.path.join(ROOT, "README.md"), paths)
        for path in paths:
            self.assertEqual(list(broken(path)), [], os.path.relpath(path, ROOT))

    def test_map(self):
        """docs/README.md leads to every page of the folder."""
        with open(os.path.join(ROOT, "docs", "README.md"), encoding="utf-8") as f:
            text = f.read()
        for path in glob.glob(os.path.join(ROOT, "docs", "*.md")):
            name = os.path.basename(path)
            if name != "README.md":
                self.assertIn(f"]({name})", text)

    def test_anchors(self):
        self.assertEqual(headings("# One, two\n```\n# no\n```\n## C := `a` B\n"),
                         {"one-two", "c--a-b"})


if __name__ == "__main__":
    unittest.main()
