"""Compares the #include edges of a tree with the table of rooms in its docs/architecture.md."""

import pathlib
import re

HEADING = "## Rooms and their doors"
ROW = re.compile(r"^(?P<room>\S+)/\s.*->\s+(?P<arrows>.+)$")
INCLUDE = re.compile(r'^\s*#\s*include\s*(?P<open>["<])(?P<path>[^">]+)[">]', re.MULTILINE)
SOURCES = {".h", ".cpp"}
PLACES = ["src", "include", "."]  # where an include is looked up, after the file's own folder and room


def read_rooms(page):
    """The table: room -> the rooms it may include. `all` and `nothing` are words; `core` means src/core."""
    block = page.split(HEADING, 1)[1].split("```")[1]
    rows = [ROW.match(line) for line in block.strip().splitlines()]
    names = [row["room"] for row in rows]
    rooms = {}
    for row in rows:
        words = [word.strip() for word in row["arrows"].split(",")]
        if words == ["all"]:
            rooms[row["room"]] = set(names)
        elif words == ["nothing"]:
            rooms[row["room"]] = set()
        else:
            rooms[row["room"]] = {word if word in names else f"src/{word}" for word in words}
        unknown = rooms[row["room"]] - set(names)
        if unknown:
            raise ValueError(f"{row['room']} has an arrow to {sorted(unknown)}, which the table does not have")
    return rooms


def room_of(path, rooms):
    """The room that a file, relative to the root, lies in."""
    found = [room for room in rooms if path.is_relative_to(room)]
    return max(found, key=len, default=None)


def resolve(root, path, room, included):
    """The file in the tree that an include means, relative to the root; None if it is not ours."""
    for place in [path.parent, room, *PLACES]:
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
    """What is wrong with the tree, one line each."""
    root = pathlib.Path(root).resolve()
    rooms = read_rooms((root / "docs/architecture.md").read_text())
    wrong = [f"{room}: in the table, but there is no such folder" for room in rooms if not (root / room).is_dir()]
    for path in sources(root):
        room = room_of(path, rooms)
        if room is None:
            wrong.append(f"{path}: its room is not in the table")
            continue
        for include in INCLUDE.finditer((root / path).read_text()):
            target = resolve(root, path, room, include["path"])
            if target is None:
                if include["open"] == '"':
                    wrong.append(f'{path}: includes "{include["path"]}", which is not in the tree')
                continue
            seen = room_of(target, rooms)
            if seen != room and seen not in rooms[room]:
                wrong.append(f"{path}: {room} may not include {target}")
    return wrong
