#include "wire/rlqs.h"

#include <gtest/gtest.h>

namespace weir::wire::rlqs {
namespace {

using namespace std::chrono_literals;

std::string report_of(const std::vector<Entry>& entries, std::string_view more = {}) {
  std::string out;
  protobuf::append_bytes(out, 1, "edge");
  protobuf::append_message(out, 2, [&] {
    protobuf::append_message(out, 1, [&] { append_id(out, entries); });
    out += more;
  });
  return out;
}

TEST(UsageReports, EntriesAreSortedByKeyAndTheLastDuplicateTakesPrecedence) {
  UsageReports reports;
  const std::string message = report_of({{"b", "1"}, {"a", "2"}, {"b", "3"}, {"a", "4"}}, "\x18\x05\x20\x07");
  ASSERT_TRUE(reports.read(message));
  EXPECT_EQ(reports.domain(), "edge");
  ASSERT_EQ(reports.usages().size(), 1U);
  const Usage& usage = reports.usages()[0];
  EXPECT_EQ(usage.allowed, 5U);
  EXPECT_EQ(usage.denied, 7U);
  const auto entries = reports.entries_of(usage);
  EXPECT_EQ(std::vector(entries.begin(), entries.end()), (std::vector<Entry>{{"a", "4"}, {"b", "3"}}));
}

TEST(UsageReports, AnIdRoundTrips) {
  const std::vector<Entry> entries{{"", ""}, {"a", "\xff"}, {"b", std::string_view("\0", 1)}};
  std::string id;
  append_id(id, entries);
  std::vector<Entry> again;
  read_id(id, again);
  EXPECT_EQ(again, entries);
}

TEST(UsageReports, DroppedElementsAreReported) {
  std::string many;
  for (std::size_t i = 0; i <= UsageReports::max_usages; ++i) many += std::string("\x12\0", 2);
  UsageReports reports;
  ASSERT_TRUE(reports.read(many));
  EXPECT_TRUE(reports.has_too_many());
  EXPECT_EQ(reports.usages().size(), UsageReports::max_usages);
  ASSERT_TRUE(reports.read(""));
  EXPECT_FALSE(reports.has_too_many());
}

TEST(UsageReports, MalformedMessagesAreRejected) {
  UsageReports reports;
  for (const std::string& message :
       {std::string("\x12\x05\x0a"), std::string("\x12\x02\x0a\x05"), std::string("\x12\x03\x12\x01\xff"),
        std::string("\x12\x05\x0a\x03\x0a\x01\xff"), std::string("\xff")}) {
    EXPECT_FALSE(reports.read(message));
  }
}

}  // namespace
}  // namespace weir::wire::rlqs
