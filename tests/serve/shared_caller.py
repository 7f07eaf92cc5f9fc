"""A client of a server with limits in Redis, and the metrics of that server."""

import contextlib
import http.client
import itertools
import json
import re
import time

import resp_client
import rls_client
from server import LISTENERS, PATIENCE, eventually


def stored_in(url, **more):
    """Returns weir.yaml for one loop and that Redis; `more` are fields of `store.redis`."""
    fields = "".join(f", {name}: {value}" for name, value in more.items())
    return f'{LISTENERS}loops: 1\nstore: {{redis: {{urls: ["{url}"]{fields}}}}}\n'


class Metrics:
    """The metrics at one instant."""

    def __init__(self, weir):
        page = weir.ask("GET", "/metrics", listener="admin")[2]
        self._values = {name: float(value) for name, value in re.findall(r"(?m)^(\w+(?:\{.*\})?) (\S+)$", page)}

    def __getitem__(self, name):
        return self._values[name]

    def _by_label(self, family):
        """Returns {label's value: number} of a family with one label, without zeros."""
        found = {re.match(family + r'\{\w+="(.*)"\}', name): value for name, value in self._values.items() if value}
        return {label[1]: value for label, value in found.items() if label}

    @property
    def errors(self):
        return self._by_label("weir_store_errors_total")

    @property
    def paths(self):
        return self._by_label("weir_store_decisions_total")

    @property
    def breaker_is_open(self):
        return self["weir_store_breaker_state"] == 2

    @property
    def times_opened(self):
        return self['weir_store_breaker_transitions_total{to="open"}']


class Caller:
    """Sends requests through one connection, and records the slowest answer (in seconds).

    The policy has a limit `closed` on /closed by user, which is closed while Redis is unavailable.
    """

    def __init__(self, weir):
        self.weir = weir
        self.slowest = 0
        self._connection = http.client.HTTPConnection(*weir.http, timeout=PATIENCE)
        self._fresh = (f"fresh-{number}" for number in itertools.count())

    def close(self):
        self._connection.close()

    @contextlib.contextmanager
    def _timed(self):
        began = time.monotonic()
        yield
        self.slowest = max(self.slowest, time.monotonic() - began)

    def ask(self, limit, user):
        """Returns the verdict: 200 or 429, and nothing else."""
        with self._timed():
            self._connection.request("POST", "/v1/check", json.dumps({"path": "/" + limit, "user": user}))
            answer = self._connection.getresponse()
            text = answer.read()
        if answer.status not in (200, 429) or json.loads(text)["admitted"] != (answer.status == 200):
            raise AssertionError(f"{limit}: {answer.status} {text}")
        return json.loads(text)

    def passes(self, limit, user):
        return self.ask(limit, user)["admitted"]

    def left(self, limit, user):
        """Returns what remains after this request."""
        return self.ask(limit, user)["remaining"]

    def passes_resp(self, limit, user):
        with self._timed(), resp_client.connect(self.weir.resp, PATIENCE) as client:
            return client.ask("WEIR.CHECK", limit, f"user={user}")[0] == 0

    def passes_rls(self, limit, user):
        with self._timed(), rls_client.connect(self.weir.rls, PATIENCE) as client:
            return client.ask({"path": "/" + limit, "user": user}).admitted

    def is_shared(self):
        """Returns whether Redis decides: without it, all requests are denied here."""
        return self.passes("closed", next(self._fresh))

    def await_shared(self):
        """Returns when Redis decides continuously: the seconds until it first did."""
        began = time.monotonic()
        eventually(self.is_shared, "a decision of Redis")
        took = time.monotonic() - began
        eventually(lambda: all(self.is_shared() for _ in range(20)), "twenty decisions of Redis in a row")
        return took

    def await_breaker(self):
        """Returns when no more requests are sent to Redis."""
        eventually(lambda: not self.is_shared() and Metrics(self.weir).breaker_is_open, "a breaker that is open")
