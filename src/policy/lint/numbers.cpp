#include <algorithm>
#include <string_view>

#include <fmt/core.h>

#include "core/product.h"
#include "policy/lint/rules.h"
#include "policy/words.h"

namespace weir::policy::lint_rules {
namespace {

using core::Wide;

bool is_written_to(const RouteTemplate& route) {
  return route.method == "POST" || route.method == "PUT" || route.method == "PATCH" || route.method == "DELETE";
}

// A route that `route` covers and that the policy says is written to; nullptr if it says of none.
const RouteTemplate* written_route(const RouteTemplate& route, const RouteIndex& index) {
  if (is_written_to(route)) return &route;
  if (route.method) return nullptr;
  const auto* found = index.find_overlapping(
      route, [&](const RouteIndex::Entry& entry) { return is_written_to(entry.route) && covers(route, entry.route); });
  return found == nullptr ? nullptr : &found->route;
}

// The numbers for one tier, as written and as compiled.
struct TierNumbers {
  std::string who;
  Mark at;
  std::string rate;             // as it is written
  std::uint64_t own_count = 0;  // what it brings in the period it is written with
  Limit limit;
};

std::uint64_t in_a_second(const Limit& limit) {
  return core::multiply_divide_floor(limit.rate().count, 1'000'000,
                                     static_cast<std::uint64_t>(limit.rate().per.count()));
}

Mark place_of_burst(const NumbersSpec& numbers, Mark otherwise) {
  if (numbers.burst) return numbers.burst->at;
  if (numbers.capacity) return numbers.capacity->at;
  if (numbers.rate) return numbers.rate->at;
  return numbers.refill_rate ? numbers.refill_rate->at : otherwise;
}

// What a tier does not say is as in the limit.
TierNumbers tier_numbers(std::string who, Mark at, const NumbersSpec& numbers, const NumbersSpec& otherwise,
                         const Spelled& spelled) {
  const Limit& limit = spelled.limit;
  const auto& written = numbers.rate || numbers.refill_rate ? numbers.rate : otherwise.rate;
  if (written) return {std::move(who), at, rate_text(written->value), written->value.count, limit};
  // Tokens per second have no period of their own: a second, or as long as one token takes.
  return {std::move(who), at, rate_text(spelled), std::max<std::uint64_t>(in_a_second(limit), 1), limit};
}

// The limit's own, and those of the tiers.
std::vector<TierNumbers> all_numbers(const Subject& subject) {
  std::vector<TierNumbers> all;
  const LimitSpec& written = subject.written;
  const auto& names = subject.ruleset.tiers.names;
  const auto& by_tier = subject.limit.live.by_tier;
  const std::string name = "'" + subject.limit.name + "'";
  bool own_seen = false;
  for (std::size_t tier = 0; tier < std::min(names.size(), by_tier.size()); ++tier) {
    if (!by_tier[tier]) continue;
    const auto found = std::find_if(written.tier_overrides.begin(), written.tier_overrides.end(),
                                    [&](const TierOverrideSpec& each) { return each.tier.value == names[tier]; });
    if (found != written.tier_overrides.end()) {
      all.push_back(tier_numbers(name + " for " + names[tier], place_of_burst(found->numbers, found->tier.at),
                                 found->numbers, written.numbers, spelled(subject.limit.live, tier)));
    } else if (!own_seen) {
      own_seen = true;
      all.push_back(tier_numbers(name, place_of_burst(written.numbers, written.at), written.numbers, written.numbers,
                                 spelled(subject.limit.live, tier)));
    }
  }
  return all;
}

void warn_if_far_above(const TierNumbers& tier, Problems& problems) {
  constexpr std::uint64_t far = 10;
  constexpr Duration long_time = std::chrono::hours{1};
  const Limit& limit = tier.limit;
  const Wide fills_in =
      Wide{limit.capacity()} * static_cast<std::uint64_t>(limit.rate().per.count()) / limit.rate().count;
  if (limit.capacity() <= Wide{far} * tier.own_count || fills_in <= Wide{static_cast<std::uint64_t>(long_time.count())})
    return;
  problems.warning(tier.at,
                   fmt::format("{} lets {} pass at once, more than {} times its rate of {} and more than {} of "
                               "it: lower the burst, or raise the rate",
                               tier.who, limit.capacity(), far, tier.rate, duration_text(long_time)));
}

void warn_if_below_a_second(const TierNumbers& tier, Problems& problems) {
  const Limit& limit = tier.limit;
  if (limit.capacity() >= in_a_second(limit)) return;
  problems.warning(tier.at, fmt::format("{} has a burst of {}, less than one second of {} brings: who sends once a "
                                        "second can never reach the rate; raise the burst to {} or more",
                                        tier.who, limit.capacity(), tier.rate, in_a_second(limit)));
}

}  // namespace

void fixed_window_on_writes(const Subject& subject, Problems& problems) {
  if (subject.limit.algorithm != PolicyAlgorithm::fixed_window) return;
  for (const RouteTemplate& route : subject.limit.routes) {
    const RouteTemplate* found = written_route(route, subject.index);
    if (found == nullptr) continue;
    const auto& algorithm = subject.written.algorithm;
    problems.warning(algorithm ? algorithm->at : subject.written.at,
                     fmt::format("'{}' is a fixed window on {}, which is written to: nearly twice the limit can pass "
                                 "around the end of a window; use sliding_window_counter or token_bucket",
                                 subject.limit.name, found->text()));
    return;
  }
}

void unread_tiers(const Subject& subject, Problems& problems) {
  if (subject.policy.tiers.from_header) return;
  const auto warn = [&](const std::vector<TierOverrideSpec>& overrides) {
    for (const TierOverrideSpec& each : overrides) {
      if (each.tier.value == subject.policy.tiers.fallback.value) continue;
      problems.warning(each.tier.at, fmt::format("'{}' has numbers for the tier '{}', but nothing says who has it: set "
                                                 "{}.from",
                                                 subject.limit.name, each.tier.value, subject.policy.names.tiers));
    }
  };
  warn(subject.written.tier_overrides);
  if (subject.written.candidate) warn(subject.written.candidate->tier_overrides);
}

void odd_burst(const Subject& subject, Problems& problems) {
  const PolicyAlgorithm algorithm = subject.limit.algorithm;
  // A leaky bucket is there to make an even stream: a small burst is its point.
  if (algorithm != PolicyAlgorithm::token_bucket && algorithm != PolicyAlgorithm::gcra) return;
  for (const TierNumbers& tier : all_numbers(subject)) {
    warn_if_far_above(tier, problems);
    warn_if_below_a_second(tier, problems);
  }
}

void cannot_lease(const Subject& subject, Problems& problems) {
  const CompiledLimit& limit = subject.limit;
  if (limit.consistency != Consistency::leased) return;
  const auto& by_tier = limit.live.by_tier;
  const bool is_queue = std::any_of(by_tier.begin(), by_tier.end(), [](const std::optional<Limit>& numbers) {
    return numbers && numbers->algorithm() == Algorithm::leaky_bucket_queue;
  });
  std::string_view why;
  if (limit.algorithm == PolicyAlgorithm::sliding_window_log) {
    why = "a sliding_window_log, where each request counts from its own instant";
  } else if (is_queue) {
    why = "a queue, where each request has a turn of its own";
  } else {
    return;
  }
  problems.warning(subject.written.consistency.at,
                   fmt::format("'{}' is {}: none can be charged ahead, as leasing does; use 'consistency: exact', or "
                               "another algorithm",
                               limit.name, why));
}

void without_effect_in_shadow(const Subject& subject, Problems& problems) {
  if (subject.limit.mode != Mode::shadow) return;
  const auto warn = [&](Mark at, std::string_view what) {
    problems.warning(at,
                     fmt::format("'{}' has {}, which does nothing in 'mode: shadow': nobody is denied; leave it out "
                                 "until the limit is enforced",
                                 subject.limit.name, what));
  };
  if (subject.written.warn_first) warn(subject.written.warn_first->at, "warn_first");
  if (subject.written.penalty) warn(subject.written.penalty->at, "a penalty");
}

}  // namespace weir::policy::lint_rules
