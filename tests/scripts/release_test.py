"""script/release finds versions, CHANGELOG sections, tags and files that are not ready for a release, and changes nothing.

It runs in a separate repository. The last suite checks the versions of this tree.
"""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parents[2]

FILES = {
    "CMakeLists.txt": "project(weir VERSION 1.2.3 LANGUAGES CXX)\n",
    "clients/python/pyproject.toml": 'version = "1.2.3"\n',
    "clients/node/package.json": '{ "version": "1.2.3" }\n',
    "docs/openapi.yaml": "openapi: 3.1.0\ninfo:\n  version: 1.2.3\n",
    "docs/install.md": "docker load -i weir-1.2.3.docker.tar, with Redis 7.0.15, at weir 127.0.0.1:8080. This is weir 1.2.3.\n",
    "docs/decisions/0001.md": "It was weir 0.0.9 then.\n",
    "deploy/kubernetes/weir.yaml": "image: weir:1.2.3\n",
    "deploy/chart/Chart.yaml": "version: 1.2.3\nappVersion: \"1.2.3\"\n",
    "CHANGELOG.md": "# Changelog\n\n## [Unreleased]\n\n## [1.2.3] - 2026-01-05\n\n### Added\n\n- This.\n",
}


class Release(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "script").mkdir()
        shutil.copy(ROOT / "script/release", self.root / "script")
        for name, text in FILES.items():
            self.write(name, text)
        self.git("init", "--quiet")
        self.commit()

    def write(self, name, text):
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def git(self, *words):
        return subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@weir.invalid", "-c", "commit.gpgsign=false",
                               "-c", "tag.gpgsign=false", *words], cwd=self.root, check=True, capture_output=True, text=True).stdout

    def commit(self):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message=all")

    def release(self, *options):
        done = subprocess.run([self.root / "script/release", *options], capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr

    def expect_problem(self, *lines):
        code, printed, errors = self.release()
        self.assertEqual((code, printed, errors.splitlines()), (1, "", [f"release: {line}" for line in lines]))

    def replace(self, name, old, new):
        self.assertIn(old, FILES[name])
        self.write(name, FILES[name].replace(old, new))
        self.commit()

    def test_a_tree_that_agrees_is_ready_and_stays_as_it_is(self):
        before = self.git("rev-parse", "HEAD"), self.git("tag")
        code, printed, errors = self.release()
        self.assertEqual((code, errors), (0, ""))
        self.assertIn("release: 1.2.3 is ready\n", printed)
        self.assertIn("git tag -s v1.2.3 -m 'Weir 1.2.3'\n", printed)
        self.assertEqual((self.git("rev-parse", "HEAD"), self.git("tag")), before)
        self.assertEqual(self.git("status", "--porcelain", "--ignored"), "")

    def test_every_file_with_a_version_is_compared(self):
        for name, line in (("clients/python/pyproject.toml", 1), ("clients/node/package.json", 1), ("docs/openapi.yaml", 3),
                           ("deploy/kubernetes/weir.yaml", 1)):
            with self.subTest(name):
                self.replace(name, "1.2.3", "1.2.2")
                self.expect_problem(f"{name}:{line}: version 1.2.2, but CMakeLists.txt has 1.2.3")
                self.replace(name, "1.2.3", "1.2.3 ")
        self.replace("deploy/chart/Chart.yaml", 'appVersion: "1.2.3"', 'appVersion: "1.3.0"')
        self.expect_problem("deploy/chart/Chart.yaml:2: version 1.3.0, but CMakeLists.txt has 1.2.3")

    def test_every_version_in_a_page_is_compared(self):
        self.replace("docs/install.md", "weir 1.2.3.", "weir 1.2.1.")
        self.expect_problem("docs/install.md:1: version 1.2.1, but CMakeLists.txt has 1.2.3")

    def test_a_package_without_a_version(self):
        self.replace("clients/node/package.json", '"version": "1.2.3"', "")
        self.expect_problem("clients/node/package.json: missing version")

    def test_a_project_without_a_version(self):
        self.replace("CMakeLists.txt", " VERSION 1.2.3", "")
        self.expect_problem("CMakeLists.txt: missing version: project(weir VERSION MAJOR.MINOR.PATCH ...)")

    def test_a_changelog_without_a_section_of_the_version(self):
        self.replace("CHANGELOG.md", "[1.2.3]", "[1.2.2]")
        self.expect_problem("CHANGELOG.md: missing section '## [1.2.3] - YYYY-MM-DD' after [Unreleased]")

    def test_a_changelog_with_unreleased_entries(self):
        self.replace("CHANGELOG.md", "## [Unreleased]\n", "## [Unreleased]\n\n### Added\n\n- That.\n")
        self.expect_problem("CHANGELOG.md: [Unreleased] is not empty; move its entries to [1.2.3]")

    def test_a_changelog_without_a_valid_date(self):
        for date, problem in (("soon", "invalid date 'soon'; must be YYYY-MM-DD"),
                              ("2026-02-30", "invalid date '2026-02-30'; must be YYYY-MM-DD"),
                              ("2999-01-01", "2999-01-01 is in the future")):
            with self.subTest(date):
                self.replace("CHANGELOG.md", "2026-01-05", date)
                self.expect_problem(f"CHANGELOG.md: {problem}")

    def test_a_changelog_that_does_not_begin_with_unreleased(self):
        self.replace("CHANGELOG.md", "## [Unreleased]\n\n", "")
        self.expect_problem("CHANGELOG.md: the first section must be '## [Unreleased]'")

    def test_a_tree_that_is_not_clean(self):
        self.write("new.txt", "")
        code, printed, errors = self.release()
        self.assertEqual((code, printed), (1, ""))
        self.assertEqual(errors, "release: the tree is not clean; commit or remove:\n?? new.txt\n")

    def test_a_version_that_was_released(self):
        self.git("tag", "v1.2.3")
        self.expect_problem("tag v1.2.3 exists; raise the version in CMakeLists.txt")

    def test_a_version_older_than_the_last_release(self):
        self.git("tag", "v1.2.2")
        self.assertEqual(self.release()[0], 0)
        self.git("tag", "v1.10.0")
        self.expect_problem("version 1.2.3 is older than tag v1.10.0")

    def test_all_problems_are_printed_at_once(self):
        self.replace("clients/node/package.json", "1.2.3", "1.2.2")
        self.replace("CHANGELOG.md", "[1.2.3]", "[1.2.2]")
        self.expect_problem("clients/node/package.json:1: version 1.2.2, but CMakeLists.txt has 1.2.3",
                            "CHANGELOG.md: missing section '## [1.2.3] - YYYY-MM-DD' after [Unreleased]")

    def test_versions_alone(self):
        self.replace("CHANGELOG.md", "[1.2.3]", "[1.2.2]")
        self.write("new.txt", "")
        self.assertEqual(self.release("--versions"), (0, "release: all versions are 1.2.3\n", ""))

    def test_an_unknown_option(self):
        for options in (["--force"], ["--versions", "--force"]):
            self.assertEqual(self.release(*options), (2, "", "usage: script/release [--versions]\n"))


class Tree(unittest.TestCase):
    def test_the_versions_agree(self):
        done = subprocess.run([ROOT / "script/release", "--versions"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
