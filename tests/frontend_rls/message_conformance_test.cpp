// Compares our reading and writing of messages with Google's library, on random and damaged messages.
#include <envoy/service/ratelimit/v3/rls.pb.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/stubs/logging.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <memory>
#include <random>
#include <string>

#include "wire/rls.h"

namespace weir::wire::rls {
namespace {

namespace stock = envoy::service::ratelimit::v3;

class Chance {
 public:
  explicit Chance(std::uint32_t seed) : random_(seed) {}

  std::size_t below(std::size_t bound) { return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random_); }
  bool once_in(std::size_t count) { return below(count) == 0; }
  std::uint64_t number() { return std::uniform_int_distribution<std::uint64_t>()(random_) >> below(64); }
  std::string text() {
    static constexpr std::array<std::string_view, 6> pieces{
        "a", "user", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x90\x9F", "a longer piece of text that is plain"};
    std::string all;
    for (std::size_t i = below(4); i > 0; --i) all += pieces[below(pieces.size())];
    return all;
  }

 private:
  std::mt19937 random_;
};

stock::RateLimitRequest random_request(Chance& chance) {
  stock::RateLimitRequest request;
  request.set_domain(chance.text());
  if (chance.once_in(2)) request.set_hits_addend(static_cast<std::uint32_t>(chance.number()));
  for (std::size_t i = chance.below(4); i > 0; --i) {
    auto* const descriptor = request.add_descriptors();
    for (std::size_t e = chance.below(4); e > 0; --e) {
      auto* const entry = descriptor->add_entries();
      entry->set_key(chance.text());
      entry->set_value(chance.text());
    }
    if (chance.once_in(3)) {
      descriptor->mutable_limit()->set_requests_per_unit(static_cast<std::uint32_t>(chance.number()));
      descriptor->mutable_limit()->set_unit(static_cast<envoy::type::v3::RateLimitUnit>(chance.below(9)));
    }
    if (chance.once_in(3)) descriptor->mutable_hits_addend()->set_value(chance.number());
    if (chance.once_in(3)) descriptor->set_is_negative_hits(true);
  }
  return request;
}

// Unknown fields, groups, other types, overlong numbers, pieces of the message itself, single bytes, a missing end.
void damage(std::string& bytes, Chance& chance) {
  static const std::vector<std::string> pieces{
      std::string("\xa8\x06\x05"),
      std::string("\x0b\x0c"),
      std::string("\x13\x08\x01\x14"),
      std::string("\x0d\x01\x02\x03\x04"),
      std::string("\x09"
                  "12345678"),
      std::string("\x08\x01"),
      std::string("\x18\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"),
      std::string("\x18\x81\x80\x80\x80\x80\x80\x80\x80\x80\x7f"),
      std::string("\x8a\x80\x80\x80\x00\x01z", 7),
      std::string("\x8a\x80\x80\x80\x80\x00\x01z", 8),
      std::string("\x0a\x81\x80\x80\x80\x00z", 7),
      std::string("\x12\x04\x1a\x02\x08\x07"),
      std::string("\x12\x04\x12\x02\x08\x07"),
      std::string("\x0f\x00", 2),
      std::string("\x00", 1),
      std::string("\xed\xa0\x80"),
  };
  const std::size_t at = chance.below(bytes.size() + 1);
  switch (chance.below(5)) {
    case 0:
      bytes.insert(at, pieces[chance.below(pieces.size())]);
      break;
    case 1:
      bytes += pieces[chance.below(pieces.size())];
      break;
    case 2:
      bytes.insert(at, bytes.substr(chance.below(bytes.size() + 1), chance.below(30)));
      break;
    case 3:
      if (at < bytes.size()) bytes[at] = static_cast<char>(chance.below(256));
      break;
    default:
      bytes.resize(at);
      break;
  }
}

// RateLimitRequest with its strings declared as bytes, which is how Weir reads them.
class BytesForText {
 public:
  BytesForText() {
    add(*stock::RateLimitRequest::descriptor()->file());
    message_.reset(
        factory_.GetPrototype(pool_.FindMessageTypeByName(stock::RateLimitRequest::descriptor()->full_name()))->New());
  }

  [[nodiscard]] bool accepts(const std::string& bytes) const { return message_->ParseFromString(bytes); }

 private:
  void add(const google::protobuf::FileDescriptor& file) {
    if (pool_.FindFileByName(file.name()) != nullptr) return;
    for (int i = 0; i < file.dependency_count(); ++i) add(*file.dependency(i));
    google::protobuf::FileDescriptorProto proto;
    file.CopyTo(&proto);
    const bool is_googles = file.name().rfind("google/protobuf/", 0) == 0;  // a map's key cannot be bytes
    for (auto& message : *proto.mutable_message_type()) {
      if (!is_googles) declare_bytes(message);
    }
    ASSERT_NE(pool_.BuildFile(proto), nullptr) << file.name();
  }
  static void declare_bytes(google::protobuf::DescriptorProto& message) {
    using Field = google::protobuf::FieldDescriptorProto;
    for (auto& field : *message.mutable_field()) {
      if (field.type() == Field::TYPE_STRING) field.set_type(Field::TYPE_BYTES);
    }
    for (auto& inner : *message.mutable_nested_type()) declare_bytes(inner);
  }

  google::protobuf::DescriptorPool pool_;
  google::protobuf::DynamicMessageFactory factory_{&pool_};
  std::unique_ptr<google::protobuf::Message> message_;
};

void expect_alike(const std::string& bytes) {
  google::protobuf::SetLogHandler(nullptr);  // it logs every string that is not UTF-8
  stock::RateLimitRequest theirs;
  RateLimitRequest ours;
  static const BytesForText request_of_bytes;
  ASSERT_EQ(ours.read(bytes), request_of_bytes.accepts(bytes)) << testing::PrintToString(bytes);
  if (!theirs.ParseFromString(bytes)) return;
  EXPECT_EQ(ours.domain(), theirs.domain());
  EXPECT_EQ(ours.hits_addend(), theirs.hits_addend());
  ASSERT_EQ(ours.descriptors().size(), static_cast<std::size_t>(theirs.descriptors_size()));
  for (int d = 0; d < theirs.descriptors_size(); ++d) {
    const Descriptor& our = ours.descriptors()[static_cast<std::size_t>(d)];
    const auto& their = theirs.descriptors(d);
    ASSERT_EQ(our.entry_count, static_cast<std::size_t>(their.entries_size()));
    for (int e = 0; e < their.entries_size(); ++e) {
      EXPECT_EQ(ours.entries_of(our)[static_cast<std::size_t>(e)],
                (Entry{their.entries(e).key(), their.entries(e).value()}));
    }
    ASSERT_EQ(our.limit.has_value(), their.has_limit());
    if (our.limit) {
      EXPECT_EQ(our.limit->requests_per_unit, their.limit().requests_per_unit());
      EXPECT_EQ(our.limit->unit, static_cast<std::uint32_t>(their.limit().unit()));
    }
    ASSERT_EQ(our.hits_addend.has_value(), their.has_hits_addend());
    if (our.hits_addend) {
      EXPECT_EQ(*our.hits_addend, their.hits_addend().value());
    }
    EXPECT_EQ(our.is_negative_hits, their.is_negative_hits());
  }
}

RC_GTEST_PROP(RlsMessages, RequestsAreReadAsGooglesLibraryReadsThem, (std::uint32_t seed)) {
  Chance chance(seed);
  for (int i = 0; i < 300; ++i) {
    std::string bytes = random_request(chance).SerializeAsString();
    for (std::size_t times = chance.below(4); times > 0; --times) damage(bytes, chance);
    expect_alike(bytes);
    RC_ASSERT(!testing::Test::HasFailure());
  }
}

TEST(RlsMessages, GroupsAreAsDeepAsGooglesLibraryTakesThem) {
  for (const std::size_t depth : {1U, 98U, 99U, 100U, 101U, 102U}) {
    const std::string groups = std::string(depth, '\x63') + std::string(depth, '\x64');
    expect_alike(groups);
    std::string inside(1, '\x12');
    inside += static_cast<char>(0x80U | (groups.size() & 0x7FU));
    inside += static_cast<char>(groups.size() >> 7U);
    expect_alike(inside + groups);
  }
}

RC_GTEST_PROP(RlsMessages, ResponsesReadBackByGooglesLibrary, (std::uint32_t seed)) {
  Chance chance(seed);
  std::string bytes;
  stock::RateLimitResponse expected;
  const Code overall = chance.once_in(2) ? Code::ok : Code::over_limit;
  RateLimitResponse response(bytes, overall);
  expected.set_overall_code(static_cast<stock::RateLimitResponse::Code>(overall));
  for (std::size_t i = chance.below(4); i > 0; --i) {
    const std::string name = chance.text();
    const DescriptorStatus status{
        .code = chance.once_in(2) ? Code::ok : Code::over_limit,
        .current_limit = CurrentLimit{{chance.number() >> 32U, static_cast<Unit>(chance.below(8))}, name},
        .limit_remaining = chance.number() >> 32U,
        .duration_until_reset = std::chrono::seconds(chance.below(1'000'000))};
    response.status(status);
    auto& expected_status = *expected.add_statuses();
    expected_status.set_code(static_cast<stock::RateLimitResponse::Code>(status.code));
    expected_status.mutable_current_limit()->set_requests_per_unit(
        static_cast<std::uint32_t>(status.current_limit->rate.requests));
    expected_status.mutable_current_limit()->set_unit(
        static_cast<stock::RateLimitResponse::RateLimit::Unit>(status.current_limit->rate.unit));
    expected_status.mutable_current_limit()->set_name(name);
    expected_status.set_limit_remaining(static_cast<std::uint32_t>(status.limit_remaining));
    expected_status.mutable_duration_until_reset()->set_seconds(
        std::chrono::duration_cast<std::chrono::seconds>(*status.duration_until_reset).count());
  }
  for (std::size_t i = chance.below(4); i > 0; --i) {
    const std::string value = chance.text() + std::string(chance.below(300), 'v');
    response.response_header("X-Name", value);
    auto& field = *expected.add_response_headers_to_add();
    field.set_key("x-name");
    field.set_value(value);
  }
  const std::string body = chance.text();
  if (!body.empty()) response.raw_body(body);
  expected.set_raw_body(body);
  stock::RateLimitResponse read;
  RC_ASSERT(read.ParseFromString(bytes));
  RC_ASSERT(read.SerializeAsString() == expected.SerializeAsString());
}

}  // namespace
}  // namespace weir::wire::rls
