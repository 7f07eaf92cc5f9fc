"""Sends hostile requests as they are, over HTTP/1.1 and HTTP/2, and an application that takes whatever comes.

http.client, http.server and the usual libraries refuse to say or to hear much of it.
"""

import concurrent.futures
import contextlib
import re
import socket
import socketserver
import threading

from server import PATIENCE

CLIENT = "127.0.0.2"    # an address that is not Weir's to trust
AT_ONCE = {"http1": 32, "http2": 200}  # Envoy takes a second to close a connection on which HTTP/2 was violated
NOTHING_MORE = 1        # seconds for an answer to a request that is not whole
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, GOAWAY, CONTINUATION = 0, 1, 3, 4, 7, 9
END_STREAM = ACK = 1
END_HEADERS = 4
FRAME = 16_384          # bytes at most, unless the other side allows more


class Application(socketserver.ThreadingTCPServer):
    """Answers 200 to whatever arrives, and remembers the requests by their number; `reached` has them all."""

    daemon_threads = True
    request_queue_size = 1024

    def __init__(self):
        self.reached = []
        super().__init__(("127.0.0.1", 0), Answer)

    def handle_error(self, *_):  # proxies reset connections that they have no more use for
        pass


class Answer(socketserver.BaseRequestHandler):
    def handle(self):
        head = b""
        while b"\r\n\r\n" not in head and (more := self.request.recv(65536)):
            head += more
        if head:
            number = re.search(rb"(?i)\r\nX-Sweep: *(\d+)", head)
            self.server.reached.append(int(number[1]) if number else None)
            self.request.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            self.request.shutdown(socket.SHUT_WR)
            while self.request.recv(65536):  # the rest of a body: a reset would take the answer back
                pass


@contextlib.contextmanager
def application():
    with Application() as listening:
        thread = threading.Thread(target=listening.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield listening
        finally:
            listening.shutdown()
            thread.join()


def connect(port, patience):
    return socket.create_connection(("127.0.0.1", port), patience, (CLIENT, 0))


def http1(port, request, number):
    """The status of the answer; none if the proxy closed the connection, or said nothing to what is not whole."""
    said = b""
    with connect(port, PATIENCE if request.is_whole else NOTHING_MORE) as connection:
        with contextlib.suppress(ConnectionError):
            connection.sendall(request.http1(number))
        try:
            while not (final := re.search(rb"HTTP/\d\.\d ([2-9]\d\d)[^\n]*\n(.*\n)?\r?\n", said, re.DOTALL)):
                more = connection.recv(65536)
                if not more:
                    return None
                said += more
        except ConnectionError:
            return None
        except TimeoutError:
            if request.is_whole:
                raise AssertionError(f"no answer to {request}") from None
            return None
    return int(final[1])


def frame(kind, flags, stream, payload):
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def packed_length(length):
    """An integer of HPACK behind seven bits, the highest of which (Huffman) is 0."""
    if length < 127:
        return bytes([length])
    length -= 127
    packed = bytearray([127])
    while length >= 128:
        packed.append(length % 128 + 128)
        length //= 128
    return bytes(packed) + bytes([length])


def packed(fields):
    """A header block of literals, which are not indexed and stand for themselves."""
    return b"".join(b"\0" + packed_length(len(name)) + name + packed_length(len(value)) + value
                    for name, value in fields)


def request_frames(request, number):
    block = packed(request.http2(number))
    parts = [block[start:start + FRAME] for start in range(0, len(block), FRAME)]
    last = len(parts) - 1
    out = []
    for index, part in enumerate(parts):
        flags = (END_HEADERS if index == last else 0) | (END_STREAM if index == 0 and not request.body else 0)
        out.append(frame(CONTINUATION if index else HEADERS, flags, 1, part))
    body = request.body[:60_000]  # what a peer takes before it says more
    for start in range(0, len(body), FRAME):
        out.append(frame(DATA, END_STREAM if start + FRAME >= len(body) else 0, 1, body[start:start + FRAME]))
    return PREFACE + frame(SETTINGS, 0, 0, b"") + b"".join(out)


def http2(port, request, number):
    """Whether there was an answer; the proxy may also reset the stream, or close the connection."""
    with connect(port, PATIENCE) as connection, connection.makefile("rb") as stream:
        try:
            connection.sendall(request_frames(request, number))
            while True:
                head = stream.read(9)
                if len(head) < 9:
                    return False
                payload = stream.read(int.from_bytes(head[:3], "big"))
                kind, flags, of = head[3], head[4], int.from_bytes(head[5:], "big")
                if kind == SETTINGS and not flags & ACK:
                    connection.sendall(frame(SETTINGS, ACK, 0, b""))
                if kind in (RST_STREAM, GOAWAY):
                    return False
                if kind in (DATA, HEADERS) and of == 1 and flags & END_STREAM:
                    return True
        except ConnectionError:
            return False
        except TimeoutError:
            raise AssertionError(f"no answer to {request}") from None


def send_all(send, port, requests):
    """What `send` returns for each (number, request)."""
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE[send.__name__]) as threads:
        return list(threads.map(lambda one: send(port, one[1], one[0]), requests))
