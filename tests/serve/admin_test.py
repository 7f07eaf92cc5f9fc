"""The admin door of a real server, and the commands that ask it."""

import json
import os
import re
import stat
import subprocess
import sys
import unittest

import server
from server import PROGRAM, VERSION, Server

POLICY = """
version: 1
limits:
  - name: by-user
    consumer_key: user
    algorithm: token_bucket
    rate: 60/h
    burst: 3
"""


class AdminTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.server = self.enterContext(Server(POLICY))

    @property
    def token(self):
        return (self.server.state_dir / "admin.token").read_text().strip()

    def ask(self, method, path, token=None):
        headers = {"X-Weir-Token": token} if token else {}
        return self.server.ask(method, path, headers=headers, door="admin")

    def use(self, user, times=1):
        for _ in range(times):
            status = self.server.ask("POST", "/v1/check", json.dumps({"path": "/", "user": user}))[0]
        return status

    def weir(self, *arguments):
        host, port = self.server.admin
        return subprocess.run([PROGRAM, *arguments, "--admin", f"{host}:{port}"], capture_output=True, text=True,
                              timeout=server.PATIENCE,
                              env={"PATH": os.environ["PATH"], "STATE_DIRECTORY": str(self.server.state_dir)})


class Door(AdminTest):
    def test_status(self):
        status, headers, body = self.ask("GET", "/v1/status")
        self.assertEqual((status, headers["Content-Type"]), (200, "application/json"))
        found = json.loads(body)
        self.assertEqual((found["version"], found["serving"], found["last_reload"]), (VERSION, True, None))
        self.assertEqual((found["policy"]["file"], found["policy"]["limits"]), (str(self.server.policy_file), 1))
        places = {door["name"]: door["listen"] for door in found["doors"]}
        self.assertEqual(places["admin"], ["{}:{}".format(*self.server.admin)])
        self.assertEqual(set(places), {"http", "rls", "resp", "admin"})
        self.assertGreater(found["memory"]["budget"], 0)

    def test_the_ruleset_in_force(self):
        found = json.loads(self.ask("GET", "/v1/ruleset")[2])
        self.assertEqual([limit["name"] for limit in found["limits"]], ["by-user"])
        self.assertEqual(found["digest"], json.loads(self.ask("GET", "/v1/status")[2])["policy"]["digest"])

    def test_metrics_count_decisions(self):
        self.use("alice", 5)
        page = self.ask("GET", "/metrics")[2]
        self.assertRegex(page, r'(?m)^weir_decisions_total\{limit="by-user",.*outcome="admitted"\} 3$')
        self.assertNotIn("alice", page)

    def test_who_is_denied_most_is_told_by_hash(self):
        self.use("alice", 8)
        found = json.loads(self.ask("GET", "/v1/denied")[2])["denied"]
        self.assertEqual([(each["limit"], each["count"]) for each in found], [("by-user", 5)])
        self.assertRegex(found[0]["consumer"], r"^user:[0-9a-f]{16}$")

    def test_the_admin_token_is_its_owners(self):
        mode = stat.S_IMODE((self.server.state_dir / "admin.token").stat().st_mode)
        self.assertEqual(mode, 0o600)

    def test_changes_ask_for_it(self):
        for path in ["/v1/reload", "/v1/limits/by-user/consumers/alice/reset"]:
            status, headers, _ = self.ask("POST", path)
            self.assertEqual((status, headers["WWW-Authenticate"]), (401, "Bearer"))
            self.assertEqual(self.ask("POST", path, token="0" * 64)[0], 401)
            self.assertEqual(self.ask("POST", path, token=self.token)[0], 200)

    def test_a_reload_takes_effect_before_its_answer(self):
        self.server.policy_file.write_text(POLICY.replace("by-user", "by-account"))
        status, _, body = self.ask("POST", "/v1/reload", token=self.token)
        self.assertEqual(status, 200)
        found = json.loads(self.ask("GET", "/v1/ruleset")[2])
        self.assertEqual((found["limits"][0]["name"], found["digest"]), ("by-account", json.loads(body)["digest"]))

    def test_a_bad_policy_changes_nothing_and_is_told(self):
        before = self.ask("GET", "/v1/ruleset")[2]
        self.server.policy_file.write_text("version: 1\nlimit: []\n")
        status, headers, body = self.ask("POST", "/v1/reload", token=self.token)
        self.assertEqual((status, headers["Content-Type"]), (422, "application/problem+json"))
        self.assertIn("policy.yaml:2:1", json.loads(body)["detail"])
        self.assertEqual(self.ask("GET", "/v1/ruleset")[2], before)
        last = json.loads(self.ask("GET", "/v1/status")[2])["last_reload"]
        self.assertFalse(last["applied"])
        self.assertIn("policy.yaml:2:1", last["error"])


class Commands(AdminTest):
    def test_status(self):
        ran = self.weir("status")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertRegex(ran.stdout, rf"(?m)^weir {re.escape(VERSION)}, serving since 20")
        self.assertRegex(ran.stdout, r"(?m)^policy +.*policy\.yaml, 1 limit, digest ")
        self.assertRegex(ran.stdout, rf"(?m)^admin +127\.0\.0\.1:{self.server.admin[1]}, 1 connection$")

    def test_status_tells_of_a_reload_that_failed(self):
        self.server.policy_file.write_text("version: 1\nlimit: []\n")
        self.ask("POST", "/v1/reload", token=self.token)
        self.assertRegex(self.weir("status").stdout, r"(?m)^reload +refused at 20.*policy\.yaml:2:1")

    def test_peek_sees_what_traffic_left(self):
        self.assertIn("by-user, user=alice, tier default: 3 of 3 left\n", self.weir("peek", "by-user", "alice").stdout)
        self.assertEqual(self.use("alice", 4), 429)
        ran = self.weir("peek", "by-user", "alice")
        self.assertIn("0 of 3 left\nThe next request is denied (exceeded). It passes in ", ran.stdout)

    def test_reset_lets_a_consumer_start_afresh(self):
        self.assertEqual(self.use("alice", 4), 429)
        ran = self.weir("reset", "by-user", "alice")
        self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (0, "by-user: user=alice starts afresh.\n", ""))
        self.assertEqual(self.use("alice", 3), 200)

    def test_what_the_policy_does_not_know(self):
        ran = self.weir("peek", "by-usr", "alice")
        self.assertEqual((ran.returncode, ran.stdout), (1, ""))
        self.assertIn("did you mean 'by-user'?", ran.stderr)

    def test_a_hash_finds_a_consumer_again(self):
        self.use("alice", 5)
        ran = subprocess.run([PROGRAM, "hash", "alice"], capture_output=True, text=True, timeout=server.PATIENCE,
                             env={"PATH": os.environ["PATH"], "STATE_DIRECTORY": str(self.server.state_dir)})
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertIn(f"by-user  user:{ran.stdout.strip()}\n", self.weir("status", "--denied", "5").stdout)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
