"""The hold of a request ends with the request, however that ends: HAProxy and nginx, from their examples. Envoy is in
llm_gateway_test.py."""

import concurrent.futures
import contextlib
import re
import socket
import sys
import threading
import unittest

import proxy
from server import PATIENCE, ROOT, Server, eventually

IN_FLIGHT = """
  - name: in-flight
    consumer_key: [user, ip]
    algorithm: concurrency
    limit: 2
    lease: 1h
"""


class Slow(proxy.Echo):
    """An application that answers when the test permits it."""

    def do_GET(self):
        self.server.in_flight += 1
        self.server.gate.wait(PATIENCE)
        super().do_GET()

    do_POST = do_HEAD = do_GET


@contextlib.contextmanager
def application():
    with proxy.Application(("127.0.0.1", 0), Slow) as listening:
        listening.gate, listening.in_flight = threading.Event(), 0
        thread = threading.Thread(target=listening.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield listening
        finally:
            listening.gate.set()
            listening.shutdown()
            thread.join()


class Holds(proxy.Client):
    example = None
    command = None

    def setUp(self):
        folder = ROOT / "examples" / self.example
        policy = (folder / "policy.yaml").read_text().replace("rate: 10/min", "rate: 1000/min") + IN_FLIGHT
        config = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:0", (folder / "weir.yaml").read_text())
        config = config.replace("resp: off", "resp: { listen: 127.0.0.1:0 }")
        self.weir = self.enterContext(Server(policy, config))
        self.application = self.enterContext(application())
        self.port = proxy.free_port()
        ports = {8000: self.port, 8080: self.weir.http[1], 9000: self.application.server_port}
        self.enterContext(proxy.running(self.example, self.command, ports, self.port))
        eventually(self.passes, "a request passes, and the proxy knows that Weir is there")
        self.await_none_held()

    def passes(self):
        self.application.gate.set()
        return self.ask()[0] == 200

    def left(self):
        words = ["WEIR.PEEK", "in-flight", "ip=127.0.0.2"]
        with self.weir.connect("resp") as connection, connection.makefile("rwb") as weir:
            weir.write(f"*{len(words)}\r\n".encode() + b"".join(f"${len(w)}\r\n{w}\r\n".encode() for w in words))
            weir.flush()
            _, denied, _, remaining = [int(weir.readline()[1:]) for _ in range(4)]
            return remaining if denied else remaining + 1  # after one more

    def await_none_held(self):
        eventually(lambda: self.left() == 2, f"nothing is held, not {2 - self.left()}")

    @contextlib.contextmanager
    def two_in_flight(self):
        """Their answers come after the block."""
        self.application.gate.clear()
        self.application.in_flight = 0
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            sent = [pool.submit(self.ask) for _ in range(2)]
            eventually(lambda: self.application.in_flight == 2, "both are in flight")
            yield
            self.application.gate.set()
            self.assertEqual([one.result()[0] for one in sent], [200, 200])

    def test_at_most_so_many_are_in_flight_and_answers_make_room(self):
        for _ in range(3):
            with self.two_in_flight():
                status, headers, _ = self.ask()
                self.assertEqual(status, 429)
                self.assertRegex(headers["RateLimit"], '^"in-flight";r=0')
            self.await_none_held()

    def test_a_denied_request_ends_nobodys_hold(self):
        with self.two_in_flight():
            self.assertEqual([self.ask()[0] for _ in range(4)], [429] * 4)
            self.assertEqual(self.left(), 0)
        self.await_none_held()

    def test_a_client_that_goes_away_holds_nothing_any_more(self):
        self.application.gate.clear()
        self.application.in_flight = 0
        with socket.create_connection(("127.0.0.1", self.port), PATIENCE, ("127.0.0.2", 0)) as connection:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: shop.example.com\r\n\r\n")
            eventually(lambda: self.application.in_flight == 1, "it is in flight")
            self.assertEqual(self.left(), 1)
        self.application.gate.set()
        self.await_none_held()

    def test_so_does_an_application_that_dies(self):
        self.application.gate.set()
        self.assertEqual(self.ask(target="/dies")[0], 502)
        self.await_none_held()

    def test_several_requests_of_a_connection_hold_one_after_the_other(self):
        self.application.gate.set()
        with socket.create_connection(("127.0.0.1", self.port), PATIENCE, ("127.0.0.2", 0)) as connection:
            answers = connection.makefile("rb")
            for _ in range(5):
                connection.sendall(b"HEAD / HTTP/1.1\r\nHost: shop.example.com\r\n\r\n")
                self.assertEqual(answers.readline().split()[1], b"200")
                while answers.readline().strip():
                    pass
                self.await_none_held()

    def test_clients_never_see_a_receipt(self):
        self.application.gate.set()
        self.assertNotIn("X-Weir-Receipt", self.ask()[1])


class HAProxy(Holds, unittest.TestCase):
    example = "haproxy"
    command = ["haproxy", "-f", "haproxy.cfg"]


class Nginx(Holds, unittest.TestCase):
    example = "nginx"
    command = ["nginx", "-e", "stderr", "-p", ".", "-c", "nginx.conf"]


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
