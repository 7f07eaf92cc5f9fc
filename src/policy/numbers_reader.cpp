#include "policy/numbers_reader.h"

#include <algorithm>

#include <fmt/core.h>

namespace weir::policy {
namespace {

constexpr Bounds not_zero{.least = 1};

Result<Duration> parse_seconds(std::string_view text) {
  constexpr auto most = static_cast<std::uint64_t>(Limit::longest / std::chrono::seconds{1});
  const auto seconds = parse_whole(text, {.least = 1, .most = most});
  if (!seconds) return tl::unexpected<Error>(seconds.error());
  return std::chrono::seconds{*seconds};
}

// How many: of what would admit nothing there is one spelling.
std::optional<Written<std::uint64_t>> read_count(MapReader& map, std::string_view field) {
  return map.value(field, Form::number, [](std::string_view text) -> Result<std::uint64_t> {
    if (text == "0") return failure(quoted(text), "too small: at least 1 (a ban is written 'rate: 0')");
    return parse_whole(text, not_zero);
  });
}

// `0` is a ban, and all else a rate.
void read_rate(MapReader& map, NumbersSpec& numbers) {
  const yaml::Node* node = map.find("rate");
  if (node == nullptr) return;
  if (node->is_scalar() && node->text == "0") {
    numbers.ban = node->at;
  } else {
    numbers.rate = read_value(*node, "rate", Form::text, parse_rate, map.problems());
  }
}

bool is_empty(const NumbersSpec& n) {
  return !n.ban && !n.rate && !n.burst && !n.capacity && !n.refill_rate && !n.leak_rate && !n.limit && !n.window &&
         !n.queue;
}

TierOverrideSpec read_tier_override(const yaml::Member& member, Problems& problems) {
  TierOverrideSpec override_spec;
  override_spec.tier = member.key;
  if (const auto name = parse_name(member.key.value); !name) report(name.error(), "tier", member.key.at, problems);
  const yaml::Node& node = member.value;
  if (node.is_scalar()) {
    override_spec.unlimited = node.text == "unlimited";
    override_spec.banned = node.text == "banned";
    if (override_spec.has_numbers()) {
      problems.error(node.at, fmt::format("tier {}: {} is unknown; write unlimited, banned, or numbers like {{ rate: "
                                          "100/min }}",
                                          quoted(member.key.value), quoted(node.text)));
    }
    return override_spec;
  }
  if (node.is_null()) {
    problems.error(member.key.at, fmt::format("tier {} has no value", quoted(member.key.value)));
    return override_spec;
  }
  const std::size_t errors = problems.errors();
  MapReader map(node, fmt::format("tier {}", quoted(member.key.value)), problems);
  map.refuse("algorithm", "tiers differ in numbers only");
  override_spec.numbers = read_numbers(map);
  map.finish();
  if (problems.errors() == errors && is_empty(override_spec.numbers)) {
    problems.error(node.at, fmt::format("tier {} has no numbers of its own: leave it out", quoted(member.key.value)));
  }
  return override_spec;
}

}  // namespace

NumbersSpec read_numbers(MapReader& map) {
  NumbersSpec numbers;
  read_rate(map, numbers);
  numbers.burst = read_count(map, "burst");
  numbers.capacity = read_count(map, "capacity");
  numbers.refill_rate = map.value("refill_rate", Form::number, parse_per_second);
  numbers.leak_rate = map.value("leak_rate", Form::number, parse_per_second);
  numbers.limit = read_count(map, "limit");
  numbers.window = map.value("window_seconds", Form::number, parse_seconds);
  numbers.queue = map.whole("queue");
  return numbers;
}

std::vector<TierOverrideSpec> read_tier_overrides(const yaml::Node& node, Problems& problems) {
  std::vector<TierOverrideSpec> overrides;
  const MapReader map(node, "tier_overrides", problems);
  if (map.is_map() && node.members.empty()) problems.error(node.at, "tier_overrides is empty: leave it out");
  overrides.reserve(node.members.size());
  for (const yaml::Member& member : node.members) overrides.push_back(read_tier_override(member, problems));
  return overrides;
}

std::optional<Written<PolicyAlgorithm>> read_algorithm(MapReader& map) {
  static const std::vector<std::string> names{
      "token_bucket",           "gcra",          "leaky_bucket", "fixed_window", "sliding_window_log",
      "sliding_window_counter", "sliding_window"};
  const auto chosen = map.one_of("algorithm", names);
  if (!chosen) return {};
  const auto last = static_cast<std::size_t>(PolicyAlgorithm::sliding_window_counter);
  return Written<PolicyAlgorithm>{static_cast<PolicyAlgorithm>(std::min(chosen->value, last)), chosen->at};
}

CandidateSpec read_candidate(const yaml::Node& node, Problems& problems) {
  CandidateSpec candidate;
  candidate.at = node.at;
  const std::size_t errors = problems.errors();
  MapReader map(node, "a candidate", problems);
  for (const std::string_view field :
       {"name", "routes", "when", "consumer_key", "missing", "cost", "max_cost", "mode", "candidate", "warn_first",
        "penalty", "on_store_failure", "local_share", "consistency"}) {
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

}  // namespace weir::policy
