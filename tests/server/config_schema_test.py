"""Compares the schema that `weir schema --config` prints with the reader of weir.yaml.

Usage: config_schema_test.py SOURCE_FOLDER WEIR

Every valid file validates, and every mistake that its fixture calls structural does not. The fixtures' own test
(config_mistakes_test.cpp) tests the reader with the same files.
"""

import json
import pathlib
import subprocess
import sys
import unittest

import jsonschema
import yaml

SOURCE = pathlib.Path(sys.argv[1])
WEIR = sys.argv[2]
FIXTURES = SOURCE / "tests/server"


def properties(schema):
    """Returns the names of all fields, wherever they are in the schema."""
    if isinstance(schema, list):
        return set().union(*map(properties, schema))
    if not isinstance(schema, dict):
        return set()
    return set(schema.get("properties", {})).union(*map(properties, schema.values()))


def keys(document):
    if isinstance(document, list):
        return set().union(*map(keys, document))
    if not isinstance(document, dict):
        return set()
    return set(document).union(*map(keys, document.values()))


class ConfigSchema(unittest.TestCase):
    def setUp(self):
        self.schema = json.loads(subprocess.run([WEIR, "schema", "--config"], check=True, capture_output=True).stdout)
        self.validator = jsonschema.Draft202012Validator(self.schema)

    def valid_files(self):
        paths = [SOURCE / "examples/weir.yaml", *sorted((FIXTURES / "config_valid").glob("*.yaml"))]
        return [(path, yaml.safe_load(path.read_text())) for path in paths]

    def test_is_a_schema(self):
        jsonschema.Draft202012Validator.check_schema(self.schema)

    def test_every_valid_file_validates(self):
        for path, document in self.valid_files():
            with self.subTest(path.name):
                self.assertEqual([error.message for error in self.validator.iter_errors(document)], [])

    def test_no_structural_mistake_validates(self):
        structural = [path for path in sorted((FIXTURES / "config_mistakes").glob("*.yaml"))
                      if "\n# structural\n" in path.read_text()]
        self.assertGreaterEqual(len(structural), 60)
        for path in structural:
            with self.subTest(path.name):
                self.assertFalse(self.validator.is_valid(yaml.safe_load(path.read_text())))

    def test_every_field_is_in_a_valid_file_and_on_the_page(self):
        page = (SOURCE / "docs/reference-weir-yaml.md").read_text()
        fields = properties(self.schema)
        self.assertEqual(fields - set().union(*(keys(document) for _, document in self.valid_files())), set())
        self.assertEqual([field for field in sorted(fields) if field not in page], [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
