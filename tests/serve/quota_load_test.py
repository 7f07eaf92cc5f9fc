"""One stream with the maximum number of buckets of the quota service, together with ordinary rate limit calls.

The latency of calls is printed but not asserted, because it depends on the machine.
"""

import re
import socket
import struct
import sys
import threading
import time
import unittest

import rls_client
from rls_client import DATA, END_HEADERS, HEADERS, PREFACE, SETTINGS, WINDOW_UPDATE, field, frame, head
from server import PATIENCE, Server, eventually

BUCKETS = 16_384
STREAM_QUOTAS = "/envoy.service.rate_limit_quota.v3.RateLimitQuotaService/StreamRateLimitQuotas"
# A client may choose the path, and so can have any number of buckets.
POLICY = """
version: 1
limits:
  - {name: shared, routes: ["/api/**"], consumer_key: global, algorithm: token_bucket, rate: 1000000/s, burst: 1000000}
"""


def reports(buckets):
    """Returns a RateLimitQuotaUsageReports about this many buckets, as a gRPC message."""
    message = field(1, "weir")
    for number in range(buckets):
        entry = field(1, "path") + field(2, f"/api/{number}")
        message += field(2, field(1, field(1, entry)) + field(2, field(1, 5)) + field(3, 1))
    return b"\x00" + struct.pack(">I", len(message)) + message


class QuotaStream:
    """A stream on its own connection, which sends whatever the test requests."""

    def __init__(self, place):
        self.connection = socket.create_connection(place, timeout=PATIENCE)
        window = struct.pack(">I", 2**30)
        settings = struct.pack(">HI", 4, 2**30)
        self.connection.sendall(PREFACE + frame(SETTINGS, payload=settings) + frame(WINDOW_UPDATE, payload=window) +
                                frame(HEADERS, END_HEADERS, 1, head(STREAM_QUOTAS)))
        self._sent = self._window = 0
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        client = rls_client.RlsClient(self.connection, stream=1)
        try:
            while True:
                kind, _, stream, payload = client.read_frame()
                if kind == WINDOW_UPDATE and stream == 1:
                    self._window += struct.unpack(">I", payload)[0]
        except OSError:
            pass

    def send(self, bytes):
        for at in range(0, len(bytes), 16_384):
            piece = bytes[at:at + 16_384]
            eventually(lambda: self._sent + len(piece) <= self._window + 65_535, "a window of the stream")
            self.connection.sendall(frame(DATA, 0, 1, piece))
            self._sent += len(piece)

    def close(self):
        self.connection.shutdown(socket.SHUT_RDWR)
        self.connection.close()


class Calls:
    """Calls ShouldRateLimit repeatedly, until it ends."""

    def __init__(self, place):
        self.waited = []
        self._ended = False
        self._client = rls_client.connect(place, PATIENCE)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        while not self._ended:
            begun = time.monotonic()
            self._client.ask({"path": "/other"})
            self.waited.append(time.monotonic() - begun)
            time.sleep(0.0005)

    def take_longest(self):
        """Returns the latencies since the last call, in ms."""
        taken, self.waited = self.waited, []
        return 1000 * max(taken)

    def end(self):
        self._ended = True
        self._thread.join(PATIENCE)
        self._client.connection.close()


class ManyBuckets(unittest.TestCase):
    def figure(self, name):
        page = self.weir.ask("GET", "/metrics", listener="admin")[2]
        return int(re.search(rf"^{name} (\d+)$", page, re.MULTILINE)[1])

    def test_calls_are_answered_while_one_stream_has_as_many_as_there_can_be(self):
        self.weir = self.enterContext(Server(POLICY))
        calls = [Calls(self.weir.rls) for _ in range(4)]  # so that each loop has some
        self.addCleanup(lambda: [each.end() for each in calls])
        longest = {}

        def measure(phase):
            eventually(lambda: all(each.waited for each in calls), "calls")
            longest[phase] = max(each.take_longest() for each in calls)

        eventually(lambda: all(len(each.waited) > 100 for each in calls), "calls")
        measure("before")
        stream = QuotaStream(self.weir.rls)
        self.addCleanup(stream.connection.close)
        stream.send(reports(BUCKETS))
        eventually(lambda: self.figure("weir_quota_buckets") == BUCKETS, "all buckets")
        eventually(lambda: self.figure("weir_quota_assignments_total") >= BUCKETS, "an assignment for each")
        measure("first report")
        stream.send(reports(BUCKETS))
        renewed = self.figure("weir_quota_renewals_total")
        eventually(lambda: self.figure("weir_quota_renewals_total") >= renewed + 2 * BUCKETS, "renewals of all")
        measure("renewals")
        stream.close()
        eventually(lambda: self.figure("weir_quota_buckets") == 0, "the release of all buckets")
        measure("close")
        said = ", ".join(f"{phase} {time:.1f} ms" for phase, time in longest.items())
        print(f"\nlongest ShouldRateLimit with a stream of {BUCKETS} buckets: {said}", file=sys.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
