"""Leased limits on four nodes: the limit is never exceeded, nothing is lost, and most decisions need no round trip to
Redis."""

import collections
import json
import signal
import subprocess
import sys
import unittest

import consistency_table
from redis_servers import Cluster, Redis, Sentinels
from server import PATIENCE, eventually
from shared_nodes import CheckClient, Load, Nodes, all_at_once, decisions, metric

LIMIT = 2000
NODES = 4
CLIENTS = 64

# Nothing is refilled during a run. Without the store all requests are denied, so each admitted request was granted
# there.
ALGORITHMS = {
    "bucket": f"token_bucket, rate: 1/day, burst: {LIMIT}",
    "gcra": f"gcra, rate: 1/day, burst: {LIMIT}",
    "meter": f"leaky_bucket, rate: 1/day, burst: {LIMIT}",
    "window": f"fixed_window, rate: {LIMIT}/365day",
    "counter": f"sliding_window_counter, rate: {LIMIT}/365day",
}


def limit(name, text, **more):
    fields = "".join(f", {field}: {value}" for field, value in more.items())
    return f"  - {{name: {name}, algorithm: {text}, on_store_failure: closed{fields}}}\n"


def policy(*limits):
    return "version: 1\nlimits:\n" + "".join(limits)


EACH_ALGORITHM = policy(*(limit(name, text, routes=f"[/{name}]", consumer_key="user", consistency="leased")
                          for name, text in ALGORITHMS.items()))


# Low enough for a load to exhaust it.
SMALL = 60
EACH_SMALL = EACH_ALGORITHM.replace(str(LIMIT), str(SMALL))


class LeasedTest(unittest.TestCase):
    def start(self, text, **settings):
        self.redis = self.enterContext(Redis())
        self.nodes = self.enterContext(Nodes(text, [self.redis.url], **settings))

    def admitted(self, path, user, each):
        """Returns how many are admitted if all clients send this many requests, concurrently and on all nodes."""
        clients = [CheckClient(self.nodes[number % NODES]) for number in range(CLIENTS)]
        return sum(all_at_once(clients, lambda _, client: sum(
            client.ask(path, user)["admitted"] for _ in range(each))))

    @staticmethod
    def max_admitted(load):
        """Returns the maximum for any consumer. A request of a load returns (user, admitted)."""
        return max(collections.Counter(user for _, _, (user, passed) in load.all() if passed).values())

    def told(self, name, user, node=0):
        return json.loads(self.nodes[node].ask("GET", f"/v1/limits/{name}/consumers/{user}", listener="admin")[2])

    def await_all_back(self):
        for node in self.nodes:
            eventually(lambda: metric(node, "weir_lease_units") == 0, "slices that nobody spends to go back")


class Algorithms(LeasedTest):
    def setUp(self):
        self.start(EACH_ALGORITHM)

    def test_never_one_over_and_all_of_it_in_the_end(self):
        for name in ALGORITHMS:
            with self.subTest(algorithm=name):
                spent = self.admitted(f"/{name}", "alice", 50)
                self.assertLessEqual(spent, LIMIT)
                self.await_all_back()
                for _ in range(20):  # the rest is divided into smaller and smaller slices, and then decided exactly
                    spent += self.admitted(f"/{name}", "alice", 4)
                    self.await_all_back()
                    if spent >= LIMIT:
                        break
                self.assertEqual(spent, LIMIT)
                consistency_table.note(self, f"leased, {name}", f"{LIMIT}", spent)
                self.assertEqual(self.admitted(f"/{name}", "alice", 1), 0)
        leased, shared = decisions(self.nodes, "leased"), decisions(self.nodes, "shared")
        self.assertGreater(leased, shared / 2)
        for path in "local", "open", "closed":
            self.assertEqual(decisions(self.nodes, path), 0, path)
        for node in self.nodes:
            self.assertEqual(metric(node, "weir_store_errors_total"), 0)

    def test_what_is_out_is_told(self):
        """Asks another node: what remains there is neither used nor leased."""
        client = CheckClient(self.nodes[0])
        self.addCleanup(client.close)
        for _ in range(200):
            self.assertTrue(client.ask("/bucket", "bob")["admitted"])
        held = metric(self.nodes[0], "weir_lease_units", limit="bucket")
        seen = self.told("bucket", "bob", node=1)["remaining"]
        self.assertLessEqual(seen, LIMIT - 200)
        self.assertGreaterEqual(seen, LIMIT - 200 - LIMIT // 2)
        self.assertGreaterEqual(held, 0)
        self.await_all_back()
        self.assertEqual(self.told("bucket", "bob", node=1)["remaining"], LIMIT - 200)

    def test_a_node_that_stops_gives_back_what_it_holds(self):
        client = CheckClient(self.nodes[3])
        self.addCleanup(client.close)
        for _ in range(200):
            client.ask("/window", "carol")
        self.nodes[3].stop()
        self.assertEqual(self.told("window", "carol")["remaining"], LIMIT - 200)

    def test_reset_forgets_what_is_out(self):
        client = CheckClient(self.nodes[0])
        self.addCleanup(client.close)
        for _ in range(200):
            client.ask("/gcra", "dora")
        token = (self.nodes[0].state_dir / "admin.token").read_text().strip()
        status, _, _ = self.nodes[0].ask("POST", "/v1/limits/gcra/consumers/dora/reset", listener="admin",
                                         headers={"Authorization": f"Bearer {token}"})
        self.assertLess(status, 300)
        self.assertEqual(self.told("gcra", "dora")["remaining"], LIMIT)


class Told(LeasedTest):
    """What operators see: usage in the store, leased units, and their holders. Leases are long, so that units stay
    leased."""

    LONG = "{leased: {lease: 60s}}"
    POLICY = ("version: 1\ntiers: {from: {header: X-Plan}, default: free, names: [free, pro]}\nlimits:\n" +
              limit("user", f"token_bucket, rate: 1/day, burst: {LIMIT}", routes="[/user]", consumer_key="user",
                    consistency=LONG, tier_overrides="{pro: {rate: 1/day, burst: 3000}}") +
              limit("tried", f"fixed_window, rate: {LIMIT}/365day", routes="[/tried]", consumer_key="user",
                    consistency=LONG, candidate="{rate: 500/365day}") +
              limit("watched", f"fixed_window, rate: {LIMIT}/365day", routes="[/tried]", consumer_key="user",
                    consistency=LONG, mode="shadow") +
              limit("small", "fixed_window, rate: 100/365day", routes="[/small]", consumer_key="user",
                    consistency=LONG))

    def setUp(self):
        self.start(self.POLICY, count=2)
        self.clients = [CheckClient(node) for node in self.nodes]
        for client in self.clients:
            self.addCleanup(client.close)

    def ask(self, node, path, user, times):
        """Returns how many of them are admitted."""
        return sum(self.clients[node].ask(path, user)["admitted"] for _ in range(times))

    def ask_as(self, node, tier, times):
        for _ in range(times):
            status, _, _ = self.nodes[node].ask("POST", "/v1/check", json.dumps(
                {"path": "/user", "user": "alice", "tier": tier}))
            self.assertEqual(status, 200)

    def holder(self, node):
        return json.loads(self.nodes[node].ask("GET", "/v1/status", listener="admin")[2])["store"]["holder"]

    def weir(self, node, *arguments):
        ran = subprocess.run([sys.argv[1], *arguments, "--admin", "%s:%d" % self.nodes[node].admin, "--token-file",
                              str(self.nodes[node].state_dir / "admin.token")],
                             capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        return ran.stdout

    def reset(self, node, name, user):
        token = (self.nodes[node].state_dir / "admin.token").read_text().strip()
        return json.loads(self.nodes[node].ask("POST", f"/v1/limits/{name}/consumers/{user}/reset", listener="admin",
                                               headers={"Authorization": f"Bearer {token}"})[2])

    def test_who_holds_what(self):
        self.assertEqual(self.ask(0, "/user", "alice", 200), 200)
        self.assertEqual(self.ask(1, "/user", "alice", 50), 50)
        holders = [self.holder(0), self.holder(1)]
        self.assertEqual([len(holder) for holder in holders], [12, 12])
        self.assertNotEqual(*holders)
        for node in range(2):
            told = self.told("user", "alice", node)
            self.assertEqual((told["consistency"], told["quota"], told["holders"]), ("leased", LIMIT, 2))
            self.assertEqual({each["holder"]: each["own"] for each in told["slices"]},
                             {holders[node]: True, holders[1 - node]: False})
            self.assertEqual(told["leased"], sum(each["units"] for each in told["slices"]))
            for each in told["slices"]:
                self.assertGreater(each["units"], 0)
                self.assertTrue(0 < each["expires_after"] <= 60, each)
            # For other nodes a slice is held until it is reported; for its own node the spent part is gone.
            own = metric(self.nodes[node], "weir_lease_units", limit="user")
            self.assertEqual(told["used"] + told["leased"] + told["remaining"] - own, LIMIT)
            self.assertEqual(metric(self.nodes[node], "weir_lease_holder_info", holder=holders[node]), 1)
            text = self.weir(node, "peek", "user", "alice")
            self.assertIn(f"Limit is leased: {told['used']} used, {told['leased']} leased in 2 slices:\n", text)
            self.assertRegex(text, rf"(?m)^  {holders[node]}  \d+ units, expires in [\d.]+ m?s, this node$")
            self.assertRegex(text, rf"(?m)^  {holders[1 - node]}  \d+ units, expires in [\d.]+ m?s$")
            self.assertIn(f"holds slices as {holders[node]}\n", self.weir(node, "status"))

    def test_a_reset_says_what_is_still_out(self):
        self.ask_as(0, "free", 100)
        self.ask_as(0, "pro", 100)
        self.ask(1, "/user", "alice", 50)
        self.assertGreater(metric(self.nodes[0], "weir_lease_slices", limit="user"), 1)
        theirs = [each for each in self.told("user", "alice")["slices"] if not each["own"]]
        done = self.reset(0, "user", "alice")
        self.assertEqual((done["reset"], done["out"]["holders"]), (True, 1))
        self.assertEqual(done["out"]["units"], theirs[0]["units"])
        self.assertTrue(0 < done["out"]["expires_after"] <= theirs[0]["expires_after"])
        self.assertEqual(metric(self.nodes[0], "weir_lease_units"), 0, "of no tier is anything spent any more")
        told = self.told("user", "alice")
        self.assertEqual((told["used"], told["leased"], told["slices"], told["remaining"]), (0, 0, [], LIMIT))
        # The other node spends what it has and then asks the store; from then on both use the new state.
        self.assertEqual(self.ask(0, "/user", "alice", 100), 100)
        self.assertIn(" leased to other nodes before the reset ", self.weir(1, "reset", "user", "alice"))
        self.assertEqual(self.weir(1, "reset", "user", "alice"), "user: user=alice reset\n")

    def test_candidates_and_limits_in_shadow_are_exact(self):
        self.assertEqual(self.ask(0, "/tried", "alice", 200) + self.ask(1, "/tried", "alice", 100), 300)
        self.assertGreater(decisions(self.nodes, "leased"), 100)
        for node in range(2):
            told = self.told("tried", "alice", node)
            self.assertEqual(told["consistency"], "leased")
            self.assertEqual(told["candidate"],
                             {"admitted": True, "quota": 500, "remaining": 200, "consistency": "exact"})
            shadow = self.told("watched", "alice", node)
            self.assertEqual((shadow["mode"], shadow["consistency"], shadow["used"], shadow["leased"], shadow["slices"]),
                             ("shadow", "exact", 300, 0, []))
            self.assertIn("Candidate (exact): 200 of 500 left", self.weir(node, "peek", "tried", "alice"))

    def test_denials_while_others_hold_units_are_counted(self):
        self.assertEqual(self.ask(0, "/small", "alice", 20), 20)
        held = self.told("small", "alice", 1)["leased"]
        self.assertGreater(held, 0)
        denied = 150 - self.ask(1, "/small", "alice", 150)
        self.assertGreaterEqual(denied, 50)
        told = self.told("small", "alice", 1)
        self.assertFalse(told["admitted"])
        self.assertGreater(sum(each["units"] for each in told["slices"] if not each["own"]), 0)
        self.assertEqual(metric(self.nodes[1], "weir_lease_contended_denials_total"), denied)
        self.assertEqual(metric(self.nodes[0], "weir_lease_contended_denials_total"), 0)


class Together(LeasedTest):
    """Tests a leased limit and an exact one in one request."""

    POLICY = policy(limit("user", "token_bucket, rate: 1/day, burst: 400", consumer_key="user", consistency="leased"),
                    limit("all", "gcra, rate: 1/day, burst: 1000", consumer_key="global"))

    def test_all_or_nothing(self):
        self.start(self.POLICY)
        users = [f"user-{number}" for number in range(4)]

        def work(number, client):
            asked = [users[(number + turn) % 4] for turn in range(40)]
            return [user for user in asked if client.ask("/", user)["admitted"]]

        clients = [CheckClient(self.nodes[number % NODES]) for number in range(CLIENTS)]
        admitted = collections.Counter(sum(all_at_once(clients, work), []))
        self.assertEqual(admitted.total(), 1000)
        self.await_all_back()
        for user in users:
            self.assertLessEqual(admitted[user], 400)
            # Units of requests that another limit denied were put back, except for requests during which a message
            # about the slice was sent.
            self.assertLessEqual(self.told("user", user)["remaining"], 400 - admitted[user])


class InACluster(LeasedTest):
    """Consumers in all slots, and one limit for all of them in another slot."""

    USERS = [f"user-{number}" for number in range(12)]
    POLICY = policy(limit("user", "token_bucket, rate: 1/day, burst: 200", consumer_key="user", consistency="leased"),
                    limit("all", f"fixed_window, rate: {LIMIT}/365day", consumer_key="global", consistency="leased"))

    def test_never_one_over(self):
        cluster = self.enterContext(Cluster(node_timeout=2000))
        self.nodes = self.enterContext(Nodes(self.POLICY, cluster.urls[:2], servers=3))

        def work(number, client):
            users = [self.USERS[(number + turn) % 12] for turn in range(60)]
            return [user for user in users if client.ask("/", user)["admitted"]]

        clients = [CheckClient(self.nodes[number % NODES]) for number in range(CLIENTS)]
        admitted = collections.Counter(sum(all_at_once(clients, work), []))
        self.assertLessEqual(admitted.total(), LIMIT)
        self.assertLessEqual(max(admitted.values()), 200)
        self.assertGreater(admitted.total(), LIMIT / 2)
        self.assertGreater(decisions(self.nodes, "leased"), 0)


class Failover(LeasedTest):
    def test_nothing_is_over_but_what_redis_lost(self):
        """The master dies under load: the new master knows what was replicated, in the worst case nothing."""
        master = self.enterContext(Redis())
        replica = self.enterContext(Redis(replica_of=master))
        replica.await_replica()
        sentinels = self.enterContext(Sentinels(master))
        self.nodes = self.enterContext(Nodes(EACH_SMALL, sentinels.urls, timeout="10ms",
                                             sentinel={"master": sentinels.name}))

        def ask(client, turn):
            user = f"user-{turn % 3}"
            return user, client.ask("/counter", user)["admitted"]

        with Load(self.nodes, ask) as load:
            load.await_round(20)
            master.kill()
            sentinels.await_master(replica)
            self.nodes.await_connected()
            load.await_round(20)
        most, bound = self.max_admitted(load), 2 * SMALL + SMALL // 2
        consistency_table.note(self, "leased, Redis failed over under load",
                               f"at most {bound} per consumer: the limit, plus what was not replicated", most)
        self.assertLessEqual(most, bound)


class Rollout(LeasedTest):
    """Nodes that lease a limit, together with nodes that ask for each request, agree on the usage."""

    def test_leased_and_exact_nodes_share_a_key(self):
        self.start(EACH_ALGORITHM)
        exact = [number for number in range(NODES) if number % 2]
        for number in exact:
            node = self.nodes[number]
            node.policy_file.write_text(EACH_ALGORITHM.replace("consistency: leased", "consistency: exact"))
            node.signal(signal.SIGHUP)
            eventually(lambda: (json.loads(node.ask("GET", "/v1/status", listener="admin")[2])["last_reload"] or {})
                       .get("applied"), "a reload")
        self.assertLessEqual(self.admitted("/bucket", "alice", 50), LIMIT)
        self.assertEqual(sum(metric(self.nodes[number], "weir_store_decisions_total", path="leased")
                             for number in exact), 0)


class Failures(LeasedTest):
    def ask(self, client, turn):
        user = f"user-{turn % 3}"
        return user, client.ask("/bucket", user)["admitted"]

    def drive(self, disturb):
        self.start(EACH_SMALL, timeout="50ms")
        with Load(self.nodes, self.ask) as load:
            load.await_round(5)
            disturb(load)
            self.nodes.await_connected()
            load.await_round(5)
        self.assertLess(load.slowest, PATIENCE)
        return load

    def test_a_redis_that_stands_still(self):
        """Granted units are spent until they expire; then the limit is closed. Nothing is exceeded."""
        def disturb(load):
            self.redis.pause()
            load.await_round(20)
            self.redis.resume()

        most = self.max_admitted(self.drive(disturb))
        consistency_table.note(self, "leased, Redis paused under load", f"at most {SMALL} per consumer", most)
        self.assertLessEqual(most, SMALL)

    def test_a_redis_that_is_killed_and_comes_back_empty(self):
        """Redis forgot what was charged: the same amount may pass again, plus the leased units."""
        def disturb(load):
            self.redis.kill()
            load.await_round(10)
            self.redis.restart()

        most = self.max_admitted(self.drive(disturb))
        bound = 2 * SMALL + SMALL // 2
        consistency_table.note(self, "leased, Redis killed, and started again empty",
                               f"at most {bound} per consumer: twice the limit, plus the leased units", most)
        self.assertLessEqual(most, bound)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
