# SPDX-License-Identifier: Apache-2.0
"""The synchronous client. Each concurrent request has its own connection."""

from __future__ import annotations

import dataclasses
import os
import socket
import ssl
import threading
import time
from types import TracebackType
from typing import Any

from ._breaker import BreakerState, OnBreaker
from ._http import Answer, AnswerReader, Place, ProtocolError
from ._messages import (Denied, Query, Receipt, Refused, Settlement, Unavailable, Verdict, WeirError, merged,
                        read_settlement, read_verdict, receipt_body)
from ._settings import (DEFAULT_BREAKER_FAILURES, DEFAULT_BREAKER_INTERVAL, DEFAULT_BREAKER_MAX_INTERVAL,
                        DEFAULT_TIMEOUT, Fail, OnError, Settings, new_id)

MAX_IDLE = 64  # connections


class _Stale(Exception):
    """An idle connection was closed before the first byte of a response."""


def _connect(place: Place, deadline: float) -> socket.socket:
    if place.path is not None:
        return _connected(socket.AF_UNIX, place.path, deadline)
    failed: OSError | None = None
    for family, _, _, _, address in socket.getaddrinfo(place.host, place.port, type=socket.SOCK_STREAM):
        try:
            made = _connected(family, address, deadline)
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return made
        except OSError as error:
            failed = error
    raise failed or OSError("no address found")


def _connected(family: int, address: Any, deadline: float) -> socket.socket:
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.settimeout(_left(deadline))
        made.connect(address)
    except BaseException:
        made.close()
        raise
    return made


class _Connection:
    def __init__(self, place: Place, deadline: float) -> None:
        self._socket = _connect(place, deadline)
        if place.tls:
            self._socket.settimeout(_left(deadline))
            self._socket = place.tls.wrap_socket(self._socket, server_hostname=place.host)
        self.is_kept = False

    def is_open(self) -> bool:
        """An idle connection becomes readable only when it is closed."""
        if isinstance(self._socket, ssl.SSLSocket):
            return True
        self._socket.settimeout(0)
        try:
            self._socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return True
        except OSError:
            pass
        return False

    def exchange(self, request: bytes, deadline: float) -> tuple[Answer, bool]:
        """Returns the response and whether the connection can be reused."""
        reader = AnswerReader()
        try:
            self._socket.settimeout(_left(deadline))
            self._socket.sendall(request)
            while True:
                data = self._receive(deadline)
                answer = reader.feed(data) if data else reader.end()
                if answer:
                    return answer, reader.can_reuse
                if not data:
                    raise ConnectionError("connection closed without a response")
        except TimeoutError:
            raise
        except OSError as error:
            if self.is_kept and not reader.has_started:
                raise _Stale from error
            raise

    def _receive(self, deadline: float) -> bytes:
        """Reads data that has already arrived even after the deadline: this thread may have been delayed."""
        self._socket.settimeout(max(deadline - time.monotonic(), 0.0))
        try:
            return self._socket.recv(65536)
        except (BlockingIOError, ssl.SSLWantReadError) as error:
            raise TimeoutError from error

    def close(self) -> None:
        self._socket.close()


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


class _Pool:
    """Idle connections. A forked process does not use those of its parent."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: list[_Connection] = []
        self._process = os.getpid()

    def take(self) -> _Connection | None:
        if self._process != os.getpid():  # a thread of the parent process may hold the lock
            self._lock, self._process = threading.Lock(), os.getpid()
            self.clear()
        while True:
            with self._lock:
                if not self._kept:
                    return None
                connection = self._kept.pop()
            if connection.is_open():
                return connection
            connection.close()

    def keep(self, connection: _Connection) -> None:
        connection.is_kept = True
        with self._lock:
            if len(self._kept) < MAX_IDLE and self._process == os.getpid():
                self._kept.append(connection)
                return
        connection.close()

    def clear(self) -> None:
        with self._lock:
            kept, self._kept = self._kept, []
        for connection in kept:
            connection.close()


class Client:
    """A client of Weir. Thread-safe.

    `check` and `reserve` do not raise when Weir is unavailable: after `timeout` seconds they admit or deny as `fail`
    says. After `breaker_failures` consecutive failures they do so at once, until a probe is answered. A request that
    Weir rejects is denied.
    """

    def __init__(self, url: str = "http://127.0.0.1:8080", *, timeout: float = DEFAULT_TIMEOUT,
                 fail: Fail = "open", token: str | None = None, tls: ssl.SSLContext | None = None,
                 on_error: OnError | None = None, breaker_failures: int = DEFAULT_BREAKER_FAILURES,
                 breaker_interval: float = DEFAULT_BREAKER_INTERVAL,
                 breaker_max_interval: float = DEFAULT_BREAKER_MAX_INTERVAL,
                 on_breaker: OnBreaker | None = None) -> None:
        self._settings = Settings(url, timeout, fail, token, tls, on_error, breaker_failures, breaker_interval,
                                  breaker_max_interval, on_breaker)
        self._pool = _Pool()

    def check(self, query: Query) -> Verdict:
        return self._evaluate(query)[0]

    def peek(self, query: Query) -> Verdict:
        """Returns the verdict of a check without charging."""
        return self._evaluate(query, peek=True)[0]

    def reserve(self, query: Query, *, lease: float | None = None, id: str | None = None) -> Reservation:
        """Reserves the query's cost, for use in a `with`, or raises Denied. Never take `id` from client input."""
        verdict, receipt = self._evaluate(query, reserve=True, lease=lease, id=id or new_id())
        if not verdict.admitted:
            raise Denied(verdict)
        return Reservation(self, query, verdict, receipt)

    def settle(self, receipt: str, actual: int) -> Settlement:
        return read_settlement(self._post("/v1/settle", receipt_body(receipt, actual=actual)))

    def release(self, receipt: str) -> Settlement:
        return read_settlement(self._post("/v1/release", receipt_body(receipt)))

    def extend(self, receipt: str, lease: float | None = None) -> Settlement:
        return read_settlement(self._post("/v1/extend", receipt_body(receipt, lease=lease)))

    def report(self, query: Query, *, id: str | None = None) -> Settlement:
        """Charges the query's cost even if it exceeds the limit. Without an id the request is never sent again."""
        return read_settlement(self._post("/v1/report", query.encoded(id=id), may_repeat=id is not None))

    def close(self) -> None:
        self._pool.clear()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def breaker_state(self) -> BreakerState:
        return self._settings.breaker.state

    def refuse(self, detail: str) -> Verdict:
        """The verdict on a request that cannot be sent to Weir."""
        return self._settings.verdict_without_answer(Refused(0, detail))

    def _evaluate(self, query: Query, *, peek: bool | None = None, reserve: bool | None = None,
                  lease: float | None = None, id: str | None = None) -> tuple[Verdict, Receipt]:
        try:
            body = query.encoded(peek=peek, reserve=reserve, lease=lease, id=id)
            return read_verdict(self._post("/v1/check", body))
        except WeirError as error:
            is_unavailable = isinstance(error, Unavailable)
            return self._settings.verdict_without_answer(error), Receipt(is_unavailable=is_unavailable)

    def _post(self, path: str, body: bytes, may_repeat: bool = True) -> Answer:
        request = self._settings.request(path, body)
        with self._settings.breaker.attempt():
            answer = self._send(request, may_repeat)
        self._settings.answered()
        return answer

    def _send(self, request: bytes, may_repeat: bool) -> Answer:
        deadline = time.monotonic() + self._settings.timeout
        try:
            try:
                return self._exchange(self._pool.take(), request, deadline)
            except _Stale as stale:
                self._pool.clear()
                if not may_repeat:
                    raise Unavailable("Weir closed the connection; a report without an id is not sent again") from stale
                return self._exchange(None, request, deadline)
        except TimeoutError as error:
            raise Unavailable(f"Weir did not answer within {self._settings.timeout:g} s") from error
        except (OSError, ProtocolError) as error:
            raise Unavailable(f"Weir is unavailable: {error}") from error

    def _exchange(self, connection: _Connection | None, request: bytes, deadline: float) -> Answer:
        connection = connection or _Connection(self._settings.place, deadline)
        keep = False
        try:
            answer, keep = connection.exchange(request, deadline)
            return answer
        finally:
            if keep:
                self._pool.keep(connection)
            else:
                connection.close()


class Reservation:
    """A reserved cost. If neither settled nor released in its `with`, it is settled at the reserved cost at the end, or
    released after an exception."""

    def __init__(self, client: Client, query: Query, verdict: Verdict, receipt: Receipt) -> None:
        self._client = client
        self._query = query
        self._report_id = new_id()
        self._reserved = 1 if query.cost is None else query.cost
        self._is_over = False
        self._is_unavailable = receipt.is_unavailable
        self.verdict = verdict
        self.receipt = receipt.text
        self.receipt_ends = receipt.ends
        self.not_kept = receipt.not_kept

    def settle(self, actual: int) -> Settlement:
        """Settles at the actual cost. For limits without a receipt, reports the excess over the estimate; if Weir was
        unavailable at the reserve, reports the whole cost and passes a failure to `on_error` instead of raising."""
        if self._is_unavailable:
            settlement = self._report_what_was_not_reserved(actual)
        elif self.not_kept and actual > self._reserved:
            kept = self._client.settle(self.receipt, self._reserved) if self.receipt else Settlement()
            settlement = merged(kept, self._report(actual - self._reserved))
        else:
            settlement = self._client.settle(self.receipt, actual) if self.receipt else Settlement()
        self._is_over = True
        return settlement

    def _report_what_was_not_reserved(self, actual: int) -> Settlement:
        try:
            return self._report(actual) if actual > 0 else Settlement()
        except Unavailable as error:
            self._client._settings.tell(error)
            return Settlement()

    def _report(self, cost: int) -> Settlement:
        query = dataclasses.replace(self._query, cost=cost, max_wait=None)
        return self._client.report(query, id=self._report_id)

    def release(self) -> Settlement:
        settlement = self._client.release(self.receipt) if self.receipt else Settlement()
        self._is_over = True
        return settlement

    def extend(self, lease: float | None = None) -> Settlement:
        return self._client.extend(self.receipt, lease) if self.receipt else Settlement()

    def finish(self) -> None:
        """Settles at the reserved cost, unless settled or released before. Never raises."""
        self._end(is_failed=False)

    def _end(self, is_failed: bool) -> None:
        if self._is_over:
            return
        try:
            if is_failed:
                self.release()
            else:
                self.settle(self._reserved)
        except WeirError as error:  # the receipt expires by itself
            self._is_over = True
            self._client._settings.tell(error)

    def __enter__(self) -> Reservation:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self._end(is_failed=kind is not None)
