#include "policy/identity_reader.h"

#include <optional>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "policy/consumer_reader.h"
#include "policy/map_reader.h"

namespace weir::policy {
namespace {

constexpr Bounds ipv6_prefixes{.least = 1, .most = 128};

// { header: NAME }
std::optional<Written<std::string>> read_header(const yaml::Node& node, std::string_view what, Problems& problems) {
  MapReader map(node, what, problems);
  (void)map.require("header");
  auto header = map.header_name("header");
  map.finish();
  return header;
}

std::optional<Written<std::string>> read_api_key(const yaml::Node& node, Identity& identity, Problems& problems) {
  MapReader map(node, "api_key", problems);
  auto header = map.header_name("header");
  if (const auto verified = map.value("verified", Form::number, parse_truth)) {
    identity.api_key_verified = verified->value;
  }
  map.finish();
  return header;
}

void read_ip(const yaml::Node& node, Identity& identity, Problems& problems) {
  MapReader map(node, "ip", problems);
  if (const auto prefix = map.whole("ipv6_prefix", ipv6_prefixes)) {
    identity.ipv6_prefix = static_cast<unsigned>(prefix->value);
  }
  if (auto header = map.header_name("header")) identity.address_header = std::move(header->value);
  map.finish();
}

std::optional<std::vector<Written<std::string>>> read_names(const yaml::Node& node, Problems& problems) {
  std::vector<Written<std::string>> names;
  const std::size_t errors = problems.errors();
  const auto* items = items_of(node, "names", problems);
  if (items == nullptr) return {};
  for (const yaml::Node& item : *items) {
    if (auto name = read_value(item, "names", Form::text, parse_name, problems)) names.push_back(*std::move(name));
  }
  if (problems.errors() > errors) return {};
  return names;
}

}  // namespace

Identity read_identity(const yaml::Node& node, std::string_view called, Problems& problems) {
  Identity identity = Identity::defaults();
  MapReader map(node, called, problems);
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
  map.finish();
  if (identity.user_header == identity.api_key_header) {
    problems.error(node.at, fmt::format("user and api_key cannot come from one header, {}", identity.user_header));
  }
  return identity;
}

TiersSpec read_tiers(const yaml::Node& node, std::string_view called, Problems& problems) {
  TiersSpec tiers;
  tiers.fallback.at = node.at;
  MapReader map(node, called, problems);
  if (const auto* from = map.find("from")) tiers.from_header = read_header(*from, "from", problems);
  if (auto fallback = map.value("default", Form::text, parse_name)) tiers.fallback = *std::move(fallback);
  if (const auto* names = map.find("names")) tiers.names = read_names(*names, problems);
  map.finish();
  return tiers;
}

}  // namespace weir::policy
