#include "policy/read/rls_reader.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/ascii.h"
#include "base/number.h"
#include "policy/route_template.h"
#include "policy/rules.h"
#include "text/yaml/map_reader.h"
#include "text/yaml/problem.h"
#include "text/yaml/scalar.h"

namespace weir::policy::rls {
namespace {

using namespace std::chrono_literals;
using std::chrono::days;

constexpr std::array<std::pair<std::string_view, Duration>, 7> rls_units{{{"second", 1s},
                                                                          {"minute", 1min},
                                                                          {"hour", 1h},
                                                                          {"day", days{1}},
                                                                          {"week", days{7}},
                                                                          {"month", days{30}},
                                                                          {"year", days{365}}}};
constexpr std::string_view unit_names = "write second, minute, hour, day, week, month or year";
constexpr std::uint64_t max_requests = 4'294'967'295;  // envoyproxy/ratelimit stores it as a uint32

std::string name_of(const DescriptorSpec& descriptor) {
  if (!descriptor.value) return in_quotes(descriptor.key);
  return fmt::format("{} with value {}", in_quotes(descriptor.key), in_quotes(*descriptor.value));
}

using Kind = MetadataValue::Kind;

std::optional<bool> truth_of(const std::string& written) {
  const std::string text = base::lower(written);
  constexpr std::array<std::string_view, 4> yes{"true", "yes", "on", "y"};
  constexpr std::array<std::string_view, 4> no{"false", "no", "off", "n"};
  if (std::ranges::find(yes, text) != yes.end()) return true;
  if (std::ranges::find(no, text) != no.end()) return false;
  return {};
}

std::optional<double> number_of(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  // Rejects `inf` and `nan`, which from_chars would accept.
  if (digits.empty() || (digits.front() != '.' && !base::is_digit(digits.front()))) return {};
  const auto number = base::parse_number<double>(text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

MetadataValue scalar(const text::Node& node) {
  MetadataValue value;
  const auto truth = node.quoted ? std::nullopt : truth_of(node.text);
  const auto number = node.quoted ? std::nullopt : number_of(node.text);
  value.kind = truth ? Kind::truth : number ? Kind::number : Kind::text;
  value.truth = truth.value_or(false);
  value.number = number.value_or(0);
  if (value.kind == Kind::text) value.text = node.text;
  return value;
}

// Clients read `metadata`, so every value keeps its YAML type: without quotes, 20 and 2.5 are numbers, and true, yes
// and on are true. Any other value except a finite number is text.
MetadataValue metadata_of(const text::Node& node) {
  if (node.is_scalar()) return scalar(node);
  MetadataValue value;
  if (node.is_sequence()) {
    value.kind = Kind::list;
    for (const text::Node& item : node.items) value.items.push_back(metadata_of(item));
  } else if (node.is_map()) {
    value.kind = Kind::map;
    for (const text::Member& member : node.members) {
      value.names.push_back(member.key.value);
      value.items.push_back(metadata_of(member.value));
    }
  }
  return value;
}

class Reader {
 public:
  explicit Reader(Problems& problems) : problems_(problems) {}

  std::optional<DomainSpec> read(const text::Node& root) {
    static const std::vector<std::string> fields{"domain", "descriptors"};
    if (!is_map(root, "a domain", fields)) return std::nullopt;
    DomainSpec domain;
    domain.name.at = root.at;
    if (const text::Node* name = root.find("domain")) domain.name = {text(*name, "domain"), name->at};
    if (domain.name.value == "weir") {
      problems_.error(domain.name.at, "domain 'weir' is reserved for limits of policy.yaml: use another name");
    }
    if (domain.name.value.empty() && !problems_.any_error()) {
      problems_.error(domain.name.at, root.find("domain") != nullptr
                                          ? "domain is empty: write the domain that requests name"
                                          : "missing domain: a file of envoyproxy/ratelimit must name its domain");
    }
    domain.descriptors = read_descriptors(root);
    if (problems_.any_error()) return std::nullopt;
    if (domain.descriptors.empty())
      problems_.warning(root.at, rule::nothing_limited, "no descriptors: nothing is limited");
    return domain;
  }

 private:
  std::vector<DescriptorSpec> read_descriptors(const text::Node& parent) {
    std::vector<DescriptorSpec> descriptors;
    const text::Node* list = find(parent, "descriptors");
    if (list == nullptr) return descriptors;
    if (!list->is_sequence()) {
      wrong_kind(*list, "descriptors", "a list");
      return descriptors;
    }
    static const std::vector<std::string> descriptor_fields{
        "key",        "value",           "rate_limit",      "descriptors",     "shadow_mode",
        "quota_mode", "detailed_metric", "value_to_metric", "share_threshold", "metadata"};
    std::map<std::pair<std::string, std::string>, int> lines;
    for (const text::Node& item : list->items) {
      if (!is_map(item, "a descriptor", descriptor_fields)) continue;
      DescriptorSpec descriptor = read_descriptor(item);
      const auto [first, is_new] = lines.try_emplace({descriptor.key, descriptor.value.value_or("")}, item.at.line);
      if (!is_new && !descriptor.key.empty()) {
        problems_.error(item.at, "duplicate descriptor {}: first defined in line {}", name_of(descriptor),
                        first->second);
      }
      descriptors.push_back(std::move(descriptor));
    }
    return descriptors;
  }

  DescriptorSpec read_descriptor(const text::Node& node) {
    DescriptorSpec descriptor;
    descriptor.at = node.at;
    if (const text::Node* key = node.find("key")) descriptor.key = text(*key, "key");
    if (descriptor.key.empty()) problems_.error(node.at, "missing or empty key in a descriptor");
    if (const text::Node* value = find(node, "value")) {
      if (std::string written = text(*value, "value"); !written.empty()) descriptor.value = std::move(written);
    }
    descriptor.shadow_mode = flag(node, "shadow_mode");
    descriptor.quota_mode = flag(node, "quota_mode");
    descriptor.detailed_metric = flag(node, "detailed_metric");
    if (flag(node, "value_to_metric")) descriptor.value_to_metric = node.find("value_to_metric")->at;
    read_share_threshold(node, descriptor);
    if (const text::Node* metadata = find(node, "metadata")) read_metadata(*metadata, descriptor);
    if (const text::Node* limit = find(node, "rate_limit")) {
      read_limit(*limit, descriptor);
    } else {
      if (descriptor.shadow_mode) warn_without_limit(node, "shadow_mode");
      if (descriptor.quota_mode) warn_without_limit(node, "quota_mode");
    }
    descriptor.descriptors = read_descriptors(node);
    return descriptor;
  }

  void warn_without_limit(const text::Node& node, std::string_view field) {
    problems_.warning(node.find(field)->at, rule::no_effect, "{} has no effect: the descriptor has no rate_limit",
                      field);
  }

  void read_metadata(const text::Node& node, DescriptorSpec& descriptor) {
    if (!node.is_map()) return wrong_kind(node, "metadata", "a map");
    if (!node.members.empty()) descriptor.metadata = metadata_of(node);
  }

  void read_share_threshold(const text::Node& node, DescriptorSpec& descriptor) {
    descriptor.share_threshold = flag(node, "share_threshold");
    if (!descriptor.share_threshold) return;
    if (descriptor.value && descriptor.value->find('*') != std::string::npos) return;
    problems_.error(node.find("share_threshold")->at, "share_threshold requires a value that contains '*'");
  }

  void read_limit(const text::Node& node, DescriptorSpec& descriptor) {
    static const std::vector<std::string> fields{"unit", "requests_per_unit", "unlimited", "name", "replaces"};
    if (!is_map(node, "rate_limit", fields)) return;
    if (const text::Node* name = find(node, "name")) descriptor.name = text(*name, "name");
    read_replaces(node, descriptor);
    const std::size_t errors = problems_.errors();
    descriptor.unlimited = flag(node, "unlimited");
    if (problems_.errors() > errors) return;
    const text::Node* unit = find(node, "unit");
    const text::Node* requests = find(node, "requests_per_unit");
    if (descriptor.unlimited) {
      if (unit != nullptr) problems_.error(unit->at, "unit cannot be combined with unlimited");
      if (requests != nullptr)
        problems_.warning(requests->at, rule::no_effect, "requests_per_unit has no effect with unlimited");
      return;
    }
    if (unit == nullptr) problems_.error(node.at, "missing unit: {}", unit_names);
    if (requests == nullptr) problems_.error(node.at, "missing requests_per_unit");
    if (unit == nullptr || requests == nullptr) return;
    const auto window = read_unit(*unit);
    const auto limit = read_requests(*requests);
    if (window && limit) descriptor.rate_limit = Written<WindowNumbers>{{*limit, *window}, node.at};
  }

  std::optional<Duration> read_unit(const text::Node& node) {
    const std::string unit = base::lower(text(node, "unit"));
    const auto* found = std::ranges::find_if(rls_units, [&](const auto& known) { return known.first == unit; });
    if (found != rls_units.end()) return found->second;
    if (node.is_scalar()) problems_.error(node.at, "unknown unit {}: {}", in_quotes(node.text), unit_names);
    return std::nullopt;
  }

  std::optional<std::uint64_t> read_requests(const text::Node& node) {
    const auto count = text::parse_whole(text(node, "requests_per_unit"), {0, max_requests});
    if (!node.is_scalar()) return std::nullopt;
    if (count) return *count;
    text::report(count.error(), "requests_per_unit", node.at, problems_);
    return std::nullopt;
  }

  void read_replaces(const text::Node& limit, DescriptorSpec& descriptor) {
    static const std::vector<std::string> fields{"name"};
    const text::Node* list = find(limit, "replaces");
    if (list == nullptr) return;
    if (!list->is_sequence()) return wrong_kind(*list, "replaces", "a list of names, [{ name: other }]");
    for (const text::Node& item : list->items) {
      if (!is_map(item, "an entry of replaces", fields)) continue;
      const text::Node* node = item.find("name");
      std::string name = node != nullptr ? text(*node, "name") : "";
      if (name.empty()) {
        problems_.error(item.at, "missing `name`: each entry of `replaces` names a limit");
      } else if (name == descriptor.name) {
        problems_.error(node->at, "limit {} cannot replace itself", in_quotes(name));
      } else {
        descriptor.replaces.push_back(std::move(name));
      }
    }
  }

  // Reports a node that is not a map, and fields that are not in `fields`.
  bool is_map(const text::Node& node, std::string_view what, std::span<const std::string> fields) {
    if (!node.is_map()) {
      wrong_kind(node, what, "a map");
      return false;
    }
    for (const text::Member& member : node.members) {
      const auto& [name, at] = member.key;
      if (std::ranges::find(fields, name) != fields.end()) continue;
      problems_.error(at, "unknown field {}{}", in_quotes(name), text::did_you_mean(name, fields));
    }
    return true;
  }

  // envoyproxy/ratelimit treats a field without a value as absent.
  static const text::Node* find(const text::Node& map, std::string_view field) {
    const text::Node* node = map.find(field);
    return node == nullptr || node->is_null() ? nullptr : node;
  }

  // Any scalar is read as text, including the number in `value: 401`.
  std::string text(const text::Node& node, std::string_view field) {
    if (node.is_scalar()) return node.text;
    if (!node.is_null()) wrong_kind(node, field, "text");
    return "";
  }

  bool flag(const text::Node& map, std::string_view field) {
    const text::Node* node = find(map, field);
    if (node == nullptr) return false;
    const std::string word = base::lower(node->text);
    if (word == "true" || word == "yes" || word == "on") return true;
    if (word != "false" && word != "no" && word != "off") {
      problems_.error(node->at, "{} must be true or false", field);
    }
    return false;
  }

  void wrong_kind(const text::Node& node, std::string_view what, std::string_view wanted) {
    problems_.error(node.at, "{} must be {}, not {}", what, wanted, text::name_of(node.kind));
  }

  Problems& problems_;
};

std::string position_text(Mark at, const Problems& problems) {
  return fmt::format("{}:{}:{}", problems.file(), at.line, at.column);
}

}  // namespace

std::optional<DomainSpec> read(const text::Node& root, Problems& problems) {
  return Reader(problems).read(root);
}

void Domains::add(DomainSpec domain, Problems& problems) {
  const auto& [name, at] = domain.name;
  const auto [first, is_new] = positions_.try_emplace(name, position_text(at, problems));
  if (!is_new && same_domain_ == SameDomain::rejected) {
    problems.error(at,
                   "duplicate domain {}: already defined in {}; to merge them, set 'merge_domains: true' in weir.yaml "
                   "(or lint with --merge-domains)",
                   in_quotes(name), first->second);
    return;
  }
  if (is_new) policy_.domains.push_back({domain.name, {}});
  merge(std::move(domain), problems);
}

void Domains::merge(DomainSpec domain, Problems& problems) {
  const std::string& name = domain.name.value;
  const auto into =
      std::ranges::find_if(policy_.domains, [&](const DomainSpec& known) { return known.name.value == name; });
  for (DescriptorSpec& descriptor : domain.descriptors) {
    const auto [first, is_new] = at_top_.try_emplace({name, descriptor.key, descriptor.value.value_or("")},
                                                     position_text(descriptor.at, problems));
    if (is_new) {
      into->descriptors.push_back(std::move(descriptor));
    } else {
      problems.error(descriptor.at, "duplicate descriptor {} of domain {}: already defined in {}", name_of(descriptor),
                     in_quotes(name), first->second);
    }
  }
}

PolicySpec Domains::take() && {
  policy_.identity = Identity::defaults();
  return std::move(policy_);
}

}  // namespace weir::policy::rls
