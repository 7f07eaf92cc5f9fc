"""Envoy, from examples/envoy. WEIR_ENVOY names the program, if script/setup did not install it."""

import json
import os
import re
import socket
import sys
import tempfile
import unittest

import proxy
import rls_client
from rls_client import END_HEADERS, END_STREAM, HEADERS, frame
from server import PATIENCE, ROOT, Server

ENVOY = os.environ.get("WEIR_ENVOY", str(ROOT / "build" / "tools" / "venv" / "bin" / "envoy"))
DAY = 24 * 60 * 60


class Example(proxy.Client):
    policy = "policy.yaml"
    envoy_port = None

    def changed(self, policy):
        return policy

    def setUp(self):
        directory = self.enterContext(tempfile.TemporaryDirectory())
        self.weir = self.enterContext(self.served(directory))
        self.application = self.enterContext(proxy.application())
        ports = {8000: proxy.free_port(), 8001: proxy.free_port(), 8002: proxy.free_port(), 8080: self.weir.http[1],
                 8081: self.weir.rls[1], 9000: self.application.server_port}
        command = [ENVOY, "-c", "envoy.yaml", "--use-dynamic-base-id", "--concurrency", "1", "-l", "warning"]
        self.enterContext(proxy.running("envoy", command, ports, ports[8002]))
        self.port = ports[self.envoy_port]

    def served(self, directory):
        return proxy.served("envoy", directory, self.policy, self.changed)

    def figure(self, name, **labels):
        labels = ",".join(f'{label}="{value}"' for label, value in labels.items())
        page = self.weir.ask("GET", "/metrics", listener="admin")[2]
        return int(re.search(rf"^{name}{{{labels}}} (\d+)$", page, re.MULTILINE)[1])

    def evaluated(self):
        """Returns the number of requests that Weir decided, without Envoy's health checks."""
        page = self.weir.ask("GET", "/metrics", listener="admin")[2]
        decisions = re.findall(r'(?m)^weir_decisions_total{limit="everything".*} (\d+)$', page)
        return sum(map(int, decisions))


class ClientsBytes:
    """Envoy lets a request pass if its limiter fails, so no client input may make it fail."""

    listener = None
    requests = {
        "a byte that is no text, in X-Forwarded-For": (b"GET", b"/", b"X-Forwarded-For: \xff\r\n"),
        "a byte that is no text, in X-Api-Key": (b"GET", b"/", b"X-Api-Key: \xff\r\n"),
        "half a character": (b"GET", b"/", b"X-Api-Key: \xe2\x82\r\n"),
        "a surrogate": (b"GET", b"/", b"X-Api-Key: \xed\xa0\x80\r\n"),
        "a path of 33,000 bytes": (b"GET", b"/" + b"a" * 33_000, b""),
        "headers of 55,000 bytes": (b"GET", b"/", b"X-Api-Key: " + b"k" * 55_000 + b"\r\n"),
    }
    requests_over_http2 = {  # rejected by Envoy itself over HTTP/1.1
        "a method of 33 letters": {b":method": b"A" * 33},
        "a method of 64 letters": {b":method": b"A" * 64},
        "a byte that is no text, in the path": {b":path": b"/x?\xff"},
    }

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), PATIENCE, ("127.0.0.2", 0))

    def status_of(self, method, target, headers):
        with self.connect() as connection:
            connection.sendall(method + b" " + target + b" HTTP/1.1\r\nHost: shop.example.com\r\n" +
                               b"Connection: close\r\n" + headers + b"\r\n")
            return int(connection.makefile("rb").readline().split()[1])

    def ask_over_http2(self, fields):
        """Returns when there is a response."""
        fields = {b":method": b"GET", b":scheme": b"http", b":path": b"/", b":authority": b"shop.example.com", **fields}
        head = b"".join(b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value
                        for name, value in fields.items())
        with rls_client.RlsClient(self.connect()) as client:
            client.connection.sendall(frame(HEADERS, END_HEADERS | END_STREAM, 1, head))
            while (answer := client.read_frame())[2] != 1:
                pass
            self.assertEqual(answer[0], HEADERS, "an answer, and no reset")

    def test_whatever_a_client_sends_is_evaluated(self):
        self.exhaust()
        reached, evaluated = self.application.asked, self.evaluated()
        for name, request in self.requests.items():
            with self.subTest(name):
                self.assertEqual(self.status_of(*request), 429)
        for fields in self.requests_over_http2.values():
            self.ask_over_http2(fields)
        self.assertEqual(self.application.asked, reached)
        sent = len(self.requests) + len(self.requests_over_http2)
        self.assertEqual(self.evaluated(), evaluated + sent)
        self.assertEqual(self.figure("weir_unevaluated_total", listener=self.listener), 0)

    def test_whatever_a_client_sends_passes_under_a_limit_that_is_not_used_up(self):
        for name, request in self.requests.items():
            with self.subTest(name):
                self.assertEqual(self.status_of(*request), 200)
        self.assertEqual(self.application.asked, len(self.requests))
        self.ask_over_http2(self.requests_over_http2["a method of 33 letters"])
        self.assertEqual(self.evaluated(), len(self.requests) + 1)
        self.assertEqual(self.figure("weir_unevaluated_total", listener=self.listener), 0)


class RateLimitFilter(proxy.Contract, ClientsBytes, Example, unittest.TestCase):
    envoy_port = 8000
    listener = "rls"


class ExtAuthz(proxy.Contract, ClientsBytes, Example, unittest.TestCase):
    envoy_port = 8001
    listener = "http"


class TooLong(Example, unittest.TestCase):
    envoy_port = 8000

    def served(self, directory):
        config = (ROOT / "examples" / "envoy" / "weir.yaml").read_text()
        config = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:0", config).replace("rls: { ", "rls: { max_message: 1KiB, ")
        return Server((ROOT / "examples" / "envoy" / self.policy).read_text(), config, directory)

    def test_a_message_that_is_too_long_is_denied_and_never_an_error(self):
        status, headers, body = self.ask(target="/" + "a" * 3_000)
        self.assertEqual((status, headers["Content-Type"]), (429, "application/problem+json"))
        self.assertEqual(json.loads(body)["status"], 429)
        self.assertEqual(self.application.asked, 0)
        self.assertEqual(self.figure("weir_denied_unread_total", listener="rls", reason="message_too_long"), 1)
        self.assertEqual(self.figure("weir_unevaluated_total", listener="rls"), 0)
        self.exhaust()


class RateLimitFilterMissingIdentity(proxy.MissingIdentity, Example, unittest.TestCase):
    envoy_port = 8000
    status = 429  # the filter has one status for everything over its limit


class ExtAuthzMissingIdentity(proxy.MissingIdentity, Example, unittest.TestCase):
    envoy_port = 8001


class Descriptors(Example, unittest.TestCase):
    policy = "descriptors.yaml"
    envoy_port = 8002

    def test_each_descriptor_has_its_limit(self):
        self.exhaust("POST", times=3)
        self.assert_denied(self.ask("POST"), "writes-by-address", DAY)
        self.exhaust("GET", times=7)
        self.assert_denied(self.ask("GET"), "all-by-address", DAY)
        self.assertEqual(self.ask(client="127.0.0.3")[0], 200)

    def test_fields_tell_of_the_tightest(self):
        self.assertRegex(self.ask("GET")[1]["RateLimit"], r'^"all-by-address";r=9;t=\d+$')
        self.assertRegex(self.ask("POST")[1]["RateLimit"], r'^"writes-by-address";r=2;t=\d+$')

    def test_requests_pass_while_weir_is_away(self):
        self.assertEqual(self.weir.stop(), 0)
        self.exhaust(times=20)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
