#include "policy/read/policy_reader.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/ascii.h"
#include "policy/read/limit_reader.h"

namespace weir::policy {
namespace {

Result<bool> parse_version(std::string_view text) {
  if (text == "1") return true;
  return failure(in_quotes(text), "unknown version: write 1");
}

constexpr std::array<std::string_view, 4> identity_fields{"trusted_proxies", "user", "api_key", "ip"};
constexpr std::array<std::string_view, 3> tiers_fields{"from", "default", "names"};

void read_limits(const text::Node& node, const LimitContext& context, PolicySpec& policy, Problems& problems) {
  if (!node.is_sequence()) {
    problems.error(node.at, "limits must be a list, not {}", name_of(node.kind));
    return;
  }
  for (const text::Node& item : node.items) {
    if (auto limit = read_limit(item, context, problems)) policy.limits.push_back(*std::move(limit));
  }
}

constexpr text::Bounds ipv6_prefixes{.min = 1, .max = 128};

// { header: NAME }
std::optional<Written<std::string>> read_header(const text::Node& node, std::string_view what, Problems& problems) {
  text::MapReader map(node, what, problems);
  (void)map.require("header");
  auto header = map.header_name("header");
  map.finish();
  return header;
}

std::optional<Written<std::string>> read_api_key(const text::Node& node, Identity& identity, Problems& problems) {
  text::MapReader map(node, "api_key", problems);
  auto header = map.header_name("header");
  if (const auto verified = map.value("verified", text::Form::number, text::parse_truth)) {
    identity.api_key_verified = verified->value;
  }
  map.finish();
  return header;
}

// Words that consumer_key, `when` or the root give another meaning. Fields of the root are most likely misplaced.
constexpr std::array<std::string_view, 11> reserved_names{"global",  "route",    "header", "authenticated",
                                                          "version", "identity", "tiers",  "anonymous",
                                                          "methods", "limits",   "exempt"};

Result<std::string> parse_identity_name(std::string_view text) {
  const auto fits = [](char c) { return base::is_lower(c) || base::is_digit(c) || c == '_'; };
  if (!base::consists_of(text, fits) || !base::is_lower(text.front()) || text.size() > max_identity_name_length) {
    return failure(in_quotes(text), fmt::format("a name has at most {} lower-case letters, digits and '_', and begins "
                                                "with a letter",
                                                max_identity_name_length));
  }
  if (std::ranges::find(reserved_names, text) != reserved_names.end()) {
    return failure(in_quotes(text), "reserved name: choose another");
  }
  return std::string(text);
}

// { header: NAME, verified: BOOLEAN }
std::optional<NamedIdentity> read_named_identity(const text::Member& member, Problems& problems) {
  const std::size_t errors = problems.errors();
  const auto name = parse_identity_name(member.key.value);
  if (!name) text::report(name.error(), "identity", member.key.at, problems);
  text::MapReader map(member.value, member.key.value, problems);
  (void)map.require("header", "header: X-Org-Id");
  const auto header = map.header_name("header");
  const auto verified = map.value("verified", text::Form::number, text::parse_truth);
  map.finish();
  if (problems.errors() > errors || !header) return {};
  return NamedIdentity{*name, header->value, !verified || verified->value};
}

// Every other field of `identity` names an identity, unless it looks like a misspelled field.
void read_named_identities(const text::Node& node, text::MapReader& map, Identity& identity, Problems& problems) {
  const std::vector<std::string> known(identity_fields.begin(), identity_fields.end());
  for (const text::Member& member : node.members) {
    const std::string& name = member.key.value;
    if (std::ranges::find(known, name) != known.end() || !text::did_you_mean(name, known).empty()) continue;
    if (map.find(name) == nullptr) continue;
    auto read = read_named_identity(member, problems);
    if (!read) continue;
    if (identity.named.size() == max_named_identities) {
      problems.error(member.key.at, "too many identities: at most {}", max_named_identities);
      return;
    }
    identity.named.push_back(*std::move(read));
  }
}

// Two identities that are read from one header would always have the same value.
void check_distinct_headers(const Identity& identity, Mark at, Problems& problems) {
  std::vector<std::pair<std::string_view, std::string_view>> seen{{identity.user_header, "user"},
                                                                  {identity.api_key_header, "api_key"}};
  for (const NamedIdentity& each : identity.named) {
    const auto same = std::ranges::find(seen, each.header, &std::pair<std::string_view, std::string_view>::first);
    if (same != seen.end()) {
      problems.error(at, "{} and {} cannot be read from the same header, {}", same->second, each.name, each.header);
    }
    seen.emplace_back(each.header, each.name);
  }
}

void read_ip(const text::Node& node, Identity& identity, Problems& problems) {
  text::MapReader map(node, "ip", problems);
  if (const auto prefix = map.whole("ipv6_prefix", ipv6_prefixes)) {
    identity.ipv6_prefix = static_cast<unsigned>(prefix->value);
  }
  if (auto header = map.header_name("header")) identity.address_header = std::move(header->value);
  map.finish();
}

std::optional<std::vector<Written<std::string>>> read_names(const text::Node& node, Problems& problems) {
  std::vector<Written<std::string>> names;
  const std::size_t errors = problems.errors();
  const auto* items = text::items_of(node, "names", problems);
  if (items == nullptr) return {};
  for (const text::Node& item : *items) {
    if (auto name = text::read_value(item, "names", text::Form::text, text::parse_name, problems))
      names.push_back(*std::move(name));
  }
  if (problems.errors() > errors) return {};
  return names;
}

}  // namespace

PolicySpec read_policy(const text::Node& root, Problems& problems, LimitFields fields) {
  PolicySpec policy;
  policy.identity = Identity::defaults();
  text::MapReader map(root, "a policy", problems);
  if (const auto* version = map.require("version", "version: 1")) {
    (void)text::read_value(*version, "version", text::Form::number, parse_version, problems);
  }
  if (const auto* identity = map.find("identity"))
    policy.identity = read_identity(*identity, policy.names.identity, problems);
  if (const auto* tiers = map.find("tiers")) policy.tiers = read_tiers(*tiers, policy.names.tiers, problems);
  std::vector<std::string> methods;
  if (const auto* more = map.find("methods")) methods = read_methods(*more, problems);
  if (const auto* exempt = map.find("exempt")) {
    policy.exemptions = read_exempt(*exempt, policy.names.exempt, policy.identity, &methods, problems);
  }
  if (const auto* limits = map.require("limits", "limits: and a list of them")) {
    read_limits(*limits,
                {.name = {}, .routes = {}, .methods = &methods, .fields = fields, .identity = &policy.identity}, policy,
                problems);
  }
  map.belongs(identity_fields, "to identity: is its line indented too little?");
  map.belongs(tiers_fields, "to tiers: is its line indented too little?");
  map.belongs(names_of(fields), "to a limit: is its line indented too little?");
  map.finish();
  return policy;
}

Identity read_identity(const text::Node& node, std::string_view called, Problems& problems) {
  Identity identity = Identity::defaults();
  text::MapReader map(node, called, problems);
  if (const auto* proxies = map.find("trusted_proxies")) {
    if (auto ranges = read_ranges(*proxies, "trusted_proxies", problems)) identity.trusted_proxies = *std::move(ranges);
  }
  if (const auto* user = map.find("user")) {
    if (auto header = read_header(*user, "user", problems)) identity.user_header = std::move(header->value);
  }
  if (const auto* api_key = map.find("api_key")) {
    if (auto header = read_api_key(*api_key, identity, problems)) identity.api_key_header = std::move(header->value);
  }
  if (const auto* ip = map.find("ip")) read_ip(*ip, identity, problems);
  read_named_identities(node, map, identity, problems);
  map.finish();
  if (identity.user_header == identity.api_key_header) {
    problems.error(node.at, "user and api_key cannot be read from the same header, {}", identity.user_header);
  }
  check_distinct_headers(identity, node.at, problems);
  return identity;
}

TiersSpec read_tiers(const text::Node& node, std::string_view called, Problems& problems) {
  TiersSpec tiers;
  tiers.fallback.at = node.at;
  text::MapReader map(node, called, problems);
  if (const auto* from = map.find("from")) tiers.from_header = read_header(*from, "from", problems);
  if (auto fallback = map.value("default", text::Form::text, text::parse_name)) tiers.fallback = *std::move(fallback);
  if (const auto* names = map.find("names")) tiers.names = read_names(*names, problems);
  map.finish();
  return tiers;
}

}  // namespace weir::policy
