# SPDX-License-Identifier: Apache-2.0
"""The peer address and the headers of a request that are sent to Weir."""

from __future__ import annotations

import ipaddress
import re
from typing import Callable, Iterable

LOCAL = "127.0.0.1"  # the peer address of a unix socket

UNKNOWN = "unknown peer address; set ip in the middleware's query function if the server does not provide it"

_BRACKETED = re.compile(r"\[([^][]*)\](?::([0-9]{1,5}))?")
_V4_AND_PORT = re.compile(r"([0-9.]+):([0-9]{1,5})")


def address(text: str) -> str | None:
    """Removes port, brackets and zone. Returns None if the text is not an address."""
    matched = _BRACKETED.fullmatch(text) or _V4_AND_PORT.fullmatch(text)
    if matched:
        if int(matched[2] or 0) > 65535:
            return None
        text = matched[1]
    if ":" in text:
        text = text.partition("%")[0]
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return None
    return text


def chosen(names: Iterable[str] | None) -> Callable[[str], bool]:
    """A predicate for the headers to send: those in `names`, or all if it is None."""
    if names is None:
        return lambda name: True
    wanted = {name.lower() for name in names}
    return lambda name: name.lower() in wanted


def as_utf8(latin1: str) -> str:
    """Decodes a header value that the server passed as Latin-1. Invalid UTF-8 is replaced."""
    return latin1 if latin1.isascii() else latin1.encode("latin-1", "replace").decode("utf-8", "replace")
