"""stage.py FOLDER: writes the pages to FOLDER in the form that mkdocs needs.

The pages in docs are written for a reader of the repository. Three things differ for the site:

- A link out of docs (an example, a source file, a README) becomes a link to a page with that file, `repository/PATH`.
  A Markdown file becomes a page, a folder a page with its README or a list, any other file a page with its text.
- The words after the language of a block (```yaml policy) are for the tests, and are removed.
- Figures and other files in docs are copied.

A link to a missing file is an error.
"""

import pathlib
import posixpath
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).parents[2]
NOT_PAGES = {"site"}  # folders of docs
NOT_LISTED = {"__pycache__", "node_modules", "build"}
AS_THEY_ARE = {".md", ".svg", ".png"}
FENCE = re.compile(r"^(\s*)(```+)(\w*)[^\n`]*$")
LINK = re.compile(r"(`+).+?\1|(\]\()([^)\s]+)(\))")
LANGUAGES = {".yaml": "yaml", ".yml": "yaml", ".json": "json", ".lua": "lua", ".h": "cpp", ".cpp": "cpp", ".py": "python"}


def place(path):
    """Returns the path in the site for a path of the repository: its page, or the file itself."""
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    target = ROOT / path
    if target.is_dir():
        return f"repository/{path}/index.md"
    if target.name == "README.md":
        return f"repository/{target.parent.relative_to(ROOT)}/index.md".replace("/./", "/")
    return f"repository/{path}" if target.suffix in AS_THEY_ARE else f"repository/{path}.md"


def shown(path):
    """Returns (text of the page, folder that its links are relative to) for a file or folder outside docs."""
    target = ROOT / path
    if target.is_dir():
        if (target / "README.md").exists():
            return (target / "README.md").read_text(), path
        entries = sorted(entry.name for entry in target.iterdir()
                         if not entry.name.startswith(".") and entry.name not in NOT_LISTED)
        return f"# {path}\n\n" + "".join(f"- [{name}]({name})\n" for name in entries), path
    if target.suffix == ".md":
        return target.read_text(), posixpath.dirname(path)
    text = target.read_text(errors="replace")
    fence = "`" * max([2, *(len(ticks) for ticks in re.findall(r"`+", text))]) + "`"
    return f"# {path}\n\n{fence}{LANGUAGES.get(target.suffix, 'text')}\n{text.rstrip()}\n{fence}\n", posixpath.dirname(path)


class Stage:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.wanted = []  # paths of the repository that some page links to
        self.broken = []

    def rewrite_link(self, link, page, base):
        """Returns a link of a page relative to the page's path in the site."""
        if re.match(r"[a-z]+:", link) or link.startswith("#"):
            return link
        path, _, anchor = link.partition("#")
        target = posixpath.normpath(posixpath.join(base, path))
        if target == "docs":
            target = "docs/index.md"
        elif target.startswith("docs/") and (ROOT / target).is_dir():
            target += "/index.md"
        if target.startswith("..") or not (ROOT / target).exists():
            self.broken.append(f"{page}: {link}: missing file {target}")
            return link
        if not target.startswith("docs/"):
            self.wanted.append(target)
        there = posixpath.relpath(place(target), posixpath.dirname(page))
        return there + ("#" + anchor if anchor else "")

    def rewrite(self, text, page, base):
        lines, fence = [], None
        for line in text.splitlines():
            found = FENCE.match(line)
            if fence is None and found:
                fence = found[2]
                line = found[1] + found[2] + found[3]
            elif fence is not None:
                if line.strip() == fence:
                    fence = None
            else:
                line = LINK.sub(lambda m: m[0] if m[1] else m[2] + self.rewrite_link(m[3], page, base) + m[4], line)
            lines.append(line)
        return "\n".join(lines) + "\n"

    def write(self, page, text):
        file = self.folder / page
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def run(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        for file in sorted((ROOT / "docs").rglob("*")):
            inside = file.relative_to(ROOT / "docs")
            if file.is_dir() or inside.parts[0] in NOT_PAGES:
                continue
            if file.suffix == ".md":
                base = str(file.parent.relative_to(ROOT))
                self.write(str(inside), self.rewrite(file.read_text(), str(inside), base))
            else:
                (self.folder / inside).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, self.folder / inside)
        done = set()
        while self.wanted:
            path = self.wanted.pop()
            page = place(path)
            if page in done:
                continue
            done.add(page)
            if page.endswith(".md"):
                text, base = shown(path)
                self.write(page, self.rewrite(text, page, base))
            else:
                (self.folder / page).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / path, self.folder / page)


def main(folder):
    stage = Stage(folder)
    stage.run()
    for line in sorted(stage.broken):
        print(line, file=sys.stderr)
    return 1 if stage.broken else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
