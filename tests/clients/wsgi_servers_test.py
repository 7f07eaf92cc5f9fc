"""Headers with underscores in common WSGI servers: the middleware trusts none of them.

wsgi_servers_test.py PROGRAM VERSION [unittest's arguments]
"""

import contextlib
import json
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import wsgiref.simple_server

FOLDER = pathlib.Path(__file__).parent
sys.path.insert(0, str(FOLDER))
from wsgi_echo import guarded  # noqa: E402

PATIENCE = 30.0
LONE = ["X_User_Id: evil"]
BEFORE = ["X_User_Id: evil", "X-User-Id: real"]
BEHIND = ["X-User-Id: real", "X_User_Id: evil"]
TWICE = ["X-User-Id: one", "X-User-Id: two"]


def ask(connection, headers):
    """Returns (status, the identities that would be sent to Weir)."""
    with connection:
        connection.settimeout(PATIENCE)
        lines = ["GET / HTTP/1.1", "Host: app.example", "Connection: close", *headers, "", ""]
        connection.sendall("\r\n".join(lines).encode())
        received = b""
        while data := connection.recv(65536):
            received += data
    first, *lines = received.decode().partition("\r\n\r\n")[0].split("\r\n")
    fields = dict(line.split(": ", 1) for line in lines)
    asked = json.loads(fields["X-Asked"])["asked"] if "X-Asked" in fields else []
    return int(first.split()[1]), [value for _, value in asked]


@contextlib.contextmanager
def running(serve, stop):
    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop()
        thread.join(PATIENCE)


class Servers(unittest.TestCase):
    def serve_wsgiref(self, app, drops=False):
        class Handler(wsgiref.simple_server.WSGIRequestHandler):
            def get_environ(self):
                for name in [name for name in self.headers if drops and "_" in name]:
                    del self.headers[name]
                return super().get_environ()

            def log_message(self, *_):
                pass

        server = wsgiref.simple_server.make_server("127.0.0.1", 0, app, handler_class=Handler)
        self.addCleanup(server.server_close)
        self.enterContext(running(lambda: server.serve_forever(0.02), server.shutdown))
        return server.server_port

    def serve_cheroot(self, app, drops=False):
        import cheroot.server
        import cheroot.wsgi

        class Reader(cheroot.server.HeaderReader):
            def _allow_header(self, name):
                return not drops or b"_" not in name

        class Request(cheroot.server.HTTPRequest):
            header_reader = Reader()

        class Connection(cheroot.server.HTTPConnection):
            RequestHandlerClass = Request

        server = cheroot.wsgi.Server(("127.0.0.1", 0), app, numthreads=1)
        server.ConnectionClass = Connection
        server.prepare()
        self.enterContext(running(server.serve, server.stop))
        return server.bind_addr[1]

    def serve_waitress(self, app):
        import waitress

        server = waitress.create_server(app, host="127.0.0.1", port=0)
        threading.Thread(target=server.run, daemon=True).start()
        self.addCleanup(server.close)
        return server.effective_port

    def serve_werkzeug(self, app):
        import werkzeug.serving

        class Quiet(werkzeug.serving.WSGIRequestHandler):
            def log(self, *_):
                pass

        server = werkzeug.serving.make_server("127.0.0.1", 0, app, request_handler=Quiet)
        self.addCleanup(server.server_close)
        self.enterContext(running(server.serve_forever, server.shutdown))
        return server.server_port

    def connect(self, port):
        return socket.create_connection(("127.0.0.1", port), PATIENCE)

    def test_a_server_that_passes_underscores_on_is_denied_until_something_drops_them(self):
        for name, serve in ("WSGIServer", self.serve_wsgiref), ("Cheroot", self.serve_cheroot):
            with self.subTest(name):
                app, client = guarded()
                port = serve(app)
                for headers in LONE, BEFORE, BEHIND, ["X-User-Id: real"]:
                    self.assertEqual(ask(self.connect(port), headers), (429, []))
                self.assertIn(name, client.refused[0])
                self.assertIn("drops_underscores=True", client.refused[0])
                app, client = guarded(drops_underscores=True)
                port = serve(app, drops=True)
                self.assertEqual(ask(self.connect(port), LONE), (200, []))
                for headers in BEFORE, BEHIND:
                    self.assertEqual(ask(self.connect(port), headers), (200, ["real"]))
                self.assertEqual(client.refused, [])

    def test_without_headers_that_have_hyphens_nothing_is_ambiguous(self):
        app, _ = guarded(headers=["Host", "Accept"])
        self.assertEqual(ask(self.connect(self.serve_wsgiref(app)), BEFORE), (200, []))

    def test_servers_that_drop_underscores_are_known(self):
        for serve in self.serve_waitress, self.serve_werkzeug:
            app, client = guarded()
            port = serve(app)
            self.assertEqual(ask(self.connect(port), LONE), (200, []), serve)
            for headers in BEFORE, BEHIND:
                self.assertEqual(ask(self.connect(port), headers), (200, ["real"]), serve)
            self.assertEqual(client.refused, [])

    def test_gunicorn_is_known_too(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        command = [sys.executable, "-B", "-m", "gunicorn", "--bind", f"unix:{folder}/app", "--log-level", "critical",
                   "--chdir", str(FOLDER), "--worker-tmp-dir", folder, "--no-control-socket", "wsgi_echo:app"]
        server = subprocess.Popen(command)
        self.addCleanup(server.wait, PATIENCE)
        self.addCleanup(server.terminate)
        for headers, expected in (LONE, []), (BEFORE, ["real"]), (BEHIND, ["real"]):
            self.assertEqual(ask(self.connect_unix(f"{folder}/app", server), headers), (200, expected))

    def connect_unix(self, path, server):
        deadline = time.monotonic() + PATIENCE
        while True:
            connection = socket.socket(socket.AF_UNIX)
            try:
                connection.connect(path)
                return connection
            except (FileNotFoundError, ConnectionRefusedError):
                connection.close()
                self.assertIsNone(server.poll(), "gunicorn ended")
                self.assertLess(time.monotonic(), deadline, "gunicorn does not listen")
                time.sleep(0.02)

    def test_headers_that_a_server_joined_are_there_twice(self):
        app, _ = guarded(drops_underscores=True)
        for serve in self.serve_wsgiref, self.serve_waitress, self.serve_werkzeug:
            self.assertEqual(ask(self.connect(serve(app)), TWICE), (200, ["one", "two"]), serve)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
