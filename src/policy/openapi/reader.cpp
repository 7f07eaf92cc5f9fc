#include "policy/openapi/reader.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "policy/identity_reader.h"
#include "policy/openapi/extension.h"
#include "policy/openapi/limits.h"
#include "policy/openapi/operations.h"
#include "policy/openapi/reference.h"
#include "policy/openapi/security.h"
#include "policy/scalar.h"

namespace weir::policy::openapi {
namespace {

using Operations = std::vector<const Operation*>;

// A name is printable ASCII.
std::string printable(std::string_view path) {
  std::string name;
  for (const char c : path) {
    if (c >= ' ' && c <= '~') {
      name += c;
    } else {
      name += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return name;
}

class Reader {
 public:
  Reader(const yaml::Node& root, Problems& problems)
      : root_(root),
        problems_(problems),
        references_(root, problems),
        items_(read_paths(root, references_, problems)),
        limits_(references_, problems) {}

  PolicySpec read() {
    PolicySpec policy;
    policy.names = {.identity = identity_field, .tiers = tiers_field};
    policy.identity = Identity::defaults();
    check_extensions(root_, Level::root, problems_);
    check_misplaced(root_, problems_);
    read_caller(policy);
    read_root_limits();
    for (const PathItem& item : items_) read_item(item);
    if (!found_ && !problems_.any_error())
      problems_.warning(root_.at, "no x-rate-limit in this document: nothing is limited");
    if (found_) warn_of_unread(schemes_, policy.identity, problems_);
    policy.limits = std::move(limits_).take();
    policy.labels = labels();
    return policy;
  }

 private:
  void read_caller(PolicySpec& policy) {
    const auto follow = [&](std::string_view field) {
      const yaml::Node* value = root_.find(field);
      return value != nullptr ? references_.follow(*value) : nullptr;
    };
    schemes_ = header_schemes(root_);
    if (root_.find(identity_field) == nullptr) take_api_key(schemes_, policy.identity);
    if (const yaml::Node* identity = follow(identity_field)) {
      policy.identity = read_identity(*identity, identity_field, problems_);
    }
    if (const yaml::Node* tiers = follow(tiers_field)) policy.tiers = read_tiers(*tiers, tiers_field, problems_);
  }

  void read_root_limits() {
    const yaml::Node* value = root_.find(limit_field);
    if (value == nullptr) return;
    Operations all;
    for (const PathItem& item : items_) {
      for (const Operation& operation : item.operations) all.push_back(&operation);
    }
    read_limits(*value, {"root", value->at}, all, "the document");
  }

  void read_item(const PathItem& item) {
    for (const yaml::Node* part : item.parts) check_extensions(*part, Level::path_item, problems_);
    if (const yaml::Node* value = item.find(limit_field)) {
      Operations all;
      for (const Operation& operation : item.operations) all.push_back(&operation);
      read_limits(*value, {printable(item.path.value), item.path.at}, all, quoted(item.path.value));
    }
    for (const Operation& operation : item.operations) {
      check_extensions(*operation.node, Level::operation, problems_);
      if (const yaml::Node* value = operation.node->find(limit_field)) {
        read_limits(*value, name_of(operation, item), {&operation}, "");
      }
    }
  }

  // Without a route a limit would be for every request: the opposite of none.
  void read_limits(const yaml::Node& value, const Written<std::string>& name, const Operations& operations,
                   std::string_view place) {
    found_ = true;
    if (!operations.empty()) {
      limits_.read(value, name, operations);
    } else if (!problems_.any_error()) {
      problems_.error(value.at, fmt::format("x-rate-limit covers nothing: {} has no operations", place));
    }
  }

  static Written<std::string> name_of(const Operation& operation, const PathItem& item) {
    if (operation.id) return *operation.id;
    return {fmt::format("{} {}", operation.method, printable(item.path.value)), item.path.at};
  }

  std::vector<RouteTemplate> labels() const {
    std::vector<RouteTemplate> routes;
    std::unordered_set<std::string> seen;
    for (const PathItem& item : items_) {
      for (const Operation& operation : item.operations) {
        for (const RouteTemplate& route : operation.routes) {
          if (seen.insert(match_key(route)).second) routes.push_back(route);
        }
      }
    }
    return routes;
  }

  const yaml::Node& root_;
  Problems& problems_;
  References references_;
  std::vector<PathItem> items_;
  Limits limits_;
  std::vector<HeaderScheme> schemes_;
  bool found_ = false;
};

}  // namespace

std::optional<PolicySpec> read(const yaml::Node& root, Problems& problems) {
  if (!is_supported(root, problems)) return std::nullopt;
  return Reader(root, problems).read();
}

bool is_supported(const yaml::Node& root, Problems& problems) {
  if (const yaml::Node* swagger = root.find("swagger")) {
    problems.error(swagger->at, "OpenAPI 2 (swagger) is not read: convert it to 3.0 or 3.1");
    return false;
  }
  const yaml::Node* version = root.find("openapi");
  if (version == nullptr) {
    problems.error(root.at, "openapi is missing: write the version, like 3.1.0");
    return false;
  }
  if (!version->is_scalar()) {
    problems.error(version->at, fmt::format("openapi has to be text, not {}", yaml::name_of(version->kind)));
    return false;
  }
  const std::string_view text = version->text;
  for (const std::string_view known : {"3.0", "3.1"}) {
    if (text == known || (text.starts_with(known) && text.substr(known.size()).starts_with('.'))) return true;
  }
  problems.error(version->at, fmt::format("openapi {} is not supported: 3.0 and 3.1 are", quoted(text)));
  return false;
}

}  // namespace weir::policy::openapi
