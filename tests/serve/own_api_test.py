"""Weir enforces the limits of docs/openapi.yaml on its own API, from examples/own-api."""

import re
import sys
import tempfile
import unittest

import proxy
from server import ROOT, Server

EXAMPLE = ROOT / "examples" / "own-api"


class Example(proxy.Client, unittest.TestCase):
    def setUp(self):
        config = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:0", (EXAMPLE / "weir.yaml").read_text())
        document = re.search(r"policy: (\S+)", config)[1]
        directory = self.enterContext(tempfile.TemporaryDirectory())
        self.weir = self.enterContext(Server((EXAMPLE / document).read_text(), config.replace(document, "policy.yaml"),
                                             directory))
        self.port = proxy.free_port()
        ports = {8000: self.port, 8080: self.weir.http[1], 8089: self.weir.admin[1]}
        self.enterContext(proxy.running("own-api", ["nginx", "-e", "stderr", "-p", ".", "-c", "nginx.conf"], ports, self.port))

    def test_changes_are_few_whoever_asks_for_them(self):
        token = {"X-Weir-Token": (self.weir.state_dir / "admin.token").read_text().strip()}
        for left in reversed(range(5)):
            status, headers, _ = self.ask("POST", "/v1/reload", token if left == 4 else None)
            self.assertEqual(status, 200 if left == 4 else 401)
            self.assertRegex(headers["RateLimit"], rf'^"changes";r={left};t=\d+$')
        status, headers, body = self.ask("POST", "/v1/limits/changes/consumers/ip=127.0.0.2/reset", token)
        self.assertEqual((status, headers["Content-Type"]), (429, "application/problem+json"))
        self.assertIn(int(headers["Retry-After"]), range(1, 7))
        self.assertIn('"violated-policies":["changes"]', body)
        self.assertEqual(self.ask("POST", "/v1/reload", token, client="127.0.0.3")[0], 200)

    def test_both_listeners_are_behind_it(self):
        status, headers, body = self.ask("POST", "/v1/check", body='{"method": "POST", "path": "/v1/reload", "ip": "127.0.0.9"}')
        self.assertEqual((status, headers.get_all("RateLimit-Policy")), (200, ['"decisions";q=2000;w=2']))
        self.assertIn('"limit":"changes","quota":5,"remaining":4', body)
        self.assertRegex(self.ask(target="/v1/status")[1]["RateLimit"], r'^"reading";r=49;t=\d+$')
        self.assertRegex(self.ask("POST", "/v1/explain", body='{"path": "/healthz"}')[1]["RateLimit"], '^"lookups";r=59;')
        status, headers, body = self.ask(target="/openapi.yaml")
        self.assertEqual((status, headers["RateLimit"], body), (200, None, (ROOT / "docs" / "openapi.yaml").read_text()))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
