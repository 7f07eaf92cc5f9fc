"""Limits that four nodes share through one Redis are exact, on any node and with any clock offset."""

import collections
import datetime
import email.utils
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import unittest

import resp_client
import server
from redis_servers import Redis
from server import PROGRAM
from shared_nodes import CheckClient, Nodes, RespCheckClient, all_at_once, decisions, metric

LIMIT = 200
NODES = 4
CLIENTS = 64

# Nothing is refilled during a run. Without the store all requests are denied, so each admitted request was counted
# there.
ALGORITHMS = {
    "bucket": f"token_bucket, rate: 1/day, burst: {LIMIT}",
    "gcra": f"gcra, rate: 1/day, burst: {LIMIT}",
    "meter": f"leaky_bucket, rate: 1/day, burst: {LIMIT}",
    "queue": f"leaky_bucket, rate: 1/day, queue: {LIMIT - 1}",
    "window": f"fixed_window, rate: {LIMIT}/365day",
    "log": f"sliding_window_log, rate: {LIMIT}/365day",
    "counter": f"sliding_window_counter, rate: {LIMIT}/365day",
}


def limit(name, consumer, algorithm, **more):
    fields = "".join(f", {field}: {value}" for field, value in more.items())
    return f"  - {{name: {name}, consumer_key: {consumer}, algorithm: {algorithm}, on_store_failure: closed{fields}}}\n"


def policy(*limits):
    return "version: 1\nlimits:\n" + "".join(limits)


EACH_ALGORITHM = policy(*(limit(name, "user", text, routes=f"[/{name}]") for name, text in ALGORITHMS.items()))


class SharedTest(unittest.TestCase):
    def start(self, text, **settings):
        self.redis = self.enterContext(Redis())
        self.nodes = self.enterContext(Nodes(text, [self.redis.url], **settings))

    def assert_all_shared(self):
        self.assertGreater(decisions(self.nodes, "shared"), 0)
        for path in "local", "open", "closed":
            self.assertEqual(decisions(self.nodes, path), 0, path)
        for node in self.nodes:
            self.assertEqual(metric(node, "weir_store_errors_total"), 0)

    def clients(self, every_fourth=CheckClient):
        """Returns the same number of clients for each node; every fourth client of a node may be of another kind."""
        return [(every_fourth if number // NODES % 4 == 3 else CheckClient)(self.nodes[number % NODES])
                for number in range(CLIENTS)]

    def left(self, path, user, node=0):
        """Returns the remaining units of the limit that is closest to exhaustion, with a cost of zero."""
        client = CheckClient(self.nodes[node])
        try:
            return client.ask(path, user, cost=0)["remaining"]
        finally:
            client.close()


class Algorithms(SharedTest):
    def setUp(self):
        self.start(EACH_ALGORITHM)

    def test_no_unit_is_given_twice_and_none_is_lost(self):
        """Each admission reports what remains after it: 199, 198, ... 0, once each, whichever node reports it."""
        users = ["alice", "bob"]
        for name in ALGORITHMS:
            def work(number, client):
                order = users if number % 2 else users[::-1]
                return [(user, client.ask(f"/{name}", user)) for _ in range(4) for user in order]

            with self.subTest(algorithm=name):
                told = sum(all_at_once(self.clients(RespCheckClient), work), [])
                self.assertEqual(len(told), CLIENTS * 4 * len(users))
                for user in users:
                    verdicts = [verdict for asker, verdict in told if asker == user]
                    left = [verdict["remaining"] for verdict in verdicts if verdict["admitted"]]
                    self.assertEqual(sorted(left), list(range(LIMIT)))
                    self.assertEqual({verdict["quota"] for verdict in verdicts}, {LIMIT})
        self.assert_all_shared()

    def test_costs_add_up_to_the_limit(self):
        for name in ALGORITHMS:
            def work(number, client):
                cost = 1 + number // NODES % 5
                return sum(cost for _ in range(6) if client.ask(f"/{name}", "carol", cost)["admitted"])

            with self.subTest(algorithm=name):
                self.assertEqual(sum(all_at_once(self.clients(RespCheckClient), work)), LIMIT)
        self.assert_all_shared()

    def test_a_queue_gives_each_turn_once(self):
        def work(_, client):
            return [client.ask("/queue", "dora") for _ in range(5)]

        told = sum(all_at_once(self.clients(RespCheckClient), work), [])
        delays = sorted(verdict["delay"] for verdict in told if verdict["admitted"])
        day = 86_400
        self.assertEqual([round(delay / day) for delay in delays], list(range(LIMIT)))

    def test_many_consumers_at_once(self):
        users = [f"user-{number}" for number in range(20)]

        def work(number, client):
            begin = number % len(users)
            return [user for user in users[begin:] + users[:begin] if client.ask("/gcra", user, 9)["admitted"]]

        admitted = collections.Counter(sum(all_at_once(self.clients(RespCheckClient), work), []))
        self.assertEqual(admitted, {user: LIMIT // 9 for user in users})
        self.assertEqual({self.left("/gcra", user, 1) for user in users}, {LIMIT % 9})

    def test_arrays_and_pipelines(self):
        """Sends many requests at once from one client: a node asks the store for equal ones together."""
        queries = json.dumps([{"path": "/counter", "user": "erin"}] * 20)
        commands = resp_client.command("WEIR.CHECK", "counter", "user=erin") * 20

        def by_array(node):
            return [verdict["remaining"] for verdict in json.loads(node.ask("POST", "/v1/check", queries)[2])
                    if verdict["admitted"]]

        def by_pipeline(node):
            with node.connect("resp") as connection, resp_client.RespClient(connection) as client:
                connection.sendall(commands)
                return [reply[2] for reply in [client.receive() for _ in range(20)] if reply[0] == 0]

        class Client:
            def close(self):
                pass

        def work(number, _):
            return (by_array if number % 2 else by_pipeline)(self.nodes[number // 2 % NODES])

        left = sum(all_at_once([Client() for _ in range(CLIENTS // 2)], work), [])
        self.assertEqual(sorted(left), list(range(LIMIT)))
        asked = sum(metric(node, "weir_store_batch_size_sum") for node in self.nodes)
        evaluated = sum(metric(node, "weir_store_evaluations_total") for node in self.nodes)
        self.assertLess(evaluated, asked / 2)
        self.assert_all_shared()


class SeveralLimits(SharedTest):
    POLICY = policy(limit("user", "user", "token_bucket", rate="1/day", burst=30),
                    limit("team", "header:X-Team", "sliding_window_log", rate="90/365day", routes="[/team]"),
                    limit("tight", "global", "gcra", rate="1/day", burst=100, routes="[/tight, /team]"),
                    limit("wide", "global", "sliding_window_counter", rate="1000/365day", routes="[/wide]"))
    USERS = [f"user-{number}" for number in range(8)]

    def setUp(self):
        self.start(self.POLICY)

    def drive(self, path, cost=1):
        """Returns how often each consumer was admitted, if each client sends six requests."""
        def work(number, client):
            return [user for user in [self.USERS[(number + turn) % 8] for turn in range(6)]
                    if client.ask(path, user, cost)["admitted"]]

        return collections.Counter(sum(all_at_once(self.clients(), work), []))

    def assert_users_paid_for(self, admitted):
        """Nothing else was charged: requests that another limit denied were not charged to them."""
        for user in self.USERS:
            self.assertEqual(self.left("/", user), 30 - admitted[user])

    def test_the_one_for_all_ends_first(self):
        admitted = self.drive("/tight")
        self.assertEqual(admitted.total(), 100)
        self.assert_users_paid_for(admitted)
        self.assert_all_shared()

    def test_those_of_users_end_first(self):
        admitted = self.drive("/wide")
        self.assertEqual(admitted, {user: 30 for user in self.USERS})
        with resp_client.connect(self.nodes[3].resp, server.PATIENCE) as client:
            self.assertEqual(client.ask("WEIR.CHECK", "wide", "global", "COST", 0)[2], 1000 - 30 * 8)
        self.assert_all_shared()

    def test_with_costs(self):
        """Costs of seven do not fit evenly into 30 and 100: two units remain of each user's limit, and two of the limit
        for all."""
        admitted = self.drive("/tight", cost=7)
        self.assertEqual(admitted.total(), 14)
        self.assert_users_paid_for({user: 7 * admitted[user] for user in self.USERS})
        with resp_client.connect(self.nodes[1].resp, server.PATIENCE) as client:
            self.assertEqual(client.ask("WEIR.CHECK", "tight", "global", "COST", 0)[2], 2)
        self.assert_all_shared()

    def test_three_of_them(self):
        """No request names a team, so all are in one team, whose limit is exhausted first."""
        admitted = self.drive("/team")
        self.assertEqual(admitted.total(), 90)
        self.assert_users_paid_for(admitted)
        with resp_client.connect(self.nodes[2].resp, server.PATIENCE) as client:
            self.assertEqual(client.ask("WEIR.CHECK", "tight", "global", "COST", 0)[2], 10)
        self.assert_all_shared()


class OneStory(SharedTest):
    def setUp(self):
        self.start(EACH_ALGORITHM)

    def weir(self, node, *arguments):
        ran = subprocess.run([PROGRAM, *arguments, "--admin", "{}:{}".format(*node.admin)], capture_output=True,
                             text=True, timeout=server.PATIENCE,
                             env={"PATH": os.environ["PATH"], "STATE_DIRECTORY": str(node.state_dir)})
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        return ran.stdout

    def test_header_fields_go_on_from_node_to_node(self):
        clients = [CheckClient(node) for node in self.nodes]
        for client in clients:
            self.addCleanup(client.close)
        for name in ALGORITHMS:
            for number in range(12):
                client = clients[number % NODES]
                client.ask(f"/{name}", "frank")
                left = LIMIT - 1 - number
                self.assertEqual(client.headers["X-RateLimit-Remaining"], str(left), name)
                self.assertRegex(client.headers["RateLimit"], f'^"{name}";r={left};t=')
            resets = []
            for client in clients:
                client.ask(f"/{name}", "frank", cost=LIMIT)
                resets.append((int(client.headers["X-RateLimit-Reset"]), int(client.headers["Retry-After"])))
            for reset, wait in resets:  # a second or so may have passed
                self.assertTrue(0 <= resets[0][0] - reset <= server.PATIENCE, resets)
                self.assertTrue(0 <= resets[0][1] - wait <= server.PATIENCE, resets)

    def test_peek_and_reset_through_another_node(self):
        for name in ALGORITHMS:
            with self.subTest(algorithm=name):
                client = CheckClient(self.nodes[0])
                self.addCleanup(client.close)
                client.ask(f"/{name}", "grace", cost=LIMIT)
                self.assertFalse(client.ask(f"/{name}", "grace")["admitted"])
                self.assertIn(f"0 of {LIMIT} left\nNext request allowed in ",
                              self.weir(self.nodes[1], "peek", name, "grace"))
                self.assertEqual(self.weir(self.nodes[2], "reset", name, "grace"),
                                 f"{name}: user=grace reset\n")
                self.assertIn(f"{LIMIT} of {LIMIT} left\n", self.weir(self.nodes[3], "peek", name, "grace"))
                self.assertEqual(client.ask(f"/{name}", "grace")["remaining"], LIMIT - 1)

    def test_reset_at_the_redis_listener(self):
        with resp_client.connect(self.nodes[1].resp, server.PATIENCE) as client:
            client.ask("AUTH", (self.nodes[1].state_dir / "admin.token").read_text().strip())
            first = RespCheckClient(self.nodes[0])
            self.addCleanup(first.close)
            self.assertEqual(first.ask("/log", "heidi", 50)["remaining"], LIMIT - 50)
            self.assertEqual(client.ask("WEIR.RESET", "log", "user=heidi"), "OK")
            self.assertEqual(first.ask("/log", "heidi")["remaining"], LIMIT - 1)

    def test_throttle_keys_are_shared(self):
        left = []
        for number in range(8):
            with resp_client.connect(self.nodes[number % NODES].resp, server.PATIENCE) as client:
                left.append(client.ask("CL.THROTTLE", "ivan", 5, 1, 86_400)[:3])
        self.assertEqual(left, [[0, 6, remaining] for remaining in range(5, -1, -1)] + [[1, 6, 0]] * 2)

    def test_every_key_has_an_end(self):
        client = CheckClient(self.nodes[0])
        self.addCleanup(client.close)
        for name in ALGORITHMS:
            client.ask(f"/{name}", "judy")
        server.eventually(lambda: self.redis.ask("EXISTS", "weir:{nodes}"), "a heartbeat")
        keys = self.redis.ask("KEYS", "weir:*")
        self.assertEqual(len(keys), len(ALGORITHMS) + 1)
        for key in keys:
            self.assertGreater(self.redis.ask("PTTL", key), 0, key)


class Unenforced(SharedTest):
    """Candidates and shadow limits are as exact as the others, with their own keys."""

    POLICY = policy(limit("live", "user", "token_bucket", rate="1/day", burst=LIMIT,
                          candidate="{algorithm: sliding_window_counter, rate: 50/365day}"),
                    limit("shadow", "user", "sliding_window_log", rate="20/365day", mode="shadow"))

    def test_candidate_and_shadow(self):
        self.start(self.POLICY)
        admitted = sum(sum(all_at_once(
            self.clients(), lambda _, client: [client.ask("/", "alice")["admitted"] for _ in range(5)]), []))
        self.assertEqual(admitted, LIMIT)
        asked = CLIENTS * 5

        def counted(name, **labels):
            return sum(metric(node, name, **labels) for node in self.nodes)

        candidate = {divergence: counted("weir_candidate_decisions_total", divergence=divergence)
                     for divergence in ["newly_denied", "newly_admitted", "agrees"]}
        self.assertEqual(candidate, {"newly_denied": LIMIT - 50, "newly_admitted": 0, "agrees": asked - LIMIT + 50})
        self.assertEqual(counted("weir_decisions_total", limit="shadow", outcome="shadow_denied"), asked - 20)
        self.assertEqual(len(self.redis.ask("KEYS", "weir:{*:*")), 3)
        self.assert_all_shared()


def window_around_now():
    """Returns the length in seconds, below an hour, of a window that does not end within the next minutes."""
    now = time.time()
    return next(window for window in range(3500, 1800, -100) if 300 < now % window < window - 300)


def faketime_library():
    found = sorted(pathlib.Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
    if not found:
        raise AssertionError("libfaketime is not there: script/setup installs it")
    return str(found[0])


class Clocks(SharedTest):
    """One node's clock is right, one is an hour behind, one is an hour ahead."""

    HOUR = datetime.timedelta(hours=1)

    def setUp(self):
        window = window_around_now()
        algorithms = {"bucket": "token_bucket, rate: 1/min, burst: 12", "gcra": "gcra, rate: 1/min, burst: 12",
                      "meter": "leaky_bucket, rate: 1/min, burst: 12", "queue": "leaky_bucket, rate: 1/min, queue: 11",
                      "window": f"fixed_window, rate: 12/{window}s", "log": f"sliding_window_log, rate: 12/{window}s",
                      "counter": f"sliding_window_counter, rate: 12/{window}s"}
        self.names = list(algorithms)
        faked = {"LD_PRELOAD": faketime_library(), "FAKETIME_DONT_FAKE_MONOTONIC": "1",
                 "ASAN_OPTIONS": "verify_asan_link_order=0"}  # its library is then not the first one
        self.start(policy(*(limit(name, "user", text, routes=f"[/{name}]") for name, text in algorithms.items())),
                   environments=[{}, {**faked, "FAKETIME": "-3600s"}, {**faked, "FAKETIME": "+3600s"}])
        self.clients = [CheckClient(node) for node in self.nodes]
        for client in self.clients:
            self.addCleanup(client.close)

    def assert_clocks_differ(self):
        said = []
        for client in self.clients:
            client.ask("/bucket", "somebody", cost=0)
            said.append(email.utils.parsedate_to_datetime(client.headers["Date"]))
        minute = datetime.timedelta(minutes=1)
        self.assertLess(abs(said[0] - said[1] - self.HOUR), minute)
        self.assertLess(abs(said[2] - said[0] - self.HOUR), minute)

    def test_they_decide_the_same(self):
        self.assert_clocks_differ()
        for name in self.names:
            with self.subTest(algorithm=name):
                began = time.monotonic()
                left = [self.clients[number % 3].ask(f"/{name}", "alice")["remaining"] for number in range(12)]
                self.assertEqual(left, list(range(11, -1, -1)))
                denied = [client.ask(f"/{name}", "alice") for client in self.clients]
                passed = time.monotonic() - began
                for told in denied:
                    self.assertFalse(told["admitted"])
                    for field in "retry_after", "reset_after":
                        self.assertTrue(0 <= denied[0][field] - told[field] <= passed, (field, denied))
        self.assert_all_shared()

    def test_a_charge_by_one_is_told_by_another(self):
        """This also applies to requests that only peek."""
        for name in self.names:
            self.clients[2].ask(f"/{name}", "bob", cost=5)
            told = json.loads(self.nodes[1].ask("GET", f"/v1/limits/{name}/consumers/bob", listener="admin")[2])
            self.assertEqual((told["remaining"], told["quota"]), (7, 12), name)
        self.assert_all_shared()


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
