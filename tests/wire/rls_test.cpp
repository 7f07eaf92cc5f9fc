#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "wire/protobuf.h"
#include "wire/rls.h"

namespace weir::wire::rls {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using protobuf::append_bytes;
using protobuf::append_message;
using protobuf::append_number;

TEST(RateLimitRequest, ReadsDomainDescriptorsAndHits) {
  std::string bytes;
  append_bytes(bytes, 1, "shop");
  append_message(bytes, 2, [&] {
    append_message(bytes, 1, [&] {
      append_bytes(bytes, 1, "user");
      append_bytes(bytes, 2, "alice");
    });
    append_message(bytes, 1, [&] { append_bytes(bytes, 1, "bare"); });
    append_message(bytes, 2, [&] {
      append_number(bytes, 1, 7);
      append_number(bytes, 2, 3);
    });
  });
  append_message(bytes, 2, [&] { append_message(bytes, 3, [] {}); });
  append_number(bytes, 3, 4);

  RateLimitRequest request;
  ASSERT_TRUE(request.read(bytes));
  EXPECT_EQ(request.domain(), "shop");
  ASSERT_EQ(request.descriptors().size(), 2U);
  const Descriptor& first = request.descriptors()[0];
  ASSERT_EQ(request.entries_of(first).size(), 2U);
  EXPECT_EQ(request.entries_of(first)[0], (Entry{"user", "alice"}));
  EXPECT_EQ(request.entries_of(first)[1], (Entry{"bare", ""}));
  EXPECT_EQ(first.limit, (LimitOverride{7, 3}));
  EXPECT_EQ(request.hits_of(first), 4U);
  EXPECT_EQ(request.hits_of(request.descriptors()[1]), 0U);  // set to zero: reads only
}

TEST(RateLimitRequest, HitsAreAtLeastOneUnlessADescriptorSetsZero) {
  std::string bytes;
  append_message(bytes, 2, [] {});
  RateLimitRequest request;
  ASSERT_TRUE(request.read(bytes));
  EXPECT_EQ(request.hits_of(request.descriptors()[0]), 1U);
}

TEST(RateLimitRequest, MalformedBytesAreRejected) {
  const std::vector<std::string> rows{
      "\x0a"s,                                              // no length
      "\x0a\x05shop"s,                                      // shorter than its length
      "\x00"s,                                              // field 0
      "\x0c"s,                                              // the end of a group that is not open
      "\x0b\x14"s,                                          // a group ended by another number
      "\x0e"s,                                              // unknown type
      "\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s,  // a number of eleven bytes
      "\x80\x80\x80\x80\x80\x00"s,                          // a tag of six bytes
      "\x12\x03\x0a\x05x"s,                                 // a field longer than its message
  };
  for (const std::string& row : rows) {
    RateLimitRequest request;
    EXPECT_FALSE(request.read(row)) << testing::PrintToString(row);
  }
}

TEST(RateLimitRequest, DomainKeysAndValuesMayBeAnyBytes) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  std::string bytes;
  append_bytes(bytes, 1, "\xff\xfe");
  append_message(bytes, 2, [&] {
    append_message(bytes, 1, [&] {
      append_bytes(bytes, 1, "\xed\xa0\x80");
      append_bytes(bytes, 2, all);
    });
  });
  RateLimitRequest request;
  ASSERT_TRUE(request.read(bytes));
  EXPECT_EQ(request.domain(), "\xff\xfe");
  ASSERT_EQ(request.descriptors().size(), 1U);
  EXPECT_EQ(request.entries_of(request.descriptors()[0])[0], (Entry{"\xed\xa0\x80", all}));
}

TEST(RateLimitRequest, HitsOfADescriptorMayBeNegative) {
  std::string bytes;
  append_message(bytes, 2, [&] { append_number(bytes, 4, 1); });
  append_message(bytes, 2, [&] { append_number(bytes, 4, 0); });
  append_message(bytes, 2, [] {});
  RateLimitRequest request;
  ASSERT_TRUE(request.read(bytes));
  EXPECT_TRUE(request.descriptors()[0].is_negative_hits);
  EXPECT_FALSE(request.descriptors()[1].is_negative_hits);
  EXPECT_FALSE(request.descriptors()[2].is_negative_hits);
}

TEST(RateLimitRequest, DescriptorsAndEntriesAreBounded) {
  std::string bytes;
  for (std::size_t i = 0; i < RateLimitRequest::max_descriptors; ++i) append_message(bytes, 2, [] {});
  RateLimitRequest request;
  ASSERT_TRUE(request.read(bytes));
  EXPECT_FALSE(request.has_too_many());
  for (int i = 0; i < 10'000; ++i) append_message(bytes, 2, [] {});
  ASSERT_TRUE(request.read(bytes));
  EXPECT_TRUE(request.has_too_many());
  EXPECT_EQ(request.descriptors().size(), RateLimitRequest::max_descriptors);

  std::string entries;
  append_message(entries, 2, [&] {
    for (std::size_t i = 0; i <= RateLimitRequest::max_entries; ++i) append_message(entries, 1, [] {});
  });
  ASSERT_TRUE(request.read(entries));
  EXPECT_TRUE(request.has_too_many());
  EXPECT_EQ(request.entries_of(request.descriptors()[0]).size(), RateLimitRequest::max_entries);
  ASSERT_TRUE(request.read(""));
  EXPECT_FALSE(request.has_too_many());
}

TEST(RateLimitRequest, UnknownFieldsAreSkipped) {
  const std::string unknown =
      "\xa8\x06\x05"s + "\xa9\x06" + "12345678" + "\xad\x06" + "1234" + "\xb3\x06\x08\x01\xb4\x06";
  RateLimitRequest request;
  const std::string bytes = unknown + "\x0a\x01x";
  ASSERT_TRUE(request.read(bytes));
  EXPECT_EQ(request.domain(), "x");
}

TEST(RateLimitResponse, LargeMessagesHaveTheCorrectLength) {
  for (const std::size_t size : {10U, 127U, 128U, 16'383U, 16'384U, 3'000'000U}) {
    std::string out;
    append_message(out, 5, [&] { out.append(size, 'x'); });
    protobuf::Reader reader(out);
    ASSERT_TRUE(reader.next()) << size;
    EXPECT_EQ(reader.bytes(), std::string(size, 'x')) << size;
    EXPECT_FALSE(reader.next());
    EXPECT_TRUE(reader.ok());
  }
}

TEST(RateLimitResponse, IsWrittenAsExpected) {
  std::string out;
  RateLimitResponse response(out, Code::over_limit);
  response.status({.code = Code::over_limit,
                   .current_limit = CurrentLimit{{3, Unit::minute}, "few"},
                   .limit_remaining = 0,
                   .duration_until_reset = 1'500ms});
  response.status({.limit_remaining = ~std::uint64_t{0}});
  response.response_header("Retry-After", "2");
  response.raw_body("{}");
  EXPECT_EQ(out,
            "\x08\x02"
            "\x12\x11\x08\x02\x12\x09\x08\x03\x10\x02\x1a\x03"
            "few\x22\x02\x08\x02"
            "\x12\x08\x08\x01\x18\xff\xff\xff\xff\x0f"
            "\x1a\x10\x0a\x0bretry-after\x12\x01"
            "2"
            "\x2a\x02{}");
}

TEST(RateLimitResponse, OnlyNamesOfHeaderFieldsAreConvertedToLowerCase) {
  const std::vector<std::pair<std::string, std::string>> rows{
      {"", ""},
      {"A", "a"},
      {"Reset-Z", "reset-z"},
      {"Eight-AZ", "eight-az"},
      {"RateLimit", "ratelimit"},
      {"X-RateLimit-Remaining", "x-ratelimit-remaining"},
      {"@[`{\x7f/09", "@[`{\x7f/09"},
      {"\xC1\xDA\xE1\xFA\x80\xFF\xC0\xDB-Z", "\xC1\xDA\xE1\xFA\x80\xFF\xC0\xDB-z"},
      {"\xC1Z", "\xC1z"},
      {std::string(200, 'N'), std::string(200, 'n')},
  };
  for (const auto& [name, expected] : rows) {
    std::string out;
    RateLimitResponse(out, Code::ok).response_header(name, "Value");
    protobuf::Reader reader(out);
    ASSERT_TRUE(reader.next() && reader.next()) << name;
    protobuf::Reader header = reader.message();
    ASSERT_TRUE(header.next()) << name;
    EXPECT_EQ(header.bytes(), expected);
    ASSERT_TRUE(header.next()) << name;
    EXPECT_EQ(header.bytes(), "Value");
  }
}

TEST(RlsUnit, RateHasItsOwnUnitOrTheShortestInWhichItIsWhole) {
  struct Row {
    Rate rate;
    UnitRate expected;
  };
  const std::vector<Row> rows{
      {{10, 1s}, {10, Unit::second}},       {{100, 60s}, {100, Unit::minute}},  {{5, 3s}, {100, Unit::minute}},
      {{120, 60s}, {120, Unit::minute}},    {{3, 24h * 7}, {3, Unit::week}},    {{1, 24h * 30}, {1, Unit::month}},
      {{1, 24h * 365}, {1, Unit::year}},    {{1, 7s}, {8640 * 10, Unit::week}}, {{1, 1us}, {1'000'000, Unit::second}},
      {{1, 24h * 400}, {1, Unit::unknown}},
  };
  for (const Row& row : rows)
    EXPECT_EQ(in_units(row.rate), row.expected) << row.rate.count << '/' << row.rate.per.count();
}

TEST(RlsUnit, InvalidUnitsHaveNoLength) {
  EXPECT_EQ(length_of(1), 1s);
  EXPECT_EQ(length_of(7), 24h * 7);
  for (const std::uint32_t unit : {0U, 8U, 255U, 0xFFFF'FFFFU}) EXPECT_EQ(length_of(unit), std::nullopt) << unit;
}

}  // namespace
}  // namespace weir::wire::rls
