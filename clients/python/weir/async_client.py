# SPDX-License-Identifier: Apache-2.0
"""The asyncio client. Each concurrent request has its own connection."""

from __future__ import annotations

import asyncio
import dataclasses
import ssl
from types import TracebackType

from ._breaker import BreakerState, OnBreaker
from ._http import Answer, AnswerReader, Place, ProtocolError
from ._messages import (Denied, Query, Receipt, Refused, Settlement, Unavailable, Verdict, WeirError, merged,
                        read_settlement, read_verdict, receipt_body)
from ._settings import (DEFAULT_BREAKER_FAILURES, DEFAULT_BREAKER_INTERVAL, DEFAULT_BREAKER_MAX_INTERVAL,
                        DEFAULT_TIMEOUT, Fail, OnError, Settings, new_id)

MAX_IDLE = 64  # connections


class _Stale(Exception):
    """An idle connection was closed before the first byte of a response."""


class _Connection(asyncio.Protocol):
    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._reader = AnswerReader()
        self._answer: asyncio.Future[Answer] | None = None  # the answer that is awaited
        self.is_kept = False

    async def exchange(self, request: bytes, deadline: float) -> tuple[Answer, bool]:
        """Returns the response and whether the connection can be reused."""
        if self._transport is None:
            raise _Stale if self.is_kept else ConnectionError("the connection was closed at once")
        loop = asyncio.get_running_loop()
        self._reader = AnswerReader()
        self._answer = loop.create_future()
        timer = loop.call_at(deadline, self._fail, TimeoutError())
        try:
            self._transport.write(request)
            return await self._answer, self._reader.can_reuse and self._transport is not None
        finally:
            timer.cancel()
            self._answer = None

    def is_open(self) -> bool:
        return self._transport is not None

    def close(self) -> None:
        if self._transport:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        if self._answer is None or self._answer.done():  # nothing was sent
            return self.close()
        try:
            self._give(self._reader.feed(data))
        except ProtocolError as error:
            self._fail(error)

    def connection_lost(self, error: Exception | None) -> None:
        self._transport = None
        if self._answer is None:
            return
        if self.is_kept and not self._reader.has_started:
            return self._fail(_Stale())
        try:
            self._give(self._reader.end())
        except ProtocolError as wrong:
            self._fail(wrong)
        self._fail(ConnectionError("connection closed without a response"))

    def _give(self, answer: Answer | None) -> None:
        if answer and self._answer and not self._answer.done():
            self._answer.set_result(answer)

    def _fail(self, error: Exception) -> None:
        if self._answer and not self._answer.done():
            self._answer.set_exception(error)


async def _connect(place: Place, deadline: float) -> _Connection:
    loop = asyncio.get_running_loop()
    left = deadline - loop.time()
    if left <= 0:
        raise TimeoutError
    try:
        if place.path is not None:
            made = loop.create_unix_connection(_Connection, place.path)
        else:
            made = loop.create_connection(_Connection, place.host, place.port, ssl=place.tls)
        return (await asyncio.wait_for(made, left))[1]
    except asyncio.TimeoutError as error:
        raise TimeoutError from error


class AsyncClient:
    """A client of Weir that tasks may share. In another event loop it opens new connections.

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
        self._kept: list[_Connection] = []
        self._loop: asyncio.AbstractEventLoop | None = None

    async def check(self, query: Query) -> Verdict:
        return (await self._evaluate(query))[0]

    async def peek(self, query: Query) -> Verdict:
        """Returns the verdict of a check without charging."""
        return (await self._evaluate(query, peek=True))[0]

    def reserve(self, query: Query, *, lease: float | None = None, id: str | None = None) -> AsyncReservation:
        """An `async with` reserves the query's cost, or raises Denied. Never take `id` from client input."""
        return AsyncReservation(self, query, lease, id)

    async def settle(self, receipt: str, actual: int) -> Settlement:
        return read_settlement(await self._post("/v1/settle", receipt_body(receipt, actual=actual)))

    async def release(self, receipt: str) -> Settlement:
        return read_settlement(await self._post("/v1/release", receipt_body(receipt)))

    async def extend(self, receipt: str, lease: float | None = None) -> Settlement:
        return read_settlement(await self._post("/v1/extend", receipt_body(receipt, lease=lease)))

    async def report(self, query: Query, *, id: str | None = None) -> Settlement:
        """Charges the query's cost even if it exceeds the limit. Without an id the request is never sent again."""
        return read_settlement(await self._post("/v1/report", query.encoded(id=id), may_repeat=id is not None))

    async def close(self) -> None:
        kept, self._kept = self._kept, []
        if self._loop is asyncio.get_running_loop():
            for connection in kept:
                connection.close()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def breaker_state(self) -> BreakerState:
        return self._settings.breaker.state

    def refuse(self, detail: str) -> Verdict:
        """The verdict on a request that cannot be sent to Weir."""
        return self._settings.verdict_without_answer(Refused(0, detail))

    async def _evaluate(self, query: Query, *, peek: bool | None = None, reserve: bool | None = None,
                        lease: float | None = None, id: str | None = None) -> tuple[Verdict, Receipt]:
        try:
            body = query.encoded(peek=peek, reserve=reserve, lease=lease, id=id)
            return read_verdict(await self._post("/v1/check", body))
        except WeirError as error:
            is_unavailable = isinstance(error, Unavailable)
            return self._settings.verdict_without_answer(error), Receipt(is_unavailable=is_unavailable)

    async def _post(self, path: str, body: bytes, may_repeat: bool = True) -> Answer:
        request = self._settings.request(path, body)
        with self._settings.breaker.attempt():
            answer = await self._send(request, may_repeat)
        self._settings.answered()
        return answer

    async def _send(self, request: bytes, may_repeat: bool) -> Answer:
        deadline = asyncio.get_running_loop().time() + self._settings.timeout
        try:
            try:
                return await self._exchange(self._take(), request, deadline)
            except _Stale as stale:
                await self.close()
                if not may_repeat:
                    raise Unavailable("Weir closed the connection; a report without an id is not sent again") from stale
                return await self._exchange(None, request, deadline)
        except TimeoutError as error:
            raise Unavailable(f"Weir did not answer within {self._settings.timeout:g} s") from error
        except (OSError, ProtocolError) as error:
            raise Unavailable(f"Weir is unavailable: {error}") from error

    def _take(self) -> _Connection | None:
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._loop, self._kept = loop, []
        while self._kept:
            connection = self._kept.pop()
            if connection.is_open():
                return connection
        return None

    async def _exchange(self, connection: _Connection | None, request: bytes, deadline: float) -> Answer:
        connection = connection or await _connect(self._settings.place, deadline)
        keep = False
        try:
            answer, keep = await connection.exchange(request, deadline)
            return answer
        finally:
            if keep and len(self._kept) < MAX_IDLE:
                connection.is_kept = True
                self._kept.append(connection)
            else:
                connection.close()


class AsyncReservation:
    """A reserved cost. If neither settled nor released in its `async with`, it is settled at the reserved cost at the
    end, or released after an exception."""

    def __init__(self, client: AsyncClient, query: Query, lease: float | None, id: str | None) -> None:
        self._client = client
        self._query = query
        self._report_id = new_id()
        self._reserved = 1 if query.cost is None else query.cost
        self._lease = lease
        self._id = id or new_id()
        self._is_over = False
        self._is_unavailable = False
        self.verdict = Verdict(False, "not_asked", 0)
        self.receipt: str | None = None
        self.receipt_ends: float | None = None
        self.not_kept: tuple[str, ...] = ()

    async def settle(self, actual: int) -> Settlement:
        """Settles at the actual cost. For limits without a receipt, reports the excess over the estimate; if Weir was
        unavailable at the reserve, reports the whole cost and passes a failure to `on_error` instead of raising."""
        if self._is_unavailable:
            settlement = await self._report_what_was_not_reserved(actual)
        elif self.not_kept and actual > self._reserved:
            kept = await self._client.settle(self.receipt, self._reserved) if self.receipt else Settlement()
            settlement = merged(kept, await self._report(actual - self._reserved))
        else:
            settlement = await self._client.settle(self.receipt, actual) if self.receipt else Settlement()
        self._is_over = True
        return settlement

    async def _report_what_was_not_reserved(self, actual: int) -> Settlement:
        try:
            return await self._report(actual) if actual > 0 else Settlement()
        except Unavailable as error:
            self._client._settings.tell(error)
            return Settlement()

    async def _report(self, cost: int) -> Settlement:
        query = dataclasses.replace(self._query, cost=cost, max_wait=None)
        return await self._client.report(query, id=self._report_id)

    async def release(self) -> Settlement:
        settlement = await self._client.release(self.receipt) if self.receipt else Settlement()
        self._is_over = True
        return settlement

    async def extend(self, lease: float | None = None) -> Settlement:
        return await self._client.extend(self.receipt, lease) if self.receipt else Settlement()

    async def finish(self) -> None:
        """Settles at the reserved cost, unless settled or released before. Never raises."""
        await self._end(is_failed=False)

    async def _end(self, is_failed: bool) -> None:
        if self._is_over:
            return
        try:
            if is_failed:
                await self.release()
            else:
                await self.settle(self._reserved)
        except WeirError as error:  # the receipt expires by itself
            self._is_over = True
            self._client._settings.tell(error)

    async def __aenter__(self) -> AsyncReservation:
        self.verdict, receipt = await self._client._evaluate(self._query, reserve=True, lease=self._lease, id=self._id)
        if not self.verdict.admitted:
            raise Denied(self.verdict)
        self.receipt, self.receipt_ends, self.not_kept = receipt.text, receipt.ends, receipt.not_kept
        self._is_unavailable = receipt.is_unavailable
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None,
                        trace: TracebackType | None) -> None:
        await self._end(is_failed=kind is not None)
