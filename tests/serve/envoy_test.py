"""Envoy, from examples/envoy. WEIR_ENVOY names the program, if it is not where script/setup puts it."""

import os
import sys
import tempfile
import unittest

import proxy
from server import ROOT

ENVOY = os.environ.get("WEIR_ENVOY", str(ROOT / "build" / "tools" / "venv" / "bin" / "envoy"))
DAY = 24 * 60 * 60


class Example(proxy.Client):
    policy = "policy.yaml"
    listener = None

    def changed(self, policy):
        return policy

    def setUp(self):
        directory = self.enterContext(tempfile.TemporaryDirectory())
        self.weir = self.enterContext(proxy.served("envoy", directory, self.policy, self.changed))
        self.application = self.enterContext(proxy.application())
        ports = {8000: proxy.free_port(), 8001: proxy.free_port(), 8002: proxy.free_port(), 8080: self.weir.http[1],
                 8081: self.weir.rls[1], 9000: self.application.server_port}
        command = [ENVOY, "-c", "envoy.yaml", "--use-dynamic-base-id", "--concurrency", "1", "-l", "warning"]
        self.enterContext(proxy.running("envoy", command, ports, ports[8002]))
        self.port = ports[self.listener]


class RateLimitFilter(proxy.Contract, Example, unittest.TestCase):
    listener = 8000


class ExtAuthz(proxy.Contract, Example, unittest.TestCase):
    listener = 8001


class RateLimitFilterMissingIdentity(proxy.MissingIdentity, Example, unittest.TestCase):
    listener = 8000
    status = 429  # the filter has one status for all that is over its limit


class ExtAuthzMissingIdentity(proxy.MissingIdentity, Example, unittest.TestCase):
    listener = 8001


class Descriptors(Example, unittest.TestCase):
    policy = "descriptors.yaml"
    listener = 8002

    def test_each_descriptor_has_its_limit(self):
        self.exhaust("POST", times=3)
        self.assert_denied(self.ask("POST"), "writes-by-address", DAY)
        self.exhaust("GET", times=7)
        self.assert_denied(self.ask("GET"), "all-by-address", DAY)
        self.assertEqual(self.ask(client="127.0.0.3")[0], 200)

    def test_fields_tell_of_the_tightest(self):
        self.assertRegex(self.ask("GET")[1]["RateLimit"], r'^"all-by-address";r=9;t=\d+$')
        self.assertRegex(self.ask("POST")[1]["RateLimit"], r'^"writes-by-address";r=2;t=\d+$')

    def test_requests_pass_while_weir_is_away(self):
        self.assertEqual(self.weir.stop(), 0)
        self.exhaust(times=20)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
