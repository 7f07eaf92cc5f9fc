"""Google's gRPC client for Python, with code generated from the protos, calls Envoy's rate limit service."""

import importlib
import json
import pathlib
import signal
import sys
import tempfile
import unittest

import grpc
import grpc_tools.protoc
from google.protobuf import descriptor_pool, message_factory
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

import server
import tls_test
from server import PATIENCE, ROOT, Server

POLICY = """
version: 1
limits:
  - {name: orders, routes: ["POST /orders/{id}"], consumer_key: user, algorithm: sliding_window_log, rate: 3/min}
"""
DESCRIPTORS = (ROOT / "examples" / "envoy" / "descriptors.yaml").read_text()
PROTOS = ROOT / "deploy" / "proto"
SERVICE = "envoy.service.ratelimit.v3.RateLimitService"
KUADRANT_SERVICE = "kuadrant.service.ratelimit.v1.RateLimitService"
QUOTA_SERVICE = "envoy.service.rate_limit_quota.v3.RateLimitQuotaService"
ORDER = {"method": "POST", "path": "/orders/1", "user": "alice"}
TOKEN = "0123456789abcdef" * 2


def setUpModule():
    global rls, rls_grpc, kuadrant_grpc
    folder = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(folder.cleanup)
    files = [str(file.relative_to(PROTOS)) for whose in ("envoy", "kuadrant")
             for file in (PROTOS / whose).rglob("*.proto")]
    well_known = pathlib.Path(grpc_tools.protoc.__file__).parent / "_proto"
    code = grpc_tools.protoc.main(["protoc", f"-I{PROTOS}", f"-I{well_known}", f"--python_out={folder.name}",
                                   f"--grpc_python_out={folder.name}", *files])
    if code != 0:
        raise AssertionError(f"protoc ended with {code}")
    (pathlib.Path(folder.name) / "envoy" / "__init__.py").touch()  # hides the package that contains Envoy
    sys.path.insert(0, folder.name)
    rls = importlib.import_module("envoy.service.ratelimit.v3.rls_pb2")
    rls_grpc = importlib.import_module("envoy.service.ratelimit.v3.rls_pb2_grpc")
    kuadrant_grpc = importlib.import_module("kuadrant.service.ratelimit.v1.ratelimit_pb2_grpc")


def request(*descriptors, domain="weir", hits=0):
    return rls.RateLimitRequest(domain=domain, hits_addend=hits, descriptors=[
        {"entries": [{"key": key, "value": value} for key, value in entries.items()]} for entries in descriptors])


class GrpcTest(unittest.TestCase):
    def start(self, policy=POLICY, config=server.LISTENERS, directory=None):
        self.weir = self.enterContext(Server(policy, config, directory))
        self.channel = self.enterContext(grpc.insecure_channel(self.place))
        self.service = rls_grpc.RateLimitServiceStub(self.channel)

    @property
    def place(self):
        return "{}:{}".format(*self.weir.rls)

    def ask(self, *descriptors, domain="weir", hits=0, **options):
        return self.service.ShouldRateLimit(request(*descriptors, domain=domain, hits=hits),
                                            **{"timeout": PATIENCE, **options})

    def assert_fails(self, code, call, *arguments, **options):
        with self.assertRaises(grpc.RpcError) as caught:
            call(*arguments, **options)
        self.assertEqual(caught.exception.code(), code, caught.exception.details())
        return caught.exception.details()


class ByPolicy(GrpcTest):
    def setUp(self):
        self.start()

    def test_admitted_then_denied(self):
        for left in 2, 1, 0:
            answer = self.ask(ORDER)
            self.assertEqual(answer.overall_code, rls.RateLimitResponse.OK)
            status, = answer.statuses
            self.assertEqual((status.limit_remaining, status.current_limit.name), (left, "orders"))
            self.assertEqual((status.current_limit.requests_per_unit, status.current_limit.unit),
                             (3, rls.RateLimitResponse.RateLimit.MINUTE))
            self.assertIn(status.duration_until_reset.seconds, range(61))
        answer = self.ask(ORDER)
        self.assertEqual(answer.overall_code, rls.RateLimitResponse.OVER_LIMIT)
        headers = {header.key.lower(): header.value for header in answer.response_headers_to_add}
        self.assertIn(int(headers["retry-after"]), range(1, 61))
        self.assertEqual(headers["content-type"], "application/problem+json")
        self.assertEqual(json.loads(answer.raw_body)["violated-policies"], ["orders"])

    def test_hits(self):
        self.assertEqual(self.ask(ORDER, hits=3).statuses[0].limit_remaining, 0)
        self.assertEqual(self.ask(ORDER).overall_code, rls.RateLimitResponse.OVER_LIMIT)

    def test_many_calls_at_a_time(self):
        calls = [self.service.ShouldRateLimit.future(request({**ORDER, "user": f"user {i % 100}"}), timeout=PATIENCE)
                 for i in range(500)]
        codes = [call.result().overall_code for call in calls]
        self.assertEqual(codes.count(rls.RateLimitResponse.OK), 300)
        self.assertEqual(codes.count(rls.RateLimitResponse.OVER_LIMIT), 200)

    def test_what_cannot_be_evaluated(self):
        invalid = grpc.StatusCode.INVALID_ARGUMENT
        self.assertIn("domain", self.assert_fails(invalid, self.ask, ORDER, domain=""))
        self.assertIn("descriptor", self.assert_fails(invalid, self.ask))

    def test_unknown_methods(self):
        for path in f"/{SERVICE}/ShouldNotRateLimit", "/no.such.Service/Method":
            call = self.channel.unary_unary(path)
            self.assert_fails(grpc.StatusCode.UNIMPLEMENTED, call, b"", timeout=PATIENCE)
        self.assertEqual(self.ask(ORDER).overall_code, rls.RateLimitResponse.OK)

    def test_a_message_that_is_too_long(self):
        self.assertEqual(self.ask({**ORDER, "x-long": "x" * 1_000_000}).overall_code, rls.RateLimitResponse.OK)
        answer = self.ask({**ORDER, "x-long": "x" * 2_000_000})
        self.assertEqual((answer.overall_code, len(answer.statuses)), (rls.RateLimitResponse.OVER_LIMIT, 0))
        self.assertEqual(json.loads(answer.raw_body)["status"], 429)
        self.assertEqual(self.ask(ORDER).statuses[0].limit_remaining, 1, "it was not charged")

    def test_a_compressed_message(self):
        self.assert_fails(grpc.StatusCode.UNIMPLEMENTED, self.ask, {**ORDER, "x-long": "x" * 10_000},
                          compression=grpc.Compression.Gzip)
        self.assertEqual(self.ask(ORDER).overall_code, rls.RateLimitResponse.OK)


class Kuadrant(GrpcTest):
    """Calls like Kuadrant's filter: a check on the way in, a report at the end."""

    def start(self, *arguments):
        super().start(*arguments)
        self.kuadrant = kuadrant_grpc.RateLimitServiceStub(self.channel)

    def check(self, *descriptors, **options):
        return self.kuadrant.CheckRateLimit(request(*descriptors, **options), timeout=PATIENCE).overall_code

    def report(self, *descriptors, **options):
        return self.kuadrant.Report(request(*descriptors, **options), timeout=PATIENCE).overall_code

    def test_a_check_charges_nothing_and_a_report_what_was_used(self):
        ok, over = rls.RateLimitResponse.OK, rls.RateLimitResponse.OVER_LIMIT
        for policy, domain, asked in [(POLICY, "weir", ORDER), (DESCRIPTORS, "shop", {"remote_address": "192.0.2.7"})]:
            with self.subTest(domain):
                self.start(policy)
                self.assertEqual([self.check(asked, domain=domain) for _ in range(20)], [ok] * 20)
                self.assertEqual(self.report(asked, domain=domain, hits=2), ok)
                self.assertEqual(self.check(asked, domain=domain), ok)
                self.assertEqual(self.report(asked, domain=domain, hits=100), ok, "it has been used")
                self.assertEqual(self.check(asked, domain=domain), over)
                self.assertEqual(self.ask(asked, domain=domain).overall_code, over, "the same counters")

    def test_limits_that_the_call_brings_along(self):
        self.start(DESCRIPTORS)
        asked = request({"user": "alice"}, domain="shop", hits=5)
        asked.descriptors[0].limit.requests_per_unit = 5
        asked.descriptors[0].limit.unit = 4  # a day
        for method, code in [("CheckRateLimit", rls.RateLimitResponse.OK), ("Report", rls.RateLimitResponse.OK),
                             ("CheckRateLimit", rls.RateLimitResponse.OVER_LIMIT)]:
            self.assertEqual(getattr(self.kuadrant, method)(asked, timeout=PATIENCE).overall_code, code)

    def test_unknown_methods(self):
        self.start(POLICY)
        call = self.channel.unary_unary(f"/{KUADRANT_SERVICE}/Reserve")
        self.assert_fails(grpc.StatusCode.UNIMPLEMENTED, call, b"", timeout=PATIENCE)


class ByDescriptors(GrpcTest):
    def test_what_a_denied_call_charges(self):
        both = {"remote_address": "192.0.2.7"}, {"method": "POST", "remote_address": "192.0.2.7"}
        for config, left in [("", 6), ("domains: {shop: {denied: charge_all}}\n", 4)]:
            with self.subTest(config):
                self.start(DESCRIPTORS, server.LISTENERS + config)
                codes = [self.ask(*both, domain="shop").overall_code for _ in range(5)]
                self.assertEqual(codes.count(rls.RateLimitResponse.OVER_LIMIT), 2)
                self.assertEqual(self.ask(both[0], domain="shop").statuses[0].limit_remaining, left)

    def test_statuses_are_in_the_order_of_the_descriptors(self):
        self.start(DESCRIPTORS)
        asked = {"remote_address": "192.0.2.7"}, {"no": "limit"}, {"method": "POST", "remote_address": "192.0.2.7"}
        for _ in range(3):
            self.assertEqual(self.ask(*asked, domain="shop").overall_code, rls.RateLimitResponse.OK)
        answer = self.ask(*asked, domain="shop")
        self.assertEqual([(status.current_limit.name, status.code) for status in answer.statuses],
                         [("all-by-address", rls.RateLimitResponse.OK), ("", rls.RateLimitResponse.OK),
                          ("writes-by-address", rls.RateLimitResponse.OVER_LIMIT)])
        self.assertEqual(answer.overall_code, rls.RateLimitResponse.OVER_LIMIT)


class Health(GrpcTest):
    def setUp(self):
        self.start()
        self.health = health_pb2_grpc.HealthStub(self.channel)

    def test_check(self):
        for service in "", "ratelimit", SERVICE, KUADRANT_SERVICE:
            answer = self.health.Check(health_pb2.HealthCheckRequest(service=service), timeout=PATIENCE)
            self.assertEqual(answer.status, health_pb2.HealthCheckResponse.SERVING, service)
        self.assert_fails(grpc.StatusCode.NOT_FOUND, self.health.Check, health_pb2.HealthCheckRequest(service="other"),
                          timeout=PATIENCE)

    def test_watch_tells_of_the_end(self):
        watched = self.health.Watch(health_pb2.HealthCheckRequest(), timeout=PATIENCE)
        self.assertEqual(next(watched).status, health_pb2.HealthCheckResponse.SERVING)
        self.weir.signal(signal.SIGTERM)
        self.assertEqual(next(watched).status, health_pb2.HealthCheckResponse.NOT_SERVING)
        self.assert_fails(grpc.StatusCode.UNAVAILABLE, next, watched)

    def test_a_deadline_ends_a_watch_and_nothing_else(self):
        others = self.health.Watch(health_pb2.HealthCheckRequest(), timeout=PATIENCE)
        self.assertEqual(next(others).status, health_pb2.HealthCheckResponse.SERVING)
        watched = self.health.Watch(health_pb2.HealthCheckRequest(), timeout=0.5)
        self.assert_fails(grpc.StatusCode.DEADLINE_EXCEEDED, list, watched)
        self.assertEqual(self.ask(ORDER).overall_code, rls.RateLimitResponse.OK)
        self.assertTrue(others.is_active())


class Reflection(GrpcTest):
    def setUp(self):
        self.start()
        self.reflected = ProtoReflectionDescriptorDatabase(self.channel)

    def test_services_are_listed(self):
        listed = self.reflected.get_services()
        self.assertLessEqual({SERVICE, KUADRANT_SERVICE, QUOTA_SERVICE, "grpc.health.v1.Health"}, set(listed))

    def test_a_client_without_protos_can_ask(self):
        method = descriptor_pool.DescriptorPool(self.reflected).FindServiceByName(SERVICE).methods_by_name[
            "ShouldRateLimit"]
        asked, answered = (message_factory.GetMessageClass(kind) for kind in (method.input_type, method.output_type))
        call = self.channel.unary_unary(f"/{SERVICE}/ShouldRateLimit", asked.SerializeToString, answered.FromString)
        answer = call(asked.FromString(request(ORDER).SerializeToString()), timeout=PATIENCE)
        self.assertEqual((answer.overall_code, answer.statuses[0].limit_remaining), (1, 2))


class Access(GrpcTest):
    def folder(self):
        return pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def with_rls(self, settings):
        return server.LISTENERS.replace('rls: {listen: "127.0.0.1:0"}', f'rls: {{listen: "127.0.0.1:0", {settings}}}')

    def test_by_token(self):
        folder = self.folder()
        (folder / "token").write_text(TOKEN + "\n")
        (folder / "token").chmod(0o600)
        self.start(config=self.with_rls("token_file: token"), directory=folder)
        for metadata in ("x-weir-token", TOKEN), ("authorization", f"Bearer {TOKEN}"):
            self.assertEqual(self.ask(ORDER, metadata=[metadata]).overall_code, rls.RateLimitResponse.OK)
        for metadata in [], [("x-weir-token", TOKEN[:-1])], [("authorization", TOKEN)]:
            self.assert_fails(grpc.StatusCode.UNAUTHENTICATED, self.ask, ORDER, metadata=metadata)

    def test_by_certificate(self):
        folder = self.folder()
        for ca in "ca", "other-ca":
            tls_test.make_ca(folder, ca)
        for name, ca in ("server", "ca"), ("client", "ca"), ("stranger", "other-ca"):
            tls_test.make_certificate(folder, name, ca)
        self.start(config=self.with_rls("tls: {certificate: server.crt, key: server.key, client_ca: ca.crt}"),
                   directory=folder)

        def ask_as(name):
            shown = [(folder / f"{name}.{end}").read_bytes() for end in ("key", "crt")] if name else [None, None]
            trusted = grpc.ssl_channel_credentials((folder / "ca.crt").read_bytes(), *shown)
            with grpc.secure_channel(self.place, trusted) as channel:
                return rls_grpc.RateLimitServiceStub(channel).ShouldRateLimit(request(ORDER), timeout=PATIENCE)

        self.assertEqual(ask_as("client").overall_code, rls.RateLimitResponse.OK)
        for name in None, "stranger":
            self.assert_fails(grpc.StatusCode.UNAVAILABLE, ask_as, name)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
