"""Mixed traffic at every listener while the policy changes every second: no wrong answer, no growth, a clean end.

WEIR_SOAK_SECONDS sets the duration; the program may be a build with sanitizers.
"""

import collections
import contextlib
import http.client
import itertools
import json
import os
import random
import re
import signal
import sys
import threading
import time
import unittest

import resp_client
import rls_client
import server
from server import LISTENERS, PROGRAM, Server

SECONDS = float(os.environ.get("WEIR_SOAK_SECONDS", "10"))
IS_SANITIZED = "asan" in PROGRAM or "tsan" in PROGRAM
GROWTH = (256 if IS_SANITIZED else 16) << 20
CONFIG = LISTENERS + "state: {directory: state, snapshot: {every: 1s}}\nlog: {denials: {per_second: 1000}}\n"
POLICY = """
version: 1
limits:
  - {name: bucket, routes: [/bucket], consumer_key: user, algorithm: token_bucket, rate: 5/s, burst: BURST}
  - {name: window, routes: [/window], consumer_key: user, algorithm: fixed_window, rate: BURST/s}
  - {name: log, routes: [/log], consumer_key: user, algorithm: sliding_window_log, rate: BURST/s}
  - {name: counter, routes: [/counter], consumer_key: user, algorithm: sliding_window_counter, rate: BURST/2s}
  - {name: queue, routes: [/queue], consumer_key: user, algorithm: leaky_bucket, rate: 50/s, queue: BURST}
  - {name: all, consumer_key: global, algorithm: gcra, rate: 100000/s, burst: 100000}
"""
ROUTES = ["bucket", "window", "log", "counter", "queue"]
POLICIES = [POLICY.replace("BURST", "20"), POLICY.replace("BURST", "10"), "version: 1\nlimits: none of these\n",
            POLICY.replace("BURST", "10").replace("name: log,", "name: another-log,")]


class Traffic:
    """Threads, one for each kind of client, until the time has passed or one of them finds an error."""

    def __init__(self, weir):
        self.weir = weir
        self.over = threading.Event()
        self.counts = collections.Counter()
        self.errors = []

    def one(self):
        """Returns a route and a user. There are few of them, so that some requests are denied."""
        return random.choice(ROUTES), f"user-{random.randrange(30)}"

    def run(self, client):
        try:
            while not self.over.is_set():
                with contextlib.closing(client()) as outcomes:
                    for outcome in itertools.islice(outcomes, 500):  # continues on a new connection
                        self.counts[client.__name__, outcome] += 1
                        if self.over.is_set():
                            return
        except Exception as error:  # any error: the test reports it
            self.errors.append(f"{client.__name__}: {type(error).__name__}: {error}")
            self.over.set()

    @contextlib.contextmanager
    def http(self, listener="http"):
        connection = http.client.HTTPConnection(*getattr(self.weir, listener), timeout=server.PATIENCE)
        try:
            yield connection
        finally:
            connection.close()

    def ask(self, connection, method, path, *more, expected=(200, 429)):
        connection.request(method, path, *more)
        answer = connection.getresponse()
        body = answer.read()
        if answer.status not in expected:
            raise AssertionError(f"{path}: {answer.status} {body!r}")
        return answer.status, body

    def check(self):
        with self.http() as connection:
            while True:
                route, user = self.one()
                query = json.dumps({"path": "/" + route, "user": user})
                status, body = self.ask(connection, "POST", "/v1/check", query)
                if json.loads(body)["admitted"] != (status == 200):
                    raise AssertionError(f"{status} {body}")
                yield status == 200

    def batch(self):
        with self.http() as connection:
            while True:
                queries = [{"path": "/" + route, "user": user} for route, user in (self.one() for _ in range(50))]
                told = json.loads(self.ask(connection, "POST", "/v1/check", json.dumps(queries), expected=[200])[1])
                if len(told) != 50:
                    raise AssertionError(f"{len(told)} answers of 50")
                yield told[0]["admitted"]

    def auth(self):
        with self.http() as connection:
            while True:
                route, user = self.one()
                headers = {"X-Original-URI": "/" + route, "X-Original-Method": "GET", "X-User-Id": user}
                yield self.ask(connection, "GET", "/v1/auth", None, headers)[0] == 200

    def rls(self):
        with rls_client.connect(self.weir.rls, server.PATIENCE) as client:
            while True:
                route, user = self.one()
                yield client.ask({"path": "/" + route, "user": user}).admitted

    def resp(self):
        with resp_client.connect(self.weir.resp, server.PATIENCE) as client:
            while True:
                user = self.one()[1]
                client.connection.sendall(resp_client.command("WEIR.CHECK", "bucket", user) * 10 +
                                          resp_client.command("CL.THROTTLE", user, 9, 50, 1) * 10)
                for reply in [client.receive() for _ in range(20)]:
                    yield reply[0] == 0

    def admin(self):
        with self.http("admin") as connection:
            while True:
                for path in "/metrics", "/v1/status", "/v1/ruleset", "/v1/denied", "/v1/limits/bucket/consumers/user-1":
                    self.ask(connection, "GET", path, expected=[200])
                    yield True

    def churn(self):
        """Connects, sends an incomplete request, and disconnects."""
        while True:
            with self.weir.connect(random.choice(["http", "rls", "resp", "admin"])) as connection:
                connection.sendall(b"GET /v1/check HT")
            yield True


class Soak(unittest.TestCase):
    def change_policy(self, number):
        fresh = self.weir.policy_file.with_suffix(".new")
        fresh.write_text(POLICIES[number % len(POLICIES)])
        fresh.replace(self.weir.policy_file)
        if number % len(POLICIES) in (1, 2):
            self.weir.signal(signal.SIGHUP)  # otherwise it may detect the file by itself before the next one exists

    def watch(self, traffic):
        """Runs until the time has passed. Returns the memory in use after the warm-up, and at the end."""
        began = time.monotonic()
        warm = None
        for number in itertools.count():
            if traffic.over.wait(1):
                break
            self.change_policy(number)
            passed = time.monotonic() - began
            if warm is None and passed >= SECONDS / 2:
                warm = self.weir.resident
            if passed >= SECONDS:
                break
        return warm, self.weir.resident

    def test_everything_at_once(self):
        with Server(POLICIES[0], CONFIG) as self.weir:
            traffic = Traffic(self.weir)
            clients = [traffic.check, traffic.batch, traffic.auth, traffic.rls, traffic.resp, traffic.admin,
                       traffic.churn]
            threads = [threading.Thread(target=traffic.run, args=[client]) for client in clients]
            for thread in threads:
                thread.start()
            try:
                warm, final = self.watch(traffic)
            finally:
                traffic.over.set()
                for thread in threads:
                    thread.join(server.PATIENCE)
            self.assertEqual(traffic.errors, [])
            page = self.weir.ask("GET", "/metrics", listener="admin")[2]
            reloads = dict(re.findall(r'(?m)^weir_reloads_total\{outcome="(\w+)"\} (\d+)', page))
            self.assertEqual(self.weir.stop(), 0)
            log = self.weir.log
        for listener in "check", "batch", "auth", "rls", "resp":
            for outcome in True, False:
                self.assertGreater(traffic.counts[listener, outcome], 0, (listener, outcome, traffic.counts))
        self.assertGreater(traffic.counts["admin", True], 0)
        self.assertGreater(int(reloads["applied"]), 1)
        self.assertGreater(int(reloads["rejected"]), 0)
        self.assertNotRegex(page, r'(?m)^weir_connections_total\{.*outcome="faulted"\} [1-9]')
        self.assertNotRegex(log, r"Sanitizer|runtime error:")
        self.assertLess(final - warm, GROWTH, f"grew from {warm >> 20} to {final >> 20} MiB")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
