"""The report in a browser: drawn at every width, dark and in print, without an error.

TESSERA is the command, CHROMIUM the browser, TESSERA_SOURCE the checkout, ARRAY_TOOL what copies a
picture to .npy; REPORT_HAS_CHARTS is 1 where the build found Chart.js.  The rows are made up
(made_up_rows.py).
"""

import collections
import html
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lessons"))

import made_up_rows
from browser import Browser
from made_up_rows import IN_BYTES, IN_FLOPS, IN_KEYS

COMMAND = os.environ.get("TESSERA", "tessera")
CHROMIUM = os.environ.get("CHROMIUM", "chromium")
SOURCE = os.environ.get("TESSERA_SOURCE", os.path.join("..", ".."))
HAS_CHARTS = os.environ.get("REPORT_HAS_CHARTS", "1") == "1"

# What charts of bars draw as text, in one line, and what of it overlaps or is outside.
TEXTS_OF_BARS = """(() => {
    const context = CanvasRenderingContext2D.prototype, draw = context.fillText, wrong = [];
    let all = "", boxes;
    context.fillText = function (text, x, y) {
        const size = this.measureText(text), at = this.getTransform();
        if (at.b === 0) {  /* level */
            x += at.e / at.a;
            y += at.f / at.a;
            boxes.push({text: text, left: x - size.actualBoundingBoxLeft, right: x + size.actualBoundingBoxRight,
                        top: y - size.actualBoundingBoxAscent, bottom: y + size.actualBoundingBoxDescent});
        }
        return draw.apply(this, arguments);
    };
    document.querySelectorAll("canvas").forEach(canvas => {
        const chart = Chart.getChart(canvas);
        if (chart.config.type !== "bar")
            return;
        boxes = [];
        chart.draw();
        boxes.forEach((a, i) => {
            all += " " + a.text;
            if (a.left < -1 || a.right > chart.width + 1)
                wrong.push([a.text]);
            boxes.slice(0, i).forEach(b => {
                if (a.left + 1 < b.right && b.left + 1 < a.right && a.top + 1 < b.bottom && b.top + 1 < a.bottom)
                    wrong.push([a.text, b.text]);
            });
        });
    });
    context.fillText = draw;
    return [all, wrong];
})()"""

SECTIONS = ["roofline", "ladders", "sizes", "transfers", "peers"]


def png_colours(path):
    """How often each colour occurs in every 7th pixel of an 8-bit RGB or RGBA picture."""
    return sum(png_lines(path), collections.Counter())


def png_lines(path):
    """The same, line by line.  array_tool reads the picture: Python takes six seconds for one."""
    with open(path, "rb") as f:
        width, height, depth, kind = struct.unpack(">IIBB", f.read(26)[16:])
    assert depth == 8 and kind in (2, 6), (depth, kind)
    done = subprocess.run([os.environ["ARRAY_TOOL"], path, "-"], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if b"without libpng" in done.stderr:
        raise unittest.SkipTest("built without libpng")
    assert done.returncode == 0, done.stderr
    size = 3 if kind == 2 else 4
    pixels = done.stdout[10 + int.from_bytes(done.stdout[8:10], "little"):] # behind .npy's header
    assert len(pixels) == width * height * size, (len(pixels), width, height, size)
    return [collections.Counter(pixels[x:x + 3]
                                for x in range(at, at + width * size, 7 * size))
            for at in range(0, len(pixels), width * size)]


class Page(unittest.TestCase):
    dumps = {}  # of pages that several tests show
    browsers = []  # one for all that are shown: it takes a second to start

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="tessera-report-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def report(self, *files):
        """Write the page of files of rows; its path."""
        paths = [made_up_rows.write(self.path("rows%d.jsonl" % i), rows)
                 for i, rows in enumerate(files)]
        subprocess.run([COMMAND, "compare", *paths, "--html", self.path("report.html"), "--quiet"],
                       check=True, stdout=subprocess.DEVNULL, timeout=60)
        return self.path("report.html")

    def browse(self, page, *options):
        """Run a browser over the page as its user does from a shell."""
        profile = tempfile.mkdtemp(dir=self.folder)
        subprocess.run(
            [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
             "--no-first-run", "--disable-background-networking", "--disable-component-update",
             "--disable-sync", "--hide-scrollbars", "--user-data-dir=" + profile,
             "--virtual-time-budget=5000", *options, "file://" + page],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, check=True)

    def dump(self, page, width=800):
        """The page after its script ran; fails where the console said anything."""
        with open(page, encoding="utf-8") as f:
            key = (f.read().replace(self.folder, ""), width)
        if key not in self.dumps:
            self.dumps[key] = self.run_scripts(page, width)
        return self.dumps[key]

    def show(self, page, width, height, dark=False):
        """The browser once it has drawn the page."""
        if not self.browsers:
            self.browsers.append(Browser())
            unittest.addModuleCleanup(self.browsers[0].close)
        browser, = self.browsers
        browser.errors.clear()
        browser.open(page, width=width, height=height, dark=dark)
        until = time.monotonic() + 60
        while not browser.value("document.documentElement.dataset.ready") and time.monotonic() < until:
            time.sleep(0.05)
        return browser

    def run_scripts(self, page, width):
        browser = self.show(page, width, 900)
        dom = browser.value("document.documentElement.outerHTML")
        self.assertEqual(browser.errors, [])
        self.assertRegex(dom, r'<html[^>]* data-errors="0"')
        self.assertRegex(dom, r'<html[^>]* data-ready="1"')
        return dom

    def figures(self, dom, section):
        """The series of each figure of a section."""
        part = dom[dom.index('<section id="%s"' % section):]
        part = part[:part.index("</section>")]
        return [json.loads(html.unescape(s)) for s in re.findall(r'data-series="([^"]*)"', part)]

    def picture(self, page, name, *size, **options):
        self.show(page, *size, **options).picture(self.path(name), whole=False)
        return png_colours(self.path(name))


@unittest.skipUnless(HAS_CHARTS, "built without Chart.js")
class Charts(Page):
    def setUp(self):
        super().setUp()
        self.page = self.report(made_up_rows.gpu(), made_up_rows.cpu())

    def test_every_series(self):
        dom = self.dump(self.page)
        devices = [made_up_rows.GPU["device"], made_up_rows.CPU["device"]]
        self.assertEqual(self.figures(dom, "fastest"), [devices] * len(made_up_rows.SIZES))
        roofs = self.figures(dom, "roofline")
        self.assertEqual(len(roofs), 2)
        for series, kind in zip(roofs, ("gpu", "cpu")):
            self.assertEqual(series[:3], ["memory", "fp32", "fp64"])
            jobs = sum(len(sizes) for sizes in made_up_rows.SIZES.values())
            self.assertEqual(len(series), 3 + 2 * jobs, series)
        self.assertEqual([s for f in self.figures(dom, "ladders") for s in f],
                         ["%s, %s" % (op, d) for op in made_up_rows.SIZES for d in devices])
        sweeps = self.figures(dom, "sizes")
        self.assertEqual(len(sweeps), 2 * 2 * 3)
        self.assertEqual(sweeps[0], [*made_up_rows.LADDERS["gpu"][IN_FLOPS], "limit"])
        self.assertEqual(sweeps[1], [*made_up_rows.LADDERS["cpu"][IN_FLOPS], "limit"])
        self.assertEqual(self.figures(dom, "transfers"),
                         [["to the device", "compute", "from the device"]] * 2)
        self.assertEqual(sorted(map(tuple, self.figures(dom, "peers"))), sorted(
            ("tessera", *(n + " 9.9" for n in names)) for peers in made_up_rows.PEERS.values()
            for names in peers.values()))
        self.assertNotIn('class="none"', dom)

    def test_orders_of_keys_stand_apart(self):
        """Rates of sorted keys, and of falling ones, are no points of random ones' line; a name
        says which they are."""
        rows = made_up_rows.gpu()
        sorts = [r for r in rows if r["op"] == IN_KEYS and r["timer"] == "events"]
        ordered = [{**r, "order": "sorted", "problem": r["problem"] + ", sorted input"}
                   for r in sorts]
        falling = [{**r, "problem": r["problem"] + " descending"} for r in sorts]
        pages = [self.dump(self.report(some))
                 for some in (rows, rows + ordered, rows + ordered + falling)]
        lines = [len(self.figures(page, "sizes")) for page in pages]
        self.assertEqual(lines, [lines[0], lines[0] + 1, lines[0] + 2])
        self.assertRegex(pages[2], r">sort [^<]*, sorted input<")
        self.assertRegex(pages[2], r">sort [^<]*, descending<")

    def test_forms_of_products_stand_apart(self):
        """A transposed product has lines of its own, and a name that says so; so have rates by
        another clock of the device."""
        rows = made_up_rows.gpu()
        products = [r for r in rows if r["op"] == IN_BYTES and r["timer"] == "events"]
        transposed = [{**r, "problem": r["problem"] + " transposed"} for r in products]
        held = [{**r, "timer": "held"} for r in products]
        pages = [self.dump(self.report(some))
                 for some in (rows, rows + transposed, rows + transposed + held)]
        lines = [len(self.figures(page, "sizes")) for page in pages]
        self.assertEqual(lines, [lines[0], lines[0] + 1, lines[0] + 2])
        self.assertRegex(pages[1], rf">{IN_BYTES} [^<]*, transposed<")
        self.assertNotIn("calls back to back<", pages[1])
        self.assertIn("device time of calls back to back<", pages[2])

    def test_shapes_stand_apart(self):
        """Sizes are joined by a line where their shapes are alike: 1024x64 and 2048x128."""
        rows = made_up_rows.gpu()
        some = [r for r in rows if "x" in r["size"] and r["timer"] == "events"]
        long = [{**r, "size": r["size"] + "0", "problem": r["size"] + "0 float32"} for r in some]
        lines = [len(self.figures(self.dump(self.report(x)), "sizes")) for x in (some, some + long)]
        self.assertEqual(lines[1], 2 * lines[0])

    def check_texts_of_bars(self, page, width):
        """No text of a chart of bars covers another one or leaves the chart; those drawn."""
        drawn, wrong = self.show(page, width, 900).value(TEXTS_OF_BARS)
        self.assertEqual(wrong, [], width)
        return drawn

    def test_texts_of_bars(self):
        """A bar has its rate and its name, whatever its length; a whisker ends on the axis."""
        row = next(r for r in made_up_rows.gpu() if r["op"] == IN_KEYS and r["kind"] == "kernel")
        far = [{**row, **made_up_rows.CPU, "rate": row["rate"] / 1000, "name": "slow-long-name-here"}]
        for factor in (0.1, 0.3, 1, 1.5, 2, 3):
            near = [{**row, "rate": row["rate"] * factor, "name": "quick-sort"}]
            for width in (500, 1400):
                drawn = self.check_texts_of_bars(self.report(near, far), width)
                for name in ("quick-sort", "slow-long-name-here"):
                    self.assertIn(name, drawn, (factor, width))
        median = row["median_ns"]
        whisker = dict(min_ns=median / 3, low_ns=median / 3, high_ns=median * 2, max_ns=median * 2)
        wide = [{**row, **whisker, "name": name, "limit_rate": 0} for name in ("one", "two")]
        page = self.report(wide)
        for width in (500, 1400):
            self.check_texts_of_bars(page, width)
            ends = self.show(page, width, 900).value("""(() => {
                const chart = Chart.getChart(document.querySelector("#ladders canvas"));
                return [chart.scales.x.max, ...chart.data.datasets[0].spans.map(s => s[1])];
            })()""")
            self.assertEqual(max(ends), ends[0])
        for width in (500, 1400):
            self.check_texts_of_bars(self.page, width)

    def test_units(self):
        """Rates are read in the unit of their size, in charts and tables."""
        dom = self.dump(self.page)
        self.assertRegex(dom, r"Memory 3\.90 TB/s; fp32 52\.0 TFLOP/s, fp64 26\.0 TFLOP/s")
        self.assertRegex(dom, r"Memory 80\.0 GB/s; fp32 900 GFLOP/s, fp64 450 GFLOP/s")
        self.assertNotRegex(dom, r">[0-9]+,[0-9]{3} (GFLOP|GB|Mkeys)/s")

    def test_ladders_stand_in_the_order_of_the_table(self):
        """Whatever the order of the file."""
        rows = [r for r in made_up_rows.gpu() if r["op"] == IN_FLOPS]
        dom = self.dump(self.report(rows[::-1]))
        part = dom[dom.index('<section id="ladders"'):]
        names = re.findall(r"<tr><th[^>]*>([^<]*)</th>", part[:part.index("</figure>")])
        known = [n for n in made_up_rows.LADDERS["gpu"][IN_FLOPS]
                 if n in ("naive", "tiled", "block", "vector")]
        self.assertEqual([n for n in names if n in known], known)

    def test_cards_show_the_same_problem(self):
        """Of each operation the one that the devices have in common."""
        cpu = [r for r in made_up_rows.cpu() if r["problem"].split(" ")[0] != "4096x4096x4096"]
        with open(self.report(made_up_rows.gpu(), cpu), encoding="utf-8") as f:
            page = f.read()
        cards = re.findall(r"<article.*?</article>", page, flags=re.S)
        self.assertEqual(len(cards), 2)
        shown = [re.findall(r'class="how">[^,]*, ([^,;]*)', card) for card in cards]
        self.assertEqual(shown[0], shown[1])
        self.assertIn("2048x2048x2048 float32", shown[0])

    def test_labels_are_whole(self):
        """A long name is broken into lines; none is longer than the axis is wide."""
        rows = [dict(r, parameters=p) for p in ("TILE=16 ROWS=4 COLUMNS=8 DEPTH=1024", "TILE=32 ROWS=4")
                for r in made_up_rows.gpu() if r["timer"] == "events"]
        page = self.report(rows)
        with open(page, encoding="utf-8") as f:
            text = f.read()
        check = ("<script>document.documentElement.dataset.widest = String(Math.max.apply(null, "
                 "Object.values(Chart.instances).map(function (c) { return Math.max.apply(null, "
                 "(c.data.labels || []).map(function (l) { return Math.max.apply(null, [].concat(l)."
                 "map(function (s) { return s.length; })); })); })));</script></body>")
        with open(page, "w", encoding="utf-8") as f:
            f.write(text.replace("</body>", check))
        for size, most in ((500, 17), (1280, 26)):
            dom = self.dump(page, width=size)
            widest = int(re.search(r'data-widest="(\d+)"', dom).group(1))
            self.assertLessEqual(widest, most)
            self.assertGreater(widest, 8)

    def test_legends_fit(self):
        """A long name loses its middle, not its mark or its end."""
        files = [[{**r, "device": "a processor whose maker gives it a name of sixty letters and more %d" % i}
                  for r in made_up_rows.gpu()] for i in (1, 2)]
        page = self.report(*files)
        with open(page, encoding="utf-8") as f:
            text = f.read()
        check = ("<script>document.documentElement.dataset.boxes = JSON.stringify(Object.values("
                 "Chart.instances).flatMap(function (c) { return c.legend.options.display ? "
                 "c.legend.legendItems.map(function (item, i) { const box = c.legend.legendHitBoxes[i]; "
                 "return [item.text, box.left, box.left + box.width, c.width]; }) : []; }));"
                 "</script></body>")
        with open(page, "w", encoding="utf-8") as f:
            f.write(text.replace("</body>", check))
        for size in (500, 1400):
            found = re.search(r'data-boxes="([^"]*)"', self.dump(page, width=size)).group(1)
            boxes = json.loads(html.unescape(found))
            self.assertTrue([name for name, *_ in boxes if name.endswith("more 2")], boxes)
            for name, left, right, width in boxes:
                self.assertTrue(0 <= left and right <= width, (name, left, right, width))

    def labels(self, page):
        """The texts beside the bars of every chart, by the page's own script."""
        with open(page, encoding="utf-8") as f:
            text = f.read()
        check = ("<script>document.documentElement.dataset.labels = JSON.stringify(Object.values("
                 "Chart.instances).map(function (c) { return (c.data.labels || []).map(function (l) "
                 "{ return [].concat(l).join(' '); }); }));</script></body>")
        with open(page, "w", encoding="utf-8") as f:
            f.write(text.replace("</body>", check))
        found = re.search(r'<html[^>]* data-labels="([^"]*)"', self.dump(page)).group(1)
        return json.loads(html.unescape(found))

    def test_runs_of_one_device_are_told_apart(self):
        """By the file, by the day where one file has both, by the time of a day."""
        rows = made_up_rows.gpu()
        device = made_up_rows.GPU["device"]
        later = [{**r, "version": "0.1-test", "when": "2001-01-02T03:04:05Z"} for r in rows]
        again = [{**r, "version": "0.2-test", "when": "2001-01-02T06:07:08Z"} for r in rows]
        for files, names in (
                ([rows, later], ["rows0.jsonl", "rows1.jsonl"]),
                ([rows + later], ["rows0.jsonl, 2001-01-01", "rows0.jsonl, 2001-01-02"]),
                ([rows + later + again], ["rows0.jsonl, 2001-01-01 00:00", "rows0.jsonl, 2001-01-02 03:04",
                                          "rows0.jsonl, 2001-01-02 06:07"])):
            series = self.figures(self.dump(self.report(*files)), "fastest")
            self.assertEqual(series[0], ["%s (%s)" % (device, n) for n in names])

    def test_jobs_of_one_size_are_told_apart(self):
        """What a problem's text says beyond its size stands in its label; the clock, where two rows
        differ by it alone."""
        row = {**next(r for r in made_up_rows.gpu() if r["kind"] == "kernel"), "op": "fold",
               "unit": "GB/s", "precision": ""}
        rows = [{**row, "problem": problem, "size": size} for problem, size in (
            ("sum of 1000000 float32", "1000000"), ("max of 1000000 float32", "1000000"),
            ("sum of each row of 100x1000 float32", "100x1000"), ("64x64 float32 x 16", "64x64"),
            ("64x64 float32 in place", "64x64"), ("5000000 float32 in 10 bins", "5000000x10"))]
        others = [{**r, **made_up_rows.CPU} for r in rows]
        found = self.labels(self.report(rows, others))
        self.assertIn(["1M, float32, sum, cold", "1M, float32, max, cold", "100\u00d71000, float32, sum of each row, cold",
                       "64\u00b2, float32, batch of 16, cold", "64\u00b2, float32, in place, cold",
                       "5M, float32, in 10 bins, cold"], found)
        warm = [{**r, "cold": False} for r in rows[:1]]
        found = self.labels(self.report(rows[:1] + warm))
        self.assertIn(["fold 1M, sum, cold", "fold 1M, sum, warm"], found)

    def test_variants_are_named_by_what_differs(self):
        rows = [r for r in made_up_rows.gpu() if r["name"] == "tiled" and r["timer"] == "events"]
        some = [{**r, "parameters": "TILE=%d ROWS=4 COLUMNS=8" % n} for r in rows for n in (16, 32)]
        self.assertIn(["tiled [TILE=16]", "tiled [TILE=32]"], self.labels(self.report(some)))
        dom = self.dump(self.report(some))
        self.assertIn(["tiled [TILE=16]", "tiled [TILE=32]", "limit"], self.figures(dom, "sizes"))
        self.assertIn(">tiled [TILE=16 ROWS=4 COLUMNS=8]<", dom) # in the numbers

    def test_bars_near_each_other_start_at_0(self):
        """A scale by factors is of rates that are far apart."""
        rows, text = made_up_rows.gpu(), "equal steps are equal factors; the variant"
        self.assertIn(text, self.dump(self.page))
        alike = [r for r in rows if r["op"] == IN_FLOPS and r["size"] == "1024x1024x1024"]
        near = [{**r, **made_up_rows.CPU, "rate": r["rate"] * 0.9} for r in alike]
        self.assertNotIn(text, self.dump(self.report(alike, near)))

    def test_phone(self):
        """Nothing is wider than the window, and the same charts are there."""
        wide, narrow = self.dump(self.page), self.dump(self.page, width=500)
        for section in SECTIONS:
            self.assertEqual(self.figures(wide, section), self.figures(narrow, section))
        for width in re.findall(r'<canvas[^>]*width: (\d+)px', narrow):
            self.assertLess(int(width), 500)

    def test_pictures(self):
        """Charts are drawn, whatever the width and the scheme.  Two devices take the first two
        colours of text and bars, so the third is the charts' alone."""
        light, dark = (0, 128, 93), (62, 207, 160)
        for name, colour, *size in (("desktop.png", light, 1280, 5000), ("phone.png", light, 500, 7500),
                                    ("dark.png", dark, 1280, 5000)):
            seen = self.picture(self.page, name, *size, dark=colour == dark)
            self.assertGreater(seen[bytes(colour)], 30, name)
            self.assertGreater(len(seen), 40, name)

    def test_print(self):
        self.browse(self.page, "--no-pdf-header-footer", "--print-to-pdf=" + self.path("r.pdf"))
        with open(self.path("r.pdf"), "rb") as f:
            content = f.read()
        self.assertTrue(content.startswith(b"%PDF-"))
        self.assertGreater(len(content), 100000)

    def test_tables_fit_printed_pages(self):
        """Where one is wider than its page, browsers shrink every page.  A page is 184 mm wide
        without its margins; that of every row, on its side, 277 mm."""
        page = self.report(made_up_rows.gpu() + made_up_rows.error_rows())
        with open(page, encoding="utf-8") as f:
            text = f.read().replace("@media print {", "@media all {")
        with open(page, "w", encoding="utf-8") as f:
            f.write(text.replace("</body>", """<script>
                document.querySelectorAll("table").forEach(function (table) {
                    table.dataset.width = table.offsetWidth;
                });</script></body>"""))
        dom = self.dump(page, width=695)
        tables = dom.split('<section id="everything"')
        for part, most in zip(tables, (695, 1046)):
            widths = [int(w) for w in re.findall(r'data-width="(\d+)"', part)]
            self.assertTrue(widths)
            self.assertLessEqual(max(widths), most)

    def test_a_column_without_jobs_is_left_out_of_the_fastest(self):
        row = next(r for r in made_up_rows.gpu() if r["kind"] == "kernel")
        alone = {**row, "device": "Made-up third", "device_id": "2:0", "size": "7x7x7",
                 "problem": "7x7x7 float32"}
        with open(self.report(made_up_rows.gpu(), [alone], made_up_rows.cpu()), encoding="utf-8") as f:
            page = f.read()
        fastest = page[page.index('<section id="fastest"'):page.index('<section id="devices"')]
        self.assertEqual(re.findall(r'class="key k(.)"', fastest), ["0", "2"])
        head = fastest[fastest.index("<thead>"):fastest.index("</thead>")]
        self.assertEqual(head.count("<th "), fastest.split("<tr>")[2].count("<t"))

    def test_errors_against_speed(self):
        """A chart of each job, a series of each precision; infinite errors are in the table."""
        self.assertFalse('id="errors"' in self.dump(self.page), "there is nothing to show")
        rows = made_up_rows.gpu() + made_up_rows.error_rows()
        dom = self.dump(self.report(rows))
        self.assertEqual(self.figures(dom, "errors"), [["f32", "tf32"]])
        turned = [{**r, "problem": r["problem"] + " A^T"} for r in rows if r["kind"] == "error"]
        other = self.dump(self.report(rows + turned))
        self.assertEqual(self.figures(other, "errors"), [["f32", "tf32"]] * 2)
        self.assertEqual(other.count("; errors in units of"), 2 * dom.count("; errors in units of"))
        part = dom[dom.index('<section id="errors"'):]
        part = part[:part.index("</section>")]
        lines = re.findall(r'<tr class="(?:peer)?"><th scope="row">(.*?)</th>', part)
        self.assertEqual(lines, ["tiled", "wgmma", "wgmma", "cuXXXX"])
        self.assertEqual(part.count("\u221e"), 2)

    def test_overlap(self):
        """Rates of each memory; a timeline of one queue and of more, with a bar of each command."""
        self.assertFalse('id="overlap"' in self.dump(self.page), "there is nothing to show")
        page = self.report(made_up_rows.gpu() + made_up_rows.overlap_rows())
        dom = self.dump(page)
        commands = ["copy in", "kernel", "copy out"]
        self.assertEqual(self.figures(dom, "overlap"), [["pageable", "pinned"], *[commands] * 4])
        part = dom[dom.index('<section id="overlap"'):]
        part = part[:part.index("</section>")]
        self.assertIn("pinned, both ways 100", part)
        self.assertEqual(part.count(">copy out<"), 4 * 4)
        self.assertIn(">queue 2<", part)
        self.assertNotIn(">queue 3<", part)
        self.assertEqual([len(self.figures(dom, s)) for s in SECTIONS], [1, 3, 6, 1, 3])
        # Copies and kernels have colours that are no text's; without timelines nothing has them.
        bare = [{**r, "timeline": []} for r in made_up_rows.overlap_rows()]
        for rows, drawn in ((made_up_rows.overlap_rows(), True), (bare, False)):
            seen = self.picture(self.report(rows), "overlap.png", 1280, 4000)
            for colour in ((138, 101, 0), (168, 81, 138)):
                self.assertEqual(seen[bytes(colour)] > 2000, drawn, (colour, seen[bytes(colour)]))

    def test_laboratory(self):
        """A curve of each series, and what courses teach, where they say something."""
        self.assertFalse('id="lab"' in self.dump(self.page), "there is nothing to show")
        dom = self.dump(self.report(made_up_rows.gpu() + made_up_rows.lab_rows()))
        self.assertEqual(self.figures(dom, "lab"), [["read", "read, courses", "write"]])
        self.assertNotRegex(dom, r'<section id="[a-z]+" hidden')
        self.assertIn("GB/s over stride", dom)  # not 0.09 TB/s
        rows = made_up_rows.lab_rows()
        for r in rows:
            r["x"] = {"1": "4 KiB", "2": "4 B", "": ""}[r["x"]]
        self.assertIn(["4 B", "4 KiB"], self.labels(self.report(rows)))
        # Points lie within the frame, and three labels or more tell how far apart.
        for least, most in ((90, 800), (700, 800)):
            rows = [made_up_rows.timed(r, max(r["rate"], least)) if r["rate"] else r
                    for r in made_up_rows.lab_rows()]
            low, high, labels = self.show(self.report(rows), 800, 900).value("""(() => {
                const y = Chart.getChart(document.querySelector("#lab canvas")).scales.y;
                return [y.min, y.max, y.ticks.filter(t => t.label).length];
            })()""")
            self.assertTrue(low < least and high > most, (low, high))
            self.assertGreaterEqual(labels, 3, (low, high))
        self.check_curves_that_meet()
        # Without other rows, parts that are about jobs are left out.
        alone = self.dump(self.report(made_up_rows.lab_rows()))
        hidden = re.findall(r'<section id="([a-z]+)" hidden', alone)
        self.assertEqual(hidden, ["fastest", "devices", "roofline", "ladders", "sizes", "transfers", "peers"])
        self.assertEqual([len(self.figures(dom, s)) for s in SECTIONS], [1, 3, 6, 1, 3])

    def check_curves_that_meet(self):
        """The one below is wider, so that both are seen; a claim about one point is a dash."""
        below = (0, 128, 93)
        for rate, radii in ((7, [4, 7, 4, 7]), (3, [4, 7, 4, 4])):
            read = [r for r in made_up_rows.lab_rows() if r["name"] == "read"]
            rows = [made_up_rows.timed({**r, "name": name, "claim": 0}, r["rate"] * factor)
                    for name, factor in (("a", 1), ("b", 7), ("c", rate)) for r in read]
            rows[0]["claim"] = rows[0]["rate"] * 2
            page = self.report(rows)
            for width in (500, 1400):
                seen = self.picture(page, "meet.png", width, 1600)
                self.assertGreater(seen[bytes(below)], 20)
                self.assertEqual(self.show(page, width, 900).value("""
                    Chart.getChart(document.querySelector("#lab canvas")).data.datasets.map(s => s.pointRadius[0])
                """), radii)

    def test_one_file(self):
        dom = self.dump(self.report(made_up_rows.gpu()))
        self.assertEqual([len(self.figures(dom, s)) for s in SECTIONS], [1, 3, 6, 1, 3])

    def test_little_is_said_to_be_little(self):
        """A page of one row has no chart to draw, and says what would bring each."""
        one = [r for r in made_up_rows.gpu() if r["name"] == "tiled"][:1]
        one[0].update(to_device_ns=0.0, from_device_ns=0.0)
        dom = self.dump(self.report(one))
        self.assertEqual([len(self.figures(dom, s)) for s in SECTIONS], [0] * 5)
        self.assertEqual(dom.count('class="none"'), 5)


@unittest.skipUnless(HAS_CHARTS, "built without Chart.js")
class Figures(Page):
    def test_pictures(self):
        """scripts/figures.py draws the roofline of each device on white, small enough for a page
        that shows it: every operation is there, and each limit that bounds one."""
        rows = made_up_rows.write(self.path("bench-both.jsonl"),
                                  [*made_up_rows.gpu(), *made_up_rows.cpu()])
        for document, tables in (("README.md", ["peers"]), ("comparisons.md", ["peers", "held"])):
            with open(self.path(document), "w", encoding="utf-8") as f:
                f.writelines(f"<!-- figures: {t} -->\n<!-- end figures: {t} -->\n" for t in tables)
        done = subprocess.run(
            [sys.executable, os.path.join(SOURCE, "scripts", "figures.py"), "--tessera", COMMAND,
             "--readme", self.path("README.md"), "--comparisons", self.path("comparisons.md"),
             "--images", self.path("images"), rows],
            check=True, stdout=subprocess.PIPE, timeout=300,
            env={**os.environ, "CHROMIUM": CHROMIUM})
        pictures = [self.path("images/roofline-%s.png" % n) for n in ("both", "both-2")]
        self.assertEqual(done.stdout.decode().split(), pictures)
        for picture in pictures:
            self.assertLess(os.path.getsize(picture), 150000)
            lines = png_lines(picture)
            seen = sum(lines, collections.Counter())
            self.assertEqual(seen.most_common(1)[0][0], b"\xff\xff\xff")
            for colour in ((0, 114, 178), (194, 78, 0), (0, 128, 93), (22, 32, 44)):
                self.assertGreater(seen[bytes(colour)], 30, (picture, colour))
            bottom = sum(lines[len(lines) * 9 // 10:], collections.Counter())
            self.assertGreater(len(bottom), 4, "nothing at the bottom")


class Text(Page):
    def test_hostile_names(self):
        """A name from a file is text in the page, never part of its code."""
        rows = made_up_rows.gpu()
        evil = '</script><script>document.title="broken"</script><!--{{data}} "&\\'
        for r in rows:
            r["device"] = evil[:100]
            r["driver"] = "<img src=x onerror=alert(1)>"
            r["name"] = r["name"] if r["kind"] == "limit" else r["name"] + "<b>&"
        dom = self.dump(self.report(rows))
        self.assertNotIn("<title>broken", dom)
        self.assertNotIn("<img", dom)
        self.assertNotIn("warp-tile<b>", dom)
        self.assertIn("warp-tile&lt;b&gt;&amp;", dom)
        self.assertIn(html.escape(evil, quote=False), dom)

    def test_alone(self):
        """No address of anything outside, and a policy that allows none."""
        with open(self.report(made_up_rows.gpu()), encoding="utf-8") as f:
            page = f.read()
        self.assertIn("default-src 'none'", page)
        own = re.sub(r"<script>/\*!\s*\* Chart\.js.*?</script>", "", page, flags=re.S)
        self.assertIsNone(re.search(r"(src|href)=\"(?!#)", own))
        self.assertNotIn("{{", own)

    def test_tables_hold_every_row(self):
        rows = made_up_rows.gpu()
        with open(self.report(rows), encoding="utf-8") as f:
            page = f.read()
        everything = page[page.index('<section id="everything"'):]
        everything = everything[:everything.index("</section>")]
        self.assertEqual(everything.count("<tr><td>"), len(rows))
        self.assertIn("the device has no sub-groups", everything)

    @unittest.skipIf(HAS_CHARTS, "built with Chart.js")
    def test_no_charts_are_explained(self):
        dom = self.dump(self.report(made_up_rows.gpu()))
        self.assertRegex(dom, r'id="no-charts"[^>]*>[^<]*built without Chart.js')


if __name__ == "__main__":
    unittest.main()
