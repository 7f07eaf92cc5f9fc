"""The program can be configured without the packages that only the tests need."""

import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parents[2]


class BareBuild(unittest.TestCase):
    def configure(self, *options):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                ["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "-Wno-dev",
                 *(f"-DCMAKE_DISABLE_FIND_PACKAGE_{package}=ON"
                   for package in ("GTest", "rapidcheck", "gRPC", "benchmark", "absl")), *options],
                capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_without_tests_nothing_of_theirs_is_looked_for(self):
        self.assertNotIn("tests", self.configure("-D", "WEIR_TESTS=OFF"))

    def test_with_tests_it_says_what_they_lack(self):
        self.assertIn("Without tests: script/setup installs what they need (libgtest-dev librapidcheck-dev libgrpc++-dev",
                      self.configure("-D", "WEIR_TESTS=ON"))

    def test_with_benchmarks_it_says_what_they_lack(self):
        self.assertIn("(libbenchmark-dev libabsl-dev libgrpc++-dev",
                      self.configure("-D", "WEIR_TESTS=OFF", "-D", "WEIR_BENCH=ON"))


if __name__ == "__main__":
    unittest.main()
