"""weir man: pages in man format with the content of --help."""

import json
import re
import subprocess

import program
from program import ProgramTest, run


def shown(page):
    """Returns what groff renders for a page, as one line of words, and its warnings."""
    ran = subprocess.run(["groff", "-man", "-Tutf8", "-P-cbou", "-ww", "-rHY=0"], input=page, capture_output=True, text=True,
                         timeout=60)
    return " ".join(ran.stdout.split()), ran.stderr


def words(text):
    return " ".join(text.split())


class Pages(ProgramTest):
    def commands(self):
        return re.findall(r"^  (\w+) ", self.help().split("Subcommands:\n")[1].split("\n\n")[0], re.MULTILINE)

    def page(self, *name):
        ran = run("man", *name)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        text, warnings = shown(ran.stdout)
        self.assertEqual(warnings, "", ran.stdout)
        return text

    def test_the_page_of_a_command_says_what_its_help_says(self):
        for command in self.commands():
            with self.subTest(command):
                page = self.page(command)
                self.assertTrue(page.startswith(f"WEIR-{command.upper()}(1)"))
                options, *footer = self.help(command).split("\n\n", 1)[1].split("\n\n")
                for option in re.findall(r"^  (?:-\w,)?(--[\w-]+)", options, re.MULTILINE):
                    self.assertIn(option, page)
                for paragraph in footer:
                    if paragraph.startswith(("Options:", "Positionals:")):
                        continue
                    paragraph = re.sub(r"^(Examples?:\n|Exit codes: )", "", paragraph)
                    self.assertIn(words(paragraph), page)

    def test_the_page_of_the_program_names_every_command(self):
        page = self.page()
        self.assertIn("weir - a rate limiter: it decides for every request", page)
        for command in self.commands():
            self.assertIn(f"weir-{command}(1)", page)

    def test_the_page_of_weir_yaml_names_every_field(self):
        page = self.page("weir.yaml")
        schema = json.loads(run("schema", "--config").stdout)
        for name in schema["properties"]:
            self.assertIn(f" {name} ", page)
        for path in ("listeners.NAME.token_file", "state.snapshot.every", "store.redis.sentinel.master"):
            self.assertIn(f" {path} ", page)
        self.assertNotIn("doors", page)

    def test_all_of_them_are_files(self):
        folder = self.folder() / "pages"
        self.expect("man", "--into", str(folder))
        names = {"weir.1", "weir.yaml.5", *(f"weir-{command}.1" for command in self.commands())}
        self.assertEqual({file.name for file in folder.iterdir()}, names)
        self.assertEqual((folder / "weir-serve.1").read_text(), run("man", "serve").stdout)


class Mistakes(ProgramTest):
    def test_a_page_that_is_not_there(self):
        self.expect("man", "sreve", code=1,
                    err="weir: unknown page `sreve`; pages: weir, weir.yaml and one per command\n")

    def test_a_folder_that_cannot_be_made(self):
        ran = run("man", "--into", "/dev/null/pages")
        self.assertEqual(ran.returncode, 1)
        self.assertIn("/dev/null/pages: cannot be created", ran.stderr)


if __name__ == "__main__":
    program.main()
