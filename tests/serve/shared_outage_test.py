"""Four nodes share a limit while Redis is unavailable in different ways: together they stay within the limit."""

import contextlib
import sys
import threading
import time
import unittest

from delaying_proxy import DelayingProxy
from redis_servers import Redis
from server import Server, eventually
from shared_nodes import CheckClient, Load, Nodes, metric, store

NODES = 4
RATE, BURST = 40, 20  # per second; burst
SECONDS = 5
LIMIT = 21  # per day
# Whenever a connection is lost, the node decides the requests in flight. Redis may have denied a request, or never
# received it, and the request is not charged again. Eight clients that send without pause cause many such requests.
IN_FLIGHT = 1.4
POLICY = f"""
version: 1
limits:
  - {{name: steady, routes: [/steady], consumer_key: user, algorithm: token_bucket, rate: {RATE}/s, burst: {BURST}}}
  - {{name: daily, routes: [/daily], consumer_key: user, algorithm: fixed_window, rate: {LIMIT}/day}}
  - {{name: few, routes: [/few], consumer_key: user, algorithm: fixed_window, rate: 3/day}}
  - {{name: named, routes: [/named], consumer_key: user, algorithm: fixed_window, rate: {LIMIT}/day, local_share: 0.5}}
"""


def await_counted(nodes):
    for node in nodes:
        eventually(lambda: metric(node, "weir_nodes") == len(nodes), "nodes that know each other")


def admitted_by(node, path, user, asked=LIMIT + 4):
    with contextlib.closing(CheckClient(node)) as client:
        return sum(client.ask(path, user)["admitted"] for _ in range(asked))


def admitted(nodes, path, user):
    """Returns what each node admits of more requests than the limit allows."""
    return [admitted_by(node, path, user) for node in nodes]


@contextlib.contextmanager
def repeated(work, pause):
    """Repeats the action during the body of the `with` block."""
    over = threading.Event()

    def run():
        while not over.wait(pause):
            work()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


class Together(unittest.TestCase):
    """One consumer sends far more requests than the limit allows, evenly to all nodes."""

    def measure(self, url, failing):
        """Returns what was admitted within SECONDS of `failing`, a context that makes Redis fail, as a fraction of the
        rate.

        Shares begin full, so one more burst is admitted.
        """
        with Nodes(POLICY, [url], count=NODES, timeout="10ms", sections="loops: 1\n") as nodes:
            await_counted(nodes)
            with Load(nodes, lambda client, _: client.ask("/steady", "alice")["admitted"], count=2 * NODES) as load:
                load.await_round(20)
                with failing:
                    begin = time.monotonic()
                    time.sleep(SECONDS)
                    took = time.monotonic() - begin
                    load.stop()
                passed = sum(told for asked, _, told in load.all() if begin <= asked < begin + took)
        part = (passed - BURST) / (RATE * took)
        print(f"{self._testMethodName}: {passed} of {RATE * took:.0f}, {part:.0%} without the burst", file=sys.stderr)
        return part

    def assert_within_the_limit(self, url, failing, most=1.0):
        part = self.measure(url, failing)
        self.assertLessEqual(part, most)
        self.assertGreater(part, 0.4)  # and the outage does not stop everything

    def test_killed(self):
        redis = self.enterContext(Redis())

        @contextlib.contextmanager
        def failing():
            redis.kill()
            yield

        self.assert_within_the_limit(redis.url, failing())

    def test_paused(self):
        redis = self.enterContext(Redis())

        @contextlib.contextmanager
        def failing():
            redis.pause()
            yield
            redis.resume()

        self.assert_within_the_limit(redis.url, failing())

    def test_slow(self):
        redis = self.enterContext(Redis())
        proxy = self.enterContext(DelayingProxy(redis.place))

        @contextlib.contextmanager
        def failing():
            proxy.delay = 0.1
            yield
            proxy.delay = 0

        self.assert_within_the_limit("redis://{}:{}".format(*proxy.place), failing())

    def test_slow_from_time_to_time(self):
        redis = self.enterContext(Redis())
        proxy = self.enterContext(DelayingProxy(redis.place))

        def turn():
            proxy.delay = 0 if proxy.delay else 0.1

        self.assert_within_the_limit("redis://{}:{}".format(*proxy.place), repeated(turn, 0.5), IN_FLIGHT)

    def test_resetting_connections(self):
        redis = self.enterContext(Redis())
        resetting = repeated(lambda: redis.ask("CLIENT", "KILL", "TYPE", "normal"), 0.05)
        self.assert_within_the_limit(redis.url, resetting, IN_FLIGHT)


class Shares(unittest.TestCase):
    def test_are_the_limit_divided_by_the_nodes(self):
        with Redis() as redis, Nodes(POLICY, [redis.url], count=NODES, timeout="100ms") as nodes:
            await_counted(nodes)
            redis.kill()
            self.assertEqual(admitted(nodes, "/daily", "alice"), [LIMIT // NODES] * NODES)
            self.assertEqual(admitted(nodes, "/few", "alice"), [1] * NODES)  # none denies everything
            self.assertEqual(admitted(nodes, "/named", "alice"), [LIMIT // 2] * NODES)  # as the policy says

    def test_of_a_single_node_are_a_half(self):
        with Redis() as redis, Nodes(POLICY, [redis.url], count=1, timeout="100ms") as nodes:
            await_counted(nodes)
            redis.kill()
            self.assertEqual(admitted(nodes, "/daily", "alice"), [LIMIT // 2])

    def test_survive_a_restart_while_redis_is_unavailable(self):
        with Redis() as redis, Nodes(POLICY, [redis.url], count=3, timeout="100ms", startup_timeout="100ms") as nodes:
            await_counted(nodes)
            for node in nodes:
                count = node.state_dir / "nodes"
                eventually(lambda: count.exists() and count.read_text() == "3\n", "a count on disk")
            redis.kill()
            with contextlib.ExitStack() as stack:
                again = []
                for node in nodes:
                    node.stop()
                    again.append(stack.enter_context(
                        Server(POLICY, node.config_file.read_text(), node.directory)))
                self.assertEqual(admitted(again, "/daily", "alice"), [LIMIT // 3] * 3)

    def test_of_a_node_that_never_counted_are_for_as_many_as_weir_yaml_says(self):
        with Redis() as redis:
            redis.kill()
            for settings, passing in ({"nodes": 7}, LIMIT // 7), ({}, 1):
                config = store([redis.url], startup_timeout="100ms", **settings)
                with Server(POLICY, config) as node:
                    self.assertEqual(admitted_by(node, "/daily", "alice"), passing)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
