"""references_test.py PROGRAM: the reference pages list exactly the existing fields, values, default rules and options.

UPDATE_GOLDEN=1 regenerates docs/reference-commands.md. serve.docs.Tables compares the metrics with a server.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).parents[2]
DOCS = ROOT / "docs"
PROGRAM = sys.argv[1]


def said(*arguments):
    return subprocess.run([PROGRAM, *arguments], check=True, capture_output=True, text=True, timeout=60).stdout


def rows(page):
    """Returns {field: the cells after it} of all tables of fields; a row may describe several fields."""
    found = {}
    for line in (DOCS / page).read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        for name in re.findall(r"`([^`]+)`", cells[0]) if line.startswith("| `") else []:
            assert name not in found, name
            found[name] = cells[1:]
    return found


class Schema:
    """Returns the fields of a JSON Schema by path: `listeners.http.tls`, `limits[].name`, and `NAME` for any name."""

    def __init__(self, schema):
        self.schema = schema
        self.fields = {}
        self.walk(schema, "", ())

    def resolved(self, node):
        while "$ref" in node:
            name = node["$ref"].rsplit("/", 1)[1]
            node = {**self.schema["$defs"][name], **{key: node[key] for key in node if key != "$ref"}}
        return node

    def alternatives(self, node):
        node = self.resolved(node)
        return [node] + [each for key in ("oneOf", "anyOf") for other in node.get(key, [])
                         for each in self.alternatives(other)]

    def walk(self, node, path, within):
        """Adds the fields of a node inside the definitions `within`. A recursive definition is walked only once."""
        within = (*within, node.get("$ref"))
        for each in self.alternatives(node):
            for name, field in each.get("properties", {}).items():
                self.add(f"{path}.{name}".lstrip("."), field, within)
            if isinstance(each.get("additionalProperties"), dict):
                self.add(path + ".NAME", each["additionalProperties"], within)
            items = each.get("items") or {}
            is_nested = "$ref" in items and items["$ref"] in within
            if not is_nested and (self.alternatives(items)[1:] or "properties" in self.resolved(items)):
                self.walk(items, path + "[]", within)

    def add(self, path, field, within):
        if "$ref" in field and field["$ref"] in within:
            self.fields.setdefault(path, []).append({key: field[key] for key in field if key != "$ref"})
            return
        self.fields.setdefault(path, []).append(self.resolved(field))
        self.walk(field, path, within)

    def leaves(self):
        """Returns the fields without subfields, and those that can also be a word, a number or a list."""
        return {path for path in self.fields
                if not any(other.startswith((path + ".", path + "[]")) for other in self.fields)}

    def words(self, path):
        return {str(word) for node in self.fields[path] for each in self.alternatives(node)
                for word in [*each.get("enum", []), each.get("const")] if isinstance(word, str)}

    def default(self, path):
        """Returns the default from the schema, or from its description."""
        for node in self.fields[path]:
            if "default" in node:
                return node["default"] if isinstance(node["default"], str) else json.dumps(node["default"])
            found = re.search(r"Default: ([\w:/.]+?)[.,;]?(?: |$)", node.get("description", ""))
            if found and found[1] not in ("keys", "the", "one", "off", "Redis", "all", "skip", "loopback"):
                return found[1]
        return None


class Policy(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.schema = Schema(json.loads(said("schema")))
        self.rows = rows("reference-policy.md")

    def test_the_fields_are_those_of_the_schema(self):
        # A tier and a candidate can set the numbers of a limit: their rows list them.
        nested = re.compile(r"limits\[\]\.(tier_overrides\.NAME|candidate)\.")
        names = {"limits[].tier_overrides.NAME": "limits[].tier_overrides.TIER", "limits[].cost.NAME": "limits[].cost.ROUTE",
                 "limits[].when.identity_in.NAME": "limits[].when.identity_in"}
        there = {names.get(path, path) for path in self.schema.leaves() if not nested.match(path)}
        there |= {"limits[].tier_overrides.TIER", "limits[].candidate", "limits"}
        also_a_word = {"limits[].when", "limits[].cost", "limits[].consistency", "limits[].window"}
        self.assertEqual(set(self.rows), there | also_a_word)

    def test_what_a_tier_and_a_candidate_take(self):
        for row, path in (("limits[].tier_overrides.TIER", "limits[].tier_overrides.NAME"),
                          ("limits[].candidate", "limits[].candidate")):
            takes = {other.removeprefix(path + ".").split(".")[0] for other in self.schema.fields
                     if other.startswith(path + ".")}
            named = set(re.findall(r"`(\w+)`", self.rows[row][0]))
            self.assertEqual(named - self.schema.words(path), takes)

    def test_every_word_and_default_is_named(self):
        for path in set(self.rows) & set(self.schema.fields):
            with self.subTest(path):
                values, default = self.rows[path][:2]
                words = self.schema.words(path)
                if words:
                    self.assertLessEqual(words, set(re.findall(r"`([^`]+)`", values)))
                if self.schema.default(path) is not None:
                    self.assertEqual(default, f"`{self.schema.default(path)}`")


class Lint(unittest.TestCase):
    maxDiff = None

    def test_every_rule_has_its_section_and_every_section_its_rule(self):
        source = (ROOT / "src/policy/rules.h").read_text()
        rules = dict(re.findall(r'constexpr Rule (\w+)\{"([\w-]+)"\};', source))
        self.assertGreater(len(rules), 20)
        listed = re.search(r"std::array all\{(.*?)\};", source, re.DOTALL)[1]
        self.assertEqual(sorted(re.findall(r"\w+", listed)), sorted(rules))
        sections = re.findall(r"(?m)^### (.*)$", (DOCS / "reference-lint.md").read_text())
        self.assertEqual(sections, list(rules.values()))


class Config(unittest.TestCase):
    maxDiff = None
    LISTENERS = ("http", "rls", "resp", "admin")

    def setUp(self):
        self.schema = Schema(json.loads(said("schema", "--config")))
        self.rows = rows("reference-weir-yaml.md")

    def as_on_the_page(self, path):
        """Fields that all listeners have are `listeners.NAME`."""
        found = re.match(r"listeners\.(\w+)(.*)", path)
        if found and all(f"listeners.{name}{found[2]}" in self.schema.fields for name in self.LISTENERS):
            return f"listeners.NAME{found[2]}"
        return path

    def test_the_fields_are_those_of_the_schema(self):
        there = {self.as_on_the_page(path) for path in self.schema.leaves()}
        sections = {"listeners.NAME", "listeners.NAME.tls", "state.snapshot", "log.denials", "store", "store.redis",
                    "store.redis.sentinel", "store.redis.tls"}
        self.assertEqual(set(self.rows), there | sections)

    def test_every_default_is_named(self):
        checked = 0
        for path in self.schema.fields:
            default = self.schema.default(path)
            row = self.rows.get(self.as_on_the_page(path))
            if row and default and default[0].isalnum() and not path.endswith(tuple("." + n for n in self.LISTENERS)):
                with self.subTest(path):
                    self.assertIn(row[0], (f"`{default}`", f'`"{default}"`'))
                    checked += 1
        self.assertGreater(checked, 20)


class Commands(unittest.TestCase):
    maxDiff = None
    PAGE = DOCS / "reference-commands.md"
    INTRODUCTION = """# The command line

This page shows what `weir --help` and `weir COMMAND --help` print. A test compares it with the program.

"""

    def names(self):
        subcommands = said("--help").split("\nSubcommands:\n")[1].split("\n\n")[0]
        return re.findall(r"(?m)^  (\w+) ", subcommands)

    def text(self):
        names = self.names()
        parts = [("weir", said("--help")), *((f"weir {name}", said(name, "--help")) for name in names)]
        links = ", ".join(f"[{name}](#weir-{name})" for name in names)
        return self.INTRODUCTION + f"Commands: {links}.\n" + "".join(
            f"\n## {title}\n\n```text\n{help.strip()}\n```\n" for title, help in parts)

    def test_the_page_is_what_the_program_prints(self):
        self.assertGreater(len(self.names()), 10)
        if os.environ.get("UPDATE_GOLDEN"):
            self.PAGE.write_text(self.text())
        self.assertEqual(self.PAGE.read_text(), self.text())


class Lists(unittest.TestCase):
    def test_the_readme_is_read_in_one_go(self):
        self.assertLessEqual(len((ROOT / "README.md").read_text().splitlines()), 120)

    def test_only_references_are_long(self):
        long = [page.name for page in DOCS.glob("*.md") if len(page.read_text().splitlines()) > 400]
        self.assertEqual([name for name in long if not name.startswith("reference-")], [])

    def test_every_decision_is_in_their_list(self):
        files = {file.name for file in (DOCS / "decisions").glob("[0-9]*.md")}
        self.assertEqual(set(re.findall(r"\]\((\d[^)]*)\)", (DOCS / "decisions/index.md").read_text())), files)

    def test_every_page_is_in_the_index(self):
        pages = {file.name for file in DOCS.glob("*.md")} - {"index.md"}
        self.assertLessEqual(pages, set(re.findall(r"\]\(([\w-]+\.md)[)#]", (DOCS / "index.md").read_text())))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
