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
constexpr std::array<std::string_view, 6> root_fields{"version", "identity", "tiers", "methods", "exempt", "limits"};
constexpr std::array<std::string_view, 2> calendar_fields{"calendar", "timezone"};
// The bounds of `warn_first.count` and `penalty.after`: these denials are counted in a log, which stores each of them.
constexpr text::Bounds logged{.min = 1, .max = Limit::max_log_limit};

constexpr text::Bounds not_zero{.min = 1};

Result<Duration> parse_seconds(std::string_view text) {
  constexpr auto max_seconds = static_cast<std::uint64_t>(Limit::max_duration / std::chrono::seconds{1});
  const auto seconds = text::parse_whole(text, {.min = 1, .max = max_seconds});
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
                   "window must be a map, like { calendar: month, timezone: Europe/Berlin }; for a fixed length use "
                   "rate or window_seconds");
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
  Duration min;
  Duration max;
};

constexpr TimeBounds slice_bounds{std::chrono::milliseconds{100}, std::chrono::seconds{60}};
constexpr TimeBounds sync_bounds{std::chrono::milliseconds{20}, std::chrono::seconds{10}};
constexpr TimeBounds hold_bounds{std::chrono::milliseconds{100}, core::Receipts::max_duration};

std::optional<Written<Duration>> read_time(text::MapReader& map, std::string_view field, TimeBounds bounds) {
  return map.value(field, text::Form::text, [&](std::string_view text) -> Result<Duration> {
    auto time = text::parse_duration(text);
    if (!time || (*time >= bounds.min && *time <= bounds.max)) return time;
    return failure(in_quotes(text),
                   fmt::format("too {}: at least {} and at most {}", *time < bounds.min ? "short" : "long",
                               duration_text(bounds.min), duration_text(bounds.max)));
  });
}

// Explains that these fields belong inside `window`.
void hint_at_window(text::MapReader& map) {
  map.belongs(calendar_fields, "in window: write window: { calendar: month, timezone: Europe/Berlin }");
}

// Reads `rate`, `burst` and their other spellings from a map that may have more fields.
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
      problems.error(node.at, "tier {}: unknown value {}; write unlimited, banned, or numbers like {{ rate: 100/min }}",
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
    problems.error(node.at, "tier {} sets no numbers: remove it", in_quotes(member.key.value));
  }
  return override_spec;
}

std::vector<Written<RouteTemplate>> read_route_list(const text::Node& node, MoreMethods methods, Problems& problems) {
  std::vector<Written<RouteTemplate>> routes;
  if (node.is_scalar()) {
    problems.error(node.at, "routes must be a list, not text: write [{}]", in_quotes(node.text));
    return routes;
  }
  const auto* items = text::items_of(node, "routes", problems);
  if (items == nullptr) return routes;
  if (items->size() > max_routes) {
    problems.error(node.at, "too many routes in one limit: {}, at most {}", items->size(), max_routes);
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
    problems.error(node.at, "too many routes in cost: {}, at most {}", node.members.size(), max_route_costs);
    return costs;
  }
  for (const text::Member& member : node.members) {
    if (member.key.value == "header" || member.key.value == "max_cost") {
      problems.error(member.key.at, "write a cost by header as cost: header:NAME, with max_cost next to it");
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
  map.refuse("exact", "write 'consistency: exact'");
  const text::Node* leased = map.find("leased");
  const text::Node* approximate = map.find("approximate");
  map.belongs(std::array<std::string_view, 1>{"sync"}, "to approximate: write { approximate: { sync: 100ms } }");
  map.finish();
  if (problems.errors() > errors) return choice;
  if ((leased == nullptr) == (approximate == nullptr)) {
    problems.error(node.at, "consistency must have either leased or approximate");
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

// True if `tiers` contains numbers by tier, unlike the root's `tiers`.
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
    if (text == "0") return failure(in_quotes(text), "too small: at least 1; to deny every request, write 'rate: 0'");
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
  if (map.is_map() && node.members.empty()) problems.error(node.at, "tier_overrides is empty: remove it");
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

void read_candidate(const FieldInput& at) {
  const text::Node* node = at.map.find(at.name);
  if (node == nullptr) return;
  CandidateSpec candidate;
  candidate.at = node->at;
  Problems& problems = at.map.problems();
  const LimitFields fields = at.context.fields;
  const std::size_t errors = problems.errors();
  text::MapReader map(*node, "a candidate", problems);
  for (const LimitField& field : fields) {
    if (!field.is_own() || field.use.scope != FieldScope::limit) continue;
    map.refuse(field.path, "a candidate can change only the algorithm and the numbers of its limit");
  }
  candidate.algorithm = read_algorithm(map);
  candidate.numbers = read_numbers(map, fields);
  if (const auto* overrides = map.find("tier_overrides")) {
    candidate.tier_overrides = read_tier_overrides(*overrides, fields, problems);
  }
  map.finish();
  const auto refuse_ban = [&](Mark mark) {
    problems.error(mark, "a candidate cannot ban: there would be nothing to compare");
  };
  if (candidate.numbers.ban) refuse_ban(*candidate.numbers.ban);
  for (const TierOverrideSpec& each : candidate.tier_overrides) {
    if (each.bans()) refuse_ban(each.tier.at);
  }
  const bool is_unchanged =
      !candidate.algorithm && is_empty(candidate.numbers, fields) && candidate.tier_overrides.empty();
  if (problems.errors() == errors && is_unchanged) {
    problems.error(node->at, "a candidate must set an algorithm or numbers");
  }
  at.limit.candidate = std::move(candidate);
}

void read_cost(const FieldInput& at) {
  const text::Node* const node = at.map.find(at.name);
  if (node == nullptr) return;
  Problems& problems = at.map.problems();
  if (node->is_map()) {
    at.limit.cost = read_route_costs(*node, at.context.methods, problems);
    return;
  }
  if (node->is_scalar() && node->text.starts_with(header_prefix)) {
    const auto header = text::parse_header_name(std::string_view(node->text).substr(header_prefix.size()));
    if (header) {
      at.limit.cost = HeaderCostSpec{{*header, node->at}, {}};
    } else {
      problems.error(node->at, "cost {}: invalid header name: write it like header:X-Cost", in_quotes(node->text));
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

void read_max_cost(const FieldInput& at) {
  const auto max_cost = at.map.whole(at.name, not_zero);
  if (!max_cost) return;
  auto* header = at.limit.cost ? std::get_if<HeaderCostSpec>(&*at.limit.cost) : nullptr;
  if (header != nullptr) {
    header->max_cost = max_cost;
  } else {
    at.map.problems().error(max_cost->at, "max_cost requires cost: header:NAME");
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

void read_consistency(const FieldInput& at) {
  const text::Node* node = at.map.find(at.name);
  if (node == nullptr) return;
  Problems& problems = at.map.problems();
  if (node->is_map()) {
    at.limit.consistency = {read_consistency_map(*node, problems), node->at};
  } else if (!node->is_scalar()) {
    problems.error(node->at, "consistency must be a word or a map, not {}", name_of(node->kind));
  } else if (const auto word = at.map.choice(at.name, Consistency::approximate)) {
    at.limit.consistency = {{.kind = word->value}, word->at};
  }
}

void read_name(const FieldInput& at) {
  const auto* node = at.context.name ? at.map.find(at.name) : at.map.require(at.name);
  if (at.context.name) at.limit.name = *at.context.name;
  if (node == nullptr) return;
  if (auto name = text::read_value(*node, at.name, text::Form::text, text::parse_name, at.map.problems()))
    at.limit.name = *std::move(name);
}

void read_routes(const FieldInput& at) {
  if (at.context.routes) {
    at.map.refuse(at.name, "in OpenAPI a limit covers the operations that it is attached to");
    at.limit.routes = *at.context.routes;
  } else if (const auto* routes = at.map.find(at.name)) {
    at.limit.routes = read_route_list(*routes, at.context.methods, at.map.problems());
  }
}

void read_except(const FieldInput& at) {
  if (at.context.routes) {
    at.map.refuse(at.name, "in OpenAPI a limit covers the operations that it is attached to");
  } else if (const auto* routes = at.map.find(at.name)) {
    at.limit.except = read_excluded_routes(*routes, at.name, at.context.methods, at.map.problems());
  }
}

std::optional<LimitSpec> read_limit(const text::Node& node, const LimitContext& context, Problems& problems) {
  const std::size_t errors = problems.errors();
  LimitSpec limit;
  limit.at = node.at;
  text::MapReader map(node, "a limit", problems);
  if (!map.is_map()) return {};
  for (const auto& [path, type, fallback, meaning, use] : context.fields) {
    if (use.number) use.number->read(map, path, limit.numbers);
    if (use.read) use.read({map, path, context, limit});
  }
  if (!limit.needs_no_algorithm()) {
    (void)map.require(
        "algorithm",
        "token_bucket, gcra, leaky_bucket, fixed_window, sliding_window_log, sliding_window or concurrency");
  }
  hint_at_window(map);
  if (is_overrides(node.find("tiers"))) map.means("tiers", "tier_overrides");
  if (context.routes) {
    map.belongs(std::array<std::string_view, 1>{"identity"}, "at the root of the document, as x-rate-limit-identity");
    map.belongs(std::array<std::string_view, 1>{"tiers"}, "at the root of the document, as x-rate-limit-tiers");
    map.belongs(std::array<std::string_view, 1>{"exempt"}, "at the root of the document, as x-rate-limit-exempt");
  } else {
    map.belongs(root_fields, "at the root: is its line indented too far?");
  }
  map.finish();
  if (problems.errors() > errors) return {};
  return limit;
}

}  // namespace weir::policy
