#include "policy/read/openapi/reader.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>

#include "base/ascii.h"
#include "policy/read/limit_reader.h"
#include "policy/read/openapi/document.h"
#include "policy/read/openapi/operations.h"
#include "policy/rules.h"
#include "text/yaml/scalar.h"

namespace weir::policy::openapi {
namespace {

using Operations = std::vector<const Operation*>;

constexpr std::string_view limit_field = "x-rate-limit";
constexpr std::string_view identity_field = "x-rate-limit-identity";
constexpr std::string_view tiers_field = "x-rate-limit-tiers";
constexpr std::string_view exempt_field = "x-rate-limit-exempt";
constexpr std::array<std::string_view, 4> our_fields{limit_field, identity_field, tiers_field, exempt_field};

// Folds letter case, dashes, underscores, dots and spaces.
std::string folded(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (c == '-' || c == '_' || c == '.' || c == ' ') continue;
    text += base::to_lower(c);
  }
  return text;
}

// True for one character added, removed or changed, or two swapped.
bool one_slip_apart(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) std::swap(a, b);
  if (b.size() - a.size() > 1) return false;
  const auto same = static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin()).first - a.begin());
  a.remove_prefix(same);
  b.remove_prefix(same);
  if (a.size() < b.size()) return b.substr(1) == a;
  if (a.empty() || a.substr(1) == b.substr(1)) return true;
  return a.size() >= 2 && a[0] == b[1] && a[1] == b[0] && a.substr(2) == b.substr(2);
}

// Returns the x-rate-limit field that `name` probably means. A name with a different first letter is more likely
// another extension (x-date-limit) than a typo.
std::string_view meant(std::string_view name) {
  const std::string text = folded(name);
  if (!text.starts_with("xr") && !text.starts_with("r")) return {};
  for (const std::string_view ours : our_fields) {
    if (one_slip_apart(text, folded(ours))) return ours;
  }
  return text.starts_with(folded(limit_field)) ? limit_field : std::string_view();
}

// Returns the extension that corresponds to a root field of policy.yaml, or nothing. OpenAPI itself defines no root
// field of these names.
std::string_view meant_at_root(std::string_view name) {
  std::string text = folded(name);
  for (const std::string_view prefix : {"x", "weir"}) {
    if (text.starts_with(prefix)) text.erase(0, prefix.size());
  }
  if (text == "identity") return identity_field;
  if (text == "tiers" || text == "tier") return tiers_field;
  if (text == "exempt") return exempt_field;
  return text == "limits" || text == "limit" ? limit_field : std::string_view();
}

// The levels of a document. A misspelled extension is an error, because it would be ignored and the operation would
// have no limit.
enum class Level { root, path_item, operation, elsewhere };

void check(const Written<std::string>& key, Level level, Problems& problems) {
  const std::string& name = key.value;
  if (std::ranges::find(our_fields, name) == our_fields.end()) {
    if (const std::string_view ours = meant(name); !ours.empty()) {
      problems.error(key.at, "unknown field {}, did you mean '{}'?", in_quotes(name), ours);
    } else if (const std::string_view root = meant_at_root(name); level == Level::root && !root.empty()) {
      problems.warning(key.at, rule::misplaced_field,
                       "{} has no effect at the root of an OpenAPI document, did you mean '{}'?", in_quotes(name),
                       root);
    }
  } else if (level == Level::elsewhere) {
    problems.error(key.at, "{} has no effect here: it belongs at the root{}", name,
                   name == limit_field ? ", on a path or on an operation" : "");
  } else if (level != Level::root && name != limit_field) {
    problems.error(key.at, "{} has no effect here: it belongs at the root", name);
  }
}

// Reports fields of `map` that misspell an x-rate-limit field, and x-rate-limit fields where they have no effect.
void check_extensions(const text::Node& map, Level level, Problems& problems) {
  for (const text::Member& member : map.members) check(member.key, level, problems);
}

// Reports x-rate-limit fields in `paths` itself, `info`, `components` and webhooks, where they have no effect.
void check_misplaced(const text::Node& root, Problems& problems) {
  for (const std::string_view place : {"paths", "info", "components"}) {
    const text::Node* node = root.find(place);
    if (node == nullptr) continue;
    for (const text::Member& member : node->members) {
      // components/x-rate-limits may hold shared limits.
      if (place != "components" || member.key.value != "x-rate-limits") check(member.key, Level::elsewhere, problems);
    }
  }
  // Webhooks are requests that the API sends.
  const text::Node* webhooks = root.find("webhooks");
  if (webhooks == nullptr) return;
  for (const text::Member& webhook : webhooks->members) {
    check_extensions(webhook.value, Level::elsewhere, problems);
    for (const text::Member& operation : webhook.value.members) {
      check_extensions(operation.value, Level::elsewhere, problems);
    }
  }
}

// A security scheme of the type apiKey in a header.
struct HeaderScheme {
  Written<std::string> name;  // the scheme's name
  std::string header;         // as it is written
};

bool is_text(const text::Node& map, std::string_view field, std::string_view wanted) {
  const text::Node* node = map.find(field);
  return node != nullptr && node->is_scalar() && node->text == wanted;
}

bool is_read(const HeaderScheme& scheme, const Identity& identity) {
  const auto header = text::parse_header_name(scheme.header);
  return header && (*header == identity.api_key_header || *header == identity.user_header);
}

// Skips invalid schemes without an error: Weir does not validate them.
std::vector<HeaderScheme> header_schemes(const text::Node& root) {
  std::vector<HeaderScheme> schemes;
  const text::Node* components = root.find("components");
  const text::Node* all = components != nullptr ? components->find("securitySchemes") : nullptr;
  if (all == nullptr) return schemes;
  Problems ignored("");
  References references(root, ignored);
  for (const text::Member& member : all->members) {
    const text::Node* scheme = references.follow(member.value);
    if (scheme == nullptr || !is_text(*scheme, "type", "apiKey") || !is_text(*scheme, "in", "header")) continue;
    const text::Node* name = scheme->find("name");
    if (name == nullptr || !name->is_scalar() || !text::parse_header_name(name->text)) continue;
    schemes.push_back({member.key, name->text});
  }
  return schemes;
}

// Reads the API key from the header of the only scheme. Used without x-rate-limit-identity.
void take_api_key(const std::vector<HeaderScheme>& schemes, Identity& identity) {
  if (schemes.size() != 1 || is_read(schemes.front(), identity)) return;
  if (auto header = text::parse_header_name(schemes.front().header)) identity.api_key_header = *std::move(header);
}

// Warns of schemes whose header `identity` does not read: a limit by api_key would not see their keys.
void warn_of_unread(const std::vector<HeaderScheme>& schemes, const Identity& identity, Problems& problems) {
  for (const HeaderScheme& scheme : schemes) {
    if (is_read(scheme, identity)) continue;
    problems.warning(scheme.name.at, rule::unread_security_scheme,
                     "security scheme {} sends its key in {}, which is not read (api_key is {}): add '{}: {{ api_key: "
                     "{{ header: {} }} }}' at the root, or use consumer_key: header:{}",
                     in_quotes(scheme.name.value), scheme.header, identity.api_key_header, identity_field,
                     scheme.header, scheme.header);
  }
}

// Names appear in header fields, metrics and logs.
bool can_be_name(std::string_view text) noexcept {
  return text.size() <= text::max_name_length && std::ranges::all_of(text, base::is_printable);
}

// Prefixes a route with a base path: `POST /exports` below `/v1` is `POST /v1/exports`.
RouteTemplate below(const std::string& base, const RouteTemplate& route) {
  auto prefix = parse_route(base.empty() ? "/" : route_path(base));
  if (!prefix) return route;  // reported with the routes of the operations
  RouteTemplate longer = route;
  longer.segments.insert(longer.segments.begin(), prefix->segments.begin(), prefix->segments.end());
  return longer;
}

// Collects the limits of all x-rate-limit fields, with their routes.
class Limits {
 public:
  Limits(References& references, LimitFields fields, Problems& problems)
      : references_(references), fields_(fields), problems_(problems) {}

  // Sets the identities that limits may name. They must outlive this object.
  void set_identity(const Identity& identity) noexcept { identity_ = &identity; }

  // Reads one limit, a list of them, or a reference to either. `operations` must outlive the call of take(). Limits
  // without a name of their own get `name`.
  void read(const text::Node& value, const Written<std::string>& name, const Operations& operations) {
    const text::Node* node = references_.follow(value);
    if (node == nullptr) return;
    if (!node->is_sequence()) return read_one(*node, name, operations);
    if (node->items.empty()) problems_.error(node->at, "x-rate-limit is an empty list: remove it");
    for (std::size_t i = 0; i < node->items.size(); ++i) {
      const text::Node* item = references_.follow(node->items[i]);
      if (item == nullptr) continue;
      read_one(*item, i == 0 ? name : Written<std::string>{fmt::format("{}#{}", name.value, i + 1), name.at},
               operations);
    }
  }

  std::vector<LimitSpec> take() && {
    std::vector<LimitSpec> limits;
    limits.reserve(all_.size());
    for (Collected& collected : all_) {
      add_base_paths(collected);
      limits.push_back(std::move(collected.limit));
    }
    return limits;
  }

 private:
  struct Collected {
    LimitSpec limit;
    Operations operations;
    std::unordered_set<std::string> matched;  // the match_key() of each of its routes
  };

  void read_one(const text::Node& node, const Written<std::string>& name, const Operations& operations) {
    const text::Node* own = node.find("name");
    auto [known, is_new] = known_.try_emplace({&node, own != nullptr ? own->text : name.value}, std::nullopt);
    if (is_new && own == nullptr && !can_be_name(name.value)) {
      problems_.error(name.at,
                      "{} cannot be a limit name (printable ASCII, at most {} characters): give the limit a name",
                      in_quotes(name.value), text::max_name_length);
    } else if (is_new) {
      auto limit = read_limit(
          node,
          {.name = name, .routes = std::vector<Written<RouteTemplate>>(), .fields = fields_, .identity = identity_},
          problems_);
      if (limit) {
        known->second = all_.size();
        all_.push_back({*std::move(limit), {}, {}});
      }
    }
    if (known->second) cover(all_[*known->second], operations);
  }

  void cover(Collected& collected, const Operations& operations) {
    for (const Operation* operation : operations) {
      collected.operations.push_back(operation);
      for (const RouteTemplate& route : operation->routes) {
        if (routes_ > max_routes || !collected.matched.insert(match_key(route)).second) continue;
        if (++routes_ > max_routes) {
          problems_.error(collected.limit.at, "too many routes in all limits: at most {}", max_routes);
          continue;
        }
        collected.limit.routes.push_back({route, operation->at});
      }
    }
  }

  // Prefixes the routes of costs with the base paths of the operations that they match. Routes that match none are
  // unchanged: compile() reports them.
  void add_base_paths(Collected& collected) {
    if (!collected.limit.cost) return;
    auto* const costs = std::get_if<std::vector<RouteCostSpec>>(&*collected.limit.cost);
    if (costs == nullptr) return;
    std::vector<RouteCostSpec> longer;
    for (const RouteCostSpec& cost : *costs) {
      std::set<std::string> bases;
      for (const Operation* operation : collected.operations) {
        if (!overlap(operation->path_route, cost.route.value)) continue;
        bases.insert(operation->base_paths->begin(), operation->base_paths->end());
      }
      if (bases.empty()) longer.push_back(cost);
      for (const std::string& base : bases) {
        longer.push_back({{below(base, cost.route.value), cost.route.at}, cost.cost});
      }
    }
    *costs = std::move(longer);
  }

  References& references_;
  LimitFields fields_;
  const Identity* identity_ = nullptr;
  Problems& problems_;
  std::vector<Collected> all_;
  std::map<std::pair<const text::Node*, std::string>, std::optional<std::size_t>>
      known_;  // index in all_; unset if invalid
  std::size_t routes_ = 0;
};

// Percent-encodes what is not printable ASCII, for use in a name.
std::string printable(std::string_view path) {
  std::string name;
  for (const char c : path) {
    if (base::is_printable(c)) {
      name += c;
    } else {
      name += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return name;
}

class Reader {
 public:
  Reader(const text::Node& root, LimitFields fields, Problems& problems)
      : root_(root),
        problems_(problems),
        references_(root, problems),
        items_(read_paths(root, references_, problems)),
        limits_(references_, fields, problems) {}

  PolicySpec read() {
    PolicySpec policy;
    policy.names = {.identity = identity_field, .tiers = tiers_field, .exempt = exempt_field};
    policy.identity = Identity::defaults();
    check_extensions(root_, Level::root, problems_);
    check_misplaced(root_, problems_);
    read_caller(policy);
    limits_.set_identity(policy.identity);
    read_root_limits();
    for (const PathItem& item : items_) read_item(item);
    if (!found_ && !problems_.any_error())
      problems_.warning(root_.at, rule::nothing_limited, "no x-rate-limit in this document: nothing is limited");
    if (found_) warn_of_unread(schemes_, policy.identity, problems_);
    policy.limits = std::move(limits_).take();
    policy.labels = labels();
    return policy;
  }

 private:
  void read_caller(PolicySpec& policy) {
    const auto follow = [&](std::string_view field) {
      const text::Node* value = root_.find(field);
      return value != nullptr ? references_.follow(*value) : nullptr;
    };
    schemes_ = header_schemes(root_);
    if (root_.find(identity_field) == nullptr) take_api_key(schemes_, policy.identity);
    if (const text::Node* identity = follow(identity_field)) {
      policy.identity = read_identity(*identity, identity_field, problems_);
    }
    if (const text::Node* tiers = follow(tiers_field)) policy.tiers = read_tiers(*tiers, tiers_field, problems_);
    if (const text::Node* exempt = follow(exempt_field)) {
      policy.exemptions = read_exempt(*exempt, exempt_field, policy.identity, nullptr, problems_);
    }
  }

  void read_root_limits() {
    const text::Node* value = root_.find(limit_field);
    if (value == nullptr) return;
    Operations all;
    for (const PathItem& item : items_) {
      for (const Operation& operation : item.operations) all.push_back(&operation);
    }
    read_limits(*value, {"root", value->at}, all, "the document");
  }

  void read_item(const PathItem& item) {
    for (const text::Node* part : item.parts) check_extensions(*part, Level::path_item, problems_);
    if (const text::Node* value = item.find(limit_field)) {
      Operations all;
      for (const Operation& operation : item.operations) all.push_back(&operation);
      read_limits(*value, {printable(item.path.value), item.path.at}, all, in_quotes(item.path.value));
    }
    for (const Operation& operation : item.operations) {
      check_extensions(*operation.node, Level::operation, problems_);
      if (const text::Node* value = operation.node->find(limit_field)) {
        read_limits(*value, name_of(operation, item), {&operation}, "");
      }
    }
  }

  // A limit without routes would cover every request, so a limit without operations is an error.
  void read_limits(const text::Node& value, const Written<std::string>& name, const Operations& operations,
                   std::string_view place) {
    found_ = true;
    if (!operations.empty()) {
      limits_.read(value, name, operations);
    } else if (!problems_.any_error()) {
      problems_.error(value.at, "x-rate-limit covers nothing: {} has no operations", place);
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

  const text::Node& root_;
  Problems& problems_;
  References references_;
  std::vector<PathItem> items_;
  Limits limits_;
  std::vector<HeaderScheme> schemes_;
  bool found_ = false;
};

}  // namespace

std::optional<PolicySpec> read(const text::Node& root, Problems& problems, LimitFields fields) {
  if (!is_supported(root, problems)) return std::nullopt;
  return Reader(root, fields, problems).read();
}

}  // namespace weir::policy::openapi
