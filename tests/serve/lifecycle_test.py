"""A server from start to end: files, signals, listeners and the log."""

import json
import os
import pathlib
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
import unittest

import resp_client
import rls_client
import server
from server import LISTENERS, PROGRAM, Server, eventually

POLICY = """
version: 1
limits:
  - {name: api, consumer_key: user, algorithm: token_bucket, rate: 1/h, burst: 3}
"""
BAD_POLICY = "version: 1\nlimits:\n  - {name: api, consumer_key: user, algorithm: token_bukket, rate: 1/h}\n"
DEFAULT_PORTS = [8080, 8081, 6390, 8089]


def check(weir, user, **more):
    return json.loads(weir.ask("POST", "/v1/check", json.dumps({"path": "/", "user": user, **more}))[2])


def metric(weir, text):
    """Returns the value of the metric whose name and labels are `text`; 0 if it is absent."""
    for line in weir.ask("GET", "/metrics", listener="admin")[2].splitlines():
        if line.startswith(text + " "):
            return float(line.rsplit(" ", 1)[1])
    return 0


def reloads(weir, outcome):
    return metric(weir, f'weir_reloads_total{{outcome="{outcome}"}}')


def status(weir):
    return json.loads(weir.ask("GET", "/v1/status", listener="admin")[2])


def replace(path, text):
    """Replaces a file like editors and package managers: with a new file under the old name."""
    fresh = path.with_suffix(".new")
    fresh.write_text(text)
    fresh.replace(path)


def run_serve(config, *arguments, policy=None):
    """For a server that does not start, or that only validates."""
    with tempfile.TemporaryDirectory() as directory:
        folder = pathlib.Path(directory)
        (folder / "weir.yaml").write_text(config)
        (folder / "policy.yaml").write_text(policy or POLICY)
        return subprocess.run([PROGRAM, "serve", "--config", "weir.yaml", *arguments], capture_output=True, text=True,
                              timeout=server.PATIENCE, cwd=folder, stdin=subprocess.DEVNULL,
                              env={**os.environ, "STATE_DIRECTORY": str(folder / "state")})


def is_free(port):
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        return probe.connect_ex(("127.0.0.1", port)) != 0


class Start(unittest.TestCase):
    @unittest.skipUnless(all(map(is_free, DEFAULT_PORTS)), "something else listens on the default ports")
    def test_without_files(self):
        with Server(None, None) as weir:
            self.assertEqual([weir.http[1], weir.rls[1], weir.resp[1], weir.admin[1]], DEFAULT_PORTS)
            self.assertIn("serves the default policy; use --policy FILE for your own\n", weir.greeting)
            command = weir.greeting.splitlines()[-1].removeprefix("try: ")
            said = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=server.PATIENCE)
            self.assertIn("200 OK", said.stdout)
            self.assertIn('"limit":"by-caller","quota":20,"remaining":19', said.stdout)

    def test_a_port_that_is_taken(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            place = "127.0.0.1:{}".format(taken.getsockname()[1])
            ran = run_serve(LISTENERS.replace("127.0.0.1:0", place, 1))
        self.assertEqual((ran.returncode, ran.stdout), (1, ""))
        self.assertIn(f"another process listens on {place}; stop it or choose another port", ran.stderr)

    def test_a_port_that_another_weir_has(self):
        """SO_REUSEPORT would give each of them a part of the connections."""
        with Server(POLICY) as weir:
            ran = run_serve(LISTENERS.replace("127.0.0.1:0", "{}:{}".format(*weir.http), 1))
            self.assertEqual(ran.returncode, 1)
            self.assertIn("address in use", ran.stderr)
            self.assertTrue(check(weir, "alice")["admitted"])

    def test_a_listener_that_others_can_reach_is_refused(self):
        for listener in "http", "rls", "resp", "admin":
            config = LISTENERS.replace(f'{listener}: {{listen: "127.0.0.1:0"', f'{listener}: {{listen: "0.0.0.0:0"')
            ran = run_serve(config)
            self.assertEqual((ran.returncode, ran.stdout), (1, ""), listener)
            self.assertRegex(ran.stderr, r"weir\.yaml:\d+:\d+: error: listen '0\.0\.0\.0:0': this address is reachable")

    def test_a_policy_that_is_wrong(self):
        ran = run_serve(LISTENERS, policy=BAD_POLICY)
        self.assertEqual((ran.returncode, ran.stdout), (1, ""))
        self.assertIn("policy.yaml:3:", ran.stderr)
        self.assertIn("did you mean 'token_bucket'?", ran.stderr)

    def test_check_says_what_it_would_do(self):
        ran = run_serve(LISTENERS, "--check")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertIn("limit: api: every request: token_bucket 1/h, burst 3 by user\n", ran.stdout)

    def test_check_says_what_is_wrong(self):
        many = "version: 1\nlimits:\n" + "".join(
            f"  - {{name: l{i}, consumer_key: ip, algorithm: gcra, rate: 1/s}}\n" for i in range(3000))
        cases = [(LISTENERS.replace("http:", "htpp:"), POLICY, "did you mean 'http'?"),
                 (LISTENERS + "state: {memory: 1MiB}\n", many, "state.memory: "),
                 (LISTENERS, BAD_POLICY, "did you mean 'token_bucket'?"),
                 (LISTENERS.replace('resp: {', 'resp: {token_file: no-such-file, '), POLICY, "no-such-file"),
                 (LISTENERS.replace('rls: {', 'rls: {tls: {certificate: a.pem, key: b.pem}, '), POLICY, "a.pem")]
        for config, policy, message in cases:
            ran = run_serve(config, "--check", policy=policy)
            self.assertEqual(ran.returncode, 1, config)
            self.assertIn(message, ran.stderr)

    def test_check_starts_nothing(self):
        """--check needs no port, so it can run next to the server that it is about."""
        with Server(POLICY) as weir:
            config = LISTENERS.replace("127.0.0.1:0", "{}:{}".format(*weir.http), 1)
            self.assertEqual(run_serve(config, "--check").returncode, 0)

    def test_unix_sockets(self):
        with tempfile.TemporaryDirectory() as directory:
            folder = pathlib.Path(directory)
            config = "version: 1\npolicy: policy.yaml\nlisteners:\n" + "".join(
                f"  {listener}: {{listen: unix:{folder}/{listener}.sock}}\n" for listener in ["http", "rls", "resp", "admin"])

            def connect(listener):
                connection = socket.socket(socket.AF_UNIX)
                connection.settimeout(server.PATIENCE)
                connection.connect(str(folder / f"{listener}.sock"))
                return connection

            with Server(POLICY, config, directory):
                mode = stat.S_IMODE((folder / "http.sock").stat().st_mode)
                self.assertEqual(mode, 0o660)
                with rls_client.RlsClient(connect("rls")) as client:
                    self.assertEqual(client.ask({"path": "/", "user": "alice"}).remaining, 2)
                with resp_client.RespClient(connect("resp")) as client:
                    self.assertEqual(client.ask("WEIR.CHECK", "api", "alice")[2], 1)
                for listener, path, text in ("http", b"/healthz", b"ok"), ("admin", b"/v1/status", b'"serving":true'):
                    with connect(listener) as connection:
                        connection.sendall(b"GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n" % path)
                        with connection.makefile("rb") as answer:
                            self.assertIn(text, answer.read())
            self.assertEqual(list(folder.glob("*.sock")), [])


class Reload(unittest.TestCase):
    def setUp(self):
        self.server = self.enterContext(Server(POLICY))

    def await_burst(self, burst):
        eventually(lambda: check(self.server, "watcher", peek=True)["quota"] == burst, f"a burst of {burst}")

    def test_by_a_signal(self):
        self.server.policy_file.write_text(POLICY.replace("burst: 3", "burst: 5"))
        self.server.signal(signal.SIGHUP)
        self.await_burst(5)
        self.server.await_log("configuration reloaded")

    def test_usage_carries_over(self):
        self.assertEqual([check(self.server, "alice")["remaining"] for _ in range(3)], [2, 1, 0])
        self.server.policy_file.write_text(POLICY.replace("burst: 3", "burst: 5"))
        self.server.signal(signal.SIGHUP)
        self.await_burst(5)
        self.assertEqual(check(self.server, "alice", peek=True)["quota"], 5)
        self.assertFalse(check(self.server, "alice", cost=5)["admitted"])
        self.server.policy_file.write_text(POLICY)
        self.server.signal(signal.SIGHUP)
        self.await_burst(3)
        self.assertFalse(check(self.server, "alice", cost=3)["admitted"])

    def test_by_a_file_that_was_replaced(self):
        replace(self.server.policy_file, POLICY.replace("burst: 3", "burst: 4"))
        self.await_burst(4)
        replace(self.server.policy_file, POLICY.replace("burst: 3", "burst: 6"))
        self.await_burst(6)
        eventually(lambda: reloads(self.server, "applied") == 2, "a count of two")

    def test_a_bad_file_changes_nothing_and_is_told(self):
        digest = status(self.server)["policy"]["digest"]
        replace(self.server.policy_file, BAD_POLICY)
        self.server.await_log("reload failed, keeping the current configuration: ")
        eventually(lambda: reloads(self.server, "rejected") == 1, "a count of one")
        self.assertEqual(metric(self.server, "weir_last_reload_rejected"), 1)
        told = status(self.server)
        self.assertEqual(told["policy"]["digest"], digest)
        self.assertFalse(told["last_reload"]["applied"])
        self.assertIn("policy.yaml:3:", told["last_reload"]["error"])
        self.assertTrue(check(self.server, "alice")["admitted"])
        replace(self.server.policy_file, POLICY.replace("burst: 3", "burst: 4"))
        self.await_burst(4)
        eventually(lambda: metric(self.server, "weir_last_reload_rejected") == 0, "a good end")

    def test_a_file_that_is_away_for_a_moment(self):
        self.server.policy_file.unlink()
        self.assertTrue(check(self.server, "alice")["admitted"])
        replace(self.server.policy_file, POLICY.replace("burst: 3", "burst: 4"))
        self.await_burst(4)
        self.assertEqual(reloads(self.server, "rejected"), 0)


class MountedFiles(unittest.TestCase):
    def test_a_volume_that_is_swapped_whole(self):
        """Mounts files like a Kubernetes ConfigMap: names that lead through one link, which is swapped."""
        with tempfile.TemporaryDirectory() as directory:
            folder = pathlib.Path(directory)

            def mount(version, policy):
                (folder / version).mkdir()
                (folder / version / "policy.yaml").write_text(policy)
                (folder / "..data.new").symlink_to(version)
                (folder / "..data.new").replace(folder / "..data")

            mount("..v1", POLICY)
            (folder / "policy.yaml").symlink_to("..data/policy.yaml")
            with Server(None, LISTENERS, directory) as weir:
                self.assertEqual(check(weir, "alice")["quota"], 3)
                mount("..v2", POLICY.replace("burst: 3", "burst: 7"))
                eventually(lambda: check(weir, "alice", peek=True)["quota"] == 7, "the new policy")


QUEUE = """
version: 1
limits:
  - {name: queue, routes: [/queue], consumer_key: global, algorithm: leaky_bucket, rate: 1/2s, queue: 1}
"""


class Stop(unittest.TestCase):
    def test_what_is_under_way_is_finished(self):
        with Server(QUEUE) as weir:
            idle = weir.connect("http")
            held = weir.connect("http")
            asking = {listener: weir.connect(listener) for listener in ["http", "admin"]}
            for connection in asking.values():
                connection.sendall(b"GET /readyz HTTP/1.1\r\nHost: local")
            held.sendall(b"GET /v1/auth/queue HTTP/1.1\r\nHost: localhost\r\n\r\n" * 2)
            self.assertIn(b"200 OK", held.recv(65536))
            weir.signal(signal.SIGTERM)
            weir.await_log("shutting down")
            self.assertEqual(idle.recv(1), b"")
            for connection in asking.values():
                connection.sendall(b"host\r\n\r\n")
                with connection.makefile("rb") as answer:
                    said = answer.read()
                self.assertIn(b"503 Service Unavailable", said)
            self.assertIsNone(weir.process.poll())
            with held.makefile("rb") as answer:
                self.assertIn(b"200 OK", answer.read())
            self.assertEqual(weir.process.wait(server.PATIENCE), 0)
            for connection in idle, held, *asking.values():
                connection.close()
            self.assertIn('"stopped"', weir.log)
            self.assertNotIn("drain deadline", weir.log)

    def test_who_does_not_end_is_cut_off(self):
        with Server(POLICY, LISTENERS + "drain: 1s\n") as weir:
            with weir.connect("http") as connection:
                connection.sendall(b"GET /readyz HTTP/1.1\r\n")
                eventually(lambda: metric(weir, 'weir_connections{listener="http"}') == 1, "a connection")
                self.assertEqual(weir.stop(), 0)
            self.assertIn("closed 1 connection at the drain deadline", weir.log)

    def test_every_listener_lets_go(self):
        with Server(POLICY) as weir:
            resp = resp_client.connect(weir.resp, server.PATIENCE)
            rls = rls_client.connect(weir.rls, server.PATIENCE)
            self.assertEqual(resp.ask("PING"), "PONG")
            self.assertTrue(rls.ask({"path": "/", "user": "alice"}).admitted)
            admin = weir.connect("admin")
            weir.signal(signal.SIGTERM)
            for client in resp, rls:
                with client, self.assertRaisesRegex(ConnectionError, "closed|frame 7"):  # 7: GOAWAY
                    client.receive()
            with admin:
                self.assertEqual(admin.recv(1), b"")
            self.assertEqual(weir.process.wait(server.PATIENCE), 0)
            self.assertNotIn("drain deadline", weir.log)

    def test_until_the_grace_ends_all_listeners_are_open(self):
        with Server(POLICY, LISTENERS + "grace: 1h\n") as weir:
            weir.signal(signal.SIGTERM)
            weir.await_log("shutting down in 1 h")
            for listener in "http", "admin":
                self.assertEqual(weir.ask("GET", "/readyz", listener=listener)[0], 503)
                self.assertEqual(weir.ask("GET", "/healthz", listener=listener)[0], 200)
            self.assertTrue(check(weir, "alice")["admitted"])
            with resp_client.connect(weir.resp, server.PATIENCE) as resp:
                self.assertEqual(resp.ask("PING"), "PONG")
            with rls_client.connect(weir.rls, server.PATIENCE) as rls:
                self.assertTrue(rls.ask({"path": "/", "user": "alice"}).admitted)
            weir.signal(signal.SIGTERM)  # the second signal ends it
            self.assertEqual(weir.process.wait(server.PATIENCE), 0)

    def test_the_grace_ends(self):
        with Server(POLICY, LISTENERS + "grace: 1s\n") as weir:
            begun = time.monotonic()
            self.assertEqual(weir.stop(), 0)
            self.assertGreaterEqual(time.monotonic() - begun, 1)

    def test_other_signals_that_end_it(self):
        with Server(POLICY) as weir:
            weir.signal(signal.SIGINT)
            self.assertEqual(weir.process.wait(server.PATIENCE), 0)


class Signals(unittest.TestCase):
    def test_the_log_is_opened_anew(self):
        with tempfile.TemporaryDirectory() as directory:
            log = pathlib.Path(directory) / "weir.log"
            with Server(POLICY, LISTENERS + "log: {file: weir.log}\n", directory) as weir:
                eventually(lambda: "limit api" in log.read_text(), "the first lines")
                rotated = log.rename(log.with_suffix(".log.1"))
                weir.signal(signal.SIGUSR1)
                eventually(log.exists, "a new log")
                before = rotated.read_text()
                for _ in range(4):
                    check(weir, "alice")
                eventually(lambda: '"exceeded"' in log.read_text(), "a denial in the new log")
                self.assertEqual(rotated.read_text(), before)

    def test_the_service_manager_is_told(self):
        with tempfile.TemporaryDirectory() as directory:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
                manager.settimeout(server.PATIENCE)
                manager.bind(f"{directory}/notify")
                with Server(POLICY, environment={"NOTIFY_SOCKET": f"{directory}/notify"}) as weir:
                    self.assertEqual(manager.recv(4096), b"READY=1")
                    weir.signal(signal.SIGHUP)
                    self.assertRegex(manager.recv(4096), rb"^RELOADING=1\nMONOTONIC_USEC=\d+$")
                    self.assertEqual(manager.recv(4096), b"READY=1")
                    self.assertEqual(weir.stop(), 0)
                    self.assertEqual(manager.recv(4096), b"STOPPING=1")

    def test_a_client_that_goes_away_is_no_signal(self):
        with Server(POLICY) as weir:
            for _ in range(20):
                with weir.connect("http") as connection:
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                    connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" * 100)
            self.assertTrue(check(weir, "alice")["admitted"])


class Callers(unittest.TestCase):
    def setUp(self):
        self.server = self.enterContext(Server(POLICY))

    def test_names_of_others_are_not_answered_to(self):
        """A page in a browser can give this machine a name, and would then be admitted as its own origin."""
        for listener, path in ("http", "/v1/check"), ("admin", "/v1/status"):
            for host, expected in ("attacker.example", 421), ("localhost", 200), ("127.0.0.1:1", 200), ("[::1]", 200):
                method = "POST" if listener == "http" else "GET"
                found = self.server.ask(method, path, '{"path": "/"}', {"Host": host}, listener)[0]
                self.assertEqual(found, expected, (listener, host))

    def test_a_browser_is_not_answered_at_the_redis_listener(self):
        for text in b"POST / HTTP/1.1\r\nHost: localhost\r\n\r\nPING\r\n", b"Host: localhost\r\nPING\r\n":
            with self.server.connect("resp") as connection, connection.makefile("rb") as answer:
                connection.sendall(text)
                self.assertEqual(answer.read(), b"")

    def test_changes_need_the_admin_token(self):
        token = self.server.state_dir / "admin.token"
        self.assertEqual(stat.S_IMODE(token.stat().st_mode), 0o600)
        secret = token.read_text().strip()
        for path in "/v1/reload", "/v1/limits/api/consumers/alice/reset":
            for shown, expected in (None, 401), ("no" * 32, 401), (secret[:-1], 401), (secret, 200):
                headers = {"Authorization": f"Bearer {shown}"} if shown else {}
                self.assertEqual(self.server.ask("POST", path, headers=headers, listener="admin")[0], expected)
        with resp_client.connect(self.server.resp, server.PATIENCE) as client:
            with self.assertRaisesRegex(resp_client.ReplyError, "NOPERM"):
                client.ask("WEIR.RESET", "api", "alice")
            self.assertEqual(client.ask("AUTH", secret), "OK")
            self.assertEqual(client.ask("WEIR.RESET", "api", "alice"), "OK")


class Tokens(unittest.TestCase):
    def test_change_with_their_file(self):
        old, new = "the-token-that-was", "the-token-that-will-be"
        with tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory) / "token"
            file.write_text(old)
            file.chmod(0o600)
            with Server(POLICY, LISTENERS.replace("{listen", "{token_file: token, listen", 3), directory) as weir:
                self.assertEqual([self.may_ask(weir, token) for token in [old, new, None]], [True, False, False])
                file.write_text(new)
                weir.signal(signal.SIGHUP)
                weir.await_log("configuration reloaded")
                self.assertEqual([self.may_ask(weir, token) for token in [old, new, None]], [False, True, False])
                file.chmod(0o644)
                weir.signal(signal.SIGHUP)
                weir.await_log("reload failed, keeping the current configuration: ")
                self.assertTrue(self.may_ask(weir, new))

    def test_stay_as_long_as_the_addresses_that_they_guard(self):
        with tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory) / "token"
            file.write_text("the-token-that-guards")
            file.chmod(0o600)
            guarded = LISTENERS.replace('http: {listen: "127.0.0.1:0"', 'http: {token_file: token, listen: "127.0.0.1:0"')
            with Server(POLICY, guarded, directory) as weir:
                weir.config_file.write_text(LISTENERS.replace('http: {listen: "127.0.0.1:0"', 'http: {listen: "127.0.0.1:1"'))
                weir.signal(signal.SIGHUP)
                weir.await_log("restart required to apply changes to: listeners.http")
                self.assertEqual(weir.ask("POST", "/v1/check", "{}")[0], 401)

    def may_ask(self, weir, token):
        """Returns whether a client with that token is answered: the same at all three listeners."""
        shown = {"X-Weir-Token": token} if token else {}
        answers = {weir.ask("POST", "/v1/check", '{"path": "/"}', shown)[0] == 200}
        with rls_client.connect(weir.rls, server.PATIENCE) as client:
            try:
                client.ask({"path": "/"}, **({"x-weir-token": token} if token else {}))
                answers.add(True)
            except ConnectionError:
                answers.add(False)
        with resp_client.connect(weir.resp, server.PATIENCE) as client:
            try:
                if token:
                    client.ask("AUTH", token)
                client.ask("WEIR.PEEK", "api", "alice")
                answers.add(True)
            except resp_client.ReplyError:
                answers.add(False)
        self.assertEqual(len(answers), 1, answers)
        return answers.pop()


PERSONAL = """
version: 1
identity:
  trusted_proxies: [127.0.0.0/8]
limits:
  - {name: by-user, routes: ["/user/{id}"], consumer_key: user, algorithm: gcra, rate: 1/h, burst: 1}
  - {name: by-key, routes: [/key], consumer_key: api_key, algorithm: gcra, rate: 1/h, burst: 1}
  - {name: by-ip, routes: [/ip], consumer_key: ip, algorithm: gcra, rate: 1/h, burst: 1}
  - {name: by-header, routes: [/header], consumer_key: "header:X-Login", algorithm: gcra, rate: 1/h, burst: 1}
"""
SECRETS = ["alice-secret", "key-secret", "203.0.113.77", "2001:db8:1:2:3:4:5:6", "login-secret", "path-secret",
           "query-secret", "cookie-secret", "throttle-secret"]


class Privacy(unittest.TestCase):
    def test_the_log_holds_nothing_that_is_a_persons(self):
        with Server(PERSONAL) as weir:
            for _ in range(3):
                for query in [{"path": "/user/path-secret?q=query-secret", "user": "alice-secret"},
                              {"path": "/key", "api_key": "key-secret"},
                              {"path": "/ip", "ip": "203.0.113.77"},
                              {"path": "/ip", "ip": "2001:db8:1:2:3:4:5:6"},
                              {"path": "/header", "headers": {"X-Login": "login-secret", "Cookie": "cookie-secret"}}]:
                    last = weir.ask("POST", "/v1/check", json.dumps(query))[0]
                    weir.ask("GET", "/v1/auth", headers={
                        "X-Original-URI": query["path"], "X-User-Id": query.get("user", ""),
                        "X-Api-Key": query.get("api_key", ""), "X-Forwarded-For": query.get("ip", ""),
                        **query.get("headers", {})})
                with rls_client.connect(weir.rls, server.PATIENCE) as client:
                    client.ask({"path": "/user/path-secret", "user": "alice-secret", "ip": "203.0.113.77"})
                with resp_client.connect(weir.resp, server.PATIENCE) as client:
                    client.ask("WEIR.CHECK", "by-user", "alice-secret")
                    client.ask("CL.THROTTLE", "throttle-secret", 0, 1, 3600)
            self.assertEqual(last, 429)
            weir.ask("POST", "/v1/check", '{"path": "path-secret')
            said = "".join(weir.ask("GET", path, listener="admin")[2] for path in ["/metrics", "/v1/denied", "/v1/status"])
            self.assertEqual(weir.stop(), 0)
            denied = {json.loads(line).get("limit") for line in weir.log.splitlines()}
            self.assertLessEqual({"by-user", "by-key", "by-ip", "by-header"}, denied)
            for secret in SECRETS:
                self.assertNotIn(secret, weir.log)
                self.assertNotIn(secret, said)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
