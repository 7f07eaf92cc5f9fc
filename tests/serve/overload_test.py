"""Load makes no proxy let requests pass, and a hung Weir stalls no request for long. Tests each proxy with its
unchanged example.

The limit is exhausted. Any request that reaches the application then passed because the proxy ran out of some resource
and treated that as a failure of Weir.
"""

import asyncio
import concurrent.futures
import contextlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import envoy_test
import hostile
import proxy
import sweep_clients
from server import PATIENCE, eventually
from sweep_test import LEAST, with_rate


def h2load(port, requests, connections, streams=1, http1=False):
    """Returns the numbers of responses: {"2xx": 0, "4xx": 3000, ...}. `streams` is the number of concurrent requests
    per connection."""
    arguments = ["-n", requests, "-c", connections, "-m", streams, *(["--h1"] if http1 else [])]
    done = subprocess.run(["h2load", *map(str, arguments), f"http://127.0.0.1:{port}/"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=4 * PATIENCE)
    answers = {kind: int(number) for number, kind in re.findall(r"(\d+) (\dxx)", done.stdout)}
    if not answers:
        raise AssertionError(f"h2load: {done.stdout}")
    return answers


def withheld_bodies(port, requests):
    """Returns the statuses of this many concurrent requests that send their bodies late: those without an earlier
    response have passed. None stands for a connection that was closed without a response."""
    barrier = asyncio.Barrier(requests)

    async def one():
        async with sweep_clients.connected(port) as (reader, writer):
            writer.write(b"POST / HTTP/1.1\r\nHost: shop.example.com\r\nContent-Length: 1\r\n")
            await barrier.wait()
            writer.write(b"\r\n")
            with contextlib.suppress(ConnectionError):
                status = asyncio.create_task(reader.readline())
                await asyncio.wait([status], timeout=1)
                writer.write(b"x")
                line = await asyncio.wait_for(status, PATIENCE)
                return int(line.split()[1]) if line else None

    async def each():
        return await asyncio.gather(*(one() for _ in range(requests)))

    return asyncio.run(each())


class Prepared:
    """Weir, an example's proxy and the application, with the limit exceeded."""

    example = None
    command = None
    listener = 8000
    awaited = 8000
    policy = "policy.yaml"
    instead = None

    @classmethod
    def setUpClass(cls):
        hostile.raise_file_limit()

    def setUp(self):
        directory = self.enterContext(tempfile.TemporaryDirectory())
        self.application = self.enterContext(sweep_clients.application())
        served = proxy.served(self.example, directory, self.policy, lambda policy: with_rate(policy, LEAST))
        self.weir = self.enterContext(served)
        ports = {port: proxy.free_port() for port in (8000, 8001, 8002)}
        self.port = ports[self.listener]
        ports |= {8080: self.weir.http[1], 9000: self.application.port}
        if hasattr(self.weir, "rls"):
            ports[8081] = self.weir.rls[1]
        self.enterContext(proxy.running(self.example, self.command, ports, ports[self.awaited], self.instead, None))
        self.use_up()

    def use_up(self):
        for client in ["127.0.0.1", sweep_clients.CLIENT]:
            self.ask(client)
            self.assertEqual(self.ask(client)[0], 429)
        self.application.reached.clear()

    def ask(self, client=sweep_clients.CLIENT):
        """Returns (status, duration in seconds)."""
        began = time.monotonic()
        status = proxy.Client().ask(client=client, port=self.port)[0]
        return status, time.monotonic() - began


class Overload(Prepared):
    # (requests, connections, streams of each): at least 2,000 at once, if the proxy accepts that many.
    over_http2 = [(3_000, 3, 500), (10_000, 10, 500), (10_000, 50, 100)]
    over_http1 = [(6_000, 2_000)]
    stall = 4    # the maximum time in seconds that a request waits for a hung Weir

    def assert_shut(self, answers):
        self.assertEqual((len(self.application.reached), answers["2xx"]), (0, 0))
        self.assertGreaterEqual(answers["4xx"], 2_000)

    def test_two_thousand_requests_at_once_leave_the_gate_shut(self):
        for load in self.over_http2:
            with self.subTest(load):
                self.assert_shut(h2load(self.port, *load))
        for load in self.over_http1:
            with self.subTest(load):
                self.assert_shut(h2load(self.port, *load, http1=True))
        self.assertEqual(self.ask()[0], 429)

    @contextlib.contextmanager
    def hung(self):
        """Suspends Weir in the block. 20 requests during that time must be answered in time."""
        self.weir.signal(signal.SIGSTOP)
        try:
            with concurrent.futures.ThreadPoolExecutor(20) as threads:
                answers = list(threads.map(lambda _: self.ask(), range(20)))
            self.assertLess(max(seconds for _, seconds in answers), self.stall)
            yield
        finally:
            self.weir.signal(signal.SIGCONT)
        eventually(lambda: self.ask()[0] == 429, "a denial")


class Bypassed:
    def test_a_weir_that_hangs_is_bypassed_and_asked_again_when_it_goes_on(self):
        with self.hung():
            eventually(lambda: self.ask()[0] == 200, "a request that passes")
            answers = [self.ask() for _ in range(50)]
            self.assertEqual({status for status, _ in answers}, {200})
            # Except those that test whether Weir is available again.
            waited = [seconds for _, seconds in answers if seconds > 0.25]
            self.assertLessEqual(len(waited), 3, waited)


class Envoy(Bypassed, Overload):
    example = "envoy"
    awaited = 8002
    stall = 7
    command = [envoy_test.ENVOY, "-c", "envoy.yaml", "--use-dynamic-base-id", "--concurrency", "2", "-l", "error"]


class EnvoyRateLimitFilter(Envoy, unittest.TestCase):
    listener = 8000


class EnvoyExtAuthz(Envoy, unittest.TestCase):
    listener = 8001


class EnvoyDescriptors(Envoy, unittest.TestCase):
    listener = 8002
    policy = "descriptors.yaml"


class Nginx(Bypassed, Overload, unittest.TestCase):
    example = "nginx"
    command = ["nginx", "-e", "stderr", "-p", ".", "-c", "nginx.conf"]
    over_http2 = []


class NginxWithFewConnections(Prepared, unittest.TestCase):
    example = "nginx"
    command = ["nginx", "-e", "stderr", "-p", ".", "-c", "nginx.conf"]
    instead = ("worker_connections 4096", "worker_connections 512")

    def test_without_connections_nothing_passes(self):
        statuses = withheld_bodies(self.port, 480)
        self.assertEqual(len(self.application.reached), 0)
        self.assertIn(500, statuses)  # it was exhausted


class HAProxy(Bypassed, Overload, unittest.TestCase):
    example = "haproxy"
    command = ["haproxy", "-f", "haproxy.cfg"]


class HAProxyWithFewDescriptors(Prepared, unittest.TestCase):
    example = "haproxy"
    command = ["prlimit", "--nofile=1024:1024", "haproxy", "-f", "haproxy.cfg"]
    instead = ("maxconn 4000", "maxconn 400")

    def test_many_streams_leave_the_gate_shut(self):
        answers = h2load(self.port, 10_000, 50, 100)
        self.assertEqual((len(self.application.reached), answers["2xx"]), (0, 0))
        self.assertEqual(self.ask()[0], 429)

    def test_it_does_not_start_with_fewer_than_its_connections_need(self):
        with self.assertRaisesRegex(AssertionError, "(?i)FD limit|ulimit"):
            with proxy.running("haproxy", self.command, {8000: proxy.free_port()}, proxy.free_port()):
                pass


class Caddy(Overload, unittest.TestCase):
    example = "caddy"
    command = ["caddy", "run"]
    over_http2 = []

    def test_while_weir_hangs_requests_are_answered_in_time_and_none_passes(self):
        with self.hung():
            status, seconds = self.ask()
            self.assertEqual((status, len(self.application.reached)), (504, 0))
            self.assertLess(seconds, self.stall)


class CaddyWithFewDescriptors(Prepared, unittest.TestCase):
    example = "caddy"
    command = ["prlimit", "--nofile=1024:1024", "caddy", "run"]

    def test_many_connections_leave_the_gate_shut(self):
        answers = h2load(self.port, 6_000, 900, http1=True)
        self.assertEqual((len(self.application.reached), answers["2xx"]), (0, 0))
        self.assertGreater(answers["5xx"], 0)  # it was exhausted


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
