// Tests the frontend with gRPC's own client over a real connection.
#include <envoy/service/ratelimit/v3/rls.grpc.pb.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/stubs/logging.h>
#include <grpc/health/v1/health.grpc.pb.h>
#include <grpc/reflection/v1alpha/reflection.grpc.pb.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "frontend/rls/rls_frontend.h"
#include "tests/frontend/context_fixture.h"
#include "tests/net/server.h"

namespace weir::frontend {
namespace {

using envoy::service::ratelimit::v3::RateLimitRequest;
using envoy::service::ratelimit::v3::RateLimitResponse;
using envoy::service::ratelimit::v3::RateLimitService;

constexpr std::string_view policy = R"(
domain: shop
descriptors:
  - key: user
    rate_limit: { unit: minute, requests_per_unit: 3, name: per-user }
)";

RlsOptions with_token(std::string token) {
  RlsOptions options;
  if (!token.empty()) options.token = Token(std::move(token));
  return options;
}

struct StockClient : ContextFixture {
  explicit StockClient(const std::string& token = "")
      : ContextFixture(policy),
        frontend(context, health, with_token(token)),
        server([this](const net::Peer& peer, const net::Link& link) { return frontend.open(peer, link); }),
        channel(grpc::CreateChannel(server.listener->bound().text(), grpc::InsecureChannelCredentials())) {}

  grpc::Status ask(
      const std::string& user, RateLimitResponse& response,
      const std::function<void(grpc::ClientContext&)>& prepare = [](grpc::ClientContext&) {}) {
    RateLimitRequest request;
    request.set_domain("shop");
    auto* const entry = request.add_descriptors()->add_entries();
    entry->set_key("user");
    entry->set_value(user);
    grpc::ClientContext call;
    call.set_deadline(std::chrono::system_clock::now() + net::timeout);
    prepare(call);
    return RateLimitService::NewStub(channel)->ShouldRateLimit(&call, request, &response);
  }

  RlsFrontend frontend;
  net::Server server;
  std::shared_ptr<grpc::Channel> channel;
};

TEST(StockGrpcClient, IsAdmittedAndThenDenied) {
  StockClient client;
  RateLimitResponse response;
  for (std::uint32_t left : {2U, 1U, 0U}) {
    ASSERT_TRUE(client.ask("alice", response).ok());
    EXPECT_EQ(response.overall_code(), RateLimitResponse::OK);
    EXPECT_EQ(response.statuses(0).limit_remaining(), left);
  }
  ASSERT_TRUE(client.ask("alice", response).ok());
  EXPECT_EQ(response.overall_code(), RateLimitResponse::OVER_LIMIT);
  EXPECT_EQ(response.statuses(0).current_limit().name(), "per-user");
  EXPECT_EQ(response.statuses(0).current_limit().unit(), RateLimitResponse::RateLimit::MINUTE);
  EXPECT_FALSE(response.raw_body().empty());
}

TEST(StockGrpcClient, LargeMessagesComeInPieces) {
  StockClient client;
  RateLimitResponse response;
  ASSERT_TRUE(client.ask(std::string(1'000'000, 'u'), response).ok());
  EXPECT_EQ(response.overall_code(), RateLimitResponse::OK);
  ASSERT_TRUE(client.ask(std::string(2'000'000, 'u'), response).ok());
  EXPECT_EQ(response.overall_code(), RateLimitResponse::OVER_LIMIT);
  EXPECT_EQ(response.statuses_size(), 0);
  ASSERT_TRUE(client.ask("alice", response).ok());
  EXPECT_EQ(response.overall_code(), RateLimitResponse::OK);
}

TEST(StockGrpcClient, BytesThatAreNoTextAreEvaluated) {
  google::protobuf::SetLogHandler(nullptr);  // it logs them
  StockClient client;
  RateLimitResponse response;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(client.ask("\xff\xfe", response).ok());
    EXPECT_EQ(response.overall_code(), RateLimitResponse::OK);
  }
  ASSERT_TRUE(client.ask("\xff\xfe", response).ok());
  EXPECT_EQ(response.overall_code(), RateLimitResponse::OVER_LIMIT);
}

TEST(StockGrpcClient, CompressedMessagesAreUnimplemented) {
  StockClient client;
  RateLimitResponse response;
  const auto status = client.ask(std::string(1'000, 'u'), response, [](grpc::ClientContext& context) {
    context.set_compression_algorithm(GRPC_COMPRESS_GZIP);
  });
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED) << status.error_message();
}

TEST(StockGrpcClient, ShowsItsToken) {
  StockClient client("secret");
  RateLimitResponse response;
  EXPECT_EQ(client.ask("alice", response).error_code(), grpc::StatusCode::UNAUTHENTICATED);
  for (const auto& [name, value] : {std::pair{"x-weir-token", "secret"}, {"authorization", "Bearer secret"}}) {
    const auto status = client.ask("alice", response, [&](auto& context) { context.AddMetadata(name, value); });
    EXPECT_TRUE(status.ok()) << status.error_message();
  }
}

TEST(StockGrpcClient, WatchesHealth) {
  using grpc::health::v1::HealthCheckResponse;
  StockClient client;
  const auto stub = grpc::health::v1::Health::NewStub(client.channel);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + net::timeout);
  const auto watch = stub->Watch(&context, {});
  HealthCheckResponse response;
  ASSERT_TRUE(watch->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::SERVING);
  client.health.set_serving(false);
  ASSERT_TRUE(watch->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::NOT_SERVING);
  context.TryCancel();
  EXPECT_EQ(watch->Finish().error_code(), grpc::StatusCode::CANCELLED);
}

TEST(StockGrpcClient, LearnsTheServiceByReflection) {
  namespace reflection = grpc::reflection::v1alpha;
  StockClient client;
  const auto stub = reflection::ServerReflection::NewStub(client.channel);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + net::timeout);
  const auto stream = stub->ServerReflectionInfo(&context);
  google::protobuf::DescriptorPool pool;
  const std::function<void(const reflection::ServerReflectionRequest&)> fetch = [&](const auto& request) {
    ASSERT_TRUE(stream->Write(request));
    reflection::ServerReflectionResponse response;
    ASSERT_TRUE(stream->Read(&response));
    ASSERT_TRUE(response.has_file_descriptor_response()) << response.ShortDebugString();
    google::protobuf::FileDescriptorProto file;
    ASSERT_TRUE(file.ParseFromString(response.file_descriptor_response().file_descriptor_proto(0)));
    for (const std::string& name : file.dependency()) {
      if (pool.FindFileByName(name) != nullptr) continue;
      reflection::ServerReflectionRequest next;
      next.set_file_by_filename(name);
      fetch(next);
    }
    ASSERT_NE(pool.BuildFile(file), nullptr) << file.name();
  };
  reflection::ServerReflectionRequest request;
  request.set_file_containing_symbol("envoy.service.ratelimit.v3.RateLimitService");
  fetch(request);
  const auto* const service = pool.FindServiceByName("envoy.service.ratelimit.v3.RateLimitService");
  ASSERT_NE(service, nullptr);
  EXPECT_NE(service->FindMethodByName("ShouldRateLimit"), nullptr);
  stream->WritesDone();
  EXPECT_TRUE(stream->Finish().ok());
}

TEST(StockGrpcClient, IsLetGoWhenTheServerDrains) {
  StockClient client;
  RateLimitResponse response;
  ASSERT_TRUE(client.ask("alice", response).ok());
  EXPECT_EQ(client.server.listener->drain(net::timeout), 0U);
}

}  // namespace
}  // namespace weir::frontend
