"""The programs in docs/clients.md and in the clients' own pages work as these say.

```LANGUAGE app    a server at port 8000. /api/me is admitted twice, and then denied.
```LANGUAGE run    a program. If the next block is marked ```text, it prints that.

docs_test.py PROGRAM VERSION [unittest's arguments]
"""

import http.client
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import unittest

FOLDER = pathlib.Path(__file__).parent
sys.path += [str(FOLDER.parent / "serve"), str(FOLDER.parent / "docs")]
from extract import BLOCK  # noqa: E402
from server import PATIENCE, ROOT, Server, eventually  # noqa: E402
from toolchains import go, go_environment, node, node_environment  # noqa: E402

PAGE = (ROOT / "docs/clients.md").read_text()
POLICY = next(text for kind, text in BLOCK.findall(PAGE) if kind == "yaml policy")
WEIR = "http://127.0.0.1:8080"


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Pages(unittest.TestCase):
    """`language` is the mark of the blocks, `package` the folder of clients that has its own page."""

    language = package = more_time = None
    maxDiff = None

    def blocks(self, page, kind):
        blocks = BLOCK.findall(page)
        for (marked, text), (next_marked, next_text) in zip(blocks, [*blocks[1:], ("", "")]):
            if marked == f"{self.language} {kind}":
                yield text, next_text if next_marked == "text" else None

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.weir = self.enterContext(Server(POLICY))

    def check(self, page):
        apps, programs = list(self.blocks(page, "app")), list(self.blocks(page, "run"))
        self.assertTrue(apps)
        for number, (text, _) in enumerate(apps):
            with self.subTest(text):
                self.check_app(text, number)
        for text, printed in programs:
            with self.subTest(text):
                ran = subprocess.run(self.prepared(text), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                     cwd=self.folder, env=self.environment(), timeout=PATIENCE)
                self.assertEqual(ran.returncode, 0, ran.stdout)
                if printed is not None:
                    self.assertEqual(ran.stdout, printed)

    def prepared(self, text):
        """Returns the command that runs it. On a busy machine it has a longer timeout than on the page."""
        place = "http://{}:{}".format(*self.weir.http)
        text, count = re.subn(f"""(['"]){WEIR}\\1""", rf"\1{place}\1, {self.more_time}", text)
        self.assertEqual(count, 1)
        return self.command(text)

    def check_app(self, text, number):
        port = free_port()
        self.assertIn("8000", text)
        command = self.prepared(text.replace("8000", str(port)))
        app = subprocess.Popen(command, cwd=self.folder, env=self.environment(), stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
        try:
            eventually(lambda: self.is_listening(app, port), "the application")
            user = {"X-User-Id": f"user-{number}"}
            self.assertEqual(self.ask(port, user)[::2], (200, "hello\n"))
            status, fields, _ = self.ask(port, user)
            self.assertEqual((status, fields["X-RateLimit-Remaining"]), (200, "0"))
            status, fields, body = self.ask(port, user)
            self.assertEqual(status, 429)
            self.assertIn('"violated-policies":["api"]', body)
            self.check_fields(fields)
        finally:
            app.kill()
            app.wait(PATIENCE)

    def check_fields(self, fields):
        """Returns the header fields that the page shows, except times."""
        [shown] = [text for kind, text in BLOCK.findall(PAGE) if kind == "http"]
        for line in shown.splitlines()[1:]:
            name, _, value = line.partition(": ")
            is_time = name in ("RateLimit", "X-RateLimit-Reset", "Retry-After")
            self.assertRegex(fields[name], re.sub(r"\d+$", r"\\d+", value) if is_time else f"^{re.escape(value)}$")

    def is_listening(self, app, port):
        self.assertIsNone(app.poll(), "the application ended")
        try:
            socket.create_connection(("127.0.0.1", port), PATIENCE).close()
        except ConnectionRefusedError:
            return False
        return True

    def ask(self, port, headers):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        try:
            connection.request("GET", "/api/me", headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read().decode()
        finally:
            connection.close()

    def write(self, name, text):
        (self.folder / name).write_text(text)
        return name


class Cases:
    def test_the_page_about_all(self):
        self.check(PAGE)

    def test_its_own_page(self):
        self.check((ROOT / "clients" / self.package / "README.md").read_text())


class Python(Cases, Pages):
    language, package, more_time = "python", "python", "timeout=10"

    def command(self, text):
        return [sys.executable, "-B", self.write("program.py", text)]

    def environment(self):
        return {**os.environ, "PYTHONPATH": str(ROOT / "clients/python")}


class Node(Cases, Pages):
    language, package, more_time = "js", "node", "timeoutMs: 10000"

    def setUp(self):
        super().setUp()
        (self.folder / "node_modules").mkdir()
        (self.folder / "node_modules/weir-client").symlink_to(ROOT / "clients/node")

    def command(self, text):
        return [node(), self.write("program.js", text)]

    def environment(self):
        return node_environment()


class Go(Cases, Pages):
    language, package, more_time = "go", "go", "Timeout: 10e9"

    def command(self, text):
        self.write("go.mod", f"module program\n\ngo 1.19\n\nrequire weir v0.0.0\n\nreplace weir => {ROOT}/clients/go\n")
        self.write("main.go", text)
        subprocess.run([go(), "build", "-o", "program", "."], cwd=self.folder, env=go_environment(), check=True)
        return ["./program"]

    def environment(self):
        return go_environment()


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
