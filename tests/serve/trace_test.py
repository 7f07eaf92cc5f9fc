"""Sends one trace through every listener: the verdicts and the numbers are the same."""

import dataclasses
import json
import math
import re
import sys
import time
import unittest

import resp_client
import rls_client
import server
from server import Server

ALGORITHMS = ["token_bucket", "gcra", "leaky_bucket", "fixed_window", "sliding_window_log", "sliding_window_counter"]
QUOTA = 5
PERIOD = 30 * 86_400

# A limit that sets its cost ignores the caller's, so there is one limit of each kind.
BY_HEADER = "-by-header"

# So slow that nothing is refilled while the test runs: what remains depends on the trace alone.
POLICY = "version: 1\nlimits:\n" + "".join(
    f"  - name: {name}{by}\n    routes: [/{name}{by}]\n    consumer_key: user\n    algorithm: {name}\n"
    f"    rate: {QUOTA}/30day\n" + ("    cost: header:X-Cost\n" if by else "") +
    (f"    burst: {QUOTA}\n" if not name.endswith(("window", "log", "counter")) else "")
    for name in ALGORITHMS for by in ("", BY_HEADER))

TRACE = [("a", 1), ("a", 2), ("b", 1), ("a", 0), ("a", 4), ("a", 2), ("a", 1), ("a", 0), ("b", 5), ("b", 4), ("b", 1),
         ("c", 5), ("c", 1), ("a", 3)]
NEVER = [("d", 6), ("d", 1), ("d", 1_000_000_000), ("d", 4), ("d", 5)]


def expected(trace):
    """Returns (admitted, remaining) of each step, if nothing is refilled."""
    used = {}
    for consumer, cost in trace:
        admitted = used.get(consumer, 0) + cost <= QUOTA
        if admitted:
            used[consumer] = used.get(consumer, 0) + cost
        yield admitted, QUOTA - used.get(consumer, 0)


@dataclasses.dataclass
class Told:
    """The answer of a listener. None means that the listener does not report it. Times are in seconds; `whole` means
    that they are rounded up."""

    admitted: bool
    limit: str | None
    quota: int | None
    remaining: int
    retry_after: float | None
    reset_after: float | None
    whole: bool


class Check:
    def __init__(self, weir, as_array=False):
        self.weir = weir
        self.as_array = as_array

    def ask(self, limit, user, cost):
        query = {"path": "/" + limit, "user": user, "cost": cost}
        status, _, body = self.weir.ask("POST", "/v1/check", json.dumps([query] if self.as_array else query))
        told = json.loads(body)
        told = told[0] if self.as_array else told
        if not self.as_array:
            assert status == (200 if told["admitted"] else 429), (status, told)
        return Told(told["admitted"], told["limit"], told["quota"], told["remaining"], told["retry_after"],
                    told["reset_after"], whole=False)

    def close(self):
        pass


def told_in_fields(admitted, headers):
    name, remaining = re.match(r'"([^"]+)";r=(\d+)', headers["ratelimit"]).groups()
    policy, quota = re.match(r'"([^"]+)";q=(\d+)', headers["ratelimit-policy"]).groups()
    assert (name, remaining, quota) == (policy, headers["x-ratelimit-remaining"], headers["x-ratelimit-limit"])
    wait = headers.get("retry-after")
    return Told(admitted, name, int(quota), int(remaining), int(wait) if wait else None if not admitted else 0,
                int(headers["x-ratelimit-reset"]), whole=True)


class Auth:
    def __init__(self, weir, by=BY_HEADER):
        self.weir = weir
        self.by = by

    def ask(self, limit, user, cost):
        limit += self.by
        status, headers, body = self.weir.ask("GET", "/v1/auth", headers={
            "X-Original-Method": "GET", "X-Original-URI": "/" + limit, "X-User-Id": user, "X-Cost": str(cost)})
        if status == 429:
            assert json.loads(body)["violated-policies"] == [limit], body
        else:
            assert status == 200, status
        told = told_in_fields(status == 200, {name.lower(): value for name, value in headers.items()})
        told.limit = told.limit.removesuffix(self.by)
        return told

    def close(self):
        pass


class Rls:
    def __init__(self, weir):
        self.client = rls_client.connect(weir.rls, server.PATIENCE)

    def ask(self, limit, user, cost):
        answer = self.client.ask({"path": "/" + limit, "user": user}, cost)
        told = told_in_fields(answer.admitted, answer.headers)
        assert (answer.limit, answer.remaining) == (told.limit, told.remaining), vars(answer)
        if not answer.admitted:
            assert json.loads(answer.body)["violated-policies"] == [limit], answer.body
        return told

    def close(self):
        self.client.connection.close()


class WeirCheck:
    def __init__(self, weir):
        self.client = resp_client.connect(weir.resp, server.PATIENCE)

    def ask(self, limit, user, cost):
        denied, quota, remaining, retry, reset, _, name, _ = self.client.ask("WEIR.CHECK", limit, user, "COST", cost)
        return Told(denied == 0, name, quota, remaining, None if retry < 0 else retry / 1e6, reset / 1e6, whole=False)

    def close(self):
        self.client.__exit__()


class Throttle(WeirCheck):
    def ask(self, limit, user, cost):
        limited, quota, remaining, retry, reset = self.client.ask("CL.THROTTLE", user, QUOTA - 1, QUOTA, PERIOD, cost)
        wait = 0 if not limited else None if retry < 0 else retry
        return Told(limited == 0, None, quota, remaining, wait, reset, whole=True)


class Listeners(unittest.TestCase):
    def setUp(self):
        self.server = self.enterContext(Server(POLICY))
        self.began = time.monotonic()

    def run_trace(self, listener, limit, trace, consumers):
        told = [listener.ask(limit, f"{consumers}-{user}", cost) for user, cost in trace]
        listener.close()
        return told

    def assert_agrees(self, told, reference):
        """Asserts the same wait, except for the time that has passed, and up to a second more if the listener has only
        whole seconds: they are rounded up, so that no client retries too early."""
        passed = time.monotonic() - self.began
        self.assertEqual((told.admitted, told.quota, told.remaining),
                         (reference.admitted, reference.quota, reference.remaining))
        if told.limit:
            self.assertEqual(told.limit, reference.limit)
        self.assertLess(passed, PERIOD / QUOTA / 2, "too slow to compare")
        for one, other in (told.retry_after, reference.retry_after), (told.reset_after, reference.reset_after):
            self.assertEqual(one is None, other is None, (told, reference))
            if one is None:
                continue
            if told.whole:
                other = math.ceil(other)
            self.assertLessEqual(abs(one - other), math.ceil(passed) if told.whole else passed, (told, reference))

    def compare(self, limit, trace, listeners):
        reference = self.run_trace(Check(self.server), limit, trace, "check")
        self.assertEqual([(each.admitted, each.remaining) for each in reference], list(expected(trace)))
        self.assertEqual({(each.limit, each.quota) for each in reference}, {(limit, QUOTA)})
        for name, listener in listeners.items():
            for told, other in zip(self.run_trace(listener, limit, trace, name), reference, strict=True):
                with self.subTest(limit=limit, listener=name):
                    self.assert_agrees(told, other)

    def test_agree_on_every_algorithm(self):
        for limit in ALGORITHMS:
            self.compare(limit, TRACE, {"batch": Check(self.server, as_array=True), "auth": Auth(self.server),
                                        "rls": Rls(self.server), "resp": WeirCheck(self.server)})

    def test_agree_on_what_can_never_fit(self):
        """All listeners except /v1/auth, where the policy bounds what a header can request."""
        for limit in ALGORITHMS:
            self.compare(limit, NEVER, {"batch": Check(self.server, as_array=True), "rls": Rls(self.server),
                                        "resp": WeirCheck(self.server)})

    def test_cl_throttle_is_gcra_by_its_own_numbers(self):
        self.compare("gcra", TRACE + NEVER, {"throttle": Throttle(self.server)})

    def test_share_their_counters(self):
        """A consumer with the same name at every listener has one budget."""
        listeners = {"check": Check(self.server), "auth": Auth(self.server, by=""), "rls": Rls(self.server),
                 "resp": WeirCheck(self.server), "batch": Check(self.server, as_array=True)}
        for limit in ALGORITHMS:
            told = [listener.ask(limit, "everywhere", 1) for listener in listeners.values()]
            self.assertEqual([each.remaining for each in told], [4, 3, 2, 1, 0], limit)
            self.assertEqual([listener.ask(limit, "everywhere", 1).admitted for listener in listeners.values()], [False] * 5)
        for listener in listeners.values():
            listener.close()


QUEUE = """
version: 1
limits:
  - {name: queue, routes: [/queue], consumer_key: user, algorithm: leaky_bucket, rate: 4/s, queue: 2}
  - {name: slow, routes: [/slow], consumer_key: user, algorithm: leaky_bucket, rate: 1/min, queue: 2}
"""


class Queue(unittest.TestCase):
    """One passes, two wait for their turn, the next is denied. Listeners differ in how long a caller can wait."""

    def setUp(self):
        self.server = self.enterContext(Server(QUEUE))

    def check(self, user, **more):
        return json.loads(self.server.ask("POST", "/v1/check", json.dumps({"path": "/slow", "user": user, **more}))[2])

    def test_check_and_weir_check_tell_the_delay(self):
        batch = json.dumps([{"path": "/slow", "user": "batch"}] * 4)
        told = json.loads(self.server.ask("POST", "/v1/check", batch)[2])
        self.assertEqual([(each["admitted"], each["delay"]) for each in told],
                         [(True, 0), (True, 60), (True, 120), (False, 0)])
        with resp_client.connect(self.server.resp, server.PATIENCE) as client:
            client.connection.sendall(resp_client.command("WEIR.CHECK", "slow", "resp") * 4)
            told = [client.receive() for _ in range(4)]
        self.assertEqual([(each[0], each[5]) for each in told], [(0, 0), (0, 60_000_000), (0, 120_000_000), (1, 0)])

    def test_auth_holds_its_answer(self):
        connection = self.server.connect("http")
        self.addCleanup(connection.close)
        request = b"GET /v1/auth/queue HTTP/1.1\r\nHost: localhost\r\nX-User-Id: auth\r\n\r\n"
        connection.sendall(request * 4)
        began = time.monotonic()
        answers = b""
        arrivals = []
        while answers.count(b"HTTP/1.1 ") < 4 or not answers.rstrip().endswith(b"}"):
            answers += connection.recv(65536)
            arrivals += [time.monotonic() - began] * (answers.count(b"HTTP/1.1 ") - len(arrivals))
        self.assertEqual(re.findall(rb"HTTP/1\.1 (\d+)", answers), [b"200", b"200", b"200", b"429"])
        self.assertGreaterEqual(arrivals[1], 0.2)
        self.assertGreaterEqual(arrivals[2], 0.45)

    def test_rls_cannot_wait(self):
        with rls_client.connect(self.server.rls, server.PATIENCE) as client:
            told = [client.ask({"path": "/slow", "user": "rls"}).admitted for _ in range(2)]
        self.assertEqual(told, [True, False])
        self.check("other", max_wait=0)
        self.assertFalse(self.check("other", max_wait=0)["admitted"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
