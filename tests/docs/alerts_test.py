"""alerts_test.py: the rules in deploy/prometheus fire when they should, use existing metrics, and are documented."""

import pathlib
import re
import subprocess
import unittest

import yaml

ROOT = pathlib.Path(__file__).parents[2]
FOLDER = ROOT / "deploy/prometheus"
PAGE = (ROOT / "docs/reference-metrics.md").read_text()
RULES = [rule for group in yaml.safe_load((FOLDER / "alerts.yml").read_text())["groups"] for rule in group["rules"]]


def promtool(*arguments):
    """Returns (exit code, output)."""
    ran = subprocess.run(["promtool", *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                         timeout=240, cwd=FOLDER)
    return ran.returncode, ran.stdout


class Alerts(unittest.TestCase):
    def test_they_are_rules(self):
        code, said = promtool("check", "rules", "alerts.yml")
        self.assertEqual(code, 0, said)

    def test_they_fire_when_they_should_and_only_then(self):
        code, said = promtool("test", "rules", "alerts_test.yml")
        self.assertEqual(code, 0, said)

    def test_each_is_tried_both_ways(self):
        fires, rests = set(), set()
        for scene in yaml.safe_load((FOLDER / "alerts_test.yml").read_text())["tests"]:
            for each in scene["promql_expr_test"]:
                name = re.search(r'alertname="(\w+)"', each["expr"])[1]
                (fires if each["exp_samples"] else rests).add(name)
        names = {rule["alert"] for rule in RULES}
        self.assertEqual(fires, names)
        self.assertEqual(rests, names)

    def test_each_says_what_to_do(self):
        for rule in RULES:
            with self.subTest(rule["alert"]):
                self.assertIn(rule["labels"]["severity"], {"critical", "warning", "info"})
                self.assertEqual(set(rule["annotations"]), {"summary", "action", "runbook"})

    def test_each_has_a_section_on_the_page(self):
        sections = re.findall(r"(?m)^### (Weir\w+)$", PAGE)
        self.assertEqual(sections, [rule["alert"] for rule in RULES])
        rows = re.findall(r"(?m)^\| \[(\w+)\]\(#(\w+)\) \| (\w+) \|", PAGE)
        self.assertEqual([(name, severity) for name, _, severity in rows],
                         [(rule["alert"], rule["labels"]["severity"]) for rule in RULES])
        for rule in RULES:
            self.assertEqual(rule["annotations"]["runbook"], "docs/reference-metrics.md#" + rule["alert"].lower())

    def test_their_metrics_are_on_the_page(self):
        told = set(re.findall(r"(?m)^\| `(weir_\w+)` \|", PAGE))
        for rule in RULES:
            used = {re.sub(r"_(bucket|sum|count)$", "", name) for name in re.findall(r"\bweir_\w+", rule["expr"])}
            with self.subTest(rule["alert"]):
                self.assertTrue(used)
                self.assertEqual(used - told, set())


if __name__ == "__main__":
    unittest.main()
