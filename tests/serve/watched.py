"""A server with two limits, for tests of what operators see."""

import json
import unittest

import server
from server import Server

POLICY = """
version: 1
limits:
  - name: by-user
    routes: ["/api/**"]
    consumer_key: user
    algorithm: token_bucket
    rate: 60/h
    burst: 3
    candidate: { rate: 60/h, burst: 1 }
  - name: logins
    routes: [POST /login]
    consumer_key: ip
    algorithm: fixed_window
    rate: 2/h
    mode: shadow
"""


class WatchedTest(unittest.TestCase):
    maxDiff = None

    CONFIG = server.LISTENERS

    def setUp(self):
        self.server = self.enterContext(Server(POLICY, self.CONFIG))

    def check(self, times=1, **query):
        for _ in range(times):
            self.server.ask("POST", "/v1/check", json.dumps({"path": "/api/x", **query}))
