"""If a tool is unavailable, its tests are skipped, listed and counted; the others run."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TESTS = pathlib.Path(__file__).parents[1]
NOTHING = {"WEIR_ENVOY": "/nonexistent", "WEIR_NODE_MODULES": "/nonexistent"}

# The file that CMake writes for three tests.
SUITE = """
add_test(good true)
set_tests_properties(good PROPERTIES LABELS e2e)
add_test(left_out sh -c "exit 77")
set_tests_properties(left_out PROPERTIES LABELS e2e SKIP_RETURN_CODE 77)
"""
BAD = """
add_test(bad false)
set_tests_properties(bad PROPERTIES LABELS unit)
"""


def run(*words, **environment):
    done = subprocess.run(list(map(str, words)), env={**os.environ, **environment}, capture_output=True, text=True)
    return done.returncode, done.stdout


class Tools(unittest.TestCase):
    def tools(self, *words):
        return run(sys.executable, "-B", TESTS / "serve" / "tools.py", *words, **NOTHING)

    def test_setup_says_which_tests_are_left_out(self):
        code, said = self.tools()
        self.assertEqual(code, 0)
        self.assertRegex(said, r"setup: without Envoy.* these tests are skipped: serve\.envoy\.\*\n")
        self.assertRegex(said, r"setup: without Node's clients.* these tests are skipped: serve\.redis_clients\.Node\n")
        self.assertNotIn("serve.curl", said)

    def test_a_test_without_its_tool_is_skipped(self):
        code, said = self.tools("envoy", "ExtAuthz", "weir", "1")
        self.assertEqual(code, 77)
        self.assertIn("skipped: missing Envoy", said)

    def test_so_is_one_of_the_clients(self):
        program = TESTS / "clients" / "run.py"
        code, said = run(sys.executable, "-B", program, **NOTHING)
        self.assertEqual(code, 0)
        self.assertIn("setup: without Express these tests are skipped: clients.conformance.Express\n", said)
        self.assertNotIn("clients.conformance.Python", said)
        code, said = run(sys.executable, "-B", program, "conformance", "Express", "weir", "1", **NOTHING)
        self.assertEqual((code, "skipped: missing Express" in said), (77, True))

    def test_a_test_that_needs_none_is_run(self):
        code, _ = self.tools("curl", "NoSuchClass", "weir", "1")
        self.assertNotIn(code, (0, 77))


class Count(unittest.TestCase):
    def count(self, suite, *options):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "CTestTestfile.cmake").write_text(suite)
            run("ctest", "--test-dir", folder, "--output-junit", f"{folder}/release.xml")
            return run(sys.executable, "-B", TESTS / "count.py", *options, f"release:{folder}")

    def test_skipped_tests_are_named_and_counted(self):
        code, said = self.count(SUITE)
        self.assertEqual(code, 0)
        self.assertEqual(said.splitlines()[-3:],
                         ["e2e".ljust(15) + "1".rjust(15), "release: skipped: left_out", "1 passed, 0 failed, 1 skipped"])

    def test_strictly_a_skipped_test_is_a_failure(self):
        self.assertEqual(self.count(SUITE, "--strict")[0], 1)

    def test_without_skipped_tests_there_is_no_word_of_them(self):
        code, said = self.count(BAD, "--strict")
        self.assertEqual((code, said.splitlines()[-1]), (1, "0 passed, 1 failed"))


if __name__ == "__main__":
    unittest.main()
