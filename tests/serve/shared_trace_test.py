"""Sends one random trace to a single node, and to two nodes in turn that share their limits: the answers are the same.

The policy has everything that a policy can have: tiers, costs, several limits, warnings, penalties, queues, shadow
limits, candidates.
"""

import json
import random
import re
import sys
import unittest

import resp_client
import server
from redis_servers import Redis
from server import Server
from shared_nodes import Nodes, decisions

POLICY = """
version: 1
tiers: {from: {header: X-Plan}, default: free}
limits:
  - {name: bucket, routes: [/a], consumer_key: user, algorithm: token_bucket, rate: 1/h, burst: 20,
     cost: {POST /a: 3}, tier_overrides: {pro: {burst: 50}, vip: unlimited},
     candidate: {algorithm: fixed_window, rate: 9/365day}}
  - {name: warned, routes: [/a, /b], consumer_key: user, algorithm: sliding_window_log, rate: 15/365day,
     warn_first: {count: 4, per: 1day}}
  - {name: blocked, routes: [/b, /c], consumer_key: user, algorithm: sliding_window_counter, rate: 12/365day,
     penalty: {after: 3, within: 1day, block: 2day}}
  - {name: queue, routes: [/c, /q], consumer_key: user, algorithm: leaky_bucket, rate: 1/h, queue: 6}
  - {name: shadow, consumer_key: user, algorithm: gcra, rate: 1/h, burst: 5, mode: shadow}
  - {name: both, routes: [/c], consumer_key: user+route, algorithm: fixed_window, rate: 9/365day,
     warn_first: {count: 2, per: 1h}, penalty: {after: 2, within: 1h, block: 3h}}
  - {name: all, consumer_key: global, algorithm: gcra, rate: 1/h, burst: 900}
  - {name: team, routes: [/t], consumer_key: "header:X-Team", algorithm: leaky_bucket, rate: 1/h, burst: 10,
     missing: deny}
"""
NAMED = ["bucket", "warned", "blocked", "queue", "shadow"]
STEPS = 2000
SLACK = 30  # the maximum number of seconds between the two; nothing is refilled within an hour


def maybe(odds, field, *choices):
    return {field: random.choice(choices)} if random.random() < odds else {}


def some_query():
    return {"path": random.choice(["/a", "/b", "/c", "/q", "/t"]), "user": random.choice("uvw"),
            "method": random.choice(["GET", "POST"]), **maybe(0.3, "cost", 0, 1, 2, 5, 30),
            **maybe(0.3, "tier", "pro", "vip", "free", "unknown"), **maybe(0.5, "headers", {"X-Team": "x"}),
            **maybe(0.2, "max_wait", 0, 3600, 7200)}


# Each returns a description of its question, and a function that asks a node and returns the answer.

def check():
    query = some_query()

    def ask(node):
        status, headers, body = node.ask("POST", "/v1/check", json.dumps(query))
        left = re.match(r'"([^"]*)";r=(\d+)(?:;t=(\d+))?', headers["RateLimit"] or '"";r=0')
        return {"status": status, "warning": headers["X-RateLimit-Warning"], "fields": left.groups()[:2],
                "t": left[3], "Retry-After": headers["Retry-After"], "Reset": headers["X-RateLimit-Reset"],
                **json.loads(body)}

    return query, ask


def peek():
    query = {**some_query(), "peek": True}
    return query, lambda node: json.loads(node.ask("POST", "/v1/check", json.dumps(query))[2])


def by_name():
    words = ["WEIR.CHECK", random.choice(NAMED), "user=" + random.choice("uvw"), "COST", random.choice([0, 1, 3])]

    def ask(node):
        with resp_client.connect(node.resp, server.PATIENCE) as client:
            denied, quota, left, retry, reset, delay, limit, reason = client.ask(*words)
        return {"denied": denied, "quota": quota, "left": left, "limit": limit, "reason": reason,
                "retry_after": retry / 1e6, "reset_after": reset / 1e6, "delay": delay / 1e6}

    return words, ask


def throttle():
    words = ["CL.THROTTLE", random.choice("uvw"), 9, 1, 3600, random.choice([0, 1, 3])]

    def ask(node):
        with resp_client.connect(node.resp, server.PATIENCE) as client:
            *said, retry, reset = client.ask(*words)
        return {"said": said, "retry_after": retry, "reset_after": reset}

    return words, ask


def look_in():
    path = f"/v1/limits/{random.choice(NAMED)}/consumers/{random.choice('uvw')}"
    return path, lambda node: json.loads(node.ask("GET", path, listener="admin")[2])


def reset():
    path = f"/v1/limits/{random.choice(NAMED)}/consumers/{random.choice('uvw')}/reset"

    def ask(node):
        token = (node.state_dir / "admin.token").read_text().strip()
        return {"status": node.ask("POST", path, headers={"X-Weir-Token": token}, listener="admin")[0]}

    return path, ask


TIMES = ["retry_after", "reset_after", "delay", "more_after", "t", "Retry-After", "Reset"]


def differs(alone, shared):
    """Returns the fields that differ; times may have passed."""
    def is_same(field):
        one, other = alone.get(field), shared.get(field)
        if field not in TIMES or one is None or other is None:
            return one == other
        return abs(float(one) - float(other)) < SLACK

    return [field for field in {**alone, **shared} if not is_same(field)]


def outcomes(nodes):
    """Returns the counts by limit and outcome, of all nodes."""
    counts = {}
    for node in nodes:
        for line in node.ask("GET", "/metrics", listener="admin")[2].splitlines():
            if line.startswith(("weir_decisions_total{", "weir_candidate_decisions_total{")):
                sample, value = line.rsplit(" ", 1)
                counts[sample] = counts.get(sample, 0) + float(value)
    return {sample: count for sample, count in counts.items() if count > 0}


class Trace(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.seed = random.randrange(2**32)
        random.seed(self.seed)

    def test_alone_and_shared(self):
        redis = self.enterContext(Redis())
        nodes = self.enterContext(Nodes(POLICY, [redis.url], count=2))
        alone = self.enterContext(Server(POLICY))
        for number in range(STEPS):
            kind = random.choices([check, peek, by_name, throttle, look_in, reset], [12, 2, 3, 2, 2, 1])[0]
            words, ask = kind()
            one, other = ask(alone), ask(nodes[number % len(nodes)])
            self.assertEqual(differs(one, other), [], f"{words} (seed {self.seed}, step {number}): {one}, {other}")
        self.assertEqual(outcomes([alone]), outcomes(nodes))
        self.assertGreater(decisions(nodes, "shared"), 0)
        self.assertEqual(sum(decisions(nodes, path) for path in ["local", "open", "closed"]), 0)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
