"""The program from outside: what it prints where, and its exit codes. Arguments: PROGRAM VERSION [unittest's]."""

import pathlib
import subprocess
import sys
import unittest

PROGRAM, VERSION = sys.argv[1:3]
DEMO = pathlib.Path(__file__).with_name("demo.txt").read_text()


class ProgramTest(unittest.TestCase):
    maxDiff = None

    def expect(self, *arguments, code=0, out="", err=""):
        ran = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=60)
        self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (code, out, err))

    def help(self, *arguments):
        ran = subprocess.run([PROGRAM, *arguments, "--help"], capture_output=True, text=True, timeout=60)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        return ran.stdout


class Asked(ProgramTest):
    def test_version_is_that_of_the_project(self):
        self.expect("--version", out=f"weir {VERSION}\n")

    def test_help_names_every_command_option_and_exit_code(self):
        text = self.help()
        for word in ["Usage: weir", "demo", "--help", "--version", "Examples:", "Exit codes: 0", "1", "2"]:
            self.assertIn(word, text)

    def test_help_fits_a_terminal(self):
        for text in [self.help(), self.help("demo")]:
            self.assertLessEqual(max(map(len, text.splitlines())), 100, text)

    def test_help_of_a_command_is_about_that_command(self):
        text = self.help("demo")
        self.assertIn("Usage: weir demo", text)
        self.assertIn("virtual time", text)


class Demo(ProgramTest):
    def test_demo_prints_the_same_every_time(self):
        self.expect("demo", out=DEMO)
        self.expect("demo", out=DEMO)

    def test_demo_fails_when_it_cannot_be_written(self):
        with open("/dev/full", "w") as full:
            ran = subprocess.run([PROGRAM, "demo"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(ran.returncode, 1)
        self.assertIn("weir: cannot write", ran.stderr)


class Mistakes(ProgramTest):
    def test_no_command(self):
        self.expect(code=2, err="weir: which command? There is one: demo\nSee `weir --help`.\n")

    def test_a_mistyped_command_is_corrected(self):
        self.expect("dmeo", code=2, err="weir: unknown command `dmeo`; did you mean `demo`?\nSee `weir --help`.\n")

    def test_an_unknown_command_is_named(self):
        self.expect("serve", code=2, err="weir: unknown command `serve`\nSee `weir --help`.\n")

    def test_a_mistyped_option_is_corrected(self):
        self.expect("--versoin", code=2,
                    err="weir: unknown option `--versoin`; did you mean `--version`?\nSee `weir --help`.\n")

    def test_an_unknown_option_is_named(self):
        self.expect("--frobnicate", code=2, err="weir: unknown option `--frobnicate`\nSee `weir --help`.\n")

    def test_an_unknown_option_of_a_command_is_named(self):
        self.expect("demo", "--hepl", code=2,
                    err="weir: unknown option `--hepl`; did you mean `--help`?\nSee `weir demo --help`.\n")

    def test_an_argument_too_many_is_named(self):
        self.expect("demo", "extra", code=2, err="weir: unexpected argument `extra`\nSee `weir demo --help`.\n")

    def test_an_empty_argument_is_named(self):
        self.expect("", code=2, err="weir: unknown command ``\nSee `weir --help`.\n")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
