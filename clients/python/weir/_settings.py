"""What a client of either kind is told, and what it does with failures."""

from __future__ import annotations

import logging
import secrets
import ssl
import time
from typing import Callable, Literal

from ._breaker import Breaker, OnBreaker
from ._http import Place, head_of, request
from ._messages import LONGEST_BODY, Refused, Verdict, WeirError, away_verdict, refused_verdict

Fail = Literal["open", "closed"]
DEFAULT_TIMEOUT = 0.25
DEFAULT_BREAKER_FAILURES = 5
DEFAULT_BREAKER_INTERVAL = 0.5
DEFAULT_BREAKER_MAX_INTERVAL = 5.0

OnError = Callable[[WeirError], None]

_log = logging.getLogger("weir")


def new_id() -> str:
    """For a reserve, so that it may be repeated and counts once."""
    return secrets.token_urlsafe(16)


class Settings:
    def __init__(self, url: str, timeout: float, fail: Fail, token: str | None, tls: ssl.SSLContext | None,
                 on_error: OnError | None, breaker_failures: int, breaker_interval: float, breaker_max_interval: float,
                 on_breaker: OnBreaker | None) -> None:
        if fail not in ("open", "closed"):
            raise ValueError(f"fail: {fail!r} is neither 'open' nor 'closed'")
        if not timeout > 0:
            raise ValueError(f"timeout: {timeout!r} is not a number of seconds above 0")
        if not 0 < breaker_interval <= breaker_max_interval:
            raise ValueError("breaker_interval: is not above 0, or above breaker_max_interval")
        self.breaker = Breaker(breaker_failures, breaker_interval, breaker_max_interval, timeout, on_breaker)
        self.place = Place.parse(url, tls)
        self.timeout = timeout
        self._fail: Fail = fail
        self._on_error = on_error
        self._head = head_of(self.place, token)
        self._is_away = False
        self._told_of_refusal = float("-inf")

    def request(self, path: str, body: bytes) -> bytes:
        if len(body) > LONGEST_BODY:
            raise Refused(0, f"what is asked has {len(body)} bytes, more than the {LONGEST_BODY} that are sent")
        return request(path, self._head, body)

    def answered(self) -> None:
        if self._is_away:
            self._is_away = False
            _log.info("Weir answers again")

    def verdict_without_answer(self, error: WeirError) -> Verdict:
        """A refusal is a denial. Only where Weir is away does `fail` count."""
        self.tell(error)
        return refused_verdict() if isinstance(error, Refused) else away_verdict(self._fail)

    def tell(self, error: WeirError) -> None:
        """Of each failure to the callback; without one to the log, but of Weir's being away only when that begins, and of
        refusals, which clients can cause, once a second."""
        if self._on_error:
            self._on_error(error)
        elif isinstance(error, Refused):
            if time.monotonic() - self._told_of_refusal >= 1.0:
                self._told_of_refusal = time.monotonic()
                _log.warning("%s", error)
        elif not self._is_away:
            _log.warning("%s; until it answers, requests %s", error, "pass" if self._fail == "open" else "are denied")
        self._is_away = self._is_away or not isinstance(error, Refused)
