// Formats numbers, limits and rulesets for people, in the words of the policy language: `1000/min, burst 100`. Nothing
// parses these texts.
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

// `90 s`, `10 min`, `1 day`: uses the largest unit that is exact.
[[nodiscard]] std::string duration_text(Duration duration);

// `1000/min`, or `6000 per 2 min`: not reduced.
[[nodiscard]] std::string rate_text(Rate rate);

// `1000/min`, or for tokens per second `0.05/s` with at most six decimal places.
[[nodiscard]] std::string rate_text(const WrittenRate& written);

// The rate of a limit. A bucket stores it in lowest terms, so it is per second, minute, hour or day, the first that
// gives a whole number, otherwise `1 per 7 s`. A window has `100/min`, a calendar window `100000/month in
// Europe/Berlin`, a concurrency limit `at most 5 at once`.
[[nodiscard]] std::string rate_text(const Limit& limit);

// `100/min, burst 20`, `10/s, queue 100`, `10/min`, `at most 5 at once, each for at most 60 s`.
[[nodiscard]] std::string numbers_text(const Limit& limit);

// The numbers of a tier, with the rate as written; `unlimited` or `banned`.
[[nodiscard]] std::string numbers_text(const TieredLimit& limits, std::size_t tier);

// Explains `banned` where there is room.
inline constexpr std::string_view banned_text = "banned: denied outright";

// A limit, and its rate as written. If the rate is unset, rate_text() derives it from the limit.
struct Spelled {
  Limit limit;
  std::optional<WrittenRate> rate;
};

// The tier must have numbers.
[[nodiscard]] Spelled spelled(const TieredLimit& limits, std::size_t tier);

[[nodiscard]] std::string rate_text(const Spelled& spelled);
[[nodiscard]] std::string numbers_text(const Spelled& spelled);

struct Texts {
  std::string before;
  std::string after;
};

// Formats only what differs between two limits of one algorithm. Rates without a written form use one unit, so that
// 60/min and 61/min do not become `1/s -> 61/min`.
[[nodiscard]] Texts numbers_texts(const Spelled& before, const Spelled& after);

// `POST /login, GET /me and 3 more`; without routes `every request`.
[[nodiscard]] std::string routes_text(const std::vector<RouteTemplate>& routes);

// `10/min by ip on POST /login when anonymous`, with the numbers of the default tier.
[[nodiscard]] std::string limit_text(const CompiledLimit& limit);

// `a, b and 3 more`: lists only the first few.
[[nodiscard]] std::string list_text(const std::vector<std::string>& items);

// Describes a ruleset in one line per limit and route, in file order, as logged when a policy is loaded:
// `login-by-ip: POST /login: sliding_window_log 10/min by ip when anonymous`. The numbers are those of the default
// tier, followed by tiers with other numbers.
[[nodiscard]] std::vector<std::string> ruleset_lines(const Ruleset& ruleset);

}  // namespace weir::policy
