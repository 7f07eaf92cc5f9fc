"""What is sent of a request: its address, and which of its headers."""

from __future__ import annotations

import ipaddress
import re
from typing import Callable, Iterable

LOCAL = "127.0.0.1"  # what a unix socket's other end counts as

UNKNOWN = ("the address that the request came from is not known: set ip in the middleware's query function, if this "
           "server does not tell it")

_BRACKETED = re.compile(r"\[([^][]*)\](?::([0-9]{1,5}))?")
_V4_AND_PORT = re.compile(r"([0-9.]+):([0-9]{1,5})")


def address(text: str) -> str | None:
    """Without its port, its brackets and its zone; None if it is no address."""
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
    """Whether a header is sent. `names` are all that are, None is every one."""
    if names is None:
        return lambda name: True
    wanted = {name.lower() for name in names}
    return lambda name: name.lower() in wanted


def as_utf8(latin1: str) -> str:
    """The text of a header, of which servers give the bytes as Latin-1. What is not UTF-8 is replaced."""
    return latin1 if latin1.isascii() else latin1.encode("latin-1", "replace").decode("utf-8", "replace")
