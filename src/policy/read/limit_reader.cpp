#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include <fmt/core.h>

#include "core/receipts.h"
#include "policy/calendar.h"
#include "policy/read/policy_reader.h"
#include "policy/words.h"
#include "text/yaml/map_reader.h"

namespace weir::policy {
namespace {

constexpr std::size_t most_routes = 10'000;
constexpr std::size_t most_route_costs = 1'000;
constexpr std::array<std::string_view, 5> root_fields{"version", "identity", "tiers", "methods", "limits"};
constexpr std::array<std::string_view, 2> calendar_fields{"calendar", "timezone"};
// A log remembers each denial that counts.
constexpr text::Bounds logged{.least = 1, .most = Limit::largest_log_limit};

constexpr text::Bounds not_zero{.least = 1};

Result<Duration> parse_seconds(std::string_view text) {
  constexpr auto most = static_cast<std::uint64_t>(Limit::longest / std::chrono::seconds{1});
  const auto seconds = text::parse_whole(text, {.least = 1, .most = most});
  if (!seconds) return tl::unexpected<Error>(seconds.error());
  return std::chrono::seconds{*seconds};
}

// How many: of what would admit nothing there is one spelling.
std::optional<Written<std::uint64_t>> read_count(text::MapReader& map, std::string_view field) {
  return map.value(field, text::Form::number, [](std::string_view text) -> Result<std::uint64_t> {
    if (text == "0") return failure(in_quotes(text), "too small: at least 1 (a ban is written 'rate: 0')");
    return text::parse_whole(text, not_zero);
  });
}

const std::vector<std::string>& unit_names() {
  static const std::vector<std::string> names{"day", "week", "month", "year"};
  return names;
}

std::optional<core::CalendarUnit> unit_called(std::string_view word) {
  const auto& names = unit_names();
  const auto found = std::ranges::find(names, word);
  if (found == names.end()) return {};
  return static_cast<core::CalendarUnit>(found - names.begin());
}

// `0` is a ban, and all else a rate.
void read_rate(text::MapReader& map, NumbersSpec& numbers) {
  const text::Node* node = map.find("rate");
  if (node == nullptr) return;
  if (node->is_scalar() && node->text == "0") {
    numbers.ban = node->at;
  } else {
    numbers.rate = text::read_value(*node, "rate", text::Form::text, text::parse_rate, map.problems());
    if (numbers.rate) numbers.rate_unit = unit_called(text::calendar_word(node->text));
  }
}

// { calendar: month, timezone: Europe/Berlin }
std::optional<Written<const core::Calendar*>> read_window(const text::Node& node, Problems& problems) {
  if (node.is_scalar()) {
    problems.error(node.at,
                   "window has to be a map, like { calendar: month, timezone: Europe/Berlin }; a window of one length "
                   "is written as rate, or as window_seconds");
    return {};
  }
  text::MapReader map(node, "window", problems);
  (void)map.require("calendar", "day, week, month or year");
  const auto unit = map.one_of("calendar", unit_names());
  const auto find = [&](std::string_view zone) {
    return find_calendar(unit ? static_cast<core::CalendarUnit>(unit->value) : core::CalendarUnit::day, zone);
  };
  const text::Node* const zone = map.find("timezone");
  std::optional<Written<const core::Calendar*>> calendar;
  if (zone != nullptr) {
    calendar = text::read_value(*zone, "timezone", text::Form::text, find, problems);
  } else if (unit) {
    calendar = Written<const core::Calendar*>{find(utc).value(), node.at};
  }
  map.finish();
  if (!unit || !calendar) return {};
  calendar->at = node.at;
  return calendar;
}

bool is_empty(const NumbersSpec& n) {
  return !n.ban && !n.rate && !n.burst && !n.capacity && !n.refill_rate && !n.leak_rate && !n.limit && !n.window &&
         !n.calendar && !n.queue && !n.lease;
}

struct TimeBounds {
  Duration least;
  Duration most;
};

// How long a node holds a slice, from one exchange to the next, and how long a request is held.
constexpr TimeBounds slice_bounds{std::chrono::milliseconds{100}, std::chrono::seconds{60}};
constexpr TimeBounds sync_bounds{std::chrono::milliseconds{20}, std::chrono::seconds{10}};
constexpr TimeBounds hold_bounds{std::chrono::milliseconds{100}, core::Receipts::longest};

std::optional<Written<Duration>> read_time(text::MapReader& map, std::string_view field, TimeBounds bounds) {
  return map.value(field, text::Form::text, [&](std::string_view text) -> Result<Duration> {
    auto time = text::parse_duration(text);
    if (!time || (*time >= bounds.least && *time <= bounds.most)) return time;
    return failure(in_quotes(text),
                   fmt::format("too {}: at least {} and at most {}", *time < bounds.least ? "short" : "long",
                               duration_text(bounds.least), duration_text(bounds.most)));
  });
}

// `rate`, `burst` and their other spellings, out of a map that may hold more.
NumbersSpec read_numbers(text::MapReader& map) {
  NumbersSpec numbers;
  read_rate(map, numbers);
  numbers.burst = read_count(map, "burst");
  numbers.capacity = read_count(map, "capacity");
  numbers.refill_rate = map.value("refill_rate", text::Form::number, text::parse_per_second);
  numbers.leak_rate = map.value("leak_rate", text::Form::number, text::parse_per_second);
  numbers.limit = read_count(map, "limit");
  numbers.window = map.value("window_seconds", text::Form::number, parse_seconds);
  if (const text::Node* window = map.find("window")) numbers.calendar = read_window(*window, map.problems());
  map.belongs(calendar_fields, "in window: write window: { calendar: month, timezone: Europe/Berlin }");
  numbers.queue = map.whole("queue");
  numbers.lease = read_time(map, "lease", hold_bounds);
  return numbers;
}

TierOverrideSpec read_tier_override(const text::Member& member, Problems& problems) {
  TierOverrideSpec override_spec;
  override_spec.tier = member.key;
  if (const auto name = text::parse_name(member.key.value); !name)
    text::report(name.error(), "tier", member.key.at, problems);
  const text::Node& node = member.value;
  if (node.is_scalar()) {
    override_spec.unlimited = node.text == "unlimited";
    override_spec.banned = node.text == "banned";
    if (override_spec.has_numbers()) {
      problems.error(node.at,
                     "tier {}: {} is unknown; write unlimited, banned, or numbers like {{ rate: "
                     "100/min }}",
                     in_quotes(member.key.value), in_quotes(node.text));
    }
    return override_spec;
  }
  if (node.is_null()) {
    problems.error(member.key.at, "tier {} has no value", in_quotes(member.key.value));
    return override_spec;
  }
  const std::size_t errors = problems.errors();
  text::MapReader map(node, fmt::format("tier {}", in_quotes(member.key.value)), problems);
  map.refuse("algorithm", "tiers differ in numbers only");
  override_spec.numbers = read_numbers(map);
  map.finish();
  if (problems.errors() == errors && is_empty(override_spec.numbers)) {
    problems.error(node.at, "tier {} has no numbers of its own: leave it out", in_quotes(member.key.value));
  }
  return override_spec;
}

std::vector<TierOverrideSpec> read_tier_overrides(const text::Node& node, Problems& problems) {
  std::vector<TierOverrideSpec> overrides;
  const text::MapReader map(node, "tier_overrides", problems);
  if (map.is_map() && node.members.empty()) problems.error(node.at, "tier_overrides is empty: leave it out");
  overrides.reserve(node.members.size());
  for (const text::Member& member : node.members) overrides.push_back(read_tier_override(member, problems));
  return overrides;
}

std::optional<Written<PolicyAlgorithm>> read_algorithm(text::MapReader& map) {
  static const std::vector<std::string> names{
      "token_bucket",           "gcra",        "leaky_bucket",  "fixed_window", "sliding_window_log",
      "sliding_window_counter", "concurrency", "sliding_window"};
  const auto chosen = map.one_of("algorithm", names);
  if (!chosen) return {};
  const bool is_short = chosen->value == names.size() - 1;
  const auto algorithm =
      is_short ? PolicyAlgorithm::sliding_window_counter : static_cast<PolicyAlgorithm>(chosen->value);
  return Written<PolicyAlgorithm>{algorithm, chosen->at};
}

CandidateSpec read_candidate(const text::Node& node, Problems& problems) {
  CandidateSpec candidate;
  candidate.at = node.at;
  const std::size_t errors = problems.errors();
  text::MapReader map(node, "a candidate", problems);
  for (const std::string_view field :
       {"name", "routes", "when", "consumer_key", "missing", "cost", "max_cost", "mode", "candidate", "warn_first",
        "penalty", "on_store_failure", "local_share", "consistency", "usage"}) {
    map.refuse(field, "a candidate differs from its limit in algorithm and numbers only");
  }
  candidate.algorithm = read_algorithm(map);
  candidate.numbers = read_numbers(map);
  if (const auto* overrides = map.find("tier_overrides")) {
    candidate.tier_overrides = read_tier_overrides(*overrides, problems);
  }
  map.finish();
  const auto refuse_ban = [&](Mark at) {
    problems.error(at, "a candidate cannot ban: it is never enforced, and to deny everything is nothing to compare");
  };
  if (candidate.numbers.ban) refuse_ban(*candidate.numbers.ban);
  for (const TierOverrideSpec& each : candidate.tier_overrides) {
    if (each.bans()) refuse_ban(each.tier.at);
  }
  const bool says_nothing = !candidate.algorithm && is_empty(candidate.numbers) && candidate.tier_overrides.empty();
  if (problems.errors() == errors && says_nothing) {
    problems.error(node.at, "a candidate needs an algorithm or numbers of its own");
  }
  return candidate;
}

std::vector<Written<RouteTemplate>> read_routes(const text::Node& node, MoreMethods methods, Problems& problems) {
  std::vector<Written<RouteTemplate>> routes;
  if (node.is_scalar()) {
    problems.error(node.at, "routes has to be a list, not text: write [{}]", in_quotes(node.text));
    return routes;
  }
  const auto* items = text::items_of(node, "routes", problems);
  if (items == nullptr) return routes;
  if (items->size() > most_routes) {
    problems.error(node.at, "{} routes in one limit: at most {}", items->size(), most_routes);
    return routes;
  }
  for (const text::Node& item : *items) {
    const std::string* text = text::single_value(item, "routes", text::Form::text, problems);
    if (text == nullptr) continue;
    if (auto route = read_route(*text, item.at, methods, problems)) routes.push_back(*std::move(route));
  }
  return routes;
}

std::vector<RouteCostSpec> read_route_costs(const text::Node& node, MoreMethods methods, Problems& problems) {
  std::vector<RouteCostSpec> costs;
  if (node.members.empty()) problems.error(node.at, "cost is an empty map: write a number, or { ROUTE: number }");
  if (node.members.size() > most_route_costs) {
    problems.error(node.at, "cost has {} routes: at most {}", node.members.size(), most_route_costs);
    return costs;
  }
  for (const text::Member& member : node.members) {
    if (member.key.value == "header" || member.key.value == "max_cost") {
      problems.error(member.key.at, "cost by header: write cost: header:NAME, and max_cost beside it");
      continue;
    }
    auto route = read_route(member.key.value, member.key.at, methods, problems);
    const auto parse = [](std::string_view text) { return text::parse_whole(text); };
    const auto cost = text::read_value(member.value, "cost", text::Form::number, parse, problems);
    if (route && cost) costs.push_back({*std::move(route), *cost});
  }
  return costs;
}

std::optional<CostSpec> read_cost(const text::Node& node, MoreMethods methods, Problems& problems) {
  if (node.is_map()) return read_route_costs(node, methods, problems);
  if (node.is_scalar() && node.text.starts_with(header_prefix)) {
    const auto header = text::parse_header_name(std::string_view(node.text).substr(header_prefix.size()));
    if (header) return HeaderCostSpec{{*header, node.at}, {}};
    problems.error(node.at, "cost {}: header: has to be followed by the name of a header, like X-Cost",
                   in_quotes(node.text));
    return {};
  }
  const auto parse = [](std::string_view text) -> Result<std::uint64_t> {
    auto whole = text::parse_whole(text);
    const bool word = !text.empty() && text.front() >= 'A';
    if (!whole && word) return failure(in_quotes(text), "write a number, { ROUTE: number } or header:NAME");
    return whole;
  };
  const auto cost = text::read_value(node, "cost", text::Form::number, parse, problems);
  if (!cost) return {};
  return *cost;
}

std::optional<WarnFirstSpec> read_warn_first(const text::Node& node, Problems& problems) {
  text::MapReader map(node, "warn_first", problems);
  (void)map.require("count");
  (void)map.require("per");
  const auto count = map.whole("count", logged);
  const auto per = map.duration("per");
  map.finish();
  if (!count || !per) return {};
  return WarnFirstSpec{node.at, *count, *per};
}

std::optional<PenaltySpec> read_penalty(const text::Node& node, Problems& problems) {
  text::MapReader map(node, "penalty", problems);
  for (const std::string_view field : {"after", "within", "block"}) (void)map.require(field);
  const auto after = map.whole("after", logged);
  const auto within = map.duration("within");
  const auto block = map.duration("block");
  map.finish();
  if (!after || !within || !block) return {};
  return PenaltySpec{node.at, *after, *within, *block};
}

// { leased: { lease: 1s } } or { approximate: { sync: 100ms } }
ConsistencyChoice read_consistency_map(const text::Node& node, Problems& problems) {
  ConsistencyChoice choice;
  const std::size_t errors = problems.errors();
  text::MapReader map(node, "consistency", problems);
  map.refuse("exact", "it has no times: write 'consistency: exact'");
  const text::Node* leased = map.find("leased");
  const text::Node* approximate = map.find("approximate");
  map.belongs(std::array<std::string_view, 1>{"sync"}, "to approximate: write { approximate: { sync: 100ms } }");
  map.finish();
  if (problems.errors() > errors) return choice;
  if ((leased == nullptr) == (approximate == nullptr)) {
    problems.error(node.at, "consistency takes one of leased and approximate");
    return choice;
  }
  choice.kind = leased != nullptr ? Consistency::leased : Consistency::approximate;
  text::MapReader times(leased != nullptr ? *leased : *approximate, name_of(choice.kind), problems);
  if (leased != nullptr) {
    if (const auto lease = read_time(times, "lease", slice_bounds)) choice.lease = lease->value;
  } else {
    if (const auto sync = read_time(times, "sync", sync_bounds)) choice.sync = sync->value;
  }
  times.finish();
  return choice;
}

std::optional<Written<ConsistencyChoice>> read_consistency(text::MapReader& map) {
  const text::Node* node = map.find("consistency");
  if (node == nullptr) return {};
  if (node->is_map()) return Written<ConsistencyChoice>{read_consistency_map(*node, map.problems()), node->at};
  if (!node->is_scalar()) {
    map.problems().error(node->at, "consistency has to be a word or a map, not {}", name_of(node->kind));
    return {};
  }
  const auto word = map.choice("consistency", Consistency::approximate);
  if (!word) return {};
  return Written<ConsistencyChoice>{{.kind = word->value}, word->at};
}

void read_name(text::MapReader& map, const LimitPlace& place, LimitSpec& limit) {
  const auto* node = place.name ? map.find("name") : map.require("name");
  if (place.name) limit.name = *place.name;
  if (node == nullptr) return;
  if (auto name = text::read_value(*node, "name", text::Form::text, text::parse_name, map.problems()))
    limit.name = *std::move(name);
}

void read_who_and_where(text::MapReader& map, const LimitPlace& place, LimitSpec& limit) {
  Problems& problems = map.problems();
  if (place.routes) {
    map.refuse("routes", "a limit in OpenAPI covers the operations that it stands beside");
    limit.routes = *place.routes;
  } else if (const auto* routes = map.find("routes")) {
    limit.routes = read_routes(*routes, place.methods, problems);
  }
  if (const auto* when = map.find("when")) limit.when = read_when(*when, problems).value_or(limit.when);
  if (const auto* key = map.require("consumer_key", "user, api_key, ip, global, route or header:NAME"))
    limit.consumer_key = read_consumer_key(*key, problems);
  limit.missing = map.choice("missing", Missing::deny);
}

void read_what(text::MapReader& map, const LimitPlace& place, LimitSpec& limit) {
  Problems& problems = map.problems();
  limit.algorithm = read_algorithm(map);
  limit.numbers = read_numbers(map);
  if (const auto* cost = map.find("cost")) limit.cost = read_cost(*cost, place.methods, problems);
  if (const auto most = map.whole("max_cost", {.least = 1})) {
    auto* header = limit.cost ? std::get_if<HeaderCostSpec>(&*limit.cost) : nullptr;
    if (header != nullptr) {
      header->max_cost = most;
    } else {
      problems.error(most->at, "max_cost bounds a cost from a header: write cost: header:NAME beside it");
    }
  }
  if (const auto* tiers = map.find("tier_overrides")) limit.tier_overrides = read_tier_overrides(*tiers, problems);
  if (const auto* candidate = map.find("candidate")) limit.candidate = read_candidate(*candidate, problems);
  if (limit.needs_no_algorithm()) return;
  (void)map.require(
      "algorithm", "token_bucket, gcra, leaky_bucket, fixed_window, sliding_window_log, sliding_window or concurrency");
}

void read_how(text::MapReader& map, LimitSpec& limit) {
  Problems& problems = map.problems();
  limit.mode = map.choice("mode", Mode::shadow).value_or(limit.mode);
  if (const auto* node = map.find("warn_first")) limit.warn_first = read_warn_first(*node, problems);
  if (const auto* node = map.find("penalty")) limit.penalty = read_penalty(*node, problems);
  limit.on_store_failure = map.choice("on_store_failure", OnStoreFailure::closed).value_or(limit.on_store_failure);
  limit.local_share = map.value("local_share", text::Form::number, text::parse_share);
  limit.consistency = read_consistency(map).value_or(limit.consistency);
  limit.usage = map.choice("usage", Usage::reserved);
}

// Numbers by tier under `tiers`, and not the root's `tiers`, which says who has which.
bool is_overrides(const text::Node* tiers) {
  return tiers != nullptr && !std::ranges::any_of(tiers->members, [](const text::Member& member) {
           return member.key.value == "from" || member.key.value == "default" || member.key.value == "names";
         });
}

}  // namespace

std::optional<LimitSpec> read_limit(const text::Node& node, const LimitPlace& place, Problems& problems) {
  const std::size_t errors = problems.errors();
  LimitSpec limit;
  limit.at = node.at;
  text::MapReader map(node, "a limit", problems);
  if (!map.is_map()) return {};
  read_name(map, place, limit);
  read_who_and_where(map, place, limit);
  read_what(map, place, limit);
  read_how(map, limit);
  if (is_overrides(node.find("tiers"))) map.means("tiers", "tier_overrides");
  if (place.routes) {
    map.belongs(std::array<std::string_view, 1>{"identity"}, "at the root of the document, as x-rate-limit-identity");
    map.belongs(std::array<std::string_view, 1>{"tiers"}, "at the root of the document, as x-rate-limit-tiers");
  } else {
    map.belongs(root_fields, "at the root: is its line indented too far?");
  }
  map.finish();
  if (problems.errors() > errors) return {};
  return limit;
}

}  // namespace weir::policy
