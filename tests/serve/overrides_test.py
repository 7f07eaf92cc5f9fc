"""Operators raise a limit, grant units and block a client: by command and over the admin API, with names of tokens, over
a restart and a kill."""

import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import server
from server import LISTENERS, Server, eventually

POLICY = """
version: 1
tiers: { from: { header: X-Plan }, default: free, names: [free, pro] }
limits:
  - { name: api, routes: [/api/**], consumer_key: user, algorithm: token_bucket, rate: 2/h,
      tier_overrides: { pro: { rate: 10/h } } }
  - { name: quota, routes: [/quota], consumer_key: user, algorithm: fixed_window, rate: 3/year }
  - { name: keyed, routes: [/keyed], consumer_key: api_key, algorithm: gcra, rate: 5/h }
"""
CONFIG = LISTENERS + "state: {directory: state}\nlog: {denials: {sample: 1/1}}\n"
TOKENS = """# operators
alice  alices-token-of-32-characters-xx  write
bob    bobs-token-of-32-characters-xxxx  read
"""


class Overrides(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.state = self.directory / "state"
        self.state.mkdir(mode=0o700)

    def start(self, config=CONFIG):
        (self.directory / "log").unlink(missing_ok=True)
        return Server(POLICY, config, self.directory)

    def weir(self, started, *arguments, code=0):
        """What a command prints."""
        ran = subprocess.run([server.PROGRAM, *arguments, "--admin", "%s:%d" % started.admin, "--token-file",
                              self.state / "admin.token"], capture_output=True, text=True, timeout=server.PATIENCE)
        self.assertEqual(ran.returncode, code, ran.stderr)
        return ran.stdout if code == 0 else ran.stderr

    def check(self, started, **query):
        status, headers, text = started.ask("POST", "/v1/check", json.dumps(query))
        return status, headers, json.loads(text)

    def quota(self, started, **query):
        return self.check(started, **query)[2]["quota"]

    def call(self, started, token, method, path, body=None, **headers):
        headers = {"X-Weir-Token": token, **headers} if token else headers
        status, _, text = started.ask(method, path, body and json.dumps(body), headers, listener="admin")
        return status, json.loads(text)

    def test_a_limit_is_raised_for_one_customer_and_survives_a_kill(self):
        started = self.start()
        said = self.weir(started, "override", "set", "api", "acme", "--rate", "600/h", "--for", "24h", "--reason", "launch",
                         "--id", "launch")
        self.assertRegex(said, r"^api, user=acme: rate 600/h, until \S+Z \(id launch\)\n$")
        self.assertEqual(self.quota(started, path="/api/x", user="acme"), 600)
        self.assertEqual(self.quota(started, path="/api/x", user="acme", tier="pro"), 600)
        self.assertEqual(self.quota(started, path="/api/x", user="other"), 2)
        status, headers, _ = started.ask("GET", "/v1/auth/api/x", headers={"X-User-Id": "acme"})
        self.assertEqual((status, headers["RateLimit-Policy"]), (200, '"api";q=600;w=3600'))
        started.kill()
        with self.start() as started:
            self.assertEqual(self.quota(started, path="/api/x", user="acme"), 600)
            self.assertIn("launch  api, user=acme: rate 600/h", self.weir(started, "override", "list"))
            self.assertIn("By override launch:", self.weir(started, "peek", "api", "user=acme"))
            self.assertRegex(self.weir(started, "override", "remove", "api", "user=acme"), "^removed api, user=acme")
            self.assertEqual(self.quota(started, path="/api/x", user="acme"), 2)
            self.assertRegex(self.weir(started, "override", "history"), r"(?s)remove override launch .*set override launch ")
        with self.start() as started:
            self.assertEqual(self.quota(started, path="/api/x", user="acme"), 2)
            self.assertIn("\nweir_overrides 0\n", started.ask("GET", "/metrics", listener="admin")[2])

    def test_a_grant_adds_units_once(self):
        with self.start() as started:
            for _ in range(3):
                self.assertEqual(self.check(started, path="/quota", user="acme")[0], 200)
            self.assertEqual(self.check(started, path="/quota", user="acme")[0], 429)
            for _ in range(2):
                self.weir(started, "grant", "quota", "user=acme", "2", "--reason", "sorry", "--id", "sorry")
            statuses = [self.check(started, path="/quota", user="acme")[0] for _ in range(3)]
            self.assertEqual(statuses, [200, 200, 429])

    def test_a_client_is_blocked_and_the_log_and_the_metrics_say_so(self):
        with self.start() as started:
            self.weir(started, "block", "user=mallory", "--for", "1h", "--reason", "scraping", "--id", "b1")
            status, headers, told = self.check(started, path="/api/x", user="mallory")
            self.assertEqual((status, told["reason"], told["limit"]), (403, "blocked", None))
            self.assertIn(int(headers["Retry-After"]), range(3500, 3602))
            status, headers, text = started.ask("GET", "/v1/auth/elsewhere", headers={"X-User-Id": "mallory"})
            self.assertEqual((status, json.loads(text)["status"]), (403, 403))
            self.weir(started, "block", "ip=192.0.2.0/24", "--permanent", "--reason", "abuse", "--route", "POST /api/x")
            status, headers, told = self.check(started, method="POST", path="/api/x", ip="192.0.2.9")
            self.assertEqual((status, headers["Retry-After"], told["retry_after"]), (403, None, None))
            self.assertEqual(self.check(started, path="/api/x", ip="192.0.2.9")[0], 200)
            eventually(lambda: '"block":"b1"' in started.log, "the denial in the log")
            self.assertIn('"what":"set block"', started.log)
            metrics = started.ask("GET", "/metrics", listener="admin")[2]
            self.assertIn("\nweir_blocked_total 3\n", metrics)
            self.assertIn("\nweir_blocks 2\n", metrics)
            self.assertRegex(self.weir(started, "unblock", "user=mallory"), "^removed user=mallory")
            self.assertEqual(self.check(started, path="/api/x", user="mallory")[0], 200)

    def test_the_history_has_the_names_of_tokens_and_readers_change_nothing(self):
        (self.state / "admin.token").write_text(TOKENS)
        (self.state / "admin.token").chmod(0o600)
        alice, bob = "alices-token-of-32-characters-xx", "bobs-token-of-32-characters-xxxx"
        block = {"identity": "user=eve", "for": "1h", "reason": "r", "id": "one"}
        with self.start() as started:
            self.assertEqual(self.call(started, bob, "PUT", "/v1/blocks", block)[0], 403)
            self.assertEqual(self.call(started, "wrong-token-of-32-characters-xxx", "PUT", "/v1/blocks", block)[0], 401)
            self.assertEqual(self.call(started, alice, "PUT", "/v1/blocks", block)[1]["by"], "alice")
            self.assertEqual(self.call(started, bob, "GET", "/v1/blocks/one")[0], 200)
            self.assertEqual(self.call(started, None, "GET", "/v1/blocks/one")[0], 401)
            changes = self.call(started, bob, "GET", "/v1/blocks/history")[1]["changes"]
            self.assertEqual([(change["action"], change["by"]) for change in changes], [("set", "alice")])
            self.assertRegex(self.weir(started, "override", "list"), "one  user=eve, .*, by alice")

    def test_mistakes_are_answered_with_place_and_remedy(self):
        with self.start() as started:
            for said, arguments in [
                ("limit 'apo': unknown, did you mean 'api'?", ["set", "apo", "acme", "--factor", "2"]),
                ("factor: must be a number above 0", ["set", "api", "acme", "--factor", "-1"]),
                ("numbers: rate '5 per day'", ["set", "api", "acme", "--rate", "5 per day"]),
                ("consumer: any client can claim this api_key", ["set", "keyed", "api_key=k", "--factor", "2"]),
            ]:
                self.assertIn(said, self.weir(started, "override", *arguments, "--for", "1h", "--reason", "r", code=1))
            self.assertIn("reason: missing", self.weir(started, "block", "user=eve", "--for", "1h", code=1))
            self.assertIn("takes LIMIT and CONSUMER", self.weir(started, "override", "set", "api", code=2))

    def test_what_is_exported_can_be_applied_elsewhere(self):
        with self.start() as started:
            self.weir(started, "override", "set", "api", "acme", "--factor", "2.5", "--permanent", "--reason", "r", "--id", "a")
            self.weir(started, "block", "header:X-App=bad", "--permanent", "--reason", "r", "--id", "b")
            exported = self.weir(started, "override", "export")
            self.weir(started, "override", "remove", "a")
            self.weir(started, "unblock", "b")
            (self.directory / "saved").write_text(exported)
            self.assertEqual(self.weir(started, "override", "apply", str(self.directory / "saved")), "applied 2 records\n")
            self.assertEqual(self.quota(started, path="/api/x", user="acme"), 5)
            again = [{**json.loads(line), "version": 0, "created_at": ""} for line in exported.splitlines()]
            now = [{**json.loads(line), "version": 0, "created_at": ""}
                   for line in self.weir(started, "override", "export").splitlines()]
            self.assertEqual(now, again)

    def test_a_reload_keeps_them(self):
        with self.start() as started:
            self.weir(started, "override", "set", "api", "acme", "--factor", "3", "--for", "1h", "--reason", "r")
            started.policy_file.write_text(POLICY.replace("rate: 2/h", "rate: 7/h"))
            self.weir(started, "reload")
            self.assertEqual(self.quota(started, path="/api/x", user="acme"), 21)

    def test_no_acknowledged_change_is_lost_when_the_server_is_killed(self):
        acknowledged = []
        for kill in range(5):
            started = self.start()
            token = (self.state / "admin.token").read_text().strip()

            def change(number, kill=kill, started=started, token=token):
                block = {"id": f"b{kill}-{number}", "identity": f"user={kill}-{number}", "permanent": True, "reason": "r"}
                if self.call(started, token, "PUT", "/v1/blocks", block)[0] == 200:
                    acknowledged.append(block["id"])

            with concurrent.futures.ThreadPoolExecutor(4) as pool:
                futures = [pool.submit(change, number) for number in range(40)]
                concurrent.futures.wait(futures[:20])  # the others may find a server that is gone
                started.kill()
        self.assertGreater(len(acknowledged), 80)
        with self.start() as started:
            token = (self.state / "admin.token").read_text().strip()
            listed = self.call(started, token, "GET", "/v1/blocks?count=1000")[1]["blocks"]
            self.assertEqual(set(acknowledged) - {block["id"] for block in listed}, set())


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
