"""Approximate limits on four nodes: no request waits for Redis, and admissions stay within the stated bound."""

import contextlib
import sys
import time
import unittest

import consistency_table
import resp_client
from redis_servers import Redis
from server import PATIENCE, eventually
from shared_nodes import CheckClient, Nodes, all_at_once, decisions, metric

NODES = 4
CLIENTS = 64
LIMIT = 1000

ALGORITHMS = {
    "bucket": "token_bucket, rate: 1000/{}, burst: 1000",
    "gcra": "gcra, rate: 1000/{}, burst: 1000",
    "meter": "leaky_bucket, rate: 1000/{}, burst: 1000",
    "window": "fixed_window, rate: 1000/{}",
    "counter": "sliding_window_counter, rate: 1000/{}",
}


# Windows are compared with exact ones: with a demand that stalls, exact windows do not admit all of their limit either,
# and with a steady one a counter does not.
EXACT = {"window": "fixed_window", "counter": "sliding_window_counter"}
REFERENCE = "".join(f"  - {{name: exact-{name}, routes: [/exact-{name}], consumer_key: user, algorithm: {algorithm}, "
                    "rate: 1000/s}\n" for name, algorithm in EXACT.items())
ASKED = [*ALGORITHMS, *(f"exact-{name}" for name in EXACT)]
QUESTIONS = b"".join(resp_client.command("WEIR.CHECK", name, "user=alice") for name in ASKED)


def policy(per):
    return "version: 1\nlimits:\n" + "".join(
        f"  - {{name: {name}, routes: [/{name}], consumer_key: user, algorithm: {text.format(per)}, "
        "consistency: approximate}\n" for name, text in ALGORITHMS.items())


class Demand:
    """Sends twice each limit from 64 clients to all nodes, each on its own connection."""

    def __init__(self, nodes):
        self._stack = contextlib.ExitStack()
        self._clients = [self._stack.enter_context(resp_client.connect(nodes[number % NODES].resp, PATIENCE))
                         for number in range(CLIENTS)]
        self._began = time.monotonic()
        self._asked = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._stack.close()

    def run(self, seconds):
        """Returns how many of each limit were admitted per second."""
        admitted = dict.fromkeys(ASKED, 0)
        begin = time.monotonic()
        while (now := time.monotonic()) - begin < seconds:
            due = int((now - self._began) * 2 * LIMIT)
            while self._asked < due:
                turns = min(CLIENTS, due - self._asked)
                for turn in range(turns):
                    self._clients[(self._asked + turn) % CLIENTS].connection.sendall(QUESTIONS)
                for turn in range(turns):
                    for name in ASKED:
                        admitted[name] += self._clients[(self._asked + turn) % CLIENTS].receive()[0] == 0
                self._asked += turns
        took = time.monotonic() - begin
        return {name: count / took for name, count in admitted.items()}


class Steady(unittest.TestCase):
    def test_demand_of_twice_the_limit_is_held_within_one_percent(self):
        """The machine may be busy: one of three attempts must succeed."""
        with Redis() as redis, Nodes(policy("s") + REFERENCE, [redis.url], nodes=NODES) as nodes, Demand(nodes) as demand:
            demand.run(2)
            for _ in range(3):
                rates = demand.run(8)
                errors = {name: rates[name] / (rates[f"exact-{name}"] if name in EXACT else LIMIT) - 1
                          for name in ALGORITHMS}
                if all(abs(error) <= 0.01 for error in errors.values()):
                    break
            else:
                self.fail(f"errors of {errors}")
            for name, error in errors.items():
                consistency_table.note(self, f"approximate, {name}, steady demand of twice {LIMIT}/s", "within 1 % of it",
                                       f"{error:+.2%}")
            self.assertGreater(decisions(nodes, "approximate"), 0)


class Bound(unittest.TestCase):
    def setUp(self):
        self.redis = self.enterContext(Redis())
        self.nodes = self.enterContext(Nodes(policy("365day"), [self.redis.url], nodes=NODES))
        for node in self.nodes:
            eventually(lambda: metric(node, "weir_nodes") == NODES, "all nodes to be counted")

    def admitted(self, name, user, each):
        clients = [CheckClient(self.nodes[number % NODES]) for number in range(CLIENTS)]
        return sum(all_at_once(clients, lambda _, client: sum(
            client.ask(f"/{name}", user)["admitted"] for _ in range(each))))

    def test_no_more_than_is_stated(self):
        for name in ALGORITHMS:
            with self.subTest(algorithm=name):
                spent = sum(self.admitted(name, "alice", 10) for _ in range(4))
                bound = metric(self.nodes[0], "weir_approximate_bound_units", limit=name)
                unasked = LIMIT // 4 if name == "counter" else NODES * (LIMIT // (4 * NODES))
                self.assertEqual(bound, LIMIT + unasked)
                self.assertLessEqual(spent, bound)
                self.assertGreaterEqual(spent, LIMIT * 0.95)
                over = max(metric(node, "weir_approximate_excess_units", limit=name) for node in self.nodes)
                consistency_table.note(self, f"approximate, {name}, all at once", f"at most {bound:.0f}", spent)
                self.assertLessEqual(over, bound - LIMIT)

    def test_a_consumer_that_comes_seldom_is_not_denied(self):
        client = CheckClient(self.nodes[1])
        self.addCleanup(client.close)
        for _ in range(20):
            self.assertTrue(client.ask("/window", "bob")["admitted"])
            eventually(lambda: metric(self.nodes[1], "weir_lease_slices") == 0, "the slice to go back")

    def test_nobody_waits_for_a_redis_that_is_paused(self):
        client = CheckClient(self.nodes[0])
        self.addCleanup(client.close)
        self.assertTrue(client.ask("/bucket", "carol")["admitted"])
        self.redis.pause()
        try:
            begin = time.monotonic()
            for number in range(50):
                self.assertTrue(client.ask("/bucket", f"other-{number}")["admitted"], "the allowance")
            self.assertLess(time.monotonic() - begin, 9, "the budget for one decision that waits is 10 s")
        finally:
            self.redis.resume()

    def test_without_redis_each_node_has_its_share_and_charges_it_later(self):
        self.redis.kill()
        client = CheckClient(self.nodes[2])
        self.addCleanup(client.close)
        eventually(lambda: metric(self.nodes[2], "weir_store_connected") == 0, "a lost connection")
        asked = [client.ask("/window", "dora")["admitted"] for _ in range(2 * LIMIT)]
        spent = sum(asked)
        self.assertLessEqual(spent, LIMIT // 4 + LIMIT // 16, "one share in four, and the allowance")
        self.assertGreaterEqual(spent, LIMIT // 4)
        self.assertGreater(metric(self.nodes[2], "weir_store_decisions_total", path="local"), 0)
        self.redis.restart()
        other = CheckClient(self.nodes[0])
        self.addCleanup(other.close)

        def is_charged():
            told = self.nodes[0].ask("GET", "/v1/limits/window/consumers/dora", listener="admin")[2]
            return f'"remaining":{LIMIT - spent}' in told.replace(" ", "")

        eventually(is_charged, "what was admitted meanwhile to be charged")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
