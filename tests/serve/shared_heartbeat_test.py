"""Nodes on one Redis count each other, report differing nodes, and divide what Envoys enforce."""

import json
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

import rls_client
from redis_servers import Cluster, Redis
from rls_client import DATA, END_HEADERS, HEADERS, SETTINGS, field, fields, frame
from server import PATIENCE, PROGRAM, Server, eventually
from shared_nodes import CheckClient, Nodes, is_connected, metric, store

POLICY = """
version: 1
limits:
  - {name: api, consumer_key: user, algorithm: token_bucket, rate: 1/day, burst: 100, on_store_failure: local}
"""
OTHER = POLICY.replace("burst: 100", "burst: 101")


def status(node):
    return json.loads(node.ask("GET", "/v1/status", listener="admin")[2])


def await_count(nodes, count):
    for node in nodes:
        eventually(lambda: metric(node, "weir_nodes") == count and len(status(node)["store"]["heartbeats"]) == count,
                   f"a count of {count}")


def victim(test, urls):
    """A node that will be killed."""
    node = Server(POLICY, store(urls, timeout="10s"), test.enterContext(tempfile.TemporaryDirectory()))
    test.addCleanup(node.kill)
    return node


class Counting(unittest.TestCase):
    def setUp(self):
        self.redis = self.enterContext(Redis())

    def test_one_that_is_killed_is_missed_and_one_that_stops_says_so(self):
        nodes = self.enterContext(Nodes(POLICY, [self.redis.url], count=2))
        third = victim(self, [self.redis.url])
        await_count([*nodes, third], 3)
        third.kill()
        killed = time.monotonic()
        await_count(nodes, 2)
        self.assertGreater(time.monotonic() - killed, 2, "three missed beats are more than two seconds")
        self.assertLess(time.monotonic() - killed, PATIENCE / 2)
        nodes[1].stop()
        stopped = time.monotonic()
        await_count(nodes[:1], 1)
        self.assertLess(time.monotonic() - stopped, 3, "sooner than one that is only silent")
        self.assertEqual(metric(nodes[0], "weir_store_errors_total"), 0)
        self.assertGreater(metric(nodes[0], "weir_heartbeats_total", outcome="sent"), 3)

    def test_a_node_with_another_policy_is_told_apart(self):
        config = store([self.redis.url], timeout="10s", node_name="web-1")
        one = self.enterContext(Server(POLICY, config))
        other = self.enterContext(Server(OTHER, config.replace("web-1", "web-2")))
        await_count([one, other], 2)
        for node, name, peer in [(one, "web-1", "web-2"), (other, "web-2", "web-1")]:
            eventually(lambda: metric(node, "weir_nodes_with_other_policy") == 1, "a node that differs")
            told = {beat["name"]: beat for beat in status(node)["store"]["heartbeats"]}
            self.assertEqual({beat["name"] for beat in told.values() if beat["self"]}, {name})
            self.assertEqual({beat["name"] for beat in told.values() if beat["differs"]}, {peer})
            self.assertEqual(told[name]["policy"], status(node)["policy"]["digest"])
            self.assertEqual({beat["version"] for beat in told.values()}, {status(node)["version"]})
            self.assertLess(max(beat["last_seen_ago"] for beat in told.values()), 5)
        shown = subprocess.run([PROGRAM, "status", "--admin", "{}:{}".format(*one.admin)], text=True, check=True,
                               capture_output=True, timeout=PATIENCE).stdout
        self.assertRegex(shown, r"(?m)^nodes      2 nodes$")
        self.assertRegex(shown, r"(?m)^           web-1, version \S+, last seen \d+\.\d s ago, this node$")
        digest = status(other)["policy"]["digest"]
        self.assertRegex(shown, rf"(?m)^           web-2, .* s ago, different policy: digest {digest}$")

        other.policy_file.write_text(POLICY)
        other.signal(signal.SIGHUP)
        for node in one, other:
            eventually(lambda: metric(node, "weir_nodes_with_other_policy") == 0, "nodes that agree")

    def test_nodes_of_one_name_are_several_and_other_prefixes_are_others(self):
        nodes = self.enterContext(Nodes(POLICY, [self.redis.url], count=2, node_name="web"))
        apart = self.enterContext(Nodes(POLICY, [self.redis.url], count=1, prefix="other:"))
        await_count(nodes, 2)
        await_count(apart, 1)

    def test_without_a_name_it_is_the_host_and_a_random_part(self):
        nodes = self.enterContext(Nodes(POLICY, [self.redis.url], count=2))
        await_count(nodes, 2)
        names = {beat["name"] for beat in status(nodes[0])["store"]["heartbeats"]}
        self.assertEqual(len(names), 2)
        self.assertEqual(len({name.rpartition("-")[0] for name in names}), 1)


class Failures(unittest.TestCase):
    def setUp(self):
        self.redis = self.enterContext(Redis())

    def test_while_redis_stands_still_the_count_does_too(self):
        nodes = self.enterContext(Nodes(POLICY, [self.redis.url], count=2, timeout="50ms"))
        await_count(nodes, 2)
        client = CheckClient(nodes[0])
        self.addCleanup(client.close)
        self.redis.pause()
        failed = metric(nodes[0], "weir_heartbeats_total", outcome="failed")
        eventually(lambda: metric(nodes[0], "weir_heartbeats_total", outcome="failed") >= failed + 5, "beats that fail")
        self.assertEqual([metric(node, "weir_nodes") for node in nodes], [2, 2])
        self.assertTrue(client.ask("/", "alice")["admitted"], "by this node's share")
        self.assertGreater(metric(nodes[0], "weir_store_decisions_total", path="local"), 0)
        self.redis.resume()
        nodes.await_connected()
        sent = metric(nodes[0], "weir_heartbeats_total", outcome="sent")
        counts = set()

        def has_beaten():
            counts.add(metric(nodes[0], "weir_nodes"))
            return metric(nodes[0], "weir_heartbeats_total", outcome="sent") >= sent + 3

        eventually(has_beaten, "beats after the outage")
        self.assertEqual(counts, {2}, "who was back first does not take itself for the only one")

    def test_a_user_without_the_rights_decides_and_does_not_count(self):
        """A node of an earlier version."""
        self.redis.ask("ACL", "SETUSER", "default", "-hset")
        with Server(POLICY, store([self.redis.url], timeout="10s", nodes=7)) as node:
            eventually(lambda: is_connected(node), "a connection")
            node.await_log("heartbeat failed, nodes are not counted:")
            self.assertIn("docs/shared-store.md lists the required permissions", node.log)
            self.assertEqual(metric(node, "weir_nodes"), 7)
            client = CheckClient(node)
            self.addCleanup(client.close)
            self.assertEqual(client.ask("/", "alice")["remaining"], 99)
            self.assertEqual(metric(node, "weir_store_errors_total"), 0)
            self.assertEqual(metric(node, "weir_store_decisions_total", path="shared"), 1)


class QuotaStream:
    """Acts like an Envoy: reports one bucket, and receives assignments."""

    PATH = "/envoy.service.rate_limit_quota.v3.RateLimitQuotaService/StreamRateLimitQuotas"

    def __init__(self, node):
        self._client = rls_client.connect(node.rls, PATIENCE)
        bucket = field(1, field(1, "path") + field(2, "/api")) + field(1, field(1, "user") + field(2, "alice"))
        self._report = field(2, field(1, bucket) + field(2, field(1, 5)) + field(3, 1))
        self._client.connection.sendall(frame(HEADERS, END_HEADERS, 1, rls_client.head(self.PATH)))
        self._send(field(1, "weir") + self._report)

    def _send(self, message):
        self._client.connection.sendall(frame(DATA, 0, 1, b"\x00" + struct.pack(">I", len(message)) + message))

    def rate(self):
        """Returns the rate of the next assignment, in tokens per second; 0 if all is denied."""
        while True:
            kind, flags, _, payload = self._client.read_frame()
            if kind == SETTINGS and not flags & rls_client.ACK:
                self._client.connection.sendall(frame(SETTINGS, rls_client.ACK))
            if kind != DATA or len(payload) <= 5:
                continue
            strategy = fields(fields(fields(payload[5:])[1][0])[2][0])[3][0]
            bucket = fields(strategy).get(3)
            if bucket is None:
                return 0
            numbers = fields(bucket[0])
            return fields(numbers[2][0])[1][0] / fields(numbers[3][0])[1][0]

    def await_rate(self, least, most):
        """Reports and receives assignments until it may admit this much."""
        eventually(lambda: self._send(self._report) or least <= self.rate() <= most, f"{least} to {most} a second")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._client.connection.close()


class Quotas(unittest.TestCase):
    POLICY = """
version: 1
limits:
  - {name: api, routes: [/api], consumer_key: user, algorithm: token_bucket, rate: 1000/s, burst: 1000}
"""

    def test_nodes_divide_what_envoys_enforce(self):
        """An Envoy with a small demand gets half of its node's share."""
        redis = self.enterContext(Redis())
        one = self.enterContext(Nodes(self.POLICY, [redis.url], count=1))
        await_count(one, 1)
        envoy = self.enterContext(QuotaStream(one[0]))
        envoy.await_rate(400, 600)
        with Nodes(self.POLICY, [redis.url], count=1) as other:
            await_count([*one, *other], 2)
            envoy.await_rate(200, 300)
            with QuotaStream(other[0]) as its_envoy:
                its_envoy.await_rate(200, 300)
        await_count(one, 1)
        envoy.await_rate(400, 600)


class InACluster(unittest.TestCase):
    def test_nodes_count_each_other(self):
        cluster = self.enterContext(Cluster())
        nodes = self.enterContext(Nodes(POLICY, cluster.urls[:2], count=2, servers=3))
        third = victim(self, cluster.urls[2:4])
        await_count([*nodes, third], 3)
        third.kill()
        await_count(nodes, 2)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
