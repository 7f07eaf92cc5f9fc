"""Calls Envoy's rate limit service with hand-made HTTP/2 frames, so that they can also be invalid."""

import socket
import struct

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 0, 1, 3, 4, 6, 7, 8, 9
END_STREAM, ACK, END_HEADERS = 1, 1, 4
SHOULD_RATE_LIMIT = "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit"


def frame(kind, flags=0, stream=0, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def head(path=SHOULD_RATE_LIMIT, **more):
    """Returns a block of header fields, as literals that are not indexed. Names and values have fewer than 127 bytes.
    """
    fields = {":method": "POST", ":scheme": "http", ":path": path, ":authority": "127.0.0.1", "te": "trailers",
              "content-type": "application/grpc", **more}
    text = b""
    for name, value in fields.items():
        text += b"\x00" + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode()
    return text


def varint(number):
    text = b""
    while number > 127:
        text += bytes([number & 127 | 128])
        number >>= 7
    return text + bytes([number])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def fields(message):
    """Returns {number: [value, ...]}."""
    found = {}
    at = 0

    def read_varint():
        nonlocal at
        number = shift = 0
        while True:
            byte = message[at]
            at += 1
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number

    while at < len(message):
        tag = read_varint()
        value = read_varint()
        if tag & 7 == 2:
            at, value = at + value, message[at:at + value]
        found.setdefault(tag >> 3, []).append(value)
    return found


def request(entries, hits=1, domain="weir"):
    """Returns a RateLimitRequest with one descriptor."""
    descriptor = b"".join(field(1, field(1, key) + field(2, value)) for key, value in entries.items())
    descriptor += field(3, field(1, hits) if hits else b"")
    return field(1, domain) + field(2, descriptor)


class Answer:
    """The status of one descriptor, as a client sees it."""

    def __init__(self, message):
        told = fields(message)
        self.admitted = told[1] == [1]
        status = fields(told[2][0])
        limit = fields(status[2][0]) if 2 in status else {}
        self.limit = limit[3][0].decode() if 3 in limit else None
        self.remaining = status.get(3, [0])[0]
        self.reset_after = fields(status[4][0]).get(1, [0])[0] if 4 in status else None
        self.headers = {}
        for header in told.get(3, []):
            name, value = (text[0].decode() for _, text in sorted(fields(header).items()))
            self.headers[name.lower()] = value
        self.body = told.get(5, [b""])[0].decode()


class RlsClient:
    """One connection. Calls are sequential; `stream` is that of the last call, if there was one."""

    def __init__(self, connection, stream=None):
        self.connection = connection
        self.stream = stream or -1
        self.unread = b""
        if stream is None:
            self.connection.sendall(PREFACE + frame(SETTINGS))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def send(self, message, path=SHOULD_RATE_LIMIT, **metadata):
        self.stream += 2
        body = b"\x00" + struct.pack(">I", len(message)) + message
        self.connection.sendall(frame(HEADERS, END_HEADERS, self.stream, head(path, **metadata)) +
                                frame(DATA, END_STREAM, self.stream, body))

    def _take(self, count):
        while len(self.unread) < count:
            more = self.connection.recv(65536)
            if not more:
                raise ConnectionError("the server closed the connection")
            self.unread += more
        taken, self.unread = self.unread[:count], self.unread[count:]
        return taken

    def read_frame(self):
        header = self._take(9)
        stream = struct.unpack(">I", header[5:])[0]
        return header[3], header[4], stream, self._take(int.from_bytes(header[:3], "big"))

    def receive(self):
        """Returns the message that answers the last call."""
        body = b""
        while True:
            kind, flags, stream, payload = self.read_frame()
            if kind == SETTINGS and not flags & ACK:
                self.connection.sendall(frame(SETTINGS, ACK))
            if kind in (RST_STREAM, GOAWAY):
                raise ConnectionError(f"refused: frame {kind}, {payload!r}")
            if kind == DATA:
                body += payload
                self.connection.sendall(frame(WINDOW_UPDATE, payload=struct.pack(">I", len(payload))))
            if stream == self.stream and kind in (DATA, HEADERS) and flags & END_STREAM:
                if len(body) < 5:
                    raise ConnectionError("an error without a message")
                return body[5:]

    def ask(self, entries, hits=1, domain="weir", **metadata):
        self.send(request(entries, hits, domain), **metadata)
        return Answer(self.receive())


def connect(place, timeout):
    return RlsClient(socket.create_connection(place, timeout=timeout))
