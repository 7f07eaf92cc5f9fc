# SPDX-License-Identifier: Apache-2.0
"""Client and middleware for Weir, a rate limiter."""

from ._breaker import BreakerState
from ._messages import (Denied, LimitResult, PROBLEM_TYPE, Query, Refused, Settlement, Unavailable, Verdict,
                        WeirError)
from .asgi import AsgiMiddleware
from .async_client import AsyncClient, AsyncReservation
from .client import Client, Reservation
from .wsgi import WsgiMiddleware

__all__ = [
    "AsgiMiddleware", "AsyncClient", "AsyncReservation", "BreakerState", "Client", "Denied", "LimitResult",
    "PROBLEM_TYPE", "Query", "Refused", "Reservation", "Settlement", "Unavailable", "Verdict", "WeirError",
    "WsgiMiddleware"
]
