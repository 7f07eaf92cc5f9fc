"""Clients that invent keys, with a shared Redis."""

import json
import sys
import time
import unittest

from redis_servers import Redis
from server import Server, eventually
from shared_caller import Metrics, stored_in

QUOTA = 5
POLICY = f"""
version: 1
limits:
  - {{name: api, routes: [/api], consumer_key: user, algorithm: token_bucket, rate: {QUOTA}/day, on_store_failure: local}}
"""
BOUND = 20
OVERFLOW_KEYS = 256
PATIENT = "5s"  # excludes what a busy machine decides without Redis


class Flood(unittest.TestCase):
    def ask(self, users):
        """Returns whether each of them passes."""
        body = json.dumps([{"path": "/api", "user": user} for user in users])
        status, _, told = self.weir.ask("POST", "/v1/check", body, {"Content-Type": "application/json"})
        self.assertEqual(status, 200, told)
        return [each["admitted"] for each in json.loads(told)]

    def keys(self, pattern):
        return len(self.redis.ask("KEYS", pattern))

    def test_made_up_keys_are_bounded_and_known_callers_keep_theirs(self):
        self.redis = self.enterContext(Redis())
        self.weir = self.enterContext(Server(POLICY, stored_in(self.redis.url, timeout=PATIENT, max_new_keys=BOUND)))
        eventually(lambda: Metrics(self.weir)['weir_store_connected'] == 1, "the store")
        eventually(lambda: self.ask(["alice"]) == [True] and self.keys("weir:{api:user:5:alice}*") == 1, "a key of hers")
        begun = time.monotonic()
        passed = 0
        for round in range(20):
            passed += sum(self.ask([f"made-up-{round}-{number}" for number in range(1_000)]))
        seconds = time.monotonic() - begun + 2
        self.assertLessEqual(self.keys("weir:{api:*"), BOUND * seconds + OVERFLOW_KEYS + 1)
        self.assertGreater(self.keys("weir:{api:overflow:*"), 0)
        self.assertLessEqual(passed, QUOTA * OVERFLOW_KEYS + BOUND * seconds, "the flood is limited as a whole")
        self.assertGreater(Metrics(self.weir)['weir_store_shared_keys_total{limit="api"}'], 10_000)
        self.assertEqual(sum(self.ask(["alice"] * 10)), QUOTA - 1, "her own key")

        time.sleep(1.1)  # a second with few new keys
        self.assertEqual(sum(self.ask(["bob"] * 10)), QUOTA, "a key of his own")
        self.assertEqual(self.keys("weir:{api:user:3:bob}*"), 1)

    def test_without_the_setting_there_is_no_bound(self):
        self.redis = self.enterContext(Redis())
        self.weir = self.enterContext(Server(POLICY, stored_in(self.redis.url, timeout=PATIENT)))
        eventually(lambda: Metrics(self.weir)['weir_store_connected'] == 1, "the store")
        eventually(lambda: self.ask(["alice"]) == [True] and self.keys("weir:{api:*") == 1, "a key of hers")
        self.ask([f"made-up-{number}" for number in range(1_000)])
        eventually(lambda: self.keys("weir:{api:*") > 900, "a key for each")
        self.assertEqual(self.keys("weir:{api:overflow:*"), 0)


class Full(Flood):
    test_made_up_keys_are_bounded_and_known_callers_keep_theirs = None
    test_without_the_setting_there_is_no_bound = None

    def test_who_is_at_the_limit_stays_denied_while_redis_is_full(self):
        self.redis = self.enterContext(Redis())
        self.weir = self.enterContext(Server(POLICY, stored_in(self.redis.url, timeout=PATIENT)))
        eventually(lambda: Metrics(self.weir)['weir_store_connected'] == 1, "the store")
        eventually(lambda: not any(self.ask(["alice"] * QUOTA)) and self.keys("weir:{api:user:5:alice}*") == 1,
                   "her limit exhausted, in Redis")
        opened = Metrics(self.weir).times_opened
        self.redis.ask("CONFIG", "SET", "maxmemory", 1)
        passed = [0, 0]
        for round in range(50):  # in one batch with a request that must be charged
            told = self.ask(["alice", f"new-{round}", "alice", "bob"])
            passed[0] += told[0] + told[2]
            passed[1] += told[3]
        self.assertEqual(passed[0], 0, "hers is denied by its state")
        self.assertEqual(passed[1], QUOTA // 2, "this node's share")
        self.assertEqual(Metrics(self.weir).times_opened, opened, "the breaker stays closed")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
