"""Sentinels replace a master while four nodes use it: no request waits, and the limit is exact again afterwards."""

import collections
import sys
import unittest

from redis_servers import Redis, Sentinels
from server import eventually
from shared_nodes import CheckClient, Load, Nodes, decisions, metric

POLICY = """
version: 1
limits:
  - {name: kept, routes: [/kept], consumer_key: user, algorithm: token_bucket, rate: 1/h, burst: 50000}
  - {name: strict, routes: [/strict], consumer_key: user, algorithm: sliding_window_log, rate: 50000/365day,
     on_store_failure: closed}
  - {name: lax, routes: [/lax], consumer_key: user, algorithm: fixed_window, rate: 50000/365day, on_store_failure: open}
"""
PATHS = ["/kept", "/strict", "/lax"]
USERS = [f"user-{number}" for number in range(5)]
SLOWEST = 1.0  # seconds: a hundred times the budget, for busy machines; a failover takes longer


class Failover(unittest.TestCase):
    def setUp(self):
        self.master = self.enterContext(Redis())
        self.replica = self.enterContext(Redis(replica_of=self.master))
        self.replica.await_replica()
        self.sentinels = self.enterContext(Sentinels(self.master))
        self.nodes = self.enterContext(Nodes(POLICY, self.sentinels.urls, timeout="10ms",
                                             sentinel={"master": self.sentinels.name}))

    @staticmethod
    def ask(client, turn):
        path = PATHS[turn % 3]
        return path, client.ask(path, USERS[turn % 5])

    def await_shared_again(self, load):
        """Every node has contacted the new master and returns its answers."""
        self.nodes.await_connected()
        before = [metric(node, "weir_store_decisions_total", path="shared") for node in self.nodes]
        load.await_round()
        for node, count in zip(self.nodes, before):
            eventually(lambda: metric(node, "weir_store_decisions_total", path="shared") > count, "shared decisions")

    def fail_over(self, begin):
        """Runs under load, from before the failover until after it."""
        with Load(self.nodes, self.ask) as load:
            load.await_round(5)
            begin()
            load.await_round(5)
            self.sentinels.await_master(self.replica)
            self.await_shared_again(load)
            load.await_round(5)
        return load

    def assert_decisions_went_on(self, load):
        """Each answer was a verdict (otherwise its client would have failed), and in time; without the store, by the
        outage rules."""
        self.assertLess(load.slowest, SLOWEST)
        told = collections.Counter((path, verdict["admitted"]) for _, _, (path, verdict) in load.all())
        self.assertEqual((told["/kept", False], told["/lax", False]), (0, 0))
        self.assertGreater(told["/strict", True], 0)
        self.assertGreater(decisions(self.nodes, "local"), 0)
        self.assertGreater(decisions(self.nodes, "open"), 0)
        self.assertEqual(decisions(self.nodes, "closed"), told["/strict", False])

    def assert_one_truth_in(self, redis):
        """A new consumer is counted there, whichever node is asked."""
        clients = [CheckClient(node) for node in self.nodes]
        for client in clients:
            self.addCleanup(client.close)

        def left(user):
            return [client.ask("/strict", user, cost=7)["remaining"] for client in clients]

        users = iter(range(100))
        eventually(lambda: left(f"new-{next(users)}") == [49993, 49986, 49979, 49972], "nodes that count together")
        self.assertTrue(any("new-" in key for key in redis.ask("KEYS", "*")))

    def test_when_the_master_is_killed(self):
        load = self.fail_over(self.master.kill)
        self.assert_decisions_went_on(load)
        self.assertGreater(decisions(self.nodes, "closed"), 0)
        self.assert_one_truth_in(self.replica)

    def test_when_the_master_hangs(self):
        """The old master resumes when it is no longer the master: its late replies must have no effect."""
        load = self.fail_over(self.master.pause)
        self.assert_decisions_went_on(load)
        with Load(self.nodes, self.ask) as load:
            load.await_round()
            self.master.resume()
            eventually(lambda: self.master.role() == "slave", "a master that became a replica")
            load.await_round(5)
        self.assertLess(load.slowest, SLOWEST)
        self.assert_one_truth_in(self.replica)

    def test_when_it_is_ordered(self):
        load = self.fail_over(lambda: self.sentinels.ask("SENTINEL", "FAILOVER", self.sentinels.name))
        self.assertLess(load.slowest, SLOWEST)
        self.assert_one_truth_in(self.replica)
        eventually(lambda: self.master.role() == "slave", "a master that became a replica")

    def test_when_the_sentinels_go_first(self):
        """The master is known, so it is used as before."""
        for sentinel in self.sentinels.all:
            sentinel.kill()
        with Load(self.nodes, self.ask) as load:
            load.await_round(20)
        self.assertLess(load.slowest, SLOWEST)
        self.assert_one_truth_in(self.master)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
