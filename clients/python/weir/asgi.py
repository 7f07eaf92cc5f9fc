# SPDX-License-Identifier: Apache-2.0
"""Middleware for ASGI on asyncio: Starlette, FastAPI, Django."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any, Awaitable, Callable, Iterable, MutableMapping
from urllib.parse import quote

from ._messages import PROBLEM_TYPE, Denied, Query, Verdict
from ._peer import LOCAL, UNKNOWN, address, as_utf8, chosen
from .async_client import AsyncClient

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
AsgiApp = Callable[[Scope, Receive, Send], Awaitable[None]]
QueryOf = Callable[[Scope, Query], Query]

_SAFE_IN_PATHS = "/!$&'()*+,;=:@~"


class AsgiMiddleware:
    """Checks every request and WebSocket before it reaches `app`. If admitted, the response gets the rate limit fields;
    if denied, it is 429 or 403 with the server's problem details as its body.

    `query` may change the query, for example to set the user or the cost. `headers` names the headers to send, by
    default all. A queue delays a request by at most `max_wait` seconds. `reserve` reserves the cost, which concurrency
    limits need; it is settled by scope["weir.reservation"] or at the end of the request.
    """

    def __init__(self, app: AsgiApp, client: AsyncClient | None = None, *, query: QueryOf | None = None,
                 headers: Iterable[str] | None = None, max_wait: float = 5.0, reserve: bool = False) -> None:
        self._app = app
        self._client = client or AsyncClient()
        self._query = query
        self._sends = chosen(headers)
        self._max_wait = max_wait
        self._reserve = reserve

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            return await self._app(scope, receive, send)
        query = self._query_of(scope)
        if not query.ip:
            return await _deny(scope, self._client.refuse(UNKNOWN), receive, send)
        async with contextlib.AsyncExitStack() as stack:
            if self._reserve:
                reservation = self._client.reserve(query)
                try:
                    await stack.enter_async_context(reservation)
                except Denied as denied:
                    return await _deny(scope, denied.verdict, receive, send)
                verdict = reservation.verdict
                scope["weir.reservation"] = reservation
                # Settled however the request ends: a client that disconnects is not refunded.
                stack.push_async_callback(reservation.finish)
            else:
                verdict = await self._client.check(query)
            if not verdict.admitted:
                return await _deny(scope, verdict, receive, send)
            scope["weir.verdict"] = verdict
            if verdict.delay > 0:
                await asyncio.sleep(verdict.delay)
            await self._app(scope, receive, _with_fields(verdict, send))

    def _query_of(self, scope: Scope) -> Query:
        target = quote(scope["path"].encode("utf-8", "replace"), _SAFE_IN_PATHS) or "/"
        if scope.get("query_string"):
            target += "?" + scope["query_string"].decode("utf-8", "replace")
        headers = [(name.decode("latin-1"), as_utf8(value.decode("latin-1"))) for name, value in scope["headers"]]
        query = Query(scope.get("method", "GET"), target, ip=_peer_of(scope),
                      headers=[pair for pair in headers if self._sends(pair[0])], max_wait=self._max_wait)
        return self._query(scope, query) if self._query else query


def _peer_of(scope: Scope) -> str | None:
    """A server on a unix socket has no port. Otherwise a missing address means that the client has already
    disconnected."""
    client, server = scope.get("client"), scope.get("server")
    if client:
        return LOCAL if not client[0] and server and server[1] is None else address(client[0])
    return LOCAL if server and server[1] is None else None


def _encoded(verdict: Verdict) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in verdict.fields]


def _with_fields(verdict: Verdict, send: Send) -> Send:
    fields = _encoded(verdict)

    async def send_with_fields(message: Message) -> None:
        if message["type"] in ("http.response.start", "websocket.accept", "websocket.http.response.start"):
            headers = list(message.get("headers") or ())
            own = {bytes(name).lower() for name, _ in headers}
            message = {**message, "headers": [*headers, *(field for field in fields if field[0] not in own)]}
        await send(message)

    return send_with_fields


async def _deny(scope: Scope, verdict: Verdict, receive: Receive, send: Send) -> None:
    kind = "http.response"
    if scope["type"] == "websocket":
        await receive()  # websocket.connect
        if "websocket.http.response" not in (scope.get("extensions") or {}):
            return await send({"type": "websocket.close", "code": 1008, "reason": "denied"})
        kind = "websocket.http.response"
    headers = [*_encoded(verdict), (b"content-type", PROBLEM_TYPE.encode()),
               (b"content-length", str(len(verdict.problem)).encode())]
    await send({"type": f"{kind}.start", "status": verdict.status, "headers": headers})
    body = b"" if scope.get("method") == "HEAD" else verdict.problem
    await send({"type": f"{kind}.body", "body": body})
