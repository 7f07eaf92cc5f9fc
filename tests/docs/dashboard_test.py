"""dashboard_test.py: deploy/grafana/weir.json queries existing metrics in valid PromQL. serve.docs.Dashboard queries a
server."""

import json
import pathlib
import re
import subprocess
import tempfile
import unittest

import dashboard

DOCS = pathlib.Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "reference-metrics.md").read_text()
LISTENERS = (DOCS / "protocols.md").read_text()
TOLD = {name: row for row, name in re.findall(r"(?m)^(\| `((?:weir|process)_\w+)` \|.*)$", PAGE)}


class Dashboard(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.dashboard = dashboard.load()

    def test_prometheus_understands_every_query(self):
        rules = [{"record": f"dashboard:{i}", "expr": dashboard.without_variables(query)}
                 for i, (_, query) in enumerate(dashboard.queries(self.dashboard))]
        self.assertGreater(len(rules), 50)
        with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
            json.dump({"groups": [{"name": "dashboard", "rules": rules}]}, file)  # JSON, which is also YAML
            file.flush()
            ran = subprocess.run(["promtool", "check", "rules", file.name], stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True, timeout=240)
        self.assertEqual(ran.returncode, 0, ran.stdout)

    def test_promtool_would_say_so(self):
        with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
            json.dump({"groups": [{"name": "a", "rules": [{"record": "a", "expr": "sum by (limit ("}]}]}, file)
            file.flush()
            ran = subprocess.run(["promtool", "check", "rules", file.name], capture_output=True, timeout=240)
        self.assertNotEqual(ran.returncode, 0)

    def test_its_metrics_labels_and_their_values_are_on_the_page(self):
        for where, query in dashboard.queries(self.dashboard):
            for name, inside in dashboard.matchers(query):
                metric = dashboard.family(name, TOLD)
                with self.subTest(where, metric=metric):
                    self.assertIn(metric, TOLD)
                    for label, values in inside:
                        if label in dashboard.ADDED or values.startswith("$"):
                            continue
                        self.assertIn(f"`{label}`", TOLD[metric].split("|")[2])
                        # A label value that several metrics have is explained at one of them; listeners are explained
                        # in protocols.md.
                        rows = "".join(row for row in TOLD.values() if f"`{label}`" in row.split("|")[2])
                        for value in values.split("|"):
                            self.assertIn(f"`{value}`", LISTENERS if label == "listener" else rows)

    def test_a_legend_has_labels_that_its_query_keeps(self):
        for panel in dashboard.panels(self.dashboard):
            for target in panel["targets"]:
                with self.subTest(panel["title"]):
                    self.assertLessEqual(dashboard.legend_labels(target["legendFormat"]),
                                         dashboard.grouped(target["expr"]))

    def test_every_query_is_of_the_chosen_nodes(self):
        for where, query in dashboard.queries(self.dashboard):
            for name, inside in dashboard.matchers(query):
                with self.subTest(where, metric=name):
                    self.assertLessEqual({("job", "$job"), ("instance", "$instance")}, set(inside))

    def test_nothing_is_of_one_installation(self):
        names = {variable["name"] for variable in self.dashboard["templating"]["list"]}
        self.assertEqual(names, {"datasource", "job", "instance", "limit"})
        sources = re.findall(r'"uid": "([^"]*)"', dashboard.FILE.read_text())
        self.assertEqual(set(sources), {"${datasource}", self.dashboard["uid"]})

    def test_panels_have_places_of_their_own(self):
        ids = [panel["id"] for panel in self.dashboard["panels"]]
        self.assertEqual(len(ids), len(set(ids)))
        cells = set()
        for panel in self.dashboard["panels"]:
            at = panel["gridPos"]
            self.assertLessEqual(at["x"] + at["w"], 24)
            covered = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
            self.assertEqual(cells & covered, set(), panel["title"])
            cells |= covered


if __name__ == "__main__":
    unittest.main()
