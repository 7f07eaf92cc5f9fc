#include "policy_test/coverage.h"

#include <algorithm>
#include <string_view>

#include <fmt/core.h>

#include "policy/tools/strictness.h"

namespace weir::policy_test {
namespace {

using engine::Event;

// Collects the parts of one limit.
class LimitParts {
 public:
  LimitParts(const policy::CompiledLimit& limit, CoverageReport& report) : limit_(limit), report_(report) {}

  void part(bool is_touched, std::string what) {
    ++report_.parts;
    if (!is_touched) report_.untouched.push_back({limit_.at, limit_.name, std::move(what)});
  }

 private:
  const policy::CompiledLimit& limit_;
  CoverageReport& report_;
};

// True if some tier has numbers, so that a request can exceed them.
bool can_exceed(const policy::CompiledLimit& limit) noexcept {
  return std::ranges::any_of(limit.live.by_tier, [](const auto& numbers) { return numbers.has_value(); });
}

bool bans(const policy::CompiledLimit& limit) noexcept {
  return std::ranges::find(limit.live.banned, true) != limit.live.banned.end();
}

// True if the tier has other terms than the default tier.
bool has_own_terms(const policy::TieredLimit& live, std::size_t tier) {
  return tier > 0 && policy::terms_of(live, tier) != policy::terms_of(live, 0);
}

}  // namespace

void Coverage::add(const match::Matched& matched, const engine::Verdict& verdict) {
  for (const match::MatchedLimit& each : matched.limits) {
    tiers_.emplace(each.limit, verdict.tier);
    if (each.is_shared) missing_.insert(each.limit);
  }
  for (const match::Matched::Exempt& each : matched.exempt) {
    if (each.why == match::Exemption::condition) conditions_.insert(each.limit);
    if (each.why == match::Exemption::excepted) excepted_.insert(each.limit);
    if (each.why == match::Exemption::key_missing) missing_.insert(each.limit);
    if (each.why == match::Exemption::banned) bans_.insert(each.limit);
    if (each.why > match::Exemption::condition) tiers_.emplace(each.limit, verdict.tier);
  }
}

void Coverage::add(const engine::Engine::Totals& totals) {
  for (const auto& [row, events] : totals.by_limit_and_route) {
    auto& sums = tally_[row];
    for (std::size_t i = 0; i < events.size(); ++i) sums[i] += events[i];
  }
}

bool Coverage::has(const std::string& limit, Event event) const {
  return std::ranges::any_of(tally_, [&](const auto& row) {
    return row.first.first == limit && row.second[static_cast<std::size_t>(event)] > 0;
  });
}

CoverageReport Coverage::report() const {
  CoverageReport report;
  for (std::uint32_t i = 0; i < ruleset_->limits.size(); ++i) {
    const policy::CompiledLimit& limit = ruleset_->limits[i];
    if (limit.by_descriptor()) continue;
    LimitParts parts(limit, report);
    const auto covers = [&](std::string_view route) {
      return std::ranges::any_of(tally_, [&](const auto& row) {
        const bool is_here = row.first.first == limit.name && (route.empty() || row.first.second == route);
        return is_here && std::ranges::any_of(row.second, [](std::uint64_t count) { return count > 0; });
      });
    };
    if (limit.routes.empty()) parts.part(covers("") || bans_.contains(i), "the limit itself");
    for (const policy::RouteTemplate& route : limit.routes) {
      parts.part(covers(route.text()) || (bans_.contains(i) && limit.routes.size() == 1), "route " + route.text());
    }
    const bool is_shadow = limit.mode == policy::Mode::shadow;
    if (can_exceed(limit)) {
      const bool denies = is_shadow ? has(limit.name, Event::shadow_denied)
                                    : has(limit.name, Event::denied) || has(limit.name, Event::blocked) ||
                                          has(limit.name, Event::warned);
      parts.part(denies, is_shadow ? "a request that it would deny" : "a denial");
    }
    for (std::uint32_t tier = 0; tier < ruleset_->tiers.names.size(); ++tier) {
      if (has_own_terms(limit.live, tier))
        parts.part(tiers_.contains({i, tier}), "tier " + ruleset_->tiers.names[tier]);
    }
    if (bans(limit)) parts.part(bans_.contains(i), "a ban");
    if (limit.when != policy::When{})
      parts.part(conditions_.contains(i), "a request outside when: " + text_of(limit.when));
    if (!limit.except.empty()) parts.part(excepted_.contains(i), "a request to an excepted route");
    if (!policy::is_never_missing(limit.consumer_key)) {
      parts.part(missing_.contains(i), fmt::format("a request without its key (missing: {})", name_of(limit.missing)));
    }
    if (limit.warn_first) parts.part(has(limit.name, Event::warned), "a warning (warn_first)");
    if (limit.penalty) parts.part(has(limit.name, Event::blocked), "a block (penalty)");
    if (limit.candidate) {
      const bool differs =
          has(limit.name, Event::candidate_newly_denied) || has(limit.name, Event::candidate_newly_admitted);
      parts.part(differs, "a request that its candidate decides differently");
    }
  }
  return report;
}

}  // namespace weir::policy_test
