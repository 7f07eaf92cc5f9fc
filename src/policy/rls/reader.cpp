#include "policy/rls/reader.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "policy/map_reader.h"
#include "policy/rls/metadata_reader.h"
#include "policy/scalar.h"
#include "policy/segment_text.h"
#include "policy/suggestion.h"

namespace weir::policy::rls {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::array<std::pair<std::string_view, Duration>, 7> units{{{"second", seconds{1}},
                                                                      {"minute", minutes{1}},
                                                                      {"hour", hours{1}},
                                                                      {"day", days{1}},
                                                                      {"week", days{7}},
                                                                      {"month", days{30}},
                                                                      {"year", days{365}}}};
constexpr std::string_view unit_names = "write second, minute, hour, day, week, month or year";
constexpr std::uint64_t most_requests = 4'294'967'295;  // a uint32 there

std::string name_of(const DescriptorSpec& descriptor) {
  if (!descriptor.value) return quoted(descriptor.key);
  return fmt::format("{} with value {}", quoted(descriptor.key), quoted(*descriptor.value));
}

class Reader {
 public:
  explicit Reader(Problems& problems) : problems_(problems) {}

  std::optional<DomainSpec> read(const yaml::Node& root) {
    static const std::vector<std::string> fields{"domain", "descriptors"};
    if (!is_map(root, "a domain", fields)) return std::nullopt;
    DomainSpec domain;
    domain.name.at = root.at;
    if (const yaml::Node* name = root.find("domain")) domain.name = {text(*name, "domain"), name->at};
    if (domain.name.value == "weir") {
      problems_.error(domain.name.at,
                      "domain 'weir' is taken: what is asked there is judged by a policy.yaml; use another");
    }
    if (domain.name.value.empty() && !problems_.any_error()) {
      problems_.error(domain.name.at,
                      root.find("domain") != nullptr
                          ? "domain is empty: write the name that is asked for"
                          : "domain is missing: a file of envoyproxy/ratelimit says for which one it is");
    }
    domain.descriptors = read_descriptors(root);
    if (problems_.any_error()) return std::nullopt;
    if (domain.descriptors.empty()) problems_.warning(root.at, "no descriptors: nothing is limited");
    return domain;
  }

 private:
  std::vector<DescriptorSpec> read_descriptors(const yaml::Node& parent) {
    std::vector<DescriptorSpec> descriptors;
    const yaml::Node* list = find(parent, "descriptors");
    if (list == nullptr) return descriptors;
    if (!list->is_sequence()) {
      wrong_kind(*list, "descriptors", "a list");
      return descriptors;
    }
    static const std::vector<std::string> descriptor_fields{
        "key",        "value",           "rate_limit",      "descriptors",     "shadow_mode",
        "quota_mode", "detailed_metric", "value_to_metric", "share_threshold", "metadata"};
    std::map<std::pair<std::string, std::string>, int> lines;
    for (const yaml::Node& item : list->items) {
      if (!is_map(item, "a descriptor", descriptor_fields)) continue;
      DescriptorSpec descriptor = read_descriptor(item);
      const auto [first, is_new] = lines.try_emplace({descriptor.key, descriptor.value.value_or("")}, item.at.line);
      if (!is_new && !descriptor.key.empty()) {
        problems_.error(item.at, fmt::format("descriptor {} is here twice: the first is in line {}",
                                             name_of(descriptor), first->second));
      }
      descriptors.push_back(std::move(descriptor));
    }
    return descriptors;
  }

  DescriptorSpec read_descriptor(const yaml::Node& node) {
    DescriptorSpec descriptor;
    descriptor.at = node.at;
    if (const yaml::Node* key = node.find("key")) descriptor.key = text(*key, "key");
    if (descriptor.key.empty()) problems_.error(node.at, "a descriptor's key is missing or empty");
    if (const yaml::Node* value = find(node, "value")) {
      if (std::string written = text(*value, "value"); !written.empty()) descriptor.value = std::move(written);
    }
    descriptor.shadow_mode = flag(node, "shadow_mode");
    descriptor.quota_mode = flag(node, "quota_mode");
    descriptor.detailed_metric = flag(node, "detailed_metric");
    if (flag(node, "value_to_metric")) descriptor.value_to_metric = node.find("value_to_metric")->at;
    read_share_threshold(node, descriptor);
    if (const yaml::Node* metadata = find(node, "metadata")) read_metadata(*metadata, descriptor);
    if (const yaml::Node* limit = find(node, "rate_limit")) {
      read_limit(*limit, descriptor);
    } else {
      if (descriptor.shadow_mode) warn_without_limit(node, "shadow_mode");
      if (descriptor.quota_mode) warn_without_limit(node, "quota_mode");
    }
    descriptor.descriptors = read_descriptors(node);
    return descriptor;
  }

  void warn_without_limit(const yaml::Node& node, std::string_view field) {
    problems_.warning(node.find(field)->at, fmt::format("{} has no effect: the descriptor has no rate_limit", field));
  }

  void read_metadata(const yaml::Node& node, DescriptorSpec& descriptor) {
    if (!node.is_map()) return wrong_kind(node, "metadata", "a map");
    if (!node.members.empty()) descriptor.metadata = rls::read_metadata(node);
  }

  void read_share_threshold(const yaml::Node& node, DescriptorSpec& descriptor) {
    descriptor.share_threshold = flag(node, "share_threshold");
    if (!descriptor.share_threshold) return;
    if (descriptor.value && descriptor.value->find('*') != std::string::npos) return;
    problems_.error(node.find("share_threshold")->at, "share_threshold needs a value with a '*' in it");
  }

  void read_limit(const yaml::Node& node, DescriptorSpec& descriptor) {
    static const std::vector<std::string> fields{"unit", "requests_per_unit", "unlimited", "name", "replaces"};
    if (!is_map(node, "rate_limit", fields)) return;
    if (const yaml::Node* name = find(node, "name")) descriptor.name = text(*name, "name");
    read_replaces(node, descriptor);
    const std::size_t errors = problems_.errors();
    descriptor.unlimited = flag(node, "unlimited");
    if (problems_.errors() > errors) return;
    const yaml::Node* unit = find(node, "unit");
    const yaml::Node* requests = find(node, "requests_per_unit");
    if (descriptor.unlimited) {
      if (unit != nullptr) problems_.error(unit->at, "unit cannot stand beside unlimited");
      if (requests != nullptr) problems_.warning(requests->at, "requests_per_unit has no effect beside unlimited");
      return;
    }
    if (unit == nullptr) problems_.error(node.at, fmt::format("unit is missing: {}", unit_names));
    if (requests == nullptr) problems_.error(node.at, "requests_per_unit is missing");
    if (unit == nullptr || requests == nullptr) return;
    const auto window = read_unit(*unit);
    const auto limit = read_requests(*requests);
    if (window && limit) descriptor.rate_limit = Written<WindowNumbers>{{*limit, *window}, node.at};
  }

  std::optional<Duration> read_unit(const yaml::Node& node) {
    std::string unit = text(node, "unit");
    std::transform(unit.begin(), unit.end(), unit.begin(), to_lower);
    const auto* found =
        std::find_if(units.begin(), units.end(), [&](const auto& known) { return known.first == unit; });
    if (found != units.end()) return found->second;
    if (node.is_scalar()) problems_.error(node.at, fmt::format("unknown unit {}: {}", quoted(node.text), unit_names));
    return std::nullopt;
  }

  std::optional<std::uint64_t> read_requests(const yaml::Node& node) {
    const auto count = parse_whole(text(node, "requests_per_unit"), {0, most_requests});
    if (!node.is_scalar()) return std::nullopt;
    if (count) return *count;
    report(count.error(), "requests_per_unit", node.at, problems_);
    return std::nullopt;
  }

  void read_replaces(const yaml::Node& limit, DescriptorSpec& descriptor) {
    static const std::vector<std::string> fields{"name"};
    const yaml::Node* list = find(limit, "replaces");
    if (list == nullptr) return;
    if (!list->is_sequence()) return wrong_kind(*list, "replaces", "a list of names, [{ name: other }]");
    for (const yaml::Node& item : list->items) {
      if (!is_map(item, "an entry of replaces", fields)) continue;
      const yaml::Node* node = item.find("name");
      std::string name = node != nullptr ? text(*node, "name") : "";
      if (name.empty()) {
        problems_.error(item.at, "an entry of replaces needs a name");
      } else if (name == descriptor.name) {
        problems_.error(node->at, fmt::format("limit {} cannot replace itself", quoted(name)));
      } else {
        descriptor.replaces.push_back(std::move(name));
      }
    }
  }

  // A map with no other fields than these.
  bool is_map(const yaml::Node& node, std::string_view what, std::span<const std::string> fields) {
    if (!node.is_map()) {
      wrong_kind(node, what, "a map");
      return false;
    }
    for (const yaml::Member& member : node.members) {
      const auto& [name, at] = member.key;
      if (std::find(fields.begin(), fields.end(), name) != fields.end()) continue;
      problems_.error(at, fmt::format("unknown field {}{}", quoted(name), did_you_mean(name, fields)));
    }
    return true;
  }

  // Fields without a value are as good as absent there.
  static const yaml::Node* find(const yaml::Node& map, std::string_view field) {
    const yaml::Node* node = map.find(field);
    return node == nullptr || node->is_null() ? nullptr : node;
  }

  // Whatever it looks like: the 401 of `value: 401` is text.
  std::string text(const yaml::Node& node, std::string_view field) {
    if (node.is_scalar()) return node.text;
    if (!node.is_null()) wrong_kind(node, field, "text");
    return "";
  }

  bool flag(const yaml::Node& map, std::string_view field) {
    const yaml::Node* node = find(map, field);
    if (node == nullptr) return false;
    std::string word = node->text;
    std::transform(word.begin(), word.end(), word.begin(), to_lower);
    if (word == "true" || word == "yes" || word == "on") return true;
    if (word != "false" && word != "no" && word != "off") {
      problems_.error(node->at, fmt::format("{} has to be true or false", field));
    }
    return false;
  }

  void wrong_kind(const yaml::Node& node, std::string_view what, std::string_view wanted) {
    problems_.error(node.at, fmt::format("{} has to be {}, not {}", what, wanted, yaml::name_of(node.kind)));
  }

  Problems& problems_;
};

std::string place_of(Mark at, const Problems& problems) {
  return fmt::format("{}:{}:{}", problems.file(), at.line, at.column);
}

}  // namespace

std::optional<DomainSpec> read(const yaml::Node& root, Problems& problems) {
  return Reader(problems).read(root);
}

void Domains::add(DomainSpec domain, Problems& problems) {
  const auto& [name, at] = domain.name;
  const auto [first, is_new] = places_.try_emplace(name, place_of(at, problems));
  if (!is_new && same_domain_ == SameDomain::refused) {
    problems.error(at, fmt::format("domain {} is already in {}: 'merge_domains: true' in weir.yaml (and lint's "
                                   "--merge-domains) lets a domain have several files",
                                   quoted(name), first->second));
    return;
  }
  if (is_new) policy_.domains.push_back({domain.name, {}});
  merge(std::move(domain), problems);
}

void Domains::merge(DomainSpec domain, Problems& problems) {
  const std::string& name = domain.name.value;
  const auto into = std::find_if(policy_.domains.begin(), policy_.domains.end(),
                                 [&](const DomainSpec& known) { return known.name.value == name; });
  for (DescriptorSpec& descriptor : domain.descriptors) {
    const auto [first, is_new] =
        at_top_.try_emplace({name, descriptor.key, descriptor.value.value_or("")}, place_of(descriptor.at, problems));
    if (is_new) {
      into->descriptors.push_back(std::move(descriptor));
    } else {
      problems.error(descriptor.at, fmt::format("descriptor {} of domain {} is already in {}", name_of(descriptor),
                                                quoted(name), first->second));
    }
  }
}

PolicySpec Domains::take() && {
  policy_.identity = Identity::defaults();
  return std::move(policy_);
}

}  // namespace weir::policy::rls
