"""No client input makes a proxy let a request pass unevaluated: sends thousands of hostile requests through each proxy,
from its example.

The same requests are sent twice. Before their limit is exhausted, every request that reaches the application was
evaluated; afterwards, none reaches the application. The examples are unchanged except for ports and the numbers of
their policies.
"""

import collections
import contextlib
import pathlib
import re
import sys
import tempfile
import unittest
import urllib.request

import envoy_test
import proxy
import sweep_clients
import sweep_requests
from server import PATIENCE

MOST = "60000/day"
LEAST = "1/day"
ADMIN = "admin: { address: { socket_address: { address: 127.0.0.1, port_value: 0 } } }"

ERRORS = ("ratelimit.error", "ext_authz.error")


def series(page, name):
    """Returns the values of a metric's series by their labels, as they are written."""
    return {labels: float(value) for labels, value in
            re.findall(rf"(?m)^{name}(?:{{(.*)}})? (\S+)$", page)}


def unevaluated(page):
    """Returns the number of calls that Weir answered without evaluating them."""
    found = series(page, "weir_unevaluated_total")
    if not found:
        raise AssertionError("weir_unevaluated_total is not there")
    return sum(found.values())


def evaluated(page, limit):
    """Returns the decisions of a limit that covers every request."""
    return sum(value for labels, value in series(page, "weir_decisions_total").items() if f'limit="{limit}"' in labels)


def with_rate(policy, rate):
    """Sets all limits of a policy, or of a file of descriptors per day, to that rate."""
    policy = re.sub(r"rate: \S+", f"rate: {rate}", policy)
    return re.sub(r"requests_per_unit: \d+", f"requests_per_unit: {rate.split('/')[0]}", policy)


class Swept:
    """Returns the results of all requests, with this limit."""

    def __init__(self):
        self.reached = []    # the numbers of requests that reached the application
        self.evaluated = 0
        self.metrics = ""    # Weir's metrics, afterwards
        self.counted = {}    # Envoy's counts of Weir's answers

    def kinds(self):
        """Returns how many requests of a kind reached the application."""
        return dict(collections.Counter("without its number" if number is None else kind(*REQUESTS[number])
                                        for number in self.reached))


def kind(_, protocol, request):
    return f"{protocol.__name__}, {request.kind}"


# (number, protocol, request)
REQUESTS = [(number, sweep_clients.http1, request) for number, request in enumerate(sweep_requests.ALL)]
REQUESTS += [(len(REQUESTS) + index, sweep_clients.http2, request)
             for index, request in enumerate(one for one in sweep_requests.ALL if not one.only_http1)]


class Sweep:
    example = None
    command = None
    protocols = [sweep_clients.http1]
    listener = 8000
    awaited = 8000
    policy = "policy.yaml"
    limit = "everything"  # covers every request

    @classmethod
    def setUpClass(cls):
        cls.unused = cls.sweep(MOST)
        cls.used_up = cls.sweep(LEAST)

    @classmethod
    def sweep(cls, rate):
        swept = Swept()
        with contextlib.ExitStack() as stack:
            directory = stack.enter_context(tempfile.TemporaryDirectory())
            application = stack.enter_context(sweep_clients.application())
            served = proxy.served(cls.example, directory, cls.policy, lambda policy: with_rate(policy, rate))
            weir = stack.enter_context(served)
            ports = {port: proxy.free_port() for port in (8000, 8001, 8002)}
            ports |= {8080: weir.http[1], 9000: application.port}
            if hasattr(weir, "rls"):
                ports[8081] = weir.rls[1]
            stack.enter_context(proxy.running(cls.example, cls.command_in(directory), ports, ports[cls.awaited]))
            if rate == LEAST:
                cls.use_up(ports[cls.listener])
            cls.send_all(ports[cls.listener], application, weir, swept)
            swept.counted = cls.counted_in(directory)
        return swept

    @classmethod
    def use_up(cls, port):
        """Resets the client, and the proxy's own address, which counts if the client's address is unknown."""
        client = proxy.Client()
        for address in [sweep_clients.CLIENT, "127.0.0.1"]:
            for method in ["GET", "POST"]:
                statuses = [client.ask(method, client=address, port=port)[0] for _ in range(2)]
                if statuses[1] != 429:
                    raise AssertionError(f"the limit is not exhausted: {statuses}")

    @classmethod
    def send_all(cls, port, application, weir, swept):
        before = weir.ask("GET", "/metrics", listener="admin")[2]
        application.reached.clear()
        for protocol in cls.protocols:
            mine = [(number, request) for number, send, request in REQUESTS if send == protocol]
            sweep_clients.send_all(protocol, port, mine)
        swept.metrics = weir.ask("GET", "/metrics", listener="admin")[2]
        swept.evaluated = evaluated(swept.metrics, cls.limit) - evaluated(before, cls.limit)
        swept.reached = list(application.reached)

    @classmethod
    def command_in(cls, _):
        return cls.command

    @classmethod
    def counted_in(cls, _):
        return {}

    def test_requests_are_evaluated_and_reach_the_application_while_the_limit_is_not_used_up(self):
        self.assertGreaterEqual(self.unused.evaluated, 300)
        self.assertGreaterEqual(len(self.unused.reached), 300)
        self.assertLessEqual(len(self.unused.reached), self.unused.evaluated)
        self.assertGreater(len(self.unused.reached), 0.95 * self.unused.evaluated)  # some are incomplete or abandoned

    def test_no_request_reaches_the_application_once_the_limit_is_used_up(self):
        self.assertGreaterEqual(self.used_up.evaluated, 300)
        self.assertEqual(self.used_up.kinds(), {})

    def test_weir_leaves_no_call_unevaluated(self):
        self.assertEqual([unevaluated(self.unused.metrics), unevaluated(self.used_up.metrics)], [0, 0])


class Nginx(Sweep, unittest.TestCase):
    example = "nginx"
    command = ["nginx", "-e", "stderr", "-p", ".", "-c", "nginx.conf"]


class HAProxy(Sweep, unittest.TestCase):
    example = "haproxy"
    command = ["haproxy", "-f", "haproxy.cfg"]
    protocols = [sweep_clients.http1, sweep_clients.http2]


class Caddy(Sweep, unittest.TestCase):
    example = "caddy"
    command = ["caddy", "run"]


class Envoy(Sweep):
    example = "envoy"
    protocols = [sweep_clients.http1, sweep_clients.http2]
    awaited = 8002
    command = [envoy_test.ENVOY, "-c", "envoy.yaml", "--use-dynamic-base-id", "--concurrency", "1", "-l", "error"]

    @classmethod
    def command_in(cls, directory):
        """Runs with the statistics at an address that it reports; listeners and clusters are those of the file."""
        return [*cls.command, "--config-yaml", ADMIN, "--admin-address-path", f"{directory}/admin"]

    @classmethod
    def counted_in(cls, directory):
        place = pathlib.Path(directory, "admin").read_text()
        with urllib.request.urlopen(f"http://{place}/stats?filter=ratelimit|ext_authz", timeout=PATIENCE) as page:
            counted = re.findall(r"(?m)^(\S+): (\d+)$", page.read().decode())
        return {name: int(value) for name, value in counted}

    def test_envoy_counts_no_error_of_weir(self):
        self.assertGreaterEqual(self.used_up.counted[self.denials], 300)
        for swept in [self.unused, self.used_up]:
            errors = {name: value for name, value in swept.counted.items() if name.endswith(ERRORS) and value}
            self.assertEqual(errors, {})


class EnvoyRateLimitFilter(Envoy, unittest.TestCase):
    listener = 8000
    denials = "cluster.application.ratelimit.over_limit"


class EnvoyExtAuthz(Envoy, unittest.TestCase):
    listener = 8001
    denials = "cluster.application.ext_authz.denied"


class EnvoyDescriptors(Envoy, unittest.TestCase):
    listener = 8002
    policy = "descriptors.yaml"
    limit = "all-by-address"
    denials = "cluster.application.ratelimit.over_limit"


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
