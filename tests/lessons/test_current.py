"""The pages of docs/course are those of today: their frame, their kernels, and what Oclgrind makes of them."""

import glob
import itertools
import json
import os
import re
import unittest

from traces import *

PAGES = sorted(glob.glob(os.path.join(SOURCE, "docs", "course", "*.html")))
AGAIN = ": scripts/lessons.sh makes it again"


def text_of(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def names():
    """What a page knows of the others."""
    lessons = [json.loads(text_of(p)) for p in glob.glob(os.path.join(SOURCE, "data", "lessons", "*.json"))]
    return [{"name": l["name"], "title": l["title"]} for l in sorted(lessons, key=lambda l: l["number"])]


def stale_lines(file, kernel):
    """Lines of a file on a page that the kernel does not have, and the other way round."""
    pairs = itertools.zip_longest(file.splitlines(), kernel.splitlines())
    return [(old, new) for old, new in pairs
            if old != new and not (old or "").startswith("#include")]


def other_texts(shown, wanted):
    """What is shown otherwise, by its name."""
    return {k: (shown.get(k), v) for k, v in wanted.items() if shown.get(k) != v}


class Current(unittest.TestCase):
    def test_frames(self):
        """All that is around the trace, those of devices' pages too."""
        before, after = text_of(os.path.join(SOURCE, "data", "lessons", "lesson.html")).split("{{data}}")
        self.assertTrue(PAGES)
        for path in PAGES:
            page = text_of(path)
            for part in re.split(r"({{title}}|{{lessons}})", before):
                if part == "{{lessons}}":
                    listed = page[:page.index("</script>")]
                    self.assertEqual(json.loads(listed), names(), path + " has other lessons" + AGAIN)
                    page = page[len(listed):]
                    continue
                part = on_page(path)["title"] if part == "{{title}}" else part
                self.assertTrue(page.startswith(part), path + " has another head" + AGAIN)
                page = page[len(part):]
            self.assertTrue(page.endswith(after), path + " has another end" + AGAIN)

    def test_texts(self):
        """What a lesson says, on devices' pages too, which may lack a run."""
        for path in PAGES:
            shown = on_page(path)
            lesson = json.loads(text_of(os.path.join(SOURCE, "data", "lessons", shown["name"] + ".json")))
            runs = {run["id"]: run for run in lesson.pop("runs")}
            self.assertEqual(other_texts(shown, lesson), {}, path + AGAIN)
            for run in shown["runs"]:
                self.assertEqual(other_texts(run, runs[run["id"]]), {}, path + AGAIN)

    def test_kernels(self):
        for path in PAGES:
            for run in on_page(path)["runs"]:
                for file in run.get("files", []):
                    if file["text"]:
                        found = stale_lines(file["text"], text_of(os.path.join(SOURCE, "cl", file["name"])))
                        self.assertEqual(found, [], (path, file["name"]))

    def test_lines_at_the_end_count(self):
        self.assertEqual(stale_lines("a\n#include x\n", "a\nb\nc\n"), [(None, "c")])
        self.assertEqual(stale_lines("a\nb\n", "a\n"), [("b", None)])

    @unittest.skipUnless(os.environ.get("OCLGRIND_LIBRARY"), "no Oclgrind")
    def test_traces(self):
        """A page that the simulator made is what it makes today."""
        for path in PAGES:
            lesson = on_page(path)
            if lesson["device"]["name"] != "Oclgrind Simulator":
                continue
            today = traced(lesson["name"], simulator=True)
            for part in (lesson, today):
                part.pop("version")
                part.pop("device")
            self.assertEqual(today, lesson, path + " is not current" + AGAIN)


if __name__ == "__main__":
    unittest.main()
