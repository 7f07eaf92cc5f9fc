"""Tests what only the Python package has: threads, forks, event loops, WSGI, ASGI.

python_test.py PROGRAM VERSION [unittest's arguments]
"""

import asyncio
import dataclasses
import os
import pathlib
import socket
import sys
import tempfile
import threading
import time
import unittest

FOLDER = pathlib.Path(__file__).parent
sys.path.insert(0, str(FOLDER.parents[1] / "clients/python"))
from scripted_servers import ScriptedServers  # noqa: E402

import weir  # noqa: E402
from weir._breaker import Breaker  # noqa: E402
from weir._http import AnswerReader, Place, ProtocolError  # noqa: E402
from weir.client import _Connection  # noqa: E402

PATIENCE = 10.0
ADMITTED = weir.Verdict(True, "within", 200, fields=(("RateLimit", '"api";r=2'), ("X-RateLimit-Limit", "3")))
DENIED = weir.Verdict(False, "exceeded", 429, fields=(("Retry-After", "7"),), problem=b'{"status":429}')


class Scripted(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.servers = cls.enterClassContext(ScriptedServers())

    def setUp(self):
        self.servers.forget("admits")

    def assert_counts(self, **expected):
        counts = self.servers.counts("admits")
        self.assertEqual({name: counts[name] for name in expected}, expected)

    def client(self, server, **options):
        client = weir.Client(self.servers.urls[server], **{"timeout": PATIENCE, "fail": "closed", **options})
        self.addCleanup(client.close)
        return client


class Clients(Scripted):
    def test_threads_that_ask_at_a_time_keep_a_connection_each(self):
        client = self.client("admits")
        reasons = []

        def ask():
            for _ in range(20):
                reasons.append(client.check(weir.Query()).reason)

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(reasons, ["within"] * 160)
        self.assertLessEqual(self.servers.counts("admits")["connections"], 8)

    def test_an_answer_that_came_while_the_thread_waited_is_not_too_late(self):
        place = Place.parse(self.servers.urls["is_not_http"])
        connection = _Connection(place, time.monotonic() + PATIENCE)
        self.addCleanup(connection.close)
        with self.assertRaises(TimeoutError):
            connection._receive(time.monotonic())
        connection._socket.settimeout(PATIENCE)
        connection._socket.sendall(b"POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n")
        connection._socket.recv(1, socket.MSG_PEEK)  # the connection exists
        self.assertEqual(connection._receive(time.monotonic() - 1), b"220 mail.example ready\r\n\r\n")

    def test_a_forked_process_has_connections_of_its_own(self):
        client = self.client("admits")
        self.assertTrue(client.check(weir.Query()).admitted)
        child = os.fork()
        if child == 0:
            os._exit(0 if client.check(weir.Query()).reason == "within" else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(client.check(weir.Query()).reason, "within")
        self.assert_counts(connections=2, requests=3)

    def test_the_log_tells_once_that_weir_is_away(self):
        client = self.client("unreachable")
        with self.assertLogs("weir", "INFO") as logged:
            for _ in range(3):
                client.check(weir.Query())
        self.assertEqual(len(logged.output), 1)
        self.assertIn("until it answers, requests are denied", logged.output[0])

    def test_options_that_make_no_sense_are_errors(self):
        for options in ({"url": "127.0.0.1:8080"}, {"url": "http://x/path"}, {"url": "ftp://x"}, {"timeout": 0},
                        {"fail": "ajar"}, {"token": "a\r\nX: y"}, {"breaker_interval": 0},
                        {"breaker_max_interval": 0.1}):
            with self.assertRaises(ValueError, msg=options):
                weir.Client(**options)
            with self.assertRaises(ValueError, msg=options):
                weir.AsyncClient(**options)

    def test_an_answer_is_read_in_whatever_pieces_it_comes(self):
        body = b'{"admitted":true}'
        for text in (b"HTTP/1.1 200 OK\r\nContent-Length: 17\r\nX: y \r\n\r\n" + body,
                     b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nX: y\r\n\r\n"
                     b"5;ext=1\r\n" + body[:5] + b"\r\nC\r\n" + body[5:] + b"\r\n0\r\nTrailer: x\r\n\r\n"):
            for size in (1, 2, 7, len(text)):
                reader = AnswerReader()
                answers = [reader.feed(text[at:at + size]) for at in range(0, len(text), size)]
                self.assertEqual(set(answers[:-1]), {None} if len(answers) > 1 else set())
                self.assertEqual((answers[-1].status, answers[-1].body), (200, body))
                self.assertIn("y", [value for _, value in answers[-1].fields])
                self.assertTrue(reader.can_reuse)

    def test_an_answer_without_a_length_ends_with_its_connection(self):
        reader = AnswerReader()
        self.assertIsNone(reader.feed(b"HTTP/1.1 200 OK\r\n\r\nhello"))
        self.assertEqual(reader.end().body, b"hello")
        self.assertFalse(reader.can_reuse)

    def test_what_is_no_answer_is_not_read_forever(self):
        for text in (b"HTTP/2 200\r\n\r\n", b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n", b"x" * 70000,
                     b"HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n",
                     b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
                     b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\n",
                     b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 1_100_000):
            with self.assertRaises(ProtocolError, msg=text[:60]):
                AnswerReader().feed(text)


class Breakers(unittest.TestCase):
    def setUp(self):
        self.now = 100.0
        self.changes = []
        self.breaker = self.make(failures=2)

    def make(self, failures):
        return Breaker(failures, 1.0, 3.0, 0.25, self.changes.append, clock=lambda: self.now, chance=lambda: 1.0)

    def fail(self, error=weir.Unavailable("of the test")):
        with self.assertRaises(type(error)), self.breaker.attempt():
            raise error

    def succeed(self):
        with self.breaker.attempt():
            pass

    def assert_nothing_is_sent(self):
        with self.assertRaises(weir.Unavailable):
            self.breaker.attempt()

    def test_it_opens_after_failures_in_a_row(self):
        self.fail()
        self.succeed()
        self.fail()
        self.assertEqual(self.breaker.state, "closed")
        self.fail()
        self.assertEqual(self.breaker.state, "open")
        self.assert_nothing_is_sent()

    def test_probes_are_sent_one_at_a_time_at_intervals_that_double(self):
        self.fail()
        self.fail()
        for interval in 1.0, 2.0, 3.0, 3.0:
            self.now += interval - 0.01
            self.assert_nothing_is_sent()
            self.now += 0.01
            with self.assertRaises(weir.Unavailable), self.breaker.attempt():
                self.assertEqual(self.breaker.state, "half_open")
                self.assert_nothing_is_sent()
                raise weir.Unavailable("of the test")
            self.assertEqual(self.breaker.state, "open")
        self.now += 3.0
        self.succeed()
        self.assertEqual(self.changes, ["open", *["half_open", "open"] * 4, "half_open", "closed"])
        self.fail()
        self.fail()
        self.now += 1.0
        self.succeed()  # the first interval again

    def test_jitter_takes_up_to_half_of_the_wait(self):
        self.breaker = Breaker(1, 1.0, 1.0, 0.25, clock=lambda: self.now, chance=lambda: 0.0)
        self.fail()
        self.now += 0.49
        self.assert_nothing_is_sent()
        self.now += 0.01
        self.succeed()

    def test_an_answer_that_comes_late_closes_it_and_a_late_failure_changes_nothing(self):
        late, later = self.breaker.attempt(), self.breaker.attempt()
        self.fail()
        self.fail()
        late.__exit__(weir.Unavailable, None, None)
        self.now += 1.0
        self.succeed()  # the wait has not doubled
        self.fail()
        self.fail()
        later.__exit__(None, None, None)
        self.assertEqual(self.breaker.state, "closed")

    def test_a_probe_that_is_given_up_makes_room_for_the_next(self):
        self.fail()
        self.fail()
        self.now += 1.0
        self.fail(asyncio.CancelledError())
        self.assertEqual(self.breaker.state, "open")
        self.succeed()
        self.fail(asyncio.CancelledError())
        self.assertEqual(self.breaker.state, "closed")

    def test_a_fork_in_the_middle_leaves_no_lock_and_no_probe_behind(self):
        self.fail()
        self.fail()
        self.now += 1.0
        self.breaker.attempt()
        with self.breaker._lock:
            child = os.fork()
            if child == 0:
                try:
                    self.assert_nothing_is_sent()
                    self.now += 0.5
                    self.succeed()
                    os._exit(0)
                finally:
                    os._exit(1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    def test_it_can_be_turned_off(self):
        for failures in 0, -1:
            self.breaker = self.make(failures)
            for _ in range(10):
                self.fail()
            self.assertEqual(self.breaker.state, "closed")


class Loops(Scripted):
    def client(self, server, **options):
        return weir.AsyncClient(self.servers.urls[server], **{"timeout": PATIENCE, "fail": "closed", **options})

    def test_a_client_works_in_one_loop_after_the_other(self):
        client = self.client("admits")

        async def ask():
            return [(await client.check(weir.Query())).reason for _ in range(2)]

        self.assertEqual(asyncio.run(ask()) + asyncio.run(ask()), ["within"] * 4)
        self.assert_counts(connections=2, requests=4)

    def test_tasks_that_ask_at_a_time_keep_a_connection_each(self):
        async def ask():
            async with self.client("admits") as client:
                for _ in range(3):
                    verdicts = await asyncio.gather(*(client.check(weir.Query()) for _ in range(5)))
                    self.assertEqual({verdict.reason for verdict in verdicts}, {"within"})

        asyncio.run(ask())
        self.assert_counts(connections=5, requests=15)

    def test_a_check_that_is_canceled_leaves_no_answer_behind(self):
        async def ask():
            client = self.client("hangs")
            asking = asyncio.create_task(client.check(weir.Query()))
            before = self.servers.counts("hangs")["requests"]
            while self.servers.counts("hangs")["requests"] == before:
                await asyncio.sleep(0.01)
            asking.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await asking
            self.assertEqual(client._kept, [])

        asyncio.run(ask())

    def test_an_answer_that_came_while_the_loop_was_busy_is_not_too_late(self):
        async def ask():
            client = self.client("admits", timeout=0.25)
            while (await client.check(weir.Query())).reason != "within":
                pass
            before = self.servers.counts("admits")["answers"]
            late = time.monotonic() + 0.25
            asking = asyncio.create_task(client.check(weir.Query()))
            await asyncio.sleep(0)  # it is sent
            while self.servers.counts("admits")["answers"] == before or time.monotonic() < late + 0.01:
                time.sleep(0.01)  # the loop is idle until then
            return (await asking).reason

        self.assertEqual(asyncio.run(ask()), "within")


class FakeClient:
    """Returns the given verdict, and records the queries."""

    def __init__(self, verdict):
        self.verdict = verdict
        self.asked = []

    def check(self, query):
        self.asked.append(query)
        return self.verdict

    def refuse(self, detail):
        self.asked.append(detail)
        return DENIED


class FakeAsyncClient(FakeClient):
    async def check(self, query):
        return super().check(query)


class Wsgi(unittest.TestCase):
    ENVIRON = {"REQUEST_METHOD": "GET", "SCRIPT_NAME": "/shop", "PATH_INFO": "/a b\xff%", "QUERY_STRING": "c=%ff",
               "SERVER_SOFTWARE": "gunicorn/23.0.0", "REMOTE_ADDR": "192.0.2.1", "HTTP_X_NAME": "j\xc3\xbcrgen",
               "CONTENT_TYPE": "text/plain", "CONTENT_LENGTH": ""}

    def ask(self, client, environ=None, **options):
        def app(environ, start_response):
            start_response("200 OK", [("x-ratelimit-limit", "own")], None)
            return [b"hello"]

        started = []
        middleware = weir.WsgiMiddleware(app, client, **options)
        body = middleware({**self.ENVIRON, **(environ or {})}, lambda *given: started.append(given))
        return started[0], b"".join(body)

    def test_what_is_sent_of_a_request(self):
        client = FakeClient(ADMITTED)
        started, body = self.ask(client)
        self.assertEqual((started[0], body), ("200 OK", b"hello"))
        self.assertEqual(started[1], [("x-ratelimit-limit", "own"), ("RateLimit", '"api";r=2')])
        self.assertEqual(len(started), 3)  # exc_info is passed on
        [query] = client.asked
        self.assertEqual((query.method, query.path, query.ip), ("GET", "/shop/a%20b%FF%25?c=%ff", "192.0.2.1"))
        self.assertEqual(list(query.headers), [("X-Name", "jürgen"), ("Content-Type", "text/plain")])

    def test_the_address_of_a_unix_socket_is_local_and_none_is_a_denial(self):
        for said, ip in ("", "127.0.0.1"), ("<local>", "127.0.0.1"), ("fe80::1%eth0", "fe80::1"):
            client = FakeClient(ADMITTED)
            self.ask(client, {"REMOTE_ADDR": said})
            self.assertEqual(client.asked[0].ip, ip)
        client = FakeClient(ADMITTED)
        started, body = self.ask(client, {"REMOTE_ADDR": "someone"})
        self.assertEqual((started[0], body), ("429 Too Many Requests", b'{"status":429}'))
        self.assertIn("address", client.asked[0])

    def test_an_address_with_a_port_is_that_address_and_an_empty_one_is_missing(self):
        for said, ip in ("192.0.2.7:51234", "192.0.2.7"), ("[2001:db8::1]:9", "2001:db8::1"), ("[::1]", "::1"):
            client = FakeClient(ADMITTED)
            self.ask(client, {"REMOTE_ADDR": said})
            self.assertEqual(client.asked[0].ip, ip)
        for ip in None, "":
            client = FakeClient(ADMITTED)
            started, _ = self.ask(client, query=lambda _, query: dataclasses.replace(query, ip=ip))
            self.assertEqual(started[0], "429 Too Many Requests")
            self.assertIn("address", client.asked[0])

    def test_a_server_is_known_to_drop_underscores_by_its_name_and_version(self):
        for software, passes in {"gunicorn/22.0.0": True, "gunicorn/21.2.0": False, "waitress": True,
                                 "Werkzeug/2.3.0": True, "Werkzeug/2.2.3": False, "WSGIServer/0.2": False,
                                 "Cheroot/11.1.2 Server": False, "gunicornish/30.0": False, "": False}.items():
            started, _ = self.ask(FakeClient(ADMITTED), {"SERVER_SOFTWARE": software})
            self.assertEqual(started[0].startswith("200"), passes, software)
        for said, passes in (True, True), (False, False):
            started, _ = self.ask(FakeClient(ADMITTED), drops_underscores=said)
            self.assertEqual(started[0].startswith("200"), passes)

    def test_a_comma_is_two_headers_but_for_those_that_have_it_anyway(self):
        client = FakeClient(ADMITTED)
        self.ask(client, {"HTTP_X_NAME": "a, b", "HTTP_USER_AGENT": "Mozilla (like, so)",
                          "HTTP_X_FORWARDED_FOR": "a,b"})
        sent = [pair for pair in client.asked[0].headers if pair[0] != "Content-Type"]
        self.assertEqual(sent, [("X-Name", "a"), ("X-Name", "b"), ("User-Agent", "Mozilla (like, so)"),
                                ("X-Forwarded-For", "a,b")])


class Asgi(unittest.TestCase):
    def ask(self, client, scope, **options):
        """Returns what is sent, with an app that answers both kinds."""
        sent = []

        async def app(scope, receive, send):
            if scope["type"] == "lifespan":
                await send({"type": "lifespan.startup.complete"})
            elif scope["type"] == "websocket":
                await send({"type": "websocket.accept"})
            else:
                await send({"type": "http.response.start", "status": 200, "headers": [(b"X-RateLimit-Limit", b"own")]})
                await send({"type": "http.response.body", "body": b"hello"})

        async def receive():
            return {"type": "websocket.connect"}

        async def send(message):
            sent.append(message)

        asyncio.run(weir.AsgiMiddleware(app, client, **options)(scope, receive, send))
        return sent

    def scope(self, **more):
        return {"type": "http", "method": "GET", "path": "/a b\ufffd", "query_string": b"c=\xff", "headers": [
            (b"x-name", "jürgen".encode()), (b"x-name", b"\xff")], "client": ("192.0.2.1", 9),
            "server": ("192.0.2.2", 80), **more}

    def test_what_is_sent_of_a_request(self):
        client = FakeAsyncClient(ADMITTED)
        sent = self.ask(client, self.scope())
        self.assertEqual(sent[0]["headers"], [(b"X-RateLimit-Limit", b"own"), (b"ratelimit", b'"api";r=2')])
        [query] = client.asked
        self.assertEqual((query.path, query.ip), ("/a%20b%EF%BF%BD?c=\ufffd", "192.0.2.1"))
        self.assertEqual(list(query.headers), [("x-name", "jürgen"), ("x-name", "\ufffd")])

    def test_websockets_are_evaluated_too(self):
        websocket = self.scope(type="websocket")
        del websocket["method"]
        [accepted] = self.ask(FakeAsyncClient(ADMITTED), websocket)
        self.assertIn((b"ratelimit", b'"api";r=2'), accepted["headers"])
        [closed] = self.ask(FakeAsyncClient(DENIED), websocket)
        self.assertEqual(closed["type"], "websocket.close")
        sent = self.ask(FakeAsyncClient(DENIED), {**websocket, "extensions": {"websocket.http.response": {}}})
        self.assertEqual([message["type"] for message in sent],
                         ["websocket.http.response.start", "websocket.http.response.body"])
        self.assertEqual((sent[0]["status"], sent[1]["body"]), (429, b'{"status":429}'))

    def test_what_is_no_request_passes(self):
        client = FakeAsyncClient(DENIED)
        self.assertEqual(self.ask(client, {"type": "lifespan"}), [{"type": "lifespan.startup.complete"}])
        self.assertEqual(client.asked, [])

    def test_a_client_that_hung_up_before_its_address_was_read_is_denied(self):
        client = FakeAsyncClient(ADMITTED)
        self.assertEqual(self.ask(client, self.scope(client=None))[0]["status"], 429)
        self.assertIn("address", client.asked[0])
        for client_of, server in (None, ("/run/app.sock", None)), (("", 0), ("/run/app.sock", None)):
            client = FakeAsyncClient(ADMITTED)
            self.ask(client, self.scope(client=client_of, server=server))
            self.assertEqual(client.asked[0].ip, "127.0.0.1")

    def test_uvicorn_says_that_it_is_at_a_unix_socket(self):
        import uvicorn

        client = FakeAsyncClient(ADMITTED)

        async def app(scope, receive, send):
            await send({"type": "http.response.start", "status": 204, "headers": []})
            await send({"type": "http.response.body"})

        with tempfile.TemporaryDirectory() as folder:
            config = uvicorn.Config(weir.AsgiMiddleware(app, client), uds=f"{folder}/app", log_level="critical",
                                    lifespan="off")
            server = uvicorn.Server(config)
            thread = threading.Thread(target=server.run, daemon=True)
            thread.start()
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(PATIENCE)
                self.connect(connection, f"{folder}/app", thread)
                connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                self.assertIn(b" 204 ", connection.recv(1000))
            server.should_exit = True
            thread.join(PATIENCE)
        self.assertEqual(client.asked[0].ip, "127.0.0.1")

    def connect(self, connection, path, thread):
        while True:
            try:
                return connection.connect(path)
            except (FileNotFoundError, ConnectionRefusedError):
                self.assertTrue(thread.is_alive(), "uvicorn ended")
                thread.join(0.01)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
