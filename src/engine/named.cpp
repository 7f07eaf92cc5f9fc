#include "engine/named.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "engine/consumer_text.h"
#include "engine/shared_consumer.h"
#include "policy/suggestion.h"

namespace weir::engine {
namespace {

// A stranger's word in a message stays short.
std::string in_quotes(std::string_view word) {
  constexpr std::size_t longest = 64;
  return "'" + std::string(word.substr(0, longest)) + (word.size() > longest ? "...'" : "'");
}

tl::unexpected<Error> unknown(const std::string& what, std::string_view word, std::span<const std::string> known) {
  return failure(what + " " + in_quotes(word), "is not in the policy" + policy::did_you_mean(word, known));
}

// With the limits that there are, as many as a message holds.
tl::unexpected<Error> unknown_limit(const Plan& plan, std::string_view name) {
  constexpr std::size_t most_listed = 20;
  std::vector<std::string> names;
  for (const PlannedLimit& limit : plan.limits()) {
    if (!limit.source->by_descriptor()) names.push_back(limit.source->name);
  }
  auto error = unknown("limit", name, names).value();
  if (names.empty()) {
    error.what += "; all its limits are reached by descriptors";
    return tl::unexpected(std::move(error));
  }
  error.what += error.what.ends_with('?') ? " There " : "; there ";
  error.what += names.size() == 1 ? "is " : "are ";
  for (std::size_t i = 0; i < std::min(names.size(), most_listed); ++i) error.what += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > most_listed) error.what += " and " + std::to_string(names.size() - most_listed) + " more";
  return tl::unexpected(std::move(error));
}

tl::unexpected<Error> unfit_consumer(const policy::CompiledLimit& limit) {
  return failure("consumer",
                 "does not fit limit " + in_quotes(limit.name) + ", or in two ways: write " + consumer_form(limit));
}

tl::unexpected<Error> ambiguous_consumer(std::span<const std::string> meanings) {
  std::string both;
  for (const std::string& meaning : meanings) both += (both.empty() ? "" : " or ") + in_quotes(meaning);
  return failure("consumer", "could be " + both + ": write which");
}

}  // namespace

Result<NamedFinder::Named> NamedFinder::read(const NamedAsk& ask) {
  const auto limit = plan_.find_limit(ask.limit);
  if (!limit) return unknown_limit(plan_, ask.limit);
  const PlannedLimit& planned = plan_.limits()[*limit];
  if (planned.source->by_descriptor()) {
    return failure("limit " + in_quotes(ask.limit), "is reached by descriptors only: ask for its domain and entries");
  }
  if (ask.one_meaning) {
    const auto meanings = meanings_of(*planned.source, plan_.ruleset().identity, ask.consumer);
    if (meanings.empty()) return unfit_consumer(*planned.source);
    if (meanings.size() > 1) return ambiguous_consumer(meanings);
  }
  const auto consumer = read_consumer(*planned.source, plan_.ruleset().identity, ask.consumer, key_);
  if (!consumer) return unfit_consumer(*planned.source);
  const auto routes = plan_.routes_of(planned);
  auto route = routes.end() - 1;
  if (!consumer->route.empty()) route = std::ranges::find(routes, consumer->route);
  if (route == routes.end()) return unknown("route", consumer->route, routes);
  return Named{*limit, static_cast<std::uint32_t>(route - routes.begin()), consumer->is_shared, key_};
}

Result<void> NamedFinder::find(const NamedAsk& ask, Coverage& found) {
  found.covered.clear();
  found.consumers.clear();
  found.exempt.clear();
  found.denied_outright = {};
  found.caller = Caller{};
  const auto& tiers = plan_.ruleset().tiers;
  if (!ask.tier.empty()) {
    const auto tier = tiers.find(ask.tier);
    if (!tier) return unknown("tier", ask.tier, tiers.names);
    found.caller.tier = *tier;
  }
  const Result<Named> named = read(ask);
  if (!named) return tl::unexpected(named.error());

  const PlannedLimit& planned = plan_.limits()[named->limit];
  found.label = label_of(planned, named->route);
  if (planned.source->live.bans(found.caller.tier)) {
    found.exempt.push_back({named->limit, named->route, Exemption::banned});
    if (planned.source->mode == policy::Mode::enforce) found.deny_outright(named->limit, Reason::banned);
    return {};
  }
  const TableRule* live = rule_of(planned.live, found.caller.tier);
  const TableRule* candidate = rule_of(planned.candidate, found.caller.tier);
  if (live == nullptr && candidate == nullptr) {
    found.exempt.push_back({named->limit, named->route, Exemption::unlimited});
    return {};
  }
  const TableRule& any = live != nullptr ? *live : *candidate;
  const policy::CostRule& cost = planned.source->cost;
  if (plan_.shared_keys() != nullptr) append_shared_consumer(found.consumers, named->key);
  found.covered.push_back({
      .limit = named->limit,
      .route = named->route,
      .live = live,
      .candidate = candidate,
      .is_shared = named->is_shared,
      .ask = {any.table->hash(named->key), ask.cost.value_or(cost.header ? Cost{1} : cost.fixed), ask.max_wait},
      .text_end = found.consumers.size(),
  });
  return {};
}

std::uint32_t NamedFinder::label_of(const PlannedLimit& limit, std::uint32_t route) const noexcept {
  if (limit.source->routes.empty()) return route;
  if (route + 1 == plan_.routes_of(limit).size()) return plan_.other_label();
  return static_cast<std::uint32_t>(std::ranges::find(plan_.labels(), plan_.routes_of(limit)[route]) -
                                    plan_.labels().begin());
}

}  // namespace weir::engine
