"""Receipts: reserved at one node and settled once at another, even if nodes or Redis fail in between."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

from redis_servers import Cluster, Redis
from server import LISTENERS, PROGRAM, Server, eventually
from shared_nodes import Nodes, is_connected, metric, store

LIMIT = 1000
KEY, OTHER_KEY = "1f" * 32, "2e" * 32

POLICY = f"""
version: 1
identity: {{ user: {{ header: X-User-Id }} }}
limits:
  - {{name: tokens, routes: [/chat], consumer_key: user, algorithm: fixed_window, rate: {LIMIT}/365day}}
  - {{name: team, routes: [/chat], consumer_key: global, algorithm: fixed_window, rate: {LIMIT}/365day}}
  - {{name: streams, routes: [/stream], consumer_key: user, algorithm: concurrency, limit: 1, lease: 60s}}
  - {{name: calls, routes: [/log], consumer_key: user, algorithm: sliding_window_log, rate: {LIMIT}/365day}}
"""


def post(node, path, body):
    """Returns (status, parsed JSON)."""
    status, _, text = node.ask("POST", f"/v1/{path}", json.dumps(body))
    return status, json.loads(text)


def reserve(node, cost, user="ada", path="/chat", **more):
    return post(node, "check", {"path": path, "user": user, "cost": cost, "reserve": True, **more})[1]


def results(answer):
    """Returns {limit: result} of an operation on a receipt."""
    status, told = answer
    assert status in (200, 503), answer
    return {one["limit"]: one["result"] for one in told["limits"]}


def settle(node, receipt, actual):
    return results(post(node, "settle", {"receipt": receipt, "actual": actual}))


def left(node, user="ada"):
    """Returns {limit: remaining units}."""
    told = post(node, "report", {"path": "/chat", "user": user, "cost": 0})[1]
    return {one["limit"]: one["remaining"] for one in told["limits"]}


BOTH_DONE = {"tokens": "done", "team": "done"}
BOTH_ENDED = {"tokens": "ended", "team": "ended"}


class ReceiptsTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def key_file(self, *keys):
        """Returns `receipts` of weir.yaml, with a file of these keys."""
        path = self.folder / "receipts.keys"
        path.touch(mode=0o600)
        path.write_text("# the first seals\n" + "".join(key + "\n" for key in keys))
        return f"receipts: {{ key_file: {path} }}\n"

    def assert_left(self, node, count):
        self.assertEqual(left(node), {"tokens": count, "team": count})


class Alone(ReceiptsTest):
    CONFIG = LISTENERS + "state: { directory: state }\n"

    def test_receipts_outlive_a_restart(self):
        with Server(POLICY, self.CONFIG, self.folder) as weir:
            receipt = reserve(weir, 400)["receipt"]
        key = self.folder / "state/receipts.key"
        self.assertEqual(key.stat().st_mode & 0o777, 0o600)
        with Server(POLICY, self.CONFIG, self.folder) as weir:
            self.assert_left(weir, LIMIT - 400)
            self.assertEqual(settle(weir, receipt, 30), BOTH_DONE)
            self.assert_left(weir, LIMIT - 30)
            self.assertEqual(settle(weir, receipt, 30), BOTH_ENDED)

    def test_what_is_no_receipt_of_this_node_changes_nothing(self):
        with Server(POLICY) as other:
            foreign = reserve(other, 400)["receipt"]
        with Server(POLICY, self.CONFIG, self.folder) as weir:
            receipt = reserve(weir, 400)["receipt"]
            forged = receipt[:30] + ("A" if receipt[30] != "A" else "B") + receipt[31:]
            for text in foreign, forged, receipt[:-1], receipt + "AAAA", "", "x" * 600:
                status, told = post(weir, "settle", {"receipt": text, "actual": 0})
                self.assertEqual(status, 400, told)
            body = '{"path": "/chat", "user": "ada", "cost": 100, "reserve": true, "lease": 0.000001}'
            ended = json.loads(weir.ask("POST", "/v1/check", body)[2])["receipt"]
            self.assertEqual(settle(weir, ended, 0), BOTH_ENDED)
            self.assert_left(weir, LIMIT - 500)

    def test_receipts_are_not_in_the_log(self):
        config = self.CONFIG + "log: { level: debug }\n"
        with Server(POLICY, config, self.folder) as weir:
            receipt = reserve(weir, 400)["receipt"]
            held = weir.ask("GET", "/v1/auth/stream", headers={"X-User-Id": "ada"})
            self.assertEqual(held[0], 200)
            self.assertEqual(weir.ask("GET", "/v1/auth/stream", headers={"X-User-Id": "ada"})[0], 429)
            post(weir, "settle", {"receipt": receipt, "actual": 1})
            post(weir, "settle", {"receipt": receipt + "AAAA", "actual": 1})
            weir.await_log("streams")
        for text in receipt, held[1]["X-Weir-Receipt"]:
            self.assertNotIn(text[4:40], weir.log)

    def test_keys_change_without_a_restart(self):
        config = LISTENERS + self.key_file(KEY)
        with Server(POLICY, config, self.folder) as weir:
            old = reserve(weir, 100)["receipt"]
            self.key_file(OTHER_KEY, KEY)
            weir.signal(signal.SIGHUP)
            eventually(lambda: metric(weir, "weir_reloads_total", outcome="applied") == 1, "the reload")
            new = reserve(weir, 100)["receipt"]
            self.assertNotEqual(old[:4], new[:4])
            self.assertEqual(settle(weir, old, 1), BOTH_DONE)
            self.assertEqual(settle(weir, new, 1), BOTH_DONE)

    def test_the_file_of_keys_is_checked(self):
        rows = [
            ("", 0o600, "contains no key"),
            ("00ff\n", 0o600, "receipts.keys:1: invalid key: expected 64 hexadecimal digits"),
            (f"{KEY}\n# again\n{KEY}\n", 0o600, "receipts.keys:3: duplicate key"),
            (KEY, 0o604, "accessible to other users (mode 0604); run chmod 600"),
        ]
        config = LISTENERS + self.key_file(KEY)
        (self.folder / "policy.yaml").write_text(POLICY)
        (self.folder / "weir.yaml").write_text(config)
        for text, mode, said in rows:
            path = self.folder / "receipts.keys"
            path.write_text(text)
            path.chmod(mode)
            ran = subprocess.run([PROGRAM, "serve", "--check", "--config", self.folder / "weir.yaml"],
                                 capture_output=True, text=True)
            self.assertNotEqual(ran.returncode, 0, ran.stdout)
            self.assertIn(said, ran.stdout + ran.stderr)

    def test_check_says_where_the_key_is(self):
        rows = [
            ("", {"STATE_DIRECTORY": str(self.folder / "state")}, f"key from {self.folder}/state/receipts.key"),
            ("", {"STATE_DIRECTORY": "", "XDG_STATE_HOME": "", "HOME": ""}, "temporary key: receipts will not survive a restart"),
            (self.key_file(KEY), {}, f"keys from {self.folder}/receipts.keys"),
            ("store: { redis: { urls: redis://127.0.0.1:1 } }\n", {}, "disabled: nodes that share a store need"),
        ]
        (self.folder / "policy.yaml").write_text(POLICY)
        for config, environment, said in rows:
            (self.folder / "weir.yaml").write_text(LISTENERS + config)
            ran = subprocess.run([PROGRAM, "serve", "--check", "--config", self.folder / "weir.yaml"],
                                 capture_output=True, text=True, env={**os.environ, **environment})
            self.assertIn(f"receipts: {said}", ran.stdout)

    def test_counts_are_told_by_limit(self):
        with Server(POLICY, self.CONFIG, self.folder) as weir:
            released = reserve(weir, 5)["receipt"]
            self.assertEqual(results(post(weir, "release", {"receipt": released})), BOTH_DONE)
            receipt = reserve(weir, 400)["receipt"]
            self.assertEqual(results(post(weir, "extend", {"receipt": receipt, "lease": 900})), BOTH_DONE)
            settle(weir, receipt, LIMIT + 400 + LIMIT)
            settle(weir, receipt, 1)
            post(weir, "report", {"path": "/chat", "user": "ada", "cost": 7})
            counts = {"reserved": 2, "released": 1, "extended": 1, "settled": 1, "ended": 1, "reported": 1, "not_kept": 0}
            for event, count in counts.items():
                self.assertEqual(metric(weir, "weir_receipts_total", limit="tokens", event=event), count, event)
            self.assertEqual(metric(weir, "weir_receipts_lost_units_total", limit="tokens"), 400 + 7)


class SharedTest(ReceiptsTest):
    def start(self, urls, **settings):
        self.sections = self.key_file(KEY)
        self.urls = urls
        self.nodes = self.enterContext(Nodes(POLICY, urls, sections=self.sections, **settings))

    def node_to_kill(self, servers=1):
        """Starts another server, which no `with` block expects to end cleanly."""
        folder = self.folder / "killed"
        folder.mkdir()
        node = Server(POLICY, store(self.urls, timeout="10s") + self.sections, folder)
        self.addCleanup(lambda: node.process.poll() is None and node.kill())
        eventually(lambda: is_connected(node, servers), "a node that is connected")
        return node


class Shared(SharedTest):
    def setUp(self):
        super().setUp()
        self.redis = self.enterContext(Redis())
        self.start([self.redis.url])

    def test_of_64_settles_of_one_receipt_on_four_nodes_one_counts(self):
        for turn in range(4):
            receipt = reserve(self.nodes[turn], 200, user=f"u{turn}")["receipt"]
            begin = threading.Barrier(64)
            told = [None] * 64

            def race(number):
                begin.wait()
                told[number] = settle(self.nodes[number % 4], receipt, 10)

            threads = [threading.Thread(target=race, args=(number,)) for number in range(64)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            for limit in "tokens", "team":
                self.assertEqual(sorted(one[limit] for one in told), ["done"] + ["ended"] * 63)
            self.assertEqual(left(self.nodes[0], f"u{turn}"), {"tokens": LIMIT - 10, "team": LIMIT - 10 * (turn + 1)})

    def test_a_receipt_outlives_its_node(self):
        node = self.node_to_kill()
        receipt = reserve(node, 400)["receipt"]
        node.kill()
        self.assertEqual(settle(self.nodes[2], receipt, 30), BOTH_DONE)
        self.assert_left(self.nodes[1], LIMIT - 30)

    def test_an_id_is_one_reserve_on_all_nodes(self):
        first, second = (reserve(node, 400, id="call-1") for node in self.nodes[:2])
        self.assertEqual(second["remaining"], LIMIT - 400)
        self.assertEqual(settle(self.nodes[2], second["receipt"], 30), BOTH_DONE)
        self.assertEqual(settle(self.nodes[3], first["receipt"], 30), BOTH_ENDED)

    def test_holds_are_shared(self):
        held = self.nodes[0].ask("GET", "/v1/auth/stream", headers={"X-User-Id": "ada"})
        self.assertEqual(held[0], 200)
        self.assertEqual(self.nodes[1].ask("GET", "/v1/auth/stream", headers={"X-User-Id": "ada"})[0], 429)
        released = post(self.nodes[2], "release", {"receipt": held[1]["X-Weir-Receipt"]})
        self.assertEqual(results(released), {"streams": "done"})
        self.assertEqual(self.nodes[3].ask("GET", "/v1/auth/stream", headers={"X-User-Id": "ada"})[0], 200)

    def test_without_a_key_file_a_reserve_is_refused(self):
        with Nodes(POLICY, self.urls, count=1) as [node]:
            status, _, text = node.ask("POST", "/v1/check", json.dumps({"path": "/chat", "user": "ada", "reserve": True}))
            self.assertEqual(status, 503)
            self.assertIn("receipts.key_file", text)
            self.assertEqual(node.ask("GET", "/v1/auth/stream", headers={"X-User-Id": "ada"})[0], 403)
            self.assert_left(node, LIMIT)


class ALog(unittest.TestCase):
    """Its receipts are in a separate value. All tests share two nodes and a Redis; each test has its own user."""

    @classmethod
    def setUpClass(cls):
        keys = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory())) / "receipts.keys"
        keys.touch(mode=0o600)
        keys.write_text(KEY)
        cls.redis = cls.enterClassContext(Redis("--appendonly", "yes", "--appendfsync", "always"))
        sections = f"receipts: {{ key_file: {keys} }}\n"
        cls.nodes = cls.enterClassContext(Nodes(POLICY, [cls.redis.url], count=2, sections=sections))

    def setUp(self):
        self.user = self._testMethodName[:40]

    def reserve(self, node, cost, **more):
        return reserve(self.nodes[node], cost, user=self.user, path="/log", **more)["receipt"]

    def settle(self, node, receipt, actual):
        return settle(self.nodes[node], receipt, actual)["calls"]

    def report(self, node, cost, **more):
        return post(self.nodes[node], "report", {"path": "/log", "user": self.user, "cost": cost, **more})[1]["limits"][0]

    def ask_admin(self, node, method, what=""):
        token = (self.nodes[node].state_dir / "admin.token").read_text().strip()
        status, _, text = self.nodes[node].ask(method, f"/v1/limits/calls/consumers/user={self.user}{what}",
                                               headers={"X-Weir-Token": token}, listener="admin")
        self.assertEqual(status, 200, text)
        return json.loads(text)

    def assert_left(self, count):
        self.assertEqual([self.report(node, 0)["remaining"] for node in (0, 1)], [count, count])

    def test_what_one_node_reserves_the_other_settles_once(self):
        receipt = self.reserve(0, 400)
        self.assert_left(LIMIT - 400)
        self.assertEqual(self.settle(1, receipt, 30), "done")
        self.assert_left(LIMIT - 30)
        self.assertEqual([self.settle(node, receipt, 0) for node in (0, 1)], ["ended", "ended"])
        released = self.reserve(1, 100)
        self.assertEqual(results(post(self.nodes[0], "release", {"receipt": released})), {"calls": "done"})
        self.assert_left(LIMIT - 30)

    def test_more_than_there_is_is_owed_and_the_rest_is_told(self):
        receipt = self.reserve(0, LIMIT)
        told = post(self.nodes[1], "settle", {"receipt": receipt, "actual": 2 * LIMIT + 7})[1]["limits"][0]
        self.assertEqual((told["result"], told["remaining"], told["lost"]), ("done", 0, 7))
        self.assertEqual(self.report(0, 5)["lost"], 5)

    def test_an_id_counts_once_on_both_nodes(self):
        first, second = (self.reserve(node, 400, id="call-1") for node in (0, 1))
        self.assert_left(LIMIT - 400)
        self.assertEqual([self.settle(1, second, 10), self.settle(0, first, 10)], ["done", "ended"])
        self.assertEqual([self.report(node, 20, id="job-1")["result"] for node in (0, 1)], ["done", "repeated"])
        self.assert_left(LIMIT - 30)

    def test_one_that_has_ended_stays_charged(self):
        kept = self.reserve(0, 100)
        ended = self.reserve(0, 100, lease=0.001)
        self.assertEqual(results(post(self.nodes[1], "extend", {"receipt": kept, "lease": 900})), {"calls": "done"})
        eventually(lambda: self.ask_admin(1, "GET")["open"] == 1, "the end of one receipt")
        self.assertEqual(self.settle(1, ended, 0), "ended")
        self.assertEqual(self.settle(1, kept, 0), "done")
        self.assert_left(LIMIT - 100)

    def test_a_reset_forgets_them(self):
        receipt = self.reserve(0, 400)
        told = self.ask_admin(1, "GET")
        self.assertEqual((told["used"], told["open"], told["open_units"]), (400, 1, 400))
        self.ask_admin(1, "POST", "/reset")
        self.assertEqual(self.redis.ask("KEYS", f"weir:{{calls:*{self.user}*"), [])
        self.assertEqual(self.settle(0, receipt, 500), "ended")
        self.assert_left(LIMIT)

    def test_a_redis_that_kept_its_data_has_them_again_and_one_that_lost_it_none(self):
        receipt = self.reserve(0, 400)
        self.redis.restart()
        self.nodes.await_connected()
        self.assertEqual([self.settle(1, receipt, 30), self.settle(0, receipt, 30)], ["done", "ended"])
        self.assert_left(LIMIT - 30)
        lost = self.reserve(1, 400)
        self.redis.ask("FLUSHALL")
        self.assertEqual(self.settle(0, lost, 900), "ended")
        self.assert_left(LIMIT)


class InACluster(SharedTest):
    def test_a_settle_that_was_cut_off_is_repeated_and_counts_once(self):
        """The two limits are in slots of different masters. One master is suspended while a node settles, and the node
        is killed once the other limit is settled."""
        cluster = self.enterContext(Cluster(node_timeout=30_000))
        self.start(cluster.urls[:2], count=1, servers=3)
        node = self.node_to_kill(servers=3)
        user, paused, settled = self.apart(cluster)
        receipt = reserve(node, 400, user=user)["receipt"]
        before = settled.ask("HLEN", self.receipts_of("team", settled))
        paused.pause()
        try:
            sender = threading.Thread(target=self.settle_in_vain, args=(node, receipt))
            sender.start()
            eventually(lambda: settled.ask("HLEN", self.receipts_of("team", settled)) != before, "one limit settled")
            node.kill()
            sender.join()
        finally:
            paused.resume()
        again = settle(self.nodes[0], receipt, 30)
        self.assertEqual(again["team"], "ended")
        self.assertIn(again["tokens"], ["done", "ended"], "what the dead node sent may have been read, or not")
        self.assertEqual(settle(self.nodes[0], receipt, 30), BOTH_ENDED)
        self.assertEqual(left(self.nodes[0], user), {"tokens": LIMIT - 30, "team": LIMIT - 30})

    @staticmethod
    def settle_in_vain(node, receipt):
        try:
            settle(node, receipt, 30)
        except OSError:
            pass

    @staticmethod
    def receipts_of(limit, redis):
        [key] = redis.ask("KEYS", f"weir:{{{limit}:*:r")
        return key

    def apart(self, cluster):
        """Returns a user, the master of its tokens, and another master, which has the team's."""
        for number in range(32):
            user = f"u{number}"
            left(self.nodes[0], user)
            reserve(self.nodes[0], 0, user=user)
            owners = {}
            for master in cluster.masters:
                for key in master.ask("KEYS", "weir:*"):
                    if f"{user}}}" in key:
                        owners["tokens"] = master
                    if "{team:" in key:
                        owners["team"] = master
            if len(owners) == 2 and owners["tokens"] is not owners["team"]:
                return user, owners["tokens"], owners["team"]
        raise AssertionError("all slots are at one master")


class Outage(SharedTest):
    def test_a_receipt_given_in_an_outage_is_settled_in_its_process(self):
        redis = self.enterContext(Redis())
        self.start([redis.url], count=2, timeout="50ms")
        redis.kill()
        giver, other = self.nodes
        eventually(lambda: metric(giver, "weir_store_connected") == 0, "an outage")
        told = eventually(lambda: (found := reserve(giver, 100)).get("receipt") and found, "a local receipt")
        self.assertEqual(post(giver, "settle", {"receipt": told["receipt"], "actual": 10})[1]["limits"][0]["result"], "done")
        status, _ = post(other, "settle", {"receipt": told["receipt"], "actual": 10})
        self.assertEqual(status, 503, "the store may know of it, and does not say")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
