"""Nodes are restarted while clients keep sending: nothing beyond the limit is admitted while Redis answers, and a Redis
that does not answer delays the start only for a bounded time."""

import contextlib
import http.client
import json
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from redis_servers import Cluster, Redis, Sentinels, free_port
from server import PATIENCE, PROGRAM, Server, eventually

LIMIT = 10
RATE = f"consumer_key: user, algorithm: token_bucket, rate: {LIMIT}/day"
POLICY = f"""
version: 1
limits:
  - {{name: local, routes: [/local], {RATE}}}
  - {{name: closed, routes: [/closed], on_store_failure: closed, {RATE}}}
"""


class Node:
    """A server on fixed ports, so that clients can call it before it reports that it serves. It keeps its directory."""

    def __init__(self, policy, urls, **settings):
        self._temporary = tempfile.TemporaryDirectory()
        self.directory = pathlib.Path(self._temporary.name)
        self.http, self.admin = free_port(), free_port()
        self.policy = policy
        self.server = None
        self.config = self.configured(urls, **settings)

    def configured(self, urls, **settings):
        redis = {"urls": urls, "timeout": "10s", **settings}
        return (f'version: 1\npolicy: policy.yaml\nloops: 2\nlisteners:\n  http: {{listen: "127.0.0.1:{self.http}"}}\n'
                f'  admin: {{listen: "127.0.0.1:{self.admin}"}}\n  rls: off\n  resp: off\n'
                f'store: {json.dumps({"redis": redis})}\n')

    def start(self):
        self.server = Server(self.policy, self.config, self.directory)
        return self.server

    def restart(self):
        if self.server.stop() != 0:
            raise AssertionError(self.server.log)
        self.start()

    def kill_and_start(self):
        self.server.kill()
        self.start()

    def status(self, port, path="/readyz"):
        """Returns None while nothing listens."""
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
            with contextlib.closing(connection):
                connection.request("GET", path)
                return connection.getresponse().status
        except OSError:
            return None

    def check(self, path, user):
        """Returns the verdict; raises OSError or HTTPException while nothing listens."""
        connection = http.client.HTTPConnection("127.0.0.1", self.http, timeout=PATIENCE)
        with contextlib.closing(connection):
            connection.request("POST", "/v1/check", json.dumps({"path": path, "user": user}))
            answer = connection.getresponse()
            told = json.loads(answer.read())
        if answer.status != (200 if told["admitted"] else 429):
            raise AssertionError(f"{answer.status}: {told}")
        return told

    @property
    def log(self):
        return (self.directory / "log").read_text()

    def close(self):
        if self.server and self.server.process.poll() is None:
            self.server.kill()
        self._temporary.cleanup()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.close()


class Clients:
    """Clients that call a node repeatedly, each on its own connections, whether it listens or not; `admitted` counts.
    """

    def __init__(self, nodes, path, user="alice", per_node=3):
        self.admitted = self.asked = 0
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(node, path, user), daemon=True)
                         for node in nodes for _ in range(per_node)]

    def _run(self, node, path, user):
        while not self._over.is_set():
            try:
                told = node.check(path, user)
            except (OSError, http.client.HTTPException):
                time.sleep(0.001)
                continue
            with self._lock:
                self.asked += 1
                self.admitted += told["admitted"]

    def await_more(self, count=30):
        goal = self.asked + count
        eventually(lambda: self.asked >= goal, f"{count} more answers")

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        for thread in self._threads:
            thread.join(PATIENCE)


class Restarts(unittest.TestCase):
    """Redis is healthy all the time."""

    def assert_nothing_is_given_away(self, urls, restarts=6, **settings):
        with Node(POLICY, urls, **settings) as node, Clients([node], "/local") as clients:
            for _ in range(restarts):
                clients.await_more()
                node.restart()
            clients.await_more()
            self.assertEqual(clients.admitted, LIMIT)

    def test_of_a_node_admit_an_exact_limit_once(self):
        with Redis() as redis:
            self.assert_nothing_is_given_away([redis.url])

    def test_on_a_cluster_admit_it_once(self):
        with Cluster() as cluster:
            self.assert_nothing_is_given_away([cluster.replicas[0].url, cluster.masters[0].url])

    def test_under_sentinels_admit_it_once(self):
        with Redis() as master, Redis(replica_of=master) as replica, Sentinels(master) as sentinels:
            replica.await_replica()
            self.assert_nothing_is_given_away(sentinels.urls, sentinel={"master": sentinels.name})

    def test_of_two_nodes_under_load_never_admit_more_than_a_leased_limit(self):
        limit = 1000
        policy = f"""
version: 1
limits:
  - {{name: leased, routes: [/leased], consumer_key: user, algorithm: token_bucket, rate: {limit}/day,
      consistency: leased}}
"""
        with Redis() as redis, Node(policy, [redis.url]) as one, Node(policy, [redis.url]) as other, \
                Clients([one, other], "/leased") as clients:
            for turn in range(8):
                clients.await_more(60)
                node = [one, other][turn % 2]
                node.kill_and_start() if turn % 4 == 3 else node.restart()
            eventually(lambda: clients.asked >= 2 * limit, "more requests than the limit")
            self.assertLessEqual(clients.admitted, limit)
            self.assertGreater(clients.admitted, limit * 0.8)

    def test_after_a_reload_to_another_store_are_what_changes_the_store(self):
        with Redis() as redis, Redis() as another, Node(POLICY, [redis.url]) as node, \
                Clients([node], "/local") as clients:
            clients.await_more()
            self.assertEqual(clients.admitted, LIMIT)
            node.config = node.configured([another.url])
            node.server.config_file.write_text(node.config)
            node.server.await_log("restart required to apply changes to: store")
            clients.await_more(100)
            self.assertEqual(clients.admitted, LIMIT)
            node.restart()
            clients.await_more(100)
            self.assertEqual(clients.admitted, 2 * LIMIT)  # the other store has none of the first one's counters
            node.restart()
            clients.await_more()
            self.assertEqual(clients.admitted, 2 * LIMIT)

    def test_wait_for_a_redis_that_comes_within_the_bound(self):
        redis = self.enterContext(Redis())
        with Node(POLICY, [redis.url], startup_timeout=f"{PATIENCE}s") as node, Clients([node], "/local") as clients:
            clients.await_more()
            node.server.stop()
            redis.pause()
            starting = threading.Thread(target=node.start)
            starting.start()
            eventually(lambda: node.status(node.admin) == 503, "a node that says it is not ready")
            self.assertEqual(node.status(node.http), 503)
            self.assertEqual(node.status(node.http, "/healthz"), 200)
            before = clients.asked
            eventually(lambda: "connecting to the store" in node.log, "a line in the log")
            self.assertEqual(clients.asked, before)
            redis.resume()
            starting.join(PATIENCE)
            clients.await_more()
            self.assertEqual(node.status(node.http), 200)
            self.assertEqual(node.status(node.admin), 200)
            self.assertEqual(clients.admitted, LIMIT)


class Silent:
    """An address that accepts connections and never answers."""

    def __init__(self):
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = "redis://{}:{}".format(*self._socket.getsockname())

    def close(self):
        self._socket.close()


class Unavailable(unittest.TestCase):
    """Redis does not answer when a node starts."""

    BOUND = 1

    def assert_starts_without(self, url):
        node = Node(POLICY, [url], startup_timeout=f"{self.BOUND}s", nodes=2)
        self.addCleanup(node.close)
        began = time.monotonic()
        waited = []

        def ask_at_once():
            while True:
                try:
                    told = node.check("/local", "early")
                except (OSError, http.client.HTTPException):
                    continue
                return waited.append((time.monotonic() - began, told["admitted"]))

        early = threading.Thread(target=ask_at_once, daemon=True)
        early.start()
        node.start()
        took = time.monotonic() - began
        self.assertGreaterEqual(took, self.BOUND)
        self.assertLess(took, self.BOUND + PATIENCE / 6)
        early.join(PATIENCE)
        self.assertGreaterEqual(waited[0][0], self.BOUND)  # the outage rule did not decide it before
        self.assertTrue(waited[0][1])
        self.assertEqual(node.status(node.admin), 200)
        self.assertEqual(node.status(node.http), 200)
        self.assertEqual(sum(node.check("/local", "alice")["admitted"] for _ in range(2 * LIMIT)), LIMIT // 2)
        self.assertFalse(node.check("/closed", "alice")["admitted"])
        self.assertIn("store did not answer within 1 s", node.server.log)
        return node

    def test_that_is_down(self):
        redis = self.enterContext(Redis())
        redis.kill()
        node = self.assert_starts_without(redis.url)
        redis.restart()
        eventually(lambda: node.check("/closed", "bob")["admitted"], "a decision of Redis")

    def test_that_is_paused(self):
        redis = self.enterContext(Redis())
        redis.pause()
        node = self.assert_starts_without(redis.url)
        redis.resume()
        eventually(lambda: node.check("/closed", "bob")["admitted"], "a decision of Redis")

    def test_that_takes_connections_and_never_answers(self):
        silent = Silent()
        self.addCleanup(silent.close)
        self.assert_starts_without(silent.url)

    def test_and_a_node_that_is_told_to_stop_meanwhile_stops(self):
        silent = Silent()
        self.addCleanup(silent.close)
        node = Node(POLICY, [silent.url], startup_timeout="60s")
        self.addCleanup(node.close)
        (node.directory / "policy.yaml").write_text(node.policy)
        (node.directory / "weir.yaml").write_text(node.config)
        process = subprocess.Popen([PROGRAM, "serve", "--config", node.directory / "weir.yaml"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.kill)
        eventually(lambda: node.status(node.admin) == 503, "a node that is not ready")
        process.terminate()
        self.assertEqual(process.wait(PATIENCE), 0)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
