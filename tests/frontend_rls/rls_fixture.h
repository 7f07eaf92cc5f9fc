// Verbs for tests of the rate limit service frontend.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/rls/rls_frontend.h"
#include "tests/frontend/context_fixture.h"
#include "tests/wire_http2/client.h"
#include "wire/grpc.h"
#include "wire/protobuf.h"

namespace weir::frontend {

inline const std::string should_rate_limit = "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit";
inline const std::string health_check = "/grpc.health.v1.Health/Check";
inline const std::string health_watch = "/grpc.health.v1.Health/Watch";
inline const std::string reflection = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";

// Codes of a RateLimitResponse.
inline constexpr std::uint64_t ok = 1;
inline constexpr std::uint64_t over_limit = 2;

using Entries = std::vector<std::pair<std::string, std::string>>;
using wire::http2::Fields;
using wire::http2::post;
using wire::http2::Reply;

inline std::string framed(std::string_view message) {
  std::string out;
  wire::grpc::append_message(out, [&] { out += message; });
  return out;
}

// Builds a RateLimitRequest as a message in a body.
class Ask {
 public:
  explicit Ask(std::string_view domain) {
    if (!domain.empty()) wire::protobuf::append_bytes(bytes_, 1, domain);
  }
  Ask& descriptor(const Entries& entries) { return descriptor(entries, {}); }
  // `more` has the other fields.
  Ask& descriptor(const Entries& entries, std::string_view more) {
    wire::protobuf::append_message(bytes_, 2, [&] {
      for (const auto& [key, value] : entries) {
        wire::protobuf::append_message(bytes_, 1, [&] {
          wire::protobuf::append_bytes(bytes_, 1, key);
          wire::protobuf::append_bytes(bytes_, 2, value);
        });
      }
      bytes_ += more;
    });
    return *this;
  }
  Ask& hits(std::uint64_t count) {
    wire::protobuf::append_number(bytes_, 3, count);
    return *this;
  }
  [[nodiscard]] std::string body() const { return framed(bytes_); }

 private:
  std::string bytes_;
};

inline std::string hits_field(std::uint64_t hits) {
  std::string out;
  wire::protobuf::append_message(out, 3, [&] { wire::protobuf::append_number(out, 1, hits); });
  return out;
}
inline std::string negative_field() {
  std::string out;
  wire::protobuf::append_number(out, 4, 1);
  return out;
}
inline std::string override_field(std::uint64_t requests, std::uint64_t unit) {
  std::string out;
  wire::protobuf::append_message(out, 2, [&] {
    wire::protobuf::append_number(out, 1, requests);
    wire::protobuf::append_number(out, 2, unit);
  });
  return out;
}

// The fields of a message: numbers and bytes by field number.
struct MessageFields {
  explicit MessageFields(std::string_view message) {
    wire::protobuf::Reader reader(message);
    while (reader.next()) {
      for (std::uint32_t field = 1; field < 10; ++field) {
        if (reader.is(field, wire::protobuf::WireType::varint)) numbers.emplace_back(field, reader.varint());
        if (reader.is(field, wire::protobuf::WireType::bytes)) parts.emplace_back(field, reader.bytes());
      }
    }
    EXPECT_TRUE(reader.ok());
  }
  [[nodiscard]] std::uint64_t number(std::uint32_t field) const {
    for (const auto& [at, value] : numbers) {
      if (at == field) return value;
    }
    return 0;
  }
  [[nodiscard]] std::vector<std::string> all(std::uint32_t field) const {
    std::vector<std::string> found;
    for (const auto& [at, value] : parts) {
      if (at == field) found.push_back(value);
    }
    return found;
  }
  [[nodiscard]] MessageFields message(std::uint32_t field, std::size_t index = 0) const {
    const auto found = all(field);
    EXPECT_LT(index, found.size());
    return MessageFields(index < found.size() ? found[index] : std::string());
  }
  [[nodiscard]] std::string text(std::uint32_t field) const {
    const auto found = all(field);
    return found.empty() ? std::string() : found.front();
  }
  // Returns a value of response_headers_to_add; empty if absent.
  [[nodiscard]] std::string header(std::string_view name) const {
    for (const std::string& pair : all(3)) {
      if (MessageFields(pair).text(1) == name) return MessageFields(pair).text(2);
    }
    return {};
  }

  std::vector<std::pair<std::uint32_t, std::uint64_t>> numbers;
  std::vector<std::pair<std::uint32_t, std::string>> parts;
};

// Empty if the field is absent.
inline std::string field_of(const Reply& reply, const std::string& name) {
  const auto found = reply.fields.find(name);
  return found == reply.fields.end() ? std::string() : found->second;
}
inline std::string status_of(const Reply& reply) {
  return field_of(reply, "grpc-status");
}
inline std::string message_of(const Reply& reply) {
  return field_of(reply, "grpc-message");
}

// Returns the messages in the body of a response.
inline std::vector<std::string> messages_of(const Reply& reply) {
  std::vector<std::string> messages;
  std::string_view rest = reply.body;
  while (!rest.empty()) {
    const auto step = wire::grpc::first_message(rest, rest.size());
    EXPECT_EQ(step.kind, wire::grpc::MessageStep::Kind::whole);
    if (step.consumed == 0) break;
    messages.emplace_back(step.message);
    rest.remove_prefix(step.consumed);
  }
  return messages;
}

class RlsFixture : public ContextFixture {
 public:
  explicit RlsFixture(std::string_view policy, RlsOptions options = {}, Settings settings = {})
      : ContextFixture(policy, settings), frontend(context, health, std::move(options)), talk(frontend.open({}, {})) {}

  // Exchanges bytes until neither side sends any.
  void exchange() {
    for (std::string bytes = client.bytes(); !bytes.empty(); bytes = client.bytes()) client.hear(talk.send(bytes));
  }
  const Reply& call(const std::string& path, std::string body, const Fields& fields = {}) {
    const auto stream = client.ask(post(path, fields), std::move(body));
    exchange();
    return client.reply(stream);
  }
  // Returns the RateLimitResponse.
  MessageFields limit(const Ask& ask) {
    const Reply& reply = call(should_rate_limit, ask.body());
    EXPECT_EQ(status_of(reply), "0") << message_of(reply);
    const auto messages = messages_of(reply);
    EXPECT_EQ(messages.size(), 1U);
    return MessageFields(messages.empty() ? std::string() : messages.front());
  }
  void tick(net::SteadyTime now = {}) {
    net::Output out;
    talk.session().on_tick(now, out);
    client.hear(out.bytes());
  }

  RlsFrontend frontend;
  Talk talk;
  wire::http2::Client client;
};

}  // namespace weir::frontend
