"""Tests script/test: the builds and tests that its arguments select, its progress output, and its exit code.

It runs in a separate tree, where script/build records its arguments and creates a build of a few tests.
"""

import os
import pathlib
import pty
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from run import Progress  # noqa: E402

SETUP = "#!/bin/sh\necho setup >> asked\n"
BUILD = """#!/bin/sh
echo "build $*" >> asked
mkdir -p build/$1/tests/fuzz
cp tests.cmake build/$1/CTestTestfile.cmake
cp tests.cmake build/$1/tests/fuzz/CTestTestfile.cmake
"""
TESTS = """
add_test(table.Unit true)
set_tests_properties(table.Unit PROPERTIES LABELS unit)
add_test(table.Threads true)
set_tests_properties(table.Threads PROPERTIES LABELS stress)
add_test(engine.Property true)
set_tests_properties(engine.Property PROPERTIES LABELS property)
add_test(serve.soak.Soak true)
set_tests_properties(serve.soak.Soak PROPERTIES LABELS e2e)
"""
FAILS = """
add_test(table.Bad sh -c "echo what went wrong; exit 1")
set_tests_properties(table.Bad PROPERTIES LABELS unit)
"""
SKIPPED = """
add_test(serve.envoy.Envoy sh -c "exit 77")
set_tests_properties(serve.envoy.Envoy PROPERTIES LABELS e2e SKIP_RETURN_CODE 77)
"""
CANNOT_START = """
add_test(table.Missing /nonexistent)
set_tests_properties(table.Missing PROPERTIES LABELS unit)
"""


class Tree:
    """Runs script/test with stand-ins for the other scripts, which only record their calls."""

    def __init__(self, folder, tests):
        self.path = pathlib.Path(folder)
        for name in ("script/test", "tests/run.py", "tests/count.py", "tests/tsan_suppressions.txt"):
            (self.path / name).parent.mkdir(exist_ok=True)
            shutil.copy(ROOT / name, self.path / name)
        (self.path / "tests/table").mkdir()
        (self.path / "tests.cmake").write_text(tests)
        for name, text in (("setup", SETUP), ("build", BUILD)):
            script = self.path / "script" / name
            script.write_text(text)
            script.chmod(script.stat().st_mode | stat.S_IXUSR)

    def test(self, *arguments):
        done = subprocess.run([self.path / "script/test", *arguments], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def asked(self):
        file = self.path / "asked"
        return file.read_text().splitlines() if file.exists() else []


class Script(unittest.TestCase):
    def run_test(self, *arguments, tests=TESTS):
        with tempfile.TemporaryDirectory() as folder:
            tree = Tree(folder, tests)
            code, said = tree.test(*arguments)
            return code, said, tree.asked()

    def test_without_arguments_it_builds_once_and_runs_every_test_once(self):
        code, said, asked = self.run_test()
        self.assertEqual(asked, ["setup", "build release program_tests library_tests"])
        self.assertEqual(code, 0, said)
        self.assertEqual(said.splitlines()[-1], "4 passed, 0 failed")

    def test_sanitize_adds_the_tests_of_the_library(self):
        code, said, asked = self.run_test("--sanitize", "--strict")
        self.assertEqual(asked[1:], ["build release program_tests library_tests", "build asan library_tests"])
        self.assertEqual((code, said.splitlines()[-1]), (0, "6 passed, 0 failed"), said)

    def test_thread_adds_stress_tests_stores_the_engine_and_the_server(self):
        code, said, asked = self.run_test("--thread")
        self.assertEqual(asked[1:], ["build release program_tests library_tests", "build tsan thread_tests"])
        self.assertEqual((code, said.splitlines()[-1]), (0, "7 passed, 0 failed"), said)

    def test_a_race_is_a_failure_even_if_its_test_passes(self):
        racy = """sh -c [==[test -z "$TSAN_OPTIONS" || echo a race > "${TSAN_OPTIONS##*log_path=}.1"]==]"""
        code, said, _ = self.run_test("--thread", tests=TESTS.replace("serve.soak.Soak true", f"serve.soak.Soak {racy}"))
        self.assertIn("a race\ntest: ThreadSanitizer reported races\n", said)
        self.assertEqual((code, said.splitlines()[-1]), (1, "7 passed, 0 failed"))

    def test_full_is_all_of_it(self):
        code, said, asked = self.run_test("--full")
        self.assertEqual(code, 0, said)
        for preset in ("release", "asan", "tsan", "fuzz"):
            self.assertTrue([line for line in asked if line.startswith(f"build {preset}")], asked)

    def test_a_folder_is_built_and_run_alone(self):
        code, said, asked = self.run_test("tests/table")
        self.assertEqual((code, asked), (0, ["setup", "build release table_tests"]), said)
        self.assertIn("test: release 2/2", said)

    def test_what_it_does_not_know_it_refuses(self):
        for arguments in (["--sanitise"], ["--sanitize", "table"], ["no_such_folder"]):
            code, said, asked = self.run_test(*arguments)
            self.assertEqual((code, asked), (2, []), said)

    def test_the_end_has_counts_by_kind_and_times_by_part(self):
        _, said, _ = self.run_test("--sanitize")
        self.assertRegex(said, r"tests by kind +release +asan\n")
        self.assertRegex(said, r"\nunit +1 +1\n")
        self.assertRegex(said, r"\ne2e +1 +-\n")
        self.assertRegex(said, r"\nsetup 0:\d\d, build release 0:\d\d, test release 0:\d\d, build asan 0:\d\d, "
                               r"test asan 0:\d\d; total 0:\d\d\n")

    def test_a_failure_is_shown_with_its_output_and_named_at_the_end(self):
        code, said, _ = self.run_test(tests=TESTS + FAILS)
        self.assertEqual(code, 1)
        self.assertIn("what went wrong\n", said)
        self.assertEqual(said.splitlines()[-2:], ["release: failed: table.Bad", "4 passed, 1 failed"])

    def test_what_cannot_be_started_failed(self):
        code, said, _ = self.run_test(tests=TESTS + CANNOT_START)
        self.assertEqual((code, said.splitlines()[-2:]), (1, ["release: failed: table.Missing", "4 passed, 1 failed"]))

    def test_a_skipped_test_fails_strictly(self):
        self.assertEqual(self.run_test(tests=TESTS + SKIPPED)[0], 0)
        code, said, _ = self.run_test("--strict", tests=TESTS + SKIPPED)
        self.assertEqual((code, said.splitlines()[-1]), (1, "4 passed, 0 failed, 1 skipped"))


class Out:
    """Records what was written, and whether it is a terminal."""

    def __init__(self, is_terminal):
        self.text, self.isatty = "", lambda: is_terminal

    def write(self, text):
        self.text += text

    def flush(self):
        pass


class Shown(unittest.TestCase):
    def progress(self, is_terminal):
        self.time = 0
        self.out = Out(is_terminal)
        return Progress("release", self.out, now=lambda: self.time)

    def test_how_many_are_done_and_which_runs_longest(self):
        progress = self.progress(is_terminal=False)
        progress.read("      Start   1: serve.soak.Soak")
        self.time = 20
        progress.read("      Start   2: table.Table")
        self.assertEqual(progress.line(), "test: release 0/?, 2 running, 0:20 (serve.soak.Soak 0:20)")
        self.time = 70
        progress.read("  1/387 Test   #2: table.Table .............   Passed   50.00 sec")
        self.assertEqual(progress.line(), "test: release 1/387, 1 running, 1:10 (serve.soak.Soak 1:10)")

    def test_without_a_terminal_a_line_every_half_minute(self):
        progress = self.progress(is_terminal=False)
        for self.time in range(0, 95):
            progress.show()
        self.assertEqual([line.split(", ")[-1] for line in self.out.text.splitlines()], ["0:30", "1:00", "1:30"])

    def test_on_a_terminal_one_line_is_rewritten(self):
        progress = self.progress(is_terminal=True)
        progress.show()
        progress.show()
        self.assertEqual(self.out.text, "test: release 0/?, 0 running, 0:00\r\x1b[Ktest: release 0/?, 0 running, 0:00")

    def test_a_failure_is_printed_at_once_and_counted(self):
        progress = self.progress(is_terminal=True)
        progress.show()
        progress.read("    Start 1: table.Table")
        progress.read("1/2 Test #1: table.Table .......***Failed    0.01 sec")
        progress.read("a line of its output")
        self.assertTrue(self.out.text.endswith(
            "\r\x1b[K1/2 Test #1: table.Table .......***Failed    0.01 sec\na line of its output\n"), self.out.text)
        self.assertIn(", 1 failed, ", progress.line())

    def test_lines_of_a_failed_test_that_look_like_the_runs_own_change_nothing(self):
        progress = self.progress(is_terminal=False)
        progress.read("    Start 1: table.Table")
        progress.read("1/2 Test #1: table.Table .......***Failed    0.01 sec")
        progress.read("7/9 Test #7: inner.Test ........   Passed    0.01 sec")
        progress.read("100% tests passed, 0 tests failed out of 9")
        progress.read("    Start 2: table.Other")
        progress.read("2/2 Test #2: table.Other .......***Timeout  10.00 sec")
        self.assertEqual(progress.line(), "test: release 2/2, 2 failed, 0 running, 0:00")

    def test_on_a_real_terminal_it_ends_with_a_line_of_its_own(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "CTestTestfile.cmake").write_text(TESTS)
            master, terminal = pty.openpty()
            done = subprocess.run([sys.executable, "-B", ROOT / "tests/run.py", "release", folder], stdout=terminal)
            os.close(terminal)
            said = os.read(master, 65536).decode()
            os.close(master)
        self.assertEqual(done.returncode, 0)
        self.assertRegex(said, r"\r\x1b\[Ktest: release 4/4 in 0:\d\d, 0 failed\r\n$")


if __name__ == "__main__":
    unittest.main()
