"""Every class with tests is found, and no class that only shares its tests is run by itself."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SUITES = pathlib.Path(__file__).parents[1] / "suites.py"

SHARED = """
import unittest

class Base(unittest.TestCase):
    def verb(self):
        pass

class Cases:
    def test_shared(self):
        pass
"""


class Suites(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.write("shared.py", SHARED)

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def found(self):
        done = subprocess.run([sys.executable, "-B", SUITES, self.folder], capture_output=True, text=True)
        return done.stdout, done.stderr

    def expect(self, *suites):
        self.assertEqual(self.found(), (";".join(suites), ""))

    def test_a_class_with_tests_is_a_suite(self):
        self.write("a_test.py", "import unittest\n"
                                "class One(unittest.TestCase):\n    def test(self): pass\n"
                                "class Two(unittest.TestCase):\n    async def test_it(self): pass\n"
                                "class Helper:\n    def test(self): pass\n")
        self.expect("a:One", "a:Two")

    def test_bases_are_found_in_other_files_by_either_import(self):
        self.write("a_test.py", "import shared\nclass One(shared.Cases, shared.Base): pass\n")
        self.write("b_test.py", "from shared import Base as B, Cases\n"
                                "class Middle(B): pass\n"
                                "class Two(Cases, Middle): pass\n"
                                "class Three(Middle):\n    def test(self): pass\n")
        self.expect("a:One", "b:Two", "b:Three")

    def test_a_suite_may_inherit_from_another(self):
        self.write("a_test.py", "import unittest\n"
                                "class One(unittest.TestCase):\n    def test(self): pass\n"
                                "class Two(One): pass\n")
        self.expect("a:One", "a:Two")

    def test_a_decorator_may_add_the_tests(self):
        self.write("a_test.py", "from shared import Base\n"
                                "@with_cases([1, 2])\nclass Cases: pass\n"
                                "class One(Cases, Base): pass\n")
        self.expect("a:One")

    def test_what_a_file_imports_need_not_be_installed(self):
        self.write("a_test.py", "import nowhere\nfrom shared import Base\n"
                                "class One(nowhere.Mixin, Base):\n    def test(self): pass\n")
        self.expect("a:One")

    def test_a_file_without_a_suite_is_an_error(self):
        self.write("a_test.py", "from shared import Base\nclass One(Base): pass\n")
        printed, errors = self.found()
        self.assertEqual(printed, "")
        self.assertIn("a_test.py: no suite", errors)


if __name__ == "__main__":
    unittest.main()
