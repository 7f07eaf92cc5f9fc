"""Runs a proxy for the duration of a test, from the files of its example, and tests what every proxy must do.

Its example is copied to a separate folder, with free ports instead of those it names. The application behind it returns
the request.
"""

import contextlib
import http.client
import http.server
import itertools
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import threading
import time

from server import PATIENCE, ROOT, Server

FIELDS = ["RateLimit", "RateLimit-Policy", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"]


# Each process has ten ports of its own, below the ephemeral ports. Otherwise two proxies could share a port that was
# free to both (SO_REUSEPORT), and one would get the other's requests.
PORTS = itertools.cycle(range(10_000 + os.getpid() % 2_000 * 10, 10_000 + os.getpid() % 2_000 * 10 + 10))


def free_port():
    for port in itertools.islice(PORTS, 10):
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
    raise AssertionError("all ten ports are taken")


def await_port(port, process, log):
    """Returns when something listens there."""
    deadline = time.monotonic() + PATIENCE
    while True:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=PATIENCE):
            return
        if time.monotonic() > deadline or process.poll() is not None:
            raise AssertionError(f"nothing listens on {port}: {log.read_text()}")
        time.sleep(0.01)


class Echo(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.asked += 1
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        if self.path == "/dies":
            self.close_connection = True
            return
        said = json.dumps({"method": self.command, "target": self.path, "body": body}).encode()
        self.send_response(403 if self.path.startswith("/forbidden") else 200)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(said)

    do_POST = do_HEAD = do_GET

    def log_message(self, *_):
        pass


class Application(http.server.ThreadingHTTPServer):
    daemon_threads = True
    asked = 0

    def handle_error(self, *_):  # proxies reset connections that they no longer need
        pass


@contextlib.contextmanager
def application():
    with Application(("127.0.0.1", 0), Echo) as listening:
        thread = threading.Thread(target=listening.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield listening
        finally:
            listening.shutdown()
            thread.join()


# How long the examples wait for Weir.
TIMEOUTS = re.compile(r"(?m)((?:connect_timeout:|cluster: \w+, timeout:|^ +timeout:|dial_timeout|"
                      r"response_header_timeout|proxy_connect_timeout|proxy_read_timeout) )[125]s\b")


def adapted(text, ports, patience=PATIENCE):
    """Returns an example's file for a test, with other ports (`ports`: those in the file -> those to use), and with
    this many seconds as the timeout for Weir, because the machine may be busy; None keeps the example's own timeout."""
    if patience:
        text = TIMEOUTS.sub(rf"\g<1>{patience}s", text)
        text = text.replace("timeout = 500 --", f"timeout = {patience}000 --")
    return re.sub(r"(\b127\.0\.0\.1:|port_value: |(?m:^):)(\d+)", lambda m: f"{m[1]}{ports.get(int(m[2]), m[2])}", text)


def served(example, directory, policy="policy.yaml", changed=lambda policy: policy):
    """A server with the example's own files, except for the ports, and with the policy changed by `changed`."""
    config = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:0", (ROOT / "examples" / example / "weir.yaml").read_text())
    return Server(changed((ROOT / "examples" / example / policy).read_text()), config, directory)


@contextlib.contextmanager
def running(example, command, ports, awaited, instead=None, patience=PATIENCE):
    """The example's proxy, started by `command` in a copy of its folder; it ends with the block.

    `instead` lists replacements in its files.
    """
    with tempfile.TemporaryDirectory() as parent:
        folder = pathlib.Path(parent) / example
        shutil.copytree(ROOT / "examples" / example, folder)
        replaced = 0
        for file in folder.iterdir():
            text = file.read_text()
            replaced += text.count(instead[0]) if instead else 0
            file.write_text(adapted(text.replace(*instead) if instead else text, ports, patience))
        if instead and not replaced:
            raise AssertionError(f"nowhere in examples/{example}: {instead[0]}")
        log = pathlib.Path(parent) / "log"
        with log.open("wb") as out:
            process = subprocess.Popen(command, cwd=folder, stdout=out, stderr=out, stdin=subprocess.DEVNULL,
                                       env={**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin"})
        try:
            await_port(awaited, process, log)
            yield
        finally:
            process.terminate()
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                raise AssertionError(f"it would not end: {log.read_text()}")


class Client:
    """Sends requests through the proxy on self.port, by default from an address that Weir does not trust."""

    def ask(self, method="GET", target="/", headers=None, body=None, client="127.0.0.2", port=None):
        """Returns (status, headers, body) of a request from that address."""
        connection = http.client.HTTPConnection("127.0.0.1", port or self.port, PATIENCE, (client, 0))
        with contextlib.closing(connection):
            connection.request(method, target, body, {"Host": "shop.example.com", **(headers or {})})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read().decode()

    def exhaust(self, method="GET", target="/", times=10, **how):
        """Sends requests that must pass."""
        self.assertEqual([self.ask(method, target, **how)[0] for _ in range(times)], [200] * times)

    def assert_denied(self, answer, limit, within=60):
        status, headers, body = answer
        self.assertEqual((status, headers["Content-Type"]), (429, "application/problem+json"))
        self.assertEqual({name: len(headers.get_all(name, [])) for name in [*FIELDS, "Retry-After"]},
                         {name: 1 for name in [*FIELDS, "Retry-After"]})
        self.assertRegex(headers["RateLimit"], rf'^"{limit}";r=0;t=\d+$')
        self.assertIn(int(headers["Retry-After"]), range(1, within + 1))
        problem = json.loads(body)
        self.assertEqual(problem["type"], "https://iana.org/assignments/http-problem-types#quota-exceeded")
        self.assertEqual((problem["status"], problem["violated-policies"]), (429, [limit]))
        self.assertIn(f"the limit {limit} is exceeded", problem["detail"])
        self.assertIn(problem["retry_after"], range(1, within + 1))
        self.assertRegex(problem["reset_at"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")


class Example(Client):
    """The example unchanged, or with the replacements in `instead`. Weir, the proxy and the application run for the
    duration of a test."""

    example = None
    command = None
    instead = None

    def changed(self, policy):
        return policy

    def setUp(self):
        directory = self.enterContext(tempfile.TemporaryDirectory())
        self.weir = self.enterContext(served(self.example, directory, changed=self.changed))
        self.application = self.enterContext(application())
        self.port = free_port()
        ports = {8000: self.port, 8080: self.weir.http[1], 9000: self.application.server_port}
        self.enterContext(running(self.example, self.command, ports, self.port, self.instead))


class Contract:
    """What clients of every proxy can rely on. The policy allows 3 POST /orders/{id} per minute, and 10 requests of any
    kind."""

    def test_requests_pass_with_fields_until_the_limit_and_are_then_denied(self):
        for left in reversed(range(10)):
            status, headers, body = self.ask(target="/page?n=1")
            self.assertEqual((status, json.loads(body)["target"]), (200, "/page?n=1"))
            self.assertRegex(headers["RateLimit"], rf'^"everything";r={left};t=\d+$')
            self.assertEqual(headers["RateLimit-Policy"], '"everything";q=10;w=60')
            self.assertEqual((headers["X-RateLimit-Limit"], headers["X-RateLimit-Remaining"]), ("10", str(left)))
            self.assertIn(int(headers["X-RateLimit-Reset"]), range(1, 61))
            self.assertIsNone(headers["Retry-After"])
        self.assert_denied(self.ask(target="/page?n=1"), "everything")

    def test_method_and_path_are_those_of_the_client(self):
        for number in range(3):
            status, _, body = self.ask("POST", f"/orders/{number}?from=cart", body="x" * 3000)
            self.assertEqual((status, json.loads(body)), (200, {
                "method": "POST", "target": f"/orders/{number}?from=cart", "body": "x" * 3000}))
        self.assert_denied(self.ask("POST", "/orders/9"), "orders")
        self.assertEqual(self.ask("GET", "/orders/9")[0], 200)
        self.assertEqual(self.ask("POST", "/carts/9")[0], 200)

    def test_a_path_in_other_letters_is_the_same_path(self):
        self.exhaust("POST", "/orders/1", times=3)
        for target in ["/%6frders/1", "//orders/1", "/carts/../orders/1", "/./orders/1?x=/carts"]:
            with self.subTest(target):
                self.assert_denied(self.ask("POST", target), "orders")

    def test_a_client_gains_nothing_by_headers(self):
        self.exhaust("POST", "/orders/1", times=3)
        for name, value in [("X-Original-URI", "/"), ("X-Original-Method", "GET"), ("X-Original-Url", "/"),
                            ("X-Forwarded-Uri", "/"), ("X-Forwarded-Method", "GET"), ("X-Forwarded-Proto", "https"),
                            ("X-Forwarded-Host", "localhost"), ("X-Forwarded-For", "192.0.2.1"),
                            ("Forwarded", "for=192.0.2.1"), ("X-User-Id", "alice"), ("X-Real-IP", "192.0.2.1"),
                            ("X-Envoy-Original-Path", "/"), ("X-HTTP-Method-Override", "GET")]:
            with self.subTest(name):
                self.assert_denied(self.ask("POST", "/orders/1", {name: value}), "orders")

    def test_clients_are_told_apart_by_address(self):
        self.exhaust()
        self.assertEqual(self.ask()[0], 429)
        self.assertEqual(self.ask(client="127.0.0.3")[0], 200)

    def test_the_answer_to_a_head_request_has_no_body(self):
        self.exhaust("HEAD")
        status, headers, body = self.ask("HEAD")
        self.assertEqual((status, body), (429, ""))
        self.assertIsNotNone(headers["Retry-After"])

    def test_what_the_application_forbids_stays_forbidden(self):
        self.assertEqual(self.ask(target="/forbidden")[0], 403)

    def test_the_application_is_not_asked_twice(self):
        self.assertIn(self.ask("POST", "/dies", body="an order")[0], [502, 503])
        self.assertEqual(self.application.asked, 1)

    def test_a_long_request_is_evaluated(self):
        self.exhaust(target="/" + "a" * 7000, headers={"Cookie": "c" * 7000})
        self.assertEqual(self.ask()[0], 429)

    def test_requests_pass_while_weir_is_away(self):
        self.exhaust()
        self.assertEqual(self.ask()[0], 429)
        self.assertEqual(self.weir.stop(), 0)
        status, headers, body = self.ask("POST", "/orders/1", body="an order")
        self.assertEqual((status, json.loads(body)["body"]), (200, "an order"))
        self.assertIsNone(headers["RateLimit"])


class MissingIdentity:
    """Tests a request without the key of its limit, if the policy denies such requests."""

    status = 403

    def changed(self, policy):
        return policy.replace("consumer_key: [user, ip]", "consumer_key: api_key\n    missing: deny")

    def test_a_client_is_told_what_is_missing_and_not_to_wait(self):
        status, headers, body = self.ask()
        self.assertEqual((status, headers["Content-Type"]), (self.status, "application/problem+json"))
        self.assertIsNone(headers["Retry-After"])
        problem = json.loads(body)
        self.assertIn(problem["status"], [403, self.status])
        self.assertRegex(problem["detail"], "(?i)api.key")
        self.assertEqual(self.application.asked, 0)
        self.assertEqual(self.ask(headers={"X-Api-Key": "mine"})[0], 200)
