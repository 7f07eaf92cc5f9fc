#include "observe/notices.h"

#include <gtest/gtest.h>

namespace weir::observe {
namespace {

Notice saying(std::string message) {
  return {.kind = Notice::Kind::reload, .message = std::move(message)};
}

TEST(Notices, TheNewestComeFirstAndIdsRiseByOne) {
  Notices notices;
  for (const auto* text : {"a", "b", "c"}) notices.add(saying(text));
  const auto newest = notices.newest(2);
  ASSERT_EQ(newest.size(), 2U);
  EXPECT_EQ(newest[0].message, "c");
  EXPECT_EQ(newest[0].id, 3U);
  EXPECT_EQ(newest[1].message, "b");
}

TEST(Notices, AfterAnIdComesTheRestTheOldestFirst) {
  Notices notices;
  for (const auto* text : {"a", "b", "c"}) notices.add(saying(text));
  const auto rest = notices.after(1);
  ASSERT_EQ(rest.size(), 2U);
  EXPECT_EQ(rest[0].message, "b");
  EXPECT_TRUE(notices.after(3).empty());
}

TEST(Notices, TheLastThousandRemain) {
  Notices notices;
  for (int i = 0; i < 1'500; ++i) notices.add(saying(std::to_string(i)));
  const auto all = notices.newest(5'000);
  ASSERT_EQ(all.size(), 1'000U);
  EXPECT_EQ(all.back().message, "500");
  EXPECT_EQ(all.front().id, 1'500U);
}

TEST(Notices, LongMessagesAreCutBetweenCharacters) {
  Notices notices;
  notices.add(saying(std::string(Notices::max_message_size - 1, 'x') + "\xC3\xA9" + std::string(100, 'y')));
  EXPECT_EQ(notices.newest(1)[0].message, std::string(Notices::max_message_size - 1, 'x') + "...");
}

}  // namespace
}  // namespace weir::observe
