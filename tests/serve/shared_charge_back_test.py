"""Requests that a node admitted while Redis was unavailable are charged there afterwards."""

import contextlib
import sys
import unittest

from redis_servers import Redis
from server import Server
from shared_caller import Caller, stored_in

ALGORITHMS = {"bucket": "token_bucket, rate: 10/day", "gcra": "gcra, rate: 10/day, burst: 10",
              "leaky": "leaky_bucket, rate: 10/day, burst: 10", "window": "fixed_window, rate: 10/365day",
              "log": "sliding_window_log, rate: 10/365day", "counter": "sliding_window_counter, rate: 10/365day"}
POLICY = "version: 1\nlimits:\n" + "".join(
    f"  - {{name: {name}, routes: [/{name}], consumer_key: user, algorithm: {algorithm}}}\n"
    for name, algorithm in ALGORITHMS.items()
) + "  - {name: closed, routes: [/closed], consumer_key: user, algorithm: gcra, rate: 1/day, on_store_failure: closed}\n"


class ChargeBack(unittest.TestCase):
    def setUp(self):
        self.redis = self.enterContext(Redis("--appendonly", "yes", "--appendfsync", "always"))
        self.one, self.other = (self.enterContext(contextlib.closing(Caller(
            self.enterContext(Server(POLICY, stored_in(self.redis.url, timeout="100ms")))))) for _ in range(2))
        self.await_shared()

    def await_shared(self):
        for caller in self.one, self.other:
            caller.await_shared()

    def without_redis(self, act):
        self.redis.kill()
        for caller in self.one, self.other:
            caller.await_breaker()
        act()
        self.redis.restart()
        self.await_shared()

    def use(self, caller, times):
        """Sends requests of alice to all limits. Returns how many passed, by limit."""
        return {limit: sum(caller.passes(limit, "alice") for _ in range(times)) for limit in ALGORITHMS}

    def left(self, caller):
        return {limit: caller.left(limit, "alice") for limit in ALGORITHMS}

    def test_what_one_node_admitted_counts_for_all_and_once(self):
        self.assertEqual(self.use(self.one, 2), everywhere(2))
        self.without_redis(lambda: self.assertEqual(self.use(self.one, 3), everywhere(3)))
        self.assertEqual(self.left(self.other), everywhere(7))
        self.assertEqual(self.left(self.one), everywhere(3))
        self.assertEqual(self.left(self.other), everywhere(2))
        self.without_redis(lambda: None)
        self.assertEqual(self.left(self.one), everywhere(1))

    def test_it_takes_what_is_left_and_makes_no_debt(self):
        self.assertEqual(self.use(self.one, 8), everywhere(8))
        self.without_redis(lambda: self.assertEqual(self.use(self.one, 8), everywhere(5)))
        for limit in ALGORITHMS:
            verdict = self.one.ask(limit, "alice")
            self.assertEqual((verdict["admitted"], verdict["remaining"]), (False, 0), limit)
        for limit in ["bucket", "gcra", "leaky"]:
            self.assertLessEqual(self.other.ask(limit, "alice")["retry_after"], 86_400 / 10, limit)

    def test_each_node_charges_what_it_admitted(self):
        def use_both():
            for caller in self.one, self.other:
                self.assertEqual(self.use(caller, 3), everywhere(3))

        self.without_redis(use_both)
        self.assertEqual(self.left(self.one), everywhere(6))
        self.assertEqual(self.left(self.other), everywhere(2))

    def test_what_redis_was_told_and_could_not_answer_is_charged_once(self):
        self.redis.pause()
        self.assertEqual([self.one.passes("bucket", "alice") for _ in range(3)], [True] * 3)
        self.redis.resume()
        self.await_shared()
        self.assertEqual(self.one.left("bucket", "alice"), 6)

    def test_a_denied_request_pays_it_as_well(self):
        self.without_redis(lambda: self.assertEqual(self.use(self.one, 5), everywhere(5)))
        self.assertEqual(self.use(self.other, 7), everywhere(7))
        self.assertEqual(self.use(self.one, 1), everywhere(0))
        self.assertEqual(self.use(self.other, 1), everywhere(0))


def everywhere(number):
    return {limit: number for limit in ALGORITHMS}


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
