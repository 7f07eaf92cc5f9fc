"""The protocols. Each client writes a number of requests at once and reads the responses."""

import socket
import struct


class Client:
    """One connection. A protocol defines how a request is written and where a response ends."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), 60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.received = b""

    def ask(self, users):
        """Sends everything with one write. Returns when all requests are answered, and fails if one was denied."""
        self.socket.sendall(b"".join(self.request(user) for user in users))
        for _ in users:
            while not (answer := self.take_answer()):
                piece = self.socket.recv(1 << 16)
                if not piece:
                    raise SystemExit("instructions: the server closed the connection")
                self.received += piece
            if not self.admits(answer):
                raise SystemExit(f"instructions: not admitted: {answer!r}")

    def take(self, size):
        """Returns the first bytes received, if there are that many."""
        if len(self.received) < size:
            return b""
        taken, self.received = self.received[:size], self.received[size:]
        return taken


class Http(Client):
    def take_answer(self):
        head, end, _ = self.received.partition(b"\r\n\r\n")
        if not end:
            return b""
        body = head.lower().partition(b"\r\ncontent-length:")[2].partition(b"\r\n")[0]
        return self.take(len(head) + len(end) + int(body or b"0"))

    def admits(self, answer):
        return answer.startswith(b"HTTP/1.1 20")


class Auth(Http):
    def request(self, user):
        return (f"GET /v1/auth HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Original-Method: GET\r\n"
                f"X-Original-URI: /api/v1/items/42?page=3\r\nX-User-Id: user-{user}\r\n\r\n").encode()


class Check(Http):
    def request(self, user):
        body = f'{{"method":"GET","path":"/api/v1/items/42","ip":"203.0.113.7","user":"user-{user}"}}'
        return (f"POST /v1/check HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\n\r\n{body}").encode()


class Throttle(Client):
    def request(self, user):
        words = [b"CL.THROTTLE", b"user:%d" % user, b"1000000", b"30000", b"60"]
        return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)

    def take_answer(self):
        lines = self.received.split(b"\r\n", 6)  # *5 and the five numbers
        return self.take(sum(len(line) + 2 for line in lines[:6])) if len(lines) == 7 else b""

    def admits(self, answer):
        return answer.startswith(b"*5\r\n:0\r\n")


def field(number, payload):
    """Encodes a field of a protobuf message, with less than 128 bytes."""
    return bytes([number << 3 | 2, len(payload)]) + payload


class RateLimitService(Client):
    """gRPC as a proxy uses it on a persistent connection: after the first request, the header is six bytes."""

    DATA, HEADERS, SETTINGS, WINDOW_UPDATE = 0, 1, 4, 8
    END_STREAM, END_HEADERS, ACK = 1, 4, 1

    def __init__(self, port):
        super().__init__(port)
        self.stream = -1
        self.body = b""
        self.socket.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + self.frame(self.SETTINGS, 0, 0, b"") +
                            self.frame(self.SETTINGS, self.ACK, 0, b"") +
                            self.frame(self.WINDOW_UPDATE, 0, 0, struct.pack(">I", 1 << 30)))

    @staticmethod
    def frame(kind, flags, stream, payload):
        return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload

    def header(self):
        if self.stream > 1:
            return bytes([0x83, 0x86, 0xC1, 0xC0, 0xBF, 0xBE])  # by their numbers in the tables
        named = [(b"\x44", b"/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit"), (b"\x41", b"127.0.0.1"),
                 (b"\x5f", b"application/grpc"), (b"\x40\x02te", b"trailers")]
        return b"\x83\x86" + b"".join(name + bytes([len(value)]) + value for name, value in named)

    def request(self, user):
        self.stream += 2
        message = field(1, self.domain) + b"".join(
            field(2, b"".join(field(1, field(1, key) + field(2, value)) for key, value in entries))
            for entries in self.descriptors(b"user-%d" % user))
        return self.frame(self.HEADERS, self.END_HEADERS, self.stream, self.header()) + self.frame(
            self.DATA, self.END_STREAM, self.stream, b"\0" + struct.pack(">I", len(message)) + message)

    def take_answer(self):
        while len(self.received) >= 9:
            kind, flags = self.received[3:5]
            frame = self.take(9 + int.from_bytes(self.received[:3], "big"))
            if not frame:
                break
            if kind == self.DATA:
                self.body = frame[9:]
            if kind == self.HEADERS and flags & self.END_STREAM:
                return self.body or b"no message"
        return b""

    def admits(self, answer):
        return answer[5:7] == b"\x08\x01"  # overall_code: OK


class ByDescriptors(RateLimitService):
    domain = b"edge"

    def descriptors(self, user):
        return [[(b"remote_address", b"203.0.113.7")], [(b"path", b"/api/v1/items/42"), (b"user", user)]]


class ByQuery(RateLimitService):
    domain = b"weir"

    def descriptors(self, user):
        return [[(b"method", b"GET"), (b"path", b"/api/v1/items/42"), (b"user", user), (b"ip", b"203.0.113.7")]]
