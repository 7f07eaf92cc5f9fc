# SPDX-License-Identifier: Apache-2.0
"""HTTP/1.1 without I/O: encodes requests and parses responses."""

from __future__ import annotations

import re
import ssl
from dataclasses import dataclass
from urllib.parse import urlsplit

MAX_HEAD = 64 * 1024
MAX_BODY = 1024 * 1024

_STATUS_LINE = re.compile(rb"HTTP/1\.([01]) ([1-9]\d\d)(?: |$)")


class ProtocolError(Exception):
    """The response is not HTTP, or too long."""


@dataclass(frozen=True)
class Answer:
    status: int
    fields: tuple[tuple[str, str], ...]
    body: bytes


@dataclass(frozen=True)
class Place:
    """The address of a server, parsed from http://host:port, https://host:port or unix:/path."""

    host: str
    port: int
    path: str | None = None  # path of a unix socket
    tls: ssl.SSLContext | None = None

    @classmethod
    def parse(cls, url: str, tls: ssl.SSLContext | None = None) -> Place:
        if url.startswith("unix:/"):
            return cls("localhost", 80, "/" + url[len("unix:"):].lstrip("/"))
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.path.strip("/") or parts.query:
            raise ValueError(f"url {url!r}: must be http://host:port, https://host:port or unix:/path")
        is_tls = parts.scheme == "https"
        context = (tls or ssl.create_default_context()) if is_tls else None
        return cls(parts.hostname, parts.port or (443 if is_tls else 80), None, context)

    @property
    def authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def head_of(place: Place, token: str | None) -> bytes:
    """The header lines common to all requests."""
    if token is not None and not re.fullmatch(r"[\x21-\x7e]+", token):
        raise ValueError("token: must be printable ASCII without spaces")
    lines = [f"Host: {place.authority}", "Content-Type: application/json", "X-Weir-Problem: field"]
    if token is not None:
        lines.append(f"X-Weir-Token: {token}")
    return "".join(line + "\r\n" for line in lines).encode("ascii")


def request(path: str, head: bytes, body: bytes) -> bytes:
    return b"POST %s HTTP/1.1\r\n%sContent-Length: %d\r\n\r\n%s" % (path.encode("ascii"), head, len(body), body)


class AnswerReader:
    """Parses one response. Feed it data until it returns one."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._head: tuple[int, tuple[tuple[str, str], ...]] | None = None
        self.has_started = False
        self.can_reuse = False  # whether the connection stays open after the response

    def feed(self, data: bytes) -> Answer | None:
        self.has_started = True
        self._bytes += data
        while self._head is None:
            if not self._read_head():
                return None
        return self._read_body(at_end=False)

    def end(self) -> Answer | None:
        """The connection was closed."""
        return self._read_body(at_end=True) if self._head else None

    def _read_head(self) -> bool:
        end = self._bytes.find(b"\r\n\r\n")
        if end < 0:
            if len(self._bytes) > MAX_HEAD:
                raise ProtocolError("response headers too long")
            return False
        first, *lines = bytes(self._bytes[:end]).split(b"\r\n")
        del self._bytes[:end + 4]
        matched = _STATUS_LINE.match(first)
        if not matched:
            raise ProtocolError("the response is not HTTP/1.1")
        if matched[2][:1] == b"1":  # an interim response
            return True
        fields = []
        for line in lines:
            name, colon, value = line.partition(b":")
            if not colon:
                raise ProtocolError("response header without a colon")
            fields.append((name.decode("latin-1"), value.strip(b" \t").decode("latin-1")))
        self._head = int(matched[2]), tuple(fields)
        self.can_reuse = matched[1] == b"1" and self._field("connection").lower() != "close"
        return True

    def _field(self, name: str) -> str:
        assert self._head
        return next((value for other, value in self._head[1] if other.lower() == name), "")

    def _read_body(self, at_end: bool) -> Answer | None:
        assert self._head
        length = self._field("content-length")
        if self._field("transfer-encoding"):
            body = self._chunks()
        elif length:
            if not re.fullmatch(r"\d{1,9}", length) or int(length) > MAX_BODY:
                raise ProtocolError("invalid Content-Length in the response")
            whole = len(self._bytes) >= int(length)
            body = self._take(int(length)) if whole else None
        else:
            body = self._take(len(self._bytes)) if at_end else None
            self.can_reuse = False
        if body is None:
            if len(self._bytes) > MAX_BODY:
                raise ProtocolError("response too long")
            return None
        if self._bytes:
            self.can_reuse = False  # there is more data than one response
        return Answer(*self._head, body)

    def _take(self, count: int) -> bytes:
        taken = bytes(self._bytes[:count])
        del self._bytes[:count]
        return taken

    def _chunks(self) -> bytes | None:
        """Returns the decoded body, or None while it is incomplete."""
        body = bytearray()
        at = 0
        while True:
            end = self._bytes.find(b"\r\n", at)
            if end < 0:
                return None
            size = bytes(self._bytes[at:end]).partition(b";")[0].strip()
            if not re.fullmatch(rb"[0-9A-Fa-f]{1,6}", size):
                raise ProtocolError("invalid chunk size in the response")
            count = int(size, 16)
            if count == 0:
                last = self._bytes.find(b"\r\n\r\n", end)
                if last < 0:
                    return None
                del self._bytes[:last + 4]
                return bytes(body)
            if len(self._bytes) < end + 2 + count + 2:
                return None
            body += self._bytes[end + 2:end + 2 + count]
            at = end + 2 + count + 2
