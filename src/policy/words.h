// Numbers, limits and rulesets in the words of the policy language, as a person would write them: `1000/min, burst
// 100`. For messages, explanations and comparisons; nothing reads them back.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/ruleset.h"
#include "weir/limit.h"
#include "weir/time.h"

namespace weir::policy {

// `90 s`, `10 min`, `1 day`: in the largest unit that is exact.
[[nodiscard]] std::string duration_text(Duration duration);

// `1000/min`, or `6000 per 2 min`: as it is, not in lowest terms.
[[nodiscard]] std::string rate_text(Rate rate);

// `1000/min`, or `0.05/s` of tokens per second, with at most six decimal places.
[[nodiscard]] std::string rate_text(const WrittenRate& written);

// The rate of a limit. Of a bucket, which keeps it in lowest terms only, per second, minute, hour or day:
// the first that is a whole number, otherwise `1 per 7 s`. Of a window, its limit per window: `100/min`, and of a
// calendar `100000/month in Europe/Berlin`. Of holds `at most 5 at once`.
[[nodiscard]] std::string rate_text(const Limit& limit);

// `100/min, burst 20`, `10/s, queue 100`, `10/min`, `at most 5 at once, each for at most 60 s`.
[[nodiscard]] std::string numbers_text(const Limit& limit);

// Those of a tier, with the rate as it was written; `unlimited`, or `banned`.
[[nodiscard]] std::string numbers_text(const TieredLimit& limits, std::size_t tier);

// What `banned` means, where a line is long enough to say so.
inline constexpr std::string_view banned_text = "banned: denied outright";

// A limit, and its rate as it was written; without that, as rate_text() has it.
struct Spelled {
  Limit limit;
  std::optional<WrittenRate> rate;
};

// Of a tier that has numbers.
[[nodiscard]] Spelled spelled(const TieredLimit& limits, std::size_t tier);

[[nodiscard]] std::string rate_text(const Spelled& spelled);
[[nodiscard]] std::string numbers_text(const Spelled& spelled);

struct Texts {
  std::string before;
  std::string after;
};

// What differs between two limits of one algorithm, and only that. Rates of which nobody knows how they were written
// are in one unit, so that 60/min against 61/min does not read `1/s -> 61/min`.
[[nodiscard]] Texts numbers_texts(const Spelled& before, const Spelled& after);

// `POST /login, GET /me and 3 more`; without routes `every request`.
[[nodiscard]] std::string routes_text(const std::vector<RouteTemplate>& routes);

// `10/min by ip on POST /login when anonymous`, with the numbers of the default tier.
[[nodiscard]] std::string limit_text(const CompiledLimit& limit);

// `a, b and 3 more`: the first few, so that a line stays a line.
[[nodiscard]] std::string list_text(const std::vector<std::string>& items);

// What a ruleset holds, a line for each limit and route, as it is logged when a policy is loaded:
// `login-by-ip: POST /login: sliding_window_log 10/min by ip when anonymous`.
// In file order. The numbers are those of the default tier; tiers with others are named.
[[nodiscard]] std::vector<std::string> ruleset_lines(const Ruleset& ruleset);

}  // namespace weir::policy
