"""weir status, health, peek, reset, reload and hash: their requests and their output. The server is a stand-in;
tests/serve uses the real one."""

import contextlib
import http.server
import json
import os
import shutil
import socket
import socketserver
import ssl
import subprocess
import threading

import program
from program import ProgramTest

STATUS = {
    "version": "1.2.3", "serving": True, "started_at": "2026-01-05T12:00:00Z",
    "policy": {"file": "policy.yaml", "digest": "d1", "loaded_at": "2026-01-05T12:30:00Z", "limits": 1},
    "last_reload": {"at": "2026-01-05T13:00:00Z", "applied": False, "error": "policy.yaml:3:1: no"},
    "listeners": [{"name": "http", "listen": ["127.0.0.1:8080", "unix:/run/w"], "connections": 7},
              {"name": "admin", "listen": ["127.0.0.1:8089"], "connections": 1}],
    "traffic": {"seconds": 60.5, "requests": 130, "limits": [
        {"limit": "api", "decisions": 121, "denied": 11, "shadow_denied": 0},
        {"limit": "trial", "decisions": 4, "denied": 0, "shadow_denied": 1}]},
    "memory": {"used": 1048576, "budget": 268435456}, "last_snapshot": None,
    "candidates": [{"limit": "api", "agreed": 10, "newly_denied": 2, "newly_admitted": 1}],
}
STATUS_TEXT = """weir 1.2.3, serving since 2026-01-05T12:00:00Z
policy     policy.yaml, 1 limit, digest d1
           active since 2026-01-05T12:30:00Z
reload     failed at 2026-01-05T13:00:00Z: policy.yaml:3:1: no
http       127.0.0.1:8080, unix:/run/w, 7 connections
admin      127.0.0.1:8089, 1 connection
traffic    130 requests in the last 60 s
           api: 121 decisions, 2.00/s, denied 11 (9.1 %)
           trial: 4 decisions, 0.07/s, denied 0 (0.0 %), would deny 1 (25.0 %)
memory     1 MiB of 256 MiB
snapshot   none since startup
candidate  api: agreed 10 times, 2 newly denied, 1 newly admitted
"""
PEEK = {"limit": "api", "tier": "free", "mode": "enforce", "admitted": False, "reason": "exceeded", "quota": 4,
        "remaining": 0, "retry_after": 0.75, "reset_after": 3.75, "more_after": 0.75, "consumer": "user=alice"}
SLICES = {"consistency": "leased", "used": 1, "leased": 3, "holders": 2, "slices": [
    {"holder": "0123456789ab", "units": 2, "expires_after": 0.7, "own": True},
    {"holder": "fedcba987654", "units": 1, "expires_after": 0.25, "own": False}]}
TOKEN = "0123456789abcdef0123456789abcdef"


class StandIn(socketserver.ThreadingMixIn, http.server.HTTPServer):
    """Answers every request with `answer`, a status and a body."""
    daemon_threads = True

    def __init__(self, answer, address=("127.0.0.1", 0)):
        self.answer = answer
        self.requests = []
        super().__init__(address, Handler)

    def server_bind(self):
        socketserver.TCPServer.server_bind(self)  # http.server would look up the name of this machine
        self.server_port = self.server_address[1]


class UnixStandIn(StandIn):
    address_family = socket.AF_UNIX

    def get_request(self):
        return super().get_request()[0], ("", 0)


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.requests.append((self.command, self.path, self.headers.get("X-Weir-Token"), self.headers["Host"]))
        status, body = self.server.answer
        body = (body if isinstance(body, str) else json.dumps(body)).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

    def log_message(self, *arguments):
        pass


class OperateTest(ProgramTest):
    def setUp(self):
        self.state = self.folder()

    @contextlib.contextmanager
    def serving(self, answer, server=None):
        server = server or StandIn(answer)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
            server.server_close()

    def weir(self, *arguments, **variables):
        environment = {"PATH": os.environ["PATH"], "STATE_DIRECTORY": str(self.state), **variables}
        return subprocess.run([program.PROGRAM, *arguments], capture_output=True, text=True, timeout=60,
                              env=environment)

    def request(self, answer, *arguments):
        """Runs the command against the stand-in. Returns its exit code and outputs, and the request."""
        with self.serving(answer) as server:
            ran = self.weir(*arguments, "--admin", f"127.0.0.1:{server.server_port}")
        self.address = f"127.0.0.1:{server.server_port}"
        return ran, server.requests

    def give_token(self, mode=0o600):
        path = self.state / "admin.token"
        path.write_text(TOKEN + "\n")
        path.chmod(mode)
        return path


    def certificate(self, name="IP:127.0.0.1", prefix=""):
        certificate, key = str(self.state / f"{prefix}c.pem"), str(self.state / f"{prefix}k.pem")
        subprocess.run([shutil.which("openssl"), "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=weir", "-addext",
                        f"subjectAltName={name}", "-keyout", key, "-out", certificate],
                       check=True, capture_output=True)
        return certificate, key

    def with_tls(self, certificate, key, client_ca=None):
        server = StandIn((200, STATUS))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        if client_ca:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(client_ca)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        server.handle_error = lambda *_: None  # a client that rejects the certificate
        return server


class Status(OperateTest):
    def test_it_is_shown(self):
        ran, requested = self.request((200, STATUS), "status")
        self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (0, STATUS_TEXT, ""))
        self.assertEqual(requested, [("GET", "/v1/status", None, self.address)])

    def test_json_is_as_the_server_wrote_it(self):
        ran, _ = self.request((200, '{"version" : "x"}\n'), "status", "--json")
        self.assertEqual((ran.returncode, ran.stdout), (0, '{"version" : "x"}\n'))

    def test_the_consumers_that_were_top_denied(self):
        denied = {"denied": [{"limit": "login", "consumer": "ip:0b77", "count": 1200, "error": 2}]}
        ran, requested = self.request((200, denied), "status", "--denied", "7")
        self.assertEqual((ran.returncode, ran.stdout), (0, "      1200  login  ip:0b77\n"))
        self.assertEqual(requested[0][1], "/v1/denied?count=7")
        ran, _ = self.request((200, {"denied": []}), "status", "--denied", "7")
        self.assertEqual(ran.stdout, "No consumer was denied recently.\n")

    def test_of_many_limits_the_busiest_are_shown(self):
        limits = [{"limit": f"l{i}", "decisions": 100 - i, "denied": 0, "shadow_denied": 0} for i in range(25)]
        ran, _ = self.request((200, {**STATUS, "traffic": {"seconds": 60, "requests": 1, "limits": limits}}), "status")
        self.assertIn("           l19: 81 decisions", ran.stdout)
        self.assertNotIn("l20", ran.stdout)
        self.assertIn("           and 5 more limits\n", ran.stdout)

    def test_an_answer_does_not_steer_the_terminal(self):
        ran, _ = self.request((200, {**STATUS, "version": "\x1b[2J"}), "status")
        self.assertNotIn("\x1b[2J", ran.stdout)

    def test_reads_send_the_token_if_there_is_one(self):
        self.give_token()
        _, requested = self.request((200, STATUS), "status")
        self.assertEqual(requested[0][2], TOKEN)


class Health(OperateTest):
    def test_a_server_that_is_ready(self):
        self.give_token()
        ran, requested = self.request((200, "ok\n"), "health")
        self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (0, "ready\n", ""))
        self.assertEqual(requested, [("GET", "/readyz", None, self.address)])  # health needs no token

    def test_one_that_is_about_to_stop(self):
        ran, _ = self.request((503, {"detail": "The server is shutting down."}), "health")
        self.assertEqual((ran.returncode, ran.stdout), (1, ""))
        self.assertEqual(ran.stderr, f"weir: {self.address}: not ready: the server is starting or shutting down\n")
        ran, requested = self.request((200, "ok\n"), "health", "--live")
        self.assertEqual((ran.returncode, ran.stdout), (0, "alive\n"))
        self.assertEqual(requested[0][1], "/healthz")

    def test_no_server_and_another_server(self):
        ran, _ = self.request((404, ""), "health")
        self.assertEqual((ran.returncode, ran.stderr),
                         (1, f"weir: {self.address}: responded with status 404; is this Weir's admin listener?\n"))
        ran = self.weir("health", "--admin", self.address)
        self.assertEqual(ran.returncode, 1)
        self.assertIn("connection refused", ran.stderr)


class Peek(OperateTest):
    def test_a_consumer_that_is_denied(self):
        ran, requested = self.request((200, PEEK), "peek", "api", "alice")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertEqual(ran.stdout, "api, user=alice, tier free: 0 of 4 left\n"
                                     "Next request allowed in 750 ms (exceeded); full in 3.75 s\n")
        self.assertEqual(requested[0][:2], ("GET", "/v1/limits/api/consumers/alice"))

    def test_a_consumer_that_was_never_seen(self):
        ran, _ = self.request((200, {**PEEK, "admitted": True, "remaining": 4, "more_after": None}), "peek", "api", "alice")
        self.assertEqual(ran.stdout, "api, user=alice, tier free: 4 of 4 left\nNext request allowed now\n")

    def test_a_consumer_that_has_something_left(self):
        ran, _ = self.request((200, {**PEEK, "admitted": True, "remaining": 1, "retry_after": 0}), "peek", "api", "alice")
        self.assertTrue(ran.stdout.endswith("\nNext request allowed now; more in 750 ms; full in 3.75 s\n"), ran.stdout)

    def test_waits_are_for_people(self):
        for seconds, shown in [(59.931582, "60 s"), (59.85, "59.9 s"), (245.871, "4 min 6 s"), (3599.7, "60 min"),
                               (1137600, "13 d 4 h")]:
            ran, _ = self.request((200, {**PEEK, "retry_after": seconds, "reset_after": seconds}), "peek", "api", "alice")
            self.assertTrue(ran.stdout.endswith(f"\nNext request allowed in {shown} (exceeded); full in {shown}\n"), ran.stdout)

    def test_a_denial_that_no_wait_ends(self):
        ran, _ = self.request((200, {**PEEK, "retry_after": None}), "peek", "api", "alice")
        self.assertIn("\nNext request denied (exceeded); waiting does not help\n", ran.stdout)

    def test_a_leased_limit(self):
        ran, _ = self.request((200, {**PEEK, **SLICES}), "peek", "api", "alice")
        self.assertTrue(ran.stdout.endswith("Limit is leased: 1 used, 3 leased in 2 slices:\n"
                                            "  0123456789ab  2 units, expires in 700 ms, this node\n"
                                            "  fedcba987654  1 unit, expires in 250 ms\n"), ran.stdout)

    def test_a_leased_limit_of_which_nothing_is_out(self):
        ran, _ = self.request((200, {**PEEK, **SLICES, "leased": 0, "holders": 0, "slices": []}), "peek", "api", "alice")
        self.assertTrue(ran.stdout.endswith("Limit is leased: 1 used, 0 leased\n"), ran.stdout)

    def test_more_slices_than_are_listed(self):
        ran, _ = self.request((200, {**PEEK, **SLICES, "holders": 100}), "peek", "api", "alice")
        self.assertTrue(ran.stdout.endswith("1 unit, expires in 250 ms\n  and 98 more\n"), ran.stdout)

    def test_an_exact_limit_that_another_node_leases(self):
        ran, _ = self.request((200, {**PEEK, **SLICES, "consistency": "exact"}), "peek", "api", "alice")
        self.assertIn("Limit is exact: 1 used, 3 leased in 2 slices:\n", ran.stdout)

    def test_a_store_that_is_unavailable(self):
        unavailable = {**PEEK, "consistency": "leased", "used": None, "leased": None, "holders": None, "slices": None}
        ran, _ = self.request((200, unavailable), "peek", "api", "alice")
        self.assertTrue(ran.stdout.endswith("Store unavailable: these numbers are this node's own.\n"), ran.stdout)

    def test_a_candidate(self):
        candidate = {"admitted": False, "quota": 3, "remaining": 0, "consistency": "exact"}
        ran, _ = self.request((200, {**PEEK, "candidate": candidate}), "peek", "api", "alice")
        self.assertTrue(ran.stdout.endswith(
            "Candidate (exact): 0 of 3 left; it would deny the next request\n"), ran.stdout)

    def test_a_limit_in_shadow(self):
        ran, _ = self.request((200, {**PEEK, "mode": "shadow", "more_after": None}), "peek", "api", "alice")
        self.assertIn("\nLimit is in shadow mode: it never denies.\n", ran.stdout)

    def test_a_tier_without_limits(self):
        ran, requested = self.request((200, {**PEEK, "quota": None, "tier": "staff"}), "peek", "api", "alice", "--tier", "a b")
        self.assertEqual(ran.stdout, "api, user=alice, tier staff: unlimited\n")
        self.assertEqual(requested[0][1], "/v1/limits/api/consumers/alice?tier=a%20b")

    def test_a_tier_that_is_banned(self):
        ran, _ = self.request((200, {**PEEK, "quota": None, "reason": "banned", "tier": "abuser"}), "peek", "api", "alice")
        self.assertEqual(ran.stdout, "api, user=alice, tier abuser: banned; waiting does not help\n")

    def test_names_are_encoded(self):
        _, requested = self.request((200, PEEK), "peek", "POST /x?#", "ip=2001:db8::/64 + route=ä%")
        self.assertEqual(requested[0][1], "/v1/limits/POST%20%2Fx%3F%23/consumers/"
                                      "ip=2001:db8::%2F64%20%2B%20route=%C3%A4%25")

    def test_what_the_server_refuses(self):
        ran, _ = self.request((404, {"detail": "limit 'apy': unknown; did you mean 'api'?"}),
                          "peek", "apy", "alice")
        self.assertEqual((ran.returncode, ran.stdout), (1, ""))
        self.assertEqual(ran.stderr, f"weir: {self.address}: limit 'apy': unknown; did you mean 'api'?\n")


class Descriptors(OperateTest):
    ENTRIES = ["--domain", "edge one", "--descriptor", "remote_address=192.0.2.7", "--descriptor", "a%=x=y&z"]
    TARGET = "/v1/domains/edge%20one/descriptor{}?remote_address=192.0.2.7&a%25=x%3Dy%26z"

    def test_peek(self):
        found = {**PEEK, "domain": "edge", "limit": "edge.path", "consumer": "remote_address=192.0.2.7"}
        ran, requested = self.request((200, found), "peek", *self.ENTRIES)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertTrue(ran.stdout.startswith("edge, remote_address=192.0.2.7, limit edge.path: 0 of 4 left\n"))
        self.assertEqual(requested[0][:2], ("GET", self.TARGET.format("")))

    def test_peek_of_one_that_is_unlimited(self):
        found = {"domain": "edge", "limit": None, "quota": None, "consumer": "path=/health"}
        ran, _ = self.request((200, found), "peek", *self.ENTRIES)
        self.assertEqual(ran.stdout, "edge, path=/health: unlimited\n")

    def test_reset(self):
        self.give_token()
        ran, requested = self.request((200, {"domain": "edge", "consumer": "a=b", "reset": True}), "reset", *self.ENTRIES)
        self.assertEqual((ran.returncode, ran.stdout), (0, "edge: a=b reset\n"))
        self.assertEqual(requested[0][:2], ("POST", self.TARGET.format("/reset")))


    def test_reset_of_what_others_hold(self):
        self.give_token()
        done = {"domain": "edge", "consumer": "a=b", "reset": True, "out": {"units": 8, "holders": 2, "expires_after": 0.7}}
        ran, _ = self.request((200, done), "reset", *self.ENTRIES)
        self.assertEqual(ran.stdout, "edge: a=b reset\n"
                                     "8 units leased to other nodes before the reset can still be spent; they expire in 700 ms\n")


class Reload(OperateTest):
    def test_a_reload_prints_the_digest(self):
        self.give_token()
        ran, requested = self.request((200, {"digest": "d1", "restart_needed": None}), "reload")
        self.assertEqual((ran.returncode, ran.stdout, ran.stderr),
                         (0, "Configuration reloaded; policy digest d1\n", ""))
        self.assertEqual(requested, [("POST", "/v1/reload", TOKEN, self.address)])

    def test_changes_that_require_a_restart_are_named(self):
        self.give_token()
        ran, _ = self.request((200, {"digest": "d1", "restart_needed": "listeners.http, log"}), "reload")
        self.assertIn("Restart required to apply changes to: listeners.http, log\n", ran.stdout)

    def test_each_error_has_its_own_line(self):
        self.give_token()
        ran, _ = self.request((422, {"detail": "reload: p.yaml:1:1: no\np.yaml:2:1: nor this"}), "reload")
        self.assertEqual((ran.returncode, ran.stdout), (1, ""))
        self.assertEqual(ran.stderr, f"weir: {self.address}: reload: p.yaml:1:1: no\nweir: p.yaml:2:1: nor this\n")


class Config(OperateTest):
    """Settings that the commands read from the server's weir.yaml."""

    def write(self, text, name="weir.yaml"):
        path = self.state / name
        path.write_text("version: 1\n" + text)
        return str(path)

    def test_the_place_and_the_token_of_the_admin_frontend(self):
        (self.state / "reader").write_text("reader-0123456789abcdef\n")
        (self.state / "reader").chmod(0o600)
        with self.serving((200, STATUS)) as server:
            config = self.write("listeners: {admin: {listen: '0.0.0.0:%d', token_file: reader}}\n" % server.server_port)
            by_flag = self.weir("status", "--config", config)
            by_environment = self.weir("status", WEIR_CONFIG=config)
        self.assertEqual((by_flag.stdout, by_environment.stdout), (STATUS_TEXT, STATUS_TEXT))
        self.assertEqual({requested[2] for requested in server.requests}, {"reader-0123456789abcdef"})
        self.assertEqual(server.requests[0][3], f"127.0.0.1:{server.server_port}")

    def test_the_admin_token_of_its_state_directory(self):
        (self.state / "own").mkdir()
        self.give_token().rename(self.state / "own" / "admin.token")
        with self.serving((200, {"digest": "d"})) as server:
            config = self.write("listeners: {admin: {listen: 'localhost:%d'}}\nstate: {directory: own}\n"
                                % server.server_port)
            ran = self.weir("reload", "--config", config)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertEqual(server.requests[0][2], TOKEN)

    def test_a_unix_socket(self):
        with self.serving(None, UnixStandIn((200, STATUS), str(self.state / "a.sock"))):
            config = self.write(f"listeners: {{admin: {{listen: 'unix:{self.state}/a.sock'}}}}\n")
            self.assertEqual(self.weir("status", "--config", config).stdout, STATUS_TEXT)

    def test_its_certificate_is_known_whatever_the_server_is_called(self):
        certificate, key = self.certificate(name="DNS:weir.internal")
        other, _ = self.certificate(name="DNS:weir.internal", prefix="other-")
        with self.serving(None, self.with_tls(certificate, key)) as server:
            listener = "listeners: {admin: {listen: '127.0.0.1:%d', tls: {certificate: %s, key: %s}}}\n"
            ours = self.weir("status", "--config", self.write(listener % (server.server_port, certificate, key)))
            changed = self.weir("status", "--config", self.write(listener % (server.server_port, other, key)))
        self.assertEqual((ours.stdout, ours.stderr), (STATUS_TEXT, ""))
        self.assertEqual((changed.returncode, changed.stdout), (1, ""))
        self.assertIn(f"server certificate differs from the one in {other}", changed.stderr)

    def test_a_client_certificate_is_shown(self):
        certificate, key = self.certificate()
        with self.serving(None, self.with_tls(certificate, key, client_ca=certificate)) as server:
            place = ["status", "--admin", f"https://127.0.0.1:{server.server_port}", "--ca", certificate]
            shown = self.weir(*place, "--certificate", certificate, "--key", key)
            withheld = self.weir(*place)
        self.assertEqual((shown.stdout, shown.stderr), (STATUS_TEXT, ""))
        self.assertEqual((withheld.returncode, withheld.stdout), (1, ""))

    def test_an_unreachable_server_is_explained(self):
        off = self.weir("status", "--config", self.write("listeners: {admin: off}\n"))
        self.assertEqual((off.returncode, off.stderr),
                         (1, "weir: listeners.admin: off in weir.yaml; enable it, or use --admin ADDRESS\n"))
        chosen = self.weir("status", "--config", self.write("listeners: {admin: {listen: 'localhost:0'}}\n"))
        self.assertIn("the system chose the port; pass it with --admin ADDRESS", chosen.stderr)
        wrong = self.weir("status", "--config", self.write("listners: {}\n"))
        self.assertEqual(wrong.returncode, 1)
        self.assertIn("did you mean 'listeners'?; use --config FILE for another file", wrong.stderr)
        absent = self.weir("status", "--config", "no/such.yaml")
        self.assertIn("no/such.yaml", absent.stderr)


class Reset(OperateTest):
    DONE = {"limit": "api", "consumer": "user=alice", "reset": True}

    def test_it_shows_the_token_of_the_state_directory(self):
        self.give_token()
        ran, requested = self.request((200, self.DONE), "reset", "api", "alice")
        self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (0, "api: user=alice reset\n", ""))
        self.assertEqual(requested, [("POST", "/v1/limits/api/consumers/alice/reset", TOKEN, self.address)])

    def test_or_the_one_that_it_is_given(self):
        path = self.give_token().rename(self.state / "other")
        _, requested = self.request((200, self.DONE), "reset", "api", "alice", "--token-file", str(path))
        self.assertEqual(requested[0][2], TOKEN)

    def test_without_a_token_no_request_is_sent(self):
        ran, requested = self.request((200, self.DONE), "reset", "api", "alice")
        self.assertEqual((ran.returncode, ran.stdout, requested), (1, "", []))
        self.assertIn(f"weir: {self.state}/admin.token: ", ran.stderr)

    def test_a_token_that_others_can_read_is_refused(self):
        self.give_token(mode=0o644)
        ran, requested = self.request((200, self.DONE), "reset", "api", "alice")
        self.assertEqual((ran.returncode, requested), (1, []))
        self.assertIn("chmod 600", ran.stderr)

    def test_a_server_elsewhere_is_not_shown_our_token(self):
        self.give_token()
        ran = self.weir("reset", "api", "alice", "--admin", "192.0.2.1:8089")
        self.assertEqual(ran.returncode, 1)
        self.assertEqual(ran.stderr, "weir: 192.0.2.1:8089: changes require the admin token; "
                                     "use --token-file FILE\n")

    def test_a_token_that_is_not_accepted(self):
        self.give_token()
        ran, _ = self.request((401, {"detail": "Changes ask for the admin token."}), "reset", "api", "alice")
        self.assertEqual((ran.returncode, ran.stderr), (1, f"weir: {self.address}: Changes ask for the admin token. "
                                                           "Use --token-file FILE.\n"))


class Hash(OperateTest):
    KEY = "000102030405060708090a0b0c0d0e0f\n"

    def write_key(self, path, key=KEY):
        path.write_text(key)
        path.chmod(0o600)
        return path

    def hash(self, value, *arguments, **variables):
        """The server is not running."""
        return self.weir("hash", value, "--admin", f"unix:{self.state}/no.sock", *arguments, **variables)

    def test_values_have_hashes_under_the_key(self):
        key = self.write_key(self.state / "log.key")
        first = self.hash("alice")
        self.assertEqual((first.returncode, first.stderr), (0, ""))
        self.assertRegex(first.stdout, r"^[0-9a-f]{16}\n$")
        self.assertEqual(self.hash("alice", "--key-file", str(key)).stdout, first.stdout)
        self.assertNotEqual(self.hash("bob").stdout, first.stdout)

    def test_no_key_is_made(self):
        ran = self.hash("alice")
        self.assertEqual((ran.returncode, ran.stdout), (1, ""))
        self.assertIn("missing key; weir serve creates it at its first start", ran.stderr)
        self.assertEqual(list(self.state.iterdir()), [])

    def test_the_key_is_the_one_that_weir_yaml_names(self):
        self.write_key(self.state / "log.key", "ff" * 16 + "\n")
        key = self.write_key(self.state / "named.key")
        config = self.state / "weir.yaml"
        config.write_text("version: 1\nlog: {hash_key_file: named.key}\n")
        expected = self.hash("alice", "--key-file", str(key)).stdout
        self.assertEqual(self.hash("alice", "--config", str(config)).stdout, expected)
        self.assertEqual(self.hash("alice", WEIR_CONFIG=str(config)).stdout, expected)
        self.assertNotEqual(self.hash("alice").stdout, expected)

    def test_a_key_that_the_running_server_does_not_have_is_refused(self):
        self.write_key(self.state / "log.key")
        status = {"state": {"directory": "/var/lib/weir", "hash_key_id": "0" * 16}}
        ran, requested = self.request((200, status), "hash", "alice")
        self.assertEqual((ran.returncode, ran.stdout), (1, ""))
        self.assertIn("log.key: differs from the key of the running server, whose state directory is /var/lib/weir; "
                      "use --config FILE for its weir.yaml, or --key-file FILE\n", ran.stderr)
        self.assertEqual(requested[0][1], "/v1/status")
        ran, _ = self.request((200, {"state": {"hash_key_id": self.hash("").stdout.strip()}}), "hash", "alice")
        self.assertEqual((ran.returncode, ran.stdout), (0, self.hash("alice").stdout))

    def test_a_key_that_is_named_is_not_compared(self):
        key = self.write_key(self.state / "old.key")
        ran, requested = self.request((200, {"state": {"hash_key_id": "0" * 16}}), "hash", "alice", "--key-file", str(key))
        self.assertEqual((ran.returncode, requested), (0, []))


class Places(OperateTest):
    def test_a_unix_socket(self):
        path = str(self.state / "admin.sock")
        with self.serving(None, UnixStandIn((200, STATUS), path)) as server:
            ran = self.weir("status", "--admin", f"unix:{path}")
        self.assertEqual((ran.stdout, ran.stderr), (STATUS_TEXT, ""))
        self.assertEqual(server.requests[0][3], "localhost")

    def test_a_port_is_on_this_host(self):
        with self.serving((200, STATUS)) as server:
            ran = self.weir("status", "--admin", str(server.server_port))
        self.assertEqual((ran.stdout, ran.stderr), (STATUS_TEXT, ""))

    def test_connection_refused(self):
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            tcp = f"127.0.0.1:{unused.getsockname()[1]}"
            for place in [tcp, f"unix:{self.state}/no.sock"]:
                ran = self.weir("status", "--admin", place)
                self.assertEqual((ran.returncode, ran.stdout), (1, ""))
                self.assertIn(f"weir: {place}: connection refused; start a server with `weir serve`", ran.stderr)

    def test_invalid_addresses(self):
        for place in ["80890", "localhost", "localhost:", "localhost:x", "localhost:123456", ":8089", "unix:", "::1:8089",
                      "ftp://localhost:21", "http://u@localhost:1"]:
            with self.subTest(place):
                ran = self.weir("status", "--admin", place)
                self.assertEqual(ran.returncode, 1)
                self.assertIn(f"weir: --admin: `{place}`: invalid address; write it like 127.0.0.1:8089", ran.stderr)

    def test_another_server_listens(self):
        for answer, message in [((200, "hello"), "response is not JSON; is this Weir's admin listener?"),
                                ((500, "oops"), "responded with status 500; is this Weir's admin listener?")]:
            ran, _ = self.request(answer, "status")
            self.assertEqual((ran.returncode, ran.stderr), (1, f"weir: {self.address}: {message}\n"))

    def test_answers_that_are_cut_off_or_no_http(self):
        for answer in [b"HTTP/1.1 200 OK\r\nContent-length: 9\r\n\r\n{}", b"-ERR what?\r\n", b""]:
            with socket.create_server(("127.0.0.1", 0)) as listening:
                thread = threading.Thread(target=self.answer_once, args=(listening, answer))
                thread.start()
                place = "127.0.0.1:{}".format(listening.getsockname()[1])
                ran = self.weir("status", "--admin", place)
                thread.join()
            self.assertEqual((ran.returncode, ran.stderr),
                             (1, f"weir: {place}: response is not HTTP, or incomplete; is this Weir's admin listener?\n"))

    def answer_once(self, listening, answer):
        with listening.accept()[0] as connection:
            connection.recv(65536)
            connection.sendall(answer)

    def test_tls_asks_for_proof(self):
        certificate, key = self.certificate()
        with self.serving(None, self.with_tls(certificate, key)) as server:
            by_ip = f"https://127.0.0.1:{server.server_port}"
            trusting = self.weir("status", "--admin", by_ip, "--ca", certificate)
            stranger = self.weir("status", "--admin", by_ip)
            misnamed = self.weir("status", "--admin", f"https://localhost:{server.server_port}", "--ca", certificate)
            plain = self.weir("status", "--admin", by_ip, "--ca", "no/such.pem")
        self.assertEqual((trusting.stdout, trusting.stderr), (STATUS_TEXT, ""))
        self.assertEqual((stranger.returncode, misnamed.returncode, plain.returncode), (1, 1, 1))
        self.assertIn("server certificate not accepted: self", stranger.stderr)
        self.assertIn("use --ca FILE for the CA", stranger.stderr)
        self.assertIn("server certificate not accepted: hostname mismatch", misnamed.stderr.lower())
        self.assertIn("no/such.pem: contains no readable certificates", plain.stderr)


if __name__ == "__main__":
    program.main()
