"""What the admin listener of a real server reports to a page: live, and about the last minutes."""

import http.client
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

import resp_client
import server
from redis_servers import Redis
from server import Server, eventually
from shared_nodes import store
from watched import POLICY, WatchedTest

TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
PLANTED = "<script>alert(1)</script>"


class Stream:
    """A reader of /v1/stream."""

    def __init__(self, place, headers=None):
        self.connection = http.client.HTTPConnection(*place, timeout=server.PATIENCE)
        self.connection.request("GET", "/v1/stream", headers=headers or {})
        self.answer = self.connection.getresponse()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def message(self):
        """Returns the next event by its fields; empty at the end."""
        fields = {}
        while line := self.answer.readline().decode().rstrip("\n"):
            name, _, value = line.partition(": ")
            fields[name] = value
        return fields

    def second(self):
        message = self.message()
        assert message["event"] == "second", message
        return json.loads(message["data"])


class LiveTest(WatchedTest):
    @property
    def admin_token(self):
        return (self.server.state_dir / "admin.token").read_text().strip()

    def get(self, path, headers=None):
        status, _, body = self.server.ask("GET", path, headers=headers, listener="admin")
        self.assertEqual(status, 200, body)
        return json.loads(body)

    def post(self, path, body, token=None, expected=200):
        headers = {"X-Weir-Token": token} if token else {}
        status, _, text = self.server.ask("POST", path, json.dumps(body), headers, listener="admin")
        self.assertEqual(status, expected, text)
        return json.loads(text)


class Streaming(LiveTest):
    def test_a_second_has_what_was_decided_in_it(self):
        with Stream(self.server.admin) as stream:
            self.assertEqual((stream.answer.status, stream.answer.headers["Content-Type"]), (200, "text/event-stream"))
            self.check(10, user="alice")
            seen = {"decisions": 0, "denied": 0}
            deadline = time.monotonic() + server.PATIENCE
            while seen["decisions"] < 10 and time.monotonic() < deadline:
                for limit in stream.second()["limits"]:
                    self.assertEqual(limit["limit"], "by-user")
                    seen = {name: seen[name] + limit[name] for name in seen}
            self.assertEqual(seen, {"decisions": 10, "denied": 7})

    def test_seconds_follow_each_other(self):
        with Stream(self.server.admin) as stream:
            messages = [stream.message() for _ in range(3)]
        ids = [int(message["id"]) for message in messages]
        self.assertEqual(ids, sorted(set(ids)))
        times = [json.loads(message["data"])["at"] for message in messages]
        self.assertEqual(times, sorted(set(times)))
        second = json.loads(messages[-1]["data"])
        self.assertEqual((second["store"], second["requests"], second["p50"]), ("local", 0, None))
        self.assertGreater(second["memory"]["resident"], 1 << 20)

    def test_events_come_with_the_seconds(self):
        with Stream(self.server.admin) as stream:
            stream.second()
            self.server.policy_file.write_text("version: 1\nlimit: []\n")
            news = eventually(lambda: [event for event in stream.second()["events"] if event["kind"] == "reload"],
                              "a refused reload in the stream")
        self.assertEqual(news[0]["level"], "error")
        self.assertIn("policy.yaml:2:1", news[0]["message"])

    def test_readers_are_bounded_and_leave_their_places(self):
        streams = [Stream(self.server.admin) for _ in range(16)]
        self.assertEqual({stream.answer.status for stream in streams}, {200})
        status, headers, body = self.server.ask("GET", "/v1/stream", listener="admin")
        self.assertEqual((status, headers["Retry-After"]), (503, "5"))
        self.assertIn("maximum 16", json.loads(body)["detail"])
        for stream in streams:
            stream.connection.close()
            stream.answer.close()
        self.assertTrue(eventually(lambda: "weir_stream_clients 0\n" in self.server.ask("GET", "/metrics", listener="admin")[2],
                                   "places that are free again"))

    def test_other_requests_are_answered_meanwhile(self):
        with Stream(self.server.admin) as stream:
            stream.second()
            self.assertEqual(self.server.ask("GET", "/healthz", listener="admin")[0], 200)
            self.check(1, user="bob")

    def test_it_ends_when_the_server_stops(self):
        with Stream(self.server.admin) as stream:
            stream.second()
            began = time.monotonic()
            self.assertEqual(self.server.stop(), 0)
            self.assertLess(time.monotonic() - began, 5)
            last = [message for message in iter(stream.message, {})][-1]
        self.assertEqual((last["event"], last["data"]), ("end", "{}"))


class Reading(LiveTest):
    def test_a_fresh_page_finds_the_last_minutes(self):
        self.check(5, user="alice")
        history = eventually(lambda: (found := self.get("/v1/history?limit=by-user")) and sum(found["decisions"]) == 5 and found,
                             "five decisions in the history")
        self.assertEqual((sum(history["limit"]["decisions"]), sum(history["limit"]["denied"])), (5, 2))
        self.assertEqual({len(column) for column in history.values() if isinstance(column, list)}, {len(history["at"])})

    def test_limits_with_what_they_did(self):
        self.check(5, user="alice")
        self.check(4, path="/login", method="POST", ip="203.0.113.7")
        found = {limit["name"]: limit for limit in self.get("/v1/limits")["limits"]}
        self.assertEqual(list(found), ["by-user", "logins"])
        self.assertEqual(found["by-user"]["traffic"], {"decisions": 5, "denied": 2, "shadow_denied": 0})
        self.assertEqual(found["by-user"]["denied_share"], 0.4)
        self.assertEqual([found["by-user"]["candidate"][name] for name in ("agreed", "newly_denied", "newly_admitted")],
                         [3, 2, 0])
        self.assertEqual(sum(found["by-user"]["headroom"]["counts"]), 5)
        self.assertRegex(found["by-user"]["top_denied"][0]["consumer"], "^user:[0-9a-f]{16}$")
        self.assertEqual((found["logins"]["mode"], found["logins"]["total"]["shadow_denied"]), ("shadow", 2))
        self.assertEqual(self.get("/v1/limits/logins")["limit"]["routes"], ["POST /login"])

    def test_the_policy_on_disk_and_a_refused_reload(self):
        self.assertEqual((self.get("/v1/policy")["on_disk"]["same"], self.get("/v1/policy")["last_rejected"]), (True, None))
        self.server.policy_file.write_text("version: 1\nlimit: []\n")
        policy = eventually(lambda: (found := self.get("/v1/policy"))["last_rejected"] and found, "a refused reload")
        self.assertIn({"file": str(self.server.policy_file), "line": 2, "column": 1,
                       "message": "unknown field 'limit', did you mean 'limits'?"}, policy["last_rejected"]["problems"])
        self.assertEqual((policy["on_disk"]["digest"], policy["on_disk"]["same"]), (None, False))
        self.assertEqual(policy["on_disk"]["errors"], policy["last_rejected"]["problems"])
        self.server.policy_file.write_text(POLICY.replace("burst: 3", "burst: 2"))
        policy = eventually(lambda: (found := self.get("/v1/policy"))["last_reload"]["applied"] and found, "a reload")
        self.assertTrue(policy["on_disk"]["same"])
        self.assertIsNotNone(policy["last_rejected"])

    def test_what_the_file_on_disk_would_change(self):
        # The files are valid, but a missing token keeps them from taking effect.
        config = server.LISTENERS.replace('http: {listen: "127.0.0.1:0"}', 'http: {listen: "127.0.0.1:0", token_file: none}')
        self.server.policy_file.write_text(POLICY.replace("burst: 3", "burst: 2"))
        self.server.config_file.write_text(config)
        policy = eventually(lambda: (found := self.get("/v1/policy"))["last_rejected"] and found, "a refused reload")
        self.assertEqual(policy["on_disk"]["changes"], [
            {"subject": "by-user", "sentence": "burst 3 -> burst 2", "direction": "tighter"}])
        self.assertEqual((policy["on_disk"]["tighter"], policy["on_disk"]["same"]), (1, False))
        self.assertNotEqual(policy["on_disk"]["digest"], policy["running"]["digest"])

    def test_explain_is_what_the_command_says(self):
        asked = {"method": "GET", "path": "/api/x", "ip": "127.0.0.1", "headers": {"X-User-Id": "alice"}}
        told = self.post("/v1/explain", asked)
        ran = subprocess.run([server.PROGRAM, "explain", self.server.policy_file, "--request", "GET /api/x", "--header",
                              "X-User-Id: alice", "--format", "json"], capture_output=True, text=True, check=True)
        self.assertEqual(told, json.loads(ran.stdout))
        self.assertEqual(self.get("/v1/limits")["limits"][0]["total"]["admitted"], 0)

    def test_a_node_by_itself_has_no_store(self):
        self.assertIsNone(self.get("/v1/cluster")["store"])


class Changing(LiveTest):
    def test_a_consumer_is_found_reset_and_passes_again(self):
        self.check(5, user="alice")
        found = self.post("/v1/consumer", {"consumer": "user=alice"})
        self.assertEqual([(limit["limit"], limit["remaining"], limit["admitted"]) for limit in found["limits"]],
                         [("by-user", 0, False)])
        self.assertEqual([limit["limit"] for limit in found["others"]], ["logins"])
        body = {"limit": "by-user", "consumer": "user=alice"}
        self.post("/v1/consumer/reset", body, expected=401)
        self.assertTrue(self.post("/v1/consumer/reset", body, token=self.admin_token)["reset"])
        self.assertEqual(self.post("/v1/consumer", {"consumer": "user=alice"})["limits"][0]["remaining"], 3)
        self.server.await_log('"event":"change","what":"reset","limit":"by-user","consumer":"' + found["hash"] + '"')
        self.assertEqual(self.get("/v1/events")["events"][0]["kind"], "change")
        self.assertNotIn("alice", self.server.log)

    def test_a_reset_over_the_redis_protocol_leaves_the_same_line(self):
        self.check(5, user="alice")
        with resp_client.connect(self.server.resp, server.PATIENCE) as client:
            client.ask("AUTH", self.admin_token)
            self.assertEqual(client.ask("WEIR.RESET", "by-user", "alice"), "OK")
        hashed = self.post("/v1/consumer", {"consumer": "user=alice"})["hash"]
        self.server.await_log(f'"event":"change","what":"reset","limit":"by-user","consumer":"{hashed}","outcome":"done"')
        self.assertEqual(self.get("/v1/events")["events"][0]["consumer"], hashed)
        self.assertNotIn("alice", self.server.log)

    def test_a_reload_leaves_a_line(self):
        self.post("/v1/reload", {}, token=self.admin_token)
        self.server.await_log('"event":"change","what":"reload","outcome":"done"')

    def test_denials_carry_the_ids_of_their_request(self):
        self.check(5, user="alice", headers={"traceparent": TRACE, "X-Request-Id": "req-1"})
        self.server.await_log('"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","request_id":"req-1"}')

    def test_markup_is_escaped_wherever_it_comes_back(self):
        self.check(5, user=PLANTED, method=PLANTED, path="/api/" + PLANTED,
                   headers={"X-Request-Id": PLANTED, "traceparent": PLANTED})
        answers = [self.server.ask("GET", path, listener="admin")[2]
                   for path in ("/v1/status", "/v1/limits", "/v1/limits/by-user", "/v1/denied", "/v1/events", "/v1/policy",
                                "/v1/history?limit=by-user", "/metrics")]
        for path, body in (("/v1/consumer", {"consumer": "user=" + PLANTED}),
                           ("/v1/explain", {"path": "/api/" + PLANTED, "method": PLANTED, "user": PLANTED})):
            answers.append(self.server.ask("POST", path, json.dumps(body), listener="admin")[2])
        with Stream(self.server.admin) as stream:
            answers.append(stream.message()["data"])
        for answer in answers:
            self.assertNotIn("<script", answer)
        self.assertNotIn("_id", self.server.log)


class Shared(LiveTest):
    """Tests with a Redis that several nodes share."""

    def setUp(self):
        self.redis = self.enterContext(Redis())
        self.server = self.enterContext(Server(POLICY, store([self.redis.url], node_name="web-1")))
        eventually(lambda: self.get("/v1/cluster")["store"]["connected"] == 1, "a connection to the store")

    def messages(self):
        """Returns the events about the store, newest first."""
        return [event["message"] for event in self.get("/v1/events")["events"] if event["kind"] == "store"]

    def test_the_store_as_this_node_sees_it(self):
        self.check(3, user="alice")
        found = eventually(lambda: (told := self.get("/v1/cluster")["store"])["heartbeats"] and told, "a heartbeat")
        self.assertEqual((found["topology"], found["breaker"], found["nodes"]), ("single", "closed", 1))
        self.assertEqual(found["decisions"]["shared"], 3)
        self.assertGreaterEqual(sum(found["round_trip"]["counts"]), 3)
        self.assertEqual(len(found["round_trip"]["counts"]), len(found["round_trip"]["bounds"]) + 1)
        self.assertGreater(found["round_trip"]["p99"], 0)
        self.assertEqual([(beat["name"], beat["self"], beat["differs"]) for beat in found["heartbeats"]],
                         [("web-1", True, False)])

    def test_its_going_and_coming_are_events(self):
        self.redis.kill()
        self.check(20, user="alice")
        eventually(lambda: any(message.startswith("store unavailable") for message in self.messages()), "its going")
        eventually(lambda: self.get("/v1/history")["store"][-1] != "closed", "a breaker in the history")
        self.redis.restart()
        eventually(lambda: self.messages()[0] == "store available: circuit breaker closed", "its coming back")


class Guarded(LiveTest):
    CONFIG = server.LISTENERS.replace('admin: {listen: "127.0.0.1:0"}',
                                      'admin: {listen: "127.0.0.1:0", token_file: read.token}')

    def setUp(self):
        directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        token = directory / "read.token"
        token.write_text("a-token-that-reads\n")
        token.chmod(0o600)
        self.server = self.enterContext(Server(POLICY, self.CONFIG, directory=directory))

    def test_files_need_no_token_and_data_does(self):
        self.assertEqual(self.server.ask("GET", "/", listener="admin")[0], 200)
        for path in ("/v1/stream", "/v1/history", "/v1/limits", "/v1/policy", "/v1/cluster", "/v1/events"):
            self.assertEqual(self.server.ask("GET", path, listener="admin")[0], 401, path)
        headers = {"Authorization": "Bearer a-token-that-reads"}
        self.get("/v1/limits", headers)
        with Stream(self.server.admin, headers) as stream:
            stream.second()

    def test_another_host_is_refused(self):
        for path in ("/", "/v1/stream", "/v1/limits"):
            status = self.server.ask("GET", path, headers={"Host": "evil.example"}, listener="admin")[0]
            self.assertEqual(status, 421, path)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
