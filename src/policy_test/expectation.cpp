#include "policy_test/expectation.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "answer/answer.h"
#include "base/ascii.h"
#include "policy/words.h"
#include "policy_test/request_text.h"
#include "text/yaml/problem.h"
#include "weir/field_choice.h"
#include "wire/fields/answer_fields.h"

namespace weir::policy_test {
namespace {

using engine::Outcome;
using engine::Standing;
using engine::Verdict;
using text::in_quotes;

std::string_view deciding_limit(const policy::Ruleset& ruleset, const Verdict& verdict) {
  return answer::limit_name(ruleset, verdict);
}

std::string wait_text(const std::optional<Duration>& wait) {
  if (!wait) return "never";
  return *wait == Duration::zero() ? "0 s" : policy::duration_text(*wait);
}

// `denied by login-by-ip (exceeded, retry after 60 s)`, `admitted (within, 4 remaining of login-by-ip)`.
std::string verdict_text(const policy::Ruleset& ruleset, const Verdict& verdict) {
  const std::string_view limit = deciding_limit(ruleset, verdict);
  const std::string_view reason = name_of(verdict.reason);
  if (verdict.admitted) {
    return limit.empty() ? fmt::format("admitted ({})", reason)
                         : fmt::format("admitted ({}, {} remaining of {})", reason, verdict.decision.remaining, limit);
  }
  return fmt::format("denied{} ({}, retry after {})", limit.empty() ? "" : fmt::format(" by {}", limit), reason,
                     wait_text(verdict.retry_after));
}

// `a, b` or `no limit`.
std::string names_text(const std::vector<std::string>& names) {
  return names.empty() ? "no limit" : fmt::format("{}", fmt::join(names, ", "));
}

std::vector<std::string> sorted_names(const std::vector<Written<std::string>>& names) {
  std::vector<std::string> sorted;
  for (const auto& name : names) sorted.push_back(name.value);
  std::ranges::sort(sorted);
  return sorted;
}

// The enforced limits that cover the request, including one that denies outright.
std::vector<std::string> covering(const policy::Ruleset& ruleset, const Verdict& verdict) {
  std::vector<std::string> names;
  for (const Outcome& outcome : verdict.outcomes) {
    if (outcome.standing == Standing::live) names.push_back(ruleset.limits[outcome.limit].name);
  }
  if (verdict.limit != Verdict::no_limit) names.push_back(ruleset.limits[verdict.limit].name);
  std::ranges::sort(names);
  const auto again = std::ranges::unique(names);
  names.erase(again.begin(), again.end());
  return names;
}

// The shadow limits and candidates that would have denied the request.
std::vector<std::string> would_deny(const policy::Ruleset& ruleset, const Verdict& verdict) {
  std::vector<std::string> names;
  for (const Outcome& outcome : verdict.outcomes) {
    const bool by_shadow = outcome.standing == Standing::shadow && !outcome.decision.admitted;
    const bool by_candidate = outcome.candidate && !outcome.candidate->admitted;
    if (by_shadow || by_candidate) names.push_back(ruleset.limits[outcome.limit].name);
  }
  std::ranges::sort(names);
  return names;
}

// The header fields of the answer, with names in lower case.
std::map<std::string, std::string> answer_headers(const policy::Ruleset& ruleset, const Verdict& verdict) {
  std::map<std::string, std::string> headers;
  if (const auto fields = answer::answer_fields(ruleset, verdict)) {
    const FieldChoice choice{.legacy_fields = true};
    wire::for_each_field(*fields, choice, verdict.at, [&](std::string_view name, std::string_view value) {
      headers[base::lower(name)] = std::string(value);
    });
  }
  if (verdict.reason == Reason::warned) {
    headers[base::lower(answer::warning_field)] = std::string(deciding_limit(ruleset, verdict));
  }
  return headers;
}

}  // namespace

std::string StepCheck::request_text(Repetition repetition) const {
  const std::string of = step_.times > 1 ? fmt::format("request {} of {}, ", repetition.number, step_.times) : "";
  if (!step_.asks()) return fmt::format("receipt {}", in_quotes(step_.receipt));
  const Duration since = repetition.at - start_;
  return fmt::format("{}{} {} at {}", of, step_.request.method, numbered(step_.request.path, repetition.number),
                     wait_text(since));
}

bool StepCheck::add(const Verdict& verdict, Repetition repetition) {
  ++(verdict.admitted ? admitted_ : denied_);
  if (!verdict.admitted) ++denied_by_[std::string(deciding_limit(ruleset_, verdict))];
  if (!step_.expect) return true;
  check_each(verdict, repetition);
  if (failures_.empty() && is_last(repetition)) {
    check_counts();
    if (failures_.empty()) check_last(verdict, repetition);
  }
  return failures_.empty();
}

void StepCheck::check_each(const Verdict& verdict, Repetition repetition) {
  const Expectation& expect = *step_.expect;
  const auto mismatch = [&](Mark at, std::string_view expected) {
    fail(at, fmt::format("{}: {}; expected {}", request_text(repetition), verdict_text(ruleset_, verdict), expected));
  };
  if (expect.verdict == Expectation::Verdict::admitted && !verdict.admitted) return mismatch(expect.at, "admitted");
  if (expect.verdict == Expectation::Verdict::denied && verdict.admitted) return mismatch(expect.at, "denied");
  if (!expect.denied_by) return;
  const bool is_wrong = !verdict.admitted && deciding_limit(ruleset_, verdict) != expect.denied_by->value;
  if (is_wrong || (verdict.admitted && expect.implies_denial())) {
    mismatch(expect.denied_by->at, "denied by " + expect.denied_by->value);
  }
}

void StepCheck::check_last(const Verdict& verdict, Repetition repetition) {
  const Expectation& expect = *step_.expect;
  const std::string request = request_text(repetition);
  const auto compare = [&](const auto& expected, std::string_view what, const auto& actual, const auto& text) {
    if (!expected || expected->value == actual) return;
    fail(expected->at, fmt::format("{}: {} is {}; expected {}", request, what, text(actual), text(expected->value)));
  };
  const auto plain = [](const auto& value) { return fmt::format("{}", value); };
  compare(expect.reason, "reason", verdict.reason, [](Reason reason) { return std::string(name_of(reason)); });
  compare(expect.status, "status", std::uint64_t{answer::status_of(verdict)}, plain);
  compare(expect.limit, "the deciding limit", std::string(deciding_limit(ruleset_, verdict)),
          [](const std::string& name) { return name.empty() ? "none" : name; });
  compare(expect.retry_after, "retry_after", verdict.retry_after, wait_text);
  compare(expect.remaining, "remaining", verdict.decision.remaining, plain);
  compare(expect.delay, "delay", verdict.delay, [](Duration delay) { return wait_text(delay); });
  check_limits(verdict, request);
  check_headers(verdict, request);
}

void StepCheck::check_limits(const Verdict& verdict, std::string_view request) {
  const Expectation& expect = *step_.expect;
  const auto compare = [&](const auto& expected, std::string_view what, const std::vector<std::string>& actual) {
    if (!expected) return;
    const std::vector<std::string> names = sorted_names(*expected);
    if (names == actual) return;
    fail(expected->empty() ? expect.at : expected->front().at,
         fmt::format("{}: {} {}; expected {}", request, what, names_text(actual), names_text(names)));
  };
  compare(expect.covered_by, "covered by", covering(ruleset_, verdict));
  compare(expect.would_deny, "would be denied by", would_deny(ruleset_, verdict));
}

void StepCheck::check_headers(const Verdict& verdict, std::string_view request) {
  if (step_.expect->headers.empty()) return;
  const auto headers = answer_headers(ruleset_, verdict);
  for (const HeaderExpectation& expected : step_.expect->headers) {
    const auto found = headers.find(base::lower(expected.name));
    const std::string actual = found == headers.end() ? "absent" : in_quotes(found->second);
    const bool is_met =
        expected.value ? found != headers.end() && found->second == *expected.value : found == headers.end();
    if (is_met) continue;
    fail(expected.at, fmt::format("{}: header {} is {}; expected {}", request, expected.name, actual,
                                  expected.value ? in_quotes(*expected.value) : "absent"));
  }
}

void StepCheck::add_result(std::string_view result, Repetition repetition) {
  if (!step_.expect || !step_.expect->result || step_.expect->result->value == result) return;
  fail(step_.expect->result->at,
       fmt::format("{}: result is {}; expected {}", request_text(repetition), result, step_.expect->result->value));
}

// The counts come first: if they are wrong, the details of the last answer are a consequence.
void StepCheck::check_counts() {
  const Expectation& expect = *step_.expect;
  std::string denials;
  for (const auto& [limit, count] : denied_by_) {
    denials += fmt::format("{}{} by {}", denials.empty() ? "" : ", ", count, limit.empty() ? "no limit" : limit);
  }
  const auto compare = [&](const auto& expected, std::uint64_t actual, std::string_view what) {
    if (!failures_.empty() || !expected || expected->value == actual) return;
    fail(expected->at, fmt::format("{} of {} requests were {}{}; expected {}", actual, step_.times, what,
                                   denials.empty() ? "" : fmt::format(" (denied: {})", denials), expected->value));
  };
  compare(expect.admitted, admitted_, "admitted");
  compare(expect.denied, denied_, "denied");
}

}  // namespace weir::policy_test
