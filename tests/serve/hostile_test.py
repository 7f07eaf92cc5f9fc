"""Hostile clients: after each, the server serves others, and uses no more memory or descriptors than before."""

import json
import re
import resource
import select
import struct
import sys
import time
import unittest

import resp_client
import rls_client
import server
from server import Server, eventually
from hostile import LISTENERS, POLICY, HostileTest, pour, read_to_end
from rls_client import (CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, PING, PREFACE, RST_STREAM, SETTINGS,
                        WINDOW_UPDATE, RlsClient, frame)

CHECK = b'POST /v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Length: 13\r\n\r\n{"path": "/"}'
HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
POST = b"POST /v1/check HTTP/1.1\r\nHost: localhost\r\n"
GET = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
GOAWAY_FRAME = b"\x07\x00\x00\x00\x00\x00"  # the type, flags and stream of a frame
GOOD = {"http": HEALTH, "admin": HEALTH, "resp": resp_client.command("PING"),
        "rls": PREFACE + frame(SETTINGS) + frame(PING, payload=b"12345678")}


class Http(HostileTest):
    refused = {
        "two lengths": POST + b"Content-Length: 13\r\nContent-Length: 14\r\n\r\n{}",
        "the same length twice in one": POST + b"Content-Length: 2, 3\r\n\r\n{}",
        "a length and chunks": POST + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        "a negative length": POST + b"Content-Length: -1\r\n\r\n{}",
        "a signed length": POST + b"Content-Length: +2\r\n\r\n{}",
        "a length beyond numbers": POST + b"Content-Length: 99999999999999999999999\r\n\r\n{}",
        "a length in other digits": POST + b"Content-Length: 0x2\r\n\r\n{}",
        "a chunk without a size": POST + b"Transfer-Encoding: chunked\r\n\r\n\r\n{}\r\n0\r\n\r\n",
        "a chunk of negative size": POST + b"Transfer-Encoding: chunked\r\n\r\n-2\r\n{}\r\n0\r\n\r\n",
        "a chunk beyond numbers": POST + b"Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n{}",
        "a chunk that is longer than it says": POST + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n",
        "a chunk with bare line feeds": POST + b"Transfer-Encoding: chunked\r\n\r\n2\n{}\n0\n\n",
        "another transfer encoding": POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        "chunked that is not": POST + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        "bare line feeds": b"GET /healthz HTTP/1.1\nHost: localhost\n\n",
        "a bare carriage return": GET + b"X: a\rb\r\n\r\n",
        "NUL in a value": GET + b"X: a\0b\r\n\r\n",
        "NUL in a name": GET + b"X\0: a\r\n\r\n",
        "NUL in the target": b"GET /health\0z HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "nothing but NUL": b"\0" * 1000,
        "a space before the colon": GET + b"X : a\r\n\r\n",
        "a folded line": GET + b"X: a\r\n b\r\n\r\n",
        "a line without a name": GET + b": a\r\n\r\n",
        "no host": b"GET /healthz HTTP/1.1\r\n\r\n",
        "two hosts": GET + b"Host: localhost\r\n\r\n",
        "no version": b"GET /healthz\r\n\r\n",
        "another version": b"GET /healthz HTTP/3.0\r\nHost: localhost\r\n\r\n",
        "HTTP/2": PREFACE + frame(SETTINGS),
        "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\xaa" * 500,
        "a target of a megabyte": b"GET /" + b"a" * 1_000_000 + b" HTTP/1.1\r\n\r\n",
        "a header of a megabyte": GET + b"X: " + b"a" * 1_000_000 + b"\r\n\r\n",
        "ten thousand headers": GET + b"X: a\r\n" * 10_000 + b"\r\n",
        "a body of a gigabyte": POST + b"Content-Length: 1073741824\r\n\r\n" + b" " * 100_000,
    }

    def test_what_is_malformed_is_refused_and_closed(self):
        for name, text in self.refused.items():
            for listener in "http", "admin":
                with self.subTest(name, listener=listener):
                    said = self.said_to(listener, text + HEALTH)
                    self.assertRegex(said, rb"^HTTP/1\.1 (400|413|414|431) ")
                    self.assertIn(b"\r\nConnection: close\r\n", said)
                    self.assertEqual(len(re.findall(rb"HTTP/1\.1 \d", said)), 1, "what follows is no request")

    def test_a_hundred_requests_and_then_garbage(self):
        said = self.said_to("http", CHECK * 100 + b"\x80garbage\r\n\r\n" + CHECK)
        self.assertEqual((said.count(b"HTTP/1.1 200 OK"), said.count(b"HTTP/1.1 400 ")), (100, 1))
        self.assertEqual(len(re.findall(rb"HTTP/1\.1 \d", said)), 101)

    def test_bodies_that_nest(self):
        deep = 200_000
        for body in b"[" * deep, b'{"path":' * deep, b"[" * deep + b"]" * deep, b'{"headers":' + b"[" * deep + b"}":
            for path in b"/v1/check", b"/json":
                said = self.said_to("http", b"POST %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                                            b"Content-Length: %d\r\n\r\n" % (path, len(body)) + body)
                self.assertRegex(said, rb"^HTTP/1\.1 (400|413) ", body[:20])

    def test_bodies_that_are_no_text(self):
        for body in [b"\0" * 1000, b'{"path": "/\0"}', b'{"path": "\xff\xfe"}', b'{"path": "\\ud800"}', b'{"cost": -1}',
                     b""]:
            said = self.said_to("http", POST + b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
            self.assertTrue(said.startswith(b"HTTP/1.1 400 "), (body, said[:200]))

    def test_who_asks_and_does_not_read(self):
        connection = self.connect("http")
        ended = pour(connection, CHECK * 1_000, 500)
        self.assertEqual(ended, "stopped")
        connection.settimeout(server.PATIENCE)
        self.assertTrue(connection.recv(65536).startswith(b"HTTP/1.1 200 OK"))
        connection.close()


class Resp(HostileTest):
    bombs = {
        "an array of a billion": b"*1000000000\r\n",
        "an array beyond numbers": b"*99999999999999999999\r\n",
        "an argument of negative length": b"*1\r\n$-5\r\n",
        "an argument of a gigabyte": b"*1\r\n$1073741824\r\n" + b"a" * 100_000,
        "an argument beyond numbers": b"*1\r\n$99999999999999999999\r\n",
        "an argument without a length": b"*1\r\n$\r\n\r\n",
        "an argument that is longer than it says": b"*1\r\n$4\r\nPINGPING\r\n",
        "an array in an array": b"*1\r\n" * 100_000,
        "a line of a megabyte": b"a" * 1_000_000,
        "a count of a megabyte": b"*" + b"1" * 1_000_000,
        "quotes that do not close": b'PING "a\r\n',
        "arguments beyond the limit": resp_client.command(*["PING"] * 5_000),
        "arguments beyond the limit together": resp_client.command("PING", *["a" * 60_000] * 20),
    }

    def test_bombs_are_refused_and_closed(self):
        for name, text in self.bombs.items():
            with self.subTest(name):
                said = self.said_to("resp", resp_client.command("PING") + text + b"\r\nPING\r\n")
                self.assertRegex(said, rb"^\+PONG\r\n-ERR Protocol error: [^\r\n]+\r\n$")

    def test_a_thousand_commands_and_then_garbage(self):
        said = self.said_to("resp", b"PING\r\n" * 1_000 + b"*x\r\n" + b"PING\r\n")
        self.assertRegex(said, rb"^(\+PONG\r\n){1000}-ERR Protocol error: [^\r\n]+\r\n$")

    def test_nothing_but_nul(self):
        with self.server.connect("resp") as connection:
            connection.sendall(b"\0" * 1_000 + b"\r\nPING\r\n")
            client = resp_client.RespClient(connection)
            with self.assertRaisesRegex(resp_client.ReplyError, "unknown command"):
                client.receive()
            self.assertEqual(client.receive(), "PONG")

    def test_who_asks_and_does_not_read(self):
        connection = self.connect("resp")
        ended = pour(connection, resp_client.command("WEIR.CHECK", "api", "flood") * 1_000, 2_000)
        self.assertEqual(ended, "stopped")
        connection.settimeout(server.PATIENCE)
        self.assertTrue(connection.recv(65536).startswith(b"*8\r\n:0\r\n"))
        connection.close()


class Http2(HostileTest):
    head = rls_client.head()

    def begin(self):
        connection = self.connect("rls")
        connection.sendall(PREFACE + frame(SETTINGS))
        return connection

    def assert_denied(self, connection, stream=1):
        """The call is over its limit although it was not read: a proxy would let it pass after an error."""
        connection.settimeout(server.PATIENCE)
        told = rls_client.fields(RlsClient(connection, stream=stream).receive())
        self.assertEqual(told[1], [2])
        self.assertNotIn(2, told)

    def assert_ended(self, connection, bytes_, times=1):
        """The server gives up, and its last frame is GOAWAY."""
        pour(connection, bytes_, times)
        said = read_to_end(connection)
        self.assertTrue(not said or GOAWAY_FRAME in said, said[-100:])

    def test_streams_that_are_reset_at_once(self):
        opened = (frame(HEADERS, END_HEADERS, stream, self.head) + frame(RST_STREAM, 0, stream, struct.pack(">I", 8))
                  for stream in range(1, 40_001, 2))
        connection = self.begin()
        message = rls_client.request({"path": "/", "user": "good"})
        connection.sendall(b"".join(opened) + frame(HEADERS, END_HEADERS, 40_001, self.head) +
                           frame(DATA, END_STREAM, 40_001, b"\0" + struct.pack(">I", len(message)) + message))
        self.assertTrue(rls_client.Answer(RlsClient(connection, stream=40_001).receive()).admitted)

    def test_pings_whose_answers_are_not_read(self):
        self.assert_ended(self.begin(), frame(PING, payload=b"12345678") * 1_000, 2_000)

    def test_settings_whose_acknowledgements_are_not_read(self):
        self.assert_ended(self.begin(), frame(SETTINGS, payload=struct.pack(">HI", 3, 100)) * 1_000, 2_000)

    def test_a_head_that_never_ends(self):
        connection = self.begin()
        connection.sendall(frame(HEADERS, 0, 1, self.head))
        field = b"\x00\x01a" + b"\x7f\x81\x7c" + b"b" * 16_000
        self.assert_ended(connection, frame(CONTINUATION, 0, 1, field), 2_000)

    def test_a_head_that_never_ends_in_nothing(self):
        connection = self.begin()
        connection.sendall(frame(HEADERS, 0, 1, self.head))
        self.assert_ended(connection, frame(CONTINUATION, 0, 1) * 1_000, 2_000)

    def test_data_of_nothing(self):
        connection = self.begin()
        connection.sendall(frame(HEADERS, END_HEADERS, 1, self.head))
        pour(connection, frame(DATA, 0, 1) * 1_000, 1_000)
        connection.close()

    def test_windows_that_open_for_ever(self):
        connection = self.begin()
        self.assert_ended(connection, frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 0x7fffffff)), 100)

    def test_a_head_that_unpacks_to_much_more(self):
        """One long field that is stored in the table and then referenced thousands of times."""
        connection = self.begin()
        kept = b"\x40\x01a\x7f\x81\x1e" + b"b" * 4_000
        connection.sendall(frame(HEADERS, END_HEADERS | END_STREAM, 1, self.head + kept + b"\xbe" * 10_000))
        self.assert_denied(connection)

    def test_messages_that_are_too_long(self):
        connection = self.begin()
        connection.sendall(frame(HEADERS, END_HEADERS, 1, self.head))
        self.assertEqual(pour(connection, frame(DATA, 0, 1, b"\0" * 16_384), 2_000), "taken")
        connection.setblocking(True)
        connection.sendall(frame(DATA, END_STREAM, 1, b"\0"))
        self.assert_denied(connection)

    def test_long_messages_on_all_streams_at_once(self):
        connection = self.begin()
        streams = range(1, 2_048, 2)
        for stream in streams:
            connection.sendall(frame(HEADERS, END_HEADERS, stream, self.head))
        for _ in range(8):
            for stream in streams:
                connection.sendall(frame(DATA, 0, stream, b"\0" * 16_384))
        connection.sendall(frame(DATA, END_STREAM, streams[-1], b"\0"))
        self.assert_denied(connection, streams[-1])

    def test_streams_that_are_left_open(self):
        """Opens as many streams as allowed, on many connections, and sends nothing more."""
        held = []
        for _ in range(20):
            held.append(self.begin())
            held[-1].sendall(b"".join(frame(HEADERS, END_HEADERS, stream, self.head) for stream in range(1, 512, 2)))
        self.assert_answers()
        for connection in held:
            connection.close()

    broken = {
        "no preface": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "a preface that goes wrong": PREFACE[:-1] + b"x",
        "no settings": PREFACE + frame(PING, payload=b"12345678"),
        "a frame that says 16 megabytes": PREFACE + frame(SETTINGS) + b"\xff\xff\xff\x00\x00\x00\x00\x00\x01",
        "settings of a stream": PREFACE + frame(SETTINGS, 0, 1),
        "settings of odd length": PREFACE + frame(SETTINGS, payload=b"12345"),
        "a thousand settings": PREFACE + frame(SETTINGS, payload=struct.pack(">HI", 3, 100) * 1_000),
        "a stream of even number": PREFACE + frame(SETTINGS) + frame(HEADERS, END_HEADERS, 2, rls_client.head()),
        "data before a head": PREFACE + frame(SETTINGS) + frame(DATA, 0, 1, b"a"),
        "a head cut by another frame": PREFACE + frame(SETTINGS) + frame(HEADERS, 0, 1) + frame(PING, payload=b"1" * 8),
        "an entry that is not there": PREFACE + frame(SETTINGS) + frame(HEADERS, END_HEADERS, 1, b"\xff\xff\xff\x7f"),
        "a ping of odd length": PREFACE + frame(SETTINGS) + frame(PING, payload=b"1"),
        "a window that is not opened": PREFACE + frame(SETTINGS) + frame(WINDOW_UPDATE, 0, 0, b"\0\0\0\0"),
    }

    def test_broken_frames_end_the_connection(self):
        for name, text in self.broken.items():
            with self.subTest(name):
                self.assertNotIn(b"\x00\x00\x08\x06\x01", self.said_to("rls", text), "an answer to a ping")


class Connections(HostileTest):
    def test_bytes_that_come_one_at_a_time(self):
        for listener, text in GOOD.items():
            connection = self.connect(listener)
            for byte in text:
                connection.sendall(bytes([byte]))
            self.assertNotEqual(connection.recv(65536), b"", listener)
            connection.close()

    def test_who_has_no_more_to_say_is_still_answered(self):
        for listener, text in GOOD.items():
            with self.server.connect(listener) as connection:
                connection.sendall(text)
                connection.shutdown(1)
                self.assertNotEqual(read_to_end(connection), b"", listener)

    def test_who_goes_away_in_the_middle(self):
        for listener, text in GOOD.items():
            for cut in range(0, len(text), 3):
                with self.server.connect(listener) as connection:
                    connection.setsockopt(1, 13, struct.pack("ii", 1, 0))  # SO_LINGER: a reset
                    connection.sendall(text[:cut])

    def test_two_thousand_at_a_time(self):
        held = [self.server.connect(LISTENERS[number % 4]) for number in range(2_000)]
        try:
            eventually(lambda: self.connections() >= 2_000, "all of them")
            self.assert_answers()
            for number, connection in enumerate(held):
                connection.sendall(GOOD[LISTENERS[number % 4]])
            for connection in held:
                self.assertNotEqual(connection.recv(65536), b"")
        finally:
            for connection in held:
                connection.close()

    def test_who_is_slow_is_cut_off(self):
        """A byte from time to time is not enough, and neither is none at all if requests come on new connections."""
        dripped = {"http": b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 1_000,
                   "admin": b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 1_000,
                   "resp": b"*1\r\n$1000\r\n" + b"a" * 1_000}
        waiting = {self.connect(listener): iter(text) for listener, text in dripped.items()}
        waiting |= {self.connect(listener): iter(b"") for listener in ["http", "admin"]}
        began = time.monotonic()
        while waiting:
            self.assertLess(time.monotonic() - began, server.PATIENCE, "still there")
            for connection in select.select(list(waiting), [], [], 0.2)[0]:
                try:
                    ended = not connection.recv(65536)
                except ConnectionError:
                    ended = True
                if ended:
                    self.assertGreater(time.monotonic() - began, 8)
                    del waiting[connection]
                    connection.close()
            for connection, text in waiting.items():
                if (byte := next(text, None)) is not None:
                    try:
                        connection.send(bytes([byte]))
                    except ConnectionError:
                        pass


class Memory(HostileTest):
    """The server keeps nothing for each value that clients invent."""

    def test_numbers_that_are_never_the_same(self):
        with resp_client.connect(self.server.resp, server.PATIENCE) as client:
            for begin in range(1, 50_000, 1_000):
                client.connection.sendall(b"".join(b"CL.THROTTLE key %d 1 60\r\n" % number
                                                   for number in range(begin, begin + 1_000)))
                for _ in range(1_000):
                    client.receive()

    def test_words_that_are_never_the_same(self):
        before = len(self.server.ask("GET", "/metrics", listener="admin")[2])
        for begin in range(0, 20_000, 1_000):
            queries = [{"path": f"/{n}?{n}", "method": f"M{n}", "user": f"u{n}", "tier": f"t{n}",
                        "headers": {f"X{n}": "a"}} for n in range(begin, begin + 1_000)]
            self.assertEqual(self.server.ask("POST", "/v1/check", json.dumps(queries))[0], 200)
        self.assertLess(len(self.server.ask("GET", "/metrics", listener="admin")[2]), before + 2_000)


class Files(unittest.TestCase):
    def test_no_more_are_left_to_open(self):
        """Existing connections stay open, the others wait, and the server does not spin until then."""
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))
        try:
            weir = Server(POLICY)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        with weir:
            first = weir.connect("http")
            held = [weir.connect("http") for _ in range(200)]
            eventually(lambda: weir.open_files == 64, "a shortage")
            first.sendall(HEALTH)
            self.assertTrue(first.recv(65536).startswith(b"HTTP/1.1 200 OK"))
            for connection in first, *held:
                connection.close()
            self.assertEqual(weir.ask("POST", "/v1/check", '{"path": "/"}')[0], 200)
            page = weir.ask("GET", "/metrics", listener="admin")[2]
            failed = re.search(r'(?m)^weir_connections_total\{listener="http",outcome="accept_failed"\} (\d+)', page)
            self.assertTrue(0 < int(failed[1]) < 1_000, failed[0])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
