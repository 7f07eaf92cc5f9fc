"""The admin listener of a real server, and the commands that use it."""

import json
import os
import pathlib
import re
import stat
import subprocess
import sys
import tempfile
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

    POLICY = POLICY
    CONFIG = server.LISTENERS

    def setUp(self):
        self.server = self.enterContext(Server(self.POLICY, self.CONFIG))

    @property
    def token(self):
        return (self.server.state_dir / "admin.token").read_text().strip()

    def ask(self, method, path, token=None):
        headers = {"X-Weir-Token": token} if token else {}
        return self.server.ask(method, path, headers=headers, listener="admin")

    def use(self, user, times=1):
        for _ in range(times):
            status = self.server.ask("POST", "/v1/check", json.dumps({"path": "/", "user": user}))[0]
        return status

    def weir(self, *arguments):
        host, port = self.server.admin
        return subprocess.run([PROGRAM, *arguments, "--admin", f"{host}:{port}"], capture_output=True, text=True,
                              timeout=server.PATIENCE,
                              env={"PATH": os.environ["PATH"], "STATE_DIRECTORY": str(self.server.state_dir)})


class Listener(AdminTest):
    def test_status(self):
        status, headers, body = self.ask("GET", "/v1/status")
        self.assertEqual((status, headers["Content-Type"]), (200, "application/json"))
        found = json.loads(body)
        self.assertEqual((found["version"], found["serving"], found["last_reload"]), (VERSION, True, None))
        self.assertEqual((found["policy"]["file"], found["policy"]["limits"]), (str(self.server.policy_file), 1))
        places = {listener["name"]: listener["listen"] for listener in found["listeners"]}
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

    def test_who_is_top_denied_is_told_by_hash(self):
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
        self.assertRegex(self.weir("status").stdout, r"(?m)^reload +failed at 20.*policy\.yaml:2:1")

    def test_peek_sees_what_traffic_left(self):
        self.assertIn("by-user, user=alice, tier default: 3 of 3 left\n", self.weir("peek", "by-user", "alice").stdout)
        self.assertEqual(self.use("alice", 4), 429)
        ran = self.weir("peek", "by-user", "alice")
        self.assertIn("0 of 3 left\nNext request allowed in ", ran.stdout)

    def test_reset_lets_a_consumer_start_afresh(self):
        self.assertEqual(self.use("alice", 4), 429)
        ran = self.weir("reset", "by-user", "alice")
        self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (0, "by-user: user=alice reset\n", ""))
        self.assertEqual(self.use("alice", 3), 200)

    def test_what_the_policy_does_not_know(self):
        ran = self.weir("peek", "by-usr", "alice")
        self.assertEqual((ran.returncode, ran.stdout), (1, ""))
        self.assertIn("did you mean 'by-user'? Valid limits: by-user", ran.stderr)

    def test_reload(self):
        self.server.policy_file.write_text(POLICY.replace("by-user", "by-account"))
        ran = self.weir("reload")
        digest = json.loads(self.ask("GET", "/v1/ruleset")[2])["digest"]
        self.assertEqual((ran.returncode, ran.stdout, ran.stderr),
                         (0, f"Configuration reloaded; policy digest {digest}\n", ""))
        self.assertIn("by-account", self.ask("GET", "/v1/ruleset")[2])

    def test_a_reload_that_is_refused(self):
        self.server.policy_file.write_text("version: 1\nlimit: []\nfoo: 1\n")
        ran = self.weir("reload")
        self.assertEqual((ran.returncode, ran.stdout), (1, ""))
        self.assertRegex(ran.stderr, r"(?m)^weir: .*policy\.yaml:2:1: ")
        self.assertRegex(ran.stderr, r"(?m)^weir: .*policy\.yaml:3:1: ")

    def test_a_reload_says_what_needs_a_restart(self):
        self.server.config_file.write_text(server.LISTENERS + "loops: 1\n")
        ran = self.weir("reload")
        self.assertEqual(ran.returncode, 0)
        self.assertIn("Restart required to apply changes to: loops\n", ran.stdout)

    def test_status_shows_the_traffic_of_the_last_minute(self):
        self.assertEqual(self.use("alice", 5), 429)
        ran = self.weir("status")
        self.assertRegex(ran.stdout, r"(?m)^traffic +5 requests in the last \d+ s$")
        self.assertRegex(ran.stdout, r"(?m)^ +by-user: 5 decisions, [0-9.]+/s, denied 2 \(40\.0 %\)$")
        found = json.loads(self.ask("GET", "/v1/status")[2])["traffic"]
        self.assertEqual(found["limits"], [{"limit": "by-user", "decisions": 5, "denied": 2, "shadow_denied": 0}])

    def test_a_hash_under_another_key_is_refused(self):
        (self.server.state_dir / "log.key").write_text("ff" * 16 + "\n")
        ran = self.weir("hash", "alice")
        self.assertEqual((ran.returncode, ran.stdout), (1, ""))
        self.assertIn("differs from the key of the running server", ran.stderr)

    def test_a_hash_finds_a_consumer_again(self):
        self.use("alice", 5)
        ran = self.weir("hash", "alice")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertIn(f"by-user  user:{ran.stdout.strip()}\n", self.weir("status", "--denied", "5").stdout)


class Ambiguous(AdminTest):
    POLICY = """
version: 1
limits:
  - {name: everything, consumer_key: [user, ip], algorithm: fixed_window, rate: 2/day}
"""

    def use_address(self):
        return self.server.ask("POST", "/v1/check", json.dumps({"path": "/", "ip": "127.0.0.1"}))[0]

    def test_what_could_be_two_consumers_is_refused_with_both_spellings(self):
        self.assertEqual([self.use_address() for _ in range(3)], [200, 200, 429])
        for command in "peek", "reset":
            ran = self.weir(command, "everything", "127.0.0.1")
            self.assertEqual((ran.returncode, ran.stdout), (1, ""))
            self.assertIn("consumer: ambiguous: write 'user=127.0.0.1' or 'ip=127.0.0.1'\n", ran.stderr)
        self.assertEqual(self.use_address(), 429)
        ran = self.weir("reset", "everything", "ip=127.0.0.1")
        self.assertEqual((ran.returncode, ran.stdout), (0, "everything: ip=127.0.0.1 reset\n"))
        self.assertEqual(self.use_address(), 200)


class Descriptors(AdminTest):
    POLICY = """
domain: edge
descriptors:
  - key: remote_address
    rate_limit: {unit: day, requests_per_unit: 2, name: by-address}
"""
    NAME = ["--domain", "edge", "--descriptor", "remote_address=192.0.2.7"]

    def send(self):
        entries = [{"key": "remote_address", "value": "192.0.2.7"}]
        return self.server.ask("POST", "/json", json.dumps({"domain": "edge", "descriptors": [{"entries": entries}]}))[0]

    def test_a_counter_is_seen_and_reset(self):
        self.assertEqual([self.send() for _ in range(3)], [200, 200, 429])
        ran = self.weir("peek", *self.NAME)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertIn("edge, remote_address=192.0.2.7, limit by-address: 0 of 2 left\n"
                      "Next request allowed in ", ran.stdout)
        ran = self.weir("reset", *self.NAME)
        self.assertEqual((ran.returncode, ran.stdout), (0, "edge: remote_address=192.0.2.7 reset\n"))
        self.assertEqual(self.send(), 200)

    def test_what_is_not_configured_is_told_what_is(self):
        ran = self.weir("peek", "--domain", "edge", "--descriptor", "path=/x")
        self.assertEqual((ran.returncode, ran.stdout), (1, ""))
        self.assertIn("has no limit in domain 'edge'; limits exist for 'remote_address'", ran.stderr)


class Overflow(AdminTest):
    POLICY = """
version: 1
limits:
  - {name: log, consumer_key: user, algorithm: sliding_window_log, rate: 60000/day}
"""
    CONFIG = server.LISTENERS + "state: {memory: 16MiB}\n"

    def overflowed(self):
        page = self.ask("GET", "/metrics")[2]
        return sum(float(line.rsplit(" ", 1)[1]) for line in page.splitlines()
                   if line.startswith("weir_table_overflowed_total"))

    def test_a_state_that_others_share_is_not_reset_in_silence(self):
        users = iter(range(100000))
        while not self.overflowed():
            for _ in range(20):
                last = f"u{next(users)}"
                self.use(last)
        self.use("late")
        ran = self.weir("reset", "log", "late")
        self.assertEqual((ran.returncode, ran.stdout), (1, ""))
        self.assertIn("consumer: shares a state with other consumers because memory is full", ran.stderr)
        self.assertEqual(self.weir("reset", "log", "u0").returncode, 0)


class Container(unittest.TestCase):
    """Tests flags and the environment, without a home directory."""

    def serve(self, *arguments, **variables):
        return subprocess.run([PROGRAM, "serve", *arguments], capture_output=True, text=True, timeout=server.PATIENCE,
                              env={"PATH": os.environ["PATH"], **variables})

    def test_check_shows_where_each_came_from(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "weir.yaml").write_text("version: 1\npolicy: one.yaml\nlisteners: {rls: {listen: 'localhost:1'}}\n")
            for name in "one.yaml", "two.yaml", "three.yaml":
                (folder / name).write_text(POLICY)
            config = str(folder / "weir.yaml")
            checked = self.serve("--check", "--http", ":9000", "--exposed", "--resp", "off", WEIR_CONFIG=config,
                                 WEIR_POLICY=str(folder / "two.yaml"))
            self.assertEqual((checked.returncode, checked.stderr), (0, ""))
            for line in [f"config: {config} (WEIR_CONFIG)", f"policy: {folder}/two.yaml (WEIR_POLICY)",
                         "http listener: [::]:9000 (--http), exposed, ", f"rls listener: 127.0.0.1:1 ({config}), ",
                         "resp listener: off (--resp)", "admin listener: 127.0.0.1:8089 (default), "]:
                self.assertRegex(checked.stdout, rf"(?m)^{re.escape(line)}")
            by_flag = self.serve("--check", "--config", config, "--policy", str(folder / "three.yaml"),
                                 WEIR_CONFIG="/no/such.yaml", WEIR_POLICY=str(folder / "two.yaml"))
            self.assertIn(f"config: {config} (--config)\npolicy: {folder}/three.yaml (--policy)\n", by_flag.stdout)
            by_file = self.serve("--check", "--config", config)
            self.assertIn(f"policy: {folder}/one.yaml ({config})\n", by_file.stdout)

    def test_flags_that_are_wrong(self):
        for arguments, message in [(["--http", ":80"], "--http: [::]:80: this address is reachable from other hosts; add --exposed"),
                                   (["--http", "127.0.0.1:8081"], "the rls listener already uses 127.0.0.1:8081"),
                                   (["--rls", "x"], "--rls: 'x': ")]:
            ran = self.serve("--check", *arguments)
            self.assertEqual((ran.returncode, ran.stdout), (2, ""), arguments)
            self.assertIn(message, ran.stderr)

    def test_it_serves_by_flags_alone_without_a_writable_home(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "home").write_text("not a directory")
            listeners = [word for listener in ["http", "rls", "resp", "admin"] for word in [f"--{listener}", "127.0.0.1:0"]]
            with Server(POLICY, None, folder, arguments=["--policy", f"{folder}/policy.yaml", *listeners],
                        environment={"STATE_DIRECTORY": "", "XDG_STATE_HOME": "", "HOME": f"{folder}/home"}) as weir:
                self.assertEqual(weir.ask("POST", "/v1/check", json.dumps({"path": "/", "user": "a"}))[0], 200)
                self.assertIn("no usable state directory: snapshots and the admin API's write operations are disabled", weir.log)
                self.assertIn(f"{folder}/home/.local/state/weir: cannot be created: ", weir.log)
                status, _, body = weir.ask("POST", "/v1/reload", listener="admin")
                self.assertEqual(status, 403)
                self.assertIn("this server has no admin token", body)
                self.assertIsNone(json.loads(weir.ask("GET", "/v1/status", listener="admin")[2])["state"]["directory"])

    def test_a_directory_that_was_asked_for_has_to_be_usable(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "file").write_text("")
            for state in "directory: file/state", "snapshot: {every: 1min}":
                (pathlib.Path(folder) / "weir.yaml").write_text(server.LISTENERS.replace("policy: policy.yaml\n", "")
                                                                + f"state: {{{state}}}\n")
                ran = self.serve("--config", f"{folder}/weir.yaml", HOME=f"{folder}/file")
                self.assertEqual((ran.returncode, ran.stdout), (1, ""), state)
                self.assertIn("cannot be created", ran.stderr)


class Greeting(unittest.TestCase):
    def test_what_is_to_be_tried_is_limited_by_the_policy(self):
        policies = [POLICY, Descriptors.POLICY,
                    "version: 1\nlimits:\n  - {name: login, routes: [POST /it's], when: anonymous, consumer_key: ip, "
                    "algorithm: fixed_window, rate: 1/day}\n"]
        for policy in policies:
            with Server(policy) as weir:
                command = weir.greeting.splitlines()[-1].removeprefix("try: ")
                said = [subprocess.run(["sh", "-c", command + " -s"], capture_output=True, text=True,
                                       timeout=server.PATIENCE).stdout.splitlines()[0] for _ in range(4)]
                self.assertEqual((said[0], said[-1]), ("HTTP/1.1 200 OK", "HTTP/1.1 429 Too Many Requests"), command)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
