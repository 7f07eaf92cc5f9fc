#include "text/yaml/scalar.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "text/yaml/problem.h"

namespace weir::text {
namespace {

using namespace std::chrono_literals;
using std::chrono::days;

constexpr std::uint64_t two_to_53 = 9'007'199'254'740'992;

// The error for a rejected text; empty if it is accepted.
template <class T>
std::string refusal(const Result<T>& result) {
  return result ? "" : result.error().what;
}

TEST(WholeNumber, IsDigitsOnly) {
  EXPECT_EQ(parse_whole("0"), 0U);
  EXPECT_EQ(parse_whole("20"), 20U);
  EXPECT_EQ(parse_whole("9007199254740992"), two_to_53);
  for (const auto* text :
       {"", " 1", "1 ", "+1", "1e3", "1_000", "1,000", "0x10", "1.0", "ten", "\xd9\xa3", "-", "--1"}) {
    EXPECT_EQ(refusal(parse_whole(text)), "not a whole number: write digits only, like 20") << text;
  }
  EXPECT_EQ(refusal(parse_whole("010")), "leading zero: write the number without it");
  EXPECT_EQ(refusal(parse_whole("-1")), "cannot be negative: at least 0");
}

TEST(WholeNumber, BeyondItsBoundsIsRejectedWithTheBound) {
  EXPECT_EQ(refusal(parse_whole("9007199254740993")), "too large: at most 9007199254740992");
  EXPECT_EQ(refusal(parse_whole(std::string(1000, '9'))), "too large: at most 9007199254740992");
  EXPECT_EQ(refusal(parse_whole("18446744073709551617")), "too large: at most 9007199254740992");
  EXPECT_EQ(refusal(parse_whole("0", {.min = 1})), "too small: at least 1");
  EXPECT_EQ(refusal(parse_whole("129", {.min = 1, .max = 128})), "too large: at most 128");
  EXPECT_EQ(parse_whole("128", {.min = 1, .max = 128}), 128U);
}

TEST(RateText, IsACountAndATime) {
  const std::vector<std::pair<std::string, Rate>> rows{
      {"10/s", {10, 1s}},
      {"100/min", {100, 1min}},
      {"20/h", {20, 1h}},
      {"5000/day", {5000, days{1}}},
      {"10/30s", {10, 30s}},
      {"1/5min", {1, 5min}},
      {"3/100ms", {3, 100ms}},
      {"60/60s", {60, 60s}},
      {"1/3650day", {1, days{3650}}},
      {"9007199254740992/s", {two_to_53, 1s}},
      {"10/second", {10, 1s}},
      {"100/minute", {100, 1min}},
      {"20/hour", {20, 1h}},
      {"100 / min", {100, 1min}},
      {"10 /s", {10, 1s}},
      {"10/ 30s", {10, 30s}},
      {"7/week", {7, 7 * 24h}},
      {"7/month", {7, 30 * 24h}},
      {"7 / year", {7, 365 * 24h}},
      {"10/sec", {10, 1s}},
      {"10/30sec", {10, 30s}},
      {"10/m", {10, 1min}},
      {"10/5m", {10, 5min}},
      {"100k/min", {100'000, 1min}},
      {"1k / s", {1'000, 1s}},
      {"2M/day", {2'000'000, days{1}}},
      {"5k/month", {5'000, 30 * 24h}},
      {"9007199254740k/s", {9'007'199'254'740'000, 1s}},
  };
  for (const auto& [text, rate] : rows) EXPECT_EQ(parse_rate(text), rate) << text;
}

TEST(RateText, SaysWhetherItIsPerAUnitOfTheCalendar) {
  EXPECT_EQ(calendar_word("7/week"), "week");
  EXPECT_EQ(calendar_word("7 / month"), "month");
  EXPECT_EQ(calendar_word("7/year"), "year");
  for (const auto* text : {"7/day", "7/7day", "7", "", "week"}) EXPECT_EQ(calendar_word(text), "") << text;
}

TEST(RateText, OfAnotherFormIsRejected) {
  constexpr auto form = "not a rate: write COUNT/PERIOD, like 10/s, 100/min, 100k/day or 10/30s";
  constexpr auto fraction = "the count must be a whole number; for less than one, use a longer period, like 1/20s";
  constexpr auto several = "a week, month or year takes no number: write days, like 700/14day";
  constexpr auto unit = "': write ms, s, min, h, day, week, month or year";
  const std::vector<std::pair<std::string, std::string>> rows{
      {"0/s", "a rate must be above 0; to deny every request, write 'rate: 0'"},
      {"0k/s", "a rate must be above 0; to deny every request, write 'rate: 0'"},
      {"-1/s", "a rate must be above 0"},
      {"0.5/s", fraction},
      {"1.5k/s", fraction},
      {"7/2week", several},
      {"7/12month", several},
      {"7 / 1year", several},
      {"10/S", std::string("unknown unit 'S") + unit},
      {"10/us", std::string("unknown unit 'us") + unit},
      {"100/mnt", std::string("unknown unit 'mnt") + unit},
      {"5/30secs", std::string("unknown unit 'secs") + unit},
      {"010/s", "leading zero: write the number without it"},
      {"9007199254740993/s", "too large: at most 9007199254740992"},
      {"9007199254741k/s", "too large: at most 9007199254740992"},
      {"9007199255M/s", "too large: at most 9007199254740992"},
      {"1/3651day", "period too long: at most 3650day (10 years)"},
      {"1/99999999999999999999s", "period too long: at most 3650day (10 years)"},
  };
  for (const auto& [text, message] : rows) EXPECT_EQ(refusal(parse_rate(text)), message) << text;
  for (const auto* text :
       {"",       "10",    "/s",   "10/",   "1 0/s",  "10/3 0s", "10/30minute", "10/0s",  "10/01s", "10/1.5s",
        "10/s/s", "1e3/s", "+1/s", "ten/s", "10/-1s", "k/s",     "10 k/s",      "10kk/s", "10K/s",  "10m/s"}) {
    EXPECT_EQ(refusal(parse_rate(text)), form) << text;
  }
}

TEST(DecimalRate, IsExactInLowestTerms) {
  const std::vector<std::pair<std::string, Rate>> rows{
      {"0.05", {1, 20s}},
      {"0.4", {2, 5s}},
      {"1", {1, 1s}},
      {"1.0", {1, 1s}},
      {"2.50", {5, 2s}},
      {"0.000001", {1, 1'000'000s}},
      {"0.1", {1, 10s}},
      {"0.3", {3, 10s}},
      {"100", {100, 1s}},
      {"0.333333", {333'333, 1'000'000s}},
      {"9007199254740992", {two_to_53, 1s}},
  };
  for (const auto& [text, rate] : rows) EXPECT_EQ(parse_per_second(text), rate) << text;
}

TEST(DecimalRate, IsNeverRounded) {
  EXPECT_EQ(refusal(parse_per_second("0.0000001")), "has more than six decimal places: at most six are exact");
  EXPECT_EQ(refusal(parse_per_second("0.3333333")), "has more than six decimal places: at most six are exact");
  EXPECT_EQ(refusal(parse_per_second("9007199254740993")), "too large: at most 9007199254740992");
  EXPECT_EQ(refusal(parse_per_second("9007199254.740993")), "too large: at most 9007199254");
  EXPECT_EQ(refusal(parse_per_second("0.0")), "a rate must be above 0; to deny every request, write 'rate: 0'");
  EXPECT_EQ(refusal(parse_per_second("-0.1")), "must be above 0");
  for (const auto* text : {"", ".", ".5", "5.", "1.2.3", "00.5", "1e-2", "0x1", "inf", ".inf", "nan", "1/s", "0,5"}) {
    EXPECT_EQ(refusal(parse_per_second(text)), "not a decimal number: write it like 2 or 0.05") << text;
  }
}

TEST(Share, IsInMillionths) {
  EXPECT_EQ(parse_share("0.5"), 500'000U);
  EXPECT_EQ(parse_share("1"), 1'000'000U);
  EXPECT_EQ(parse_share("1.000000"), 1'000'000U);
  EXPECT_EQ(parse_share("0.000001"), 1U);
  for (const auto* text : {"0", "0.0", "1.000001", "2", "100"}) {
    EXPECT_EQ(refusal(parse_share(text)), "a share must be above 0 and at most 1, like 0.5") << text;
  }
  EXPECT_EQ(refusal(parse_share("50%")), "not a decimal number: write it like 0.5");
}

TEST(DurationText, HasANumberAndAUnit) {
  EXPECT_EQ(parse_duration("500ms"), 500ms);
  EXPECT_EQ(parse_duration("30s"), 30s);
  EXPECT_EQ(parse_duration("10min"), 10min);
  EXPECT_EQ(parse_duration("10m"), 10min);
  EXPECT_EQ(parse_duration("30sec"), 30s);
  EXPECT_EQ(parse_duration("1h"), 1h);
  EXPECT_EQ(parse_duration("1day"), days{1});
  EXPECT_EQ(parse_duration("3650day"), days{3650});
  EXPECT_EQ(parse_duration("315360000s"), days{3650});
  for (const auto* text : {"", "h", "60", "0s", "01s", "-1s", "1.5h", "1 h", "1H", "1hour", "1d", "1h30min"}) {
    EXPECT_EQ(refusal(parse_duration(text)), "not a duration: write it like 500ms, 30s, 10min, 1h or 1day") << text;
  }
  EXPECT_EQ(refusal(parse_duration("3651day")), "too long: at most 3650day (10 years)");
  EXPECT_EQ(refusal(parse_duration("315360001s")), "too long: at most 3650day (10 years)");
  EXPECT_EQ(refusal(parse_duration(std::string(100, '9') + "ms")), "too long: at most 3650day (10 years)");
}

TEST(Name, HasLettersDigitsAndThreeMarks) {
  for (const auto* text : {"a", "login-by-ip", "A.b_c-9", "2024"}) EXPECT_EQ(parse_name(text), std::string(text));
  for (const auto* text : {"", "a b", "a/b", "a#2", "caf\xc3\xa9", "a\n", "a:b"})
    EXPECT_FALSE(parse_name(text)) << text;
  EXPECT_TRUE(parse_name(std::string(max_name_length, 'a')));
  EXPECT_EQ(refusal(parse_name(std::string(max_name_length + 1, 'a'))), "too long: at most 128 characters");
}

TEST(HeaderName, IsATokenInLowerCase) {
  EXPECT_EQ(parse_header_name("X-User-Id"), "x-user-id");
  EXPECT_EQ(parse_header_name("!#$%&'*+-.^_`|~09"), "!#$%&'*+-.^_`|~09");
  for (const auto* text : {"", "X User", "X:", "X-\xc3\x9c", "(X)", "a,b", "\"X\"", "X\r\nY"}) {
    EXPECT_FALSE(parse_header_name(text)) << text;
  }
}

TEST(Truth, IsTrueOrFalseAndNoOtherWord) {
  EXPECT_EQ(parse_truth("true"), true);
  EXPECT_EQ(parse_truth("false"), false);
  for (const auto* text : {"", "yes", "on", "True", "1", "y"}) EXPECT_FALSE(parse_truth(text)) << text;
}

TEST(Quoted, KeepsAMessageOnOneShortLine) {
  EXPECT_EQ(text::in_quotes("abc"), "'abc'");
  EXPECT_EQ(text::in_quotes("a\nb\x1b[0m"), "'a?b?[0m'");
  EXPECT_EQ(text::in_quotes(std::string(1000, 'x')), "'" + std::string(60, 'x') + "...'");
  // Not truncated within a character.
  EXPECT_EQ(text::in_quotes(std::string(59, 'x') + "\xc3\xa9\xc3\xa9"), "'" + std::string(59, 'x') + "\xc3\xa9...'");
}

}  // namespace
}  // namespace weir::text
