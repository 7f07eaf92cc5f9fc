"""extract.py FOLDER PAGE...: writes the C++ examples of the pages to FOLDER/PAGE_N.cpp and lists their names.

An example is a whole program, in a block marked ```cpp that has a main. If the next block is marked
```text, it is what the program prints, and goes to FOLDER/PAGE_N.txt.
"""

import pathlib
import re
import sys

BLOCK = re.compile(r"^```([\w .-]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def examples(page):
    """Returns (source, output or None) of each example."""
    blocks = BLOCK.findall(page)
    for (language, text), (next_language, next_text) in zip(blocks, [*blocks[1:], ("", "")]):
        if language == "cpp" and "int main(" in text:
            yield text, next_text if next_language == "text" else None


def write(path, text):
    # Unchanged files stay untouched, so that they are not built again.
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main(folder, *pages):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    names = []
    for page in map(pathlib.Path, pages):
        for number, (source, printed) in enumerate(examples(page.read_text()), start=1):
            name = f"{page.stem.lower()}_{number}"
            names.append(name)
            write(folder / f"{name}.cpp", source)
            if printed is not None:
                write(folder / f"{name}.txt", printed)
            else:
                (folder / f"{name}.txt").unlink(missing_ok=True)
    print(";".join(names), end="")


if __name__ == "__main__":
    main(*sys.argv[1:])
