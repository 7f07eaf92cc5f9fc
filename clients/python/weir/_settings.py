# SPDX-License-Identifier: Apache-2.0
"""Settings and failure handling shared by both clients."""

from __future__ import annotations

import logging
import secrets
import ssl
import time
from typing import Callable, Literal

from ._breaker import Breaker, OnBreaker
from ._http import Place, head_of, request
from ._messages import MAX_BODY, Refused, Verdict, WeirError, unavailable_verdict, refused_verdict

Fail = Literal["open", "closed"]
DEFAULT_TIMEOUT = 0.25
DEFAULT_BREAKER_FAILURES = 5
DEFAULT_BREAKER_INTERVAL = 0.5
DEFAULT_BREAKER_MAX_INTERVAL = 5.0

OnError = Callable[[WeirError], None]

_log = logging.getLogger("weir")


def new_id() -> str:
    """An id for a reserve, so that a repetition is charged once."""
    return secrets.token_urlsafe(16)


class Settings:
    def __init__(self, url: str, timeout: float, fail: Fail, token: str | None, tls: ssl.SSLContext | None,
                 on_error: OnError | None, breaker_failures: int, breaker_interval: float, breaker_max_interval: float,
                 on_breaker: OnBreaker | None) -> None:
        if fail not in ("open", "closed"):
            raise ValueError(f"fail {fail!r}: must be 'open' or 'closed'")
        if not timeout > 0:
            raise ValueError(f"timeout {timeout!r}: must be a number of seconds greater than 0")
        if not 0 < breaker_interval <= breaker_max_interval:
            raise ValueError("breaker_interval: must be greater than 0 and at most breaker_max_interval")
        self.breaker = Breaker(breaker_failures, breaker_interval, breaker_max_interval, timeout, on_breaker)
        self.place = Place.parse(url, tls)
        self.timeout = timeout
        self._fail: Fail = fail
        self._on_error = on_error
        self._head = head_of(self.place, token)
        self._is_unavailable = False
        self._refusal_logged_at = float("-inf")

    def request(self, path: str, body: bytes) -> bytes:
        if len(body) > MAX_BODY:
            raise Refused(0, f"request of {len(body)} bytes exceeds the maximum of {MAX_BODY} bytes")
        return request(path, self._head, body)

    def answered(self) -> None:
        if self._is_unavailable:
            self._is_unavailable = False
            _log.info("Weir is available again")

    def verdict_without_answer(self, error: WeirError) -> Verdict:
        """A rejected request is denied. `fail` applies only while Weir is unavailable."""
        self.tell(error)
        return refused_verdict() if isinstance(error, Refused) else unavailable_verdict(self._fail)

    def tell(self, error: WeirError) -> None:
        """Passes each failure to the callback. Without a callback, logs the start of an outage, and rejections, which
        clients can cause, once per second."""
        if self._on_error:
            self._on_error(error)
        elif isinstance(error, Refused):
            if time.monotonic() - self._refusal_logged_at >= 1.0:
                self._refusal_logged_at = time.monotonic()
                _log.warning("%s", error)
        elif not self._is_unavailable:
            _log.warning("%s; until it answers, requests %s", error, "pass" if self._fail == "open" else "are denied")
        self._is_unavailable = self._is_unavailable or not isinstance(error, Refused)
