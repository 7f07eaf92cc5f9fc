"""Compares the responses of the HTTP and the admin listener with docs/openapi.yaml in both directions: no response has
a status, a type or a field that the document lacks, and the document has none that no response has shown."""

import http.client
import itertools
import json
import pathlib
import re
import signal
import sys
import tempfile
import time
import unittest

import resp_client
from api_caller import SAMPLES, Bytes, Caller
from api_document import Document, escaped
from redis_servers import Redis
from server import LISTENERS, PATIENCE, ROOT, VERSION, Server, eventually
from shared_nodes import is_connected, store

# A path that may match any of many routes.
ROUTES = ", ".join(f"/r{i}" for i in range(1000))
MANY = {"path": "/r1" + "/." * 70, "ip": "192.0.2.7"}
POLICY = f"""
version: 1
identity: {{ user: {{ header: X-User-Id }}, organization: {{ header: X-Org-Id }} }}
tiers: {{ from: {{ header: X-Plan }}, default: free }}
limits:
  - {{name: api, routes: [/api/**], consumer_key: [user, ip], algorithm: fixed_window, rate: 2/h, candidate: {{rate: 1/h}},
     tier_overrides: {{pro: {{rate: 100/h}}, staff: unlimited}}}}
  - {{name: login, routes: [POST /login], consumer_key: user, algorithm: sliding_window_log, rate: 1/h,
     warn_first: {{count: 1, per: 1day}}, penalty: {{after: 1, within: 1h, block: 2h}}}}
  - {{name: must, routes: [/must], consumer_key: user, missing: deny, algorithm: gcra, rate: 5/h}}
  - {{name: trial, routes: [/trial], consumer_key: user, algorithm: token_bucket, rate: 1/h, mode: shadow}}
  - {{name: tokens, routes: [/chat], consumer_key: user, algorithm: fixed_window, rate: 100000/year, usage: reserved}}
  - {{name: streams, routes: [/stream], consumer_key: user, algorithm: concurrency, limit: 1, lease: 60s}}
  - {{name: closed, routes: [/closed], consumer_key: user, algorithm: gcra, rate: 1/s, tier_overrides: {{pro: banned}}}}
  - {{name: by-route, routes: [{ROUTES}], consumer_key: ip+route, algorithm: gcra, rate: 9/s}}
"""
DESCRIPTORS = """
domain: shop
descriptors:
  - key: user
    rate_limit: {name: by-user, unit: day, requests_per_unit: 2}
    metadata: {team: checkout}
  - key: free
    rate_limit: {unlimited: true}
"""
LEASED = """
version: 1
limits:
  - {name: leased, routes: [/leased], consumer_key: user, algorithm: token_bucket, rate: 100000/h, consistency: leased}
  - {name: near, routes: [/near], consumer_key: user, algorithm: token_bucket, rate: 1000000/h, consistency: approximate}
  - {name: exact, routes: [/exact], consumer_key: user, algorithm: token_bucket, rate: 1000/h}
"""
TOKEN = "a-token-of-a-listener"
KEY = "1f" * 32

# Appears only after a limit has been watched for five minutes. tests/frontend_admin tests it.
NO_SPIKE = {f"/components/schemas/Limit/properties/spike/properties/{name}"
            for name in ("since", "seconds", "rate", "past")}
# While the store is unavailable, a node accepts a report itself; these are for a store without that fallback.
NO_REPORT = {("http", "post", "/v1/report", "503")}
# Descriptors share states only after a million of them.
NO_FLOOD = {("admin", "post", "/v1/domains/{name}/descriptor/reset", "409")}
# The test of generated requests waits for it.
TOO_SLOW = "408"


def with_tokens(names):
    config = LISTENERS
    for name in names:
        config = config.replace(f'{name}: {{listen: "127.0.0.1:0"}}',
                                f'{name}: {{listen: "127.0.0.1:0", token_file: listener.token}}')
    return config


class Answers(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.document = Document((ROOT / "docs" / "openapi.yaml").read_text())

    def start(self, policy, config=LISTENERS, directory=None):
        return Caller(self.document, self.enterContext(Server(policy, config, directory)))

    def test_are_those_of_the_document_and_the_document_has_no_others(self):
        self.alone()
        self.descriptors()
        self.guarded()
        self.shared()
        self.overflowing()
        self.stopping()
        document = self.document
        waited_for = {each for each in document.statuses() if each[3] == TOO_SLOW}
        self.assertEqual(document.statuses() - document.shown, waited_for | NO_REPORT | NO_FLOOD)
        self.assertEqual(document.properties() - document.shown, NO_SPIKE)
        self.assertEqual(document.header_names() - document.shown, set())

    def test_examples_fit_their_schemas(self):
        examples = list(self.document.examples())
        self.assertGreater(len(examples), 10)
        for pointer, value in examples:
            self.assertIsNone(self.document.fault(pointer, value), pointer)

    def alone(self):
        ask = self.start(POLICY)
        self.assertEqual(ask.document.root["info"]["version"], VERSION)
        for listener in "http", "admin":
            self.assertEqual(ask(200, "GET /openapi.yaml", listener=listener), self.document.text)
            for path in "/healthz", "/readyz":
                ask(200, f"GET {path}", listener=listener)
        ask(200, "GET /healthcheck")
        self.refused(ask)
        self.checks(ask)
        self.receipts(ask)
        self.proxies(ask)
        self.reading(ask)
        self.consumers(ask)
        self.exceptions(ask)
        self.reloads(ask)

    def refused(self, ask):
        """Accepts any path."""
        for listener in "http", "admin":
            for method, path, _ in self.document.operations(listener):
                target = SAMPLES.get(path, path)
                host = "Host: localhost\r\n"

                def send(status, target=target, fields="", host=host):
                    text = f"{method.upper()} {target} HTTP/1.1\r\n{host}{fields}\r\n"
                    ask.raw(status, listener, method, path, text.encode())

                send(400, fields="Content-Length: 1\r\nContent-Length: 2\r\n")
                send(413, fields="Content-Length: 99999999\r\n")
                send(414, target=target + "?" * ("?" not in target) + "x" * 70_000)
                send(421, host="Host: weir.example\r\n")
                send(431, fields=f"X-Long: {'x' * 140_000}\r\n")
                if listener == "admin" and "403" in self.document.at(f"/paths/{escaped(path)}/{method}")["responses"]:
                    send(403, fields="Origin: https://weir.example\r\n")
            for path, item in self.document.paths(listener).items():
                target = SAMPLES.get(path, path)
                names = {"get": "GET, HEAD", "post": "POST", "put": "PUT", "delete": "DELETE"}
                allowed = ", ".join(name for method, name in names.items() if method in item)
                for method in {"get", "post", "put", "delete", "patch"} - item.keys():
                    status, headers, text = ask.weir.ask(method.upper(), target, listener=listener)
                    self.assertEqual((status, headers["Allow"]), (405, allowed))
                    self.document.check_value(path, "/components/schemas/Problem", json.loads(text))
            status, _, text = ask.weir.ask("GET", "/v1/nothing", listener=listener)
            self.assertEqual(status, 404)
            self.document.check_value("404", "/components/schemas/Problem", json.loads(text))
        for method, path, operation in self.document.operations("http"):
            if "requestBody" in operation:
                ask(403, f"POST {path}", body={}, headers={"Origin": "https://weir.example"})
                ask(415, f"POST {path}", body={}, headers={"Content-Encoding": "gzip"})
                ask(400, f"POST {path}", body="{")

    def checks(self, ask):
        alice = {"path": "/api/x", "user": "alice", "cost": 2}
        check = "POST /v1/check"
        self.assertTrue(ask(200, check, body=alice)["admitted"])
        self.assertFalse(ask(429, check, body=alice, headers={"X-Weir-Problem": "field"})["admitted"])
        self.assertEqual(ask(403, check, body={"path": "/must"})["missing"], "user")
        ask(403, check, body=MANY)
        login = {"method": "POST", "path": "/login", "user": "alice"}
        self.assertEqual([ask(status, check, body=login)["reason"] for status in (200, 200, 429, 429)],
                         ["within", "warned", "exceeded", "blocked"])
        denied = ask(200, check, path="/v1/check?denied=200", body=[{"path": "/must"}, alice, login])
        self.assertEqual([(one["status"], one["problem"]["status"]) for one in denied], [(403, 403), (429, 429), (429, 429)])
        for user in "bob", "bob":
            ask(200, check, body={"path": "/trial", "user": user})
        self.assertEqual(ask(200, check, body=[]), [])
        ask(400, check, path="/v1/check?denied=429", body=alice)

    def receipts(self, ask):
        chat = {"path": "/chat", "user": "ann"}
        reserve = {**chat, "cost": 10, "reserve": True}
        receipt = ask(200, "POST /v1/check", body=reserve)["receipt"]
        self.assertIn("receipt_ends", ask(200, "POST /v1/extend", body={"receipt": receipt, "lease": 900}))
        lost = ask(200, "POST /v1/settle", body={"receipt": receipt, "actual": 999_999})["limits"][0]["lost"]
        self.assertGreater(lost, 0)
        ended = ask(200, "POST /v1/release", body=[{"receipt": receipt}, {"receipt": "none"}])
        self.assertEqual((ended[0]["limits"][0]["result"], list(ended[1])), ("ended", ["error"]))
        ask(400, "POST /v1/release", body={"receipt": "none"})
        ask(200, "POST /v1/release", body={"receipt": receipt})
        ask(200, "POST /v1/report", body={**chat, "cost": 1, "id": "job-7"})
        told = ask(200, "POST /v1/report", body=[{**chat, "cost": 1, "id": "job-7"}, {**MANY, "cost": 1}])
        self.assertEqual((told[0]["limits"][0]["result"], told[1]["reason"]), ("repeated", "too_many_limits"))
        ask(403, "POST /v1/report", body={**MANY, "cost": 1})
        many = {"path": "/chat", "user": "eve", "reserve": True}
        ask(200, "POST /v1/check", body=[many] * 1000)
        self.assertEqual(ask(200, "POST /v1/check", body=[many] * 25)[24]["not_kept"], ["tokens"])

    def proxies(self, ask):
        wants = {"X-Weir-Problem": "field"}
        for method, path, _ in self.document.operations("http"):
            if not path.startswith("/v1/auth"):
                continue
            operation = f"{method.upper()} {path}"
            below = "" if path == "/v1/auth" else "{path}"

            def auth(status, target, user, below=below, path=path, operation=operation, **more):
                headers = {"X-User-Id": user, **more} if user else more
                if below:
                    return ask(status, operation, f"/v1/auth{target}", headers=headers)
                return ask(status, operation, "/v1/auth", headers={"X-Original-URI": target, **headers})

            for status in 200, 200, 429:
                auth(status, "/api/x", f"by {operation}", **wants)
            auth(403, "/must", None, **wants)
            auth(403, "/api/x", None, **{"X-Forwarded-Uri": "/other"})
            auth(200, "/stream", f"holds {operation}")
        for _ in range(2):
            ask(200, "POST /v1/auth", "/v1/auth", headers={"X-Original-URI": "/login", "X-User-Id": "zoe"})

    def reading(self, ask):
        unchanged = {"If-None-Match": ask.weir.ask("GET", "/", listener="admin")[1]["ETag"]}
        ask(200, "GET /")
        ask(304, "GET /", headers=unchanged)
        for file in "main.js", "index.html", "page.css", "icon.svg":
            ask(200, "GET /page/{file}", f"/page/{file}")
        ask(304, "GET /page/{file}", "/page/index.html", headers=unchanged)
        ask(404, "GET /page/{file}", "/page/nothing.js")
        ask(200, "GET /metrics")
        ask(200, "GET /v1/ruleset")
        self.assertTrue(ask(200, "GET /v1/denied")["denied"])
        ask(400, "GET /v1/denied", "/v1/denied?count=0")
        ask(200, "GET /v1/cluster")
        with resp_client.connect(ask.weir.resp, PATIENCE) as resp:
            resp.ask("CL.THROTTLE", "key", 1, 1, 60)
        eventually(lambda: ask(200, "GET /v1/history", "/v1/history?limit=api")["at"], "a second of the history")
        ask(404, "GET /v1/history", "/v1/history?limit=none")
        ask(400, "GET /v1/history", "/v1/history?x=1")
        ask(404, "GET /v1/limits/{name}", "/v1/limits/none")
        ask(200, "GET /v1/limits/{name}")
        ask(200, "GET /v1/limits")
        self.streams(ask)
        explain = {"method": "POST", "path": "/login", "headers": {"X-User-Id": ["alice"], "X-Org-Id": "acme", "Accept": "a"}}
        for body in explain, {"path": "/api/x", "cost": 2, "user": "a", "tier": "staff"}, {"path": "/chat", "user": "a"}, \
                {"path": "/stream", "user": "a"}, {"path": "/closed", "user": "a", "tier": "pro"}, {"path": "/api/x"}:
            ask(200, "POST /v1/explain", body=body)
        ask(400, "POST /v1/explain", body={})

    def streams(self, ask):
        deadline = time.monotonic() + PATIENCE
        connections = []
        for _ in range(16):
            connections.append(http.client.HTTPConnection(*ask.weir.admin, timeout=PATIENCE))
            connections[-1].request("GET", "/v1/stream")
            answer = connections[-1].getresponse()
            self.assertEqual(answer.status, 200)
        ask.weir.ask("POST", "/v1/check", json.dumps({"path": "/api/x", "user": "streamed"}))
        for line in iter(answer.readline, b""):
            if line.startswith(b"data: "):
                second = json.loads(line.removeprefix(b"data: "))
                self.document.check_value("stream", "/components/schemas/Second", second)
                if second["limits"]:  # the second in which some limit decided
                    break
                self.assertLess(time.monotonic(), deadline, "no second has a decision")
        ask(503, "GET /v1/stream")
        for connection in connections:
            connection.close()
        eventually(lambda: ask.weir.ask("HEAD", "/v1/stream", listener="admin")[0] == 200, "a place for a reader")
        with ask.weir.connect("admin") as connection:
            connection.sendall(b"GET /v1/stream HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            answer = http.client.HTTPResponse(connection, method="GET")
            answer.begin()
            first = answer.readline()
            self.document.check("admin", "get", "/v1/stream", answer.status, answer.headers, first)

    def consumers(self, ask):
        admin = ask.admin_token
        consumer, reset = "POST /v1/consumer", "POST /v1/consumer/reset"
        told = ask(200, consumer, body={"consumer": "user=alice", "tier": "free"})
        self.assertTrue(any(limit["blocked"] for limit in told["limits"]))
        self.assertTrue(any(limit["since"] for limit in told["limits"]))
        ask(200, consumer, body={"consumer": "user=eve", "limit": "tokens"})
        ask(400, consumer, body={})
        ask(404, consumer, body={"consumer": "user=alice", "limit": "none"})
        ask(200, consumer, body={"consumer": "ip=192.0.2.7"})
        inspect = "GET /v1/limits/{name}/consumers/{consumer}"
        ask(200, inspect, "/v1/limits/api/consumers/user=alice?tier=staff")
        ask(200, inspect)
        ask(400, inspect, "/v1/limits/api/consumers/192.0.2.7")
        ask(404, inspect, "/v1/limits/none/consumers/user=alice")
        by_path = "POST /v1/limits/{name}/consumers/{consumer}/reset"
        ask(200, by_path, headers=admin)
        ask(400, by_path, "/v1/limits/api/consumers/192.0.2.7/reset", headers=admin)
        ask(401, by_path)
        ask(404, by_path, "/v1/limits/none/consumers/user=alice/reset", headers=admin)
        ask(200, reset, body={"consumer": "user=alice", "limit": "api"}, headers=admin)
        ask(400, reset, body={"consumer": "user=alice"}, headers=admin)
        ask(401, reset, body={"consumer": "user=alice", "limit": "api"})
        ask(404, reset, body={"consumer": "user=alice", "limit": "none"}, headers=admin)

    def exceptions(self, ask):
        admin = ask.admin_token
        alice = {"limit": "api", "consumer": "user=alice", "reason": "a test"}
        launch = {**alice, "id": "launch", "numbers": {"limit": 9}, "until": "2099-01-01T00:00:00Z"}
        put = "PUT /v1/overrides"
        ask(200, put, body=launch, headers=admin)
        ask(200, put, body=launch, headers=admin)
        ask(200, put, body={**alice, "id": "grant", "add": 3}, headers=admin)
        for user, terms in (("b", {"factor": 1.5}), ("c", {"unlimited": True}), ("d", {"banned": True})):
            ask(200, put, body={**alice, "consumer": f"user={user}", "permanent": True, **terms}, headers=admin)
        ask(400, put, body={}, headers=admin)
        ask(401, put, body=launch)
        ask(409, put, body={**launch, "id": "other"}, headers=admin)
        ask(412, put, body=launch, headers={**admin, "If-Match": '"99"'})
        block = {"id": "scraper", "identity": "user=mallory", "for": "1h", "reason": "a test"}
        ask(200, "PUT /v1/blocks", body=block, headers=admin)
        ask(200, "PUT /v1/blocks", body={**block, "id": "lasting", "identity": "ip=192.0.2.66", "for": "1h",
                                         "routes": ["/api/**"]}, headers=admin)
        ask(200, "PUT /v1/blocks", body={"identity": "user=eva", "permanent": True, "reason": "a test"}, headers=admin)
        ask(400, "PUT /v1/blocks", body={}, headers=admin)
        ask(401, "PUT /v1/blocks", body=block)
        ask(409, "PUT /v1/blocks", body={**block, "id": "other"}, headers=admin)
        ask(412, "PUT /v1/blocks", body=block, headers={**admin, "If-Match": '"99"'})
        denied = ask(403, "POST /v1/check", body={"path": "/api/x", "user": "mallory"})
        self.assertEqual((denied["reason"], denied["limit"]), ("blocked", None))
        inspect = "GET /v1/limits/{name}/consumers/{consumer}"
        self.assertEqual(ask(200, inspect)["override"], "grant")
        self.assertEqual(ask(200, inspect, "/v1/limits/api/consumers/user=mallory")["block"], "scraper")
        told = ask(200, "POST /v1/explain", body={"path": "/api/x", "user": "alice"})
        self.assertEqual(told["limits"][0]["override"], "grant")
        told = ask(200, "POST /v1/explain", body={"path": "/api/x", "user": "mallory"})
        self.assertEqual(told["outcome"]["block"], "scraper")
        for path, one in ("/v1/overrides", "launch"), ("/v1/blocks", "scraper"):
            ask(200, f"GET {path}", headers=admin)
            self.assertEqual(ask(200, f"GET {path}", f"{path}?count=1", headers=admin)["next"] is None, False)
            ask(400, f"GET {path}", f"{path}?count=0", headers=admin)
            ask(401, f"GET {path}")
            ask(400, f"GET {path}/history", f"{path}/history?limit=x", headers=admin)
            ask(401, f"GET {path}/history")
            ask(200, f"GET {path}/{{id}}", headers=admin)
            ask(401, f"GET {path}/{{id}}")
            ask(404, f"GET {path}/{{id}}", f"{path}/none", headers=admin)
            ask(401, f"DELETE {path}/{{id}}")
            ask(404, f"DELETE {path}/{{id}}", f"{path}/none", headers=admin)
            ask(412, f"DELETE {path}/{{id}}", headers={**admin, "If-Match": '"99"'})
            ask(200, f"DELETE {path}/{{id}}", headers=admin)
            ask(200, f"GET {path}/history", headers=admin)

    def reloads(self, ask):
        admin = ask.admin_token
        ask(401, "POST /v1/reload")
        self.assertIsNone(ask(200, "GET /v1/status")["last_reload"])
        self.assertIsNone(ask(200, "GET /v1/policy")["last_rejected"])
        ask(200, "POST /v1/reload", headers=admin)
        token = admin["X-Weir-Token"]
        twice = [f"POST /v1/reload HTTP/1.1\r\nHost: localhost\r\nX-Weir-Token: {token}\r\nConnection: {connection}\r\n\r\n"
                 for connection in ("keep-alive", "close")]
        with ask.weir.connect("admin") as connection:
            connection.sendall("".join(twice).encode())
            with connection.makefile("rb") as answers:
                told = answers.read()
        for status, text in zip((200, 409), re.split(rb"(?=HTTP/1\.1 )", told)[1:], strict=True):
            answer = http.client.HTTPResponse(Bytes(text), method="POST")
            answer.begin()
            ask.hold(status, "admin", "post", "/v1/reload", answer)
        good = ask.weir.policy_file.read_text()
        ask.weir.policy_file.write_text(good.replace("rate: 2/h", "rate: 2/h, typo: 1"))
        ask(422, "POST /v1/reload", headers=admin)
        ask(200, "GET /v1/policy")
        # A missing token keeps the changes in the files from taking effect.
        ask.weir.config_file.write_text(LISTENERS.replace('http: {listen: "127.0.0.1:0"}',
                                                          'http: {listen: "127.0.0.1:0", token_file: none}'))
        ask.weir.policy_file.write_text(good.replace("rate: 5/h", "rate: 4/h"))
        eventually(lambda: ask(200, "GET /v1/policy")["on_disk"]["changes"], "what the files on disk would change")
        ask(200, "GET /v1/events")
        ask(400, "GET /v1/events", "/v1/events?count=x")
        ask(200, "GET /v1/status")

    def descriptors(self):
        ask = self.start(DESCRIPTORS, LISTENERS + "state: {directory: state, snapshot: {every: 1s}}\n")
        alice = {"domain": "shop", "descriptors": [{"entries": [{"key": "user", "value": "alice"}]}]}
        self.assertIn("dynamicMetadata", ask(200, "POST /json", body=alice))
        free = {"domain": "shop", "descriptors": [{"entries": [{"key": "free", "value": "x"}]}]}
        ask(200, "POST /json", body=free)
        ask(200, "POST /json", body=alice)
        ask(429, "POST /json", body=alice)
        inspect, reset = "GET /v1/domains/{name}/descriptor", "POST /v1/domains/{name}/descriptor/reset"
        self.assertEqual(ask(200, inspect)["remaining"], 0)
        ask(400, inspect, "/v1/domains/shop/descriptor")
        ask(404, inspect, "/v1/domains/none/descriptor?user=alice")
        ask(200, reset, headers=ask.admin_token)
        ask(400, reset, "/v1/domains/shop/descriptor/reset", headers=ask.admin_token)
        ask(401, reset)
        ask(404, reset, "/v1/domains/none/descriptor/reset?user=alice", headers=ask.admin_token)
        eventually(lambda: ask(200, "GET /v1/status")["last_snapshot"], "a snapshot")

    def guarded(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (folder / "listener.token").write_text(TOKEN + "\n")
        (folder / "listener.token").chmod(0o600)
        ask = self.start(POLICY, with_tokens(["http", "admin"]), folder)
        for listener in "http", "admin":
            for method, path, operation in self.document.operations(listener):
                security = operation.get("security", self.document.root["security"])
                target = f"{method.upper()} {path}"
                if not security:
                    self.assertNotIn("401", operation["responses"], target)
                    continue
                ask(401, target, listener=listener)
                if "change" in operation["tags"]:
                    ask(403, target, headers={"X-Weir-Token": TOKEN}, listener=listener)
        ask(200, "GET /v1/status", headers={"Authorization": f"Bearer {TOKEN}"})
        ask(200, "POST /v1/check", body={}, headers={"X-Weir-Token": TOKEN})

    def shared(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (folder / "keys").write_text(KEY + "\n")
        (folder / "keys").chmod(0o600)
        redis = self.enterContext(Redis())
        config = store([redis.url], timeout="500ms")
        ask = self.start(LEASED, config + "receipts: {key_file: keys}\n", folder)
        keyless = self.start(LEASED, config)
        for each in ask, keyless:
            eventually(lambda: is_connected(each.weir), "a node that is connected to the store")
        ask(200, "POST /v1/check", body=[{"path": "/leased", "user": "ann"}] * 200)
        ask(200, "POST /v1/check", body=[{"path": "/near", "user": "ann"}] * 10)
        reserve = {"path": "/exact", "user": "ann", "reserve": True}
        receipt = ask(200, "POST /v1/check", body=reserve)["receipt"]
        keyless(503, "POST /v1/check", body=reserve)
        eventually(lambda: len(ask(200, "GET /v1/cluster")["store"]["heartbeats"]) == 2, "both nodes")
        keyless.weir.ask("POST", "/v1/check", json.dumps([{"path": "/leased", "user": "bob"}] * 200))

        def has_slices():
            keyless.weir.ask("POST", "/v1/check", json.dumps([{"path": "/leased", "user": "bob"}] * 100))
            told = ask(200, "GET /v1/limits/{name}/consumers/{consumer}", "/v1/limits/leased/consumers/user=bob")
            listed = keyless(200, "GET /v1/cluster")["store"]["slices"]
            return told["slices"] and listed

        eventually(has_slices, "slices")
        for path in "/leased", "/near":
            ask(200, "POST /v1/explain", body={"path": path, "user": "ann"})
        ask(200, "GET /v1/status")
        redis.kill()
        eventually(lambda: (told := ask(200, "GET /v1/cluster")["store"])["last_error"] and told["unavailable_since"], "an outage")
        for operation, body in [("settle", {"receipt": receipt, "actual": 1}), ("release", {"receipt": receipt}),
                                ("extend", {"receipt": receipt})]:
            ask(503, f"POST /v1/{operation}", body=body)
        admin = ask.admin_token
        ask(503, "POST /v1/consumer/reset", body={"consumer": "user=ann", "limit": "exact"}, headers=admin)
        ask(503, "POST /v1/limits/{name}/consumers/{consumer}/reset", "/v1/limits/exact/consumers/user=ann/reset",
            headers=admin)
        ask(200, "GET /v1/limits/{name}/consumers/{consumer}", "/v1/limits/exact/consumers/user=ann")
        domain = self.start(DESCRIPTORS, config)
        domain(503, "POST /v1/domains/{name}/descriptor/reset", headers=domain.admin_token)

    def overflowing(self):
        """Consumers share a state because memory is full."""
        policy = "version: 1\nlimits:\n  - {name: log, consumer_key: user, algorithm: sliding_window_log, rate: 60000/day}\n"
        ask = self.start(policy, LISTENERS + "state: {memory: 16MiB}\n")
        users = itertools.count()

        def overflows():
            ask(200, "POST /v1/check", body=[{"user": user, "cost": 500} for user in [f"u{next(users)}" for _ in range(20)] * 20])
            return ask(200, "GET /v1/limits")["limits"][0]["states"]["overflowed"]

        eventually(overflows, "a state that is shared")
        ask(200, "POST /v1/check", body={"user": "late"})
        admin = ask.admin_token
        ask(409, "POST /v1/consumer/reset", body={"consumer": "user=late", "limit": "log"}, headers=admin)
        ask(409, "POST /v1/limits/{name}/consumers/{consumer}/reset", "/v1/limits/log/consumers/user=late/reset",
            headers=admin)

    def stopping(self):
        ask = self.start(POLICY, LISTENERS + "grace: 1h\n")
        ask.weir.signal(signal.SIGTERM)
        ask.weir.await_log("shutting down in 1 h")
        for listener in "http", "admin":
            ask(503, "GET /readyz", listener=listener)
            ask(200, "GET /healthz", listener=listener)
        ask(500, "GET /healthcheck")
        begun = []
        token = ask.admin_token["X-Weir-Token"]
        for method, path, operation in self.document.operations("admin"):
            if path in ("/v1/limits", "/v1/limits/{name}", "/v1/policy") or path.startswith(("/v1/overrides", "/v1/blocks")):
                begun.append((method, path, ask.weir.connect("admin")))
                begun[-1][2].sendall(f"{method.upper()} {SAMPLES.get(path, path)} HTTP/1.1\r\nX-Weir-Token: {token}\r\n"
                                     "Host: local".encode())
        ask.weir.signal(signal.SIGTERM)  # the second ends the grace
        ask.weir.await_log("no new connections")
        for method, path, connection in begun:
            ask.raw(503, "admin", method, path, b"host\r\n\r\n", connection)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
