"""Servers that do what Weir never does, or only when it fails. Each has its own port and counts requests."""

import http.server
import json
import socket
import socketserver
import threading

VERDICT = {"admitted": True, "reason": "within", "limit": "api", "quota": 3, "remaining": 2, "retry_after": 0,
           "reset_after": 1, "delay": 0, "route": "other", "tier": "default", "receipt": "abc", "receipt_ends": 600}


class Handler(http.server.BaseHTTPRequestHandler):
    """Reads requests, counts them, and answers with the function of its server."""

    protocol_version = "HTTP/1.1"

    def setup(self):
        super().setup()
        self.asked = 0  # on this connection
        self.server.count("connections")

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.asked += 1
        self.server.count("requests")
        self.server.answer(self)
        self.wfile.flush()
        self.server.count("answers")

    def say(self, status, said, headers=()):
        body = json.dumps(said).encode()
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def hang_up(self):
        self.close_connection = True

    def log_message(self, *_):
        pass


def admits(handler):
    handler.say(200, VERDICT if handler.path == "/v1/check" else {"limits": []})


def dies_when_asked_again(handler):
    handler.hang_up() if handler.asked > 1 else admits(handler)


def in_chunks(handler):
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    body = json.dumps(VERDICT).encode()
    for part in body[:10], body[10:]:
        handler.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
    handler.wfile.write(b"0\r\n\r\n")


def hangs(handler):
    handler.rfile.read(1)  # until the client disconnects
    handler.hang_up()


def drips(handler):
    """Each byte arrives in time, but the end does not."""
    try:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Drip: ")
        while not handler.server.is_over.wait(0.02):
            handler.wfile.write(b".")
    except OSError:
        pass
    handler.hang_up()


def answers_half(handler):
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 300\r\n\r\n{\"admitted\":true,")
    handler.hang_up()


def is_not_http(handler):
    handler.wfile.write(b"220 mail.example ready\r\n\r\n")
    handler.hang_up()


def does_not_settle(handler):
    if handler.path == "/v1/check":
        return admits(handler)
    handler.say(503, {"limits": [{"limit": "api", "result": "unanswered"}]})


SCRIPTS = {
    "admits": admits,
    "dies_when_asked_again": dies_when_asked_again,
    "closes": Handler.hang_up,
    "in_chunks": in_chunks,
    "denies_without_problem": lambda h: h.say(429, {**VERDICT, "admitted": False}, [("Retry-After", "7")]),
    "hangs": hangs,
    "drips": drips,
    "answers_half": answers_half,
    "is_not_http": is_not_http,
    "answers_200": lambda h: h.say(200, {"ok": True}),
    "admits_with_429": lambda h: h.say(429, VERDICT),
    "redirects": lambda h: h.say(307, {}, [("Location", "/v1/check")]),
    "answers_500": lambda h: h.say(500, {}),
    "answers_404": lambda h: h.say(404, {"detail": "There is no such path."}),
    "does_not_settle": does_not_settle,
}


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, answer):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer = answer
        self.is_over = threading.Event()
        self._lock = threading.Lock()
        self.counts = {"connections": 0, "requests": 0, "answers": 0}
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def count(self, what):
        with self._lock:
            self.counts[what] += 1

    def handle_error(self, *_):
        pass  # a client that disconnects


class ScriptedServers:
    """All servers for the duration of a `with` block, and a port that refuses connections (`unreachable`)."""

    def __init__(self):
        self._servers = {name: _Server(answer) for name, answer in SCRIPTS.items()}
        self._unreachable = socket.socket()
        self._unreachable.bind(("127.0.0.1", 0))
        self.urls = {name: f"http://127.0.0.1:{one.server_address[1]}" for name, one in self._servers.items()}
        self.urls["unreachable"] = f"http://127.0.0.1:{self._unreachable.getsockname()[1]}"

    def counts(self, name):
        return dict(self._servers[name].counts)

    def forget(self, name):
        if name in self._servers:
            self._servers[name].counts.update(connections=0, requests=0, answers=0)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for server in self._servers.values():
            server.is_over.set()
            server.shutdown()
            server.server_close()
        self._unreachable.close()
