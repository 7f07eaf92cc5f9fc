"""run.py PROGRAM [PRINTED]: runs an example; it must succeed and print what the page shows."""

import difflib
import pathlib
import subprocess
import sys


def main(program, printed=None):
    ran = subprocess.run([program], capture_output=True, text=True, timeout=60)
    print(ran.stdout, ran.stderr)
    if ran.returncode != 0:
        return ran.returncode
    if printed is None:
        return 0
    expected = pathlib.Path(printed).read_text()
    difference = list(difflib.unified_diff(expected.splitlines(), ran.stdout.splitlines(), "page", "program"))
    print("\n".join(difference))
    return 1 if difference else 0


sys.exit(main(*sys.argv[1:]))
