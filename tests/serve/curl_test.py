"""Uses curl with the HTTP listener, as people do."""

import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

import server
import tls_test
from server import LISTENERS, PATIENCE, Server

POLICY = """
version: 1
limits:
  - {name: api, consumer_key: user, algorithm: sliding_window_log, rate: 3/min}
"""
ALICE = '{"path": "/hello", "user": "alice"}'
REFUSED_IN_HANDSHAKE, NO_TRUST, ALERT_AFTER_IT = 35, 60, 56


def http_at(settings):
    return LISTENERS.replace('http: {listen: "127.0.0.1:0"}', f"http: {{{settings}}}")


class CurlTest(unittest.TestCase):
    def start(self, config=LISTENERS, directory=None):
        self.weir = self.enterContext(Server(POLICY, config, directory))
        return self.weir

    def run_curl(self, *words):
        return subprocess.run(["curl", "--silent", "--show-error", "--max-time", str(PATIENCE), *map(str, words)],
                              capture_output=True, text=True, timeout=2 * PATIENCE)

    def curl(self, *words):
        """Returns (status line, headers in lower case, body)."""
        ran = self.run_curl("--include", *words)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        *interim, head, body = ran.stdout.split("\n\n")  # subprocess converts \r\n to \n
        self.interim = interim
        first, *fields = head.split("\n")
        return first, {name.lower(): value for name, value in (field.split(": ", 1) for field in fields)}, body

    def url(self, path="/v1/check", scheme="http"):
        return "{}://{}:{}{}".format(scheme, *self.weir.http, path)


class OpenListener(CurlTest):
    def setUp(self):
        self.start()

    def test_the_line_that_the_server_says_to_try(self):
        line = re.search(r"^try: (curl .*)$", self.weir.greeting, re.MULTILINE)[1]
        first, headers, body = self.curl(*shlex.split(line)[1:])
        self.assertEqual((first, headers["content-type"]), ("HTTP/1.1 200 OK", "application/json"))
        self.assertTrue(json.loads(body)["admitted"])

    def test_a_denial_ends_curl_with_an_error_if_that_is_asked_for(self):
        codes = [self.run_curl("--fail", self.url(), "--data", ALICE).returncode for _ in range(4)]
        self.assertEqual(codes, [0, 0, 0, 22])

    def test_a_body_that_waits_for_a_word(self):
        body = json.dumps({"path": "/hello", "user": "alice", "headers": {"x-padding": "x" * 2048}})
        first, _, body = self.curl(self.url(), "--data", body, "--header", "Expect: 100-continue",
                                   "--expect100-timeout", PATIENCE)
        self.assertEqual((self.interim, first), (["HTTP/1.1 100 Continue"], "HTTP/1.1 200 OK"))
        self.assertTrue(json.loads(body)["admitted"])

    def test_the_first_version_of_http(self):
        first, headers, body = self.curl("--http1.0", self.url(), "--data", ALICE)
        self.assertRegex(first, r"^HTTP/1\.[01] 200 OK$")
        self.assertEqual(len(body), int(headers["content-length"]))
        self.assertEqual(headers["ratelimit-policy"], '"api";q=3;w=60')

    def test_a_connection_is_used_again(self):
        ran = self.run_curl("--write-out", "%{num_connects} ", "--output", "/dev/null", self.url("/healthz"),
                            "--output", "/dev/null", self.url("/healthz"))
        self.assertEqual(ran.stdout, "1 0 ")

    def test_a_body_in_chunks(self):
        first, _, body = self.curl(self.url(), "--data", ALICE, "--header", "Transfer-Encoding: chunked")
        self.assertEqual((first, json.loads(body)["remaining"]), ("HTTP/1.1 200 OK", 2))

    def test_an_upgrade_is_not_taken(self):
        first, _, body = self.curl("--http2", self.url(), "--data", ALICE)
        self.assertEqual((first, json.loads(body)["admitted"]), ("HTTP/1.1 200 OK", True))

    def test_head(self):
        first, headers, body = self.curl("--head", self.url("/v1/auth"), "--header", "X-User-Id: alice")
        self.assertEqual((first, headers["ratelimit-policy"], body), ("HTTP/1.1 200 OK", '"api";q=3;w=60', ""))


class UnixSocket(CurlTest):
    def test_answers(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.start(http_at(f'listen: ["127.0.0.1:0", "unix:{folder}/http.sock"]'), folder)
        first, _, body = self.curl("--unix-socket", f"{folder}/http.sock", "http://localhost/v1/check", "--data", ALICE)
        self.assertEqual((first, json.loads(body)["remaining"]), ("HTTP/1.1 200 OK", 2))
        self.assertEqual(json.loads(self.curl(self.url(), "--data", ALICE)[2])["remaining"], 1)


class Tls(CurlTest):
    def start_tls(self, more=""):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        for ca in "ca", "other-ca":
            tls_test.make_ca(self.folder, ca)
        for name, ca in ("server", "ca"), ("client", "ca"), ("stranger", "other-ca"):
            tls_test.make_certificate(self.folder, name, ca)
        self.start(http_at(f'listen: "127.0.0.1:0", tls: {{certificate: server.crt, key: server.key{more}}}'),
                   self.folder)

    def ask(self, ca="ca", certificate=None):
        """Returns curl's exit code and output."""
        shown = ["--cert", self.folder / f"{certificate}.crt", "--key", self.folder / f"{certificate}.key"]
        ran = self.run_curl("--cacert", self.folder / f"{ca}.crt", *(shown if certificate else []),
                            self.url(scheme="https"), "--data", ALICE)
        return ran.returncode, ran.stdout

    def test_its_certificate_is_verified(self):
        self.start_tls()
        code, body = self.ask()
        self.assertEqual((code, json.loads(body)["admitted"]), (0, True))
        self.assertEqual(self.ask(ca="other-ca")[0], NO_TRUST)

    def test_clients_show_one(self):
        self.start_tls(", client_ca: ca.crt")
        code, body = self.ask(certificate="client")
        self.assertEqual((code, json.loads(body)["remaining"]), (0, 2))
        for certificate in None, "stranger":
            code, body = self.ask(certificate=certificate)
            self.assertIn(code, [REFUSED_IN_HANDSHAKE, ALERT_AFTER_IT])
            self.assertEqual(body, "")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
