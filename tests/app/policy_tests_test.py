"""weir test: policies tested like code."""

import pathlib
import subprocess
import time
import xml.etree.ElementTree

import program
from program import PROGRAM, ProgramTest, run

POLICY = """version: 1
limits:
  - name: login
    routes: [POST /login]
    consumer_key: ip
    algorithm: sliding_window_log
    rate: 2/min
"""

TESTS = """version: 1
tests:
  - name: two logins per minute
    ip: 203.0.113.7
    steps:
      - { request: POST /login, times: 3, expect: { admitted: 2, denied_by: login, retry_after: 1min } }
      - { request: POST /login, ip: 203.0.113.8, expect: admitted }
      - { request: GET /login, expect: { covered_by: [] } }
      - { request: POST /login, at: 75s, times: 2, expect: admitted }
bounds:
  - at_most: 2 per 1min for POST /login by one ip
"""

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"


class PolicyTests(ProgramTest):
    def make(self, policy=POLICY, tests=TESTS):
        folder = self.folder()
        (folder / "policy.yaml").write_text(policy)
        (folder / "policy.test.yaml").write_text(tests)
        return folder

    def test_passes_and_exits_with_0(self):
        folder = self.make()
        self.expect("test", str(folder), out=f"""{folder}/policy.test.yaml with {folder}/policy.yaml
  ok   two logins per minute
  ok   at most 2 per 1min for POST /login by one ip (proved: 2, by login)
  coverage: 2 of 2 parts

2 passed, 0 failed; 7 requests
""")

    def test_fails_and_exits_with_1(self):
        ran = run("test", str(self.make(policy=POLICY.replace("2/min", "3/min"))))
        self.assertEqual(ran.returncode, 1)
        self.assertIn("3 of 3 requests were admitted; expected 2", ran.stdout)
        self.assertIn("up to 3 requests can be admitted, by login", ran.stdout)

    def test_of_a_directory_without_tests(self):
        folder = self.folder()
        self.expect("test", str(folder), code=1,
                    err=f"weir: {folder}: no file that ends in .test.yaml; `weir init` writes one\n")

    def test_files_that_do_not_load(self):
        folder = self.make(tests="version: 1\ntests: 5\n")
        ran = run("test", str(folder))
        self.assertEqual(ran.returncode, 1)
        self.assertIn("policy.test.yaml:2:8: error: ", ran.stderr)
        ran = run("test", str(self.make(policy="version: 1\nlimits: 5\n")))
        self.assertEqual(ran.returncode, 1)
        self.assertIn("policy.yaml:2:9: error: ", ran.stderr)

    def test_several_policies(self):
        folder = self.make()
        other = folder / "other.yaml"
        other.write_text(POLICY.replace("2/min", "1/min"))
        ran = run("test", str(folder), "--policy", str(folder / "policy.yaml"), "--policy", str(other))
        self.assertEqual(ran.returncode, 1)
        self.assertIn("3 passed, 1 failed", ran.stdout)

    def test_strict_fails_on_what_is_untested(self):
        weak = TESTS.replace("times: 3, expect: { admitted: 2, denied_by: login, retry_after: 1min }",
                             "times: 2, expect: admitted")
        folder = self.make(tests=weak)
        self.assertEqual(run("test", str(folder)).returncode, 0)
        ran = run("test", "--strict", str(folder))
        self.assertEqual(ran.returncode, 1)
        self.assertIn("login: no test has a denial", ran.stdout)

    def test_filter_runs_some_tests(self):
        ran = run("test", "--filter", "two logins", str(self.make()))
        self.assertIn("1 passed, 0 failed", ran.stdout)

    def test_tap_and_junit(self):
        folder = self.make()
        tap = run("test", "--format", "tap", str(folder)).stdout.splitlines()
        self.assertEqual(tap[:2], ["TAP version 14", "1..2"])
        root = xml.etree.ElementTree.fromstring(run("test", "--format", "junit", str(folder)).stdout)
        self.assertEqual([each.get("tests") for each in root.iter("testsuite")], ["2"])

    def test_watch_runs_again_after_a_change(self):
        folder = self.make()
        with subprocess.Popen([PROGRAM, "test", "--watch", str(folder)], stdout=subprocess.PIPE, text=True) as watching:
            try:
                self.assertIn("2 passed, 0 failed", self.until(watching, "watching for changes"))
                time.sleep(0.01)  # a file system may give two writes of one instant the same time
                (folder / "policy.yaml").write_text(POLICY.replace("2/min", "30/min"))
                self.assertIn("0 passed, 2 failed", self.until(watching, "watching for changes"))
            finally:
                watching.terminate()

    @staticmethod
    def until(process, text):
        lines = []
        for line in process.stdout:
            lines.append(line)
            if text in line:
                break
        return "".join(lines)

    def test_the_examples_detect_at_least_nine_tenths_of_their_mutants(self):
        files = sorted(EXAMPLES.rglob("*.test.yaml"))
        self.assertGreaterEqual(len(files), 12)
        for file in files:
            with self.subTest(file):
                ran = run("test", "--mutate", str(file))
                self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
                words = next(line for line in ran.stdout.splitlines() if "mutants:" in line).split()
                self.assertGreaterEqual(int(words[1]) / int(words[3]), 0.9, ran.stdout)
                self.assertNotIn("no test has", ran.stdout)

    def test_the_schema_is_json(self):
        self.assertEqual(self.json("schema", "--tests")["title"], "Weir policy tests")


if __name__ == "__main__":
    program.main()
