// Reads a RateLimitRequest and writes a RateLimitResponse: with Weir's code, and with Google's library on an
// arena.
#include <benchmark/benchmark.h>
#include <envoy/service/ratelimit/v3/rls.pb.h>
#include <google/protobuf/arena.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include "wire/rls.h"

namespace {

namespace stock = envoy::service::ratelimit::v3;
namespace ours = weir::wire::rls;

constexpr std::array<std::pair<const char*, const char*>, 5> fields{{{"ratelimit-policy", "\"per-user\";q=100;w=60"},
                                                                     {"ratelimit", "\"per-user\";r=99;t=60"},
                                                                     {"x-ratelimit-limit", "100"},
                                                                     {"x-ratelimit-remaining", "99"},
                                                                     {"x-ratelimit-reset", "60"}}};

std::string request_bytes() {
  stock::RateLimitRequest request;
  request.set_domain("messaging");
  for (const auto& [key, value] : {std::pair{"to_number", "4915112345678"}, {"message_type", "marketing"}}) {
    auto* const entry = request.add_descriptors()->add_entries();
    entry->set_key(key);
    entry->set_value(value);
  }
  return request.SerializeAsString();
}

void read_ours(benchmark::State& state) {
  const std::string bytes = request_bytes();
  ours::RateLimitRequest request;
  for (auto _ : state) benchmark::DoNotOptimize(request.read(bytes));
}

void read_stock(benchmark::State& state) {
  const std::string bytes = request_bytes();
  std::array<char, 8192> room;
  google::protobuf::Arena arena(room.data(), room.size());
  for (auto _ : state) {
    auto* const request = google::protobuf::Arena::CreateMessage<stock::RateLimitRequest>(&arena);
    benchmark::DoNotOptimize(request->ParseFromString(bytes));
    arena.Reset();
  }
}

void write_ours(benchmark::State& state) {
  std::string out;
  for (auto _ : state) {
    out.clear();
    ours::RateLimitResponse response(out, ours::Code::ok);
    for (int i = 0; i < 2; ++i) {
      response.status({.code = ours::Code::ok,
                       .current_limit = ours::CurrentLimit{{100, ours::Unit::minute}, "per-user"},
                       .limit_remaining = 99,
                       .duration_until_reset = std::chrono::seconds(60)});
    }
    for (const auto& [name, value] : fields) response.response_header(name, value);
    benchmark::DoNotOptimize(out.data());
  }
}

void write_stock(benchmark::State& state) {
  std::array<char, 8192> room;
  google::protobuf::Arena arena(room.data(), room.size());
  std::string out;
  for (auto _ : state) {
    auto* const response = google::protobuf::Arena::CreateMessage<stock::RateLimitResponse>(&arena);
    response->set_overall_code(stock::RateLimitResponse::OK);
    for (int i = 0; i < 2; ++i) {
      auto* const status = response->add_statuses();
      status->set_code(stock::RateLimitResponse::OK);
      status->mutable_current_limit()->set_requests_per_unit(100);
      status->mutable_current_limit()->set_unit(stock::RateLimitResponse::RateLimit::MINUTE);
      status->mutable_current_limit()->set_name("per-user");
      status->set_limit_remaining(99);
      status->mutable_duration_until_reset()->set_seconds(60);
    }
    for (const auto& [name, value] : fields) {
      auto* const field = response->add_response_headers_to_add();
      field->set_key(name);
      field->set_value(value);
    }
    benchmark::DoNotOptimize(response->SerializeToString(&out));
    arena.Reset();
  }
}

BENCHMARK(read_ours)->Name("rls/read_request/weir");
BENCHMARK(read_stock)->Name("rls/read_request/protobuf_arena");
BENCHMARK(write_ours)->Name("rls/write_response/weir");
BENCHMARK(write_stock)->Name("rls/write_response/protobuf_arena");

}  // namespace

BENCHMARK_MAIN();
