"""Runs the program and examines its outputs and exit codes.

A test of the program is run as FILE PROGRAM VERSION [unittest's arguments]. It runs in the root of the project, so that
the program names the file examples/policy.yaml.
"""

import json
import os
import pathlib
import pty
import subprocess
import sys
import tempfile
import unittest

PROGRAM, VERSION = sys.argv[1:3]
ROOT = pathlib.Path(__file__).parents[2]
HERE = pathlib.Path(__file__).parent
POLICY = "examples/policy.yaml"
NEXT = "examples/policy-next.yaml"
OPENAPI = "examples/openapi.yaml"
RATELIMIT = "examples/ratelimit"
LOG = "examples/access.log"


def run(*arguments, stdin=None, **settings):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=60, cwd=ROOT, input=stdin,
                          **settings)


class ProgramTest(unittest.TestCase):
    maxDiff = None

    def expect(self, *arguments, code=0, out="", err=""):
        ran = run(*arguments)
        self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (code, out, err))

    def misuse(self, *arguments, err):
        """Asserts a usage error: `err` is the first line, and the second refers to the help."""
        self.expect(*arguments, code=2, err=f"weir: {err}\nSee `weir {arguments[0]} --help`.\n")

    def golden(self, name, *arguments, code=0):
        """Asserts that the output equals the file of that name; UPDATE_GOLDEN=1 writes the file."""
        ran = run(*arguments)
        self.assertEqual((ran.returncode, ran.stderr), (code, ""), ran.stdout)
        path = HERE / "golden" / name
        if os.environ.get("UPDATE_GOLDEN"):
            path.write_text(ran.stdout)
        self.assertEqual(path.read_text(), ran.stdout)

    def json(self, *arguments, code=0):
        ran = run(*arguments)
        self.assertEqual((ran.returncode, ran.stderr), (code, ""))
        return json.loads(ran.stdout)

    def help(self, *arguments):
        ran = run(*arguments, "--help")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        return ran.stdout

    def folder(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return pathlib.Path(folder.name)

    def file(self, text, name="policy.yaml"):
        path = self.folder() / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)


def on_terminal(*arguments, **environment):
    """Returns what it shows on a terminal, both outputs together."""
    leader, follower = pty.openpty()
    settings = {"PATH": os.environ["PATH"], "TERM": "xterm", **environment}
    process = subprocess.Popen([PROGRAM, *arguments], stdin=subprocess.DEVNULL, stdout=follower, stderr=follower,
                               cwd=ROOT, env=settings)
    os.close(follower)
    shown = b""
    while True:
        try:
            part = os.read(leader, 65536)
        except OSError:  # Linux reports the closed terminal like this
            break
        if not part:
            break
        shown += part
    os.close(leader)
    process.wait(timeout=60)
    return shown.decode()


def main():
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
