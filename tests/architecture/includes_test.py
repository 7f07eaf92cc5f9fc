"""The arrows of docs/architecture.md hold for this tree, and the test can fail."""

import pathlib
import tempfile
import unittest

import includes

ROOT = pathlib.Path(__file__).parents[2]

PAGE = f"""
{includes.HEADING}

```
include/weir/    the API            -> nothing
src/core/        the arithmetic     -> include/weir
src/table/       keys -> states     -> core
app/             the program        -> all
```
"""


class FakeTree(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.write("docs/architecture.md", PAGE)
        self.write("include/weir/weir.h", "#include <vector>\n")
        self.write("src/core/core.h", '#include "weir/weir.h"\n')
        self.write("src/core/deep/detail.h", '#include "core/core.h"\n')
        self.write("src/table/table.cpp", '#include "core/core.h"\n#include "table.h"\n')
        self.write("src/table/table.h", "")
        self.write("app/main.cpp", '#include "table/table.h"\n#include <weir/weir.h>\n')

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def expect(self, *wrong):
        self.assertEqual(includes.violations(self.root), list(wrong))

    def test_a_true_table_is_accepted(self):
        self.expect()

    def test_an_edge_against_the_arrows_is_refused(self):
        self.write("src/core/core.cpp", '#include "table/table.h"\n')
        self.expect("src/core/core.cpp: src/core may not include src/table/table.h")

    def test_an_arrow_brings_what_its_folder_may_include(self):
        self.write("src/table/table.h", '#include "weir/weir.h"\n')
        self.expect()
        self.write("docs/architecture.md", PAGE.replace("-> core", "-> nothing"))
        self.expect("src/table/table.cpp: src/table may not include src/core/core.h",
                    "src/table/table.h: src/table may not include include/weir/weir.h")

    def test_an_edge_by_a_relative_path_is_refused(self):
        self.write("src/core/core.cpp", '#include "../table/table.h"\n')
        self.expect("src/core/core.cpp: src/core may not include src/table/table.h")

    def test_an_edge_in_angle_brackets_is_refused(self):
        self.write("include/weir/weir.h", "#include <core/core.h>\n")
        self.expect("include/weir/weir.h: include/weir may not include src/core/core.h")

    def test_a_folder_that_is_not_in_the_table_is_refused(self):
        self.write("src/attic/box.cpp", "")
        self.expect("src/attic/box.cpp: its folder is not in the table")

    def test_a_folder_that_is_not_in_the_tree_is_refused(self):
        self.write("docs/architecture.md", PAGE.replace("app/   ", "attic/ -> nothing\napp/   "))
        self.expect("attic: in the table, but there is no such folder")

    def test_an_include_that_is_nowhere_is_refused(self):
        self.write("src/core/core.cpp", '#include "core/lost.h"\n')
        self.expect('src/core/core.cpp: includes "core/lost.h", which is not in the tree')

    def test_an_arrow_to_no_folder_is_refused(self):
        self.write("docs/architecture.md", PAGE.replace("-> core", "-> attic"))
        with self.assertRaisesRegex(ValueError, "src/attic"):
            includes.violations(self.root)


class ThisTree(unittest.TestCase):
    maxDiff = None

    def test_includes_follow_the_arrows(self):
        self.assertEqual(includes.violations(ROOT), [])


if __name__ == "__main__":
    unittest.main()
