"""Redis fails in every possible way under a real server: tests what callers see, what is counted, and how soon it
recovers.

The table in docs/redis-outages.md has the results of this test: UPDATE_GOLDEN=1 rewrites it; otherwise everything
except the times must match.
"""

import contextlib
import dataclasses
import os
import pathlib
import sys
import tempfile
import typing
import unittest

import failure_table
from delaying_proxy import DelayingProxy
from failure_table import Row
from far_redis import FarRedis
from redis_servers import Redis, free_port
from server import PROGRAM, Server, eventually
from shared_caller import Caller, Metrics, stored_in

QUOTA = 10
POLICY = """
version: 1
limits:
  - {name: local, routes: [/local], on_store_failure: local, RATE}
  - {name: open, routes: [/open], on_store_failure: open, RATE}
  - {name: closed, routes: [/closed], on_store_failure: closed, RATE}
""".replace("RATE", f"consumer_key: user, algorithm: token_bucket, rate: {QUOTA}/day")
KEEPS_ITS_DATA = ["--appendonly", "yes", "--appendfsync", "always"]

# Seconds. The budget is 10 ms, but the machine may be busy: this only excludes that a request waits for Redis.
SLOWEST = 1
GROWTH = (256 if "asan" in PROGRAM or "tsan" in PROGRAM else 16) << 20
IS_UPDATE = "UPDATE_GOLDEN" in os.environ


@dataclasses.dataclass
class Failure:
    name: str  # the state of Redis
    begin: typing.Callable[[], object]
    end: typing.Callable[[], object]
    errors: list  # the kinds of error that are counted
    is_outage: bool = True
    opens_breaker: bool = True  # the kinds of an outage
    from_the_start: bool = False


class Failures(unittest.TestCase):
    maxDiff = None
    rows = {}  # rows of the table, by test

    @classmethod
    def tearDownClass(cls):
        rows = [cls.rows[test] for test in vars(cls) if test in cls.rows]
        print("\n" + failure_table.markdown(rows), file=sys.stderr)
        if IS_UPDATE:
            failure_table.write_page(rows)

    def redis(self, *options, **more):
        return self.enterContext(Redis(*options, **more))

    def check(self, failure, redis, url=None, **store):
        if failure.from_the_start:
            failure.begin()
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        if "password" in store:
            (folder / "password").write_text(store.pop("password") + "\n")
            (folder / "password").chmod(0o600)
            store["password_file"] = "password"
        with Server(POLICY, stored_in(url or redis.url, **store), folder) as self.weir:
            row = self.go_through(failure)
            self.assert_no_stuck_connection(redis)
            times_opened = Metrics(self.weir).times_opened
            log = self.weir.log
        self.assertNotRegex(log, r"Sanitizer|runtime error:")
        self.assertLessEqual(log.count('"store: '), 2 + 2 * times_opened, "only changes are logged")
        self.rows[self._testMethodName] = row
        if not IS_UPDATE:
            self.assertEqual(failure_table.on_page().get(failure.name), row.lasting)

    def go_through(self, failure):
        """Tests before, during and after the failure."""
        with contextlib.closing(Caller(self.weir)) as caller:
            if not failure.from_the_start:
                caller.await_shared()
                eventually(lambda: 0 < caller.left("closed", "earlier") < 7, "a consumer who has used something")
            caller.passes("open", "nobody")
            files, resident = self.weir.open_files, self.weir.resident
            before = Metrics(self.weir)
            caller.slowest = 0
            if not failure.from_the_start:
                failure.begin()
            passed = self.ask_meanwhile(failure, caller)
            has_opened = Metrics(self.weir).times_opened > before.times_opened
            breaker = "opens" if has_opened else "is open" if failure.is_outage and failure.opens_breaker else "stays closed"
            self.assert_errors(failure, before)
            failure.end()
            row = Row(failure.name, *passed, "", failure.errors, breaker, 0, caller.await_shared())
            row.counts = self.counts_afterwards(failure, caller)
            row.slowest = caller.slowest
            self.assertLess(caller.slowest, SLOWEST)
            new = 1 if failure.from_the_start else 0  # the connection to Redis
            eventually(lambda: self.weir.open_files <= files + new, "as few open files as before")
            self.assertLess(self.weir.resident - resident, GROWTH)
        return row

    def ask_meanwhile(self, failure, caller):
        """Sends requests until the failure takes effect. Returns how many passed, in words, by limit."""
        passed = {limit: [] for limit in ["local", "open", "closed"]}
        errors_when_open = []

        def is_known():
            for limit, seen in passed.items():
                seen += [caller.passes(limit, "alice") for _ in range(4)]
            now = Metrics(self.weir)
            if now.breaker_is_open:
                errors_when_open.append(sum(now.errors.values()))
            has_tried_again = errors_when_open and errors_when_open[-1] >= errors_when_open[0] + 2
            return len(seen) > QUOTA and (has_tried_again or not failure.is_outage or not failure.opens_breaker) and \
                set(failure.errors) <= now.errors.keys()

        eventually(is_known, f"errors {failure.errors}, and probes that failed")
        if failure.is_outage:
            self.assert_closed_at_each_listener(caller)
        return [self.in_words(seen) for seen in passed.values()]

    @staticmethod
    def in_words(seen):
        if all(seen):
            return "all pass"
        return f"{sum(seen)} of {QUOTA} pass" if any(seen) else "none passes"

    def assert_closed_at_each_listener(self, caller):
        denied = caller.ask("closed", "bob")
        self.assertEqual((denied["admitted"], denied["reason"], denied["retry_after"]), (False, "store_unavailable", 1))
        self.assertFalse(caller.passes_resp("closed", "bob"))
        self.assertFalse(caller.passes_rls("closed", "bob"))
        self.assertTrue(caller.passes_resp("open", "bob"))
        self.assertTrue(caller.passes_rls("open", "bob"))

    def assert_errors(self, failure, before):
        """Returns the expected errors, and on a busy machine also timeouts."""
        now = Metrics(self.weir)
        moved = {kind for kind, count in now.errors.items() if count > before.errors.get(kind, 0)}
        self.assertLessEqual(moved - {"timeout"}, set(failure.errors))
        paths = {path for path, count in now.paths.items() if count > before.paths.get(path, 0)}
        self.assertLessEqual({"local", "open", "closed"} if failure.is_outage else {"shared"}, paths)

    def counts_afterwards(self, failure, caller):
        if failure.from_the_start:
            return "begin"
        left = eventually(lambda: caller.left("closed", "earlier"), "what is left to one who had used something")
        return "stay" if left < 6 else "start empty"

    def assert_no_stuck_connection(self, redis):
        def clients():
            return len(redis.ask("CLIENT", "LIST").splitlines()) - 1  # the client that requests the list is in it

        eventually(lambda: clients() == 1, "one connection to Redis")
        eventually(lambda: Metrics(self.weir)['weir_connections{listener="http"}'] == 0, "no connection of callers")

    def test_killed(self):
        redis = self.redis(*KEEPS_ITS_DATA)
        self.check(Failure("killed, and started again", redis.kill, redis.restart, ["lost", "unreachable"]), redis)

    def test_killed_and_started_empty(self):
        redis = self.redis()
        self.check(Failure("killed, and started again empty", redis.kill, redis.restart, ["lost", "unreachable"]),
                   redis)

    def test_not_there_at_the_start(self):
        redis = self.redis()
        self.check(Failure("not running when Weir starts", redis.kill, redis.restart, ["unreachable"],
                           from_the_start=True), redis)

    def test_paused(self):
        redis = self.redis()
        self.check(Failure("paused (SIGSTOP)", redis.pause, redis.resume, ["timeout", "unreachable"]), redis)

    def test_slow(self):
        redis = self.redis()
        proxy = self.enterContext(DelayingProxy(redis.place))

        def delay(seconds):
            proxy.delay = seconds

        self.check(Failure("slow, by 100 ms", lambda: delay(0.1), lambda: delay(0), ["timeout"]), redis,
                   url="redis://{}:{}".format(*proxy.place))

    def test_cut_off(self):
        redis = self.enterContext(FarRedis())
        self.check(Failure("partitioned (packets are lost)", redis.cut, redis.mend, ["timeout", "unreachable"]), redis)

    def test_out_of_memory(self):
        redis = self.redis()
        self.check(Failure("out of memory", lambda: redis.ask("CONFIG", "SET", "maxmemory", 1),
                           lambda: redis.ask("CONFIG", "SET", "maxmemory", 0), ["out_of_memory"],
                           opens_breaker=False), redis)

    def test_another_password(self):
        redis = self.redis()
        self.check(Failure("given another password", lambda: self.change_password(redis, "another"),
                           lambda: self.change_password(redis, ""), ["credentials", "lost"]), redis)

    def test_wrong_password(self):
        redis = self.redis(password="right")
        self.check(Failure("contacted with a wrong password", lambda: None,
                           lambda: self.change_password(redis, "wrong"), ["credentials"], from_the_start=True),
                   redis, password="wrong")

    @staticmethod
    def change_password(redis, password):
        with redis.connect() as client:
            client.ask("CONFIG", "SET", "requirepass", password)
            client.ask("CLIENT", "KILL", "TYPE", "normal")  # existing connections would stay open
        redis.password = password

    def test_script_cache_flushed(self):
        redis = self.redis()
        self.check(Failure("without its scripts (SCRIPT FLUSH)", lambda: redis.ask("SCRIPT", "FLUSH"), lambda: None, [],
                           is_outage=False), redis, timeout="250ms")  # so that no other error can occur

    def test_made_a_replica(self):
        redis = self.redis()
        self.check(Failure("made a replica", lambda: redis.ask("REPLICAOF", "127.0.0.1", free_port()),
                           lambda: redis.ask("REPLICAOF", "NO", "ONE"), ["read_only"]), redis)


class Page(unittest.TestCase):
    def test_has_all_failures_and_no_others(self):
        tests = unittest.defaultTestLoader.getTestCaseNames(Failures)
        self.assertEqual(len(failure_table.on_page()), len(tests))


class Connections(unittest.TestCase):
    def test_that_are_lost_again_and_again_leave_nothing_behind(self):
        with Redis() as redis, Server(POLICY, stored_in(redis.url)) as weir, \
                contextlib.closing(Caller(weir)) as caller:
            caller.await_shared()
            files, resident = weir.open_files, weir.resident
            for _ in range(20):
                redis.ask("CLIENT", "KILL", "TYPE", "normal")
                caller.await_breaker()
                caller.await_shared()
            self.assertLessEqual(weir.open_files, files)
            self.assertLess(weir.resident - resident, GROWTH)
            self.assertEqual(Metrics(weir).errors.get("lost"), 20)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
