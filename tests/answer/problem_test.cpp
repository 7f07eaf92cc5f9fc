// The body of a denial, and the escaping of its texts.
#include "answer/problem.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "text/json.h"

namespace weir::answer {
namespace {

using namespace std::chrono_literals;

const Instant reset_at = std::chrono::sys_days{std::chrono::year{2025} / 11 / 5} + 6h + 44min + 39s + 1us;

std::string written(const Problem& problem) {
  std::string out;
  append_problem(out, problem);
  return out;
}

std::string json(std::string_view text) {
  std::string out;
  text::append_json_text(out, text);
  return out;
}

TEST(Problem, ReportsTheDenyingLimitAndTheRetryAfter) {
  const std::array<std::string_view, 2> names{"per-user", "all"};
  EXPECT_EQ(written({.violated_policies = names, .limit = 100, .retry_after = 2001ms, .reset_at = reset_at}),
            R"({"type":"https://iana.org/assignments/http-problem-types#quota-exceeded",)"
            R"("title":"Request cannot be satisfied as assigned quota has been exceeded","status":429,)"
            R"("detail":"Too many requests: the limit per-user is exceeded. Try again in 3 seconds.",)"
            R"("violated-policies":["per-user","all"],"limit":100,"retry_after":3,"reset_at":"2025-11-05T06:44:40Z"})");
}

TEST(Problem, RequestThatCanNeverFitHasNoRetryAfter) {
  const std::array<std::string_view, 1> names{"per-user"};
  const std::string body = written({.violated_policies = names, .limit = 100, .retry_after = {}, .reset_at = reset_at});
  EXPECT_NE(body.find(R"("retry_after":null)"), body.npos) << body;
  EXPECT_NE(body.find("costs more than the limit per-user ever admits at once (100). Retrying does not help."),
            body.npos)
      << body;
}

TEST(Problem, WhereWaitingNeverHelpsThereAreNoNumbers) {
  const std::array<std::string_view, 1> names{"known"};
  EXPECT_EQ(written({.type = ProblemType::forbidden,
                     .violated_policies = names,
                     .detail = "This request has no user.",
                     .missing = "user"}),
            R"({"type":"about:blank","title":"Forbidden","status":403,"detail":"This request has no user.",)"
            R"("violated-policies":["known"],"missing":"user"})");
}

TEST(Problem, OneSecondIsNotSeconds) {
  const std::string body = written({.retry_after = 1us});
  EXPECT_NE(body.find(R"(Too many requests: the limit of this request is exceeded. Try again in 1 second.")"),
            body.npos)
      << body;
  EXPECT_NE(body.find(R"("violated-policies":[])"), body.npos) << body;
}

TEST(Problem, EachTypeHasItsStatus) {
  struct Row {
    ProblemType type;
    unsigned status;
    std::string name;
  };
  for (const Row& row : {
           Row{ProblemType::quota_exceeded, 429, "quota-exceeded"},
           Row{ProblemType::temporary_reduced_capacity, 503, "temporary-reduced-capacity"},
           Row{ProblemType::abnormal_usage_detected, 429, "abnormal-usage-detected"},
       }) {
    EXPECT_EQ(status_of(row.type), row.status);
    const std::string body = written({.type = row.type, .retry_after = 1s});
    EXPECT_NE(body.find("http-problem-types#" + row.name + '"'), body.npos) << body;
    EXPECT_NE(body.find("\"status\":" + std::to_string(row.status)), body.npos) << body;
  }
}

TEST(Problem, NameIsEscapedWhereverItStands) {
  const std::array<std::string_view, 1> names{"a\"\n\xFF"};
  const std::string body = written({.violated_policies = names, .retry_after = 1s});
  EXPECT_NE(body.find(R"(the limit a\"\n\ufffd is exceeded)"), body.npos) << body;
  EXPECT_NE(body.find(R"("violated-policies":["a\"\n\ufffd"])"), body.npos) << body;
}

TEST(Problem, TimeStaysWithinTheCalendar) {
  struct Row {
    Instant instant;
    std::string expected;
  };
  for (const Row& row : {
           Row{Instant{}, "1970-01-01T00:00:00Z"},
           Row{Instant{-1us}, "1970-01-01T00:00:00Z"},
           Row{Instant::max(), "9999-12-31T23:59:59Z"},
           Row{Instant::min(), "0000-01-01T00:00:00Z"},
       }) {
    EXPECT_NE(written({.reset_at = row.instant}).find("\"reset_at\":\"" + row.expected + '"'), std::string::npos)
        << row.expected;
  }
}

TEST(JsonText, EscapesWhatJsonCannotHold) {
  struct Row {
    std::string text;
    std::string expected;
  };
  for (const Row& row : {
           Row{"", R"("")"},
           Row{"plain ~", R"("plain ~")"},
           Row{"\"\\/", R"("\"\\/")"},
           Row{"\r\n\t\b", R"("\r\n\t\u0008")"},
           Row{std::string("\0\x1F\x7F", 3), R"("\u0000\u001f\u007f")"},
           Row{"caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x8C\x8A", "\"caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x8C\x8A\""},
           Row{"\xE2\x80\xA8\xE2\x80\xA9", R"("\u2028\u2029")"},
           Row{"\xC3", R"("\ufffd")"},
           Row{"\xC0\x80", R"("\ufffd\ufffd")"},
           Row{"\xED\xA0\x80", R"("\ufffd\ufffd\ufffd")"},
           Row{"\xF4\x90\x80\x80", R"("\ufffd\ufffd\ufffd\ufffd")"},
           Row{"\xE0\x80\x80x", R"("\ufffd\ufffd\ufffdx")"},
           Row{"\xFFx", R"("\ufffdx")"},
       }) {
    EXPECT_EQ(json(row.text), row.expected);
  }
}

}  // namespace
}  // namespace weir::answer
