"""run_page.py PROGRAM PAGE: executes the blocks of a page and compares the output.

```yaml policy    a policy. `weir lint --strict` has nothing to say about it; or, if a block marked ```text follows,
                  says exactly that, and calls the file policy.yaml.
```yaml limits    a part of one: what stands below `limits:`, without its indentation. Sound likewise.
```console        `$ command` and below it what that prints, on both outputs. The commands of a page run one after the
                  other in one folder, in which `examples` is the project's and policy.yaml the page's latest policy.
                  `...` stands for any lines, and `$ echo $?` shows how the one before it ended.
"""

import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap

from extract import BLOCK

ROOT = pathlib.Path(__file__).parents[2]


def matches(expected, printed):
    """Returns whether the lines are equal, where a line `...` stands for any number of lines."""
    pattern = "".join("(?:.*\n)*?" if line == "..." else re.escape(line) + "\n" for line in expected)
    return re.fullmatch(pattern, "".join(line + "\n" for line in printed)) is not None


def commands(block):
    """Returns (command, expected lines) of a console block."""
    found = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif found[-1][0].endswith("\\"):
            found[-1] = (found[-1][0] + "\n" + line, [])
        else:
            found[-1][1].append(line)
    return found


class Page:
    def __init__(self, program, folder):
        self.folder = pathlib.Path(folder)
        (self.folder / "examples").symlink_to(ROOT / "examples")
        (self.folder / ".bin").mkdir()
        (self.folder / ".bin/weir").symlink_to(pathlib.Path(program).resolve())
        self.last_code = 0
        self.wrong = []

    def run(self, command):
        path = f"{self.folder / '.bin'}:{os.environ['PATH']}"
        ran = subprocess.run(["bash", "-c", f"(exit {self.last_code})\n{command}"], stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, timeout=60, cwd=self.folder,
                             env={**os.environ, "PATH": path})
        self.last_code = ran.returncode
        return ran.stdout.splitlines()

    def compare(self, what, expected, printed):
        if matches(expected, printed):
            return
        difference = difflib.unified_diff(expected, printed, "page", "program", lineterm="")
        self.wrong.append("\n".join([what, *difference]))

    def check_policy(self, text, said):
        (self.folder / "policy.yaml").write_text(text)
        printed = self.run("weir lint --strict policy.yaml")
        if said is None:
            self.compare(text, ["policy.yaml: ok"], printed)
        else:
            self.compare(text, said.splitlines(), printed[:-1])  # without the line with the count

    def check(self, blocks):
        """Returns the number of blocks that were run."""
        count = 0
        for (kind, text), (next_kind, next_text) in zip(blocks, [*blocks[1:], ("", "")]):
            count += kind in ("yaml policy", "yaml limits", "console")
            if kind == "yaml policy":
                self.check_policy(text, next_text if next_kind == "text" else None)
            elif kind == "yaml limits":
                self.check_policy("version: 1\nlimits:\n" + textwrap.indent(text, "  "), None)
            elif kind == "console":
                for command, expected in commands(text):
                    self.compare(command, expected, self.run(command))
        return count


def main(program, page):
    with tempfile.TemporaryDirectory() as folder:
        checked = Page(program, folder)
        count = checked.check(BLOCK.findall(pathlib.Path(page).read_text()))
    print("\n\n".join([f"{count} blocks, {len(checked.wrong)} wrong", *checked.wrong]))
    return 1 if checked.wrong or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
