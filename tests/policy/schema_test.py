"""Compares the schema that `weir schema` prints with the parser.

Usage: schema_test.py POLICY_SCHEMA TESTS_POLICY; the program POLICY_SCHEMA prints the schema.

Every valid policy validates, and every mistake that its fixture calls structural does not. The fixtures' own test
(fixture_files_test.cpp) tests the parser with the same files.
"""

import json
import pathlib
import subprocess
import sys
import unittest

import jsonschema
import yaml

PROGRAM, FIXTURES = sys.argv[1], pathlib.Path(sys.argv[2])


def structural(text):
    return "\n# structural\n" in text[: text.find("\n", text.rfind("# expect:")) + 20]


def properties(schema):
    """Returns the names of all fields, wherever they are in the schema."""
    if isinstance(schema, list):
        return set().union(*map(properties, schema))
    if not isinstance(schema, dict):
        return set()
    return set(schema.get("properties", {})).union(*map(properties, schema.values()))


class Schema(unittest.TestCase):
    def setUp(self):
        self.schema = json.loads(subprocess.run([PROGRAM], check=True, capture_output=True).stdout)
        self.validator = jsonschema.Draft202012Validator(self.schema)

    def valid_files(self):
        for path in sorted((FIXTURES / "valid").glob("*.yaml")):
            document = yaml.safe_load(path.read_bytes().replace(b"\t", b" "))  # PyYAML rejects tabs, even in JSON
            if "openapi" not in document and "domain" not in document:
                yield path, document

    def test_is_a_schema(self):
        jsonschema.Draft202012Validator.check_schema(self.schema)

    def test_every_valid_policy_validates(self):
        files = list(self.valid_files())
        self.assertGreaterEqual(len(files), 10)
        for path, document in files:
            with self.subTest(path.name):
                self.assertEqual([error.message for error in self.validator.iter_errors(document)], [])

    def test_no_structural_mistake_validates(self):
        count = 0
        for path in sorted((FIXTURES / "mistakes").glob("*.yaml")):
            text = path.read_text(errors="replace")
            if not structural(text):
                continue
            count += 1
            with self.subTest(path.name):
                self.assertFalse(self.validator.is_valid(yaml.safe_load(text)))
        self.assertGreaterEqual(count, 100)

    def test_every_field_of_the_schema_is_in_a_valid_policy(self):
        written = set()

        def collect(value):
            if isinstance(value, dict):
                for key, inner in value.items():
                    written.add(key)
                    collect(inner)
            elif isinstance(value, list):
                for inner in value:
                    collect(inner)

        for _, document in self.valid_files():
            collect(document)
        known = properties(self.schema)
        self.assertGreater(len(known), 40)
        self.assertEqual(known - written, set())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
