"""The program is configured where the packages that only the tests need are not installed."""

import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parents[2]

# Knows all libraries but those of gRPC.
PKG_CONFIG = """#!/bin/sh
case "$*" in *grpc*) exit 1 ;; esac
exec pkg-config "$@"
"""


class BareBuild(unittest.TestCase):
    def configure(self, *options):
        with tempfile.TemporaryDirectory() as folder:
            pkg_config = pathlib.Path(folder) / "pkg-config"
            pkg_config.write_text(PKG_CONFIG)
            pkg_config.chmod(0o755)
            done = subprocess.run(
                ["cmake", "-S", ROOT, "-B", pathlib.Path(folder) / "build", "-G", "Ninja", "-Wno-dev",
                 "-D", "CMAKE_DISABLE_FIND_PACKAGE_GTest=ON", "-D", "CMAKE_DISABLE_FIND_PACKAGE_rapidcheck=ON", *options],
                env={**os.environ, "PKG_CONFIG": str(pkg_config)}, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_without_tests_nothing_of_theirs_is_looked_for(self):
        self.assertNotIn("tests", self.configure("-D", "WEIR_TESTS=OFF"))

    def test_with_tests_it_says_what_they_lack(self):
        self.assertIn("Without tests: script/setup installs what they need (libgtest-dev librapidcheck-dev libgrpc++-dev",
                      self.configure("-D", "WEIR_TESTS=ON"))


if __name__ == "__main__":
    unittest.main()
