"""Which of a request's data the middlewares send."""

from __future__ import annotations

import ipaddress
from typing import Callable, Iterable

LOCAL = "127.0.0.1"  # what a unix socket's other end counts as

UNKNOWN = ("the address that the request came from is not known: set ip in the middleware's query function, if this "
           "server does not tell it")


def address(text: str) -> str | None:
    """Without its zone; None if it is none."""
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
