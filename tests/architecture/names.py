"""Checks that every file, type and function that docs/architecture.md names is in the tree.

In code marks or in bold, a word with a suffix (`core/rule.h`, `path.cpp`) is a file, any other word that looks like a name
of the code (`Sender::send`, `MatchedLimit`, `more_after`) has to occur in it. In the tables of a walk, whose rows are
`| FILE | FUNCTIONS |`, each function must be in the row's file, or in those that follow it in parentheses:
`identify` (caller.cpp).
"""

import pathlib
import re

PAGE = "docs/architecture.md"
PLACES = ["include", "src", "app", "tests", "docs"]
ROW = re.compile(r"^\| (?P<file>\S+\.(?:cpp|h|lua)) \| (?P<functions>.*) \|$")
FUNCTION = re.compile(r"`(?P<name>[^`]+)`(?: \((?P<files>[^()]+\.(?:cpp|h|lua))\))?")
MARKED = re.compile(r"`([^`]+)`|\*\*([^*]+?)\.?\*\*")
FILE = re.compile(r"^[\w/.-]+\.(?:cpp|h|lua|md|py|yaml|json)$")
NAME = re.compile(r"^(?P<type>(?:\w+::)*)(?P<last>\w+)(?:\(.*\))?$")


class Tree:
    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.texts = {}  # path -> text, of the sources
        self.paths = []
        for place in PLACES:
            for file in sorted((self.root / place).rglob("*")):
                if file.is_file():
                    path = str(file.relative_to(self.root))
                    self.paths.append(path)
                    if file.suffix in {".cpp", ".h", ".lua"}:
                        self.texts[path] = file.read_text()

    def find(self, name, beside=None):
        """Returns the file of that name: as it is, below src, or next to another; otherwise any whose path ends in it.
        """
        beside = pathlib.PurePath(beside).parent if beside else None
        for candidate in filter(None, [beside and str(beside / name), f"src/{name}", name]):
            if candidate in self.paths:
                return candidate
        return next((path for path in self.paths if path.endswith(f"/{name}")), None)

    def has_function(self, name, file):
        """Returns whether a file defines a function of that name. A name at the start of a line is not a call."""
        return re.search(rf"^\S.*\b{re.escape(name)}\(", self.texts[file], re.MULTILINE) is not None

    def has_name(self, types, last):
        """Returns whether the name occurs; for a member, also where its type is declared."""
        if not types:
            return any(re.search(rf"\b{last}\b", text) for text in self.texts.values())
        member = re.compile(rf"\b{types}{last}\b")
        declared = re.compile(rf"\b(?:class|struct|enum|namespace)\b[^;{{]*\b{types.split('::')[-2]}\b[^;]*{{")
        own = re.compile(rf"\b{last}\b")
        return any(member.search(text) or (declared.search(text) and own.search(text)) for text in self.texts.values())


def wrong_in_walk(tree, row):
    """Returns the problems in a row of a walk."""
    file = tree.find(row["file"])
    if file is None:
        yield f"there is no file {row['file']}"
        return
    for function in FUNCTION.finditer(row["functions"]):
        files = [file]
        for other in function["files"].split(", ") if function["files"] else []:
            found = tree.find(other, beside=file)
            if found is None:
                yield f"there is no file {other}"
            else:
                files.append(found)
        if function["files"]:
            files = files[1:]
        name = function["name"]
        if files and not any(tree.has_function(name, one) for one in files):
            yield f"there is no function {name} in {' or '.join(files)}"


def wrong_in_text(tree, line):
    """Returns the problems with the names in a line of text."""
    for marked in MARKED.finditer(line):
        name = marked[1] or marked[2]
        if FILE.match(name):
            if tree.find(name) is None:
                yield f"there is no file {name}"
        elif marked[1] and (parts := NAME.match(name)) and not tree.has_name(parts["type"], parts["last"]):
            yield f"there is no {name}"


def violations(root):
    """Returns the problems of the page, one line each: PAGE:LINE: problem."""
    tree = Tree(root)
    wrong = []
    in_block = False
    for number, line in enumerate((tree.root / PAGE).read_text().splitlines(), 1):
        if line.startswith("```"):
            in_block = not in_block
        elif not in_block:
            row = ROW.match(line)
            found = wrong_in_walk(tree, row) if row else wrong_in_text(tree, line)
            wrong += [f"{PAGE}:{number}: {what}" for what in found]
    return wrong


if __name__ == "__main__":
    print("\n".join(violations(pathlib.Path(__file__).parents[2])))
