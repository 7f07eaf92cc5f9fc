# SPDX-License-Identifier: Apache-2.0
"""Middleware for WSGI: Flask, Django, or a plain function."""

from __future__ import annotations

import time
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator
from urllib.parse import quote

from ._messages import PROBLEM_TYPE, Denied, Query, Verdict
from ._peer import LOCAL, UNKNOWN, address, as_utf8, chosen
from ._wsgi_headers import AMBIGUOUS, apart, drops_underscores
from .client import Client, Reservation

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

    QueryOf = Callable[[WSGIEnvironment, Query], Query]

_SAFE_IN_PATHS = "/!$&'()*+,;=:@~"
_AT_A_UNIX_SOCKET = ("", "localhost", "<local>")  # REMOTE_ADDR of servers on a unix socket


class WsgiMiddleware:
    """Checks every request before it reaches `app`. If admitted, the response gets the rate limit fields; if denied, it
    is 429 or 403 with the server's problem details as its body.

    `query` may change the query, for example to set the user or the cost. `headers` names the headers to send, by
    default all. A queue delays a request by at most `max_wait` seconds. `reserve` reserves the cost, which concurrency
    limits need; it is settled by environ["weir.reservation"] or at the end of the response.

    In WSGI, X_User_Id and X-User-Id are one variable, so a server that accepts headers with underscores lets clients
    forge headers that only a proxy should set. Such requests are denied, unless `drops_underscores` is true (the server
    or a proxy drops them) or no name in `headers` has a hyphen. The default depends on the server's name.
    """

    def __init__(self, app: WSGIApplication, client: Client | None = None, *, query: QueryOf | None = None,
                 headers: Iterable[str] | None = None, max_wait: float = 5.0, reserve: bool = False,
                 drops_underscores: bool | None = None) -> None:
        self._app = app
        self._client = client or Client()
        self._query = query
        self._max_wait = max_wait
        self._reserve = reserve
        names = None if headers is None else list(headers)
        self._sends = chosen(names)
        self._is_unambiguous = drops_underscores
        if names is not None and not any("-" in name or "_" in name for name in names):
            self._is_unambiguous = True

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        query = self._query_of(environ)
        reservation: Reservation | None = None
        if not (drops_underscores(environ) if self._is_unambiguous is None else self._is_unambiguous):
            verdict = self._client.refuse(AMBIGUOUS.format(environ.get("SERVER_SOFTWARE", "this WSGI server")))
        elif not query.ip:
            verdict = self._client.refuse(UNKNOWN)
        elif self._reserve:
            try:
                reservation = self._client.reserve(query)
                verdict = reservation.verdict
            except Denied as denied:
                verdict = denied.verdict
        else:
            verdict = self._client.check(query)
        if not verdict.admitted:
            return _deny(environ, verdict, start_response)
        environ["weir.verdict"] = verdict
        if verdict.delay > 0:
            time.sleep(verdict.delay)
        answer = _with_fields(verdict, start_response)
        if reservation is None:
            return self._app(environ, answer)
        environ["weir.reservation"] = reservation
        try:
            return _Reserved(self._app(environ, answer), reservation)
        except BaseException:
            reservation.finish()
            raise

    def _query_of(self, environ: WSGIEnvironment) -> Query:
        path = (environ.get("SCRIPT_NAME", "") + environ.get("PATH_INFO", "")).encode("latin-1", "replace")
        target = quote(path, _SAFE_IN_PATHS) or "/"
        if environ.get("QUERY_STRING"):
            target += "?" + as_utf8(environ["QUERY_STRING"])
        query = Query(environ.get("REQUEST_METHOD", "GET"), target, ip=_peer_of(environ),
                      headers=[pair for pair in _headers_of(environ) if self._sends(pair[0])], max_wait=self._max_wait)
        return self._query(environ, query) if self._query else query


def _peer_of(environ: WSGIEnvironment) -> str | None:
    peer = environ.get("REMOTE_ADDR", "")
    return LOCAL if peer in _AT_A_UNIX_SOCKET else address(peer)


def _headers_of(environ: WSGIEnvironment) -> Iterator[tuple[str, str]]:
    for key, value in environ.items():
        if key.startswith("HTTP_"):
            name = key[5:].replace("_", "-").title()
            for one in apart(name, value):
                yield name, as_utf8(one)
        elif key in ("CONTENT_TYPE", "CONTENT_LENGTH") and value:
            yield key.replace("_", "-").title(), as_utf8(value)


def _with_fields(verdict: Verdict, start_response: StartResponse) -> StartResponse:
    def start(status: str, headers: list[tuple[str, str]], *further: Any) -> Callable[[bytes], object]:
        own = {name.lower() for name, _ in headers}
        return start_response(status, [*headers, *(field for field in verdict.fields if field[0].lower() not in own)],
                              *further)

    return start


def _deny(environ: WSGIEnvironment, verdict: Verdict, start_response: StartResponse) -> Iterable[bytes]:
    headers = [*verdict.fields, ("Content-Type", PROBLEM_TYPE), ("Content-Length", str(len(verdict.problem)))]
    start_response(f"{verdict.status} {HTTPStatus(verdict.status).phrase}", headers)
    return [] if environ.get("REQUEST_METHOD") == "HEAD" else [verdict.problem]


class _Reserved:
    """A response body that settles the reservation when it is closed. A client that disconnects is not refunded."""

    def __init__(self, body: Iterable[bytes], reservation: Reservation) -> None:
        self._body = body
        self._reservation = reservation

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._body)

    def close(self) -> None:
        try:
            close = getattr(self._body, "close", None)
            if close:
                close()
        finally:
            self._reservation.finish()
