"""The differences between a page and a run of it: the ports, and values that differ in every run."""

import re

# The listeners of weir serve, at the addresses that pages use.
PLACES = {"http": "127.0.0.1:8080", "rls": "127.0.0.1:8081", "resp": "127.0.0.1:6390", "admin": "127.0.0.1:8089"}

VARYING = [
    (r"\r", ""),
    (r"\b\d{4}-\d\d-\d\dT[\d:.]+Z", "TIME"),
    (r"^Date: .*", "Date:"),
    (r"\b[0-9a-f]{16,64}\b", "HASH"),
    (r"Content-Length: \d+", "Content-Length:"),
    (r'"durationUntilReset":"\d+s"', '"durationUntilReset":"s"'),
    (r'"used":\d+', '"used":'),
    (r'"requests":\d+', '"requests":'),
    (r'"receipt":"[^"]+"', '"receipt":""'),
    (r"X-Weir-Receipt: \S+", "X-Weir-Receipt:"),
    (r"\b[\d.]+ [KM]iB of", "memory of"),
    (r"\b(allowed|more|full|expires?) in (at most )?\d+(\.\d+)? (us|ms|s|min|h|d)( \d+ (s|min|h))?", r"\1 in WAIT"),
    (r"in the last \d+ s", "in the last s"),
    (r"(?<![\d.])\d+\.\d+\.\d+(?!\.?\d)", "VERSION"),
    (r"(?<![\d.])\d+\.\d+(?!\.?\d)", "N.N"),  # not an address
]


def without_varying(line):
    for pattern, instead in VARYING:
        line = re.sub(pattern, instead, line)
    return line
