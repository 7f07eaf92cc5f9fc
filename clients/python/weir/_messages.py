"""What is asked and answered, without a socket: queries and receipts as JSON, verdicts, settlements, errors."""

from __future__ import annotations

import json
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Iterable, Mapping, Tuple, Union

from ._http import Answer
from ._peer import address

Headers = Union[Mapping[str, str], Iterable[Tuple[str, str]]]

# Longer bodies are not sent: the server would not read them.
LONGEST_BODY = 256 * 1024

PROBLEM_TYPE = "application/problem+json"


class WeirError(Exception):
    """What the functions of this package raise."""


class Unavailable(WeirError):
    """Weir did not answer within the time limit, or with an answer that says nothing."""


class Refused(WeirError):
    """Weir does not take what it was sent. `status` is that of its answer, or 0 if it was not sent."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status


class Denied(WeirError):
    """A reserve that was denied."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(f"denied: {verdict.reason}" + (f" ({verdict.limit})" if verdict.limit else ""))
        self.verdict = verdict


@dataclass(frozen=True)
class Query:
    """A request to be evaluated. `ip` is the address that it came from, with a port or without; headers that say who is
    calling are believed only if that is a trusted proxy's. `user`, `api_key` and `tier` are what the program knows
    itself, and override them."""

    method: str = "GET"
    path: str = "/"
    ip: str | None = None
    user: str | None = None
    api_key: str | None = None
    tier: str | None = None
    headers: Headers = ()
    cost: int | None = None
    max_wait: float | None = None  # seconds for a turn in a queue; without it any time

    def __post_init__(self) -> None:
        if not isinstance(self.headers, Mapping):  # they are read again when what was used is reported
            object.__setattr__(self, "headers", tuple(self.headers))

    def encoded(self, *, peek: bool | None = None, reserve: bool | None = None, lease: float | None = None,
                id: str | None = None) -> bytes:
        """As JSON. A header that is there twice stays there twice: the server believes no identity then. Raises Refused
        if `ip` is no address."""
        pairs = self.headers.items() if isinstance(self.headers, Mapping) else self.headers
        members = [f"{_text(name)}:{_text(value)}" for name, value in pairs]
        fields: dict[str, object] = {"method": self.method, "path": self.path, "ip": _ip(self.ip),
                                     "user": self.user}
        fields.update(api_key=self.api_key, tier=self.tier, cost=self.cost, max_wait=_seconds(self.max_wait))
        fields.update(peek=peek, reserve=reserve, lease=_seconds(lease), id=id)
        return _object(fields, [f'"headers":{{{",".join(members)}}}'] if members else [])


@dataclass(frozen=True)
class Verdict:
    """Whether a request may pass. `fields` are the header fields for the answer to it, and `problem` the body of a
    denial. Times are seconds."""

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
    """What came of a receipt or a report at one limit: `done`, `ended`, `unknown`, `repeated` or `id_not_recorded`."""

    limit: str | None
    result: str
    quota: int | None = None
    remaining: int | None = None
    reset_after: float | None = None
    lost: int = 0


@dataclass(frozen=True)
class Settlement:
    limits: tuple[LimitResult, ...] = ()
    receipt_ends: float | None = None  # of an extend: in how many seconds


@dataclass(frozen=True)
class Receipt:
    text: str | None = None  # None: nothing is to be settled
    ends: float | None = None
    not_kept: tuple[str, ...] = ()  # limits that were charged and have none
    is_away: bool = False  # Weir did not answer, and nothing is known to be charged


def receipt_body(receipt: str, *, actual: int | None = None, lease: float | None = None) -> bytes:
    return _object({"receipt": receipt, "actual": actual, "lease": _seconds(lease)}, [])


def read_verdict(answer: Answer) -> tuple[Verdict, Receipt]:
    """Raises Refused or Unavailable if the answer is no verdict."""
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
    """Of each limit what came last."""
    names = {one.limit for one in reported.limits}
    return Settlement((*(one for one in settled.limits if one.limit not in names), *reported.limits))


def away_verdict(fail: str) -> Verdict:
    if fail == "open":
        return Verdict(True, "weir_away", 200)
    return _denied("weir_away", "It cannot be told at present whether this request is within its limits.")


def refused_verdict() -> Verdict:
    return _denied("refused", "This request cannot be evaluated, and so it is denied.")


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
    detail = said.get("detail") or said.get("reason") or "an answer that is not Weir's"
    if 400 <= answer.status < 500 and answer.status != 408:
        return Refused(answer.status, f"Weir refuses it ({answer.status}): {detail}")
    return Unavailable(f"Weir answers {answer.status}: {detail}")


def _text(text: str) -> str:
    """As JSON. Half of a surrogate pair, which UTF-8 does not have, is replaced."""
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
    """Written as it is."""


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
