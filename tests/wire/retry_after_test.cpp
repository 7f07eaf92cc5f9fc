// Retry-After, as seconds and as a date, at a fixed time.
#include "wire/fields/rate_limit.h"

#include <gtest/gtest.h>

#include <string>

#include "wire/fields/delta_seconds.h"

namespace weir::wire {
namespace {

using namespace std::chrono_literals;

const Instant received_at = std::chrono::sys_days{std::chrono::year{1994} / 11 / 6} + 8h + 49min + 37s;

TEST(RetryAfter, IsTheTimeToWait) {
  struct Row {
    std::string_view field;
    Duration expected;
  };
  for (const Row& row : {
           Row{"0", 0s},
           Row{"1", 1s},
           Row{"120", 120s},
           Row{"0007", 7s},
           Row{" 120\t", 120s},
           Row{"2147483647", 2147483647s},
           Row{"Sun, 06 Nov 1994 08:49:38 GMT", 1s},
           Row{"Sunday, 06-Nov-94 08:50:37 GMT", 1min},
           Row{"Sun Nov  6 09:49:37 1994", 1h},
           Row{" Mon, 07 Nov 1994 08:49:37 GMT ", 24h},
       }) {
    EXPECT_EQ(parse_retry_after(row.field, received_at), row.expected) << row.field;
  }
}

TEST(RetryAfter, DateIsExactToTheMicrosecond) {
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:49:38 GMT", received_at + 1us), 999'999us);
}

TEST(RetryAfter, PastDateIsNoWait) {
  for (const std::string_view field :
       {"Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:36 GMT", "Sat, 01 Jan 0000 00:00:00 GMT"}) {
    EXPECT_EQ(parse_retry_after(field, received_at), 0s) << field;
  }
}

TEST(RetryAfter, HugeWaitIsClamped) {
  for (const std::string& field : {std::string("2147483648"), std::string("2147483649"), std::string(100, '9'),
                                   std::string("18446744073709551617"), std::string("Fri, 31 Dec 9999 23:59:59 GMT")}) {
    EXPECT_EQ(parse_retry_after(field, received_at), max_wait) << field;
  }
}

TEST(RetryAfter, ExtremeClocksDoNotOverflow) {
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:49:37 GMT", Instant::min()), max_wait);
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:49:37 GMT", Instant::max()), 0s);
}

TEST(RetryAfter, InvalidFieldIsRejected) {
  for (const std::string_view field : {"", " ", "-1", "+5", "1.5", "5s", "1e3", "0x10", "5, 6", "soon", "1 2"}) {
    EXPECT_FALSE(parse_retry_after(field, received_at)) << field;
  }
}

TEST(RetryAfter, FieldBeyondTheMaximumLengthIsRejected) {
  EXPECT_EQ(parse_retry_after(std::string(max_retry_after_length - 1, '0') + "5", received_at), 5s);
  EXPECT_FALSE(parse_retry_after(std::string(max_retry_after_length, '0') + "5", received_at));
}

}  // namespace
}  // namespace weir::wire
