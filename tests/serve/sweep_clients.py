"""Sends hostile requests unchanged, over HTTP/1.1 and HTTP/2, and provides an application that accepts anything.

http.client, http.server and the usual libraries refuse to send or receive many of them.
"""

import asyncio
import contextlib
import re
import socket
import threading

from server import PATIENCE

CLIENT = "127.0.0.2"    # an address that Weir does not trust
AT_ONCE = 200           # Envoy takes a second to close a connection after an HTTP/2 violation
IP_BIND_ADDRESS_NO_PORT = 24  # from linux/in.h: Python has no name for it
NOTHING_MORE = 1        # seconds to wait for an answer to an incomplete request
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, GOAWAY, CONTINUATION = 0, 1, 3, 4, 7, 9
END_STREAM = ACK = 1
END_HEADERS = 4
FRAME = 16_384          # the maximum number of bytes, unless the other side allows more


class Application:
    """Answers 200 to whatever arrives. `reached` has the numbers of the requests; None for one without a number."""

    def __init__(self):
        self.reached = []
        self.port = None

    async def answer(self, reader, writer):
        head = b""
        with contextlib.suppress(OSError):  # a proxy may no longer need the connection
            while b"\r\n\r\n" not in head and (more := await reader.read(65536)):
                head += more
            if head:
                number = re.search(rb"(?i)\r\nX-Sweep: *(\d+)", head)
                self.reached.append(int(number[1]) if number else None)
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                writer.write_eof()
                while await reader.read(65536):  # the rest of a body: a reset would discard the answer
                    pass
        writer.close()


@contextlib.contextmanager
def application():
    listening = Application()
    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(asyncio.start_server(listening.answer, "127.0.0.1", 0, backlog=1024))
    listening.port = server.sockets[0].getsockname()[1]
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield listening
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        server.close()
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(server.wait_closed())
        loop.close()


@contextlib.asynccontextmanager
async def connected(port):
    connection = socket.socket()
    connection.setblocking(False)
    # The port is chosen on connect: then only connections to the same proxy count, and those closed in the last minute
    # do not exhaust the ports of the address.
    connection.setsockopt(socket.IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1)
    connection.bind((CLIENT, 0))
    await asyncio.get_running_loop().sock_connect(connection, ("127.0.0.1", port))
    reader, writer = await asyncio.open_connection(sock=connection)
    try:
        yield reader, writer
    finally:
        writer.transport.abort()


async def http1(port, request, number):
    """Returns when there is a response, or the proxy has closed the connection."""
    said = b""
    async with connected(port) as (reader, writer):
        writer.write(request.http1(number))
        while not re.search(rb"HTTP/\d\.\d [2-9]\d\d[^\n]*\n(.*\n)?\r?\n", said, re.DOTALL):
            more = await reader.read(65536)
            if not more:
                return
            said += more


def frame(kind, flags, stream, payload):
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def packed_length(length):
    """Encodes an integer of HPACK with a prefix of seven bits, after a Huffman bit of 0."""
    if length < 127:
        return bytes([length])
    length -= 127
    packed = bytearray([127])
    while length >= 128:
        packed.append(length % 128 + 128)
        length //= 128
    return bytes(packed) + bytes([length])


def packed(fields):
    """Returns a header block of literals that are not indexed and not Huffman-coded."""
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
    body = request.body[:60_000]  # the bytes that a peer accepts before it sends a WINDOW_UPDATE
    for start in range(0, len(body), FRAME):
        out.append(frame(DATA, END_STREAM if start + FRAME >= len(body) else 0, 1, body[start:start + FRAME]))
    return PREFACE + frame(SETTINGS, 0, 0, b"") + b"".join(out)


async def http2(port, request, number):
    """Returns when there is a response, or the proxy has reset the stream or closed the connection."""
    async with connected(port) as (reader, writer):
        writer.write(request_frames(request, number))
        while True:
            head = await reader.readexactly(9)
            await reader.readexactly(int.from_bytes(head[:3], "big"))
            kind, flags, stream = head[3], head[4], int.from_bytes(head[5:], "big")
            if kind == SETTINGS and not flags & ACK:
                writer.write(frame(SETTINGS, ACK, 0, b""))
            if kind in (RST_STREAM, GOAWAY) or (kind in (DATA, HEADERS) and stream == 1 and flags & END_STREAM):
                return


def send_all(send, port, requests):
    """Sends all (number, request), many at a time. Each complete request is answered in time, or its connection is
    closed."""
    room = asyncio.Semaphore(AT_ONCE)

    async def send_one(number, request):
        async with room:
            try:
                with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                    await asyncio.wait_for(send(port, request, number), PATIENCE if request.is_whole else NOTHING_MORE)
            except TimeoutError:
                if request.is_whole:
                    raise AssertionError(f"no answer to {request}") from None

    async def send_each():
        await asyncio.gather(*(send_one(number, request) for number, request in requests))

    asyncio.run(send_each())
