"""Sends what Traefik's ForwardAuth sends, according to its documentation, to a server from examples/traefik."""

import json
import re
import sys
import tempfile
import unittest

import proxy
from server import ROOT


def forward_auth(method, target, client="192.0.2.7", **headers):
    return {"X-Forwarded-Method": method, "X-Forwarded-Proto": "http", "X-Forwarded-Host": "shop.example.com",
            "X-Forwarded-Uri": target, "X-Forwarded-For": client, "User-Agent": "Go-http-client/1.1",
            "Accept-Encoding": "gzip", **headers}


class Traefik(unittest.TestCase):
    def setUp(self):
        self.weir = self.enterContext(proxy.served("traefik", self.enterContext(tempfile.TemporaryDirectory())))

    def ask(self, *request, **headers):
        return self.weir.ask("GET", "/v1/auth", headers=forward_auth(*request, **headers))

    def test_method_and_path_are_those_of_the_client(self):
        for _ in range(3):
            self.assertEqual(self.ask("POST", "/orders/1?from=cart")[0], 200)
        status, headers, body = self.ask("POST", "/orders/1?from=cart")
        self.assertEqual((status, headers["Content-Type"]), (429, "application/problem+json"))
        self.assertEqual(json.loads(body)["violated-policies"], ["orders"])
        self.assertEqual(self.ask("GET", "/orders/1")[0], 200)

    def test_clients_are_told_apart_by_address(self):
        for _ in range(10):
            self.assertEqual(self.ask("GET", "/")[0], 200)
        self.assertEqual(self.ask("GET", "/")[0], 429)
        self.assertEqual(self.ask("GET", "/", "192.0.2.8")[0], 200)

    def test_a_header_of_another_proxys_kind_is_not_read(self):
        for _ in range(3):
            self.assertEqual(self.ask("POST", "/orders/1", **{"X-Original-URI": "/"})[0], 200)
        self.assertEqual(self.ask("POST", "/orders/1", **{"X-Original-URI": "/", "X-Original-Method": "GET"})[0], 429)

    def test_the_example_asks_where_the_server_listens(self):
        folder = ROOT / "examples" / "traefik"
        asked = re.search(r"address: http://(\S+)/v1/auth\n", (folder / "dynamic.yaml").read_text())[1]
        listening = re.search(r"http:\n +listen: (\S+)\n", (folder / "weir.yaml").read_text())[1]
        self.assertEqual(asked, listening)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
