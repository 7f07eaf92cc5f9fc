#include "policy/read/limit_reader.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include <fmt/core.h>

#include "core/receipts.h"
#include "policy/calendar.h"
#include "policy/words.h"

namespace weir::policy {
namespace {

constexpr std::size_t max_routes = 10'000;
constexpr std::size_t max_route_costs = 1'000;
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

std::optional<core::CalendarUnit> unit_called(std::string_view word) {
  using enum core::CalendarUnit;
  for (const core::CalendarUnit unit : {day, week, month, year}) {
    if (name_of(unit) == word) return unit;
  }
  return {};
}

// { calendar: month, timezone: Europe/Berlin }
std::optional<Written<const core::Calendar*>> read_calendar(const text::Node& node, Problems& problems) {
  if (node.is_scalar()) {
    problems.error(node.at,
                   "window has to be a map, like { calendar: month, timezone: Europe/Berlin }; a window of one length "
                   "is written as rate, or as window_seconds");
    return {};
  }
  text::MapReader map(node, "window", problems);
  (void)map.require("calendar", "day, week, month or year");
  const auto unit = map.choice("calendar", core::CalendarUnit::year);
  const auto find = [&](std::string_view zone) {
    return find_calendar(unit ? unit->value : core::CalendarUnit::day, zone);
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

bool is_empty(const NumbersSpec& numbers, LimitFields fields) {
  return !numbers.ban && std::ranges::none_of(fields, [&](const LimitField& field) {
    return field.use.number && field.use.number->at(numbers);
  });
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

// What people write beside `window`.
void hint_at_window(text::MapReader& map) {
  map.belongs(calendar_fields, "in window: write window: { calendar: month, timezone: Europe/Berlin }");
}

// `rate`, `burst` and their other spellings, out of a map that may hold more.
NumbersSpec read_numbers(text::MapReader& map, LimitFields fields) {
  NumbersSpec numbers;
  for (const LimitField& field : fields) {
    if (field.use.number) field.use.number->read(map, field.path, numbers);
  }
  hint_at_window(map);
  return numbers;
}

TierOverrideSpec read_tier_override(const text::Member& member, LimitFields fields, Problems& problems) {
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
  override_spec.numbers = read_numbers(map, fields);
  map.finish();
  if (problems.errors() == errors && is_empty(override_spec.numbers, fields)) {
    problems.error(node.at, "tier {} has no numbers of its own: leave it out", in_quotes(member.key.value));
  }
  return override_spec;
}

std::vector<Written<RouteTemplate>> read_route_list(const text::Node& node, MoreMethods methods, Problems& problems) {
  std::vector<Written<RouteTemplate>> routes;
  if (node.is_scalar()) {
    problems.error(node.at, "routes has to be a list, not text: write [{}]", in_quotes(node.text));
    return routes;
  }
  const auto* items = text::items_of(node, "routes", problems);
  if (items == nullptr) return routes;
  if (items->size() > max_routes) {
    problems.error(node.at, "{} routes in one limit: at most {}", items->size(), max_routes);
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
  if (node.members.size() > max_route_costs) {
    problems.error(node.at, "cost has {} routes: at most {}", node.members.size(), max_route_costs);
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

// Numbers by tier under `tiers`, and not the root's `tiers`, which says who has which.
bool is_overrides(const text::Node* tiers) {
  return tiers != nullptr && !std::ranges::any_of(tiers->members, [](const text::Member& member) {
           return member.key.value == "from" || member.key.value == "default" || member.key.value == "names";
         });
}

}  // namespace

void read_rate(text::MapReader& map, std::string_view field, NumbersSpec& numbers) {
  const text::Node* node = map.find(field);
  if (node == nullptr) return;
  if (node->is_scalar() && node->text == "0") {
    numbers.ban = node->at;
  } else {
    numbers.rate = text::read_value(*node, field, text::Form::text, text::parse_rate, map.problems());
    if (numbers.rate) numbers.rate_unit = unit_called(text::calendar_word(node->text));
  }
}

std::optional<Written<std::uint64_t>> read_count(text::MapReader& map, std::string_view field) {
  return map.value(field, text::Form::number, [](std::string_view text) -> Result<std::uint64_t> {
    if (text == "0") return failure(in_quotes(text), "too small: at least 1 (a ban is written 'rate: 0')");
    return text::parse_whole(text, not_zero);
  });
}

std::optional<Written<Duration>> read_seconds(text::MapReader& map, std::string_view field) {
  return map.value(field, text::Form::number, parse_seconds);
}

std::optional<Written<const core::Calendar*>> read_window(text::MapReader& map, std::string_view field) {
  const text::Node* node = map.find(field);
  if (node == nullptr) return {};
  return read_calendar(*node, map.problems());
}

std::optional<Written<Duration>> read_lease(text::MapReader& map, std::string_view field) {
  return read_time(map, field, hold_bounds);
}

std::vector<TierOverrideSpec> read_tier_overrides(const text::Node& node, LimitFields fields, Problems& problems) {
  std::vector<TierOverrideSpec> overrides;
  const text::MapReader map(node, "tier_overrides", problems);
  if (map.is_map() && node.members.empty()) problems.error(node.at, "tier_overrides is empty: leave it out");
  overrides.reserve(node.members.size());
  for (const text::Member& member : node.members) overrides.push_back(read_tier_override(member, fields, problems));
  return overrides;
}

std::optional<Written<PolicyAlgorithm>> read_algorithm(text::MapReader& map) {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const PolicyAlgorithm algorithm : all_algorithms) all.emplace_back(name_of(algorithm));
    all.emplace_back(short_counter_name);
    return all;
  }();
  const auto chosen = map.one_of("algorithm", names);
  if (!chosen) return {};
  const bool is_short = chosen->value == all_algorithms.size();
  return Written<PolicyAlgorithm>{is_short ? PolicyAlgorithm::sliding_window_counter : all_algorithms.at(chosen->value),
                                  chosen->at};
}

void read_candidate(const FieldSpot& at) {
  const text::Node* node = at.map.find(at.name);
  if (node == nullptr) return;
  CandidateSpec candidate;
  candidate.at = node->at;
  Problems& problems = at.map.problems();
  const LimitFields fields = at.place.fields;
  const std::size_t errors = problems.errors();
  text::MapReader map(*node, "a candidate", problems);
  for (const LimitField& field : fields) {
    if (!field.is_own() || field.use.scope != FieldScope::limit) continue;
    map.refuse(field.path, "a candidate differs from its limit in algorithm and numbers only");
  }
  candidate.algorithm = read_algorithm(map);
  candidate.numbers = read_numbers(map, fields);
  if (const auto* overrides = map.find("tier_overrides")) {
    candidate.tier_overrides = read_tier_overrides(*overrides, fields, problems);
  }
  map.finish();
  const auto refuse_ban = [&](Mark mark) {
    problems.error(mark, "a candidate cannot ban: it is never enforced, and to deny everything is nothing to compare");
  };
  if (candidate.numbers.ban) refuse_ban(*candidate.numbers.ban);
  for (const TierOverrideSpec& each : candidate.tier_overrides) {
    if (each.bans()) refuse_ban(each.tier.at);
  }
  const bool says_nothing =
      !candidate.algorithm && is_empty(candidate.numbers, fields) && candidate.tier_overrides.empty();
  if (problems.errors() == errors && says_nothing) {
    problems.error(node->at, "a candidate needs an algorithm or numbers of its own");
  }
  at.limit.candidate = std::move(candidate);
}

void read_cost(const FieldSpot& at) {
  const text::Node* const node = at.map.find(at.name);
  if (node == nullptr) return;
  Problems& problems = at.map.problems();
  if (node->is_map()) {
    at.limit.cost = read_route_costs(*node, at.place.methods, problems);
    return;
  }
  if (node->is_scalar() && node->text.starts_with(header_prefix)) {
    const auto header = text::parse_header_name(std::string_view(node->text).substr(header_prefix.size()));
    if (header) {
      at.limit.cost = HeaderCostSpec{{*header, node->at}, {}};
    } else {
      problems.error(node->at, "cost {}: header: has to be followed by the name of a header, like X-Cost",
                     in_quotes(node->text));
    }
    return;
  }
  const auto parse = [](std::string_view text) -> Result<std::uint64_t> {
    auto whole = text::parse_whole(text);
    const bool word = !text.empty() && text.front() >= 'A';
    if (!whole && word) return failure(in_quotes(text), "write a number, { ROUTE: number } or header:NAME");
    return whole;
  };
  if (const auto cost = text::read_value(*node, at.name, text::Form::number, parse, problems)) at.limit.cost = *cost;
}

void read_max_cost(const FieldSpot& at) {
  const auto most = at.map.whole(at.name, not_zero);
  if (!most) return;
  auto* header = at.limit.cost ? std::get_if<HeaderCostSpec>(&*at.limit.cost) : nullptr;
  if (header != nullptr) {
    header->max_cost = most;
  } else {
    at.map.problems().error(most->at, "max_cost bounds a cost from a header: write cost: header:NAME beside it");
  }
}

std::optional<Written<WarnFirst>> read_warn_first(const text::Node& node, Problems& problems) {
  text::MapReader map(node, "warn_first", problems);
  (void)map.require("count");
  (void)map.require("per");
  const auto count = map.whole("count", logged);
  const auto per = map.duration("per");
  map.finish();
  if (!count || !per) return {};
  return Written<WarnFirst>{{count->value, per->value}, node.at};
}

std::optional<Written<Penalty>> read_penalty(const text::Node& node, Problems& problems) {
  text::MapReader map(node, "penalty", problems);
  for (const std::string_view field : {"after", "within", "block"}) (void)map.require(field);
  const auto after = map.whole("after", logged);
  const auto within = map.duration("within");
  const auto block = map.duration("block");
  map.finish();
  if (!after || !within || !block) return {};
  return Written<Penalty>{{after->value, within->value, block->value}, node.at};
}

void read_consistency(const FieldSpot& at) {
  const text::Node* node = at.map.find(at.name);
  if (node == nullptr) return;
  Problems& problems = at.map.problems();
  if (node->is_map()) {
    at.limit.consistency = {read_consistency_map(*node, problems), node->at};
  } else if (!node->is_scalar()) {
    problems.error(node->at, "consistency has to be a word or a map, not {}", name_of(node->kind));
  } else if (const auto word = at.map.choice(at.name, Consistency::approximate)) {
    at.limit.consistency = {{.kind = word->value}, word->at};
  }
}

void read_name(const FieldSpot& at) {
  const auto* node = at.place.name ? at.map.find(at.name) : at.map.require(at.name);
  if (at.place.name) at.limit.name = *at.place.name;
  if (node == nullptr) return;
  if (auto name = text::read_value(*node, at.name, text::Form::text, text::parse_name, at.map.problems()))
    at.limit.name = *std::move(name);
}

void read_routes(const FieldSpot& at) {
  if (at.place.routes) {
    at.map.refuse(at.name, "a limit in OpenAPI covers the operations that it stands beside");
    at.limit.routes = *at.place.routes;
  } else if (const auto* routes = at.map.find(at.name)) {
    at.limit.routes = read_route_list(*routes, at.place.methods, at.map.problems());
  }
}

std::optional<LimitSpec> read_limit(const text::Node& node, const LimitPlace& place, Problems& problems) {
  const std::size_t errors = problems.errors();
  LimitSpec limit;
  limit.at = node.at;
  text::MapReader map(node, "a limit", problems);
  if (!map.is_map()) return {};
  for (const auto& [path, type, fallback, meaning, use] : place.fields) {
    if (use.number) use.number->read(map, path, limit.numbers);
    if (use.read) use.read({map, path, place, limit});
  }
  if (!limit.needs_no_algorithm()) {
    (void)map.require(
        "algorithm",
        "token_bucket, gcra, leaky_bucket, fixed_window, sliding_window_log, sliding_window or concurrency");
  }
  hint_at_window(map);
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
