"""reuse_objects.py BUILD COMPILER ARGUMENT...: a compiler launcher for a project that includes the checkout.

What the checkout's own build in BUILD has compiled of the same text, with the same definitions, folders of headers and
standard, is copied. All else is compiled. So that the project is there in seconds, and everything that makes it another
project (targets, options, what is linked) is its own.
"""

import json
import pathlib
import shutil
import subprocess
import sys

PART = "_deps/weir-build/"  # where FetchContent builds it


def meaning(words):
    return sorted({word for word in words if word.startswith(("-D", "-I", "-isystem", "-std=", "-f"))} - {"-DNDEBUG"})


def compiled(build, command):
    """Returns the object that the command would produce; None if there is none."""
    output = command[command.index("-o") + 1]
    if not output.startswith(PART):
        return None
    name = output.removeprefix(PART)
    entries = json.loads((build / "compile_commands.json").read_text())
    theirs = next((entry for entry in entries if f" -o {name} " in entry["command"]), None)
    if theirs is None or not (build / name).exists():
        return None
    same_text = pathlib.Path(command[-1]).read_bytes() == pathlib.Path(theirs["file"]).read_bytes()
    return build / name if same_text and meaning(command) == meaning(theirs["command"].split()) else None


def main(build, *command):
    found = compiled(pathlib.Path(build), command)
    if found is None:
        return subprocess.run(command).returncode
    shutil.copy(found, command[command.index("-o") + 1])
    return 0


sys.exit(main(*sys.argv[1:]))
