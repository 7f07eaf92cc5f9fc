"""compile.py COMPILER ROOT FILE: FILE must fail to compile, with the diagnostic of its `// expect: REGEX` line.

`// expect: compiles` says the opposite.
"""

import os
import pathlib
import re
import subprocess
import sys

FLAGS = ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-fmax-errors=5"]


def main(compiler, root, file):
    expected = re.search(r"^// expect: (.+)$", pathlib.Path(file).read_text(), re.MULTILINE)[1]
    command = [compiler, *FLAGS, "-I", str(pathlib.Path(root) / "include"), file]
    # Diagnostics in English, with plain quotes.
    compiled = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})
    diagnostics = compiled.stderr
    print(diagnostics)
    if expected == "compiles":
        return compiled.returncode
    if compiled.returncode == 0:
        print(f"{file} compiles, but must not")
        return 1
    errors = [line for line in diagnostics.splitlines() if " error: " in line]
    if not any(re.search(expected, line) for line in errors):
        print(f"{file} does not compile, but no error matches: {expected}")
        return 1
    return 0


sys.exit(main(*sys.argv[1:]))
