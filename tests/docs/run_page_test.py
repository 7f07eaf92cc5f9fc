"""The test of the pages detects a wrong page."""

import pathlib
import tempfile
import unittest

import run_page
from extract import BLOCK

# Accepts every file except those that contain `bad`.
LINT = """#!/bin/sh
if grep -q bad "$3"; then echo "$3:1:1: error: bad"; echo "$3: 1 error"; exit 1; fi
echo "$3: ok"
"""


class RunPage(unittest.TestCase):
    def wrong(self, page):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "program"
            program.write_text(LINT)
            program.chmod(0o755)
            inner = pathlib.Path(folder) / "inner"
            inner.mkdir()
            checked = run_page.Page(program, inner)
            checked.check(BLOCK.findall(page))
            return len(checked.wrong)

    def test_a_sound_policy(self):
        self.assertEqual(self.wrong("```yaml policy\ngood\n```\n"), 0)
        self.assertEqual(self.wrong("```yaml limits\n- good\n```\n"), 0)

    def test_a_policy_that_is_not_sound(self):
        self.assertEqual(self.wrong("```yaml policy\nbad\n```\n"), 1)
        self.assertEqual(self.wrong("```yaml limits\n- bad\n```\n"), 1)

    def test_a_policy_that_fails_as_the_page_says(self):
        self.assertEqual(self.wrong("```yaml policy\nbad\n```\nsays\n```text\npolicy.yaml:1:1: error: bad\n```\n"), 0)
        self.assertEqual(self.wrong("```yaml policy\nbad\n```\nsays\n```text\npolicy.yaml:1:1: error: worse\n```\n"), 1)
        self.assertEqual(self.wrong("```yaml policy\ngood\n```\nsays\n```text\npolicy.yaml:1:1: error: bad\n```\n"), 1)

    def test_other_yaml_is_only_shown(self):
        self.assertEqual(self.wrong("```yaml\nbad\n```\n"), 0)

    def test_commands(self):
        self.assertEqual(self.wrong("```console\n$ echo a; echo b\na\nb\n```\n"), 0)
        self.assertEqual(self.wrong("```console\n$ echo a; echo b\na\n```\n"), 1)
        self.assertEqual(self.wrong("```console\n$ echo a\na\n$ echo b\nc\n```\n"), 1)

    def test_exit_codes(self):
        self.assertEqual(self.wrong("```console\n$ exit 3\n$ echo $?\n3\n```\n"), 0)

    def test_a_command_of_several_lines(self):
        self.assertEqual(self.wrong("```console\n$ echo a \\\n    b\na b\n```\n"), 0)

    def test_dots_stand_for_any_lines(self):
        self.assertEqual(self.wrong("```console\n$ seq 5\n1\n...\n5\n```\n"), 0)
        self.assertEqual(self.wrong("```console\n$ seq 5\n1\n...\n6\n```\n"), 1)


if __name__ == "__main__":
    unittest.main()
