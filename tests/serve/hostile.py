"""Helpers of hostile clients, and a test that a server is healthy after them."""

import json
import resource
import select
import unittest

import resp_client
import rls_client
import server
from server import PROGRAM, Server, eventually

POLICY = """
version: 1
limits:
  - {name: api, consumer_key: user, algorithm: token_bucket, rate: 1000000/s, burst: 1000000}
"""
LISTENERS = ["http", "rls", "resp", "admin"]
FILES = 8_192
GROWTH = (1024 if "asan" in PROGRAM or "tsan" in PROGRAM else 96) << 20  # the bytes that a test may add


def raise_file_limit():
    """Sets the limit for this process and for the server that it starts."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES if hard == resource.RLIM_INFINITY else min(FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def pour(connection, bytes_, times):
    """Sends without reading. Returns how it ended: everything was `taken` (which a server does for a moment after its
    last response), the server `closed`, or it `stopped` reading."""
    connection.setblocking(False)
    unsent = b""
    while times > 0 or unsent:
        if not unsent:
            unsent, times = bytes_, times - 1
        try:
            unsent = unsent[connection.send(unsent):]
        except BlockingIOError:
            if not select.select([], [connection], [], 0.5)[1]:
                return "stopped"
        except OSError:
            return "closed"
    return "taken"


def read_to_end(connection):
    """Reads everything until the server closes; a reset counts as an end."""
    connection.settimeout(server.PATIENCE)
    said = b""
    try:
        while more := connection.recv(65536):
            said += more
    except ConnectionError:
        pass
    return said


class HostileTest(unittest.TestCase):
    """One server for the tests of a class: after each test it must be in its initial state."""

    policy = POLICY

    @classmethod
    def setUpClass(cls):
        raise_file_limit()
        cls.server = cls.enterClassContext(Server(cls.policy))

    def setUp(self):
        self.opened = []
        self.assert_answers()
        eventually(lambda: self.connections() == 0, "an empty house")
        self.files = self.server.open_files
        self.memory = self.server.resident

    def tearDown(self):
        for connection in self.opened:
            connection.close()
        self.assert_answers()
        eventually(lambda: self.server.open_files <= self.files, f"{self.files} open files again")
        grown = self.server.resident - self.memory
        self.assertLess(grown, GROWTH, f"it holds {grown >> 20} MiB more than before")
        page = self.server.ask("GET", "/metrics", listener="admin")[2]
        self.assertNotRegex(page, r'(?m)^weir_connections_total\{.*outcome="faulted"\} [1-9]')
        self.assertIsNone(self.server.process.poll())

    def assert_answers(self):
        """Sends valid requests to every listener."""
        status, _, body = self.server.ask("POST", "/v1/check", json.dumps({"path": "/", "user": "good"}))
        self.assertEqual((status, json.loads(body)["limit"]), (200, "api"))
        self.assertEqual(self.server.ask("GET", "/readyz", listener="admin")[0], 200)
        with rls_client.connect(self.server.rls, server.PATIENCE) as client:
            self.assertTrue(client.ask({"path": "/", "user": "good"}).admitted)
        with resp_client.connect(self.server.resp, server.PATIENCE) as client:
            self.assertEqual(client.ask("WEIR.CHECK", "api", "good")[0], 0)

    def connections(self):
        """Returns the connections of all listeners, except that of this request."""
        listeners = json.loads(self.server.ask("GET", "/v1/status", listener="admin")[2])["listeners"]
        return sum(listener["connections"] for listener in listeners) - 1

    def connect(self, listener):
        """Registers it to be closed at the end of the test."""
        connection = self.server.connect(listener)
        self.opened.append(connection)
        return connection

    def said_to(self, listener, bytes_):
        """Returns everything that the server sends before it closes the connection."""
        with self.server.connect(listener) as connection:
            try:
                connection.sendall(bytes_)
            except ConnectionError:  # the server stopped reading
                pass
            return read_to_end(connection)
