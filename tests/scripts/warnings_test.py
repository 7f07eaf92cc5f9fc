"""Warnings are errors in CI and in the preset dev, and in no other build."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parents[2]

# A stand-in for cmake: prints its arguments where script/build cannot discard them.
RECORDER = """#!/bin/sh
echo "$@" >>"$RECORD"
"""


class Warnings(unittest.TestCase):
    def commands(self, preset):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                ["cmake", "-S", ROOT, "--preset", preset, "-B", folder, "-Wno-dev", "-D", "WEIR_TESTS=OFF",
                 "-D", "WEIR_BENCH=OFF"], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            found = json.loads((pathlib.Path(folder) / "compile_commands.json").read_text())
        self.assertTrue(found)
        return [each["command"].split() for each in found]

    def options_of_build(self, **environment):
        """Returns what script/build passes to cmake."""
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "cmake"
            program.write_text(RECORDER)
            program.chmod(0o755)
            record = pathlib.Path(folder) / "record"
            outside = {name: value for name, value in os.environ.items() if name != "CI"}
            subprocess.run([ROOT / "script" / "build", "release", "nothing"], check=True, capture_output=True,
                           env={**outside, "PATH": f"{folder}:{os.environ['PATH']}", "RECORD": str(record),
                                **environment})
            return record.read_text()

    def test_a_warning_of_a_newer_compiler_does_not_end_a_release_build(self):
        for command in self.commands("release"):
            self.assertIn("-Wnull-dereference", command)
            self.assertNotIn("-Werror", command)

    def test_in_the_preset_dev_warnings_are_errors(self):
        for command in self.commands("dev"):
            self.assertIn("-Werror", command)

    def test_in_ci_warnings_are_errors_whatever_the_preset(self):
        self.assertIn("-D CMAKE_COMPILE_WARNING_AS_ERROR=ON", self.options_of_build(CI="true"))

    def test_outside_ci_script_build_leaves_it_to_the_preset(self):
        self.assertNotIn("WARNING_AS_ERROR", self.options_of_build())


if __name__ == "__main__":
    unittest.main()
