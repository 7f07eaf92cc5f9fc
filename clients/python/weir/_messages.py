# SPDX-License-Identifier: Apache-2.0
"""Messages without I/O: queries and receipts as JSON, verdicts, settlements, errors."""

from __future__ import annotations

import json
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Iterable, Mapping, Tuple, Union

from ._http import Answer
from ._peer import address

Headers = Union[Mapping[str, str], Iterable[Tuple[str, str]]]

# Longer bodies are not sent: the server would reject them.
MAX_BODY = 256 * 1024

PROBLEM_TYPE = "application/problem+json"


class WeirError(Exception):
    """Base class of the exceptions of this package."""


class Unavailable(WeirError):
    """Weir did not answer within the timeout, or sent an invalid response."""


class Refused(WeirError):
    """Weir rejected the request. `status` is that of the response, or 0 if the request was not sent."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status


class Denied(WeirError):
    """A reserve was denied."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(f"denied: {verdict.reason}" + (f" ({verdict.limit})" if verdict.limit else ""))
        self.verdict = verdict


@dataclass(frozen=True)
class Query:
    """A request to evaluate. `ip` is the peer address, with or without a port; identity headers are trusted only if it
    belongs to a trusted proxy. `user`, `api_key` and `tier` are verified by the program and override headers."""

    method: str = "GET"
    path: str = "/"
    ip: str | None = None
    user: str | None = None
    api_key: str | None = None
    tier: str | None = None
    headers: Headers = ()
    cost: int | None = None
    max_wait: float | None = None  # maximum seconds in a queue; None: no maximum

    def __post_init__(self) -> None:
        if not isinstance(self.headers, Mapping):  # a report reads them again
            object.__setattr__(self, "headers", tuple(self.headers))

    def encoded(self, *, peek: bool | None = None, reserve: bool | None = None, lease: float | None = None,
                id: str | None = None) -> bytes:
        """Encodes as JSON. Duplicate headers stay duplicate, so that the server trusts neither. Raises Refused if `ip`
        is not an address."""
        pairs = self.headers.items() if isinstance(self.headers, Mapping) else self.headers
        members = [f"{_text(name)}:{_text(value)}" for name, value in pairs]
        fields: dict[str, object] = {"method": self.method, "path": self.path, "ip": _ip(self.ip),
                                     "user": self.user}
        fields.update(api_key=self.api_key, tier=self.tier, cost=self.cost, max_wait=_seconds(self.max_wait))
        fields.update(peek=peek, reserve=reserve, lease=_seconds(lease), id=id)
        return _object(fields, [f'"headers":{{{",".join(members)}}}'] if members else [])


@dataclass(frozen=True)
class Verdict:
    """The decision on a request. `fields` are header fields for the response, `problem` is the body of a denial. Times
    are in seconds."""

    admitted: bool
    reason: str
    status: int
    limit: str | None = None
    quota: int | None = None
    remaining: int | None = None
    retry_after: float | None = None
    reset_after: float | None = None
    delay: float = 0.0
    route: str | None = None
    tier: str | None = None
    missing: str | None = None
    fields: tuple[tuple[str, str], ...] = ()
    problem: bytes = b""


@dataclass(frozen=True)
class LimitResult:
    """The result of a receipt or a report at one limit: `done`, `ended`, `unknown`, `repeated` or `id_not_recorded`."""

    limit: str | None
    result: str
    quota: int | None = None
    remaining: int | None = None
    reset_after: float | None = None
    lost: int = 0


@dataclass(frozen=True)
class Settlement:
    limits: tuple[LimitResult, ...] = ()
    receipt_ends: float | None = None  # extend: seconds until the receipt expires


@dataclass(frozen=True)
class Receipt:
    text: str | None = None  # None: nothing to settle
    ends: float | None = None
    not_kept: tuple[str, ...] = ()  # limits charged without a receipt
    is_unavailable: bool = False  # Weir did not answer; it is unknown whether anything was charged


def receipt_body(receipt: str, *, actual: int | None = None, lease: float | None = None) -> bytes:
    return _object({"receipt": receipt, "actual": actual, "lease": _seconds(lease)}, [])


def read_verdict(answer: Answer) -> tuple[Verdict, Receipt]:
    """Raises Refused or Unavailable if the response is not a verdict."""
    said = _read(answer)
    admitted, reason = said.get("admitted"), said.get("reason")
    if not isinstance(admitted, bool) or not isinstance(reason, str):
        raise _not_a_result(answer, said)
    if answer.status not in ((200,) if admitted else (429, 403)):
        raise _not_a_result(answer, said)
    verdict = Verdict(
        admitted=admitted, reason=reason, status=answer.status, limit=said.get("limit"), quota=said.get("quota"),
        remaining=said.get("remaining"), retry_after=said.get("retry_after"), reset_after=said.get("reset_after"),
        delay=said.get("delay", 0.0), route=said.get("route"), tier=said.get("tier"), missing=said.get("missing"),
        fields=tuple(field for field in answer.fields if _is_for_the_client(field[0])),
        problem=b"" if admitted else _problem_of(answer))
    receipt = Receipt(said.get("receipt"), said.get("receipt_ends"), tuple(said.get("not_kept", ())))
    return verdict, receipt


def read_settlement(answer: Answer) -> Settlement:
    said = _read(answer)
    limits = said.get("limits")
    if answer.status != 200 or not isinstance(limits, list) or not all(isinstance(one, dict) for one in limits):
        raise _not_a_result(answer, said)
    results = tuple(
        LimitResult(one.get("limit"), one.get("result", ""), one.get("quota"), one.get("remaining"),
                    one.get("reset_after"), one.get("lost", 0)) for one in limits)
    return Settlement(results, said.get("receipt_ends"))


def merged(settled: Settlement, reported: Settlement) -> Settlement:
    """The latest result of each limit."""
    names = {one.limit for one in reported.limits}
    return Settlement((*(one for one in settled.limits if one.limit not in names), *reported.limits))


def unavailable_verdict(fail: str) -> Verdict:
    if fail == "open":
        return Verdict(True, "weir_unavailable", 200)
    return _denied("weir_unavailable", "The rate limiter is unavailable; this request is denied.")


def refused_verdict() -> Verdict:
    return _denied("refused", "This request cannot be evaluated and is denied.")


def _denied(reason: str, detail: str) -> Verdict:
    return Verdict(False, reason, 429, problem=_problem(429, detail))


def _problem(status: int, detail: str) -> bytes:
    said = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail}
    return json.dumps(said, separators=(",", ":")).encode()


def _is_for_the_client(name: str) -> bool:
    return name.lower().startswith(("ratelimit", "x-ratelimit-", "retry-after"))


def _problem_of(answer: Answer) -> bytes:
    for name, value in answer.fields:
        if name.lower() == "x-weir-problem":
            return value.encode("latin-1")
    return _problem(answer.status, "This request is denied.")


def _read(answer: Answer) -> dict[str, Any]:
    try:
        said = json.loads(answer.body)
    except ValueError:
        said = None
    return said if isinstance(said, dict) else {}


def _not_a_result(answer: Answer, said: dict[str, Any]) -> WeirError:
    detail = said.get("detail") or said.get("reason") or "unexpected response"
    if 400 <= answer.status < 500 and answer.status != 408:
        return Refused(answer.status, f"Weir rejected the request ({answer.status}): {detail}")
    return Unavailable(f"Weir returned {answer.status}: {detail}")


def _text(text: str) -> str:
    """Encodes as JSON. Lone surrogates, which UTF-8 cannot encode, are replaced."""
    if not text.isascii():
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return json.dumps(text)


def _ip(given: str | None) -> str | None:
    if not given:
        return None
    found = address(given)
    if found is None:
        raise Refused(0, f"ip: {given[:60]!r} is not an IP address")
    return found


class _Number(str):
    """A number in its JSON form."""


def _seconds(seconds: float | None) -> _Number | None:
    return None if seconds is None else _Number(f"{seconds:.6f}")


def _object(fields: Mapping[str, object], members: list[str]) -> bytes:
    for name, value in fields.items():
        if isinstance(value, _Number):
            members.append(f'"{name}":{value}')
        elif isinstance(value, str):
            members.append(f'"{name}":{_text(value)}')
        elif value is not None:
            members.append(f'"{name}":{json.dumps(value)}')
    return ("{" + ",".join(members) + "}").encode()
