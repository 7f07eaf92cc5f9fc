#include "policy/policy_reader.h"

#include <utility>

#include <fmt/core.h>

#include "policy/identity_reader.h"
#include "policy/limit_reader.h"
#include "policy/map_reader.h"

namespace weir::policy {
namespace {

Result<bool> parse_version(std::string_view text) {
  if (text == "1") return true;
  return failure(quoted(text), "this version is not known: write 1");
}

void read_limits(const yaml::Node& node, PolicySpec& policy, Problems& problems) {
  if (!node.is_sequence()) {
    problems.error(node.at, fmt::format("limits has to be a list, not {}", name_of(node.kind)));
    return;
  }
  for (const yaml::Node& item : node.items) {
    if (auto limit = read_limit(item, {}, problems)) policy.limits.push_back(*std::move(limit));
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
  if (const auto* identity = map.find("identity")) policy.identity = read_identity(*identity, problems);
  if (const auto* tiers = map.find("tiers")) policy.tiers = read_tiers(*tiers, problems);
  if (const auto* limits = map.require("limits", "limits: and a list of them")) read_limits(*limits, policy, problems);
  map.finish();
  return policy;
}

}  // namespace weir::policy
