"""Compares the #include edges of a tree with the table of folders in its docs/architecture.md."""

import pathlib
import re

HEADING = "## Folders"
ROW = re.compile(r"^(?P<folder>\S+)/\s.*->\s+(?P<arrows>.+)$")
INCLUDE = re.compile(r'^\s*#\s*include\s*(?P<open>["<])(?P<path>[^">]+)[">]', re.MULTILINE)
SOURCES = {".h", ".cpp"}
PLACES = ["src", "include", "."]  # where an include is looked up, after the folder of the file


def read_folders(page):
    """Returns the table: folder -> the folders it may include. `all` and `nothing` are words; `core` means src/core."""
    block = page.split(HEADING, 1)[1].split("```")[1]
    rows = [ROW.match(line) for line in block.strip().splitlines()]
    names = [row["folder"] for row in rows]
    folders = {}
    for row in rows:
        words = [word.strip() for word in row["arrows"].split(",")]
        if words == ["all"]:
            folders[row["folder"]] = set(names)
        elif words == ["nothing"]:
            folders[row["folder"]] = set()
        else:
            folders[row["folder"]] = {word if word in names else f"src/{word}" for word in words}
        unknown = folders[row["folder"]] - set(names)
        if unknown:
            raise ValueError(f"{row['folder']} has an arrow to {sorted(unknown)}, which the table does not have")
    return folders


def may_include(folder, folders):
    """Returns the folders that one may include: those that its arrows name, and what these may include."""
    found = set()
    open_ends = [folder]
    while open_ends:
        new = folders[open_ends.pop()] - found
        found |= new
        open_ends += new
    return found


def folder_of(path, folders):
    """Returns the folder of a file, relative to the root."""
    found = [folder for folder in folders if path.is_relative_to(folder)]
    return max(found, key=len, default=None)


def resolve(root, path, folder, included):
    """Returns the file in the tree that an include refers to, relative to the root; None if it is not ours."""
    for place in [path.parent, folder, *PLACES]:
        candidate = (root / place / included).resolve()
        if candidate.is_file() and candidate.is_relative_to(root):
            return candidate.relative_to(root)
    return None


def sources(root):
    for file in sorted(root.rglob("*")):
        path = file.relative_to(root)
        if file.suffix in SOURCES and path.parts[0] != "build" and not path.parts[0].startswith("."):
            yield path


def violations(root):
    """Returns the problems of the tree, one line each."""
    root = pathlib.Path(root).resolve()
    folders = read_folders((root / "docs/architecture.md").read_text())
    wrong = [f"{folder}: in the table, but there is no such folder" for folder in folders if not (root / folder).is_dir()]
    for path in sources(root):
        folder = folder_of(path, folders)
        if folder is None:
            wrong.append(f"{path}: its folder is not in the table")
            continue
        for include in INCLUDE.finditer((root / path).read_text()):
            target = resolve(root, path, folder, include["path"])
            if target is None:
                if include["open"] == '"':
                    wrong.append(f'{path}: includes "{include["path"]}", which is not in the tree')
                continue
            seen = folder_of(target, folders)
            if seen != folder and seen not in may_include(folder, folders):
                wrong.append(f"{path}: {folder} may not include {target}")
    return wrong
