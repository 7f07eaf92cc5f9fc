"""site_test.py: script/docs builds a site from all pages without a broken link, and detects one."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parents[2]
sys.path.append(str(ROOT / "docs/site"))
import check  # noqa: E402


def build(root):
    """Returns (exit code, output)."""
    ran = subprocess.run([root / "script/docs"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=240)
    return ran.returncode, ran.stdout


class Site(unittest.TestCase):
    def test_all_pages_are_there_and_found(self):
        code, said = build(ROOT)
        self.assertEqual(code, 0, said)
        site = ROOT / "build/docs/site"
        found = {entry["location"].split("#")[0] for entry in json.loads((site / "search/search_index.json").read_text())["docs"]}
        pages = [page.relative_to(ROOT / "docs").with_suffix(".html") for page in (ROOT / "docs").rglob("*.md")]
        self.assertGreater(len(pages), 40)
        for page in pages:
            self.assertTrue((site / page).exists(), page)
            self.assertIn(str(page), found | {"index.html"})
        for file in "repository/examples/policy.yaml.html", "repository/examples/nginx/index.html", "figures/page-now.png":
            self.assertTrue((site / file).exists(), file)


class Broken(unittest.TestCase):
    def built(self, page):
        """Returns the output of script/docs for a project with this page, and with docs/other.md, which has one
        heading."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "script").mkdir()
            shutil.copy(ROOT / "script/docs", root / "script/docs")
            shutil.copy(ROOT / "mkdocs.yml", root)
            shutil.copytree(ROOT / "docs/site", root / "docs/site", ignore=shutil.ignore_patterns("__pycache__"))
            (root / "docs/index.md").write_text("# Weir\n\n## Learn\n\n- [A page](page.md): one\n- [Other](other.md): one\n")
            (root / "docs/other.md").write_text("# Other\n\n## `CL.X`, by name\n\nText.\n")
            (root / "docs/page.md").write_text(f"# Page\n\n{page}\n")
            (root / "policy.yaml").write_text("version: 1\n")
            return build(root)

    def test_a_page_that_is_not_there(self):
        code, said = self.built("[a](none.md)")
        self.assertNotEqual(code, 0)
        self.assertIn("page.md: none.md: missing file docs/none.md", said)

    def test_a_file_that_is_not_there(self):
        code, said = self.built("[a](../examples/none.yaml)")
        self.assertNotEqual(code, 0)
        self.assertIn("missing file examples/none.yaml", said)

    def test_a_heading_that_is_not_there_and_nothing_else(self):
        code, said = self.built("[a](other.md#none), [b](other.md#clx-by-name), [c](../policy.yaml), `[d](none.md)`, "
                                "[e](https://elsewhere.example/)")
        self.assertNotEqual(code, 0)
        self.assertEqual(said, "page.html: other.html#none: unknown heading\n")

    def test_what_a_browser_would_load_from_elsewhere(self):
        with tempfile.TemporaryDirectory() as folder:
            site = pathlib.Path(folder)
            (site / "index.html").write_text('<script src="https://cdn.example/x.js"></script><a href="https://cdn.example/">x</a>')
            (site / "style.css").write_text("@font-face { src: url(//fonts.example/a.woff) }")
            self.assertEqual(list(check.mistakes(site)), [
                "index.html: loads https://cdn.example/x.js from another host",
                "style.css: loads //fonts.example/a.woff from another host"])


if __name__ == "__main__":
    unittest.main()
