# SPDX-License-Identifier: Apache-2.0
"""The circuit breaker of a client: after consecutive failures, only one probe at a time is sent."""

from __future__ import annotations

import os
import random
import threading
import time
from types import TracebackType
from typing import Callable, Literal

from ._messages import Unavailable

BreakerState = Literal["closed", "open", "half_open"]
OnBreaker = Callable[[BreakerState], None]


class Breaker:
    """Thread-safe, and usable in a forked process.

    1. It opens after `failures` consecutive failures: no connection, or no complete response within the timeout. Any
       complete response closes it and resets the count.
    2. While it is not closed, one request at a time is sent: the probe. It is half open while a probe is in flight.
    3. The wait for a probe is random between half and all of `interval`, which doubles with each failed probe, up to
       `max_interval`.
    4. A request canceled by its caller counts as neither success nor failure.

    If `failures` is 0 or below, the breaker is disabled.
    """

    def __init__(self, failures: int, interval: float, max_interval: float, timeout: float,
                 on_change: OnBreaker | None = None, clock: Callable[[], float] = time.monotonic,
                 chance: Callable[[], float] = random.random) -> None:
        self._failures = failures
        self._first_interval = interval
        self._max_interval = max_interval
        self._probe_time = 2 * timeout  # then a probe is lost: a fork may not have copied its thread
        self._on_change = on_change
        self._clock = clock
        self._chance = chance
        self._state: BreakerState = "closed"
        self._in_a_row = 0
        self._interval = interval
        self._probe_at = 0.0
        self._lock = threading.Lock()
        self._process = os.getpid()

    @property
    def state(self) -> BreakerState:
        return self._state

    def attempt(self) -> Attempt:
        """Raises Unavailable if nothing may be sent. The outcome of the `with` decides the next state."""
        if self._process != os.getpid():  # a thread of the parent process may hold the lock
            self._lock, self._process = threading.Lock(), os.getpid()
        with self._lock:
            if self._state == "closed":
                return Attempt(self, is_probe=False)
            now = self._clock()
            if now < self._probe_at:
                raise Unavailable(f"Weir is unavailable: next probe in {self._probe_at - now:.3f} s")
            self._probe_at = now + self._probe_time
            changed = self._become("half_open")
        self._tell(changed)
        return Attempt(self, is_probe=True)

    def succeeded(self) -> None:
        with self._lock:
            self._in_a_row = 0
            self._interval = self._first_interval
            changed = self._become("closed")
        self._tell(changed)

    def failed(self, is_probe: bool) -> None:
        with self._lock:
            changed: BreakerState | None = None
            if self._state == "closed":
                self._in_a_row += 1
                if self._in_a_row == self._failures:
                    changed = self._open()
            elif is_probe:
                self._interval = min(2 * self._interval, self._max_interval)
                changed = self._open()
        self._tell(changed)

    def given_up(self, is_probe: bool) -> None:
        with self._lock:
            changed: BreakerState | None = None
            if is_probe and self._state == "half_open":
                self._probe_at = self._clock()  # the next request is the probe
                changed = self._become("open")
        self._tell(changed)

    def _open(self) -> BreakerState | None:
        self._probe_at = self._clock() + self._interval * (0.5 + 0.5 * self._chance())
        return self._become("open")

    def _become(self, state: BreakerState) -> BreakerState | None:
        """Returns the state if it changed."""
        if self._state == state:
            return None
        self._state = state
        return state

    def _tell(self, changed: BreakerState | None) -> None:
        if changed and self._on_change:
            self._on_change(changed)


class Attempt:
    def __init__(self, breaker: Breaker, is_probe: bool) -> None:
        self._breaker = breaker
        self._is_probe = is_probe

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        if kind is None:
            self._breaker.succeeded()
        elif issubclass(kind, Unavailable):
            self._breaker.failed(self._is_probe)
        else:
            self._breaker.given_up(self._is_probe)
