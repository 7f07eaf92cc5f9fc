"""Tests that each proxy handles each answer of Weir as docs/proxies.md describes.

The rows of the tables on that page are tested with the proxies of examples/, and a stand-in for Weir that gives the
answer in question: first with the unchanged example, then with its closed setting.
"""

import concurrent.futures
import contextlib
import re
import socketserver
import sys
import threading
import unittest

import grpc

import envoy_test
import proxy
from server import ROOT

STATUS = re.compile(r"`(\d{3})`")
LINGER = 2  # the time in seconds that a proxy waits for Weir


class Weir(socketserver.ThreadingTCPServer):
    """Gives the same answer to all requests: bytes; nothing, and closes (b""); nothing, and stays open (None)."""

    daemon_threads = True

    def __init__(self):
        self.answer = b""
        self.ended = threading.Event()
        super().__init__(("127.0.0.1", 0), Answer)

    def handle_error(self, *_):
        pass


class Answer(socketserver.StreamRequestHandler):
    def handle(self):
        line = self.rfile.readline()
        while self.rfile.readline().strip():
            pass
        if b"/healthz" in line:
            self.wfile.write(http_answer(200))
        elif self.server.answer is None:
            self.server.ended.wait()
        else:
            self.wfile.write(self.server.answer)


def http_answer(status):
    """Returns an answer with a body, which nginx reads from a header field."""
    fields = [b"Connection: close", b"Retry-After: 7", b"X-Weir-Problem: said", b"Content-Length: 4"]
    return b"\r\n".join([b"HTTP/1.1 %d Said" % status, *fields, b"", b"said"])


@contextlib.contextmanager
def weir():
    with Weir() as listening:
        thread = threading.Thread(target=listening.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield listening
        finally:
            listening.ended.set()
            listening.shutdown()
            thread.join()


class RateLimitService(grpc.GenericRpcHandler):
    """Gives the same answer to all calls: the bytes of a message, a gRPC status, or none. Reports itself as healthy."""

    def __init__(self):
        self.answer = b""
        self.ended = threading.Event()

    def service(self, call):
        if call.method.startswith("/grpc.health.v1.Health/"):
            return grpc.unary_unary_rpc_method_handler(lambda *_: CODES["OK"])  # the same bytes: SERVING
        return grpc.unary_unary_rpc_method_handler(self.say)

    def say(self, _, context):
        if isinstance(self.answer, grpc.StatusCode):
            context.abort(self.answer, "said")
        if self.answer is None:
            self.ended.wait()
        return self.answer or b""


@contextlib.contextmanager
def rate_limit_service():
    said = RateLimitService()
    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        listening = grpc.server(threads, handlers=[said], options=[("grpc.so_reuseport", 0)])
        said.port = listening.add_insecure_port("127.0.0.1:0")
        listening.start()
        try:
            yield said
        finally:
            said.ended.set()
            listening.stop(None).wait()


def tables():
    """Returns the rows of each proxy on the page: (cell of the answer, cell of the outcome, cell of the closed
    outcome)."""
    text = (ROOT / "docs" / "proxies.md").read_text()
    found = {}
    for heading, below in re.findall(r"(?ms)^## (.*?)\n(.*?)(?=^## |\Z)", text):
        rows = [[cell.strip() for cell in line.split("|")[1:4]] for line in below.splitlines() if line.startswith("|")]
        found[heading] = [row for row in rows if not re.match(r"-+$|Weir", row[0])]
    return found


# The words in the first column that are not statuses, and their meanings.
OTHERWISE = {"no answer in time": None, "closes the connection": b"", "not HTTP": b"said\r\n\r\n"}
CODES = {"OK": b"\x08\x01", "OVER_LIMIT": b"\x08\x02", "UNKNOWN": b""}


class Page(proxy.Client):
    heading = None
    example = None
    command = None
    awaited = 8000
    listener = 8000
    closed = None    # the replacements that make it let nothing pass unevaluated
    told = (["7"], "said")    # Retry-After and the body of a 429

    def answers_of(self, cell):
        """Returns (name, answer) of the words in a row's first cell."""
        named = [(word, http_answer(int(word))) for word in STATUS.findall(cell)]
        return named + [(word, answer) for word, answer in OTHERWISE.items() if word in cell]

    def asked_with(self):
        return weir()

    def ports(self, listening):
        return {8080: listening.server_address[1]}

    def outcome(self, port, application):
        before = application.asked
        status, headers, body = self.ask(port=port)
        if application.asked > before:
            return "passes" if status == 200 else f"passes, and then {status}"
        if status == 429:
            self.assertEqual((headers.get_all("Retry-After"), body), self.told)
        return str(status)

    def check(self, column, instead):
        rows = tables()[self.heading]
        with self.asked_with() as listening, proxy.application() as application:
            ports = {port: proxy.free_port() for port in (8000, 8001, 8002)} | {9000: application.server_port}
            with proxy.running(self.example, self.command, ports | self.ports(listening), ports[self.awaited], instead,
                               LINGER):
                tried = 0
                for row in rows:
                    for name, answer in self.answers_of(row[0]):
                        tried += 1
                        with self.subTest(answer=name):
                            listening.answer = answer
                            self.assertEqual(self.outcome(ports[self.listener], application), row[column].split(":")[0])
        self.assertGreater(tried, 8)

    def check_absent(self, column, instead):
        """Nothing listens on Weir's port."""
        row = next(row for row in tables()[self.heading] if "not running" in row[0])
        with proxy.application() as application:
            ports = {port: proxy.free_port() for port in (8000, 8001, 8002, 8080, 8081)}
            with proxy.running(self.example, self.command, ports | {9000: application.server_port}, ports[self.awaited],
                               instead, LINGER):
                self.assertEqual(self.outcome(ports[self.listener], application), row[column].split(":")[0])

    def test_each_answer_has_the_outcome_of_the_page(self):
        self.check(1, None)

    def test_each_answer_has_the_outcome_of_the_page_where_nothing_passes_unevaluated(self):
        self.check(2, self.closed)

    def test_if_weir_is_not_there_the_outcome_is_that_of_the_page(self):
        self.check_absent(1, None)
        self.check_absent(2, self.closed)


class Nginx(Page, unittest.TestCase):
    heading = "nginx"
    example = "nginx"
    command = ["nginx", "-e", "stderr", "-p", ".", "-c", "nginx.conf"]
    closed = ("  error_page 502 503 504 = @weir_open;", "  #")

    def test_a_denial_without_a_body_is_an_empty_problem(self):
        with weir() as listening, proxy.application() as application:
            listening.answer = b"HTTP/1.1 429 Said\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
            port = proxy.free_port()
            ports = {8000: port, 9000: application.server_port, **self.ports(listening)}
            with proxy.running(self.example, self.command, ports, port):
                status, headers, body = self.ask(port=port)
        self.assertEqual((status, headers["Content-Type"], body), (429, "application/problem+json", "{}"))


class HAProxy(Page, unittest.TestCase):
    heading = "HAProxy"
    example = "haproxy"
    command = ["haproxy", "-f", "haproxy.cfg"]
    closed = ("setenv WEIR_UNAVAILABLE pass", "setenv WEIR_UNAVAILABLE deny")


class Caddy(Page, unittest.TestCase):
    heading = "Caddy"
    example = "caddy"
    command = ["caddy", "run"]
    closed = ("not vars evaluated yes", "vars evaluated never")


class Envoy(Page):
    example = "envoy"
    awaited = 8002
    command = [envoy_test.ENVOY, "-c", "envoy.yaml", "--use-dynamic-base-id", "--concurrency", "1", "-l", "error"]


class EnvoyExtAuthz(Envoy, unittest.TestCase):
    heading = "Envoy, `ext_authz`"
    listener = 8001
    closed = ("failure_mode_allow: true", "failure_mode_allow: false")


class EnvoyRateLimitFilter(Envoy, unittest.TestCase):
    heading = "Envoy, the rate limit filter"
    listener = 8000
    closed = ("failure_mode_deny: false", "failure_mode_deny: true")
    told = (None, "")

    def answers_of(self, cell):
        words = re.findall(r"`([A-Z_]+)`", cell)
        named = [(word, CODES[word] if word in CODES else grpc.StatusCode[word]) for word in words]
        return named + [(word, OTHERWISE[word]) for word in ["no answer in time"] if word in cell]

    def asked_with(self):
        return rate_limit_service()

    def ports(self, listening):
        return {8081: listening.port}


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
