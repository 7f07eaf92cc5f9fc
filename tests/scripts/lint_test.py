"""Tests tests/tidy.py, the part of script/lint that runs clang-tidy: the units it lints, its output, and its exit code.

It runs in a separate tree, with a stand-in for clang-tidy that has one finding in every file that contains BAD.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parents[2]
TIDY = """#!/bin/sh
unit=$4
case "$5" in --checks=-check) exit 0 ;; esac
case "$(cat "$unit")" in *CRASH*) kill -SEGV $$ ;; esac
for file in "$unit" $(sed -n 's/#include "\\(.*\\.cpp\\)"/\\1/p' "$unit") "$(dirname "$0")/src/shared.h"; do
  if grep -q BAD "$file"; then found=1; echo "$file:1:1: error: it is bad [check]"; echo "  1 | BAD"; fi
done
test -z "$found"
"""


class Units(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        (self.root / "tests").mkdir()
        shutil.copy(ROOT / "tests/tidy.py", self.root / "tests")
        self.write("tidy", TIDY).chmod(0o755)
        self.write("src/shared.h", "")
        self.units = []

    def write(self, name, text):
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def unit(self, name, text=""):
        self.units.append(str(self.write(name, text)))

    def unity(self, name, *sources):
        """A unit of several files, as CMake creates it."""
        self.unit(f"build/lint/{name}/Unity/unity_0_cxx.cxx",
                  "".join(f'#include "{self.write(source, text)}"\n' for source, text in sources))

    def tidy(self, *places):
        self.write("build/lint/compile_commands.json", json.dumps([{"file": unit} for unit in self.units]))
        done = subprocess.run([sys.executable, "-B", self.root / "tests/tidy.py", self.root / "tidy",
                               self.root / "build/lint", *places], capture_output=True, text=True)
        return done.returncode, done.stdout

    def test_only_units_of_the_places_are_looked_at(self):
        self.unity("table", ("src/table/a.cpp", ""), ("src/table/b.cpp", ""))
        self.unit("src/wire/c.cpp", "BAD")
        self.unit("build/lint/src/made.cpp", "BAD")
        code, said = self.tidy("src/table")
        self.assertEqual((code, "on 1 units" in said), (0, True), said)

    def test_a_finding_in_any_file_of_a_unit_is_printed_and_fails(self):
        self.unity("table", ("src/table/a.cpp", ""), ("src/table/b.cpp", "BAD"))
        code, said = self.tidy("src")
        self.assertEqual(code, 1)
        self.assertIn("\nsrc/table/b.cpp:1:1: error: it is bad [check]\n  1 | BAD\n", said)

    def test_what_two_units_find_in_a_header_is_printed_once(self):
        self.write("src/shared.h", "BAD")
        self.unit("src/a.cpp")
        self.unit("src/b.cpp")
        code, said = self.tidy("src")
        self.assertEqual((code, said.count("it is bad")), (1, 1), said)

    def test_a_unit_that_cannot_be_looked_at_fails(self):
        self.unit("src/a.cpp", "CRASH")
        code, said = self.tidy("src")
        self.assertEqual((code, "src/a.cpp" in said), (1, True), said)

    def test_options_are_passed_to_clang_tidy(self):
        self.unit("src/a.cpp", "BAD")
        self.assertEqual(self.tidy("src")[0], 1)
        code, said = self.tidy("--checks=-check", "src")
        self.assertEqual((code, "on 1 units" in said), (0, True), said)

    def test_nothing_to_look_at_fails(self):
        self.unit("src/a.cpp")
        self.assertEqual(self.tidy("src/no_such_folder")[0], 1)


if __name__ == "__main__":
    unittest.main()
