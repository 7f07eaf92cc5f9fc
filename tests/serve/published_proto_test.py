"""deploy/proto/weir.proto, for clients without reflection: it compiles with Debian's protoc and with that of the Python
clients, matches the listener's reflection, and a client generated from it works with the listener."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

import grpc
import grpc_tools
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

from server import PATIENCE, ROOT, Server

PROTOS = ROOT / "deploy" / "proto"
POLICY = """
version: 1
limits:
  - {name: orders, routes: [/orders], consumer_key: user, algorithm: sliding_window_log, rate: 3/min}
"""
RATE_LIMIT, KUADRANT = "envoy.service.ratelimit.v3.RateLimitService", "kuadrant.service.ratelimit.v1.RateLimitService"
HEALTH, QUOTA = "grpc.health.v1.Health", "envoy.service.rate_limit_quota.v3.RateLimitQuotaService"


def compiled(*command):
    """Returns the descriptors of weir.proto and of all its imports, by file."""
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder) / "set"
        subprocess.run([*command, f"-I{PROTOS}", "--include_imports", f"--descriptor_set_out={made}", "weir.proto"], check=True)
        return {file.name: file for file in descriptor_pb2.FileDescriptorSet.FromString(made.read_bytes()).file}


class Published(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        well_known = pathlib.Path(grpc_tools.__file__).parent / "_proto"
        cls.files = compiled(sys.executable, "-m", "grpc_tools.protoc", f"-I{well_known}")
        cls.pool = descriptor_pool.DescriptorPool()
        for file in cls.files.values():  # imported files come first
            cls.pool.Add(file)

    def setUp(self):
        self.weir = self.enterContext(Server(POLICY))
        self.channel = self.enterContext(grpc.insecure_channel("{}:{}".format(*self.weir.rls)))

    def call(self, service, method, **fields):
        found = self.pool.FindServiceByName(service).methods_by_name[method]
        asked, answered = (message_factory.GetMessageClass(kind) for kind in (found.input_type, found.output_type))
        kind = self.channel.stream_stream if found.client_streaming else self.channel.unary_unary
        call = kind(f"/{service}/{method}", asked.SerializeToString, answered.FromString)
        message = asked(**fields)
        return call(iter([message]) if found.client_streaming else message, timeout=PATIENCE)

    def test_it_is_what_the_listener_tells_of_itself(self):
        reflected = ProtoReflectionDescriptorDatabase(self.channel)
        ours = {f"{file.package}.{service.name}" for file in self.files.values() for service in file.service}
        self.assertEqual(ours, set(reflected.get_services()))
        for name, file in self.files.items():
            if name != "weir.proto" and not name.startswith("google/"):
                self.assertEqual(file, reflected.FindFileByName(name), name)

    def test_both_compilers_agree(self):
        self.assertEqual(self.files.keys(), compiled("protoc").keys())

    def test_a_client_made_of_it_is_answered(self):
        entries = [{"key": "path", "value": "/orders"}, {"key": "user", "value": "alice"}]
        query = {"domain": "weir", "descriptors": [{"entries": entries}]}
        for left in 2, 1:
            answer = self.call(RATE_LIMIT, "ShouldRateLimit", **query)
            self.assertEqual((answer.overall_code, answer.statuses[0].limit_remaining), (1, left))
        self.assertEqual(self.call(KUADRANT, "Report", **query, hits_addend=1).overall_code, 1)
        self.assertEqual(self.call(KUADRANT, "CheckRateLimit", **query).overall_code, 2)
        self.assertEqual(self.call(HEALTH, "Check").status, 1)
        usage = {"bucket_id": {"bucket": {"path": "/orders", "user": "bob"}}, "num_requests_allowed": 1}
        stream = self.call(QUOTA, "StreamRateLimitQuotas", domain="weir", bucket_quota_usages=[usage])
        action = next(stream).bucket_action[0]
        self.assertEqual(dict(action.bucket_id.bucket), {"path": "/orders", "user": "bob"})
        for version in "v1", "v1alpha":
            listed = next(self.call(f"grpc.reflection.{version}.ServerReflection", "ServerReflectionInfo", list_services=""))
            self.assertIn(RATE_LIMIT, [service.name for service in listed.list_services_response.service])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
