# SPDX-License-Identifier: Apache-2.0
"""WSGI headers: one variable per name, with underscores for hyphens and repeated headers joined."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

AMBIGUOUS = ("{} may accept headers with underscores: a client could send X_User_Id as X-User-Id; drop them in the "
             "server or the proxy, then set drops_underscores=True")

# Servers by their names in SERVER_SOFTWARE, and the first version that drops headers with underscores by default.
_DROPPING = {"gunicorn": (22, 0), "waitress": (0, 0), "werkzeug": (2, 3)}
_NAME_AND_VERSION = re.compile(r"([A-Za-z]+)(?:/(\d+)\.(\d+))?")

# Standard headers, in which a comma does not mean that the header was repeated.
_WITH_COMMAS = re.compile(r"accept|if-|sec-|access-control-|cache-control$|cookie$|authorization$|proxy-authorization$|"
                          r"date$|expect$|forwarded$|from$|pragma$|prefer$|priority$|range$|referer$|te$|traceparent$|"
                          r"tracestate$|baggage$|upgrade$|user-agent$|via$|x-forwarded-for$", re.IGNORECASE)


def drops_underscores(environ: WSGIEnvironment) -> bool:
    """Whether the server is known to drop them. Clients cannot set SERVER_SOFTWARE."""
    matched = _NAME_AND_VERSION.match(environ.get("SERVER_SOFTWARE", ""))
    since = _DROPPING.get(matched[1].lower()) if matched else None
    if matched is None or since is None:
        return False
    return (int(matched[2] or 0), int(matched[3] or 0)) >= since


def apart(name: str, value: str) -> list[str]:
    """Splits a header that the server joined by commas. Weir trusts no duplicate identity, so an identity with a comma
    is not trusted: a repeated header and a comma in the value look the same here."""
    if "," not in value or _WITH_COMMAS.match(name):
        return [value]
    return [one.strip() for one in value.split(",")]
