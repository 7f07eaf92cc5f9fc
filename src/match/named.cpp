#include "match/named.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "match/consumer.h"
#include "text/yaml/problem.h"

namespace weir::match {
namespace {

// Quotes at most 64 bytes of untrusted text.
std::string in_quotes(std::string_view word) {
  constexpr std::size_t longest = 64;
  return "'" + std::string(word.substr(0, longest)) + (word.size() > longest ? "...'" : "'");
}

tl::unexpected<Error> unknown(const std::string& what, std::string_view word, std::span<const std::string> known) {
  return failure(what + " " + in_quotes(word), "unknown" + text::did_you_mean(word, known));
}

// Lists at most max_listed limits.
tl::unexpected<Error> unknown_limit(const policy::Ruleset& ruleset, std::string_view name) {
  constexpr std::size_t max_listed = 20;
  std::vector<std::string> names;
  for (const policy::CompiledLimit& limit : ruleset.limits) {
    if (!limit.by_descriptor()) names.push_back(limit.name);
  }
  auto error = unknown("limit", name, names).value();
  if (names.empty()) {
    error.what += "; all limits of the policy are reached by descriptors";
    return tl::unexpected(std::move(error));
  }
  error.what += error.what.ends_with('?') ? " Valid limits: " : "; valid limits: ";
  for (std::size_t i = 0; i < std::min(names.size(), max_listed); ++i) error.what += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > max_listed) error.what += " and " + std::to_string(names.size() - max_listed) + " more";
  return tl::unexpected(std::move(error));
}

tl::unexpected<Error> unfit_consumer(const policy::CompiledLimit& limit, const policy::Identity& identity,
                                     std::string_view consumer) {
  if (names_bad_address(limit, identity, consumer)) {
    return failure("consumer",
                   in_quotes(consumer) + " is not an IP address: write ip=192.0.2.7 or ip=[2001:db8::7]:443");
  }
  return failure("consumer", "does not match the key of limit " + in_quotes(limit.name) + ", or is ambiguous: write " +
                                 consumer_form(limit));
}

tl::unexpected<Error> ambiguous_consumer(std::span<const std::string> meanings) {
  std::string both;
  for (const std::string& meaning : meanings) both += (both.empty() ? "" : " or ") + in_quotes(meaning);
  return failure("consumer", "ambiguous: write " + both);
}

std::uint32_t label_of(const Matcher& matcher, const Named& named) noexcept {
  if (matcher.ruleset().limits[named.limit].routes.empty()) return named.route;
  const auto routes = matcher.routes_of(named.limit);
  if (named.route + 1 == routes.size()) return matcher.other_label();
  const auto& labels = matcher.labels();
  return static_cast<std::uint32_t>(std::ranges::find(labels, routes[named.route]) - labels.begin());
}

Cost cost_of(const policy::CostRule& rule, const NamedQuery& ask) noexcept {
  if (ask.wants_holdings) return Cost{0};
  return rule.is_written ? rule.fixed : ask.cost.value_or(Cost{1});
}

// Adds the only limit of a named query, or the reason why it does not cover the consumer.
void add_named(const policy::CompiledLimit& source, const Named& named, const NamedQuery& ask,
               const AppliedReplacement& applied, Matched& matched) {
  const std::uint32_t tier = matched.caller.tier;
  const Replacement::Tier* const replaced =
      applied.replacement == nullptr ? nullptr : &(*applied.replacement)->tiers[tier];
  const bool has_candidate = source.candidate && source.candidate->by_tier[tier];
  const bool bans = replaced != nullptr ? replaced->kind == Replacement::Kind::banned : source.live.bans(tier);
  const bool is_unlimited = replaced != nullptr ? replaced->kind == Replacement::Kind::unlimited
                                                : !source.live.by_tier[tier] && !has_candidate;
  if (bans || is_unlimited) {
    const Exemption why = bans ? Exemption::banned : Exemption::unlimited;
    return matched.exempt_from({named.limit, named.route, why, applied.number},
                               bans && source.mode == policy::Mode::enforce);
  }
  matched.limits.push_back({.limit = named.limit,
                            .route = named.route,
                            .is_shared = named.is_shared,
                            .cost = cost_of(source.cost, ask),
                            .takes_cost = !source.cost.is_written,
                            .key_end = matched.keys.size(),
                            .replaced = replaced,
                            .exception = applied.number});
  if (replaced != nullptr) matched.replacements.push_back(*applied.replacement);
}

}  // namespace

Result<Named> read_named(const Matcher& matcher, const NamedQuery& ask, std::string& key) {
  const policy::Ruleset& ruleset = matcher.ruleset();
  const auto limit = matcher.find_limit(ask.limit);
  if (!limit) return unknown_limit(ruleset, ask.limit);
  const policy::CompiledLimit& source = ruleset.limits[*limit];
  if (source.by_descriptor()) {
    return failure("limit " + in_quotes(ask.limit), "is reached by descriptors only: ask for its domain and entries");
  }
  if (ask.one_meaning) {
    const auto meanings = meanings_of(source, ruleset.identity, ask.consumer);
    if (meanings.empty()) return unfit_consumer(source, ruleset.identity, ask.consumer);
    if (meanings.size() > 1) return ambiguous_consumer(meanings);
  }
  const auto consumer = read_consumer(source, ruleset.identity, ask.consumer, key);
  if (!consumer) return unfit_consumer(source, ruleset.identity, ask.consumer);
  const auto routes = matcher.routes_of(*limit);
  auto route = routes.end() - 1;
  if (!consumer->route.empty()) route = std::ranges::find(routes, consumer->route);
  if (route == routes.end()) return unknown("route", consumer->route, routes);
  return Named{*limit, static_cast<std::uint32_t>(route - routes.begin()), consumer->is_shared};
}

Result<void> match_named(const Matcher& matcher, const NamedQuery& ask, Matched& matched,
                         const ExceptionsAt& exceptions) {
  matched.clear();
  matched.caller = Caller{};
  const policy::Ruleset& ruleset = matcher.ruleset();
  if (!ask.tier.empty()) {
    const auto tier = ruleset.tiers.find(ask.tier);
    if (!tier) return unknown("tier", ask.tier, ruleset.tiers.names);
    matched.caller.tier = *tier;
  }
  const Result<Named> named = read_named(matcher, ask, matched.keys);
  if (!named) return tl::unexpected(named.error());

  matched.label = label_of(matcher, *named);
  AppliedReplacement applied;
  if (exceptions.table != nullptr) {
    std::string buffer;
    const Block* const block =
        exceptions.applies_blocks ? exceptions.table->blocks().find(matched.keys, exceptions.now, buffer) : nullptr;
    if (block != nullptr) {
      matched.block_by(*block);
      return {};
    }
    const Exceptions::OfLimit* const tables = exceptions.table->of(named->limit);
    if (tables != nullptr) applied = Exceptions::find(*tables, matched.keys, exceptions.now);
  }
  add_named(ruleset.limits[named->limit], *named, ask, applied, matched);
  return {};
}

}  // namespace weir::match
