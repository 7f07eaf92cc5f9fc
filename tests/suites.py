"""Lists the test suites of a folder: the classes of its *_test.py that derive from unittest.TestCase and have tests of
their own or inherit some. Tests that several suites share are in a class that does not derive from TestCase. A class that
is decorated by `with_cases` has tests, too: those that the decorator adds.

  suites.py FOLDER     prints FILE:CLASS;FILE:CLASS;..., a list of CMake; fails if a file has no suite

The files are read and not imported: what they import need not be installed.
"""

import ast
import pathlib
import sys


class Module:
    """Returns the classes of a file, and the origins of the names it imports."""

    def __init__(self, path):
        tree = ast.parse(path.read_text(), path)
        self.folder = path.parent
        self.classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
        self.imported = {}  # name here -> (module, name there); without a name, the module itself
        for node in tree.body:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    self.imported[alias.asname or alias.name] = (alias.name, None)
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    self.imported[alias.asname or alias.name] = (node.module, alias.name)

    def ancestry(self, name, seen):
        """Returns (module, class) of a class and of all its bases, as far as the folder's files define them, and (None,
        `unittest.TestCase`) if that is one of them."""
        if name in self.classes:
            yield self, self.classes[name]
            for base in self.classes[name].bases:
                yield from self.ancestry(ast.unparse(base), seen)
            return
        prefix, _, rest = name.partition(".")
        module, there = self.imported.get(prefix, (None, None))
        there = there or rest
        if module == "unittest":
            yield None, f"unittest.{there}"
        elif module and (self.folder / f"{module}.py").exists():
            yield from load(self.folder / f"{module}.py", seen).ancestry(there, seen)


def load(path, seen):
    if path not in seen:
        seen[path] = Module(path)
    return seen[path]


def has_tests(node):
    if any(isinstance(call, ast.Call) and ast.unparse(call.func) == "with_cases" for call in node.decorator_list):
        return True
    return any(isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef)) and item.name.startswith("test")
               for item in node.body)


def suites(folder):
    """Returns (file, class) in order. A file without any is an error."""
    found = []
    seen = {}
    for path in sorted(pathlib.Path(folder).glob("*_test.py")):
        module = load(path, seen)
        before = len(found)
        for name in module.classes:
            ancestry = list(module.ancestry(name, seen))
            is_case = any(where is None and node in ("unittest.TestCase", "unittest.IsolatedAsyncioTestCase")
                          for where, node in ancestry)
            if is_case and any(where and has_tests(node) for where, node in ancestry):
                found.append((path.name.removesuffix("_test.py"), name))
        if len(found) == before:
            raise SystemExit(f"{path}: no suite: no class derives from unittest.TestCase and has tests")
    return found


if __name__ == "__main__":
    print(";".join(f"{file}:{name}" for file, name in suites(sys.argv[1])), end="")
