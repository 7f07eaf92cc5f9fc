"""A server and its page in a real browser.

In every test, the page must contact only its own server, and the browser's console must show no errors.
"""

import json
import re
import unittest

from browser import Browser
from server import LISTENERS, PATIENCE, Server

POLICY = """
version: 1
tiers: {from: {header: X-Plan}, default: free}
limits:
  - name: by-user
    consumer_key: user
    algorithm: token_bucket
    rate: 3/h
    burst: 3
    candidate: {rate: 1/h, burst: 1}
  - name: search-by-ip
    routes: [/search]
    consumer_key: ip
    algorithm: fixed_window
    rate: 1000/h
  - name: watched
    consumer_key: user
    algorithm: fixed_window
    rate: 2/h
    mode: shadow
  - name: logins
    routes: [POST /login]
    consumer_key: ip
    algorithm: gcra
    rate: 1/h
    burst: 1
    penalty: {after: 2, within: 1h, block: 2h}
"""
VIEWS = ["now", "limits", "limits/by-user", "consumer", "try", "policy", "cluster", "events"]

# Timeout for changes to appear on the page. Sanitized builds run several at a time.
SOON = 2 if PATIENCE == 30 else 10

# The ways to find elements.
TILE = '[data-tile="{}"]'
ROW = 'tr[data-row="{}"]'


def admin_listener(text):
    """Returns weir.yaml with another admin listener."""
    return LISTENERS.replace('admin: {listen: "127.0.0.1:0"}', f"admin: {text}")


class PageTest(unittest.TestCase):
    CONFIG = LISTENERS
    ACCEPTED = None  # console messages that this test expects: the browser logs rejected requests there

    @classmethod
    def setUpClass(cls):
        cls.browser = cls.enterClassContext(Browser())
        cls.browser.resize(1920, 1080)
        cls.browser.open("about:blank")  # requests and messages of the browser's own first page are ignored
        cls.browser.requested()
        cls.browser.console()

    def setUp(self):
        self.server = self.enterContext(Server(POLICY, self.CONFIG))
        self.addCleanup(self.leave)

    @property
    def url(self):
        return "http://{}:{}".format(*self.server.admin)

    @property
    def token(self):
        return (self.server.state_dir / "admin.token").read_text().strip()

    def leave(self):
        """Closes the page and verifies its requests and messages."""
        url = self.url
        self.browser.open("about:blank")
        asked = [each for each in self.browser.requested() if not each.startswith(("about:", "chrome", "data:"))]
        self.assertEqual([each for each in asked if not each.startswith(url + "/")], [], "asked of others")
        said = [each for each in self.browser.console() if not (self.ACCEPTED and re.search(self.ACCEPTED, each[1]))]
        self.assertEqual(said, [])
        self.asked = asked

    def show(self, view):
        self.browser.open("about:blank")
        self.browser.open(f"{self.url}/#{view}")
        self.browser.await_text("#connection", "Live")

    def use(self, user, times=1, **more):
        """Returns the status of the last response."""
        for _ in range(times):
            question = json.dumps({"path": "/", "user": user, **more})
            status = self.server.ask("POST", "/v1/check", question)[0]
        return status

    def denied(self):
        """Returns the most denied consumers, with their names in the log."""
        return json.loads(self.server.ask("GET", "/v1/denied", listener="admin")[2])["denied"]

    def cells(self, row):
        texts = "return [...document.querySelectorAll(arguments[0])].map((each) => each.innerText)"
        return self.browser.run(texts, ROW.format(row) + " td")

    def is_open(self, dialog):
        return self.browser.run("return document.querySelector(arguments[0]).open", dialog)

    def enter_token(self, token):
        self.browser.eventually(lambda: self.is_open("#token-dialog"), "the question for the token")
        self.browser.one("#token-text").write(token)
        self.browser.one("#token-dialog button.main").click()
