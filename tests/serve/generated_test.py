"""Requests that schemathesis generates from docs/openapi.yaml, valid and invalid ones, to both listeners.

WEIR_SCHEMATHESIS_SECONDS sets the duration for each listener, with a random seed; the default is a few seconds with a
fixed seed.
"""

import http.client
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

import schemathesis  # noqa: F401, for tools.py to look for it: its program runs below

from api_caller import SAMPLES, Caller
from api_document import PORTS, Document
from openapi_test import POLICY, TOO_SLOW
from server import PATIENCE, ROOT, Server

SECONDS = os.environ.get("WEIR_SCHEMATHESIS_SECONDS")
SHORT = 6  # seconds

# There is no test that all input that fits the schemas is accepted: a receipt must be one that was issued.
CHECKS = ["not_a_server_error", "status_code_conformance", "content_type_conformance", "response_headers_conformance",
          "response_schema_conformance", "negative_data_rejection", "missing_required_header", "unsupported_method",
          "allow_header_conformance"]
# The methods of OpenAPI, except HEAD, which belongs to GET; /v1/auth accepts any other method, too.
CONFIG = """
[phases.coverage]
unexpected-methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"]
"""


class Generated(unittest.TestCase):
    def setUp(self):
        self.document = Document((ROOT / "docs" / "openapi.yaml").read_text())
        self.weir = self.enterContext(Server(POLICY))
        self.ask = Caller(self.document, self.weir)
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "schemathesis.toml").write_text(CONFIG)

    def begin(self, listener):
        """Returns a request of each operation that does not end: (method, path, connection)."""
        for method, path, _ in self.document.operations(listener):
            connection = self.enterContext(self.weir.connect(listener))
            connection.sendall(f"{method.upper()} {SAMPLES.get(path, path)} HTTP/1.1\r\nHost: local".encode())
            yield method, path, connection

    def look(self, listener):
        """Runs schemathesis against the listener, except the stream, which does not end."""
        file = self.folder / f"{listener}.json"
        file.write_text(json.dumps(self.document.of_listener(listener)))
        seed = random.randrange(2**32) if SECONDS else 20
        seconds = int(SECONDS or SHORT)
        ran = subprocess.run(
            [sys.executable, "-m", "schemathesis.cli", "run", file, "--url",
             "http://{}:{}".format(*getattr(self.weir, listener)), "--checks", ",".join(CHECKS), "--phases",
             "examples,coverage,fuzzing", "--max-time", str(seconds), "--seed", str(seed), "--generation-database", "none",
             "--no-color", "--warnings", "off", "--continue-on-failure", "--exclude-path", "/v1/stream",
             "--header", f"X-Weir-Token: {self.ask.admin_token['X-Weir-Token']}"],
            capture_output=True, text=True, cwd=self.folder, timeout=seconds + 2 * PATIENCE)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)

    def test_nothing_is_answered_against_the_document(self):
        begun = {listener: list(self.begin(listener)) for listener in PORTS}
        for listener in PORTS:
            with self.subTest(listener):
                self.look(listener)
        for listener, requests in begun.items():
            for method, path, connection in requests:
                answer = http.client.HTTPResponse(connection, method=method.upper())
                answer.begin()
                self.ask.hold(int(TOO_SLOW), listener, method, path, answer)
        waited_for = {each for each in self.document.statuses() if each[3] == TOO_SLOW}
        self.assertEqual(waited_for, self.document.shown & waited_for)
        self.assertIsNone(self.weir.process.poll())


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
