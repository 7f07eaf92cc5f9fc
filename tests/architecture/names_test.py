"""The names in docs/architecture.md exist in this tree, and the test can fail."""

import pathlib
import tempfile
import unittest

import names

ROOT = pathlib.Path(__file__).parents[2]

TREE = {
    "src/net/buffers.h": "class Sender {\n  void send();\n  int more_after;\n};\n",
    "src/net/buffers.cpp": "void Sender::send() {\n  flush();\n}\nvoid helper() {}\n",
    "src/net/loop.cpp": "int turn() {\n  return 1;\n}\n",
    "app/main.cpp": "int main() {}\n",
}


class FakeTree(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for path, text in TREE.items():
            self.write(path, text)

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def expect(self, page, *wrong):
        self.write(names.PAGE, page)
        self.assertEqual(names.violations(self.root), [f"{names.PAGE}:{what}" for what in wrong])

    def test_a_true_walk_is_accepted(self):
        self.expect("| net/buffers.cpp | `Sender::send`, `helper`: one write |\n"
                    "| app/main.cpp | `main`, then `turn` (net/loop.cpp) |\n"
                    "| net/loop.cpp | `turn`, with `helper` (buffers.cpp, loop.cpp) |\n")

    def test_a_file_of_a_walk_that_is_not_there_is_named(self):
        self.expect("# Title\n\n| net/gone.cpp | `turn` |\n", "3: there is no file net/gone.cpp")
        self.expect("| net/loop.cpp | `turn` (gone.cpp) |\n", "1: there is no file gone.cpp")

    def test_a_function_of_a_walk_has_to_be_defined_in_its_file(self):
        self.expect("| net/buffers.cpp | `Sender::flush` |\n",
                    "1: there is no function Sender::flush in src/net/buffers.cpp")
        self.expect("| net/buffers.cpp | `turn` |\n", "1: there is no function turn in src/net/buffers.cpp")
        self.expect("| net/buffers.cpp | `flush` |\n", "1: there is no function flush in src/net/buffers.cpp")  # a call
        self.expect("| app/main.cpp | `main` (net/loop.cpp) |\n", "1: there is no function main in src/net/loop.cpp")

    def test_names_in_the_text_have_to_occur(self):
        self.expect("`Sender`, `Sender::send(Bytes)`, `more_after`, **net/buffers.h** and `buffers.cpp`; `weir explain`.\n")
        self.expect("`Receiver` and\n`Sender::receive` and `gone.h` and **net/gone.h** and **text.**\n",
                    "1: there is no Receiver", "2: there is no Sender::receive", "2: there is no file gone.h",
                    "2: there is no file net/gone.h")

    def test_blocks_are_passed_over(self):
        self.expect("```\n| net/gone.cpp | `turn` |\n`gone`\n```\n")


class ThisTree(unittest.TestCase):
    maxDiff = None

    def test_what_the_page_names_is_there(self):
        self.assertEqual(names.violations(ROOT), [])


if __name__ == "__main__":
    unittest.main()
