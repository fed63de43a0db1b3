"""The pages of docs/course in Chromium, driven by buttons and keys: what is shown is the trace."""

import glob
import json
import os
import tempfile
import unittest

from browser import Browser
from traces import *

PAGES = sorted(glob.glob(os.path.join(SOURCE, "docs", "course", "*.html")))

# What the page shows: each cell of each array, and the variable of each work-item.
SHOWN = """[group, [...document.querySelectorAll("td[data-array]")].map(
    e => [e.dataset.array, Number(e.dataset.index), e.dataset.value, e.firstChild ? e.firstChild.textContent : ""]),
    [...document.querySelectorAll("td[data-item]")].map(e => [Number(e.dataset.item), e.dataset.value])]"""


def number(s):
    return s if s in ("NaN", "inf", "-inf") else float(s)


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.browser.errors.clear()

    def page(self, name):
        return os.path.join(SOURCE, "docs", "course", name + ".html")

    def choose(self, run, mode=None):
        self.browser.click('#runs button[data-run="%s"]' % run["id"])
        if mode and run.get("order") != "single":
            self.browser.click("#" + mode)
        self.assertEqual(self.browser.value("document.body.dataset.run"), run["id"])

    def differences(self, run, memory):
        """Where the page shows something else than memory holds."""
        group, cells, items = self.browser.value(SHOWN)
        local = {a["name"] for a in run["arrays"] if a["space"] == "local"}
        found = []
        for name, index, value, _ in cells:
            held = memory.cells.get((name, group if name in local else 0, index))
            if (number(value) if value else None) != (number(str(held)) if held is not None else None):
                found.append((name, index, value, held))
        for item, value in items:
            held = memory.watched.get((item, 0))
            if value and number(value) != number(str(held)):
                found.append(("item", item, value, held))
        return found, len(cells) + len(items)

    def steps(self):
        return self.browser.value("steps.map(s => [s.launch, s.records])")

    def check_steps(self, run, steps):
        """The page's steps hold every record once, and those of a work-item in their order."""
        for k, launch in enumerate(run["launches"]):
            records = [r for number, step in steps if number == k for r in step]
            self.assertEqual(len(records), len(launch["records"]))
            for item in {r[ITEM] for r in records}:
                self.assertEqual([r for r in records if r[ITEM] == item],
                                 [r for r in launch["records"] if r[ITEM] == item])

    def walk(self, run, press, stride=1):
        """Go through a run and compare after each step."""
        memory, seen = Memory(run), 0
        steps = self.steps()
        self.check_steps(run, steps)
        for k, (launch, records) in enumerate(steps):
            press()
            self.assertEqual(self.browser.value("document.body.dataset.step"), str(k + 1))
            for record in records:
                memory.take(launch, record)
            if k % stride == 0 or k + 1 == len(steps):
                found, count = self.differences(run, memory)
                self.assertEqual(found, [], (run["id"], k))
                seen += count
        self.assertTrue(self.browser.value('document.getElementById("next").disabled'))
        return seen

    def test_keys_and_buttons(self):
        """Next, by key and by button, shows what the trace holds after each step of each run."""
        lesson = on_page(self.page("tiled"))
        self.browser.open(self.page("tiled"))
        seen = 0
        for k, run in enumerate(lesson["runs"]):
            self.choose(run, "together")
            press = (lambda: self.browser.key("ArrowRight")) if k % 2 else (lambda: self.browser.click("#next"))
            seen += self.walk(run, press, 1 if len(self.steps()) < 60 else 7)
        self.assertGreater(seen, 1000)
        self.choose(lesson["runs"][3], "single")
        self.walk(lesson["runs"][3], lambda: self.browser.key("ArrowRight"))
        self.assertEqual(self.browser.errors, [])

    def test_back_and_ends(self):
        """Back is where one came from; Home, End, the slider, play and the numbers."""
        lesson = on_page(self.page("tiled"))
        run, b = lesson["runs"][0], self.browser
        b.open(self.page("tiled"))
        b.key("End")
        steps = self.steps()
        self.assertEqual(b.value("document.body.dataset.step"), str(len(steps)))
        self.assertEqual(self.differences(run, final(run))[0], [])
        for _ in range(6):
            b.key("ArrowLeft")
        for _ in range(3):
            b.click("#previous")
        memory = Memory(run)
        for launch, records in steps[:-9]:
            for record in records:
                memory.take(launch, record)
        self.assertEqual(self.differences(run, memory)[0], [])
        b.key("Home")
        self.assertEqual(self.differences(run, Memory(run))[0], [])
        b.click("#end")
        b.click("#first")
        self.assertEqual(b.value("document.body.dataset.step"), "0")
        b.value("playing(true)")
        self.assertEqual(b.value('document.getElementById("play").getAttribute("aria-pressed")'), "true")
        b.click("#play")
        self.assertEqual(b.value('document.getElementById("play").getAttribute("aria-pressed")'), "false")
        b.value('document.activeElement.blur()')
        b.key(" ")
        self.assertEqual(b.value('document.getElementById("play").textContent'), "Pause")
        b.value("new Promise(r => setTimeout(r, 0))")
        b.key(" ")
        b.key("2")
        self.assertEqual(b.value("document.body.dataset.run"), lesson["runs"][1]["id"])

    def test_a_changed_trace_is_seen(self):
        """One value of one record changed: the comparison of what is shown with the trace finds it."""
        path = self.page("tiled")
        lesson = on_page(path)
        run = lesson["runs"][0]
        store = next(r for r in run["launches"][0]["records"] if r[KIND] == "store" and r[ARRAY] == 2)
        with open(path, encoding="utf-8") as f:
            text = f.read()
        old = json.dumps(store, separators=(",", ":"))
        new = json.dumps(store[:VALUE] + [store[VALUE] + 1], separators=(",", ":"))
        self.assertIn(old, text)
        changed = os.path.join(self.folder.name, "changed.html")
        with open(changed, "w", encoding="utf-8") as f:
            f.write(text.replace(old, new, 1))
        self.browser.open(changed)
        self.browser.key("End")
        found, _ = self.differences(run, final(run))
        self.assertEqual([x[:2] for x in found], [("C", store[INDEX])])

    def test_wrong_results_are_shown(self):
        lesson, b = on_page(self.page("tiled")), self.browser
        b.open(self.page("tiled"))
        for run in lesson["runs"][4:6]:
            self.choose(run)
            b.key("End")
            self.assertEqual(b.value('document.getElementById("verdict").dataset.right'), "false")
            right = lesson["runs"][3]["operands"][2]["after"]
            wrong = [i for i, v in enumerate(run["operands"][2]["after"]) if v != right[i]]
            self.assertEqual(len(wrong), 3)
            self.assertEqual(b.value('[...document.querySelectorAll("td.wrong")].map(e => Number(e.dataset.index))'),
                             wrong)
            self.assertTrue(b.value('document.querySelector("pre.source .gone").textContent').strip().startswith("barrier("))

    def test_zero_fill(self):
        """At the edge: elements of tiles that are stored though nothing was read for them are marked,
        those of the group that is shown."""
        lesson, b = on_page(self.page("tiled")), self.browser
        run = next(r for r in lesson["runs"] if r["id"] == "edge")
        b.open(self.page("tiled"))
        self.choose(run, "together")
        launch, seen = run["launches"][0], 0
        for group in sorted({group_of(launch, r[ITEM]) for r in launch["records"]}):
            b.key("Home")
            b.click('#groups button[data-group="%d"]' % group)
            read = set()
            for _, records in self.steps():
                b.key("ArrowRight")
                lines = {(r[ITEM], r[LINE]) for r in records}
                if records[0][KIND] == "load":
                    read |= lines
                if records[0][KIND] == "barrier":
                    read = set()
                expected = sorted(r[INDEX] for r in records if records[0][KIND] == "store" and r[ARRAY] > 2 and
                                  group_of(launch, r[ITEM]) == group and (r[ITEM], r[LINE]) not in read)
                marked = b.value('[...document.querySelectorAll("td.fill")].map(e => Number(e.dataset.index))')
                self.assertEqual(sorted(marked), expected, (group, records[0]))
                seen += len(marked)
        # 216 stores into tiles, and 150 reads of the matrices.
        self.assertEqual(seen, 216 - 150)

    def test_counts(self):
        """The table of counts, against the records."""
        for path in PAGES:
            lesson = on_page(path)
            self.browser.open(path)
            for run in lesson["runs"]:
                if "launches" not in run:
                    continue
                cells = self.browser.value('[...document.querySelectorAll("#counts tr[data-run=\\"%s\\"] td")]'
                                           '.map(e => e.textContent)' % run["id"])
                records = [r for l in run["launches"] for r in l["records"]]
                for k, (space, kind) in enumerate([("global", "load"), ("global", "store"),
                                                   ("local", "load"), ("local", "store")]):
                    n = sum(r[KIND] == kind and len(r) == 7 and run["arrays"][r[ARRAY]]["space"] == space
                            for r in records)
                    self.assertEqual(cells[k], str(n), (path, run["id"], space, kind))
                self.assertEqual(cells[-1], {True: "right", False: "wrong", None: "not compared"}[run.get("right")])

    def rounds(self, run, name):
        """What an array holds after each round that touches it: a launch, or a part between barriers."""
        array = [a["name"] for a in run["arrays"]].index(name)
        touched = [k for k, l in enumerate(run["launches"])
                   if any(r[KIND] in ("load", "store") and r[ARRAY] == array for r in l["records"])]
        memory, after = Memory(run), {}
        for k, launch in enumerate(run["launches"]):
            passed, parts = {}, {}
            for record in launch["records"]:
                part = passed.get(record[ITEM], 0)
                parts.setdefault(part, []).append(record)
                passed[record[ITEM]] = part + (record[KIND] == "barrier")
            for part in sorted(parts):
                for record in parts[part]:
                    memory.take(k, record)
                    if record[KIND] in ("load", "store") and record[ARRAY] == array:
                        after[k if len(touched) > 1 else k * 1000 + part] = None
                after.update({key: memory.array(name) for key in after
                              if key == (k if len(touched) > 1 else k * 1000 + part)})
        return after

    def test_rounds(self):
        """Networks and trees: the numbers on the wires are what memory held after each round."""
        seen = 0
        for name in ("bitonic", "reduction", "blelloch"):
            lesson = on_page(self.page(name))
            self.browser.open(self.page(name))
            for run in lesson["runs"]:
                views = [v for v in run["views"] if v["view"] == "rounds"]
                if not views:
                    continue
                self.choose(run, "together")
                self.browser.key("End")
                after = self.rounds(run, views[0]["name"])
                shown = self.browser.value(
                    '[...document.querySelectorAll("svg text[data-round]")].map('
                    'e => [Number(e.dataset.round), Number(e.dataset.index), e.textContent])')
                self.assertEqual({r for r, _, _ in shown}, set(after), run["id"])
                for key, index, text in shown:
                    held = str(after[key].get(index, "\u00b7"))
                    self.assertEqual(text, "max" if held == str(2**32 - 1) else held, (run["id"], key, index))
                seen += len(shown)
        self.assertGreater(seen, 500)

    def in_a_warp(self, run, launch, records):
        """Those of the first record's warp."""
        x, y, _ = launch["local"]

        def warp(record):
            wide, high = launch["global"][:2]
            i, j = record[ITEM] % wide, record[ITEM] // wide % high
            return group_of(launch, record[ITEM]), (i % x + j % y * x) // 32
        return [r for r in records if warp(r) == warp(records[0])]

    def test_banks(self):
        """Turns that a step of a warp takes, from the words that it wants."""
        lesson, worst = on_page(self.page("banks")), {}
        self.browser.open(self.page("banks"))
        for run in lesson["runs"]:
            self.choose(run, "together")
            self.browser.key("Home")
            tile = [a["name"] for a in run["arrays"]].index("tile")
            for k, (launch, records) in enumerate(self.steps()):
                self.browser.key("ArrowRight")
                mine = [r for r in records if r[KIND] in ("load", "store") and r[ARRAY] == tile]
                ways = 0
                if mine:
                    words = {r[INDEX] for r in self.in_a_warp(run, run["launches"][launch], mine)}
                    ways = max(sum(w % 32 == b for w in words) for b in range(32))
                    worst[(run["id"], mine[0][KIND])] = max(ways, worst.get((run["id"], mine[0][KIND]), 0))
                self.assertEqual(self.browser.value('document.querySelector("svg[data-ways]").dataset.ways'),
                                 str(ways), (run["id"], k))
        self.assertEqual(worst, {("tile", "store"): 1, ("tile", "load"): 32, ("padded", "store"): 1,
                                 ("padded", "load"): 1, ("swizzle", "store"): 1, ("swizzle", "load"): 1})

    def test_sectors(self):
        """Sectors that a step of a warp touches, from the addresses."""
        lesson, most = on_page(self.page("coalescing")), {}
        self.browser.open(self.page("coalescing"))
        for run in lesson["runs"]:
            self.choose(run)
            self.assertNotEqual(self.browser.value('document.querySelector("svg[data-sectors]").dataset.sectors'), "0")
            self.browser.click("#together")
            self.browser.key("Home")
            total = {"load": 0, "store": 0}
            for launch, records in self.steps():
                self.browser.key("ArrowRight")
                mine = [r for r in records if r[KIND] in ("load", "store") and
                        run["arrays"][r[ARRAY]]["space"] == "global"]
                sectors = 0
                if mine:
                    warp = self.in_a_warp(run, run["launches"][launch], mine)
                    sectors = len({r[INDEX] * 4 // 32 for r in warp})
                    most[(run["id"], mine[0][KIND])] = sectors
                    while mine:
                        warp = self.in_a_warp(run, run["launches"][launch], mine)
                        total[mine[0][KIND]] += len({r[INDEX] * 4 // 32 for r in warp})
                        mine = [r for r in mine if r not in warp]
                self.assertEqual(self.browser.value('document.querySelector("svg[data-sectors]").dataset.sectors'),
                                 str(sectors), run["id"])
            self.assertEqual(self.browser.value('[...document.querySelectorAll("#counts tr[data-run=\\"%s\\"] td")]'
                                                '.map(e => e.textContent).slice(-3, -1)' % run["id"]),
                             [str(total["load"]), str(total["store"])], run["id"])
        self.assertEqual([most[("stride%d" % s, "load")] for s in (1, 2, 4, 8, 32)], [4, 8, 16, 32, 32])
        self.assertEqual([most[("read-coalesced", k)] for k in ("load", "store")], [4, 32])
        self.assertEqual([most[("tile", k)] for k in ("load", "store")], [4, 4])

    def test_timeline(self):
        """Bars as long as the commands took, one more with each step."""
        lesson = on_page(self.page("overlap"))
        self.browser.open(self.page("overlap"))
        for run in lesson["runs"]:
            self.choose(run)
            end = max(b["end"] for b in run["timeline"])
            for k in range(len(run["timeline"])):
                self.browser.key("ArrowRight")
            bars = self.browser.value('[...document.querySelectorAll("rect[data-bar]")].map(e => '
                                      '[e.getAttribute("x"), e.getAttribute("width"), e.dataset.on])')
            for bar, (x, width, on) in zip(run["timeline"], bars):
                self.assertAlmostEqual(float(x), 70 + bar["begin"] / end * 1000, 3)
                self.assertAlmostEqual(float(width), max(2, (bar["end"] - bar["begin"]) / end * 1000), 3)
                self.assertEqual(on, "true")

    @unittest.skipUnless(os.path.exists(os.path.join(SOURCE, "docs", "course", "shuffle.html")), "no such page")
    def test_lanes(self):
        """What each lane got and has, in the order of the records."""
        lesson = on_page(self.page("shuffle"))
        self.browser.open(self.page("shuffle"))
        for run in lesson["runs"]:
            self.choose(run, "together")
            self.browser.key("End")
            shown = self.browser.value('[...document.querySelectorAll("text[data-lane]")].map('
                                       'e => [Number(e.dataset.row), Number(e.dataset.lane), e.textContent])')
            for lane in range(32):
                self.assertEqual([t for _, i, t in sorted(shown) if i == lane], self.lane(run, lane))
            # Nothing is cut off, and each line comes from a row above.
            self.assertEqual(self.browser.value('[...document.querySelectorAll("#views svg line")].filter('
                                                'e => Number(e.getAttribute("y1")) < 20).length'), 0,
                             "lines from above the first row")
            self.assertEqual(self.browser.value('[...document.querySelectorAll("#views svg text.soft")].map('
                                                'e => e.textContent).slice(0, 4)'), ["lane", "0", "1", "2"])

    def lane(self, run, lane):
        """What it has: the sum of what it loaded before some rounds, what these bring, and its value then."""
        values, loaded, pending, got = [], 0, True, False
        for r in run["launches"][0]["records"]:
            if r[ITEM] != lane:
                continue
            if r[KIND] != "set":
                pending, loaded = True, loaded + (r[VALUE] if r[KIND] == "load" else 0)
                continue
            brings = run["watched"][r[ARRAY]] != "value"
            if brings and pending:
                values.append(str(loaded))
                pending, loaded = False, 0
            if brings or got:  # else what a function returns, which it had already
                values.append(str(r[VALUE]))
            got = brings
        return values

    def test_what_is_said_of_a_run(self):
        """By its result; what queues gained; the order of steps that was chosen; fills where there are some."""
        path, b = self.page("tiled"), self.browser
        shown = 'document.getElementById("%s").textContent'
        b.open(path)
        b.key("6")
        self.assertIn("the result is wrong", b.value(shown % "run-about"))
        b.key("1")
        self.assertEqual(b.value("document.body.dataset.mode"), "together")
        self.assertTrue(b.value('document.getElementById("legend-fill").hidden'), "a legend of fills that there are not")
        b.key("3")
        self.assertFalse(b.value('document.getElementById("legend-fill").hidden'), "no legend of fills")
        b.key("End")
        self.assertRegex(b.value(shown % "said"), "^After the phases: ")
        b.value("run.right = true; choose(run.id); lesson.runs[5].right = true; choose(lesson.runs[5].id)")
        self.assertIn("the result is right", b.value(shown % "run-about"))
        self.assertNotIn("wrong.)", b.value(shown % "run-about"))
        b.key("1")
        b.click("#single")
        b.value("go(2)")
        self.assertIn("A[0]", b.value(shown % "said"))
        b.value('go(steps.findIndex(s => s.records[0][1] === "load" && run.arrays[s.records[0][4]].name === "tile_a") + 1)')
        self.assertIn("tile_a[0][0]", b.value(shown % "said"))
        # Space plays after a click of the mouse on another button.
        b.click("#first")
        b.key(" ")
        self.assertEqual(b.value(shown % "play"), "Pause")
        lesson = on_page(self.page("overlap"))
        b.open(self.page("overlap"), 500)
        b.key("3")
        times = [r["wall_ns"] for r in lesson["runs"]]
        self.assertIn("%.3g times as fast as one queue" % (times[0] / times[2]), b.value(shown % "verdict"))
        b.value('document.querySelector("#stage .scroll").scrollLeft = 300')
        self.assertTrue(b.value('''new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => {
            const box = document.querySelector("#stage .scroll").getBoundingClientRect();
            done(document.querySelector("text[data-queue]").getBoundingClientRect().left >= box.left);
        })))''', wait=True), "names of queues scroll out of view")
        b.open(self.page("coalescing"), 500)
        b.key("Home")
        self.assertEqual(b.value('[...document.querySelectorAll("#views .sideways")].filter(e => !e.hidden).length'), 0,
                         "an empty map is as wide as the last one")
        self.assertEqual(b.errors, [])

    def test_every_page(self):
        """At both widths, light and dark: each run's beginning, middle and end; nothing is wider than
        the window, and nothing complains."""
        self.assertTrue(PAGES)
        for path in PAGES:
            lesson = on_page(path)
            for width, dark in ((500, False), (1400, True)):
                self.browser.open(path, width, 900, dark)
                for run in lesson["runs"]:
                    self.choose(run)
                    for where in ("steps.length >> 1", "steps.length"):
                        self.browser.value("go(%s)" % where)
                        self.assertEqual(self.browser.value("document.documentElement.scrollWidth"), width,
                                         (path, run["id"]))
                    if "launches" in run:
                        self.assertEqual(self.differences(run, final(run))[0], [], (path, run["id"]))
                self.assertEqual(self.browser.errors, [], path)

    def test_what_is_touched_is_in_view(self):
        """In a narrow window: where an array is wider than its place, some of what the step touches is
        to be seen."""
        hidden = """[...document.querySelectorAll("#stage .scroll")].filter(box => {
            const cells = [...box.querySelectorAll("td.load, td.store, td.fill, td.bad, td.active, rect.latest, rect.crowded, rect.touched, rect.used")];
            const b = box.getBoundingClientRect();
            return cells.length && !cells.some(e => { const r = e.getBoundingClientRect(); return r.right > b.left && r.left < b.right; });
        }).length"""
        scrolled = 0
        for path in PAGES:
            self.browser.open(path, 500, 900)
            for run in on_page(path)["runs"]:
                self.choose(run)
                for eighth in range(1, 9):
                    self.browser.value("go(Math.floor(steps.length * %d / 8))" % eighth)
                    self.assertEqual(self.browser.value(hidden), 0, (path, run["id"], eighth))
                    scrolled += self.browser.value(
                        '[...document.querySelectorAll("#stage .scroll")].filter(b => b.scrollLeft > 0).length')
        self.assertGreater(scrolled, 20)

    def test_printed(self):
        """On paper nothing can be scrolled: all of it is within the page."""
        for path in PAGES:
            self.browser.open(path, 720, 900)
            for run in on_page(path)["runs"]:
                self.choose(run)
                self.browser.value("go(Math.floor(steps.length * 0.6))")
                self.browser.call("Emulation.setEmulatedMedia", media="print")
                beyond = self.browser.value("""[...document.querySelectorAll(".scroll svg, .scroll table")].filter(
                    e => e.getBoundingClientRect().right > document.documentElement.clientWidth).length""")
                self.browser.call("Emulation.setEmulatedMedia", media="")
                self.assertEqual(beyond, 0, (path, run["id"]))

    def test_contrast(self):
        """Texts stand out from what is behind them: 4.5 times, as WCAG wants it; what a later step
        draws may be faint."""
        weak = """(function () {
            const numbers = c => (c.match(/[\\d.]+/g) || []).map(Number);
            const light = c => { const [r, g, b] = numbers(c).map(x => x / 255).map(x => x <= .03928 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b; };
            const found = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
            for (let n = walk.nextNode(); n; n = walk.nextNode()) {
                const e = n.parentElement, style = getComputedStyle(e);
                if (!n.textContent.trim() || !e.getClientRects().length || e.closest("script, style, button:disabled, title")) continue;
                let back = "rgb(255, 255, 255)";
                for (let p = e; p; p = p.parentElement) {
                    const c = numbers(getComputedStyle(p).backgroundColor);
                    if (c.length === 3 || c[3] > .99) { back = getComputedStyle(p).backgroundColor; break; }
                }
                if (e.ownerSVGElement && e.previousElementSibling && e.previousElementSibling.tagName === "rect") back = getComputedStyle(e.previousElementSibling).fill;
                const [a, b] = [light(e.ownerSVGElement ? style.fill : style.color), light(back)].sort((x, y) => y - x);
                if ((a + .05) / (b + .05) < 4.5) found.push([e.tagName, e.className.baseVal || e.className, n.textContent.trim().slice(0, 20), ((a + .05) / (b + .05)).toFixed(2)]);
            }
            return found.slice(0, 5);
        })()"""
        for path in PAGES:
            for dark in (False, True):
                self.browser.open(path, 1400, 900, dark)
                self.browser.value("go(Math.floor(steps.length * 0.6))")
                self.assertEqual(self.browser.value(weak), [], (path, dark))

    def test_accessible(self):
        """Buttons, figures and the slider have names; the page prints; it asks for nothing outside."""
        for path in PAGES:
            self.browser.open(path)
            nameless = self.browser.value("""[...document.querySelectorAll("button, input, figure, svg, section")].filter(
                e => !(e.getAttribute("aria-label") || e.getAttribute("aria-labelledby") || e.textContent.trim())).length""")
            self.assertEqual(nameless, 0, path)
            self.assertTrue(self.browser.printed().startswith(b"%PDF-"))
            with open(path, encoding="utf-8") as f:
                text = f.read()
            self.assertIn("default-src 'none'", text)
            self.assertNotRegex(text, r'(src|href)="(?!#)')


if __name__ == "__main__":
    unittest.main()
