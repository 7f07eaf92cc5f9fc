"""Requests that a hostile client can send: several thousand, the same ones each time.

Each is written for HTTP/1.1, and for HTTP/2 if HTTP/2 can express it. A proxy may reject some of them by itself; it
must ask Weir about all others.
"""

import dataclasses

BYTES = [bytes([value]) for value in range(256)]

# The client headers that a policy, a descriptor or a proxy may read.
READ = [b"X-Forwarded-For", b"X-Api-Key", b"X-User-Id", b"Authorization", b"Host", b"Forwarded", b"Cookie"]

# These include the bounds of proxies and of Weir, and sizes slightly above and below: 8, 16, 32, 60 and 64 KiB.
LENGTHS = [100, 1_000, 4_000, 7_000, 8_000, 8_170, 8_192, 8_300, 12_000, 14_000, 15_000, 15_200, 15_250, 15_280, 15_300,
           15_320, 15_350, 15_400, 15_500, 16_000, 16_300, 16_384, 16_500, 20_000, 25_000, 30_000, 32_500, 32_768,
           33_000, 40_000, 50 * 1024, 58_000, 60_000, 61_000, 64_000, 66_000]
LONGEST = [100_000, 128 * 1024, 140_000, 300_000, 700_000, 1_000_000, 1_100_000]  # Caddy accepts 1 MiB

TARGETS = [
    b"*", b"", b"/", b"//", b"///", b"/.", b"/..", b"/../..", b"//shop.example.com/", b"//other/orders/1", b"orders",
    b"?", b"?x", b"#", b"/#x", b"/?#", b"/%", b"/%2", b"/%zz", b"/%00", b"/%0d%0aX-Api-Key:%20x", b"/%2f", b"/%2F%2f",
    b"/a%2fb", b"/%2e%2e/%2e", b"/%23/..", b"/a%23/../orders/1", b"/orders%3f/1", b"/a;b", b"/;", b"/a;x=1/b",
    b"/a;%2f..%2forders/1", b"\\", b"/\\", b"/a\\..\\b", b"/%5c", b"/%5c..%5corders", b"/.%2e/", b"/%252e%252e/a",
    b"/orders/1/.", b"/orders//1", b"/ORDERS/1", b"/orders/1" + b"/." * 70, b"/orders/1" + b"/x/.." * 70, b"/" * 300,
    b"/a" * 1000, b"/%c0%ae%c0%ae/", b"/%ff", b"/%e2%80%ae", b"/a?b?c?d", b"/a&b", b"/a=b", b"/a'b", b'/a"b', b"/a<b>",
    b"/a|b", b"/a^b", b"/a`b", b"/{id}", b"/$request_uri", b"/${uri}", b"/%25%7bx%7d", b"/{http.request.uri}", b"/a,b",
    b"/a@b", b"/a:b", b":80/", b"/weir", b"/v1/auth", b"/v1/auth/", b"/v1/check", b"/healthz", b"/@open",
    b"http://shop.example.com/", b"http://shop.example.com", b"http://shop.example.com:80/a?b", b"http:///a",
    b"http://", b"https://shop.example.com/", b"HTTP://SHOP/", b"http://user:word@shop/", b"ftp://shop/a",
    b"http://[::1]/", b"http://shop/%23/../orders/1", b"http://a/http://b/c", b"ws://shop/", b"urn:a:b",
    b"shop.example.com:443", b"127.0.0.1:1",
]

METHODS = [
    b"CONNECT", b"OPTIONS", b"TRACE", b"TRACK", b"DELETE", b"PATCH", b"PUT", b"HEAD", b"POST", b"PRI", b"PURGE",
    b"MOVE", b"COPY", b"LOCK", b"M-SEARCH", b"PROPFIND", b"REPORT", b"QUERY", b"get", b"Get", b"gET", b"GETT", b"G",
    b"G.T", b"0", b"-", b"!#$%&'*+-.^_`|~", b"DEBUG", b"BASELINE-CONTROL", b"VERSION-CONTROL", b"MKCALENDAR",
    b"UPDATEREDIRECTREF",
]

# Lists of headers that are duplicated, contradict each other, or have a meaning for a proxy.
HEADERS = [
    [(b"Forwarded", b"for=192.0.2.1"), (b"X-Forwarded-For", b"192.0.2.2")],
    [(b"Forwarded", b"for=127.0.0.1"), (b"X-Forwarded-For", b"127.0.0.1")],
    [(b"Forwarded", b"for=_hidden"), (b"X-Forwarded-For", b"10.0.0.1, 192.0.2.2")],
    [(b"Forwarded", b'for="[2001:db8::1]:80";by=127.0.0.1;host=a;proto=https')],
    [(b"Forwarded", b"for=192.0.2.1, for=127.0.0.1")], [(b"Forwarded", b"for=192.0.2.1;for=192.0.2.2")],
    [(b"Forwarded", b'for="192.0.2.1')], [(b"Forwarded", b"for=")], [(b"Forwarded", b"")], [(b"Forwarded", b";;,,;=")],
    [(b"Forwarded", b"for=192.0.2.1"), (b"Forwarded", b"for=192.0.2.2")], [(b"forwarded", b"FOR=192.0.2.1")],
    [(b"X-Forwarded-For", b"")], [(b"X-Forwarded-For", b",")], [(b"X-Forwarded-For", b", ,, ,")],
    [(b"X-Forwarded-For", b"unknown")], [(b"X-Forwarded-For", b"127.0.0.1")], [(b"X-Forwarded-For", b"::1")],
    [(b"X-Forwarded-For", b"::ffff:127.0.0.1")], [(b"X-Forwarded-For", b"192.0.2.1:80")],
    [(b"X-Forwarded-For", b"[2001:db8::1]:80")], [(b"X-Forwarded-For", b"192.0.2.1,127.0.0.1,127.0.0.1")],
    [(b"X-Forwarded-For", b"999.0.0.1")], [(b"X-Forwarded-For", b"0x7f.1")], [(b"X-Forwarded-For", b"fe80::1%eth0")],
    [(b"X-Forwarded-For", b"192.0.2.1 192.0.2.2")], [(b"X-Forwarded-For", b"192.0.2.1;192.0.2.2")],
    [(b"X-Forwarded-For", b"192.0.2.1"), (b"X-Forwarded-For", b"192.0.2.2")],
    [(b"X-Forwarded-For", b"192.0.2.1"), (b"x-forwarded-for", b"127.0.0.1"), (b"X-FORWARDED-FOR", b"")],
    [(b"X-Forwarded-For", b", ".join(b"192.0.2.%d" % n for n in range(250)))], [(b"X_Forwarded_For", b"192.0.2.1")],
    [(b"X-Real-IP", b"192.0.2.1")], [(b"X-Envoy-External-Address", b"192.0.2.1")], [(b"X-Envoy-Original-Path", b"/")],
    [(b"X-Envoy-Internal", b"true")], [(b"X-Envoy-Force-Trace", b"1")], [(b"X-Envoy-Upstream-Rq-Timeout-Ms", b"1")],
    [(b"X-Envoy-Expected-Rq-Timeout-Ms", b"1")], [(b"X-Envoy-Max-Retries", b"5"), (b"X-Envoy-Retry-On", b"5xx")],
    [(b"X-Envoy-Hedge-On-Per-Try-Timeout", b"true")], [(b"X-Original-URI", b"/free")],
    [(b"X-Original-URI", b"/a"), (b"X-Original-URI", b"/b")], [(b"X-Original-Method", b"HEAD")],
    [(b"X-Original-Method", b"")], [(b"X-Original-Url", b"/free")], [(b"X-Forwarded-Uri", b"/free")],
    [(b"X-Forwarded-Uri", b"/a"), (b"X-Forwarded-Uri", b"/b")], [(b"X-Forwarded-Uri", b"\xff")],
    [(b"X-Forwarded-Method", b"")], [(b"X-Forwarded-Method", b"A" * 64)],
    [(b"X-Forwarded-Method", b"GET"), (b"X-Forwarded-Method", b"PUT")], [(b"X-Forwarded-Proto", b"\xff")],
    [(b"X-Forwarded-Host", b"a"), (b"X-Forwarded-Host", b"b")], [(b"X-Rewrite-URL", b"/free")],
    [(b"X-HTTP-Method-Override", b"HEAD")], [(b"X-Weir-Token", b"x")],
    [(b"X-Weir-Token", b"a"), (b"X-Weir-Token", b"b")], [(b"X-User-Id", b"alice")],
    [(b"X-User-Id", b"a"), (b"X-User-Id", b"b")], [(b"X-User-Id", b"")], [(b"X_User_Id", b"a")],
    [(b"X-Api-Key", b"a"), (b"X-Api-Key", b"b")], [(b"X-Api-Key", b"")], [(b"X-Api-Key", b"a"), (b"x-api-key", b"")],
    [(b"X-Plan", b"enterprise")], [(b"X-Plan", b"unlimited"), (b"X-Plan", b"internal")], [(b"X-Cost", b"0")],
    [(b"Authorization", b"Basic !")], [(b"Authorization", b"Bearer a"), (b"Authorization", b"Bearer b")],
    [(b"Cookie", b"a=b"), (b"Cookie", b"c=d")], [(b"Cookie", b"; ;=;")], [(b"Origin", b"http://evil.example")],
    [(b"Origin", b"null"), (b"Access-Control-Request-Method", b"PUT")], [(b"Host", b"a"), (b"Host", b"b")],
    [(b"Host", b"")], [(b"Host", b"a:b:c")], [(b"Host", b"[::1")], [(b"Host", b"a b")], [(b"Host", b"localhost:0")],
    [(b"Host", b"a/b")], [(b"Host", b"user@a")], [(b"Host", b"A" * 300)], [(b"Host", b"127.0.0.1:8089")],
    [(b"Range", b"bytes=0-,0-,0-")], [(b"If-None-Match", b"*")], [(b"If-Modified-Since", b"x")],
    [(b"Accept-Encoding", b"gzip;q=x")], [(b"TE", b"trailers")], [(b"TE", b"chunked, deflate;q=9")],
    [(b"Via", b"1.1 a")], [(b"Max-Forwards", b"0")], [(b"Content-Type", b"application/grpc")],
    [(b"grpc-timeout", b"1n")], [(b"Content-Encoding", b"gzip")], [(b"Content-Type", b"\xff")],
    [(b"Grpc-Encoding", b"gzip")], [(b"X-Accel-Redirect", b"/")], [(b"Date", b"x")], [(b"Trailer", b"X-Api-Key")],
    [(b"Priority", b"u=9")], [(b"Traceparent", b"\xff")], [(b"Tracestate", b"x" * 600)], [(b"X-Request-Id", b"\xff")],
    [(b"B3", b"0")],
]

# Only for HTTP/1.1: complete headers and the body after them. True means that more is announced but does not arrive.
FRAMING = [
    ([(b"Transfer-Encoding", b"chunked")], b"3\r\nabc\r\n0\r\n\r\n", False),
    ([(b"Transfer-Encoding", b"chunked")], b"3;x=\xff\r\nabc\r\n0\r\nX-Api-Key: late\r\n\r\n", False),
    ([(b"Transfer-Encoding", b"chunked")], b"zz\r\n", False), ([(b"Transfer-Encoding", b"chunked")], b"3\r\nab", True),
    ([(b"Transfer-Encoding", b"CHUNKED")], b"0\r\n\r\n", False), ([(b"Transfer-Encoding", b"")], b"", False),
    ([(b"Transfer-Encoding", b"chunked, chunked")], b"0\r\n\r\n", False),
    ([(b"Transfer-Encoding", b"gzip, chunked")], b"0\r\n\r\n", False), ([(b"Transfer-Encoding", b"gzip")], b"x", False),
    ([(b"Transfer-Encoding", b"identity")], b"", False), ([(b"Transfer-Encoding", b"xchunked")], b"", False),
    ([(b"Transfer-Encoding", b"\xff")], b"", False),
    ([(b"Transfer-Encoding", b"chunked"), (b"Transfer-Encoding", b"identity")], b"0\r\n\r\n", False),
    ([(b"Transfer-Encoding", b"chunked"), (b"Content-Length", b"3")], b"0\r\n\r\n", False),
    ([(b"Content-Length", b"5"), (b"Transfer-Encoding", b"chunked")], b"0\r\n\r\nGET /second HTTP/1.1\r\n\r\n", False),
    ([(b"Content-Length", b"0")], b"GET /second HTTP/1.1\r\nHost: shop.example.com\r\n\r\n" * 3, True),
    ([(b"Transfer_Encoding", b"chunked")], b"", False), ([(b"Transfer-Encoding ", b"chunked")], b"0\r\n\r\n", False),
    ([(b"Content-Length", b"3")], b"abc", False),
    ([(b"Content-Length", b"3"), (b"Content-Length", b"3")], b"abc", False),
    ([(b"Content-Length", b"3"), (b"Content-Length", b"4")], b"abcd", False),
    ([(b"Content-Length", b"3, 3")], b"abc", False), ([(b"Content-Length", b"+3")], b"abc", False),
    ([(b"Content-Length", b"-1")], b"", False), ([(b"Content-Length", b"0x3")], b"abc", False),
    ([(b"Content-Length", b"")], b"", False), ([(b"Content-Length", b"18446744073709551616")], b"", False),
    ([(b"Content-Length", b"9223372036854775807")], b"", True), ([(b"Content-Length", b"10")], b"abc", True),
    ([(b"Content-Length", b"000003")], b"abc", False),
    ([(b"Expect", b"100-continue"), (b"Content-Length", b"3")], b"abc", False),
    ([(b"Expect", b"100-continue"), (b"Content-Length", b"3")], b"", True), ([(b"Expect", b"200-ok")], b"", False),
    ([(b"Expect", b"100-continue")], b"", False), ([(b"Expect", b"")], b"", False),
    ([(b"Expect", b"\xff")], b"", False), ([(b"Upgrade", b"websocket"), (b"Connection", b"Upgrade")], b"", False),
    ([(b"Upgrade", b"h2c"), (b"Connection", b"Upgrade, HTTP2-Settings"), (b"HTTP2-Settings", b"AAMAAABkAAQAAP__")],
     b"", False),
    ([(b"Upgrade", b"TLS/1.0"), (b"Connection", b"Upgrade")], b"", False), ([(b"Upgrade", b"x")], b"", False),
    ([(b"Connection", b"X-Forwarded-For")], b"", False),
    ([(b"Connection", b"X-Api-Key, X-Original-URI, Host")], b"", False),
    ([(b"Connection", b"close, X-Forwarded-For, X-Forwarded-Uri, X-Forwarded-Method")], b"", False),
    ([(b"Connection", b"keep-alive, close")], b"", False), ([(b"Connection", b"")], b"", False),
    ([(b"Connection", b"\xff")], b"", False), ([(b"Keep-Alive", b"timeout=0")], b"", False),
    ([(b"Proxy-Connection", b"keep-alive")], b"", False), ([(b"Connection", b"x"), (b"Connection", b"y")], b"", False),
    ([(b"X-Api-Key", b"a\r\n folded")], b"", False), ([(b"X-Api-Key", b"a\n\tfolded")], b"", False),
    ([(b"X-Api-Key ", b"blank")], b"", False), ([(b" X-Api-Key", b"blank")], b"", False),
    ([(b"", b"nameless")], b"", False), ([(b"X-Api-Key", b"\t\x0b \x0c")], b"", False),
    ([(b"X-Api-Key", b"a\rb")], b"", False),
]

# Complete request lines.
LINES = [
    b"GET / HTTP/1.0", b"GET / HTTP/1.2", b"GET / HTTP/2.0", b"GET / HTTP/0.9", b"GET / HTTP/9.9", b"GET /", b"GET",
    b"GET / http/1.1", b"GET / HTTP/1.1 ", b"GET  / HTTP/1.1", b" GET / HTTP/1.1", b"GET\t/\tHTTP/1.1",
    b"GET / x HTTP/1.1", b"GET / HTTP/01.1", b"GET / HTTP/1.10", b"GET / HTTP/1,1", b"GET / HTTP/",
    b"\r\nGET / HTTP/1.1", b"\nGET / HTTP/1.1", b"\r\n\r\nGET / HTTP/1.1", b"\xef\xbb\xbfGET / HTTP/1.1",
    b"GET / HTTP/1.1\r", b"GET / HTTP/1.1\n", b"/ HTTP/1.1", b"POST /orders/1 HTTP/1.0", b"CONNECT shop:443 HTTP/1.1",
    b"CONNECT / HTTP/1.1", b"OPTIONS * HTTP/1.1",
]


@dataclasses.dataclass(frozen=True)
class Hostile:
    kind: str
    method: bytes = b"GET"
    target: bytes = b"/"
    headers: tuple = ()
    body: bytes = b""
    line: bytes | None = None  # instead of method and target
    is_whole: bool = True      # otherwise a proxy may wait for more of it
    only_http1: bool = False

    def http1(self, number):
        line = self.line if self.line is not None else b" ".join([self.method, self.target, b"HTTP/1.1"])
        headers = [(b"X-Sweep", b"%d" % number), *self.headers]
        if not any(name == b"Host" for name, _ in headers):
            headers.insert(0, (b"Host", b"shop.example.com"))
        return b"\r\n".join([line, *(name + b": " + value for name, value in headers), b"", self.body])

    def http2(self, number):
        """Returns its header list. Host is included as it is, and as :authority."""
        hosts = [value for name, value in self.headers if name == b"Host"]
        return [(b":method", self.method), (b":scheme", b"http"), (b":path", self.target),
                (b":authority", hosts[0] if hosts else b"shop.example.com"), (b"x-sweep", b"%d" % number),
                *((name.lower(), value) for name, value in self.headers)]


def every_byte():
    for byte in BYTES:
        yield Hostile("byte in the path", target=b"/a" + byte + b"z")
        yield Hostile("byte in the query", target=b"/a?b=" + byte + b"z")
        yield Hostile("byte in the method", method=b"GE" + byte + b"T")
        yield Hostile("byte in a header's name", headers=((b"X-" + byte + b"Y", b"z"),))
        for name in READ:
            yield Hostile(f"byte in {name.decode()}", headers=((name, b"a" + byte + b"z"),))
        yield Hostile("byte alone in X-Forwarded-For", headers=((b"X-Forwarded-For", byte),))
        yield Hostile("byte alone in X-Api-Key", headers=((b"X-Api-Key", byte),))


def every_length():
    for length in LENGTHS:
        yield Hostile("long path", target=b"/" + b"a" * length)
        yield Hostile("long path of bytes", target=b"/" + b"\xe9" * length)
        yield Hostile("long path of %", target=b"/" + b"%41" * (length // 3))
        yield Hostile("long query", target=b"/?" + b"a" * length)
        for name in READ:
            yield Hostile(f"long {name.decode()}", headers=((name, b"a" * length),))
        yield Hostile("long address list", headers=((b"X-Forwarded-For", b"192.0.2.1, " * (length // 11) + b"::1"),))
        yield Hostile("long X-Api-Key of bytes", headers=((b"X-Api-Key", b"\xff" * length),))
        yield Hostile("long path and X-Api-Key", target=b"/" + b"a" * (length // 2),
                      headers=((b"X-Api-Key", b"a" * (length // 2)),))
        yield Hostile("long name", headers=((b"X-" + b"a" * length, b"z"),))
        yield Hostile("long body", method=b"POST", headers=((b"Content-Length", b"%d" % length),), body=b"a" * length)
    for length in LONGEST:
        yield Hostile("longest path", target=b"/" + b"a" * length)
        yield Hostile("longest X-Api-Key", headers=((b"X-Api-Key", b"a" * length),))
        yield Hostile("longest Cookie", headers=((b"Cookie", b"a" * length),))
        yield Hostile("longest lines", headers=((b"X-Forwarded-For", b"192.0.2.1, " * 500),) * (length // 5500))
    for count in [10, 50, 90, 95, 97, 99, 100, 101, 102, 120, 200, 240, 256, 260, 1_000]:
        yield Hostile("many headers", headers=tuple((b"X-%d" % n, b"z") for n in range(count)))
        yield Hostile("many X-Api-Key", headers=((b"X-Api-Key", b"z"),) * count)
        yield Hostile("many X-Forwarded-For", headers=((b"X-Forwarded-For", b"192.0.2.1"),) * count)


def every_method():
    for method in METHODS:
        yield Hostile("method", method=method)
        yield Hostile("method of an order", method=method, target=b"/orders/1")
    for length in range(1, 65):
        yield Hostile("long method", method=b"M" * length)


def every_oddity():
    for target in TARGETS:
        yield Hostile("target", target=target)
        yield Hostile("target of a POST", method=b"POST", target=target, headers=((b"Content-Length", b"0"),))
    for headers in HEADERS:
        yield Hostile("headers", headers=tuple(headers))
        yield Hostile("headers of an order", method=b"POST", target=b"/orders/1",
                      headers=(*headers, (b"Content-Length", b"0")))
    for headers, body, is_waiting in FRAMING:
        yield Hostile("framing", b"POST", headers=tuple(headers), body=body, is_whole=not is_waiting, only_http1=True)
    for line in LINES:
        yield Hostile("request line", line=line, is_whole=b" HTTP/" in line, only_http1=True)


ALL = [*every_byte(), *every_length(), *every_method(), *every_oddity()]
