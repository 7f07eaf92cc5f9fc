#include "policy/policy_reader.h"

#include <array>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "policy/identity_reader.h"
#include "policy/limit_reader.h"
#include "policy/map_reader.h"
#include "policy/route_reader.h"

namespace weir::policy {
namespace {

Result<bool> parse_version(std::string_view text) {
  if (text == "1") return true;
  return failure(quoted(text), "this version is not known: write 1");
}

constexpr std::array<std::string_view, 4> identity_fields{"trusted_proxies", "user", "api_key", "ip"};
constexpr std::array<std::string_view, 3> tiers_fields{"from", "default", "names"};
constexpr std::array<std::string_view, 23> limit_fields{
    "name",           "routes",     "when",     "consumer_key",     "missing",        "algorithm",
    "rate",           "burst",      "capacity", "refill_rate",      "leak_rate",      "limit",
    "window_seconds", "queue",      "cost",     "max_cost",         "tier_overrides", "mode",
    "candidate",      "warn_first", "penalty",  "on_store_failure", "consistency"};

void read_limits(const yaml::Node& node, MoreMethods methods, PolicySpec& policy, Problems& problems) {
  if (!node.is_sequence()) {
    problems.error(node.at, fmt::format("limits has to be a list, not {}", name_of(node.kind)));
    return;
  }
  for (const yaml::Node& item : node.items) {
    if (auto limit = read_limit(item, {.name = {}, .routes = {}, .methods = methods}, problems))
      policy.limits.push_back(*std::move(limit));
  }
}

}  // namespace

PolicySpec read_policy(const yaml::Node& root, Problems& problems) {
  PolicySpec policy;
  policy.identity = Identity::defaults();
  MapReader map(root, "a policy", problems);
  if (const auto* version = map.require("version", "version: 1")) {
    (void)read_value(*version, "version", Form::number, parse_version, problems);
  }
  if (const auto* identity = map.find("identity"))
    policy.identity = read_identity(*identity, policy.names.identity, problems);
  if (const auto* tiers = map.find("tiers")) policy.tiers = read_tiers(*tiers, policy.names.tiers, problems);
  std::vector<std::string> methods;
  if (const auto* more = map.find("methods")) methods = read_methods(*more, problems);
  if (const auto* limits = map.require("limits", "limits: and a list of them")) {
    read_limits(*limits, &methods, policy, problems);
  }
  map.belongs(identity_fields, "to identity: is its line indented too little?");
  map.belongs(tiers_fields, "to tiers: is its line indented too little?");
  map.belongs(limit_fields, "to a limit: is its line indented too little?");
  map.finish();
  return policy;
}

}  // namespace weir::policy
