"""examples/llm-gateway: Envoy uses Weir to meter usage that is known only when a response ends."""

import concurrent.futures
import importlib.util
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

import proxy
from server import PATIENCE, ROOT, eventually

ENVOY = os.environ.get("WEIR_ENVOY", str(ROOT / "build" / "tools" / "venv" / "bin" / "envoy"))
FOLDER = ROOT / "examples" / "llm-gateway"
LIMIT = 1000


def load_backend():
    spec = importlib.util.spec_from_file_location("backend", FOLDER / "backend.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


BACKEND = load_backend()


class Chat(BACKEND.Chat):
    """Waits until the test continues it, if the request says so."""

    def work(self):
        super().work()
        with self.server.lock:
            self.server.in_flight += 1
        self.server.gate.wait(PATIENCE)

    def say(self, answer, usage):
        if not self.headers.get("x-fails"):
            return super().say(answer, usage)
        self.send_response(503)
        self.send_header("Content-Length", "0")
        self.end_headers()


class Gateway(proxy.Client):
    port_written = None
    instead = []  # limits of the policy

    def changed(self, policy):
        """Uses a day instead of a minute, so that no window ends during a test."""
        for old, new in [("1000/min", f"{LIMIT}/day"), *self.instead]:
            self.assertIn(old, policy)
            policy = policy.replace(old, new)
        return policy

    def setUp(self):
        directory = self.enterContext(tempfile.TemporaryDirectory())
        self.weir = self.enterContext(proxy.served("llm-gateway", directory, changed=self.changed))
        self.backend = self.enterContext(BACKEND.Backend(("127.0.0.1", 0), Chat))
        self.backend.gate, self.backend.in_flight = threading.Event(), 0
        self.backend.gate.set()
        thread = threading.Thread(target=self.backend.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        self.addCleanup(lambda: (self.backend.gate.set(), self.backend.shutdown(), thread.join()))
        self.ports = {8000: proxy.free_port(), 8001: proxy.free_port(), 8081: self.weir.rls[1],
                      9000: self.backend.server_port}
        command = [ENVOY, "-c", "envoy.yaml", "--use-dynamic-base-id", "--concurrency", "1", "-l", "error"]
        self.enterContext(proxy.running("llm-gateway", command, self.ports, self.ports[8000]))
        self.port = self.ports[self.port_written]

    def chat(self, words, max_tokens, stream=False, user="alice", **headers):
        """Returns (status, the tokens that were used or the limit that denied)."""
        body = {"messages": [{"content": " ".join(["word"] * words)}], "max_tokens": max_tokens, "stream": stream}
        status, _, said = self.ask("POST", "/v1/chat/completions", self.headers(user, **headers), json.dumps(body))
        if status != 200:
            problem = re.search(r'"violated-policies":\["([^"]+)', said)
            return status, problem[1] if problem else None
        last = [line for line in said.splitlines() if "usage" in line][-1]
        return status, int(re.search(r'"total_tokens": (\d+)', last)[1])

    @staticmethod
    def headers(user, **more):
        return {"Content-Type": "application/json", "X-User": user, "X-Team": "research", **more}

    def left(self, limit="tokens-per-minute", consumer="alice"):
        words = ["WEIR.PEEK", limit, consumer]
        with self.weir.connect("resp") as connection, connection.makefile("rwb") as weir:
            weir.write(f"*{len(words)}\r\n".encode() + b"".join(f"${len(w)}\r\n{w}\r\n".encode() for w in words))
            weir.flush()
            _, denied, _, remaining = [int(weir.readline()[1:]) for _ in range(4)]
            return remaining if denied else remaining + 1  # after one more

    def await_left(self, expected):
        """Envoy reports the usage after the response."""
        eventually(lambda: self.left() == expected, f"{expected} left, not {self.left()}")

    def at_once(self, count, *chat, **how):
        """Returns the responses to this many concurrent requests."""
        self.backend.gate.clear()
        with concurrent.futures.ThreadPoolExecutor(count) as pool:
            sent = [pool.submit(self.chat, *chat, **how) for _ in range(count)]
            eventually(lambda: self.backend.in_flight + sum(one.done() for one in sent) == count, "all are in flight")
            self.backend.gate.set()
            return [one.result() for one in sent]


class Reported(Gateway, unittest.TestCase):
    port_written = 8001

    def spend(self, stream):
        for used in [400, 800, 1200]:
            self.assertEqual(self.chat(200, 1000, stream), (200, 400))
            self.await_left(max(0, LIMIT - used))

    def test_the_request_after_the_budget_is_spent_is_denied(self):
        self.spend(stream=False)
        self.assertEqual(self.chat(200, 1000), (429, "tokens-per-minute"))
        self.assertEqual(self.chat(200, 1000, user="bob"), (200, 400))

    def test_so_is_it_where_a_stream_says_at_its_end_what_it_used(self):
        self.spend(stream=True)
        self.assertEqual(self.chat(200, 1000, stream=True), (429, "tokens-per-minute"))

    def test_the_header_that_says_it_is_not_for_clients(self):
        status, headers, _ = self.ask("POST", "/", self.headers("alice"), json.dumps({"messages": [{"content": "a"}]}))
        self.assertEqual((status, headers["X-Usage-Tokens"]), (200, None))

    def test_at_most_what_was_in_flight_is_overspent(self):
        self.assertEqual(self.chat(200, 1000), (200, 400))
        self.await_left(LIMIT - 400)
        self.backend.in_flight = 0
        self.assertEqual(self.at_once(4, 200, 1000), [(200, 400)] * 4)
        self.await_left(0)
        eventually(lambda: self.chat(1, 1000)[0] == 429, "all of it is reported")
        self.assertLessEqual(self.backend.spent["alice"], LIMIT + 4 * 400)

    def test_a_request_that_was_denied_reports_nothing(self):
        self.spend(stream=False)
        for _ in range(3):
            self.assertEqual(self.chat(200, 1000)[0], 429)
        self.assertEqual(self.left("tokens-per-month", "research"), 20000 - 1200)


class Reserved(Gateway, unittest.TestCase):
    port_written = 8000
    instead = [("limit: 2", "limit: 50")]

    def test_what_was_not_used_comes_back(self):
        for stream, used in [(False, 100), (True, 200)]:
            self.assertEqual(self.chat(50, 300, stream), (200, 100))
            self.await_left(LIMIT - used)
        self.assertEqual(self.left("tokens-per-month", "research"), 20000 - 200)

    def test_nothing_is_overspent_however_many_are_in_flight(self):
        answers = self.at_once(8, 100, 300)
        self.assertEqual(sorted(answers, key=str), [(200, 200)] * 3 + [(429, "tokens-per-minute")] * 5)
        self.await_left(LIMIT - 600)
        while (answer := self.chat(100, 300)) == (200, 200):
            self.await_left(LIMIT - self.backend.spent["alice"])
        self.assertEqual(answer, (429, "tokens-per-minute"))
        self.assertEqual(self.backend.spent["alice"], 800)
        self.assertEqual(self.left(), 200)

    def test_a_request_that_was_denied_gives_nothing_back(self):
        self.assertEqual(self.chat(350, 1000), (200, 700))
        self.await_left(300)
        for _ in range(3):
            self.assertEqual(self.chat(50, 400), (429, "tokens-per-minute"))
        self.assertEqual(self.chat(50, 300), (200, 100))
        self.await_left(200)

    def test_a_client_that_goes_away_has_spent_its_estimate(self):
        self.backend.gate.clear()
        body = json.dumps({"messages": [{"content": "a"}], "max_tokens": 300})
        with socket.create_connection(("127.0.0.1", self.port), PATIENCE) as connection:
            head = "".join(f"{name}: {value}\r\n" for name, value in self.headers("alice").items())
            connection.sendall(f"POST / HTTP/1.1\r\nHost: a\r\n{head}Content-Length: {len(body)}\r\n\r\n{body}".encode())
            eventually(lambda: self.backend.in_flight == 1, "it is in flight")
            self.assertEqual(self.left(), LIMIT - 300)
        eventually(lambda: self.left("in-flight") == 50, "it is no longer in flight")
        self.assertEqual(self.left(), LIMIT - 300)

    def test_an_answer_that_is_an_error_costs_nothing(self):
        self.assertEqual(self.chat(50, 300, **{"X-Fails": "yes"})[0], 503)
        self.await_left(LIMIT)

    def test_whatever_a_client_wants_is_a_whole_number_to_weir(self):
        for wanted, estimate in [("many", 200), (-1, 1), (0, 1), (2.5, 2), (1e30, LIMIT), (None, 200), ([9], 200)]:
            with self.subTest(wanted):
                self.backend.gate.clear()
                self.backend.in_flight = 0
                with concurrent.futures.ThreadPoolExecutor(1) as pool:
                    body = json.dumps({"messages": [{"content": ""}], "max_tokens": wanted})
                    sent = pool.submit(self.ask, "POST", "/", self.headers("alice"), body)
                    if estimate < LIMIT:
                        eventually(lambda: self.left() == LIMIT - estimate or sent.done(), "the estimate is charged")
                    self.backend.gate.set()
                    if estimate == LIMIT:  # 4000 never fit
                        self.assertEqual(sent.result()[0], 429)
                self.await_left(LIMIT)


class InFlight(Gateway, unittest.TestCase):
    port_written = 8000

    def test_holds_end_with_their_requests(self):
        for _ in range(3):
            self.backend.in_flight = 0
            answers = self.at_once(5, 5, 50)
            self.assertEqual(sorted(answers, key=str), [(200, 10)] * 2 + [(429, "in-flight")] * 3)
            eventually(lambda: self.left("in-flight") == 2, "none is in flight")
        self.await_left(LIMIT - 60)

    def test_what_one_limit_denies_no_other_is_charged_for(self):
        self.backend.gate.clear()
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            sent = [pool.submit(self.chat, 5, 50) for _ in range(2)]
            eventually(lambda: self.backend.in_flight == 2, "both are in flight")
            self.assertEqual(self.chat(5, 50), (429, "in-flight"))
            self.assertEqual(self.left(), LIMIT - 100)
            self.assertEqual(self.left("in-flight"), 0)
            self.backend.gate.set()
            self.assertEqual([one.result() for one in sent], [(200, 10)] * 2)


class Example(Gateway, unittest.TestCase):
    port_written = 8000

    def test_prints_what_its_page_says(self):
        ran = subprocess.run([sys.executable, "-B", FOLDER / "client.py", str(self.port), str(self.weir.resp[1]),
                              str(self.backend.server_port)], capture_output=True, text=True, timeout=4 * PATIENCE)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""), ran.stdout)
        page = re.search(r"```text\n(.*?)```", (FOLDER / "README.md").read_text(), re.DOTALL)[1]
        self.assertEqual(ran.stdout, page)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
