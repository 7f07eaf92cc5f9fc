"""Sends one request at a time in each protocol. Returns whether it is admitted, and the seconds to wait before a retry.
"""

import http.client
import json
import socket
import struct
import time

import clients  # those of bench/instructions
import messages

RLS = "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit"
GUBERNATOR = "/pb.gubernator.V1/GetRateLimits"
THROTTLECRAB = "/throttlecrab.RateLimiter/Throttle"

# The limits of the known sequences: how many at once, and then how many in how many seconds.
LIMITS = {"burst": (20, 20, 3600), "second": (10, 10, 1), "retry": (2, 2, 3)}


class Resp:
    def __init__(self, port, command="CL.THROTTLE"):
        self.socket = socket.create_connection(("127.0.0.1", port), 10)
        self.file = self.socket.makefile("rb")
        self.command = command

    def ask(self, name, key):
        burst, count, period = LIMITS[name]
        # CL.THROTTLE counts what comes beyond the first.
        words = [self.command, key, burst - (self.command == "CL.THROTTLE"), count, period]
        words = [str(word).encode() for word in words]
        self.socket.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words))
        head = self.file.readline()
        if head != b"*5\r\n":
            raise SystemExit(f"peers: {head!r}")
        numbers = [int(self.file.readline()[1:]) for _ in range(5)]
        if self.command == "CL.THROTTLE":
            return numbers[0] == 0, numbers[3]
        return numbers[0] == 1, numbers[4]


class Http:
    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)

    def post(self, path, body):
        self.connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        answer = self.connection.getresponse()
        return answer, json.loads(answer.read())


class WeirHttp(Http):
    def ask(self, name, key):
        answer, verdict = self.post("/v1/check", {"path": f"/{name}", "user": key})
        return verdict["admitted"], float(answer.headers.get("Retry-After") or 0)


class ThrottlecrabHttp(Http):
    def ask(self, name, key):
        burst, count, period = LIMITS[name]
        _, verdict = self.post("/throttle", {"key": key, "max_burst": burst, "count_per_period": count,
                                             "period": period})
        return verdict["allowed"], float(verdict["retry_after"])


class GubernatorHttp(Http):
    def ask(self, name, key):
        _, count, period = LIMITS[name]
        _, verdict = self.post("/v1/GetRateLimits", {"requests": [
            {"name": name, "unique_key": key, "hits": 1, "limit": count, "duration": period * 1000}]})
        verdict = verdict["responses"][0]
        return verdict["status"] == "UNDER_LIMIT", int(verdict["reset_time"]) / 1000 - time.time()


class Grpc(clients.RateLimitService):
    path = RLS

    def header(self):
        return super().header().replace(bytes([len(RLS)]) + RLS.encode(), bytes([len(self.path)]) + self.path.encode())

    def request(self, asked):
        self.stream += 2
        message = self.message(*asked)
        return self.frame(self.HEADERS, self.END_HEADERS, self.stream, self.header()) + self.frame(
            self.DATA, self.END_STREAM, self.stream, b"\0" + struct.pack(">I", len(message)) + message)

    def admits(self, answer):
        self.answer = messages.read(answer[5:])
        return True

    def ask(self, name, key):
        self.body = b""
        super().ask([(name, key)])
        return self.verdict(self.answer)


class RateLimitService(Grpc):
    """Weir sends Retry-After; the others send when their window ends."""

    def message(self, name, key):
        return messages.rate_limit_request("edge", (name, key))

    def verdict(self, answer):
        retry = None
        for status in map(messages.read, answer.get(2, [])):
            if 4 in status:
                retry = float(messages.read(status[4][0]).get(1, [0])[0])
        for header in map(messages.read, answer.get(3, [])):
            if header[1][0].lower() == b"retry-after":
                retry = float(header[2][0])
        return answer[1] == [1], retry


class WeirByQuery(RateLimitService):
    def message(self, name, key):
        return messages.rate_limit_request("weir", ("path", f"/{name}"), ("user", key))


class Limitador(RateLimitService):
    def message(self, name, key):
        return messages.rate_limit_request(name, ("user", key))


class Gubernator(Grpc):
    path = GUBERNATOR

    def message(self, name, key):
        _, count, period = LIMITS[name]
        return messages.gubernator_request(name, key, count, period * 1000)

    def verdict(self, answer):
        response = messages.read(answer[1][0])
        return response.get(1, [0]) == [0], response[4][0] / 1000 - time.time()


class Throttlecrab(Grpc):
    path = THROTTLECRAB

    def message(self, name, key):
        return messages.throttlecrab_request(key, *LIMITS[name])

    def verdict(self, answer):
        return answer.get(1, [0]) == [1], float(answer.get(4, [0])[0])
