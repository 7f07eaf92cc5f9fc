"""Concurrency limits on real servers: one alone, and two that share a Redis."""

import json
import os
import pathlib
import re
import secrets
import subprocess
import sys
import tempfile
import time
import unittest

import server
from redis_servers import Redis
from server import LISTENERS, PROGRAM, Server, eventually

LEASE = 3
POLICY = """
version: 1
limits:
  - {{ name: running, routes: [POST /jobs], consumer_key: user, algorithm: concurrency, limit: 5, lease: {lease}s }}
"""

# Holds a unit until it is killed.
HOLDER = """
import http.client, json, sys, time
connection = http.client.HTTPConnection(sys.argv[1], int(sys.argv[2]))
connection.request("POST", "/v1/check", json.dumps({"method": "POST", "path": "/jobs", "user": "alice", "reserve": True}))
print(connection.getresponse().status, flush=True)
time.sleep(3600)
"""


class ConcurrencyTest(unittest.TestCase):
    def start(self, lease, config=LISTENERS):
        return self.enterContext(Server(POLICY.format(lease=lease), config))

    def hold(self, weir, user="alice"):
        """Requests a unit. Returns (status, headers, body)."""
        status, headers, body = weir.ask(
            "POST", "/v1/check", json.dumps({"method": "POST", "path": "/jobs", "user": user, "reserve": True}))
        return status, headers, json.loads(body)

    def use(self, weir, receipt, verb):
        status, _, body = weir.ask("POST", "/v1/" + verb, json.dumps({"receipt": receipt}))
        self.assertEqual(status, 200, body)
        return [limit["result"] for limit in json.loads(body)["limits"]]

    def fill(self, weir):
        """Returns the receipts of five holds."""
        held = [self.hold(weir) for _ in range(5)]
        self.assertEqual([status for status, _, _ in held], [200] * 5)
        return [body["receipt"] for _, _, body in held]

    def peek(self, weir):
        status, _, body = weir.ask("GET", "/v1/limits/running/consumers/user=alice", listener="admin")
        self.assertEqual(status, 200, body)
        return json.loads(body)

    def weir(self, weir, *arguments):
        host, port = weir.admin
        done = subprocess.run([PROGRAM, *arguments, "--admin", f"{host}:{port}"], capture_output=True, text=True,
                              timeout=server.PATIENCE, check=True,
                              env={"PATH": os.environ["PATH"], "STATE_DIRECTORY": str(weir.state_dir)})
        return done.stdout

    def start_holder(self, weir):
        host, port = weir.http
        holder = subprocess.Popen([sys.executable, "-c", HOLDER, host, str(port)], stdout=subprocess.PIPE, text=True)
        self.addCleanup(holder.stdout.close)
        self.addCleanup(holder.wait)
        self.addCleanup(holder.kill)
        self.assertEqual(holder.stdout.readline(), "200\n")
        return holder


class Alone(ConcurrencyTest):
    def test_five_at_once_and_one_more_when_one_is_released(self):
        weir = self.start(lease=60)
        receipts = self.fill(weir)
        status, headers, body = self.hold(weir)
        self.assertEqual((status, headers["RateLimit-Policy"], headers["RateLimit"]),
                         (429, '"running";q=5;qu="concurrent-requests"', '"running";r=0'))
        self.assertEqual((headers["X-RateLimit-Limit"], headers["X-RateLimit-Remaining"]), ("5", "0"))
        self.assertIsNone(headers["X-RateLimit-Reset"])
        self.assertIn(int(headers["Retry-After"]), range(1, 62))
        self.assertEqual(self.hold(weir, "bob")[0], 200)
        self.assertEqual(self.use(weir, receipts[2], "release"), ["done"])
        self.assertEqual(self.use(weir, receipts[2], "release"), ["ended"])
        self.assertEqual([self.hold(weir)[0] for _ in range(2)], [200, 429])

    def test_without_a_receipt_it_is_denied(self):
        weir = self.start(lease=60)
        status, _, body = weir.ask("POST", "/v1/check", '{"method": "POST", "path": "/jobs", "user": "alice"}')
        self.assertEqual((status, json.loads(body)["reason"]), (403, "needs_receipt"))

    def test_what_a_killed_holder_held_ends_with_its_lease(self):
        weir = self.start(LEASE)
        began = time.monotonic()
        holder = self.start_holder(weir)
        others = [self.hold(weir) for _ in range(4)]
        for _, _, body in others:
            self.assertEqual(self.use(weir, body["receipt"], "extend"), ["done"])
        holder.kill()
        told = self.peek(weir)
        self.assertEqual((told["algorithm"], told["used"], told["open"], told["open_units"]), ("concurrency", 5, 5, 5))
        self.assertLessEqual(told["receipts"][0]["expires_after"], LEASE)

        def is_let_in():
            for _, _, body in others:
                self.use(weir, body["receipt"], "extend")
            return self.hold(weir)[0] == 200

        eventually(is_let_in, "the end of the lease")
        self.assertGreaterEqual(time.monotonic() - began, LEASE)
        self.assertEqual(self.hold(weir)[0], 429)

    def test_peek_tells_what_is_held_and_reset_forgets_it(self):
        weir = self.start(lease=60)
        self.fill(weir)
        told = self.weir(weir, "peek", "running", "user=alice")
        self.assertRegex(told, r"running, user=alice, tier default: 0 of 5 left\n"
                               r"Next request allowed in at most [\d.]+ s \(exceeded\); full in at most [\d.]+ s\n"
                               r"5 units held by 5 open receipts:\n"
                               r"(  [0-9a-f]{16}  1 unit, expires in [\d.]+ s\n){5}")
        self.assertEqual(len(set(re.findall("[0-9a-f]{16}", told))), 5)
        self.weir(weir, "reset", "running", "user=alice")
        self.assertEqual((self.peek(weir)["open"], self.peek(weir)["remaining"]), (0, 5))
        self.fill(weir)

    def test_another_lease_keeps_what_is_held(self):
        weir = self.start(lease=60)
        receipts = self.fill(weir)
        weir.policy_file.write_text(POLICY.format(lease=600))
        eventually(lambda: "at most 10 min" in weir.ask("GET", "/v1/ruleset", listener="admin")[2], "reload")
        self.assertEqual(self.hold(weir)[0], 429)
        self.assertEqual(self.use(weir, receipts[0], "release"), ["done"])
        self.assertEqual(self.hold(weir)[0], 200)

    def test_holds_outlive_a_restart(self):
        config = LISTENERS + "state: {directory: state}\n"
        weir = self.start(600, config)
        receipts = self.fill(weir)
        weir.stop()
        again = self.enterContext(Server(None, config, weir.directory))
        self.assertEqual(self.hold(again)[0], 429)
        self.assertEqual(self.use(again, receipts[0], "release"), ["done"])
        self.assertEqual(self.hold(again)[0], 200)


class Shared(ConcurrencyTest):
    def start_node(self, redis, key):
        directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        keys = directory / "receipt-keys"
        keys.touch(mode=0o600)
        keys.write_text(key + "\n")
        config = (LISTENERS + f"store: {{ redis: {{ urls: {redis.url}, timeout: 10s }} }}\n"
                  "receipts: { key_file: receipt-keys }\n")
        weir = self.enterContext(Server(POLICY.format(lease=60), config, directory))
        eventually(lambda: "\nweir_store_connected 1\n" in weir.ask("GET", "/metrics", listener="admin")[2], "Redis")
        return weir

    def test_two_nodes_count_together_and_either_releases(self):
        redis = self.enterContext(Redis())
        key = secrets.token_hex(32)
        nodes = [self.start_node(redis, key) for _ in range(2)]
        held = [self.hold(nodes[i % 2]) for i in range(5)]
        self.assertEqual([status for status, _, _ in held], [200] * 5)
        self.assertEqual([self.hold(node)[0] for node in nodes], [429, 429])
        for node in nodes:
            told = self.peek(node)
            self.assertEqual((told["used"], told["open"], told["remaining"]), (5, 5, 0))
        self.assertEqual(self.use(nodes[1], held[0][2]["receipt"], "release"), ["done"])
        self.assertEqual([self.hold(node)[0] for node in nodes], [200, 429])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
