"""A minimal Redis client: raw commands, replies as Python values."""

import socket


class ReplyError(Exception):
    pass


def command(*words):
    texts = [str(word).encode() for word in words]
    return b"*%d\r\n" % len(texts) + b"".join(b"$%d\r\n%s\r\n" % (len(text), text) for text in texts)


class RespClient:
    def __init__(self, connection):
        self.connection = connection
        self.file = connection.makefile("rb")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()
        self.connection.close()

    def ask(self, *words):
        self.connection.sendall(command(*words))
        return self.receive()

    def receive(self):
        line = self.file.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the server closed the connection")
        kind, text = line[:1], line[1:-2]
        if kind == b"-":
            raise ReplyError(text.decode())
        if kind == b":":
            return int(text)
        if kind == b"*":
            return [self.receive() for _ in range(int(text))]
        if kind == b"$":
            return self.file.read(int(text) + 2)[:-2].decode() if int(text) >= 0 else None
        return text.decode()


def connect(place, timeout):
    return RespClient(socket.create_connection(place, timeout=timeout))
