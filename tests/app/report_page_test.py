"""The page that `weir simulate --report` writes, in a real browser."""

import json
import re
import sys

import program
from program import LOG, NEXT, POLICY, ProgramTest, run

sys.path.append(str(program.ROOT / "tests" / "serve"))
from browser import Browser  # noqa: E402

ATTACK = "\"'><script>document.title = 'attacked'</script></script><!--<img src=x onerror=document.title='attacked'>&amp;"
DATA = re.compile(r'(<script type="application/json" id="report">)(.*?)(</script>)', re.DOTALL)
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


class PageTest(ProgramTest):
    @classmethod
    def setUpClass(cls):
        cls.browser = cls.enterClassContext(Browser())
        cls.browser.resize(1280, 1000)
        cls.leave()

    @classmethod
    def leave(cls):
        """Returns the page's network requests and console messages."""
        cls.browser.open("about:blank")
        asked = [each for each in cls.browser.requested() if not each.startswith(("about:", "chrome", "data:"))]
        return asked, cls.browser.console()

    def write(self, *arguments, code=0):
        """Returns the page's file, and the report as JSON."""
        path = self.folder() / "report.html"
        ran = run("simulate", *arguments, "--report", str(path), "--format", "json")
        self.assertEqual(ran.returncode, code, ran.stderr)
        return path, json.loads(ran.stdout)

    def show(self, path):
        """Asserts that the page loads nothing else and has no errors."""
        self.browser.open(path.as_uri())
        self.addCleanup(lambda: self.assertEqual(self.leave(), ([path.as_uri()], [])))
        self.assertNotRegex(self.browser.text(), r"NaN|undefined|Infinity|\bnull\b|\[object")

    def texts(self, selector):
        return self.browser.run("return [...document.querySelectorAll(arguments[0])].map((each) => each.textContent)",
                                selector)

    def rows(self, title):
        """Returns the cells of the table below a heading."""
        return self.browser.run("""
            const heading = [...document.querySelectorAll("h2, h4")].find((each) => each.textContent === arguments[0]);
            const tables = [...document.querySelectorAll("table")];
            const table = tables.find((each) => heading.compareDocumentPosition(each) & Node.DOCUMENT_POSITION_FOLLOWING);
            return [...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.textContent));""", title)


class Shown(PageTest):
    def test_every_part_of_a_comparison(self):
        path, report = self.write(POLICY, "--candidate", NEXT, "--log", LOG, "--show-keys")
        self.show(path)
        self.assertEqual(self.texts("head > title, h1"), [f"What {POLICY} would have done"] * 2)
        self.assertEqual(self.texts("h2"), ["Admitted and denied over time", f"{POLICY} compared with {NEXT}", "Limits",
                                            "Routes", "The log"])
        self.assertEqual(self.texts("h3"), [limit["name"] for limit in report["policy"]["limits"]])
        self.assertIn(f"{LOG}, replayed on virtual time: {report['from'][:10]} {report['from'][11:19]} to ",
                      self.browser.text("main > p"))
        tiles = self.browser.text(".tiles")
        self.assertIn(f"denied: {report['policy']['denied']:,}", tiles)
        self.assertIn(f"{report['pace']['peak_minute']['count']:,}\nin the busiest minute, from ", tiles)
        routes = {cells[0]: cells[2:4] for cells in self.rows("Routes")}
        self.assertEqual(routes, {route["route"]: [f"{route['pace']['requests']:,}", f"{route['denied']:,}"]
                                  for route in report["policy"]["routes"]})
        differences = report["comparison"]["by_limit_and_route"]
        self.assertEqual(self.rows("Where they differ"), [
            [row["limit"], row["route"], f"{row['newly_denied']:,}", f"{row['newly_admitted']:,}"] for row in differences])
        hit = next(limit for limit in report["policy"]["limits"] if limit["hardest_hit"]["top"])["hardest_hit"]
        self.assertEqual([(cells[0], cells[2]) for cells in self.rows("Denied most")],
                         [(each["consumer"], f"{each['count']:,}") for each in hit["top"]])
        for remark in report["words"]["remarks"]:
            self.assertIn(remark, self.texts("ul.small li"))

    def test_charts_have_titles_and_their_numbers_beside_them(self):
        path, report = self.write(POLICY, "--candidate", NEXT, "--log", LOG)
        self.show(path)
        demand = [(limit, of) for limit in report["policy"]["limits"] for of in limit["demand"] if of["consumers"] > 1]
        self.assertGreater(len(demand), 0)
        titles = ["Admitted and denied over time", "Denied over time, current policy and candidate",
                  *[f"Need per consumer of {limit['name']}" for limit, _ in demand]]
        self.assertEqual(self.texts("svg[role=img] > title"), titles)
        self.assertEqual(len(self.texts("svg > desc")), len(titles))
        self.assertEqual(len(self.texts("details table")), len(titles))
        timeline = report["policy"]["timeline"]
        numbers = self.rows("Admitted and denied over time")
        self.assertEqual([cells[1:] for cells in numbers],
                         [[f"{a:,}", f"{d:,}"] for a, d in zip(timeline["admitted"], timeline["denied"])])
        self.assertEqual(len(self.texts("svg .hint > title")), len(numbers))
        self.assertIn(f"{numbers[-1][0]}: {numbers[-1][1]} admitted, {numbers[-1][2]} denied", self.texts(".hint > title"))
        bars = [bar for _, of in demand for bar in of["histogram"] if bar["consumers"] > 0]
        self.assertEqual(len(self.texts("rect.admitted, rect.denied")), len(bars))
        self.assertEqual(self.texts(".now-label"),
                         [f"now {of['number']} {of['present']:,}" for _, of in demand])

    def test_a_last_step_that_the_log_cuts_short_is_as_high_as_the_others(self):
        line = '192.0.2.1 - - [14/Mar/2025:09:%02d:%02d +0000] "GET /other HTTP/1.1" 200 1\n'
        log = self.file("".join(line % divmod(second, 60) for second in range(401)), "access.log")
        path, report = self.write(POLICY, "--log", log)
        self.show(path)
        self.assertEqual(report["policy"]["timeline"]["seconds_per_bin"], 2)
        outline = self.browser.run("return document.querySelector('path.admitted').getAttribute('d')")
        self.assertEqual(len(set(re.findall(r" ([\d.]+)H", outline))), 1, outline)

    def test_what_is_drawn_is_within_the_chart(self):
        path, _ = self.write(POLICY, "--candidate", NEXT, "--log", LOG)
        self.show(path)
        outside = self.browser.run("""
            return [...document.querySelectorAll("svg")].flatMap((chart) => {
              const frame = chart.getBoundingClientRect();
              return [...chart.querySelectorAll("path, rect, line, text")].filter((each) => {
                const box = each.getBoundingClientRect();
                return box.left < frame.left - 4 || box.right > frame.right + 4 || box.top < frame.top - 4 ||
                  box.bottom > frame.bottom + 4 || each.getAttribute("d")?.includes("NaN");
              }).map((each) => each.outerHTML);
            })""")
        self.assertEqual(outside, [])

    def test_nodes(self):
        path, report = self.write(POLICY, "--log", LOG, "--nodes", "2", "--consistency", "leased")
        self.show(path)
        title = "On 2 nodes, leased, 1 ms from the store, requests round-robin"
        self.assertEqual([(cells[0], cells[3]) for cells in self.rows(title)],
                         [(limit["name"], f"{limit['denied']:,}") for limit in report["nodes"]["limits"]])
        self.assertIn("newly admitted, compared with one exact store. ", self.browser.text())

    def test_estimates(self):
        path, report = self.write("examples/tokens.yaml", "--field", "cost=usage.total_tokens", "--log",
                                  "examples/tokens.jsonl", "--estimate", "p95 of 100", "--estimate", "4096")
        self.show(path)
        self.assertEqual(self.rows("Costs known only at the end"), [
            [each["estimate"], *[f"{each[name]:,}" for name in ("admitted", "denied", "newly_denied", "newly_admitted")]]
            for each in report["estimates"]])
        self.assertEqual([cells[0] for cells in self.rows("tokens-by-user")], ["report", "p95 of 100", "4096"])
        self.assertIn("given back: reserved and not spent", self.browser.text())

    def test_what_is_missing_from_the_log(self):
        log = self.file('192.0.2.1 - - [14/Mar/2025:09:00:00 +0000] "GET / HTTP/1.1" 200 1\n', "access.log")
        path, report = self.write(POLICY, "--log", log)
        self.show(path)
        self.assertGreater(len(report["words"]["cautions"]), 0)
        self.assertEqual(self.texts(".tiles + .card li"), report["words"]["cautions"])

    def test_an_empty_log(self):
        path, _ = self.write(POLICY, "--log", self.file("", "empty.log"), code=1)
        self.show(path)
        self.assertIn("0 lines, 0 requests.", self.browser.text())

    def test_light_and_dark(self):
        path, _ = self.write(POLICY, "--log", LOG)
        self.show(path)
        colours = set()
        for scheme in "light", "dark":
            self.browser.prefer(scheme)
            colours.add(self.browser.run("return getComputedStyle(document.body).backgroundColor"))
        self.assertEqual(colours, {"rgb(251, 251, 250)", "rgb(18, 22, 27)"})

    def test_a_narrow_screen(self):
        path, _ = self.write(POLICY, "--candidate", NEXT, "--log", LOG)
        self.browser.resize(375, 800, mobile=True)
        self.addCleanup(self.browser.resize, 1280, 1000)
        self.show(path)
        self.assertLessEqual(self.browser.run("return document.documentElement.scrollWidth"), 375)


class Hostile(PageTest):
    def check(self, times):
        """The attack is shown as text and has no effect."""
        self.assertGreaterEqual(self.browser.text().count(ATTACK), times)
        self.assertNotEqual(self.browser.run("return document.title"), "attacked")
        self.assertEqual(self.browser.run("return document.querySelectorAll('img').length"), 0)
        self.assertEqual(self.browser.run("return document.scripts.length"), 2)

    def test_a_log_that_attacks(self):
        user = json.dumps(ATTACK)
        log = self.file(f'{{"time": "2025-03-14T09:00:00Z", "ip": "192.0.2.1", "user": {user}, "path": "/api/x"}}\n' * 60,
                        "log.json")
        path, _ = self.write(POLICY, "--log", log, "--field", "target=path", "--show-keys")
        self.show(path)
        self.assertIn(ATTACK[:80], self.browser.text("td code"))
        self.check(0)

    def test_every_text_of_a_report(self):
        path, _ = self.write(POLICY, "--candidate", NEXT, "--log", LOG, "--nodes", "2")

        def poisoned(value):
            if isinstance(value, dict):
                return {name: poisoned(inside) for name, inside in value.items()}
            if isinstance(value, list):
                return [poisoned(inside) for inside in value]
            return ATTACK if isinstance(value, str) and not TIME.fullmatch(value) else value

        page = path.read_text()
        data = json.dumps(poisoned(json.loads(DATA.search(page)[2]))).replace("<", "\\u003c")
        path.write_text(DATA.sub(lambda found: found[1] + data + found[3], page))
        self.show(path)
        self.check(50)


if __name__ == "__main__":
    program.main()
